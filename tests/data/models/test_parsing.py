"""Model files that are damaged, of an earlier writer or hostile: an error says where."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dnfscale.core.tree import to_dnf
from dnfscale.core.vocabulary import Above, Between, Vocabulary
from dnfscale.data.models import model_record, model_text, parse_model, read_model
from dnfscale.errors import DataError
from tests.data.models.small import SEEN, TREE, lined, same, small, ticked, written


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (
            ["xor", 0, 1],
            (
                "tree must be a formula, but a formula is a symbol's number or a list that "
                "begins with not"
            ),
        ),
        (None, "tree must be a formula"),
        (
            ["and", 0, ["or", 1, 2]],
            r"tree must speak of all attributes, 0 to 3, and no other, got \[0, 1, 2\]",
        ),
        (
            ["and", ["or", 0, 1], ["or", ["and", 2, 3], 4]],
            "tree must speak of all attributes, 0 to 3, and no other",
        ),
        (
            ["and", ["and", 0, 1], ["and", 2, 3]],
            "terms must say what tree says, multiplied out, but they do not",
        ),
        (
            ["or", ["and", 0, ["not", ["not", ["not", 1]]]], ["not", ["and", 2, 3]]],
            "formula must say what tree says",
        ),
    ],
)
def test_a_damaged_tree_is_refused(tmp_path, tree, message):
    record = {**model_record(small(dnf=to_dnf(TREE), tree=TREE)), "tree": tree}
    with pytest.raises(DataError, match=message):
        read_model(written(tmp_path, record))


def test_files_of_an_earlier_writer_get_what_was_meant_then():
    record = model_record(small())
    for key in ("missing", "unseen", "threshold", "unit"):
        del record[key]
    assert same(parse_model(record), small())


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((), {}, "columns must be a list"),
        ((0,), 7, "columns[0] must be an object"),
        ((0, "name"), "weight", "columns must be those that attributes test, each once"),
        ((1, "name"), "age", "columns must be those that attributes test, each once"),
        ((0, "missing"), 1.5, "columns[0].missing must be a share from 0 to 1, got 1.5"),
        ((0, "missing"), True, "columns[0].missing must be a share from 0 to 1, got True"),
        ((0, "least"), "18", "columns[0].least must be a number where greatest is one"),
        ((0, "least"), None, "columns[0].least must be a number where greatest is one"),
        ((0, "greatest"), 3, "columns[0].greatest must be at least 18, got 3"),
        ((0, "values"), [1], "columns[0] must have either ends or values, got both"),
        ((1, "values"), ["a", "a"], "columns[1].values must be of one kind, each once"),
        ((1, "values"), ["a", 1], "columns[1].values must be of one kind, each once"),
        ((1, "unlisted"), -1, "columns[1].unlisted must be a whole number of at least 0"),
    ],
)
def test_what_columns_held_is_refused_where_it_cannot_be(place, value, message):
    record = model_record(small(seen=SEEN))
    inside: Any = record
    for key in ("columns", *place)[:-1]:
        inside = inside[key]
    inside[("columns", *place)[-1]] = value
    with pytest.raises(DataError, match=re.escape(message)):
        parse_model(record)


def between(value: Any, **more: Any) -> dict[str, Any]:
    return {"name": "a", "column": "age", "test": "between", "value": value, **more}


CHANGES: dict[str, tuple[Any, Any, str]] = {
    "no attributes": (("attributes",), [], "attributes must be 1 to 24, got 0"),
    "too many": (
        ("attributes",),
        [{"name": str(i), "column": "c", "test": "missing"} for i in range(25)],
        "1 to 24",
    ),
    "an unknown test": (
        ("attributes", 0, "test"),
        "below",
        "attributes[0].test must be one of above, between, equal",
    ),
    "a cut that is text": (
        ("attributes", 0, "value"),
        "1",
        "attributes[0].value must be a number for the test 'above'",
    ),
    "a cut that is true": (
        ("attributes", 0, "value"),
        True,
        "attributes[0].value must be a number for the test 'above'",
    ),
    "a cut beyond all": (
        ("attributes", 0, "value"),
        10**400,
        "attributes[0].value must be a whole number of at most 64",
    ),
    "an interval of one end": (
        ("attributes", 0),
        between(3),
        "attributes[0].value must be a list of two ends for the test 'between', got 3",
    ),
    "an interval of three": (
        ("attributes", 0),
        between([1, 2, 3]),
        "attributes[0].value must be a list of two ends",
    ),
    "an interval that is text": (
        ("attributes", 0),
        between("12"),
        "attributes[0].value must be a list of two ends",
    ),
    "an interval without an end": (
        ("attributes", 0),
        between([1, None]),
        "attributes[0].value[1] must be a number for the test 'between', got None",
    ),
    "an interval from the top down": (
        ("attributes", 0),
        between([3, 1.5]),
        "attributes[0].value must be a lower and a higher end, got [3, 1.5]",
    ),
    "an interval between zeros": (
        ("attributes", 0),
        between([-0.0, 0]),
        "value must be a lower and a higher end",
    ),
    "an interval above all": (
        ("attributes", 0),
        between(["inf", "inf"]),
        "value must be a lower and a higher end",
    ),
    "an interval beyond all": (
        ("attributes", 0),
        between([0, 2**64]),
        "attributes[0].value[1] must be a whole number of at most 64 bits",
    ),
    "an interval of dates and a number": (
        ("attributes", 0),
        between(["2024-01-01", 3], measure="date"),
        "attributes[0].value[1] must be the text of a value of date, got 3",
    ),
    "an interval of dates back in time": (
        ("attributes", 0),
        between(["2024-01-01", "2023-01-01"], measure="date"),
        "attributes[0].value must be a lower and a higher end, got ['2024-01-01', '2023-01-01']",
    ),
    "an interval of dates without end": (
        ("attributes", 0),
        between(["-inf", "2023-01-01"], measure="date"),
        "attributes[0].value[0] must be the text of a value of date, got '-inf'",
    ),
    "an interval of nothing known": (
        ("attributes", 0),
        between(None, measure="day"),
        "attributes[0].measure must be date, ",
    ),
    "an interval of texts": (
        ("attributes", 1),
        between([1, 2], column="smoker"),
        (
            "attributes must test a column in one way, but 'smoker' is tested for numbers and "
            "truth values"
        ),
    ),
    "a category beyond all": (
        ("attributes", 1, "value"),
        -(10**30),
        "attributes[1].value must be a whole number of at",
    ),
    "a category that is a list": (
        ("attributes", 1, "value"),
        ["x"],
        "attributes[1].value must be a number, text, true",
    ),
    "a category that is code": (
        ("attributes", 1, "value"),
        {"float": "nan"},
        "attributes[1].value must be a number",
    ),
    "half a character": (
        ("attributes", 1, "value"),
        "\ud800",
        "attributes[1].value must be Unicode text, got half of",
    ),
    "half a name": (
        ("attributes", 1, "column"),
        "a\udfff",
        "attributes[1].column must be Unicode text, got half of",
    ),
    "half a target": (
        ("target",),
        "\ud83d",
        "target must be Unicode text, got half of a surrogate pair in '\\ud83d'",
    ),
    "a name twice": (
        ("attributes", 1, "name"),
        "smoker",
        "attributes must have different names, but one occurs twice",
    ),
    "no name": (("attributes", 1, "name"), None, "attributes[1].name must be text, got None"),
    "a column of two kinds": (
        ("attributes", 1, "column"),
        "age",
        "'age' is tested for numbers and texts",
    ),
    "two kinds of categories": (
        ("attributes", 1, "column"),
        "smoker",
        "'smoker' is tested for texts and truth values",
    ),
    "an absence with a value": (
        ("attributes", 3, "value"),
        1,
        "attributes[3].value must be null for the test 'missing'",
    ),
    "lookalikes that are a list": (
        ("lookalikes",),
        ["Age"],
        "lookalikes must be an object, got ['Age']",
    ),
    "lookalikes of no column": (
        ("lookalikes",),
        {"size": ["Size"]},
        "lookalikes must be of columns that attributes test, got 'size'",
    ),
    "a lookalike that is no list": (
        ("lookalikes",),
        {"age": "Age"},
        "lookalikes['age'] must be a list, got 'Age'",
    ),
    "a lookalike that is no text": (
        ("lookalikes",),
        {"age": [1]},
        "lookalikes['age'][0] must be text, got 1",
    ),
    "half a lookalike": (
        ("lookalikes",),
        {"age": ["\ud800"]},
        "lookalikes['age'][0] must be Unicode text",
    ),
    "no lookalike": (
        ("lookalikes",),
        {"age": []},
        "lookalikes['age'] must list other columns, each once, got []",
    ),
    "a lookalike twice": (
        ("lookalikes",),
        {"age": ["Age", "Age"]},
        "must list other columns, each once",
    ),
    "a lookalike of itself": (
        ("lookalikes",),
        {"age": ["Age", "age"]},
        "must list other columns, each once",
    ),
    "an attribute beyond": (
        ("terms", 0, 0, "attribute"),
        4,
        "terms[0][0].attribute must be below 4, got 4",
    ),
    "an attribute before": (
        ("terms", 0, 0, "attribute"),
        -1,
        "terms[0][0].attribute must be a whole number of at least 0",
    ),
    "an attribute that is true": (
        ("terms", 0, 0, "attribute"),
        True,
        "terms[0][0].attribute must be a whole number",
    ),
    "an attribute twice": (
        ("terms", 0, 0, "attribute"),
        2,
        "terms[0] must name an attribute once, got 2 twice",
    ),
    "a literal that is a number": (
        ("terms", 0, 0, "value"),
        1,
        "terms[0][0].value must be true or false, got 1",
    ),
    "terms that are text": (("terms",), "or", "terms must be a list, got 'or'"),
    "a formula of other terms": (("formula",), "true", "formula must say what terms say"),
    "a type too short": (
        ("counts", 0, "type"),
        [True],
        "counts[0].type must list 4 truth values, got [True]",
    ),
    "a type of numbers": (
        ("counts", 0, "type"),
        [0, 0, 0, 0],
        "counts[0].type must list 4 truth values",
    ),
    "more true rows than rows": (
        ("counts", 0, "c"),
        8,
        "counts[0] must have c <= n < 2**62, got c = 8 and n = 7",
    ),
    "rows beyond all": (("counts", 0, "n"), 2**62, "counts[0] must have c <= n < 2**62"),
    "half a row": (
        ("counts", 0, "n"),
        7.5,
        "counts[0].n must be a whole number of at least 0, got 7.5",
    ),
    "types out of order": (
        ("counts", 1, "type"),
        [False] * 4,
        "counts must list each type once, in increasing order",
    ),
    "no label": (("positive",), [], "positive must list at least one label, got none"),
    "a label that is null": (
        ("positive",),
        [None],
        "positive[0] must be a number, text, true or false, got None",
    ),
    "a bomb of a threshold": (
        ("threshold",),
        "1e999999999",
        "threshold must be a fraction such as '1/2', got '1e9999",
    ),
    "a threshold that is code": (
        ("threshold",),
        "__import__('os')",
        "threshold must be a fraction such as '1/2'",
    ),
    "a threshold by zero": (
        ("threshold",),
        "1/0",
        "threshold must be a fraction such as '1/2', got '1/0'",
    ),
    "a threshold of one": (("threshold",), "7/7", "threshold must lie between 0 and 1, got '7/7'"),
    "a threshold that is a number": (("threshold",), 0.5, "threshold must be text, got 0.5"),
    "an unknown way with missing values": (
        ("missing",),
        "guess",
        "missing must be one of drop, error, indicator, got",
    ),
    "an unknown way with unseen types": (
        ("unseen",),
        ["negative"],
        "unseen must be one of negative, dont_care, follow",
    ),
    "no unit": (("unit",), 0, "unit must be a whole number from 1 to 2**62, got 0"),
    "a certificate that is a list": (("certificate",), [], "certificate must be an object, got []"),
    "half a character in the notes": (
        ("provenance",),
        {"a": ["\ud800"]},
        "provenance must be what JSON can hold, but",
    ),
    "a very long text": (("target",), ["x" * 10_000], "target must be text, got ['xxxx"),
}


@pytest.mark.parametrize(("path", "value", "message"), CHANGES.values(), ids=CHANGES)
def test_a_change_that_no_writer_makes_is_refused_and_named(tmp_path, path, value, message):
    record = model_record(small())
    place = record
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    file = written(tmp_path, record)
    with pytest.raises(DataError) as caught:
        read_model(file)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{file}: ")
    assert len(str(caught.value)) < 400 + len(str(file))


LATER: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "types of nothing": (
        ("types",),
        "nothing",
        "types must be one of attributes, lines, signs, got 'nothing'",
    ),
    "signs of several lines": (
        ("types",),
        "signs",
        "lines must be one checklist of all attributes where types are signs, got 2",
    ),
    "a line that is a list": (("lines", 0), [], "lines[0] must be an object, got []"),
    "a line of another kind": (
        ("lines", 1),
        {"any": []},
        "lines[1].all must be a list, but it is not there",
    ),
    "a checklist that asks for nothing": (
        ("lines", 1),
        {"at_least": 1, "of": []},
        "lines[1].at_least must be more than 1 and less than the 0 that lines[1].of lists, got 1",
    ),
    "a checklist without its conditions": (
        ("lines", 1),
        {"at_least": 2},
        "lines[1].of must be a list, but it is not there",
    ),
    "a checklist and a line at once": (
        ("lines", 1),
        {"all": [], "at_least": 2, "of": []},
        "lines[1] must have either 'all' or 'at_least' and 'of', got both",
    ),
    "an attribute that there is not": (
        ("lines", 1, "all", 0, "attribute"),
        5,
        "lines[1].all[0].attribute must be below 5, got 5",
    ),
    "terms that say something else": (
        ("terms", 0, 0, "value"),
        False,
        "terms must say what lines say, but they do not",
    ),
    "a formula that says something else": (
        ("formula",),
        "smoker",
        "formula must say what lines say",
    ),
    "the other answer, but terms": (
        ("answer",),
        False,
        "answer must be true unless types are lines and terms are left out",
    ),
    "an answer that is text": (("answer",), "no", "answer must be true or false, got 'no'"),
    "a pattern of other lines": (
        ("counts", 0, "type"),
        [True],
        "counts[0].type must list 2 truth values, got [True]",
    ),
    "a tree": (("tree",), 0, "tree must be left out where types are lines"),
    "too many lines": (
        ("lines",),
        [{"all": []}] * 57,
        "terms must say what lines say, but they do not",
    ),
    "too many attributes": (
        ("attributes",),
        [{"name": str(i), "column": "x", "test": "true", "value": True} for i in range(501)],
        "attributes must be 0 to 500, got 501",
    ),
    "a set that is text": (
        ("attributes", 4, "value"),
        "red",
        "attributes[4].value must be a list of values for the test 'in', got 'red'",
    ),
    "a set of one value": (
        ("attributes", 4, "value"),
        ["red"],
        "attributes[4].value must be a list of at least two values of one kind, each once",
    ),
    "a set with a value twice": (
        ("attributes", 4, "value"),
        [1, 1.0],
        "attributes[4].value must be a list of at least two values of one kind, each once",
    ),
    "a set of two kinds": (
        ("attributes", 4, "value"),
        ["red", 1],
        "attributes[4].value must be a list of at least two values of one kind, each once",
    ),
    "a set with an object": (
        ("attributes", 4, "value"),
        ["red", {}],
        "attributes[4].value[1] must be a number, text, true or false",
    ),
    "a set in the first version": (
        ("schema",),
        "dnfscale.model/1",
        "attributes must not have the test 'in' where schema is 'dnfscale.model/1'",
    ),
}


@pytest.mark.parametrize(("path", "value", "message"), LATER.values(), ids=LATER)
def test_a_change_of_lines_that_no_writer_makes_is_refused_and_named(path, value, message):
    record = copy.deepcopy(model_record(lined()))
    place = record
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(DataError, match=f"^{re.escape(message)}"):
        parse_model(record)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("counts", 2, "type"), 5, "counts[2].type must be a number of signs up to 4, got 5"),
        (("counts", 2, "type"), [True], "counts[2].type must be"),
        (("lines", 0, "at_least"), 4, "lines[0].at_least must be more than 1 and less than the 4"),
        (("lines", 0, "at_least"), "two", "lines[0].at_least must be"),
        (("lines", 0, "of", 0, "attribute"), 9, "lines[0].of[0].attribute must be"),
        (("tree",), {}, "tree must be left out where types are signs"),
    ],
)
def test_a_change_of_a_checklist_that_no_writer_makes_is_refused_and_named(path, value, message):
    record = copy.deepcopy(model_record(ticked()))
    place = record
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(DataError, match=f"^{re.escape(message)}"):
        parse_model(record)


def test_more_lines_than_a_pattern_can_have_are_refused():
    record = model_record(lined())
    del record["terms"]
    record["lines"] = [{"all": []}] * 57
    with pytest.raises(DataError, match=r"^lines must be at most 56, got 57$"):
        parse_model(record)


@pytest.mark.parametrize("key", ["lines", "attributes", "counts", "formula"])
def test_what_a_model_of_lines_needs_must_be_there(key):
    record = model_record(lined())
    del record[key]
    with pytest.raises(DataError, match=rf"^{key} must be .*, but it is not there$"):
        parse_model(record)


@pytest.mark.parametrize(
    "key",
    ["schema", "target", "positive", "attributes", "terms", "counts", "formula", "certificate"],
)
def test_what_a_model_needs_must_be_there(key):
    record = model_record(small())
    del record[key]
    with pytest.raises(DataError, match=rf"^{key} must be .*, but it is not there$"):
        parse_model(record)


JUNK = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just("\ud800")
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.slow
@given(model=st.sampled_from([small(), lined(), ticked()]), data=st.data())
@settings(max_examples=300)
def test_junk_anywhere_is_refused_or_makes_a_model_that_can_be_written(model, data):
    record = copy.deepcopy(model_record(model))
    place: Any = record
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = data.draw(JUNK)
        break
    try:
        model = parse_model(record)
    except DataError:
        return
    again = parse_model(json.loads(model_text(model)))
    assert model_text(again) == model_text(model)
    assert model_text(model).encode()


def test_what_is_known_of_whole_numbers_comes_back(tmp_path):
    count = Above("visits_above_median", "visits", 0.5, whole=True, least=0)
    span = Between("visits_p20_to_p80", "visits", 0, 1, whole=True)
    tau = Vocabulary((count, span, *small().tau.attributes[2:]))
    file = tmp_path / "m.json"
    file.write_text(model_text(small(tau=tau)), encoding="utf-8")
    assert read_model(str(file)).tau == tau


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"whole": 1}, r"attributes\[0\].whole must be true or false, got 1"),
        ({"whole": True, "least": 0.5}, r"attributes\[0\].least must be a whole number"),
        ({"least": 0}, r"attributes\[0\].least must be a whole number"),
    ],
)
def test_what_is_not_known_of_whole_numbers_is_refused(more, message):
    record = model_record(small())
    record["attributes"][0] |= more
    with pytest.raises(DataError, match=message):
        parse_model(record)
