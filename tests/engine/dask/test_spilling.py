from __future__ import annotations

import mmap
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.engine.dask.settings import LOCAL_KEPT_SHARE
from dnfscale.engine.dask.spilling import SteadyBuffer, steady_buffer

N_ROWS = 1000


def filled(folder: Path, *, n_kept: int, n_all: int) -> SteadyBuffer:
    """A buffer with arrays of 8 kB, each under its number, that has room for some of them."""
    buffer = steady_buffer(str(folder), int((n_kept * 8 + 4) * 1000 / LOCAL_KEPT_SHARE))
    for number in range(n_all):
        buffer[number] = np.full(N_ROWS, number)
    return buffer


def holder(array: Ints) -> object:
    """Return what an array lies in."""
    held: object = array
    while isinstance(held, np.ndarray | memoryview):
        held = held.base if isinstance(held, np.ndarray) else held.obj
    return held


def test_what_is_beyond_a_share_of_memory_lies_on_disk(tmp_path):
    buffer = filled(tmp_path, n_kept=3, n_all=10)
    assert (len(buffer.memory), len(buffer.disk)) == (3, 7)
    assert all((buffer[number] == number).all() for number in range(10))


def test_what_lies_on_disk_stays_there_when_it_is_used(tmp_path):
    buffer = filled(tmp_path, n_kept=3, n_all=10)
    before = set(buffer.disk), sorted(tmp_path.rglob("*"))
    for number in range(10):
        assert buffer[number][0] == number
    assert (set(buffer.disk), sorted(tmp_path.rglob("*"))) == before


def test_what_lies_on_disk_is_used_where_it_lies(tmp_path):
    buffer = filled(tmp_path, n_kept=3, n_all=10)
    array = buffer[0]
    assert isinstance(holder(array), mmap.mmap)
    del buffer[0]
    assert (array == 0).all()


def test_what_is_written_into_a_result_does_not_reach_the_disk(tmp_path):
    buffer = filled(tmp_path, n_kept=3, n_all=10)
    array = buffer[0]
    array[:] = 99
    # As long as a result is in use, all who ask for it get the same.
    del array
    assert (buffer[0] == 0).all()


@contextmanager
def small_files(n_bytes: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_finds_no_room_on_disk_stays_in_memory_is_reported_and_leaves_nothing_there(tmp_path):
    buffer = filled(tmp_path, n_kept=3, n_all=3)
    told: list[str] = []
    buffer.file.report = told.append
    with small_files(4000):
        for number in range(3, 10):
            buffer[number] = np.full(N_ROWS, number)
    assert (len(buffer.memory), len(buffer.disk)) == (10, 0)
    assert all((buffer[number] == number).all() for number in range(10))
    # Once only: a disk that is full is left alone for a while.
    assert told == ["File too large"]
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
