"""Other parsers of HTML, each with the best settings that its documentation names. The extra ``bench`` brings them."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from evidence.bench.parsers import Counts, Lxml, NotInstalled, Page, Parser, Piece, links_of, plain
from evidence.bench.table_grid import Grid, grid_of_html
from evidence.tree.tags import HEADINGS

BLOCKS = ("p", "li", "dt", "dd", "td", "th", "pre", "div", "tr", "table", "ul", "ol", *HEADINGS)


class Trafilatura(Parser):
    """Main text of a page as HTML, one piece; asked for all that it can keep.

    It is made for articles: of a page with little text it falls back to the bare words.
    """

    name = "trafilatura"
    module = "trafilatura"
    distribution = "trafilatura"

    def load(self) -> None:
        import trafilatura

        self._trafilatura = trafilatura

    def parse(self, page: Page) -> str:
        return (
            self._trafilatura.extract(
                page.data,
                url=page.address if "://" in page.address else None,
                output_format="html",
                include_formatting=True,
                include_links=True,
                include_tables=True,
                favor_recall=True,
            )
            or ""
        )

    def counts(self, parsed: str) -> Counts:
        return Counts(bool(parsed))

    def pieces(self, parsed: str, page: Page) -> list[Piece]:
        if not parsed:
            return []
        import lxml.html

        body = lxml.html.fromstring(parsed)
        # Its title comes with a second call, as metadata.
        metadata = self._trafilatura.extract_metadata(page.data)
        title = (metadata.title,) if metadata is not None and metadata.title else ()
        tables = [lxml.html.tostring(table, encoding="unicode") for table in body.iter("table")]
        whole = Piece("\n".join(_blocks(body)), title, links=links_of(parsed))
        # All is one piece. It stands here once more for each table, with that table's grid.
        return [whole, *(Piece(whole.text, title, links=whole.links, grid=grid_of_html(table)) for table in tables)]


class LangChain(Parser):
    """HTMLSemanticPreservingSplitter: a section's text in pieces, lists, tables and code kept whole."""

    name = "LangChain"
    module = "langchain_text_splitters"
    distribution = "langchain-text-splitters"
    decodes = False

    def load(self) -> None:
        from langchain_text_splitters import HTMLSemanticPreservingSplitter

        # It lets its own warnings through, whatever was set before: this one is in beta.
        warnings.simplefilter("ignore")
        self._splitter = HTMLSemanticPreservingSplitter(
            headers_to_split_on=[(tag, tag) for tag in HEADINGS],
            elements_to_preserve=["table", "ul", "ol", "dl", "pre"],
            preserve_links=True,
            preserve_parent_metadata=True,
        )

    def parse(self, page: Page) -> list[Any]:
        return self._splitter.split_text(page.text)

    def counts(self, parsed: list[Any]) -> Counts:
        return Counts(len(parsed))

    def pieces(self, parsed: list[Any], page: Page) -> list[Piece]:
        found = []
        for document in parsed:
            text, links = plain(document.page_content)
            headings = tuple(document.metadata[tag] for tag in HEADINGS if tag in document.metadata)
            found.append(Piece(text, headings, links=links))
        return found


class LlamaIndex(Parser):
    """HTMLNodeParser: runs of equal tags, a piece each; asked for all tags that hold text."""

    name = "LlamaIndex"
    module = "llama_index.core"
    distribution = "llama-index-core"
    decodes = False

    def load(self) -> None:
        from llama_index.core import Document
        from llama_index.core.node_parser import HTMLNodeParser

        self._document = Document
        tags = ["title", "p", *HEADINGS, "li", "section", "dt", "dd", "th", "td", "caption", "pre", "blockquote"]
        self._parser = HTMLNodeParser(tags=tags)

    def parse(self, page: Page) -> list[Any]:
        return self._parser.get_nodes_from_documents([self._document(text=page.text)])

    def counts(self, parsed: list[Any]) -> Counts:
        return Counts(len(parsed))

    def pieces(self, parsed: list[Any], page: Page) -> list[Piece]:
        return [Piece(node.text) for node in parsed]


class Unstructured(Parser):
    """partition_html: elements, each with the element that it is under."""

    name = "unstructured"
    module = "unstructured"
    distribution = "unstructured"

    def check(self) -> None:
        super().check()
        # Without its model it would try to download it, again for each page.
        if find_spec("en_core_web_sm") is None:
            raise NotInstalled("unstructured lacks its language model: python -m spacy download en_core_web_sm")

    def load(self) -> None:
        os.environ.setdefault("UNSTRUCTURED_DISABLE_NOTICE", "1")
        from unstructured.partition.html import partition_html

        self._partition = partition_html

    def parse(self, page: Page) -> list[Any]:
        return self._partition(file=io.BytesIO(page.data))

    def counts(self, parsed: list[Any]) -> Counts:
        return Counts(len(parsed))

    def pieces(self, parsed: list[Any], page: Page) -> list[Piece]:
        by_id = {element.id: element for element in parsed}
        return [self._piece(element, by_id) for element in parsed]

    def _piece(self, element: Any, by_id: dict[str, Any]) -> Piece:
        above: list[str] = []
        parent = by_id.get(element.metadata.parent_id)
        while parent is not None:
            above.append(parent.text)
            parent = by_id.get(parent.metadata.parent_id)
        links = dict(zip(element.metadata.link_texts or [], element.metadata.link_urls or [], strict=False))
        return Piece(
            element.text,
            tuple(reversed(above)),
            place=element.id,
            links=links,
            grid=grid_of_html(element.metadata.text_as_html or ""),
        )


class Docling(Parser):
    """Docling's reader of HTML, without a model; its pieces are those of its HierarchicalChunker."""

    name = "docling"
    module = "docling"
    distribution = "docling-slim"

    def load(self) -> None:
        from docling.backend.html_backend import HTMLDocumentBackend
        from docling.datamodel.backend_options import HTMLBackendOptions
        from docling.datamodel.base_models import InputFormat
        from docling.datamodel.document import InputDocument
        from docling_core.transforms.chunker.hierarchical_chunker import HierarchicalChunker

        self._backend = HTMLDocumentBackend
        self._input = InputDocument
        self._format = InputFormat.HTML
        self._options = HTMLBackendOptions
        self._chunker = HierarchicalChunker()

    def parse(self, page: Page) -> Any:
        # By default what stands before the first heading is taken for furniture, and left out of the pieces.
        options = self._options(infer_furniture=False, source_uri=page.address if "://" in page.address else None)
        document = self._input(
            path_or_stream=io.BytesIO(page.data),
            format=self._format,
            backend=self._backend,
            filename="page.html",
            backend_options=options,
        )
        # As its converter does it: the input document holds its backend.
        return document._backend.convert()

    def counts(self, parsed: Any) -> Counts:
        items = sum(1 for _ in parsed.iterate_items(with_groups=True))
        return Counts(items, nodes=items)

    def pieces(self, parsed: Any, page: Page) -> list[Piece]:
        found = []
        for chunk in self._chunker.chunk(parsed):
            text, links = plain(chunk.text)
            grids: list[Grid] = []
            captions: list[str] = []
            for item in chunk.meta.doc_items:
                if item.label.value == "table":
                    grids.append(tuple(tuple(cell.text for cell in row) for row in item.data.grid))
                    captions.append(item.caption_text(parsed))
            headings = tuple(chunk.meta.headings or ())
            place = " ".join(item.self_ref for item in chunk.meta.doc_items)
            grid = grids[0] if grids else ()
            found.append(Piece(text, (*headings, *captions), place, links, grid))
        return found


def _blocks(body: Any) -> list[str]:
    """The text of each innermost block of a page, white space kept. Code on one line is no block: it stands in prose."""
    from lxml.etree import iterwalk

    lines = [""]
    for event, element in iterwalk(body, events=("start", "end")):
        is_block = element.tag in BLOCKS and not (element.tag == "pre" and "\n" not in element.text_content())
        if is_block:
            lines.append("")
        lines[-1] += (element.text if event == "start" else element.tail) or ""
    return [line for line in lines if line.strip()]


OTHERS: tuple[Parser, ...] = (Lxml(), Trafilatura(), LangChain(), LlamaIndex(), Unstructured(), Docling())


def chosen(names: Sequence[str]) -> list[Parser]:
    """The parsers of these names, or all when there are none. ValueError for a name that is none."""
    by_name = {parser.name.lower(): parser for parser in OTHERS}
    if unknown := [name for name in names if name.lower() not in by_name]:
        raise ValueError(f"{unknown[0]!r} is no parser that is known here: choose from {', '.join(by_name)}")
    return [by_name[name.lower()] for name in names] or list(OTHERS)


def installed(parsers: Sequence[Parser]) -> tuple[list[Parser], list[str]]:
    """The parsers that can be run here, and for each of the others what brings it."""
    found: list[Parser] = []
    missing: list[str] = []
    for parser in parsers:
        try:
            parser.check()
        except NotInstalled as error:
            missing.append(str(error))
        else:
            found.append(parser)
    return found, missing
