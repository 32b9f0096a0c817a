"""The method as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from dnfscale.estimators.readable import Readable
from dnfscale.learn.line import fold_model, learn_targets
from dnfscale.learn.weighing import with_unit
from dnfscale.spec.job import profile_key
from dnfscale.spec.learn import LearnSpec


class IdealClassifier(Readable):
    """Learns the shortest formula for the best Boolean function of a few attributes.

    With two labels the formula predicts the larger one; with more labels there is a formula for
    each, and a row gets the label whose formula finds it most probable, relative to the formula's
    own threshold if these differ.

    Parameters
    ----------
    max_ell : int, default 10
        The most attributes that a formula may use.
    profile : "paper" or "best"
        What sets the parameters below that are None: the paper to the letter, or our
        recommendation.
    search : tuple of "attributes" and "terms"
        What is searched: the best attributes, whose combinations are then answered one by one, or
        terms of any columns.
    max_literals : int or "none"
        The most conditions of a formula, or "none" for no limit.
    max_terms : int or None
        The most lines of a formula.
    cuts : "median", int, "auto", "entropy" or None
        Where numbers are cut: at the median, at this many quantiles, at as many as the rows are
        good for, or at those of many quantiles that tell about the label.
    at : dict of columns and lists of cuts, or None
        Columns that are cut at these values instead.
    intervals : bool or None
        Whether an interval between two cuts of a column may be an attribute too.
    parts : tuple of "weekday", "hour", "month", a dict of columns and such, or None
        The parts of dates and times that become columns of their own.
    rare : int, default 0
        Categories of fewer rows than this have no attribute of their own.
    rank : tuple of str or None
        Rankings of attributes to try: some, such as "f" and "mutual_info", judge them one by one,
        others, such as "forward" and "additive", together. `dnfscale.spec.registry.RANKINGS` lists
        them.
    validation : float, default 0.3
        The share of the rows that is set aside to choose the number of attributes.
    validation_splits : int, "auto" or None
        Over how many such splits the choice is averaged.
    tolerance : float or None
        How much of the best validation accuracy a formula of fewer attributes may give up.
    rule : "tolerance", "standard_error" or None
        "standard_error": it may give up no more than one standard error either.
    drop_duplicates : bool or None
        Whether attributes that equal another one, or its negation, in all rows looked at are left
        out.
    objective : "accuracy", "balanced_accuracy" or "f_beta"
        What the formula is to be good at.
    beta : float, default 1
        How many times as much as precision recall counts in F-beta.
    threshold : float, default 0.5
        A type of row is accepted when at least this share of it is positive. Below 1/2 a missed
        positive counts more than a false alarm: a wrong "no" costs 1 - threshold, a wrong "yes"
        costs threshold. It is rounded to the nearest fraction with a denominator of at most a
        million.
    class_weight : dict, "balanced" or None
        What an error on a row of each label costs.
    missing : "drop", "error" or "indicator"
        Rows with missing values are left out of the learning, refused, or kept, with an attribute
        for missing values. In predictions a missing value makes the attributes of its column false;
        with "error" it is refused there too, and arrays must be finite.
    shrink : "none", "support", "parent", "linear" or None
        What decides for a type of few rows: its own rows alone ("none"), also those of the type
        with one attribute less ("support", "parent"), or also a logistic regression ("linear").
    shrink_rows : float, sequence of float or None
        How many rows a type must have of its own for them to weigh as much as the other evidence,
        or with "support" to decide alone; of several values, the best in validation. 8 unless the
        profile says otherwise.
    freedom : float or None
        The share of the rows that a shorter formula may be expected to get wrong in addition.
    unseen : "negative", "dont_care", "follow" or None
        The formula's answer for combinations that no row had: no, whatever makes it shortest, or
        that of `shrink`.
    minimize : "exact", "sympy" or "none"
        How the formula is made short.
    categorical, boolean : tuple of str
        Columns of numbers to be read as categories, and two-valued columns to be read as true or
        false.
    drop : tuple of str
        Columns to ignore, such as identifiers.
    max_categories : int, default 10,000
        The most different values that a column of categories may have.
    any_columns : bool, default False
        Whether predictions accept any table that has the columns of the formula, instead of all
        columns of `fit`.
    n_jobs : int or None
        Processes to learn with from a Parquet path; None: this process alone; -1: as many as there
        are processors.
    random_state : int, RandomState or None, default 0
        Which rows are for validation.

    Attributes
    ----------
    formula_ : str, or a dict of them by label if there are more than two
    attributes_ : list of the names that the formula uses
    classes_ : the labels, in increasing order
    models_ : the formula of each label with its attributes and counts; only one if there are two
        labels
    sweep_ : for each number of attributes, the best ranking and its validation accuracy; a dict of
        them by label if there are more than two
    curve_ : for each length of formulas and each search, the validation score; empty if the formula
        was chosen by its attributes alone; a dict of them by label if there are more than two
    certificate_ : how far the rows support the formula, as in a model file; None if rows had
        weights; a dict of them by label if there are more than two labels

    Rows are chosen for validation by their values, not by their order: the same rows in another
    order give the same formula, and a row of weight 3 counts as that row three times. With a
    Parquet path or a Dask DataFrame they are chosen as in a job, by the order of the rows.
    """

    def __init__(  # noqa: PLR0913 (scikit-learn wants each parameter spelled out)
        self,
        *,
        max_ell: int = 10,
        profile: str = "paper",
        search: tuple[str, ...] = ("attributes",),
        max_literals: int | str = "none",
        max_terms: int | None = None,
        cuts: str | int | None = None,
        at: Mapping[str, Sequence[float]] | None = None,
        intervals: bool | None = None,
        parts: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
        rare: int = 0,
        rank: tuple[str, ...] | None = None,
        validation: float = 0.3,
        validation_splits: int | str | None = None,
        tolerance: float | None = None,
        rule: str | None = None,
        drop_duplicates: bool | None = None,
        objective: str = "accuracy",
        beta: float = 1.0,
        threshold: float = 0.5,
        class_weight: Any = None,
        missing: str = "drop",
        shrink: str | None = None,
        shrink_rows: float | Sequence[float] | None = None,
        freedom: float | None = None,
        unseen: str | None = None,
        minimize: str = "exact",
        categorical: tuple[str, ...] = (),
        boolean: tuple[str, ...] = (),
        drop: tuple[str, ...] = (),
        max_categories: int = 10_000,
        any_columns: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.max_ell = max_ell
        self.profile = profile
        self.search = search
        self.max_literals = max_literals
        self.max_terms = max_terms
        self.cuts = cuts
        self.at = at
        self.intervals = intervals
        self.parts = parts
        self.rare = rare
        self.rank = rank
        self.validation = validation
        self.validation_splits = validation_splits
        self.tolerance = tolerance
        self.rule = rule
        self.drop_duplicates = drop_duplicates
        self.objective = objective
        self.beta = beta
        self.threshold = threshold
        self.class_weight = class_weight
        self.missing = missing
        self.shrink = shrink
        self.shrink_rows = shrink_rows
        self.freedom = freedom
        self.unseen = unseen
        self.minimize = minimize
        self.categorical = categorical
        self.boolean = boolean
        self.drop = drop
        self.max_categories = max_categories
        self.any_columns = any_columns
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: N803 (scikit-learn's names)
        """Learn from a table and its labels.

        X may be a pandas, Polars or Arrow table or an array, with y the labels; or a Dask DataFrame
        or the path of a Parquet dataset, with y the name of its target column (for Dask also a
        series of labels) and sample_weight the name of its column of weights.
        """
        labelled = self._labelled(X, y, sample_weight, times=self._threshold().denominator)
        spec = self.learn_spec(
            labelled.target, classes="auto", weight=labelled.weight, unit=labelled.unit
        )
        engine = self._engine(X)
        try:
            spec = with_unit(labelled.source, spec, engine)
            learned = learn_targets(labelled.source, spec, engine)
        finally:
            engine.close()
        models = [fold_model(of_label.model, of_label, spec) for of_label in learned.targets]
        self._take(models, learned.kept.table, labelled)
        self.sweep_ = self._by_label(
            [
                [
                    {
                        "ell": step.ell,
                        "rank": step.rank,
                        "validation_accuracy": step.correct
                        / max(1, of_label.model.sweep.validation_rows),
                    }
                    for step in of_label.model.sweep.steps
                ]
                for of_label in learned.targets
            ]
        )
        self.curve_ = self._by_label(
            [
                [
                    {
                        "literals": own.point.literals,
                        "search": own.point.search,
                        "form": own.point.form,
                        "validation_score": float(own.point.score),
                    }
                    for own in (
                        of_label.model.decision.candidates if of_label.model.decision else ()
                    )
                ]
                for of_label in learned.targets
            ]
        )
        return self

    def learn_spec(self, target: str, **choices: Any) -> LearnSpec:
        """Return the parameters as a LearnSpec, with some choices replaced by the caller's."""
        return self._spec(target, profile=profile_key().checked(self.profile, "profile"), **choices)
