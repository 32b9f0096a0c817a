from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.columns import Column, Reading, Role
from dnfscale.data.frames import (
    dask_source,
    in_own_order,
    is_dask,
    is_frame,
    own_order,
    repeated,
    to_table,
)
from dnfscale.errors import DataError

ROWS = {
    "n": [3, -1, 0, 3, 7],
    "x": [0.5, -2.0, 0.0, 1e300, 0.25],
    "s": ["b", "ä", "", "b", 'q"'],
    "b": [True, False, True, True, False],
}


def arrow(**more: pa.Array) -> pa.Table:
    return pa.table({**{name: pa.array(values) for name, values in ROWS.items()}, **more})


def frames() -> dict[str, object]:
    """The same rows in every kind of table."""
    pandas, polars = pd.DataFrame(ROWS), pl.DataFrame(ROWS)
    return {
        "pandas": pandas,
        "nullable": pandas.astype({"n": "Int64", "x": "Float64", "s": "string", "b": "boolean"}),
        "narrow": pandas.astype({"n": "int8"}),
        "category": pandas.astype({"s": "category"}),
        "object": pandas.astype(object),
        "another index": pandas.set_index(np.arange(5)[::-1]),
        "polars": polars,
        "polars categories": polars.with_columns(pl.col("s").cast(pl.Categorical)),
        "polars enum": polars.with_columns(
            pl.col("s").cast(pl.Enum(sorted(set(ROWS["s"]), reverse=True)))
        ),
        "polars chunks": pl.concat([polars[:2], polars[2:]], rechunk=False),
        "arrow": arrow(),
        "arrow chunks": pa.concat_tables([arrow()[:2], arrow()[2:2], arrow()[2:]]),
        "arrow views": arrow(s=pa.array(ROWS["s"], pa.string_view())),
        "dictionaries that differ": pa.concat_tables(
            [
                arrow()[i : i + 2].set_column(2, "s", arrow()["s"][i : i + 2].dictionary_encode())
                for i in (0, 2, 4)
            ]
        ),
        "floats": arrow(n=pa.array([float(n) for n in ROWS["n"]])),
    }


@pytest.mark.parametrize("kind", frames())
def test_every_kind_of_table_holds_the_same_rows_in_the_same_order_of_their_own(kind):
    table = to_table(frames()[kind])
    assert table.to_pylist() == arrow().to_pylist()
    assert in_own_order(table).to_pylist() == in_own_order(arrow()).to_pylist()


def test_an_array_gets_names_and_each_of_its_columns_its_own_type():
    mixed = np.array([[1, "a", 0.5, True], [None, None, np.nan, None]], dtype=object)
    table = to_table(mixed)
    assert table.column_names == ["x0", "x1", "x2", "x3"]
    assert [str(kind) for kind in table.schema.types] == ["int64", "string", "double", "bool"]
    assert table.to_pylist()[1] == dict.fromkeys(table.column_names)
    assert to_table(np.array([["a", "b"]])).to_pylist() == [{"x0": "a", "x1": "b"}]
    assert to_table([[1, 2], [3, 4]]).to_pylist() == [{"x0": 1, "x1": 2}, {"x0": 3, "x1": 4}]


@given(st.permutations(range(5)), st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_the_order_of_rows_depends_on_what_they_hold(order, weights):
    table, times = arrow(), np.array(weights)
    shuffled = table.take(pa.array(order))
    assert in_own_order(shuffled).to_pylist() == in_own_order(table).to_pylist()
    rows = own_order(table, times)
    other = own_order(shuffled, times[order])
    assert shuffled.take(pa.array(other)).to_pylist() == table.take(pa.array(rows)).to_pylist()
    assert times[order][other].tolist() == times[rows].tolist()


@given(st.permutations([(1, 5), (1, 2), (1, 2), (1, 9)]))
def test_rows_that_are_alike_are_in_the_order_of_their_weights(rows):
    table, weights = pa.table({"a": [a for a, _ in rows]}), np.array([weight for _, weight in rows])
    assert weights[own_order(table, weights)].tolist() == [2, 2, 5, 9]


MISSING = {
    "float nan": pa.array([1.0, float("nan"), 3.0]),
    "float null": pa.array([1.0, None, 3.0]),
    "int null": pa.array([1, None, 3]),
    "narrow null": pa.array([1, None, 3], pa.uint8()),
    "dictionary": pa.array([1, None, 3]).dictionary_encode(),
    "dictionary that holds a null": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2]), pa.array([1, None, 3])
    ),
}


@pytest.mark.parametrize("kind", MISSING)
def test_missing_values_are_alike_in_every_type(kind):
    """They decide the order of rows where rows with missing values are kept."""
    plain = own_order(pa.table({"a": MISSING["float nan"], "b": [1, 2, 3]}))
    assert own_order(pa.table({"a": MISSING[kind], "b": [1, 2, 3]})).tolist() == plain.tolist()


def test_a_missing_text_is_not_the_text_of_its_name():
    alike = (
        pa.table({"s": ["None", None, "nan"]}),
        pa.table({"s": pa.array(["None", None, "nan"]).dictionary_encode()}),
    )
    assert [own_order(table).tolist() for table in alike] == [own_order(alike[0]).tolist()] * 2
    rows = in_own_order(pa.table({"s": ["None", None] * 50}))["s"].to_pylist()
    assert rows in (["None"] * 50 + [None] * 50, [None] * 50 + ["None"] * 50)


def test_the_two_zeros_are_alike_and_large_whole_numbers_are_not():
    zeros = pa.table({"x": [0.0, -0.0, 0.0, -0.0], "i": [0, 1, 2, 3]})
    assert in_own_order(zeros.select(["x"]))["x"].to_pylist() == [0.0, -0.0, 0.0, -0.0]
    for kind, first in ((pa.int64(), 2**53), (pa.int64(), -(2**53) - 3), (pa.uint64(), 2**64 - 4)):
        numbers = [first + i for i in range(4)]
        order = in_own_order(pa.table({"x": pa.array(numbers * 3, kind)}))["x"].to_pylist()
        assert sorted(set(order)) == numbers
        assert all(order[i] == order[i + 1] == order[i + 2] for i in range(0, 12, 3))


def test_no_rows_have_an_order_too():
    assert own_order(arrow()[:0]).tolist() == []
    assert own_order(pa.table({"a": pa.nulls(3)})).tolist() == [0, 1, 2]


def test_a_row_is_repeated_as_often_as_it_counts():
    table = pa.table({"a": [1, 2, 3]})
    assert repeated(table, np.array([2, 0, 1])).to_pylist() == [{"a": 1}, {"a": 1}, {"a": 3}]


def test_frames_are_told_from_arrays():
    frame = pd.DataFrame(ROWS)
    assert all(map(is_frame, (frame, pl.DataFrame(ROWS), arrow())))
    assert not any(map(is_frame, (frame.to_numpy(), [[1, 2]])))
    assert is_dask(dd.from_pandas(frame, npartitions=2))
    assert not any(map(is_dask, (frame, frame.to_numpy())))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pd.DataFrame({"m": [1, "a"]}), "columns of one type each"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "names|name"),
        (pd.DataFrame(index=range(3)), "0 feature"),
        (pd.DataFrame({"z": [1j, 2j]}), "columns of one type each"),
    ],
)
def test_tables_that_are_none_are_refused(given, message):
    with pytest.raises(DataError, match=message):
        to_table(given)


def test_an_array_of_other_things_is_refused():
    with pytest.raises(TypeError, match="must be a string or a number, got dict"):
        to_table(np.array([[{}]], dtype=object))


@pytest.mark.parametrize("npartitions", [1, 2, 5])
def test_a_dask_frame_is_read_a_partition_at_a_time(npartitions):
    frame = pd.DataFrame(ROWS)
    source = dask_source(dd.from_pandas(frame, npartitions=npartitions, sort=False), "X")
    assert source.n_rows == 5
    assert sum(partition.n_rows for partition in source.partitions) == 5
    assert list(source.types) == list(ROWS)
    reading = Reading((Column("n", Role.NUMBER), Column("s", Role.CATEGORY)), None)
    blocks = [block for partition in source.partitions for block in partition.blocks(reading)]
    assert [n for block in blocks for n in block.columns[0].values.tolist()] == ROWS["n"]
    assert [
        block.columns[1].values[code] for block in blocks for code in block.columns[1].codes
    ] == ROWS["s"]
