"""What each person may see or look after, in SQL: where every such question begins."""

from __future__ import annotations

from typing import Self, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import models
from django.db.models import Q

Reader = User | AbstractBaseUser | AnonymousUser
"""Who asks."""

_Row = TypeVar("_Row", bound=models.Model)


class RightsQuerySet(models.QuerySet[_Row]):
    def granted(self, person: Reader, rule: Q) -> Self:
        """Those that a rule gives to a person: all for a superuser; none for whoever is not signed in, or switched off."""
        if not person.is_authenticated or not person.is_active:
            return self.none()
        return self if getattr(person, "is_superuser", False) else self.filter(rule)
