"""Rows dropped for missing values, against what pandas counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.data.frames import table_source
from dnfscale.data.source import Source, open_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError
from dnfscale.learn.dropped import Foreseen, foresee_dropped
from dnfscale.learn.keeping import keep_rows
from dnfscale.learn.line import Learned, learn
from dnfscale.learn.table import features
from dnfscale.spec.learn import LearnSpec

N = 1_000


def frame(**gaps: float) -> pd.DataFrame:
    """Rows of two columns and a target, in which shares of values are missing at random."""
    random = np.random.default_rng(3)
    rows = pd.DataFrame(
        {
            "x": random.normal(size=N).round(2),
            "s": random.choice(["red", "green"], N),
            "y": random.choice(["no", "yes"], N),
        }
    )
    for name, share in gaps.items():
        rows.loc[random.random(N) < share, name] = None
    return rows


def warned(rows: pd.DataFrame, **choices: Any) -> list[str]:
    """Return the warnings of a read."""
    said: list[str] = []
    source = table_source(pa.Table.from_pandas(rows), "t")
    keep_rows(source, LearnSpec(target="y", outer=0, **choices), SerialEngine(), said.append)
    return said


def test_few_dropped_rows_are_no_reason_for_a_warning():
    assert warned(frame(x=0.03)) == []
    assert warned(frame(x=0.5, s=0.5), missing="indicator") == []


def test_a_warning_names_the_columns_and_the_rows_that_each_costs():
    rows = frame(x=0.1, s=0.02, y=0.3)
    known = rows.dropna(subset="y")
    x, s = int(known.x.isna().sum()), int(known.s.isna().sum())
    gone = len(known) - len(known.dropna())
    [said] = warned(rows)
    assert said == (
        f"{gone} of {len(known)} rows ({100 * gone / len(known):.3g} %) are dropped for missing "
        f"values: 'x' costs {x}, 's' costs {s}; data.missing = \"indicator\" keeps them"
    )


@pytest.mark.parametrize("as_nan", [False, True])
def test_more_than_the_spec_allows_is_an_error_that_says_what_to_add(as_nan):
    rows = frame(x=0.4)
    # A nan is no null: footers say nothing of it.
    table = pa.Table.from_pandas(rows)
    if as_nan:
        table = table.set_column(0, "x", pa.array(rows.x.to_numpy(), from_pandas=False))
        assert table["x"].null_count == 0
    gone = int(rows.x.isna().sum())
    source = table_source(table, "t")
    with pytest.raises(DataError, match=r"expected at most 20 % of the rows") as raised:
        learn(source, LearnSpec(target="y", outer=0), SerialEngine())
    share = f"{-(-gone // 10) / 100:g}"
    assert f"{100 * gone / N:.1f} %".replace(".0 %", " %") in raised.value.message
    assert "'x'" in raised.value.message
    assert f"data.max_dropped = {share}" in raised.value.message
    learned = learn(
        source, LearnSpec(target="y", outer=0, max_dropped=float(share)), SerialEngine()
    )
    assert learned.rows == N - gone


def test_rows_without_a_target_do_not_count():
    learned = dropping(frame(y=0.6))
    assert learned.rows_dropped > 0.5 * N


def test_rows_of_weight_0_do_not_count():
    rows = frame()
    rows["w"] = np.where(np.arange(N) % 4 == 0, 1.0, 0.0)
    learned = dropping(rows, weight="w")
    assert learned.rows == N // 4


def dropping(rows: pd.DataFrame, **choices: Any) -> Learned:
    source = table_source(pa.Table.from_pandas(rows), "t")
    return learn(source, LearnSpec(target="y", outer=0, **choices), SerialEngine())


def foreseen(source: Source, **choices: Any) -> Foreseen | None:
    spec = LearnSpec(target="y", **choices)
    return foresee_dropped(source, spec, features(source, spec))


def test_footers_bound_the_share_of_dropped_rows_and_some_rows_estimate_it(tmp_path):
    rows = frame(x=0.1, s=0.2, y=0.1)
    pq.write_table(pa.Table.from_pandas(rows), tmp_path / "t.parquet", row_group_size=50)
    known = rows.dropna(subset="y")
    share = 1 - len(known.dropna()) / len(known)
    found = foreseen(open_source(str(tmp_path / "t.parquet")))
    assert found is not None
    assert found.least <= share <= found.most
    assert found.sampled is not None
    assert abs(found.sampled.share - share) < 0.1
    assert [name for name, _ in found.sampled.columns] == ["s", "x"]


def test_where_footers_show_that_no_value_is_missing_nothing_is_read():
    whole = frame()[["s", "y"]]
    found = foreseen(table_source(pa.Table.from_pandas(whole), "t"))
    assert found == Foreseen(0.0, 0.0, None)
    assert (
        foreseen(table_source(pa.Table.from_pandas(frame(x=0.5)), "t"), missing="indicator") is None
    )


def test_footers_that_show_too_many_are_an_error_before_anything_is_read(tmp_path):
    pq.write_table(pa.Table.from_pandas(frame(s=0.5)), tmp_path / "t.parquet")
    source = open_source(str(tmp_path / "t.parquet"))
    with pytest.raises(DataError, match="as the footers show: 's' has no value in"):
        learn(source, LearnSpec(target="y", outer=0), SerialEngine())


def test_parts_of_a_date_cost_the_rows_of_their_column_once():
    rows = frame()
    days = pd.Series(pd.date_range("2024-01-01", periods=N))
    rows["at"] = days.mask(np.arange(N) % 10 == 0)
    [said] = warned(rows, parts=("weekday", "month"))
    assert "'at' costs 100;" in said
