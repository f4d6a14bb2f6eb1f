"""reStructuredText, as docutils reads it; what only Sphinx knows keeps its text."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.states import Inliner
from docutils.transforms import Transform

from evidence.ingest.readers.page import Page, Unreadable, page_of
from evidence.ingest.readers.text import text_of

SETTINGS = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "smart_quotes": False,
    "report_level": 5,
    "halt_level": 5,
    "traceback": True,
    "warning_stream": False,
    "input_encoding": "unicode",
    "output_encoding": "unicode",
    "line_length_limit": 10_000_000,
    "datestamp": None,
    "doctitle_xform": True,
    "docinfo_xform": False,
}
TITLED = re.compile(r"(.+?)\s*<([^<>]+)>\s*", re.DOTALL)

LONGEST_INLINE = 5000
"""Characters of one paragraph in which inline markup is looked for."""

LARGEST = 5_000_000
"""Bytes. docutils reads some 100,000 in a second."""

DEEPEST_SUBSTITUTION = 20
MOST_SUBSTITUTIONS = 100_000

# Roles whose text is prose; of the others (functions, files, options) it is code.
PROSE_ROLES = frozenset("ref numref doc term abbr dfn guilabel menuselection index any eq keyword download".split())
# Directives that only steer Sphinx, or whose content are names of files.
SILENT = frozenset(
    """
    toctree index highlight currentmodule module py:module py:currentmodule default-domain tabularcolumns literalinclude
    include raw sectionauthor codeauthor autosummary meta contents sectnum date automodule autoclass autofunction
    automethod autodata autoattribute autoexception
    """.split()
)
# Directives whose content is no reStructuredText.
VERBATIM = frozenset(
    "doctest testcode testoutput testsetup graphviz digraph mermaid uml prompt ipython productionlist console".split()
)
VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}

# docutils keeps its directives and roles in modules; while one document is read they are ours.
LOCK = threading.Lock()


def read(data: bytes, charset: str = "") -> Page:
    """HTML of a reStructuredText file. Nothing in it reads another file, brings in raw HTML or stops its being read:
    a mistake is left as its text, without a message, and an unknown role or directive keeps its words."""
    if len(data) > LARGEST:
        raise Unreadable("is more than 5 MB of reStructuredText: split it, or make HTML of it")
    text = text_of(data, charset)
    try:
        with _lenient():
            tree = publish_doctree(text, parser=_Parser(inliner=_inliner()), settings_overrides=SETTINGS)
        _clean(tree)
        html = publish_from_doctree(tree, writer="html5", settings_overrides=SETTINGS)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, AssertionError) as error:
        # Faults of docutils itself, on input that no writer meant.
        raise Unreadable(f"is not reStructuredText that can be read: {error or type(error).__name__}") from error
    # docutils says that every page is in English, and names one without a title after its file.
    body = str(html).partition("<body>")[2].rpartition("</body>")[0]
    # It writes notes and warnings as asides, which in HTML are what a page can do without.
    body = body.replace("<aside", "<div").replace("</aside>", "</div>")
    return Page(page_of(body, title=tree.get("title", "")))


def _inliner() -> Inliner:
    """docutils' reader of inline markup, whose time grows with the square of a text, held to texts as long as prose is."""
    inliner = Inliner()
    parse = inliner.parse

    def parse_prose(text: str, *arguments: Any) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return ([nodes.Text(text)], []) if len(text) > LONGEST_INLINE else parse(text, *arguments)

    # On the object: docutils makes its patterns of what stands in the class itself, and finds none in a subclass.
    inliner.parse = parse_prose
    return inliner


class _Parser(Parser):
    def get_transforms(self) -> list[type[Transform]]:
        return [*super().get_transforms(), _Substitutions]


class _Substitutions(Transform):
    """Before docutils replaces substitutions: one without a definition is its text (Sphinx knows ``|version|``), and those
    that hold each other without end are refused."""

    default_priority = 210

    def apply(self) -> None:
        defined = {name.lower(): node for name, node in self.document.substitution_defs.items()}
        for reference in list(self.document.findall(nodes.substitution_reference)):
            if reference["refname"].lower() not in defined:
                reference.replace_self(nodes.Text(reference.astext() and f"|{reference.astext()}|"))
        held = {
            name: [one["refname"].lower() for one in node.findall(nodes.substitution_reference)]
            for name, node in defined.items()
        }
        sizes: dict[str, int] = {}

        def size(name: str, above: tuple[str, ...] = ()) -> int:
            if name in above or len(above) > DEEPEST_SUBSTITUTION:
                raise Unreadable("has substitutions that hold each other without end")
            if name not in sizes:
                sizes[name] = 1 + sum(size(inner, (*above, name)) for inner in held[name])
            return sizes[name]

        references = self.document.findall(nodes.substitution_reference)
        if sum(size(reference["refname"].lower()) for reference in references) > MOST_SUBSTITUTIONS:
            raise Unreadable("has substitutions that grow without bound")


def _clean(tree: nodes.document) -> None:
    """Leave out what docutils has to say, and keep what the text says."""
    for message in list(tree.findall(nodes.system_message)):
        message.parent.remove(message)
    for image in list(tree.findall(nodes.image)):
        # The writer would open the file of a picture to measure or embed it.
        image.parent.remove(image)
    for wrong in list(tree.findall(nodes.problematic)):
        wrong.replace_self(nodes.inline("", wrong.astext()))
    for code in tree.findall(nodes.literal):
        # Only then it is written as code.
        code["classes"].append("code")
    for note in list(tree.findall(nodes.footnote)):
        note.remove(note[0])
    for citation in list(tree.findall(nodes.citation)):
        label = citation[0].astext()
        citation.remove(citation[0])
        citation.insert(0, nodes.paragraph("", f"[{label}]"))
    for fields in list(tree.findall(nodes.field_list)):
        # ":orphan:" and its like, which say something to Sphinx.
        for field in [field for field in fields.children if not field.astext().partition("\n\n")[2].strip()]:
            fields.remove(field)
        if not fields.children:
            fields.parent.remove(fields)


class _Lenient(Directive):
    """A directive that docutils does not know: its argument names what its content says."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    class _AnyOption(dict[str, Callable[[str], Any]]):
        def __bool__(self) -> bool:
            return True

        def __getitem__(self, name: str) -> Callable[[str | None], str]:
            return lambda value: value or ""

    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = _AnyOption()

    def run(self) -> list[nodes.Node]:
        name = self.name.lower()
        argument = self.arguments[0] if self.arguments else ""
        if name in SILENT:
            return []
        if name in VERBATIM:
            code = "\n".join([*([argument] if argument else []), *self.content])
            return [nodes.literal_block(code, code)]
        if name in VERSIONS:
            version, _, rest = argument.partition(" ")
            return self._paragraph(f"{VERSIONS[name]} {version}: {rest}".strip(" :"), self._content())
        if not argument:
            return self._content()
        if not self.content:
            return self._paragraph(argument, [])
        term = [nodes.term("", line.strip()) for line in argument.splitlines()]
        definition = nodes.definition("", *self._content())
        return [nodes.definition_list("", nodes.definition_list_item("", *term, definition))]

    def _paragraph(self, text: str, rest: list[nodes.Node]) -> list[nodes.Node]:
        words, messages = self.state.inline_text(text, self.lineno)
        return [nodes.paragraph(text, "", *words), *messages, *rest]

    def _content(self) -> list[nodes.Node]:
        holder = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, holder)
        return list(holder.children)


def _lenient_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = None
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """A role that docutils does not know: ``:ref:`the gate <gate>``` is "the gate"."""
    text = text.replace("\x00", "\\")
    if text.endswith(">") and (found := TITLED.fullmatch(text)):
        text = found[1]
    elif text.startswith("~"):
        text = text.rpartition(".")[2].lstrip("~")
    text = text.removeprefix("!")
    kind = name.lower().rpartition(":")[2]
    node = nodes.inline(rawtext, text) if kind in PROSE_ROLES else nodes.literal(rawtext, text)
    return [node], []


@contextmanager
def _lenient() -> Iterator[None]:
    """Directives and roles that docutils does not know are ours; those that a document defines end with it."""
    with LOCK:
        find_directive, find_role, defined = directives.directive, roles.role, dict(roles._roles)

        def directive(name: str, language: Any, document: Any) -> tuple[Any, list[nodes.system_message]]:
            if name.lower() in SILENT:
                return _Lenient, []
            return find_directive(name, language, document)[0] or _Lenient, []

        def role(name: str, language: Any, lineno: int, reporter: Any) -> tuple[Any, list[nodes.system_message]]:
            return find_role(name, language, lineno, reporter)[0] or _lenient_role, []

        directives.directive, roles.role = directive, role
        try:
            yield
        finally:
            directives.directive, roles.role = find_directive, find_role
            roles._roles.clear()
            roles._roles.update(defined)
