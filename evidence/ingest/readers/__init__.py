"""The formats that become HTML, one reader each, and the tree made from any of them.

A reader is a module here with a function ``read(data, charset) -> Page``: it turns the bytes of a file into HTML, by a
library where the format has a good one, and raises Unreadable where it cannot. From there on every format takes the way of
an HTML page. The same bytes in the same format always give the same tree; what reading depends on is in ``parser_of``.
"""

from __future__ import annotations

from evidence.ingest.readers.formats import FORMATS, Format, format_of, parser_of
from evidence.ingest.readers.page import Page, Unreadable
from evidence.ingest.readers.refused import refused_name
from evidence.ingest.readers.tree import tree_of

__all__ = ["FORMATS", "Format", "Page", "Unreadable", "format_of", "parser_of", "refused_name", "tree_of"]
