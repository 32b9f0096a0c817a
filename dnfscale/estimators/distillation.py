"""Explains a black box by the formula closest to the answers of a fitted classifier.

Fidelity is how often the formula answers as the classifier does, on rows that had no part in
choosing it. Accuracy is how often it is right, if the truth is known. Both come from the same test
folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec.structs import replace as changed

from dnfscale.core.columns import unused_name
from dnfscale.data.frames import in_own_order, table_source, to_table
from dnfscale.data.scored import ANSWERED_YES
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, SpecError
from dnfscale.estimators.ideal import IdealClassifier
from dnfscale.estimators.labelled import whole_number
from dnfscale.learn.fidelity import READINGS, agreements
from dnfscale.learn.line import learn
from dnfscale.report.notebook import model_result, run_card
from dnfscale.report.run import ReportRun
from dnfscale.results.confusion import Confusion
from dnfscale.spec.keys import keys_of
from dnfscale.spec.learn import LearnSpec


@dataclass(frozen=True, slots=True, eq=False)
class Distilled:
    """A formula that explains a classifier, and how close it comes to it."""

    classifier: IdealClassifier
    fidelity: float
    """The share of rows, in test folds, on which the formula answers as the classifier does."""
    accuracy: float | None
    """The share of rows, in test folds, on which the formula is right; None if no y was given."""
    black_box_accuracy: float | None
    """The share of rows on which the classifier is right; too favourable if it was trained on these
    rows.
    """

    @property
    def formula(self) -> Any:
        return self.classifier.formula_

    def _repr_html_(self) -> str:
        models = self.classifier.models_
        run = ReportRun(changed(model_result(models, models[0].target), kind="distill"), models)
        said = f"The formula agrees with the classifier on {self.fidelity:.1%} of the rows"
        if self.accuracy is not None:
            said += f" and is right on {self.accuracy:.1%}"
        return str(run_card(run, f"{said}, in test folds."))


def distill(model: Any, X: Any, y: Any = None, *, folds: int = 10, **parameters: Any) -> Distilled:  # noqa: N803
    """Learn the formula closest to a fitted classifier of two classes.

    The classifier is anything with a `predict`, or a function from X to labels. With y, the true
    labels, the accuracy of both is reported besides the fidelity. The parameters are those of
    IdealClassifier, without class_weight.
    """
    if parameters.get("class_weight") is not None:
        raise SpecError(
            "class_weight must be None in a distillation: every row counts once in the fidelity"
        )
    outer = keys_of(LearnSpec)["folds.outer"].checked(whole_number(folds), "folds")
    predict: Callable[[Any], Any] = model.predict if hasattr(model, "predict") else model
    answers = np.asarray(predict(X))
    classes = np.unique(answers)
    if len(classes) != 2:
        raise DataError(
            f"expected a classifier that answers with two labels, got {len(classes)}: "
            f"{classes[:5]!r}"
        )
    classifier = IdealClassifier(**parameters).fit(X, answers)
    table = to_table(X)
    codes = 2 * (answers == classes[1]).astype(np.int8)
    if y is not None:
        truth = np.asarray(y)
        if truth.shape != (table.num_rows,):
            raise DataError(
                f"expected as many labels as rows, got {truth.shape} and {table.num_rows:,}"
            )
        known = classes.tolist()
        strange = [label for label in truth.tolist() if label not in known]
        if strange:
            raise DataError(
                "expected y to hold the labels that the classifier answers with, "
                f"{known!r}, got {strange[0]!r}; "
                "write both alike"
            )
        codes += (truth == classes[1]).astype(np.int8)
    name = unused_name("answer", table.column_names)
    spec = classifier.learn_spec(name, positive=ANSWERED_YES, others=READINGS, outer=outer)
    answered = in_own_order(table.append_column(name, pa.array(codes)), without=spec.drop)
    learned = learn(table_source(answered, "X"), spec, SerialEngine())
    found = agreements(learned, known=y is not None)
    rows = sum(each.rows for each in found)

    def share(tables: list[Confusion | None]) -> float | None:
        known = [table.correct for table in tables if table is not None]
        return None if y is None else float(Fraction(sum(known), rows))

    return Distilled(
        classifier,
        float(Fraction(sum(each.faithful for each in found), rows)),
        share([each.formula for each in found]),
        share([each.box for each in found]),
    )
