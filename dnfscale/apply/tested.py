"""Rows that a model is tested on, counted in one scan: types by class, and answers by the values of
columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dnfscale.apply.evaluate import Evaluated, columns_of, evaluate, seen_in
from dnfscale.apply.unfamiliar import UnfamiliarRows, merge_unfamiliar, unfamiliar_in
from dnfscale.core.arrays import Bools, Floats, Ints, Scalar, tally_cells
from dnfscale.core.columns import Block, Categories, Column, Reading, Role, Rows
from dnfscale.core.model import Model, TypeTable, relative_tables
from dnfscale.core.seen import SeenColumn
from dnfscale.errors import SpecError
from dnfscale.method.metrics import scores_of_types
from dnfscale.results.confusion import Answers, Confusion
from dnfscale.results.metrics import Scores

MOST_VALUES = 250
"""Columns of more values are none whose values are looked at one by one."""
_MOST_CELLS = 1 << 19
"""Up to so many cells are counted in a table; beyond, only those that occur."""
_SLICE_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class TypeRows:
    """Rows by type and class; only those that occur, in increasing order of key."""

    keys: Ints
    """2 (types * classes) + whether a value of the model's columns is missing."""
    counts: Ints


@dataclass(frozen=True, slots=True, eq=False)
class TestedRows:
    """What is counted of some rows."""

    n_rows: int
    incomplete: int
    """Rows that lack a value of the model's columns."""
    missing: tuple[int, ...]
    """Missing values of each column of the model."""
    unfamiliar: UnfamiliarRows
    """Values that are unlike those learned from."""
    labels: Mapping[Scalar, int]
    """Rows by label."""
    types: tuple[TypeRows, ...]
    """Of each formula."""
    answers: Ints
    """Rows by answer and class; empty of one formula, whose answers follow from its types."""
    slices: tuple[Mapping[Scalar | None, Ints], ...]
    """Of each column, rows by its value: counted by answer and class, as `cells` are."""


@dataclass(frozen=True)
class Answering:
    """One formula, or those of several labels, as what answers rows of some types."""

    models: tuple[Model, ...]

    @property
    def n_classes(self) -> int:
        """How many classes there are: no, yes, not known; or each label, and not known."""
        return max(2, len(self.models)) + 1

    @property
    def n_cells(self) -> int:
        return self.n_answers * self.n_classes

    @cached_property
    def tables(self) -> tuple[TypeTable, ...]:
        if len(self.models) > 1:
            return relative_tables(self.models)
        return (self.models[0].table(),)

    @cached_property
    def levels(self) -> tuple[Any, Ints]:
        """The probabilities that one formula gives, and which of them each place of its table
        has.
        """
        value, of = np.unique(self.tables[0].probability, return_inverse=True)
        return value, of.astype(np.intp)

    @property
    def n_answers(self) -> int:
        """The answers that cells tell apart: the labels, or the probabilities of one formula."""
        return len(self.models) if len(self.models) > 1 else len(self.levels[0])

    def cells(self, types: Sequence[Any], classes: Ints | None) -> Ints:
        """Return the cell of each row: its answer, and its class."""
        cells = np.empty(len(types[0]), dtype=np.intp)
        for start in range(0, len(cells), _SLICE_ROWS):
            part = slice(start, start + _SLICE_ROWS)
            places = [
                table.places(own[part].astype(np.intp))
                for table, own in zip(self.tables, types, strict=True)
            ]
            if len(places) == 1:
                cells[part] = self.levels[1].take(places[0])
            else:
                given = [t.probability[p] for t, p in zip(self.tables, places, strict=True)]
                cells[part] = np.array(given).argmax(axis=0)
        cells *= self.n_classes
        cells += self.n_classes - 1 if classes is None else classes
        return cells

    def confusion(self, cells: Ints) -> Confusion:
        """Return the answers of one formula in some cells."""
        n, c, probability = self._by_level(cells)
        return Confusion.of_types(self._accepted(probability), n, c)

    def scores(self, cells: Ints) -> Scores:
        """Return the rows of some cells by the probability that one formula gives them."""
        n, c, probability = self._by_level(cells)
        return scores_of_types(probability, n, c)

    def selected(self, cells: Ints) -> int:
        """Return how many rows of some cells one formula answers with yes."""
        probability, _ = self.levels
        rows = cells.reshape(len(probability), -1).sum(axis=1)
        return int(rows[self._accepted(probability)].sum())

    def answers(self, cells: Ints) -> Answers:
        """Return the rows of some cells by label and answer."""
        table = cells.reshape(len(self.models), -1)[:, :-1].T
        return tuple(tuple(row) for row in table.tolist())

    def _by_level(self, cells: Ints) -> tuple[Ints, Ints, Floats]:
        probability, _ = self.levels
        by_level = cells.reshape(len(probability), -1)
        return by_level[:, :2].sum(axis=1), by_level[:, 1], probability

    def _accepted(self, probability: Floats) -> Bools:
        return np.asarray(probability > float(self.models[0].threshold))


@dataclass(frozen=True)
class CountTested:
    """The scan: the rows of a partition by type, class and value."""

    models: tuple[Model, ...]
    target: str | None
    """The column of labels, if there is one."""
    positives: tuple[tuple[Scalar, ...], ...]
    """The labels of each class but the last, of labels that are not known; for one formula, those
    of the second."""
    slices: tuple[str, ...] = ()

    @cached_property
    def answering(self) -> Answering:
        return Answering(self.models)

    @property
    def n_classes(self) -> int:
        return self.answering.n_classes

    @cached_property
    def model_columns(self) -> tuple[Column, ...]:
        return columns_of(*(model.tau for model in self.models))

    @cached_property
    def seen(self) -> tuple[SeenColumn | None, ...]:
        return seen_in(self.models, self.model_columns)

    @cached_property
    def reading(self) -> Reading:
        names = [*self.slices, *([] if self.target is None else [self.target])]
        asked = tuple(Column(name, Role.CATEGORY) for name in names)
        return Reading((*self.model_columns, *asked), None, keep_missing=True)

    def __call__(self, rows: Rows) -> TestedRows:
        tested = self.merge([])
        for block in rows.blocks(self.reading):
            # One by one: what blocks say of many values is more than a worker should hold.
            tested = self.merge([tested, self._count(block)])
        return tested

    def merge(self, parts: Sequence[TestedRows]) -> TestedRows:
        """Merge the counts of disjoint rows."""
        several = len(self.models) > 1
        answers = np.zeros(self.answering.n_cells if several else 0, dtype=np.int64)
        for part in parts:
            answers += part.answers
        return TestedRows(
            n_rows=sum(part.n_rows for part in parts),
            incomplete=sum(part.incomplete for part in parts),
            missing=tuple(sum(part.missing[i] for part in parts) for i in self._places),
            unfamiliar=merge_unfamiliar([part.unfamiliar for part in parts]),
            labels=_added((part.labels for part in parts), self.target),
            types=tuple(_merged([p.types[i] for p in parts]) for i in range(len(self.models))),
            answers=answers,
            slices=tuple(
                _added((part.slices[i] for part in parts), name, "slices")
                for i, name in enumerate(self.slices)
            ),
        )

    @property
    def _places(self) -> range:
        return range(len(self.model_columns))

    def _count(self, block: Block) -> TestedRows:
        n_slices = len(self.slices)
        labels, classes = self._classes(block)
        taus = [model.tau for model in self.models]
        found = evaluate(block, self.model_columns, taus, self.seen)
        types = [
            model.types_in(planes) for model, planes in zip(self.models, found.planes, strict=True)
        ]
        cells = self.answering.cells(types, classes) if n_slices or len(types) > 1 else None
        first = len(self.model_columns)
        n_cells = self.answering.n_cells
        return TestedRows(
            n_rows=block.n_rows,
            incomplete=0 if found.incomplete is None else int(found.incomplete.sum()),
            missing=found.missing,
            unfamiliar=unfamiliar_in(found, self.model_columns),
            labels=labels,
            types=tuple(
                self._types(model, own, classes, found)
                for model, own in zip(self.models, types, strict=True)
            ),
            answers=np.bincount(cells, minlength=n_cells)
            if cells is not None and len(types) > 1
            else np.zeros(0, dtype=np.int64),
            slices=tuple(
                by_value(block.columns[first + i], cells, n_cells, name)  # type: ignore[arg-type]
                for i, name in enumerate(self.slices)
            ),
        )

    def _classes(self, block: Block) -> tuple[Mapping[Scalar, int], Ints | None]:
        """Return the rows of each label, and the class of each row; None where no label is
        known.
        """
        if self.target is None:
            return {}, None
        data = block.columns[len(self.model_columns) + len(self.slices)]
        assert isinstance(data, Categories), "labels are read as categories"
        present = data.codes[data.codes >= 0] if data.has_missing else data.codes
        counts = np.bincount(present, minlength=len(data.values)).tolist()
        labels: dict[Scalar, int] = {}
        for value, rows in zip(data.values, counts, strict=True):
            if rows:
                labels[value] = labels.get(value, 0) + rows
        check_values(len(labels), self.target, "target")
        # The code -1, a missing label, picks the last entry.
        of = [self._class_of(value) for value in data.values]
        return labels, np.array([*of, self.n_classes - 1], dtype=np.intp).take(data.codes)

    def _class_of(self, label: Scalar) -> int:
        if len(self.models) == 1:
            return int(label in self.positives[0])
        found = (i for i, labels in enumerate(self.positives) if label in labels)
        return next(found, self.n_classes - 1)

    def _types(self, model: Model, types: Any, classes: Ints | None, found: Evaluated) -> TypeRows:
        keys = types.astype(np.int64)
        keys *= 2 * self.n_classes
        keys += 2 * (self.n_classes - 1) if classes is None else 2 * classes
        if found.incomplete is not None:
            keys += found.incomplete
        n_keys = (1 << model.counts.ell) * 2 * self.n_classes
        if n_keys > _MOST_CELLS:
            return TypeRows(*np.unique(keys, return_counts=True))
        counts = np.bincount(keys, minlength=1)
        there = np.flatnonzero(counts)
        return TypeRows(there, counts[there])


def by_value(
    data: Categories, cells: Ints, n_cells: int, name: str, weights: Ints | None = None
) -> dict[Scalar | None, Ints]:
    """Return the cells of the rows that have each value, counted, or their weights in units."""
    used, places = _used_codes(data)
    check_values(len(used), name, "slices")
    places *= n_cells
    places += cells
    counts = tally_cells(places, weights, len(used) * n_cells).reshape(-1, n_cells)
    found: dict[Scalar | None, Ints] = {}
    for code, own in zip(used.tolist(), counts, strict=True):
        value = None if code < 0 else data.values[code]
        found[value] = found[value] + own if value in found else own
    return found


def _used_codes(data: Categories) -> tuple[Ints, Ints]:
    """Return the codes that occur, in increasing order, and the place of each row's among them.

    The code -1, a missing value, comes first.
    """
    codes = data.codes.astype(np.int64)
    if len(data.values) > max(1 << 12, len(codes)):
        used = np.unique(codes)
        return used, np.searchsorted(used, codes)
    codes += 1
    occurs = np.bincount(codes, minlength=len(data.values) + 1) > 0
    return np.flatnonzero(occurs) - 1, (np.cumsum(occurs) - 1).take(codes)


def _added(parts: Iterable[Mapping[Any, Any]], name: str | None, key: str = "target") -> Any:
    total: dict[Any, Any] = {}
    for part in parts:
        for value, counts in part.items():
            total[value] = total[value] + counts if value in total else counts
        check_values(len(total), str(name), key)
    return total


def check_values(n_values: int, name: str, key: str) -> None:
    """Raise SpecError if a column has more values than are looked at one by one."""
    if n_values <= MOST_VALUES:
        return
    advice = (
        "choose a column of labels"
        if key == "target"
        else "group its values in a column of their own, or leave it out"
    )
    raise SpecError(
        f"column {name!r}: expected at most {MOST_VALUES:,} values, because each is looked at by "
        f"itself, got more; {advice}"
    )


def _merged(parts: Sequence[TypeRows]) -> TypeRows:
    none = np.empty(0, dtype=np.int64)
    keys, places = np.unique(
        np.concatenate([none, *(part.keys for part in parts)]), return_inverse=True
    )
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, places, np.concatenate([none, *(part.counts for part in parts)]))
    return TypeRows(keys, counts)
