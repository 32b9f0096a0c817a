"""Classifiers out of files: the model of a run, or one that a classifier has saved."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dnfscale.core.arrays import Scalar
from dnfscale.core.model import Model
from dnfscale.core.parts import stored_column
from dnfscale.data.models import read_models
from dnfscale.data.storage import read_bytes
from dnfscale.errors import DataError
from dnfscale.estimators.ideal import IdealClassifier
from dnfscale.estimators.readable import Readable
from dnfscale.formula_size.estimator import FormulaSizeClassifier
from dnfscale.report.notebook import model_result
from dnfscale.results.frontier import FRONTIER_FILE, Frontier, read_frontier
from dnfscale.results.result import Result, read_result
from dnfscale.spec.storage import DEFAULT_ACCESS, joined

_MOST_BYTES = 1 << 30


def load(path: str | os.PathLike[str]) -> Readable:
    """Return the fitted classifier of a model file, or of the folder of a run.

    A file that a classifier has saved gives back its labels and columns. That of a job knows the
    positive labels only: where there are two classes, the classifier answers True and False, or the
    label and its opposite where that is a truth value. With a folder, what the run has found out is
    there too: its page, and `frontier_`. Nothing is unpickled.
    """
    place = os.fspath(path)
    is_file = place.endswith(".json")
    models = read_models(place if is_file else joined(place, "model.json"))
    return classifier_of(
        models,
        None if is_file else _result(place),
        None if is_file else _frontier(place),
    )


def classifier_of(
    models: Sequence[Model],
    result: Result | None = None,
    frontier: Frontier | None = None,
    known: Mapping[str, Any] | None = None,
) -> Readable:
    """Return the fitted classifier of some models, with what a run knows of them; `known` has its
    columns and labels, where the models do not say them.
    """
    fitted = known or _fitted(models)
    columns, labels = _columns(models, fitted), _labels(models, fitted)
    is_tree = any(model.tree is not None for model in models)
    kind = FormulaSizeClassifier if is_tree else IdealClassifier
    classifier: Readable = kind(missing=models[0].missing, any_columns=True)
    classifier.set_fitted(models, columns, np.array(labels))
    if isinstance(classifier, IdealClassifier):
        classifier.set_run(
            result or model_result(models, models[0].target, n_columns=len(columns)),
            frontier or Frontier(name="", formulas=()),
        )
    return classifier


def _fitted(models: Sequence[Model]) -> Mapping[str, Any]:
    """Return what a classifier has written of itself; empty if no classifier wrote the file."""
    found = models[0].provenance.get("fit")
    return found if isinstance(found, dict) else {}


def _columns(models: Sequence[Model], fitted: Mapping[str, Any]) -> list[str]:
    """Return the columns of `fit`, or those that the formulas use."""
    used = [
        stored_column(attribute.column) for model in models for attribute in model.tau.attributes
    ]
    columns = fitted.get("columns")
    if (
        isinstance(columns, list)
        and all(isinstance(name, str) for name in columns)
        and set(used) <= set(columns)
    ):
        return columns
    return list(dict.fromkeys(used))


def _labels(models: Sequence[Model], fitted: Mapping[str, Any]) -> list[Scalar]:
    """Return the labels of the classes, in the order of the answers."""
    if len(models) > 1:
        return [model.positive[0] for model in models]
    positive = models[0].positive
    labels = fitted.get("labels")
    if isinstance(labels, list) and len(labels) == 2 and labels[1:] == list(positive):
        return labels
    return [False, True]


def _result(folder: str) -> Result | None:
    content = _content(joined(folder, "result.json"))
    return None if content is None else read_result(content)


def _frontier(folder: str) -> Frontier | None:
    content = _content(joined(folder, FRONTIER_FILE))
    return None if content is None else read_frontier(content)


def _content(file: str) -> bytes | None:
    """Return what a file holds; None if it is not there."""
    try:
        size, content = read_bytes(file, DEFAULT_ACCESS, most=_MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(
            f"{file}: expected a file of the run, but {error.strerror or error}; "
            "give the model.json of the run instead"
        ) from error
    if content is None:
        raise DataError(
            f"{file}: expected a file of at most 1 GiB, got {size:,} bytes; "
            "give the model.json of the run instead"
        )
    return content
