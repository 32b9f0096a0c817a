"""Facts: what one scan learns about a table and each of its columns, before anything is learned
from it.

Facts of disjoint rows merge in any order. Rows are sampled by a hash of all their values, so the
sample depends on the rows alone; each sampled row has the exact number of its repetitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dnfscale.core import sketches
from dnfscale.core.arrays import AnyInts, Bools, Ints, Scalar, Values, frozen
from dnfscale.core.columns import Block, Categories, Numbers, Reading, Rows
from dnfscale.core.sketches import Hashes, Ranks, ValueSample
from dnfscale.errors import SpecError

MOST_LABELS = 50
"""A target of more labels is none that formulas are learned for."""
_SPAN = 1 << 12
"""Whole numbers that lie so close are counted by their distance from the least of them."""
_CELLS = 1 << 22
"""How many values of sampled rows a summary may hold, and how many counted values."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is kept of each column; it depends on the number of columns alone."""

    values: int
    """The most distinct values of a column that are counted exactly."""
    rows: int
    """The most distinct rows that are sampled."""

    @classmethod
    def of(cls, n_columns: int) -> Limits:
        """Return the limits for a table of so many columns: all facts fit in some 100 MiB."""
        share = _CELLS // max(1, n_columns)
        return cls(values=max(64, min(1024, share // 4)), rows=max(256, min(4096, share)))


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFacts:
    """What is known of a column."""

    missing: Ints
    """Rows without a value, by class; the last class is no target at all."""
    least: Scalar | None
    greatest: Scalar | None
    """None where there is no value."""
    sample: ValueSample
    ranks: Ranks
    """The registers of a HyperLogLog of its values."""

    @property
    def distinct(self) -> int:
        """How many values the column has: exactly, or about, where not all were kept."""
        if self.sample.is_all:
            return len(self.sample.hashes)
        return max(len(self.sample.hashes) + 1, sketches.estimated_distinct(self.ranks))


@dataclass(frozen=True, slots=True, eq=False)
class RowSample:
    """Distinct rows with the smallest hashes, or all, each with the number of its repetitions."""

    hashes: Hashes
    """In increasing order."""
    counts: Ints
    """How many rows are alike."""
    columns: tuple[tuple[npt.NDArray[Any], Bools], ...]
    """The values of each column, and where they are missing."""
    is_all: bool


@dataclass(frozen=True, slots=True, eq=False)
class TableFacts:
    """What is known of a table."""

    n_rows: int
    labels: tuple[Scalar, ...]
    """The labels of the target, in increasing order: the classes of all counts."""
    label_rows: Ints
    """Rows by class; the last class is no target at all."""
    columns: tuple[ColumnFacts, ...]
    rows: RowSample
    ends: tuple[tuple[int, Scalar, Scalar], ...]
    """The ordinal of each partition that has labels, with its first and its last label."""
    target: int | None
    """The place of the target among the columns."""
    changes: int
    """How often a row inside a partition has another label than the row before it."""

    def label_changes(self) -> int:
        """Return how often a row has another label than the one before, in the order of the
        files.
        """
        ordered = sorted(self.ends, key=lambda end: end[0])
        pairs = pairwise(ordered)
        return self.changes + sum(before[2] != after[1] for before, after in pairs)


def summarize(rows: Rows, reading: Reading, target: int | None, limits: Limits) -> TableFacts:
    """Return the facts of some rows; `target` is the place of the target in the reading."""
    parts = [
        _summarize_block(block, rows.ordinal, target, limits) for block in rows.blocks(reading)
    ]
    facts = merge(parts, limits)
    if len(parts) < 2:
        return facts
    told = [part.ends[0] for part in parts if part.ends]
    pairs = pairwise(told)
    changes = facts.changes + sum(before[2] != after[1] for before, after in pairs)
    ends = ((rows.ordinal, told[0][1], told[-1][2]),) if told else ()
    return TableFacts(
        facts.n_rows,
        facts.labels,
        facts.label_rows,
        facts.columns,
        facts.rows,
        ends,
        target,
        changes,
    )


def merge(parts: Sequence[TableFacts], limits: Limits) -> TableFacts:
    """Merge the facts of disjoint rows."""
    telling = [part for part in parts if part.columns]
    labels = tuple(sorted({label for part in telling for label in part.labels}))
    check_labels(len(labels))
    places = [[labels.index(label) for label in part.labels] for part in telling]
    columns = tuple(
        _merge_column(
            [part.columns[i] for part in telling], places, n_classes=len(labels) + 1, limits=limits
        )
        for i in range(len(telling[0].columns) if telling else 0)
    )
    return TableFacts(
        n_rows=sum(part.n_rows for part in parts),
        labels=labels,
        label_rows=_sum(
            [
                _placed(p.label_rows, at, len(labels) + 1)
                for p, at in zip(telling, places, strict=True)
            ],
            len(labels) + 1,
        ),
        columns=columns,
        rows=_merge_rows([part.rows for part in telling], limits.rows),
        ends=tuple(end for part in parts for end in part.ends),
        target=telling[0].target if telling else None,
        changes=sum(part.changes for part in parts),
    )


def check_labels(n_labels: int) -> None:
    """Raise SpecError for a target of too many labels."""
    if n_labels > MOST_LABELS:
        raise SpecError(
            f"the target must be a column of few values, but it has more than {MOST_LABELS}; "
            "choose another",
            "data.target",
        )


def _sum(arrays: Sequence[Ints], length: int) -> Ints:
    total = np.zeros(length, dtype=np.int64)
    for array in arrays:
        total += array
    return total


def _placed(counts: Ints, places: Sequence[int], n_classes: int) -> Ints:
    """Return counts by class with the classes of another table; the last class stays last."""
    wide = np.zeros((*counts.shape[:-1], n_classes), dtype=np.int64)
    wide[..., [*places, n_classes - 1]] = counts
    return wide


def _merge_column(
    parts: Sequence[ColumnFacts],
    places: Sequence[Sequence[int]],
    *,
    n_classes: int,
    limits: Limits,
) -> ColumnFacts:
    samples = [
        ValueSample(
            part.sample.hashes,
            part.sample.values,
            _placed(part.sample.counts, at, n_classes),
            part.sample.is_all,
        )
        for part, at in zip(parts, places, strict=True)
    ]
    leasts = [part.least for part in parts if part.least is not None]
    greatests = [part.greatest for part in parts if part.greatest is not None]
    return ColumnFacts(
        missing=_sum(
            [_placed(p.missing, at, n_classes) for p, at in zip(parts, places, strict=True)],
            n_classes,
        ),
        least=min(leasts, default=None),
        greatest=max(greatests, default=None),
        sample=sketches.merge_samples(samples, k=limits.values),
        ranks=np.maximum.reduce([part.ranks for part in parts]),
    )


def _merge_rows(parts: Sequence[RowSample], k: int) -> RowSample:
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return RowSample(nothing.astype(np.uint64), nothing, (), is_all=True)
    hashes = np.concatenate([part.hashes for part in parts])
    distinct, first, of = np.unique(hashes, return_index=True, return_inverse=True)
    counts = np.bincount(
        of, weights=np.concatenate([part.counts for part in parts]), minlength=len(distinct)
    ).astype(np.int64)
    kept = first[:k]
    columns = tuple(
        (
            np.concatenate([part.columns[i][0] for part in parts])[kept],
            np.concatenate([part.columns[i][1] for part in parts])[kept],
        )
        for i in range(len(parts[0].columns))
    )
    is_all = len(distinct) <= k and all(part.is_all for part in parts)
    return RowSample(distinct[:k], counts[:k], columns, is_all)


def _summarize_block(block: Block, ordinal: int, target: int | None, limits: Limits) -> TableFacts:
    labels, classes = _classes(None if target is None else block.columns[target], block.n_rows)
    n_classes = len(labels) + 1
    columns: list[ColumnFacts] = []
    held: list[Numbers | Categories] = []
    row_hashes = np.zeros(block.n_rows, dtype=np.uint64)
    for place in range(len(block.columns)):
        data = block.columns[place]
        held.append(data)
        facts, hashes = (
            _numbers(data, classes, n_classes, limits)
            if isinstance(data, Numbers)
            else _categories(data, classes, n_classes, limits)
        )
        columns.append(facts)
        row_hashes *= np.uint64(0xD6E8FEB86659FD93)
        row_hashes += hashes
    known = classes[classes < len(labels)]
    ends = ((ordinal, labels[known[0]], labels[known[-1]]),) if len(known) else ()
    return TableFacts(
        n_rows=block.n_rows,
        labels=labels,
        label_rows=np.bincount(classes, minlength=n_classes),
        columns=tuple(columns),
        rows=_sampled_rows(sketches.mix(row_hashes), held, limits.rows),
        ends=ends,
        target=target,
        changes=int(np.count_nonzero(known[1:] != known[:-1])),
    )


def _classes(target: Numbers | Categories | None, n_rows: int) -> tuple[tuple[Scalar, ...], Ints]:
    """Return the labels of a block and each row's class: the place of its label, or their
    number.
    """
    if target is None:
        return (), np.zeros(n_rows, dtype=np.int64)
    assert isinstance(target, Categories), "a target is read as categories"
    present = target.codes[target.codes >= 0] if target.has_missing else target.codes
    used = np.flatnonzero(np.bincount(present, minlength=len(target.values)))
    # The dictionary of a stored column may list a value twice.
    labels = tuple(sorted({target.values[i] for i in used.tolist()}))
    check_labels(len(labels))
    places = np.full(len(target.values) + 1, len(labels), dtype=np.int64)
    for i in used.tolist():
        places[i] = labels.index(target.values[i])
    # The code -1, a missing label, picks the last entry.
    return labels, places.take(target.codes)


def _numbers(
    data: Numbers, classes: Ints, n_classes: int, limits: Limits
) -> tuple[ColumnFacts, Hashes]:
    """Return the facts of a column of numbers, and the hash of each row's value."""
    values, of = data.values, classes
    if data.present is not None:
        values, of = values[data.present], classes[data.present]
    if not len(values):
        nothing = sketches.sample_counted(
            np.empty(0, dtype=np.uint64),
            values,
            np.empty((0, n_classes), dtype=np.int64),
            k=limits.values,
        )
        facts = _column_facts(None, None, nothing, np.empty(0, dtype=np.uint64))
        return _with_missing(facts, data.missing(), classes, n_classes), np.full(
            len(classes), sketches.MISSING_HASH
        )
    least, greatest = values.min(), values.max()
    if values.dtype.kind in "iu" and int(greatest) - int(least) < _SPAN:
        sample, hashes = _close(values, int(least), of, n_classes, limits)
        counted = sample.hashes if sample.is_all else hashes
    else:
        hashes = sketches.hash_numbers(values)
        sample = sketches.sample_rows(hashes, values, of, n_classes=n_classes, k=limits.values)
        counted = sample.hashes if sample.is_all else hashes
    facts = _column_facts(least.item(), greatest.item(), sample, counted)
    if data.present is not None:
        spread = np.full(len(classes), sketches.MISSING_HASH)
        spread[data.present] = hashes
        hashes = spread
    return _with_missing(facts, data.missing(), classes, n_classes), hashes


def _close(
    values: Values, least: int, classes: AnyInts, n_classes: int, limits: Limits
) -> tuple[ValueSample, Hashes]:
    """Count whole numbers that lie close together; also return the hash of each."""
    # In their own dtype, differences of numbers near its ends would wrap around; they wrap back.
    steps = (
        (values.astype(np.int64) - np.int64(least))
        if values.dtype != np.uint64
        else (values - np.uint64(least)).astype(np.int64)
    )
    span = int(steps.max()) + 1
    counts = np.bincount(steps * n_classes + classes, minlength=span * n_classes)
    counts = counts.reshape(span, n_classes)
    every = (np.arange(span).astype(values.dtype) + values.dtype.type(least)).astype(values.dtype)
    hashes = sketches.hash_numbers(every)
    used = np.flatnonzero(counts.any(axis=1))
    sample = sketches.sample_counted(hashes[used], every[used], counts[used], k=limits.values)
    return sample, hashes.take(steps)


def _categories(
    data: Categories, classes: Ints, n_classes: int, limits: Limits
) -> tuple[ColumnFacts, Hashes]:
    """Return the facts of any other column, and the hash of each row's value."""
    n_values = len(data.values)
    # The code -1, a missing value, is counted in the first place.
    cells = (data.codes.astype(np.int64) + 1) * n_classes + classes
    counts = np.bincount(cells, minlength=(n_values + 1) * n_classes).reshape(-1, n_classes)
    used = np.flatnonzero(counts[1:].any(axis=1))
    values = [data.values[i] for i in used.tolist()]
    hashes = sketches.hash_values(values)
    kept = np.empty(len(values), dtype=object)
    kept[:] = values
    sample = sketches.sample_counted(hashes, kept, counts[1:][used], k=limits.values)
    facts = _column_facts(min(values, default=None), max(values, default=None), sample, hashes)
    of_code = np.full(n_values + 1, sketches.MISSING_HASH)
    of_code[used] = hashes
    facts = ColumnFacts(counts[0], facts.least, facts.greatest, facts.sample, facts.ranks)
    return facts, of_code[data.codes]


def _column_facts(
    least: Scalar | None, greatest: Scalar | None, sample: ValueSample, hashes: Hashes
) -> ColumnFacts:
    return ColumnFacts(
        np.empty(0, dtype=np.int64), least, greatest, sample, sketches.ranks_of(hashes)
    )


def _with_missing(facts: ColumnFacts, missing: Bools, classes: Ints, n_classes: int) -> ColumnFacts:
    counts = np.bincount(classes[missing], minlength=n_classes)
    return ColumnFacts(counts, facts.least, facts.greatest, facts.sample, facts.ranks)


def _sampled_rows(hashes: Hashes, columns: Sequence[Numbers | Categories], k: int) -> RowSample:
    kept = sketches.smallest(hashes, k)
    rows = kept.first_rows()
    counts = np.bincount(kept.of, minlength=len(kept.hashes))
    taken = tuple(_taken(data, rows) for data in columns)
    return RowSample(kept.hashes, counts, taken, kept.is_all)


def _taken(data: Numbers | Categories, rows: Ints) -> tuple[npt.NDArray[Any], Bools]:
    """Return the values of some rows, and where they are missing."""
    if isinstance(data, Numbers):
        missing = (
            np.zeros(len(rows), dtype=np.bool_) if data.present is None else ~data.present[rows]
        )
        return frozen(data.values[rows]), missing
    codes = data.codes[rows]
    values = np.empty(len(rows), dtype=object)
    values[:] = [data.values[code] if code >= 0 else "" for code in codes.tolist()]
    return values, codes < 0
