"""How the joint answers of several formulas turn out: the rows of each label, by the label they were given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Confusion:
    """Test rows by their label and by the label they were given; or what these rows weigh."""

    labels: tuple[str, ...]
    rows: tuple[tuple[int | float, ...], ...]
    """rows[i][j]: rows of label i that were given label j."""

    def of(self, label: int) -> int | float:
        """Return the rows of a label."""
        return sum(self.rows[label])

    def given(self, label: int) -> int | float:
        """Return the rows that were given a label."""
        return sum(row[label] for row in self.rows)

    def recall(self, label: int) -> float | None:
        """Return the share of a label's rows that were given it; None if it has no rows."""
        return _share(self.rows[label][label], self.of(label))

    def precision(self, label: int) -> float | None:
        """Return the share of the rows given a label that have it; None if no rows were given it."""
        return _share(self.rows[label][label], self.given(label))

    def mistaken_for(self, label: int) -> int | None:
        """Return the wrong label that a label's rows were given most often; None if they were never given one."""
        others = [(-n, other) for other, n in enumerate(self.rows[label]) if other != label and n]
        return min(others)[1] if others else None


def summed_confusion(
    labels: Sequence[str], folds: Sequence[Sequence[Sequence[int | float]] | None]
) -> Confusion | None:
    """Add up the tables of all folds; None if there are no folds, or if one lacks a table of these labels."""
    k = len(labels)
    tables = [fold for fold in folds if fold is not None]
    whole = len(tables) == len(folds) and all(len(t) == k and all(len(row) == k for row in t) for t in tables)
    if not tables or not whole:
        return None
    rows = tuple(tuple(sum(table[i][j] for table in tables) for j in range(k)) for i in range(k))
    return Confusion(tuple(labels), rows)


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
