"""Input of the worst kind: each gets an error that says what to change, or a result that
is right.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.jobs.judging import accepts, middle, recount, says, used
from tests.jobs.running import Desk, keeping_signals

N_ROWS = 300
RANDOM = np.random.default_rng(99)
Y = RANDOM.random(N_ROWS) < 0.5
X = np.where(Y, 1.0, 0.0) + RANDOM.normal(0, 0.8, N_ROWS)
BIG = 2**53


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


def table(**columns: Any) -> pa.Table:
    return pa.table({"x": X, **columns, "y": columns.pop("y", Y)})


def check_right(desk: Desk, name: str = "job", *, keep_missing: bool = False) -> dict[str, Any]:
    """The model of a run on t.parquet, after its counts and its formula were made again in plain
    Python.
    """
    model = desk.model(name)
    read = pq.read_table(desk.path / "t.parquet")
    rows = used(
        read.to_pylist(),
        [column for column in read.column_names if column != model["target"]],
        model["target"],
        keep_missing=keep_missing,
    )
    assert desk.result(name)["data"]["rows"] == len(rows)
    counts = recount(rows, model)
    assert model["counts"] == counts
    names = [attribute["name"] for attribute in model["attributes"]]
    assert len(set(names)) == len(names)
    for cell in counts:
        truth = dict(zip(names, cell["type"], strict=True))
        assert says(model["formula"], truth) == (2 * cell["c"] >= cell["n"])
    return model


# What cannot be read


def truncated(desk: Desk) -> None:
    whole = desk.table(table()).read_bytes()
    (desk.path / "t.parquet").write_bytes(whole[: len(whole) // 2])


def damaged(desk: Desk) -> None:
    """The footer is whole, the pages are not."""
    file = desk.table(table())
    content = bytearray(file.read_bytes())
    content[4:100] = b"\xff" * 96
    file.write_bytes(content)


def empty_file(desk: Desk) -> None:
    (desk.path / "t.parquet").write_bytes(b"")


def another_format(desk: Desk) -> None:
    (desk.path / "t.parquet").write_text("x,y\n1,2\n")


def empty_directory(desk: Desk) -> None:
    (desk.path / "t.parquet").mkdir()


def nothing(_: Desk) -> None:
    pass


def other_columns(desk: Desk) -> None:
    desk.table(table(), "t.parquet/a.parquet")
    desk.table(table(z=X), "t.parquet/b.parquet")


def fewer_columns(desk: Desk) -> None:
    desk.table(table(z=X), "t.parquet/a.parquet")
    desk.table(table(), "t.parquet/b.parquet")


def other_types(desk: Desk) -> None:
    desk.table(table(z=X), "t.parquet/a.parquet")
    desk.table(table(z=X.astype(np.int64)), "t.parquet/b.parquet")


def twice_the_same_name(desk: Desk) -> None:
    desk.table(pa.Table.from_arrays([pa.array(X), pa.array(X), pa.array(Y)], names=["x", "x", "y"]))


UNREADABLE: dict[Callable[[Desk], None], str] = {
    truncated: "t.parquet: expected a Parquet file, but it cannot be read",
    damaged: "t.parquet: expected to read its columns, but that failed",
    empty_file: "t.parquet: expected a Parquet file, but it cannot be read",
    another_format: "t.parquet: expected a Parquet file, but it cannot be read",
    empty_directory: "expected at least one Parquet file, but the directory has none",
    nothing: "expected a Parquet file or a directory of them, but there is nothing at this path",
    other_columns: "b.parquet is not in it; write the files with one schema",
    fewer_columns: "b.parquet: expected the same columns in all files, but 'z'",
    other_types: "b.parquet: expected column 'z' to have the type double",
    twice_the_same_name: "column names must differ, but 'x' occurs twice",
}


@pytest.mark.parametrize("spoil", UNREADABLE, ids=lambda spoil: spoil.__name__)
def test_data_that_cannot_be_read_are_told_by_their_file(desk, spoil):
    spoil(desk)
    ended = desk.run()
    assert ended.code == 3
    assert UNREADABLE[spoil] in ended.message


def test_a_pattern_that_matches_nothing_is_told(desk):
    desk.table(table())
    ended = desk.run(data={"path": "u*.parquet"})
    assert ended.code == 3
    assert "the pattern matches none" in ended.message


# Rows that are too few, or tell nothing


def test_no_rows_are_told(desk):
    desk.table(table()[:0])
    for kind in ("fit", "study"):
        ended = desk.run(kind=kind, name=kind)
        assert ended.code == 3
        assert "expected rows to learn from, but the dataset has none" in ended.message


def test_an_empty_file_among_others_does_not_matter(desk):
    for number, (first, stop) in enumerate([(0, 0), (0, 100), (100, 100), (100, N_ROWS)]):
        desk.table(table()[first:stop], f"many/{number}.parquet")
    desk.table(table())
    assert desk.run(name="one", kind="study").code == 0
    assert desk.run(name="many", kind="study", data={"path": "many"}).code == 0
    assert desk.result("one")["methods"] == desk.result("many")["methods"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("fit", "expected two classes to tell apart"),
        ("study", "expected at least 2 rows to cross-validate, got 1"),
    ],
)
def test_one_row_is_too_few(desk, kind, message):
    desk.table(table()[:1])
    ended = desk.run(kind=kind)
    assert ended.code == 3
    assert message in ended.message


def test_two_rows_are_enough_for_a_fit(desk):
    desk.table({"x": [1.0, 2.0], "y": [False, True]})
    assert desk.run(kind="fit").code == 0
    model = check_right(desk)
    assert model["attributes"][0]["value"] == 1.5
    assert model["formula"] == "x_above_median"


@pytest.mark.parametrize("n_rows", [2, 3, 4, 5])
def test_a_few_rows_are_enough_for_a_study(desk, n_rows):
    desk.table({"x": list(range(n_rows)), "y": [i % 2 for i in range(n_rows)]})
    assert desk.run(kind="study").code == 0
    folds = desk.result()["methods"]["ideal"]["folds"]
    assert [fold["test_rows"] for fold in folds] == [1] * n_rows
    check_right(desk)


def test_more_folds_than_rows_are_refused(desk):
    desk.table(table()[:9])
    ended = desk.run(kind="study", folds={"outer": 10})
    assert ended.code == 2
    assert "folds.outer must be at most the number of rows, 9, got 10" in ended.message


# Missing values


NULLS = {
    "untyped": pa.nulls(N_ROWS),
    "float": pa.nulls(N_ROWS, pa.float64()),
    "integer": pa.nulls(N_ROWS, pa.int32()),
    "string": pa.nulls(N_ROWS, pa.string()),
    "boolean": pa.nulls(N_ROWS, pa.bool_()),
    "dictionary": pa.nulls(N_ROWS, pa.dictionary(pa.int32(), pa.string())),
    "nan": pa.array(np.full(N_ROWS, np.nan)),
}


@pytest.mark.parametrize("kind", NULLS)
def test_a_column_without_any_value_is_named_when_it_costs_all_rows(desk, kind):
    desk.table(table(gone=NULLS[kind]))
    ended = desk.run()
    assert ended.code == 3
    assert "'gone'" in ended.message
    assert "no value at all" in ended.message
    assert "data.drop" in ended.message
    assert desk.run(name="dropped", data={"drop": ["gone"]}).code == 0


@pytest.mark.parametrize("kind", NULLS)
def test_a_column_without_any_value_harms_nothing_where_its_absence_counts(desk, kind):
    desk.table(table(gone=NULLS[kind]))
    assert desk.run(kind="study", data={"missing": "indicator"}).code == 0
    model = check_right(desk, keep_missing=True)
    assert model["formula"] == "x_above_median"


def test_rows_that_each_miss_something_are_told(desk):
    half = np.arange(N_ROWS) % 2 == 0
    desk.table(table(a=pa.array(X, mask=half), b=pa.array(X, mask=~half)))
    ended = desk.run(data={"max_dropped": 1.0})
    assert ended.code == 3
    assert "none has a value in every column" in ended.message


@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_rows_without_a_target_are_dropped_and_counted(desk, missing):
    gone = np.arange(N_ROWS) % 10 == 3
    desk.table(table(y=pa.array(Y, mask=gone)))
    assert desk.run(data={"missing": missing}).code == 0
    check_right(desk)
    assert desk.result()["data"]["rows_dropped"] == gone.sum()


def test_a_target_without_any_value_is_named(desk):
    desk.table(table(y=pa.nulls(N_ROWS, pa.string())))
    ended = desk.run()
    assert ended.code == 3
    assert "'y'" in ended.message


def test_missing_values_are_an_error_where_that_was_asked_for(desk):
    desk.table(table(a=pa.array(X, mask=np.arange(N_ROWS) < 7)))
    ended = desk.run(data={"missing": "error"})
    assert ended.code == 3
    assert "expected no missing values, but 7 of 300 rows have some, in 'a' (7)" in ended.message
    desk.table(table(y=pa.array(Y, mask=np.arange(N_ROWS) < 7)))
    assert "in 'y'" in desk.run(data={"missing": "error"}).message
    desk.table(table())
    assert desk.run(data={"missing": "error"}).code == 0


# Numbers at their limits


def test_nan_is_missing_and_infinity_is_a_number(desk):
    values = X.copy()
    values[::7] = np.nan
    values[1::11] = np.inf
    values[2::13] = -np.inf
    desk.table(
        table(x=values, w=pa.array(RANDOM.normal(size=N_ROWS), mask=np.arange(N_ROWS) % 31 == 5))
    )
    assert desk.run(data={"drop": ["w"]}).code == 0
    model = desk.model()
    kept = values[~np.isnan(values)]
    assert desk.result()["data"]["rows"] == len(kept)
    assert model["attributes"][0]["value"] == np.median(kept)
    assert model["counts"] == recount(
        used(table(x=values).to_pylist(), ["x"], "y", keep_missing=False), model
    )


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_median_may_be_infinite(desk, infinity, dtype):
    desk.table(table(x=np.where(Y | (X > 0.6), infinity, X).astype(dtype)))
    assert desk.run(kind="study").code == 0
    check_right(desk)


def test_a_median_between_the_infinities_is_no_nan(desk):
    desk.table({"x": np.where(np.arange(100) % 2, np.inf, -np.inf), "y": np.arange(100) % 2 == 1})
    assert desk.run(kind="fit").code == 0
    assert check_right(desk)["formula"] == "x_above_median"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_largest_floats_do_not_overflow(desk, dtype):
    top = np.finfo(dtype).max
    values = np.where(Y, top, top / 2).astype(dtype)
    desk.table(table(x=values))
    assert desk.run(kind="fit").code == 0
    assert check_right(desk)["formula"] == "x_above_median"


@pytest.mark.parametrize(
    ("base", "dtype"),
    [
        (BIG, np.int64),
        (-BIG, np.int64),
        (2**63 - 400, np.int64),
        (-(2**63) + 400, np.int64),
        (2**64 - 400, np.uint64),
        (0, np.uint8),
    ],
)
def test_whole_numbers_beyond_floats_are_exact(desk, base, dtype):
    """Neighbours that no float tells apart decide the label."""
    offsets = np.where(Y, 2, 1) if base else np.where(Y, 255, 254)
    numbers = [base + int(offset) for offset in offsets]
    desk.table(table(x=np.array(numbers, dtype=dtype)))
    assert desk.run(kind="fit").code == 0
    model = check_right(desk)
    cut = model["attributes"][0]["value"]
    exact = middle(numbers)
    assert cut in (exact, exact.numerator // exact.denominator)
    assert desk.result()["methods"]["ideal"]["model"]["training_accuracy"] == (
        1.0 if Y.sum() * 2 <= N_ROWS else 0.5
    )


def test_labels_beyond_floats_are_told_apart(desk):
    desk.table(table(y=np.where(Y, BIG + 1, BIG)))
    assert desk.run(data={"positive": [BIG + 1]}).code == 0
    assert check_right(desk)["positive"] == [BIG + 1]
    assert desk.result()["data"]["positive_rows"] == Y.sum()


def test_categories_beyond_floats_are_told_apart(desk):
    desk.table(table(code=np.where(Y, BIG + 1, BIG)))
    assert desk.run(data={"drop": ["x"], "categorical": ["code"]}).code == 0
    names = {attribute["name"] for attribute in desk.model()["attributes"]}
    assert names <= {f"code_{BIG}", f"code_{BIG + 1}"}
    assert desk.result()["methods"]["ideal"]["model"]["training_accuracy"] == 1.0


# Columns that tell nothing


@pytest.mark.parametrize("constant", [0.0, 7, "same", True, False])
def test_a_constant_column_is_not_chosen_before_one_that_tells_something(desk, constant):
    desk.table(table(still=pa.array([constant] * N_ROWS)))
    assert desk.run(kind="study").code == 0
    assert check_right(desk)["formula"] == "x_above_median"


@pytest.mark.parametrize("constant", [0.0, "same", True])
def test_a_table_of_constants_gives_a_constant_formula_with_its_reason(desk, constant):
    desk.table({"still": pa.array([constant] * N_ROWS), "y": Y})
    ended = desk.apart("run", desk.spec(kind="study"))
    assert ended.code == 0
    model = check_right(desk)
    assert model["formula"] in ("true", "false", "still", "still_same")
    assert (
        desk.result()["methods"]["ideal"]["model"]["training_accuracy"]
        == max(Y.sum(), (~Y).sum()) / N_ROWS
    )


def test_a_boolean_column_of_three_values_is_refused_by_name(desk):
    desk.table(table(grade=np.arange(N_ROWS) % 3))
    ended = desk.run(data={"boolean": ["grade"]})
    assert ended.code == 2
    assert (
        "data.boolean must name columns of two values, but 'grade' has 3: 0, 1, 2" in ended.message
    )
    assert ended.message.startswith(f"dnfscale: {desk.path / 'job.toml'}:8: ")


@pytest.mark.parametrize("values", [(1, 2), (-1.5, 0.5), ("no", "yes"), (0, 1)])
def test_a_boolean_column_of_two_values_is_true_where_it_is_larger(desk, values):
    desk.table(table(flag=[values[int(label)] for label in Y]))
    assert desk.run(data={"boolean": ["flag"], "drop": ["x"]}).code == 0
    assert desk.model()["attributes"] == [
        {"name": "flag", "column": "flag", "test": "true", "value": values[1]}
    ]
    assert desk.model()["formula"] == "flag"


# Targets


def test_a_target_of_three_values_needs_its_positive_labels(desk):
    grades = [("low", "middle", "high")[i % 3] for i in range(N_ROWS)]
    desk.table(table(y=grades))
    ended = desk.run()
    assert ended.code == 2
    assert "data.positive must say which labels are the positive class" in ended.message
    assert "3 values: 'high', 'low', 'middle'" in ended.message
    assert desk.run(name="told", data={"positive": ["low", "high"]}).code == 0
    assert check_right(desk, "told")["positive"] == ["high", "low"]
    assert desk.result("told")["data"]["positive_rows"] == 200


@pytest.mark.parametrize("positive", [["maybe"], ["yes", "maybe"], [1], [True]])
def test_a_positive_label_that_never_occurs_is_told_with_those_that_do(desk, positive):
    desk.table(table(y=np.where(Y, "yes", "no").tolist()))
    ended = desk.run(data={"positive": positive})
    assert ended.code == 2
    assert f"'no', 'yes'; got {positive[-1]!r}, which never occurs" in ended.message
    assert ended.message.startswith(f"dnfscale: {desk.path / 'job.toml'}:8: ")


def test_true_and_one_are_different_labels(desk):
    desk.table(table())
    assert "got 1, which never occurs" in desk.run(data={"positive": [1]}).message
    assert desk.run(data={"positive": [True]}).code == 0


def test_positive_labels_must_leave_a_negative_one(desk):
    desk.table(table())
    ended = desk.run(data={"positive": [True, False]})
    assert ended.code == 2
    assert "data.positive must leave some label for the negative class" in ended.message


@pytest.mark.parametrize("value", ["yes", 1, True])
def test_a_target_of_one_class_is_told(desk, value):
    desk.table(table(y=[value] * N_ROWS))
    ended = desk.run()
    assert ended.code == 3
    assert (
        f"expected two classes to tell apart, but the target 'y' has only the value {value!r}"
        in ended.message
    )


def test_a_class_that_is_lost_with_the_missing_values_is_told(desk):
    desk.table(table(a=pa.array(X, mask=Y)))
    ended = desk.run(data={"max_dropped": 1.0})
    assert ended.code == 3
    assert "expected two classes to tell apart" in ended.message


ONLY_CUT = {
    "timestamp": pa.array([datetime.datetime(2024, 1, 1 + int(v)) for v in Y]),
    "date": pa.array([datetime.date(2024, 1, 1 + int(v)) for v in Y]),
    "time": pa.array([datetime.time(int(v)) for v in Y]),
    "duration": pa.array([datetime.timedelta(int(v)) for v in Y], pa.duration("ms")),
    "decimal": pa.array([decimal.Decimal(int(v)) / 8 for v in Y], pa.decimal128(9, 3)),
}
UNFIT = {
    "wide decimal": pa.array([decimal.Decimal(int(v)) for v in Y], pa.decimal256(50, 2)),
    "binary": pa.array([b"a" if v else b"b" for v in Y]),
    "list": pa.array([[int(v)] for v in Y]),
    "struct": pa.array([{"a": int(v)} for v in Y]),
    "map": pa.array([[("a", int(v))] for v in Y], pa.map_(pa.string(), pa.int64())),
}


@pytest.mark.parametrize("kind", UNFIT)
def test_a_column_of_a_type_that_has_no_role_is_refused_by_name_and_type(desk, kind):
    desk.table(table(odd=UNFIT[kind]))
    ended = desk.run()
    assert ended.code == 3
    stem = str(UNFIT[kind].type).split("<")[0]
    assert (
        "columns must hold numbers, dates, times, booleans or strings, but 'odd' has the "
        f"type {stem}"
    ) in ended.message
    assert "data.drop" in ended.message
    assert desk.here("validate", "job.toml").code == 3
    assert desk.run(name="dropped", data={"drop": ["odd"]}).code == 0


@pytest.mark.parametrize("kind", ONLY_CUT | UNFIT)
def test_a_target_of_a_type_that_is_no_label_is_refused_by_name_and_type(desk, kind):
    values = (ONLY_CUT | UNFIT)[kind]
    desk.table(table(y=values))
    ended = desk.run()
    assert ended.code == 3
    assert "'y'" in ended.message
    assert str(values.type).split("<")[0] in ended.message
    assert desk.here("validate", "job.toml").code == 3


@pytest.mark.parametrize("role", ["categorical", "boolean"])
@pytest.mark.parametrize("kind", ONLY_CUT)
def test_a_column_that_is_only_ever_cut_cannot_have_another_role(desk, kind, role):
    desk.table(table(odd=ONLY_CUT[kind]))
    ended = desk.run(data={role: ["odd"]})
    assert ended.code == 2
    assert f"data.{role} must list columns of labels, but 'odd' has the type" in ended.message


def test_an_infinite_label_is_a_label_or_refused(desk):
    desk.table(table(y=np.where(Y, np.inf, 0.0)))
    ended = desk.run()
    assert ended.code in (0, 2, 3)
    if ended.code:
        assert "'y'" in ended.message


def test_text_that_is_not_utf8_is_refused_by_column(desk):
    garbled = pa.array([b"\xff\xfe" if v else b"fine" for v in Y]).view(pa.string())
    desk.table(table(s=garbled))
    ended = desk.run()
    assert ended.code == 3
    assert "'s'" in ended.message or "t.parquet" in ended.message


# Categories


def test_a_dictionary_column_is_the_same_as_its_strings(desk):
    words = np.where(Y, "red", RANDOM.choice(["red", "green", "blue"], N_ROWS)).tolist()
    for name, column in {
        "plain": pa.array(words),
        "dictionary": pa.array(words).dictionary_encode(),
        "large": pa.array(words, pa.large_string()),
        "view": pa.array(words, pa.string_view()),
        "unsigned": pa.DictionaryArray.from_arrays(
            pa.array(
                [["unused", "blue", "green", "red"].index(word) for word in words], pa.uint8()
            ),
            ["unused", "blue", "green", "red"],
        ),
    }.items():
        desk.table(table(s=column))
        assert desk.run(kind="study", name=name).code == 0
    plain = desk.result("plain")
    for name in ("dictionary", "large", "view", "unsigned"):
        assert desk.result(name)["methods"] == plain["methods"]
        assert desk.result(name)["data"] == plain["data"]
        assert desk.model(name)["counts"] == desk.model("plain")["counts"]


def test_too_many_categories_are_over_a_limit_that_can_be_set(desk):
    desk.table(table(id=[f"customer {i % 250}" for i in range(N_ROWS)]))
    ended = desk.run(data={"max_categories": 249})
    assert ended.code == 5
    assert "column 'id': at most 249 different values are taken as categories" in ended.message
    assert "add the column to data.drop or raise data.max_categories" in ended.message
    assert desk.run(name="raised", data={"max_categories": 250}).code == 0
    assert desk.result("raised")["data"]["attributes"] == 251


def test_too_many_labels_are_over_the_limit_too(desk):
    desk.table(table(y=[f"label {i}" for i in range(N_ROWS)]))
    ended = desk.run(data={"max_categories": 100, "positive": ["label 1"]})
    assert ended.code == 5
    assert "'y'" in ended.message
    assert "data.drop" not in ended.message, "the target cannot be dropped"


def test_a_million_categories_are_over_the_limit(desk):
    n_rows = 1_000_000
    desk.table(
        {"id": pa.array(np.arange(n_rows)).cast(pa.string()), "y": np.arange(n_rows) % 2 == 0},
        use_dictionary=False,
    )
    ended = desk.apart("run", desk.spec())
    assert ended.code == 5
    assert "column 'id': at most 10,000 different values" in ended.message
    assert "Traceback" not in ended.err
    assert not (desk.folder() / "result.json").exists()


# Names


NAMES = [
    "with space",
    " leading",
    "trailing ",
    "",
    'quo"te',
    "apo'strophe",
    "back\\slash",
    "[bracket]",
    "(paren)",
    "{brace}",
    "new\nline",
    "tab\tbed",
    "nul\x00l",
    "größe",
    "年齢",
    "عمر",
    "🂡",
    "a\u0301",
    "\u2028",
    "and",
    "or",
    "not",
    "true",
    "false",
    "dot.ted",
    "x.y.z",
    "1st",
    "per%cent",
    "comma,separated",
    "semi;colon",
    "key=value",
    "# hash",
    "a" * 300,
]


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_any_name_can_decide_the_formula(desk, name):
    desk.table({"other": RANDOM.normal(size=N_ROWS), name: Y, "y": Y})
    ended = desk.run(kind="study")
    assert ended.code == 0, ended.err
    model = check_right(desk)
    assert [(a["name"], a["column"]) for a in model["attributes"]] == [(name, name)]
    assert "\n" not in model["formula"]
    assert says(model["formula"], {name: True})
    assert not says(model["formula"], {name: False})
    with (desk.folder() / "tables" / "folds.csv").open(newline="", encoding="utf-8") as file:
        assert {row["formula"] for row in csv.DictReader(file)} == {model["formula"]}


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_any_name_can_be_given_a_role(desk, name):
    numbers = np.where(Y, 2, 1)
    desk.table({name: numbers, "y": Y})
    for role in ("categorical", "boolean"):
        assert desk.run(name=role, data={role: [name]}).code == 0
        assert {attribute["column"] for attribute in check_right(desk, role)["attributes"]} == {
            name
        }
    desk.table({"x": X, name: UNFIT["binary"], "y": Y})
    assert desk.run(name="drop", data={"drop": [name]}).code == 0


@pytest.mark.parametrize("name", [name for name in NAMES if name])
def test_a_target_may_have_any_name(desk, name):
    desk.table({"x": X, name: Y})
    assert desk.run(data={"target": name}).code == 0
    assert check_right(desk)["target"] == name


@pytest.mark.parametrize("value", [*NAMES, "a_b"])
def test_a_category_may_be_spelled_in_any_way(desk, value):
    desk.table(table(s=[value if label else "plain" for label in Y]))
    assert desk.run(kind="study", data={"drop": ["x"]}).code == 0
    model = desk.model()
    assert {attribute["value"] for attribute in model["attributes"]} <= {value, "plain"}
    assert desk.result()["methods"]["ideal"]["model"]["training_accuracy"] == 1.0
    names = [attribute["name"] for attribute in model["attributes"]]
    for cell in model["counts"]:
        assert says(model["formula"], dict(zip(names, cell["type"], strict=True))) == (
            2 * cell["c"] >= cell["n"]
        )


def test_attributes_that_would_share_a_name_are_told_apart(desk):
    """Column «a» with the value «b_c» and column «a_b» with the value «c» would both be called
    «a_b_c».
    """
    other = RANDOM.random(N_ROWS) < 0.5
    desk.table(
        {
            "a": ["b_c" if v else "z" for v in Y],
            "a_b": ["c" if v else "z" for v in other],
            "a_b_c": other ^ Y,
            "y": Y,
        }
    )
    assert desk.run(kind="study", select={"max_ell": 24}).code == 0
    check_right(desk)
    longest = desk.result()["methods"]["ideal"]["model"]["formulas"][0]["sweep"][-1]["attributes"]
    assert len(longest) == len(set(longest)) == 5


def test_a_column_called_as_a_prefix_of_another_is_read_by_itself(desk):
    desk.table(
        {
            "a": RANDOM.normal(size=N_ROWS),
            "a.b": Y,
            "a.b.c": RANDOM.normal(size=N_ROWS),
            "y": Y,
            "y.z": X,
        }
    )
    assert desk.run(kind="study").code == 0
    assert check_right(desk)["formula"] == '"a.b"'


# Where the run goes


@pytest.mark.parametrize("place", ["runs", "runs/job"])
def test_a_file_in_place_of_the_output_folder_is_told(desk, place):
    desk.table(table())
    (desk.path / place).parent.mkdir(exist_ok=True)
    (desk.path / place).write_text("precious")
    ended = desk.run()
    assert ended.code == 2
    assert "output.dir must be a folder that can be written" in ended.message
    assert (desk.path / place).read_text() == "precious"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_output_folder_without_the_right_to_write_is_told(desk):
    desk.table(table())
    (desk.path / "runs").mkdir(mode=0o555)
    ended = desk.run()
    assert ended.code == 2
    assert "output.dir must be a folder that can be written" in ended.message


def test_a_folder_in_place_of_a_file_of_the_run_is_told(desk):
    desk.table(table())
    (desk.folder() / "result.json" / "in the way").mkdir(parents=True)
    ended = desk.run()
    assert ended.code not in (0, 1)
    assert str(desk.folder().relative_to(desk.path)) in ended.message


# From outside


def one_class(desk: Desk) -> dict[str, Any]:
    desk.table(table(y=[1] * N_ROWS))
    return {}


def never_positive(desk: Desk) -> dict[str, Any]:
    desk.table(table())
    return {"data": {"positive": ["never"]}}


def file_in_the_way(desk: Desk) -> dict[str, Any]:
    desk.table(table())
    (desk.path / "runs").write_text("")
    return {}


def day_target(desk: Desk) -> dict[str, Any]:
    desk.table(table(y=ONLY_CUT["date"]))
    return {}


def list_column(desk: Desk) -> dict[str, Any]:
    desk.table(table(l=UNFIT["list"]))
    return {}


def half_a_file(desk: Desk) -> dict[str, Any]:
    truncated(desk)
    return {}


def broken_pages(desk: Desk) -> dict[str, Any]:
    damaged(desk)
    return {}


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (half_a_file, 3),
        (broken_pages, 3),
        (one_class, 3),
        (day_target, 3),
        (list_column, 3),
        (never_positive, 2),
        (file_in_the_way, 2),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_a_person_sees_a_message_and_no_traceback(desk, spoil, code):
    ended = desk.apart("run", desk.spec(**spoil(desk)))
    assert ended.code == code
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert ended.message.startswith("dnfscale: ")


def test_bad_pages_on_a_cluster_are_told_as_bad_data(desk):
    damaged(desk)
    ended = desk.apart("run", desk.spec(cluster={"kind": "local", "workers": 1}))
    assert ended.code == 3
    assert "t.parquet: expected to read its columns, but that failed" in ended.message
    assert "Traceback" not in ended.err


def test_predictions_of_a_bad_table_follow_the_terms(desk):
    """The judge's own formula and its terms agree row by row, on data with everything in it."""
    values = X.copy()
    values[::9] = np.inf
    words = [NAMES[i % len(NAMES)] for i in range(N_ROWS)]
    desk.table(table(x=values, **{'quo"te\n': words, "big": np.where(Y, BIG, BIG + 1)}))
    assert desk.run(kind="study").code == 0
    model = check_right(desk)
    names = [attribute["name"] for attribute in model["attributes"]]
    for row in pq.read_table(desk.path / "t.parquet").to_pylist()[:50]:
        truth = dict(zip(names, (recount([row], model)[0]["type"]), strict=True))
        assert says(model["formula"], truth) == accepts(model, row)
