"""Forms."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from evidence.ingest.readers.formats import ENDINGS


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Any number of files, up to the site's limit."""

    widget = ManyFiles(attrs={"accept": ",".join([*ENDINGS, ".zip"])})

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        given = data or [None]
        if len(given) > settings.SPIRE_MOST_FILES:
            raise forms.ValidationError(
                f"These are {len(given)} files; {settings.SPIRE_MOST_FILES} are taken at once. Send them as a .zip."
            )
        # An empty file is refused by its name with the others' outcomes, not for all of them here.
        return [super(ManyFilesField, self).clean(one, initial) for one in given]


class UploadForm(forms.Form):
    """Documents and archives of them."""

    documents = ManyFilesField(label="Files", allow_empty_file=True)
