"""The method as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

from msgspec.structs import replace as changed
from sklearn.utils.validation import check_is_fitted

from dnfscale.compare.records import LearnedLabels, data_record, frontier_record, ideal_method
from dnfscale.data.models import parse_model
from dnfscale.errors import SpecError
from dnfscale.estimators.labelled import in_python_words
from dnfscale.estimators.plots import plot_points
from dnfscale.estimators.readable import Readable
from dnfscale.learn.frontier import grow_formulas
from dnfscale.learn.line import LearnedTargets, fold_model, learn_targets
from dnfscale.learn.weighing import with_unit
from dnfscale.method.words import joined_lines, model_lines
from dnfscale.report.run import ReportRun
from dnfscale.results.frontier import Frontier
from dnfscale.results.result import IDEAL, Result
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
    profile : "best" or "paper"
        What sets the parameters below that are None: our recommendation, or the paper to the
        letter.
    search : tuple of "attributes" and "terms", or None
        What is searched: the best attributes, whose combinations are then answered one by one, or
        lines of conditions on any columns.
    max_literals : int, "none" or None
        The most conditions of a formula, or "none" for no limit.
    max_terms : int or None
        The most lines of a formula.
    forms : tuple of "lines" and "checklist", or None
        What a formula may be: lines of which one must hold, or conditions to be ticked off of which
        several must.
    cuts : "median", int, "auto", "entropy" or None
        Where numbers are cut: at the median, at this many quantiles, at as many as the rows are
        good for, or at those of many quantiles that tell about the label.
    cut_at : dict of columns and lists of cuts, or None
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
    missing : "drop", "error", "indicator" or None
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
    max_dropped : float, default 0.2
        A larger share of the rows dropped for missing values is an error.
    max_categories : int, default 10,000
        The most different values that a column of categories may have.
    any_columns : bool, default False
        Whether predictions accept any table that has the columns of the formula, instead of all
        columns of `fit`.
    n_jobs : int or None
        Processes to learn with from a path; None: this process alone; -1: as many as there
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

    feature_importances_ : for each column of `fit`, the accuracy lost when what the formula asks of
        it is summed out of the counts
    frontier_ : the best formula of every length; empty if there are more than two labels

    Rows are chosen for validation by their values, not by their order: the same rows in another
    order give the same formula, and a row of weight 3 counts as that row three times. With a
    Parquet path or a Dask DataFrame they are chosen as in a job, by the order of the rows.
    """

    _frontier: Frontier
    _result: Result

    def __init__(  # noqa: PLR0913 (scikit-learn wants each parameter spelled out)
        self,
        *,
        max_ell: int = 10,
        profile: str = "best",
        search: tuple[str, ...] | None = None,
        max_literals: int | str | None = None,
        max_terms: int | None = None,
        forms: tuple[str, ...] | None = None,
        cuts: str | int | None = None,
        cut_at: Mapping[str, Sequence[float]] | None = None,
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
        missing: str | None = None,
        shrink: str | None = None,
        shrink_rows: float | Sequence[float] | None = None,
        freedom: float | None = None,
        unseen: str | None = None,
        minimize: str = "exact",
        categorical: tuple[str, ...] = (),
        boolean: tuple[str, ...] = (),
        drop: tuple[str, ...] = (),
        max_dropped: float = 0.2,
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
        self.forms = forms
        self.cuts = cuts
        self.cut_at = cut_at
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
        self.max_dropped = max_dropped
        self.max_categories = max_categories
        self.any_columns = any_columns
        self.n_jobs = n_jobs
        self.random_state = random_state

    @in_python_words
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:  # noqa: N803 (scikit-learn's names)
        """Learn from a table and its labels.

        X may be a pandas, Polars or Arrow table or an array, with y the labels; or a Dask DataFrame
        or the path of a dataset, with y the name of its target column (for Dask also a series of
        labels) and sample_weight the name of its column of weights. Rows of the same
        group, such as those of a patient, are never on both sides when rows are set aside; groups
        has a value for each row, or is the name of a column.
        """
        labelled = self._labelled(X, y, sample_weight, groups, times=self._threshold().denominator)
        spec = self.learn_spec(
            labelled.target,
            classes="auto",
            weight=labelled.weight,
            unit=labelled.unit,
            group=labelled.group,
        )
        engine = self._engine(X)
        try:
            spec = with_unit(labelled.source, spec, engine)
            learned = learn_targets(labelled.source, spec, engine)
            several = len(learned.targets) > 1
            grown = [] if several else grow_formulas(learned, spec, engine)
        finally:
            engine.close()
        models = [fold_model(of_label.model, of_label, spec) for of_label in learned.targets]
        self._take(models, learned.kept.table, labelled)
        named = [replace(own, model=self._named([own.model], labelled)[0]) for own in grown]
        self.set_run(
            self._found(learned, spec, labelled.name),
            frontier_record(named, (), name=labelled.name, provenance={}),
        )
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

    def _found(self, learned: LearnedTargets, spec: LearnSpec, name: str) -> Result:
        """Return what was learned as a job would write it."""
        several = len(learned.targets) > 1
        found = LearnedLabels(learned.targets, tuple(self.classes_.tolist()) if several else ())
        return Result(
            name=name,
            kind="fit",
            seed=spec.seed,
            profile=self.profile,
            data=data_record(found),
            methods={IDEAL: ideal_method(found, spec)},
        )

    @property
    def frontier_(self) -> list[dict[str, Any]]:
        """For each length, the best formula of all rows, the shortest first: `literals` (its
        conditions), `lines`, `ell` (the attributes it was chosen for, if it was chosen so),
        `accuracy` on the rows learned from, `formula`, and whether it is the one `shown`. After
        `load` of the folder of a study, the accuracy is that of such formulas on test rows.

        It is empty with more than two labels. `at` gives such a formula as a classifier.
        """
        check_is_fitted(self)
        return [
            {
                "literals": own.literals,
                "lines": own.terms,
                "ell": own.ell,
                "accuracy": own.accuracy,
                "formula": joined_lines(model_lines(parse_model(own.model))),
                "shown": own.shown,
            }
            for own in self._frontier.formulas
        ]

    def at(
        self,
        *,
        literals: int | None = None,
        ell: int | None = None,
        accuracy: float | None = None,
    ) -> Self:
        """Return this classifier with another formula of `frontier_`; nothing is learned again.

        It is the longest of at most so many `literals`, that of `ell` attributes, or the shortest
        that is so accurate.
        """
        check_is_fitted(self)
        given = [value for value in (literals, ell, accuracy) if value is not None]
        if len(given) != 1:
            raise SpecError(
                f"at needs one of literals, ell and accuracy, got {len(given)}; "
                "for example at(literals=5)"
            )
        if not self._frontier.formulas:
            raise SpecError(
                "at needs the formulas by length, which are kept for two labels, but there are "
                f"{len(self.models_)} formulas; set max_literals and fit again"
            )
        if literals is not None:
            found = self._frontier.of_literals(literals)
        elif ell is not None:
            found = self._frontier.of_ell(ell)
        else:
            assert accuracy is not None
            found = self._frontier.of_accuracy(accuracy)
        other = copy(self)
        other._set_models([parse_model(found.model)])
        other._frontier = changed(
            self._frontier,
            formulas=tuple(changed(own, shown=own is found) for own in self._frontier.formulas),
        )
        if not found.shown:
            # What is known of the chosen formula is not true of this one.
            other._result = changed(self._result, methods={})
        return other

    def plot_frontier(self, ax: Any = None) -> Any:
        """Draw the accuracy of the formulas of every length, as axes of matplotlib."""
        points = self.frontier_
        tested = any(own.tested for own in self._frontier.formulas)
        return plot_points(points, ax, tested=tested)

    def set_run(self, result: Result, frontier: Frontier) -> None:
        """Store what is known of the formula beside itself, and the formulas of other lengths."""
        self._result = result
        self._frontier = frontier

    def _run(self) -> ReportRun:
        return ReportRun(self._result, self.models_)

    def learn_spec(self, target: str, **choices: Any) -> LearnSpec:
        """Return the parameters as a LearnSpec, with some choices replaced by the caller's."""
        return self._spec(target, profile=profile_key().checked(self.profile, "profile"), **choices)
