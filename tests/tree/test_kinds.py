"""Kinds of markup that say more than their tags: ARIA roles, checklists, forms, formulas, images for words."""

from __future__ import annotations

import pytest

from evidence.tree.context import global_context
from evidence.tree.html import parse
from evidence.tree.markup import Rendering
from evidence.tree.mathematics import DEEPEST
from evidence.tree.text import to_text


def outline(html: str) -> list[tuple[str, str, str]]:
    """Path, tag and text of each node that holds sentences directly."""
    document = parse(html.encode(), "page.html")
    return [
        (str(node.path), node.tag, " | ".join(child.text for child in node.children))
        for node in document.nodes
        if node.children and node.children[0].is_sentence
    ]


def texts(html: str) -> list[str]:
    return [sentence.text for sentence in parse(html.encode(), "page.html").sentences()]


def test_roles_give_headings_and_lists_where_tags_are_missing() -> None:
    """A site made of div alone loses its headings and items."""
    page = """<div role=heading aria-level=3>Hours</div>
        <div role=list><div role=listitem>Monday</div><div class=x><div role=listitem>Sunday</div></div></div>"""
    assert outline(page) == [("0", "h3", "Hours"), ("1.0", "li", "Monday"), ("1.1", "li", "Sunday")]


def test_a_table_of_roles_has_headers() -> None:
    """Cells of an ARIA grid that come without the column they stand in."""
    page = """<div role=table><div role=rowgroup><div role=row><span role=columnheader>Part</span>
        <span role=columnheader>Price</span></div></div><div role=rowgroup><div role=row>
        <span role=rowheader>Bolt</span> <span role=cell>3 EUR</span></div></div></div>"""
    document = parse(page.encode())
    price = next(sentence for sentence in document.sentences() if sentence.text == "3 EUR")
    assert [entry.node.content for entry in global_context(price)] == ["Bolt", "Price"]


@pytest.mark.parametrize(
    ("page", "tag"),
    [
        ("<h2 role=presentation>Text</h2>", "h2"),
        ("<ul><li role=heading>Text</ul>", "li"),
        ("<div role=heading aria-level=nine>Text</div>", "h2"),
        ("<div role=heading aria-level=9>Text</div>", "h6"),
        ("<div role='none'>Text</div>", "p"),
        ("<div role>Text</div>", "p"),
    ],
)
def test_a_role_counts_only_where_the_tag_says_nothing(page: str, tag: str) -> None:
    """Roles on real headings and items that take their meaning away."""
    assert outline(page)[0][1:] == (tag, "Text")


def test_a_span_that_is_a_heading_parts_the_text_around_it() -> None:
    """A heading by role inside inline markup that runs into the words beside it."""
    page = "<b>Before. <span role=heading>Title</span> After.</b>"
    assert outline(page) == [("0", "p", "Before."), ("1", "h2", "Title"), ("2", "p", "After.")]


def test_a_checklist_keeps_what_is_ticked_apart_from_the_words() -> None:
    """ "Was the alarm set?" has no answer once the boxes are gone; in the text they would spoil the search."""
    page = """<ul><li><input type=checkbox checked> Lock the door</li><li><label><input type=checkbox>Lights
        <b>off</b></label></li><li><p><input type=checkbox checked disabled>Alarm</p></li><li>Keys</li></ul>"""
    document = parse(page.encode())
    assert [sentence.text for sentence in document.sentences()] == ["Lock the door", "Lights off", "Alarm", "Keys"]
    assert to_text(document) == "- [x] Lock the door\n- [ ] Lights off\n- [x] Alarm\n- Keys"
    html = Rendering().html(document)
    assert html.count('type="checkbox" checked=""') == 2
    again = parse(html.encode())
    assert [node.attributes.get("checked") for node in again.nodes if node.tag == "li"] == [
        "true",
        "false",
        "true",
        None,
    ]


def test_each_label_of_a_form_stands_alone() -> None:
    """ "Name Email Phone" as one sentence."""
    page = """<form><label>Name</label> <input name=n> <label>Email</label><input> <label>Phone <select><option>+1
        </select></label> <fieldset><legend>Delivery</legend><label><input type=radio> Standard</label>
        <label><input type=radio> Express</label> <input type=radio> Pick up</fieldset><button>Send</button></form>"""
    assert texts(page) == ["Name", "Email", "Phone", "Delivery", "Standard", "Express", "Pick up"]


def test_a_label_stays_with_the_value_beside_it() -> None:
    """A record written with labels that falls apart into names and values."""
    assert texts("<div><label>Price</label> <span>12 EUR</span></div>") == ["Price 12 EUR"]


@pytest.mark.parametrize(
    ("formula", "written"),
    [
        ("<msup><mi>r</mi><mn>2</mn></msup>", "r^2"),
        ("<msub><mi>x</mi><mrow><mi>i</mi><mo>+</mo><mn>1</mn></mrow></msub>", "x_(i+1)"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", "(a+b)/c"),
        ("<msqrt><mi>x</mi></msqrt>", "√(x)"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "3√(x)"),
        ("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>", "∑_(i = 1)^n"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", "x¯"),
        ("<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>", "E = mc^2"),
        ("<mtable><mtr><mtd>1</mtd><mtd>2</mtd></mtr><mtr><mtd>3</mtd><mtd>4</mtd></mtr></mtable>", "1, 2; 3, 4"),
        ("<semantics><mi>x</mi><annotation encoding='application/x-tex'>\\hat x</annotation></semantics>", "x"),
        ("<msup><mi>x</mi></msup>", "x"),
        ("", "said"),
    ],
)
def test_a_formula_is_one_line_that_keeps_its_meaning(formula: str, written: str) -> None:
    """x² that becomes x2, and a fraction that becomes a product."""
    assert texts(f"<p>So <math alttext='said'>{formula}</math>.</p>") == [f"So {written}."]


def test_a_formula_may_be_nested_without_end() -> None:
    """A recursion error in somebody's formula."""
    depth = DEEPEST * 20
    assert texts("<p><math>" + "<mrow>" * depth + "<mi>x</mi>" + "</mrow>" * depth + "</math> is set.</p>") == [
        "x is set."
    ]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("10<sup>6</sup> volts", "10⁶ volts"),
        ("10<sup>-3</sup> volts", "10⁻³ volts"),
        ("in 2021<sup><a href='#n1'>1</a></sup> already", "in 2021¹ already"),
        ("x<sup>2</sup> and H<sub>2</sub>O", "x2 and H2O"),
        ("the 1<sup>st</sup> floor", "the 1st floor"),
    ],
)
def test_a_raised_number_does_not_become_part_of_the_number_before_it(markup: str, text: str) -> None:
    """Ten to the sixth that reads as 106."""
    assert texts(f"<p>{markup}.</p>") == [f"{text}."]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("<img src=t.png alt='yes'>", "yes"),
        ("<p><i class='fa fa-check' aria-label='supported'></i></p>", "supported"),
        ("<span title='not planned' class=no></span>", "not planned"),
        ("<svg role=img aria-label='beta'><path d='M0'/></svg>", "beta"),
        ("<input type=checkbox checked disabled>", "☑"),
        ("<img src=flag.png alt='Flag'> Norway", "Norway"),
    ],
)
def test_a_cell_of_data_without_text_says_what_its_image_means(cell: str, text: str) -> None:
    """A table of features in which every answer is a tick, and no cell says anything."""
    page = f"<table><tr><th>Plan</th><th>Sign-on</th></tr><tr><td>Free</td><td>{cell}</td></tr></table>"
    assert texts(page) == ["Plan", "Sign-on", "Free", text]


@pytest.mark.parametrize(
    "page",
    [
        "<table><tr><td><img src=a.png alt='Spacer'></td><td>Text</td></tr></table>",
        "<table><tr><th>File</th></tr><tr><td><img src=a.png alt='photo 12.JPG'></td></tr></table>",
        "<p><img alt='Logo'></p>",
    ],
)
def test_images_elsewhere_are_not_read(page: str) -> None:
    """Spacers, logos and names of files among the sentences."""
    assert not {"Spacer", "photo 12.JPG", "Logo"} & set(texts(page))


@pytest.mark.parametrize(
    "page",
    [
        "<pre><code class='language-python'>x</code></pre>",
        "<pre class='brush: python'>x</pre>",
        "<div class='highlight-python notranslate'><div class='highlight'><pre>x</pre></div></div>",
        "<div class='highlight highlight-source-python'><pre>x</pre></div>",
    ],
)
def test_code_keeps_the_language_it_is_written_in(page: str) -> None:
    """Two snippets side by side that nobody can tell apart."""
    [code] = [node for node in parse(page.encode()).nodes if node.tag == "pre"]
    assert code.attributes["language"] == "python"


def test_ruby_is_read_as_its_base() -> None:
    """The reading between the characters of a word, so that nobody finds the word."""
    assert texts("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</rt></ruby>です。</p>") == ["漢字です。"]


def test_names_of_icons_are_not_words() -> None:
    """ "chevron_right" in front of every heading."""
    assert texts("<p><span class='material-icons'>chevron_right</span> Next</p>") == ["Next"]
