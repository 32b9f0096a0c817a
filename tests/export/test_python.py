"""The exported function where a caller is easily mistaken; that it agrees on all rows is in
test_agreement.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, IsTrue
from dnfscale.export.python import export_python
from tests.export.examples import NAMES, formula, single


def made(model):
    scope = {}
    exec(export_python(model), scope)
    return scope["predict"]


def test_it_reads_like_the_formula():
    model = formula(
        [
            Above("age_above_median", "age", 38),
            IsTrue("smoker", "smoker", True),
            Equals("colour_red", "colour", "red"),
            Between("bmi_p20_to_p80", "bmi", 12.5, 30.0),
        ],
        [[(0, True), (1, False)], [(2, True), (3, False)]],
        target="class",
        positive=("malignant",),
        provenance={"name": "trial\nrun", "rows": 12},
    )
    text = export_python(model)
    assert text.splitlines()[:8] == [
        "# Made by dnfscale. It needs nothing but Python.",
        "#",
        "# class is malignant if",
        "#    age > 38 and not smoker",
        "# or colour = red and not (12.5 < bmi ≤ 30)",
        "#",
        "# name: trial\\nrun",
        "# rows: 12",
    ]
    assert "COLUMNS = (\n    'age',\n    'smoker',\n    'colour',\n    'bmi',\n)" in text
    assert text.splitlines()[-12:] == [
        "    age = _value(row, 'age', False)",
        "    smoker = _value(row, 'smoker', False)",
        "    colour = _value(row, 'colour', True)",
        "    bmi = _value(row, 'bmi', False)",
        "    age_above_median = age is not None and age > 38",
        "    is_smoker = smoker == True",
        "    colour_red = colour == 'red'",
        "    bmi_p20_to_p80 = bmi is not None and 12.5 < bmi <= 30",
        "    return bool(",
        "        age_above_median and not is_smoker",
        "        or colour_red and not bmi_p20_to_p80",
        "    )",
    ]


def test_a_column_that_is_absent_is_an_error_and_no_missing_value():
    predict = made(single(Above("a", "age", 38)))
    with pytest.raises(
        KeyError,
        match="expected the column 'age', but the row does not have it; None means missing",
    ):
        predict({"Age": 40})
    assert predict({"age": None}) is False
    assert predict({"age": float("nan")}) is False
    assert predict({"age": 39, "other": 1}) is True


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        (Above("a", "x", 38), "39", "expected a number or a truth value in 'x', got '39'"),
        (Between("a", "x", 38, 40), "39", "expected a number or a truth value in 'x', got '39'"),
        (Equals("a", "x", "1"), 1, "expected text in 'x', got 1"),
        (Equals("a", "x", 1), "1", "expected a number or a truth value in 'x', got '1'"),
        (IsTrue("a", "x", True), "true", "expected a number or a truth value in 'x', got 'true'"),
    ],
)
def test_a_value_of_another_kind_is_an_error(attribute, value, message):
    for holds in (True, False):
        with pytest.raises(TypeError, match=message):
            made(single(attribute, holds))({"x": value})


def test_rows_may_come_from_numpy_and_pandas():
    model = formula([Above("a", "x", 1.5), IsTrue("b", "b", True)], [[(0, True), (1, True)]])
    predict = made(model)
    assert predict({"x": np.float32(2), "b": np.True_}) is True
    assert predict({"x": np.float64("nan"), "b": np.True_}) is False
    frame = pd.DataFrame({"x": [1, 2], "b": [True, True]})
    assert [predict(row) for row in frame.to_dict("records")] == [False, True]
    assert [predict(row) for _, row in frame.iterrows()] == [False, True]


def test_a_constant_formula_needs_no_column():
    assert made(formula([Above("a", "x", 1)], []))({}) is False
    assert made(formula([Above("a", "x", 1)], [[]]))({}) is True
    assert made(single(Above("a", "x", None)))({"x": 5}) is False
    assert made(single(Between("a", "x", None, None)))({"x": 5}) is False


def test_infinite_cuts_and_large_whole_numbers_are_compared_exactly():
    assert made(single(Above("a", "x", float("-inf"))))({"x": -1e308}) is True
    assert made(single(Above("a", "x", float("inf"))))({"x": float("inf")}) is False
    assert made(single(Above("a", "x", float(2**53))))({"x": np.int64(2**53 + 1)}) is True
    assert made(single(Equals("a", "x", 2**53 + 1)))({"x": float(2**53)}) is False
    assert (
        made(single(Between("a", "x", float("-inf"), 2.0**53)))({"x": np.int64(2**53 + 1)}) is False
    )
    assert (
        made(single(Between("a", "x", 2.0**53, float("inf"))))({"x": np.int64(2**53 + 1)}) is True
    )


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_safe_in_a_file(name, tmp_path):
    model = formula(
        [
            Above(name, name, 1),
            IsMissing(f"{name} ", name),
            Equals(f"{name}_", "other " + name, name),
        ],
        [[(0, True)], [(1, True), (2, True)]],
        target=name,
        positive=(name,),
        provenance={name: name},
    )
    file = tmp_path / "exported.py"
    asked = (
        f"print([predict({{{name!r}: x, {'other ' + name!r}: {name!r}}}) for x in (0, 2, None)])"
    )
    file.write_text(export_python(model) + "\n\n\n" + asked + "\n", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-I", "-S", file], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.stdout, ended.stderr) == ("[False, True, True]\n", "")
