"""Rows that are dropped for missing values: how many, for which columns, and how many are too many.

Rows without a target, or of weight 0, do not count: nothing could be learned from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dnfscale.core.columns import Column, Reading, TableSummary
from dnfscale.core.parts import stored_column
from dnfscale.data.source import Source
from dnfscale.errors import DataError, visible
from dnfscale.spec.learn import LearnSpec

Warn = Callable[[str], None]
"""Called with what a person should know before much is learned."""
WORTH_A_WARNING = 0.05
_NAMED = 5
_PIECES = 5
_PIECE_VALUES = 1 << 22
"""So many values of a piece are looked at in a fifth of a second."""


def silent(text: str) -> None:
    """Warn nobody."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """The rows that are dropped for missing values."""

    rows: int
    of: int
    """All rows with a target and a weight."""
    columns: tuple[tuple[str, int], ...]
    """How many of these rows each column costs: those that have no value there; the most first."""

    @property
    def share(self) -> float:
        return self.rows / self.of if self.of else 0.0

    @property
    def reasons(self) -> str:
        """The columns responsible, in words."""
        named = [f"{visible(repr(name))} costs {rows:,}" for name, rows in self.columns[:_NAMED]]
        left = len(self.columns) - _NAMED
        return ", ".join([*named, *([f"{left} more columns some"] if left > 0 else [])])


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What can be said of dropped rows before a dataset is read."""

    least: float
    most: float
    """Bounds on the share of the rows, by the nulls that the footers tell of; a nan is none."""
    sampled: Dropped | None
    """Of some rows that were looked at; None if none were."""

    @property
    def worth_telling(self) -> bool:
        return max(self.least, self.sampled.share if self.sampled else 0.0) > WORTH_A_WARNING

    def words(self, allowed: float) -> str:
        """Say how many rows will be dropped, as far as that is known, and what to do."""
        bounds = f"{_percent(self.least)} to {_percent(self.most)} of the rows by the footers"
        looked, worst = "", self.least
        if self.sampled is not None:
            worst = max(worst, self.sampled.share)
            looked = (
                f", {_percent(self.sampled.share)} of {self.sampled.of:,} looked at "
                f"({self.sampled.reasons})"
            )
        ends = f"; a run ends with exit 3 above {_percent(allowed)}" if worst > allowed else ""
        return (
            f"dropped for missing values: {bounds}{looked}{ends}; "
            'data.missing = "indicator" keeps them'
        )


def dropped_rows(summary: TableSummary, columns: Sequence[Column]) -> Dropped:
    """Return the rows that a summary has left out for missing values."""
    of = summary.rows_of_interest
    costs: dict[str, int] = {}
    for column, found in zip(columns, summary.columns, strict=True):
        if found.missing:
            costs[stored_column(column.name)] = found.missing
    return Dropped(of - summary.n_rows, of, _ordered(costs))


def check_dropped(source: Source, dropped: Dropped, spec: LearnSpec, warn: Warn) -> None:
    """Raise DataError if more rows are dropped than the spec allows, and warn of many."""
    if dropped.share > spec.max_dropped:
        found = f"{dropped.rows:,} of {dropped.of:,} ({_percent(dropped.share)}) are"
        raise _too_many(source, spec, dropped.share, f"{found}: {dropped.reasons}")
    if dropped.share > WORTH_A_WARNING:
        warn(
            f"{dropped.rows:,} of {dropped.of:,} rows ({_percent(dropped.share)}) are dropped for "
            f'missing values: {dropped.reasons}; data.missing = "indicator" keeps them'
        )


def check_nulls(source: Source, spec: LearnSpec, columns: Sequence[Column]) -> None:
    """Raise DataError if the footers alone show that too many rows will be dropped."""
    if spec.missing != "drop" or spec.weight is not None:
        return
    least, _ = _bounds(source, spec, columns)
    if least <= spec.max_dropped:
        return
    nulls = {name: source.null_counts.get(name) or 0 for name in _names(columns)}
    worst, rows = _ordered(nulls)[0]
    raise _too_many(
        source,
        spec,
        least,
        f"at least {_percent(least)} are, as the footers show: {visible(repr(worst))} has no value "
        f"in {rows:,} of {source.n_rows:,} rows",
    )


def foresee_dropped(source: Source, spec: LearnSpec, columns: Sequence[Column]) -> Foreseen | None:
    """Bound the share of dropped rows by the footers, and look at the first rows of some
    partitions; None where no row will be dropped.
    """
    if spec.missing != "drop":
        return None
    least, most = _bounds(source, spec, columns)
    if spec.weight is not None:
        least = 0.0
    gaps = [column for column in columns if _may_miss(source, column)]
    if not gaps:
        return Foreseen(least, most, None)
    return Foreseen(least, most, _looked_at(source, spec, tuple(gaps)))


def _looked_at(source: Source, spec: LearnSpec, columns: tuple[Column, ...]) -> Dropped | None:
    reading = Reading(columns, spec.target, weight=spec.weight, unit=spec.unit, first_only=True)
    n_partitions = len(source.partitions)
    block_rows = min(1 << 16, max(1, source.n_rows // n_partitions))
    n_pieces = min(_PIECES, n_partitions, _PIECES * _PIECE_VALUES // (block_rows * len(columns)))
    if not n_pieces:
        return None
    of = rows = 0
    costs: dict[str, int] = {}
    for number in range(n_pieces):
        partition = source.partitions[number * (n_partitions - 1) // max(1, n_pieces - 1)]
        for block in partition.blocks(reading):
            here = block.n_read - block.weightless - block.missing_targets
            of, rows = of + here, rows + here - block.n_rows
            for column, missing in zip(columns, block.missing, strict=True):
                name = stored_column(column.name)
                costs[name] = costs.get(name, 0) + missing
            break
    return Dropped(
        rows, of, _ordered({name: missing for name, missing in costs.items() if missing})
    )


def _bounds(source: Source, spec: LearnSpec, columns: Sequence[Column]) -> tuple[float, float]:
    """Return the least and the greatest share of the rows with a target that can be dropped."""
    known = source.null_counts
    without_target = known.get(spec.target)
    candidates = source.n_rows - (without_target or 0)
    if candidates <= 0:
        return 0.0, 1.0
    nulls = [known.get(name) for name in _names(columns)]
    surely = max((count or 0 for count in nulls), default=0) - (without_target or 0)
    may_be = any(_may_be_nan(source, column) for column in columns) or None in nulls
    most = 1.0 if may_be else min(1.0, sum(count or 0 for count in nulls) / candidates)
    if without_target is None:
        surely = 0
    return max(0.0, surely / candidates), most


def _names(columns: Sequence[Column]) -> list[str]:
    return list(dict.fromkeys(stored_column(column.name) for column in columns))


def _may_miss(source: Source, column: Column) -> bool:
    return source.null_counts.get(stored_column(column.name)) != 0 or _may_be_nan(source, column)


def _may_be_nan(source: Source, column: Column) -> bool:
    kind = str(source.types[stored_column(column.name)])
    return "float" in kind or "double" in kind


def _ordered(costs: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(costs.items(), key=lambda item: (-item[1], item[0])))


def _too_many(source: Source, spec: LearnSpec, share: float, found: str) -> DataError:
    enough = min(1.0, math.ceil(100 * share) / 100)
    return DataError(
        f"{source.path}: expected at most {_percent(spec.max_dropped)} of the rows to be dropped "
        f'for missing values, but {found}; set data.missing = "indicator" to keep them, put such '
        f"columns in data.drop, or allow it by data.max_dropped = {enough:g}",
        "data.max_dropped",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %".replace(".0 %", " %")
