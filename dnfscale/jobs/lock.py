"""The lock of a run's folder: lock.json names its one runner, with a count that grows while the
runner is alive.

A runner that finds a lock checks whether its holder is alive. If it is a process of the same
machine, the operating system knows. A holder on another machine is watched: if its count does not
grow for six of its beats, the process or the machine is gone. Clocks of two machines are never
compared. The lock of a dead holder is taken over.

If two runners come at once, the kernel decides between them on a file system. Object stores, as we
use them, have nothing like that, and neither has Windows in Python: there each runner writes the
lock, waits a second, and goes on if the lock is still its own. Nor can a process be looked up on
Windows, so there every holder is watched. A runner that finds its lock taken over, because it was
suspended for long, stops before it writes anything more.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dnfscale.errors import SpecError
from dnfscale.jobs.folders import Folder, StoreFolder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK = "lock.json"
_BEAT_S = 10.0
_MISSED_BEATS = 6
_SETTLE_S = 1.0


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock."""

    token: str
    host: str
    space: str
    """Identifies the process table in which the process has its number: a boot of a machine, and a
    container on it.
    """
    process: int
    born: str
    """When the process began, by the machine's own count: numbers of processes are reused."""

    @classmethod
    def me(cls) -> Holder:
        process = os.getpid()
        return cls(uuid.uuid4().hex, socket.gethostname(), _space(), process, _born(process))

    @property
    def is_neighbour(self) -> bool:
        """Whether the process can be looked up from here; never on Windows, where signal 0 would
        end it.
        """
        return fcntl is not None and self.space == _space()

    @property
    def is_alive(self) -> bool:
        """Whether the process still exists; only meaningful for a neighbour."""
        return _born(self.process) == self.born != ""


class FolderLock:
    """The lock of a run's folder, held from take() to release()."""

    def __init__(
        self,
        files: Folder,
        *,
        tell: Callable[[str], None],
        beat_s: float = _BEAT_S,
        settle_s: float = _SETTLE_S,
    ) -> None:
        self._files = files
        self._tell = tell
        self._beat_s = beat_s
        self._settle_s = settle_s
        self._me = Holder.me()
        self._beats = 0
        self._ended = threading.Event()
        self._lost: Holder | None = None
        self._thread: threading.Thread | None = None

    def take(self) -> None:
        """Take the lock, or raise SpecError that says who holds it."""
        found = self._read()
        if found is not None:
            self._check_gone(*found)
        self._files.prepare()
        with _alone(self._files):
            now = self._read()
            if now is not None and now != found:
                raise self._refusal(now[0])
            self._write()
        if isinstance(self._files, StoreFolder) or fcntl is None:
            time.sleep(self._settle_s)
            now = self._read()
            if now is None or now[0] != self._me:
                raise self._refusal(now[0] if now is not None else self._me)
        self._thread = threading.Thread(target=self._beat, name="lock", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise SpecError if another runner has taken the folder over."""
        if self._lost is not None:
            raise self._refusal(self._lost)

    def release(self) -> None:
        """Release the folder."""
        self._ended.set()
        if self._thread is None:
            return
        self._thread.join()
        self._thread = None
        # A lock that cannot be removed is found to be stale by whoever comes next.
        with suppress(OSError):
            found = self._read()
            if found is not None and found[0] == self._me:
                self._files.remove(LOCK)

    def _check_gone(self, holder: Holder, beats: int) -> None:
        """Return if the holder is gone; else raise SpecError."""
        if holder.is_neighbour:
            if holder.is_alive:
                raise self._refusal(holder)
            return
        patience_s = _MISSED_BEATS * self._beat_s
        self._tell(
            f"{self._files.path} is locked by process {holder.process} on {holder.host}; "
            f"looking for {patience_s:.0f} s whether it is alive"
        )
        end = time.monotonic() + patience_s
        while time.monotonic() < end:
            time.sleep(min(1.0, self._beat_s / 2))
            now = self._read()
            if now is None:
                return
            if now != (holder, beats):
                raise self._refusal(now[0])

    def _beat(self) -> None:
        while not self._ended.wait(self._beat_s):
            # The job itself reports a full disk or an unreachable store; a later beat may succeed.
            with suppress(OSError):
                found = self._read()
                if found is not None and found[0] != self._me:
                    self._lost = found[0]
                    return
                self._beats += 1
                self._write()

    def _read(self) -> tuple[Holder, int] | None:
        try:
            record = json.loads(self._files.read(LOCK))
            return Holder(**record["holder"]), int(record["beats"])
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, KeyError, TypeError):
            # Not a lock of ours, so nobody keeps it alive.
            return None

    def _write(self) -> None:
        record: dict[str, Any] = {"holder": asdict(self._me), "beats": self._beats}
        self._files.jot(LOCK, (json.dumps(record) + "\n").encode())

    def _refusal(self, holder: Holder) -> SpecError:
        return SpecError(
            f"expected {self._files.path} to be free, but process {holder.process} on "
            f"{holder.host} is running a job "
            "in it; wait for its end, or change name or output.dir",
            "output.dir",
        )


@contextmanager
def _alone(files: Folder) -> Iterator[None]:
    """Keep other runners on the same file system from deciding at the same time."""
    if isinstance(files, StoreFolder) or fcntl is None:
        yield
        return
    handle = os.open(files.path, os.O_RDONLY)
    try:
        # Not every network file system supports this lock; then only the check at each beat
        # remains.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _space() -> str:
    try:
        start = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{start} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return f"{socket.gethostname()} {uuid.getnode():x}"


def _born(process: int) -> str:
    """Return when a process began, in ticks since the machine was started; empty if there is no
    such process.
    """
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        # The program's name, in brackets, may contain anything, even brackets.
        after = text.rpartition(")")[2].split()
        return "" if after[0] == "Z" else after[19]
    except (OSError, IndexError):
        return "" if Path("/proc/self").exists() else _answers(process)


def _answers(process: int) -> str:
    """Return a text if a process exists, on systems without /proc; otherwise an empty one."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return "alive"
