"""The formula-size method as a scikit-learn classifier."""

from __future__ import annotations

import itertools
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from dnfscale.core.arrays import Floats, Ints
from dnfscale.distinct import MAX_TYPES, FoldTypes, count_distinct, type_table
from dnfscale.errors import DataError
from dnfscale.labelled import Labelled, Labels, TableClassifier
from dnfscale.learn import BinnedTargets, bin_targets
from dnfscale.method.export.trees import tree_to_latex, tree_to_python, tree_to_sql, tree_to_text
from dnfscale.method.formula_size import Choice, Limits, SizeResult, choose, search, symbols
from dnfscale.method.formula_size.choice import LEAST_PATIENCE
from dnfscale.method.formula_size.model import SizedModel, renumbered, supports
from dnfscale.table import LearnSpec


class FormulaSizeClassifier(TableClassifier):
    """Learns the formula of a given size with the fewest errors, and the size that does best on rows set aside.

    Every symbol, «not», «and» and «or» counts one towards the size. A formula may use any attribute of the table, and
    negate any part. The formula is that of the larger of two labels; with more labels there is one for each, and a row
    gets the label whose formula finds it most probable. Needs numba: pip install 'dnfscale[formula-size]'.

    Parameters
    ----------
    max_size : int, default 10
        The largest size to search.
    patience : int, default 4
        So many sizes in a row that bring nothing on the rows set aside end the search.
    time_limit_s : float or None
        How long the search for one formula may take, and again on all rows; what it has found by then is taken.
    max_types : int, default 20,000
        The most distinct rows, as the attributes tell them apart. Where there are more, only the best attributes are
        searched, half of them or a quarter and so on, by the F-test.
    validation : float, default 0.3
        The share of the rows that chooses the size.
    class_weight : dict, "balanced" or None
        What an error on a row of each label costs.
    missing : "drop", "error" or "indicator"
        Rows with missing values are left out of the learning, refused, or kept, with an attribute that says so.
    categorical, boolean : tuple of str
        Columns of numbers to be read as categories, and two-valued columns to be read as true or false.
    any_columns : bool, default False
        Whether predictions take any table that has the columns of the formula, instead of those of `fit`.
    n_jobs : int or None
        Processes to read a Parquet path with; None: this process alone; -1: as many as there are processors.
    random_state : int, RandomState or None, default 0
        Which rows are for validation.

    Attributes
    ----------
    formula_ : str, or a dict of them by label where there are more than two
    size_ : the nodes of the formula, or a dict
    proved_ : whether no formula of this size has fewer errors on the rows, over all attributes, or a dict
    path_ : for each size the errors on the rows searched, the validation accuracy, and whether that is proved; or a
        dict of them
    attributes_ : list of the names that the formula uses
    classes_ : the labels, in increasing order
    models_ : the formula of each label with its attributes, one where there are two labels
    """

    def __init__(
        self,
        *,
        max_size: int = 10,
        patience: int = LEAST_PATIENCE,
        time_limit_s: float | None = None,
        max_types: int = MAX_TYPES,
        validation: float = 0.3,
        class_weight: Any = None,
        missing: str = "drop",
        categorical: tuple[str, ...] = (),
        boolean: tuple[str, ...] = (),
        any_columns: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.max_size = max_size
        self.patience = patience
        self.time_limit_s = time_limit_s
        self.max_types = max_types
        self.validation = validation
        self.class_weight = class_weight
        self.missing = missing
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
        spec = LearnSpec(
            target=labelled.target,
            classes="auto",
            weight=labelled.weight,
            categorical=tuple(self.categorical),
            boolean=tuple(self.boolean),
            missing=self.missing,
            validation=self.validation,
            outer=0,
            seed=self._seed(),
        )
        engine = self._engine(X)
        try:
            binned = bin_targets(labelled.source, spec, engine)
            types = count_distinct(binned, spec, engine, max_types=self.max_types)
        finally:
            engine.close()
        table = binned.table
        values = np.array(table.summary.target.values)
        self.classes_ = values if labelled.classes is None else labelled.classes[values]
        if labelled.classes is None:
            self.n_features_in_ = len(table.columns)
            self.feature_names_in_ = np.array([column.name for column in table.columns], dtype=object)
        found = [self._searched(of_label) for of_label in types]
        labels = (self.classes_[[1]] if len(found) == 1 else self.classes_).tolist()
        self.models_ = tuple(
            self._model(binned, of_label, final, labelled, label)
            for of_label, (_, final), label in zip(types, found, labels, strict=True)
        )

        def by_label(values: list[Any]) -> Any:
            return values[0] if len(values) == 1 else dict(zip(labels, values, strict=True))

        self.formula_ = by_label([model.formula for model in self.models_])
        self.size_ = by_label([model.size for model in self.models_])
        self.proved_ = by_label(
            [final.proved and of_label.exact for of_label, (_, final) in zip(types, found, strict=True)]
        )
        self.path_ = by_label([_path(choice) for choice, _ in found])
        self.attributes_ = list(dict.fromkeys(name for model in self.models_ for name in model.tau.names))
        return self

    def predict(self, X: Any) -> Labels:  # noqa: N803
        """Return the label of each row."""
        check_is_fitted(self)
        given = self._given(X)
        return np.asarray(self.classes_[given.argmax(axis=1)])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return the probability of each label: (c + 1) / (n + 2) of the n rows that got the same answer in `fit`.

        Where smoothing would cross one half, it stops beside it, so that two labels get what `predict` says. The
        probabilities of more labels are scaled to add up to one.
        """
        check_is_fitted(self)
        given = self._given(X)
        return np.asarray(given / given.sum(axis=1, keepdims=True))

    def explain(self, X: Any) -> list[dict[str, Any]]:  # noqa: N803
        """Say why each row gets its answer: which attributes hold, and the fewest of them that decide the formula.

        With more than two labels it is about the formula of the label that the row gets.
        """
        check_is_fitted(self)
        types = self._types_under(X, [model.tau for model in self.models_])
        given = self._probable(types)
        answers = given.argmax(axis=1)
        known: dict[tuple[int, int], dict[str, Any]] = {}
        explained = []
        for row, answer in enumerate(answers.tolist()):
            place = 0 if len(self.models_) == 1 else answer
            key = place, int(types[place][row])
            if key not in known:
                known[key] = _explanation(self.models_[place], key[1])
            explained.append({"prediction": self.classes_[[answer]].tolist()[0], **known[key]})
        return explained

    def to_sql(self, dialect: str = "duckdb", table: str | None = None, *, label: Any = None) -> str:
        """Return the formula as a Boolean expression of SQL, or as a SELECT from a table."""
        return tree_to_sql(self.model_of(label), dialect, table)

    def to_python(self, *, label: Any = None) -> str:
        """Return the formula as the source of a Python function that needs nothing else."""
        return tree_to_python(self.model_of(label))

    def to_latex(self, *, label: Any = None) -> str:
        """Return the formula as LaTeX."""
        return tree_to_latex(self.model_of(label))

    def to_text(self, *, label: Any = None) -> str:
        """Return the formula as readable conditions."""
        return tree_to_text(self.model_of(label))

    def model_of(self, label: Any = None) -> SizedModel:
        """Return the formula of a label with its attributes; of two labels only the larger has one."""
        check_is_fitted(self)
        known = {model.positive[0]: model for model in self.models_}
        if label is None and len(known) == 1:
            return self.models_[0]
        if label not in known:
            raise DataError(f"expected label to be one of {list(known)!r}, got {label!r}")
        return known[label]

    def _searched(self, types: FoldTypes) -> tuple[Choice, SizeResult]:
        """Choose a size on the rows set aside, and search it on all rows."""
        path = search(type_table(types.train), Limits(self.max_size, self.time_limit_s))
        choice = choose(path, type_table(types.validation), patience=self.patience)
        *_, final = search(type_table(types.whole), Limits(choice.chosen.size, self.time_limit_s))
        return choice, final

    def _model(
        self, binned: BinnedTargets, types: FoldTypes, final: SizeResult, labelled: Labelled, label: Any
    ) -> SizedModel:
        used = list(dict.fromkeys(symbols(final.formula)))
        rejected, accepted = supports(final.formula, type_table(types.whole))
        return SizedModel(
            target=labelled.name,
            positive=(label,),
            tau=binned.booleans.vocabulary(types.fold, [types.attributes[place] for place in used]),
            tree=renumbered(final.formula, {place: number for number, place in enumerate(used)}),
            accepted=accepted,
            rejected=rejected,
            missing=self.missing,
            unit=labelled.unit,
        )

    def _given(self, X: Any) -> Floats:  # noqa: N803
        return self._probable(self._types_under(X, [model.tau for model in self.models_]))

    def _probable(self, types: list[Ints]) -> Floats:
        """Return the probability of each label for rows of these types, before scaling."""
        given = [
            np.array(model.probabilities)[model.accepts(codes).astype(np.intp)]
            for model, codes in zip(self.models_, types, strict=True)
        ]
        return np.column_stack(given if len(given) > 1 else [1 - given[0], given[0]])


def _path(choice: Choice) -> list[dict[str, Any]]:
    return [
        {
            "size": result.size,
            "errors": result.errors,
            "validation_accuracy": correct / max(1, choice.n_rows),
            "proved": result.proved,
        }
        for result, correct in zip(choice.path, choice.correct, strict=True)
    ]


def _explanation(model: SizedModel, code: int) -> dict[str, Any]:
    """Return what holds in a row of a type, and the fewest truth values after which the others do not matter."""
    ell = len(model.tau)
    codes = np.arange(1 << ell)
    accepted = model.accepts(codes)
    answer = bool(accepted[code])
    deciding = next(
        kept
        for n in range(ell + 1)
        for kept in itertools.combinations(range(ell), n)
        if (accepted[(codes ^ code) & sum(1 << place for place in kept) == 0] == answer).all()
    )
    names = model.tau.names
    return {
        "accepted": answer,
        "probability": model.probabilities[answer],
        "formula": model.formula,
        "holds": {name: bool(code >> place & 1) for place, name in enumerate(names)},
        "because": {names[place]: bool(code >> place & 1) for place in deciding},
    }
