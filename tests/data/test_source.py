"""Sources: what is seen of a dataset through its footers, and how it is laid out in partitions."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dnfscale.data.source
from dnfscale.core.columns import Role
from dnfscale.data.footer import chunks_of
from dnfscale.data.source import Source, open_source
from dnfscale.errors import DataError
from tests.data.read_back import read_back, write

ODD_NAMES = ("a.b", 'say "hi"', "it's", "size [cm]", "two\nlines", "größe", "年齢", " ", "a", "")


def numbers_of(source: Source, name: str = "x") -> list[object]:
    """Return a number column in the order of the dataset; «y» is always there as a target."""
    return read_back(source, {name: Role.NUMBER}, target="y")[name]


def xy(start: int, stop: int) -> dict[str, object]:
    return {"x": list(range(start, stop)), "y": ["n"] * (stop - start)}


def test_footers_are_let_go_once_they_have_told_of_their_columns(tmp_path, monkeypatch):
    write(tmp_path / "a.parquet", xy(0, 5))

    def size(source: Source) -> int:
        return len(pickle.dumps(source))

    source = open_source(str(tmp_path))
    waiting = size(source)
    assert dict(source.null_counts) == {"x": 0, "y": 0}
    assert size(source) < waiting
    assert repr(source) == repr(open_source(str(tmp_path)))
    assert pickle.loads(pickle.dumps(source)).identity == source.identity
    monkeypatch.setattr(dnfscale.data.source, "_WAITING_BYTES", 0)
    assert size(open_source(str(tmp_path))) == size(source)


# What a path may be.


def test_a_path_may_be_a_file(tmp_path):
    file = write(tmp_path / "rows.parquet", xy(0, 5))
    source = open_source(str(file))
    assert (source.n_rows, len(source.files)) == (5, 1)
    assert list(source.types.items()) == [("x", pa.int64()), ("y", pa.string())]
    assert numbers_of(source) == [0, 1, 2, 3, 4]


def test_a_file_may_have_any_name(tmp_path):
    assert open_source(str(write(tmp_path / "rows.data", xy(0, 3)))).n_rows == 3
    assert open_source(str(write(tmp_path / "rows[1]*.parquet", xy(0, 4)))).n_rows == 4


def test_a_path_may_be_a_directory_whose_files_are_taken_in_the_order_of_their_paths(tmp_path):
    write(tmp_path / "b.parquet", xy(2, 4))
    write(tmp_path / "a" / "z.parquet", xy(0, 2))
    write(tmp_path / "c.pq", xy(4, 6))
    source = open_source(str(tmp_path))
    assert len(source.files) == 3
    assert numbers_of(source) == list(range(6))


def test_a_path_may_be_a_pattern_whose_files_are_taken_in_the_order_of_their_paths(tmp_path):
    write(tmp_path / "part-2.parquet", xy(2, 4))
    write(tmp_path / "part-1.parquet", xy(0, 2))
    write(tmp_path / "other.parquet", xy(9, 10))
    write(tmp_path / "deep" / "er" / "part-3.parquet", xy(4, 6))
    assert numbers_of(open_source(str(tmp_path / "part-*.parquet"))) == [0, 1, 2, 3]
    assert numbers_of(open_source(str(tmp_path / "part-[1].parquet"))) == [0, 1]
    assert numbers_of(open_source(str(tmp_path / "**" / "part-?.parquet"))) == [4, 5, 0, 1, 2, 3]


def test_a_path_may_be_relative(tmp_path, monkeypatch):
    write(tmp_path / "data" / "rows.parquet", xy(0, 3))
    monkeypatch.chdir(tmp_path)
    assert numbers_of(open_source("data/rows.parquet")) == [0, 1, 2]
    assert numbers_of(open_source("data")) == [0, 1, 2]


def test_side_files_of_other_tools_are_left_alone(tmp_path):
    write(tmp_path / "part-0.parquet", xy(0, 3))
    for name in ("_SUCCESS", ".part-0.parquet.crc", "_metadata", "_logs/0.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("not Parquet")
    for name in ("_temporary/part-9.parquet", ".hidden/part-9.parquet", "_part.parquet"):
        write(tmp_path / name, xy(7, 9))
    source = open_source(str(tmp_path))
    assert len(source.files) == 1
    assert numbers_of(source) == [0, 1, 2]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "nowhere",
            "expected a Parquet file or a directory of them, but there is nothing at this path",
        ),
        ("nowhere/*.parquet", "expected at least one Parquet file, but the pattern matches none"),
        ("empty", "expected at least one Parquet file, but the directory has none"),
        ("text.parquet", "expected a Parquet file, but it cannot be read"),
        ("nothing.parquet", "expected a Parquet file, but it cannot be read"),
        ("truncated.parquet", "expected a Parquet file, but it cannot be read"),
        ("headless.parquet", "expected a Parquet file, but it cannot be read"),
    ],
)
def test_a_path_without_parquet_is_an_error_that_names_it(tmp_path, path, message):
    whole = write(tmp_path / "whole.parquet", xy(0, 1000)).read_bytes()
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "_notes.txt").write_text("nothing here")
    (tmp_path / "text.parquet").write_text("x,y\n1,2\n")
    (tmp_path / "nothing.parquet").write_bytes(b"")
    (tmp_path / "truncated.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "headless.parquet").write_bytes(whole[-200:-4] + b"PAR1")
    with pytest.raises(DataError, match=message) as caught:
        open_source(str(tmp_path / path))
    assert str(caught.value).startswith(str(tmp_path / path))
    assert "\n" not in str(caught.value)


def test_one_bad_file_among_many_is_the_one_that_is_named(tmp_path):
    for number in range(20):
        write(tmp_path / f"{number:02}.parquet", xy(number, number + 1))
    (tmp_path / "13.parquet").write_text("oops")
    with pytest.raises(DataError, match=r"13\.parquet: expected a Parquet file"):
        open_source(str(tmp_path))


# Hive keys.


def test_hive_folders_are_columns_of_whole_numbers_where_all_values_read_as_such(tmp_path):
    for year in (2020, 2021):
        for month in ("jan", "feb"):
            write(tmp_path / f"year={year}" / f"month={month}" / "part.parquet", xy(year, year + 2))
    source = open_source(str(tmp_path))
    assert source.types == {
        "x": pa.int64(),
        "y": pa.string(),
        "year": pa.int64(),
        "month": pa.string(),
    }
    rows = read_back(
        source, {"x": Role.NUMBER, "year": Role.NUMBER, "month": Role.CATEGORY}, target="y"
    )
    assert rows["year"] == [2020] * 4 + [2021] * 4
    assert rows["month"] == ["feb", "feb", "jan", "jan"] * 2
    assert rows["x"] == [2020, 2021] * 2 + [2021, 2022] * 2


@pytest.mark.parametrize(
    ("values", "role", "expected"),
    [
        (["1", "__HIVE_DEFAULT_PARTITION__"], Role.NUMBER, [1, None]),
        (["a", "__HIVE_DEFAULT_PARTITION__"], Role.CATEGORY, ["a", None]),
        (["-3", "12"], Role.NUMBER, [-3, 12]),
        (["a%20b", "c%2Fd%3De"], Role.CATEGORY, ["a b", "c/d=e"]),
        (["1", "x"], Role.CATEGORY, ["1", "x"]),
    ],
)
def test_hive_values_may_be_null_negative_escaped_or_mixed(tmp_path, values, role, expected):
    for number, value in enumerate(values):
        write(tmp_path / f"key={value}" / "part.parquet", xy(number, number + 1))
    rows = read_back(
        open_source(str(tmp_path)), {"x": Role.NUMBER, "key": role}, target="y", keep_missing=True
    )
    assert dict(zip(rows["x"], rows["key"], strict=True)) == dict(enumerate(expected))


def test_rows_of_a_null_hive_key_are_dropped_like_any_row_with_a_missing_value(tmp_path):
    write(tmp_path / "key=5" / "part.parquet", xy(0, 3))
    write(tmp_path / "key=__HIVE_DEFAULT_PARTITION__" / "part.parquet", xy(3, 5))
    rows = read_back(open_source(str(tmp_path)), {"x": Role.NUMBER, "key": Role.NUMBER}, target="y")
    assert rows["x"] == [0, 1, 2]
    assert rows["key"] == [5, 5, 5]


def test_the_nulls_of_a_hive_key_are_counted_by_their_rows(tmp_path):
    write(tmp_path / "key=5" / "part.parquet", xy(0, 2))
    nothing = {"x": pa.array([], pa.int64()), "y": pa.array([], pa.string())}
    for name in "ab":
        write(tmp_path / "key=__HIVE_DEFAULT_PARTITION__" / f"{name}.parquet", nothing)
    source = open_source(str(tmp_path))
    assert source.null_counts["key"] == 0
    assert not source.is_empty("key")
    write(tmp_path / "key=__HIVE_DEFAULT_PARTITION__" / "a.parquet", xy(2, 5))
    assert open_source(str(tmp_path)).null_counts["key"] == 3
    (tmp_path / "key=5" / "part.parquet").unlink()
    assert open_source(str(tmp_path)).is_empty("key")


def test_a_hive_key_may_be_the_target_and_all_that_is_read(tmp_path):
    for number, label in ((1, "no"), (2, "yes")):
        write(tmp_path / f"label={label}" / f"n={number}" / "part.parquet", xy(0, 3))
    source = open_source(str(tmp_path))
    rows = read_back(source, {"n": Role.NUMBER}, target="label")
    assert rows == {"n": [1, 1, 1, 2, 2, 2], "label": ["no"] * 3 + ["yes"] * 3}


def test_a_whole_number_too_large_for_64_bits_is_a_text(tmp_path):
    write(tmp_path / f"id={2**70}" / "part.parquet", xy(0, 1))
    source = open_source(str(tmp_path))
    assert source.types["id"] == pa.string()
    assert read_back(source, {"id": Role.CATEGORY}, target="y")["id"] == [str(2**70)]


@pytest.mark.parametrize("first", ["a", "b"])
def test_a_hive_key_that_is_also_a_column_of_a_file_is_an_error_that_names_both(tmp_path, first):
    write(tmp_path / f"key={first}" / "part.parquet", {**xy(0, 3), "key": ["other"] * 3})
    write(
        tmp_path / f"key={'b' if first == 'a' else 'a'}" / "part.parquet",
        {**xy(3, 5), "key": ["other"] * 2},
    )
    said = (
        r"part\.parquet: expected 'key' to be a column of the files or a folder key=\.\.\., "
        r"but it is both"
    )
    with pytest.raises(DataError, match=said):
        open_source(str(tmp_path))
    assert list(open_source(str(tmp_path / "key=a")).types) == ["x", "y", "key"]


def test_a_pattern_over_hive_folders_sees_their_keys(tmp_path):
    for year in (2020, 2021):
        write(tmp_path / f"year={year}" / "part.parquet", xy(year, year + 1))
    source = open_source(str(tmp_path / "year=*" / "*.parquet"))
    assert read_back(source, {"year": Role.NUMBER}, target="y")["year"] == [2020, 2021]


@pytest.mark.parametrize("outsider", ["a.parquet", "z.parquet"])
def test_a_file_outside_the_hive_folders_of_the_others_is_an_error_wherever_it_sorts(
    tmp_path, outsider
):
    write(tmp_path / "year=2020" / "part.parquet", xy(0, 1))
    write(tmp_path / outsider, xy(1, 2))
    with pytest.raises(
        DataError, match=r"expected a folder named year=\.\.\. as the other files have"
    ):
        open_source(str(tmp_path))


# Files that disagree.


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            {"x": [1], "y": [1]},
            {"x": ["a"], "y": [1]},
            r"b\.parquet: .* column 'x' to have the type int64 .*got string",
        ),
        (
            {"x": [1], "y": [1]},
            {"x": [1.5], "y": [1]},
            r"b\.parquet: .* column 'x' to have the type int64 .*got double",
        ),
        (
            {"x": [1], "y": [1]},
            {"x": [1]},
            r"b\.parquet: expected the same columns in all files, but 'y' of .*a\.parquet",
        ),
        (
            {"x": [1]},
            {"x": [1], "y": [1]},
            r"a\.parquet: expected the same columns in all files, but 'y' of .*b\.parquet",
        ),
    ],
)
def test_files_that_disagree_are_an_error_that_names_the_file_and_the_column(
    tmp_path, first, second, message
):
    write(tmp_path / "a.parquet", first)
    write(tmp_path / "b.parquet", second)
    with pytest.raises(DataError, match=message):
        open_source(str(tmp_path))


def test_files_may_have_their_columns_in_another_order(tmp_path):
    write(tmp_path / "a.parquet", {"x": [1], "y": ["n"]})
    write(tmp_path / "b.parquet", {"y": ["n"], "x": [2]})
    source = open_source(str(tmp_path))
    assert list(source.types) == ["x", "y"]
    assert numbers_of(source) == [1, 2]


def test_strings_however_they_are_stored_may_stand_beside_each_other(tmp_path):
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
    for number, kind in enumerate(kinds):
        table = {"c": pa.array(["red", "blue"], pa.string()).cast(kind), "y": ["n", "n"]}
        write(tmp_path / f"{number}.parquet", table)
    rows = read_back(open_source(str(tmp_path)), {"c": Role.CATEGORY}, target="y")
    assert rows["c"] == ["red", "blue"] * 3


TYPED = {
    "whole numbers": (pa.array([3, 4], pa.int16()), Role.NUMBER),
    "numbers": (pa.array([0.5, None]), Role.NUMBER),
    "times": (pa.array([7, 8], pa.timestamp("us")), Role.NUMBER),
    "decimals": (pa.array([1, 2], pa.decimal128(9, 2)), Role.NUMBER),
    "truth values": (pa.array([True, False]), Role.FLAG),
    "strings": (pa.array(["a", None]), Role.CATEGORY),
    "large strings": (pa.array(["a", "b"], pa.large_string()), Role.CATEGORY),
    "a dictionary": (pa.array(["a", "b"]).dictionary_encode(), Role.CATEGORY),
}


@pytest.mark.parametrize("kind", TYPED)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_column_of_the_type_null_in_one_file_is_missing_there_and_has_the_type_of_the_others(
    tmp_path, kind, place
):
    values, role = TYPED[kind]
    columns = [values, values]
    columns.insert(place, pa.nulls(2))
    for number, column in enumerate(columns):
        write(tmp_path / f"null{number}.parquet", {"c": column, "x": [number] * 2, "y": ["n", "p"]})
        typed = pa.nulls(2, values.type) if number == place else column
        write(
            tmp_path / "typed" / f"{number}.parquet",
            {"c": typed, "x": [number] * 2, "y": ["n", "p"]},
        )
    source, typed_source = (
        open_source(str(tmp_path / "null*")),
        open_source(str(tmp_path / "typed")),
    )
    assert source.types == typed_source.types
    for keep_missing in (True, False):
        roles = {"c": role, "x": Role.NUMBER}
        expected = read_back(typed_source, roles, target="y", keep_missing=keep_missing)
        assert read_back(source, roles, target="y", keep_missing=keep_missing) == expected
    assert read_back(source, {"c": role}, target="y", keep_missing=True)["c"][
        2 * place : 2 * place + 2
    ] == [None, None]
    assert read_back(source, {}, target="c", keep_missing=True) == read_back(
        typed_source, {}, target="c", keep_missing=True
    )


def test_a_file_may_have_no_value_at_all(tmp_path):
    write(tmp_path / "a.parquet", {"x": pa.nulls(3), "y": pa.nulls(3)})
    write(tmp_path / "b.parquet", {"x": [1.5], "y": ["n"]})
    source = open_source(str(tmp_path))
    assert source.types == {"x": pa.float64(), "y": pa.string()}
    assert read_back(source, {"x": Role.NUMBER}, target="y") == {"x": [1.5], "y": ["n"]}


def test_files_that_disagree_beside_one_of_the_type_null_are_an_error(tmp_path):
    for name, column in (("a", pa.nulls(1)), ("b", pa.array([1])), ("c", pa.array(["z"]))):
        write(tmp_path / f"{name}.parquet", {"x": column, "y": [1]})
    with pytest.raises(
        DataError,
        match=r"c\.parquet: .* column 'x' to have the type int64 as in .*b\.parquet, got string",
    ):
        open_source(str(tmp_path))


@pytest.mark.parametrize("name", ["a.parquet", "b.parquet"])
def test_a_column_name_that_occurs_twice_is_an_error_in_whichever_file(tmp_path, name):
    write(tmp_path / "a.parquet", {"x": [1], "y": [1]})
    write(tmp_path / "b.parquet", {"x": [1], "y": [1]})
    pq.write_table(
        pa.Table.from_arrays([pa.array([1])] * 3, names=["x", "x", "y"]), tmp_path / name
    )
    with pytest.raises(DataError, match=f"{name}: column names must differ, but 'x' occurs twice"):
        open_source(str(tmp_path))


# Partitions.


def pieces_of(source: Source) -> list[tuple[str, int]]:
    """Return every (file, row group) in the order of the partitions."""
    return [
        (os.path.basename(piece.file.path), group)
        for partition in source.partitions
        for piece in partition.pieces
        for group in piece.groups
    ]


def test_partitions_are_runs_of_row_groups_in_order_each_taken_once(tmp_path):
    for name, n_rows in (("a", 150_000), ("b", 10_000), ("c", 300_000)):
        table = pa.table(
            {"x": np.arange(n_rows, dtype=np.int32), "y": np.zeros(n_rows, dtype=np.int8)}
        )
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=20_000)
    source = open_source(str(tmp_path))
    expected = (
        [("a.parquet", g) for g in range(8)]
        + [("b.parquet", 0)]
        + [("c.parquet", g) for g in range(15)]
    )
    assert pieces_of(source) == expected
    assert [partition.ordinal for partition in source.partitions] == list(
        range(len(source.partitions))
    )
    sizes = [partition.n_rows for partition in source.partitions]
    assert sum(sizes) == source.n_rows == 460_000
    # 2**16 rows close a partition: neither file nor row group decides alone.
    assert 5 <= len(sizes) <= 7
    assert min(sizes[:-1]) > max(sizes) / 2


def test_many_tiny_files_make_few_partitions(tmp_path):
    for number in range(300):
        write(tmp_path / f"{number:03}.parquet", xy(number, number + 1))
    source = open_source(str(tmp_path))
    assert len(source.files) == 300
    assert len(source.partitions) == 1
    assert numbers_of(source) == list(range(300))


def test_rows_that_take_many_bytes_make_partitions_of_fewer_rows(tmp_path):
    random = np.random.default_rng(0)
    columns = {f"x{i}": random.random(40_000) for i in range(120)}
    pq.write_table(
        pa.table(columns), tmp_path / "wide.parquet", row_group_size=10_000, compression="none"
    )
    source = open_source(str(tmp_path))
    assert len(source.partitions) == 2
    assert sum(partition.n_rows for partition in source.partitions) == 40_000


@pytest.mark.parametrize("row_group_size", [1, 2, 7, 100])
def test_rows_keep_their_order_whatever_the_row_groups(tmp_path, row_group_size):
    write(tmp_path / "a.parquet", xy(0, 23), row_group_size=row_group_size)
    write(tmp_path / "b.parquet", xy(23, 40), row_group_size=row_group_size)
    assert numbers_of(open_source(str(tmp_path))) == list(range(40))


def test_files_and_row_groups_without_rows_are_in_no_partition(tmp_path):
    schema = pa.schema({"x": pa.int64(), "y": pa.string()})
    write(tmp_path / "a.parquet", pa.table({"x": [], "y": []}, schema=schema))
    with pq.ParquetWriter(tmp_path / "b.parquet", schema) as writer:
        for start, stop in ((0, 2), (2, 2), (2, 5)):
            writer.write_table(pa.table(xy(start, stop), schema=schema))
    source = open_source(str(tmp_path))
    assert (source.n_rows, len(source.files)) == (5, 2)
    assert all(piece.n_rows > 0 for partition in source.partitions for piece in partition.pieces)
    assert numbers_of(source) == list(range(5))


def test_a_dataset_without_any_row_has_no_partition(tmp_path):
    write(tmp_path / "a.parquet", pa.table({"x": pa.array([], pa.int64())}))
    source = open_source(str(tmp_path))
    assert (source.n_rows, source.partitions) == (0, ())


def test_the_compressed_bytes_of_each_column_are_known(tmp_path):
    write(tmp_path / "a.parquet", {"x": list(range(1000)), "a.b": [1] * 1000})
    write(tmp_path / "b.parquet", {"x": list(range(1000)), "a.b": [1] * 1000})
    sizes = open_source(str(tmp_path)).column_bytes
    assert set(sizes) == {"x", "a.b"}
    assert sizes["x"] > sizes["a.b"] > 0


# Columns.


def test_columns_of_odd_names_are_read_by_their_names(tmp_path):
    columns = {name: [10 * i, 10 * i + 1] for i, name in enumerate(ODD_NAMES)}
    write(tmp_path / "odd.parquet", {**columns, "y": ["n", "n"]})
    source = open_source(str(tmp_path))
    assert tuple(source.types) == (*ODD_NAMES, "y")
    rows = read_back(source, dict.fromkeys(ODD_NAMES, Role.NUMBER), target="y")
    assert {name: rows[name] for name in ODD_NAMES} == columns
    for name in ODD_NAMES:
        assert numbers_of(source, name) == columns[name]
        assert read_back(source, {name: Role.CATEGORY}, target="y")[name] == columns[name]


def test_a_target_of_an_odd_name_is_read_by_its_name(tmp_path):
    for name in ODD_NAMES:
        write(tmp_path / "odd.parquet", {"x": [1, 2], name if name != "x" else "x2": ["n", "p"]})
        rows = read_back(open_source(str(tmp_path)), {"x": Role.NUMBER}, target=name)
        assert rows[name] == ["n", "p"]


def test_column_chunks_are_looked_at_when_their_sizes_are_asked_for_and_only_once(
    tmp_path, monkeypatch
):
    for number in range(3):
        pq.write_table(
            pa.table({"a": [1, None, 3], "b": [1, 2, 3]}), tmp_path / f"{number}.parquet"
        )
    asked = []
    monkeypatch.setattr(
        "dnfscale.data.source.chunks_of", lambda footer: asked.append(1) or chunks_of(footer)
    )
    source = open_source(str(tmp_path))
    assert source.n_rows == 9
    assert not asked
    assert source.null_counts == {"a": 3, "b": 0}
    assert set(source.column_bytes) == {"a", "b"}
    assert len(asked) == 3


def test_column_chunks_that_cannot_be_told_apart_are_an_error_when_asked_for(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")

    def refuse(_footer: bytes) -> None:
        raise ValueError("its footer is damaged")

    monkeypatch.setattr("dnfscale.data.source.chunks_of", refuse)
    source = open_source(str(tmp_path))
    with pytest.raises(
        DataError, match=r"t\.parquet: expected a Parquet file, .* \(its footer is damaged\)"
    ):
        source.null_counts.get("a")


def test_a_text_among_parquet_files_is_an_error_that_names_it(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    (tmp_path / "visits.csv").write_text("age,y\n1,0\n", encoding="utf-8")
    with pytest.raises(
        DataError,
        match=r"visits\.csv: expected a Parquet file.*; keep files of one kind .* by a glob",
    ):
        open_source(str(tmp_path))
