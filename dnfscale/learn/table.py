"""The table that is learned from, as it is known after its read.

By then the rows are counted and numbered, the labels are known to form at least two classes, and
every row's place in every fold follows from its number. Data that cannot be learned from is an
error here, which says what to change.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Bools, Scalar, frozen
from dnfscale.core.bins import TWO_CLASSES
from dnfscale.core.columns import CategorySummary, Column, Reading, Role, TableSummary
from dnfscale.core.lookalikes import alike_names
from dnfscale.core.parts import stored_column
from dnfscale.core.splits import Splits
from dnfscale.core.weights import MOST_WEIGHT
from dnfscale.data.measures import is_number
from dnfscale.data.roles import (
    feature_columns,
    holds_labels,
    holds_weights,
    role_of,
    stored_label,
    value_type_name,
)
from dnfscale.data.source import Source
from dnfscale.errors import DataError, LimitError, SpecError
from dnfscale.spec.checks import listed
from dnfscale.spec.learn import LearnSpec

_MOST_CLASSES = 250
MOST_SLICES = 20
"""The most columns for whose values metrics are given."""
_DEALT_BY: dict[str, tuple[Callable[[pa.DataType], bool], str]] = {
    "folds.group": (
        lambda kind: role_of(kind) is not None,
        "numbers, dates, booleans or strings",
    ),
    "folds.time": (is_number, "dates, times or numbers"),
    "folds.by": (holds_labels, "numbers, booleans or strings"),
}
"""Which types can deal rows, by the key that names the column."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What a read of a table found, and what follows from it."""

    columns: tuple[Column, ...]
    reading: Reading
    summary: TableSummary
    classes: tuple[tuple[Scalar, ...], ...]
    """The labels of each class: of the negative and the positive class, or one label each."""
    targets: Bools
    """targets[target, class]: whether the target is true for the class."""
    others: Bools
    """others[reading, class]: whether another reading of the target is true for the class."""
    splits: Splits
    alike: tuple[str, ...]
    """The columns of the source, used or not, whose names differ from another in case only."""
    types: Mapping[str, str]
    """Arrow's name of the type of each column of the source."""

    @property
    def positives(self) -> tuple[tuple[Scalar, ...], ...]:
        """The labels for which each target is true."""
        return tuple(
            tuple(label for i in np.flatnonzero(classes).tolist() for label in self.classes[i])
            for classes in self.targets
        )


def features(source: Source, spec: LearnSpec) -> tuple[Column, ...]:
    """Return the feature columns of a source; a spec that names a column that is not there is an
    error.
    """
    for key, names in {
        "data.target": (spec.target,),
        "data.drop": spec.drop,
        "data.categorical": spec.categorical,
        "data.boolean": spec.boolean,
        "data.protected": spec.protected,
        "report.slices": spec.slices,
        "data.weight": () if spec.weight is None else (spec.weight,),
        "labels": tuple(spec.labels or ()),
        **{key: (name,) for key, name in spec.dealt_by.items()},
    }.items():
        for name in names:
            if name not in source.types:
                near = difflib.get_close_matches(name, source.types, n=1)
                meant = f"; did you mean {near[0]!r}? " if near else "; "
                raise SpecError(
                    f"{key} must name columns of {source.path}, got {name!r}{meant}it has "
                    f"{listed([known for known in source.types if known != spec.target])}",
                    key,
                )
    if not holds_labels(source.types[spec.target]):
        raise DataError(
            f"{source.path}: the target must hold labels (numbers, booleans or strings), "
            f"but {spec.target!r} has the "
            f"type {source.types[spec.target]}; convert it, or choose another data.target",
            "data.target",
        )
    _check_weight_column(source, spec)
    for name in spec.boolean:
        if name in spec.categorical:
            raise SpecError(
                (
                    f"a column has one role, but {name!r} is in data.categorical and in "
                    "data.boolean; take it out of one"
                ),
                "data.boolean",
            )
    _check_dealing_columns(source, spec)
    _check_sliced_columns(source, spec)
    weight = () if spec.weight is None else (spec.weight,)
    columns = feature_columns(
        source,
        target=spec.target,
        drop=(*spec.drop, *spec.protected, *weight, *spec.dealt_by.values()),
        categorical=spec.categorical,
        boolean=spec.boolean,
        parts=tuple(spec.parts),
    )
    if not columns:
        raise SpecError(
            f"expected at least one feature column besides the target {spec.target!r}, but "
            "none is left; "
            "shorten data.drop",
            "data.drop",
        )
    return columns


def _check_weight_column(source: Source, spec: LearnSpec) -> None:
    if spec.weight is None:
        return
    if not holds_weights(source.types[spec.weight]):
        raise DataError(
            f"{source.path}: data.weight must name a column of numbers, but "
            f"{spec.weight!r} has the type "
            f"{source.types[spec.weight]}; convert it, or choose another",
            "data.weight",
        )
    for key, names in (
        ("target", (spec.target,)),
        ("categorical", spec.categorical),
        ("boolean", spec.boolean),
    ):
        if spec.weight in names:
            raise SpecError(
                (
                    f"a column has one role, but {spec.weight!r} is data.weight and in "
                    f"data.{key}; take it out of one"
                ),
                "data.weight",
            )


def _check_dealing_columns(source: Source, spec: LearnSpec) -> None:
    """Raise an error where a column by which rows are dealt has another role, or a type that has no
    values to deal by.
    """
    for key, name in spec.dealt_by.items():
        others: dict[str, Sequence[str | None]] = {
            "data.target": (spec.target,),
            "data.weight": (spec.weight,),
            "data.categorical": spec.categorical,
            "data.boolean": spec.boolean,
            **{other: (column,) for other, column in spec.dealt_by.items() if other != key},
        }
        for other, names in others.items():
            if name in names:
                raise SpecError(
                    f"a column has one role, but {name!r} is {key} and in {other}; "
                    "take it out of one",
                    key,
                )
        holds, what = _DEALT_BY[key]
        if not holds(source.types[name]) or source.is_empty(name):
            raise DataError(
                f"{source.path}: {key} must name a column of {what}, but {name!r} has the type "
                f"{source.types[name]}"
                f"{' and no values' if source.is_empty(name) else ''}; choose another",
                key,
            )


def _check_sliced_columns(source: Source, spec: LearnSpec) -> None:
    """Raise an error where a column of slices is the target, or one of too many, or has a type
    whose values are not looked at one by one.
    """
    key = "report.slices" if spec.slices else "data.protected"
    if len(spec.sliced) > MOST_SLICES:
        raise SpecError(
            f"{key} must list at most {MOST_SLICES} columns, got {len(spec.sliced)} with those of "
            "data.protected; leave some out",
            key,
        )
    for name in spec.sliced:
        key = "report.slices" if name in spec.slices else "data.protected"
        if name in (spec.target, spec.weight):
            raise SpecError(
                f"{key} must list columns besides data.target and data.weight, got {name!r}; "
                "take it out",
                key,
            )
        if not holds_labels(source.types[name]):
            raise SpecError(
                f"{key} must list columns of numbers, booleans or strings, but {name!r} has the "
                f"type {source.types[name]}; group its values in a column of their own",
                key,
            )


def dealing_columns(source: Source, spec: LearnSpec) -> tuple[Column, ...]:
    """Return the columns by which rows are dealt into folds; they are never attributes."""
    return tuple(
        Column(
            name,
            Role.NUMBER if key != "folds.by" and is_number(source.types[name]) else Role.CATEGORY,
        )
        for key, name in spec.dealt_by.items()
    )


def most_weight(spec: LearnSpec) -> int:
    """Return the largest sum of all weights: multiplied by the threshold's denominator, it still
    fits in 64 bits.
    """
    return min(MOST_WEIGHT, (1 << 62) // spec.threshold.denominator)


def reading_of(source: Source, columns: tuple[Column, ...], spec: LearnSpec) -> Reading:
    """Return what a scan has to deliver of every row."""
    return Reading(
        columns,
        spec.target,
        keep_missing=spec.missing == "indicator",
        weight=spec.weight,
        unit=spec.unit,
        beside=dealing_columns(source, spec),
    )


def check_source(source: Source, spec: LearnSpec, columns: Sequence[Column]) -> None:
    """Raise DataError for a dataset without rows, or whose footers show that all rows would be
    dropped.
    """
    if not source.n_rows:
        raise DataError(
            f"{source.path}: expected rows to learn from, but the dataset has none", "data.path"
        )
    names = dict.fromkeys(stored_column(column.name) for column in columns)
    empty = [name for name in names if source.is_empty(name)]
    if empty and spec.missing == "drop":
        raise _no_rows(source, empty)


def table_of(
    source: Source, reading: Reading, summary: TableSummary, splits: Splits, spec: LearnSpec
) -> Table:
    """Find the classes of a table whose rows are known; data that cannot be learned from is an
    error.
    """
    check_kept(source, summary, reading.columns, spec)
    _check_flags(summary, reading.columns)
    _check_weight(summary, spec)
    if spec.positive is not None:
        kind = source.types[spec.target]
        spec = replace(spec, positive=tuple(stored_label(label, kind) for label in spec.positive))
    classes, targets = _classes(summary.target, spec)
    others = np.array(
        [[labels[0] in true for labels in classes] for true in spec.others], dtype=np.bool_
    )
    others = others.reshape(len(spec.others), len(classes))
    return Table(
        reading.columns,
        reading,
        summary,
        classes,
        targets,
        others,
        splits,
        alike_names(source.types),
        {name: value_type_name(kind) for name, kind in source.types.items()},
    )


def check_kept(
    source: Source, summary: TableSummary, columns: Sequence[Column], spec: LearnSpec
) -> None:
    """Raise DataError if no rows are left, or if rows were dropped although missing values are to
    be an error.
    """
    dropped = summary.rows_read - summary.n_rows - summary.weightless
    missing = {
        stored_column(c.name): s.missing
        for c, s in zip(columns, summary.columns, strict=True)
        if s.missing
    }
    if spec.missing == "error" and dropped:
        where = (
            ", ".join(f"{name!r} ({count:,})" for name, count in missing.items())
            or f"{spec.target!r}"
        )
        raise DataError(
            f"{source.path}: expected no missing values, but {dropped:,} of "
            f"{summary.rows_read:,} rows have some, "
            f'in {where}; fill them, or set data.missing = "drop"',
            "data.missing",
        )
    if summary.rows_read and summary.weightless == summary.rows_read:
        raise DataError(
            f"{source.path}: expected some row to weigh more than 0, but {spec.weight!r} "
            "is 0 in every row; choose "
            "another data.weight",
            "data.weight",
        )
    if not summary.n_rows and summary.target.missing == summary.rows_read:
        raise DataError(
            f"{source.path}: expected labels to learn from, but the target {spec.target!r} "
            "has no value at all; "
            "choose another data.target",
            "data.target",
        )
    if not summary.n_rows:
        raise _no_rows(
            source, [name for name, count in missing.items() if count == summary.rows_of_interest]
        )


def _no_rows(source: Source, empty: Sequence[str]) -> DataError:
    """Return the error for a table in which every row misses a value; `empty` lists columns without
    any value.
    """
    reason = (
        "none has a value in every column; drop the emptiest columns, or set data.missing = "
        '"indicator"'
    )
    if empty:
        has, them = ("has", "it") if len(empty) == 1 else ("have", "them")
        reason = f"{listed(empty)} {has} no value at all; add {them} to data.drop"
    return DataError(
        f"{source.path}: expected rows without missing values, but {reason}", "data.missing"
    )


def _check_flags(summary: TableSummary, columns: Sequence[Column]) -> None:
    for column, found in zip(columns, summary.columns, strict=True):
        if (
            column.role is Role.FLAG
            and isinstance(found, CategorySummary)
            and len(found.values) > 2
        ):
            raise SpecError(
                f"data.boolean must name columns of two values, but {column.name!r} has "
                f"{len(found.values):,}: "
                f"{listed(found.values)}; leave it out, or put it in data.categorical",
                "data.boolean",
            )


def _check_weight(summary: TableSummary, spec: LearnSpec) -> None:
    most = most_weight(spec)
    if spec.weight is not None and summary.weight > most:
        raise DataError(
            f"expected the weights in {spec.weight!r} to add up to at most "
            f"{most // spec.unit:,}, got "
            f"{summary.weight // spec.unit:,}; divide them by some number",
            "data.weight",
        )


def _classes(
    target: CategorySummary, spec: LearnSpec
) -> tuple[tuple[tuple[Scalar, ...], ...], Bools]:
    """Return the labels of each class, and targets[target, class]: whether the target is true for
    the class.
    """
    if spec.classes == "two" or (spec.classes == "auto" and len(target.values) <= 2):
        if spec.others:
            return _classes_of_readings(target, spec)
        positive = _positive(target, spec)
        return (
            tuple(value for value in target.values if value not in positive),
            positive,
        ), TWO_CLASSES
    _check_two(target, spec)
    if len(target.values) > _MOST_CLASSES:
        raise LimitError(
            f'data.classes = "all" takes at most {_MOST_CLASSES:,} labels, but the target '
            f"{spec.target!r} has "
            f"{len(target.values):,}; name the positive ones in data.positive",
            "data.classes",
        )
    return tuple((value,) for value in target.values), frozen(
        np.eye(len(target.values), dtype=np.bool_)
    )


def _classes_of_readings(
    target: CategorySummary, spec: LearnSpec
) -> tuple[tuple[tuple[Scalar, ...], ...], Bools]:
    """Return every label as a class of its own, so that each reading of the target can count it as
    true or false.
    """
    positive = [value in (spec.positive or ()) for value in target.values]
    if all(positive) or not any(positive):
        raise DataError(
            f"expected a target of two answers, but all {sum(target.counts.values()):,} "
            "rows have the same one; "
            "there is nothing to tell apart"
        )
    return tuple((value,) for value in target.values), frozen(np.array([positive], dtype=np.bool_))


def _check_two(target: CategorySummary, spec: LearnSpec) -> None:
    if len(target.values) < 2:
        raise DataError(
            f"expected two classes to tell apart, but the target {spec.target!r} has only "
            "the value "
            f"{listed(target.values)}; choose another data.target",
            "data.target",
        )


def _positive(target: CategorySummary, spec: LearnSpec) -> tuple[Scalar, ...]:
    """Return the labels that count as true; it is an error if a class has no labels."""
    _check_two(target, spec)
    values = target.values
    if spec.positive is None:
        if len(values) > 2:
            raise SpecError(
                "data.positive must say which labels are the positive class, because the "
                f"target {spec.target!r} has "
                f'{len(values):,} values: {listed(values)}; or set data.classes = "all" '
                "for a formula of each",
                "data.target",
            )
        return (values[-1],)
    for label in spec.positive:
        if not any(
            label == value and isinstance(label, bool) == isinstance(value, bool)
            for value in values
        ):
            raise SpecError(
                f"data.positive must list values of the target {spec.target!r}, which are "
                f"{listed(values)}; "
                f"got {label!r}, which never occurs",
                "data.positive",
            )
    if all(value in spec.positive for value in values):
        raise SpecError(
            "data.positive must leave some label for the negative class, but it lists all "
            "values of "
            f"{spec.target!r}: {listed(values)}",
            "data.positive",
        )
    return tuple(value for value in values if value in spec.positive)
