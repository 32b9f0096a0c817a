"""A formula of bounded size as a model: the tree, the attributes it speaks of, and the rows it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dnfscale.core.arrays import Bools, Ints, Scalar
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.method.formula_size.table import TypeTable
from dnfscale.method.formula_size.tree import And, Formula, Not, Or, Symbol, evaluate, render, size


class Support(NamedTuple):
    """Rows that get the same answer, and those of them whose target is true."""

    n: int
    c: int


@dataclass(frozen=True, slots=True, eq=False)
class SizedModel:
    """A formula over tau, as a tree."""

    target: str
    positive: tuple[Scalar, ...]
    """The labels that a row has which the formula accepts."""
    tau: Vocabulary
    """The attributes that occur in the formula, in the order in which they do."""
    tree: Formula
    accepted: Support
    rejected: Support
    """The rows that it was learned from, by its answer."""
    missing: str = "drop"
    unit: int = 1
    """What a row of weight one adds to n."""

    @property
    def formula(self) -> str:
        return render(self.tree, self.tau.names)

    @property
    def size(self) -> int:
        """The nodes of the formula."""
        return size(self.tree)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the formula needs, each once."""
        return tuple(dict.fromkeys(attribute.column for attribute in self.tau.attributes))

    def accepts(self, codes: Ints) -> Bools:
        """Say which types over tau the formula accepts."""
        columns = (codes[None, :] >> np.arange(len(self.tau))[:, None] & 1).astype(np.bool_)
        return evaluate(self.tree, columns)

    @property
    def probabilities(self) -> tuple[float, float]:
        """The probability of a rejected and of an accepted row: (c + unit) / (n + 2 unit), on its side of one half."""
        rejected, accepted = (
            (support.c + self.unit) / (support.n + 2 * self.unit) for support in (self.rejected, self.accepted)
        )
        return min(rejected, float(np.nextafter(0.5, 0))), max(accepted, float(np.nextafter(0.5, 1)))


def supports(tree: Formula, table: TypeTable) -> tuple[Support, Support]:
    """Return the rows of a table that a formula rejects, and those that it accepts."""
    accepted = evaluate(tree, table.holds.T)
    return (
        Support(int(table.n[~accepted].sum()), int(table.c[~accepted].sum())),
        Support(int(table.n[accepted].sum()), int(table.c[accepted].sum())),
    )


def renumbered(tree: Formula, places: Mapping[int, int]) -> Formula:
    """Return a formula with other numbers for its symbols."""
    match tree:
        case Symbol(attribute):
            return Symbol(places[attribute])
        case Not(operand):
            return Not(renumbered(operand, places))
        case And(left, right):
            return And(renumbered(left, places), renumbered(right, places))
        case Or(left, right):
            return Or(renumbered(left, places), renumbered(right, places))
