"""Reading: rows become numbers and codes, and rows with missing values are dropped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.columns import Column, Reading, Role
from dnfscale.data.frames import table_source
from dnfscale.data.read import gathered, to_block
from dnfscale.data.source import Source, open_source
from dnfscale.errors import DataError
from tests.data.read_back import decoded, read_back, write
from tests.strategies import tables


def in_memory(columns: dict[str, Any]) -> Source:
    return table_source(pa.table(columns), "memory")


def plain_rows(table: pa.Table, names: list[str], keep_missing: bool) -> dict[str, list[Any]]:
    """The judge: drop rows from Python lists."""
    columns = {
        name: [None if v is None or v != v else v for v in table[name].to_pylist()]
        for name in names
    }
    kept = [
        row
        for row in range(table.num_rows)
        if columns["y"][row] is not None
        and (keep_missing or all(columns[name][row] is not None for name in names))
    ]
    return {name: [columns[name][row] for row in kept] for name in names}


def natural_role(name: str) -> Role:
    kind = name.split("_")[0]
    return (
        Role.CATEGORY
        if kind in {"string", "dictionary"}
        else Role.FLAG
        if kind == "bool"
        else Role.NUMBER
    )


@pytest.mark.slow
@pytest.mark.portable
@given(tables(), st.booleans())
def test_a_table_in_memory_and_in_a_file_has_the_rows_that_plain_lists_have(
    tmp_path_factory, table, keep_missing
):
    roles = {name: natural_role(name) for name in table.column_names if name != "y"}
    expected = plain_rows(table, [*roles, "y"], keep_missing)
    file = write(tmp_path_factory.getbasetemp() / "mixed.parquet", table, row_group_size=7)
    assert (
        read_back(table_source(table, "memory"), roles, target="y", keep_missing=keep_missing)
        == expected
    )
    assert (
        read_back(open_source(str(file)), roles, target="y", keep_missing=keep_missing) == expected
    )


@pytest.mark.portable
@given(tables(), st.booleans())
def test_any_column_can_be_read_as_categories(tmp_path_factory, table, keep_missing):
    roles = {name: Role.CATEGORY for name in table.column_names if name != "y"}
    expected = plain_rows(table, [*roles, "y"], keep_missing)
    file = write(tmp_path_factory.getbasetemp() / "mixed.parquet", table, row_group_size=7)
    assert (
        read_back(open_source(str(file)), roles, target="y", keep_missing=keep_missing) == expected
    )


@pytest.mark.parametrize(
    "kind",
    ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"],
)
def test_numbers_keep_their_dtype_with_and_without_nulls(tmp_path, kind):
    arrow = pa.type_for_alias(kind)
    for values in ([1, 2, 3], [1, None, 3], [None, None, None]):
        source = open_source(
            str(write(tmp_path / "n.parquet", {"x": pa.array(values, arrow), "y": ["n"] * 3}))
        )
        [block] = source.partitions[0].blocks(
            Reading((Column("x", Role.NUMBER),), "y", keep_missing=True)
        )
        assert block.columns[0].values.dtype == arrow.to_pandas_dtype()
        assert decoded(block.columns[0]) == values
        assert block.missing == (values.count(None),)


@pytest.mark.parametrize("kind", ["int8", "uint8", "uint64"])
def test_a_null_within_a_dictionary_is_missing_whatever_its_codes(kind):
    codes = pa.array([0, 1, 2, 2], pa.type_for_alias(kind))
    values = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b", None]))
    source = in_memory({"x": values, "y": ["n"] * 4})
    assert read_back(source, {"x": Role.CATEGORY}, target="y", keep_missing=True)["x"] == [
        "a",
        "b",
        None,
        None,
    ]


def test_whole_numbers_beyond_the_precision_of_floats_survive_nulls(tmp_path):
    values = [2**63 - 1, None, -(2**63), 2**53 + 1]
    source = open_source(str(write(tmp_path / "n.parquet", {"x": values, "y": ["n"] * 4})))
    assert read_back(source, {"x": Role.NUMBER}, target="y", keep_missing=True)["x"] == values


def test_half_precision_numbers_are_read_exactly():
    values = pa.array(np.array([1.5, 65504.0, -0.25], np.float16))
    assert read_back(in_memory({"x": values, "y": ["n"] * 3}), {"x": Role.NUMBER}, target="y")[
        "x"
    ] == [
        1.5,
        65504.0,
        -0.25,
    ]


def test_nan_is_a_missing_value_and_infinity_is_not():
    source = in_memory({"x": [1.0, float("nan"), float("inf"), None], "y": ["a", "b", "c", "d"]})
    assert read_back(source, {"x": Role.NUMBER}, target="y") == {
        "x": [1.0, float("inf")],
        "y": ["a", "c"],
    }
    kept = read_back(source, {"x": Role.NUMBER}, target="y", keep_missing=True)
    assert kept["x"] == [1.0, None, float("inf"), None]
    assert read_back(source, {"x": Role.CATEGORY}, target="y") == {
        "x": [1.0, float("inf")],
        "y": ["a", "c"],
    }


def test_a_row_without_a_target_is_dropped_even_where_missing_values_are_kept():
    source = in_memory({"x": [1, 2, 3], "y": pa.array(["a", None, "b"])})
    assert read_back(source, {"x": Role.NUMBER}, target="y", keep_missing=True) == {
        "x": [1, 3],
        "y": ["a", "b"],
    }
    floats = in_memory({"x": [1, 2, 3], "y": [0.0, float("nan"), 1.0]})
    assert read_back(floats, {"x": Role.NUMBER}, target="y")["y"] == [0.0, 1.0]


def test_missing_values_are_counted_among_the_rows_read():
    batch = pa.record_batch(
        {"x": pa.array([1, None, None]), "c": ["a", None, "b"], "y": pa.array([None, "n", "n"])}
    )
    block = to_block(batch, Reading((Column("x", Role.NUMBER), Column("c", Role.CATEGORY)), "y"))
    assert (block.n_read, block.n_rows, block.missing) == (3, 0, (2, 1))
    assert [decoded(data) for data in (*block.columns, block.target)] == [[], [], []]


@pytest.mark.portable
@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.uint8(), pa.string()),
        pa.dictionary(pa.int64(), pa.large_string()),
    ],
    ids=str,
)
def test_strings_of_every_kind_are_categories(tmp_path, kind):
    values = ["red", None, "", "größe", "red", "二"]
    column = (
        pa.array(values, kind) if not pa.types.is_dictionary(kind) else pa.array(values).cast(kind)
    )
    columns = {"c": column, "y": ["n"] * 6}
    roles = {"c": Role.CATEGORY}
    assert read_back(in_memory(columns), roles, target="y", keep_missing=True)["c"] == values
    source = open_source(str(write(tmp_path / "c.parquet", columns)))
    assert read_back(source, roles, target="y", keep_missing=True)["c"] == values
    assert read_back(source, roles, target="y")["c"] == [
        value for value in values if value is not None
    ]


def test_a_dictionary_of_whole_numbers_is_read_as_its_values(tmp_path):
    column = pa.array([10, 20, None, 10]).dictionary_encode()
    source = open_source(str(write(tmp_path / "c.parquet", {"c": column, "y": ["n"] * 4})))
    assert read_back(source, {"c": Role.CATEGORY}, target="y", keep_missing=True)["c"] == [
        10,
        20,
        None,
        10,
    ]


def test_a_null_among_the_values_of_a_dictionary_is_a_missing_value():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), pa.array(["a", None, "b"]))
    rows = read_back(
        in_memory({"c": column, "y": ["n"] * 4}),
        {"c": Role.CATEGORY},
        target="y",
        keep_missing=True,
    )
    assert rows["c"] == ["a", None, None, "b"]


def test_dictionaries_that_differ_between_row_groups_and_files_are_read_by_value(tmp_path):
    write(tmp_path / "a.parquet", {"c": ["x", "y", "z", "x"], "y": ["n"] * 4}, row_group_size=2)
    write(tmp_path / "b.parquet", {"c": ["z", "y"], "y": ["n"] * 2})
    rows = read_back(open_source(str(tmp_path)), {"c": Role.CATEGORY}, target="y")
    assert rows["c"] == ["x", "y", "z", "x", "z", "y"]


def test_a_column_of_nulls_only_has_no_value(tmp_path):
    source = open_source(
        str(write(tmp_path / "c.parquet", {"c": pa.nulls(3), "x": [1, 2, 3], "y": ["n"] * 3}))
    )
    assert read_back(source, {"c": Role.CATEGORY}, target="y", keep_missing=True)["c"] == [None] * 3
    assert read_back(source, {"c": Role.CATEGORY, "x": Role.NUMBER}, target="y")["x"] == []
    for role in (Role.NUMBER, Role.CATEGORY):
        typed = in_memory({"c": pa.nulls(3, pa.float64()), "y": ["n"] * 3})
        assert read_back(typed, {"c": role}, target="y", keep_missing=True)["c"] == [None] * 3


@pytest.mark.parametrize(
    "labels", [[True, False, True], [1, 2, 1], [0.5, 1.5, 0.5], ["a", "b", "a"]]
)
def test_a_target_may_be_of_any_kind_of_value(tmp_path, labels):
    source = open_source(str(write(tmp_path / "t.parquet", {"x": [1, 2, 3], "y": labels})))
    assert read_back(source, {"x": Role.NUMBER}, target="y")["y"] == labels


def test_more_rows_than_a_batch_holds_come_in_several_blocks_and_in_order(tmp_path):
    n_rows = 200_000
    table = pa.table({"x": np.arange(n_rows), "y": np.zeros(n_rows, np.int8)})
    source = open_source(str(write(tmp_path / "n.parquet", table)))
    blocks = [
        block
        for partition in source.partitions
        for block in partition.blocks(Reading((Column("x", Role.NUMBER),), "y"))
    ]
    assert len(blocks) > 1
    assert np.array_equal(
        np.concatenate([block.columns[0].values for block in blocks]), np.arange(n_rows)
    )


def whole_source(tmp_path: Path) -> tuple[Path, Source]:
    file = write(tmp_path / "rows.parquet", {"x": list(range(1000)), "y": ["n"] * 1000})
    return file, open_source(str(file))


def test_a_file_rewritten_after_its_footer_was_read_is_an_error(tmp_path):
    file, source = whole_source(tmp_path)
    write(file, {"x": list(range(10)), "y": ["n"] * 10})
    with pytest.raises(
        DataError, match=r"rows\.parquet: expected the file that the job began with.*written since"
    ):
        read_back(source, {"x": Role.NUMBER}, target="y")


def test_a_file_rewritten_with_as_many_bytes_is_an_error_too(tmp_path):
    file, source = whole_source(tmp_path)
    before = file.stat()
    file.write_bytes(file.read_bytes())
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    with pytest.raises(
        DataError, match=r"rows\.parquet: expected the file that the job began with"
    ):
        read_back(source, {"x": Role.NUMBER}, target="y")


def test_a_file_removed_after_its_footer_was_read_is_an_error(tmp_path):
    file, source = whole_source(tmp_path)
    file.unlink()
    with pytest.raises(
        DataError, match=r"rows\.parquet: expected the file that the job began with, but it is gone"
    ):
        read_back(source, {"x": Role.NUMBER}, target="y")


def test_a_file_whose_pages_are_damaged_is_an_error_that_names_it(tmp_path):
    columns = {"x": np.arange(5000) // 3, "y": ["n"] * 5000}
    file = write(tmp_path / "rows.parquet", columns, compression="zstd", use_dictionary=False)
    content = bytearray(file.read_bytes())
    content[4:200] = bytes(196)
    file.write_bytes(content)
    with pytest.raises(
        DataError, match=r"rows\.parquet: expected to read its columns, but that failed"
    ) as caught:
        read_back(open_source(str(file)), {"x": Role.NUMBER}, target="y")
    assert "\n" not in str(caught.value)


def batch(values: list[str | None], kind: pa.DataType) -> pa.RecordBatch:
    words = pa.array(values, pa.string())
    column = words.dictionary_encode() if pa.types.is_dictionary(kind) else words.cast(kind)
    return pa.record_batch(
        {"word": column, "length": pa.array([len(value or "") for value in values], pa.int64())}
    )


KINDS = st.sampled_from([pa.dictionary(pa.int32(), pa.string()), pa.string(), pa.large_string()])
BATCHES = st.lists(
    st.builds(batch, st.lists(st.sampled_from(["a", "bb", None, "ccc"]), max_size=9), KINDS),
    max_size=12,
)


@given(BATCHES, st.integers(1, 30))
def test_the_same_rows_in_the_same_order(batches, least_rows):
    joined = list(gathered(batches, least_rows=least_rows))
    assert [row for part in joined for row in part.to_pylist()] == [
        row for part in batches for row in part.to_pylist()
    ]


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 30))
def test_batches_of_one_schema_have_enough_rows_except_the_last(sizes, least_rows):
    batches = [pa.record_batch({"x": pa.array(range(size), pa.int64())}) for size in sizes]
    joined = [part.num_rows for part in gathered(batches, least_rows=least_rows)]
    assert all(rows >= least_rows for rows in joined[:-1])
    assert sum(joined) == sum(sizes)


def test_large_batches_are_handed_on_as_they_are():
    large = [pa.record_batch({"x": list(range(10))}) for _ in range(3)]
    assert all(
        part is given for part, given in zip(gathered(large, least_rows=10), large, strict=True)
    )
