"""Predictions for a dataset of any size: each worker reads the columns that the model uses and writes its own files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.columns import Block, Column, Reading, Rows
from dnfscale.core.counts import to_dense
from dnfscale.core.model import NO_TERM, Model
from dnfscale.core.parts import stored_column
from dnfscale.data.outputs import new_folder, write_parquet
from dnfscale.data.source import Source
from dnfscale.data.storage import DEFAULT_ACCESS, Access
from dnfscale.engine.api import Engine
from dnfscale.errors import DataError
from dnfscale.evaluate import check_columns, columns_of, types_of

_FILE_ROWS = 1_000_000
"""A file of predictions is closed when it has so many rows."""


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
) -> Predicted:
    """Write a prediction for every row, in the order of the rows, as Parquet files in a folder.

    The folder appears when all of it is written. One model answers yes or no; several, one for each label, answer with
    the label whose formula finds the row most probable.
    """
    check_columns([model.tau for model in models], source.types, source.path)
    with new_folder(os.fspath(output), access, force=force) as folder:
        write = WritePredictions(tuple(models), folder, access)
        parts = engine.map("predict", _runs(source.partitions), write) if source.partitions else []
        if not parts:
            write.write_empty()
    n_answers = max(2, len(models))
    return Predicted(
        rows=sum(part.rows for part in parts),
        answers=tuple(sum(part.answers[i] for part in parts) for i in range(n_answers)),
        missing=sum(part.missing for part in parts),
        unseen=sum(part.unseen for part in parts),
    )


def _runs(partitions: Sequence[Rows]) -> list[_Run]:
    runs: list[_Run] = []
    waiting: list[Rows] = []
    for place, partition in enumerate(partitions):
        waiting.append(partition)
        if sum(rows.n_rows for rows in waiting) >= _FILE_ROWS or place + 1 == len(partitions):
            runs.append(_Run(len(runs), tuple(waiting)))
            waiting = []
    return runs


@dataclass(frozen=True, slots=True, eq=False)
class WritePredictions:
    """The task of one file: read, look up, write."""

    models: tuple[Model, ...]
    folder: str
    access: Access

    def __call__(self, run: _Run) -> Predicted:
        columns = self._columns()
        reading = Reading(columns, None, keep_missing=True)
        answer = _Answers(self.models)
        totals = np.zeros(max(2, len(self.models)), dtype=np.int64)
        rows = missing = unseen = 0
        batches: list[pa.RecordBatch] = []
        for block in (block for partition in run.partitions for block in partition.blocks(reading)):
            # The types first: each column is then compared right after it was fetched.
            types = [types_of(block, columns, model.tau) for model in self.models]
            missing += self._missing_rows(block, columns)
            batch, answers, n_unseen = answer(types)
            batches.append(batch)
            totals += answers
            unseen += n_unseen
            rows += block.n_rows
        self._write(pa.Table.from_batches(batches, answer.schema), run.number)
        return Predicted(rows, tuple(totals.tolist()), missing, unseen)

    def write_empty(self) -> None:
        """Write the file of a dataset without rows."""
        self._write(_Answers(self.models).schema.empty_table(), 0)

    def _write(self, table: pa.Table, number: int) -> None:
        write_parquet(table, self.folder, f"part-{number:05d}.parquet", self.access)

    def _columns(self) -> tuple[Column, ...]:
        return columns_of(*(model.tau for model in self.models))

    def _missing_rows(self, block: Block, columns: Sequence[Column]) -> int:
        if not any(block.missing):
            return 0
        for model in self.models:
            if model.missing == "error":
                first = next(stored_column(c.name) for c, n in zip(columns, block.missing, strict=True) if n)
                raise DataError(
                    f"expected no missing values, because the model was learned with missing = 'error', but column "
                    f"{first!r} has some; fill them"
                )
        absent = np.zeros(block.n_rows, dtype=np.bool_)
        for data in block.columns:
            absent |= data.missing()
        return int(absent.sum())


class _Answers:
    """Tables from a row's types to what is written of it."""

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = models
        self._probabilities = [model.probabilities() for model in models]
        self._terms = [model.first_terms().astype(np.int32) for model in models]
        self._unseen = [to_dense(model.counts)[0] == 0 for model in models]
        # NumPy finds a type for whole numbers of 64 bits, with or without a sign.
        labels = pa.array(np.array([model.positive[0] for model in models] if len(models) > 1 else [False, True]))
        self._labels = labels
        # What every row has is told so: a tenth of the write's time goes into saying of each value that it is there.
        self.schema = pa.schema(
            [
                pa.field("prediction", labels.type, nullable=False),
                pa.field("probability", pa.float64(), nullable=False),
                pa.field("term", pa.int32()),
            ]
        )

    def __call__(self, types: Sequence[Ints]) -> tuple[pa.RecordBatch, Ints, int]:
        """Return what to write, the rows of each answer, and those of types that the answering formula has not seen."""
        if len(self._models) == 1:
            [codes] = types
            terms = self._terms[0].take(codes)
            probability = self._probabilities[0].take(codes)
            accepted = _bits(terms != NO_TERM)
            prediction = pa.Array.from_buffers(pa.bool_(), len(codes), [None, accepted])
            n_accepted = int(np.bitwise_count(np.frombuffer(accepted, np.uint8)).sum())
            totals = np.array([len(codes) - n_accepted, n_accepted])
            unseen = np.count_nonzero(self._unseen[0].take(codes)) if self._unseen[0].any() else 0
        else:
            given = np.array([table[codes] for table, codes in zip(self._probabilities, types, strict=True)])
            answers = given.argmax(axis=0)
            rows = np.arange(given.shape[1])
            probability = given[answers, rows] / given.sum(axis=0)
            terms = np.array([t[c] for t, c in zip(self._terms, types, strict=True)])[answers, rows]
            unseen = int(np.array([t[c] for t, c in zip(self._unseen, types, strict=True)])[answers, rows].sum())
            totals = np.bincount(answers, minlength=len(self._models))
            accepted = _bits(terms != NO_TERM)
            prediction = self._labels.take(pa.array(answers))
        # A term is there exactly where the formula accepts.
        term = pa.Array.from_buffers(pa.int32(), len(terms), [accepted, pa.py_buffer(terms)])
        columns = [prediction, pa.array(probability), term]
        return pa.record_batch(columns, schema=self.schema), totals, int(unseen)


def _bits(flags: Bools) -> pa.Buffer:
    """Return flags as Arrow stores them: a bit each."""
    return pa.py_buffer(np.packbits(flags, bitorder="little"))
