"""Checklists among terms: the same answers for every type, in fewer literals."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.formula import Dnf, Term
from dnfscale.core.vocabulary import Above, Vocabulary
from dnfscale.method.checklists.recognise import recognised
from dnfscale.method.literals import lines_of, lines_read, n_literals
from dnfscale.method.words import joined_lines
from tests.method.models import vocabularies

ELL = 6
ALL_TYPES = np.arange(1 << ELL)
TAU = Vocabulary(tuple(Above(f"{name}_above", name, 1) for name in "abcdef"))


@st.composite
def terms(draw: st.DrawFn, ell: int = ELL) -> Term:
    care = draw(st.integers(0, (1 << ell) - 1))
    return Term(care, draw(st.integers(0, (1 << ell) - 1)) & care)


@st.composite
def with_thresholds(draw: st.DrawFn, ell: int = ELL) -> Dnf:
    """A formula of terms, many of which are those of one or two checklists, in any order."""
    found = draw(st.lists(terms(ell), max_size=3))
    for _ in range(draw(st.integers(0, 2))):
        one = draw(terms(ell))
        if one.care.bit_count() > 2:
            m = draw(st.integers(2, one.care.bit_count() - 1))
            found += Term(one.care, one.value, m).multiplied_out()
    return Dnf(tuple(draw(st.permutations(found))))


@given(with_thresholds())
def test_a_formula_with_its_checklists_answers_every_type_as_before(dnf):
    found = recognised(dnf)
    assert (found.dnf.accepts(ALL_TYPES) == dnf.accepts(ALL_TYPES)).all()
    assert (found.dnf.multiplied_out().accepts(ALL_TYPES) == dnf.accepts(ALL_TYPES)).all()
    assert found.dnf.n_literals <= dnf.n_literals
    assert {place for places in found.terms for place in places} == set(range(len(dnf.terms)))
    for line, places in zip(found.dnf.terms, found.terms, strict=True):
        own = Dnf(tuple(dnf.terms[place] for place in places))
        assert (line.accepts(ALL_TYPES) == own.accepts(ALL_TYPES)).all()


@given(st.integers(3, ELL), st.data())
def test_all_terms_of_a_threshold_are_one_line(n, data):
    m = data.draw(st.integers(2, n - 1))
    checklist = Term((1 << n) - 1, data.draw(st.integers(0, (1 << n) - 1)), m)
    shuffled = data.draw(st.permutations(list(checklist.multiplied_out())))
    # Two of three in place of three terms of two: six literals become three.
    assert recognised(Dnf(tuple(shuffled))).dnf == Dnf((checklist,))


@given(vocabularies(max_attributes=5), st.data())
def test_lines_are_read_in_as_few_literals_with_checklists_and_stand_for_all_terms(tau, data):
    dnf = data.draw(with_thresholds(len(tau)))
    read = lines_read(tau, dnf)
    assert n_literals(read) <= n_literals(lines_of(tau, dnf))
    assert {place for line in read for place in line.terms} == set(range(len(dnf.terms)))


def pairs(letters: str) -> list[Term]:
    bits = [1 << "abcdef".index(letter) for letter in letters]
    return [Term(one | other, one | other) for one, other in combinations(bits, 2)]


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        (pairs("abc"), "at least 2 of (a > 1, b > 1, c > 1)"),
        (
            [Term(0b1000, 0), *pairs("abc")],
            "d ≤ 1 or at least 2 of (a > 1, b > 1, c > 1)",
        ),
        (
            # Those of the four save most: twelve literals become four.
            [*pairs("abcd"), *(term for term in pairs("def") if term not in pairs("abcd"))],
            "at least 2 of (a > 1, b > 1, c > 1, d > 1) or at least 2 of (d > 1, e > 1, f > 1)",
        ),
        (
            # A term may belong to two: b and c are in both.
            [*pairs("abc"), *(term for term in pairs("bcd") if term not in pairs("abc"))],
            "at least 2 of (a > 1, b > 1, c > 1) or at least 2 of (b > 1, c > 1, d > 1)",
        ),
        (pairs("abc")[:2], "(a > 1 and b > 1) or (a > 1 and c > 1)"),
    ],
)
def test_people_read_at_least_so_many_of_these(terms, text):
    assert joined_lines(lines_read(TAU, Dnf(tuple(terms)))) == text
