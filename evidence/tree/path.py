"""Paths and path sets: where things are in a tree."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator


class Path(tuple[int, ...]):
    """The child indices that lead from the root to a node; the empty path is the root.

    Paths compare in document order: a node stands before its descendants, and these before its next sibling.
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Path:
        """The path that ``str(path)`` wrote: ``"0.3.1"``, or ``""`` for the root. ValueError for anything else."""
        if not text:
            return cls()
        labels = text.split(".")
        if not all(label.isascii() and label.isdigit() for label in labels):
            raise ValueError(f"not a path: {text[:80]!r}; a path is child indices joined by dots, such as 0.3.1")
        return cls(map(int, labels))

    def __str__(self) -> str:
        return ".".join(map(str, self))

    def __repr__(self) -> str:
        return f"Path({str(self)!r})"

    @property
    def parent(self) -> Path:
        """The path of the parent; ValueError for the root, which has none."""
        if not self:
            raise ValueError("the root has no parent")
        return Path(self[:-1])

    def ancestors(self) -> Iterator[Path]:
        """The paths of all ancestors, the root first."""
        for length in range(len(self)):
            yield Path(self[:length])

    def child(self, index: int) -> Path:
        """The path of the child at this index."""
        return Path((*self, index))

    def contains(self, other: Path) -> bool:
        """Whether the other path is this one or lies below it."""
        return other[: len(self)] == self


class PathSet:
    """A set of paths of one revision, kept in document order."""

    __slots__ = ("_members", "_paths")

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._members = frozenset(paths)
        self._paths = tuple(sorted(self._members))

    def __iter__(self) -> Iterator[Path]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __contains__(self, path: object) -> bool:
        return path in self._members

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PathSet) and self._members == other._members

    def __hash__(self) -> int:
        return hash(self._members)

    def __or__(self, other: PathSet) -> PathSet:
        return PathSet(self._members | other._members)

    def __and__(self, other: PathSet) -> PathSet:
        return PathSet(self._members & other._members)

    def __sub__(self, other: PathSet) -> PathSet:
        return PathSet(self._members - other._members)

    def __le__(self, other: PathSet) -> bool:
        return self._members <= other._members

    def __repr__(self) -> str:
        return f"PathSet({[str(path) for path in self]})"

    def up(self) -> PathSet:
        """P and every ancestor of a path in P."""
        found: set[Path] = set()
        for path in self._paths:
            # What one ancestor's own ancestors are is known already.
            for length in range(len(path), -1, -1):
                prefix = Path(path[:length])
                if prefix in found:
                    break
                found.add(prefix)
        return PathSet(found)

    def down(self, tree: PathSet) -> PathSet:
        """P and every descendant of a path in P, within the paths of the whole tree."""
        found: list[Path] = []
        covered: Path | None = None
        for path in self._paths:
            if covered is not None and covered.contains(path):
                continue
            covered = path
            start = bisect_left(tree._paths, path)
            for position in range(start, len(tree._paths)):
                below = tree._paths[position]
                if not path.contains(below):
                    break
                found.append(below)
        return PathSet(found)

    def link(self, tree: PathSet) -> PathSet:
        """up(P) ∪ down(P): what pruning keeps, so that the pruned tree is well-formed."""
        return self.up() | self.down(tree)
