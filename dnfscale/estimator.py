"""The method as a scikit-learn classifier."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dnfscale.core.arrays import Ints
from dnfscale.core.columns import Reading
from dnfscale.data.datasets import is_named, open_named, table_source
from dnfscale.data.frames import dask_source, is_dask, is_frame, own_order, repeated, to_table
from dnfscale.data.source import Source, feature_columns, open_source
from dnfscale.engine.api import Engine
from dnfscale.engine.launch import ClusterSpec, launch
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, SpecError
from dnfscale.evaluate import check_columns, columns_of, types_of
from dnfscale.learn import fold_model, learn_targets
from dnfscale.method.certificate import certificate_of
from dnfscale.readable import Readable
from dnfscale.table import LearnSpec
from dnfscale.weights import MOST_WEIGHT, class_factors, products, repeats, sample_weights, whole_weights

_Labels = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class _Labelled:
    """Rows to learn from: a source, its target, and what the target's values stand for."""

    source: Source
    target: str
    name: str
    classes: _Labels | None
    """The labels that the codes in the target column mean; None where it holds the labels themselves."""
    weight: str | None = None
    unit: int = 1
    weighted: bool = False


class IdealClassifier(Readable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns the shortest formula for the best Boolean function of a few attributes.

    The formula is that of the larger of two labels; with more labels there is one for each, and a row gets the label
    whose formula finds it most probable.

    Parameters
    ----------
    max_ell : int, default 10
        The most attributes that a formula may use.
    rank : tuple of str, default ("f", "mutual_info", "chi2")
        Rankings of attributes to try.
    validation : float, default 0.3
        The share of the rows that chooses the number of attributes.
    tolerance : float, default 0.01
        How much of the best validation accuracy a formula of fewer attributes may give up.
    threshold : float, default 0.5
        A type of row is accepted when at least this share of it is positive. Below 1/2 a missed positive counts more
        than a false alarm: a wrong «no» costs 1 - threshold, a wrong «yes» costs threshold. It stands for the nearest
        fraction with a denominator of at most a million.
    class_weight : dict, "balanced" or None
        What an error on a row of each label costs.
    missing : "drop", "error" or "indicator"
        Rows with missing values are left out of the learning, refused, or kept, with an attribute that says so. In
        predictions a missing value makes the attributes of its column false. With "error" it is refused there too, and
        arrays must be finite.
    unseen : "negative" or "dont_care"
        What the formula says of combinations that no row had: no, or whatever is shortest.
    minimize : "exact", "sympy" or "none"
        How the formula is made short.
    categorical, boolean : tuple of str
        Columns of numbers to be read as categories, and two-valued columns to be read as true or false.
    any_columns : bool, default False
        Whether predictions take any table that has the columns of the formula, instead of those of `fit`.
    n_jobs : int or None
        Processes to learn with from a Parquet path; None: this process alone; -1: as many as there are processors.
    random_state : int, RandomState or None, default 0
        Which rows are for validation.

    Attributes
    ----------
    formula_ : str, or a dict of them by label where there are more than two
    attributes_ : list of the names that the formula uses
    classes_ : the labels, in increasing order
    models_ : the formula of each label with its attributes and counts, one where there are two labels
    sweep_ : for each number of attributes, the best ranking and its validation accuracy; a dict of them by label
        where there are more than two
    certificate_ : how far the rows support the formula, as in a model file; None where rows had weights; a dict of
        them by label where there are more than two labels

    The rows that validate are chosen by what the rows hold, not by their order: the same rows in another order give the
    same formula, and a row of weight 3 is that row three times. A Parquet path or a Dask DataFrame is learned from as a
    job does it, by the order of its rows.
    """

    def __init__(
        self,
        *,
        max_ell: int = 10,
        rank: tuple[str, ...] = ("f", "mutual_info", "chi2"),
        validation: float = 0.3,
        tolerance: float = 0.01,
        threshold: float = 0.5,
        class_weight: Any = None,
        missing: str = "drop",
        unseen: str = "negative",
        minimize: str = "exact",
        categorical: tuple[str, ...] = (),
        boolean: tuple[str, ...] = (),
        any_columns: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.max_ell = max_ell
        self.rank = rank
        self.validation = validation
        self.tolerance = tolerance
        self.threshold = threshold
        self.class_weight = class_weight
        self.missing = missing
        self.unseen = unseen
        self.minimize = minimize
        self.categorical = categorical
        self.boolean = boolean
        self.any_columns = any_columns
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: N803 (scikit-learn's names)
        """Learn from a table and its labels.

        X may be a pandas, Polars or Arrow table or an array, with y the labels; or a Dask DataFrame or the path of a
        Parquet dataset, with y the name of its target column (beside Dask also a series of labels).
        """
        labelled = self._labelled(X, y, sample_weight)
        spec = self.learn_spec(labelled.target, classes="auto", weight=labelled.weight)
        engine: Engine = (
            SerialEngine()
            if self.n_jobs is None or not _is_path(X)
            else launch(ClusterSpec(kind="local", workers=_n_workers(self.n_jobs)))
        )
        try:
            learned = learn_targets(labelled.source, spec, engine)
        finally:
            engine.close()
        table = learned.targets[0].table
        # Rows that were dropped for missing values may have taken a class with them.
        values = np.array(table.summary.target.values)
        found = values if labelled.classes is None else labelled.classes[values]
        self.classes_ = found
        if labelled.classes is None:
            self.n_features_in_ = len(table.columns)
            self.feature_names_in_ = np.array([column.name for column in table.columns], dtype=object)
        labels = found[[1]] if len(learned.targets) == 1 else found
        self.models_ = tuple(
            replace(
                fold_model(of_label.model, of_label, spec),
                target=labelled.name,
                positive=(label,),
                unit=labelled.unit,
                weighted=labelled.weighted,
            )
            for of_label, label in zip(learned.targets, labels.tolist(), strict=True)
        )
        sweeps = [
            [
                {
                    "ell": step.ell,
                    "rank": step.rank,
                    "validation_accuracy": step.correct / max(1, of_label.model.sweep.validation_rows),
                }
                for step in of_label.model.sweep.steps
            ]
            for of_label in learned.targets
        ]
        formulas = [model.formula for model in self.models_]
        self.formula_ = formulas[0] if len(formulas) == 1 else dict(zip(labels.tolist(), formulas, strict=True))
        self.sweep_ = sweeps[0] if len(sweeps) == 1 else dict(zip(labels.tolist(), sweeps, strict=True))
        certificates = [None if model.weighted else certificate_of(model) for model in self.models_]
        self.certificate_ = (
            certificates[0] if len(certificates) == 1 else dict(zip(labels.tolist(), certificates, strict=True))
        )
        self.attributes_ = list(dict.fromkeys(name for model in self.models_ for name in model.tau.names))
        return self

    def predict(self, X: Any) -> _Labels:  # noqa: N803
        """Return the label of each row."""
        check_is_fitted(self)
        types = self._types(X)
        answers = self._given(types).argmax(axis=1) if len(types) > 1 else self.models_[0].accepted()[types[0]]
        return np.asarray(self.classes_[answers.astype(np.intp)])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return the probability of each label, from (c_t + 1) / (n_t + 2) for the type t of each row.

        Where smoothing would cross the threshold, it stops beside it, so that two labels get what `predict` says. The
        probabilities of more labels are scaled to add up to one.
        """
        check_is_fitted(self)
        given = self._given(self._types(X))
        return np.asarray(given / given.sum(axis=1, keepdims=True))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the attributes that the formulas use."""
        check_is_fitted(self)
        return np.array(self.attributes_, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        # A number is cut once, at its median: three blobs in two columns cannot be told apart with 83 %, as
        # scikit-learn's check expects of a classifier without this tag; 81 % is the most that four cells allow.
        tags.classifier_tags.poor_score = True
        return tags

    def learn_spec(self, target: str, **choices: Any) -> LearnSpec:
        """Return the parameters as what `learn` takes, with some choices of its own."""
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31)
        spec = LearnSpec(
            target=target,
            categorical=tuple(self.categorical),
            boolean=tuple(self.boolean),
            missing=self.missing,
            rank=tuple(self.rank),
            max_ell=int(self.max_ell) if isinstance(self.max_ell, np.integer) else self.max_ell,
            validation=self.validation,
            tolerance=self.tolerance,
            threshold=_fraction(self.threshold),
            unseen=self.unseen,
            minimize=self.minimize,
            outer=0,
            seed=int(seed),
        )
        return replace(spec, **choices)

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> _Labelled:  # noqa: N803
        if y is None:
            raise DataError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None: give the "
                "labels, or the name of the target column"
            )
        if _is_path(X) or is_dask(X):
            if sample_weight is not None or self.class_weight is not None:
                raise DataError("sample_weight and class_weight need a table in memory, got a path or a Dask DataFrame")
            return _labelled_path(X, y) if _is_path(X) else _labelled_dask(X, y)
        return self._labelled_table(X, y, sample_weight)

    def _labelled_table(self, X: Any, y: Any, sample_weight: Any) -> _Labelled:  # noqa: N803
        table = self._checked(X, reset=True)
        labels, classes = _labels(y, table.num_rows)
        weights = sample_weights(sample_weight, table.num_rows)
        factors = class_factors(self.class_weight, classes, labels, weights)
        plain = np.ones(len(labels)) if weights is None else weights
        factor = np.ones(len(labels)) if factors is None else factors[labels]
        weighed = products(plain, factor)
        # Rows that weigh nothing are not there, and neither is a class that has no other rows.
        rows = np.flatnonzero(weighed)
        left, labels = np.unique(labels[rows], return_inverse=True)
        classes, plain, factor, weighed = _two_or_more(classes[left]), plain[rows], factor[rows], weighed[rows]
        names = _unused_names(table, ("target", "weight"))
        table = table.take(pa.array(rows)).append_column(names[0], pa.array(labels.astype(np.int64)))
        # Columns that cannot be learned from are told of before their rows are put in order.
        feature_columns(table_source(table, "X"), target=names[0], drop=(), categorical=(), boolean=())
        name = str(getattr(y, "name", None) or "target")
        often = repeats(plain, most=max(10 * table.num_rows, 1 << 20))
        if weights is not None and often is not None:
            # A row that counts three times is three rows, also where rows are dealt into parts.
            table, weighed, plain = repeated(table, often), np.repeat(factor, often), np.ones(often.sum())
            weights = None
        if weights is None and factors is None:
            source = table_source(table.take(pa.array(own_order(table))), "X")
            return _Labelled(source, names[0], name, classes, weighted=sample_weight is not None)
        times, unit = whole_weights(weighed, most=min(MOST_WEIGHT, (1 << 62) // _fraction(self.threshold).denominator))
        if isinstance(self.class_weight, str):
            # «balanced» leaves the weight of all rows together as it was: a row of weight one is an average one.
            unit = max(1, round(float(times.sum()) / float(plain.sum())))
        order = own_order(table, times)
        order = order[times[order] > 0]
        table = table.take(pa.array(order)).append_column(names[1], pa.array(times[order]))
        return _Labelled(table_source(table, "X"), names[0], name, classes, names[1], unit, weighted=True)

    def _checked(self, X: Any, *, reset: bool) -> pa.Table:  # noqa: N803
        """Return rows as an Arrow table, making sure that they have the columns they should have."""
        if not is_frame(X):
            finite = self.missing == "error"
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=finite)  # noqa: N806
        elif reset or not self.any_columns:
            validate_data(self, X, reset=reset, skip_check_array=True)
        return to_table(X)

    def _types(self, X: Any) -> list[Ints]:  # noqa: N803
        """Return the type of each row under each formula."""
        source = open_path(X) if _is_path(X) else dask_source(X, "X") if is_dask(X) else None
        if source is None:
            source = table_source(self._checked(X, reset=False), "X")
        columns = columns_of(*(model.tau for model in self.models_))
        check_columns([model.tau for model in self.models_], source.types, source.path)
        reading = Reading(columns, None, keep_missing=True)
        parts: list[list[Ints]] = [[np.empty(0, dtype=np.int64)] for _ in self.models_]
        for block in (block for partition in source.partitions for block in partition.blocks(reading)):
            if self.missing == "error" and any(block.missing):
                raise DataError(
                    f"expected no missing values, because missing = 'error', but "
                    f"{sum(block.missing):,} of the values that the formula needs are missing"
                )
            for part, model in zip(parts, self.models_, strict=True):
                part.append(types_of(block, columns, model.tau))
        return [np.concatenate(part) for part in parts]


def open_path(path: Any) -> Source:
    """Open the Parquet dataset at a path, or a dataset by its name."""
    text = os.fspath(path)
    return open_named(text)[0] if is_named(text) else open_source(text)


def _is_path(X: Any) -> bool:  # noqa: N803
    return isinstance(X, str | os.PathLike)


def _fraction(threshold: Any) -> Fraction:
    try:
        return Fraction(str(threshold)).limit_denominator(1_000_000)
    except (ValueError, ZeroDivisionError) as error:
        raise SpecError(f"threshold must be a number above 0 and below 1, got {threshold!r}") from error


def _n_workers(n_jobs: Any) -> int:
    """Return how many processes n_jobs stands for; negative numbers count back from all processors, as elsewhere."""
    if not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise SpecError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")
    return int(n_jobs) if n_jobs > 0 else max(1, len(os.sched_getaffinity(0)) + 1 + int(n_jobs))


def _labelled_path(path: Any, target: Any) -> _Labelled:
    if not isinstance(target, str):
        raise DataError(f"expected the name of the target column beside a path, got {type(target).__name__}")
    return _Labelled(open_path(path), target, target, None)


def _labelled_dask(frame: Any, y: Any) -> _Labelled:
    if isinstance(y, str):
        return _Labelled(dask_source(frame, "X"), y, y, None)
    if not (hasattr(y, "dask") or hasattr(y, "index")):
        raise DataError(
            f"expected the name of the target column, or a series, beside a Dask DataFrame, got {type(y).__name__}"
        )
    name = "target"
    while name in frame.columns:
        name += "_"
    labelled = dask_source(frame.assign(**{name: y}), "X")
    return _Labelled(labelled, name, str(getattr(y, "name", None) or "target"), None)


def _labels(y: Any, n_rows: int) -> tuple[Ints, _Labels]:
    """Return the labels as codes, and the classes they stand for, in increasing order."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        labels = column_or_1d(labels, warn=True)
    if labels.ndim != 1:
        raise DataError(f"bad input shape: expected one label a row, got an array of {labels.ndim} dimensions")
    if len(labels) != n_rows:
        raise DataError(f"expected as many labels as rows, got {len(labels):,} and {n_rows:,}")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise DataError("Input y contains infinity or a value too large for a label; leave those rows out")
    if labels.dtype.kind in "fO":
        missing = sum(map(_is_absent, labels.tolist()))
        if missing:
            raise DataError(
                f"Input y contains NaN: expected a label for every row, but {missing:,} are missing; "
                "leave those rows out"
            )
    labels = _plain_labels(labels)
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise DataError(f"expected labels of one type, but they cannot be ordered: {error}") from error
    if len(classes) > 2:
        check_classification_targets(labels)
    if len(classes) < 2:
        raise DataError(f"expected at least two classes to tell apart, got {len(classes)} class")
    return codes.astype(np.int64), classes


def _is_absent(label: Any) -> bool:
    """Say whether a label is None, nan or pandas.NA, which is neither equal to itself nor not."""
    differs = label != label
    return label is None or not isinstance(differs, bool | np.bool_) or bool(differs)


def _plain_labels(labels: _Labels) -> _Labels:
    """Return labels in the dtype of what they are; those that a model file could not hold are an error."""
    if labels.dtype.kind in "biufUT":
        return labels
    listed = labels.tolist() if labels.dtype.kind == "O" else [labels]
    for label in listed:
        if not isinstance(label, str | bool | int | float | np.number | np.bool_):
            raise DataError(f"expected labels that are numbers, booleans or strings, got {_kind(label)}; convert y")
    return labels if any(isinstance(label, str) for label in listed) else np.array(listed)


def _kind(label: Any) -> str:
    return str(label.dtype) if isinstance(label, np.ndarray) else type(label).__name__


def _two_or_more(classes: _Labels) -> _Labels:
    """Return the classes of rows that weigh something, making sure that there is something to tell apart."""
    if len(classes) < 2:
        raise DataError(
            f"expected at least two classes to tell apart, but the rows that weigh more than zero have the labels "
            f"{classes.tolist()!r}; mend sample_weight or class_weight"
        )
    return classes


def _unused_names(table: pa.Table, wanted: tuple[str, ...]) -> list[str]:
    """Return names that no column has."""
    names = []
    for name in wanted:
        while name in table.column_names:
            name += "_"
        names.append(name)
    return names
