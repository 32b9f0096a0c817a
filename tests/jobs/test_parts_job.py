"""Parts of dates and times in a job, from the outside: learned, told, predicted, explained,
refused.
"""

from __future__ import annotations

import json
import tomllib
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale import IdealClassifier
from dnfscale.spec.job import read_spec
from tests.jobs.running import Desk, essence

ZONE = "Europe/Helsinki"
N_ROWS = 600


def visits() -> pa.Table:
    """Labels that are true on Mondays and in the evening, on the clocks of Helsinki; some times are
    missing.
    """
    random = np.random.default_rng(3)
    seconds = random.integers(1_600_000_000, 1_760_000_000, N_ROWS)
    local = pd.Series(pd.to_datetime(seconds, unit="s", utc=True)).dt.tz_convert(ZONE).dt
    y = (local.day_of_week == 0) | (local.hour > 17)
    when = pa.array(seconds * 10**6, mask=np.arange(N_ROWS) % 29 == 0).cast(
        pa.timestamp("us", ZONE)
    )
    return pa.table({"when": when, "x": random.normal(size=N_ROWS), "y": y.to_numpy()})


@pytest.fixture
def visited(desk: Desk) -> Desk:
    desk.table(visits(), row_group_size=100)
    return desk


def run(desk: Desk, parts: Any, missing: str = "drop") -> dict[str, Any]:
    tables: dict[str, Any] = {"booleanize": {"cuts": 9}}
    if isinstance(parts, dict):
        tables["booleanize.parts"] = parts
    else:
        tables["booleanize"]["parts"] = parts
    ended = desk.run(
        kind="fit", data={"missing": missing}, formula={"unseen": "dont_care"}, **tables
    )
    assert ended.code == 0, ended.err
    return desk.model()


@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_a_job_learns_weekday_and_hour_and_says_so(visited: Desk, missing: str) -> None:
    model = run(visited, ["weekday", "hour", "month"], missing)
    file = visited.folder() / "model.json"
    names = [attribute["name"] for attribute in model["attributes"]]
    assert {"when_weekday_Monday", "when_hour_above_17"} <= set(names)
    assert sum("missing" in name for name in names) <= 1
    told = visited.here("export", file, "--to", "text").out
    assert f"weekday of when ({ZONE}) = Monday" in told
    assert f"hour of when ({ZONE}) > 17" in told
    # Lines of the page may break after a slash.
    page = (visited.folder() / "report.html").read_text(encoding="utf-8").replace("<wbr>", "")
    assert f"hour of when ({ZONE})" in page
    row = visited.here("explain", file, "t.parquet", "--row", "1")
    assert row.code == 0, row.err
    assert f" of when ({ZONE}) " in row.out
    values = json.loads(visited.here("explain", file, "t.parquet", "--row", "1", "--json").out)[
        "values"
    ]
    when = visits().column("when")[1].as_py()
    assert values["hour of when"] == when.hour
    assert values["weekday of when"] == f"{when:%A}"


def test_a_date_is_changed_only_to_what_it_was_in_some_row_together_with_its_parts(
    desk: Desk,
) -> None:
    random = np.random.default_rng(1)
    day, z = random.integers(0, 59, 400), random.random(400) < 0.5
    d = np.datetime64("2020-03-01") + day
    desk.table({"d": d, "z": z, "y": np.where(z, day > 30, day > 14)})
    tables: dict[str, Any] = {
        "booleanize": {"parts": ["month"]},
        "booleanize.at": {"d": ["2020-03-15"]},
    }
    ended = desk.run(
        kind="fit", select={"tolerance": 0.0}, formula={"unseen": "dont_care"}, **tables
    )
    assert ended.code == 0, ended.err
    file = desk.folder() / "model.json"
    # The month alone would do, but no row of April was before the cut.
    told = desk.here(
        "explain", file, "t.parquet", "--row", str(np.flatnonzero((day == 14) & z)[0])
    ).out
    assert (
        "The smallest change that turns the answer to yes:\n"
        "  month of d = March, as it is\n"
        "  d > 2020-03-15, instead of d = 2020-03-15\n"
        "  not z, instead of z\n"
        "It would then be like\n"
        "  59 of the 400 rows learned from; 59 of them (100.0 %) had y = true\n"
    ) in told
    types = json.loads(desk.here("explain", file, "t.parquet", "--json").out)["types"]
    assert len(types) == 6
    assert all(record["flip"]["n"] > 0 for record in types)
    whole = json.loads(desk.here("explain", file, "--json").out)
    assert (whole["possible_types"], whole["unseen_types"]) == (6, 0)


def test_predictions_do_not_depend_on_the_unit_and_the_zone_of_a_file(visited: Desk) -> None:
    run(visited, {"when": ["weekday", "hour"]})
    table = visits()
    y = [
        bool(label) and when is not None
        for label, when in zip(table["y"].to_pylist(), table["when"], strict=True)
    ]
    for number, kind in enumerate(
        [pa.timestamp("us", ZONE), pa.timestamp("ns", "UTC"), pa.timestamp("s", "+05:30")]
    ):
        visited.table(table.set_column(0, "when", table["when"].cast(kind)), name="other.parquet")
        ended = visited.here(
            "predict",
            visited.folder() / "model.json",
            "other.parquet",
            "--output",
            f"answers{number}",
        )
        assert ended.code == 0, ended.err
        answers = pq.read_table(visited.path / f"answers{number}").column("prediction").to_pylist()
        known = [when.is_valid for when in table["when"]]
        assert [a for a, there in zip(answers, known, strict=True) if there] == [
            label for label, there in zip(y, known, strict=True) if there
        ]


def test_a_column_that_is_dropped_gives_the_parts_that_are_asked_of_it(visited: Desk) -> None:
    ended = visited.run(
        kind="fit", data={"drop": ["when"]}, **{"booleanize.parts": {"when": ["hour"]}}
    )
    assert ended.code == 0, ended.err
    assert {(a["column"], a.get("part")) for a in visited.model()["attributes"]} <= {
        ("when", "hour"),
        ("x", None),
    }
    assert json.loads((visited.folder() / "result.json").read_text())["data"]["columns"] == 2


def test_the_best_profile_asks_for_parts_and_the_paper_does_not(visited: Desk) -> None:
    spec = read_spec(visited.spec(profile="best"))
    assert spec.values["booleanize.parts"] == ("weekday", "hour", "month")
    assert tomllib.loads(spec.resolved())["booleanize"]["parts"] == ["weekday", "hour", "month"]
    assert read_spec(visited.spec()).values["booleanize.parts"] == ()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ('"weekday"', "booleanize.parts must be a list out of 'weekday', 'hour', 'month'"),
        ('["minute"]', "booleanize.parts must be a list out of 'weekday', 'hour', 'month'"),
        ('["hour", "hour"]', "booleanize.parts must be a list out of"),
        ("{when = []}", "booleanize.parts must be a list out of"),
        ('{x = ["hour"]}', "but 'x' has none, not hour; "),
        ('{nowhere = ["hour"]}', "but 'nowhere' has none, not hour; "),
        ('{y = ["hour"]}', "but 'y' has none, not hour; "),
    ],
)
def test_parts_that_there_are_not_are_told(visited: Desk, parts: str, message: str) -> None:
    spec = visited.spec()
    spec.write_text(spec.read_text() + f"\n[booleanize]\nparts = {parts}\n")
    ended = visited.here("validate", spec)
    assert ended.code == 2
    assert message in ended.message


def test_the_estimator_takes_parts_of_dates_of_pandas() -> None:
    table = visits()
    frame = table.select(["when", "x"]).to_pandas()
    fitted = IdealClassifier(
        profile="paper", parts={"when": ["weekday", "hour"]}, cuts=9, missing="indicator"
    ).fit(frame, table["y"])
    assert {"when_weekday_Monday", "when_hour_above_17"} <= set(fitted.get_feature_names_out())
    assert fitted.n_features_in_ == 2
    there = frame["when"].notna()
    assert fitted.score(frame[there], table["y"].to_numpy()[there]) == 1.0
    elsewhere = frame.assign(when=frame["when"].dt.tz_convert("UTC").dt.as_unit("ns"))
    assert fitted.predict(elsewhere).tolist() == fitted.predict(frame).tolist()


def holds(attribute: dict[str, Any], frame: pd.DataFrame) -> Any:
    """The judge: where an attribute of a model file holds, by pandas."""
    column, value = frame[attribute["column"]], attribute["value"]
    match attribute.get("part"):
        case "weekday":
            return column.dt.day_name() == value
        case "month":
            return column.dt.month_name() == value
        case "hour":
            return column.dt.hour > value
        case _:
            if "measure" in attribute:
                return column > pd.Timestamp(value)
            return column > value


def test_counts_are_those_that_pandas_finds(visited: Desk) -> None:
    model = run(visited, ["weekday", "hour", "month"])
    frame = visits().to_pandas().dropna()
    types = np.column_stack([holds(attribute, frame) for attribute in model["attributes"]])
    for counted in model["counts"]:
        alike = (types == np.array(counted["type"])).all(axis=1)
        assert (counted["n"], counted["c"]) == (alike.sum(), (alike & frame["y"]).sum())
    assert sum(counted["n"] for counted in model["counts"]) == len(frame)


def test_files_and_row_groups_change_nothing(desk: Desk) -> None:
    table, found = visits(), []
    for name, cuts in (("one", [0, N_ROWS]), ("odd", [0, 1, 77, 78, 301, N_ROWS])):
        for number, (start, stop) in enumerate(pairwise(cuts)):
            desk.table(table[start:stop], name=f"{name}/{number}.parquet", row_group_size=97)
        spec = desk.spec(
            file=f"{name}.toml",
            name=name,
            kind="study",
            profile="best",
            data={"path": name, "missing": "indicator"},
            folds={"outer": 2},
            select={"max_ell": 3},
        )
        assert desk.here("run", spec, "--set", "name=job", "--output", f"{name}-runs").code == 0
        folder = desk.path / f"{name}-runs" / "job"
        found.append((essence(folder / "result.json"), (folder / "model.json").read_bytes()))
    assert found[0] == found[1]
    assert b'"part": "weekday"' in found[0][1]
