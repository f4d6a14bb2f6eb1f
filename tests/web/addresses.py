"""Every address of the site, and what each kind of person finds there. A view that is not declared here fails its test.

To declare one: an ``Address`` with its route as the URLconf has it, what its parameters are (``World``'s names), and what a
GET and a POST give to whom. Whatever is declared, who may not see the restricted collection is shown no word of it, and
learns nothing from how an address that they do not find differs from one that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.contrib.auth.models import User

OUTSIDE = ("anonymous", "inactive")
READERS = ("member", "manager", "superuser")
"""Who may see the restricted collection."""
IN_THE_ADMIN = ("manager", "other manager", "staff", "superuser")
KINDS = ("anonymous", "inactive", "reader", "member", "other member", *IN_THE_ADMIN)

Expected = Mapping[str, int]
"""The status for each kind of person."""


@dataclass(frozen=True)
class World:
    """What addresses name, and who asks. The document is one of the restricted collection."""

    people: Mapping[str, User]
    collection: int
    document: int
    group: int
    user: int
    attempt: int
    content_type: int
    job: int
    source: int
    page: int
    question: str

    def parameters(self, names: Mapping[str, str]) -> dict[str, str]:
        """The parameters of an address, by the names of what they are; what is no name of ours stands for itself."""
        return {key: str(getattr(self, name, name)) for key, name in names.items()}


@dataclass(frozen=True)
class Address:
    """A route, what its parameters are, and what is expected of a GET (with this query) and of a POST (with this form)."""

    route: str
    get: Expected
    post: Expected
    parameters: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)


def everyone(status: int) -> Expected:
    return dict.fromkeys(KINDS, status)


def signed_in(status: int) -> Expected:
    """Who is not signed in is led to sign in."""
    return everyone(status) | dict.fromkeys(OUTSIDE, 302)


def of_readers(status: int) -> Expected:
    """What only readers of the restricted collection find."""
    return signed_in(404) | dict.fromkeys(READERS, status)


def of_managers_of_it(status: int) -> Expected:
    """What only those find who look after the restricted collection."""
    return signed_in(404) | {"manager": status, "superuser": status}


def of_whoever_looks_after(status: int) -> Expected:
    """What those find who look after some collection."""
    return of_managers_of_it(status) | {"other manager": status}


def of_admin(status: int) -> Expected:
    """What everybody has in the admin who may open it."""
    return everyone(302) | dict.fromkeys(IN_THE_ADMIN, status)


def of_managers(status: int, own_only: bool = True) -> Expected:
    """What managers have in the admin: of the restricted collection, or each of theirs."""
    found = of_admin(404 if own_only else 403) | {"manager": status, "superuser": status}
    return found if own_only else found | {"other manager": status}


def of_superusers(status: int, others: int = 403) -> Expected:
    return of_admin(others) | {"superuser": status}


def admin_of(model: str, name: str, status: int = 200, others: int = 403) -> list[Address]:
    """The pages that Django's admin has of a model which is only for superusers. ``status`` is that of its list's form,
    ``others`` what everybody else gets for one of its objects."""
    of = f"admin/{model}/"
    one = {"object_id": name}
    return [
        Address(of, of_superusers(200), of_superusers(status)),
        Address(f"{of}add/", of_superusers(200), of_superusers(200)),
        Address(f"{of}<path:object_id>/history/", of_superusers(200, others), of_superusers(200, others), one),
        Address(
            f"{of}<path:object_id>/delete/",
            of_superusers(200, others),
            of_superusers(302, others),
            one,
            form={"post": "yes"},
        ),
        Address(f"{of}<path:object_id>/change/", of_superusers(200, others), of_superusers(200, others), one),
        Address(f"{of}<path:object_id>/", of_admin(302), of_admin(302), one),
    ]


def managed_admin_of(model: str, name: str) -> list[Address]:
    """The pages of a model that managers see, each what belongs to their collections. What cannot be added or deleted is
    declared after them."""
    of = f"admin/{model}/"
    one = {"object_id": name}
    return [
        Address(of, of_managers(200, own_only=False), of_managers(200, own_only=False), query={"q": "e"}),
        Address(f"{of}add/", of_managers(200, own_only=False), of_managers(200, own_only=False)),
        Address(f"{of}<path:object_id>/history/", of_managers(200), of_managers(200), one),
        Address(f"{of}<path:object_id>/delete/", of_managers(200), of_managers(302), one, form={"post": "yes"}),
        Address(f"{of}<path:object_id>/change/", of_managers(200), of_managers(200), one),
        Address(f"{of}<path:object_id>/", of_admin(302), of_admin(302), one),
    ]


QUESTION = {"q": "How many months are paid?", "collection": "severance"}
OF_DOCUMENT = {"pk": "document"}
OF_QUESTION = {"pk": "question"}
OF_JOB = {"pk": "job"}

PAGES = [
    Address("", signed_in(200), signed_in(405), query=QUESTION),
    # Without a language model there is no answer.
    Address("answer/", signed_in(404), signed_in(405), query=QUESTION),
    Address("documents/<int:pk>/", of_readers(200), signed_in(405), OF_DOCUMENT, {"revision": "1"}),
    Address("documents/<int:pk>/original", of_readers(200), signed_in(405), OF_DOCUMENT),
    Address(
        "documents/<int:pk>/to/<path:address>",
        of_readers(302),
        signed_in(405),
        OF_DOCUMENT | {"address": "kestrel.html"},
    ),
    Address("suggest/", signed_in(200), signed_in(405), query={"q": "kes", "collection": "severance"}),
    # What changed between two revisions, or that there is one only.
    Address("documents/<int:pk>/changes", of_readers(200), signed_in(405), OF_DOCUMENT, {"from": "1", "to": "1"}),
    # A member asked of the restricted collection; whoever may see all of it may open what it got.
    Address("questions/", signed_in(200), signed_in(405)),
    Address("questions/<uuid:pk>/", of_readers(200), signed_in(405), OF_QUESTION),
    Address("questions/<uuid:pk>/feedback", signed_in(405), of_readers(302), OF_QUESTION, form={"helpful": "yes"}),
    Address("questions/delete", signed_in(405), signed_in(302)),
    Address("questions/<uuid:pk>/keep", signed_in(405), signed_in(404) | {"member": 302}, OF_QUESTION),
    Address("questions/<uuid:pk>/delete", signed_in(405), signed_in(404) | {"member": 302}, OF_QUESTION),
    Address("status/", of_whoever_looks_after(200), signed_in(405)),
    Address("status/<int:pk>/", of_managers_of_it(200), signed_in(405), OF_JOB),
    Address("status/<int:pk>/retry", signed_in(405), of_managers_of_it(302), OF_JOB),
    Address("status/<int:pk>/cancel", signed_in(405), of_managers_of_it(302), OF_JOB),
    Address("login/", everyone(302) | dict.fromkeys(OUTSIDE, 200), everyone(302) | dict.fromkeys(OUTSIDE, 200)),
    Address("password/", signed_in(200), signed_in(200)),
    Address("logout/", everyone(405), everyone(302)),
]

COLLECTION = {"object_id": "collection"}
UPLOAD = {"pk": "collection"}
AUTOCOMPLETE = {"app_label": "evidence", "model_name": "document", "field_name": "collection", "term": "sev"}
SIGN_IN_OF_ADMIN = everyone(404) | dict.fromkeys((*OUTSIDE, *IN_THE_ADMIN), 302)

ADMIN = [
    Address("admin/", of_admin(200), of_admin(200)),
    Address("admin/login/", SIGN_IN_OF_ADMIN, SIGN_IN_OF_ADMIN),
    Address("admin/logout/", of_admin(405), everyone(302)),
    Address("admin/password_change/", of_admin(200), of_admin(200)),
    Address("admin/password_change/done/", of_admin(200), of_admin(405)),
    Address(
        "admin/autocomplete/",
        of_managers(200, own_only=False),
        of_admin(405),
        query=AUTOCOMPLETE,
    ),
    Address("admin/jsi18n/", of_admin(200), of_admin(405)),
    Address(
        "admin/r/<path:content_type_id>/<path:object_id>/",
        of_admin(404),
        of_admin(404),
        {"content_type_id": "content_type", "object_id": "document"},
    ),
    Address(
        "admin/^(?P<app_label>evidence|axes|auth)/$",
        of_managers(200, own_only=False) | {"staff": 404},
        of_managers(200, own_only=False) | {"staff": 404},
        {"app_label": "evidence"},
    ),
    Address("admin/(?P<url>.*)$", of_admin(404), of_admin(404), {"url": "nothing/"}),
    Address("admin/evidence/collection/<int:pk>/upload/", of_managers(200), of_managers(200), UPLOAD),
    *managed_admin_of("evidence/collection", "collection"),
    Address("admin/evidence/collection/add/", of_superusers(200), of_superusers(200)),
    Address(
        "admin/evidence/collection/<path:object_id>/delete/",
        of_superusers(200, others=404) | {"manager": 403},
        of_superusers(302, others=404) | {"manager": 403},
        COLLECTION,
        form={"post": "yes"},
    ),
    Address(
        "admin/evidence/collection/<path:object_id>/change/",
        of_managers(200),
        # For a manager the form is complete without a name, which is not theirs to change.
        of_managers(302) | {"superuser": 200},
        COLLECTION,
    ),
    *managed_admin_of("evidence/document", "document"),
    Address("admin/evidence/document/add/", of_admin(403), of_admin(403)),
    Address(
        "admin/evidence/document/<path:object_id>/change/",
        of_managers(200),
        of_managers(403),
        {"object_id": "document"},
    ),
    *managed_admin_of("evidence/job", "job"),
    Address("admin/evidence/job/add/", of_admin(403), of_admin(403)),
    Address("admin/evidence/job/<path:object_id>/change/", of_managers(200), of_managers(403), {"object_id": "job"}),
    Address("admin/evidence/job/<path:object_id>/delete/", *[of_managers(403)] * 2, {"object_id": "job"}),
    *managed_admin_of("evidence/source", "source"),
    *managed_admin_of("evidence/sourcepage", "page"),
    Address("admin/evidence/sourcepage/add/", of_admin(403), of_admin(403)),
    Address(
        "admin/evidence/sourcepage/<path:object_id>/change/", of_managers(200), of_managers(403), {"object_id": "page"}
    ),
    Address("admin/evidence/sourcepage/<path:object_id>/delete/", *[of_managers(403)] * 2, {"object_id": "page"}),
    *admin_of("evidence/savedquestion", "question", others=404),
    Address(
        "admin/evidence/savedquestion/<path:object_id>/change/",
        of_superusers(200, others=404),
        of_superusers(403, others=404),
        {"object_id": "question"},
    ),
    Address("admin/evidence/savedquestion/add/", of_admin(403), of_admin(403)),
    *admin_of("auth/group", "group"),
    *admin_of("auth/user", "user"),
    Address("admin/auth/user/<id>/password/", of_superusers(200), of_superusers(200), {"id": "user"}),
    *admin_of("axes/accessattempt", "attempt"),
    Address("admin/axes/accessattempt/add/", of_admin(403), of_admin(403)),
    Address(
        "admin/axes/accessattempt/<path:object_id>/change/",
        of_superusers(200),
        of_superusers(302),
        {"object_id": "attempt"},
    ),
]

# The last of two counts: "but for".
ADDRESSES = {address.route: address for address in [*PAGES, *ADMIN]}
