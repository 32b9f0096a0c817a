"""The method written with care in pandas and scikit-learn, for one split of a table in memory.

It is what one would write without dnfscale: columns Booleanized at once, discrete mutual
information instead of scikit-learn's slow default, the ideal classifier of a selection by one
grouped count. Every ell fits its `SelectKBest` anew, as the paper's script does; `ShareScores`
computes the scores once a ranking and is the fastest that this way of working can be.

On the same rows it gives the very result of dnfscale: test_bench.py says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.feature_selection import SelectKBest, chi2, f_classif, mutual_info_classif

from dnfscale.data.read import TablePartition
from dnfscale.data.source import Source
from dnfscale.spec.learn import LearnSpec

Indices = npt.NDArray[np.int64]
Score = Callable[[Any, Any], Any]


def mutual_info(attributes: Any, target: Any) -> Any:
    """Return the mutual information of Booleans with the target."""
    return mutual_info_classif(attributes, target, discrete_features=True)


SCORES: dict[str, Score] = {"f": f_classif, "mutual_info": mutual_info, "chi2": chi2}


@dataclass(frozen=True, slots=True)
class Table:
    """A dataset in memory, rows with missing values dropped, and what its columns are."""

    features: pd.DataFrame
    positive: pd.Series
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """Row numbers of the parts of one fold."""

    train: Indices
    validation: Indices
    test: Indices

    @property
    def whole(self) -> Indices:
        """W_0."""
        return np.concatenate([self.train, self.validation])


@dataclass(frozen=True, slots=True)
class Found:
    """What the method found on one split."""

    ell: int
    rank: str
    attributes: tuple[str, ...]
    """In the order of the columns."""
    correct: int
    """Rows of the test part that the formula gets right."""


@dataclass(slots=True)
class ShareScores:
    """A score that is computed on the first call and remembered: one ranking on one
    training part.
    """

    score: Score
    known: Any = None

    def __call__(self, attributes: Any, target: Any) -> Any:
        if self.known is None:
            self.known = self.score(attributes, target)
        return self.known


def frame_of(source: Source) -> pd.DataFrame:
    """Return all rows of a source as a data frame."""
    partition = source.partitions[0]
    return (
        partition.table.to_pandas()
        if isinstance(partition, TablePartition)
        else pd.read_parquet(source.path)
    )


def table_of(frame: pd.DataFrame, spec: LearnSpec) -> Table:
    """Return a dataset with the target and the column roles of a spec."""
    frame = frame.drop(columns=list(spec.drop)).dropna(ignore_index=True)
    labels = spec.positive or (max(frame[spec.target].unique()),)
    features = frame.drop(columns=spec.target)
    flags = tuple(c for c in features if c in spec.boolean or features[c].dtype == bool)
    plain = [c for c in features if c not in flags]
    categories = tuple(
        c for c in plain if c in spec.categorical or not pd.api.types.is_numeric_dtype(features[c])
    )
    numbers = tuple(c for c in plain if c not in categories)
    return Table(features, frame[spec.target].isin(labels), numbers, categories, flags)


def random_split(n_rows: int, outer: int, validation: float, seed: int) -> Split:
    """Return the first of `outer` folds of randomly ordered rows."""
    order = np.random.default_rng(seed).permutation(n_rows)
    test, rest = np.split(order, [n_rows // outer])
    held_out, train = np.split(rest, [int(validation * len(rest))])
    return Split(train, held_out, test)


def learn_split(
    table: Table,
    split: Split,
    spec: LearnSpec,
    *,
    remember: Callable[[Score], Score] = lambda score: score,
) -> Found:
    """Choose ell on the validation part, learn on W_0, and test."""
    attributes = booleanize(table, split.train)
    holds = attributes.to_numpy()
    positive = table.positive.to_numpy()
    train, validation = holds[split.train], holds[split.validation]
    scores = {rank: remember(SCORES[rank]) for rank in spec.rank}
    steps: list[tuple[int, str, Any]] = []
    for ell in range(1, min(spec.max_ell, len(attributes.columns)) + 1):
        best: tuple[int, str, Any] | None = None
        for rank in spec.rank:
            chosen = select(scores[rank], train, positive[split.train], ell)
            accepted = ideal_types(train[:, chosen], positive[split.train])
            correct = count_correct(accepted, validation[:, chosen], positive[split.validation])
            if best is None or correct > best[0]:
                best = correct, rank, chosen
        assert best is not None
        steps.append(best)
    allowed = Fraction(str(spec.tolerance)) * len(split.validation)
    highest = max(correct for correct, _, _ in steps)
    _, rank, chosen = next(step for step in steps if highest - step[0] <= allowed)
    names = [name for name, taken in zip(attributes.columns, chosen, strict=True) if taken]
    refitted = booleanize(table, split.whole)[names].to_numpy()
    accepted = ideal_types(refitted[split.whole], positive[split.whole])
    correct = count_correct(accepted, refitted[split.test], positive[split.test])
    return Found(len(names), rank, tuple(names), correct)


def booleanize(table: Table, reference: Indices) -> pd.DataFrame:
    """Return the attributes of all rows, numbers cut at the medians of the reference rows, in the
    columns' order.
    """
    columns: dict[str, pd.Series] = {}
    medians = table.features[list(table.numbers)].iloc[reference].median()
    for name in table.features:
        values = table.features[name]
        if name in table.numbers:
            columns[f"{name}_above_median"] = values > medians[name]
        elif name in table.flags:
            columns[name] = values == values.max()
        else:
            dummies = pd.get_dummies(values.astype("category"), prefix=name)
            columns |= {column: dummies[column] for column in dummies}
    return pd.DataFrame(columns)


def select(score: Score, attributes: Any, target: Any, ell: int) -> Any:
    """Return which attributes are the best ell."""
    with warnings.catch_warnings():
        # An attribute that is constant in the training part has no F score; it comes last, which is
        # what we want.
        warnings.simplefilter("ignore")
        return SelectKBest(score, k=ell).fit(attributes, target).get_support()


def ideal_types(holds: Any, positive: Any) -> pd.Index:
    """Return the types with c_t / n_t >= 1/2, as integers."""
    counts = pd.Series(positive).groupby(types(holds)).agg(["size", "sum"])
    return counts.index[2 * counts["sum"] >= counts["size"]]


def count_correct(accepted: pd.Index, holds: Any, positive: Any) -> int:
    """Return how many rows are told right by accepting some types."""
    return int((pd.Series(types(holds)).isin(accepted).to_numpy() == positive).sum())


def types(holds: Any) -> Any:
    """Return the type of each row as an integer."""
    return holds @ (1 << np.arange(holds.shape[1]))
