"""What a fault has left behind: processes that carry its mark, and files that only a run in
progress has.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

import psutil
from distributed.diskutils import WorkSpace

from tests.faults.acting import PLAN
from tests.jobs.running import surprising

_PATIENCE_S = 40
"""How long a process whose parent was killed may take to notice, on a busy machine."""


def stray_processes(plan: Path, known: Collection[int]) -> list[str]:
    """Return the processes of a plan that are not, or do not descend from, known ones; some time is
    given to end.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while (strays := _strays(plan, known)) and time.monotonic() < deadline:
        time.sleep(0.3)
    return strays


def stray_files(folder: Path) -> list[str]:
    """Return what a finished run's folder should not hold: a lock, temporary files, records of
    scans.
    """
    return [
        *surprising(folder),
        *(str(file.relative_to(folder)) for file in folder.glob("tasks/*.bin")),
    ]


def spilled(scratch: Path) -> list[str]:
    """Return the folders in which workers kept what they spilled.

    One that was killed cannot remove its own: the next worker that starts there does, as it is done
    here.
    """
    for shared in scratch.rglob("dask-scratch-space"):
        WorkSpace(str(shared)).new_work_dir(prefix="next-").release()
    return [str(path.relative_to(scratch)) for path in scratch.rglob("worker-*") if path.is_dir()]


def _strays(plan: Path, known: Collection[int]) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(PLAN) != str(plan) or process.status() == psutil.STATUS_ZOMBIE:
                continue
            family = {process.pid, *(parent.pid for parent in process.parents())}
            if not family & set(known):
                found.append(f"process {process.pid}: {' '.join(process.cmdline())[:120]}")
        except psutil.Error:
            continue
    return found
