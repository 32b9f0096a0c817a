"""The record of a distillation: fidelity to the classifier that is explained, and the accuracy of both."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dnfscale.experiment.metrics import deviation, mean
from dnfscale.learn.fidelity import agreements
from dnfscale.learn.line import Learned


def distilled_records(learned: Learned, ideal: dict[str, Any], *, known: bool) -> dict[str, dict[str, Any]]:
    """Return the records of the formula and of the classifier; `ideal` was scored by the classifier's answers.

    Its accuracy becomes the fidelity; the accuracy against the truth is null where that is not known.
    """
    found = agreements(learned, known=known)
    correct = [None if each.correct is None else Fraction(each.correct, each.rows) for each in found]
    box_correct = [None if each.box_correct is None else Fraction(each.box_correct, each.rows) for each in found]
    formula = {
        **_accuracies(correct),
        "fidelity_mean": ideal["accuracy_mean"],
        "fidelity_std": ideal["accuracy_std"],
        **{key: value for key, value in ideal.items() if key not in ("accuracy_mean", "accuracy_std", "folds")},
        "folds": [
            {**fold, "fidelity": fold["accuracy"], "accuracy": None if share is None else float(share)}
            for fold, share in zip(ideal["folds"], correct, strict=True)
        ],
    }
    box = {
        **_accuracies(box_correct),
        "folds": [
            {"fold": number, "accuracy": None if share is None else float(share)}
            for number, share in enumerate(box_correct)
        ],
    }
    return {"ideal": formula, "black_box": box}


def _accuracies(shares: list[Fraction | None]) -> dict[str, Any]:
    known = [share for share in shares if share is not None]
    return {"accuracy_mean": mean(known), "accuracy_std": deviation(known)}
