"""The formats that are known and not read, and the way out of each."""

from __future__ import annotations

OFFICE = {
    ".pdf": "a PDF, which keeps no headings, lists or tables: save it as HTML or .docx from the program that made it",
    ".doc": "a document of Word 97–2003: save it as .docx",
    ".dot": "a template of Word 97–2003: save it as .docx",
    ".docm": "a Word document with macros: save it as .docx",
    ".dotx": "a Word template: save it as .docx",
    ".rtf": "rich text: save it as .docx or HTML",
    ".odt": "an OpenDocument text: save it as .docx or HTML",
    ".pages": "a Pages document: export it as .docx or EPUB",
    ".wpd": "a WordPerfect document: save it as .docx",
    ".ppt": "a presentation: save its text as .docx or HTML",
    ".pptx": "a presentation: save its text as .docx or HTML",
    ".odp": "a presentation: save its text as .docx or HTML",
    ".key": "a presentation: save its text as .docx or HTML",
    ".xls": "a spreadsheet: save it as a web page (HTML)",
    ".xlsx": "a spreadsheet: save it as a web page (HTML)",
    ".ods": "a spreadsheet: save it as a web page (HTML)",
    ".mobi": "a Kindle book: convert it to EPUB",
    ".azw3": "a Kindle book: convert it to EPUB",
    ".adoc": "AsciiDoc: convert it to HTML (asciidoctor)",
    ".asciidoc": "AsciiDoc: convert it to HTML (asciidoctor)",
    ".tex": "LaTeX: convert it to HTML (pandoc or make4ht)",
    ".ipynb": "a notebook: convert it to HTML (jupyter nbconvert --to html)",
    ".org": "an Org file: export it as HTML",
    ".chm": "compiled help: unpack its HTML pages",
    ".eml": "an email: save it as HTML or MHTML",
    ".msg": "an email: save it as HTML or MHTML",
}
"""Documents. In a folder or an archive, too, each is named with its refusal: somebody expects to find what it says."""

DATA = {
    ".csv": "a table without headings: open it in a spreadsheet and save it as a web page (HTML)",
    ".tsv": "a table without headings: open it in a spreadsheet and save it as a web page (HTML)",
    ".json": "data and not a document: make an HTML page of it",
    ".yaml": "data and not a document: make an HTML page of it",
    ".yml": "data and not a document: make an HTML page of it",
    ".xml": "XML without a known meaning: convert it to HTML (XHTML is read by the name .xhtml)",
    ".7z": "an archive that is not read: pack the files as .zip",
    ".rar": "an archive that is not read: pack the files as .zip",
    ".tar": "an archive that is not read: pack the files as .zip",
    ".gz": "compressed: unpack it, and pack many files as .zip",
    ".tgz": "an archive that is not read: pack the files as .zip",
    ".bz2": "compressed: unpack it, and pack many files as .zip",
    ".xz": "compressed: unpack it, and pack many files as .zip",
}
"""What pages bring with them as often as not: refused where it is named, and passed by in folders and archives."""


def refused_name(name: str, *, among_others: bool = False) -> str:
    """Why a file of this name is not read; "" where nothing is known of its ending.

    ``among_others``: the file was found in a folder or an archive, where only documents are told of.
    """
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    what = OFFICE.get(ending) or ("" if among_others else DATA.get(ending, ""))
    return f"is {what}" if what else ""
