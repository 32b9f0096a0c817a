"""Dask's own report of a run: the task stream, profiles of workers and scheduler, bandwidths, as
one page.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from dnfscale.engine.api import Notice, Tell
from dnfscale.engine.dask.engine import ClusterEngine

_PLUGIN = "task-stream"


def record_performance(engine: ClusterEngine, file: Path, tell: Tell) -> None:
    """Record from now on; closing the engine writes the report, and removes what was added to the
    scheduler.
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
