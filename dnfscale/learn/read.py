"""The one full read of a dataset: from a source to rough rows on the workers, and the cuts of every
fold.

To read rows once, two things must be known before: the rows' numbers, from which folds and splits
follow, and a bracket around the medians of each number column. If the footers show that no row will
be dropped, they give the numbers, and the first rows of some partitions give the brackets; if
partitions are few, or differ much, all rows of the number columns are sampled. If the footers do
not show it, or turn out to be wrong (a nan in a column of floats), or a bracket misses a median, an
extra scan first counts and samples the rows. The guesses decide how often the dataset is read,
never the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from dnfscale.core import medians
from dnfscale.core.arrays import Bools, Values
from dnfscale.core.columns import Column, Reading, Role, TableSummary, row_numbers
from dnfscale.core.medians import Bracket, Brackets, Cut, Located
from dnfscale.core.narrowing import Stepped, narrowed, narrowed_rows, steps
from dnfscale.core.parts import ColumnName, Part, stored_column
from dnfscale.core.splits import TRAIN, WHOLE, Splits
from dnfscale.data.roles import number_dtype
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.errors import DataError
from dnfscale.learn.deal import check_parts, deal_rows, plan_dealing
from dnfscale.learn.dropped import Warn, check_dropped, check_nulls, dropped_rows, silent
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.places import n_test_folds
from dnfscale.learn.scans import (
    CollectInside,
    ReadRows,
    SampleNumbers,
    SummarizeColumns,
    SummarizeRead,
    merge_located,
)
from dnfscale.learn.table import Table, check_kept, check_source, features, reading_of, table_of
from dnfscale.method.booleanize import FoldCuts
from dnfscale.method.cuts import (
    CutPlan,
    check_given,
    counted_cuts,
    given_bracket,
    given_cut,
    plan_cuts,
)
from dnfscale.spec.learn import LearnSpec, tested_by

SUMMARIZE_COLUMNS = Phase("summarize columns", Reads.FILES, "look at all columns")
SAMPLE_COLUMNS = Phase("sample columns", Reads.SAMPLE, "look at some rows")
READ_ROWS = Phase("read rows", Reads.FILES, "read all rows")
LOCATE_MEDIANS = Phase("locate medians", Reads.KEPT_ROWS, "find where to cut numbers")
COLLECT_MEDIANS = Phase("collect medians", Reads.KEPT_ROWS, "make the cuts exact")
_SMALL = 1 << 18
"""If the table has at most this many numbers in all, every one is kept: sampling would cost more.
"""
_PIECES = 16
"""The fewest partitions whose first rows are sampled; fewer would show too little of how partitions
differ.
"""
_PIECE_ROWS = 1 << 16
_WIDEST = 0.1
"""The share of rows that is too much to keep inside a bracket: if partitions differ that much, all
rows are sampled.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ReadTable:
    """A table that has been read."""

    table: Table
    cuts: Mapping[ColumnName, tuple[FoldCuts, ...]]
    rows: Sequence[object]
    """The engine's references to the rough rows, which stay on the workers."""


@dataclass(slots=True, eq=False)
class _Outlook:
    """What is known, or guessed, before the read."""

    row_numbers: Mapping[int, range]
    samples: Mapping[int, Values]
    """Samples of the number columns, by their place in the reading."""
    spreads: Mapping[int, float]
    """How much partitions differ: the standard error of the share of values below the median, by
    column.
    """
    counted: bool
    """Whether the rows were counted; otherwise the row numbers are those of the footers."""
    widenings: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Brackets and steps are read off at places of a sorted sample.
        self.samples = {i: np.sort(sample) for i, sample in self.samples.items()}

    @property
    def n_rows(self) -> int:
        return sum(len(numbers) for numbers in self.row_numbers.values())

    def plans(self, columns: Sequence[Column], spec: LearnSpec) -> dict[int, CutPlan]:
        """Return the cuts to look for in each number column."""
        at = _given_cuts(columns, spec)
        n_columns = sum(column.role is Role.NUMBER for column in columns)
        return {
            i: plan_cuts(
                spec.cuts,
                at.get(columns[i].name, ()),
                columns[i].measure,
                n_rows=self.n_rows,
                n_columns=n_columns,
            )
            for i in self.samples
        }

    def brackets(self, plans: Mapping[int, CutPlan]) -> dict[int, Brackets]:
        return {i: medians.joined(self._bracketed(i, plan)) for i, plan in plans.items()}

    def steps(self, brackets: Mapping[int, Brackets]) -> dict[int, list[Values]]:
        """Return the values that divide each bracket of each column."""
        return {
            i: [steps(self.samples[i], part, n_rows=self.n_rows) for part in of_column.parts]
            for i, of_column in brackets.items()
        }

    def _bracketed(self, i: int, plan: CutPlan) -> list[Bracket]:
        sample = self.samples[i]
        if plan.values:
            return [given_bracket(value, sample.dtype) for value in plan.values]
        return [
            medians.bracket(
                sample,
                n_rows=self.n_rows,
                widening=self.widenings.get(i, 0),
                spread=self.spreads.get(i, 0.0),
                share=share,
            )
            for share in plan.shares
        ]


def check_footers(source: Source, spec: LearnSpec) -> tuple[Column, ...]:
    """Return the columns to learn from; a job that cannot succeed, by the footers alone, is an
    error.
    """
    columns = features(source, spec)
    check_source(source, spec, columns)
    check_nulls(source, spec, columns)
    check_given(
        dict(spec.at), [str(column.name) for column in columns if column.role is Role.NUMBER]
    )
    _given_cuts(columns, spec)
    if not tested_by(spec):
        n_test_folds(source.n_rows, spec)
    return columns


def read_table(source: Source, spec: LearnSpec, engine: Engine, warn: Warn = silent) -> ReadTable:
    """Read a dataset, and find its rows, labels, splits and medians; data that cannot be learned
    from is an error.
    """
    columns = check_footers(source, spec)
    reading = reading_of(source, columns, spec)

    def dealt(outlook: _Outlook) -> Splits:
        return deal_rows(
            source,
            reading,
            spec,
            engine,
            row_numbers=outlook.row_numbers,
            counted=outlook.counted,
        )

    def counted() -> _Outlook:
        return _counted(source, reading, spec, engine, warn)

    outlook = _guessed(source, reading, engine) or counted()
    splits = dealt(outlook)
    while True:
        plans = outlook.plans(columns, spec)
        brackets = outlook.brackets(plans)
        scan = ReadRows(
            reading=reading,
            brackets=brackets,
            row_numbers=outlook.row_numbers,
            splits=splits,
            max_values=spec.max_categories,
            counted=outlook.counted,
        )
        rows = engine.keep(READ_ROWS.name, source.partitions, scan)
        divided = outlook.steps(brackets)
        gather = SummarizeRead(
            reading, spec.max_categories, divided, None if splits.is_plain else splits.n_arcs
        )
        summary, stepped, label_arcs = engine.reduce(
            LOCATE_MEDIANS.name, rows, gather, gather.merge
        )
        if not outlook.counted and summary.n_rows < outlook.n_rows:
            outlook = counted()
            splits = dealt(outlook)
            continue
        if not splits.is_plain:
            splits = replace(splits, label_arcs=label_arcs)
        table = table_of(source, reading, summary, splits, spec)
        check_parts(splits, table.positives, spec)
        members = _cut_members(splits, by_train=spec.cuts_by_train)
        narrow = _narrowed(plans, brackets, divided, stepped, members)
        missed = [i for i in plans if i not in narrow]
        if not missed:
            collect = CollectInside(_wanted(brackets, narrow))
            located = engine.reduce(COLLECT_MEDIANS.name, rows, collect, merge_located)
            return ReadTable(table, _cuts(columns, plans, narrow, located, splits, members), rows)
        if not outlook.counted:
            outlook = counted()
            splits = dealt(outlook)
        for i in missed:
            outlook.widenings[i] = outlook.widenings.get(i, 0) + 2


def plan_reading(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of a read that meets no surprise."""
    source, numbers = layout.source, layout.numbers
    foreseen = _foresee(source, reading_of(source, layout.columns, layout.spec))
    if foreseen is _Foreseen.COUNT:
        yield SUMMARIZE_COLUMNS.planned(layout.reduction(layout.batches), layout.read_bytes)
    elif foreseen is _Foreseen.SAMPLE:
        number_bytes = sum(source.column_bytes.get(name, 0) for name in set(numbers))
        sampled = int(_sampled_share(source, len(numbers)) * number_bytes)
        yield SAMPLE_COLUMNS.planned(_sampled_pieces(source, len(numbers)), sampled)
    yield from plan_dealing(layout)
    yield READ_ROWS.planned(len(source.partitions), layout.read_bytes)
    yield layout.scan(LOCATE_MEDIANS)
    yield layout.scan(COLLECT_MEDIANS)


def _given_cuts(
    columns: Sequence[Column], spec: LearnSpec
) -> dict[ColumnName, Sequence[int | float]]:
    """Return the cuts that are known beforehand: those of the spec and, unless medians are wanted,
    every full hour.

    A name in the spec means a stored column, if there is one of that name, or else a part.
    """
    numbers = [column for column in columns if column.role is Role.NUMBER]
    # Stored columns come last, so that they replace parts of the same name.
    named = {
        str(column.name): column
        for column in sorted(numbers, key=lambda column: isinstance(column.name, str))
    }
    given: dict[ColumnName, Sequence[int | float]] = {}
    if spec.cuts != "median":
        given.update(
            {column.name: range(23) for column in columns if isinstance(column.name, Part)}
        )
    for name, cuts in spec.at:
        column = named[name]
        given[column.name] = counted_cuts(cuts, column.name, column.measure)
    return given


def _cut_members(splits: Splits, *, by_train: bool) -> Bools:
    """Return the arcs of all folds' W_train, then of their W_0; only the latter if W_train has no
    cuts of its own.
    """
    whole = splits.members(WHOLE)
    return np.concatenate([splits.members([TRAIN]), whole]) if by_train else whole


def _narrowed(
    plans: Mapping[int, CutPlan],
    brackets: Mapping[int, Brackets],
    steps: Mapping[int, Sequence[Values]],
    stepped: Sequence[Stepped],
    members: Bools,
) -> dict[int, Brackets]:
    """Return narrower brackets around the cuts; columns that have a cut outside their brackets are
    left out.
    """
    narrow: dict[int, Brackets] = {}
    first = 0
    for i, plan in plans.items():
        own = stepped[first : first + len(brackets[i].parts)]
        first += len(own)
        # Given cuts are known, and their brackets hold one value each.
        found = (
            brackets[i]
            if plan.values
            else narrowed(brackets[i], steps[i], own, members, plan.shares)
        )
        if found is not None:
            narrow[i] = found
    return narrow


def _wanted(
    brackets: Mapping[int, Brackets], narrow: Mapping[int, Brackets]
) -> dict[int, tuple[tuple[Bracket, ...], list[int]]]:
    """Return the narrow brackets of each column, each with the number of the wide bracket that
    contains it.
    """
    wanted = {}
    for i, wide in brackets.items():
        part_of = dict(zip(narrow[i].of_cut, wide.of_cut, strict=True))
        wanted[i] = (narrow[i].parts, [part_of[number] for number in range(len(narrow[i].parts))])
    return wanted


def _cuts(
    columns: Sequence[Column],
    plans: Mapping[int, CutPlan],
    brackets: Mapping[int, Brackets],
    located: Sequence[Located],
    splits: Splits,
    members: Bools,
) -> dict[ColumnName, tuple[FoldCuts, ...]]:
    """Return the exact cuts of every fold's W_train and W_0, all of which lie inside
    the brackets.
    """
    cuts: dict[ColumnName, tuple[FoldCuts, ...]] = {}
    first = 0
    for i, plan in plans.items():
        own = located[first : first + len(brackets[i].parts)]
        first += len(own)
        cuts[columns[i].name] = tuple(
            FoldCuts(tuple(of_name[: splits.n_folds]), tuple(of_name[-splits.n_folds :]), name)
            for of_name, name in zip(
                _found(plan, brackets[i], own, members), plan.names, strict=True
            )
        )
    return cuts


def _found(
    plan: CutPlan, brackets: Brackets, located: Sequence[Located], members: Bools
) -> list[list[Cut]]:
    """Return each cut of a column in each subset of arcs."""
    if plan.values:
        return [[given_cut(value, located[0].values.dtype)] * len(members) for value in plan.values]
    found: list[list[Cut]] = []
    for number, part in enumerate(located):
        shares = [
            share for share, at in zip(plan.shares, brackets.of_cut, strict=True) if at == number
        ]
        for of_share in medians.quantile_cuts(part, members, shares):
            known = [cut for cut in of_share if cut is not None]
            assert len(known) == len(members), (
                "a cut outside of a bracket that was narrowed around it"
            )
            found.append(known)
    return found


class _Foreseen(Enum):
    """What comes before the read of a dataset, judged by its footers."""

    NOTHING = "nothing"
    SAMPLE = "a look at some partitions"
    COUNT = "a scan that counts the rows"


def _foresee(source: Source, reading: Reading) -> _Foreseen:
    """Return what will come before the read, unless the rows themselves show that more
    is needed.
    """
    columns = () if reading.keep_missing else reading.columns
    guarded = [str(reading.target), *(stored_column(column.name) for column in columns)]
    if any(source.null_counts.get(name) != 0 for name in guarded):
        return _Foreseen.COUNT
    n_numbers = sum(column.role is Role.NUMBER for column in reading.columns)
    return _Foreseen.NOTHING if source.n_rows * n_numbers <= _SMALL else _Foreseen.SAMPLE


def _sampled_pieces(source: Source, n_numbers: int) -> int:
    """Return the number of partitions to sample, by their first rows; if there are few, all are
    sampled whole.
    """
    wanted = _sampled_rows(source.n_rows, n_numbers)
    return min(len(source.partitions), max(_PIECES, -(-wanted // _PIECE_ROWS)))


def _sampled_share(source: Source, n_numbers: int) -> float:
    """Return the share of the number columns that is read for the sample, unless partitions turn
    out to differ much.
    """
    if len(source.partitions) < _PIECES:
        return 1.0
    return min(1.0, _sampled_pieces(source, n_numbers) * _PIECE_ROWS / source.n_rows)


def collected_rows(n_rows: int, n_numbers: int) -> int:
    """Estimate how many values of a number column lie in the narrow brackets around its medians and
    are collected.
    """
    inside = min(1.0, medians.inside_share(_sampled_rows(n_rows, n_numbers), n_rows)) * n_rows
    return narrowed_rows(int(inside), n_rows)


def _guessed(source: Source, reading: Reading, engine: Engine) -> _Outlook | None:
    """Return an outlook from the footers and a sample; None if the footers leave open which rows
    are dropped.
    """
    foreseen = _foresee(source, reading)
    if foreseen is _Foreseen.COUNT:
        return None
    numbers = {i: column for i, column in enumerate(reading.columns) if column.role is Role.NUMBER}
    numbered = row_numbers((partition.ordinal, partition.n_rows) for partition in source.partitions)
    if foreseen is _Foreseen.NOTHING:
        empty = {
            i: np.empty(0, dtype=number_dtype(source, column.name)) for i, column in numbers.items()
        }
        return _Outlook(numbered, empty, {}, counted=False)
    spread_out = len(source.partitions) >= _PIECES
    looked = _sampled(source, numbers, numbered, engine) if spread_out else None
    return looked or _sampled_whole(source, numbers, numbered, engine)


def _sampled(
    source: Source, numbers: Mapping[int, Column], row_numbers: Mapping[int, range], engine: Engine
) -> _Outlook | None:
    """Return an outlook from the first rows of partitions spread over the dataset; None if these
    differ too much.
    """
    wanted = _sampled_rows(source.n_rows, len(numbers))
    n_pieces = _sampled_pieces(source, len(numbers))
    places = np.linspace(0, len(source.partitions) - 1, n_pieces).round().astype(int).tolist()
    share = min(1.0, wanted / (n_pieces * min(_PIECE_ROWS, source.n_rows / len(source.partitions))))
    scan = SampleNumbers(
        Reading(tuple(numbers.values()), None, keep_missing=True, first_only=True), share
    )
    pieces = [
        piece
        for piece in engine.map(SAMPLE_COLUMNS.name, [source.partitions[i] for i in places], scan)
        if piece
    ]
    samples: dict[int, Values] = {}
    spreads: dict[int, float] = {}
    for place, i in enumerate(numbers):
        parts = [piece[place] for piece in pieces if len(piece[place])]
        if len(parts) < len(pieces) / 2 or not parts:
            return None
        samples[i] = np.concatenate(parts)
        middle = np.median(samples[i])
        # Half of the values equal to the median count as below it: in columns of few values they
        # are many.
        shares = [((part < middle).mean() + (part <= middle).mean()) / 2 for part in parts]
        spreads[i] = float(np.std(shares) / np.sqrt(len(shares)))
    if max(spreads.values(), default=0.0) > _WIDEST / 8:
        return None
    return _Outlook(row_numbers, samples, spreads, counted=False)


def _sampled_whole(
    source: Source, numbers: Mapping[int, Column], row_numbers: Mapping[int, range], engine: Engine
) -> _Outlook:
    """Return an outlook from a sample of all rows, for which only the number columns are read."""
    share = min(1.0, _sampled_rows(source.n_rows, len(numbers)) / source.n_rows)
    scan = SampleNumbers(Reading(tuple(numbers.values()), None, keep_missing=True), share)
    pieces = [piece for piece in engine.map(SAMPLE_COLUMNS.name, source.partitions, scan) if piece]
    samples = {
        i: np.concatenate([piece[place] for piece in pieces]) for place, i in enumerate(numbers)
    }
    return _Outlook(row_numbers, samples, {}, counted=False)


def _counted(
    source: Source, reading: Reading, spec: LearnSpec, engine: Engine, warn: Warn
) -> _Outlook:
    """Count the rows that are kept, and sample them all; too many that are dropped are an error."""
    n_numbers = sum(column.role is Role.NUMBER for column in reading.columns)
    share = min(1.0, _sampled_rows(source.n_rows, n_numbers) / source.n_rows)
    scan = SummarizeColumns(reading, share, spec.max_categories)
    summary: TableSummary = engine.reduce(
        SUMMARIZE_COLUMNS.name, source.partitions, scan, scan.merge
    )
    if not summary.columns:
        raise DataError(
            f"{source.path}: expected {source.n_rows:,} rows as its footers say, got none; "
            "write it again"
        )
    check_kept(source, summary, reading.columns, spec)
    check_dropped(source, dropped_rows(summary, reading.columns), spec, warn)
    samples = {
        i: found.sample  # type: ignore[union-attr]
        for i, (column, found) in enumerate(zip(reading.columns, summary.columns, strict=True))
        if column.role is Role.NUMBER
    }
    return _Outlook(summary.row_numbers(), samples, {}, counted=True)


def _sampled_rows(n_rows: int, n_numbers: int) -> int:
    """Return how many rows to sample: enough for narrow brackets, at most 64 MiB over
    all columns.
    """
    sampled = max(20_000.0, 4 * float(n_rows) ** (2 / 3))
    return max(1, int(min(n_rows, sampled, (64 << 20) / (8 * max(1, n_numbers)))))
