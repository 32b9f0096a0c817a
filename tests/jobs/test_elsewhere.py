"""Data that are not Parquet on workers that are joined: they convert them to where all reach it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from deltalake import DeltaTable, write_deltalake

from dnfscale.datasets import convert
from dnfscale.jobs import runner
from tests.deploy.processes import Processes
from tests.jobs.clusters import Found
from tests.jobs.running import Desk, essence, small_table, tidy
from tests.object_store import BUCKET, Store


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory, store: Store) -> Iterator[Found]:
    """A scheduler and two workers, processes with a working directory of their own."""
    with Processes(tmp_path_factory.mktemp("joined")) as processes:
        found = Found(processes)
        for _ in range(2):
            found.add_worker(**store.keys.environment)
        yield found


@pytest.fixture
def text_desk(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path_factory) -> Desk:
    """A folder with a table as Parquet and as two CSV files, which are cut into many blocks."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    made = runner.Conversion
    monkeypatch.setattr(runner, "Conversion", lambda **said: made(**said, block_bytes=1_000))
    table = pa.table(small_table())
    desk.table(table)
    (desk.path / "texts").mkdir()
    for part in range(2):
        rows = table.slice(part * 120, 120)
        pacsv.write_csv(rows, desk.path / "texts" / f"{part}.csv")
    return desk


def of_parquet(desk: Desk) -> Path:
    """Return the folder of a run of the same rows as Parquet."""
    ended = desk.here("run", desk.spec(), "--output", "parquet")
    assert ended.code == 0, ended.err
    return desk.path / "parquet" / "job"


def is_as_of_parquet(desk: Desk) -> bool:
    """Say whether a run came to what the same rows come to as Parquet, byte for byte."""
    twin = of_parquet(desk)
    same = essence(desk.folder() / "result.json") == essence(twin / "result.json")
    return (
        same
        and desk.folder().joinpath("model.json").read_bytes() == (twin / "model.json").read_bytes()
    )


def test_joined_workers_convert_texts_to_a_folder_that_all_share(
    text_desk: Desk, joined: Found
) -> None:
    spec = text_desk.spec(data={"path": "texts/*.csv"})
    ended = text_desk.here("run", spec.name, "--scheduler", joined.address)
    assert ended.code == 0, ended.err
    assert is_as_of_parquet(text_desk)
    parts = [name for name in tidy(text_desk.path / "runs" / ".tables") if "part-" in name]
    assert len(parts) > 8
    log = "".join(file.read_text() for file in joined.processes.folder.glob("*.log"))
    assert "Traceback" not in log
    assert not list(joined.processes.folder.rglob("*.parquet"))
    again = text_desk.here("run", spec.name, "--scheduler", joined.address, "--force")
    assert again.code == 0, again.err
    assert "kept as Parquet" not in again.err


def test_a_line_that_a_joined_worker_cannot_read_is_told(text_desk: Desk, joined: Found) -> None:
    with (text_desk.path / "texts" / "1.csv").open("a") as text:
        text.write("1,2\n")
    spec = text_desk.spec(data={"path": "texts/*.csv"})
    ended = text_desk.here("run", spec, "--scheduler", joined.address)
    assert ended.code == 3
    assert "texts/1.csv: line 122: expected 5 columns, got 2" in ended.message
    assert not list((text_desk.path).rglob("part-*")), "nothing half-written is left"


def test_a_folder_that_workers_do_not_share_is_told(
    text_desk: Desk, joined: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convert.Store, "footer", lambda *_: None)
    spec = text_desk.spec(data={"path": "texts/*.csv"})
    ended = text_desk.here("run", spec, "--scheduler", joined.address)
    assert ended.code == 3
    assert "the workers wrote it, but it is not here; let output.dir" in ended.message


@pytest.mark.usefixtures("store_keys")
def test_joined_workers_convert_texts_of_a_store_to_the_store(
    text_desk: Desk, joined: Found, store: Store
) -> None:
    for part in range(2):
        content = (text_desk.path / "texts" / f"{part}.csv").read_bytes()
        store.put(f"texts/{part}.csv", content)
    spec = text_desk.spec(
        data={"path": f"s3://{BUCKET}/texts/*.csv"},
        output={"dir": f"s3://{BUCKET}/elsewhere"},
        **{"data.storage": {"endpoint": store.endpoint, "region": "us-east-1"}},
    )
    ended = text_desk.here("run", spec, "--scheduler", joined.address)
    assert ended.code == 0, ended.err
    near = (of_parquet(text_desk) / "model.json").read_bytes()
    assert store.read("elsewhere/job/model.json") == near
    assert any("/part-" in name for name in store.names("elsewhere/.tables"))
    store.remove("texts")
    store.remove("elsewhere")


def test_answers_for_a_text_come_from_joined_workers(text_desk: Desk, joined: Found) -> None:
    model = of_parquet(text_desk) / "model.json"
    near = text_desk.here("predict", model, "t.parquet", "--output", "near", "--json")
    asked = ("--scheduler", joined.address, "--tables", "kept")
    far = text_desk.here("predict", model, "texts/*.csv", "--output", "far", "--json", *asked)
    assert (near.code, far.code) == (0, 0), far.err
    assert near.out.partition('"elapsed_s"')[0] == far.out.partition('"elapsed_s"')[0]
    assert tidy(text_desk.path / "kept")
    judged = text_desk.here("evaluate", model, "texts/*.csv", "--json", *asked)
    assert judged.code == 0, judged.err
    assert "kept as Parquet" not in judged.err


def test_joined_workers_read_a_table_of_a_lake_in_place(text_desk: Desk, joined: Found) -> None:
    write_deltalake("lake", pa.table(small_table()), partition_by=["b"])
    DeltaTable("lake").delete("n = 7")
    rows = DeltaTable("lake").to_pyarrow_table()
    assert 0 < rows.num_rows < 240
    assert np.all(rows["n"].to_numpy() != 7)
    text_desk.table(rows)
    spec = text_desk.spec(data={"path": "lake"})
    ended = text_desk.here("run", spec.name, "--scheduler", joined.address)
    assert ended.code == 0, ended.err
    assert is_as_of_parquet(text_desk)
    assert not (text_desk.path / "runs" / ".tables").exists()
