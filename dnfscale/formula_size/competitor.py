"""The formula-size method as a competitor: one formula for two classes, or one for each of several
labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec.structs import replace as changed

from dnfscale.compare.competitor import Outcome, Study
from dnfscale.compare.measure import Measuring, measured, model_scores
from dnfscale.compare.records import as_answers, attributes_of
from dnfscale.core.arrays import Scalar
from dnfscale.core.counts import TypeCounts
from dnfscale.core.model import Model, relative_tables
from dnfscale.core.splits import TEST, TRAIN, VALIDATION
from dnfscale.core.weights import as_weight
from dnfscale.data.models import classes_text, model_text
from dnfscale.engine.api import Engine
from dnfscale.formula_size import answered, errors_of
from dnfscale.formula_size.card import SHOWN
from dnfscale.formula_size.choice import cost_of, size_steps
from dnfscale.formula_size.distinct import COUNT_DISTINCT, count_distinct, type_table
from dnfscale.formula_size.folds import SEARCH_SIZES, SizeBudget, Sized, Unsized, size_folds
from dnfscale.formula_size.learned import counts_over, sized_model, used_attributes
from dnfscale.learn.classes import Answering, count_answers, plan_answers
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.phases import Layout, PlannedPhase
from dnfscale.learn.places import Place
from dnfscale.learn.table import Table
from dnfscale.method.certificate import certificate_of, certified
from dnfscale.method.words import formula_lines
from dnfscale.results.certificate import Certified
from dnfscale.results.confusion import Answers
from dnfscale.results.formula import SizedFormula
from dnfscale.results.method import AllRows, Fold, Method
from dnfscale.results.metrics import Scores
from dnfscale.results.record import label_record
from dnfscale.spec.registry import COMPETITORS, Competitor, Family


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """The formula of a class in a fold, and the search that found it."""

    sized: Sized
    model: Model


def size_study(study: Study, options: Mapping[Competitor, SizeBudget]) -> dict[str, Outcome]:
    """Run the formula-size method in all folds, for every class that has a formula."""
    [(competitor, budget)] = options.items()
    kept, spec, engine, clock = study.kept, study.spec, study.engine, study.clock
    assert kept is not None
    started = clock()
    types = count_distinct(kept, spec, engine, max_types=budget.max_types)
    counting_s = clock() - started
    ends = size_folds(types, budget, engine, study.notes, threshold=spec.threshold)
    positives = kept.table.positives
    found = {
        end.types.place: end
        if isinstance(end, Unsized)
        else _Found(
            end,
            sized_model(
                end.final.formula, end.types, kept, spec, positive=positives[end.types.target]
            ),
        )
        for end in ends
    }
    *folds, last = (
        [found[Place(target, fold)] for target in range(len(positives))]
        for fold in range(kept.table.splits.n_folds)
    )
    labels = [labels[0] for labels in kept.table.classes] if len(positives) > 1 else []
    tested = _method(folds, last, labels, kept, engine)
    scores = None if labels else _scores(folds)
    method = measured(tested, Measuring.of(spec, kept.table.splits), scores)
    seconds = counting_s + sum(end.seconds for end in ends if isinstance(end, Sized))
    text = _model_text(last, {**study.provenance, "method": competitor.name})
    return {competitor.name: Outcome(method, seconds, text)}


def plan_sizes(layout: Layout, _options: Mapping[Competitor, SizeBudget]) -> Iterator[PlannedPhase]:
    """Yield the phases of size_study."""
    yield layout.scan(COUNT_DISTINCT)
    yield SEARCH_SIZES.planned(2 * layout.folds)
    if layout.spec.classes == "all":
        yield from plan_answers(layout)


def _model_text(
    last: Sequence[_Found | Unsized], provenance: Mapping[str, str | int]
) -> str | None:
    """Return the text of the model file of all rows; None if a search failed."""
    found = _all_found(last)
    if found is None:
        return None
    models = [replace(certified(each.model), provenance=dict(provenance)) for each in found]
    return classes_text(models) if len(models) > 1 else model_text(models[0])


def _method(
    folds: Sequence[Sequence[_Found | Unsized]],
    last: Sequence[_Found | Unsized],
    labels: Sequence[Scalar],
    kept: KeptRows,
    engine: Engine,
) -> Method:
    """Return what the method did; the accuracy of several labels is that of their joint answers."""
    whole = {
        number: found for number, of_fold in enumerate(folds) if (found := _all_found(of_fold))
    }
    joint = _joint_answers(whole, kept, engine) if labels else {}
    records = [
        _fold(number, whole[number], labels, kept.table, joint.get(number))
        if number in whole
        else Fold(fold=number, error=_first_error(of_fold, labels))
        for number, of_fold in enumerate(folds)
    ]
    sizes = [found.sized.final.formula_size for of_fold in whole.values() for found in of_fold]
    return changed(
        Method.over(records),
        size_mean=sum(sizes) / len(sizes) if sizes else None,
        model=_all_rows(last, labels, kept.table),
    )


def _fold(
    number: int,
    found: Sequence[_Found],
    labels: Sequence[Scalar],
    table: Table,
    joint: Answers | None,
) -> Fold:
    formulas = [changed(_formula(each), certificate=_held_out(each)) for each in found]
    return Fold(
        fold=number,
        train_rows=table.splits.rows_of(number, [TRAIN]),
        validation_rows=table.splits.rows_of(number, [VALIDATION]),
        test_rows=table.splits.rows_of(number, [TEST]),
        confusion=found[0].sized.tested if joint is None else None,
        confusion_matrix=joint,
        sized=_labelled(formulas, labels),
    )


def _scores(folds: Sequence[Sequence[_Found | Unsized]]) -> dict[int, Scores]:
    """Return the test rows of each fold by the probability that its formula gives them."""
    return {
        number: model_scores(found.model, _test_counts(found))
        for number, [found] in enumerate(folds)
        if isinstance(found, _Found)
    }


def _all_rows(last: Sequence[_Found | Unsized], labels: Sequence[Scalar], table: Table) -> AllRows:
    found = _all_found(last)
    if found is None:
        return AllRows(error=_first_error(last, labels))
    record = AllRows(
        rows=table.summary.n_rows, sized=_labelled([_formula(each) for each in found], labels)
    )
    if labels:
        return record
    sized = found[0].sized
    trained = answered(sized.final.formula, type_table(sized.types.whole))
    return changed(record, correct=trained.correct, counted=trained.counted)


def _labelled(
    formulas: Sequence[SizedFormula], labels: Sequence[Scalar]
) -> tuple[SizedFormula, ...]:
    """Return formulas with their labels, if there are several."""
    if not labels:
        return tuple(formulas)
    pairs = zip(formulas, labels, strict=True)
    return tuple(changed(formula, label=label_record(label)) for formula, label in pairs)


def _joint_answers(
    whole: Mapping[int, Sequence[_Found]], kept: KeptRows, engine: Engine
) -> dict[int, Answers]:
    """Count the joint answers of the formulas of all classes on the test rows of some folds."""
    answering = {
        number: [
            Answering(
                kept.booleans.whole.of(
                    number,
                    [
                        found.sized.types.attributes[place]
                        for place in used_attributes(found.sized.final.formula)
                    ],
                ),
                table,
            )
            for found, table in zip(
                of_fold, relative_tables([found.model for found in of_fold]), strict=True
            )
        ]
        for number, of_fold in whole.items()
    }
    counted = count_answers(kept, kept.booleans, answering, engine)
    return dict(zip(whole, map(as_answers, counted), strict=True))


def _all_found(of_fold: Sequence[_Found | Unsized]) -> list[_Found] | None:
    """Return the formulas of all classes; None if one is missing."""
    found = [of_class for of_class in of_fold if isinstance(of_class, _Found)]
    return found if len(found) == len(of_fold) else None


def _first_error(of_fold: Sequence[_Found | Unsized], labels: Sequence[Scalar]) -> str:
    named = zip([f"{label}: " for label in labels] or [""], of_fold, strict=True)
    return next(f"{name}{found.error}" for name, found in named if isinstance(found, Unsized))


def _formula(found: _Found) -> SizedFormula:
    sized, model = found.sized, found.model
    errors = errors_of(sized.final.formula, type_table(sized.types.whole))
    return SizedFormula(
        formula=model.formula,
        conditions=" or ".join(formula_lines(model)),
        size=sized.final.formula_size,
        attributes=attributes_of(model.tau),
        errors=as_weight(errors, model.unit),
        cost=cost_of(sized.final, model.threshold, model.unit),
        chosen_size=sized.choice.chosen.size,
        proved=sized.proved,
        distinct_rows=len(sized.types.whole.n),
        attributes_searched=len(sized.types.attributes),
        exact_over_all_attributes=sized.types.exact,
        path=size_steps(
            sized.choice,
            type_table(sized.types.train),
            type_table(sized.types.validation),
            model.threshold,
            unit=model.unit,
        ),
    )


def _held_out(found: _Found) -> Certified | None:
    """Return the certificate of a formula from the test rows, which had no part in choosing
    anything.
    """
    return certificate_of(found.model, counts=_test_counts(found))


def _test_counts(found: _Found) -> TypeCounts:
    return counts_over(found.sized.types.test, used_attributes(found.sized.final.formula))


COMPETITORS.register(
    Competitor(
        name="formula_size",
        title="Formula size",
        colour="purple",
        place=30,
        options=SizeBudget,
        family=Family(run=size_study, plan=plan_sizes, on_kept_rows=True),
        by_profile=True,
        has_model=True,
        shown=SHOWN,
        package="numba",
        extra="formula-size",
    )
)
