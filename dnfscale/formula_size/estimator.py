"""The formula-size method as a scikit-learn classifier."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self

from dnfscale.estimators.labelled import in_python_words, whole_number
from dnfscale.estimators.readable import Readable
from dnfscale.formula_size import Choice, Limits, SizeResult, choose, search
from dnfscale.formula_size.choice import LEAST_PATIENCE, size_steps
from dnfscale.formula_size.distinct import MAX_TYPES, FoldTypes, count_distinct, type_table, weighed
from dnfscale.formula_size.learned import sized_model
from dnfscale.learn.keeping import keep_rows
from dnfscale.learn.weighing import with_unit
from dnfscale.results.record import plain


class FormulaSizeClassifier(Readable):
    """Learns the formula of a given size with the fewest errors, and the size that does best on
    rows set aside.

    Every symbol, "not", "and" and "or" counts one towards the size. A formula may use any attribute
    of the table, and negate any part. With two labels the formula predicts the larger one; with
    more labels there is a formula for each, and a row gets the label whose formula finds it most
    probable. Needs numba: pip install 'dnfscale[formula-size]'.

    Parameters
    ----------
    max_size : int, default 10
        The largest size to search.
    patience : int, default 4
        The search ends after this many sizes in a row without an improvement on the rows set aside.
    time_limit_s : float or None
        How long the search for one formula may take, and again the search on all rows; then the
        best formula so far is taken.
    max_types : int, default 20,000
        The most distinct rows, as the attributes tell them apart. If there are more, only the best
        attributes by the F-test are searched: half of them, or a quarter, and so on.
    validation : float, default 0.3
        The share of the rows that is set aside to choose the size.
    threshold : float, default 0.5
        Below 1/2 a missed positive counts more than a false alarm: a wrong "no" costs 1 -
        threshold, a wrong "yes" costs threshold, and the formula of least cost is found, exactly.
        It is rounded to the nearest fraction with a denominator of at most a million; the larger
        the denominator, the longer the search takes.
    class_weight : dict, "balanced" or None
        What an error on a row of each label costs.
    missing : "indicator", "drop", "error" or None
        Rows with missing values are kept, with an attribute for missing values (None too), left out
        of the learning, or refused.
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
        Processes to read a path with; None: this process alone; -1: as many as there are
        processors.
    random_state : int, RandomState or None, default 0
        Which rows are for validation.

    Attributes
    ----------
    formula_ : str, or a dict of them by label if there are more than two
    size_ : the nodes of the formula, or a dict
    proved_ : whether no formula of this size has fewer errors on the rows, over all attributes, or
        a dict
    path_ : for each size the errors on the rows searched, the validation accuracy, and whether that
        is proved; or a dict of them. Errors are counted in whole weights; with a threshold other
        than 1/2 there is also their cost and, as the validation score, the share of the cost that
        is avoided on the rows set aside
    attributes_ : list of the names that the formula uses
    classes_ : the labels, in increasing order
    models_ : the formula of each label with its attributes and counts; only one if there are two
        labels
    certificate_ : how far the rows support the formula, as in a model file; None if rows had
        weights; or a dict
    """

    def __init__(  # noqa: PLR0913 (scikit-learn wants each parameter spelled out)
        self,
        *,
        max_size: int = 10,
        patience: int = LEAST_PATIENCE,
        time_limit_s: float | None = None,
        max_types: int = MAX_TYPES,
        validation: float = 0.3,
        threshold: float = 0.5,
        class_weight: Any = None,
        missing: str | None = None,
        categorical: tuple[str, ...] = (),
        boolean: tuple[str, ...] = (),
        drop: tuple[str, ...] = (),
        max_dropped: float = 0.2,
        max_categories: int = 10_000,
        any_columns: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.max_size = max_size
        self.patience = patience
        self.time_limit_s = time_limit_s
        self.max_types = max_types
        self.validation = validation
        self.threshold = threshold
        self.class_weight = class_weight
        self.missing = missing
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
        threshold = self._threshold()
        labelled = self._labelled(X, y, sample_weight, groups, times=threshold.denominator)
        spec = self._spec(
            labelled.target,
            missing=self.missing or "indicator",
            classes="auto",
            weight=labelled.weight,
            unit=labelled.unit,
            group=labelled.group,
        )
        engine = self._engine(X)
        try:
            spec = with_unit(labelled.source, spec, engine)
            kept = keep_rows(labelled.source, spec, engine)
            types = count_distinct(kept, spec, engine, max_types=whole_number(self.max_types))
        finally:
            engine.close()
        found = [self._searched(of_label, threshold) for of_label in types]
        models = [
            sized_model(final.formula, of_label, kept, spec, positive=())
            for of_label, (_, final) in zip(types, found, strict=True)
        ]
        self._take(models, kept.table, labelled)
        self.size_ = self._by_label([final.formula_size for _, final in found])
        self.proved_ = self._by_label(
            [
                final.proved and of_label.exact
                for of_label, (_, final) in zip(types, found, strict=True)
            ]
        )
        self.path_ = self._by_label(
            [
                [
                    plain(step)
                    for step in size_steps(
                        choice,
                        type_table(of_label.train),
                        type_table(of_label.validation),
                        threshold,
                    )
                ]
                for of_label, (choice, _) in zip(types, found, strict=True)
            ]
        )
        return self

    def _searched(self, types: FoldTypes, threshold: Fraction) -> tuple[Choice, SizeResult]:
        """Choose a size on the rows set aside, and search it on all rows."""
        train, validation, whole = (
            type_table(weighed(part, threshold))
            for part in (types.train, types.validation, types.whole)
        )
        path = search(train, Limits(whole_number(self.max_size), self.time_limit_s))
        choice = choose(path, validation, patience=whole_number(self.patience))
        *_, final = search(whole, Limits(choice.chosen.size, self.time_limit_s))
        return choice, final
