"""Booleanizing: which attributes a table has, and where each fold cuts its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dnfscale.core.arrays import Ints, Scalar
from dnfscale.core.bins import Bins, CategoryBins, NumberBins, Spans
from dnfscale.core.columns import CategorySummary, Column, NumberSummary, Role
from dnfscale.core.medians import Cut
from dnfscale.core.parts import ColumnName, Part, label_of, stored_column
from dnfscale.core.quantities import Measure, Quantity
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsMissing,
    IsTrue,
    Vocabulary,
    distinct_names,
)

CutValue = int | float | Quantity | None


@dataclass(frozen=True, slots=True)
class FoldCuts:
    """A cut of a number column in every fold: from the rows of W_train, and from those of W_0."""

    train: tuple[Cut, ...]
    whole: tuple[Cut, ...]
    name: str = "above_median"
    """How the attribute of a number above the cut is named, after its column."""

    @property
    def place(self) -> str:
        """Where it cuts: `median`, `p30` for a percentile, `65` for a given value."""
        return self.name.removeprefix("above_")


@dataclass(frozen=True, slots=True, eq=False)
class Booleanization:
    """All attributes of a table, and what they are in each fold."""

    attributes: tuple[Attribute, ...]
    """In column order, the values of a category increasing; those of numbers without their cuts,
    which differ by fold."""
    bins: tuple[Bins, ...]
    train: Spans
    """Attributes as cut on each fold's W_train."""
    whole: Spans
    """Attributes as cut on each fold's W_0."""
    cuts: tuple[tuple[FoldCuts, ...], ...]
    """The cuts of each attribute: one, or the lower and the higher of an interval; none for
    attributes of other columns."""
    measures: Mapping[ColumnName, Measure]
    """What the numbers of a column count, if they stand for dates, times, durations or decimals."""

    def vocabulary(self, fold: int, attributes: Sequence[int]) -> Vocabulary:
        """Return some attributes as tau, with the cuts of the fold's W_0."""
        return Vocabulary(tuple(self._resolved(fold, a, self._value) for a in attributes))

    def edges(self, fold: int, attributes: Sequence[int]) -> Vocabulary:
        """Return the same, cut at the edges: of whole numbers, those above 1 and those above 1.5
        are the same.
        """
        return Vocabulary(tuple(self._resolved(fold, a, self._edge) for a in attributes))

    def cuts_by_column(self) -> list[list[int]]:
        """Return the attributes of each column that has cuts, by increasing cut."""
        by_column: dict[ColumnName, list[int]] = {}
        for number, attribute in enumerate(self.attributes):
            if isinstance(attribute, Above):
                by_column.setdefault(attribute.column, []).append(number)
        return list(by_column.values())

    def with_intervals(self, ends: Iterable[tuple[int, int]]) -> Booleanization:
        """Return the same attributes, followed by the intervals between some pairs of cuts, the
        lower first.
        """
        pairs = list(ends)
        if not pairs:
            return self
        spelled_out, found = [], []
        for low, high in pairs:
            [lower], [higher] = self.cuts[low], self.cuts[high]
            cut = self.attributes[low]
            assert isinstance(cut, Above)
            column = cut.column
            found.append(
                Between(
                    f"{label_of(column)}_{lower.place}_to_{higher.place}",
                    column,
                    None,
                    None,
                    cut.whole,
                    cut.least,
                )
            )
            spelled_out.append(f"{lower.place} < {column} ≤ {higher.place}")
        taken = [attribute.name for attribute in self.attributes]
        names = distinct_names([*taken, *(a.name for a in found)], [*taken, *spelled_out])[
            len(taken) :
        ]
        lows, highs = np.array(pairs).T
        return replace(
            self,
            attributes=self.attributes
            + tuple(replace(a, name=name) for a, name in zip(found, names, strict=True)),
            train=_with_between(self.train, lows, highs),
            whole=_with_between(self.whole, lows, highs),
            cuts=self.cuts + tuple(self.cuts[low] + self.cuts[high] for low, high in pairs),
        )

    def _resolved(
        self, fold: int, number: int, value_of: Callable[[ColumnName, Cut], CutValue]
    ) -> Attribute:
        attribute, cuts = self.attributes[number], self.cuts[number]
        values = [value_of(attribute.column, cut.whole[fold]) for cut in cuts]
        match attribute:
            case Above():
                return replace(attribute, value=values[0])
            case Between():
                # In the folds that chose the interval, both its ends are cuts that separate some
                # rows.
                low, high = values
                return replace(attribute, low=low, high=high)
        return attribute

    def _value(self, column: ColumnName, cut: Cut) -> CutValue:
        # A cut between two steps is no date or time that could be named; the step below it
        # separates the same rows.
        return self._edge(column, cut) if column in self.measures else cut.value

    def _edge(self, column: ColumnName, cut: Cut) -> CutValue:
        if cut.value is None:
            return None
        measure = self.measures.get(column)
        return np.asarray(cut.edge).item() if measure is None else Quantity(measure, int(cut.edge))


def _with_between(spans: Spans, lows: Ints, highs: Ints) -> Spans:
    """Return the spans, followed by those between pairs of cuts; the span of a cut runs to the
    column's last number.
    """
    return Spans(
        np.concatenate([spans.column, spans.column[lows]]),
        np.concatenate([spans.first, spans.first[:, lows]], axis=1),
        np.concatenate([spans.last, spans.first[:, highs] - 1], axis=1),
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """An attribute before its name is settled."""

    attribute: Attribute
    spelled_out: str
    column: int
    train: Ints
    whole: Ints
    """(first, last) per fold."""
    cuts: tuple[FoldCuts, ...] = ()


def booleanize(
    columns: Sequence[Column],
    summaries: Sequence[NumberSummary | CategorySummary],
    cuts: Mapping[ColumnName, Sequence[FoldCuts]],
    *,
    n_folds: int,
    keep_missing: bool,
    rare: int = 0,
) -> Booleanization:
    """Lay out the attributes of all columns and their spans in every fold.

    Cuts of a column that coincide in every fold give one attribute. Categories with fewer than
    `rare` rows get none: they are the rows for which no other category of the column holds. Whether
    a date is missing is one attribute, not one for each of its parts.
    """
    asked_missing: set[str] = set()
    bins: list[Bins] = []
    drafts: list[_Draft] = []
    for index, (column, summary) in enumerate(zip(columns, summaries, strict=True)):
        has_missing = keep_missing and summary.missing > 0
        if isinstance(summary, NumberSummary):
            number_bins, own = _number(column, index, cuts[column.name], summary, has_missing)
            bins.append(number_bins)
            drafts += own
        else:
            bins.append(CategoryBins(summary.values))
            drafts += _values(column, index, summary, n_folds, rare)
        stored = stored_column(column.name)
        if has_missing and stored not in asked_missing:
            asked_missing.add(stored)
            span = _same(bins[-1].missing_code, bins[-1].missing_code, n_folds)
            owner = stored if isinstance(column.name, Part) else column.name
            missing = IsMissing(f"{stored}_missing", owner)
            drafts.append(_Draft(missing, f"{stored} is missing", index, span, span))
    names = distinct_names([d.attribute.name for d in drafts], [d.spelled_out for d in drafts])
    column_of = np.array([draft.column for draft in drafts], dtype=np.int64)
    train = np.array([draft.train for draft in drafts], dtype=np.int64).reshape(
        len(drafts), n_folds, 2
    )
    whole = np.array([draft.whole for draft in drafts], dtype=np.int64).reshape(
        len(drafts), n_folds, 2
    )
    return Booleanization(
        attributes=tuple(
            replace(draft.attribute, name=name) for draft, name in zip(drafts, names, strict=True)
        ),
        bins=tuple(bins),
        train=Spans(column_of, train[:, :, 0].T, train[:, :, 1].T),
        whole=Spans(column_of, whole[:, :, 0].T, whole[:, :, 1].T),
        cuts=tuple(draft.cuts for draft in drafts),
        measures={column.name: column.measure for column in columns if column.measure is not None},
    )


def _number(
    column: Column,
    index: int,
    cuts: Sequence[FoldCuts],
    summary: NumberSummary,
    has_missing: bool,
) -> tuple[NumberBins, list[_Draft]]:
    found = [
        cut.edge
        for of_name in cuts
        for cut in of_name.train + of_name.whole
        if cut.value is not None
    ]
    edges = np.unique(np.array(found, dtype=summary.sample.dtype))
    top = len(edges)

    def spans(part: Sequence[Cut]) -> Ints:
        # A cut that does not exist has an empty span: its first code lies above the last.
        firsts = [
            top + 1 if cut.value is None else int(np.searchsorted(edges, cut.edge)) + 1
            for cut in part
        ]
        return np.array([(first, top) for first in firsts], dtype=np.int64)

    name = column.name
    is_whole = edges.dtype.kind in "iu" and column.measure is None
    least = None
    if is_whole and summary.extent is not None and not summary.missing:
        least = int(summary.extent[0])
    drafts: dict[bytes, _Draft] = {}
    for cut in cuts:
        train, whole = spans(cut.train), spans(cut.whole)
        attribute = Above(f"{label_of(name)}_{cut.name}", name, None, is_whole, least)
        spelled_out = f"{name} > {cut.place}"
        drafts.setdefault(
            train.tobytes() + whole.tobytes(),
            _Draft(attribute, spelled_out, index, train, whole, (cut,)),
        )
    return NumberBins(edges, has_missing), list(drafts.values())


def _values(
    column: Column, index: int, summary: CategorySummary, n_folds: int, rare: int
) -> list[_Draft]:
    if column.role is Role.FLAG:
        larger, code = true_value(summary.values)
        span = _same(code, code, n_folds)
        own = IsTrue(label_of(column.name), column.name, larger)
        return [_Draft(own, f"{column.name} is {larger}", index, span, span)]
    drafts = []
    for code, value in enumerate(summary.values):
        if summary.counts[value] < rare:
            continue
        span = _same(code, code, n_folds)
        attribute = Equals(f"{label_of(column.name)}_{value}", column.name, value)
        drafts.append(_Draft(attribute, f"{column.name} = {value}", index, span, span))
    return drafts


def true_value(values: tuple[Scalar, ...]) -> tuple[Scalar, int]:
    """Return which value of a two-valued column is true, and its code: the larger one.

    A column with one value is true throughout, unless that value is zero or False: then it is false
    throughout, and the code is one that never occurs.
    """
    unseen = len(values) + 1
    if not values:
        return True, unseen
    larger = values[-1]
    if len(values) == 1 and larger == 0:
        one: Scalar = True if isinstance(larger, bool) else 1
        return one, unseen
    return larger, len(values) - 1


def _same(first: int, last: int, n_folds: int) -> Ints:
    return np.tile(np.array([first, last], dtype=np.int64), (n_folds, 1))
