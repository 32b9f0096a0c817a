"""The method as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from dnfscale.learn import fold_model, learn_targets
from dnfscale.readable import Readable
from dnfscale.table import LearnSpec
from dnfscale.weights import threshold_fraction


class IdealClassifier(Readable):
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
        labelled = self._labelled(X, y, sample_weight, times=threshold_fraction(self.threshold).denominator)
        spec = self.learn_spec(labelled.target, classes="auto", weight=labelled.weight)
        engine = self._engine(X)
        try:
            learned = learn_targets(labelled.source, spec, engine)
        finally:
            engine.close()
        models = [fold_model(of_label.model, of_label, spec) for of_label in learned.targets]
        self._take(models, learned.binned.table, labelled)
        self.sweep_ = self._by_label(
            [
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
        )
        return self

    def learn_spec(self, target: str, **choices: Any) -> LearnSpec:
        """Return the parameters as what `learn` takes, with some choices of its own."""
        spec = LearnSpec(
            target=target,
            categorical=tuple(self.categorical),
            boolean=tuple(self.boolean),
            missing=self.missing,
            rank=tuple(self.rank),
            max_ell=int(self.max_ell) if isinstance(self.max_ell, np.integer) else self.max_ell,
            validation=self.validation,
            tolerance=self.tolerance,
            threshold=threshold_fraction(self.threshold),
            unseen=self.unseen,
            minimize=self.minimize,
            outer=0,
            seed=self._seed(),
        )
        return replace(spec, **choices)
