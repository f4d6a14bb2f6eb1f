"""Where a collection's documents come from by themselves, and what is known of each page there."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from evidence.models.documents import Collection, Document
from evidence.models.rights import Reader

MOST_PAGES = 100_000
HOURS_OF_A_YEAR = 8784


class SourceQuerySet(models.QuerySet["Source"]):
    def due(self, now: datetime) -> Self:
        """Those whose time has come, the longest waiting first."""
        return self.filter(next_run__lte=now).order_by("next_run", "pk")

    def managed_by(self, person: Reader) -> Self:
        """The sources of the collections that this person looks after."""
        return self.filter(collection__in=Collection.objects.managed_by(person).values("pk"))


class SourcePageQuerySet(models.QuerySet["SourcePage"]):
    def managed_by(self, person: Reader) -> Self:
        """The pages of the sources of the collections that this person looks after."""
        return self.filter(source__in=Source.objects.managed_by(person).values("pk"))


class Source(models.Model):
    """A place that a collection keeps itself current from."""

    class Kind(models.TextChoices):
        FOLDER = "folder", "a folder on the server"
        LIST = "list", "a list of URLs"
        SITEMAP = "sitemap", "a sitemap"
        CRAWL = "crawl", "a crawl from one page on"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="sources")
    kind = models.CharField(max_length=10, choices=Kind)
    where = models.TextField(
        help_text="The folder; the URLs, one a line; the sitemap's URL; or the URL of the page to begin at."
    )
    prefix = models.CharField(
        "only below",
        max_length=500,
        blank=True,
        help_text="For a crawl or a sitemap: only pages whose path begins with this, such as /docs. Empty: the whole site.",
    )
    depth = models.PositiveSmallIntegerField(
        default=20, help_text="For a crawl: how many links away from its first page it goes."
    )
    most_pages = models.PositiveIntegerField(
        default=10_000,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PAGES)],
        help_text="URLs that one run asks for, at most. What lies beyond stays as it is.",
    )
    pause = models.FloatField(
        default=1.0,
        validators=[MinValueValidator(0.0), MaxValueValidator(3600.0)],
        help_text="Seconds between two requests to a site; its robots.txt may ask for more.",
    )
    every_hours = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=24,
        validators=[MinValueValidator(1), MaxValueValidator(HOURS_OF_A_YEAR)],
        help_text="Hours between two runs: 24 is daily, 168 weekly. Empty: only when it is asked for.",
    )
    grace_days = models.PositiveSmallIntegerField(
        default=7,
        validators=[MaxValueValidator(3650)],
        help_text="Days after which a document leaves whose page was found to be gone.",
    )
    next_run = models.DateTimeField(null=True, blank=True, db_index=True, editable=False)
    started = models.DateTimeField(null=True, editable=False)
    finished = models.DateTimeField(null=True, editable=False)
    error = models.TextField(blank=True, editable=False, help_text="Why the last run did not get to its end.")
    note = models.TextField(blank=True, editable=False, help_text="What is worth knowing of the last run.")
    left = models.PositiveIntegerField(default=0, editable=False, help_text="Documents that left in the last run.")
    created = models.DateTimeField(auto_now_add=True)

    objects = SourceQuerySet.as_manager()

    class Meta:
        ordering = ["collection", "pk"]

    def __str__(self) -> str:
        lines = self.where.split()
        more = f" and {len(lines) - 1} more" if self.kind == self.Kind.LIST and len(lines) > 1 else ""
        return f"{self.get_kind_display()}: {lines[0][:200] if lines else ''}{more}"

    @property
    def is_running(self) -> bool:
        """Whether a run was begun and has not come to its end: it is going on, or was killed and will be gone on with."""
        return self.started is not None and (self.finished is None or self.finished < self.started)


class SourcePage(models.Model):
    """What a source knows of one URL, or of one file of a folder."""

    class Outcome(models.TextChoices):
        NEW = "new", "new"
        CHANGED = "changed", "changed"
        UNCHANGED = "unchanged", "unchanged"
        REFUSED = "refused", "refused: not read"
        FAILED = "failed", "failed: stays as it was"
        GONE = "gone", "gone"
        ALIAS = "alias", "another page's address"
        PASSED = "passed", "passed by as it asks"

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="pages")
    url = models.TextField("address")
    depth = models.PositiveSmallIntegerField(default=0, help_text="Links away from the first page.")
    listed = models.DateTimeField(help_text="The run in which it was last found.")
    asked = models.DateTimeField(null=True, help_text="The run in which it was last asked for, to its end.")
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True, related_name="pages")
    etag = models.TextField(blank=True)
    modified = models.TextField(blank=True, help_text="Last-Modified, as the server said it.")
    missed = models.DateTimeField(null=True, help_text="The first run in which its document was found to be gone.")
    outcome = models.CharField(max_length=10, choices=Outcome, blank=True)
    reason = models.TextField(blank=True)

    objects = SourcePageQuerySet.as_manager()

    class Meta:
        ordering = ["source", "url"]
        constraints = [models.UniqueConstraint(fields=["source", "url"], name="page_url_unique_in_source")]

    def __str__(self) -> str:
        return self.url
