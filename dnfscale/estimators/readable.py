"""What every fitted classifier of formulas offers: answers, explanations, exports, and its display
in a notebook.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from dnfscale.core.arrays import Codes, Ints
from dnfscale.core.lookalikes import lookalikes
from dnfscale.core.model import Model, relative_tables
from dnfscale.core.parts import stored_column
from dnfscale.core.planes import joined
from dnfscale.data.frames import is_dask
from dnfscale.data.models import classes_text, model_text
from dnfscale.errors import DataError
from dnfscale.estimators.labelled import Labelled, Labels, TableClassifier, is_path, labels_in
from dnfscale.estimators.plots import plot_formula, plot_shares
from dnfscale.export.latex import export_latex
from dnfscale.learn.dropped import dropped_rows
from dnfscale.learn.table import Table
from dnfscale.method import narrate
from dnfscale.method.certificate import certified
from dnfscale.method.explain import Explanation, explain_types, to_record
from dnfscale.method.importance import lost_accuracies
from dnfscale.report.notebook import MOST_EXPLAINED, explained, model_result, run_card
from dnfscale.report.page import render_report
from dnfscale.report.run import ReportRun
from dnfscale.spec.keys import keys_of
from dnfscale.spec.registry import EXPORTS, Export


class Explanations(list[Any]):
    """Explanations of rows; a notebook shows them in words."""

    def __init__(self, found: Sequence[Any], rows: Sequence[tuple[Model, Explanation]]) -> None:
        super().__init__(found)
        self._rows = rows

    def _repr_html_(self) -> str:
        shown = [narrate.write(model, known) for model, known in self._rows[:MOST_EXPLAINED]]
        return str(explained(shown, len(self._rows)))


class Readable(TableClassifier):
    """A classifier whose answers come from formulas: one for two labels, or one for each
    of more.
    """

    models_: tuple[Model, ...]

    def predict(self, X: Any) -> Labels:  # noqa: N803 (scikit-learn's name for a table)
        """Return the label of each row."""
        check_is_fitted(self)
        types = self._types(self._planes(X))
        if len(types) > 1:
            answers = self._given(types).argmax(axis=1)
        else:
            table = self.models_[0].table()
            answers = table.accepted[table.places(types[0])]
        return np.asarray(self.classes_[answers.astype(np.intp)])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Return the probability of each label, from (c_t + 1) / (n_t + 2) for the type t of each
        row.

        Smoothing never crosses the threshold: of two labels, `predict` gives the larger one exactly
        when its probability is above the threshold. The probabilities of more labels are divided by
        the thresholds of their formulas, if these differ, and scaled to add up to one, so that the
        most probable label is the one that `predict` gives. With `objective="balanced_accuracy"`
        this is how probable each label would be if all were equally frequent.
        """
        check_is_fitted(self)
        given = self._given(self._types(self._planes(X)))
        return np.asarray(given / given.sum(axis=1, keepdims=True))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: N803
        """Return the share of rows that get their true label; for a path or a Dask DataFrame, y may
        name the target.
        """
        labels = labels_in(X, y) if isinstance(y, str) and (is_path(X) or is_dask(X)) else y
        return float(super().score(X, labels, sample_weight))

    def decision(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """Return the type of each row, its rows n and positive rows c among those learned from, and
        the answer.

        It is a record array with the fields type (bit i is the truth value of attribute i, or of
        line i where the model's types are patterns of lines), n, c and accepted; with more than two
        labels it has one column for each.
        """
        check_is_fitted(self)
        columns = []
        for model, types in zip(self.models_, self._types(self._planes(X)), strict=True):
            table = model.table()
            places = table.places(types)
            fields = [("type", np.int64), ("n", np.int64), ("c", np.int64), ("accepted", np.bool_)]
            column = np.empty(len(types), dtype=fields)
            column["type"], column["n"], column["c"] = types, table.n[places], table.c[places]
            column["accepted"] = table.accepted[places]
            columns.append(column)
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    def explain(self, X: Any, *, text: bool = False) -> Explanations:  # noqa: N803
        """Explain each row's answer: which lines hold, why others fail, and the smallest change
        that would flip it.

        Each explanation is a dict as `dnfscale explain --json` writes it or, with `text`, the same
        in words. With more than two labels it is about the formula of the label that the row gets.
        A notebook shows the words.
        """
        check_is_fitted(self)
        planes = self._planes(X)
        n_rows = planes[0].shape[1]
        answering = (
            np.zeros(n_rows, dtype=np.intp)
            if len(self.models_) == 1
            else self._given(self._types(planes)).argmax(axis=1)
        )
        found: list[Any] = [None] * n_rows
        rows_told: list[Any] = [None] * n_rows
        for place, model in enumerate(self.models_):
            rows = np.flatnonzero(answering == place)
            codes = joined(planes[place][:, rows]).tolist()
            known = explain_types(model, set(codes))
            for row, code in zip(rows.tolist(), codes, strict=True):
                rows_told[row] = model, known[code]
                found[row] = (
                    narrate.write(model, known[code]) if text else to_record(model, known[code])
                )
        return Explanations(found, rows_told)

    def save(self, path: Any) -> None:
        """Write a model file, which `dnfscale predict`, `explain` and `export` can read."""
        check_is_fitted(self)
        models = [replace(model, provenance=self._provenance(model)) for model in self.models_]
        text = model_text(models[0]) if len(models) == 1 else classes_text(models)
        Path(path).write_text(text + "\n", encoding="utf-8")

    def _provenance(self, model: Model) -> dict[str, Any]:
        """Return what a model file also says, so that `load` gives the same classifier."""
        fitted = {"columns": list(self._columns), "labels": self.classes_.tolist()}
        return {**model.provenance, "fit": fitted}

    def model_of(self, label: Any = None) -> Model:
        """Return the formula of a label with its attributes and counts; if there are two, only the
        larger has one.
        """
        check_is_fitted(self)
        known = {model.positive[0]: model for model in self.models_}
        if label is None and len(known) == 1:
            return self.models_[0]
        if label not in known:
            raise DataError(f"expected label to be one of {list(known)!r}, got {label!r}")
        return known[label]

    def _take(self, models: Sequence[Model], table: Table, labelled: Labelled) -> None:
        """Store the learned formulas as the fitted attributes."""
        _warn_of_dropped(table)
        # All rows of a class may have been dropped for missing values.
        values = np.array(table.summary.target.values)
        self.classes_ = values if labelled.classes is None else labelled.classes[values]
        if labelled.classes is None:
            self._set_columns(
                tuple(dict.fromkeys(stored_column(column.name) for column in table.columns))
            )
        self._set_models(self._named(models, labelled))

    def _named(self, models: Sequence[Model], labelled: Labelled) -> tuple[Model, ...]:
        """Return models with the names and the labels of whoever called `fit`."""
        labels = (self.classes_[[1]] if len(models) == 1 else self.classes_).tolist()
        # The columns that we add, for labels and weights, are not part of the dataset; those of the
        # caller may be.
        alike = labelled.alike
        named = (
            replace(
                model,
                target=labelled.name,
                positive=(label,),
                weighted=model.weighted or labelled.weighted,
                lookalikes=lookalikes(model.tau, alike),
            )
            for model, label in zip(models, labels, strict=True)
        )
        return tuple(map(certified, named))

    def _set_models(self, models: Sequence[Model]) -> None:
        """Store formulas, and what follows from them alone."""
        self.models_ = tuple(models)
        self.formula_ = self._by_label([model.formula for model in self.models_])
        self.certificate_ = self._by_label(
            [dict(model.certificate) if model.certificate else None for model in self.models_]
        )
        self.attributes_ = list(
            dict.fromkeys(name for model in self.models_ for name in model.tau.names)
        )

    def _by_label(self, values: Sequence[Any]) -> Any:
        """Return the value of the only formula, or a dict of the values by label."""
        labels = (model.positive[0] for model in self.models_)
        return values[0] if len(values) == 1 else dict(zip(labels, values, strict=True))

    def _planes(self, X: Any) -> list[Codes]:  # noqa: N803
        """Return the attributes of each row for each formula, as planes."""
        return self._planes_under(X, [model.tau for model in self.models_])

    def _types(self, planes: Sequence[Codes]) -> list[Ints]:
        """Return the type of each row under each formula."""
        return [
            model.types_in(own).astype(np.int64)
            for model, own in zip(self.models_, planes, strict=True)
        ]

    def _given(self, types: Sequence[Ints]) -> npt.NDArray[np.float64]:
        tables = relative_tables(self.models_)
        given = [
            table.probability[table.places(own)] for table, own in zip(tables, types, strict=True)
        ]
        return np.column_stack(given if len(given) > 1 else [1 - given[0], given[0]])

    def report(self, path: Any) -> None:
        """Write the page of the formula: one HTML file that loads nothing."""
        check_is_fitted(self)
        page = render_report([self._run()])
        Path(path).write_text(page, encoding="utf-8")

    def plot(self, ax: Any = None, *, label: Any = None) -> Any:
        """Draw the lines of the formula, or of that of a label, with the rows that each accepts, as
        axes of matplotlib.
        """
        return plot_formula(self.model_of(label), ax)

    def plot_calibration(self, X: Any, y: Any, ax: Any = None, *, label: Any = None) -> Any:  # noqa: N803
        """Draw how often rows have a label, by default the larger of two, against the probability
        that `predict_proba` gives it.
        """
        check_is_fitted(self)
        wanted = self.classes_[1] if label is None and len(self.classes_) == 2 else label
        place = np.flatnonzero(self.classes_ == wanted)
        if len(place) != 1:
            known = self.classes_.tolist()
            raise DataError(f"expected label to be one of {known!r}, got {label!r}")
        return plot_shares(self.predict_proba(X)[:, place[0]], np.asarray(y) == wanted, ax)

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """For each column of `fit`, the accuracy lost when what the formula asks of it is summed
        out of the counts.

        The accuracy is that of the best answer for each type of row, on the rows learned from.
        Where types of rows are patterns of lines, the lines that mention the column are summed out.
        With more than two labels it is the mean over their formulas.
        """
        check_is_fitted(self)
        lost = [lost_accuracies(model) for model in self.models_]
        return np.array(
            [sum(own.get(column, 0.0) for own in lost) / len(lost) for column in self._columns]
        )

    def _run(self) -> ReportRun:
        """Return what the page of the formula is made from."""
        name = self.models_[0].target
        result = model_result(self.models_, name, n_columns=len(self._columns))
        return ReportRun(result, self.models_)

    def set_fitted(self, models: Sequence[Model], columns: Sequence[str], classes: Labels) -> None:
        """Become the fitted classifier of some formulas over some columns, with these labels."""
        self.classes_ = classes
        self._set_columns(columns)
        self._set_models(models)

    def _set_columns(self, columns: Sequence[str]) -> None:
        self._columns = list(columns)
        self.n_features_in_ = len(self._columns)
        self.feature_names_in_ = np.array(self._columns, dtype=object)

    def _html_repr(self) -> str:
        """Return the HTML that a notebook shows: the formula of a fitted classifier."""
        if not hasattr(self, "models_"):
            return str(super()._html_repr())
        return str(run_card(self._run()))

    def _repr_latex_(self) -> str | None:
        return (
            "\n".join(export_latex(model) for model in self.models_)
            if hasattr(self, "models_")
            else None
        )


def _warn_of_dropped(table: Table) -> None:
    if table.reading.keep_missing:
        return
    dropped = dropped_rows(table.summary, table.columns)
    if dropped.rows:
        warnings.warn(
            f"fit left out {dropped.rows:,} of {dropped.of:,} rows because values are missing: "
            f'{dropped.reasons}; missing="indicator" keeps them',
            UserWarning,
            stacklevel=4,
        )


def _export_method(export: Export) -> Callable[..., Any]:
    """Return the method `to_NAME` of a classifier, given what is registered of an export."""
    options = [] if export.options is None else list(keys_of(export.options).values())

    def method(self: Readable, *values: Any, label: Any = None, **named: Any) -> Any:
        check_is_fitted(self)
        given = dict(zip((known.name for known in options), values, strict=False)) | named
        if label is None and len(self.models_) > 1 and export.write_several is not None:
            return export.write_several(self.models_, **given)
        return export.write(self.model_of(label), **given)

    of_method = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    of_options = [
        inspect.Parameter(
            known.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=known.default
        )
        for known in options
    ]
    of_label = inspect.Parameter("label", inspect.Parameter.KEYWORD_ONLY, default=None)
    method.__signature__ = inspect.Signature([of_method, *of_options, of_label])  # type: ignore[attr-defined]
    method.__name__ = f"to_{export.name}"
    method.__qualname__ = f"{Readable.__name__}.{method.__name__}"
    described = [f"    {known.name}: {known.help}" for known in options]
    method.__doc__ = "\n".join(
        [f"Return the formula as {export.title}.", *([""] if described else []), *described]
    )
    return method


for _export in EXPORTS.values():
    setattr(Readable, f"to_{_export.name}", _export_method(_export))
