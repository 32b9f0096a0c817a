"""What classifiers of tables share: rows in any form, with labels and weights, as a source that can
be learned from.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dnfscale.apply.evaluate import check_columns, columns_of, evaluate
from dnfscale.core.arrays import Codes, Floats, Ints, is_whole
from dnfscale.core.columns import Reading, unused_name
from dnfscale.core.lookalikes import alike_names
from dnfscale.core.planes import no_planes
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.data.frames import (
    dask_source,
    in_own_order,
    is_dask,
    is_frame,
    own_order,
    repeated,
    table_source,
    to_table,
)
from dnfscale.data.roles import feature_columns
from dnfscale.data.source import Source
from dnfscale.datasets.named import open_dataset
from dnfscale.engine.api import Engine
from dnfscale.engine.launch import cores, launch
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, DnfscaleError, SpecError
from dnfscale.estimators.weights import (
    MOST_WEIGHT,
    class_factors,
    products,
    repeats,
    sample_weights,
    whole_weights,
)
from dnfscale.learn import LOADED
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.learn import LearnSpec, parameters, settled

Labels = npt.NDArray[Any]
P = ParamSpec("P")
R = TypeVar("R")


def in_python_words(fit: Callable[P, R]) -> Callable[P, R]:
    """Return a method whose errors name parameters, where those of a job name keys of its spec."""

    @functools.wraps(fit)
    def method(*values: P.args, **named: P.kwargs) -> R:
        try:
            return fit(*values, **named)
        except DnfscaleError as error:
            said = in_python(error.message)
            if said == error.message:
                raise
            raise type(error)(said, error.key) from error.__cause__

    return method


def in_python(text: str) -> str:
    """Return a text that names parameters in the place of keys and of options of the command line,
    with values as Python has them.
    """
    return _VALUES.sub(r"\1=", _KEYS.sub(_in_python, _OPTIONS.sub(r"\1", text)))


def _in_python(found: re.Match[str]) -> str:
    """Return the name of the parameter of a key, alone where a value follows."""
    name = _names_by_path()[found[1]]
    return f"{name} =" if found[2] else f"the parameter {name}"


@functools.cache
def _names_by_path() -> dict[str, str]:
    named = {known.path: known.parameter_name for known in parameters().values()}
    return {**named, "folds.group": "groups"}


_KEYS = re.compile(rf"\b({'|'.join(map(re.escape, _names_by_path()))})\b( =)?")
_OPTIONS = re.compile(r"(?<!\S)--(target|positive|slices)\b")
_VALUES = re.compile(rf"\b({'|'.join(_names_by_path().values())}) = (?=\"|\d)")


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Rows to learn from: a source, its target, and what the target's values stand for."""

    source: Source
    target: str
    name: str
    classes: Labels | None
    """The labels that the codes in the target column mean; None where it holds the labels
    themselves.
    """
    weight: str | None = None
    unit: int = 1
    weighted: bool = False
    beside: tuple[str, ...] = ()
    """What the labels and the weights are called by whoever gave them, where they have a name."""
    group: str | None = None
    """The column whose rows of equal value stay together."""

    @property
    def alike(self) -> tuple[str, ...]:
        """The columns whose names differ from another in case only, those beside the
        features too.
        """
        own = self.target, self.weight, self.group
        features = (name for name in self.source.types if name not in own)
        return alike_names((*features, *self.beside))


@dataclass(frozen=True, slots=True, eq=False)
class _Weighed:
    """Rows that weigh something, with their labels."""

    table: pa.Table
    plain: Floats
    """The weight of each row by itself."""
    factor: Floats
    """What the weight of its class multiplies it by."""

    @property
    def weighed(self) -> Floats:
        """The weight of each row in all."""
        return products(self.plain, self.factor)

    def repeated(self) -> _Weighed | None:
        """Return each row as often as it weighs by itself; None where that cannot be, or is too
        often.

        A row that counts three times is three rows, also where rows are dealt into parts.
        """
        often = repeats(self.plain, most=max(10 * self.table.num_rows, 1 << 20))
        if often is None:
            return None
        return _Weighed(
            repeated(self.table, often), np.ones(often.sum()), np.repeat(self.factor, often)
        )


class TableClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that takes tables of any kind; its parameters are those of the formulas it
    learns.
    """

    drop: tuple[str, ...]
    missing: str | None
    threshold: float
    class_weight: Any
    any_columns: bool
    n_jobs: int | None
    random_state: Any
    _columns: list[str]
    """The names under which the formulas know the columns of `fit`, in their order."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        # Unless told otherwise, a number is cut once, at its median: three blobs in two columns
        # cannot be told apart with 83 %, as scikit-learn's check expects without this tag; 81 % is
        # the most that four cells allow.
        tags.classifier_tags.poor_score = True
        return tags

    def _engine(self, X: Any) -> Engine:  # noqa: N803 (scikit-learn's names)
        """Return what to learn with: processes for a path, if they are asked for."""
        workers = None if self.n_jobs is None else _n_workers(self.n_jobs)
        if workers is None or not is_path(X):
            return SerialEngine()
        return launch(ClusterSpec(kind="local", workers=workers), loaded=LOADED)

    def _spec(self, target: str, profile: str = "paper", **choices: Any) -> LearnSpec:
        """Return the parameters as a LearnSpec, with some choices replaced by the caller's."""
        values = settled(self._written(), profile=profile)
        return LearnSpec(
            **{**values, "target": target, "outer": 0, "seed": self._seed(), **choices}
        )

    def _written(self) -> dict[str, Any]:
        """Return the parameters that are not left at their defaults: they take precedence over
        those of a profile.
        """
        signature = inspect.signature(type(self)).parameters
        written = {}
        for name, known in parameters().items():
            own = known.parameter_name
            if own in signature and getattr(self, own) is not signature[own].default:
                written[name] = known.checked(getattr(self, own), own)
        return written

    def _threshold(self) -> Fraction:
        """Return the threshold as a fraction that counts can be multiplied by."""
        threshold: Fraction = parameters()["threshold"].checked(self.threshold, "threshold")
        return threshold

    def _seed(self) -> int:
        seed = whole_number(self.random_state)
        if isinstance(seed, bool | np.bool_):
            raise SpecError(
                f"random_state must be a whole number, a RandomState or None, got {seed!r}"
            )
        return seed if isinstance(seed, int) else int(check_random_state(seed).randint(2**31))

    def _labelled(
        self,
        X: Any,  # noqa: N803
        y: Any,
        sample_weight: Any,
        groups: Any,
        *,
        times: int = 1,
    ) -> Labelled:
        """Return the rows to learn from; the counts of a type must fit in 64 bits when multiplied
        by times.
        """
        if y is None:
            raise DataError(
                f"This {type(self).__name__} estimator requires y to be passed, but the "
                "target y is None: give the "
                "labels, or the name of the target column"
            )
        if is_path(X) or is_dask(X):
            if self.class_weight is not None:
                raise DataError(
                    "class_weight needs a table in memory, got a path or a Dask DataFrame; "
                    "set threshold or objective"
                )
            weight = _column_name("sample_weight", sample_weight, "weights")
            group = _column_name("groups", groups, "groups")
            labelled = _labelled_path(X, y) if is_path(X) else _labelled_dask(X, y)
            beside = (*labelled.beside, *(name for name in (weight, group) if name is not None))
            return replace(labelled, weight=weight, beside=beside, group=group)
        return self._labelled_table(X, y, sample_weight, groups, times)

    def _labelled_table(
        self,
        X: Any,  # noqa: N803
        y: Any,
        sample_weight: Any,
        groups: Any,
        most_times: int,
    ) -> Labelled:
        table = self._checked(X, reset=True)
        labels, classes = _labels(y, table.num_rows)
        group = None if groups is None else unused_name("groups", table.column_names)
        if group is not None:
            table = table.append_column(group, _groups(groups, table.num_rows))
        weights = sample_weights(sample_weight, table.num_rows)
        factors = class_factors(self.class_weight, classes, labels, weights)
        target = unused_name("target", table.column_names)
        rows, classes = _weighed(table, target, labels, classes, weights, factors)
        # Columns that cannot be learned from are told of before their rows are put in order.
        feature_columns(
            table_source(rows.table.drop_columns([] if group is None else [group]), "X"),
            target=target,
            drop=self.drop,
            categorical=(),
            boolean=(),
        )
        again = None if weights is None else rows.repeated()
        rows = again or rows
        weight, unit = None, 1
        if factors is None and (weights is None or again is not None):
            ordered = in_own_order(rows.table, without=self.drop)
        else:
            weight = unused_name("weight", table.column_names)
            ordered, unit = self._with_weights(rows, weight, most_times)
        return Labelled(
            source=table_source(ordered, "X"),
            target=target,
            name=str(_name(y) or "target"),
            classes=classes,
            weight=weight,
            unit=unit,
            weighted=weight is not None or sample_weight is not None,
            beside=_names(y, sample_weight, groups),
            group=group,
        )

    def _with_weights(self, rows: _Weighed, name: str, most_times: int) -> tuple[pa.Table, int]:
        """Return rows in their own order with a column of whole weights, and what a weight of one
        became.
        """
        times, unit = whole_weights(rows.weighed, most=min(MOST_WEIGHT, (1 << 62) // most_times))
        if isinstance(self.class_weight, str):
            # «balanced» leaves the weight of all rows together as it was: a row of weight one is an
            # average one.
            unit = max(1, round(float(times.sum()) / float(rows.plain.sum())))
        order = own_order(rows.table, times, without=self.drop)
        order = order[times[order] > 0]
        return rows.table.take(pa.array(order)).append_column(name, pa.array(times[order])), unit

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the attributes that the formulas use."""
        check_is_fitted(self)
        return np.array(self.attributes_, dtype=object)

    def _checked(self, X: Any, *, reset: bool) -> pa.Table:  # noqa: N803
        """Return rows as an Arrow table, making sure that they have the columns they
        should have.
        """
        named = is_frame(X)
        if not named:
            finite = self.missing == "error"
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=finite)  # noqa: N806
        elif reset or not self.any_columns:
            validate_data(self, X, reset=reset, skip_check_array=True)
        table = to_table(X)
        if reset:
            self._columns = table.column_names
            return table
        # Names that both sides have were compared. Where one has none, columns go by their
        # position, and scikit-learn has warned; so it does for its own classifiers.
        return table if named and self.any_columns else table.rename_columns(self._columns)

    def _planes_under(self, X: Any, taus: Sequence[Vocabulary]) -> list[Codes]:  # noqa: N803
        """Return the attributes of each row over each tau, as planes."""
        lazy = is_path(X) or is_dask(X)
        source = lazy_source(X) if lazy else table_source(self._checked(X, reset=False), "X")
        columns = columns_of(*taus)
        check_columns(taus, source.types, source.path)
        reading = Reading(columns, None, keep_missing=True)
        parts = [[no_planes(len(tau), 0)] for tau in taus]
        for block in (
            block for partition in source.partitions for block in partition.blocks(reading)
        ):
            found = evaluate(block, columns, taus)
            if self.missing == "error" and found.incomplete is not None:
                raise DataError(
                    f"expected no missing values, because missing = 'error', but "
                    f"{sum(found.missing):,} of the values that the formula needs are missing"
                )
            for part, planes in zip(parts, found.planes, strict=True):
                part.append(planes)
        return [np.concatenate(part, axis=1) for part in parts]


def lazy_source(X: Any) -> Source:  # noqa: N803
    """Return the rows of a path, or of a dataset by its name, or of a Dask DataFrame."""
    return open_dataset(os.fspath(X)) if is_path(X) else dask_source(X, "X")


def labels_in(X: Any, target: str) -> Labels:  # noqa: N803
    """Return the labels of all rows of a path or a Dask DataFrame, in their order."""
    source = lazy_source(X)
    if target not in source.types:
        raise DataError(
            f"expected the name of the target column, got {target!r}; there are "
            f"{', '.join(source.types)}"
        )
    labels: list[Any] = []
    missing = 0
    for block in (
        block for rows in source.partitions for block in rows.blocks(Reading((), target))
    ):
        labels += [block.target.values[code] for code in block.target.codes.tolist()]
        missing += block.missing_targets
    if missing:
        raise DataError(
            f"expected a label for every row, but {missing:,} are missing; leave those rows out"
        )
    return np.array(labels)


def is_path(X: Any) -> bool:  # noqa: N803
    """Tell the path of a dataset from a table."""
    return isinstance(X, str | os.PathLike)


def whole_number(value: Any) -> Any:
    """Return a whole number, such as one of NumPy's, as Python's own; anything else as it is, for
    others to check.
    """
    if isinstance(value, bool):
        return value
    try:
        return operator.index(value)
    except TypeError:
        return value


def _n_workers(n_jobs: Any) -> int:
    """Return how many processes n_jobs stands for; negative numbers count back from all processors,
    as elsewhere.
    """
    wanted = whole_number(n_jobs)
    if not is_whole(wanted) or wanted == 0:
        raise SpecError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")
    return int(wanted) if wanted > 0 else max(1, cores() + 1 + int(wanted))


def _column_name(parameter: str, given: Any, what: str) -> str | None:
    """Return the name of a column beside a path or a Dask DataFrame."""
    if given is None or isinstance(given, str):
        return given
    raise DataError(
        f"expected {parameter} to be the name of a column of {what} beside a path or a Dask "
        f"DataFrame, got {type(given).__name__}"
    )


def _groups(given: Any, n_rows: int) -> pa.Array:
    """Return the group of each row as a column."""
    groups = np.asarray(given)
    if groups.shape != (n_rows,):
        raise DataError(
            f"expected groups to have a value for each of the {n_rows:,} rows, got "
            + (f"{len(groups):,} values" if groups.ndim == 1 else f"{groups.ndim} dimensions")
        )
    try:
        column = pa.array(groups, from_pandas=True)
    except pa.ArrowException as error:
        raise DataError(f"{_GROUPS}, got several ({error})") from error
    if pa.types.is_nested(column.type):
        raise DataError(f"{_GROUPS}, got {column.type}")
    return column


_GROUPS = "expected groups to be numbers, dates or strings, all of one kind"


def _labelled_path(path: Any, target: Any) -> Labelled:
    if not isinstance(target, str):
        raise DataError(
            f"expected the name of the target column beside a path, got {type(target).__name__}"
        )
    return Labelled(lazy_source(path), target, target, None, beside=(target,))


def _labelled_dask(frame: Any, y: Any) -> Labelled:
    if isinstance(y, str):
        return Labelled(lazy_source(frame), y, y, None, beside=(y,))
    if not (hasattr(y, "dask") or hasattr(y, "index")):
        raise DataError(
            "expected the name of the target column, or a series, beside a Dask "
            f"DataFrame, got {type(y).__name__}"
        )
    name = unused_name("target", frame.columns)
    labelled = dask_source(frame.assign(**{name: y}), "X")
    return Labelled(labelled, name, str(_name(y) or "target"), None, beside=_names(y))


def _weighed(
    table: pa.Table,
    target: str,
    labels: Ints,
    classes: Labels,
    weights: Floats | None,
    factors: Floats | None,
) -> tuple[_Weighed, Labels]:
    """Return the rows that weigh something, with their labels as a column of codes, and the classes
    these stand for.

    Rows that weigh nothing are not there, and neither is a class that has no other rows.
    """
    plain = np.ones(len(labels)) if weights is None else weights
    factor = np.ones(len(labels)) if factors is None else factors[labels]
    rows = np.flatnonzero(products(plain, factor))
    left, codes = np.unique(labels[rows], return_inverse=True)
    kept = _two_or_more(classes[left])
    labelled = table.take(pa.array(rows)).append_column(target, pa.array(codes.astype(np.int64)))
    return _Weighed(labelled, plain[rows], factor[rows]), kept


def _names(*given: Any) -> tuple[str, ...]:
    """Return the names of those series that have one: they may well stand in the same table as the
    features.
    """
    return tuple(name for name in map(_name, given) if isinstance(name, str))


def _name(series: Any) -> Any:
    """Return the name of a series, if it has one; that of a Dask array is a key of its graph, and
    says nothing.
    """
    return (
        None
        if hasattr(series, "dask") and not hasattr(series, "index")
        else getattr(series, "name", None)
    )


def _labels(y: Any, n_rows: int) -> tuple[Ints, Labels]:
    """Return the labels as codes, and the classes they stand for, in increasing order."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        labels = column_or_1d(labels, warn=True)
    if labels.ndim != 1:
        raise DataError(
            f"bad input shape: expected one label a row, got an array of {labels.ndim} dimensions"
        )
    if len(labels) != n_rows:
        raise DataError(f"expected as many labels as rows, got {len(labels):,} and {n_rows:,}")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise DataError(
            "Input y contains infinity or a value too large for a label; leave those rows out"
        )
    if labels.dtype.kind in "fO":
        missing = sum(map(_is_absent, labels.tolist()))
        if missing:
            raise DataError(
                f"Input y contains NaN: expected a label for every row, but {missing:,} "
                "are missing; "
                "leave those rows out"
            )
    labels = _plain_labels(labels)
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise DataError(
            f"expected labels of one type, but they cannot be ordered: {error}"
        ) from error
    if len(classes) > 2:
        check_classification_targets(labels)
    if len(classes) < 2:
        raise DataError(f"expected at least two classes to tell apart, got {len(classes)} class")
    return codes.astype(np.int64), classes


def _is_absent(label: Any) -> bool:
    """Say whether a label is None, nan or pandas.NA, which is neither equal to itself nor not."""
    differs = label != label
    return label is None or not isinstance(differs, bool | np.bool_) or bool(differs)


def _plain_labels(labels: Labels) -> Labels:
    """Return labels in the dtype of what they are; those that a model file could not hold are an
    error.
    """
    if labels.dtype.kind in "biufUT":
        return labels
    listed = labels.tolist() if labels.dtype.kind == "O" else [labels]
    for label in listed:
        if not isinstance(label, str | bool | int | float | np.number | np.bool_):
            raise DataError(
                "expected labels that are numbers, booleans or strings, got "
                f"{_kind(label)}; convert y"
            )
    return labels if any(isinstance(label, str) for label in listed) else np.array(listed)


def _kind(label: Any) -> str:
    return str(label.dtype) if isinstance(label, np.ndarray) else type(label).__name__


def _two_or_more(classes: Labels) -> Labels:
    """Return the classes of rows that weigh something, making sure that there is something to tell
    apart.
    """
    if len(classes) < 2:
        raise DataError(
            "expected at least two classes to tell apart, but the rows that weigh more "
            "than zero have the labels "
            f"{classes.tolist()!r}; mend sample_weight or class_weight"
        )
    return classes
