"""Attribute names: as the paper writes them, and no two alike."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.vocabulary import (
    Above,
    Between,
    Equals,
    IsMissing,
    IsTrue,
    Vocabulary,
    cuts_of,
    distinct_names,
)

names_and_forms = st.lists(
    st.tuples(st.sampled_from(["a", "a#2", "b", "a = 1"]), st.sampled_from(["a = 1", "b", "c"]))
)


def test_tau_has_the_names_of_its_attributes_in_rank_order():
    tau = Vocabulary(
        (Above("x_above_median", "x", 3), Equals("c_red", "c", "red"), IsTrue("f", "f", True))
    )
    assert len(tau) == 3
    assert tau.names == ("x_above_median", "c_red", "f")
    assert len(Vocabulary(())) == 0


def test_attributes_are_equal_when_they_ask_the_same():
    assert Above("x", "x", 3) == Above("x", "x", 3) != Above("x", "x", 4)
    assert IsMissing("x", "x") != IsTrue("x", "x", True)
    assert Between("x", "x", 3, 4) == Between("x", "x", 3, 4) != Between("x", "x", 3, 5)


def test_what_never_holds_has_no_cuts():
    assert cuts_of(Above("x", "x", 3)) == (3,)
    assert cuts_of(Between("x", "x", 0, 0.5)) == (0, 0.5)
    for never in (Above("x", "x", None), Between("x", "x", None, None), Between("x", "x", None, 3)):
        assert cuts_of(never) == ()


def test_names_that_differ_stay_as_they_are():
    assert distinct_names(["a", "b"], ["a long", "b long"]) == ["a", "b"]
    assert distinct_names([], []) == []


def test_names_that_occur_twice_are_spelled_out():
    assert distinct_names(["a_b_c", "a_b_c", "d"], ["a = b_c", "a_b = c", "d = 1"]) == [
        "a = b_c",
        "a_b = c",
        "d",
    ]


def test_names_that_still_agree_are_numbered():
    assert distinct_names(["a", "a", "a"], ["b", "b", "b"]) == ["b", "b#2", "b#3"]


@given(names_and_forms)
def test_names_are_distinct_whatever_the_columns_are_called(pairs):
    names, forms = [name for name, _ in pairs], [form for _, form in pairs]
    chosen = distinct_names(names, forms)
    assert len(set(chosen)) == len(chosen) == len(names)
    once = {name for name, count in Counter(names).items() if count == 1}
    for name, form, written in zip(names, forms, chosen, strict=True):
        assert written.startswith(name if name in once else form)
