"""A study or a fit, step by step: the formula first, then the methods it is compared with.

What the first step finds is noted, and the later steps need nothing else; a job that is resumed
begins with the note and goes on with the first trial that is not in the notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from msgspec.structs import replace as changed

import dnfscale
from dnfscale.compare.baselines import FitAndScore, hard_limit_s
from dnfscale.compare.peers import FitPeer, PeerFit, peer_fold, peer_method
from dnfscale.compare.records import (
    LearnedLabels,
    comparisons,
    data_record,
    distilled_methods,
    frontier_points,
    ideal_method,
    learned_models,
    majority_method,
    one_rule_method,
    tuned_method,
)
from dnfscale.compare.rows import RowsPlan
from dnfscale.compare.tuning import Tuned, tune
from dnfscale.core.arrays import Scalar
from dnfscale.core.columns import CategorySummary, row_numbers
from dnfscale.core.model import Model
from dnfscale.core.splits import Splits
from dnfscale.data.models import classes_text, model_text
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.errors import LimitError
from dnfscale.formula_size.study import SizedStudy, plan_sizes, size_study
from dnfscale.jobs.notes import TaskNotes
from dnfscale.jobs.store import SIZED_MODEL
from dnfscale.learn.classes import learn_classes, plan_classes
from dnfscale.learn.frontier import grow_formulas, plan_frontier
from dnfscale.learn.keeping import KeptRows, keep_rows
from dnfscale.learn.line import Learned, learn_targets, plan_line
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.table import features, reading_of
from dnfscale.learn.weighing import plan_weighing, with_unit
from dnfscale.results.method import Method
from dnfscale.results.record import Note, Record
from dnfscale.results.result import IDEAL, Data, Result
from dnfscale.spec.job import JobSpec
from dnfscale.spec.learn import LearnSpec

TUNE_BASELINES = Phase("tune baselines", Reads.FILES_ON_WORKERS)
FIT_PEERS = Phase("fit peers", Reads.FILES_ON_WORKERS)
SIZED = "formula_size"
"""The competitor whose formula is written to a model file of its own."""


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
    """The text of each model file: the formula of all rows, and that of bounded size, if it was
    asked for.
    """
    methods_s: dict[str, float]
    """Seconds of learning, of fitting in all trials, of counting distinct rows and of searching
    them.
    """


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
    sized = _sized(source, spec, to_learn, kept, engine, notes, clock)
    # The rows on the workers are needed no more.
    del kept
    compared = _compared(source, spec, to_learn, facts, engine, notes, token=token)
    methods = {name: method for name, method in facts.methods.items() if name in spec.methods}
    methods |= {name: method for name, method, _ in compared}
    methods_s = {IDEAL: facts.seconds}
    models = {"model.json": facts.model}
    if sized is not None:
        methods[SIZED] = sized.method
        methods_s[SIZED] = round(sized.seconds, 3)
        if sized.model is not None:
            models[SIZED_MODEL] = sized.model
    methods_s |= {name: seconds for name, _, seconds in compared}
    return JobResult(_result(spec, facts.data, methods), models, methods_s)


def plan_study(spec: JobSpec, layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of run_study."""
    yield from plan_weighing(layout)
    if layout.spec.classes == "all":
        yield from plan_classes(layout)
    else:
        yield from plan_line(layout)
        if _has_frontier(spec, layout.spec, layout.folds - 1):
            yield from plan_frontier(layout)
    if spec.of_family("sized"):
        yield from plan_sizes(layout)
    tested = layout.folds - 1
    tuned, fitted = spec.of_family("tuned"), spec.of_family("fitted")
    if tuned:
        fits = sum(tested * (spec.competitors[name].trials + 1) for name in tuned)
        yield TUNE_BASELINES.planned(fits, layout.read_bytes)
    if fitted:
        yield FIT_PEERS.planned(tested * len(fitted), layout.read_bytes)


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


def _sized(
    source: Source,
    spec: JobSpec,
    to_learn: LearnSpec,
    kept: KeptRows | None,
    engine: Engine,
    notes: TaskNotes,
    clock: Callable[[], float],
) -> SizedStudy | None:
    """Search formulas of bounded size, if they are asked for, in the rows that were kept, or are
    read again.
    """
    if SIZED not in spec.methods:
        return None
    kept = kept or keep_rows(source, to_learn, engine)
    provenance = {**_provenance(spec), "rows": kept.table.summary.n_rows, "method": SIZED}
    return size_study(
        kept, to_learn, spec.competitors[SIZED], engine, notes, provenance=provenance, clock=clock
    )


def _compared(
    source: Source,
    spec: JobSpec,
    to_learn: LearnSpec,
    facts: LearnedFacts,
    engine: Engine,
    notes: TaskNotes,
    *,
    token: str,
) -> list[tuple[str, Method, float]]:
    """Carry out the methods that read rows again; return the name, what it did and the seconds of
    each.
    """
    if not (spec.of_family("tuned") or spec.of_family("fitted")):
        return []
    plan = _rows_plan(source, to_learn, facts.rows, token)
    _check_memory(plan, engine)
    several = to_learn.classes == "all"
    return [*_tuned(spec, plan, engine, notes, several=several), *_peers(spec, plan, engine, notes)]


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
        methods = {IDEAL: ideal_method(learned, to_learn)}
        if learned.first.folds:
            methods["majority"] = majority_method(learned)
        return _noted(learned, methods, spec, to_learn), classes.kept
    found = learn_targets(source, to_learn, engine)
    learned = LearnedLabels(found.targets)
    ideal = ideal_method(learned, to_learn)
    if _has_frontier(spec, to_learn, len(learned.first.folds)):
        ideal = changed(ideal, frontier=frontier_points(grow_formulas(found, to_learn, engine)))
    methods = {IDEAL: ideal}
    if spec.kind == "distill":
        methods = distilled_methods(learned.first, ideal, known=spec.knows_truth)
    elif learned.first.folds:
        methods |= {
            "majority": majority_method(learned),
            "one_rule": one_rule_method(learned.first),
        }
    return _noted(learned, methods, spec, to_learn), found.kept


def _noted(
    learned: LearnedLabels, methods: dict[str, Method], spec: JobSpec, to_learn: LearnSpec
) -> LearnedFacts:
    """Return what was learned as it is noted."""
    provenance = {**_provenance(spec), "rows": learned.first.rows}
    models = learned_models(learned, to_learn, provenance=provenance)
    return LearnedFacts(
        step="all",
        data=data_record(learned),
        methods=methods,
        model=classes_text(models) if learned.labels else model_text(_named(models[0], spec)),
        rows=_row_facts(learned.first),
    )


def _provenance(spec: JobSpec) -> dict[str, Any]:
    return {"dnfscale": dnfscale.__version__, "name": spec.name, "seed": spec.seed}


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


def _rows_plan(source: Source, to_learn: LearnSpec, rows: RowFacts, token: str) -> RowsPlan:
    numbers = row_numbers(rows.kept)
    return RowsPlan(
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


def _tuned(
    spec: JobSpec, plan: RowsPlan, engine: Engine, notes: TaskNotes, *, several: bool
) -> list[tuple[str, Method, float]]:
    """Tune every baseline in every fold, all chains side by side."""
    budgets = {name: spec.competitors[name] for name in spec.of_family("tuned")}
    if not budgets:
        return []
    folds = range(plan.splits.outer)
    chains = [
        tune(name, fold, budget, seed=spec.seed, notes=notes)
        for fold in folds
        for name, budget in budgets.items()
    ]
    expected = sum(len(folds) * (budget.trials + 1) for budget in budgets.values())
    ends = engine.chain(
        TUNE_BASELINES.name, chains, FitAndScore(plan), expected=expected, limit=hard_limit_s
    )
    tuned = []
    for name in budgets:
        own = [end for end in ends if end.method == name]
        seconds = sum(end.seconds for end in own if isinstance(end, Tuned))
        tuned.append((name, tuned_method(own, several=several), round(seconds, 3)))
    return tuned


def _peers(
    spec: JobSpec, plan: RowsPlan, engine: Engine, notes: TaskNotes
) -> list[tuple[str, Method, float]]:
    """Fit every readable classifier in every fold."""
    peers = spec.of_family("fitted")
    if not peers:
        return []
    fits = [
        PeerFit(name, fold, spec.seed, spec.competitors[name])
        for name in peers
        for fold in range(plan.splits.outer)
    ]
    ends = engine.chain(
        FIT_PEERS.name, [peer_fold(fit, notes) for fit in fits], FitPeer(plan), expected=len(fits)
    )
    found = []
    for name in peers:
        own = [end for end in ends if end.peer == name]
        found.append((name, peer_method(own), round(sum(end.seconds for end in own), 3)))
    return found


def _check_memory(plan: RowsPlan, engine: Engine) -> None:
    # A learner copies its part of the rows once, and once more into its own format.
    needed, limit = 4 * plan.matrix_bytes, engine.worker_bytes
    if limit is not None and needed > 0.7 * limit:
        raise LimitError(
            f"tuning holds all rows in each worker, which may need {needed / 2**20:,.0f} "
            "MiB, but a worker has "
            f'{limit / 2**20:,.0f} MiB; raise cluster.memory_limit, or set methods = ["ideal"]',
            "cluster.memory_limit",
        )
