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
from dnfscale.learn import LearnSpec, learn

_TARGET = "__target__"


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
        labels = np.asarray(y)
        table = _table(X)
        if len(labels) != table.num_rows:
            raise DataError(f"expected as many labels as rows, got {len(labels):,} and {table.num_rows:,}")
        self.classes_ = np.unique(labels)
        if len(self.classes_) != 2:
            raise DataError(f"expected two classes to tell apart, got {len(self.classes_):,}")
        table = table.append_column(_TARGET, pa.array(labels == self.classes_[1]))
        spec = LearnSpec(
            target=_TARGET,
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
        self.model_ = learn(table_source(table, "X"), spec, SerialEngine()).model
        self.formula_ = self.model_.dnf.render(self.model_.tau.names)
        self.attributes_ = list(self.model_.tau.names)
        self.n_features_in_ = table.num_columns - 1
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
        table = table.append_column(_TARGET, pa.array(np.zeros(table.num_rows, dtype=np.bool_)))
        reading = Reading(columns, _TARGET, keep_missing=True)
        blocks = TablePartition(0, table).blocks(reading)
        parts = [types_of(block, columns, self.model_.tau) for block in blocks]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _table(X: Any) -> pa.Table:  # noqa: N803
    """Return a pandas, Arrow or NumPy table as an Arrow table; the columns of an array are called x0, x1, ..."""
    if isinstance(X, pa.Table):
        return X
    if hasattr(X, "__dataframe__") and hasattr(X, "columns"):
        return pa.Table.from_pandas(X, preserve_index=False)
    array = np.asarray(X)
    if array.ndim != 2:
        raise DataError(f"expected a table of rows and columns, got an array of {array.ndim} dimensions")
    return pa.table({f"x{i}": array[:, i] for i in range(array.shape[1])})
