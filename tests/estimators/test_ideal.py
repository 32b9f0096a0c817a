from __future__ import annotations

import inspect
import json
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import set_config
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dnfscale import FormulaSizeClassifier, IdealClassifier
from dnfscale.core.model import Model
from dnfscale.core.vocabulary import Above, Attribute, Between, IsMissing
from dnfscale.data.models import model_text, read_model, read_models
from dnfscale.errors import DataError, DnfscaleError, LimitError, SpecError
from dnfscale.method.certificate import certified
from dnfscale.method.words import model_lines
from tests.jobs.running import Desk, keeping_signals, surroundings
from tests.judges import by_lines

N_ROWS = 400
Alter = Callable[[pd.DataFrame], Any]


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "a": random.normal(size=N_ROWS),
            "b": random.integers(0, 9, N_ROWS),
            "c": random.choice(["u", "v", "w"], N_ROWS),
            "d": random.random(N_ROWS) < 0.5,
        }
    )


@pytest.fixture(scope="module")
def labels(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(6)
    signal = ((frame["a"] > 0) & (frame["c"] == "u") | (frame["b"] > 4)).to_numpy()
    return signal ^ (random.random(N_ROWS) < 0.05)


@pytest.fixture(scope="module")
def gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with missing values in every column."""
    random = np.random.default_rng(8)
    holes = frame.astype({"b": "Int64", "d": "boolean"})
    for name in holes:
        holes.loc[random.random(N_ROWS) < 0.15, name] = None
    return holes


@pytest.fixture(scope="module")
def fitted(frame: pd.DataFrame, labels: np.ndarray[Any, Any]) -> IdealClassifier:
    return IdealClassifier(profile="paper").fit(frame, labels)


def truths(model: IdealClassifier, frame: pd.DataFrame) -> list[list[bool]]:
    """Which attributes of the model hold in each row, in plain pandas."""
    columns = []
    for attribute in model.models_[0].tau.attributes:
        values = frame[attribute.column]
        if isinstance(attribute, IsMissing):
            columns.append(values.isna())
        else:
            true = (
                values > attribute.value
                if isinstance(attribute, Above)
                else values == attribute.value
            )
            columns.append(true.fillna(False))
    return np.column_stack(columns).astype(bool).tolist()


def by_hand(model: IdealClassifier, frame: pd.DataFrame) -> list[bool]:
    """What the terms of the formula say of each row."""
    terms = [term.literals for term in model.models_[0].dnf.terms]
    return [
        any(all(row[i] == value for i, value in term) for term in terms)
        for row in truths(model, frame)
    ]


def questions(model: Model) -> list[Attribute]:
    """What a model asks; whether a column holds whole numbers only is how that is worded."""
    plain = {"whole": False, "least": None}
    return [
        replace(asked, **plain) if isinstance(asked, Above | Between) else asked
        for asked in model.tau.attributes
    ]


def same(one: IdealClassifier, other: IdealClassifier) -> bool:
    """Whether two classifiers have learned the same, to the last count."""
    return len(one.models_) == len(other.models_) and all(
        (questions(a), a.dnf, a.counts, a.threshold, a.positive)
        == (questions(b), b.dnf, b.counts, b.threshold, b.positive)
        for a, b in zip(one.models_, other.models_, strict=True)
    )


def test_a_prediction_is_the_formula_evaluated(fitted, frame, labels):
    assert fitted.predict(frame).tolist() == by_hand(fitted, frame)
    other = frame.assign(a=-frame["a"], b=8 - frame["b"])
    assert fitted.predict(other).tolist() == by_hand(fitted, other)
    assert fitted.score(frame, labels) > 0.9


def test_the_formula_names_only_the_attributes_of_the_model(frame, labels):
    model = IdealClassifier(profile="paper", max_ell=3).fit(frame, labels)
    words = model.formula_.replace("(", " ").replace(")", " ").split()
    assert set(words) - {"and", "or", "not"} <= set(model.attributes_)
    assert len(model.attributes_) <= 3
    assert model.get_feature_names_out().tolist() == model.attributes_


def test_a_probability_is_the_smoothed_share_of_the_rows_type(fitted, frame, labels):
    rows = truths(fitted, frame)
    counts: dict[tuple[bool, ...], list[int]] = {}
    for row, label in zip(map(tuple, rows), labels, strict=True):
        cell = counts.setdefault(row, [0, 0])
        cell[0] += 1
        cell[1] += int(label)
    expected = [(counts[tuple(row)][1] + 1) / (counts[tuple(row)][0] + 2) for row in rows]
    found = fitted.predict_proba(frame)
    assert found.shape == (N_ROWS, 2)
    assert found[:, 1].tolist() == expected
    assert found.sum(axis=1).tolist() == [1.0] * N_ROWS
    assert found.argmax(axis=1).astype(bool).tolist() == fitted.predict(frame).tolist()


def test_a_type_that_was_never_seen_has_even_odds_on_the_side_of_its_answer():
    rows = [(False, False, False)] * 40 + [(False, True, True)] * 30 + [(True, True, False)] * 30
    train = pd.DataFrame(rows, columns=["a", "b", "y"])
    unseen = pd.DataFrame({"a": [True], "b": [False]})
    model = IdealClassifier(profile="paper").fit(train[["a", "b"]], train["y"])
    assert sorted(model.attributes_) == ["a", "b"]
    assert model.predict(unseen).tolist() == [False]
    assert model.predict_proba(unseen)[0].tolist() == pytest.approx([0.5, 0.5])
    assert model.predict_proba(unseen)[0, 1] < 0.5
    seen = IdealClassifier(profile="paper", unseen="dont_care").fit(train[["a", "b"]], ~train["y"])
    assert (seen.predict_proba(unseen)[0, 1] >= 0.5) == seen.predict(unseen)[0]


def test_a_decision_is_the_type_of_a_row_with_its_counts(fitted, frame, labels):
    found = fitted.decision(frame)
    rows = truths(fitted, frame)
    codes = [sum(1 << i for i, holds in enumerate(row) if holds) for row in rows]
    assert found["type"].tolist() == codes
    assert found["n"].tolist() == [codes.count(code) for code in codes]
    positive = [sum(labels[i] for i, other in enumerate(codes) if other == code) for code in codes]
    assert found["c"].tolist() == positive
    assert found["accepted"].tolist() == fitted.predict(frame).tolist()


def test_a_formula_of_lines_is_used_as_any_other(fitted, frame, tmp_path):
    own = clone(fitted)
    own.__dict__.update(fitted.__dict__)
    own.models_ = tuple(map(certified, map(by_lines, fitted.models_)))
    assert own.predict(frame).tolist() == fitted.predict(frame).tolist()
    decided = own.decision(frame)
    [lines] = own.models_
    rows = [tuple(row) for row in truths(fitted, frame)]
    codes = [sum(1 << i for i, holds in enumerate(row) if holds) for row in rows]
    assert decided["type"].tolist() == [lines.type_of(code) for code in codes]
    given = own.predict_proba(frame)[:, 1].tolist()
    for n, c, accepted, probability in zip(
        decided["n"], decided["c"], decided["accepted"], given, strict=True
    ):
        assert probability == float(lines.probability(n, c, accepted))
    for code, record in zip(codes[:20], own.explain(frame.head(20)), strict=True):
        held = [bool(code & term.care == term.value) for term in lines.dnf.terms]
        assert record["type"] == held
        assert record["accepted"] == any(held)
    assert "line" in own.explain(frame.head(1), text=True)[0]
    own.save(tmp_path / "model.json")
    saved = read_model(tmp_path / "model.json")
    assert saved.provenance["fit"] == {"columns": ["a", "b", "c", "d"], "labels": [False, True]}
    assert model_text(replace(saved, provenance={})) == own.to_json() == model_text(lines)


@pytest.mark.parametrize(
    ("negative", "positive"),
    [(0, 1), (-1, 1), ("no", "yes"), (False, True), (1.5, 2.5), ("10", "2")],
)
def test_the_larger_label_is_positive_and_predictions_are_labels(
    fitted, frame, labels, negative, positive
):
    y = np.where(labels, positive, negative)
    model = IdealClassifier(profile="paper").fit(frame, y)
    assert model.classes_.tolist() == [negative, positive]
    assert same(clone(model).set_params().fit(frame, y), model)
    assert model.models_[0].counts == fitted.models_[0].counts
    assert model.predict(frame).dtype == y.dtype
    assert (
        model.predict(frame).tolist()
        == np.where(fitted.predict(frame), positive, negative).tolist()
    )


LABELS: dict[str, Callable[[np.ndarray[Any, Any]], Any]] = {
    "list": lambda y: y.tolist(),
    "series of any index": lambda y: pd.Series(y, index=np.arange(N_ROWS)[::-1]),
    "nullable": lambda y: pd.Series(y, dtype="boolean"),
    "object": lambda y: y.astype(object),
    "categories": lambda y: pd.Series(y).astype("category"),
    "polars": lambda y: pl.Series("y", y),
    "arrow": lambda y: pa.chunked_array([y[:7], y[7:]]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_may_be_anything_that_lists_them(fitted, frame, labels, kind):
    given = LABELS[kind](labels)
    model = IdealClassifier(profile="paper").fit(frame, given)
    assert same(model, fitted)
    assert model.classes_.dtype == np.bool_
    assert model.predict(frame).tolist() == fitted.predict(frame).tolist()


def test_labels_that_are_a_column_of_their_own_are_taken_with_a_warning(fitted, frame, labels):
    with pytest.warns(UserWarning, match="column-vector"):
        model = IdealClassifier(profile="paper").fit(frame, labels[:, None])
    assert same(model, fitted)


TABLES: dict[str, Alter] = {
    "nullable": lambda f: f.astype({"a": "Float64", "b": "Int64", "c": "string", "d": "boolean"}),
    "categories": lambda f: f.astype({"c": "category"}),
    "categories in another order": lambda f: f.assign(
        c=pd.Categorical(f["c"], ["w", "z", "u", "v"], ordered=True)
    ),
    "object": lambda f: f.astype(object),
    "floats": lambda f: f.astype({"b": "float64"}),
    "narrow": lambda f: f.astype({"b": "uint8"}),
    "another index": lambda f: f.set_index(np.arange(len(f))[::-1]),
    "pyarrow dtypes": lambda f: f.convert_dtypes(dtype_backend="pyarrow"),
    "arrow": lambda f: pa.Table.from_pandas(f, preserve_index=False),
    "arrow chunks": lambda f: pa.concat_tables(
        [pa.table(f[:9]), pa.table(f[9:300]), pa.table(f[300:])]
    ),
    "polars": pl.from_pandas,
    "polars categories": lambda f: pl.from_pandas(f).with_columns(pl.col("c").cast(pl.Categorical)),
    "polars enum": lambda f: pl.from_pandas(f).with_columns(
        pl.col("c").cast(pl.Enum(["w", "v", "u"]))
    ),
}


@pytest.mark.portable
@pytest.mark.parametrize("kind", TABLES)
def test_tables_that_mean_the_same_rows_give_the_same_formula(fitted, frame, labels, kind):
    given = TABLES[kind](frame)
    assert same(IdealClassifier(profile="paper").fit(given, labels), fitted)
    assert fitted.predict_proba(given).tolist() == fitted.predict_proba(frame).tolist()


KEPT = [
    "nullable",
    "categories",
    "object",
    "arrow",
    "polars",
    "polars categories",
    "pyarrow dtypes",
]


@pytest.mark.portable
@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.filterwarnings("ignore:fit left out")
@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_tables_with_the_same_gaps_give_the_same_formula(gaps, labels, kind, missing):
    plain = IdealClassifier(
        profile="paper", missing=missing, max_dropped=1, max_ell=6, tolerance=0
    ).fit(gaps, labels)
    given = TABLES[kind](gaps)
    assert same(
        IdealClassifier(
            profile="paper", missing=missing, max_dropped=1, max_ell=6, tolerance=0
        ).fit(given, labels),
        plain,
    )
    assert plain.predict(given).tolist() == by_hand(plain, gaps)


def test_arrays_are_tables_whose_columns_are_numbered(frame, labels):
    numbers = frame[["a", "b"]].rename(columns={"a": "x0", "b": "x1"}).astype(float)
    plain = IdealClassifier(profile="paper").fit(numbers, labels)
    for rows in (
        numbers.to_numpy(),
        numbers.to_numpy().tolist(),
        np.asfortranarray(numbers.to_numpy()),
    ):
        model = IdealClassifier(profile="paper").fit(rows, labels)
        assert same(model, plain)
        assert model.n_features_in_ == 2
        assert model.predict(rows).tolist() == plain.predict(numbers).tolist()


def test_an_array_of_objects_may_hold_strings_and_truth_values(frame, labels):
    named = frame.rename(columns=dict(zip("abcd", ["x0", "x1", "x2", "x3"], strict=True)))
    given = frame.astype(object).to_numpy()
    model = IdealClassifier(profile="paper").fit(given, labels)
    assert same(model, IdealClassifier(profile="paper").fit(named, labels))
    assert model.predict(given).tolist() == by_hand(model, named)
    texts = IdealClassifier(profile="paper").fit(frame[["c"]].to_numpy().astype("U1"), labels)
    assert set(texts.attributes_) <= {"x0_u", "x0_v", "x0_w"}


@pytest.mark.slow
@settings(max_examples=15)
@given(st.data())
def test_the_order_of_rows_changes_nothing(frame, labels, data):
    order = np.array(data.draw(st.permutations(range(60))))
    few, known = frame[:60], labels[:60]
    missing = few.mask(few["b"] == 3)
    for rows, how in (
        (few, {}),
        (missing, {"missing": "indicator"}),
        (few, {"class_weight": "balanced"}),
    ):
        plain = IdealClassifier(profile="paper", max_ell=4, **how).fit(rows, known)
        assert same(
            IdealClassifier(profile="paper", max_ell=4, **how).fit(rows.iloc[order], known[order]),
            plain,
        )


def parquet(desk: Desk, frame: pd.DataFrame, name: str = "t.parquet", **options: Any) -> Path:
    return desk.table(pa.Table.from_pandas(frame, preserve_index=False), name, **options)


@pytest.mark.parametrize("seed", [0, 17])
@pytest.mark.parametrize("missing", ["drop", "indicator"])
@pytest.mark.filterwarnings("ignore:fit left out")
def test_a_path_is_learned_from_as_a_job_does_it(desk, gaps, labels, seed, missing):
    most = {"max_dropped": 1.0}
    file = parquet(desk, gaps.assign(y=labels), row_group_size=99)
    assert (
        desk.run(
            kind="fit", seed=seed, select={"max_ell": 6}, data={"missing": missing, **most}
        ).code
        == 0
    )
    for path in (file, str(file), str(file.parent / "*.parquet")):
        model = IdealClassifier(
            profile="paper", max_ell=6, random_state=seed, missing=missing, max_dropped=1
        ).fit(path, "y")
        assert model.formula_ == desk.model()["formula"]
        assert model.models_[0].target == "y"
        assert model.attributes_ == [attribute["name"] for attribute in desk.model()["attributes"]]
        values = [attribute["value"] for attribute in desk.model()["attributes"]]
        assert [
            getattr(attribute, "value", None) for attribute in model.models_[0].tau.attributes
        ] == values
        counts = model.models_[0].counts
        assert list(zip(counts.n.tolist(), counts.c.tolist(), strict=True)) == [
            (cell["n"], cell["c"]) for cell in desk.model()["counts"]
        ]
    assert model.predict(file).tolist() == model.predict(gaps).tolist() == by_hand(model, gaps)
    assert model.feature_names_in_.tolist() == list(gaps.columns)


def test_processes_learn_the_same_from_a_path_as_one(desk, frame, labels):
    file = parquet(desk, frame.assign(y=np.where(labels, "yes", "no")))
    alone = IdealClassifier(profile="paper").fit(file, "y")
    assert same(IdealClassifier(profile="paper", n_jobs=2).fit(file, "y"), alone)
    assert alone.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("n_jobs", [0, "two", 1.5])
def test_a_number_of_processes_that_is_none_is_refused(desk, frame, labels, n_jobs):
    file = parquet(desk, frame.assign(y=labels))
    with pytest.raises(SpecError, match="n_jobs must be None or a whole number other than 0"):
        IdealClassifier(profile="paper", n_jobs=n_jobs).fit(file, "y")


@pytest.mark.portable
@pytest.mark.parametrize("npartitions", [1, 5])
def test_a_dask_frame_is_learned_from_as_a_path_is(desk, gaps, labels, npartitions):
    whole = gaps.assign(y=labels)
    expected = IdealClassifier(profile="paper", missing="indicator").fit(parquet(desk, whole), "y")
    lazy = dd.from_pandas(whole, npartitions=npartitions, sort=False)
    for rows, y in (
        (lazy, "y"),
        (lazy.drop(columns="y"), lazy["y"]),
        (lazy.drop(columns="y"), whole["y"]),
    ):
        model = IdealClassifier(profile="paper", missing="indicator").fit(rows, y)
        assert same(model, expected)
        assert model.models_[0].target == "y"
    assert (
        model.predict(lazy).tolist()
        == model.predict(whole[gaps.columns]).tolist()
        == by_hand(model, whole)
    )


WRONG_PLACES: dict[
    str, tuple[Callable[[Desk, pd.DataFrame], tuple[Any, Any]], dict[str, Any], str]
] = {
    "labels beside a path": (
        lambda desk, f: (parquet(desk, f), f["d"]),
        {},
        "name of the target column beside a path",
    ),
    "no labels": (lambda _, f: (f, None), {}, "requires y to be passed"),
    "a path to nothing": (lambda _desk, _f: ("none.parquet", "d"), {}, "nothing at this path"),
    "a target that is not there": (lambda desk, f: (parquet(desk, f), "z"), {}, "got 'z'"),
    "an array beside Dask": (
        lambda _, f: (dd.from_pandas(f), f["d"].to_numpy()),
        {},
        "or a series, beside a Dask",
    ),
    "weights beside Dask": (
        lambda _, f: (dd.from_pandas(f), "d"),
        {"class_weight": "balanced"},
        "table in memory",
    ),
    "weights beside a path": (
        lambda desk, f: (parquet(desk, f), "d"),
        {"class_weight": {}},
        "table in memory",
    ),
    "an empty Dask frame": (
        lambda _, f: (dd.from_pandas(f[:0], npartitions=1), "d"),
        {},
        "has none",
    ),
}


@pytest.mark.parametrize("case", WRONG_PLACES)
def test_rows_and_labels_that_do_not_go_together_are_refused(desk, frame, case):
    make, parameters, message = WRONG_PLACES[case]
    rows, y = make(desk, frame)
    with pytest.raises((DataError, SpecError), match=message):
        IdealClassifier(profile="paper", **parameters).fit(rows, y)


def test_a_dropped_column_changes_nothing(desk, frame, labels):
    plain = IdealClassifier(profile="paper").fit(frame, labels)
    numbered = frame.assign(id=[f"row {i}" for i in range(len(frame))])
    assert same(
        IdealClassifier(profile="paper", drop=("id",), max_categories=20).fit(numbered, labels),
        plain,
    )
    path = parquet(desk, numbered.assign(y=labels))
    assert (
        "id" not in IdealClassifier(profile="paper", drop=("id",)).fit(path, "y").feature_names_in_
    )
    with pytest.raises(
        LimitError,
        match=r"at most 20 different values .* add the column to the parameter drop or raise",
    ):
        IdealClassifier(profile="paper", max_categories=20).fit(path, "y")
    with pytest.raises(SpecError, match=r"the parameter drop must name columns of X, got 'no'"):
        IdealClassifier(profile="paper", drop=("no",)).fit(frame, labels)


def test_a_limit_that_is_at_its_maximum_is_not_to_be_raised():
    rows = pa.table({"c": list(map(str, range(60_001)))})
    with pytest.raises(
        LimitError,
        match=r"at most 60,000 different .* got at least 60,001; add .* to the parameter drop$",
    ):
        IdealClassifier(profile="paper", max_categories=60_000).fit(rows, np.arange(60_001) % 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_categories": 0}, "max_categories must be a whole number between 1 and 60000, got 0"),
        ({"rare": -1}, "rare must be a whole number of at least 0, got -1"),
        ({"validation": 0.95}, "validation must be a number between 0.01 and 0.9, got 0.95"),
    ],
)
def test_parameters_out_of_bounds_are_refused(frame, labels, parameters, message):
    with pytest.raises(SpecError, match=message):
        IdealClassifier(profile="paper", **parameters).fit(frame, labels)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.array])
@pytest.mark.parametrize(
    "parameters",
    [{"cuts": 3}, {"rare": 2}, {"validation_splits": 2}, {"max_categories": 50}, {"max_ell": 3}],
)
def test_whole_numbers_of_numpy_are_whole_numbers(frame, labels, parameters, kind):
    theirs = {name: kind(value) for name, value in parameters.items()}
    found = IdealClassifier(profile="paper", **theirs).fit(frame, labels)
    assert same(found, IdealClassifier(profile="paper", **parameters).fit(frame, labels))
    assert found.get_params() == {**IdealClassifier(profile="paper").get_params(), **theirs}


WHOLE = (
    "max_ell",
    "max_literals",
    "max_terms",
    "cuts",
    "rare",
    "validation_splits",
    "max_categories",
    "n_jobs",
    "random_state",
)
REAL = (
    "validation",
    "tolerance",
    "beta",
    "threshold",
    "shrink_rows",
    "freedom",
    "max_dropped",
)


@pytest.mark.parametrize("value", [True, False, np.True_])
@pytest.mark.parametrize("name", [*WHOLE, *REAL])
def test_a_truth_value_is_no_number(frame, labels, name, value):
    with pytest.raises(
        (SpecError, ValueError), match=rf"{name} must be |{value!r} cannot be used to seed"
    ):
        IdealClassifier(profile="paper", **{name: value}).fit(frame, labels)


def test_every_parameter_that_takes_numbers_is_known_to_refuse_truth_values():
    taken = {
        name
        for name, parameter in inspect.signature(IdealClassifier).parameters.items()
        if re.search(r"\b(int|float)\b", str(parameter.annotation)) and name != "cut_at"
    }
    assert taken <= {*WHOLE, *REAL}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rare", 1.5),
        ("tolerance", "0.1"),
        ("cut_at", {"a": [True]}),
        ("class_weight", {True: True}),
    ],
)
def test_what_is_no_number_is_refused_as_such(frame, labels, name, value):
    with pytest.raises(SpecError, match=f"{name} must "):
        IdealClassifier(profile="paper", **{name: value}).fit(frame, labels)


def test_a_search_goes_over_ranges_of_numpy(frame, labels):
    grid = {"cuts": np.arange(1, 3), "rare": np.arange(2), "validation_splits": np.arange(1, 3)}
    search = GridSearchCV(
        IdealClassifier(profile="paper", max_ell=2), grid, cv=2, error_score="raise"
    ).fit(frame, labels)
    assert set(search.best_params_) == set(grid)


def test_rows_that_are_elsewhere_are_scored_by_the_name_of_their_target(desk, frame, labels):
    whole = frame.assign(y=labels)
    path = parquet(desk, whole)
    model = IdealClassifier(profile="paper").fit(path, "y")
    expected = float(np.mean(model.predict(path) == labels))
    lazy = dd.from_pandas(whole, npartitions=3, sort=False)
    assert (
        model.score(path, "y") == model.score(lazy, "y") == model.score(frame, labels) == expected
    )
    with pytest.raises(DataError, match="name of the target column, got 'z'"):
        model.score(path, "z")
    parquet(desk, whole.assign(y=pd.array([None] * 3 + labels[3:].tolist(), dtype="boolean")))
    with pytest.raises(DataError, match="expected a label for every row, but 3 are missing"):
        model.score(path, "y")


def test_a_series_is_no_table():
    with pytest.raises(ValueError, match="Expected a 2-dimensional container"):
        IdealClassifier(profile="paper").fit(pd.Series([1.0, 2.0, 3.0, 4.0]), [0, 1, 0, 1])


def test_cuts_that_are_not_listed_are_refused(frame, labels):
    with pytest.raises(
        SpecError, match=r"at must be a table of columns and up to 63 cuts each.*got \{'a': 50\}"
    ):
        IdealClassifier(profile="paper", cut_at={"a": 50}).fit(frame, labels)


def test_a_missing_value_makes_its_attributes_false(fitted, frame):
    empty = frame.assign(a=np.nan, c=None)
    expected = frame.assign(a=-np.inf, c="none of them")
    assert fitted.predict(empty).tolist() == fitted.predict(expected).tolist()


def test_a_single_row_with_a_missing_value_can_be_predicted(fitted, frame):
    for column in frame.columns:
        row = frame[:1].astype({column: object})
        row[column] = [None]
        assert fitted.predict(row).tolist() == by_hand(fitted, row)


def test_missing_values_that_are_an_error_are_one_in_predictions_too(frame, gaps, labels):
    model = IdealClassifier(profile="paper", missing="error").fit(frame, labels)
    assert model.predict(frame).tolist() == by_hand(model, frame)
    with pytest.raises(DataError, match="expected no missing values, because missing = 'error'"):
        model.predict(gaps)
    with pytest.raises(DataError, match="expected no missing values, but"):
        IdealClassifier(profile="paper", missing="error").fit(gaps, labels)
    with pytest.raises(ValueError, match="contains NaN"):
        IdealClassifier(profile="paper", missing="error").fit(np.array([[1.0], [np.nan]]), [0, 1])


def test_a_category_that_was_never_seen_makes_its_attributes_false(fitted, frame):
    assert fitted.predict(frame.assign(c="new")).tolist() == by_hand(fitted, frame.assign(c="new"))


def test_columns_that_the_formula_does_not_need_may_be_left_out_if_that_is_wanted(frame, labels):
    model = IdealClassifier(profile="paper", max_ell=1, any_columns=True).fit(frame, labels)
    needed = [attribute.column for attribute in model.models_[0].tau.attributes]
    for rows in (
        frame[needed],
        frame[[*needed, "d"]].assign(z="more"),
        pl.from_pandas(frame[needed]),
    ):
        assert model.predict(rows).tolist() == model.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        IdealClassifier(profile="paper", max_ell=1).fit(frame, labels).predict(frame[needed])


def test_no_rows_give_no_predictions(fitted, frame):
    assert fitted.predict(frame[:0]).tolist() == []
    assert fitted.predict_proba(frame[:0]).shape == (0, 2)
    assert fitted.explain(frame[:0]) == []
    assert len(fitted.decision(frame[:0])) == 0


def test_columns_may_be_given_roles(frame, labels):
    model = IdealClassifier(
        profile="paper", categorical=("b",), max_ell=24, tolerance=0.0, validation=0.5
    ).fit(frame, labels)
    assert model.sweep_[-1]["ell"] == 9 + 1 + 3 + 1
    two = frame.assign(b=frame["b"] > 4).astype({"b": int})
    assert (
        "b"
        in IdealClassifier(profile="paper", boolean=("b",), max_ell=2).fit(two, labels).attributes_
    )


def test_the_sweep_tells_of_every_number_of_attributes(fitted):
    assert [step["ell"] for step in fitted.sweep_] == list(range(1, len(fitted.sweep_) + 1))
    best = max(step["validation_accuracy"] for step in fitted.sweep_)
    within = [
        step["ell"] for step in fitted.sweep_ if step["validation_accuracy"] >= best - 0.01 - 1e-12
    ]
    assert len(fitted.models_[0].tau) == within[0]
    assert {step["rank"] for step in fitted.sweep_} <= {"f", "mutual_info", "chi2"}


def test_the_certificate_is_that_of_the_model_file_and_there_is_none_for_weights(
    desk, frame, labels
):
    file = parquet(desk, frame.assign(y=labels))
    assert desk.run(kind="fit").code == 0
    model = IdealClassifier(profile="paper").fit(file, "y")
    assert model.certificate_ == desk.model()["certificate"]
    assert (
        IdealClassifier(profile="paper")
        .fit(frame, labels, sample_weight=np.ones(N_ROWS))
        .certificate_
        is None
    )
    assert (
        IdealClassifier(profile="paper", class_weight="balanced").fit(frame, labels).certificate_
        is None
    )


def test_an_estimator_can_be_cloned_and_keeps_its_parameters():
    given = IdealClassifier(
        profile="paper",
        max_ell=3,
        rank=("chi2",),
        tolerance=0.5,
        unseen="dont_care",
        boolean=("b",),
    )
    copied = clone(given)
    assert copied.get_params() == given.get_params()
    assert copied is not given
    assert clone(given.set_params(max_ell=7)).max_ell == 7


def test_a_pickled_model_predicts_the_same(fitted, frame):
    again = pickle.loads(pickle.dumps(fitted))
    assert again.formula_ == fitted.formula_
    assert same(again, fitted)
    assert again.predict_proba(frame).tolist() == fitted.predict_proba(frame).tolist()


@pytest.mark.portable
def test_an_estimator_works_in_pipelines_and_in_cross_validation(frame, labels):
    assert (
        cross_val_score(
            make_pipeline(IdealClassifier(profile="paper", max_ell=4)), frame, labels, cv=3
        ).min()
        > 0.8
    )
    scaled = ColumnTransformer([("numbers", StandardScaler(), ["a", "b"])], remainder="drop")
    pipeline = make_pipeline(
        scaled.set_output(transform="pandas"), IdealClassifier(profile="paper", max_ell=2)
    ).fit(frame, labels)
    assert set(pipeline[-1].attributes_) <= {"numbers__a_above_median", "numbers__b_above_median"}
    assert pipeline.score(frame, labels) > 0.75


@pytest.mark.slow
def test_parameters_can_be_searched_with_numbers_of_numpy(frame, labels):
    grid = {
        "max_ell": np.arange(1, 4),
        "threshold": np.array([0.3, 0.5]),
        "tolerance": np.array([0.0]),
    }
    search = GridSearchCV(IdealClassifier(profile="paper"), grid, cv=3).fit(frame, labels)
    assert len(search.cv_results_["params"]) == 6
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["max_ell"] == 3
    assert search.predict(frame).tolist() == by_hand(search.best_estimator_, frame)


def test_what_transformers_are_told_to_return_does_not_matter(fitted, frame, labels):
    set_config(transform_output="pandas")
    try:
        assert isinstance(fitted.predict(frame), np.ndarray)
        assert same(IdealClassifier(profile="paper").fit(frame, labels), fitted)
    finally:
        set_config(transform_output="default")


def test_fitting_again_forgets_what_was_learned_before(desk, frame, labels):
    model = IdealClassifier(profile="paper").fit(frame, labels)
    model.fit(frame[["d"]], frame["d"])
    assert model.formula_ == "d"
    assert model.n_features_in_ == 1
    model.fit(parquet(desk, frame.assign(y=labels)), "y")
    assert model.feature_names_in_.tolist() == list("abcd")
    model.fit(frame[["a", "b"]].to_numpy(), labels)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")


def test_an_estimator_that_is_not_fitted_says_so(frame):
    model = IdealClassifier(profile="paper")
    for ask in (model.predict, model.predict_proba, model.decision, model.explain):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask(frame)
    for show in (model.to_sql, model.to_python, model.to_text, model.get_feature_names_out):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            show()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.save("model.json")
    assert model._repr_latex_() is None


def test_the_seed_decides_which_rows_validate(frame, labels):
    noise = np.random.default_rng(1).random(N_ROWS) < 0.5
    seeds = [
        IdealClassifier(profile="paper", random_state=seed).fit(frame, noise).sweep_
        for seed in (0, 0, 1, 2)
    ]
    assert seeds[0] == seeds[1]
    assert seeds[0] != seeds[2] or seeds[0] != seeds[3]
    drawn = IdealClassifier(profile="paper", random_state=np.random.RandomState(3)).fit(
        frame, labels
    )
    assert same(
        IdealClassifier(profile="paper", random_state=np.random.RandomState(3)).fit(frame, labels),
        drawn,
    )
    assert (
        IdealClassifier(profile="paper", random_state=None).fit(frame, labels).score(frame, labels)
        > 0.8
    )


HOSTILE = [
    '<img src=x onerror="alert(1)">',
    "a' OR 1=1 --",
    'b" or "c',
    "naïve ☃ 𝄞",
    "\\input{x}",
    "a or b",
]


@pytest.mark.portable
def test_a_notebook_shows_the_formula_and_runs_nothing_of_it(frame, labels):
    y = pd.Series(np.where(labels, "<script>yes</script>", "<b>no"), name="<i>target & co")
    for name in HOSTILE:
        model = IdealClassifier(profile="paper").fit(frame.rename(columns={"b": name}), y)
        assert f"{name}_above_median" in model.attributes_
        shown = model._repr_html_()
        assert not {"<script", "<i>", "<img"} & {
            shown[i : i + n] for i in range(len(shown)) for n in (3, 4, 7)
        }
        assert "&lt;script&gt;yes&lt;/script&gt;" in shown
        assert shown == model._repr_mimebundle_()["text/html"]
        assert shown.count('<span class="term">') == len(model_lines(model.models_[0]))
        latex = model._repr_latex_()
        assert latex == model.to_latex()
        assert latex.count("{") == latex.count("}")
        assert "\\input" not in latex
    assert "IdealClassifier" in IdealClassifier(profile="paper")._repr_html_()


def test_a_row_is_explained_by_what_holds_and_what_clashes(fitted, frame):
    rows, texts = fitted.explain(frame), fitted.explain(frame, text=True)
    assert len(rows) == len(texts) == N_ROWS
    given = fitted.predict_proba(frame)[:, 1].tolist()
    decided = fitted.decision(frame)
    for row, text, answer, probability, cell in zip(
        rows, texts, by_hand(fitted, frame), given, decided, strict=True
    ):
        assert row["accepted"] is answer
        assert row["probability"] == probability
        assert (row["n"], row["c"]) == (cell["n"], cell["c"])
        assert isinstance(text, str)
        assert text
    json.dumps(rows)


@pytest.mark.filterwarnings("ignore:fit left out")
def test_exported_sql_and_python_say_what_predict_says(gaps, labels):
    for missing in ("drop", "indicator"):
        model = IdealClassifier(
            profile="paper", missing=missing, max_dropped=1, max_ell=5, tolerance=0
        ).fit(gaps, labels)
        expected = model.predict(gaps).tolist()
        rows = pa.Table.from_pandas(gaps, preserve_index=False).append_column(
            "i", pa.array(range(N_ROWS))
        )
        with duckdb.connect() as connection:
            connection.register("rows", rows)
            asked = f"SELECT coalesce({model.to_sql()}, false) FROM rows ORDER BY i"
            assert [row[0] for row in connection.execute(asked).fetchall()] == expected
        space: dict[str, Any] = {}
        exec(model.to_python(), space)
        assert [space["predict"](row) for row in rows.to_pylist()] == expected
        assert model.to_text()
        assert model.to_pmml().startswith("<?xml")


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"threshold": 1 / 3},
        {"class_weight": {True: 2.5}},
        {"missing": "indicator", "unseen": "dont_care"},
    ],
)
@pytest.mark.filterwarnings("ignore:fit left out")
def test_a_saved_model_is_read_again_and_predicts_the_same_on_the_command_line(
    desk, gaps, labels, how
):
    model = IdealClassifier(profile="paper", max_dropped=1.0, max_ell=5, **how).fit(gaps, labels)
    model.save(desk.path / "model.json")
    [again] = read_models(desk.path / "model.json")
    [kept] = model.models_
    assert (again.tau, again.dnf, again.counts, again.positive) == (
        kept.tau,
        kept.dnf,
        kept.counts,
        kept.positive,
    )
    assert (again.threshold, again.unit, again.weighted) == (
        kept.threshold,
        kept.unit,
        kept.weighted,
    )
    assert again.certificate == ({} if kept.weighted else model.certificate_)
    parquet(desk, gaps)
    ended = desk.here("predict", "model.json", "t.parquet", "--output", "out")
    assert ended.code == 0, ended.err
    found = pd.read_parquet(desk.path / "out")
    assert found["prediction"].tolist() == model.predict(gaps).tolist()
    assert found["probability"].tolist() == model.predict_proba(gaps)[:, 1].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator", [IdealClassifier(profile="paper", max_ell=1), FormulaSizeClassifier(max_size=1)]
)
@pytest.mark.parametrize(
    ("column", "given", "other"),
    [
        ("Y", lambda frame: (frame[["Y"]], frame["y"]), "y"),
        ("Y", lambda frame: (frame[["Y"]], pl.Series("y", frame["y"].to_numpy())), "y"),
        ("Y", lambda frame: (frame[["Y"]], frame["y"], frame["t"].rename("y")), "y"),
        ("N", lambda frame: (frame.drop(columns="y"), frame["y"]), "n"),
        ("N", lambda frame: (frame.drop(columns=["y", "n"]), frame["y"], frame["n"]), "n"),
        ("N", lambda frame: (frame.drop(columns=["y", "n"]), frame["y"], frame["n"] / 3), "n"),
        ("Y", lambda frame: (dd.from_pandas(frame, npartitions=2), "y"), "y"),
        (
            "Y",
            lambda frame: (
                dd.from_pandas(frame.drop(columns="y"), npartitions=2),
                dd.from_pandas(frame["y"], 2),
            ),
            "y",
        ),
        # Neither what has no name nor what only we call so.
        ("Y", lambda frame: (frame[["Y"]], frame["y"].to_numpy()), None),
        ("Target", lambda frame: (frame[["Target"]], frame["y"].to_numpy()), None),
        ("Target", lambda frame: (frame[["Target"]], frame["y"]), None),
        (
            "Weight",
            lambda frame: (frame[["Weight"]], frame["y"], (frame["n"] / 3).to_numpy()),
            None,
        ),
        ("target_1", lambda frame: (frame[["target_1"]], frame["y"].rename("Target")), None),
    ],
)
def test_sql_that_would_read_what_is_alike_but_for_case_is_refused(estimator, column, given, other):
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 200)
    plain = {"y": y, "n": random.integers(1, 9, 200), "t": random.integers(1, 3, 200)}
    frame = pd.DataFrame({**plain, column: random.normal(size=200) + 9 * y})
    model = clone(estimator).fit(*given(frame))
    assert model.models_[0].columns == (column,)
    assert model.to_sql("postgres")
    assert model.to_python()
    if other is None:
        assert f'"{column}"' in model.to_sql()
        return
    told = f"^DuckDB takes the columns '{column}' and '{other}' of the dataset for the same"
    with pytest.raises(DataError, match=told):
        model.to_sql()


def test_a_saved_model_knows_what_is_alike_but_for_case(desk, labels):
    path = parquet(
        desk,
        pd.DataFrame({"y": labels, "Y": labels + np.random.default_rng(1).normal(size=N_ROWS)}),
    )
    IdealClassifier(profile="paper").fit(path, "y").save("model.json")
    [model] = read_models(Path("model.json"))
    assert model.lookalikes == {"Y": ("y",)}
    assert desk.here("export", "model.json", "--to", "sql").code == 3


def test_a_label_that_has_no_formula_is_refused_with_those_that_have(fitted):
    assert fitted.model_of(True) is fitted.model_of() is fitted.models_[0]
    with pytest.raises(DataError, match=r"label to be one of \[True\], got 'z'"):
        fitted.to_sql(label="z")


@pytest.mark.slow
def test_importing_the_package_does_not_import_scikit_learn():
    seen = "print('sklearn' in sys.modules)"
    code = f"import sys, dnfscale; {seen}; dnfscale.IdealClassifier; {seen}"
    done = subprocess.run(
        [sys.executable, "-c", code], env=surroundings(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\nTrue\n"


@pytest.mark.slow
def test_a_table_needs_neither_pandas_nor_polars():
    code = (
        "import sys, pyarrow as pa, dnfscale\n"
        "from importlib.abc import MetaPathFinder\n"
        "class Refuse(MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.split('.')[0] in ('pandas', 'polars', 'dask'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "table = pa.table({'a': [1, 2, 3, 4] * 9, 's': ['u', 'v', 'u', 'w'] * 9})\n"
        "model = dnfscale.IdealClassifier().fit(table, [0, 1, 0, 1] * 9)\n"
        "print(model.predict(table)[:4].tolist(), 'pandas' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=surroundings(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[0, 1, 0, 1] False\n", "")


def mixed(n_rows: int) -> list[object]:
    return [1, "a"] * (n_rows // 2)


WRONG_ROWS: dict[str, tuple[Alter, str]] = {
    "one dimension": (lambda frame: frame["a"].to_numpy(), "Expected 2D array, got 1D array"),
    "three dimensions": (lambda _: np.zeros((N_ROWS, 2, 2)), "Found array with dim 3"),
    "no columns": (lambda frame: frame[[]], "0 feature"),
    "lists": (lambda frame: frame.assign(t=[[1]] * N_ROWS), "'t' has the type list"),
    "structs": (
        lambda frame: pl.from_pandas(frame).with_columns(t=pl.struct("a", "b")),
        "'t' has the type struct",
    ),
    "bytes": (lambda frame: frame.assign(t=b"x"), "'t' has the type binary"),
    "nothing but nulls": (lambda frame: frame.assign(a=np.nan), "no value at all"),
    "numbers and strings mixed": (lambda frame: frame.assign(m=mixed(len(frame))), "m"),
    "complex numbers": (
        lambda frame: frame[["a"]].to_numpy().astype(complex),
        "Complex data not supported",
    ),
    "two columns of one name": (lambda frame: frame.set_axis(["a", "b", "c", "a"], axis=1), "a"),
    "too few rows": (lambda frame: frame[:-1], "expected as many labels as rows, got 400 and 399"),
}


@pytest.mark.parametrize("case", WRONG_ROWS)
def test_rows_that_cannot_be_learned_from_are_an_error_that_says_why(frame, labels, case):
    spoil, message = WRONG_ROWS[case]
    with pytest.raises(ValueError, match=message):
        IdealClassifier(profile="paper").fit(spoil(frame), labels)


WRONG_LABELS: dict[str, tuple[Callable[[np.ndarray[Any, Any]], Any], str]] = {
    "one class": (
        lambda labels: np.ones(len(labels)),
        "expected at least two classes to tell apart, got 1",
    ),
    "numbers without end": (lambda labels: np.linspace(0, 1, len(labels)), "Unknown label type"),
    "nan beside one class": (lambda labels: np.where(labels, 1.0, np.nan), "label"),
    "nan beside two classes": (
        lambda labels: np.where(np.arange(len(labels)) == 0, np.nan, labels),
        "1 are missing",
    ),
    "infinity": (lambda labels: np.where(labels, 1.0, np.inf), "contains infinity"),
    "none": (lambda labels: np.array([None, *map(str, labels[1:])], dtype=object), "1 are missing"),
    "a missing text": (
        lambda labels: pd.Series([pd.NA, *map(str, labels[1:])], dtype="string"),
        "1 are missing",
    ),
    "a missing number": (
        lambda labels: pd.Series([pd.NA, *labels[1:].astype(int)], dtype="Int64"),
        "1 are missing",
    ),
    "a table": (lambda labels: np.column_stack([labels, ~labels]), "label"),
    "strings and numbers": (
        lambda labels: np.array([1 if x else "no" for x in labels], dtype=object),
        "of one type",
    ),
    "dates": (
        lambda labels: np.where(labels, np.datetime64("2024-01-01"), np.datetime64("2025-01-01")),
        "datetime64",
    ),
    "bytes": (lambda labels: np.where(labels, b"yes", b"no"), "numbers, booleans or strings"),
    "tuples": (lambda labels: pd.Series([(int(x),) for x in labels]), "got tuple"),
}


@pytest.mark.parametrize("case", WRONG_LABELS)
def test_labels_that_cannot_be_learned_are_an_error_that_says_why(frame, labels, case):
    spoil, message = WRONG_LABELS[case]
    with pytest.raises(ValueError, match=message):
        IdealClassifier(profile="paper").fit(frame, spoil(labels))


def test_more_than_250_labels_are_over_the_limit(frame):
    twice = pd.concat([frame, frame])
    with pytest.raises(LimitError, match=r"at most 250 labels, but the target 'target' has 251"):
        IdealClassifier(profile="paper").fit(twice, np.arange(len(twice)) % 251)


def test_an_empty_table_is_a_data_error(frame, labels):
    with pytest.raises(DataError, match="expected at least two classes to tell apart, got 0"):
        IdealClassifier(profile="paper").fit(frame[:0], labels[:0])


WRONG_LATER: dict[str, Alter] = {
    "a column is missing": lambda frame: frame.drop(columns="b"),
    "a column is called otherwise": lambda frame: frame.rename(columns={"b": "B"}),
    "columns in another order": lambda frame: frame[["b", "a", "c", "d"]],
    "a number has become a string": lambda frame: frame.assign(b="many"),
    "a number has become a truth value": lambda frame: frame.assign(b=True),
    "a number has become a category": lambda frame: frame.astype({"b": "category"}),
}


@pytest.mark.parametrize("case", WRONG_LATER)
def test_rows_that_the_formula_cannot_be_applied_to_are_an_error(fitted, frame, case):
    assert "b_above_median" in fitted.attributes_
    with pytest.raises(ValueError, match=r"b|order"):
        fitted.predict(WRONG_LATER[case](frame))


@pytest.mark.portable
def test_an_array_goes_by_the_position_of_its_columns_after_a_table(desk, fitted, frame, labels):
    rows = frame.to_numpy()
    from_path = IdealClassifier(profile="paper").fit(parquet(desk, frame.assign(y=labels)), "y")
    for model in (
        fitted,
        from_path,
        IdealClassifier(profile="paper", any_columns=True).fit(frame, labels),
    ):
        with pytest.warns(
            UserWarning, match="X does not have valid feature names, but IdealClassifier was fitted"
        ):
            assert model.predict(rows).tolist() == model.predict(frame).tolist()
        with pytest.warns(UserWarning, match="valid feature names"):
            assert model.explain(rows[:9]) == model.explain(frame[:9])
        with (
            pytest.warns(UserWarning, match="valid feature"),
            pytest.raises(ValueError, match="X has 3 features, but"),
        ):
            model.predict(rows[:, :3])


def test_a_table_goes_by_the_position_of_its_columns_after_an_array(frame, labels):
    model = IdealClassifier(profile="paper").fit(frame.to_numpy(), labels)
    with pytest.warns(
        UserWarning, match="X has feature names, but IdealClassifier was fitted without"
    ):
        assert model.predict(frame).tolist() == model.predict(frame.to_numpy()).tolist()


def test_columns_called_by_numbers_are_no_names_to_scikit_learn(frame, labels):
    numbered = frame.set_axis(range(4), axis=1)
    model = IdealClassifier(profile="paper").fit(numbered, labels)
    assert model.predict(frame.to_numpy()).tolist() == model.predict(numbered).tolist()
    with pytest.warns(UserWarning, match="X has feature names"):
        assert model.predict(frame).tolist() == model.predict(numbered).tolist()


def test_an_array_of_dask_has_no_name_for_the_target(frame, labels):
    y = da.from_array(labels, chunks=N_ROWS)
    for rows in (frame, dd.from_pandas(frame, npartitions=1)):
        model = IdealClassifier(profile="paper").fit(rows, y)
        assert model.models_[0].target == "target"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_ell", 0),
        ("max_ell", 25),
        ("max_ell", "ten"),
        ("rank", ("anova",)),
        ("rank", ()),
        ("rank", "chi2"),
        ("validation", 2.0),
        ("validation", -0.1),
        ("tolerance", -0.1),
        ("threshold", 0),
        ("threshold", 1.0),
        ("threshold", 1e-9),
        ("threshold", float("nan")),
        ("threshold", None),
        ("threshold", "half"),
        ("class_weight", "even"),
        ("class_weight", {"z": 1}),
        ("missing", "ignore"),
        ("unseen", "dontcare"),
        ("minimize", "shortest"),
    ],
)
def test_a_parameter_out_of_range_is_refused_by_name(frame, labels, name, value):
    with pytest.raises(DnfscaleError, match=name):
        IdealClassifier(profile="paper", **{name: value}).fit(frame, labels)


@pytest.mark.parametrize("name", ["categorical", "boolean"])
def test_a_role_for_a_column_that_is_not_there_names_the_columns_that_are(frame, labels, name):
    with pytest.raises(SpecError, match="got 'z'") as caught:
        IdealClassifier(profile="paper", **{name: ("z",)}).fit(frame, labels)
    assert "'a', 'b', 'c', 'd'" in str(caught.value)
    assert "target" not in str(caught.value).replace("data.target", "")


@pytest.mark.slow
def test_a_column_may_have_any_name(fitted, frame, labels):
    for name in ("target", "weight", "target_", "y", "", "a b", "and", "x" * 300, *HOSTILE):
        renamed = frame.rename(
            columns={"b": name, "d": "target"} if name != "target" else {"b": name}
        )
        model = IdealClassifier(profile="paper", class_weight={True: 1}).fit(renamed, labels)
        assert (
            model.predict(renamed).tolist()
            == IdealClassifier(profile="paper").fit(renamed, labels).predict(renamed).tolist()
        )
        assert model.score(renamed, labels) == fitted.score(frame, labels)


def test_columns_may_be_called_by_numbers(fitted, frame, labels):
    numbered = frame.set_axis(range(4), axis=1)
    model = IdealClassifier(profile="paper").fit(numbered, labels)
    assert model.predict(numbered).tolist() == fitted.predict(frame).tolist()
    assert model.models_[0].counts.n_rows == N_ROWS


@pytest.mark.portable
def test_fitting_warns_of_nothing(frame, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IdealClassifier(profile="paper").fit(frame.assign(e=1.0), labels)
        assert len(model.predict(frame.assign(e=1.0))) == N_ROWS
