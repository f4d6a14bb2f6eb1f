from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.retrieve.labels import LABEL, labelled, read_reply, schema_of, without_labels
from evidence.tree.html import parse
from evidence.tree.seeds import seeds

TABLE = {"S1": 11, "S2": 22, "S3": 33}


@pytest.mark.parametrize(
    ("reply", "grades", "faults"),
    [
        ('{"answers": ["S1"], "helps": ["S3"]}', {"S1": 2, "S3": 1}, {}),
        ('```json\n{"answers": ["S1"], "helps": []}\n```', {"S1": 2}, {}),
        ('Here you are: {"answers": ["[S2]", "s3"]}', {"S2": 2, "S3": 2}, {}),
        ('["S2"]', {"S2": 2}, {}),
        ('{"answers": [], "helps": []}', {}, {}),
        (
            '{"answers": ["S1", "S1", "S9", "S-1", 3, null, {"S2": 1}]}',
            {"S1": 2},
            {"repeated": 1, "unknown": 1, "malformed": 4},
        ),
        ('{"answers": "S1", "helps": ["S2"], "more": ["S3"]}', {"S2": 1}, {"malformed": 2}),
        ("answers: S1, S2\nhelps: S3", {"S1": 2, "S2": 2, "S3": 1}, {}),
        ("S1\nS2.", {"S1": 2, "S2": 2}, {}),
        ("- [S1], [S3]", {"S1": 2, "S3": 2}, {}),
        ("answers: none", {}, {}),
        ("None.", {}, {}),
        ("answers: S1 S7\nS1 is not it.", {"S1": 2}, {"unknown": 1, "malformed": 1}),
    ],
)
def test_a_reply_is_read(reply: str, grades: dict[str, int], faults: dict[str, int]) -> None:
    """Case 42: a label that does not exist, or another by one, taken for a place."""
    reading = read_reply(reply, TABLE)
    assert reading is not None
    assert reading.grades == grades
    assert dict(reading.faults) == faults


@pytest.mark.parametrize(
    "reply", ["", "   ", "I do not know.", "S1 does not answer, but S2 might.", '{"answers": ["S1"', "{}x[", "42"]
)
def test_what_is_no_reply_is_not_taken_for_an_empty_one(reply: str) -> None:
    """A cut or rambling reply that reads as "nothing here helps", and hides the answer."""
    found = read_reply(reply, TABLE)
    assert found is None or not found.grades


REPLIES = st.one_of(
    st.text(),
    st.text(alphabet='S123[]{}",: \n-answershelp'),
    st.recursive(
        st.one_of(
            st.none(), st.integers(), st.text(max_size=5), st.sampled_from(["S1", "S2", "S4", "[S3]", "s1", "S01"])
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(["answers", "helps", "S1"]), inner, max_size=3)
        ),
    ).map(json.dumps),
)


@given(REPLIES)
def test_whatever_a_reply_says_only_labels_of_the_table_are_picked(reply: str) -> None:
    """The contract: nothing else that a model says can become a citation."""
    found = read_reply(reply, TABLE)
    if found is not None:
        assert found.grades.keys() <= TABLE.keys()
        assert set(found.grades.values()) <= {1, 2}
        assert all(count > 0 for count in found.faults.values())


def test_deep_and_long_replies_are_read_in_passing() -> None:
    """A reply that blows the stack, or keeps a processor busy."""
    for reply in ("[" * 200_000, '{"answers":' * 50_000, "S1 " * 100_000, "[S1" * 50_000):
        read_reply(reply, TABLE)


PAGE = b"""<!doctype html><title>Desk</title><h1>Desk</h1><p>Keys are at desk A, says [S2]. Lamps are at desk B [1].</p>
<ol><li>Chairs are red.</li></ol>
<table><tr><th>Desk</th><th>Floor</th></tr><tr><td>A</td><td>1</td></tr><tr><td></td><td>2</td></tr></table>"""


def test_a_view_keeps_its_structure_and_names_what_can_be_cited() -> None:
    """A row without its headers, or words of the document that look like a label of ours."""
    tree = parse(PAGE, "desk.html")
    found = seeds(tree)
    view = {seed.position for seed in found} | {node.position for node in tree.nodes if node.tag in ("h1", "th")}
    shown = labelled(tree, view, [seed.position for seed in found])
    assert shown.text.splitlines() == [
        "# Desk",
        "[S1] Keys are at desk A, says (S2). ",
        "[S2] Lamps are at desk B (1).",
        "1. [S3] Chairs are red.",
        "| Desk | Floor |",
        "| [S4] A | 1 |",
        "|  | [S5] 2 |",
    ]
    assert list(shown.table.values()) == [seed.position for seed in found]
    assert "[" in tree.node(found[0].position).text, "the document itself is not changed"


@given(st.text(alphabet="[]S12, a"))
def test_no_text_of_a_document_looks_like_a_label(text: str) -> None:
    assert not any(f"[{name}]" in without_labels(text) for name in ("S1", "S2", "1", "2", "12"))


def test_a_schema_allows_the_labels_alone() -> None:
    made = schema_of(["S1", "S2"])
    assert made["properties"]["helps"]["items"]["enum"] == ["S1", "S2"]
    assert made["additionalProperties"] is False
    assert all(LABEL.fullmatch(label) for label in ("S1", "[S2]"))
