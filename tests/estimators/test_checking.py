"""`dnfscale.check`: any table in memory, or a path, and an object that shows itself."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dnfscale
from dnfscale.errors import DataError, SpecError

FRAME = pd.DataFrame(
    {
        "customer_id": [f"c{i}" for i in range(200)],
        "x": np.random.default_rng(0).normal(size=200),
        "y": np.random.default_rng(1).random(200) < 0.5,
    }
)


def test_a_frame_is_checked_and_shows_itself():
    found = dnfscale.check(FRAME, "y")
    assert found.rows == 200
    assert [(about, finding.kind) for about, finding in found.findings] == [
        ("customer_id", "identifier")
    ]
    assert "customer_id: 100 % of 200 rows have a value of their own" in repr(found)
    shown = found._repr_html_()
    assert "<bdi>identifier</bdi>" in shown
    # With the style of the page, for tables too, wherever it is shown.
    assert ".dnfscale.dnfscale caption {" in shown
    plain = dnfscale.check(FRAME.drop(columns="customer_id"), "y")
    assert "Nothing was found" in plain._repr_html_()
    assert json.loads(found.to_json())["schema"] == "dnfscale.check/1"


def test_all_kinds_of_tables_are_checked_alike(tmp_path):
    file = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pandas(FRAME, preserve_index=False), file)
    whole = dnfscale.check(FRAME, "y").to_json()
    for data in (pa.Table.from_pandas(FRAME, preserve_index=False), file, str(file)):
        assert json.loads(dnfscale.check(data, "y").to_json())["findings"] == []
        assert [
            c["distinct"] for c in json.loads(dnfscale.check(data, "y").to_json())["columns"]
        ] == [c["distinct"] for c in json.loads(whole)["columns"]]


def test_without_a_target_the_columns_alone_are_checked():
    assert dnfscale.check(FRAME).record.labels == ()


def test_a_target_that_is_no_column_is_told():
    with pytest.raises(SpecError, match=r"^target must name a column of the table, got 'z'"):
        dnfscale.check(FRAME, "z")


def test_a_frame_without_rows_is_told():
    with pytest.raises(DataError, match="expected rows to learn from"):
        dnfscale.check(FRAME[:0], "y")
