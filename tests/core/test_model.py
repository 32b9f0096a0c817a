from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term, of_types
from dnfscale.core.model import MOST_LINES, NO_TERM, Model, formula_of
from dnfscale.core.vocabulary import Above, Equals, IsMissing, Vocabulary

TAU = Vocabulary(
    (
        Above("x_above_median", "x", 1.5),
        Equals("s_red", "s", "red"),
        IsMissing("x_missing", "x"),
        Equals("s_blue", "s", "blue"),
    )
)


@st.composite
def counted(draw: st.DrawFn, ell: int = 3) -> TypeCounts:
    """Counts of some types, among them ties and types of one class only."""
    codes = sorted(draw(st.sets(st.integers(0, (1 << ell) - 1), min_size=1)))
    n = [draw(st.one_of(st.integers(1, 9), st.just(2**40))) for _ in codes]
    c = [
        draw(st.one_of(st.integers(0, most), st.just(0), st.just(most), st.just(most // 2)))
        for most in n
    ]
    return TypeCounts(ell, *(np.array(column, dtype=np.int64) for column in (codes, n, c)))


def model_of(counts: TypeCounts, dnf: Dnf, **how: object) -> Model:
    tau = Vocabulary(tuple(Above(f"a{i}", f"a{i}", 0) for i in range(counts.ell)))
    return Model("y", (True,), tau, dnf, counts, **how)  # type: ignore[arg-type]


def terms(ell: int) -> st.SearchStrategy[Term]:
    masks = st.integers(0, (1 << ell) - 1)
    return st.builds(lambda care, value: Term(care, care & value), masks, masks)


@given(
    counted(),
    st.lists(terms(3), max_size=5),
    st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000),
    st.sampled_from([1, 7, 2**20, 2**60]),
)
def test_a_type_is_accepted_exactly_when_its_probability_is_at_least_the_threshold(
    counts, chosen, threshold, unit
):
    """Also where the formula says something else than the counts: of types that no row had, and
    under dont_care.
    """
    model = model_of(counts, Dnf(tuple(chosen)), threshold=threshold, unit=unit)
    given = model.table().probability
    assert ((given > 0) & (given < 1)).all()
    assert (given >= float(threshold)).tolist() == model.table().accepted.tolist()
    assert (given > float(threshold)).tolist() == model.table().accepted.tolist()


@given(
    counted(),
    st.sampled_from([Fraction(1, 2), Fraction(3, 10), Fraction(9, 10)]),
    st.sampled_from([1, 16]),
)
def test_a_probability_is_the_smoothed_share_unless_that_lies_beyond_the_threshold(
    counts, threshold, unit
):
    accepted = [
        code
        for code, n, c in zip(
            counts.codes.tolist(), counts.n.tolist(), counts.c.tolist(), strict=True
        )
        if Fraction(c, n) >= threshold
    ]
    given = model_of(
        counts, of_types(np.array(accepted, dtype=np.int64), 3), threshold=threshold, unit=unit
    )
    seen = {
        code: (n, c)
        for code, n, c in zip(
            *(a.tolist() for a in (counts.codes, counts.n, counts.c)), strict=True
        )
    }
    for code, found in enumerate(given.table().probability.tolist()):
        n, c = seen.get(code, (0, 0))
        exact = Fraction(c + unit, n + 2 * unit)
        right_side = exact > threshold if code in accepted else exact < threshold
        assert found == pytest.approx(float(exact if right_side else threshold), rel=1e-15)


def test_a_type_that_no_row_had_has_even_odds_on_the_side_of_its_answer():
    counts = TypeCounts(1, np.array([0]), np.array([5]), np.array([1]))
    rejected, accepted = (
        model_of(counts, dnf).table().probability[1] for dnf in (Dnf(()), Dnf((Term(1, 1),)))
    )
    assert rejected < 0.5 < accepted
    assert rejected == pytest.approx(0.5)
    assert accepted == pytest.approx(0.5)


def test_counts_and_units_at_the_limit_of_a_model_file_do_not_overflow():
    counts = TypeCounts(1, np.array([0, 1]), np.array([2**61, 2**61]), np.array([2**61, 0]))
    given = model_of(counts, Dnf((Term(1, 0),)), unit=2**62 - 1).table().probability
    assert given.tolist() == pytest.approx([0.6, 0.4])


@given(st.lists(terms(4), max_size=6))
def test_the_first_term_is_the_first_that_holds(chosen):
    found = (
        model_of(TypeCounts(4, *(np.array([0]) for _ in range(3))), Dnf(tuple(chosen)))
        .table()
        .first_terms
    )
    for code in range(16):
        holding = [
            i
            for i, term in enumerate(chosen)
            if all((code >> a & 1) == value for a, value in term.literals)
        ]
        assert found[code] == (holding[0] if holding else NO_TERM)


def test_the_columns_are_those_that_the_formula_tests_each_once_in_rank_order():
    counts = TypeCounts(4, *(np.array([0]) for _ in range(3)))

    def columns(*chosen: Term) -> tuple[str, ...]:
        return Model("y", (True,), TAU, Dnf(chosen), counts).columns

    assert columns(Term(0b1010, 0b0010), Term(0b0100, 0b0100)) == ("s", "x")
    assert columns(Term(0b0101, 0b0001)) == ("x",)
    assert columns(Term(0b0001, 0), Term(0b0010, 0)) == ("x", "s")
    assert columns() == columns(Term(0, 0)) == ()


def by_lines(n_lines: int, counted: dict[int, tuple[int, int]]) -> Model:
    """A model of so many lines, each of an attribute of its own, with counts of some patterns."""
    own = [[(Above(f"a{i}", f"a{i}", 0), True)] for i in range(n_lines)]
    tau, dnf = formula_of(own)
    codes = sorted(counted)
    n, c = (np.array([counted[code][i] for code in codes], dtype=np.int64) for i in (0, 1))
    counts = TypeCounts(n_lines, np.array(codes, dtype=np.int64), n, c)
    return Model("y", (True,), tau, dnf, counts, types="lines")


@given(
    st.integers(1, MOST_LINES),
    st.dictionaries(st.integers(0, 2**MOST_LINES - 1), st.integers(1, 9), max_size=6),
    st.sets(st.integers(0, 2**MOST_LINES - 1), max_size=6),
)
def test_a_pattern_is_looked_up_as_it_was_counted_however_many_lines_there_are(n_lines, n, asked):
    mask = (1 << n_lines) - 1
    counted = {code & mask: (rows, rows // 2) for code, rows in n.items()}
    model = by_lines(n_lines, counted)
    table = model.table()
    types = np.array([0, mask, *(code & mask for code in (*n, *asked))], dtype=np.int64)
    places = table.places(types)
    for t, place, first in zip(types.tolist(), places, table.first(types).tolist(), strict=True):
        rows = counted.get(t, (0, 0))
        assert model.rows_of(t) == rows == (table.n[place], table.c[place])
        assert table.accepted[place] == (t != 0)
        assert table.probability[place] == model.probability(*rows, t != 0)
        assert first == next((i for i in range(n_lines) if t >> i & 1), NO_TERM)


@given(st.integers(1, 5), st.data())
def test_the_answers_for_unseen_types_are_those_that_the_formula_gives(n_lines, data):
    seen = data.draw(st.sets(st.integers(0, (1 << n_lines) - 1)))
    model = by_lines(n_lines, dict.fromkeys(seen, (1, 0)))
    unseen = set(range(1 << n_lines)) - seen
    assert model.unseen_answers() == sorted({code != 0 for code in unseen})


def test_attributes_that_ask_the_same_are_one_and_names_are_made_different():
    age, again, older = Above("age", "age", 38), Above("x", "age", 38), Above("age", "age", 60)
    tau, dnf = formula_of([[(age, True), (older, False)], [(again, False)], []])
    assert tau.attributes == (age, replace(older, name="age#2"))
    assert dnf.terms == (Term(0b11, 0b01), Term(0b01, 0), Term(0, 0))
    with pytest.raises(ValueError, match="a line asks for x and for its negation"):
        formula_of([[(age, True), (again, False)]])
