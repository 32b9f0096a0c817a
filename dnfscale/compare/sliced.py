"""How good the formulas of the folds are for each value of some columns, on test rows.

One more scan of the files, as the values of these columns are not kept: every row is answered by
the formula of the fold that tests it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dnfscale.apply.evaluate import columns_of, evaluate
from dnfscale.apply.tested import Answering, by_value, check_values
from dnfscale.compare.measure import Measuring, pooled
from dnfscale.compare.records import LearnedLabels
from dnfscale.core.arrays import AnyInts, Bools, Ints, Scalar
from dnfscale.core.columns import (
    Block,
    Categories,
    Column,
    Numbers,
    Reading,
    Role,
    Rows,
    classes_of,
)
from dnfscale.core.splits import TEST, Splits
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.learn.line import fold_model
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.scans import numbered
from dnfscale.learn.table import Table
from dnfscale.method.metrics import pooled_scores
from dnfscale.method.slices import Measured, SliceRows, slice_of
from dnfscale.results.confusion import summed
from dnfscale.results.record import label_record
from dnfscale.results.slices import Slice
from dnfscale.spec.learn import LearnSpec

COUNT_SLICES = Phase("count slices", Reads.FILES, "test the values of columns")

Cells = dict[Scalar | None, dict[int, Ints]]
"""Rows by answer and class, as Answering counts them: by the value of a column and the fold."""


@dataclass(frozen=True)
class CountSlices:
    """The scan: the test rows of a partition, answered by the formulas of their folds."""

    reading: Reading
    """The columns of slices come last beside the features."""
    row_numbers: Mapping[int, range]
    classes: tuple[tuple[Scalar, ...], ...]
    splits: Splits
    folds: tuple[Answering, ...]
    slices: tuple[str, ...]

    def __call__(self, rows: Rows) -> tuple[Cells, ...]:
        found = self.merge([])
        needed = columns_of(*(model.tau for fold in self.folds for model in fold.models))
        names = {column.name for column in needed}
        places = [i for i, column in enumerate(self.reading.columns) if column.name in names]
        deal = self.splits.dealer(rows.ordinal)
        tests = np.asarray(self.splits.parts)[: len(self.folds)] == TEST
        for first_row, block in numbered(rows, self.reading, self.row_numbers):
            for fold, tested in _tested_rows(tests, deal(first_row, block)):
                found = self.merge([found, self._count(block, places, fold, tested)])
        return found

    def merge(self, parts: Sequence[tuple[Cells, ...]]) -> tuple[Cells, ...]:
        """Merge the counts of disjoint rows."""
        return tuple(
            _merged([part[i] for part in parts], name) for i, name in enumerate(self.slices)
        )

    def _count(
        self, block: Block, places: Sequence[int], fold: int, rows: Ints
    ) -> tuple[Cells, ...]:
        answering = self.folds[fold]
        columns = [self.reading.columns[place] for place in places]
        data = [_taken(block.columns[place], rows) for place in places]
        part = replace(block, n_read=len(rows), n_rows=len(rows), columns=data)
        taus = [model.tau for model in answering.models]
        planes = evaluate(part, columns, taus).planes
        types = [model.types_in(own) for model, own in zip(answering.models, planes, strict=True)]
        target = Categories(block.target.codes.take(rows), block.target.values)
        cells = answering.cells(types, classes_of(target, self.classes).astype(np.intp))
        weights = None if block.weights is None else block.weights.take(rows)
        values = block.beside[len(block.beside) - len(self.slices) :]
        return tuple(
            {
                value: {fold: own}
                for value, own in by_value(
                    _taken(column, rows),  # type: ignore[arg-type]
                    cells,
                    answering.n_cells,
                    name,
                    weights,
                ).items()
            }
            for column, name in zip(values, self.slices, strict=True)
        )


def study_slices(
    source: Source, learned: LearnedLabels, spec: LearnSpec, engine: Engine
) -> tuple[Slice, ...]:
    """Return the metrics for each value of the columns that the spec asks for, on test rows."""
    names = spec.sliced
    table = learned.first.table
    if not names or not learned.first.folds:
        return ()
    folds = tuple(
        Answering(tuple(fold_model(own.folds[i], own, spec) for own in learned.targets))
        for i in range(len(learned.first.folds))
    )
    scan = CountSlices(
        _reading(table, folds, names),
        table.summary.row_numbers(),
        table.classes,
        table.splits,
        folds,
        names,
    )
    counted: tuple[Cells, ...] = engine.reduce(
        COUNT_SLICES.name, source.partitions, scan, scan.merge
    )
    measuring = Measuring.of(spec, table.splits)
    how = Measured(measuring.threshold, measuring.weighted)
    return tuple(
        slice_of(name, [_rows(value, cells[value], folds) for value in _in_order(cells)], how)
        for name, cells in zip(names, counted, strict=True)
    )


def look_at_slices(source: Source, spec: LearnSpec) -> None:
    """Raise SpecError before anything is learned if the first rows have too many values in a
    column.
    """
    columns = tuple(Column(name, Role.CATEGORY) for name in spec.sliced)
    reading = Reading(columns, None, keep_missing=True, first_only=True)
    for rows in source.partitions[: bool(columns)]:
        for block in rows.blocks(reading):
            for name, data in zip(spec.sliced, block.columns, strict=True):
                assert isinstance(data, Categories), "columns of slices are read as categories"
                check_values(len(np.unique(data.codes)), name, "slices")


def plan_slices(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phase of study_slices."""
    if layout.spec.sliced:
        sizes = layout.source.column_bytes
        read_bytes = sum(sizes.get(name, 0) for name in layout.spec.sliced)
        tasks = layout.reduction(layout.batches)
        yield COUNT_SLICES.planned(tasks, layout.read_bytes + read_bytes)


def _reading(table: Table, folds: Sequence[Answering], names: Sequence[str]) -> Reading:
    """Return what to read: of the features only those of the formulas, where no row is dropped for
    what it misses.
    """
    reading = table.reading
    drops_none = not any(column.missing for column in table.summary.columns)
    used = {
        attribute.column
        for fold in folds
        for model in fold.models
        for attribute in model.tau.attributes
    }
    columns = (
        tuple(column for column in reading.columns if column.name in used)
        if reading.keep_missing or drops_none
        else reading.columns
    )
    asked = tuple(Column(name, Role.CATEGORY) for name in names)
    return replace(reading, columns=columns, beside=(*reading.beside, *asked))


def _tested_rows(tests: Bools, arcs: AnyInts) -> Iterator[tuple[int, Ints]]:
    """Yield each fold that tests some rows with the places of these; `tests[fold, arc]`.

    A row is tested once, so one sort by fold serves all: a mask for every fold would take longer
    than reading the rows.
    """
    n_folds = len(tests)
    fold_of = np.where(tests.any(axis=0), tests.argmax(axis=0), n_folds).astype(np.uint16)
    folds = fold_of.take(arcs)
    order = np.argsort(folds, kind="stable")
    ends = np.cumsum(np.bincount(folds, minlength=n_folds))
    for fold in range(n_folds):
        own = order[ends[fold - 1] if fold else 0 : ends[fold]]
        if len(own):
            yield fold, own


def _taken(data: Numbers | Categories, rows: Ints) -> Numbers | Categories:
    if isinstance(data, Categories):
        return Categories(data.codes.take(rows), data.values)
    present = None if data.present is None else data.present.take(rows)
    return Numbers(data.values.take(rows), present, data.measure)


def _merged(parts: Sequence[Cells], name: str) -> Cells:
    found: Cells = {}
    for part in parts:
        for value, by_fold in part.items():
            own = found.setdefault(value, {})
            for fold, cells in by_fold.items():
                own[fold] = own[fold] + cells if fold in own else cells
    check_values(len(found), name, "slices")
    return found


def _in_order(cells: Cells) -> list[Scalar | None]:
    """Return the values in increasing order, the missing one last."""
    there = sorted(value for value in cells if value is not None)
    return [*there, *([None] if None in cells else [])]


def _rows(
    value: Scalar | None, by_fold: Mapping[int, Ints], folds: Sequence[Answering]
) -> SliceRows:
    label = None if value is None else label_record(value)
    parts = [(folds[fold], by_fold[fold]) for fold in sorted(by_fold)]
    rows = sum(int(cells.sum()) for _, cells in parts)
    if len(folds[0].models) > 1:
        return SliceRows(
            label, rows, 0, answers=summed([fold.answers(cells) for fold, cells in parts])
        )
    return SliceRows(
        label,
        rows,
        sum(fold.selected(cells) for fold, cells in parts),
        pooled(fold.confusion(cells) for fold, cells in parts),
        pooled_scores([fold.scores(cells) for fold, cells in parts])[0],
    )
