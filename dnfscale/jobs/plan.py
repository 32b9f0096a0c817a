"""What a job will do, from the footers alone: scans, tasks, bytes to read, memory per worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dnfscale.core.columns import Column, Reading, Role
from dnfscale.core.parts import stored_column
from dnfscale.data.source import Source
from dnfscale.engine.budget import KEPT_SHARE, LOCAL_KEPT_SHARE
from dnfscale.engine.runs import run_edges
from dnfscale.errors import LimitError
from dnfscale.jobs import forecast
from dnfscale.jobs.checks import memory_bytes
from dnfscale.jobs.forecast import Work
from dnfscale.jobs.spec import JobSpec
from dnfscale.method.cuts import plan_cuts
from dnfscale.reading import Foreseen, collected_rows, foresee, sampled_pieces, sampled_share
from dnfscale.selecting import most_candidates, sampled_rows
from dnfscale.table import LearnSpec, features, n_inner

_CATEGORIES = 4
"""Values that a column of categories is taken to have."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One pass over the partitions, or over the folds."""

    name: str
    reads: str
    tasks: int
    read_bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """All phases of a job, and what a worker will hold."""

    phases: tuple[Phase, ...]
    partitions: int
    rows: int
    columns: tuple[Column, ...]
    binned_bytes: int
    worker_bytes: int
    work: Work

    @property
    def seconds(self) -> float:
        """About how long the formula will take; how long baselines take is up to them."""
        return forecast.seconds(self.work)


def plan(spec: JobSpec, source: Source, to_learn: LearnSpec) -> Plan:
    """Lay out the phases of a job."""
    columns = features(source, to_learn)
    names = list(dict.fromkeys(stored_column(column.name) for column in columns))
    numbers = [stored_column(column.name) for column in columns if column.role is Role.NUMBER]
    target = [to_learn.target]
    partitions = len(source.partitions)
    tasks = partitions + _merges(partitions, spec["cluster.fan_in"])
    n_folds = 1 + _folds(to_learn, source.n_rows)
    n_splits = n_inner(source.n_rows, to_learn)

    def size(wanted: Sequence[str]) -> int:
        return sum(source.column_bytes.get(name, 0) for name in set(wanted))

    phases = []
    reading = Reading(columns, to_learn.target, keep_missing=to_learn.missing == "indicator")
    foreseen = foresee(source, reading)
    if foreseen is Foreseen.COUNT:
        runs = partitions
        if spec["cluster.kind"] != "serial":
            edges = run_edges(partitions, workers=spec["cluster.workers"], fan_in=spec["cluster.fan_in"])
            runs = len(edges) - 1
        n_tasks = runs + _merges(runs, spec["cluster.fan_in"])
        phases.append(Phase("summarize columns", "Parquet", n_tasks, size(names + target)))
    elif foreseen is Foreseen.SAMPLE:
        pieces = sampled_pieces(source, len(numbers))
        share = sampled_share(source, len(numbers))
        phases.append(Phase("sample columns", "Parquet, some numbers", pieces, int(share * size(numbers))))
    phases += [
        Phase("read rows", "Parquet", partitions, size(names + target)),
        Phase("locate medians", "rough rows", tasks, 0),
        Phase("collect medians", "rough rows", tasks, 0),
        Phase("associate attributes", "rough rows", tasks, 0),
    ]
    units = n_folds * (1 if n_splits == 1 else n_splits + 1)
    if to_learn.looks_together:
        phases.append(Phase("draw rows", "rough rows", tasks, 0))
        phases.append(Phase("rank attributes", "drawn rows", units, 0))
    phases.append(Phase("count types", "rough rows", tasks, 0))
    if to_learn.shrink != "none":
        phases.append(Phase("try prefixes", "counts", n_folds, 0))
    written = [Phase("count chosen types", "rough rows", tasks, 0), Phase("minimize formulas", "counts", n_folds, 0)]
    phases += written
    if to_learn.frontier and spec.kind == "study" and to_learn.classes == "two":
        phases += [written[0], replace(written[1], tasks=n_folds * to_learn.max_ell)]
    if spec.size_budget:
        phases.append(Phase("count distinct rows", "rough rows", tasks, 0))
        phases.append(Phase("search formulas by size", "distinct rows", 2 * n_folds, 0))
    if spec.baselines:
        fits = sum(spec.budget(name).trials + 1 for name in spec.baselines)
        phases.append(Phase("tune baselines", "Parquet, once a worker", (n_folds - 1) * fits, size(names + target)))
    if spec.peers:
        fits = (n_folds - 1) * len(spec.peers)
        phases.append(Phase("fit peers", "Parquet, once a worker", fits, size(names + target)))
    cuts = _cuts(to_learn, source.n_rows, numbers)
    sampled = sampled_rows(source.n_rows, len(columns)) if to_learn.looks_together else 0
    attributes = len(numbers) * cuts + (len(columns) - len(numbers)) * _CATEGORIES
    binned = source.n_rows * (len(columns) + 1)
    serial = spec["cluster.kind"] == "serial"
    work = Work(
        rows=source.n_rows,
        numbers=len(numbers),
        categories=len(columns) - len(numbers),
        files=len(source.files),
        partitions=partitions,
        phases=len(phases),
        tasks=sum(phase.tasks for phase in phases if phase.reads != "Parquet, once a worker"),
        folds=n_folds * n_splits,
        rankings=len(to_learn.rank),
        ell=to_learn.max_ell,
        cuts=cuts,
        units=units if to_learn.looks_together else 0,
        sampled=sampled,
        candidates=min(most_candidates(sampled), attributes),
        reads=sum(phase.read_bytes for phase in phases[:2]) / max(1, size(names + target)),
        workers=1 if serial else spec["cluster.workers"],
        local=not serial,
    )
    needed = forecast.worker_bytes(
        work,
        largest_rows=max((partition.n_rows for partition in source.partitions), default=0),
        rough_bytes=binned,
        inside_bytes=16 * len(numbers) * collected_rows(source.n_rows, len(numbers)),
        kept_limit=_kept_limit(spec),
    )
    return Plan(tuple(phases), partitions, source.n_rows, columns, binned, needed, work)


def check_fits(plan: Plan, spec: JobSpec) -> None:
    """Raise LimitError where a worker will need more than it may use."""
    if spec["cluster.kind"] == "local" and plan.worker_bytes > memory_bytes(spec["cluster.memory_limit"]):
        raise spec.located(
            LimitError(
                f"a worker will need about {_amount(plan.worker_bytes)}, but may use {spec['cluster.memory_limit']}; "
                "raise cluster.memory_limit, or write the dataset with smaller row groups",
                "cluster.memory_limit",
            )
        )


def write_plan(plan: Plan, spec: JobSpec) -> str:
    """Write a plan as a table."""
    kept_limit = _kept_limit(spec)
    roles = ", ".join(f"{sum(c.role is role for c in plan.columns):,} {role}" for role in Role)
    lines = [
        f"{spec.name}: {plan.rows:,} rows in {plan.partitions:,} partitions, {len(plan.columns):,} columns ({roles})",
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
        f"rough rows        {_amount(plan.binned_bytes)}, kept on the workers",
        f"memory per worker about {_amount(plan.worker_bytes)} of {spec['cluster.memory_limit']}"
        + ("" if kept_limit is None else f"; rows beyond {_amount(kept_limit)} wait on disk"),
        f"time              about {_duration(plan.seconds)}"
        + (", and the tuning of baselines" if spec.baselines else ""),
        f"cluster           {spec['cluster.kind']}"
        + (f", {spec['cluster.workers']} workers" if spec["cluster.kind"] == "local" else ""),
    ]
    return "\n".join(lines)


def _kept_limit(spec: JobSpec) -> int | None:
    """Return how many bytes of rows a worker keeps in memory; None where there is no worker."""
    if spec["cluster.kind"] == "serial":
        return None
    share = LOCAL_KEPT_SHARE if spec["cluster.kind"] == "local" else KEPT_SHARE
    return int(share * memory_bytes(spec["cluster.memory_limit"]))


def _cuts(to_learn: LearnSpec, n_rows: int, numbers: Sequence[str]) -> int:
    """Return how many cuts a column of numbers has, unless the spec gives its cuts."""
    planned = plan_cuts(to_learn.cuts, n_rows=n_rows, n_columns=len(numbers))
    return len(planned.shares)


def _merges(items: int, fan_in: int) -> int:
    merges = 0
    while True:
        items = -(-items // fan_in)
        merges += items
        if items <= 1:
            return merges


def _folds(to_learn: LearnSpec, n_rows: int) -> int:
    if isinstance(to_learn.outer, int):
        return to_learn.outer
    return 10 if to_learn.outer is None and n_rows >= 100 else n_rows


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _amount(n_bytes: int) -> str:
    for unit, size in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if n_bytes >= 1 << size:
            return f"{n_bytes / (1 << size):,.1f} {unit}"
    return f"{n_bytes} B"
