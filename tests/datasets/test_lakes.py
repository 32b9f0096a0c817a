"""Delta and Iceberg tables have the rows of their current snapshot, or of the one asked for."""

from __future__ import annotations

import json
import struct
from datetime import date, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyroaring import BitMap

from dnfscale.data import lake
from dnfscale.datasets import lakes
from dnfscale.datasets.convert import Conversion
from dnfscale.datasets.named import open_alike, open_dataset
from dnfscale.errors import DataError, SpecError

COLUMNS = {"n": [1, 2, 3, 4, 5], "part": ["b", "a", "b", None, "a"], "x": [0.5, 1, 2, 3, 4]}


@pytest.fixture
def asked(tmp_path):
    """Keeps what is made in a folder of its own, and what is told of it."""
    said = []
    return Conversion(places=(str(tmp_path / "kept"),), tell=said.append), said


def rows_of(source):
    batches = [b for part in source.partitions for b in part.batches(list(source.types), [])]
    return pa.Table.from_batches(batches).select(list(source.types)).to_pydict()


@pytest.fixture
def delta(tmp_path):
    """A partitioned Delta table after an update and a delete, which leave old files behind."""
    path = str(tmp_path / "delta")
    write_deltalake(path, pa.table(COLUMNS), partition_by=["part"])
    DeltaTable(path).update(updates={"x": "x + 10"}, predicate="n = 2")
    DeltaTable(path).delete("n = 3")
    return path


def test_a_delta_table_has_the_rows_that_an_update_and_a_delete_have_left(delta, asked):
    source = open_dataset(delta, asked=asked[0])
    table = DeltaTable(delta).to_pyarrow_table()
    assert rows_of(source) == table.to_pydict()
    assert sorted(rows_of(source)["n"]) == [1, 2, 4, 5]
    assert list(source.types) == ["n", "part", "x"]
    assert {name: source.null_counts[name] for name in source.types} == {"n": 0, "part": 1, "x": 0}
    assert (source.folder, asked[1]) == (None, []), "it is read in place"
    assert rows_of(open_alike(delta, asked=asked[0])[0]) == table.to_pydict()


def test_a_snapshot_stays_what_it_is_when_the_table_goes_on(delta, asked):
    source = open_dataset(delta, asked=asked[0])
    write_deltalake(delta, pa.table(COLUMNS), mode="append")
    source.check_unchanged()
    assert sorted(rows_of(source)["n"]) == [1, 2, 4, 5]
    assert open_dataset(delta, asked=asked[0]).identity != source.identity


def test_an_interrupted_reading_of_live_rows_goes_on_with_the_files_that_it_has(
    tmp_path, asked, monkeypatch
):
    path = str(tmp_path / "wider")
    write_deltalake(path, pa.table({"n": [1]}))
    write_deltalake(path, pa.table({"n": [2], "x": [0.5]}), mode="append", schema_mode="merge")
    monkeypatch.setattr(lakes, "cores", lambda: 1)
    write, parts = lakes.Store.write, []

    def second_interrupts(store, name, content):
        parts.extend([name] if name.startswith("part-") else [])
        if len(parts) == 2:
            raise KeyboardInterrupt
        write(store, name, content)

    monkeypatch.setattr(lakes.Store, "write", second_interrupts)
    with pytest.raises(KeyboardInterrupt):
        open_dataset(path, asked=asked[0])
    parts.append("of the run before")
    found = rows_of(open_dataset(path, asked=asked[0]))
    assert dict(zip(found["n"], found["x"], strict=True)) == {1: None, 2: 0.5}
    assert len(parts) == 4, "one part is written again"


def test_an_earlier_version_has_its_rows(delta, asked):
    first = Conversion(version=0, places=asked[0].places)
    assert sorted(rows_of(open_dataset(delta, asked=first))["n"]) == [1, 2, 3, 4, 5]
    with pytest.raises(DataError, match="expected a table of Delta, but its log cannot be read"):
        open_dataset(delta, asked=Conversion(version=99, places=asked[0].places))


def test_partition_values_have_the_type_of_their_column(tmp_path, asked):
    path = str(tmp_path / "days")
    days = [date(2024, 1, 1), date(2024, 1, 2), None]
    write_deltalake(path, pa.table({"day": days, "n": [1, 2, 3]}), partition_by=["day"])
    source = open_dataset(path, asked=asked[0])
    assert str(source.types["day"]) == "date32[day]"
    assert dict(zip(rows_of(source)["n"], rows_of(source)["day"], strict=True)) == {
        1: days[0],
        2: days[1],
        3: None,
    }


def test_files_written_before_a_column_was_added_lack_its_values(tmp_path, asked):
    path = str(tmp_path / "wider")
    write_deltalake(path, pa.table({"n": [1]}))
    write_deltalake(path, pa.table({"n": [2], "x": [0.5]}), mode="append", schema_mode="merge")
    source = open_dataset(path, asked=asked[0])
    found = rows_of(source)
    assert dict(zip(found["n"], found["x"], strict=True)) == {1: None, 2: 0.5}
    assert asked[1] == [f"{path}: version 1 of a Delta table; 2 rows, kept as Parquet in "
                        f"{source.folder}"]  # fmt: skip
    assert open_dataset(path, asked=asked[0]).identity == source.identity
    assert len(asked[1]) == 1, "it is kept"


def z85(content):
    """Write bytes as Delta does in its log."""
    signs = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    content += b"\0" * (-len(content) % 4)
    text = ""
    for i in range(0, len(content), 4):
        value, five = int.from_bytes(content[i : i + 4], "big"), ""
        for _ in range(5):
            value, digit = divmod(value, 85)
            five = signs[digit] + five
        text += five
    return text


def by_hand(path, columns, fields, *, protocol, configuration, partition=None, **add):
    """Write a Delta table of one file that no writer here writes."""
    (path / "_delta_log").mkdir(parents=True)
    pq.write_table(pa.table(columns), path / "f.parquet", row_group_size=2)
    schema = {"type": "struct", "fields": fields}
    actions = [
        {"protocol": protocol},
        {
            "metaData": {
                "id": "af23c9d7-fff1-4a5a-a2c8-55c59bd782aa",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps(schema),
                "partitionColumns": [] if partition is None else [partition],
                "configuration": configuration,
                "createdTime": 0,
            }
        },
        {
            "add": {
                "path": "f.parquet",
                "partitionValues": {},
                "size": (path / "f.parquet").stat().st_size,
                "modificationTime": 0,
                "dataChange": True,
                **add,
            }
        },
    ]
    log = path / "_delta_log" / f"{0:020d}.json"
    log.write_text("\n".join(map(json.dumps, actions)))
    return str(path)


def a_field(name, kind="long", **metadata):
    return {"name": name, "type": kind, "nullable": True, "metadata": metadata}


def asking(*features):
    return {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": list(features),
        "writerFeatures": list(features),
    }


def test_rows_in_a_deletion_vector_are_gone(tmp_path, asked):
    gone = BitMap([1, 3]).serialize()
    content = struct.pack("<IQI", 1681511377, 1, 0) + gone
    vector = {
        "storageType": "i",
        "pathOrInlineDv": z85(content),
        "sizeInBytes": len(content),
        "cardinality": 2,
    }
    path = by_hand(
        tmp_path / "t",
        {"n": [0, 1, 2, 3, 4, 5]},
        [a_field("n")],
        protocol=asking("deletionVectors"),
        configuration={"delta.enableDeletionVectors": "true"},
        stats='{"numRecords": 6}',
        deletionVector=vector,
    )
    assert rows_of(open_dataset(path, asked=asked[0])) == {"n": [0, 2, 4, 5]}


def test_columns_go_by_the_names_of_the_table_not_of_its_files(tmp_path, asked):
    mapped = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-1"}
    parted = {"delta.columnMapping.id": 2, "delta.columnMapping.physicalName": "col-2"}
    path = by_hand(
        tmp_path / "t",
        {"col-1": [1, 2, 3]},
        [a_field("n", **mapped), a_field("part", "string", **parted)],
        protocol={"minReaderVersion": 2, "minWriterVersion": 5},
        configuration={
            "delta.columnMapping.mode": "name",
            "delta.columnMapping.maxColumnId": "2",
        },
        partition="part",
        partitionValues={"col-2": "x"},
    )
    assert rows_of(open_dataset(path, asked=asked[0])) == {"n": [1, 2, 3], "part": ["x"] * 3}


def test_a_missing_file_and_a_torn_checkpoint_are_told_by_name(delta, tmp_path, asked):
    [*_, live] = DeltaTable(delta).file_uris()
    DeltaTable(delta).create_checkpoint()
    [checkpoint] = (tmp_path / "delta" / "_delta_log").glob("*.checkpoint.parquet")
    lake._file_of(delta, live)
    moved = tmp_path / "elsewhere"
    (tmp_path / "delta" / live.rpartition("/delta/")[2]).rename(moved)
    with pytest.raises(DataError, match=r"\.parquet: expected a file that the Delta table .*names"):
        open_dataset(delta, asked=asked[0])
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    for commit in (tmp_path / "delta" / "_delta_log").glob("*.json"):
        commit.unlink()
    with pytest.raises(DataError, match="expected a table of Delta, but its log cannot be read"):
        open_dataset(delta, asked=asked[0])
    assert not (tmp_path / "kept").exists()


def test_a_commit_that_was_cut_to_nothing_is_told(delta, tmp_path, asked):
    [*_, last] = sorted((tmp_path / "delta" / "_delta_log").glob("*.json"))
    last.write_bytes(b"")
    with pytest.raises(DataError, match=r"its commit 0+2\.json is empty; restore the log"):
        open_dataset(delta, asked=asked[0])


def test_a_table_without_its_log_is_not_read_as_loose_files(delta, tmp_path, asked):
    for commit in (tmp_path / "delta" / "_delta_log").iterdir():
        commit.unlink()
    with pytest.raises(DataError, match="expected a table of Delta, but its log cannot be read"):
        open_dataset(delta, asked=asked[0])


def test_without_the_extra_the_line_that_installs_it_is_told(delta, monkeypatch):
    monkeypatch.setattr(lake.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SpecError, match=r"install it with: pip install 'dnfscale\[delta\]'"):
        open_dataset(delta)


def test_a_version_is_for_tables_that_have_one(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    with pytest.raises(SpecError, match=r"data\.version is for a Delta or an Iceberg table"):
        open_dataset(str(tmp_path), asked=Conversion(version=1))


# Iceberg


@pytest.fixture
def iceberg(tmp_path):
    """A catalogue's table, its folder, and what changes it."""
    from pyiceberg.catalog.memory import InMemoryCatalog

    (tmp_path / "ice").mkdir()
    catalog = InMemoryCatalog("test", warehouse=f"file://{tmp_path / 'ice'}")
    catalog.create_namespace("d")
    table = catalog.create_table("d.t", pa.table(COLUMNS).schema)
    table.append(pa.table(COLUMNS))
    table.append(pa.table({"n": [6], "part": ["c"], "x": [9.0]}))
    yield table, str(tmp_path / "ice" / "d" / "t")
    catalog.close()


def test_an_iceberg_table_has_the_rows_that_a_delete_has_left(iceberg, asked):
    table, path = iceberg
    before = table.current_snapshot().snapshot_id
    table.delete("n = 3")
    source = open_dataset(path, asked=asked[0])
    assert rows_of(source) == table.scan().to_arrow().to_pydict()
    assert sorted(rows_of(source)["n"]) == [1, 2, 4, 5, 6]
    assert (source.folder, asked[1]) == (None, []), "it is read in place"
    earlier = Conversion(version=before, places=asked[0].places)
    assert sorted(rows_of(open_dataset(path, asked=earlier))["n"]) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(DataError, match="expected a snapshot 7, got only"):
        open_dataset(path, asked=Conversion(version=7))


def test_a_column_of_iceberg_is_known_by_its_number(iceberg, asked):
    table, path = iceberg
    with table.update_schema() as update:
        update.rename_column("x", "weight")
    with table.update_schema(allow_incompatible_changes=True) as update:
        update.delete_column("part")
    with table.update_schema() as update:
        update.add_column("part", table.schema().find_field("weight").field_type)
    source = open_dataset(path, asked=asked[0])
    assert rows_of(source) == table.scan().to_arrow().to_pydict()
    assert set(rows_of(source)["part"]) == {None}
    assert sorted(rows_of(source)["weight"]) == [0.5, 1, 2, 3, 4, 9]


def test_what_is_kept_of_a_snapshot_has_the_columns_of_today(iceberg, asked):
    table, path = iceberg
    for before, now in (("x", "weight"), ("weight", "mass")):
        with table.update_schema() as update:
            update.rename_column(before, now)
        source = open_dataset(path, asked=asked[0])
        assert source.folder is not None
        assert rows_of(source) == table.scan().to_arrow().to_pydict()


def test_files_of_iceberg_go_by_their_names_as_they_are(tmp_path, asked):
    from pyiceberg.catalog.memory import InMemoryCatalog
    from pyiceberg.transforms import IdentityTransform

    (tmp_path / "ice").mkdir()
    catalog = InMemoryCatalog("test", warehouse=f"file://{tmp_path / 'ice'}")
    catalog.create_namespace("d")
    rows = pa.table({"n": [1, 2], "at": [datetime(2024, 1, 1, 5), None]})
    table = catalog.create_table("d.t", rows.schema)
    with table.update_spec() as update:
        update.add_field("at", IdentityTransform(), "at")
    table.append(rows)
    assert "%3A" in "".join(task.file.file_path for task in table.scan().plan_files())
    source = open_dataset(str(tmp_path / "ice" / "d" / "t"), asked=asked[0])
    assert rows_of(source) == table.scan().to_arrow().to_pydict()
    catalog.close()


def test_a_table_without_a_snapshot_has_no_rows(iceberg):
    table, _ = iceberg
    made = table.catalog.create_table("d.none", table.schema())
    with pytest.raises(DataError, match="expected rows, but the Iceberg table has none"):
        open_dataset(made.location().removeprefix("file://"))


def commit_deletes(table, file, monkeypatch):
    """Commit a file of position deletes, which pyiceberg reads but does not write."""
    from pyiceberg.manifest import (
        DataFile,
        DataFileContent,
        FileFormat,
        ManifestContent,
        ManifestWriterV2,
    )
    from pyiceberg.typedef import Record

    described = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=f"file://{file}",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=2,
        file_size_in_bytes=file.stat().st_size,
    )
    described.spec_id = 0
    with monkeypatch.context() as patch:
        patch.setattr(ManifestWriterV2, "content", lambda _: ManifestContent.DELETES)
        plain = ManifestWriterV2._meta.fget
        patch.setattr(
            ManifestWriterV2, "_meta", property(lambda self: {**plain(self), "content": "deletes"})
        )
        with table.transaction() as transaction:  # noqa: SIM117
            with transaction.update_snapshot().fast_append() as append:
                append.append_data_file(described)


def test_rows_in_a_file_of_position_deletes_are_gone(iceberg, asked, tmp_path, monkeypatch):
    table, path = iceberg
    live = [task.file.file_path for task in table.scan().plan_files()]
    [file] = [one for one in live if pq.read_metadata(one.removeprefix("file://")).num_rows == 5]
    deletes = tmp_path / "ice" / "d" / "t" / "data" / "deletes.parquet"
    positions = pa.schema(
        [
            pa.field("file_path", pa.string(), False, {"PARQUET:field_id": "2147483546"}),
            pa.field("pos", pa.int64(), False, {"PARQUET:field_id": "2147483545"}),
        ]
    )
    pq.write_table(pa.table({"file_path": [file] * 2, "pos": [0, 3]}, schema=positions), deletes)
    commit_deletes(table, deletes, monkeypatch)
    source = open_dataset(path, asked=asked[0])
    assert sorted(rows_of(source)["n"]) == [2, 3, 5, 6]
    assert asked[1] != []
