"""Jobs whose rows have weights: what a weight means, in every method, and what cannot be one."""

from __future__ import annotations

import csv
import decimal
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dnfscale import IdealClassifier
from dnfscale.errors import DataError, SpecError
from tests.jobs.running import Desk, read_json, small_table

METHODS: dict[str, Any] = {
    "folds": {"outer": 3},
    "baselines.random_forest": {"trials": 1},
    "baselines.decision_tree": {},
    "baselines.formula_size": {"max_size": 3},
}
PROFILES = ("paper", "best")


def weights(n_rows: int = 240, *, heaviest: int = 4) -> np.ndarray:
    return np.random.default_rng(11).integers(0, heaviest + 1, n_rows)


def study(
    desk: Desk, columns: dict[str, Any], *, name: str = "job", **tables: Any
) -> dict[str, Any]:
    """Run a study whose rows have the weights in w, and return its result."""
    desk.table(columns)
    tables = {"folds": {"outer": 3}, **tables}
    tables["data"] = {"weight": "w", **tables.get("data", {})}
    ended = desk.run(name=name, kind="study", **tables)
    assert ended.code == 0, ended.err
    return desk.result(name)


def essence(result: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in result.items() if key not in ("name", "timing", "environment")
    }


def found(result: dict[str, Any]) -> list[Any]:
    """What a result says of every method, whatever weights are multiplied by."""
    ideal = [[f["formula"], f["accuracy"], f["sweep"]] for f in result["methods"]["ideal"]["folds"]]
    return [
        *ideal,
        *([m["accuracy_mean"], m["accuracy_std"]] for m in result["methods"].values()),
        result["comparisons"],
    ]


def supports(result: dict[str, Any]) -> list[list[tuple[float, float]]]:
    """The weights behind the lines of each fold's formula."""
    unit = result["data"]["weight"]["unit"]
    folds = result["methods"]["ideal"]["folds"]
    return [
        [(line["n"] / unit, line["c"] / unit) for line in formula["lines"]]
        for fold in folds
        for formula in fold["formulas"]
    ]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_row_of_weight_zero_is_as_if_it_were_not_there(desk, profile):
    pytest.importorskip(
        "numba", reason="numba is not installed: pip install 'dnfscale[formula-size]'"
    )
    columns = {**small_table(), "w": weights()}
    columns["y"] = np.where(columns["w"] > 0, columns["y"], ~columns["y"])
    there = columns["w"] > 0
    with_them = essence(study(desk, columns, name="with", profile=profile, **METHODS))
    without = {name: np.asarray(values)[there] for name, values in columns.items()}
    without_them = essence(study(desk, without, name="without", profile=profile, **METHODS))
    data = with_them.pop("data"), without_them.pop("data")
    assert with_them == without_them
    assert data[0]["rows"] == data[1]["rows"] == int(there.sum())
    assert data[0]["rows_dropped"] == data[0]["weight"]["rows_without"] == int((~there).sum())
    assert data[0]["weight"]["total"] == data[1]["weight"]["total"] == int(columns["w"].sum())
    assert data[0]["weight"]["positive"] == int(columns["w"][columns["y"]].sum())


def test_rows_that_all_weigh_the_same_give_what_plain_rows_give(desk):
    columns = {**small_table(), "w": np.full(240, 3)}
    weighed = study(desk, columns, name="weighed")["methods"]
    assert desk.run(name="plain", kind="study", folds={"outer": 3}, data={"drop": ["w"]}).code == 0
    plain = desk.result("plain")["methods"]
    for one, other in zip(weighed["ideal"]["folds"], plain["ideal"]["folds"], strict=True):
        # What a row counts is how many rows it stands for: more of them are smoothed less.
        smoothed = {"brier", "log_loss"}
        for fold in (one, other):
            fold["metrics"] = {k: v for k, v in fold["metrics"].items() if k not in smoothed}
        told = set(one) - {"correct", "tested", "confusion", "formulas"}
        assert {key: one[key] for key in told} == {key: other[key] for key in told}
        assert (one["correct"], one["tested"]) == (3 * other["correct"], 3 * other["tested"])
        assert one["confusion"] == {key: 3 * n for key, n in other["confusion"].items()}
        [[ours], [theirs]] = one["formulas"], other["formulas"]
        assert [(3 * line["n"], 3 * line["c"]) for line in theirs["lines"]] == [
            (line["n"], line["c"]) for line in ours["lines"]
        ]
    for name in ("majority", "one_rule"):
        accuracies = [
            [fold["accuracy"] for fold in each[name]["folds"]] for each in (weighed, plain)
        ]
        assert accuracies[0] == accuracies[1]


def as_halves(whole: np.ndarray) -> Any:
    return whole / 2


def as_floats(whole: np.ndarray) -> Any:
    return whole.astype(np.float32)


def as_decimals(whole: np.ndarray) -> Any:
    return pa.array([decimal.Decimal(int(w)) / 4 for w in whole], pa.decimal128(9, 2))


@pytest.mark.parametrize("written", [as_floats, as_decimals])
def test_how_whole_weights_are_stored_changes_nothing_but_their_unit(
    desk, written: Callable[[np.ndarray], Any]
):
    columns, whole = small_table(), 4 * weights()
    one = study(desk, {**columns, "w": whole}, name="whole")
    other = study(desk, {**columns, "w": written(whole)}, name="written")
    assert found(one) == found(other)
    times = 4 if written is as_decimals else 1
    assert one["data"]["weight"]["total"] == times * other["data"]["weight"]["total"]
    first, second = (supports(result) for result in (one, other))
    assert first == [[(times * n, times * c) for n, c in fold] for fold in second]


def test_what_weights_are_multiplied_by_does_not_matter(desk):
    columns, whole = small_table(), weights()
    one = study(desk, {**columns, "w": whole}, name="whole")
    other = study(desk, {**columns, "w": as_halves(whole)}, name="halves")
    assert found(one) == found(other)
    assert desk.model("halves")["unit"] > 1
    assert other["data"]["weight"]["total"] == whole.sum() / 2


def test_checklists_fit_weights_in_small_units_where_misses_cost_much(desk):
    random = np.random.default_rng(0)
    signs = random.random((5, 600)) < 0.5
    rare = (signs.sum(axis=0) > 0) & (random.random(600) < 0.02)
    columns = {f"b{i}": sign for i, sign in enumerate(signs)}
    columns |= {"y": (signs.sum(axis=0) >= 4) | rare, "w": random.integers(1, 4, 600)}
    method = {
        "profile": "best",
        "folds": {"outer": 2},
        "formula": {"threshold": 0.002, "forms": ["checklist"]},
        "select": {"search": ["attributes"], "validation_splits": 1},
    }
    # A weight that is no whole number, by next to nothing, makes the units of all small.
    nearly = columns["w"] + np.eye(1, 600)[0] * 1e-6
    one = study(desk, columns, name="whole", **method)
    other = study(desk, {**columns, "w": nearly}, name="nearly", **method)
    assert other["data"]["weight"]["unit"] > 1 << 32
    formulas = [
        [fold["formulas"][0]["formula"] for fold in each["methods"]["ideal"]["folds"]]
        for each in (one, other)
    ]
    assert formulas[0] == formulas[1]


@pytest.mark.parametrize("row_group_size", [7, 240])
def test_weighted_results_do_not_depend_on_partitions(desk, row_group_size):
    columns = {**small_table(), "w": np.random.default_rng(3).gamma(2.0, size=240)}
    whole = essence(study(desk, columns, name="whole", profile="best"))
    desk.table(columns, row_group_size=row_group_size)
    assert (
        desk.run(
            name="parts", kind="study", profile="best", folds={"outer": 3}, data={"weight": "w"}
        ).code
        == 0
    )
    assert essence(desk.result("parts")) == whole


def test_labels_of_any_number_are_weighed(desk):
    columns = {**small_table(), "w": weights() / 3}
    columns["y"] = np.where(
        columns["y"], "yes", np.where(np.asarray(columns["n"]) > 30, "maybe", "no")
    )
    result = study(desk, columns, data={"classes": "all"})
    by_label = {entry["label"]: entry["weight"] for entry in result["data"]["classes"]}
    expected = {
        label: columns["w"][columns["y"] == label].sum() for label in ("maybe", "no", "yes")
    }
    assert by_label == pytest.approx(expected)
    first = result["methods"]["ideal"]["folds"][0]
    tested = np.array(first["confusion_matrix"])
    assert first["accuracy"] == pytest.approx(tested.trace() / tested.sum())


def test_a_weighted_run_tells_what_it_counts_by_and_certifies_nothing(desk):
    columns = {**small_table(), "w": weights() / 2}
    result = study(desk, columns)
    folds = result["methods"]["ideal"]["folds"]
    assert not any("certificate" in formula for fold in folds for formula in fold["formulas"])
    assert desk.model()["certificate"] == {}
    summary = " ".join(desk.here("run", desk.path / "job.toml", "--resume").out.split())
    without = int((columns["w"] == 0).sum())
    assert (
        f"of 240 rows in the files, {240 - without} were used, {without} of weight 0 left out, "
        f"6 attributes, counted by w, {columns['w'].sum():,.1f} in all" in summary
    )
    page = (desk.folder() / "report.html").read_text(encoding="utf-8")
    assert "rows are counted by their weight in" in page
    assert "How far do the rows support it?" not in page
    told = desk.here("explain", desk.folder() / "model.json").out
    assert "Rows are counted by their weight." in told
    assert desk.here("bounds", "--model", desk.folder() / "model.json").code == 3


def test_what_people_read_of_weighted_rows_is_weights_not_units(desk):
    columns = {**small_table(), "w": weights() / 7, "part": np.arange(240) % 3}
    study(desk, columns, data={"drop": ["part"]}, report={"slices": ["part"]})
    with (desk.folder() / "tables" / "slices.csv").open(encoding="utf-8", newline="") as file:
        told = {row["value"]: float(row["weight"]) for row in csv.DictReader(file)}
    for part in range(3):
        assert told[str(part)] == pytest.approx(columns["w"][part::3].sum())
    page = (desk.folder() / "report.html").read_text(encoding="utf-8")
    card = desk.here("card", desk.folder()).out
    for text in (re.sub("<(style|script).*?</\\1>", "", page, flags=re.DOTALL), card):
        assert "answered yes" in text.lower()
        assert not re.search(r"\d(,\d{3}){3}", text)


def refused(weight: Any, name: str = "w") -> dict[str, Any]:
    return {**small_table(), name: weight}


REFUSED = {
    "not there": (small_table(), {}, 2, "data.weight must name columns of"),
    "words": (
        refused(["1"] * 240),
        {},
        3,
        "data.weight must name a column of numbers, but 'w' has the type string",
    ),
    "dates": (
        refused(pa.array([0] * 240, pa.date32())),
        {},
        3,
        "must name a column of numbers, but 'w' has the type date",
    ),
    "negative": (
        refused([-1, *[1] * 239]),
        {},
        3,
        "expected weights of at least 0 and less than .*, got -1",
    ),
    "infinite": (
        refused([np.inf, *[1.5] * 239]),
        {},
        3,
        "expected weights of at least 0 and less than .*, got inf",
    ),
    "missing": (
        refused([None, *[1] * 239]),
        {},
        3,
        "expected a weight for every row, got rows without one",
    ),
    "nan": (
        refused([np.nan, *[1.5] * 239]),
        {},
        3,
        "expected a weight for every row, got rows without one",
    ),
    "all zero": (
        refused([0] * 240),
        {},
        3,
        "expected some row to weigh more than 0, but 'w' is 0 in every row",
    ),
    "all 0.0": (
        refused([0.0] * 240),
        {},
        3,
        "expected some row to weigh more than 0, but 'w' is 0 in every row",
    ),
    "too heavy": (
        refused([1 << 52] * 240),
        {},
        3,
        "expected the weights in 'w' to add up to at most",
    ),
    "too light": (
        refused([1e-20, *[5e-20] * 239]),
        {},
        3,
        "the heaviest in 'w' is 5e-20; multiply them",
    ),
    "too heavy for 64 bits": (
        {name: np.resize(values, 1200) for name, values in refused([(1 << 53) - 1] * 240).items()},
        {},
        3,
        "expected the weights in 'w' to add up to at most",
    ),
    "too heavy floats": (
        refused([2.0**49 + 0.25] * 240),
        {},
        3,
        "expected the weights in 'w' to add up to less than",
    ),
    "the target": (
        small_table(),
        {"data": {"weight": "b", "target": "b"}},
        3,
        "must name a column of numbers",
    ),
    "a category too": (
        refused([1] * 240),
        {"data": {"weight": "w", "categorical": ["w"]}},
        2,
        "a column has one role",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_a_weight_is_refused_with_its_line(desk, case):
    columns, tables, code, message = REFUSED[case]
    desk.table(columns)
    ended = desk.run(**{"data": {"weight": "w"}, **tables})
    assert ended.code == code, ended.err
    assert re.search(message, ended.message), ended.message
    assert "job.toml:" in ended.message


def test_methods_that_cannot_weigh_rows_are_refused(desk):
    pytest.importorskip(
        "wittgenstein", reason="wittgenstein is not installed: pip install 'dnfscale[peers]'"
    )
    desk.table({**small_table(), "w": weights()})
    tables = {"data": {"weight": "w"}, "baselines.ripper": {"run": True}}
    ended = desk.run(kind="study", **tables)
    assert (ended.code, "ripper counts every row once" in ended.message) == (2, True)


def test_a_plan_tells_of_the_look_at_weights_that_are_floats(desk):
    desk.table({**small_table(), "w": weights() / 2, "v": weights()})
    spec = desk.spec(data={"weight": "w"})
    assert "weigh rows" in desk.here("plan", spec).out
    assert "weigh rows" not in desk.here("plan", spec, "--set", "data.weight=v").out


@pytest.mark.parametrize("times", [1, 0.3])
def test_a_dataset_names_its_column_of_weights_and_is_learned_as_a_job_learns_it(times, desk):
    columns = {**small_table(), "w": times * np.random.default_rng(2).integers(0, 4, 240)}
    path = desk.table(columns)
    desk.run(data={"weight": "w"})
    model = IdealClassifier(profile="paper").fit(str(path), "y", sample_weight="w")
    written = desk.path / "saved.json"
    model.save(written)
    saved = read_json(written)
    assert model.certificate_ is None
    for key in ("formula", "terms", "counts", "unit", "weighted", "certificate"):
        assert saved.get(key) == desk.model().get(key), key


def test_weights_of_a_dataset_that_are_no_name_are_refused(desk):
    path = desk.table(small_table())
    with pytest.raises(
        DataError, match="expected sample_weight to be the name of a column of weights"
    ):
        IdealClassifier(profile="paper").fit(str(path), "y", sample_weight=np.ones(240))
    with pytest.raises(SpecError, match=r"data\.weight must name columns of"):
        IdealClassifier(profile="paper").fit(str(path), "y", sample_weight="w")


@pytest.mark.parametrize("written", ["1.00", "1.5"])
def test_which_cuts_pay_does_not_depend_on_the_unit_of_weights(desk, written):
    columns, cuts = small_table(), {"booleanize": {"cuts": "entropy"}}
    one = study(desk, {**columns, "w": [1] * 240}, name="one", **cuts)
    last = decimal.Decimal(written)
    other = pa.array([decimal.Decimal("1.00")] * 239 + [last], pa.decimal128(5, 2))
    sweeps = [
        [len(fold["sweep"]) for fold in result["methods"]["ideal"]["folds"]]
        for result in (one, study(desk, {**columns, "w": other}, name="other", **cuts))
    ]
    assert sweeps[0] == sweeps[1]


def test_what_is_missing_in_a_row_of_weight_zero_says_nothing_of_the_table(desk):
    columns = {**small_table(), "w": [0, *[1] * 239]}
    columns["x"] = pa.array([None, *columns["x"][1:]])
    result = study(desk, columns, data={"missing": "indicator"})
    assert result["data"]["attributes"] == 6
