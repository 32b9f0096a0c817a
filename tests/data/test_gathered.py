"""Joined batches hold the same rows in the same order."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.data.gathered import gathered


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
