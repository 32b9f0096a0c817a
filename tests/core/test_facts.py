"""Facts of a table do not depend on how its rows are split or ordered, and are those of pandas."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.check import check_source
from dnfscale.results.check import check_text
from tests.examples import in_parts, mixed_table


def table_of(n_rows: int, seed: int = 0) -> pa.Table:
    random = np.random.default_rng(seed)
    number = random.normal(size=n_rows)
    return pa.table(
        {
            "few": random.integers(-3, 5, n_rows),
            "wide": random.integers(-(2**62), 2**62, n_rows),
            "unsigned": random.integers(0, 2**63, n_rows).astype(np.uint64) * 2,
            "number": pa.array(number, mask=number > 1),
            "half": np.round(number, 1),
            "text": [f"t{i}" for i in random.integers(0, n_rows, n_rows)],
            "flag": pa.array(random.random(n_rows) < 0.1, mask=random.random(n_rows) < 0.2),
            "y": pa.array(random.choice(["no", "yes"], n_rows), mask=random.random(n_rows) < 0.1),
        }
    )


def checked(source) -> str:
    return check_text(check_source(source, "y", SerialEngine()))


@pytest.mark.parametrize("n_rows", [30, 3_000])
def test_a_check_is_byte_identical_however_rows_are_split(n_rows):
    table = table_of(n_rows)
    whole = checked(in_parts(table, [0, n_rows]))
    for cuts in ([0, 1, n_rows], [0, n_rows // 2, n_rows // 2, n_rows], range(0, n_rows + 1, 10)):
        assert checked(in_parts(table, list(cuts))) == whole


def test_a_check_does_not_depend_on_the_order_of_rows_where_these_are_not_sorted():
    table = table_of(3_000)
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(3_000)))
    assert checked(in_parts(shuffled, [0, 3_000])) == checked(in_parts(table, [0, 3_000]))


def test_the_facts_are_those_of_pandas():
    table = mixed_table(0, 500)
    found = check_source(in_parts(table, [0, 200, 500]), "y", SerialEngine())
    frame = table.to_pandas()
    for column in found.columns:
        series = frame[column.name]
        assert column.missing_rows == int(series.isna().sum())
        assert column.exact
        assert column.distinct == series.nunique()
        most = series.value_counts().iloc[0] if column.distinct else 0
        assert not column.frequent or column.frequent[0].rows == most
