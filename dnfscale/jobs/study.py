"""A study or a fit, step by step: the formula first, then the methods it is compared with.

What the first step finds is noted, and the later steps need nothing else; a job that is resumed
begins with the note and goes on with the first trial that is not in the notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from msgspec.structs import replace as changed

import dnfscale
from dnfscale.compare.comparison import comparisons
from dnfscale.compare.competitor import Outcome, Study
from dnfscale.compare.counted import counted_methods
from dnfscale.compare.records import (
    LearnedLabels,
    data_record,
    distilled_methods,
    frontier_points,
    ideal_method,
    learned_models,
)
from dnfscale.compare.rows import RowLearner, RowsPlan, check_memory
from dnfscale.core.arrays import Scalar
from dnfscale.core.columns import CategorySummary, row_numbers
from dnfscale.core.model import Model
from dnfscale.core.splits import Splits
from dnfscale.data.models import classes_text, model_text
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.jobs.notes import TaskNotes
from dnfscale.jobs.store import model_file
from dnfscale.learn.classes import learn_classes, plan_classes
from dnfscale.learn.frontier import grow_formulas, plan_frontier
from dnfscale.learn.keeping import KeptRows, keep_rows
from dnfscale.learn.line import Learned, learn_targets, plan_line
from dnfscale.learn.phases import Layout, PlannedPhase
from dnfscale.learn.table import features, reading_of
from dnfscale.learn.weighing import plan_weighing, with_unit
from dnfscale.results.method import Method
from dnfscale.results.record import Note, Record
from dnfscale.results.result import IDEAL, Data, Result
from dnfscale.spec.job import JobSpec
from dnfscale.spec.learn import LearnSpec


class RowFacts(Record, frozen=True, kw_only=True):
    """What is needed to read the same rows again."""

    outer: int
    kept: tuple[tuple[int, int], ...]
    """How many rows of each partition were kept."""
    classes: tuple[tuple[Scalar, ...], ...]
    class_rows: tuple[int, ...]
    """How many rows each class has."""
    values: tuple[tuple[Scalar, ...] | None, ...]
    """The categories of each column; None for numbers."""


class LearnedFacts(Note, frozen=True, kw_only=True):
    """What was learned, as it is noted."""

    data: Data
    methods: dict[str, Method]
    model: str
    """The text of the model file."""
    rows: RowFacts
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a job has to say: its result without timing and environment, its model, and what the
    parts took.
    """

    result: Result
    models: dict[str, str]
    """The text of each model file: our formula of all rows, and those of competitors that have one.
    """
    methods_s: dict[str, float]
    """Seconds of learning, and of the work of each competitor."""


def run_study(
    spec: JobSpec,
    source: Source,
    to_learn: LearnSpec,
    engine: Engine,
    notes: TaskNotes,
    *,
    token: str,
    clock: Callable[[], float],
) -> JobResult:
    """Carry out all methods of a job."""
    started = clock()
    to_learn = with_unit(source, to_learn, engine)
    facts, kept = _facts(source, spec, to_learn, engine, notes, elapsed_s=lambda: clock() - started)
    study = Study(
        spec=to_learn,
        engine=engine,
        notes=notes,
        plan_rows=lambda: _rows_plan(source, spec, to_learn, facts.rows, engine, token=token),
        provenance=_provenance(spec, facts.data.rows),
        clock=clock,
    )
    outcomes: dict[str, Outcome] = {}
    for family, options in spec.families.items():
        if family.on_kept_rows:
            kept = kept or keep_rows(source, to_learn, engine)
            outcomes |= family.run(replace(study, kept=kept), options)
        else:
            # The rows on the workers are needed no more.
            kept = None
            outcomes |= family.run(study, options)
    compared = {name: outcomes[name] for name in spec.methods if name in outcomes}
    methods = {name: method for name, method in facts.methods.items() if name in spec.methods}
    methods |= {name: outcome.method for name, outcome in compared.items()}
    models = {
        model_file(name): outcome.model
        for name, outcome in compared.items()
        if outcome.model is not None
    }
    return JobResult(
        result=_result(spec, facts.data, methods),
        models={model_file(IDEAL): facts.model, **models},
        methods_s={IDEAL: facts.seconds}
        | {name: round(outcome.seconds, 3) for name, outcome in compared.items()},
    )


def plan_study(spec: JobSpec, layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of run_study."""
    yield from plan_weighing(layout)
    if layout.spec.classes == "all":
        yield from plan_classes(layout)
    else:
        yield from plan_line(layout)
        if _has_frontier(spec, layout.spec, layout.folds - 1):
            yield from plan_frontier(layout)
    for family, options in spec.families.items():
        yield from family.plan(layout, options)


def _has_frontier(spec: JobSpec, to_learn: LearnSpec, tested: int) -> bool:
    """Return whether formulas of every number of attributes are tested."""
    return to_learn.frontier and tested > 0 and spec.kind == "study"


def _facts(
    source: Source,
    spec: JobSpec,
    to_learn: LearnSpec,
    engine: Engine,
    notes: TaskNotes,
    *,
    elapsed_s: Callable[[], float],
) -> tuple[LearnedFacts, KeptRows | None]:
    """Return what was learned: from the notes if it is there, else by learning it, and then with
    the rows it kept.
    """
    noted = notes.recall(IDEAL, LearnedFacts)
    if noted:
        return noted[0], None
    facts, kept = _learned_facts(source, spec, to_learn, engine)
    # What was counted is of the files that the job began with; so is everything that will be read
    # for baselines.
    source.check_unchanged()
    facts = changed(facts, seconds=round(elapsed_s(), 3))
    notes.note(IDEAL, facts)
    return facts, kept


def _result(spec: JobSpec, data: Data, methods: dict[str, Method]) -> Result:
    """Return the result of a job, without timing and environment."""
    tested = spec.kind == "study" or (spec.kind == "distill" and spec.knows_truth)
    return Result(
        name=spec.name,
        kind=spec.kind,
        seed=spec.seed,
        profile=spec.profile,
        data=data,
        methods=methods,
        comparisons=comparisons(methods) if tested else None,
    )


def _learned_facts(
    source: Source, spec: JobSpec, to_learn: LearnSpec, engine: Engine
) -> tuple[LearnedFacts, KeptRows]:
    """Learn, and return what was learned and what is needed to read the same rows again.

    The rows as they are kept on the workers come with it.
    """
    if to_learn.classes == "all":
        classes = learn_classes(source, to_learn, engine)
        learned = LearnedLabels.of_classes(classes)
        methods = {IDEAL: ideal_method(learned, to_learn)} | counted_methods(learned)
        return _noted(learned, methods, spec, to_learn), classes.kept
    found = learn_targets(source, to_learn, engine)
    learned = LearnedLabels(found.targets)
    ideal = ideal_method(learned, to_learn)
    if _has_frontier(spec, to_learn, len(learned.first.folds)):
        ideal = changed(ideal, frontier=frontier_points(grow_formulas(found, to_learn, engine)))
    if spec.kind == "distill":
        methods = distilled_methods(learned.first, ideal, known=spec.knows_truth)
    else:
        methods = {IDEAL: ideal} | counted_methods(learned)
    return _noted(learned, methods, spec, to_learn), found.kept


def _noted(
    learned: LearnedLabels, methods: dict[str, Method], spec: JobSpec, to_learn: LearnSpec
) -> LearnedFacts:
    """Return what was learned as it is noted."""
    provenance = _provenance(spec, learned.first.rows)
    models = learned_models(learned, to_learn, provenance=provenance)
    return LearnedFacts(
        step="all",
        data=data_record(learned),
        methods=methods,
        model=classes_text(models) if learned.labels else model_text(_named(models[0], spec)),
        rows=_row_facts(learned.first),
    )


def _provenance(spec: JobSpec, rows: int) -> dict[str, str | int]:
    return {"dnfscale": dnfscale.__version__, "name": spec.name, "seed": spec.seed, "rows": rows}


def _named(model: Model, spec: JobSpec) -> Model:
    """Return the model with labels that a reader understands: the codes of joined answers are ours
    alone.
    """
    return replace(model, positive=(True,)) if spec.kind == "distill" else model


def _row_facts(learned: Learned) -> RowFacts:
    table = learned.table
    columns, counts = table.summary.columns, table.summary.target.counts
    return RowFacts(
        outer=table.splits.outer,
        kept=tuple(sorted(table.summary.kept)),
        classes=table.classes,
        class_rows=tuple(sum(counts[label] for label in labels) for labels in table.classes),
        values=tuple(tuple(s.values) if isinstance(s, CategorySummary) else None for s in columns),
    )


def _rows_plan(
    source: Source,
    spec: JobSpec,
    to_learn: LearnSpec,
    rows: RowFacts,
    engine: Engine,
    *,
    token: str,
) -> RowsPlan:
    """Describe the rows to the competitors that need them; each must have the memory for it."""
    numbers = row_numbers(rows.kept)
    plan = RowsPlan(
        token=token,
        partitions=source.partitions,
        reading=reading_of(features(source, to_learn), to_learn),
        classes=rows.classes,
        class_rows=rows.class_rows,
        row_numbers=numbers,
        splits=Splits(
            sum(map(len, numbers.values())), rows.outer, to_learn.validation, to_learn.seed
        ),
        values=rows.values,
    )
    check_memory(plan, engine, [each for each in spec.compared if isinstance(each, RowLearner)])
    return plan
