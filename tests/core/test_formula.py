"""Formulas: what they accept, and how they are written."""

from __future__ import annotations

import ast
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.formula import Dnf, Term, of_types, quote

ELL = 5
ALL_TYPES = np.arange(1 << ELL)


@st.composite
def terms(draw: st.DrawFn) -> Term:
    care = draw(st.integers(0, (1 << ELL) - 1))
    value = draw(st.integers(0, (1 << ELL) - 1)) & care
    most = care.bit_count() - 1
    asks = st.one_of(st.none(), st.integers(2, most)) if most > 1 else st.none()
    return Term(care, value, draw(asks))


formulas = st.lists(terms(), max_size=4).map(lambda chosen: Dnf(tuple(chosen)))
awkward_names = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "and",
            "or",
            "not",
            "true",
            "false",
            "",
            "x",
            'a"b',
            "a\\nb",
            "a\nb",
            "a\\",
            "(b)",
            "größe",
            "年齢",
            "#1",
            "a b",
        ]
    ),
)


def obvious(dnf: Dnf, t: int) -> bool:
    """The judge: read the literals one by one."""
    return any(
        sum(bool(t >> i & 1) == holds for i, holds in term.literals)
        >= (len(term.literals) if term.at_least is None else term.at_least)
        for term in dnf.terms
    )


@given(formulas)
def test_a_formula_accepts_a_type_when_all_literals_of_some_term_hold(dnf):
    judged = [obvious(dnf, t) for t in ALL_TYPES.tolist()]
    assert dnf.accepts(ALL_TYPES).tolist() == judged
    assert [any(term.holds(t) for term in dnf.terms) for t in ALL_TYPES.tolist()] == judged
    assert dnf.multiplied_out().accepts(ALL_TYPES).tolist() == judged
    assert not dnf.multiplied_out().has_checklist


@pytest.mark.parametrize("at_least", [0, 1, 3, 4])
def test_a_checklist_asks_for_more_than_one_of_its_literals_and_not_for_all(at_least):
    with pytest.raises(ValueError, match=f"{at_least} of 3 make no checklist"):
        Term(0b111, 0b101, at_least)


@given(terms())
def test_a_term_lists_its_literals_in_rank_order(term):
    assert [i for i, _ in term.literals] == [i for i in range(ELL) if term.care >> i & 1]
    assert sum(1 << i for i, _ in term.literals) == term.care
    assert sum(1 << i for i, holds in term.literals if holds) == term.value
    assert Dnf((term, term)).n_literals == 2 * len(term.literals)


def test_no_term_is_false_and_the_term_without_literals_is_true():
    assert not Dnf(()).accepts(ALL_TYPES).any()
    assert Dnf((Term(0, 0),)).accepts(ALL_TYPES).all()
    assert Dnf(()).accepts(np.empty(0, dtype=np.int64)).tolist() == []


def test_a_value_without_care_is_refused():
    with pytest.raises(ValueError, match="value 110 has bits outside care 101"):
        Term(0b101, 0b110)


@given(st.sets(st.integers(0, (1 << ELL) - 1)))
def test_the_formula_of_some_types_accepts_exactly_these(types):
    dnf = of_types(np.array(list(types), dtype=np.int64), ELL)
    assert np.flatnonzero(dnf.accepts(ALL_TYPES)).tolist() == sorted(types)
    assert [term.value for term in dnf.terms] == sorted(types)


@pytest.mark.parametrize(
    ("dnf", "text"),
    [
        (Dnf(()), "false"),
        (Dnf((Term(0, 0),)), "true"),
        (Dnf((Term(0b1, 0b1),)), "a"),
        (Dnf((Term(0b1, 0),)), "not a"),
        (Dnf((Term(0b11, 0b01),)), "a and not b"),
        (Dnf((Term(0b1, 0b1), Term(0b10, 0))), "a or not b"),
        (Dnf((Term(0b100, 0b100), Term(0b11, 0b10))), '"c d" or (not a and b)'),
        (Dnf((Term(0b11, 0b11), Term(0b11, 0))), "(a and b) or (not a and not b)"),
        (Dnf((Term(0b111, 0b101, 2),)), 'at least 2 of (a, not b, "c d")'),
        (Dnf((Term(0b1, 0), Term(0b111, 0b111, 2))), 'not a or at least 2 of (a, b, "c d")'),
    ],
)
def test_formulas_are_written_in_words(dnf, text):
    assert dnf.render(["a", "b", "c d"]) == text


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+')


def read_name(token: str) -> str:
    """Undo quote: what is written in a formula, as the name that was meant."""
    return ast.literal_eval(token) if token.startswith('"') else token


def read(text: str, names: list[str]) -> set[frozenset[tuple[int, bool]]]:
    """Read a formula back: its terms as sets of literals."""
    found: list[set[tuple[int, bool]]] = [set()]
    holds = True
    for token in TOKEN.findall(text):
        if token == "or":
            found.append(set())
        elif token == "not":
            holds = False
        elif token not in {"and", "(", ")", "true"}:
            found[-1].add((names.index(read_name(token)), holds))
            holds = True
    return {frozenset(term) for term in found}


@given(
    formulas.filter(lambda dnf: dnf.terms).map(Dnf.multiplied_out),
    st.lists(awkward_names, min_size=ELL, max_size=ELL, unique=True),
)
def test_a_formula_with_names_of_any_letters_can_be_read_back(dnf, names):
    assert read(dnf.render(names), names) == {frozenset(term.literals) for term in dnf.terms}


@given(awkward_names)
def test_a_quoted_name_stays_on_one_line_and_says_what_it_was(name):
    written = quote(name)
    assert written.isprintable()
    assert read_name(written) == name


@given(awkward_names, awkward_names)
def test_different_names_are_written_differently(one, other):
    assert (quote(one) == quote(other)) == (one == other)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("bare_nuclei_above_median", "bare_nuclei_above_median"),
        ("größe", "größe"),
        ("年齢", "年齢"),
        ("_x1", "_x1"),
        ("1x", '"1x"'),
        ("", '""'),
        ("and", '"and"'),
        ("not", '"not"'),
        ("true", '"true"'),
        ("poutcome_non existent", '"poutcome_non existent"'),
        ("size(cm)", '"size(cm)"'),
        ("a[0]", '"a[0]"'),
        ("a.b", '"a.b"'),
        ('say "hi"', r'"say \"hi\""'),
        ("back\\slash", r'"back\\slash"'),
        ("two\nlines", r'"two\nlines"'),
        ("word\n", r'"word\n"'),
    ],
)
def test_a_name_is_plain_if_it_reads_as_one_word_and_quoted_otherwise(name, written):
    assert quote(name) == written
