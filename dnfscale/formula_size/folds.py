"""The search of the formula-size method in every fold of a study, size by size; it records its
results.

Each fold is a chain: the sizes are searched upward on W_train until further ones bring no
improvement on W_val; the best size is then searched on W_0, and its formula tested. A chain records
every size it has searched, and continues from there when it runs again. With several classes, each
class has a chain in every fold.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dnfscale.compare.competitor import Notes
from dnfscale.core.distinct import PackedTypes
from dnfscale.core.model import HALF
from dnfscale.core.tree import MOST_SIZE, from_json, to_json
from dnfscale.engine.api import Engine, Failure
from dnfscale.formula_size import (
    Choice,
    Limits,
    SizeResult,
    answered,
    choose,
    errors_of,
    is_enough,
    prepare,
    search,
)
from dnfscale.formula_size.choice import LEAST_PATIENCE
from dnfscale.formula_size.distinct import MAX_TYPES, FoldTypes, type_table, weighed
from dnfscale.learn.phases import Phase, Reads
from dnfscale.results.confusion import Confusion
from dnfscale.results.record import Note
from dnfscale.spec.checks import seconds, whole
from dnfscale.spec.keys import key

SEARCH_SIZES = Phase("search formulas by size", Reads.DISTINCT_ROWS, "search formulas by size")
_MOST_BYTES = 1 << 30
"""The memory of a search, unless its worker has less than twice as much."""
_SLICE_S = 0.2
"""A task searches size after size for about this long, and what it found is then recorded.
Continuing costs nothing.
"""


@dataclass(frozen=True, slots=True)
class SizeBudget:
    """How far the sizes are searched in each fold."""

    max_size: int = key(
        whole(1, MOST_SIZE),
        10,
        f'each symbol, "not", "and" and "or" counts one; at most {MOST_SIZE}',
    )
    patience: int = key(
        whole(LEAST_PATIENCE), LEAST_PATIENCE, "stop after this many sizes without a gain on W_val"
    )
    max_types: int = key(
        whole(2),
        MAX_TYPES,
        "with more distinct rows in a fold, only the best attributes are searched",
    )
    time_limit_s: float | None = key(
        seconds,
        None,
        "per fold, for the search on W_train and again for that on W_0; default: no limit",
        example=60.0,
    )


@dataclass(frozen=True, slots=True, eq=False)
class SearchSizes:
    """The next sizes to search on some rows."""

    types: PackedTypes
    validation: PackedTypes | None
    """Rows on which improvement is measured; None to search all sizes."""
    start: tuple[SizeResult, ...]
    """Results of the sizes searched before."""
    max_size: int
    seconds: float | None
    """What is left of the time limit."""
    patience: int
    memory_bytes: int = _MOST_BYTES


class SizeNote(Note, frozen=True, kw_only=True):
    """The result of a size, as it is recorded."""

    part: str
    """The rows that were searched: train or whole."""
    size: int
    errors: int
    formula: object
    """As plain JSON: see core/tree.py."""
    formula_size: int
    proved: bool
    lower_bound: int
    seconds: float

    @classmethod
    def of(cls, part: str, result: SizeResult) -> SizeNote:
        """Return the note of a result."""
        figures = {key: getattr(result, key) for key in _FIGURES}
        return cls(
            step=f"{part} {result.size}", part=part, formula=to_json(result.formula), **figures
        )

    def result(self) -> SizeResult:
        """Return the result that was noted."""
        return SizeResult(
            formula=from_json(self.formula), **{key: getattr(self, key) for key in _FIGURES}
        )


_FIGURES = ("size", "errors", "formula_size", "proved", "lower_bound", "seconds")


@dataclass(frozen=True, slots=True)
class Sized:
    """The outcome of a fold; the errors in its results are weighted by the threshold."""

    types: FoldTypes
    """The rows of the fold, each of weight one."""
    choice: Choice
    final: SizeResult
    """The best formula of the chosen size on W_0."""
    tested: Confusion
    """How that formula answers the test rows."""
    seconds: float
    """Time spent in searches, whether run now or recorded earlier."""

    @property
    def proved(self) -> bool:
        """Whether no limit cut a search short."""
        return self.final.proved and all(result.proved for result in self.choice.path)


@dataclass(frozen=True, slots=True)
class Unsized:
    """A fold without an outcome: a search failed."""

    types: FoldTypes
    error: str


def search_sizes(wanted: SearchSizes) -> list[SizeResult]:
    """Search the next sizes, at least one, and stop after a while, or when the search is over."""
    prepare()
    begun = time.perf_counter()
    found: list[SizeResult] = []
    limits = Limits(wanted.max_size, wanted.seconds, wanted.memory_bytes)
    for result in search(type_table(wanted.types), limits, start=wanted.start):
        found.append(result)
        if time.perf_counter() - begun > _SLICE_S or _is_over([*wanted.start, *found], wanted):
            break
    return found


def size_folds(
    folds: Sequence[FoldTypes],
    budget: SizeBudget,
    engine: Engine,
    notes: Notes,
    *,
    threshold: Fraction = HALF,
) -> list[Sized | Unsized]:
    """Search all folds concurrently."""
    memory_bytes = min(_MOST_BYTES, (engine.worker_bytes or 2 * _MOST_BYTES) // 2)
    several = any(types.target for types in folds)
    chains = [
        size_fold(
            types,
            budget,
            notes=notes,
            name=f"formula_size-{f'class{types.target}-' if several else ''}fold{types.fold}",
            threshold=threshold,
            memory_bytes=memory_bytes,
        )
        for types in folds
    ]
    return engine.chain(SEARCH_SIZES.name, chains, search_sizes, expected=2 * len(chains))


def size_fold(
    types: FoldTypes,
    budget: SizeBudget,
    *,
    notes: Notes,
    name: str,
    threshold: Fraction = HALF,
    memory_bytes: int = _MOST_BYTES,
) -> Generator[SearchSizes, list[SizeResult] | Failure, Sized | Unsized]:
    """Search the sizes on W_train, choose one on W_val, search it on W_0, and test its formula."""
    noted = notes.recall(name, SizeNote)
    train, validation, whole_rows = (
        weighed(part, threshold) for part in (types.train, types.validation, types.whole)
    )
    inner = SearchSizes(
        train, validation, (), budget.max_size, budget.time_limit_s, budget.patience, memory_bytes
    )
    path = yield from _searched(inner, "train", name, noted, notes)
    if isinstance(path, Failure):
        return Unsized(types, path.message)
    choice = choose(path, type_table(validation), patience=budget.patience)
    outer = replace(inner, types=whole_rows, validation=None, max_size=choice.chosen.size)
    whole = yield from _searched(outer, "whole", name, noted, notes)
    if isinstance(whole, Failure):
        return Unsized(types, whole.message)
    seconds = sum(result.seconds for result in (*path, *whole))
    return Sized(
        types, choice, whole[-1], answered(whole[-1].formula, type_table(types.test)), seconds
    )


def _searched(
    wanted: SearchSizes, part: str, chain: str, noted: Sequence[SizeNote], notes: Notes
) -> Generator[SearchSizes, list[SizeResult] | Failure, list[SizeResult] | Failure]:
    """Return the results of all sizes: those that are recorded, then those that are searched now
    and recorded.
    """
    path = [note.result() for note in noted if note.part == part]
    while not _is_over(path, wanted):
        left = (
            None
            if wanted.seconds is None
            else max(0.0, wanted.seconds - sum(result.seconds for result in path))
        )
        answer = yield replace(wanted, start=tuple(path), seconds=left)
        if isinstance(answer, Failure):
            return answer
        for result in answer:
            notes.note(chain, SizeNote.of(part, result))
        path += answer
    return path


def _is_over(path: Sequence[SizeResult], wanted: SearchSizes) -> bool:
    """Return whether a search is over: all sizes are done, a limit was reached, or nothing was
    gained for too long.
    """
    if len(path) >= wanted.max_size or (path and not path[-1].proved):
        return True
    if wanted.validation is None:
        return False
    validation = type_table(wanted.validation)
    correct = [validation.n_rows - errors_of(result.formula, validation) for result in path]
    return is_enough(correct, wanted.patience)
