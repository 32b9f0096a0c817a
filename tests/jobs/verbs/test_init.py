"""The verb init: a spec that runs as it is written."""

from __future__ import annotations

import datetime
import tomllib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dnfscale.spec.job import read_spec
from tests.jobs.running import Desk, small_table

BRIEFLY = (
    "--set",
    "cluster.kind=serial",
    "--set",
    "select.validation_splits=1",
    "--set",
    "select.max_ell=3",
)
HOSTILE = [
    "a b",
    'c"d',
    "[e]",
    "f\ng",
    "größe",
    "年齢",
    " h ",
    "and",
    "true",
    "i.j",
    "k#l",
    "'m'",
    "n\\o",
]


def test_the_starter_spec_of_a_fresh_file_runs(laid_desk):
    ended = laid_desk.here("init", "t.parquet", "--target", "y")
    assert ended.code == 0
    assert ended.out.startswith("t.toml: written")
    spec = read_spec(laid_desk.path / "t.toml")
    assert (
        spec.kind,
        spec.values["data.path"],
        spec.values["data.positive"],
        spec.values["data.drop"],
    ) == (
        "study",
        "t.parquet",
        (True,),
        (),
    )
    assert laid_desk.here("run", "t.toml", *BRIEFLY).code == 0
    assert laid_desk.result("t")["data"]["rows"] == 240


@pytest.mark.parametrize("name", HOSTILE)
def test_a_target_of_any_name_can_be_started_with(desk, name):
    table = small_table()
    table[name] = table.pop("y")
    desk.table(table)
    assert desk.here("init", "t.parquet", "--target", name, "--output", "job.toml").code == 0
    assert read_spec(desk.path / "job.toml").values["data.target"] == name
    assert desk.here("run", "job.toml", *BRIEFLY, "--set", "kind=fit").code == 0
    assert desk.model("t")["target"] == name


def test_no_spec_is_written_that_would_not_be_read(desk):
    table = small_table()
    table[""] = table.pop("y")
    desk.table(table)
    if desk.here("init", "t.parquet", "--target", "").code == 0:
        assert desk.here("validate", "t.toml").code == 0


@pytest.mark.parametrize(
    "labels", [HOSTILE[:2], ["x\n[select]\nmax_ell = 99", "# y"], ["", " "], ["年", "月"]]
)
def test_labels_of_any_spelling_stay_inside_their_line(desk, labels):
    desk.table({**small_table(), "y": [labels[int(value)] for value in small_table()["y"]]})
    assert desk.here("init", "t.parquet", "--target", "y").code == 0
    spec = read_spec(desk.path / "t.toml")
    assert spec.values["data.positive"] == (max(labels),)
    assert spec.values["select.max_ell"] == 10


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ([0, 1], (1,)),
        ([-1.5, 2.5], (2.5,)),
        ([False, True], (True,)),
        ([2**60, 2**60 + 1], (2**60 + 1,)),
    ],
)
def test_the_larger_label_is_taken_as_positive_in_its_own_type(desk, labels, positive):
    desk.table({**small_table(), "y": [labels[int(value)] for value in small_table()["y"]]})
    assert desk.here("init", "t.parquet", "--target", "y").code == 0
    found = read_spec(desk.path / "t.toml").values["data.positive"]
    assert found == positive
    assert type(found[0]) is type(positive[0])
    assert desk.here("run", "t.toml", *BRIEFLY).code == 0


def test_columns_that_cannot_be_used_are_dropped_by_name(desk):
    days = [b"2024-01-01"] * 240
    desk.table({**small_table(), "day": days, "list": [[1, 2]] * 240})
    assert desk.here("init", "t.parquet", "--target", "y").code == 0
    assert read_spec(desk.path / "t.toml").values["data.drop"] == ("day", "list")
    assert desk.here("run", "t.toml", *BRIEFLY).code == 0


def test_columns_without_any_value_are_dropped_so_that_rows_are_left(desk):
    table = pa.table(small_table())
    table = table.append_column("nothing", pa.nulls(table.num_rows))
    table = table.append_column("unknown", pa.nulls(table.num_rows, pa.float64()))
    desk.table(table)
    assert desk.here("init", "t.parquet", "--target", "y").code == 0
    assert read_spec(desk.path / "t.toml").values["data.drop"] == ("nothing", "unknown")
    assert desk.here("run", "t.toml", *BRIEFLY, "--set", "kind=fit").code == 0


def test_a_spec_written_elsewhere_still_finds_its_data(laid_desk):
    (laid_desk.path / "specs").mkdir()
    assert (
        laid_desk.here("init", "t.parquet", "--target", "y", "--output", "specs/mine.toml").code
        == 0
    )
    assert laid_desk.here("validate", "specs/mine.toml").code == 0


def test_data_in_a_folder_below_are_named_relative_to_the_spec(desk):
    desk.table(small_table(n_rows=100), "sub/a.parquet")
    desk.table(small_table(n_rows=50, seed=1), "sub/b.parquet")
    assert desk.here("init", "sub", "--target", "y").code == 0
    assert tomllib.loads((desk.path / "sub.toml").read_text())["data"]["path"] == "sub"
    assert "150 rows" in desk.here("validate", "sub.toml").out


def test_an_existing_spec_is_not_overwritten_unless_forced(laid_desk):
    (laid_desk.path / "t.toml").write_text("mine")
    ended = laid_desk.here("init", "t.parquet", "--target", "y")
    assert ended.code == 2
    assert "t.toml is already there; choose another --output, or pass --force" in ended.message
    assert (laid_desk.path / "t.toml").read_text() == "mine"
    assert laid_desk.here("init", "t.parquet", "--target", "y", "--force").code == 0
    assert (laid_desk.path / "t.toml").read_text() != "mine"


def test_a_target_that_is_no_column_is_told_with_the_columns(laid_desk):
    ended = laid_desk.here("init", "t.parquet", "--target", "z")
    assert ended.code == 2
    assert (
        "--target must name a column of t.parquet, got 'z'; it has 'x', 'n', 's', 'b', 'y'"
        in ended.message
    )


def test_a_target_of_many_values_is_refused(laid_desk):
    ended = laid_desk.here("init", "t.parquet", "--target", "x")
    assert ended.code == 2
    assert "the target must be a column of few values, but it has more than 50" in ended.message


def test_data_that_are_not_there_are_told(desk):
    ended = desk.here("init", "nowhere.parquet", "--target", "y")
    assert ended.code == 3
    assert "nothing at this path" in ended.message


def test_a_spec_that_cannot_be_written_is_told(laid_desk):
    ended = laid_desk.here("init", "t.parquet", "--target", "y", "--output", "t.parquet/spec.toml")
    assert ended.code == 2
    assert "cannot be written" in ended.message


def test_a_label_that_is_rare_and_late_in_a_sorted_file_is_seen(desk):
    n_rows = 1500
    y = np.zeros(n_rows, dtype=int)
    y[-3:] = 1
    desk.table({"x": np.arange(n_rows), "y": y}, row_group_size=100)
    assert desk.here("init", "t.parquet", "--target", "y").code == 0
    assert read_spec(desk.path / "t.toml").values["data.positive"] == (1,)


@pytest.mark.parametrize(
    "target",
    [
        pa.array([datetime.datetime(2024, 1, 1 + i % 2) for i in range(240)]),
        pa.array([[i % 2] for i in range(240)]),
        pa.array([{"a": i % 2} for i in range(240)]),
        pa.array([b"a" if i % 2 else b"b" for i in range(240)]),
    ],
    ids=["timestamp", "list", "struct", "binary"],
)
def test_a_target_of_a_type_that_cannot_be_a_label_is_refused(desk, target):
    desk.table({**small_table(), "y": target})
    ended = desk.here("init", "t.parquet", "--target", "y")
    assert ended.code in (2, 3)
    assert "'y'" in ended.message
    assert not (desk.path / "t.toml").exists()


def test_a_target_without_any_value_is_not_given_a_positive_label(desk):
    desk.table({**small_table(), "y": pa.nulls(240, pa.string())})
    ended = desk.here("init", "t.parquet", "--target", "y")
    if ended.code == 0:
        assert read_spec(desk.path / "t.toml").values["data.positive"] is None
    else:
        assert ended.code in (2, 3)


def test_whole_numbers_of_two_values_are_listed_as_such(desk):
    n = 120
    columns = {
        "mostly": pa.array([1] * 90 + [0] * 30),
        "holed": pa.array([None, 3, 7] * 40),
        "three": pa.array([1, 2, 3] * 40),
        "one": pa.array([1] * n),
        "half": pa.array([0.0, 1.0] * 60),
        "y": pa.array([True, True, False, True, False] * 24),
    }
    desk.table(pa.table(columns))
    assert desk.here("init", "t.parquet", "--target", "y").code == 0
    written = tomllib.loads((desk.path / "t.toml").read_text(encoding="utf-8"))
    assert written["data"]["boolean"] == ["mostly", "holed", "half"]
    assert written["data"]["drop"] == ["one"]
    ended = desk.here("run", "t.toml", "--set", "cluster.kind=serial", "--set", 'profile="paper"')
    assert ended.code == 0, ended.err


def test_columns_without_any_value_are_not_counted_as_found(desk):
    desk.table(pa.table({"x": [1.5, 2.5], "void": pa.nulls(2), "y": [True, False]}))
    assert desk.here("init", "t.parquet", "--target", "y").code == 0
    text = (desk.path / "t.toml").read_text(encoding="utf-8")
    assert "2 rows; columns: 1 number, 0 category, 0 boolean" in text


N_ROWS = 300
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=N_ROWS).round(2)
S = np.array(["red", "green", "blue"])[RANDOM.integers(0, 3, N_ROWS)]
Y = ((X > 0) & (S == "red")) ^ (RANDOM.random(N_ROWS) < 0.05)
GAPS = RANDOM.random(N_ROWS) < 0.4
STAGES = np.where(Y, "late", np.where(X < -0.5, "early", "middle"))
KINDS = {
    "an identifier": ({"visit_id": np.arange(N_ROWS) + 1000}, ["visit_id"], "identifier"),
    "gaps": ({"bmi": pa.array(X * 3, mask=GAPS)}, [], "bmi has no value in"),
    "a constant": ({"site": ["A"] * N_ROWS}, ["site"], "all 300 rows have 'A'"),
    "a leak": ({"discharged": Y}, ["discharged"], "leak: one condition on it is right on 100 %"),
    "a copy": ({"colour": S}, ["colour"], "copy: its values go one to one with those of 's'"),
    "dates in text": (
        {"at": [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N_ROWS)]},
        ["at"],
        "text_dates: 100 % of its texts are dates",
    ),
    "numbers in text": (
        {"price": [f"{i % 97},50" for i in range(N_ROWS)]},
        ["price"],
        "text_numbers",
    ),
    "codes": ({"ward_code": RANDOM.integers(1, 6, N_ROWS)}, [], "codes: 5 whole numbers"),
}


def started(desk: Desk, more: dict[str, Any], *options: str, y: Any = Y) -> tuple[Any, str]:
    """Return the spec that init writes, and what it says."""
    desk.table(pa.table({"x": X, "s": S.tolist(), **more, "y": y}))
    ended = desk.here("init", "t.parquet", "--target", "y", *options)
    assert ended.code == 0, ended.err
    return read_spec(desk.path / "t.toml"), ended.out


@pytest.mark.parametrize("case", KINDS)
def test_the_spec_has_what_the_check_found_with_its_reason(desk, case):
    more, dropped, reason = KINDS[case]
    spec, said = started(desk, more)
    assert list(spec.values["data.drop"]) == dropped
    assert spec.values["data.missing"] == "indicator"
    text = (desk.path / "t.toml").read_text(encoding="utf-8")
    assert reason in text
    assert reason in said
    assert list(spec.values["data.categorical"]) == (["ward_code"] if case == "codes" else [])


def test_a_spec_of_all_at_once_runs_without_an_edit(desk):
    more: dict[str, Any] = {}
    for case in ("an identifier", "gaps", "a constant", "a leak"):
        more |= KINDS[case][0]
    spec, _ = started(desk, more)
    assert set(spec.values["data.drop"]) == {"visit_id", "site", "discharged"}
    ended = desk.here("run", "t.toml", "--set", "cluster.kind=serial", "--set", "kind=fit")
    assert ended.code == 0, ended.err
    data = desk.result("t")["data"]
    assert (data["rows"], data["rows_dropped"], data["columns"]) == (N_ROWS, 0, 3)


def test_of_three_labels_each_gets_a_formula_and_they_are_shown_with_their_rows(desk):
    spec, said = started(desk, {}, y=STAGES)
    assert (spec.values["data.classes"], spec.values["data.positive"]) == ("all", None)
    rows = {label: int((label == STAGES).sum()) for label in ("early", "late", "middle")}
    for label, count in rows.items():
        assert f"'{label}' in {count} rows ({100 * count / N_ROWS:.1f} %)" in said
    ended = desk.here("run", "t.toml", *BRIEFLY, "--set", "kind=fit")
    assert ended.code == 0, ended.err
    assert len(desk.model("t")["classes"]) == 3


def test_labels_that_differ_in_case_or_spaces_alone_are_one(desk):
    labels = np.where(Y, "Yes", "No").astype(object)
    labels[::7] = [f"{label.lower()} " for label in labels[::7]]
    spec, said = started(desk, {}, y=labels.tolist())
    assert spec.values["data.positive"] == ("Yes", "yes ")
    assert spec.values["data.classes"] == "two"
    assert "differ in case or spaces alone" in said


def test_a_label_can_be_named_as_positive(desk):
    spec, said = started(desk, {}, "--positive", "late", y=STAGES)
    assert (spec.values["data.classes"], spec.values["data.positive"]) == ("two", ("late",))
    assert "positive     'late'" in said


def test_a_positive_label_that_never_occurs_is_refused(desk):
    desk.table({"x": X, "y": STAGES.tolist()})
    ended = desk.here("init", "t.parquet", "--target", "y", "--positive", "latest")
    assert ended.code == 2
    assert (
        "--positive must be a label of 'y', got 'latest'; it has 'early', 'late'" in ended.message
    )
    every = [part for label in ("early", "late", "middle") for part in ("--positive", label)]
    ended = desk.here("init", "t.parquet", "--target", "y", *every)
    assert "--positive must leave some label" in ended.message


def test_rows_of_one_subject_are_kept_together(desk):
    patients = RANDOM.integers(0, 60, N_ROWS)
    spec, said = started(desk, {"patient": patients})
    assert spec.values["folds.group"] == "patient"
    assert "group        patient: " in said
    assert desk.here("run", "t.toml", *BRIEFLY).code == 0
    assert not [a for a in desk.model("t")["attributes"] if a["column"] == "patient"]


def test_what_a_spec_cannot_mend_is_told(desk):
    coded = np.where(RANDOM.random(N_ROWS) < 0.1, -9, RANDOM.integers(20, 90, N_ROWS))
    spec, said = started(desk, {"age": coded})
    assert spec.values["data.drop"] == ()
    assert "look at      missing_codes: age: -9 in" in said
    assert "# look at: missing_codes: age: -9 in" in (desk.path / "t.toml").read_text("utf-8")


@pytest.mark.parametrize("name", HOSTILE)
def test_reasons_stay_inside_their_comments_whatever_columns_are_called(desk, name):
    spec, _ = started(desk, {name: S, f"{name} 2": ["a\nb"] * N_ROWS})
    assert set(spec.values["data.drop"]) == {name, f"{name} 2"}


def test_where_one_class_is_rare_formulas_are_not_learned_for_accuracy(desk):
    rare = np.arange(N_ROWS) % 30 == 0
    spec, said = started(desk, {}, y=rare)
    assert spec.values["formula.objective"] == "balanced_accuracy"
    reason = "rare_class: 10 rows (3.3 %) are positive; by accuracy, the same answer for all"
    assert f"objective    balanced_accuracy: {reason}" in said
    assert f"# objective: {reason}" in (desk.path / "t.toml").read_text("utf-8")
    assert "look at      rare_class" not in said
    assert desk.here("validate", "t.toml").code == 0
    (desk.path / "t.toml").unlink()
    spec, said = started(desk, {}, y=np.arange(N_ROWS) % 15 == 0)
    assert "20 rows (6.7 %) are positive" in said
    (desk.path / "t.toml").unlink()
    spec, said = started(desk, {}, y=np.arange(N_ROWS) % 10 == 0)
    assert spec.values["formula.objective"] == "accuracy"


def test_a_column_with_a_value_for_one_answer_only_is_not_learned_from(desk):
    spec, said = started(desk, {"discharged_to": pa.array(S.tolist(), mask=~Y)})
    assert spec.values["data.drop"] == ("discharged_to",)
    assert "leak: whether it has a value is right on 100 %" in said


def test_dates_are_learned_from_and_told(desk):
    days = pa.array([datetime.date(2024, 1, 1 + i % 28) for i in range(N_ROWS)])
    spec, said = started(desk, {"admitted": days})
    assert spec.values["data.drop"] == ()
    assert "look at      dates: admitted: " in said
