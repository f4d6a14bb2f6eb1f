"""The admin: collections and who sees them, their documents, and uploads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import TooManyFilesSent
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.timezone import localtime
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from evidence.admin.managed import ManagedAdmin, ManagedInline
from evidence.configured import optional_policies
from evidence.ingest.jobs import job_defer
from evidence.ingest.readers import FORMATS
from evidence.ingest.removal import collection_leave, documents_remove
from evidence.ingest.uploads import upload_receive
from evidence.ingest.work import read_by_another
from evidence.models import Collection, Document, Job, Revision
from evidence.web.forms import UploadForm

AT_ONCE = 100
"""So many documents are deleted while one waits; more are left to a worker."""


def person_of(request: HttpRequest) -> User:
    """Whoever is signed in; nobody else gets here."""
    assert isinstance(request.user, User)  # noqa: S101
    return request.user


def job_told(request: HttpRequest, job: Job) -> None:
    """Where to see what becomes of a job that was asked for."""
    messages.success(request, format_html('A worker does it: <a href="{}">{}</a>', reverse("job", args=[job.pk]), job))


class CountedDeletion(ManagedAdmin):
    """Before a deletion, what goes with it is counted: a list would hold every document, and its revisions' bytes."""

    documents_counted = "documents"

    def documents_of(self, chosen: Iterable[Any]) -> QuerySet[Document]:
        """The documents that are deleted with these objects."""
        raise NotImplementedError

    def get_deleted_objects(
        self, objs: QuerySet[Any] | Sequence[Any], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        documents = self.documents_of(objs)
        revisions = Revision.objects.filter(document__in=documents.values("pk"))
        counts = {
            str(self.opts.verbose_name_plural): len(objs),
            self.documents_counted: documents.count(),
            "revisions, with their trees and vectors": revisions.count(),
        }
        return [str(chosen) for chosen in objs], counts, set(), []


class CollectionForm(forms.ModelForm):
    """A collection; its optional policies are ticked, each with what it does."""

    policies = forms.MultipleChoiceField(
        label="Optional context policies",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="What is found with a sentence besides its headings, labels and captions.",
    )

    class Meta:
        model = Collection
        fields = ("name", "slug", "description", "everyone", "groups", "managers", "policies")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["policies"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101
        field.choices = [(policy.name, f"{policy.name}: {policy.description}") for policy in optional_policies()]


@admin.register(Collection)
class CollectionAdmin(CountedDeletion):
    form = CollectionForm
    actions = ("find_contexts", "read_anew")
    list_display = ("name", "visibility", "document_count", "upload")
    search_fields = ("name", "description")
    ordering = ("name",)
    filter_horizontal = ("groups", "managers")
    fields = ("name", "slug", "description", "everyone", "groups", "managers", "policies")
    # Of names and slugs there is one each: whoever may change them can find out which others there are.
    of_superusers = ("name", "slug")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [name for name in self.fields if request.user.is_superuser or name != "managers"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return () if request.user.is_superuser else self.of_superusers

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> dict[str, Sequence[str]]:
        return {"slug": ("name",)} if request.user.is_superuser else {}

    def documents_of(self, chosen: Iterable[Any]) -> QuerySet[Document]:
        return Document.objects.filter(collection__in=chosen)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        staying = super().get_queryset(request).filter(leaving=False)
        return staying.annotate(documents_count=Count("documents")).prefetch_related("groups")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(csrf_exempt(self.upload_view))
        return [path("<int:pk>/upload/", view, name="evidence_collection_upload"), *super().get_urls()]

    def save_model(self, request: HttpRequest, obj: Collection, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and "policies" in form.changed_data and obj.documents.exists():
            messages.warning(
                request,
                "The policies hold for documents that are taken in from now on. For those that are there, choose “Find"
                f" contexts anew” for {obj.name} in the list of collections, or run: manage.py index contexts {obj.slug}",
            )

    @admin.action(description="Find contexts anew (after policies were switched)", permissions=["change"])
    def find_contexts(self, request: HttpRequest, queryset: QuerySet[Collection]) -> None:
        for collection in queryset:
            title = f"Find contexts anew: {collection.name}"
            job_told(request, job_defer("contexts", title=title, collection=collection, asked_by=person_of(request)))

    @admin.action(description="Read anew (what an older SPIRE has read)", permissions=["change"])
    def read_anew(self, request: HttpRequest, queryset: QuerySet[Collection]) -> None:
        for collection in queryset:
            if not read_by_another(collection).exists():
                messages.success(request, f"{collection.name}: all documents are as this SPIRE reads them.")
                continue
            title = f"Read anew: {collection.name}"
            job_told(request, job_defer("reread", title=title, collection=collection, asked_by=person_of(request)))

    def delete_model(self, request: HttpRequest, obj: Collection) -> None:
        self.delete_queryset(request, Collection.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Collection]) -> None:
        """A large one is gone from all pages at once, and removed by a worker."""
        for collection in queryset:
            if collection.documents.count() <= AT_ONCE:
                collection.delete()
            else:
                job_told(request, collection_leave(collection=collection, asked_by=person_of(request)))

    @admin.display(description="Seen by")
    def visibility(self, collection: Collection) -> str:
        if collection.everyone:
            return "everyone"
        return ", ".join(group.name for group in collection.groups.all()) or "superusers only"

    @admin.display(description="Documents", ordering="documents_count")
    def document_count(self, collection: Collection) -> str:
        url = f"{reverse('admin:evidence_document_changelist')}?collection__id__exact={collection.pk}"
        return format_html('<a href="{}">{}</a>', url, getattr(collection, "documents_count", ""))

    @admin.display(description="Upload")
    def upload(self, collection: Collection) -> str:
        return format_html(
            '<a href="{}">Upload documents</a>', reverse("admin:evidence_collection_upload", args=[collection.pk])
        )

    def upload_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Documents and archives into the collection; the job's page lists what becomes of each."""
        # The check for forged requests reads the form, and would answer too many files by a bare 400.
        try:
            request.FILES  # noqa: B018
        except TooManyFilesSent:
            limit = settings.SPIRE_MOST_FILES
            messages.error(
                request, f"These were more than {limit} files, the limit for one upload. Send them as a .zip."
            )
            return redirect(request.path)
        return csrf_protect(self._upload)(request, pk)

    def _upload(self, request: HttpRequest, pk: int) -> HttpResponse:
        collection = get_object_or_404(Collection.objects.managed_by(request.user), pk=pk)
        form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
        if form.is_valid():
            files = form.cleaned_data["documents"]
            return redirect("job", upload_receive(collection=collection, files=files, asked_by=person_of(request)).pk)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Upload documents to {collection.name}",
            "opts": self.opts,
            "collection": collection,
            "form": form,
            "formats": FORMATS.values(),
            "most_files": settings.SPIRE_MOST_FILES,
            "largest_file": settings.SPIRE_LARGEST_FILE,
        }
        return render(request, "admin/evidence/collection/upload.html", context)


class RevisionInline(ManagedInline, admin.TabularInline):
    model = Revision
    fk_name = "document"
    fields = readonly_fields = ("number", "received", "sentences", "language", "content_hash")
    extra = 0
    can_delete = False
    ordering = ("-number",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Revision]:
        return super().get_queryset(request).defer("content")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class IngestFilter(admin.SimpleListFilter):
    """Documents whose last ingest failed."""

    title = "last ingest"
    parameter_name = "ingest"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [("failed", "Failed"), ("done", "Done")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        if self.value() == "failed":
            return queryset.exclude(error="")
        return queryset.filter(error="") if self.value() == "done" else queryset


class CollectionFilter(admin.RelatedOnlyFieldListFilter):
    """The collections of which the list has documents; Django's usual filter would name those of others too."""

    def has_output(self) -> bool:
        """Also of a single one, as the list of collections links here by this filter."""
        return True


@admin.register(Document)
class DocumentAdmin(CountedDeletion):
    list_display = ("address", "title", "collection", "status", "sentences", "revision_count", "changed_on")
    list_filter = (("collection", CollectionFilter), IngestFilter)
    search_fields = ("address", "title")
    fields = ("collection", "address", "title", "status", "created", "changed")
    inlines = (RevisionInline,)
    list_select_related = ("collection",)
    ordering = ("collection__name", "address")

    def documents_of(self, chosen: Iterable[Any]) -> QuerySet[Document]:
        return Document.objects.filter(pk__in=[document.pk for document in chosen])

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        documents = super().get_queryset(request).select_related("collection", "current")
        return documents.defer("current__content").annotate(revisions_count=Count("revisions"))

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        self.delete_queryset(request, Document.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Many are removed by a worker."""
        if queryset.count() <= AT_ONCE:
            documents_remove(queryset)
            return
        for collection in Collection.objects.filter(documents__in=queryset.values("pk")).distinct():
            chosen = list(queryset.filter(collection=collection).values_list("pk", flat=True))
            title = f"Remove {len(chosen)} documents: {collection.name}"
            person = person_of(request)
            job_told(
                request,
                job_defer("documents", title=title, collection=collection, asked_by=person, documents=chosen),
            )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Documents come by upload and ingest."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What a document says is changed by taking it in again."""
        return False

    @admin.display(description="Status", ordering="error")
    def status(self, document: Document) -> str:
        if document.error:
            return f"last ingest failed: {document.error}"
        return "current" if document.current_id else "empty"

    @admin.display(description="Changed", ordering="changed")
    def changed_on(self, document: Document) -> str:
        return f"{localtime(document.changed):%Y-%m-%d %H:%M}"

    @admin.display(description="Sentences", ordering="current__sentences")
    def sentences(self, document: Document) -> int | None:
        return document.current.sentences if document.current else None

    @admin.display(description="Revisions", ordering="revisions_count")
    def revision_count(self, document: Document) -> int:
        return getattr(document, "revisions_count", 0)

    def view_on_site(self, document: Document) -> str | None:
        return reverse("document", args=[document.pk]) if document.current_id else None
