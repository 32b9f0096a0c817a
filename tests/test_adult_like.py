"""A fit on mixed data like the census table Adult, recomputed in plain pandas from model.json alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.jobs.judging import accepts, middle, recount, says, used
from tests.jobs.running import Desk, keeping_signals

N_ROWS = 5000
WHOLE = ("age", "weight", "years", "code")
NUMBERS = (*WHOLE, "gain", "hours", "rate")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        desk = Desk(tmp_path, capsys)
        desk.table(adult_like(), row_group_size=777)
        yield desk


def adult_like() -> pa.Table:
    random = np.random.default_rng(1994)

    def holed(values: Any, share: float, kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind, mask=random.random(N_ROWS) < share)

    age = random.integers(17, 91, N_ROWS)
    years = random.integers(1, 17, N_ROWS)
    gain = np.where(random.random(N_ROWS) < 0.6, 0.0, random.exponential(5000, N_ROWS).round(2))
    hours = random.normal(40, 12, N_ROWS).astype(np.float32)
    rate = random.normal(size=N_ROWS)
    rate[random.random(N_ROWS) < 0.01] = np.nan
    rate[random.random(N_ROWS) < 0.01] = np.inf
    married = random.random(N_ROWS) < 0.5
    job = random.choice(["Sales", "Tech-support", "Exec managerial", "Priv-house-serv", "?"], N_ROWS)
    score = (age > 37) * 1.0 + (years > 9) + married * 1.5 + (gain > 0) + (job == "Exec managerial") + rate.clip(-1, 1)
    income = np.where(np.nan_to_num(score) + random.normal(0, 0.7, N_ROWS) > 2.8, ">50K", "<=50K")
    return pa.table(
        {
            "age": holed(age, 0.01, pa.int64()),
            "weight": pa.array(random.integers(2**61, 2**62, N_ROWS), pa.int64()),
            "years": holed(years, 0.02, pa.int8()),
            "code": pa.array(random.integers(0, 2**64, N_ROWS, dtype=np.uint64), pa.uint64()),
            "gain": pa.array(gain, pa.float64()),
            "hours": holed(hours, 0.01, pa.float32()),
            "rate": pa.array(rate, pa.float64()),
            "job": holed(job.tolist(), 0.03, pa.string()),
            "sex": pa.array(random.choice(["Male", "Female"], N_ROWS).tolist()).dictionary_encode(),
            "married": holed(married, 0.01, pa.bool_()),
            "income": holed(income.tolist(), 0.005, pa.string()),
        }
    )


def read_rows(desk: Desk) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """The table as pandas gives it, whole numbers kept whole, and row by row as Python values."""
    table = pq.read_table(desk.path / "t.parquet")
    frame = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype(), pa.int8(): pd.Int8Dtype()}.get)
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
    assert result["data"]["rows_dropped"] == N_ROWS - len(within)
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
    within = frame.dropna(subset=["income"]) if missing == "indicator" else frame.dropna(subset=["income", column])
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
        with_nulls = [name for name in frame.columns if name != "income" and within[name].isna().any()]
        assert with_nulls == ["age", "years", "hours", "rate", "job", "married"]
        expected |= {f"{name}_missing" for name in with_nulls}
    assert result["data"]["attributes"] == len(expected)
    longest = result["methods"]["ideal"]["model"]["sweep"][-1]["attributes"]
    assert set(longest) == expected


def test_an_error_was_asked_for_where_a_value_is_missing(desk):
    ended = desk.run(kind="fit", data={"target": "income", "missing": "error"})
    assert ended.code == 3
    assert "expected no missing values, but" in ended.message
    for name in ("age", "years", "hours", "rate", "job", "married"):
        assert repr(name) in ended.message


def median_of(values: pd.Series) -> Any:
    """numpy's median of what is there; for whole numbers exactly, written as a whole number where a float cannot."""
    present = values.dropna()
    if values.name in WHOLE:
        exact = middle([int(value) for value in present])
        return (
            float(exact) if exact == float(exact) and exact.denominator == 2 else exact.numerator // exact.denominator
        )
    return float(np.median(present.to_numpy()))
