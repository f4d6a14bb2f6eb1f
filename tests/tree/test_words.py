from __future__ import annotations

import pytest

from evidence.tree.words import configuration_of, identifiers, plain_words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It fails with ORA-01555: snapshot too old.", ["ora-01555"]),
        ("Windows says (0x80070005).", ["0x80070005"]),
        ("Order part AB-1234/5, please", ["ab-1234/5", "ab-1234"]),
        ("Upgrade to 15.2.1.", ["15.2.1"]),
        ("Call pg_stat_get_backend_activity(integer).", ["pg_stat_get_backend_activity"]),
        ("Use os.path.join() here", ["os.path.join"]),
        ("git commit --no-verify skips it", ["--no-verify"]),
        ("Write to ann.b@example.com!", ["ann.b@example.com", "ann.b", "example.com"]),
        ("See /etc/app/pg_hba.conf.", ["/etc/app/pg_hba.conf", "pg_hba.conf"]),
        ("In C:\\Data\\drivers.sys", ["c:\\data\\drivers.sys", "drivers.sys"]),
        ("max_connections=100", ["max_connections"]),
        ("std::vector<int> in C++ or C#", ["std::vector", "c++", "c#"]),
        ("CVE-2021-44228", ["cve-2021-44228"]),
        ("e.g. the U.S. on-call team, 30 days, don’t", []),
        ("", []),
    ],
)
def test_identifiers_are_kept_whole(text: str, found: list[str]) -> None:
    """A code that is cut into a word and a number, and stands on every other page."""
    assert identifiers(text) == found


def test_words_have_no_case_accents_or_signs() -> None:
    """A word that is not found because it was typed without its accents."""
    assert plain_words("  Café «Élan», os.path_join! ") == "cafe elan os path join"
    assert plain_words("हिन्दी") == "हिन्दी"


def test_neighbouring_characters_are_the_words_of_texts_without_spaces() -> None:
    """A sentence in Chinese that is one word, and found by nothing but itself."""
    assert plain_words("门在六点关闭 gate 门") == "门在 在六 六点 点关 关闭 gate 门"


@pytest.mark.parametrize(
    ("language", "text", "configuration"),
    [
        ("de-AT", "", "german"),
        ("EN", "", "english"),
        ("zh", "", "simple"),
        ("", "When does it close?", "english"),
        ("", "Когда закрываются ворота?", "russian"),
        ("", "門は六時に閉まります", "simple"),
        ("", "123", "english"),
    ],
)
def test_the_configuration_follows_the_language_or_the_script(language: str, text: str, configuration: str) -> None:
    """Russian that is stemmed as if it were English."""
    assert configuration_of(language, text) == configuration
