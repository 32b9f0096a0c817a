"""Rows for learners that need them: every worker reads the dataset once, into one matrix, and takes
all folds from it.

Only a description of the rows is sent. A worker keeps the matrix for its next task, so that a study
of hundreds of trials reads the data once per worker. Where not all rows fit there, the matrix has a
sample of them, drawn by row number, and test rows are answered block by block as they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dnfscale.compare.ways import Table
from dnfscale.core.arrays import Bools, Codes, Floats, Ints, Scalar, narrowest, tally_cells
from dnfscale.core.bins import CategoryBins
from dnfscale.core.columns import Block, Categories, Reading, Role, Rows, classes_of
from dnfscale.core.sample import is_drawn
from dnfscale.core.splits import TEST, Splits
from dnfscale.errors import DataError
from dnfscale.learn.scans import numbered
from dnfscale.method.counted_scores import CountedScores
from dnfscale.method.metrics import scores_of_rows
from dnfscale.results.confusion import Answers
from dnfscale.results.metrics import Scores

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
    dealing: tuple[object, ...] = ()
    """What the spec says of dealing the rows into folds."""
    drawn: int | None = None
    """How many rows are sampled; None: all rows are read."""
    is_share: bool = False
    """Whether these are some partitions of several, and other workers have the rest."""

    @property
    def identity(self) -> tuple[object, object]:
        """What the matrix depends on, and what the folds depend on: jobs that share workers may
        differ in either.
        """
        splits = self.splits
        dealt = splits.n_rows, splits.outer, splits.validation, splits.seed, splits.inner
        sampled = None if self.drawn is None else (self.drawn, splits.seed)
        shared = tuple(each.ordinal for each in self.partitions) if self.is_share else None
        rows = self.token, self.reading, self.classes, self.values, sampled, shared
        return rows, (*dealt, *self.dealing)

    @property
    def n_read(self) -> int:
        """The number of rows in the matrix."""
        if self.is_share:
            return sum(len(self.row_numbers[each.ordinal]) for each in self.partitions)
        return self.splits.n_rows if self.drawn is None else self.drawn

    @property
    def is_whole(self) -> bool:
        """Whether the matrix has all rows."""
        return self.drawn is None and not self.is_share

    @property
    def table(self) -> Table:
        """The size of the table."""
        return Table(self.splits.n_rows, len(self.reading.columns))

    def is_read(self, first_row: int, n_rows: int) -> Bools:
        """Return which of the rows first_row, first_row + 1, ... are in the matrix."""
        of = self.splits.n_rows
        drawn = of if self.drawn is None else self.drawn
        return is_drawn(first_row, n_rows, of=of, drawn=drawn, seed=self.splits.seed)


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

    def scores(self, probability: Floats) -> Scores:
        """Return the rows of two classes by the probability that they were given."""
        return scores_of_rows(probability, self.target == 1, self.weights)

    def count_scores(self, probability: Floats, counted: CountedScores) -> None:
        """Add the rows of two classes to others by the probability that they were given."""
        counted.add(probability, self.target == 1, self.weights)


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
        if not plan.is_whole:
            # The sample is as large as a worker holds, and a share may be.
            _READ.clear()
        matrix = (
            _read(plan)
            if known is None or not plan.is_whole or not plan.splits.by_number
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
    n_rows = plan.n_read
    features = np.empty((n_rows, len(plan.reading.columns)), dtype=np.float32)
    target = np.empty(n_rows, dtype=np.uint8)
    arcs = np.empty(n_rows, dtype=narrowest(plan.splits.n_arcs - 1))
    weights = None if plan.reading.weight is None else np.empty(n_rows, dtype=np.int64)
    counted = np.zeros(len(plan.classes), dtype=np.int64)
    stop = 0
    for read in _blocks(plan):
        counted += np.bincount(read.target, minlength=len(plan.classes))
        wanted = plan.is_read(read.first_row, len(read.target))
        start, stop = stop, stop + int(np.count_nonzero(wanted))
        arcs[start:stop] = read.arcs[wanted]
        target[start:stop] = read.target[wanted]
        if weights is not None and read.block.weights is not None:
            weights[start:stop] = read.block.weights[wanted]
        _fill(features[start:stop], read.block, plan, wanted)
    if not plan.is_share:
        whole_rows(plan, counted)
    categorical = tuple(column.role is Role.CATEGORY for column in plan.reading.columns)
    return RowMatrix(features, target, arcs, categorical, weights, plan.reading.unit)


def whole_rows(plan: RowsPlan, counted: Ints) -> None:
    """Raise DataError unless there are as many rows of each class as were counted before."""
    if counted.tolist() != list(plan.class_rows):
        raise DataError(
            f"expected {_listed(plan.class_rows)} rows of the classes as were counted "
            f"before, got {_listed(counted.tolist())}; "
            "run again on data that does not change meanwhile"
        )


def parts_tested(plan: RowsPlan, fold: int) -> Iterator[RowPart]:
    """Yield all test rows of a fold, some at a time, without keeping them."""
    is_test = plan.splits.parts[fold] == TEST
    for read in _blocks(plan):
        rows = is_test[read.arcs]
        features = np.empty(
            (int(np.count_nonzero(rows)), len(plan.reading.columns)), dtype=np.float32
        )
        _fill(features, read.block, plan, rows)
        weights = None if read.block.weights is None else read.block.weights[rows]
        yield RowPart(features, read.target[rows], weights, plan.reading.unit)


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """A block of rows, with the class and the arc of each."""

    first_row: int
    block: Block
    target: Codes
    arcs: Codes


def _blocks(plan: RowsPlan) -> Iterator[_Read]:
    for partition in plan.partitions:
        deal = plan.splits.dealer(partition.ordinal)
        for first_row, block in numbered(partition, plan.reading, plan.row_numbers):
            target = classes_of(block.target, plan.classes)
            yield _Read(first_row, block, target, deal(first_row, block))


def _fill(features: Matrix, block: Block, plan: RowsPlan, wanted: Bools) -> None:
    """Write the wanted rows of a block into a matrix."""
    for column, (data, values) in enumerate(zip(block.columns, plan.values, strict=True)):
        if isinstance(data, Categories):
            codes = CategoryBins(values or ()).encode(data)[wanted]
            features[:, column] = np.where(codes >= len(values or ()), np.nan, codes)
        else:
            present = data.present
            numbers = data.values if present is None else np.where(present, data.values, np.nan)
            features[:, column] = numbers[wanted]
