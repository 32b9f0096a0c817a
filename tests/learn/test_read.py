"""However a dataset is read, once or with a count before, what is learned is the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.core.columns import Reading
from dnfscale.data.source import Source, open_source
from dnfscale.engine.api import Progress
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn import read as reading
from dnfscale.learn.line import Learned, learn
from dnfscale.spec.learn import LearnSpec
from tests.comparing import told
from tests.examples import in_parts, mixed_table

SPEC = LearnSpec("y", outer=3, max_ell=4)


def learned(source: Source, spec: LearnSpec = SPEC) -> tuple[Learned, list[str]]:
    """Return what is learned from a source, and the phases that read it, in order."""
    begun: list[str] = []

    def heard(progress: Progress) -> None:
        if progress.done == 0 and progress.phase in (
            "sample columns",
            "summarize columns",
            "read rows",
        ):
            begun.append(progress.phase)

    return learn(source, spec, SerialEngine(heard)), begun


def counted(source: Source) -> Source:
    """Return a source whose footers say nothing of nulls."""
    return replace(source, null_counts={})


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every table treated as a large one."""
    monkeypatch.setattr(reading, "_SMALL", 0)


def parts_of(table: pa.Table, n_parts: int = 20) -> Source:
    return in_parts(table, np.linspace(0, table.num_rows, n_parts + 1).astype(int).tolist())


def test_a_small_table_is_read_once():
    source = parts_of(mixed_table(1, 300))
    once, phases = learned(source)
    twice, counted_phases = learned(counted(source))
    assert told(once) == told(twice)
    assert phases == ["read rows"]
    assert counted_phases == ["summarize columns", "read rows"]


@pytest.mark.usefixtures("large")
def test_a_large_table_is_sampled_and_read_once():
    source = parts_of(mixed_table(2, 4000))
    once, phases = learned(source)
    assert phases == ["sample columns", "read rows"]
    assert told(once) == told(learned(counted(source))[0])


@pytest.mark.usefixtures("large")
def test_a_nan_among_floats_is_found_and_the_rows_are_counted_then():
    table = mixed_table(3, 2000)
    x = table.column("x").to_numpy().copy()
    x[[5, 1500]] = np.nan
    source = parts_of(table.set_column(0, "x", pa.array(x)))
    assert source.null_counts["x"] == 0
    once, phases = learned(source)
    assert phases == ["sample columns", "read rows", "summarize columns", "read rows"]
    assert once.rows_dropped == 2
    assert told(once) == told(learned(counted(source))[0])


@pytest.mark.usefixtures("large")
def test_partitions_that_differ_much_are_sampled_as_a_whole():
    table = mixed_table(4, 4000).sort_by("x")
    source = parts_of(table)
    found, phases = learned(source)
    assert phases == ["sample columns", "sample columns", "read rows"]
    assert told(found) == told(learned(counted(source))[0])


@pytest.mark.usefixtures("large")
def test_few_partitions_are_sampled_as_a_whole():
    source = parts_of(mixed_table(5, 1000), 3)
    found, phases = learned(source)
    assert phases == ["sample columns", "read rows"]
    assert told(found) == told(learned(counted(source))[0])


@pytest.mark.usefixtures("large")
def test_a_sample_that_misleads_costs_scans_and_changes_nothing(monkeypatch):
    # The first rows of every partition are tiny: alike in all partitions, and far from the median.
    table = mixed_table(6, 20_000)
    x = table.column("x").to_numpy().copy()
    for start in range(0, 20_000, 1000):
        x[start : start + 300] -= 1000
    source = parts_of(table.set_column(0, "x", pa.array(x)))
    blocks = type(source.partitions[0]).blocks

    def first_rows(self, wanted: Reading):
        yield from (
            blocks(type(self)(self.ordinal, self.table.slice(0, 300)), wanted)
            if wanted.target is None
            else blocks(self, wanted)
        )

    expected = told(learned(counted(source))[0])
    monkeypatch.setattr(type(source.partitions[0]), "blocks", first_rows)
    found, phases = learned(source)
    assert Counter(phases) == {"sample columns": 1, "read rows": 2, "summarize columns": 1}
    assert told(found) == expected


@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_footers_that_show_nulls_or_say_nothing_have_the_rows_counted(tmp_path: Path, missing):
    table = mixed_table(7, 500, missing=0.02)
    spec = replace(SPEC, missing=missing)
    pq.write_table(table, tmp_path / "told.parquet")
    pq.write_table(table, tmp_path / "silent.parquet", write_statistics=False)
    told_of, phases = learned(open_source(str(tmp_path / "told.parquet")), spec)
    silent, silent_phases = learned(open_source(str(tmp_path / "silent.parquet")), spec)
    assert told(told_of) == told(silent)
    # With an indicator no row is dropped, and nulls do not matter.
    assert phases == (
        ["read rows"] if missing == "indicator" else ["summarize columns", "read rows"]
    )
    assert silent_phases == ["summarize columns", "read rows"]


def test_footers_count_the_nulls_of_every_file_and_key(tmp_path: Path):
    for day, values in (("1", [1, None, 3]), ("2", [None, None, 6])):
        folder = tmp_path / f"day={day}"
        folder.mkdir()
        pq.write_table(
            pa.table({"a": values, "b": [1.5, float("nan"), 2.5]}), folder / "part.parquet"
        )
    assert open_source(str(tmp_path)).null_counts == {"a": 3, "b": 0, "day": 0}
