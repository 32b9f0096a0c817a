"""relations/: a join on workers of which some are killed says what one in this process says."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dnfscale.data import source
from dnfscale.datasets.convert import Conversion
from dnfscale.engine.launch import launch
from dnfscale.relations import join
from dnfscale.relations import tables as tables_module
from dnfscale.relations.tables import Asked, join_tables
from dnfscale.spec.cluster import ClusterSpec
from tests.relations.made import joined, rows_of, side_of, tables, written


@dataclass(frozen=True)
class _KilledOnce:
    """A task that kills its worker when it is first done, before or after it has written."""

    task: Any
    folder: str
    after: bool

    def __call__(self, piece: Any) -> Any:
        number = getattr(piece, "number", piece)
        mark = Path(self.folder) / f"{type(self.task).__name__}-{number}"
        if number != 0 or mark.exists():
            return self.task(piece)
        if self.after:
            self.task(piece)
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
        return None


@pytest.fixture
def cut_small(monkeypatch):
    """Tables of some rows that are cut into many pieces and buckets."""
    monkeypatch.setattr(source, "_PARTITION_ROWS", 10)
    monkeypatch.setattr(join, "PIECE_ROWS", 50)
    monkeypatch.setattr(join, "BUCKET_ROWS", 16)


@pytest.mark.usefixtures("cut_small")
def test_workers_that_are_killed_change_nothing(tmp_path, monkeypatch):
    people, visits = tables(7)
    main = written(people, tmp_path / "people", files=3)
    other = written(visits, tmp_path / "visits", files=4, group_rows=60)
    expected = joined(main, other, tmp_path / "alone")
    marks = tmp_path / "marks"
    marks.mkdir()
    for name, after in (("DealRelated", True), ("FillBucket", False), ("WriteRows", True)):
        kind = getattr(tables_module, name)
        monkeypatch.setattr(
            tables_module,
            name,
            lambda *given, kind=kind, after=after: _KilledOnce(kind(*given), str(marks), after),
        )
    conversion = Conversion(
        places=(str(tmp_path / "kept"),),
        tell=lambda _: None,
        launch=lambda: launch(ClusterSpec(kind="local", workers=2)),
    )
    found = join_tables(main, [side_of(main, other)], Asked(most=300), conversion)
    assert sorted(mark.name for mark in marks.iterdir()) == [
        "DealRelated-0",
        "FillBucket-0",
        "WriteRows-0",
    ]
    assert rows_of(found.source).equals(rows_of(expected.source))
    assert found.facts == expected.facts
