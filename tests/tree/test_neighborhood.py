from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidence.language.tokens import count_all
from evidence.tree.context import context_paths
from evidence.tree.document import Document
from evidence.tree.html import parse
from evidence.tree.neighborhood import local_context
from evidence.tree.path import PathSet
from evidence.tree.seeds import seeds
from evidence.tree.subdocument import Subdocument
from evidence.tree.text import to_text, token_costs
from tests.tree.strategies import broken_pages, pages

PAGE = b"""<!doctype html><title>Yard</title><h1>Yard</h1><p>The yard is shared.</p>
<h2>Gate</h2><p>The gate to the yard is green. In summer it opens at six. In winter it opens at nine.</p>
<p>Ring the bell twice.</p>
<h2>Tools</h2><p>Take with you:</p><ul><li>A rake. Clean it afterwards.</li><li>A spade.</li></ul>
<table><tr><th>Tool</th><th>Hook</th></tr><tr><td>Rake</td><td>4</td></tr><tr><td>Spade</td><td>5</td></tr></table>"""


def view(text: str, budget: int, data: bytes = PAGE) -> str:
    """The local context of the seed that says this, as text."""
    document = parse(data, "yard.html")
    seed = next(seed for seed in seeds(document) if text in seed.content)
    found = local_context(seed, token_costs(document, count_all), budget)
    return to_text(Subdocument(document, found).extract())


def test_a_sentence_alone_has_its_global_context() -> None:
    """A view without the node that it is of, because the budget was too small for it."""
    assert view("In summer it opens at six.", 0) == "# Yard\n## Gate\nIn summer it opens at six."


def test_the_nearest_come_first() -> None:
    """The next paragraph while the sentence before, which says what "it" is, is left out."""
    assert (
        view("In summer it opens at six.", 30)
        == "# Yard\n## Gate\nThe gate to the yard is green. In summer it opens at six."
    )


def test_a_section_is_taken_whole_before_the_next_one() -> None:
    """Sentences under another heading, read as if they stood under this one."""
    assert view("In summer it opens at six.", 45).endswith("In winter it opens at nine.\nRing the bell twice.")
    wide = view("In summer it opens at six.", 60)
    assert wide.startswith("# Yard\nThe yard is shared.\n## Gate\nThe gate to the yard is green.")


def test_a_section_that_does_not_fit_is_not_left() -> None:
    """A view that skips what stands near and takes what stands far."""
    long = PAGE.replace(b"Ring the bell twice.", b"Ring the bell " + b"twice and then once more " * 30 + b".")
    assert "Tools" not in view("In summer it opens at six.", 90, long)


def test_a_list_item_comes_whole_with_its_label() -> None:
    assert "Take with you:\n- A rake. Clean it afterwards." in view("A rake.", 30)


def test_a_row_comes_with_its_headers() -> None:
    assert "| Tool | Hook |\n| Rake | 4 |" in view("Rake", 24)


@given(data=st.one_of(pages(), broken_pages()), budget=st.integers(0, 300), number=st.integers(0, 50))
def test_a_view_holds_its_node_within_the_budget(data: str, budget: int, number: int) -> None:
    """Neighbours that are none, and prompts that outgrow what was set."""
    document = parse(data.encode("utf-8", "replace"), "page.html")
    found = seeds(document)
    if not found:
        return
    seed = found[number % len(found)]
    costs = token_costs(document, count_all)
    paths, own = local_context(seed, costs, budget), context_paths(seed)
    assert seed.path in paths
    assert own <= paths
    least = own | PathSet([seed.path])
    assert _cost(document, paths, costs) <= max(budget, _cost(document, least, costs))
    assert paths <= local_context(seed, costs, budget + 50)


def _cost(document: Document, paths: PathSet, costs: list[int]) -> int:
    return sum(costs[document.at(path).position] for path in paths)
