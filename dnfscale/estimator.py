"""The method as a scikit-learn classifier, for tables that fit in memory."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from dnfscale.core.arrays import Ints
from dnfscale.core.columns import Reading
from dnfscale.core.counts import to_dense
from dnfscale.data.datasets import table_source
from dnfscale.data.read import TablePartition
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError
from dnfscale.evaluate import columns_of, types_of
from dnfscale.learn import learn
from dnfscale.table import LearnSpec


class IdealClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns the shortest formula for the best Boolean function of a few attributes.

    Parameters are those of a job spec: `max_ell` attributes at most, `validation` the share of rows that chooses their
    number, `tolerance` how much accuracy a shorter formula may give up, `random_state` the seed of that split.
    """

    def __init__(
        self,
        *,
        max_ell: int = 10,
        rank: tuple[str, ...] = ("f", "mutual_info", "chi2"),
        validation: float = 0.3,
        tolerance: float = 0.01,
        unseen: str = "negative",
        minimize: str = "exact",
        categorical: tuple[str, ...] = (),
        boolean: tuple[str, ...] = (),
        random_state: int = 0,
    ) -> None:
        self.max_ell = max_ell
        self.rank = rank
        self.validation = validation
        self.tolerance = tolerance
        self.unseen = unseen
        self.minimize = minimize
        self.categorical = categorical
        self.boolean = boolean
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 (scikit-learn's names)
        """Learn the formula of the larger of two labels from a table and its labels."""
        table = _table(X)
        labels, self.classes_ = _labels(y, table.num_rows)
        target = _unused_name(table)
        spec = LearnSpec(
            target=target,
            positive=(True,),
            categorical=tuple(self.categorical),
            boolean=tuple(self.boolean),
            rank=tuple(self.rank),
            max_ell=self.max_ell,
            validation=self.validation,
            tolerance=self.tolerance,
            unseen=self.unseen,
            minimize=self.minimize,
            outer=0,
            seed=self.random_state,
        )
        labelled = table.append_column(target, pa.array(labels == self.classes_[1]))
        self.model_ = learn(table_source(labelled, "X"), spec, SerialEngine()).model
        self.formula_ = self.model_.dnf.render(self.model_.tau.names)
        self.attributes_ = list(self.model_.tau.names)
        self.n_features_in_ = table.num_columns
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """Return the label that the formula gives each row; where a value is missing, its attributes are false."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.model_.dnf.accepts(self._types(X)).astype(np.intp)])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return (n_t - c_t + 1) / (n_t + 2) and (c_t + 1) / (n_t + 2) for the type t of each row."""
        check_is_fitted(self)
        n, c = to_dense(self.model_.whole)
        types = self._types(X)
        positive = (c[types] + 1) / (n[types] + 2)
        return np.column_stack([1 - positive, positive])

    def _types(self, X: Any) -> Ints:  # noqa: N803
        table = _table(X)
        columns = columns_of(self.model_.tau)
        absent = [column.name for column in columns if column.name not in table.column_names]
        if absent:
            raise DataError(
                f"expected the columns that the formula uses, but {', '.join(map(repr, absent))} are missing"
            )
        target = _unused_name(table)
        table = table.append_column(target, pa.array(np.zeros(table.num_rows, dtype=np.bool_)))
        blocks = TablePartition(0, table).blocks(Reading(columns, target, keep_missing=True))
        parts = [types_of(block, columns, self.model_.tau) for block in blocks]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _table(X: Any) -> pa.Table:  # noqa: N803
    """Return a pandas, Arrow or NumPy table as an Arrow table; the columns of an array are called x0, x1, ..."""
    try:
        if isinstance(X, pa.Table):
            table = X
        elif hasattr(X, "__dataframe__") and hasattr(X, "columns"):
            table = pa.Table.from_pandas(X, preserve_index=False)
        else:
            array = np.asarray(X)
            if array.ndim != 2:
                raise DataError(f"expected a table of rows and columns, got an array of {array.ndim} dimensions")
            if array.dtype.kind == "c":
                raise DataError("expected real numbers, got complex ones")
            table = pa.table({f"x{i}": array[:, i] for i in range(array.shape[1])})
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise DataError(f"expected columns of one type each, under different names, but {error}") from error
    if not table.num_columns:
        raise DataError("expected a table with at least one column, got none")
    return table


def _labels(y: Any, n_rows: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the labels as an array, and the two classes in increasing order."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise DataError(f"expected one label a row, got an array of {labels.ndim} dimensions")
    if len(labels) != n_rows:
        raise DataError(f"expected as many labels as rows, got {len(labels):,} and {n_rows:,}")
    missing = sum(label is None or label != label for label in labels.tolist())
    if missing:
        raise DataError(f"expected a label for every row, but {missing:,} are missing; leave those rows out")
    try:
        classes = np.unique(labels)
    except TypeError as error:
        raise DataError(f"expected labels of one type, but they cannot be ordered: {error}") from error
    if len(classes) != 2:
        raise DataError(f"expected two classes to tell apart, got {len(classes):,}")
    return labels, classes


def _unused_name(table: pa.Table) -> str:
    """Return a name that no column has, for the target."""
    name = "target"
    while name in table.column_names:
        name += "_"
    return name
