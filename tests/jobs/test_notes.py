"""Notes of finished work."""

from __future__ import annotations

from pathlib import Path

from dnfscale.jobs.folders import LocalFolder
from dnfscale.jobs.notes import TaskNotes, fingerprint
from dnfscale.results.record import Note


class Counted(Note, frozen=True, kw_only=True):
    """A note with a number."""

    value: int


def test_what_was_noted_is_recalled_in_order_by_another_process(tmp_path: Path) -> None:
    first = TaskNotes(LocalFolder(tmp_path), "job")
    assert first.recall("chain", Counted) == []
    first.note("chain", Counted(step="a", value=1))
    first.note("chain", Counted(step="b", value=2))
    assert TaskNotes(LocalFolder(tmp_path), "job").recall("chain", Counted) == [
        Counted(step="a", value=1),
        Counted(step="b", value=2),
    ]


def test_notes_of_another_job_are_not_taken_for_this_ones(tmp_path: Path) -> None:
    TaskNotes(LocalFolder(tmp_path), "other").note("chain", Counted(step="a", value=1))
    assert TaskNotes(LocalFolder(tmp_path), "job").recall("chain", Counted) == []


def test_notes_that_cannot_be_read_are_notes_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "chain.json").write_text('{"fingerprint": "job", "entr')
    assert TaskNotes(LocalFolder(tmp_path), "job").recall("chain", Counted) == []


def test_notes_of_another_shape_are_notes_of_nothing(tmp_path: Path) -> None:
    TaskNotes(LocalFolder(tmp_path), "job").note("chain", Note(step="a"))
    assert TaskNotes(LocalFolder(tmp_path), "job").recall("chain", Counted) == []


def test_what_is_noted_again_replaces_what_it_was(tmp_path: Path) -> None:
    notes = TaskNotes(LocalFolder(tmp_path), "job")
    notes.note("chain", Counted(step="a", value=1))
    notes.note("chain", Counted(step="a", value=2))
    assert TaskNotes(LocalFolder(tmp_path), "job").recall("chain", Counted) == [
        Counted(step="a", value=2)
    ]


def test_fingerprints_tell_where_one_part_ends() -> None:
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint("ab", "c") == fingerprint("ab", "c")
