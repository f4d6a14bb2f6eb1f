from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidence.retrieve.budget import TOKENS_OF_AN_EXCERPT, Selection, fill
from evidence.store.search import Hit


def hit(position: int, *, revision: int = 1, tokens: int = 10, score: float = 0.5, **context: int) -> Hit:
    """A candidate of one sentence, under places such as ``p1=5``: position 1, which costs 5 tokens."""
    return Hit(
        revision,
        (position,),
        tokens,
        score,
        ("heading",) * len(context),
        tuple(int(place[1:]) for place in context),
        tuple(context.values()),
    )


@st.composite
def candidates(draw: st.DrawFn) -> list[Hit]:
    """Distinct units of a few revisions, the best first; a place costs the same wherever it is met."""
    tokens = draw(st.lists(st.integers(0, 60), min_size=12, max_size=12))
    units = st.tuples(
        st.integers(1, 3), st.sets(st.integers(0, 11), min_size=1, max_size=3), st.sets(st.integers(0, 11))
    )
    found = draw(st.lists(units, max_size=20, unique_by=lambda unit: (unit[0], min(unit[1]))))
    return [
        Hit(
            revision,
            tuple(sorted(own)),
            sum(tokens[position] for position in own),
            1 - number / 100,
            ("heading",) * len(context - own),
            tuple(sorted(context - own)),
            tuple(tokens[position] for position in sorted(context - own)),
        )
        for number, (revision, own, context) in enumerate(found)
    ]


def cost(selection: Selection) -> int:
    """What an excerpt costs when each of its places is paid once."""
    tokens: dict[int, int] = {}
    own = 0
    held: set[int] = set()
    for found in selection.hits:
        own += 0 if set(found.positions) <= held else found.tokens
        tokens |= {
            place: paid
            for place, paid in zip(found.context_positions, found.context_tokens, strict=True)
            if place not in held
        }
        held |= {*found.positions, *found.context_positions}
    return own + sum(tokens.values()) + TOKENS_OF_AN_EXCERPT


@given(candidates(), st.integers(1, 300))
def test_the_budget_is_never_exceeded(hits: list[Hit], budget: int) -> None:
    """Evidence that is cut at its end by the model that reads it."""
    assert sum(map(cost, fill(hits, budget))) <= budget


@given(candidates())
def test_a_budget_for_everything_takes_everything(hits: list[Hit]) -> None:
    """A good candidate left out although there is room."""
    chosen = fill(hits, 1_000_000)
    assert sorted(map(repr, hits)) == sorted(repr(found) for selection in chosen for found in selection.hits)


@given(candidates(), st.integers(1, 300))
def test_what_was_left_out_does_not_fit_any_more(hits: list[Hit], budget: int) -> None:
    """A budget half used, because one long candidate ended the search for shorter ones."""
    chosen = {selection.revision_id: selection for selection in fill(hits, budget)}
    left = budget - sum(map(cost, chosen.values()))
    for found in hits:
        selection = chosen.get(found.revision_id)
        if selection is None or found not in selection.hits:
            whole = found.tokens + sum(found.context_tokens)
            assert whole + (TOKENS_OF_AN_EXCERPT if selection is None else 0) > left


@given(candidates(), st.integers(1, 300))
def test_excerpts_come_in_the_order_of_their_best_candidate(hits: list[Hit], budget: int) -> None:
    """The best answer below a long excerpt of a document that is hardly about it."""
    chosen = fill(hits, budget)
    best = [selection.hits[0].score for selection in chosen]
    assert best == sorted(best, reverse=True)
    for selection in chosen:
        scores = [found.score for found in selection.hits]
        assert scores == sorted(scores, reverse=True)
        assert {found.revision_id for found in selection.hits} == {selection.revision_id}
    assert len({selection.revision_id for selection in chosen}) == len(chosen)


@given(candidates(), st.integers(1, 300))
def test_an_excerpt_holds_its_candidates_and_their_contexts(hits: list[Hit], budget: int) -> None:
    """A cited sentence without its heading, or a heading of nothing."""
    for selection in fill(hits, budget):
        expected = {place for found in selection.hits for place in (*found.positions, *found.context_positions)}
        assert selection.places() == selection.positions == expected


def test_a_shared_heading_is_paid_once() -> None:
    """Ten sentences of a section that do not fit, because each is charged for the same headings."""
    sentences = [hit(position, p1=20) for position in (2, 3, 4)]
    exactly = TOKENS_OF_AN_EXCERPT + 20 + 3 * 10
    assert [found.positions for found in fill(sentences, exactly)[0].hits] == [(2,), (3,), (4,)]
    assert [found.positions for found in fill(sentences, exactly - 1)[0].hits] == [(2,), (3,)]


def test_each_document_pays_for_its_own_headings() -> None:
    """Places of two documents that have the same numbers, and a budget that is exceeded because of it."""
    hits = [hit(2, revision=1, p1=20), hit(2, revision=2, p1=20)]
    both = 2 * (TOKENS_OF_AN_EXCERPT + 20 + 10)
    assert len(fill(hits, both)) == 2
    assert len(fill(hits, both - 1)) == 1


def test_a_candidate_that_serves_as_context_already_costs_nothing() -> None:
    """The words that introduce a list, paid for as context and again as an answer."""
    item, introduction = hit(5, p4=12), hit(4, tokens=12)
    assert len(fill([item, introduction], TOKENS_OF_AN_EXCERPT + 10 + 12)[0].hits) == 2


def test_what_does_not_fit_is_passed_over_for_what_does() -> None:
    """An empty answer, because the best candidate is longer than the budget."""
    chosen = fill([hit(1, tokens=500), hit(2, tokens=20)], 100)
    assert [found.positions for found in chosen[0].hits] == [(2,)]


def test_nothing_fits_a_budget_of_nothing() -> None:
    """An excerpt of headings alone."""
    assert fill([hit(1)], 5) == []
    assert fill([], 1000) == []
