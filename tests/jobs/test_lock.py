"""The lock of a run's folder: held, refused, lost, and taken over from the dead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import dnfscale.jobs.lock
from dnfscale.errors import SpecError
from dnfscale.jobs.folders import Folder, LocalFolder, open_folder
from dnfscale.jobs.lock import LOCK, FolderLock, Holder
from dnfscale.spec.storage import Access
from tests.object_store import BUCKET

BEAT_S = 0.1


def lock(folder: Folder, tell: Callable[[str], None] = lambda _line: None) -> FolderLock:
    return FolderLock(folder, tell=tell, beat_s=BEAT_S, settle_s=1.0)


def leave(folder: Folder, holder: Holder, beats: int = 3) -> None:
    """Leave a lock behind."""
    folder.write(LOCK, json.dumps({"holder": asdict(holder), "beats": beats}).encode())


@contextmanager
def taken(folder: Folder):
    mine = lock(folder)
    mine.take()
    try:
        yield mine
    finally:
        mine.release()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    found = LocalFolder(tmp_path / "run")
    found.prepare()
    return found


@pytest.fixture
def stranger() -> Holder:
    """A process of another machine."""
    return replace(Holder.me(), host="elsewhere", space="another machine")


def test_a_lock_that_is_given_back_leaves_nothing(folder, tmp_path):
    with taken(folder):
        assert (tmp_path / "run" / LOCK).is_file()
    assert list((tmp_path / "run").iterdir()) == []


def test_a_lock_that_is_held_is_refused_with_its_holder(folder):
    with (
        taken(folder),
        pytest.raises(
            SpecError, match=r"expected .*run to be free, but process \d+ on .* is running"
        ),
    ):
        lock(folder).take()
    with taken(folder):
        pass


@pytest.mark.slow
def test_without_locks_of_the_kernel_a_holder_is_watched(folder, monkeypatch):
    """As on Windows, where a process that is asked for would end."""
    monkeypatch.setattr(dnfscale.jobs.lock, "fcntl", None)
    monkeypatch.setattr(os, "kill", None)
    with taken(folder), pytest.raises(SpecError, match="to be free"):
        lock(folder).take()
    leave(folder, replace(Holder.me(), token="of one that is gone"))
    told: list[str] = []
    late = lock(folder, told.append)
    late.take()
    late.release()
    assert "looking for 1 s whether it is alive" in told[0]


@pytest.mark.slow
def test_the_command_line_is_found_where_there_is_no_fcntl():
    code = "import sys; sys.modules['fcntl'] = None; import dnfscale.jobs.cli, dnfscale.jobs.lock"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_lock_of_a_process_that_has_ended_is_taken_over_at_once(folder):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    leave(folder, replace(Holder.me(), process=ended.pid))
    with taken(folder) as mine:
        mine.check()


def test_a_process_that_has_the_number_of_a_dead_one_is_not_it(folder):
    leave(folder, replace(Holder.me(), born="1"))
    with taken(folder) as mine:
        mine.check()


def test_the_lock_of_a_machine_that_is_gone_is_taken_over_after_some_beats(folder, stranger):
    leave(folder, stranger)
    lines = []
    mine = lock(folder, lines.append)
    mine.take()
    mine.release()
    assert len(lines) == 1
    assert f"is locked by process {stranger.process} on elsewhere; looking for" in lines[0]


def test_a_lock_of_another_machine_that_beats_is_refused(folder, stranger):
    leave(folder, stranger)
    threading.Timer(BEAT_S, leave, (folder, stranger, 4)).start()
    with pytest.raises(
        SpecError, match=f"process {stranger.process} on elsewhere is running a job"
    ):
        lock(folder).take()


def test_a_lock_beats(folder):
    with taken(folder):
        end = time.monotonic() + 60
        while json.loads(folder.read(LOCK))["beats"] < 3:
            assert time.monotonic() < end, "the lock does not beat"
            time.sleep(BEAT_S)


def test_a_runner_whose_lock_was_taken_notices_and_leaves_it(folder, stranger):
    mine = lock(folder)
    mine.take()
    leave(folder, stranger)
    with pytest.raises(SpecError, match="elsewhere is running a job"):
        check_for_a_while(mine)
    mine.release()
    assert json.loads(folder.read(LOCK))["holder"]["host"] == "elsewhere"


def check_for_a_while(mine: FolderLock) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        mine.check()
        time.sleep(BEAT_S)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"holder": {}, "beats": 1}', b'{"holder": 5, "beats": 1}']
)
def test_what_is_no_lock_holds_nothing(folder, content):
    folder.write(LOCK, content)
    with taken(folder):
        pass


def race(folders: list[Folder]) -> list[FolderLock]:
    """Return the locks that were taken, of some that were tried at once."""
    won: list[FolderLock] = []
    start = threading.Barrier(len(folders))

    def attempt(folder: Folder) -> None:
        mine = lock(folder)
        start.wait()
        try:
            mine.take()
        except SpecError:
            return
        won.append(mine)

    threads = [threading.Thread(target=attempt, args=(folder,)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return won


@pytest.mark.parametrize("stale", [False, True])
def test_of_many_that_come_at_once_one_has_the_lock(folder, stale):
    for _ in range(5):
        if stale:
            leave(folder, replace(Holder.me(), born="1"))
        [winner] = race([folder] * 8)
        winner.release()


def test_in_a_store_two_that_come_at_once_do_not_both_have_the_lock(store, store_keys):  # noqa: ARG001
    access = Access(store.endpoint, "us-east-1")
    won = race([open_folder(f"s3://{BUCKET}/race", access) for _ in range(2)])
    assert len(won) <= 1
    for winner in won:
        winner.release()
    store.remove("race")
