"""Whether a job needs workers: its size says so where its spec does not.

Workers take a second or two to start, and every task some milliseconds of messages. Below a few
seconds of work one process is done before they have saved that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dnfscale.data.source import Source
from dnfscale.engine.limits import cores
from dnfscale.jobs import forecast
from dnfscale.jobs.plan import Plan, duration, plan
from dnfscale.learn.phases import Reads
from dnfscale.report.wording import count
from dnfscale.spec.cluster import AUTO, ClusterSpec
from dnfscale.spec.job import JobSpec
from dnfscale.spec.learn import LearnSpec

_GAIN = 1.25
"""How many times faster workers must be to be started: forecasts are off by more than that."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A job whose data are open, so that its size is known."""

    spec: JobSpec
    source: Source
    to_learn: LearnSpec

    def planned(self, cluster: ClusterSpec) -> Plan:
        """Return what the job would do there."""
        return plan(replace(self.spec, cluster=cluster), self.source, self.to_learn)


@dataclass(frozen=True, slots=True)
class Choice:
    """Where jobs run, and why, in a line for people; None where the spec has said it."""

    cluster: ClusterSpec
    reason: str | None = None


def chosen_cluster(cluster: ClusterSpec, jobs: Sequence[Opened]) -> Choice:
    """Return the cluster of some jobs: as the spec says, or by their size."""
    if cluster.kind != AUTO:
        return Choice(cluster)
    alone = replace(cluster, kind="serial")
    several = replace(cluster, kind="local", workers=max(2, cores()))
    on_workers = f"runs on {count(several.workers, 'worker')} of this machine"
    plans = [job.planned(alone) for job in jobs]
    if any(map(_fits_others, plans)):
        # Besides being faster there, a fit that hangs or ends its process harms only its worker.
        return Choice(several, f"{on_workers}, as other methods are fitted too")
    alone_s = sum(forecast.busy_s(each.work) for each in plans)
    there = [job.planned(several).work for job in jobs]
    several_s = forecast.LAUNCH_S + sum(
        forecast.busy_s(work) + forecast.messages_s(work) for work in there
    )
    if cores() > 1 and alone_s > _GAIN * several_s:
        return Choice(several, f"{on_workers}, as there are about {duration(alone_s)} of work")
    return Choice(alone, "runs in this process, as workers would save no time")


def _fits_others(planned: Plan) -> bool:
    """Say whether methods are compared that are fitted to rows."""
    return any(
        phase.reads in (Reads.FILES_ON_WORKERS, Reads.DISTINCT_ROWS) for phase in planned.phases
    )
