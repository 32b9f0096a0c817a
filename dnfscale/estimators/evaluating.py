"""An evaluation of a model on a table in memory, or on a path, with its display in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dnfscale.apply.evaluation import Asked, evaluate_models
from dnfscale.core.model import Model
from dnfscale.data.frames import dask_source, is_dask, table_source, to_table
from dnfscale.data.models import read_models
from dnfscale.data.source import Source
from dnfscale.datasets.named import open_dataset
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, SpecError
from dnfscale.estimators.labelled import in_python_words
from dnfscale.report.evaluated import evaluation_lines, evaluation_markup, evaluation_page
from dnfscale.results.evaluation import Drift, Evaluation, Finding, evaluation_text
from dnfscale.results.metrics import Figures
from dnfscale.results.slices import Slice

_IN_MEMORY = "the table"


@dataclass(frozen=True, slots=True, repr=False)
class TableEvaluation:
    """What an evaluation found; it shows itself as text, and as tables in a notebook."""

    name: str
    record: Evaluation

    @property
    def metrics(self) -> Figures:
        """The metrics by name, of the rows whose truth is known."""
        return self.record.metrics

    @property
    def drift(self) -> Drift:
        return self.record.drift

    @property
    def slices(self) -> tuple[Slice, ...]:
        return self.record.slices

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What to know before relying on the model for such rows."""
        return self.record.findings

    def to_json(self) -> str:
        """Return it as JSON, schema dnfscale.evaluation/1."""
        return evaluation_text(self.record)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write it as a page."""
        Path(path).write_text(evaluation_page(self.record, self.name), encoding="utf-8")

    def __repr__(self) -> str:
        return evaluation_lines(self.record, self.name)

    def _repr_html_(self) -> str:
        return str(evaluation_markup(self.record))


@in_python_words
def evaluate(
    model: Any, data: Any, y: Any = None, *, slices: Sequence[str] = ()
) -> TableEvaluation:
    """Evaluate a model on new rows: metrics where the truth is known, and how far the rows differ
    from those learned from.

    The model is a fitted classifier of dnfscale, or the path of a model file; data are pandas,
    Polars, Arrow, Dask, an array, or the path of Parquet files. y has the true labels; without it,
    the model's target column has them, if it is there. `slices` are columns: all metrics for each
    of their values.
    """
    models = _models(model)
    source = _source(data, y, models[0].target)
    asked = Asked(slices=(slices,) if isinstance(slices, str) else tuple(slices))
    return TableEvaluation(source.path, evaluate_models(models, source, SerialEngine(), asked))


def _models(model: Any) -> tuple[Model, ...]:
    if isinstance(model, str | PathLike):
        return read_models(fspath(model))
    if isinstance(model, Model):
        return (model,)
    models = getattr(model, "models_", None)
    if models is None:
        raise SpecError(
            "evaluate takes a fitted classifier of dnfscale, or the path of a model file, got "
            f"{type(model).__name__}; call its fit first"
        )
    return tuple(models)


def _source(data: Any, y: Any, target: str) -> Source:
    given = isinstance(data, str | PathLike), is_dask(data)
    if any(given):
        if y is not None:
            raise SpecError("y must be None beside a path or a Dask table; name its column in them")
        return open_dataset(fspath(data)) if given[0] else dask_source(data, _IN_MEMORY)
    table = to_table(data)
    if y is not None:
        labels = _labels(y)
        if len(labels) != table.num_rows:
            raise DataError(
                f"expected as many labels as rows, got {len(labels):,} and {table.num_rows:,}"
            )
        if target in table.column_names:
            table = table.drop_columns([target])
        table = table.append_column(target, labels)
    return table_source(table, _IN_MEMORY)


def _labels(y: Any) -> pa.Array:
    """Return true labels; what pandas takes for missing is not known."""
    try:
        return pa.array(np.asarray(y).tolist(), from_pandas=True)
    except pa.ArrowException as error:
        raise DataError(
            "expected labels of one type in y, all of them numbers, booleans or strings, but "
            f"{error}; convert them"
        ) from error
