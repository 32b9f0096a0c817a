"""The record of the formula-size method in a study: one formula for two classes, or one for each of several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dnfscale.core.arrays import Ints, Scalar
from dnfscale.core.model import Model, relative_probabilities
from dnfscale.core.splits import TEST, TRAIN, VALIDATION
from dnfscale.core.weights import as_weight
from dnfscale.data.models import classes_record, model_record
from dnfscale.engine.api import Engine
from dnfscale.experiment.many_classes import confusion_record
from dnfscale.experiment.metrics import deviation, mean
from dnfscale.experiment.sizes import SEARCH_SIZES, SizeBudget, Sized, Unsized, size_folds
from dnfscale.experiment.tuning import Notes
from dnfscale.learn.classes import Answering, count_answers, plan_answers
from dnfscale.learn.distinct import COUNT_DISTINCT, count_distinct, type_table
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.phases import Layout, PlannedPhase
from dnfscale.learn.places import Place
from dnfscale.learn.sized import counts_over, sized_model, used_attributes
from dnfscale.learn.table import Table
from dnfscale.method.certificate import certificate_of
from dnfscale.method.formula_size import errors_of
from dnfscale.method.formula_size.choice import cost_record, path_record
from dnfscale.spec.learn import LearnSpec


@dataclass(frozen=True, slots=True)
class SizedStudy:
    """The results of the formula-size method."""

    record: dict[str, Any]
    """Its record in result.json."""
    model: dict[str, Any] | None
    """The contents of the model file of all rows; None if a search failed."""
    seconds: float
    """The time of counting distinct rows and of all searches that succeeded, also of those from an earlier run."""


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """The formula of a class in a fold, and the search that found it."""

    sized: Sized
    model: Model


def size_study(
    kept: KeptRows,
    spec: LearnSpec,
    budget: SizeBudget,
    engine: Engine,
    notes: Notes,
    *,
    provenance: Mapping[str, Any],
    clock: Callable[[], float],
) -> SizedStudy:
    """Run the formula-size method in all folds, for every class that has a formula."""
    started = clock()
    types = count_distinct(kept, spec, engine, max_types=budget.max_types)
    counting_s = clock() - started
    ends = size_folds(types, budget, engine, notes, threshold=spec.threshold)
    positives = kept.table.positives
    found = {
        end.types.place: end
        if isinstance(end, Unsized)
        else _Found(end, sized_model(end.final.formula, end.types, kept, spec, positive=positives[end.types.target]))
        for end in ends
    }
    *folds, last = (
        [found[Place(target, fold)] for target in range(len(positives))] for fold in range(kept.table.splits.n_folds)
    )
    several = len(positives) > 1
    file = None
    if all(isinstance(of_class, _Found) for of_class in last):
        models = [
            replace(f.model, certificate=certificate_of(f.model), provenance=dict(provenance))
            for f in last
            if isinstance(f, _Found)
        ]
        file = classes_record(models) if several else model_record(models[0])
    record = _classes_record(folds, last, kept, engine) if several else _record(folds, last, kept.table)
    return SizedStudy(record, file, counting_s + sum(end.seconds for end in ends if isinstance(end, Sized)))


def plan_sizes(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of size_study."""
    yield layout.scan(COUNT_DISTINCT)
    yield SEARCH_SIZES.planned(2 * layout.folds)
    if layout.spec.classes == "all":
        yield from plan_answers(layout)


def _record(
    folds: Sequence[Sequence[_Found | Unsized]], last: Sequence[_Found | Unsized], table: Table
) -> dict[str, Any]:
    """Return the record for two classes."""
    records, accuracies, sizes = [], [], []
    for number, [found] in enumerate(folds):
        if isinstance(found, Unsized):
            records.append({"fold": number, "error": found.error})
            continue
        test_rows = int(found.sized.types.test.n.sum())
        accuracies.append(Fraction(found.sized.test_correct, test_rows))
        sizes.append(found.sized.final.formula_size)
        records.append(
            {
                **_fold_sizes(number, table),
                "accuracy": float(accuracies[-1]),
                **_formula_record(found),
                **_held_out(found),
            }
        )
    [model] = last
    return _summed(
        records,
        accuracies,
        sizes,
        {"error": model.error}
        if isinstance(model, Unsized)
        else {
            "rows": table.summary.n_rows,
            "training_accuracy": 1 - _errors(model) / int(model.sized.types.whole.n.sum()),
            **_formula_record(model),
        },
    )


def _classes_record(
    folds: Sequence[Sequence[_Found | Unsized]],
    last: Sequence[_Found | Unsized],
    kept: KeptRows,
    engine: Engine,
) -> dict[str, Any]:
    """Return the record for several classes; accuracies are those of their joint answers."""
    labels = [labels[0] for labels in kept.table.classes]
    whole = {number: found for number, of_fold in enumerate(folds) if (found := _all_found(of_fold))}
    confusions = dict(zip(whole, _joint_answers(whole, kept, engine), strict=True))
    records, accuracies, sizes = [], [], []
    for number, of_fold in enumerate(folds):
        if number not in whole:
            records.append({"fold": number, "error": _first_error(of_fold, labels)})
            continue
        confusion = confusions[number]
        accuracies.append(Fraction(int(confusion.trace()), int(confusion.sum())))
        sizes += [found.sized.final.formula_size for found in whole[number]]
        records.append(
            {
                **_fold_sizes(number, kept.table),
                "accuracy": float(accuracies[-1]),
                "confusion": confusion_record(confusion, kept.table.reading.unit),
                "classes": [
                    {"label": label, **_formula_record(found), **_held_out(found)}
                    for label, found in zip(labels, whole[number], strict=True)
                ],
            }
        )
    models = _all_found(last)
    return _summed(
        records,
        accuracies,
        sizes,
        {"error": _first_error(last, labels)}
        if models is None
        else {
            "rows": kept.table.summary.n_rows,
            "classes": [
                {"label": label, **_formula_record(found)} for label, found in zip(labels, models, strict=True)
            ],
        },
    )


def _summed(
    folds: list[dict[str, Any]], accuracies: Sequence[Fraction], sizes: Sequence[int], model: dict[str, Any]
) -> dict[str, Any]:
    return {
        "accuracy_mean": mean(accuracies),
        "accuracy_std": deviation(accuracies),
        "size_mean": sum(sizes) / len(sizes) if sizes else None,
        "failed_folds": len(folds) - len(accuracies),
        "folds": folds,
        "model": model,
    }


def _joint_answers(whole: Mapping[int, Sequence[_Found]], kept: KeptRows, engine: Engine) -> Ints:
    """Count the joint answers of the formulas of all classes on the test rows of some folds."""
    answering = {
        number: [
            Answering(
                tuple(found.sized.types.attributes[place] for place in used_attributes(found.sized.final.formula)),
                probabilities,
            )
            for found, probabilities in zip(
                of_fold, relative_probabilities([found.model for found in of_fold]), strict=True
            )
        ]
        for number, of_fold in whole.items()
    }
    return count_answers(kept, kept.booleans, answering, engine)


def _all_found(of_fold: Sequence[_Found | Unsized]) -> list[_Found] | None:
    """Return the formulas of all classes; None if one is missing."""
    found = [of_class for of_class in of_fold if isinstance(of_class, _Found)]
    return found if len(found) == len(of_fold) else None


def _first_error(of_fold: Sequence[_Found | Unsized], labels: Sequence[Scalar]) -> str:
    return next(
        f"{label}: {found.error}" for label, found in zip(labels, of_fold, strict=True) if isinstance(found, Unsized)
    )


def _fold_sizes(fold: int, table: Table) -> dict[str, Any]:
    parts = {"train_rows": TRAIN, "validation_rows": VALIDATION, "test_rows": TEST}
    return {"fold": fold, **{name: table.splits.rows_of(fold, [part]) for name, part in parts.items()}}


def _formula_record(found: _Found) -> dict[str, Any]:
    sized, model = found.sized, found.model
    return {
        "formula": model.formula,
        "size": sized.final.formula_size,
        "attributes": list(model.tau.names),
        "errors": as_weight(_errors(found), model.unit),
        **cost_record(sized.final, model.threshold, model.unit),
        "chosen_size": sized.choice.chosen.size,
        "proved": sized.proved,
        "distinct_rows": len(sized.types.whole.n),
        "attributes_searched": len(sized.types.attributes),
        "exact_over_all_attributes": sized.types.exact,
        "path": path_record(
            sized.choice,
            type_table(sized.types.train),
            type_table(sized.types.validation),
            model.threshold,
            unit=model.unit,
        ),
    }


def _held_out(found: _Found) -> dict[str, Any]:
    """Return the certificate of a formula from the test rows, which had no part in choosing anything."""
    counts = counts_over(found.sized.types.test, used_attributes(found.sized.final.formula))
    return {"certificate": certificate_of(found.model, counts=counts)}


def _errors(found: _Found) -> int:
    """Return the number of rows of W_0 that a formula gets wrong, or their weight in units."""
    return errors_of(found.sized.final.formula, type_table(found.sized.types.whole))
