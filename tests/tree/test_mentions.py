from __future__ import annotations

import pytest

from evidence.tree.mentions import mentions


def read(text: str) -> list[str]:
    """The mentions of a text, each as kind, number and parts."""
    return [" ".join((kind, number, *parts)).replace("  ", " ") for kind, number, parts in mentions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("as defined in section 2.", ["section 2"]),
        ("under § 4(2) it holds", ["section 4 2"]),
        ("§ 4 Abs. 2 Satz 1 Nr. 3 gilt", ["section 4 2 3"]),
        ("§§ 2 und 3 gelten", ["section 2", "section 3"]),
        ("Article 5(1)(b) applies", ["article 5 1 b"]),
        ("see Art. 12", ["article 12"]),
        ("clause 3.2 holds", ["section 3.2"]),
        ("paragraph (c) holds", ["paragraph c"]),
        ("paragraphs 1 and 2 of this Article", ["paragraph 1", "paragraph 2"]),
        ("point (b) of Article 6(1) applies", ["article 6 1 b"]),
        ("point (a) of paragraph 1 applies", ["paragraph 1 a"]),
        ("see Table 3 and Figure 2", ["table 3", "figure 2"]),
        ("named in Annex II, Anhang A", ["annex II", "annex A"]),
        ("voir l'article 4", ["article 4"]),
        ("Articles 12 to 22 apply", ["article 12", "article 22"]),
        ("section 2 of this handbook", ["section 2"]),
        ("§ 5 dieser Satzung gilt", ["section 5"]),
        ("Under this Act, section 5 applies", ["section 5"]),
        ("§ 3 Abs. 2; § 906 BGB bleibt", ["section 3 2"]),
    ],
)
def test_places_that_are_mentioned(text: str, expected: list[str]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Article 5 of Regulation (EU) 2016/679",
        "section 2 of the Companies Act",
        "Articles 5, 6 and 7 of Directive 95/46/EC",
        "point (b) of Article 6(1) of Regulation (EU) 2016/679",
        "Art. 6 Abs. 1 lit. b DSGVO",
        "§ 4 BGB",
        "Art. 3 der Landesverordnung",
        "the GDPR, Article 5",
        "Under Regulation (EU) 2016/679, Article 5",
        "under the Insurance Contracts Act, section 3",
        "section 4 thereof",
    ],
)
def test_places_in_other_documents_are_no_mentions(text: str) -> None:
    """Article 5 of another law, explained by Article 5 of this one."""
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    ["", "Part of the 3 tables is in column A.", "The article is good.", "Section heads meet at 5.", "subsection2 x"],
)
def test_words_of_the_language_are_no_mentions(text: str) -> None:
    assert read(text) == []
