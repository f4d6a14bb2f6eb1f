"""The systems by name: SPIRE, its ablations, the baselines, and what was tried to make it better."""

from __future__ import annotations

from collections.abc import Sequence

from evidence.bench.quality import splitters
from evidence.bench.quality.chunks import Chunks, passages, passages_with_context, sections, windows
from evidence.bench.quality.data import DataError
from evidence.bench.quality.filtered import FilteredSpire, JudgedSpire
from evidence.bench.quality.spire import Spire
from evidence.bench.quality.systems import System
from evidence.bench.quality.units import Way
from evidence.store.statement import TEXT_WEIGHT

SPIRE = "spire"
VECTORS = "vectors"
JUDGED = "spire+filter"
FILTERED = "spire+llm"
HEADED = ("title", "heading")


def searched() -> list[System]:
    """SPIRE as the product searches, and by vectors alone; both fill their budget.

    Words are those of BM25 over whole blocks here; the product counts them in the database, and fuses by the same weight.
    """
    return [
        Spire(SPIRE, "SPIRE by vectors and words, as the product searches", full_text=TEXT_WEIGHT, by_block=True),
        Spire(VECTORS, "SPIRE by vectors alone; what the ablations change"),
    ]


def filtered() -> list[System]:
    """SPIRE with its contextual filter, offline and by a language model."""
    offline = "SPIRE with its filter, as the product answers"
    by_model = "SPIRE, its candidates read by a language model"
    return [
        JudgedSpire(JUDGED, offline, full_text=TEXT_WEIGHT, by_block=True),
        FilteredSpire(FILTERED, by_model, full_text=TEXT_WEIGHT, by_block=True),
    ]


def baselines() -> list[System]:
    """Chunks, with the same model and budget."""
    found: list[System] = [
        Chunks("passages-100", "passages of 100 words, whole sentences", passages),
        Chunks("passages-256", "windows of 256 tokens, 20 % overlap", windows(256, 0.2)),
        Chunks("passages-context", "passages of 100 words behind their title and headings", passages_with_context),
        Chunks("sections", "sections by headings, at most 256 tokens", sections(256)),
        Chunks("bm25-passages", "passages of 100 words by BM25, no model", passages, by_words=True),
        Chunks("passages-hybrid", "passages of 100 words, BM25 fused with the model (RRF)", passages, text_weight=1.0),
    ]
    if splitters.has_langchain():
        about = "LangChain's HTMLSemanticPreservingSplitter, 1000 characters; gold by text"
        found.append(Chunks("langchain", about, splitters.langchain))
    if splitters.has_docling():
        about = "docling's HybridChunker, 256 tokens; gold by text"
        found.append(Chunks("docling", about, splitters.docling))
    return found


def ablations() -> list[System]:
    """SPIRE by vectors alone, without its filter, and with one thing taken from it, or put to it, as the paper has them."""
    return [
        Spire("no-context", "SPIRE without global context", Way(context=False), shows_context=False),
        Spire("context-shown", "context shown, but not embedded", Way(context=False)),
        Spire("blocks", "SPIRE with blocks as units", Way(unit="block")),
        Spire("cells", "SPIRE with cells instead of rows", Way(unit="cell")),
        Spire("single", "SPIRE, sentences encoded one by one", Way(encoding="single")),
        Spire("local", "SPIRE, a sentence (or row) before and after each candidate joins it", local=1),
        Spire("not-united", "SPIRE, each candidate pays for its own context", is_united=False),
        Spire("full-text", "SPIRE by vectors, and BM25 of each unit fused (RRF, equal weights)", full_text=1.0),
    ]


def tuning() -> list[System]:
    """What was tried beyond the paper; each differs from SPIRE in what it is named for."""
    single = Way(encoding="single")
    return [
        *(Spire(f"candidates-{n}", f"SPIRE with {n} candidates", candidates=n) for n in (50, 100, 400)),
        *(Spire(f"window-{n}", f"windows of {n} tokens", Way(window=n)) for n in (80, 250)),
        Spire(
            "single-inner-first",
            "one by one, nearest heading before the title",
            Way("seed", "single", order="inner first"),
        ),
        Spire("single-unit-first", "one by one, context after the unit", Way("seed", "single", order="unit first")),
        Spire("single-bare", "one by one, context shown, but not embedded", Way("seed", "single", context=False)),
        Spire(
            "single-headings", "one by one, context of title and headings only", Way(encoding="single", policies=HEADED)
        ),
        *(Spire(f"pass-{n}", f"ends when {n + 1} candidates did not fit", passes_over=n) for n in (0, 3, 10)),
        *(Spire(f"floor-{round(100 * f)}", f"ends below {f} of the best score", floor=f) for f in (0.5, 0.6, 0.7, 0.8)),
        *(
            Spire(f"own-{round(100 * w)}", f"mean with the vector without context, weight {w}", own_weight=w)
            for w in (0.15, 0.3, 0.5)
        ),
        *(Spire(f"full-text-{round(100 * w)}", f"BM25 fused, weight {w}", full_text=w) for w in (0.25, 0.5, 0.75)),
        *(
            Spire(f"block-text-{round(100 * w)}", f"BM25 of whole blocks fused, weight {w}", full_text=w, by_block=True)
            for w in (0.5, 1.0)
        ),
        *(Spire(f"slack-{round(100 * s)}", f"filled to {s} of the budget, then cut", slack=s) for s in (1.05, 1.1)),
        *(
            Spire(f"around-{round(100 * w)}", f"score mixed with the block's, weight {w}", around=w)
            for w in (0.2, 0.4, 0.6)
        ),
        *(
            Spire(f"hop-{round(100 * w)}", f"second search with what the first found, weight {w}", hop=w)
            for w in (1.0, 2.0)
        ),
        *(
            Spire(
                f"text-hop-{round(100 * w)}",
                f"BM25 fused at 0.5, second search by both, weight {w}",
                full_text=0.5,
                hop=w,
            )
            for w in (0.5, 1.0, 2.0)
        ),
        Spire("local-2", "two sentences (or rows) before and after join each candidate", local=2),
        *(
            Spire(f"alike-{round(100 * c)}", f"near-duplicates from cosine {c} on dropped", alike=c)
            for c in (0.9, 0.95)
        ),
        Spire("single-full-text", "one by one, and BM25 fused", single, full_text=0.5),
        Spire("together", "BM25 at 0.5, block's share 0.2, slack 1.1", full_text=0.5, around=0.2, slack=1.1),
        Spire("together-wide", "the same with windows of 250", Way(window=250), full_text=0.5, around=0.2, slack=1.1),
    ]


def systems(wanted: Sequence[str]) -> list[System]:
    """The systems of these names; "main" are SPIRE, the paper's ablations and the baselines, "tuning" the others. Those
    with a filter are in no group: what the filter has learnt from would count for it. DataError for a name that there is
    not."""
    own, more = searched(), tuning()
    main = [*own, *ablations(), *baselines()]
    by_name = {system.name: system for system in (*main, *more, *filtered())}
    groups = {"main": main, "tuning": [*own, *more], "all": [*main, *more]}
    chosen: dict[str, System] = {}
    for name in wanted:
        if name not in by_name and name not in groups:
            raise DataError(f"there is no system {name!r}; there are {', '.join((*groups, *by_name))}")
        chosen |= {system.name: system for system in groups.get(name) or [by_name[name]]}
    return list(chosen.values())
