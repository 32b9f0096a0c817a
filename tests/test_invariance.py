"""The same rows give the same result, to the byte, however they are laid out and whoever counts
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dnfscale.compare.records import LearnedLabels, data_record, ideal_method
from dnfscale.data.source import open_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.line import learn
from dnfscale.spec.learn import LearnSpec
from tests.jobs.running import Desk, essence, keeping_signals

N_ROWS = 420_000
"""Enough for several partitions."""
CUTS = [0, 1, 70_001, 140_003, 140_003, 300_017, 399_999, N_ROWS]
"""Where seven files begin and end: one row, no row, and odd numbers of rows."""
GROUPS = [1, 9_973, 7_919, 50_021, 65_537, 131_101, 4_001]
"""Rows of a row group in each of the seven files."""


def rows() -> pa.Table:
    """Sorted by class, as real files are, with ties, nulls, strings and numbers beyond floats."""
    random = np.random.default_rng(2024)
    y = np.sort(random.random(N_ROWS) < 0.4)
    x = random.normal(size=N_ROWS) + y
    x[random.random(N_ROWS) < 0.01] = np.nan
    words = np.array(["red", "green", "blue", "ultramarine"])[
        (random.integers(0, 3, N_ROWS) + y) % 4
    ]
    return pa.table(
        {
            "x": x,
            "tied": (random.integers(0, 4, N_ROWS) + y).astype(np.float32),
            "big": pa.array(
                2**60 + random.integers(0, 1000, N_ROWS) + 300 * y,
                mask=random.random(N_ROWS) < 0.02,
            ),
            "word": pa.array(words.tolist(), mask=random.random(N_ROWS) < 0.01),
            "flag": (random.random(N_ROWS) < 0.5) ^ (y & (random.random(N_ROWS) < 0.3)),
            "y": np.where(y, "yes", "no").tolist(),
        }
    )


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same rows in one file with one row group, in seven odd ones, and in other encodings."""
    desk = Desk(tmp_path_factory.mktemp("layouts"), None)  # type: ignore[arg-type]
    table = rows()
    desk.table(table, "one/all.parquet", row_group_size=N_ROWS)
    for number, (start, stop) in enumerate(pairwise(CUTS)):
        desk.table(table[start:stop], f"seven/part-{number}.parquet", row_group_size=GROUPS[number])
    coded = table.set_column(3, "word", table["word"].combine_chunks().dictionary_encode())
    coded = coded.set_column(5, "y", coded["y"].cast(pa.large_string()))
    half = N_ROWS // 2
    for number, part in enumerate((coded[:half], coded[half:])):
        desk.table(
            part,
            f"coded/{number}.parquet",
            row_group_size=40_009,
            compression="zstd",
            data_page_version="2.0",
        )
    return {name: desk.path / name for name in ("one", "seven", "coded")}


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


def outcome(
    desk: Desk, layout: Path, folder: str, *, apart: bool, **cluster: Any
) -> tuple[str, bytes]:
    """The result without timing and environment, and the model file."""
    spec = desk.spec(
        file=f"{folder}.toml",
        kind="study",
        seed=3,
        data={"path": str(layout)},
        select={"max_ell": 8},
        folds={"outer": 7},
        cluster=cluster,
    )
    run = desk.apart if apart else desk.here
    ended = run("run", spec, "--output", folder)
    assert ended.code == 0, ended.err
    return essence(desk.path / folder / "job" / "result.json"), (
        desk.path / folder / "job" / "model.json"
    ).read_bytes()


@pytest.mark.slow
def test_the_layouts_differ_in_what_a_task_gets(layouts):
    partitions = {name: len(open_source(str(path)).partitions) for name, path in layouts.items()}
    assert partitions["one"] == 1
    assert partitions["seven"] >= 3
    assert len({open_source(str(path)).n_rows for path in layouts.values()}) == 1


def test_files_row_groups_workers_and_fan_in_change_nothing(desk, layouts):
    reference = outcome(desk, layouts["one"], "reference", apart=False, kind="serial")
    assert '"rows": ' in reference[0]
    runs: list[tuple[str, bool, dict[str, Any]]] = [
        ("seven", False, {"kind": "serial"}),
        ("coded", False, {"kind": "serial"}),
        ("seven", False, {"kind": "serial", "fan_in": 2}),
        ("one", True, {"kind": "local", "workers": 2, "fan_in": 5}),
        ("seven", True, {"kind": "local", "workers": 1, "fan_in": 2}),
        ("seven", True, {"kind": "local", "workers": 2, "fan_in": 3}),
    ]
    for number, (layout, apart, cluster) in enumerate(runs):
        found = outcome(desk, layouts[layout], f"run{number}", apart=apart, **cluster)
        assert found[0] == reference[0], (layout, cluster)
        assert found[1] == reference[1], (layout, cluster)


def test_a_shared_cluster_gives_the_same_again(layouts, cluster):
    """The engine of the whole suite, with workers that have seen other jobs."""
    spec = LearnSpec(target="y", max_ell=5, outer=3, seed=8)
    found = [
        learn(open_source(str(layouts[layout])), spec, engine)
        for layout, engine in (("one", SerialEngine()), ("seven", cluster), ("coded", cluster))
    ]
    targets = [LearnedLabels((learned,)) for learned in found]
    records = [(ideal_method(learned, spec), data_record(learned)) for learned in targets]
    assert records[0] == records[1] == records[2]


def test_threads_of_libraries_and_the_order_of_hashes_change_nothing(desk, layouts):
    reference = outcome(desk, layouts["seven"], "reference", apart=False, kind="serial")
    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "3")
    ended = desk.apart("run", "reference.toml", "--output", "threads", **limits, PYTHONHASHSEED="4")
    assert ended.code == 0
    assert essence(desk.path / "threads" / "job" / "result.json") == reference[0]
