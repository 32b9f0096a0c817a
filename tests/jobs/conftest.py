"""Fixtures of the outside tests of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.running import Desk, keeping_signals, small_table
from tests.object_store import Store, serving


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    """An empty folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


@pytest.fixture
def laid_desk(desk: Desk) -> Desk:
    """A folder with a small table in t.parquet."""
    desk.table(small_table())
    return desk


@pytest.fixture(scope="session")
def store() -> Iterator[Store]:
    """A real S3 server on loopback."""
    pytest.importorskip(
        "moto.server", reason="the S3 server of these tests, moto, is not installed"
    )
    with serving() as server:
        yield server


@pytest.fixture
def store_keys(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that may use the store."""
    for name, value in store.keys.environment.items():
        monkeypatch.setenv(name, value)
