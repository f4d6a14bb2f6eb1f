"""The plots of the report: a set's figures against the budget, as SVG to stand in the page."""

from __future__ import annotations

import io
from collections.abc import Sequence

from evidence.bench.quality.catalogue import SPIRE
from evidence.bench.quality.data import DataError
from evidence.bench.quality.summary import Line

FIGURES = (
    ("recall of gold", lambda line: line.recall),
    ("questions with all gold found", lambda line: line.all_gold),
    ("useful citations a question", lambda line: line.useful_each),
)
# Okabe and Ito's colours, which people with colour blindness can tell apart; SPIRE is black.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = "osD^vP"
MOST_CURVES = len(COLOURS)


def plot(lines: Sequence[Line], names: Sequence[str]) -> str:
    """Three figures of one set side by side, a curve for SPIRE and for each of the named systems."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise DataError('the report\'s plots need matplotlib: pip install "spire[bench]"') from error
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "spire", "font.size": 9}):
        figure = Figure(figsize=(11, 3.3), layout="constrained")
        for axes, (title, value) in zip(figure.subplots(1, len(FIGURES)), FIGURES, strict=True):
            for number, name in enumerate((SPIRE, *[name for name in names if name != SPIRE][:MOST_CURVES])):
                curve = [line for line in lines if line.system == name]
                estimates = [value(line) for line in curve]
                colour = "black" if name == SPIRE else COLOURS[number - 1]
                budgets = [line.budget for line in curve]
                width = 2.4 if name == SPIRE else 1.3
                marker = "o" if name == SPIRE else MARKERS[number - 1]
                axes.plot(
                    budgets, [e.value for e in estimates], color=colour, label=name, lw=width, marker=marker, ms=4
                )
                if name == SPIRE:
                    axes.fill_between(
                        budgets, [e.low for e in estimates], [e.high for e in estimates], color="#0002", lw=0
                    )
            axes.set_title(title, loc="left", fontsize=10)
            axes.set_xscale("log", base=2)
            axes.set_xticks(
                sorted({line.budget for line in lines}), [str(b) for b in sorted({x.budget for x in lines})]
            )
            axes.minorticks_off()
            axes.set_xlabel("tokens")
            axes.grid(axis="y", color="#ddd", lw=0.6)
            axes.spines[["top", "right"]].set_visible(False)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=7, frameon=False)
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue().partition("<svg")[1] + written.getvalue().partition("<svg")[2]
