"""Limits of the operating system: whether there is room, and which limit is behind an error."""

from __future__ import annotations

import errno
import subprocess
import sys

import pyarrow as pa
import pytest

from dnfscale.engine.limits import limit_behind, room_for
from dnfscale.errors import ClusterError, DataError, LimitError
from tests.jobs.running import PATIENCE_S, surroundings


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
        (
            caused(DataError("cannot be read"), OSError(errno.EMFILE, "Too many open files")),
            "ulimit -n",
        ),
        (
            caused(
                ClusterError("no cluster"),
                caused(RuntimeError("no nanny"), OSError(errno.ENFILE, "")),
            ),
            "ulimit -n",
        ),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "ulimit -u"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
        (MemoryError(), "expected to fit in memory"),
        (pa.ArrowMemoryError("malloc of size 8 failed"), "expected to fit in memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "expected to fit in memory"),
        (LimitError("over a limit of ours"), "over a limit of ours"),
    ],
)
def test_the_limit_behind_an_error_is_named(error, said):
    limit = limit_behind(error)
    assert limit is not None
    assert limit.exit_code == 5
    assert said in limit.message


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no limit"),
        OSError(errno.ENOENT, "No such file or directory"),
        RuntimeError("another"),
        caused(DataError("a page promises 2^60 values"), pa.ArrowMemoryError("malloc failed")),
    ],
)
def test_an_error_without_a_limit_behind_it_stays_what_it_is(error):
    assert limit_behind(error) is None


def test_looking_for_room_takes_nothing_for_good():
    # In a process of its own: here, threads and files of earlier tests may just be ending.
    code = (
        "import os, threading; from dnfscale.engine.limits import room_for, room_to_start; "
        "held = lambda: (len(os.listdir('/proc/self/fd')), threading.active_count()); "
        "before = held(); "
        "[room.check() for room in (room_to_start(), room_for(0), room_for(2))]; "
        "assert held() == before, (before, held())"
    )
    subprocess.run([sys.executable, "-c", code], env=surroundings(), timeout=PATIENCE_S, check=True)


def test_more_workers_need_more_room():
    small, large = room_for(2), room_for(8)
    assert (large.files, large.threads, large.address_bytes) > (
        small.files,
        small.threads,
        small.address_bytes,
    )
    assert small.files > room_for(0).files


@pytest.mark.parametrize(
    ("name", "limit", "said"),
    [
        ("RLIMIT_NOFILE", 20, "20 may be open at once"),
        ("RLIMIT_AS", 1 << 30, "limited to 1,024 MiB"),
    ],
)
def test_what_there_is_no_room_for_is_refused(name, limit, said):
    code = (
        "import resource; from dnfscale.engine.limits import room_for; "
        f"resource.setrlimit(resource.{name}, ({limit}, {limit})); room_for(2).check()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=surroundings(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert said in done.stderr.splitlines()[-1]
