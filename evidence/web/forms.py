"""Forms."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict

from evidence.ingest.readers.formats import ENDINGS, FORMATS
from evidence.retrieve.filters import filters_of
from evidence.store.search import Filters


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


class Day(forms.DateInput):
    input_type = "date"


class FilterForm(forms.Form):
    """Which documents a question is asked of. What is not understood is told, and filters nothing."""

    format = forms.MultipleChoiceField(
        label="Type",
        required=False,
        choices=[(name, known.title) for name, known in FORMATS.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    since = forms.DateField(label="Received from", required=False, widget=Day(format="%Y-%m-%d"))
    until = forms.DateField(label="until", required=False, widget=Day(format="%Y-%m-%d"))

    def filters(self) -> Filters:
        """The filters for the search."""
        self.full_clean()
        given = self.cleaned_data
        return filters_of(formats=given.get("format", []), since=given.get("since"), until=given.get("until"))

    def given(self) -> dict[str, list[str]]:
        """What was filled in, for an address that asks the same."""
        given = {name: self.data.getlist(name) for name in self.fields} if isinstance(self.data, QueryDict) else {}
        return {name: values for name, some in given.items() if (values := [value for value in some if value])}

    def understood(self) -> dict[str, list[str]]:
        """What was filled in and is a filter."""
        return {name: values for name, values in self.given().items() if name not in self.errors}


class FeedbackForm(forms.Form):
    """Whether an answer helped, by the button that sends it, and why."""

    helpful = forms.TypedChoiceField(
        choices=[("yes", "Helpful"), ("no", "Not helpful")], coerce=lambda said: said == "yes"
    )
    comment = forms.CharField(
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "A comment, if you like"}),
    )


class UploadForm(forms.Form):
    """Documents and archives of them."""

    documents = ManyFilesField(label="Files", allow_empty_file=True)
