"""Single values, as TOML and Python give them."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import numpy as np
import pytest

from dnfscale.core.parts import Unit
from dnfscale.spec import checks
from dnfscale.spec.checks import given_cuts, written_cut


def test_cuts_are_written_as_texts_unless_they_are_numbers():
    given = [
        5,
        2.5,
        np.int8(3),
        np.float64(0.5),
        "x",
        dt.date(2024, 2, 29),
        dt.time(12, 30),
        np.datetime64("2024-01-01"),
    ]
    written = [5, 2.5, 3, 0.5, "x", "2024-02-29", "12:30:00", "2024-01-01"]
    assert list(map(written_cut, given)) == written


@pytest.mark.parametrize(
    "given", [[18, 65], {"age": 50}, {"age": []}, {"age": "50"}, {"age": range(64)}, None]
)
def test_given_cuts_that_are_no_table_of_columns_and_lists_are_refused(given):
    with pytest.raises(ValueError, match="a table of columns and up to 63 cuts each"):
        given_cuts(given)


@pytest.mark.parametrize(
    ("check", "given", "taken"),
    [
        (checks.whole(1, 5), np.int8(3), 3),
        (checks.whole(1), np.array(3), 3),
        (checks.between(0, 1), np.float32(0.5), 0.5),
        (checks.proper_fraction, 0.2, Fraction(1, 5)),
        (checks.fraction_above_0, "2", None),
        (checks.some_above_0, np.array([2, 8]), (2.0, 8.0)),
        (checks.some_above_0, 8, (8.0,)),
        (checks.texts, ["a", "b"], ("a", "b")),
        (checks.texts, "ab", None),
        (checks.parts_of_times(tuple(map(str, Unit))), {"day": ["hour"]}, (("day", ("hour",)),)),
        (checks.parts_of_times(tuple(map(str, Unit))), [], ()),
        (checks.parts_of_times(tuple(map(str, Unit))), {"day": 3}, None),
        (checks.parts_of_times(tuple(map(str, Unit))), {"day": []}, None),
        (checks.parts_of_times(tuple(map(str, Unit))), {"day": [["hour"]]}, None),
        (checks.given_cuts, {"age": np.array([18, 65])}, (("age", (18, 65)),)),
        (checks.given_cuts, {"age": [True]}, None),
        (checks.whole_or("auto", 1), "auto", "auto"),
        (checks.whole_or("auto", 1), True, None),
        (checks.labels, "yes", ("yes",)),
        (checks.cuts("median"), np.int64(3), 3),
    ],
)
def test_a_check_takes_what_toml_and_python_give_and_its_own_result(check, given, taken):
    if taken is None:
        with pytest.raises(ValueError, match=r"^(a|one|\")"):
            check(given)
        return
    assert check(given) == taken
    assert check(taken) == taken


@pytest.mark.parametrize(
    "given",
    [
        {"age": {}},
        {"age": {"tittle": "Age"}},
        {"age": {"title": 1}},
        {"age": {"values": {}}},
        {"age": {"values": {"1": 2}}},
        {"age": {"note": "x" * 2_001}},
        {"age": "Age"},
    ],
)
def test_labels_that_are_no_dictionary_are_refused(given):
    with pytest.raises(ValueError, match=r"a table with title, unit, note .* for 'age'"):
        checks.column_labels(given)


def test_labels_are_taken_as_they_are():
    given = {"age": {"title": "Age", "unit": "years", "values": {"1": "one"}}}
    assert checks.column_labels(given) == given
