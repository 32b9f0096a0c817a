"""A study or a fit, step by step: the formula first, then the methods it is compared with.

What the first step finds is noted, and the later steps need nothing else; a job that is resumed
begins with the note and goes on with the first trial that is not in the notes.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from msgspec.structs import replace as changed

import dnfscale
from dnfscale.compare.comparison import comparisons
from dnfscale.compare.competitor import Outcome, Study
from dnfscale.compare.counted import counted_methods
from dnfscale.compare.families import run_family
from dnfscale.compare.records import (
    LearnedLabels,
    data_record,
    distilled_methods,
    frontier_points,
    frontier_record,
    ideal_method,
    learned_models,
)
from dnfscale.compare.rows import RowsPlan
from dnfscale.compare.sliced import look_at_slices, plan_slices, study_slices
from dnfscale.core.arrays import Scalar
from dnfscale.core.columns import CategorySummary, row_numbers
from dnfscale.core.model import Model
from dnfscale.core.splits import Splits
from dnfscale.data.models import classes_text, model_text
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.errors import ClusterError
from dnfscale.jobs.notes import TaskNotes
from dnfscale.jobs.scan_bytes import from_bytes, to_bytes
from dnfscale.jobs.store import model_file
from dnfscale.learn.check import check_source, plan_check, without_settled
from dnfscale.learn.classes import learn_classes, plan_classes
from dnfscale.learn.dropped import Warn, silent
from dnfscale.learn.frontier import grow_formulas, plan_frontier
from dnfscale.learn.keeping import KeptRows, keep_rows
from dnfscale.learn.line import Learned, learn_targets, plan_line
from dnfscale.learn.phases import Layout, PlannedPhase
from dnfscale.learn.table import features, reading_of
from dnfscale.learn.weighing import plan_weighing, with_unit
from dnfscale.results.check import CHECK_FILE, check_text
from dnfscale.results.frontier import FRONTIER_FILE, frontier_text
from dnfscale.results.method import Method
from dnfscale.results.record import Note, Record
from dnfscale.results.result import IDEAL, Data, Result
from dnfscale.spec.job import JobSpec
from dnfscale.spec.learn import LearnSpec

_DEALT = "dealt"
"""The title of bytes that say how rows were dealt."""


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
    dealt: str | None = None
    """How the rows were dealt into folds, unless their numbers say it: bytes in base 64."""


class LearnedFacts(Note, frozen=True, kw_only=True):
    """What was learned, as it is noted."""

    data: Data
    methods: dict[str, Method]
    model: str
    """The text of the model file."""
    frontier: str | None = None
    """The text of frontier.json; None if there are several labels, or none was asked for."""
    check: str | None = None
    """The text of check.json; None if none was asked for."""
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
    lost: bool = False
    """Whether the cluster was lost on the way: the job goes on where it stood if it runs again."""


@dataclass(frozen=True, slots=True)
class Told:
    """Who is told of a study while it runs."""

    say: Callable[[str], None]
    """For people: what runs now."""
    warn: Callable[[str], None]
    """For people: something about the data that they should know."""
    learned: Callable[[JobResult], None]
    """The formula is known, and other methods are still to be fitted."""


def run_study(
    spec: JobSpec,
    source: Source,
    to_learn: LearnSpec,
    engine: Engine,
    notes: TaskNotes,
    *,
    token: str,
    told: Told,
) -> JobResult:
    """Carry out all methods of a job."""
    clock = time.monotonic
    started = clock()
    to_learn = with_unit(source, to_learn, engine)
    facts, kept = _facts(
        source, spec, to_learn, engine, notes, warn=told.warn, elapsed_s=lambda: clock() - started
    )
    study = Study(
        spec=to_learn,
        engine=engine,
        notes=notes,
        plan_rows=lambda: _rows_plan(source, to_learn, facts.rows, token=token),
        provenance=_provenance(spec, facts.data.rows),
        clock=clock,
        say=told.say,
        time_limit_s=spec.baselines.time_limit_s,
    )
    if spec.families:
        told.learned(_so_far(spec, facts))
    outcomes: dict[str, Outcome] = {}
    lost: ClusterError | None = None

    def on_kept_rows() -> Study:
        nonlocal kept
        kept = kept or keep_rows(source, to_learn, engine)
        return replace(study, kept=kept)

    for family, options in spec.families.items():
        if not family.on_kept_rows:
            # The rows on the workers are needed no more.
            kept = None
        begin = on_kept_rows if family.on_kept_rows else lambda: study
        done = run_family(family, options, begin, folds=facts.rows.outer, lost=lost)
        outcomes |= done.outcomes
        lost = done.lost
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
        models=_own_models(facts) | models,
        methods_s={IDEAL: facts.seconds}
        | {name: round(outcome.seconds, 3) for name, outcome in compared.items()},
        lost=lost is not None,
    )


def _so_far(spec: JobSpec, facts: LearnedFacts) -> JobResult:
    """Return the result of a job that has not fitted any other method yet."""
    methods = {name: method for name, method in facts.methods.items() if name in spec.methods}
    return JobResult(
        result=_result(spec, facts.data, methods),
        models=_own_models(facts),
        methods_s={IDEAL: facts.seconds},
    )


def _own_models(facts: LearnedFacts) -> dict[str, str]:
    """Return the texts of the files of our own formulas, and of what was found in the data."""
    own = {
        model_file(IDEAL): facts.model,
        FRONTIER_FILE: facts.frontier,
        CHECK_FILE: facts.check,
    }
    return {name: text for name, text in own.items() if text is not None}


def plan_study(spec: JobSpec, layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of run_study."""
    if _checks(spec, layout.spec):
        yield plan_check(layout)
    yield from plan_weighing(layout)
    if layout.spec.classes == "all":
        yield from plan_classes(layout)
    else:
        yield from plan_line(layout)
        if _has_frontier(spec, layout.spec):
            yield from plan_frontier(layout)
    if spec.kind == "study":
        yield from plan_slices(layout)
    for family, options in spec.families.items():
        yield from family.plan(layout, options)


def _checks(spec: JobSpec, to_learn: LearnSpec) -> bool:
    """Return whether the data are looked at; answers of a classifier are no target to look at."""
    return to_learn.check and spec.kind != "distill"


def _check(
    source: Source, spec: JobSpec, to_learn: LearnSpec, engine: Engine, warn: Warn
) -> str | None:
    """Return what is found in the data, if it is asked for, and warn of what is grave."""
    if not _checks(spec, to_learn):
        return None
    aside = [*to_learn.drop, *([] if to_learn.weight is None else [to_learn.weight])]
    found = without_settled(check_source(source, to_learn.target, engine, drop=aside), to_learn)
    for about, finding in found.above_notes:
        subject = "" if about is None else f"{about}: "
        warn(f"{finding.kind}: {subject}{finding.evidence}; {finding.advice}")
    return check_text(found).rstrip("\n")


def _has_frontier(spec: JobSpec, to_learn: LearnSpec) -> bool:
    """Return whether the formulas of every length are kept, and tested where there are folds."""
    return to_learn.frontier and spec.kind in ("study", "fit")


def _facts(
    source: Source,
    spec: JobSpec,
    to_learn: LearnSpec,
    engine: Engine,
    notes: TaskNotes,
    *,
    warn: Warn,
    elapsed_s: Callable[[], float],
) -> tuple[LearnedFacts, KeptRows | None]:
    """Return what was learned: from the notes if it is there, else by learning it, and then with
    the rows it kept.
    """
    noted = notes.recall(IDEAL, LearnedFacts)
    if noted:
        return noted[0], None
    check = _check(source, spec, to_learn, engine, warn)
    facts, kept = learned_facts(source, spec, to_learn, engine, warn)
    # What was counted is of the files that the job began with; so is everything that will be read
    # for baselines.
    source.check_unchanged()
    facts = changed(facts, check=check, seconds=round(elapsed_s(), 3))
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


def learned_facts(
    source: Source, spec: JobSpec, to_learn: LearnSpec, engine: Engine, warn: Warn = silent
) -> tuple[LearnedFacts, KeptRows]:
    """Learn, and return what was learned and what is needed to read the same rows again.

    The rows as they are kept on the workers come with it.
    """
    if spec.kind == "study":
        look_at_slices(source, to_learn)
    if to_learn.classes == "all":
        classes = learn_classes(source, to_learn, engine, warn)
        learned = LearnedLabels.of_classes(classes)
        ideal = _with_slices(ideal_method(learned, to_learn), source, learned, to_learn, engine)
        methods = {IDEAL: ideal} | counted_methods(learned, to_learn)
        return _noted(learned, methods, spec, to_learn), classes.kept
    found = learn_targets(source, to_learn, engine, warn)
    learned = LearnedLabels(found.targets)
    ideal = ideal_method(learned, to_learn)
    frontier = None
    if _has_frontier(spec, to_learn):
        grown = grow_formulas(found, to_learn, engine)
        points = frontier_points(grown, learned.first, to_learn)
        ideal = changed(ideal, frontier=points)
        provenance = _provenance(spec, learned.first.rows)
        frontier = frontier_text(
            frontier_record(grown, points, name=spec.name, provenance=provenance)
        )
    if spec.kind == "distill":
        methods = distilled_methods(learned.first, ideal, to_learn, known=spec.knows_truth)
    else:
        ideal = _with_slices(ideal, source, learned, to_learn, engine)
        methods = {IDEAL: ideal} | counted_methods(learned, to_learn)
    facts = _noted(learned, methods, spec, to_learn)
    return changed(facts, frontier=frontier), found.kept


def _with_slices(
    ideal: Method, source: Source, learned: LearnedLabels, spec: LearnSpec, engine: Engine
) -> Method:
    """Return the formula's method with its figures for the values of columns, if any are asked
    for.
    """
    slices = study_slices(source, learned, spec, engine)
    return changed(ideal, slices=slices) if slices else ideal


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
        dealt=_dealt(table.splits),
    )


def _dealt(splits: Splits) -> str | None:
    """Return what splits depend on besides numbers of rows, as text."""
    if splits.by_number:
        return None
    found = splits.inner, splits.circle, splits.stages, splits.label_arcs
    return base64.b64encode(to_bytes(_DEALT, found)).decode()


def _splits(rows: RowFacts, to_learn: LearnSpec) -> Splits:
    """Return the splits of the formula; without inner splits but the first, where numbers alone
    deal the rows.
    """
    n_rows = sum(n_kept for _, n_kept in rows.kept)
    inner, circle, stages, label_arcs = (
        (1, None, None, None)
        if rows.dealt is None
        else from_bytes(_DEALT, base64.b64decode(rows.dealt))
    )
    return Splits(
        n_rows,
        rows.outer,
        to_learn.validation,
        to_learn.seed,
        inner,
        circle,
        stages,
        to_learn.holdout,
        label_arcs,
    )


def _rows_plan(
    source: Source,
    to_learn: LearnSpec,
    rows: RowFacts,
    *,
    token: str,
) -> RowsPlan:
    """Describe the rows to the competitors that need them."""
    return RowsPlan(
        token=token,
        partitions=source.partitions,
        reading=reading_of(source, features(source, to_learn), to_learn),
        classes=rows.classes,
        class_rows=rows.class_rows,
        row_numbers=row_numbers(rows.kept),
        splits=_splits(rows, to_learn),
        values=rows.values,
        dealing=to_learn.dealing,
    )
