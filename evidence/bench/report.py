"""Tables of text, their columns aligned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class Table:
    """Rows of texts under headings; the first column names the row."""

    def __init__(self, headings: Sequence[str]) -> None:
        self.rows: list[list[str]] = [list(headings)]

    def add(self, *cells: str) -> None:
        """A row more. ValueError when it is not as wide as the headings."""
        if len(cells) != len(self.rows[0]):
            raise ValueError(f"the table has {len(self.rows[0])} columns, the row {len(cells)}")
        self.rows.append(list(cells))

    def lines(self) -> Iterator[str]:
        """The rows, the first column to the left and the others to the right."""
        widths = [max(map(len, column)) for column in zip(*self.rows, strict=True)]
        for name, *cells in self.rows:
            aligned = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
            yield "  ".join([name.ljust(widths[0]), *aligned]).rstrip()
