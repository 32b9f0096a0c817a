"""One runner at a time in a run's folder: lock.json says who is there, and a count that grows while he lives.

A runner that finds a lock looks whether its holder is alive. A process of the same machine can be asked for. One of
another machine is watched: a count that does not grow in six of its beats belongs to a process or a machine that is
gone. No two clocks are ever compared. A lock of the dead is taken over.

On a file system two runners that come at once are told apart by the kernel. An object store as we use it has nothing
like that, nor has Windows as Python shows it: there each runner writes the lock, waits a second, and goes on if the
lock is still its own. On Windows a process cannot be asked for either, and every holder is watched. A runner that
finds its lock taken, because it was suspended for long, stops before it writes anything more.
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
    """Names the set of processes to which the number belongs: a start of a machine, and a container on it."""
    process: int
    born: str
    """When the process began, by the machine's own count: numbers of processes come again."""

    @classmethod
    def me(cls) -> Holder:
        process = os.getpid()
        return cls(uuid.uuid4().hex, socket.gethostname(), _space(), process, _born(process))

    @property
    def is_neighbour(self) -> bool:
        """Whether it can be asked for here; on Windows the question, a signal, would end it."""
        return fcntl is not None and self.space == _space()

    @property
    def is_alive(self) -> bool:
        """Whether there is such a process, if it is a neighbour."""
        return _born(self.process) == self.born != ""


class FolderLock:
    """The lock of a run's folder, held from take() to release()."""

    def __init__(
        self, files: Folder, *, tell: Callable[[str], None], beat_s: float = _BEAT_S, settle_s: float = _SETTLE_S
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
        """Take the lock, or raise SpecError saying who holds it."""
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
        """Give the folder back."""
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
            # A disk that is full, or a store that is away, is told of by the job itself; a later beat may come through.
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
            # Not a lock of ours: nobody keeps it alive.
            return None

    def _write(self) -> None:
        record: dict[str, Any] = {"holder": asdict(self._me), "beats": self._beats}
        self._files.jot(LOCK, (json.dumps(record) + "\n").encode())

    def _refusal(self, holder: Holder) -> SpecError:
        return SpecError(
            f"expected {self._files.path} to be free, but process {holder.process} on {holder.host} is running a job "
            "in it; wait for its end, or change name or output.dir",
            "output.dir",
        )


@contextmanager
def _alone(files: Folder) -> Iterator[None]:
    """Keep other runners of the same file system from deciding at the same time."""
    if isinstance(files, StoreFolder) or fcntl is None:
        yield
        return
    handle = os.open(files.path, os.O_RDONLY)
    try:
        # Not every network file system knows this lock; then what is left is the check of the beat.
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
    """Return when a process began, in ticks since the machine did; nothing where there is no such process."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        # The name of the program, in brackets, may hold anything.
        after = text.rpartition(")")[2].split()
        return "" if after[0] == "Z" else after[19]
    except (OSError, IndexError):
        return "" if Path("/proc/self").exists() else _answers(process)


def _answers(process: int) -> str:
    """Say whether a process exists where there is no /proc to ask."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return "alive"
