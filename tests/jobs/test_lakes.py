"""Tables of a lake, from `init` to the result, beside the same rows as Parquet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from dnfscale.datasets.convert import Conversion
from dnfscale.datasets.named import open_dataset
from dnfscale.errors import DataError
from dnfscale.spec.storage import Access
from tests.jobs.running import essence
from tests.object_store import BUCKET

ROWS = 200


def table(seed):
    random = np.random.default_rng(seed)
    age = random.integers(20, 90, ROWS)
    ward = random.choice(["surgery", "urology"], ROWS)
    again = (age > 60) ^ (random.random(ROWS) < 0.1)
    return pa.table({"age": age, "ward": ward, "id": np.arange(ROWS) % 7, "again": again})


def a_delta_table(desk):
    """One after an update and a delete, and what is left of it."""
    path = str(desk.path / "visits")
    write_deltalake(path, table(1), partition_by=["ward"])
    write_deltalake(path, table(2), mode="append")
    DeltaTable(path).update(updates={"age": "age + 1"}, predicate="id = 2")
    DeltaTable(path).delete("id = 3")
    return path, DeltaTable(path).to_pyarrow_table()


def an_iceberg_table(desk):
    """One after a delete, and what is left of it."""
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("test", warehouse=f"file://{desk.path / 'ice'}")
    catalog.create_namespace("d")
    made = catalog.create_table("d.visits", table(1).schema)
    made.append(table(1))
    made.append(table(2))
    made.delete("id = 3")
    rows = made.scan().to_arrow()
    catalog.close()
    return str(desk.path / "ice" / "d" / "visits"), rows


@pytest.mark.parametrize("made", [a_delta_table, an_iceberg_table])
def test_init_and_run_on_a_lake_give_the_result_of_the_same_rows_as_parquet(
    desk, monkeypatch, made
):
    monkeypatch.chdir(desk.path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(desk.path / "cache"))
    path, rows = made(desk)
    desk.table(rows, "rows.parquet")
    ended = desk.here("init", path, "--target", "again")
    assert ended.code == 0, ended.err
    spec = desk.path / "visits.toml"
    twin = desk.path / "twin.toml"
    [line] = [line for line in spec.read_text().splitlines() if line.startswith("path = ")]
    twin.write_text(spec.read_text().replace(line, 'path = "rows.parquet"'))
    for file, output in ((spec, "lake"), (twin, "parquet")):
        ended = desk.here("run", file, "--output", output, "--set", "folds.outer=2")
        assert ended.code == 0, ended.err
    [one] = desk.path.glob("lake/*/model.json")
    [other] = desk.path.glob("parquet/*/model.json")
    assert one.read_bytes() == other.read_bytes()
    assert essence(one.parent / "result.json") == essence(other.parent / "result.json")


@pytest.mark.usefixtures("store_keys")
def test_tables_in_an_object_store_are_read_there(desk, store):
    path, rows = a_delta_table(desk)
    folder = desk.path / "visits"
    for file in folder.rglob("*"):
        if file.is_file():
            store.put(f"lake/{file.relative_to(folder)}", file.read_bytes())
    access = Access(store.endpoint, "us-east-1")
    source = open_dataset(f"s3://{BUCKET}/lake", access)
    assert source.n_rows == rows.num_rows == open_dataset(path).n_rows
    batches = [b for part in source.partitions for b in part.batches(list(source.types), [])]
    assert pa.Table.from_batches(batches).select(rows.column_names).to_pydict() == rows.to_pydict()
    [live, *_] = (file for file in folder.rglob("*.parquet"))
    inside = live.relative_to(folder)
    for part in (inside, inside.parent / "*.parquet", "**/*.parquet", inside.parent):
        with pytest.raises(DataError, match=f"s3://{BUCKET}/lake: expected Parquet files, got a"):
            open_dataset(f"s3://{BUCKET}/lake/{part}", access)
    with pytest.raises(DataError, match=f"s3://{BUCKET}/lake: expected Parquet files, got a"):
        open_dataset(f"s3://{BUCKET}", access)
    store.put("texts/t.csv", b"a,b\n" + b"1,2\n" * 100)
    kept = Conversion(places=(f"s3://{BUCKET}/texts/.tables",), access=access, block_bytes=100)
    assert open_dataset(f"s3://{BUCKET}/texts/t.csv", access, kept).n_rows == 100
    store.remove("lake")
    store.remove("texts")


@pytest.mark.usefixtures("store_keys")
def test_iceberg_tables_in_an_object_store_are_read_there(desk, store):
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog(
        "far",
        warehouse=f"s3://{BUCKET}/ice",
        **{"s3.endpoint": store.endpoint, "s3.region": "us-east-1"},
    )
    catalog.create_namespace("d")
    made = catalog.create_table("d.visits", table(1).schema)
    made.append(table(1))
    before = made.current_snapshot().snapshot_id
    made.append(table(2))
    made.delete("id = 3")
    access = Access(store.endpoint, "us-east-1")
    path = f"s3://{BUCKET}/ice/d/visits"
    kept = Conversion(places=(f"s3://{BUCKET}/kept",), access=access)

    def read(asked):
        source = open_dataset(path, access, asked)
        batches = [b for part in source.partitions for b in part.batches(list(source.types), [])]
        return source, pa.Table.from_batches(batches).select(list(source.types))

    in_place, found = read(kept)
    assert in_place.folder is None
    assert found.to_pydict() == made.scan().to_arrow().to_pydict()
    assert 3 not in found["id"].to_pylist()
    assert read(replace(kept, version=before))[1].num_rows == table(1).num_rows
    # Files that lack the new name of a column are no longer read in place.
    with made.update_schema() as update:
        update.rename_column("age", "years")
    elsewhere, renamed = read(kept)
    assert elsewhere.folder.startswith(f"s3://{BUCKET}/kept/")
    assert renamed.to_pydict() == made.scan().to_arrow().to_pydict()
    spec = desk.spec(
        data={"path": path, "target": "again"},
        output={"dir": f"s3://{BUCKET}/kept"},
        **{"data.storage": {"endpoint": store.endpoint, "region": "us-east-1"}},
    )
    ended = desk.here("run", spec)
    assert ended.code == 0, ended.err
    catalog.close()
    store.remove("ice")
    store.remove("kept")


def test_a_table_that_cannot_be_read_ends_a_run_with_3_and_leaves_nothing(desk):
    path, _ = a_delta_table(desk)
    live = next(iter(DeltaTable(path).file_uris()))
    Path(live.removeprefix("file://")).unlink()
    spec = desk.spec(data={"path": path, "target": "again"})
    for verb in ("validate", "plan", "run"):
        ended = desk.here(verb, spec)
        assert ended.code == 3
        assert "expected a file that the Delta table" in ended.message
    for commit in Path(path, "_delta_log").glob("*.json"):
        commit.write_text("{")
    ended = desk.here("check", path, "--target", "again")
    assert ended.code == 3
    assert "its log cannot be read" in ended.message
    assert not (desk.path / "runs").exists()
