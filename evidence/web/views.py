"""The pages: a question and its evidence, a document with the cited places marked, and the original."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from evidence.configured import OtherModel, judge, pipeline
from evidence.ingest.readers import FORMATS
from evidence.language.embedder import ModelError
from evidence.models import Collection, Document, Revision
from evidence.retrieve.pipeline import LONGEST_QUESTION, NoIndex, ask
from evidence.retrieve.saving import question_save
from evidence.store.repeats import read_repeats
from evidence.store.revisions import read_tree
from evidence.tree.context import DEFINITION
from evidence.tree.document import Document as Tree
from evidence.tree.main_content import apart_reasons
from evidence.tree.markup import Rendering, anchor, named_anchor
from evidence.tree.path import Path, PathSet
from evidence.tree.tags import HEADINGS
from evidence.web.answering import SCRIPTED_POLICY, answer_url
from evidence.web.budget import budget_of
from evidence.web.forms import FilterForm
from evidence.web.links import inside, is_on_the_web
from evidence.web.log import note
from evidence.web.results import definitions_of, nearest_of, results_of
from evidence.web.scope import visible_and_named
from evidence.web.unsearched import reasons_in_words

MOST_CITED = 500

# A page is read at a glance: what scores below this share of the best is shown on request. Of the sample's twenty
# questions nineteen have their answer above it, and of the twenty over PostgreSQL's pages all that are found at all.
PAGE_FLOOR = 0.7

# Documents that are shown where nothing seems to answer.
NEAREST = 3

# No script, no form, no foreign load, no way out of the frame, and an origin of its own.
ORIGINAL_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none';"
    " frame-ancestors 'none'"
)


@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The question box, and the evidence for the question asked."""
    visible, named = visible_and_named(request)
    question = request.GET.get("q", "").strip()
    wanted = set(request.GET.getlist("collection"))
    chosen = named or visible
    budget = budget_of(request.GET.get("budget", ""))
    wants_all = "all" in request.GET
    form = FilterForm(request.GET)
    filters = form.filters()
    context = {
        "question": question,
        "longest_question": LONGEST_QUESTION,
        "collections": [(collection, not wanted or collection in chosen) for collection in visible],
        "budget": budget,
        "default_budget": settings.SPIRE_BUDGET,
        "form": form,
        "is_filtered": bool(form.given()),
    }
    if question and visible:
        try:
            evidence = ask(
                question,
                collections=[collection.pk for collection in chosen],
                budget=budget,
                floor=0.0 if wants_all else PAGE_FLOOR,
                glossaries=[collection.pk for collection in chosen if DEFINITION.name in collection.policies],
                filters=filters,
                judge=None if wants_all else judge(),
            )
        except (NoIndex, OtherModel, ModelError) as error:
            context["problem"] = error
        else:
            note(stages=evidence.milliseconds)
            if not (evidence.likely or wants_all):
                evidence = nearest_of(evidence, NEAREST)
            if request.method == "GET":
                context["saved"] = question_save(
                    asker=request.user,
                    evidence=evidence,
                    collections=[collection.pk for collection in chosen],
                    filters=form.understood() | ({"all": ["1"]} if wants_all else {}),
                )
            context |= {
                "evidence": evidence,
                "everything": "" if wants_all else _everything(question, chosen if wanted else [], budget, form),
                "results": results_of(evidence),
                "definitions": definitions_of(evidence),
                "passages": sum(len(excerpt.citations) for excerpt in evidence.excerpts),
                "milliseconds": sum(evidence.milliseconds.values()),
            }
            context["answer_url"] = answer_url(question, chosen, budget, form) if evidence.excerpts else ""
    response = render(request, "home.html", context)
    response.headers["Content-Security-Policy"] = SCRIPTED_POLICY
    return response


@login_required
@require_safe
def document(request: HttpRequest, pk: int) -> HttpResponse:
    """A revision of a document, whole, from its tree: with the cited places marked and a table of contents."""
    found = get_object_or_404(readable(request), pk=pk)
    revision = revision_numbered(found, request.GET.get("revision", ""))
    with pipeline() as connection:
        tree = read_tree(connection, revision.pk)
        # Only of current revisions it is known what others repeat.
        repeats = read_repeats(connection, revision.pk) if revision.pk == found.current_id else {}
    documents = found.collection.documents.filter(current__isnull=False).count() if repeats else 0
    cited, missing = _cited(request.GET.getlist("cite"), tree)
    rendering = Rendering(
        cited=cited,
        anchors=True,
        link=lambda target: f"#{named_anchor(target[1:])}" if target.startswith("#") else inside(found.pk, target),
        apart=reasons_in_words(repeats, documents),
    )
    return render(
        request,
        "document.html",
        {
            "document": found,
            "revision": revision,
            "revisions": found.revisions.defer("content"),
            "is_current": revision.pk == found.current_id,
            "source_url": found.address if is_on_the_web(found.address) else "",
            "language": tree.language,
            "contents": _contents(tree),
            "format": FORMATS[revision.format],
            "cited": [(anchor(path), tree.at(path).content) for path in cited],
            "missing": missing,
            # Rendering writes kept tags and escaped text only.
            "html": SafeString(rendering.html(tree)),
        },
    )


@login_required
@require_safe
def original(request: HttpRequest, pk: int) -> HttpResponse:
    """The bytes as they were received, in a sandbox: nothing in them runs, loads or leads away. What is no page and no text
    is a download."""
    found = get_object_or_404(readable(request), pk=pk)
    revision = revision_numbered(found, request.GET.get("revision", ""))
    known = FORMATS[revision.format]
    charset = f"; charset={revision.charset}" if revision.charset else ""
    if known.media_type == "text/plain" and not charset and _is_utf8(bytes(revision.content)):
        charset = "; charset=utf-8"
    name = PurePosixPath(urlsplit(found.address).path if is_on_the_web(found.address) else found.address).name
    return HttpResponse(
        bytes(revision.content),
        content_type=f"{known.media_type}{charset}",
        headers={
            "Content-Disposition": content_disposition_header(not known.is_shown, name) or "inline",
            "Content-Security-Policy": ORIGINAL_POLICY,
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
        },
    )


@login_required
@require_safe
def linked(request: HttpRequest, pk: int, address: str) -> HttpResponse:
    """Where a relative link of a document leads: to the document of that address in the same collection."""
    found = get_object_or_404(readable(request), pk=pk)
    # No address has a NUL in it, and PostgreSQL refuses to look for one.
    neighbours = readable(request).filter(collection=found.collection_id)
    target = None if "\0" in address else neighbours.filter(address=address).first()
    if target is None:
        return render(request, "not_held.html", {"document": found, "address": address}, status=404)
    return HttpResponseRedirect(reverse("document", args=[target.pk]))


def _everything(question: str, chosen: list[Collection], budget: int, form: FilterForm) -> str:
    """The address of the same question with all that fits the budget. It names only collections that are seen."""
    return "?" + urlencode(
        {"q": question, "budget": budget, "all": 1, "collection": [c.slug for c in chosen], **form.given()}, doseq=True
    )


def readable(request: HttpRequest) -> QuerySet[Document]:
    """The documents that whoever asks may read."""
    return Document.objects.visible_to(request.user).select_related("collection")


def revision_numbered(found: Document, number: str) -> Revision:
    """The revision that an address names by its number; the current one for "". Http404 when there is none."""
    revisions = found.revisions.defer("content")
    if not number:
        return get_object_or_404(revisions, pk=found.current_id)
    if not (number.isascii() and number.isdigit()) or len(number) > 9:
        raise Http404("There is no such revision.")
    return get_object_or_404(revisions, number=int(number))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _cited(given: Iterable[str], tree: Tree) -> tuple[PathSet, int]:
    """The paths to mark, and how many of those given the revision does not have."""
    paths: list[Path] = []
    missing = 0
    for text in list(given)[:MOST_CITED]:
        try:
            path = Path.parse(text)
            tree.at(path)
        except (ValueError, KeyError):
            missing += 1
        else:
            paths.append(path)
    return PathSet(paths), missing


def _contents(tree: Tree) -> list[tuple[int, str, str]]:
    """The headings of the main content for a table of contents: level, anchor, text."""
    reasons = apart_reasons(tree)
    found = (
        node
        for node, reason in zip(tree.nodes, reasons, strict=True)
        if node.tag in HEADINGS and node.children and not reason
    )
    return [(int(node.tag[1]), anchor(node.path), node.content) for node in found]
