"""What models know of their columns, against what pandas says of the same rows."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.core.model import Model
from dnfscale.core.quantities import Quantity
from dnfscale.data.frames import table_source
from dnfscale.data.source import open_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.line import fold_model, learn
from dnfscale.spec.learn import LearnSpec

N_ROWS = 400


def rows(seed: int = 0) -> pa.Table:
    random = np.random.default_rng(seed)
    age = random.integers(18, 90, N_ROWS)
    ward = np.array(["medicine", "surgery", "icu"])[random.integers(0, 3, N_ROWS)].astype(object)
    ward[:3], ward[3:7], ward[7:12] = "rare", "four", "five"
    seen_at = np.array([datetime.date(2024, 1, 1) + datetime.timedelta(int(d)) for d in age])
    y = (age > 50) ^ (ward == "icu")
    return pa.table(
        {
            "age": pa.array(age, mask=random.random(N_ROWS) < 0.1),
            "bmi": random.normal(25, 4, N_ROWS),
            "ward": pa.array(ward.tolist(), pa.large_string()).dictionary_encode(),
            "smoker": random.random(N_ROWS) < 0.5,
            "seen_at": seen_at,
            "y": y,
        }
    )


def model_of(source: Any, **choices: Any) -> Model:
    spec = LearnSpec(target="y", outer=0, **choices)
    learned = learn(source, spec, SerialEngine())
    return fold_model(learned.model, learned, spec)


def test_a_model_knows_the_ends_the_values_and_the_gaps_of_the_columns_it_uses():
    table = rows()
    model = model_of(table_source(table, "t"), missing="indicator")
    known = {seen.name: seen for seen in model.seen}
    assert set(known) == set(model.columns) | {a.column for a in model.tau.attributes}
    assert {"age", "ward"} <= set(known)
    ages = table["age"].to_pandas().dropna()
    age, ward = known["age"], known["ward"]
    assert (age.least, age.greatest, age.type) == (ages.min(), ages.max(), "int64")
    assert age.missing == table["age"].null_count / N_ROWS
    assert (ward.values, ward.unlisted) == (("five", "icu", "medicine", "surgery"), 2)
    assert (ward.type, ward.missing) == ("string", 0.0)


def test_ends_are_those_of_the_rows_used_and_gaps_those_of_the_rows_read():
    table = rows()
    model = model_of(table_source(table, "t"), missing="drop", drop=("seen_at",))
    known = {seen.name: seen for seen in model.seen}
    used = table.to_pandas().dropna()
    assert (known["age"].least, known["age"].greatest) == (used.age.min(), used.age.max())
    assert known["age"].missing == table["age"].null_count / N_ROWS


def test_dates_are_known_as_dates_and_a_part_of_one_tells_of_its_column():
    table = rows().select(["seen_at", "y"])
    for choices in ({}, {"parts": ("weekday",)}):
        [seen] = model_of(table_source(table, "t"), **choices).seen
        dates = table["seen_at"].to_pylist()
        assert isinstance(seen.least, Quantity)
        assert (str(seen.least), str(seen.greatest)) == (str(min(dates)), str(max(dates)))


def test_values_of_fewer_rows_than_the_spec_says_are_counted_and_not_listed():
    source = table_source(rows(), "t")
    for min_rows, listed in ((1, 6), (4, 5), (5, 4), (1_000, 0)):
        model = model_of(source, min_rows=min_rows, missing="indicator")
        [ward] = [seen for seen in model.seen if seen.name == "ward"]
        assert (len(ward.values), ward.unlisted) == (listed, 6 - listed)


def test_nothing_is_told_where_the_spec_says_so():
    assert model_of(table_source(rows(), "t"), columns=False).seen == ()


@pytest.mark.parametrize("row_group_size", [7, 150])
def test_what_is_known_does_not_depend_on_partitions(row_group_size, tmp_path):
    pq.write_table(rows(), tmp_path / "t.parquet", row_group_size=row_group_size)
    split = model_of(open_source(str(tmp_path / "t.parquet")), missing="indicator")
    assert split.seen == model_of(table_source(rows(), "t"), missing="indicator").seen
