"""A command line whose process meets its end, or waits, at a given moment: python -m
tests.jobs.dying MOMENT ARGUMENTS.

A moment is `start PHASE`, `end PHASE` (when all is counted and nothing is written yet), or
`report`; what happens is SIGKILL, or, if the moment begins with `wait`, a line on stdout and then
nothing for a long time.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from dnfscale.jobs import runner
from dnfscale.jobs.cli import main


def _meet(waiting: bool) -> None:
    if not waiting:
        os.kill(os.getpid(), signal.SIGKILL)
    print("waiting", flush=True)
    time.sleep(600)


def _arrange(moment: str) -> None:
    waiting = moment.startswith("wait ")
    what, _, phase = moment.removeprefix("wait ").partition(" ")
    if what == "report":
        runner.write_report = lambda _folder: _meet(waiting)
        return
    watch = runner.Job.watch

    def watched(self: runner.Job, progress: Any) -> None:
        if progress.phase == phase and progress.done == (progress.total if what == "end" else 0):
            _meet(waiting)
        watch(self, progress)

    runner.Job.watch = watched  # type: ignore[method-assign]


if __name__ == "__main__":
    _arrange(sys.argv[1])
    sys.exit(main(sys.argv[2:]))
