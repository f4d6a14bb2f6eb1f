"""Small files of the formats that are archives or mails, made part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"

HEADING_STYLES = "".join(
    f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/></w:style>'
    for name in ("Title", "heading 1", "heading 2", "caption", "Source Code", "toc 1", "Quote")
)
BULLETS, NUMBERS = 1, 2
NONE: Mapping[Any, str] = MappingProxyType({})


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip archive of these parts."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            file.writestr(zipfile.ZipInfo(name), data)
    return archive.getvalue()


def docx_parts(
    body: str,
    *,
    title: str = "",
    footnotes: Mapping[int, str] = NONE,
    links: Mapping[str, str] = NONE,
) -> dict[str, str]:
    """The parts of a Word document whose body is this XML."""
    notes = "".join(f'<w:footnote w:id="{number}">{paragraph(text)}</w:footnote>' for number, text in footnotes.items())
    targets = "".join(
        f'<Relationship Id="{name}" Type="{R}/hyperlink" Target="{url}" TargetMode="External"/>'
        for name, url in links.items()
    )
    levels = {BULLETS: "bullet", NUMBERS: "decimal"}
    return {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="r1" Type="{R}/officeDocument"'
        ' Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{RELATIONSHIPS}">{targets}</Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:r="{R}"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": f'<w:styles xmlns:w="{W}">{HEADING_STYLES}</w:styles>',
        "word/footnotes.xml": f'<w:footnotes xmlns:w="{W}">{notes}</w:footnotes>',
        "word/numbering.xml": f'<w:numbering xmlns:w="{W}">'
        + "".join(
            f'<w:abstractNum w:abstractNumId="{number}"><w:lvl w:ilvl="0"><w:numFmt w:val="{kind}"/></w:lvl>'
            f'<w:lvl w:ilvl="1"><w:numFmt w:val="{kind}"/></w:lvl></w:abstractNum>'
            for number, kind in levels.items()
        )
        + "".join(f'<w:num w:numId="{n}"><w:abstractNumId w:val="{n}"/></w:num>' for n in levels)
        + "</w:numbering>",
        "docProps/core.xml": '<cp:coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:cp='
        '"http://schemas.openxmlformats.org/package/2006/metadata/core-properties">'
        f"<dc:title>{title}</dc:title></cp:coreProperties>",
    }


def paragraph(text: str, style: str = "", numbering: tuple[int, int] | None = None) -> str:
    """A paragraph; ``numbering`` is the list it belongs to, and its level. Text that begins with ``<`` is XML."""
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    if numbering:
        properties += f'<w:numPr><w:ilvl w:val="{numbering[1]}"/><w:numId w:val="{numbering[0]}"/></w:numPr>'
    return f"<w:p><w:pPr>{properties}</w:pPr>{text if text.startswith('<') else run(text)}</w:p>"


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def table(rows: list[list[str]], properties: str = "", *, header: bool = True) -> str:
    """A table whose first row is repeated on each page, which is how Word marks a header."""
    made = ""
    for number, cells in enumerate(rows):
        mark = "<w:trPr><w:tblHeader/></w:trPr>" if header and number == 0 else ""
        made += f"<w:tr>{mark}{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in cells)}</w:tr>"
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{made}</w:tbl>"


def epub_parts(
    chapters: Mapping[str, str],
    *,
    title: str = "Handbook",
    properties: Mapping[str, str] = NONE,
) -> dict[str, str]:
    """The parts of a book: its chapters by their names, in the order of reading."""
    items = "".join(
        f'<item id="i{number}" href="{name}" media-type="application/xhtml+xml"'
        f' properties="{properties.get(name, "")}"/>'
        for number, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{number}"/>' for number in range(len(chapters)))
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>{title}</dc:title><dc:language>en</dc:language></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
        **{f"OEBPS/{name}": text for name, text in chapters.items()},
    }


def chapter(body: str) -> str:
    """A page of XHTML."""
    return f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{body}</body></html>'


def mhtml(html: str, location: str = "https://intra.example/hr/page.html") -> bytes:
    """A page as browsers save it with its pictures."""
    encoded = html.replace("=", "=3D")
    return (
        "From: <Saved by Blink>\r\nSnapshot-Content-Location: x\r\nSubject: Page\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/related; type="text/html"; boundary="----part"\r\n\r\n\r\n'
        "------part\r\nContent-Type: text/html\r\nContent-ID: <frame-1@mhtml>\r\n"
        f"Content-Transfer-Encoding: quoted-printable\r\nContent-Location: {location}\r\n\r\n{encoded}\r\n"
        "------part\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n"
        "Content-Location: https://intra.example/a.png\r\n\r\niVBORw0KGgo=\r\n------part--\r\n"
    ).encode()
