"""What a job will do, from the footers alone: scans, tasks, bytes to read, memory per worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dnfscale.compare.competitor import Notes
from dnfscale.compare.tuning import FIT_TOGETHER, TUNE_BASELINES, TunedCompetitor, measured_left
from dnfscale.compare.ways import CLUSTER, SAMPLE, WORKER
from dnfscale.core.columns import Column, Role
from dnfscale.data.source import Source
from dnfscale.engine.dask.settings import KEPT_SHARE, LOCAL_KEPT_SHARE
from dnfscale.engine.reductions import batch_edges
from dnfscale.errors import LimitError
from dnfscale.jobs import forecast
from dnfscale.jobs.forecast import Work
from dnfscale.jobs.study import plan_study
from dnfscale.jobs.ways import PlannedFit, planned_fits
from dnfscale.learn.phases import Layout, PlannedPhase, Reads
from dnfscale.learn.places import asked_folds, n_inner
from dnfscale.learn.rank import most_candidates, sampled_rows
from dnfscale.learn.read import collected_rows
from dnfscale.learn.table import features
from dnfscale.method.cuts import plan_cuts
from dnfscale.report.wording import count
from dnfscale.spec.checks import memory_bytes
from dnfscale.spec.job import JobSpec
from dnfscale.spec.learn import LearnSpec

_CATEGORIES = 4
"""The number of values that a column of categories is assumed to have."""
_WEIGHT_BYTES = 8


@dataclass(frozen=True, slots=True)
class Plan:
    """All phases of a job, and the memory that a worker needs."""

    phases: tuple[PlannedPhase, ...]
    partitions: int
    rows: int
    columns: tuple[Column, ...]
    rough_bytes: int
    worker_bytes: int
    work: Work
    fits: tuple[PlannedFit, ...] = ()
    """How competitors are fitted to rows."""

    @property
    def seconds(self) -> float:
        """The estimated time of the formula; baselines are not included."""
        return forecast.seconds(self.work)


def plan(spec: JobSpec, source: Source, to_learn: LearnSpec) -> Plan:
    """Lay out the phases of a job."""
    layout = _layout(spec, source, to_learn)
    phases = tuple(plan_study(spec, layout))
    work = _work(spec, layout, phases)
    beside = 1 + (0 if to_learn.weight is None else _WEIGHT_BYTES)
    rough_bytes = source.n_rows * (len(layout.columns) + beside)
    n_numbers = len(layout.numbers)
    needed = forecast.worker_bytes(
        work,
        largest_rows=max((partition.n_rows for partition in source.partitions), default=0),
        rough_bytes=rough_bytes,
        inside_bytes=16 * n_numbers * collected_rows(source.n_rows, n_numbers),
        kept_limit=_kept_limit(spec),
    )
    return Plan(
        phases,
        len(source.partitions),
        source.n_rows,
        layout.columns,
        rough_bytes,
        needed,
        work,
        planned_fits(spec, source, to_learn),
    )


def _layout(spec: JobSpec, source: Source, to_learn: LearnSpec) -> Layout:
    batches, fan_in = len(source.partitions), spec.cluster.fan_in
    if spec.cluster.facts.distributed:
        batches = len(batch_edges(batches, workers=spec.cluster.workers, fan_in=fan_in)) - 1
    return Layout(
        source=source,
        spec=to_learn,
        columns=features(source, to_learn),
        folds=1 + asked_folds(source.n_rows, to_learn),
        splits=n_inner(source.n_rows, to_learn),
        fan_in=fan_in,
        batches=batches,
    )


def _work(spec: JobSpec, layout: Layout, phases: Sequence[PlannedPhase]) -> Work:
    source, to_learn = layout.source, layout.spec
    n_numbers, n_columns = len(layout.numbers), len(layout.columns)
    cuts = len(plan_cuts(to_learn.cuts, n_rows=source.n_rows, n_columns=n_numbers).shares)
    sampled = sampled_rows(source.n_rows, n_columns) if to_learn.looks_together else 0
    attributes = n_numbers * cuts + (n_columns - n_numbers) * _CATEGORIES
    learning = [phase for phase in phases if phase.reads is not Reads.FILES_ON_WORKERS]
    kind = spec.cluster.facts
    return Work(
        rows=source.n_rows,
        numbers=n_numbers,
        categories=n_columns - n_numbers,
        files=len(source.files),
        partitions=len(source.partitions),
        phases=len(phases),
        tasks=sum(phase.tasks for phase in learning),
        folds=layout.folds * layout.splits,
        rankings=len(to_learn.rank),
        ell=to_learn.max_ell,
        cuts=cuts,
        ranking_parts=layout.ranking_parts if to_learn.looks_together else 0,
        sampled=sampled,
        candidates=min(most_candidates(sampled), attributes),
        reads=sum(phase.read_bytes for phase in learning) / max(1, layout.read_bytes),
        workers=spec.cluster.workers if kind.distributed else 1,
        on_cluster=kind.distributed,
        starts_cluster=kind.starts,
    )


def check_fits(plan: Plan, spec: JobSpec) -> None:
    """Raise LimitError if a worker will need more memory than its limit."""
    if spec.cluster.kind == "local" and plan.worker_bytes > memory_bytes(spec.cluster.memory_limit):
        raise spec.located(
            LimitError(
                f"a worker will need about {_amount(plan.worker_bytes)}, but may use "
                f"{spec.cluster.memory_limit}; "
                "raise cluster.memory_limit, or write the dataset with smaller row groups",
                "cluster.memory_limit",
            )
        )


def write_plan(
    plan: Plan,
    spec: JobSpec,
    *,
    joining: Sequence[PlannedPhase] = (),
    reason: str | None = None,
    left: Mapping[str, str] | None = None,
) -> str:
    """Write a plan as a table, after the phases that join related tables first; the reason is that
    of a cluster that the spec did not choose, and `left` says of competitors how long they take.
    """
    kept_limit = _kept_limit(spec)
    roles = ", ".join(f"{sum(c.role is role for c in plan.columns):,} {role}" for role in Role)
    lines = [
        f"{spec.name}: {count(plan.rows, 'row')} in {count(plan.partitions, 'partition')}, "
        f"{count(len(plan.columns), 'column')} ({roles})",
        "",
        f"{'phase':<22}{'reads':<24}{'tasks':>8}{'bytes':>14}",
    ]
    phases = (*joining, *plan.phases)
    for phase in phases:
        amount = _amount(phase.read_bytes) if phase.read_bytes else ""
        lines.append(f"{phase.name:<22}{phase.reads:<24}{phase.tasks:>8,}{amount:>14}")
    tunes = any(phase.name in (TUNE_BASELINES.name, FIT_TOGETHER.name) for phase in plan.phases)
    total_tasks = sum(phase.tasks for phase in phases)
    total = _amount(sum(phase.read_bytes for phase in phases))
    lines += [
        f"{'in all':<46}{total_tasks:>8,}{total:>14}",
        "",
        f"rough rows        {_amount(plan.rough_bytes)}, kept on the workers",
        f"memory per worker about {_amount(plan.worker_bytes)} of {spec.cluster.memory_limit}"
        + ("" if kept_limit is None else f"; rows beyond {_amount(kept_limit)} wait on disk"),
        f"time              about {duration(plan.seconds)}"
        + (", and the tuning of baselines" if tunes else "")
        + (", and the join of the tables" if joining else ""),
        f"cluster           {spec.cluster.kind}"
        + (f", {spec.cluster.workers} workers" if spec.cluster.kind == "local" else "")
        + ("" if reason is None else f"; {reason}"),
        *(
            f"{fit.title:<18}{_fitted(fit, plan.rows)}{(left or {}).get(fit.title, '')}"
            for fit in plan.fits
        ),
        *_joined_words(joining, spec),
    ]
    return "\n".join(lines)


def tuning_left(spec: JobSpec, source: Source, to_learn: LearnSpec, notes: Notes) -> dict[str, str]:
    """Say how long the tuning of each competitor will still take, by title, where an unfinished run
    has measured some of its fits.
    """
    folds = asked_folds(source.n_rows, to_learn)
    workers = spec.cluster.workers if spec.cluster.facts.distributed else 1
    said = {}
    for competitor in spec.compared:
        if not isinstance(competitor, TunedCompetitor):
            continue
        budget = spec.competitors[competitor.name]
        found = measured_left(notes, competitor, budget, folds=folds, workers=workers)
        if found is not None:
            seconds, fits = found
            by = f"the {count(fits, 'fit')} that the run in {spec.run_folder} has measured"
            said[competitor.title] = f"; about {duration(seconds)} more, by {by}"
    return said


def _joined_words(joining: Sequence[PlannedPhase], spec: JobSpec) -> list[str]:
    """Say how related tables are joined."""
    if not joining:
        return []
    names = ", ".join(table.name for table in spec.related)
    most = count(spec.relations.max_concepts, "concept")
    return [f"related tables    {names}: read twice, for at most {most}; joined once, then kept"]


def _fitted(fit: PlannedFit, rows: int) -> str:
    """Say how a competitor is fitted to rows."""
    if fit.worker_bytes is None:
        return "on all rows, or a sample, as the workers have memory"
    ways = {
        WORKER: "on all rows in each worker",
        CLUSTER: "on all rows, by all workers together",
        SAMPLE: f"on a sample of {fit.sample_rows or 0:,} of {count(rows, 'row')}",
    }
    return f"{ways[fit.where]}, about {_amount(fit.worker_bytes)} per worker"


def _kept_limit(spec: JobSpec) -> int | None:
    """Return how many bytes of rows a worker keeps in memory; None if there are no workers."""
    if not spec.cluster.facts.distributed:
        return None
    share = LOCAL_KEPT_SHARE if spec.cluster.kind == "local" else KEPT_SHARE
    return int(share * memory_bytes(spec.cluster.memory_limit))


def duration(seconds: float) -> str:
    """Return a time in the unit that people would use."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _amount(n_bytes: int) -> str:
    for unit, size in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if n_bytes >= 1 << size:
            return f"{n_bytes / (1 << size):,.1f} {unit}"
    return f"{n_bytes} B"
