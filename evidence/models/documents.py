"""What people edit, and what cannot be derived: collections, documents, and revisions as received."""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import models

from evidence.models.rights import Reader, RightsQuerySet


class CollectionQuerySet(RightsQuerySet["Collection"]):
    def visible_to(self, reader: Reader) -> Self:
        """The collections that this person may see: those open to everyone who is signed in, to a group of theirs, and
        those that they manage; all for a superuser; none for somebody who is not signed in."""
        shared = Collection.groups.through.objects.filter(group__user=reader.pk).values("collection")
        managed = Collection.managers.through.objects.filter(user=reader.pk).values("collection")
        # Subqueries, as a join would give a collection once for each of its groups.
        rule = models.Q(everyone=True) | models.Q(pk__in=shared) | models.Q(pk__in=managed)
        return self.filter(leaving=False).granted(reader, rule)

    def managed_by(self, person: Reader) -> Self:
        """The collections that this person looks after: all for a superuser, else those that name them as a manager."""
        managed = Collection.managers.through.objects.filter(user=person.pk).values("collection")
        return self.filter(leaving=False).granted(person, models.Q(pk__in=managed))


class DocumentQuerySet(models.QuerySet["Document"]):
    def visible_to(self, reader: Reader) -> Self:
        """The documents that this person may read: those with a revision, in collections that they may see."""
        visible = Collection.objects.visible_to(reader)
        return self.filter(collection__in=visible.values("pk"), current__isnull=False)

    def managed_by(self, person: Reader) -> Self:
        """The documents of the collections that this person looks after, those without a revision too."""
        return self.filter(collection__in=Collection.objects.managed_by(person).values("pk"))


class RevisionQuerySet(models.QuerySet["Revision"]):
    def visible_to(self, reader: Reader) -> Self:
        """The revisions, current and older ones, of the documents that this person may read."""
        return self.filter(document__in=Document.objects.visible_to(reader).values("pk"))

    def managed_by(self, person: Reader) -> Self:
        """The revisions of the documents of the collections that this person looks after."""
        return self.filter(document__in=Document.objects.managed_by(person).values("pk"))


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
    managers = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="managed_collections",
        help_text="Who looks after it: uploads, deletes, decides who reads it. They see nothing else of the administration.",
    )
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
        indexes = [
            # For titles that hold a word with a given beginning, evidence.store.suggest.
            GinIndex(SearchVector("title", config="simple"), name="document_title_words")
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

    objects = RevisionQuerySet.as_manager()

    class Meta:
        ordering = ["document", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="revision_number_unique_in_document")
        ]

    def __str__(self) -> str:
        return f"{self.document} (revision {self.number})"
