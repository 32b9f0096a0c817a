"""What Dask is told of the clusters that a job starts: every setting once, with its reason.

    LOCAL      scheduler and workers on this machine
    ELSEWHERE  those on hosts, in the queue of a batch system and in pods; the image's recipe
               repeats it for what is started from it by hand

Settings reach a process by Dask's configuration or by its environment. Nothing here imports Dask.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BANDWIDTH = "100kB"
"""The bandwidth between workers, per second, that Dask is to assume: so low that it does not move
rows.

With Dask's own guess, 100 MB, the rows of a partition are sent to any worker that has less to do
than theirs, which costs both workers more than the scan itself: a study of 10 million rows took a
third longer. With 1 MB it still happens where one worker has a dozen partitions more than another,
because Dask takes the scan of each for half a second.
"""

ALLOWED_FAILURES = 9
"""How many deaths of its worker a task survives.

A task that kills its workers has to be given up. One whose workers are killed by something else
must not be: a trial would count as failed, and the result would differ. Only the number of deaths
tells the two apart. If every second death of a busy cluster met the same task, Dask's own 3 would
err once in 16 times, 9 once in 1,024; and a deadly task costs ten starts of a worker.
"""

KEPT_SHARE = 0.1
"""The share of a worker's memory that kept rows may fill; the rest is on disk, so that the peak
stays bounded.
"""
LOCAL_KEPT_SHARE = 0.03
"""The same for local workers, which use rows on disk without reading them back into memory, see
spilling.py.

10 million rows on two workers of 1 GiB took as long with this share as with 0.1, or with none, and
the peak of a worker was 214 instead of 279 MiB.
"""

ASK_S = 5.0
"""How often the scheduler is asked whom it hears from, see roll_call.py; this is also how exact the
times below are.
"""
SILENT_S = 15.0
"""After how long without a sign of life a worker, or the scheduler, is told to be silent: twelve
times the longest gap between heartbeats of busy workers, and with ASK_S and NANNY_S within half a
minute."""
FROZEN_S = 45.0
"""After how long a silent worker is thrown out; with KILL_S, its work begins elsewhere after a
minute. Somebody who looks at a process with a debugger, or a disk that stalls, has that long."""
NANNY_S = 3.0
"""How long the nanny of a silent worker may take to say whether the worker uses the processor."""
KILL_S = 10.0
"""How long a nanny may take to kill a worker: Dask gives one that is stopped 4 s to end by itself.
"""
PAUSED_S = 20.0
"""How long a worker whose memory is full may begin nothing, though work waits for it and none is
under way.
"""

_START_S = 60
"""How long a worker may take to meet its scheduler."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the processes of a cluster are told."""

    members: Mapping[str, Any]
    """What scheduler and workers look up in Dask's configuration."""
    starter: Mapping[str, Any]
    """What the process that starts them looks up there."""
    libraries: Mapping[str, str]
    """What libraries of a worker look up in its environment when they are loaded."""

    def as_config(self) -> dict[str, Any]:
        """Return what to set in the configuration of a process that starts a cluster and hands its
        own on.
        """
        spawned = {
            f"distributed.nanny.pre-spawn-environ.{name}": value
            for name, value in self.libraries.items()
        }
        return {**self.members, **self.starter, **spawned}

    def as_environment(self) -> dict[str, str]:
        """Return the environment of a scheduler or worker that is handed no configuration."""
        return {
            **{_variable(name): str(value) for name, value in self.members.items()},
            **self.libraries,
        }


def _variable(name: str) -> str:
    """Return where in its environment Dask finds a setting."""
    return "DASK_" + name.replace(".", "__").replace("-", "_").upper()


def pages(dashboard: str | None) -> dict[str, Any]:
    """Return what a scheduler answers by HTTP: nothing, unless a dashboard was asked for.

    Dask listens for HTTP in any case, and without this tells whoever comes of its workers, tasks
    and their logs.
    """
    return {} if dashboard is not None else {"distributed.scheduler.http.routes": []}


_MEMBERS = {
    # Workers report their own estimate to the scheduler, so all of them need the setting.
    "distributed.scheduler.bandwidth": BANDWIDTH,
    "distributed.scheduler.allowed-failures": ALLOWED_FAILURES,
    # By default a scan's tasks wait at the scheduler until a worker has hardly anything left to do,
    # which is never while chains keep it busy: the scans of a suite would wait for all tuning,
    # whatever their priority.
    "distributed.scheduler.worker-saturation": float("inf"),
    "distributed.comm.timeouts.connect": f"{_START_S}s",
    # A worker that uses more of its memory writes out what it keeps; reading and merging need the
    # rest.
    "distributed.worker.memory.spill": 0.55,
}

_STARTER = {
    # Wait for a worker that is slow to come back (attendance.py limits how long); Dask would give
    # it up for good.
    "distributed.deploy.lost-worker-timeout": "1 hour",
}

_LIBRARIES = {
    # Dask makes malloc give back every freed array at once, and the page faults of taking memory
    # anew double the time of a scan. Blocks are small, so that what is held instead stays below
    # this.
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
    # Rows that come back from disk are not small, and would leave holes: they are given back at
    # once.
    "MALLOC_MMAP_THRESHOLD_": str(4 << 20),
    # Each worker is one thread; libraries that start some of their own would take cores that the
    # job does not have.
    "OMP_NUM_THREADS": "1",
}

LOCAL = Settings(
    members={
        **_MEMBERS,
        # On one machine the network does not fail: when a process dies, its connections are closed
        # at once, and for one that is stopped the system goes on to acknowledge what it is sent.
        # The latter is found by roll_call.py.
        "distributed.comm.timeouts.tcp": "1 hour",
        "distributed.worker.profile.enabled": False,
        # Nobody asks a worker how it is by HTTP; see also pages().
        "distributed.worker.http.routes": [],
        # Every process checks its event loop 50 times a second to log a slow one, which nobody
        # would see here. With this and fewer measurements of the machine, an idle cluster takes a
        # third of the CPU time that it took.
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "2s",
        # Compressed results could not be memory-mapped.
        "distributed.worker.memory.spill-compression": False,
        # Rows of a task that another worker takes over travel a few partitions at a time.
        "distributed.worker.memory.transfer": 0.02,
        "distributed.worker.transfer.message-bytes-limit": "8MB",
    },
    starter=_STARTER,
    libraries={
        **_LIBRARIES,
        # As Dask sets them for its workers, but after the process that they are forked from has
        # loaded its libraries.
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONHASHSEED": "6640",
    },
)
"""It sets no memory target for Dask: local workers keep rows in our own buffer, which goes by
LOCAL_KEPT_SHARE.
"""

ELSEWHERE = Settings(
    members={**_MEMBERS, "distributed.worker.memory.target": KEPT_SHARE},
    starter=_STARTER,
    libraries=_LIBRARIES,
)
