"""What is said about columns: the same as the terms say, and in as few literals as can be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dnfscale.core.formula import Dnf, Term
from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, IsTrue, Vocabulary
from dnfscale.method.literals import NO_WORDS, Scales, lines_of, n_candidates, n_literals
from dnfscale.method.words import said_texts
from tests.method.models import vocabularies
from tests.method.rows import Rows, answers


@st.composite
def formulas(draw: st.DrawFn) -> tuple[Vocabulary, Dnf]:
    tau = draw(vocabularies(max_attributes=6))
    full = (1 << len(tau)) - 1
    cares = draw(st.lists(st.integers(0, full), max_size=5))
    return tau, Dnf(tuple(Term(care, draw(st.integers(0, full)) & care) for care in cares))


@given(formulas())
def test_lines_say_what_their_terms_say(formula):
    tau, dnf = formula
    rows = Rows(tau)
    lines = lines_of(tau, dnf)
    assert [place for line in lines for place in line.terms] == list(range(len(dnf.terms)))
    for line in lines:
        own = np.logical_and.reduce([rows.meet(said) for said in line.literals], initial=True)
        terms = Dnf(tuple(dnf.terms[place] for place in line.terms))
        assert (np.broadcast_to(own, rows.n) == answers(tau, terms, rows)).all()


@given(formulas())
def test_no_row_satisfies_two_terms_of_a_line(formula):
    tau, dnf = formula
    rows = Rows(tau)
    for line in lines_of(tau, dnf):
        each = [answers(tau, Dnf((dnf.terms[place],)), rows) for place in line.terms]
        assert (np.sum(each, axis=0) <= 1).all()


@given(vocabularies())
@settings(max_examples=50)
def test_the_length_of_what_is_said_is_known_without_saying_it(tau):
    for scale in Scales(tau.attributes).scales:
        sets = np.arange(1, scale.everything + 1)
        literals, _ = scale.lengths(sets)
        said = [scale.literals(regions) for regions in sets.tolist()]
        assert literals.tolist() == [NO_WORDS if own is None else len(own) for own in said]


@given(vocabularies(max_attributes=4))
@settings(max_examples=50)
def test_no_fewer_conditions_allow_the_same(tau):
    scales = Scales(tau.attributes)
    for scale in scales.scales:
        single = {
            regions: own
            for regions in range(1, scale.everything)
            if (own := scale.literals(regions)) is not None and len(own) == 1
        }
        for regions in range(1, scale.everything + 1):
            own = scale.literals(regions)
            for n in range(0 if own is None else len(own)):
                for parts in itertools.combinations(single, n):
                    assert np.bitwise_and.reduce([scale.everything, *parts]) != regions


COLOUR, WARD = (
    [Equals(f"{column}_{value}", column, value) for value in values]
    for column, values in (("colour", ("red", "blue", "green")), ("ward", ("eyes", "lungs")))
)
X = [Above("x1", "x", 1), Between("x2", "x", 1, 4)]


def written(attributes, terms):
    dnf = Dnf(
        tuple(Term(sum(1 << i for i in t), sum(1 << i for i, h in t.items() if h)) for t in terms)
    )
    lines = lines_of(Vocabulary(tuple(attributes)), dnf)
    return [" and ".join(said_texts(line.literals)) for line in lines], n_literals(lines)


@pytest.mark.parametrize(
    ("attributes", "terms", "expected", "literals"),
    [
        (COLOUR, [{0: True}, {1: True}], ["colour in {blue, red}"], 1),
        (COLOUR, [{0: False, 2: False}], ["colour not in {green, red}"], 1),
        (
            [*COLOUR, *WARD],
            [{0: True, 3: True}, {0: True, 4: True}, {2: True, 3: True}, {2: True, 4: True}],
            ["colour in {green, red} and ward in {eyes, lungs}"],
            2,
        ),
        (
            [*COLOUR, *WARD],
            [{0: True, 3: True}, {1: True, 4: True}],
            ["colour = red and ward = eyes", "colour = blue and ward = lungs"],
            4,
        ),
        ([*X, *WARD], [{0: False, 2: True}, {1: True, 2: True}], ["x ≤ 4 and ward = eyes"], 2),
        (X, [{0: False}, {0: True, 1: False}], ["not (1 < x ≤ 4)"], 1),
        (
            [Above("x1", "x", 1), IsMissing("gone", "x")],
            [{0: False, 1: False}],
            ["x ≤ 1 and x is not missing"],
            2,
        ),
        ([IsTrue("s", "smoker", True), *X], [{0: True}, {1: True}], ["smoker", "x > 1"], 2),
    ],
)
def test_terms_that_differ_in_one_column_are_one_line(attributes, terms, expected, literals):
    assert written(attributes, terms) == (expected, literals)


def test_lines_are_counted_as_types_tell_them_apart():
    assert n_candidates(Vocabulary((IsTrue("a", "a", True), Above("b", "b", 1)))) == 9
    assert n_candidates(Vocabulary(tuple(COLOUR))) == 15
    assert n_candidates(Vocabulary((Between("b", "b", 1, 2),))) == 3
