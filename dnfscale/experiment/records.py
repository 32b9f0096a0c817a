"""The record of a study: what result.json says about what was learned, and the model of all rows.

The shape is fixed by the schema dnfscale.result/1. Nothing in it depends on how the rows were partitioned, on workers,
or on the time it took; what does goes into `timing` and `environment`, which the runner adds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dnfscale.core.arrays import Bools
from dnfscale.core.model import HALF, Model
from dnfscale.core.parts import stored_column
from dnfscale.core.weights import as_weight
from dnfscale.experiment.comparison import compare
from dnfscale.experiment.metrics import deviation, formula_accuracy, majority_accuracy, mean, single_accuracy
from dnfscale.experiment.tuning import Tuned, Untuned
from dnfscale.learn.choosing import objective_of
from dnfscale.learn.frontier import Grown
from dnfscale.learn.line import Learned, LearnedFold, fold_model
from dnfscale.method.certificate import certificate_of
from dnfscale.method.ideal import correct_rows
from dnfscale.method.intervals import term_supports
from dnfscale.method.objective import Objective
from dnfscale.spec.learn import LearnSpec

RESULT_SCHEMA = "dnfscale.result/1"


def data_record(learned: Learned) -> dict[str, Any]:
    """Return the size of the table that was learned from, and its total weight, if rows have weights."""
    return {
        "rows": learned.rows,
        "rows_dropped": learned.rows_dropped,
        "columns": len({stored_column(column.name) for column in learned.columns}),
        "attributes": learned.n_attributes,
        "positive_rows": learned.positive_rows,
        **({"silent_columns": list(learned.silent_columns)} if learned.silent_columns else {}),
        **_weight_record(learned),
    }


def _weight_record(learned: Learned) -> dict[str, Any]:
    reading, counts = learned.table.reading, learned.model.whole
    if reading.weight is None:
        return {}
    return {
        "weight": {
            "column": reading.weight,
            "total": as_weight(counts.n_rows, reading.unit),
            "positive": positive_weight(learned),
            "rows_without": learned.table.summary.weightless,
        }
    }


def positive_weight(learned: Learned) -> int | float:
    """Return the total weight of the positive rows."""
    return as_weight(int(learned.model.whole.c.sum()), learned.table.reading.unit)


def ideal_record(learned: Learned, spec: LearnSpec) -> dict[str, Any]:
    """Return the record of the ideal classifier method; without test folds its accuracies are null.

    The certificate of a fold comes from its test rows, which had no part in choosing anything.
    """
    ells = [len(fold.tau) for fold in learned.folds] or [len(learned.model.tau)]
    accuracies = [formula_accuracy(fold) for fold in learned.folds]
    return {
        "accuracy_mean": mean(accuracies),
        "accuracy_std": deviation(accuracies),
        "ell_mean": sum(ells) / len(ells),
        **objective_record([learned], spec),
        "folds": [
            {
                **fold_sizes(fold),
                "accuracy": float(accuracy),
                **fold_formula(fold, learned, spec),
                "certificate": certificate_of(fold_model(fold, learned, spec), counts=fold.test),
            }
            for fold, accuracy in zip(learned.folds, accuracies, strict=True)
        ],
        "model": {
            "rows": learned.rows,
            "training_accuracy": _training_accuracy(learned.model),
            **fold_formula(learned.model, learned, spec),
        },
    }


def frontier_record(grown: Sequence[Grown]) -> list[dict[str, Any]]:
    """Return how accuracy grows with length, for each number of attributes."""
    return [
        {
            "ell": each.ell,
            "accuracy_mean": float(each.accuracy),
            "literals_mean": float(each.literals),
            "terms_mean": float(each.terms),
        }
        for each in grown
    ]


def objective_record(targets: Sequence[Learned], spec: LearnSpec) -> dict[str, Any]:
    """Return how good the formulas are at their objective, on test rows; empty if the objective is accuracy.

    Of several targets it is the mean over their formulas, each by itself. Where errors do not all cost the same, it is
    the share of the cost that is not incurred. Beside it stands how good the better constant answer is.
    """
    objective = objective_of(spec)
    if spec.objective == "accuracy" and spec.threshold == HALF:
        return {}

    def mean_score(folds: Sequence[LearnedFold], accepted: Callable[[LearnedFold], Bools]) -> Fraction:
        return sum((objective.score(accepted(fold), fold.test) for fold in folds), start=Fraction()) / len(folds)

    by_fold = list(zip(*(learned.folds for learned in targets), strict=True))
    values = [mean_score(folds, lambda fold: fold.dnf.accepts(fold.test.codes)) for folds in by_fold]
    constant = [mean_score(folds, partial(_better_constant, objective=objective)) for folds in by_fold]
    details = {"f_beta": {"beta": float(spec.beta)}, "accuracy": {"threshold": float(spec.threshold)}}
    return {
        "objective": {
            "name": "cost" if spec.objective == "accuracy" else spec.objective,
            "beta": None,
            **details.get(spec.objective, {}),
        },
        "objective_mean": mean(values),
        "objective_std": deviation(values),
        "objective_constant_mean": mean(constant),
    }


def _better_constant(fold: LearnedFold, *, objective: Objective) -> Bools:
    """Return the same answer for every type of the test rows: the one that is better on the rows learned from."""
    always = np.ones(len(fold.whole.codes), dtype=np.bool_)
    says_yes = objective.score(always, fold.whole) > objective.score(~always, fold.whole)
    return np.full(len(fold.test.codes), says_yes)


def _training_accuracy(fold: LearnedFold) -> float:
    """Return the share of the rows learned from that the formula of a fold gets right."""
    return correct_rows(fold.dnf.accepts(fold.whole.codes), fold.whole) / fold.whole.n_rows


def majority_record(learned: Learned) -> dict[str, Any]:
    """Return the record of always giving the more frequent answer."""
    return _plain_record([(majority_accuracy(fold), {}) for fold in learned.folds])


def one_rule_record(learned: Learned) -> dict[str, Any]:
    """Return the record of the best single attribute."""
    return _plain_record([(single_accuracy(fold), {"attribute": fold.single.attribute}) for fold in learned.folds])


def tuned_record(chains: Sequence[Tuned | Untuned]) -> dict[str, Any]:
    """Return the record of a tuned method; a fold that failed has its error, and does not count in the means."""
    done = [Fraction(chain.test_correct, chain.test_rows) for chain in chains if isinstance(chain, Tuned)]
    return {
        "accuracy_mean": mean(done),
        "accuracy_std": deviation(done),
        "failed_folds": len(chains) - len(done),
        "folds": [_tuned_fold(chain) for chain in chains],
    }


def comparison_records(methods: Mapping[str, dict[str, Any]], data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Compare the ideal method with every other method that finished all folds."""
    folds = methods["ideal"]["folds"]
    sizes = [fold["test_rows"] for fold in folds]
    exact = _weighted_shares if "weight" in data else partial(_row_shares, sizes=sizes)
    trained = [fold["train_rows"] + fold["validation_rows"] for fold in folds]
    records = []
    for other, record in methods.items():
        if other == "ideal" or any("accuracy" not in fold for fold in record["folds"]):
            continue
        found = compare(exact(folds), exact(record["folds"]), test_share=sum(sizes) / max(1, sum(trained)))
        if found is not None:
            records.append({"method": "ideal", "other": other, **asdict(found)})
    return records


def _row_shares(folds: Sequence[Mapping[str, Any]], *, sizes: Sequence[int]) -> list[Fraction]:
    """Return recorded accuracies as exact fractions of the test rows."""
    return [Fraction(round(fold["accuracy"] * size), size) for fold, size in zip(folds, sizes, strict=True)]


def _weighted_shares(folds: Sequence[Mapping[str, Any]]) -> list[Fraction]:
    """Return recorded accuracies that are shares of weights, with the precision of the record."""
    return [Fraction(fold["accuracy"]) for fold in folds]


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
        "pruned_trials": chain.pruned_trials,
    }


def learned_model(learned: Learned, spec: LearnSpec, *, provenance: dict[str, Any]) -> Model:
    """Return the formula of all rows as a model, with its certificate."""
    model = fold_model(learned.model, learned, spec)
    return replace(model, certificate=certificate_of(model), provenance=provenance)


def fold_sizes(fold: LearnedFold) -> dict[str, Any]:
    """Return the number of a fold and the rows of its parts."""
    return {
        "fold": fold.fold,
        "train_rows": fold.train_rows,
        "validation_rows": fold.validation_rows,
        "test_rows": fold.test_rows,
    }


def fold_formula(fold: LearnedFold, learned: Learned, spec: LearnSpec) -> dict[str, Any]:
    """Return the formula of a fold and how it was chosen; if not by accuracy, with the score that decided."""
    names = learned.attribute_names
    by_accuracy = spec.objective == "accuracy" and spec.threshold == HALF
    shrink = fold.sweep.chosen.shrink
    return {
        "ell": len(fold.tau),
        "used": fold.dnf.n_attributes,
        "rank": fold.rank,
        **({} if shrink.rule == "none" else {"shrink_rows": shrink.rows}),
        "attributes": list(fold.tau.names),
        "formula": fold.dnf.render(fold.tau.names),
        "terms": len(fold.dnf.terms),
        "literals": fold.dnf.n_literals,
        "term_counts" if spec.weight is None else "term_weights": [
            {"n": as_weight(n, spec.unit), "c": as_weight(c, spec.unit)} for n, c in term_supports(fold.dnf, fold.whole)
        ],
        "minimized": {"status": str(fold.minimized.status), "gap_literals": fold.minimized.gap_literals},
        "sweep": [
            {
                "ell": step.ell,
                "rank": step.rank,
                "attributes": [names[a] for a in step.attributes],
                "validation_accuracy": _share(step.correct, fold.sweep.validation_rows),
                **({} if by_accuracy else {"validation_score": float(step.score)}),
                "by_rank": {
                    rank: _share(correct, fold.sweep.validation_rows) for rank, correct in step.correct_by_rank.items()
                },
            }
            for step in fold.sweep.steps
        ],
    }


def _share(part: int, whole: int) -> float | None:
    """Return part / whole; None if the whole is 0."""
    return part / whole if whole else None
