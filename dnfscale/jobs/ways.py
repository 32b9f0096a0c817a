"""Where the competitors of a job are fitted, settled from the footers before anything runs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dnfscale.compare.ways import (
    AUTO,
    RowLearner,
    Table,
    Workers,
    drawn_rows,
    has_ways,
    needed_bytes,
    settled_options,
    shortage,
    way_of,
)
from dnfscale.data.source import Source
from dnfscale.engine.limits import cores
from dnfscale.learn.table import features
from dnfscale.spec.checks import memory_bytes
from dnfscale.spec.cluster import AUTO as BY_SIZE
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.job import JobSpec
from dnfscale.spec.learn import LearnSpec


@dataclass(frozen=True, slots=True)
class PlannedFit:
    """How a competitor will be fitted to rows, as far as footers tell."""

    title: str
    where: str
    """"auto" where the workers are not known yet."""
    sample_rows: int | None
    """None if all rows are learned from."""
    worker_bytes: int | None
    """What a worker needs; None where that is not known yet."""


def settled(spec: JobSpec, source: Source, to_learn: LearnSpec) -> JobSpec:
    """Return the spec with every baselines.NAME.where settled; raise LimitError where workers have
    not the memory for what it says.

    A job that joins workers settles it when it knows them.
    """
    workers = _workers(spec.cluster)
    if workers is None:
        return spec
    table = _table(source, to_learn)
    values, competitors = dict(spec.values), dict(spec.competitors)
    for learner in _learners(spec):
        options = settled_options(learner, spec.competitors[learner.name], table, workers)
        lacking = shortage(learner, way_of(options), table, workers)
        if lacking is not None:
            raise spec.located(lacking)
        if has_ways(options):
            values[f"baselines.{learner.name}.where"] = options.where
        competitors[learner.name] = options
    return replace(spec, values=values, competitors=competitors)


def planned_fits(spec: JobSpec, source: Source, to_learn: LearnSpec) -> tuple[PlannedFit, ...]:
    """Return how each competitor will be fitted to rows."""
    table, workers = _table(source, to_learn), _workers(spec.cluster)
    found = []
    for learner in _learners(spec):
        where = way_of(spec.competitors[learner.name])
        if workers is None or where == AUTO:
            found.append(PlannedFit(learner.title, where, None, None))
            continue
        needed = needed_bytes(learner, where, table, workers)
        drawn = drawn_rows(learner, where, table, workers)
        found.append(PlannedFit(learner.title, where, drawn, needed))
    return tuple(found)


def _learners(spec: JobSpec) -> list[RowLearner]:
    return [each for each in spec.compared if isinstance(each, RowLearner)]


def _table(source: Source, to_learn: LearnSpec) -> Table:
    return Table(source.n_rows, len(features(source, to_learn)))


def _workers(cluster: ClusterSpec) -> Workers | None:
    """Return the workers of a cluster; None where the job joins some that it does not know."""
    if cluster.kind == BY_SIZE:
        # Whatever is fitted to rows makes such a job start workers of this machine.
        return Workers(max(2, cores()), int(memory_bytes(cluster.memory_limit)))
    if not cluster.facts.distributed:
        return Workers(1, None)
    if cluster.facts.address is not None:
        return None
    return Workers(cluster.first_workers, int(memory_bytes(cluster.memory_limit)))
