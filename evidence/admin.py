"""The admin: collections and who sees them, their documents, and uploads."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, TooManyFilesSent
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from evidence.configured import OtherModel
from evidence.ingest.documents import ingest_sources
from evidence.ingest.sources import read_upload
from evidence.language.embedder import ModelError
from evidence.models import Collection, Document, Revision
from evidence.web.forms import UploadForm

admin.site.site_header = admin.site.site_title = "SPIRE"
admin.site.index_title = "Collections and people"


@admin.register(Collection)
class CollectionAdmin(admin.ModelAdmin):
    list_display = ("name", "visibility", "document_count", "upload")
    search_fields = ("name", "description")
    prepopulated_fields = {"slug": ("name",)}
    filter_horizontal = ("groups",)
    fields = ("name", "slug", "description", "everyone", "groups")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        return super().get_queryset(request).annotate(documents_count=Count("documents")).prefetch_related("groups")

    def get_urls(self) -> list[URLPattern]:
        upload = path(
            "<int:pk>/upload/", self.admin_site.admin_view(self.upload_view), name="evidence_collection_upload"
        )
        return [upload, *super().get_urls()]

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
        """HTML files and archives into the collection; what became of each is listed."""
        collection = get_object_or_404(Collection, pk=pk)
        if not self.has_change_permission(request, collection):
            raise PermissionDenied
        outcomes = None
        try:
            form = UploadForm(request.POST or None, request.FILES or None)
            is_valid = request.method == "POST" and form.is_valid()
        except TooManyFilesSent:
            messages.error(
                request, f"That was more than {settings.SPIRE_MOST_FILES} files at once. Send them as a .zip."
            )
            return redirect(request.path)
        if is_valid:
            sources = (source for file in form.cleaned_data["documents"] for source in read_upload(file.name, file))
            try:
                outcomes = ingest_sources(collection=collection, sources=sources)
            except (ModelError, OtherModel) as error:
                form.add_error("documents", str(error))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Upload documents to {collection.name}",
            "opts": self.model._meta,
            "collection": collection,
            "form": form,
            "outcomes": outcomes,
            "refused": [outcome for outcome in outcomes or [] if outcome.status == "refused"],
            "most_files": settings.SPIRE_MOST_FILES,
            "largest_file": settings.SPIRE_LARGEST_FILE,
        }
        return render(request, "admin/evidence/collection/upload.html", context)


class RevisionInline(admin.TabularInline):
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


@admin.register(Document)
class DocumentAdmin(admin.ModelAdmin):
    list_display = ("address", "title", "collection", "status", "sentences", "revision_count", "error", "changed")
    list_filter = ("collection", ("error", admin.EmptyFieldListFilter))
    search_fields = ("address", "title")
    fields = readonly_fields = ("collection", "address", "title", "status", "error", "created", "changed")
    inlines = (RevisionInline,)
    list_select_related = ("collection",)
    ordering = ("collection__name", "address")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        documents = super().get_queryset(request).select_related("collection", "current")
        return documents.defer("current__content").annotate(revisions_count=Count("revisions"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Documents come by upload and ingest."""
        return False

    @admin.display(description="Status")
    def status(self, document: Document) -> str:
        if document.error:
            return "last ingest failed" if document.current_id else "failed"
        return "current" if document.current_id else "empty"

    @admin.display(description="Sentences", ordering="current__sentences")
    def sentences(self, document: Document) -> int | None:
        return document.current.sentences if document.current else None

    @admin.display(description="Revisions", ordering="revisions_count")
    def revision_count(self, document: Document) -> int:
        return getattr(document, "revisions_count", 0)

    def view_on_site(self, document: Document) -> str | None:
        return reverse("document", args=[document.pk]) if document.current_id else None
