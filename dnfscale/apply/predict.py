"""Predictions for a dataset of any size: each worker reads the columns that the model uses, and
those to be carried along, and writes its own files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dnfscale.apply.evaluate import Evaluated, check_columns, columns_of, evaluate, seen_in
from dnfscale.apply.unfamiliar import UnfamiliarRows, merge_unfamiliar, unfamiliar_in
from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.columns import Column, Reading, Rows
from dnfscale.core.model import NO_TERM, Model, relative_tables
from dnfscale.core.parts import stored_column
from dnfscale.data.outputs import new_folder, write_part
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.errors import DataError, LimitError, SpecError
from dnfscale.spec.checks import listed
from dnfscale.spec.storage import DEFAULT_ACCESS, Access

COLUMNS = ("prediction", "probability", "term")
"""Of the files that are written."""
SIGNS = "signs"
"""The column in the place of `term` if the formula is a checklist, or beside it if one of several
is."""
_WRITTEN = (COLUMNS, (*COLUMNS[:2], SIGNS), (*COLUMNS, SIGNS))
"""The columns that a prediction may have."""
_FILE_ROWS = 1_000_000
"""A file of predictions is closed when it has so many rows."""
_FEW_ROWS, _MANY_FILES = 50_000, 32
"""Or, beyond a few rows, such a part of all: workers with few large files to write would not end at
the same time.
"""
_SLICE_ROWS = 1 << 16
"""So many rows are answered at a time: what they take is still in the cache from one step to the
next.
"""


@dataclass(frozen=True, slots=True)
class Predicted:
    """What became of some rows."""

    rows: int
    answers: tuple[int, ...]
    """Rows of each answer: no and yes, or each label."""
    missing: int
    """Rows where a value that the model uses is missing."""
    unseen: int
    """Rows of a type that no row had in the learning (for the formula that answered)."""
    unfamiliar: UnfamiliarRows
    """Values that are unlike those learned from."""


@dataclass(frozen=True, slots=True)
class Files:
    """What the files of a prediction are."""

    keep: tuple[str, ...] = ()
    """The columns of the dataset that are carried along; they come first."""
    form: str = "parquet"
    """"parquet" or "csv"."""


ANSWERS_ALONE = Files()


@dataclass(frozen=True, slots=True)
class _Run:
    """Consecutive partitions whose predictions go into one file."""

    number: int
    partitions: tuple[Rows, ...]


def predict(
    models: Sequence[Model],
    source: Source,
    engine: Engine,
    output: str | os.PathLike[str],
    *,
    access: Access = DEFAULT_ACCESS,
    force: bool = False,
    files: Files = ANSWERS_ALONE,
) -> Predicted:
    """Write a prediction for every row, in the order of the rows, as Parquet or CSV files in a
    folder, after the columns of the dataset that are kept.

    The folder appears when all of it is written; by force in the place of an earlier prediction,
    and of nothing else. One model answers yes or no; several, one for each label, answer with the
    label whose formula finds the row most probable, measured by its threshold.
    """
    check_columns([model.tau for model in models], source.types, source.path)
    kept = _kept_schema(source, files)
    with new_folder(os.fspath(output), access, columns=_WRITTEN, force=force) as folder:
        write = WritePredictions(tuple(models), folder, access, kept, files.form)
        parts = engine.map("predict", _runs(source.partitions), write) if source.partitions else []
        if not parts:
            write.write_empty()
    n_answers = max(2, len(models))
    return Predicted(
        rows=sum(part.rows for part in parts),
        answers=tuple(sum(part.answers[i] for part in parts) for i in range(n_answers)),
        missing=sum(part.missing for part in parts),
        unseen=sum(part.unseen for part in parts),
        unfamiliar=merge_unfamiliar([part.unfamiliar for part in parts]),
    )


def _runs(partitions: Sequence[Rows]) -> list[_Run]:
    enough = min(_FILE_ROWS, max(_FEW_ROWS, sum(rows.n_rows for rows in partitions) // _MANY_FILES))
    runs: list[_Run] = []
    waiting: list[Rows] = []
    for place, partition in enumerate(partitions):
        waiting.append(partition)
        if sum(rows.n_rows for rows in waiting) >= enough or place + 1 == len(partitions):
            runs.append(_Run(len(runs), tuple(waiting)))
            waiting = []
    return runs


@dataclass(frozen=True, slots=True, eq=False)
class WritePredictions:
    """The task of one file: read, look up, write."""

    models: tuple[Model, ...]
    folder: str
    access: Access
    kept: pa.Schema
    """The columns that are carried along."""
    form: str
    """"parquet" or "csv"."""

    def __call__(self, run: _Run) -> Predicted:
        columns = self._columns()
        reading = Reading(columns, None, keep_missing=True)
        n_rows = sum(partition.n_rows for partition in run.partitions)
        try:
            answers = _answers(self.models, n_rows)
        except MemoryError as error:
            raise LimitError(
                f"expected memory for the answers to {n_rows:,} rows, which is what the "
                "footers say that a partition "
                "has, but there is not so much; write the files again, with smaller row groups"
            ) from error
        rows = missing = 0
        seen, unfamiliar = seen_in(self.models, columns), []
        for block in (block for partition in run.partitions for block in partition.blocks(reading)):
            found = evaluate(block, columns, [model.tau for model in self.models], seen)
            self._check_missing(found, columns)
            unfamiliar.append(unfamiliar_in(found, columns))
            found_types = [
                model.types_in(planes)
                for model, planes in zip(self.models, found.planes, strict=True)
            ]
            missing += 0 if found.incomplete is None else int(found.incomplete.sum())
            if rows + block.n_rows > n_rows:
                raise _changed(n_rows, f"at least {rows + block.n_rows:,}")
            for start in range(0, block.n_rows, _SLICE_ROWS):
                # Each lookup would widen them again.
                types = [own[start : start + _SLICE_ROWS].astype(np.intp) for own in found_types]
                answers.put(rows, types)
                rows += len(types[0])
        if rows < n_rows:
            raise _changed(n_rows, f"{rows:,}")
        self._write(answers.table(), self._carried(run.partitions, n_rows), run.number)
        return Predicted(
            rows, answers.totals(), missing, answers.unseen, merge_unfamiliar(unfamiliar)
        )

    def write_empty(self) -> None:
        """Write the file of a dataset without rows."""
        self._write(_answers(self.models, 0).table(), self.kept.empty_table(), 0)

    def _write(self, answers: pa.Table, carried: pa.Table, number: int) -> None:
        table = answers
        if carried.num_columns:
            schema = pa.schema([*carried.schema, *answers.schema])
            table = pa.table([*carried.columns, *answers.columns], schema=schema)
        write_part(table, self.folder, number, self.form, self.access)

    def _carried(self, partitions: Sequence[Rows], n_rows: int) -> pa.Table:
        """Return the columns of some partitions that are carried along, as they are stored."""
        names = self.kept.names
        if not names:
            return self.kept.empty_table()
        found = [
            pa.Table.from_batches([batch]).select(names).cast(self.kept)
            for partition in partitions
            for batch in partition.batches(names, ())  # type: ignore[attr-defined]
        ]
        table = pa.concat_tables([self.kept.empty_table(), *found])
        if table.num_rows != n_rows:
            raise _changed(n_rows, f"{table.num_rows:,}")
        return table

    def _columns(self) -> tuple[Column, ...]:
        return columns_of(*(model.tau for model in self.models))

    def _check_missing(self, found: Evaluated, columns: Sequence[Column]) -> None:
        if found.incomplete is not None and any(model.missing == "error" for model in self.models):
            first = next(
                stored_column(c.name) for c, n in zip(columns, found.missing, strict=True) if n
            )
            raise DataError(
                "expected no missing values, because the model was learned with missing = "
                "'error', but column "
                f"{first!r} has some; fill them"
            )


def _kept_schema(source: Source, files: Files) -> pa.Schema:
    """Return the columns to carry along, with the types that they are written in."""
    answers = {name for columns in _WRITTEN for name in columns}
    fields = []
    for name in dict.fromkeys(files.keep):
        if name not in source.types:
            raise SpecError(
                f"--keep must list columns of {source.path}, but {name!r} is none; it has "
                f"{listed(list(source.types))}"
            )
        if name in answers:
            raise SpecError(
                f"--keep {name}: the answers have a column of this name; rename it in the data, or "
                "leave it out"
            )
        fields.append(pa.field(name, _written_as(source.types[name])))
        if files.form == "csv" and pa.types.is_nested(fields[-1].type):
            raise SpecError(
                f"--keep {name}: CSV has no place for the type {fields[-1].type}; leave it out, or "
                "write Parquet"
            )
    return pa.schema(fields)


def _written_as(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column is written in, which is the same in all files."""
    if pa.types.is_dictionary(kind):
        return _written_as(kind.value_type)
    texts = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return pa.string() if texts or pa.types.is_null(kind) else kind


def _changed(n_rows: int, found: str) -> DataError:
    return DataError(
        f"expected {n_rows:,} rows as the footers say, got {found}; write the files again"
    )


def _answers(models: Sequence[Model], n_rows: int) -> _Answer | _LabelAnswers:
    return _Answer(models[0], n_rows) if len(models) == 1 else _LabelAnswers(models, n_rows)


class _Answer:
    """What one formula says of rows: looked up by their types, and put where it is written from."""

    def __init__(self, model: Model, n_rows: int) -> None:
        self._table, self._says = model.table(), model.answer
        self._signs = np.empty(n_rows, dtype=np.int32) if model.types == "signs" else None
        self._unseen = self._table.n == 0
        self._any_unseen = bool(self._unseen.any())
        self._probability = np.empty(n_rows, dtype=np.float64)
        self._term = np.empty(n_rows, dtype=np.int32)
        self.unseen = 0
        """Rows of types that the formula has not seen."""

    def put(self, first_row: int, types: Sequence[Ints]) -> None:
        [own] = types
        rows = slice(first_row, first_row + len(own))
        places = self._table.places(own)
        # Places are within the table; NumPy would make sure of that in a copy.
        self._table.probability.take(places, out=self._probability[rows], mode="clip")
        self._table.put_first(own, out=self._term[rows])
        if self._signs is not None:
            self._signs[rows] = np.bitwise_count(own)
        if self._any_unseen:
            self.unseen += int(np.count_nonzero(self._unseen.take(places)))

    def totals(self) -> tuple[int, ...]:
        """Return how many rows have each answer: no, and yes."""
        accepted = int(np.count_nonzero(self._accepted()))
        return len(self._term) - accepted, accepted

    def table(self) -> pa.Table:
        accepted = _bits(self._accepted())
        prediction = pa.Array.from_buffers(pa.bool_(), len(self._term), [None, accepted])
        if self._signs is not None:
            return _table(prediction, self._probability, **{SIGNS: pa.array(self._signs)})
        return _table(prediction, self._probability, term=_optional(self._term))

    def _accepted(self) -> Bools:
        return np.asarray((self._term != NO_TERM) == self._says)


class _LabelAnswers:
    """What the formulas of several labels say: the label whose formula finds a row most probable,
    by its threshold.
    """

    def __init__(self, models: Sequence[Model], n_rows: int) -> None:
        self._tables = relative_tables(models)
        # NumPy finds a type for whole numbers of 64 bits, with or without a sign.
        self._labels = pa.array(np.array([model.positive[0] for model in models]))
        self._answer = np.empty(n_rows, dtype=np.int32)
        self._probability = np.empty(n_rows, dtype=np.float64)
        self._term = np.empty(n_rows, dtype=np.int32)
        self._by_signs = [model.types == "signs" for model in models]
        self._signs = np.full(n_rows, NO_TERM, dtype=np.int32)
        self.unseen = 0
        """Rows of types that the answering formula has not seen."""

    def put(self, first_row: int, types: Sequence[Ints]) -> None:
        found = [
            (table, own, table.places(own)) for table, own in zip(self._tables, types, strict=True)
        ]
        given = np.array([table.probability[places] for table, _, places in found])
        answers = given.argmax(axis=0)
        each = np.arange(given.shape[1])
        rows = slice(first_row, first_row + len(each))
        self._answer[rows] = answers
        self._probability[rows] = given[answers, each] / given.sum(axis=0)
        first = np.array([table.first(own) for table, own, _ in found])
        self._term[rows] = first[answers, each]
        for label in np.flatnonzero(self._by_signs).tolist():
            signs = np.bitwise_count(types[label])
            self._signs[rows] = np.where(answers == label, signs, self._signs[rows])
        unseen = np.array([table.n[places] == 0 for table, _, places in found])
        self.unseen += int(unseen[answers, each].sum())

    def totals(self) -> tuple[int, ...]:
        """Return how many rows have each label."""
        return tuple(np.bincount(self._answer, minlength=len(self._labels)).tolist())

    def table(self) -> pa.Table:
        prediction = self._labels.take(pa.array(self._answer))
        more = {SIGNS: _optional(self._signs)} if any(self._by_signs) else {}
        return _table(prediction, self._probability, term=_optional(self._term), **more)


def _optional(numbers: Any) -> pa.Array:
    """Return numbers of which NO_TERM is missing: a term is there exactly where one holds."""
    there = _bits(numbers != NO_TERM)
    return pa.Array.from_buffers(pa.int32(), len(numbers), [there, pa.py_buffer(numbers)])


def _table(prediction: pa.Array, probability: Any, **more: pa.Array) -> pa.Table:
    """Return predictions as they are written."""
    # What every row has is told so: a tenth of the write's time goes into saying of each value that
    # it is there.
    schema = pa.schema(
        [
            pa.field(COLUMNS[0], prediction.type, nullable=False),
            pa.field(COLUMNS[1], pa.float64(), nullable=False),
            *(
                pa.field(name, pa.int32(), nullable=name != SIGNS or "term" in more)
                for name in more
            ),
        ]
    )
    return pa.table([prediction, pa.array(probability), *more.values()], schema=schema)


def _bits(flags: Bools) -> pa.Buffer:
    """Return flags as Arrow stores them: a bit each."""
    return pa.py_buffer(np.packbits(flags, bitorder="little"))
