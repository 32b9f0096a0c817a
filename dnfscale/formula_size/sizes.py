"""The search over sizes: for each, the formula with the fewest errors, and what is proved about it.

Sizes go upward, one result at a time, so that the caller may stop, keep what is proved, and
continue from there later. Fewest errors count first, then the smallest size, then a fixed order:
the answer is the same on every machine, unless a limit cuts the last size short.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from types import ModuleType

import numpy as np

from dnfscale.core.arrays import is_real, is_whole
from dnfscale.core.tree import MOST_SIZE, Formula, evaluate, size, symbols
from dnfscale.errors import DataError, SpecError
from dnfscale.formula_size.table import TypeTable, literals, tabulate
from dnfscale.results.confusion import Confusion


@dataclass(frozen=True, slots=True)
class SizeResult:
    """The best formula of at most a given size."""

    size: int
    """The bound on the size."""
    errors: int
    """The rows that the formula gets wrong."""
    formula: Formula
    formula_size: int
    """The formula's own size."""
    proved: bool
    """No formula within the bound has fewer errors, nor as few errors and a smaller size."""
    lower_bound: int
    """No formula within the bound has fewer errors than this."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a search stops."""

    max_size: int
    seconds: float | None = None
    """The time for all sizes together. Compiling, or loading what was compiled, does not count, nor
    does the caller's time."""
    memory_bytes: int = 1 << 30

    def __post_init__(self) -> None:
        if not is_whole(self.max_size, 1, MOST_SIZE):
            raise SpecError(
                f"max_size must be a whole number between 1 and {MOST_SIZE}, got {self.max_size!r}"
            )
        if self.seconds is not None and not is_real(self.seconds, 0):
            raise SpecError(
                f"time_limit_s must be a number of at least 0, or None, got {self.seconds!r}"
            )


def search(
    table: TypeTable, limits: Limits, *, start: Sequence[SizeResult] = ()
) -> Iterator[SizeResult]:
    """Yield the best formula of each size from one, or from where start ends, to the largest.

    Results are proved, except for the last one if a limit cuts it short; it holds the best formula
    found until then. `start` has earlier results of the same table for sizes one, two, and so on;
    the first that is not proved is searched again.
    """
    if not table.n_attributes:
        raise DataError("a formula needs at least one attribute, but the table has none")
    kept = _kept(table, start)
    return _results(table, limits, kept)


def _results(table: TypeTable, limits: Limits, kept: Sequence[SizeResult]) -> Iterator[SizeResult]:
    exact = _compiled()
    certain = int(np.minimum(table.c, table.n - table.c).sum())
    searched = exact.ExactSearch(literals(table))
    for result in kept:
        searched.take(
            exact.Answer(result.errors - certain, result.formula, result.errors - certain)
        )
    left = float("inf") if limits.seconds is None else limits.seconds
    for bound in range(len(kept) + 1, limits.max_size + 1):
        begun = perf_counter()
        answer = searched.solve(begun + left, limits.memory_bytes)
        seconds = perf_counter() - begun
        left -= seconds
        proved = answer.lower_bound == answer.errors
        yield SizeResult(
            bound,
            answer.errors + certain,
            answer.formula,
            size(answer.formula),
            proved,
            answer.lower_bound + certain,
            seconds,
        )
        if not proved:
            return
        searched.take(answer)


def errors_of(formula: Formula, table: TypeTable) -> int:
    """Return the rows of a table that a formula gets wrong."""
    accepted = evaluate(formula, table.holds.T)
    return int(np.where(accepted, table.n - table.c, table.c).sum())


def answered(formula: Formula, table: TypeTable) -> Confusion:
    """Return how a formula answers the rows of a table."""
    return Confusion.of_types(evaluate(formula, table.holds.T), table.n, table.c)


def prepare() -> None:
    """Compile the search, or load it if it was compiled before, so that this does not count as time
    of a search.
    """
    _compiled()


@functools.cache
def _compiled() -> ModuleType:
    try:
        from dnfscale.formula_size import exact
    except ImportError as error:
        raise SpecError(
            f"the formula-size method needs numba, which cannot be imported ({error}); "
            "install it with: pip install 'dnfscale[formula-size]'"
        ) from error
    # Exclusive or needs size 8, so that this search runs, and compiles, every kernel.
    holds = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.bool_)
    tiny = exact.ExactSearch(literals(tabulate(holds, np.array([False, True, True, False]))))
    for _ in range(8):
        tiny.take(tiny.solve(float("inf"), 1 << 30))
    return exact


def _kept(table: TypeTable, start: Sequence[SizeResult]) -> list[SizeResult]:
    """Return the proved results at the beginning of start, if they belong to the table."""
    kept = list(itertools.takewhile(lambda result: result.proved, start))
    if [result.size for result in kept] != list(range(1, len(kept) + 1)):
        raise DataError(
            f"expected kept results of sizes 1 to {len(kept)}, in order; got "
            f"{[result.size for result in kept]}"
        )
    for result in kept:
        if (
            max(symbols(result.formula)) >= table.n_attributes
            or errors_of(result.formula, table) != result.errors
        ):
            raise DataError(
                f"the kept result of size {result.size} does not belong to these rows: "
                "expected a formula with "
                f"{result.errors} errors; search again without it"
            )
    return kept
