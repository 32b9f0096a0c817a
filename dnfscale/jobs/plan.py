"""What a job will do, from the footers alone: scans, tasks, bytes to read, memory per worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dnfscale.core.columns import Column, Role
from dnfscale.core.parts import stored_column
from dnfscale.data.source import Source
from dnfscale.engine.batches import batch_edges
from dnfscale.engine.settings import KEPT_SHARE, LOCAL_KEPT_SHARE
from dnfscale.errors import LimitError
from dnfscale.jobs import forecast
from dnfscale.jobs.forecast import Work
from dnfscale.jobs.report.wording import count
from dnfscale.learn.dealing import asked_folds, n_inner
from dnfscale.learn.places import n_ranking_parts
from dnfscale.learn.reading import Foreseen, collected_rows, foresee, sampled_pieces, sampled_share
from dnfscale.learn.selecting import most_candidates, sampled_rows
from dnfscale.learn.table import features, reading_of
from dnfscale.learn.weighing import is_looked_at
from dnfscale.method.cuts import plan_cuts
from dnfscale.spec.checks import memory_bytes
from dnfscale.spec.job import JobSpec
from dnfscale.spec.learn import LearnSpec

_CATEGORIES = 4
"""The number of values that a column of categories is assumed to have."""


_WEIGHT_BYTES = 8


class Reads(StrEnum):
    """What a phase reads, in the words of the plan."""

    FILES = "Parquet"
    SAMPLE = "Parquet, some numbers"
    WEIGHTS = "Parquet, the weights"
    FILES_ON_WORKERS = "Parquet, once a worker"
    KEPT_ROWS = "rough rows"
    DRAWN_ROWS = "drawn rows"
    DISTINCT_ROWS = "distinct rows"
    COUNTS = "counts"

    @property
    def is_scan(self) -> bool:
        """Whether the phase goes over every row once."""
        return self in (Reads.FILES, Reads.KEPT_ROWS)


@dataclass(frozen=True, slots=True)
class Phase:
    """One pass over the partitions, or over the folds."""

    name: str
    reads: Reads
    tasks: int
    read_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """All phases of a job, and the memory that a worker needs."""

    phases: tuple[Phase, ...]
    partitions: int
    rows: int
    columns: tuple[Column, ...]
    rough_bytes: int
    worker_bytes: int
    work: Work

    @property
    def seconds(self) -> float:
        """The estimated time of the formula; baselines are not included."""
        return forecast.seconds(self.work)


def plan(spec: JobSpec, source: Source, to_learn: LearnSpec) -> Plan:
    """Lay out the phases of a job."""
    layout = _Layout(
        columns=features(source, to_learn),
        folds=1 + asked_folds(source.n_rows, to_learn),
        splits=n_inner(source.n_rows, to_learn),
    )
    phases = (*_reading_phases(spec, source, to_learn, layout), *_learning_phases(spec, source, to_learn, layout))
    work = _work(spec, source, to_learn, layout, phases)
    rough_bytes = source.n_rows * (len(layout.columns) + 1 + (0 if to_learn.weight is None else _WEIGHT_BYTES))
    needed = forecast.worker_bytes(
        work,
        largest_rows=max((partition.n_rows for partition in source.partitions), default=0),
        rough_bytes=rough_bytes,
        inside_bytes=16 * len(layout.numbers) * collected_rows(source.n_rows, len(layout.numbers)),
        kept_limit=_kept_limit(spec),
    )
    return Plan(phases, len(source.partitions), source.n_rows, layout.columns, rough_bytes, needed, work)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The numbers from which the phases of a job follow."""

    columns: tuple[Column, ...]
    folds: int
    """The number of folds, with the fold of all rows."""
    splits: int
    """The number of inner splits of each fold."""

    @property
    def numbers(self) -> list[str]:
        return [stored_column(column.name) for column in self.columns if column.role is Role.NUMBER]

    @property
    def ranking_parts(self) -> int:
        """The number of parts of the rows in which attributes are ranked."""
        return self.folds * n_ranking_parts(self.splits)

    def read_bytes(self, source: Source, to_learn: LearnSpec) -> int:
        """Return the bytes of all columns that the job reads."""
        beside = (to_learn.target, *([] if to_learn.weight is None else [to_learn.weight]))
        names = {stored_column(column.name) for column in self.columns} | set(beside)
        return sum(source.column_bytes.get(name, 0) for name in names)


def _reading_phases(spec: JobSpec, source: Source, to_learn: LearnSpec, layout: _Layout) -> Iterator[Phase]:
    """Yield the phases that read files."""
    read_bytes = layout.read_bytes(source, to_learn)
    partitions = len(source.partitions)
    if to_learn.weight is not None and is_looked_at(source, to_learn.weight):
        yield Phase(
            "weigh rows",
            Reads.WEIGHTS,
            partitions + _merges(partitions, spec.cluster.fan_in),
            source.column_bytes.get(to_learn.weight, 0),
        )
    foreseen = foresee(source, reading_of(layout.columns, to_learn))
    if foreseen is Foreseen.COUNT:
        batches = partitions
        if spec.cluster.facts.distributed:
            batches = len(batch_edges(partitions, workers=spec.cluster.workers, fan_in=spec.cluster.fan_in)) - 1
        yield Phase("summarize columns", Reads.FILES, batches + _merges(batches, spec.cluster.fan_in), read_bytes)
    elif foreseen is Foreseen.SAMPLE:
        numbers = layout.numbers
        number_bytes = sum(source.column_bytes.get(name, 0) for name in set(numbers))
        sampled = int(sampled_share(source, len(numbers)) * number_bytes)
        yield Phase("sample columns", Reads.SAMPLE, sampled_pieces(source, len(numbers)), sampled)
    yield Phase("read rows", Reads.FILES, partitions, read_bytes)


def _learning_phases(spec: JobSpec, source: Source, to_learn: LearnSpec, layout: _Layout) -> Iterator[Phase]:
    """Yield the phases after the rows are read, in order."""
    partitions = len(source.partitions)
    tasks = partitions + _merges(partitions, spec.cluster.fan_in)

    def scan(name: str) -> Phase:
        return Phase(name, Reads.KEPT_ROWS, tasks)

    yield scan("locate medians")
    yield scan("collect medians")
    yield scan("associate attributes")
    if to_learn.looks_together:
        yield scan("draw rows")
        yield Phase("rank attributes", Reads.DRAWN_ROWS, layout.ranking_parts)
    yield scan("count types")
    if to_learn.shrink != "none":
        yield Phase("try prefixes", Reads.COUNTS, layout.folds)
    write = "simplify formulas" if to_learn.minimize == "sympy" else "minimize formulas"
    yield scan("count chosen types")
    yield Phase(write, Reads.COUNTS, layout.folds)
    if to_learn.frontier and spec.kind == "study" and to_learn.classes == "two":
        yield scan("count chosen types")
        yield Phase(write, Reads.COUNTS, layout.folds * to_learn.max_ell)
    if spec.of_family("sized"):
        yield scan("count distinct rows")
        yield Phase("search formulas by size", Reads.DISTINCT_ROWS, 2 * layout.folds)
    read_bytes = layout.read_bytes(source, to_learn)
    tuned, fitted = spec.of_family("tuned"), spec.of_family("fitted")
    if tuned:
        fits = (layout.folds - 1) * sum(spec.competitors[name].trials + 1 for name in tuned)
        yield Phase("tune baselines", Reads.FILES_ON_WORKERS, fits, read_bytes)
    if fitted:
        yield Phase("fit peers", Reads.FILES_ON_WORKERS, (layout.folds - 1) * len(fitted), read_bytes)


def _work(spec: JobSpec, source: Source, to_learn: LearnSpec, layout: _Layout, phases: Sequence[Phase]) -> Work:
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
        reads=sum(phase.read_bytes for phase in learning) / max(1, layout.read_bytes(source, to_learn)),
        workers=spec.cluster.workers if kind.distributed else 1,
        on_cluster=kind.distributed,
        starts_cluster=kind.starts,
    )


def check_fits(plan: Plan, spec: JobSpec) -> None:
    """Raise LimitError if a worker will need more memory than its limit."""
    if spec.cluster.kind == "local" and plan.worker_bytes > memory_bytes(spec.cluster.memory_limit):
        raise spec.located(
            LimitError(
                f"a worker will need about {_amount(plan.worker_bytes)}, but may use {spec.cluster.memory_limit}; "
                "raise cluster.memory_limit, or write the dataset with smaller row groups",
                "cluster.memory_limit",
            )
        )


def write_plan(plan: Plan, spec: JobSpec) -> str:
    """Write a plan as a table."""
    kept_limit = _kept_limit(spec)
    roles = ", ".join(f"{sum(c.role is role for c in plan.columns):,} {role}" for role in Role)
    lines = [
        f"{spec.name}: {count(plan.rows, 'row')} in {count(plan.partitions, 'partition')}, "
        f"{count(len(plan.columns), 'column')} ({roles})",
        "",
        f"{'phase':<22}{'reads':<24}{'tasks':>8}{'bytes':>14}",
    ]
    for phase in plan.phases:
        amount = _amount(phase.read_bytes) if phase.read_bytes else ""
        lines.append(f"{phase.name:<22}{phase.reads:<24}{phase.tasks:>8,}{amount:>14}")
    total_tasks = sum(phase.tasks for phase in plan.phases)
    total = _amount(sum(phase.read_bytes for phase in plan.phases))
    lines += [
        f"{'in all':<46}{total_tasks:>8,}{total:>14}",
        "",
        f"rough rows        {_amount(plan.rough_bytes)}, kept on the workers",
        f"memory per worker about {_amount(plan.worker_bytes)} of {spec.cluster.memory_limit}"
        + ("" if kept_limit is None else f"; rows beyond {_amount(kept_limit)} wait on disk"),
        f"time              about {_duration(plan.seconds)}"
        + (", and the tuning of baselines" if spec.of_family("tuned") else ""),
        f"cluster           {spec.cluster.kind}"
        + (f", {spec.cluster.workers} workers" if spec.cluster.kind == "local" else ""),
    ]
    return "\n".join(lines)


def _kept_limit(spec: JobSpec) -> int | None:
    """Return how many bytes of rows a worker keeps in memory; None if there are no workers."""
    if not spec.cluster.facts.distributed:
        return None
    share = LOCAL_KEPT_SHARE if spec.cluster.kind == "local" else KEPT_SHARE
    return int(share * memory_bytes(spec.cluster.memory_limit))


def _merges(items: int, fan_in: int) -> int:
    merges = 0
    while True:
        items = -(-items // fan_in)
        merges += items
        if items <= 1:
            return merges


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _amount(n_bytes: int) -> str:
    for unit, size in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if n_bytes >= 1 << size:
            return f"{n_bytes / (1 << size):,.1f} {unit}"
    return f"{n_bytes} B"
