"""From the description of a cluster to an engine that runs on it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dnfscale.engine.api import Engine, Notice, Tell, Watch, untold, unwatched
from dnfscale.engine.limits import cores, room_for
from dnfscale.engine.preflight import check_cluster
from dnfscale.spec.cluster import ClusterSpec

if TYPE_CHECKING:
    from dnfscale.engine.dask.engine import ClusterEngine

__all__ = ["check_limits", "cores", "launch"]

_PLUGIN = "task-stream"
"""The plugin of Dask's scheduler that records when each task ran."""


def launch(
    spec: ClusterSpec,
    watch: Watch = unwatched,
    tell: Tell = untold,
    *,
    loaded: Sequence[str] = (),
    performance_report: str | None = None,
) -> Engine:
    """Start or join the cluster that the spec describes; Dask's report of the whole is written when
    it is closed.

    Workers of this machine begin with these modules loaded.
    """
    for warning in check_cluster(spec):
        tell(Notice.warning(warning))
    check_limits(spec)
    engine = _opened(spec, watch, tell, loaded=loaded)
    if performance_report is not None:
        try:
            # check_performance_report has refused kinds that are not of Dask.
            _record_performance(cast("ClusterEngine", engine), Path(performance_report), tell)
        except BaseException:
            engine.close()
            raise
    return engine


def _opened(spec: ClusterSpec, watch: Watch, tell: Tell, *, loaded: Sequence[str]) -> Engine:
    facts = spec.facts
    if facts.address is not None:
        # Dask takes half a second to import, which serial runs and validations do without.
        from dnfscale.engine.dask.remote import join

        return join(spec, facts.address(spec), watch=watch, tell=tell)
    assert facts.launch is not None, facts.name
    engine: Engine = facts.launch(spec, loaded=loaded, watch=watch, tell=tell)
    return engine


def check_limits(spec: ClusterSpec) -> None:
    """Raise LimitError if the operating system does not leave this process what such a cluster
    takes.
    """
    workers = spec.adaptive.maximum if spec.adaptive else spec.workers
    room_for(workers if spec.kind == "local" else 0).check()


def _record_performance(engine: ClusterEngine, file: Path, tell: Tell) -> None:
    """Have Dask record the task stream, profiles and bandwidths from now on.

    Closing the engine writes the report, and removes what was added to the scheduler.
    """
    started = time.time()
    client = engine.client
    count, had_plugin = client.run_on_scheduler(_state)
    client.get_task_stream(start=0, stop=0)

    def write() -> None:
        try:
            ask = client.scheduler.performance_report
            page = client.sync(ask, start=started, last_count=count, code="", mode="inline")
            file.write_text(page, encoding="utf-8")
            if not had_plugin:
                client.run_on_scheduler(_remove_plugin)
        except Exception as error:
            # The run is over; a failure to report on it must not hide how it ended.
            tell(
                Notice.warning(
                    f"the performance report is not written: {type(error).__name__}: {error}"
                )
            )

    engine.at_close(write)


def _state(dask_scheduler: Any) -> tuple[int, bool]:
    return dask_scheduler.monitor.count, _PLUGIN in dask_scheduler.plugins


def _remove_plugin(dask_scheduler: Any) -> None:
    dask_scheduler.remove_plugin(name=_PLUGIN)
