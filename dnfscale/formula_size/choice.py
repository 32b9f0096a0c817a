"""Which size to take: the one whose formula is right on most rows that the search has not seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dnfscale.core.arrays import is_whole
from dnfscale.core.model import HALF
from dnfscale.core.weights import as_weight
from dnfscale.errors import DataError, SpecError
from dnfscale.formula_size.sizes import SizeResult, errors_of
from dnfscale.formula_size.table import TypeTable
from dnfscale.results.formula import SizeStep

LEAST_PATIENCE = 4
"""Training errors often fall only after two to four sizes without improvement."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The sizes that were searched, how they do on validation rows, and the best of them."""

    path: tuple[SizeResult, ...]
    correct: tuple[int, ...]
    """Validation rows that the formula of each size gets right, by their weight."""
    n_rows: int
    """Validation rows, by their weight."""
    chosen: SizeResult
    """The smallest of the sizes that get most validation rows right."""


def choose(
    path: Iterable[SizeResult], validation: TypeTable, *, patience: int = LEAST_PATIENCE
) -> Choice:
    """Take results in order of size until `patience` in a row bring no improvement on validation
    rows; choose the best.

    Results are taken from an iterator one by one, so later sizes are never searched. `validation`
    has the attributes of the searched table.
    """
    if not is_whole(patience, LEAST_PATIENCE):
        raise SpecError(
            f"patience must be a whole number of at least {LEAST_PATIENCE} sizes, got {patience!r}"
        )
    taken: list[SizeResult] = []
    correct: list[int] = []
    for result in path:
        taken.append(result)
        correct.append(validation.n_rows - errors_of(result.formula, validation))
        if is_enough(correct, patience):
            break
    if not taken:
        raise DataError("expected the result of at least one size to choose from, got none")
    return Choice(
        tuple(taken), tuple(correct), validation.n_rows, taken[correct.index(max(correct))]
    )


def is_enough(correct: Sequence[int], patience: int) -> bool:
    """Return whether `patience` sizes in a row brought no improvement, given the validation rows
    each gets right.
    """
    return bool(correct) and len(correct) - 1 - correct.index(max(correct)) >= patience


def size_steps(
    choice: Choice, searched: TypeTable, validated: TypeTable, threshold: Fraction, *, unit: int = 1
) -> tuple[SizeStep, ...]:
    """Return the sizes that were searched; `searched` and `validated` are counted without costs.

    If errors do not all cost the same, `cost` is the cost of the formula's errors, in errors of
    average cost, and `validation_score`, by which sizes were compared, is the share of the cost
    that is avoided on validation rows.
    """
    n_rows = validated.n_rows
    has_score = threshold != HALF and n_rows
    return tuple(
        SizeStep(
            size=result.size,
            formula_size=result.formula_size,
            errors=as_weight(errors_of(result.formula, searched), unit),
            cost=cost_of(result, threshold, unit),
            validation_accuracy=(n_rows - errors_of(result.formula, validated)) / n_rows
            if n_rows
            else None,
            validation_score=correct / choice.n_rows if has_score else None,
            proved=result.proved,
        )
        for result, correct in zip(choice.path, choice.correct, strict=True)
    )


def cost_of(result: SizeResult, threshold: Fraction, unit: int = 1) -> float | None:
    """Return the cost of a formula's errors; None if it is their number."""
    return None if threshold == HALF else 2 * result.errors / threshold.denominator / unit
