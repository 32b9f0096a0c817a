"""Fixtures of the outside tests of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.running import Desk, keeping_signals, small_table


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    """An empty folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


@pytest.fixture
def laid_desk(desk: Desk) -> Desk:
    """A folder with a small table in t.parquet."""
    desk.table(small_table())
    return desk
