"""What workers do, as people see it: jobs, the files that wait for one, and the workers that were seen.

The queue itself is procrastinate's. A row here outlives its place there, and says what came of it.
"""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from evidence.models.documents import Collection
from evidence.models.rights import Reader, RightsQuerySet


class JobQuerySet(RightsQuerySet["Job"]):
    def visible_to(self, reader: Reader) -> Self:
        """The jobs that this person may see, cancel and have tried again: their own, and those of collections that they look
        after; all for a superuser."""
        managed = Collection.objects.managed_by(reader).values("pk")
        return self.granted(reader, Q(asked_by=reader.pk) | Q(collection__in=managed))

    def managed_by(self, person: Reader) -> Self:
        """The jobs of the collections that this person looks after; all for a superuser."""
        return self.granted(person, Q(collection__in=Collection.objects.managed_by(person).values("pk")))

    def unfinished(self) -> Self:
        """The jobs that wait or run."""
        return self.filter(state__in=UNFINISHED)


class JobState(models.TextChoices):
    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


UNFINISHED = (JobState.WAITING, JobState.RUNNING)


class Job(models.Model):
    """Something that a worker does, has done, or is to do."""

    kind = models.CharField(max_length=40, help_text="Which function does it.")
    title = models.CharField(max_length=300)
    collection = models.ForeignKey(Collection, on_delete=models.SET_NULL, null=True, blank=True, related_name="jobs")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.WAITING)
    done = models.PositiveIntegerField(default=0, help_text="How many of the total are done.")
    total = models.PositiveIntegerField(default=0, help_text="0 while it is not known.")
    summary = models.TextField(blank=True, help_text="What came of it.")
    error = models.TextField(blank=True, help_text="Why it failed, or is tried again.")
    losses = models.PositiveIntegerField(default=0, help_text="Workers that died over it since it last went on.")
    queued = models.BigIntegerField(null=True, help_text="Its place in procrastinate's queue.")
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["queued"], name="job_by_place_in_queue"),
            models.Index(fields=["state"], name="job_unfinished", condition=Q(state="waiting") | Q(state="running")),
        ]

    def __str__(self) -> str:
        return self.title


class Received(models.Model):
    """A file as received, put aside until a job takes it in; then what became of it. Its bytes are dropped with that."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="received")
    name = models.TextField(help_text="As whoever sent it knows it.")
    address = models.TextField(blank=True)
    content = models.BinaryField(null=True)
    charset = models.CharField(max_length=40, blank=True)
    format = models.CharField(max_length=20, blank=True)
    status = models.CharField(max_length=10, blank=True, help_text="What became of it; empty while it waits.")
    reason = models.TextField(blank=True, help_text="Why it was refused.")
    sentences = models.PositiveIntegerField(default=0)
    embedded = models.PositiveIntegerField(default=0)
    starts = models.PositiveIntegerField(default=0, help_text="How often a worker began to read it.")

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "received files"

    def __str__(self) -> str:
        return self.name


class Worker(models.Model):
    """A worker process, and when it was last seen alive."""

    name = models.CharField(max_length=200, unique=True)
    started = models.DateTimeField()
    seen = models.DateTimeField()

    class Meta:
        ordering = ["-seen"]

    def __str__(self) -> str:
        return self.name
