"""A fit on mixed data like the census table Adult, recomputed in plain pandas from model.json
alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.examples import ADULTS, adult_like
from tests.jobs.judging import accepts, middle, recount, says, used
from tests.jobs.running import Desk, keeping_signals

WHOLE = ("age", "weight", "years", "code")
NUMBERS = (*WHOLE, "gain", "hours", "rate")


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        desk = Desk(tmp_path, capsys)
        desk.table(adult_like(), row_group_size=777)
        yield desk


def read_rows(desk: Desk) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """The table as pandas gives it, whole numbers kept whole, and row by row as Python values."""
    table = pq.read_table(desk.path / "t.parquet")
    frame = table.to_pandas(
        types_mapper={pa.int64(): pd.Int64Dtype(), pa.int8(): pd.Int8Dtype()}.get
    )
    return frame, table.to_pylist()


def fit(desk: Desk, **tables: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    data = {"target": "income", "positive": [">50K"], **tables.pop("data", {})}
    ended = desk.run(kind="fit", data=data, **tables)
    assert ended.code == 0, ended.err
    return desk.model(), desk.result()


@pytest.mark.parametrize("missing", ["drop", "indicator"])
@pytest.mark.parametrize("rank", ["f", "mutual_info", "chi2"])
def test_medians_counts_formula_and_accuracy_are_those_of_plain_pandas(desk, missing, rank):
    frame, rows = read_rows(desk)
    model, result = fit(desk, data={"missing": missing}, select={"rank": [rank], "tolerance": 0})
    columns = [name for name in frame.columns if name != "income"]
    kept = used(rows, columns, "income", keep_missing=missing == "indicator")
    within = frame.dropna(subset=["income"]) if missing == "indicator" else frame.dropna()
    assert len(kept) == len(within) == result["data"]["rows"]
    assert result["data"]["rows_dropped"] == ADULTS - len(within)
    assert result["data"]["positive_rows"] == int((within["income"] == ">50K").sum())
    assert result["data"]["columns"] == 10
    for attribute in model["attributes"]:
        if attribute["test"] == "above":
            assert attribute["value"] == median_of(within[attribute["column"]])
    counts = recount(kept, model)
    assert model["counts"] == counts
    names = [attribute["name"] for attribute in model["attributes"]]
    right = 0
    for cell in counts:
        answer = 2 * cell["c"] >= cell["n"]
        assert says(model["formula"], dict(zip(names, cell["type"], strict=True))) == answer
        right += cell["c"] if answer else cell["n"] - cell["c"]
    assert right == sum(accepts(model, row) == (row["income"] == ">50K") for row in kept)
    record = result["methods"]["ideal"]["model"]
    assert round(record["training_accuracy"] * len(kept)) == right
    assert record["training_accuracy"] == pytest.approx(right / len(kept), abs=1e-15)


@pytest.mark.parametrize("column", NUMBERS)
@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_the_median_of_every_kind_of_number_is_exact(desk, column, missing):
    frame, rows = read_rows(desk)
    others = [name for name in frame.columns if name not in (column, "income")]
    model, _ = fit(desk, data={"missing": missing, "drop": others}, select={"max_ell": 1})
    within = (
        frame.dropna(subset=["income"])
        if missing == "indicator"
        else frame.dropna(subset=["income", column])
    )
    attribute = model["attributes"][0]
    if attribute["test"] == "above":
        assert attribute["value"] == median_of(within[column])
        assert model["attributes"][0]["name"] == f"{column}_above_median"
    else:
        assert (attribute["test"], attribute["name"]) == ("missing", f"{column}_missing")
    kept = used(rows, [column], "income", keep_missing=missing == "indicator")
    assert model["counts"] == recount(kept, model)


@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_the_attributes_are_those_of_the_columns(desk, missing):
    frame, _ = read_rows(desk)
    _, result = fit(desk, data={"missing": missing}, select={"max_ell": 24, "tolerance": 1})
    within = frame.dropna(subset=["income"]) if missing == "indicator" else frame.dropna()
    expected = {f"{name}_above_median" for name in NUMBERS} | {"married", "sex_Male", "sex_Female"}
    expected |= {f"job_{value}" for value in within["job"].dropna().unique()}
    if missing == "indicator":
        with_nulls = [
            name for name in frame.columns if name != "income" and within[name].isna().any()
        ]
        assert with_nulls == ["age", "years", "hours", "rate", "job", "married"]
        expected |= {f"{name}_missing" for name in with_nulls}
    assert result["data"]["attributes"] == len(expected)
    longest = result["methods"]["ideal"]["model"]["formulas"][0]["sweep"][-1]["attributes"]
    assert set(longest) == expected


def test_an_error_was_asked_for_where_a_value_is_missing(desk):
    ended = desk.run(kind="fit", data={"target": "income", "missing": "error"})
    assert ended.code == 3
    assert "expected no missing values, but" in ended.message
    for name in ("age", "years", "hours", "rate", "job", "married"):
        assert repr(name) in ended.message


def median_of(values: pd.Series) -> Any:
    """numpy's median of what is there; for whole numbers exactly, written as a whole number where a
    float cannot.
    """
    present = values.dropna()
    if values.name in WHOLE:
        exact = middle([int(value) for value in present])
        return (
            float(exact)
            if exact == float(exact) and exact.denominator == 2
            else exact.numerator // exact.denominator
        )
    return float(np.median(present.to_numpy()))
