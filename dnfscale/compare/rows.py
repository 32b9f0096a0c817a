"""Rows for learners that need them: every worker reads the dataset once, into one matrix, and takes
all folds from it.

Only a description of the rows is sent. A worker keeps the matrix for its next task, so that a study
of hundreds of trials reads the data once per worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Bools, Codes, Floats, Ints, Scalar, tally_cells
from dnfscale.core.bins import CategoryBins
from dnfscale.core.columns import Categories, Reading, Role, Rows, classes_of
from dnfscale.core.splits import Splits
from dnfscale.engine.api import Engine
from dnfscale.errors import DataError, LimitError
from dnfscale.learn.scans import numbered
from dnfscale.results.confusion import Answers
from dnfscale.spec.registry import Competitor

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class RowsPlan:
    """Where the rows are and how they become a matrix."""

    token: str
    """Identifies the dataset: the same token means the same files."""
    partitions: tuple[Rows, ...]
    reading: Reading
    classes: tuple[tuple[Scalar, ...], ...]
    """The labels of each class."""
    class_rows: tuple[int, ...]
    """How many rows of each class were counted."""
    row_numbers: Mapping[int, range]
    splits: Splits
    values: tuple[tuple[Scalar, ...] | None, ...]
    """The categories of each column in the order of their codes; None for numbers."""

    @property
    def identity(self) -> tuple[object, object]:
        """What the matrix depends on, and what the folds depend on: jobs that share workers may
        differ in either.
        """
        splits = self.splits
        dealt = splits.n_rows, splits.outer, splits.validation, splits.seed, splits.inner
        return (self.token, self.reading, self.classes, self.values), dealt

    @property
    def matrix_bytes(self) -> int:
        """The size of the matrix of all rows."""
        return 4 * self.splits.n_rows * len(self.reading.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLearner(Competitor):
    """A competitor that needs the rows themselves, all of them in one process."""

    matrices: int = 4
    """How many times the size of the matrix of all rows it needs at most: the matrix, its part of
    the rows, and that once more in its own format, with some room.
    """


def check_memory(plan: RowsPlan, engine: Engine, learners: Iterable[RowLearner]) -> None:
    """Raise LimitError if a worker has too little memory for one of the learners."""
    needed = plan.matrix_bytes * max(learner.matrices for learner in learners)
    limit = engine.worker_bytes
    if limit is not None and needed > 0.7 * limit:
        raise LimitError(
            f"tuning holds all rows in each worker, which may need {needed / 2**20:,.0f} "
            "MiB, but a worker has "
            f'{limit / 2**20:,.0f} MiB; raise cluster.memory_limit, or set methods = ["ideal"]',
            "cluster.memory_limit",
        )


@dataclass(frozen=True, slots=True, eq=False)
class RowPart:
    """Some rows to learn from, or to be tested on."""

    features: Matrix
    target: Codes
    weights: Ints | None
    """How often each row counts; None if each counts once."""
    unit: int
    """What a weight of one is counted as."""

    @property
    def sample_weight(self) -> Floats | None:
        """The weights in the form that learners expect."""
        return None if self.weights is None else self.weights / self.unit

    def counted(self, rows: Bools) -> int:
        """Return the number of marked rows, or their total weight in units."""
        return (
            int(np.count_nonzero(rows)) if self.weights is None else int(self.weights[rows].sum())
        )

    def by_answer(self, answers: Ints, n_classes: int) -> Answers:
        """Return the rows by their class and by their answer, counted, or their weights
        in units.
        """
        cells = n_classes * self.target.astype(np.int64) + answers
        counts = tally_cells(cells, self.weights, n_classes**2)
        return tuple(map(tuple, counts.reshape(n_classes, n_classes).tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class RowMatrix:
    """All rows: numbers as they are, categories as codes, missing values as nan."""

    features: Matrix
    """In single precision, with which both forests and boosted trees compute."""
    target: Codes
    """The class of each row."""
    arcs: Codes
    categorical: tuple[bool, ...]
    weights: Ints | None
    unit: int

    def part(self, splits: Splits, fold: int, parts: tuple[int, ...]) -> RowPart:
        """Return the rows of some parts of a fold."""
        rows = np.isin(splits.parts[fold], parts)[self.arcs]
        weights = None if self.weights is None else self.weights[rows]
        return RowPart(self.features[rows], self.target[rows], weights, self.unit)


_READ: dict[tuple[object, object], RowMatrix] = {}
_KEPT_BYTES = 1 << 29
"""The most bytes of matrices that a worker keeps; the oldest make room, as the datasets of a suite
come in turn.
"""


def read_rows(plan: RowsPlan) -> RowMatrix:
    """Return the matrix of all rows, from memory if this process has read it before."""
    key = plan.identity
    if key not in _READ:
        # The same rows with another seed are not read again, only dealt into other folds.
        known = next((kept for (rows, _), kept in _READ.items() if rows == key[0]), None)
        matrix = (
            _read(plan)
            if known is None
            else replace(known, arcs=plan.splits.arcs(0, plan.splits.n_rows))
        )
        while _READ and _nbytes([matrix, *_READ.values()]) > _KEPT_BYTES:
            del _READ[next(iter(_READ))]
        _READ[key] = matrix
    return _READ[key]


def _listed(rows: Iterable[int]) -> str:
    return " and ".join(f"{n_rows:,}" for n_rows in rows)


def _nbytes(matrices: Iterable[RowMatrix]) -> int:
    """Return the size of some matrices; features that several share count once."""
    return sum({id(matrix.features): matrix.features.nbytes for matrix in matrices}.values())


def _read(plan: RowsPlan) -> RowMatrix:
    n_rows = plan.splits.n_rows
    features = np.empty((n_rows, len(plan.reading.columns)), dtype=np.float32)
    target = np.empty(n_rows, dtype=np.uint8)
    weights = None if plan.reading.weight is None else np.empty(n_rows, dtype=np.int64)
    for partition in plan.partitions:
        for first_row, block in numbered(partition, plan.reading, plan.row_numbers):
            rows = slice(first_row, first_row + block.n_rows)
            target[rows] = classes_of(block.target, plan.classes)
            if weights is not None and block.weights is not None:
                weights[rows] = block.weights
            for column, (data, values) in enumerate(zip(block.columns, plan.values, strict=True)):
                if isinstance(data, Categories):
                    codes = CategoryBins(values or ()).encode(data)
                    features[rows, column] = np.where(codes >= len(values or ()), np.nan, codes)
                else:
                    features[rows, column] = (
                        data.values
                        if data.present is None
                        else np.where(data.present, data.values, np.nan)
                    )
    counted = np.bincount(target, minlength=len(plan.classes)).tolist()
    if counted != list(plan.class_rows):
        raise DataError(
            f"expected {_listed(plan.class_rows)} rows of the classes as were counted "
            f"before, got {_listed(counted)}; "
            "run again on data that does not change meanwhile"
        )
    categorical = tuple(column.role is Role.CATEGORY for column in plan.reading.columns)
    return RowMatrix(
        features, target, plan.splits.arcs(0, n_rows), categorical, weights, plan.reading.unit
    )
