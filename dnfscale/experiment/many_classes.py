"""The record of a study of more than two classes: one formula for each, and their joint answers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from dnfscale.core.arrays import Ints
from dnfscale.core.model import Model
from dnfscale.core.weights import as_weight
from dnfscale.experiment.metrics import deviation, mean
from dnfscale.experiment.records import (
    data_record,
    fold_formula,
    fold_sizes,
    learned_model,
    objective_record,
    positive_weight,
)
from dnfscale.learn.classes import LearnedClasses
from dnfscale.learn.line import Learned, LearnedFold, fold_model
from dnfscale.method.certificate import certificate_of
from dnfscale.spec.learn import LearnSpec


def classes_data_record(learned: LearnedClasses) -> dict[str, Any]:
    """Return the size of the table, and the rows of each class, with their weight if rows have weights."""
    data = data_record(learned.classes[0])
    weighs = "weight" in data
    if weighs:
        data["weight"]["positive"] = None
    classes = [
        {
            "label": label,
            "rows": of_class.positive_rows,
            **({"weight": positive_weight(of_class)} if weighs else {}),
        }
        for label, of_class in zip(learned.labels, learned.classes, strict=True)
    ]
    return {**data, "positive_rows": None, "classes": classes}


def classes_ideal_record(learned: LearnedClasses, spec: LearnSpec) -> dict[str, Any]:
    """Return the record of the formulas of all classes; accuracies are those of their joint answers."""
    first = learned.classes[0]
    accuracies = [_accuracy(learned, fold) for fold in range(len(first.folds))]
    ells = [len(fold.tau) for of_class in learned.classes for fold in of_class.folds or (of_class.model,)]
    return {
        "accuracy_mean": mean(accuracies),
        "accuracy_std": deviation(accuracies),
        "ell_mean": sum(ells) / len(ells),
        **objective_record(learned.classes, spec),
        "folds": [
            {
                **fold_sizes(first.folds[number]),
                "accuracy": float(accuracy),
                "confusion": confusion_record(learned.confusion[number], spec.unit),
                "classes": [
                    {
                        "label": label,
                        **fold_formula(of_class.folds[number], of_class, spec),
                        "certificate": _held_out_certificate(of_class.folds[number], of_class, spec),
                    }
                    for label, of_class in zip(learned.labels, learned.classes, strict=True)
                ],
            }
            for number, accuracy in enumerate(accuracies)
        ],
        "model": {
            "rows": first.rows,
            "classes": [
                {"label": label, **fold_formula(of_class.model, of_class, spec)}
                for label, of_class in zip(learned.labels, learned.classes, strict=True)
            ],
        },
    }


def confusion_record(confusion: Ints, unit: int) -> list[list[int | float]]:
    """Return the number of test rows, or their weight, by their label and by the label they were given."""
    return [[as_weight(cell, unit) for cell in row] for row in confusion.tolist()]


def classes_majority_record(learned: LearnedClasses) -> dict[str, Any]:
    """Return the record of always answering with the most frequent class of W_0; in a tie, the first."""
    accuracies = []
    for number in range(len(learned.classes[0].folds)):
        sizes = [int(of_class.folds[number].whole.c.sum()) for of_class in learned.classes]
        tested = learned.confusion[number].sum(axis=1)
        accuracies.append(Fraction(int(tested[sizes.index(max(sizes))]), int(tested.sum())))
    return {
        "accuracy_mean": mean(accuracies),
        "accuracy_std": deviation(accuracies),
        "folds": [{"fold": number, "accuracy": float(accuracy)} for number, accuracy in enumerate(accuracies)],
    }


def classes_models(learned: LearnedClasses, spec: LearnSpec, *, provenance: dict[str, Any]) -> tuple[Model, ...]:
    """Return the model of every class, from all rows."""
    return tuple(
        replace(learned_model(of_class, spec, provenance=provenance), positive=(label,))
        for label, of_class in zip(learned.labels, learned.classes, strict=True)
    )


def _accuracy(learned: LearnedClasses, fold: int) -> Fraction:
    confusion = learned.confusion[fold]
    return Fraction(int(confusion.trace()), int(confusion.sum()))


def _held_out_certificate(fold: LearnedFold, of_class: Learned, spec: LearnSpec) -> dict[str, Any]:
    """Return the certificate of a fold's formula, from its test rows, which had no part in choosing anything."""
    return certificate_of(fold_model(fold, of_class, spec), counts=fold.test)
