"""More than two classes: a formula for each class against the others, and their joint answer.

A row gets the class whose formula gives its type the highest probability relative to that formula's
own threshold; in a tie, the first such class. A formula accepts a type exactly when its probability
is above the threshold, so a class whose formula says yes goes before all whose formulas say no; see
`relative_tables`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Floats, Ints, Scalar, tally_cells
from dnfscale.core.bins import Bins, RowTest
from dnfscale.core.counts import binned_planes
from dnfscale.core.model import TypeTable, relative_tables, signs_type
from dnfscale.core.planes import joined
from dnfscale.core.splits import TEST
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.learn.dropped import Warn, silent
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.line import Learned, fold_model, learn_targets, plan_line
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.places import Place
from dnfscale.learn.scans import Read
from dnfscale.method.booleanize import Booleanization
from dnfscale.spec.learn import LearnSpec

COUNT_ANSWERS = Phase("count answers", Reads.KEPT_ROWS, "count joint answers")


@dataclass(frozen=True, slots=True, eq=False)
class LearnedClasses:
    """The formulas of all classes, and how often each joint answer occurs on the test rows."""

    labels: tuple[Scalar, ...]
    classes: tuple[Learned, ...]
    confusion: Ints
    """confusion[fold, class, answer]: test rows of a class by the class that the formulas gave
    them.
    """
    kept: KeptRows
    """The rows that are kept on the workers."""


@dataclass(frozen=True, slots=True, eq=False)
class Answering:
    """What a joint answer needs of the formula of one class in one fold."""

    tests: tuple[RowTest, ...]
    """The questions that the bits of a type answer, with the cuts of W_0."""
    table: TypeTable
    """The probability of each type, relative to the formula's threshold."""
    by_signs: bool = False
    """Whether a type is how many of the answers are yes."""

    def given(self, columns: Mapping[int, Codes], bins: Sequence[Bins], n_rows: int) -> Floats:
        """Return the relative probability of each of n_rows binned rows."""
        types = np.zeros(n_rows, dtype=np.int64)
        if self.tests:
            types = joined(binned_planes(columns, self.tests, bins)).astype(np.int64)
        if self.by_signs:
            types = signs_type(np.bitwise_count(types))
        return np.asarray(self.table.probability[self.table.places(types)])


@dataclass(frozen=True, slots=True, eq=False)
class CountAnswers:
    """A scan that counts the joint answers of each fold's formulas on its test part, by the class
    of the row.
    """

    bins: tuple[Bins, ...]
    classes: tuple[tuple[Scalar, ...], ...]
    answering: tuple[tuple[Answering, ...], ...]
    """answering[fold][class]."""
    tested: Bools
    """tested[fold, arc]: whether the arc is in the fold's test part."""

    def __call__(self, read: Read) -> Ints:
        n_classes = len(self.answering[0])
        needed = {
            column
            for of_fold in self.answering
            for of_class in of_fold
            for test in of_class.tests
            for column in test.columns
        }
        table = read.rough.binned(self.bins, self.classes, n_arcs=self.tested.shape[1], only=needed)
        arcs, classes = np.divmod(table.labels.astype(np.int64), n_classes)
        confusion = np.zeros((len(self.answering), n_classes, n_classes), dtype=np.int64)
        for fold, answering in enumerate(self.answering):
            rows = np.flatnonzero(self.tested[fold][arcs])
            columns = {column: codes[rows] for column, codes in table.columns.items()}
            given = [of_class.given(columns, self.bins, len(rows)) for of_class in answering]
            cells = n_classes * classes[rows] + np.argmax(given, axis=0)
            weights = None if table.weights is None else table.weights[rows]
            confusion[fold] = tally_cells(cells, weights, n_classes**2).reshape(
                n_classes, n_classes
            )
        return confusion


def learn_classes(
    source: Source, spec: LearnSpec, engine: Engine, warn: Warn = silent
) -> LearnedClasses:
    """Learn a formula for every class, and count their joint answers on the test rows."""
    learned = learn_targets(source, spec, engine, warn)
    answering = {
        fold: [
            Answering(
                learned.chosen[Place(target, fold)].tests(learned.booleans),
                table,
                by_signs=models[target].types == "signs",
            )
            for target, table in enumerate(relative_tables(models))
        ]
        for fold in range(learned.kept.table.splits.outer)
        for models in [[fold_model(each.folds[fold], each, spec) for each in learned.targets]]
    }
    confusion = count_answers(learned.kept, learned.booleans, answering, engine)
    labels = tuple(labels[0] for labels in learned.kept.table.classes)
    return LearnedClasses(labels, learned.targets, confusion, learned.kept)


def plan_classes(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of learn_classes."""
    yield from plan_line(layout)
    yield from plan_answers(layout)


def plan_answers(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the scan that counts joint answers, where there are test rows."""
    if layout.folds > 1:
        yield layout.scan(COUNT_ANSWERS)


def count_answers(
    kept: KeptRows,
    booleans: Booleanization,
    answering: Mapping[int, Sequence[Answering]],
    engine: Engine,
) -> Ints:
    """Count the joint answers of the formulas of all classes in some folds: counts[fold, class,
    answer].
    """
    table = kept.table
    n_classes = len(table.classes)
    if not answering:
        return np.zeros((0, n_classes, n_classes), dtype=np.int64)
    scan = CountAnswers(
        bins=booleans.bins,
        classes=table.classes,
        answering=tuple(map(tuple, answering.values())),
        tested=table.splits.members([TEST])[list(answering)],
    )
    return engine.reduce(COUNT_ANSWERS.name, kept.rows, scan, _merge)


def _merge(parts: Sequence[Ints]) -> Ints:
    return np.asarray(np.sum(parts, axis=0))
