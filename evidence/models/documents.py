"""What people edit, and what cannot be derived: collections, documents, and revisions as received."""

from __future__ import annotations

from typing import Self

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, User
from django.db import models

Reader = User | AbstractBaseUser | AnonymousUser
"""Who asks."""


class CollectionQuerySet(models.QuerySet["Collection"]):
    def visible_to(self, reader: Reader) -> Self:
        """The collections that this person may see: all for a superuser; none for somebody who is not signed in."""
        if not reader.is_authenticated or not reader.is_active:
            return self.none()
        staying = self.filter(leaving=False)
        if getattr(reader, "is_superuser", False):
            return staying
        membership = Group.objects.filter(user=reader.pk)
        return staying.filter(models.Q(everyone=True) | models.Q(groups__in=membership)).distinct()


class DocumentQuerySet(models.QuerySet["Document"]):
    def visible_to(self, reader: Reader) -> Self:
        """The documents that this person may read: those with a revision, in collections that they may see."""
        visible = Collection.objects.visible_to(reader)
        return self.filter(collection__in=visible.values("pk"), current__isnull=False)


class Collection(models.Model):
    """A named, access-controlled set of documents."""

    name = models.CharField(max_length=200, unique=True)
    slug = models.SlugField(max_length=200, unique=True)
    description = models.TextField(blank=True)
    everyone = models.BooleanField(
        "open to everyone who is signed in",
        default=False,
        help_text="Otherwise only members of the groups below see it.",
    )
    groups = models.ManyToManyField(Group, blank=True, related_name="collections", help_text="Who may see it.")
    policies = models.JSONField(
        "optional context policies",
        default=list,
        blank=True,
        help_text="Names of the optional policies that give this collection's sentences more global context.",
    )
    leaving = models.BooleanField(
        default=False, editable=False, help_text="It is being removed by a worker, and nobody sees it any more."
    )
    created = models.DateTimeField(auto_now_add=True)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Document(models.Model):
    """One logical page of a collection, known by its address (a URL, or a file name)."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="documents")
    address = models.TextField()
    title = models.TextField(blank=True)
    current = models.ForeignKey(
        "Revision", on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    error = models.TextField(blank=True, editable=False, help_text="Why the last ingest failed; empty when it did not.")
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ["collection", "address"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "address"], name="document_address_unique_in_collection")
        ]

    def __str__(self) -> str:
        return self.title or self.address


class Revision(models.Model):
    """One immutable state of a document: the bytes as received. The tree made from them is in the pipeline's tables."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    content = models.BinaryField()
    content_hash = models.CharField(max_length=64)
    charset = models.CharField(max_length=40, blank=True, help_text="As the sender declared it.")
    format = models.CharField(max_length=20, default="html", help_text="Which reader makes HTML of the bytes.")
    parser = models.CharField(max_length=60)
    title = models.TextField()
    language = models.CharField(max_length=40, blank=True)
    sentences = models.PositiveIntegerField()
    received = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["document", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="revision_number_unique_in_document")
        ]

    def __str__(self) -> str:
        return f"{self.document} (revision {self.number})"
