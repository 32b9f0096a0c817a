"""CPU time and peak memory of a process and of all its children."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

_LOOK_S = 0.05
"""How often the watch looks. The kernel keeps each process's peak, so only what a process does in
its last moments before it ends can be missed."""
_FAMILY_LOOKS = 5
"""Every so many looks new children are searched for, which costs a hundred times as much as looking
at those known.
"""
_GONE = (psutil.NoSuchProcess, psutil.AccessDenied)


@dataclass(frozen=True, slots=True)
class ProcessPeak:
    """The most memory that one process had."""

    role: str
    """main: the process of the measurement; worker: one of Dask's; child: any other."""
    peak_bytes: int


def end_family(process: subprocess.Popen[bytes]) -> None:
    """End a process that we started, and all its children."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except _GONE:
        children = []
    process.terminate()
    process.wait()
    for child in children:
        try:
            child.kill()
        except _GONE:
            continue


def cpu_seconds() -> float:
    """Return the CPU time of this process and its children, ended ones included, up to now."""
    this = psutil.Process()
    return sum(_cpu_seconds(process) for process in (this, *this.children(recursive=True)))


class PeakWatch:
    """Watches, from a thread of its own, the peak memory of a process and its children."""

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._peaks: dict[psutil.Process, ProcessPeak] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def peaks(self) -> tuple[ProcessPeak, ...]:
        """The peak of every process that was seen, the main process first."""
        return tuple(self._peaks.values())

    def _watch(self) -> None:
        looks = 0
        family: list[psutil.Process] = [self._root]
        while not self._ended.wait(_LOOK_S):
            for process in family:
                self._look(process)
            # Who is found now is looked at next time: until it runs its own program, a new process
            # shows the memory and the command line of the one that started it.
            if looks % _FAMILY_LOOKS == 0:
                family = list(self._family())
            looks += 1
        for process in family:
            self._look(process)

    def _family(self) -> Iterator[psutil.Process]:
        yield self._root
        try:
            yield from self._root.children(recursive=True)
        except _GONE:
            return

    def _look(self, process: psutil.Process) -> None:
        try:
            peak = _peak_bytes(process)
            known = self._peaks.get(process)
            role = known.role if known else self._role(process)
        except _GONE:
            return
        if role is not None and (known is None or peak > known.peak_bytes):
            self._peaks[process] = ProcessPeak(role, peak)

    def _role(self, process: psutil.Process) -> str | None:
        """Say what a process is; None for multiprocessing's own helpers, which hold nothing of
        their own.
        """
        if process == self._root:
            return "main"
        command = process.cmdline()
        told = " ".join(command)
        if not command or "multiprocessing.resource_tracker" in told:
            return None
        if "multiprocessing.forkserver" in told:
            # A worker has the command line of the process that it was forked from.
            parent = process.parent()
            return "worker" if parent is not None and parent.cmdline() == command else None
        return "child"


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except _GONE:
        return 0.0
    # The time of a child that has ended is its parent's.
    return float(times.user + times.system + times.children_user + times.children_system)


def _peak_bytes(process: psutil.Process) -> int:
    """Return the most memory a process has had so far; what it has now where the kernel does not
    tell.
    """
    try:
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        if os.path.isdir("/proc/self"):
            raise psutil.NoSuchProcess(process.pid) from None
        return int(process.memory_info().rss)
    peak = next((line for line in status.splitlines() if line.startswith("VmHWM:")), None)
    if peak is None:
        raise psutil.NoSuchProcess(process.pid)
    return int(peak.split()[1]) << 10
