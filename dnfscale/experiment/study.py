"""The record of a study: what result.json and model.json say of what was learned.

The shapes are fixed by the schemas dnfscale.result/1 and dnfscale.model/1. Nothing in them depends on how the rows were
partitioned, on workers, or on the time it took; what does goes into `timing` and `environment`, which the runner adds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from dnfscale.core.arrays import Scalar
from dnfscale.core.vocabulary import Above, Attribute, Equals, IsMissing, IsTrue
from dnfscale.experiment.comparison import compare
from dnfscale.experiment.metrics import deviation, formula_accuracy, majority_accuracy, mean, single_accuracy
from dnfscale.experiment.tuning import Tuned, Untuned
from dnfscale.learn import Learned, LearnedFold
from dnfscale.method.bounds import separation
from dnfscale.method.ideal import ideal_errors

RESULT_SCHEMA = "dnfscale.result/1"
MODEL_SCHEMA = "dnfscale.model/1"
_DELTA = 0.05

_TESTS: dict[type[Attribute], str] = {Above: "above", Equals: "equals", IsTrue: "true", IsMissing: "missing"}


def data_record(learned: Learned) -> dict[str, Any]:
    """Return the size of the table that was learned from."""
    return {
        "rows": learned.rows,
        "rows_dropped": learned.rows_dropped,
        "columns": len(learned.columns),
        "attributes": len(learned.attribute_names),
        "positive_rows": learned.positive_rows,
    }


def ideal_record(learned: Learned) -> dict[str, Any]:
    """Return what a result says of the ideal classifier method; without test folds its accuracies are null."""
    ells = [len(fold.tau) for fold in learned.folds] or [len(learned.model.tau)]
    accuracies = [formula_accuracy(fold) for fold in learned.folds]
    return {
        "accuracy_mean": mean(accuracies),
        "accuracy_std": deviation(accuracies),
        "ell_mean": sum(ells) / len(ells),
        "folds": [
            {**_fold_sizes(fold), "accuracy": float(accuracy), **_fold_formula(fold, learned)}
            for fold, accuracy in zip(learned.folds, accuracies, strict=True)
        ],
        "model": {
            "rows": learned.model.whole.n_rows,
            "training_accuracy": 1 - ideal_errors(learned.model.whole) / learned.model.whole.n_rows,
            **_fold_formula(learned.model, learned),
        },
    }


def majority_record(learned: Learned) -> dict[str, Any]:
    """Return what a result says of always giving the more frequent answer."""
    return _plain_record([(majority_accuracy(fold), {}) for fold in learned.folds])


def one_rule_record(learned: Learned) -> dict[str, Any]:
    """Return what a result says of the best single attribute."""
    return _plain_record([(single_accuracy(fold), {"attribute": fold.single.attribute}) for fold in learned.folds])


def tuned_record(chains: Sequence[Tuned | Untuned]) -> dict[str, Any]:
    """Return what a result says of a tuned method; a fold that failed carries its error and does not count."""
    done = [Fraction(chain.test_correct, chain.test_rows) for chain in chains if isinstance(chain, Tuned)]
    return {
        "accuracy_mean": mean(done),
        "accuracy_std": deviation(done),
        "failed_folds": len(chains) - len(done),
        "folds": [_tuned_fold(chain) for chain in chains],
    }


def comparison_records(methods: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare the ideal method with every other that finished all folds."""
    folds = methods["ideal"]["folds"]
    sizes = [fold["test_rows"] for fold in folds]
    trained = [fold["train_rows"] + fold["validation_rows"] for fold in folds]
    records = []
    for other, record in methods.items():
        if other == "ideal" or any("accuracy" not in fold for fold in record["folds"]):
            continue
        found = compare(
            _exact(folds, sizes), _exact(record["folds"], sizes), test_share=sum(sizes) / max(1, sum(trained))
        )
        if found is not None:
            records.append({"method": "ideal", "other": other, **asdict(found)})
    return records


def _exact(folds: Sequence[Mapping[str, Any]], sizes: Sequence[int]) -> list[Fraction]:
    """Return accuracies as the fractions of test rows that they are."""
    return [Fraction(round(fold["accuracy"] * size), size) for fold, size in zip(folds, sizes, strict=True)]


def _plain_record(folds: Sequence[tuple[Fraction, dict[str, Any]]]) -> dict[str, Any]:
    accuracies = [accuracy for accuracy, _ in folds]
    return {
        "accuracy_mean": mean(accuracies),
        "accuracy_std": deviation(accuracies),
        "folds": [
            {"fold": number, "accuracy": float(accuracy), **facts} for number, (accuracy, facts) in enumerate(folds)
        ],
    }


def _tuned_fold(chain: Tuned | Untuned) -> dict[str, Any]:
    if isinstance(chain, Untuned):
        return {"fold": chain.fold, "error": chain.error}
    return {
        "fold": chain.fold,
        "accuracy": chain.test_correct / chain.test_rows,
        "validation_accuracy": _share(chain.validation_correct, chain.validation_rows),
        "params": chain.params,
        "trials": chain.trials,
        "failed_trials": chain.failed_trials,
    }


def model_record(learned: Learned, *, target: str, provenance: dict[str, Any]) -> dict[str, Any]:
    """Return the formula of all rows as a model file says it."""
    model = learned.model
    names = model.tau.names
    return {
        "schema": MODEL_SCHEMA,
        "target": target,
        "positive": [_json_value(label) for label in learned.positive],
        "attributes": [
            {
                "name": attribute.name,
                "column": attribute.column,
                "test": _TESTS[type(attribute)],
                "value": None if isinstance(attribute, IsMissing) else _json_value(attribute.value),
            }
            for attribute in model.tau.attributes
        ],
        "terms": [[{"attribute": index, "value": holds} for index, holds in term.literals] for term in model.dnf.terms],
        "counts": [
            {"type": [bool(code >> i & 1) for i in range(len(names))], "n": n, "c": c}
            for code, n, c in zip(
                model.whole.codes.tolist(), model.whole.n.tolist(), model.whole.c.tolist(), strict=True
            )
        ],
        "formula": model.dnf.render(names),
        "certificate": {
            "rows": model.whole.n_rows,
            "delta": _DELTA,
            "epsilon": separation(model.whole.n_rows, len(names), _DELTA),
            "chosen_on_the_same_rows": True,
        },
        "provenance": provenance,
    }


def _fold_sizes(fold: LearnedFold) -> dict[str, Any]:
    return {
        "fold": fold.fold,
        "train_rows": fold.train_rows,
        "validation_rows": fold.validation_rows,
        "test_rows": fold.test_rows,
    }


def _fold_formula(fold: LearnedFold, learned: Learned) -> dict[str, Any]:
    names = learned.attribute_names
    return {
        "ell": len(fold.tau),
        "rank": fold.rank,
        "attributes": list(fold.tau.names),
        "formula": fold.dnf.render(fold.tau.names),
        "terms": len(fold.dnf.terms),
        "literals": fold.dnf.n_literals,
        "minimized": {"status": str(fold.minimized.status), "gap_literals": fold.minimized.gap_literals},
        "sweep": [
            {
                "ell": step.ell,
                "rank": step.rank,
                "attributes": [names[a] for a in step.attributes],
                "validation_accuracy": _share(step.correct, fold.sweep.validation_rows),
                "by_rank": {
                    rank: _share(correct, fold.sweep.validation_rows) for rank, correct in step.correct_by_rank.items()
                },
            }
            for step in fold.sweep.steps
        ],
    }


def _json_value(value: Scalar | None) -> Scalar | None:
    """Return a value as JSON can hold it: the cuts -inf and inf are written as text."""
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def _share(part: int, whole: int) -> float | None:
    """Return part of whole as a fraction; None where there is no whole."""
    return part / whole if whole else None
