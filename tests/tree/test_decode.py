from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.tree.decode import decode
from evidence.tree.html import parse

TEXT = "<p>Årsplan för café – 3 €</p>"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_byte_order_mark_wins_and_vanishes(mark: bytes, encoding: str) -> None:
    """It would be the first character of the title, and nothing would ever match it."""
    declared = f"<meta charset=iso-8859-1>{TEXT}"
    assert decode(mark + declared.encode(encoding), "windows-1252") == declared


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ("<meta charset=windows-1252>", "cp1252"),
        ("<meta charset='ISO-8859-1'>", "cp1252"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">', "cp1252"),
        ("<META CONTENT='text/html;CHARSET = cp1252'>", "cp1252"),
        ('<?xml version="1.0" encoding="windows-1252"?>', "cp1252"),
        ("<!-- " + "x" * 3000 + " --><meta charset=windows-1252>", "cp1252"),
        ("<meta charset=utf-8>", "utf-8"),
        ("<meta charset=utf-16>", "utf-8"),
        ("", "utf-8"),
        ("", "cp1252"),
    ],
)
def test_the_declared_encoding_is_read(declaration: str, encoding: str) -> None:
    assert decode((declaration + TEXT).encode(encoding)) == declaration + TEXT


@pytest.mark.parametrize("label", ["iso-8859-1", "latin1", "ascii", "us-ascii", "windows-1252", "koi8-r"])
def test_a_page_in_utf_8_that_declares_another_encoding_is_utf_8(label: str) -> None:
    """Editors change the bytes and leave the declaration: "cafÃ©" would be stored."""
    page = f"<meta charset={label}>{TEXT}"
    assert decode(page.encode()) == page


@pytest.mark.parametrize(
    "label", ["utf-8", "nonsense", "x-user-defined", "iso-2022-kr", "utf-7", "base64", "rot13", "", "x" * 100]
)
def test_a_declaration_that_is_wrong_or_unknown_is_not_believed(label: str) -> None:
    """Codecs that are no character encodings (base64, rot13) must never run on a page."""
    page = f"<meta charset={label}>{TEXT}"
    assert decode(page.encode("cp1252")) == page


@pytest.mark.parametrize(
    ("label", "encoding", "text"),
    [
        ("shift_jis", "cp932", "受付は九時に開きます。"),
        ("euc-jp", "euc_jp", "受付は九時に開きます。"),
        ("gb2312", "gbk", "请带护照。明天见？"),
        ("big5", "big5", "請帶護照。"),
        ("euc-kr", "cp949", "열쇠는 어디에 있습니까?"),
        ("windows-1251", "cp1251", "Где ключи? У двери."),
        ("koi8-r", "koi8_r", "Где ключи? У двери."),
        ("windows-1256", "cp1256", "أين المفتاح؟"),
        ("iso-8859-2", "iso8859_2", "Gdzie są klucze?"),
    ],
)
def test_encodings_of_other_scripts(label: str, encoding: str, text: str) -> None:
    page = f"<meta charset={label}><p>{text}</p>"
    assert decode(page.encode(encoding)) == page


UNDECLARED = [
    ("ja", "cp932", "受付は九時に開きます。鍵は受付にあります。"),
    ("ja", "euc_jp", "受付は九時に開きます。鍵は受付にあります。"),
    ("ja", "iso2022_jp", "受付は九時に開きます。"),
    ("zh-CN", "gb18030", "请带护照。明天见？前台九点开门，请提前十分钟到。"),
    ("zh-TW", "big5", "請帶護照。櫃台九點開門，請提前十分鐘到。"),
    ("ko", "cp949", "열쇠는 어디에 있습니까? 안내 데스크는 아홉 시에 엽니다."),
    ("ru", "cp1251", "Где ключи? Стойка открывается в девять часов."),
    ("ru", "koi8_r", "Где ключи? Стойка открывается в девять часов."),
    ("ru", "cp866", "Где ключи? Стойка открывается в девять часов."),
    ("uk", "koi8_u", "Де ключі? Стійка відчиняється о дев'ятій годині, її знають усі."),
    ("bg", "cp1251", "Къде са ключовете? Гишето отваря в девет часа."),
    ("el", "cp1253", "Πού είναι τα κλειδιά; Το γραφείο ανοίγει στις εννέα."),
    ("he", "cp1255", "איפה המפתחות? הדלפק נפתח בתשע."),
    ("ar", "cp1256", "أين المفاتيح؟ يفتح المكتب في الساعة التاسعة."),
    ("th", "cp874", "กุญแจอยู่ที่ไหน เคาน์เตอร์เปิดเวลาเก้าโมงเช้า และปิดตอนห้าโมงเย็นทุกวัน"),
    ("pl", "iso8859_2", "Gdzie są klucze? Recepcja jest otwarta już o dziewiątej, proszę wcześniej przyjść."),
    ("cs", "cp1250", "Kde jsou klíče? Přepážka se otevírá v devět hodin, přijďte prosím dříve."),
    ("hu", "cp1250", "Hol vannak a kulcsok? A pult kilenckor nyílik, kérjük, jöjjön időben a többiekkel."),
    ("tr", "cp1254", "Anahtarlar nerede? Danışma dokuzda açılıyor, lütfen şimdiden gelin, ışığı açın."),
    (
        "lt",
        "cp1257",
        "Kur yra raktai? Registratūra atidaroma devintą valandą, prašome ateiti. Žmonės žino, kad įėjimas yra kieme.",
    ),
    ("de", "cp1252", "Wo sind die Schlüssel? Der Empfang öffnet um neun, bitte früher kommen."),
    ("fr", "cp1252", "Où sont les clés ? L’accueil ouvre à neuf heures, arrivez plus tôt s’il vous plaît."),
]


@pytest.mark.parametrize(("language", "encoding", "text"), UNDECLARED, ids=lambda value: value[:12])
@pytest.mark.parametrize("declaration", ["", "<meta charset=utf-8>"])
def test_an_encoding_that_is_not_declared_is_seen_in_the_bytes(
    language: str, encoding: str, text: str, declaration: str
) -> None:
    """Old pages rely on the browser's guess, and servers declare UTF-8 for all of them; "Ãüð" would be stored."""
    page = f"<html lang={language}>{declaration}<p>{text}</p>"
    assert decode(page.encode(encoding)) == page


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_needs_no_mark(encoding: str) -> None:
    """Office programs save pages so; every second byte is NUL, and none of the words would be found."""
    page = f"\n<!doctype html>{TEXT}"
    assert decode(page.encode(encoding)) == page
    assert decode(page.encode(encoding), "utf-8") == page


def test_a_page_in_its_declared_encoding_may_have_a_wrong_byte() -> None:
    """One byte that windows-1252 has no letter for must not make a page Turkish."""
    page = "<meta charset=windows-1252>" + "Årsplan för café. " * 20
    assert decode(page.encode("cp1252") + b"\x81") == page + "\ufffd"


def test_an_old_chinese_page_may_use_the_new_letters() -> None:
    """Browsers read gb2312 as gb18030."""
    page = "<meta charset=gb2312><p>㐀请带护照。</p>"
    assert decode(page.encode("gb18030")) == page


def test_letters_far_behind_ascii_are_read_too() -> None:
    page = "<p>x</p>" * 300_000 + "<p>Где ключи? Стойка открывается в девять часов.</p>"
    assert decode(page.encode("koi8_r")) == page


def test_what_the_sender_declares_goes_before_what_the_page_declares() -> None:
    page = f"<meta charset=koi8-r>{TEXT}"
    assert decode(page.encode("cp1252"), "windows-1252") == page
    assert decode(TEXT.encode("utf-16-le"), "utf-16le") == TEXT


def test_a_declaration_in_a_comment_declares_nothing() -> None:
    page = f"<!-- <meta charset=koi8-r> -->{TEXT}"
    assert decode(page.encode("cp1252")) == page


def test_one_wrong_byte_in_a_page_of_utf_8_is_a_slip() -> None:
    """One broken character must not turn all others into rubbish."""
    page = ("<p>" + "é" * 100).encode() + b"\xff" + "ö</p>".encode()
    assert decode(page) == "<p>" + "é" * 100 + "\ufffdö</p>"


def test_nul_bytes_are_taken_out() -> None:
    """PostgreSQL refuses them, and the parser ends a page at one."""
    assert [s.text for s in parse(b"<p>Rotate o\0ften.</p>\0<p>Then stop.</p>").sentences()] == [
        "Rotate often.",
        "Then stop.",
    ]


@given(st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]), max_size=100))
def test_text_in_utf_8_reads_back(text: str) -> None:
    assert decode(b"<meta charset=utf-8>" + text.encode()) == "<meta charset=utf-8>" + text


@given(
    st.binary(max_size=200), st.sampled_from(["", "utf-8", "utf-16", "shift_jis", "iso-2022-jp", "replacement", "x"])
)
def test_no_bytes_raise(data: bytes, charset: str) -> None:
    """A sender's header can say anything of any bytes."""
    assert "\0" not in decode(data, charset)
