"""Word documents, as mammoth reads them: by the meaning of their styles, not by their looks."""

from __future__ import annotations

import io
import re
import zipfile
from posixpath import basename
from xml.parsers.expat import ExpatError

import mammoth
from lxml import etree
from lxml import html as lxml_html
from lxml.etree import _Element as Element

from evidence.ingest.readers.package import Package, parse_part
from evidence.ingest.readers.page import Page, Unreadable, page_of
from evidence.tree.tags import HEADINGS

OLE = b"\xd0\xcf\x11\xe0"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
TITLE = "{http://purl.org/dc/elements/1.1/}title"
LANGUAGE = "{http://purl.org/dc/elements/1.1/}language"

STYLES = """
p[style-name='Title'] => h1.title:fresh
p[style-name='Subtitle'] => p.subtitle:fresh
p[style-name='Heading 7'] => h6:fresh
p[style-name='heading 7'] => h6:fresh
p[style-name='Heading 8'] => h6:fresh
p[style-name='heading 8'] => h6:fresh
p[style-name='Heading 9'] => h6:fresh
p[style-name='heading 9'] => h6:fresh
p[style-name='caption'] => p.caption:fresh
p[style-name='Caption'] => p.caption:fresh
p[style-name='Table'] => p.caption:fresh
p[style-name^='toc '] => nav > p:fresh
p[style-name^='TOC '] => nav > p:fresh
p[style-name^='table of '] => nav > p:fresh
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Quotations'] => blockquote > p:fresh
p[style-name='Intense Quote'] => blockquote > p:fresh
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Preformatted Text'] => pre:separator('\\n')
p[style-name='Plain Text'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='Code'] => pre:separator('\\n')
p[style-name='macro'] => pre:separator('\\n')
r[style-name='HTML Code'] => code
r[style-name='Verbatim Char'] => code
r[style-name='Source Text'] => code
"""

PLAIN_TABLES = frozenset(("TableGrid", "TableNormal", "Tabellenraster", "Grilledutableau", "Tablaconcuadrcula"))
OF_A_TABLE = re.compile(r"(?:table|tabelle|tableau|tabla|tabela|tab\.)\s", re.IGNORECASE)

MOST_XML = 32_000_000
"""Bytes. While mammoth reads them they take some fifty times as much memory."""

# What mammoth raises on parts that are XML and not what Word writes.
BREAKS_THE_RULES = (AttributeError, IndexError, KeyError, TypeError, ValueError, OSError, ExpatError)


def read(data: bytes, charset: str = "") -> Page:
    """HTML of a Word document: headings, lists, tables with their header rows, captions, notes and code by its styles.

    The title is that of a paragraph in the style Title, else that of the document's properties. What Word hides, headers,
    footers, comments and deleted text are left out.
    """
    if data.startswith(OLE):
        raise Unreadable(
            "is protected by a password, or a document of Word 97–2003: save it as .docx without a password"
        )
    package = Package(data)
    try:
        made = mammoth.convert_to_html(
            _repacked(package),
            style_map=STYLES,
            include_embedded_style_map=False,
            convert_image=lambda image: [],
        )
    except BREAKS_THE_RULES as error:
        raise Unreadable(f"is damaged, or no Word document: {error}") from error
    body = lxml_html.fragment_fromstring(made.value, create_parent="div")
    title, language = _properties(package)
    if named := _named_title(body):
        title = named
    _place_captions(body)
    notes = _taken_notes(body)
    return Page(page_of(_html(body), notes, title=title, language=language))


def _repacked(package: Package) -> io.BytesIO:
    """The parts that say something, each read within the limit and as XML that declares nothing, in a new archive."""
    kept = io.BytesIO()
    left = MOST_XML
    with zipfile.ZipFile(kept, "w") as archive:
        for name in package.names:
            if not name.endswith((".xml", ".rels")) or name.startswith(("customXml/", "word/theme/", "docProps/")):
                continue
            data = package.part(name)
            left -= len(data)
            if left < 0:
                raise Unreadable(f"holds more than {MOST_XML // 1_000_000} MB of text and its marks: split it")
            root = parse_part(data, name)
            if root.tag == f"{W}document":
                _mark_header_rows(root)
            _remove_hidden(root)
            archive.writestr(name, etree.tostring(root, encoding="utf-8"))
    kept.seek(0)
    return kept


def _remove_hidden(root: Element) -> None:
    for hidden in root.findall(f".//{W}r/{W}rPr/{W}vanish"):
        run = hidden.getparent().getparent()  # type: ignore[union-attr]
        if hidden.get(f"{W}val") not in ("0", "false", "off") and run is not None and run.getparent() is not None:
            run.getparent().remove(run)  # type: ignore[union-attr]


def _mark_header_rows(root: Element) -> None:
    """Where a table's style sets off its first row, that is its header, also where Word does not repeat it on each page."""
    for table in root.iter(f"{W}tbl"):
        style, look = table.find(f"{W}tblPr/{W}tblStyle"), table.find(f"{W}tblPr/{W}tblLook")
        rows = table.findall(f"{W}tr")
        if style is None or look is None or len(rows) < 2 or style.get(f"{W}val") in PLAIN_TABLES:
            continue
        bits = look.get(f"{W}val") or "0"
        is_on = look.get(f"{W}firstRow") in ("1", "true", "on") or bool(int(bits, 16) & 0x20)
        if is_on and table.find(f".//{W}tblHeader") is None:
            properties = rows[0].find(f"{W}trPr")
            if properties is None:
                properties = etree.Element(f"{W}trPr")
                rows[0].insert(0, properties)
            etree.SubElement(properties, f"{W}tblHeader")


def _properties(package: Package) -> tuple[str, str]:
    """The title and language in the document's core properties."""
    name = next((name for name in package.names if basename(name) == "core.xml"), None)
    if name is None:
        return "", ""
    root = parse_part(package.part(name), name)
    return (root.findtext(TITLE) or "").strip(), (root.findtext(LANGUAGE) or "").strip()


def _named_title(body: Element) -> str:
    """The text of the paragraph in the style Title that the document begins with. Headings 1 to 5 are then a level below."""
    headings = [element for element in body.iter(etree.Element) if element.tag in HEADINGS]
    if not headings or headings[0].get("class") != "title":
        return ""
    for heading in headings[1:]:
        heading.tag = f"h{min(int(str(heading.tag)[1]) + 1, 6)}"
    return " ".join("".join(map(str, headings[0].itertext())).split())


def _place_captions(body: Element) -> None:
    """A paragraph in the style of captions goes into the table after it, else before it; else it captions a figure."""
    for caption in body.findall(".//p[@class='caption']"):
        after, before = caption.getnext(), caption.getprevious()
        is_of_a_table = OF_A_TABLE.match("".join(map(str, caption.itertext())).strip()) is not None
        if after is not None and after.tag == "table":
            _make_caption(after, caption)
        elif before is not None and before.tag == "table" and is_of_a_table and before.find("caption") is None:
            _make_caption(before, caption)
        else:
            caption.tag = "figcaption"
            figure = etree.Element("figure")
            caption.addprevious(figure)
            figure.append(caption)


def _make_caption(table: Element, caption: Element) -> None:
    caption.tag = "caption"
    table.insert(0, caption)


def _taken_notes(body: Element) -> str:
    """The notes at the end, taken out of the body, so that its last heading is not theirs."""
    last = body[-1] if len(body) else None
    if last is None or last.tag != "ol" or not (last[0].get("id") or "").startswith(("footnote-", "endnote-")):
        return ""
    for link in last.findall(".//a[@href]"):
        # The arrow back from a note is not its text.
        if (link.get("href") or "").startswith(("#footnote-ref-", "#endnote-ref-")):
            link.text = None
    body.remove(last)
    return _html(last)


def _html(element: Element) -> str:
    return str(lxml_html.tostring(element, encoding="unicode", with_tail=False))
