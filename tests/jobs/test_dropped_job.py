"""Jobs whose rows would be dropped: told before and after, and refused where they are too many."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

from dnfscale import study
from dnfscale.errors import DataError
from tests.jobs.running import small_table

BRIEFLY = ("--set", "cluster.kind=serial", "--set", "select.max_ell=3", "--set", "kind=fit")


def gappy(n_rows: int = 300, share: float = 0.4) -> pa.Table:
    table = pa.table(small_table(n_rows))
    gone = np.random.default_rng(2).random(n_rows) < share
    return table.set_column(0, "x", pa.array(table["x"].to_numpy(), mask=gone))


def test_a_run_that_would_drop_too_many_rows_ends_with_the_line_to_add(desk):
    desk.table(gappy())
    lost = gappy()["x"].null_count
    ended = desk.here("run", desk.spec(profile="paper", data={"missing": "drop"}), *BRIEFLY)
    assert ended.code == 3
    assert "expected at most 20 % of the rows to be dropped for missing values" in ended.message
    assert f"'x' has no value in {lost} of 300 rows" in ended.message
    allowed = re.search(r"data\.max_dropped = (0\.\d+)", ended.message)
    assert allowed
    desk.spec(profile="paper", data={"missing": "drop", "max_dropped": float(allowed[1])})
    ended = desk.here("run", "job.toml", *BRIEFLY)
    assert ended.code == 0, ended.err
    assert "warning: " in ended.err
    assert f"{lost} of 300 rows" in ended.err
    assert f"of 300 rows in the files, {300 - lost} were used, {lost} dropped" in ended.out
    data = desk.result()["data"]
    assert data["gaps"] == [{"column": "x", "rows": lost}]
    page = (desk.folder() / "report.html").read_text(encoding="utf-8")
    assert f"Of 300 rows in the files, {300 - lost} were used: {lost} dropped" in page


def test_validate_says_how_many_rows_will_be_dropped_and_reads_only_some(desk):
    desk.table(gappy(share=0.1))
    spec = desk.spec(data={"missing": "drop"})
    ended = desk.here("validate", spec)
    assert ended.code == 0
    assert re.search(r"dropped for missing values: [\d.]+ % to 100 % of the rows", ended.out)
    assert "'x' costs" in ended.out
    assert "exit 3" not in ended.out
    ended = desk.here("validate", spec, "--set", 'data.missing="indicator"')
    assert "dropped" not in ended.out
    ended = desk.here("validate", spec, "--set", "data.max_dropped=0.05")
    assert ended.code == 3


@pytest.mark.slow
def test_a_python_study_warns_of_dropped_rows_and_refuses_too_many():
    with pytest.raises(DataError, match="max_dropped"):
        study(gappy(), "y", missing="drop", outer=2, max_ell=2)
    with pytest.warns(UserWarning, match="rows .* are dropped for missing values: 'x' costs"):
        study(gappy(share=0.1), "y", missing="drop", outer=2, max_ell=2)
