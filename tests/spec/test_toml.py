from __future__ import annotations

import math
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.spec.toml import key_lines, write_toml, write_value

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
"""Any text that UTF-8 can hold: quotes, backslashes, control characters, line separators and all.
"""
PLAIN = st.one_of(st.booleans(), st.integers(), st.floats(), TEXTS)
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=4), max_leaves=8)
DOCUMENTS = st.recursive(
    st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4),
    lambda inner: st.dictionaries(TEXTS, st.one_of(VALUES, inner), min_size=1, max_size=4),
    max_leaves=12,
)


def exactly(value: Any) -> Any:
    """A value in which a float is its bits, so that nan equals nan and 0.0 does not equal -0.0."""
    if isinstance(value, dict):
        return {key: exactly(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exactly(item) for item in value]
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value.hex()
    return (type(value), value)


@given(DOCUMENTS)
def test_what_is_written_is_read_back_by_tomllib(document):
    assert exactly(tomllib.loads(write_toml(document))) == exactly(document)


@pytest.mark.parametrize(
    "text", ["\x00", "\x7f", "\x85", "\u2028", "\r\n", '"""', "'''", "\\u0041", "\ufeff", "🂡", "\t"]
)
def test_hostile_characters_survive_in_keys_and_in_values(text):
    document = {f"k{text}": f"a{text}b", f"t{text}": {f"{text}": [text]}}
    assert tomllib.loads(write_toml(document)) == document


def test_keys_without_a_value_are_left_out():
    assert tomllib.loads(write_toml({"a": None, "b": 1, "c": {"d": None, "e": 2}})) == {
        "b": 1,
        "c": {"e": 2},
    }


def test_a_value_can_be_written_on_one_line():
    value = ["a", {"spec": "b", "x y": [{"z": 1}]}, True, 0.5]
    assert write_value(value) == '["a", {spec = "b", "x y" = [{z = 1}]}, true, 0.5]'
    assert tomllib.loads(f"value = {write_value(value)}") == {"value": value}
    assert tomllib.loads(write_toml({"jobs": value})) == {"jobs": value}


def test_keys_of_the_document_come_before_its_tables():
    document = {"table": {"a": 1}, "plain": 2}
    assert tomllib.loads(write_toml(document)) == document


@pytest.mark.parametrize("value", [b"bytes", {1}, [None], [{"a": None}]])
def test_a_value_that_toml_has_no_form_for_is_refused(value):
    with pytest.raises(TypeError, match="not TOML serializable"):
        write_toml({"key": value})


def test_lines_are_found_among_comments_strings_and_arrays():
    text = """\
# name = "not this one"
name = "job"  # seed = 3
seed = 1

[ data ]
path = '''
target = "inside a string"
[select]
'''
drop = [
    "a",  # boolean = 1
    "]",
    "[",
]
positive = ["x"]
[select]   # [formula]
note = "[cluster] # no comment"
rank = [["f"],
  ["chi2"]]
max_ell = 3
baselines.random_forest.trials = 4
[cluster.tls]
ca_file = "x"
"""
    assert key_lines(text) == {
        "name": 2,
        "seed": 3,
        "data": 5,
        "data.path": 6,
        "data.drop": 10,
        "data.positive": 15,
        "select": 16,
        "select.note": 17,
        "select.rank": 18,
        "select.max_ell": 20,
        "select.baselines.random_forest.trials": 21,
        "cluster.tls": 22,
        "cluster.tls.ca_file": 23,
    }


def test_an_empty_document_has_no_lines():
    assert key_lines("") == {}
    assert key_lines("\n# only = 'a comment'\n") == {}


@pytest.mark.parametrize(
    "value",
    [
        '"""a\n[t]\nk = 1\n"""',
        '"""\\"""\nk = 1\n"""',
        '""""quoted""""',
        "'''a\n'k = 1'\n'''",
        "''''it''''",
        "'C:\\'",
        '"\\\\"',
        '"#"',
        "'['",
        "[\n  1, # k = [\n  2,\n]",
        '[\n  "]",\n  """\n]""",\n]',
        "[[1,\n 2], [\n3]]",
        '{ a = "}", b = [1, 2] }',
        "1979-05-27T07:32:00Z",
        '"a = \\"b\\""',
    ],
)
def test_a_key_is_found_after_any_value(value):
    text = f"before = {value}\nk = 1\n\n[t]\nbefore = {value} # [u]\nk = 2\n"
    assert {"before", "k", "t"} == set(tomllib.loads(text)), "the example itself must be TOML"
    height = value.count("\n")
    assert key_lines(text) == {
        "before": 1,
        "k": 2 + height,
        "t": 4 + height,
        "t.before": 5 + height,
        "t.k": 6 + 2 * height,
    }
