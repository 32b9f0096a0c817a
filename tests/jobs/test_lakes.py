"""Tables of a lake, from `init` to the result, beside the same rows as Parquet."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from dnfscale.datasets.convert import Conversion
from dnfscale.datasets.named import open_dataset
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
    for file in ("model.json", "result.json"):
        [one] = desk.path.glob(f"lake/*/{file}")
        [other] = desk.path.glob(f"parquet/*/{file}")
        assert essence(one) == essence(other)


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
    store.put("texts/t.csv", b"a,b\n" + b"1,2\n" * 100)
    kept = Conversion(places=(f"s3://{BUCKET}/texts/.tables",), access=access, block_bytes=100)
    assert open_dataset(f"s3://{BUCKET}/texts/t.csv", access, kept).n_rows == 100
    store.remove("lake")
    store.remove("texts")
