"""What a formula is free to say, and what that may cost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.counts import TypeCounts
from dnfscale.core.parts import Part, Unit
from dnfscale.core.quantities import Kind, Measure, Quantity
from dnfscale.core.vocabulary import Above, Equals, IsTrue, Vocabulary
from dnfscale.method.freedom import Freedom, truth_of
from dnfscale.method.ideal import correct_rows
from dnfscale.method.minimize.minimal import Truth, minimize
from dnfscale.method.minimize.possible import row_states
from dnfscale.method.shrink import Shrink
from tests.judges import ideal_types, tally
from tests.strategies import boolean_rows

HALF = Fraction(1, 2)


def flags(ell: int) -> Vocabulary:
    return Vocabulary(tuple(IsTrue(f"a{i}", f"a{i}", True) for i in range(ell)))


def truth(counts: TypeCounts, tau: Vocabulary, shrink: str = "none", **freedom: object) -> Truth:
    return truth_of(
        counts, row_states(tau), shrink=Shrink(shrink), threshold=HALF, freedom=Freedom(**freedom)
    )  # type: ignore[arg-type]


def parent_share(counts: TypeCounts, code: int, ell: int, m: int = 8) -> Fraction:
    """The judge: the share of a type pulled to that of the type of one attribute less, and
    so on.
    """
    same = (counts.codes & ((1 << ell) - 1)) == (code & ((1 << ell) - 1))
    n, c = int(counts.n[same].sum()), int(counts.c[same].sum())
    return Fraction(c, n) if ell == 0 else (c + m * parent_share(counts, code, ell - 1)) / (n + m)


@given(boolean_rows(min_rows=1, max_attributes=4))
def test_the_paper_accepts_the_ideal_types_and_leaves_nothing_free(rows):
    counts = tally(*rows)
    assert truth(counts, flags(counts.ell)) == Truth(counts.ell, tuple(ideal_types(counts)))


@given(
    boolean_rows(min_rows=1, max_rows=60, max_attributes=4),
    st.sampled_from([0.0, 0.01, 0.05, 0.2, 1.0]),
)
def test_freedom_costs_at_most_its_share_of_the_rows_and_never_makes_a_formula_longer(rows, share):
    counts = tally(*rows)
    bound = minimize(truth(counts, flags(counts.ell), unseen="dont_care"))
    freed = minimize(truth(counts, flags(counts.ell), unseen="dont_care", share=share))
    ideal, found = (correct_rows(m.dnf.accepts(counts.codes), counts) for m in (bound, freed))
    assert ideal - found <= Fraction(str(share)) * counts.n_rows
    assert freed.dnf.n_literals <= bound.dnf.n_literals


@given(
    boolean_rows(min_rows=1, max_rows=60, max_attributes=4), st.sampled_from([0.01, 0.05, 0.2, 1.0])
)
def test_what_matters_least_is_free_by_the_shares_of_the_rule(rows, share):
    counts = tally(*rows)
    n = dict(zip(counts.codes.tolist(), counts.n.tolist(), strict=True))
    types = range(1 << counts.ell)
    singles, unseen = sum(own == 1 for own in n.values()), len(types) - len(n)
    stakes = {
        t: (n[t] if t in n else Fraction(singles, unseen))
        * abs(2 * parent_share(counts, t, counts.ell) - 1)
        for t in types
    }
    found = truth(counts, flags(counts.ell), "parent", unseen="follow", share=share)
    given_up = sum(stakes[t] for t in found.free)
    most = Fraction(str(share)) * counts.n_rows
    assert given_up <= most + Fraction(1, 1000)
    kept = [stakes[t] for t in types if t not in found.free]
    if kept:
        assert max((stakes[t] for t in found.free), default=0) <= min(kept) + Fraction(1, 1000)
        assert given_up + min(kept) > most - Fraction(1, 1000)


def test_unseen_types_are_free_where_hardly_a_new_one_is_to_be_expected():
    holds = np.array([[True, True]] * 9 + [[False, True]] * 9 + [[True, False]] * 9)
    counts = tally(holds, holds[:, 0])
    assert truth(counts, flags(2), "parent", unseen="follow", share=0.01).free == (0b00,)
    once = tally(np.vstack([holds, [[False, False]]]), np.append(holds[:, 0], False))
    assert truth(once, flags(2), "parent", unseen="follow", share=0.01).free == ()


def test_rows_of_weight_three_leave_free_what_a_third_of_the_weight_does():
    holds = np.array([[True, True, True]] * 9 + [[False, True, True]] * 9 + [[True, False, True]])
    counts = tally(holds, holds[:, 0])
    thrice = TypeCounts(counts.ell, counts.codes, 3 * counts.n, 3 * counts.c)
    free = {
        unit: truth_of(
            own,
            row_states(flags(3)),
            shrink=Shrink("parent", 8.0, unit),
            threshold=HALF,
            freedom=Freedom("follow", share=0.05, unit=unit),
        ).free
        for unit, own in ((1, counts), (3, thrice))
    }
    assert free[1] == free[3] != ()


def test_types_that_no_row_can_have_are_free_whatever_unseen_types_answer_except_for_sympy():
    tau = Vocabulary(
        (
            Above("low", "x", 1),
            Above("high", "x", 5),
            Equals("red", "colour", "red"),
            Equals("blue", "colour", "blue"),
        )
    )
    holds = np.array([[False, False, True, False], [True, True, False, True]])
    counts = tally(holds, np.array([False, True]))
    impossible = {t for t in range(16) if (t & 3) == 2 or (t & 12) == 12}
    assert set(truth(counts, tau).free) == impossible
    assert set(truth(counts, tau, "parent", unseen="follow").free) == impossible
    assert truth(counts, tau, impossible=False).free == ()
    assert set(truth(counts, tau, unseen="dont_care").free) == set(range(16)) - set(
        counts.codes.tolist()
    )


def test_a_date_and_its_parts_may_be_together_what_they_were_in_no_row():
    cut = Quantity(Measure(Kind.DATE, 1), 18_336)
    months = [Equals(f"d_month_{name}", Part("d", Unit.MONTH), name) for name in ("March", "April")]
    tau = Vocabulary((Above("d_above", "d", cut), *months))
    # Until the cut there was only March, but that was this year's.
    holds = np.array([[False, True, False], [True, True, False], [True, False, True]])
    found = truth(tally(holds, np.array([False, True, True])), tau, "parent", unseen="follow")
    assert set(found.free) == {0b110, 0b111}


def test_unseen_types_follow_the_rule_for_few_rows():
    holds = np.array([[True, True]] * 9 + [[False, True]] * 9)
    counts = tally(holds, holds[:, 0])
    found = truth(counts, flags(2), "parent", unseen="follow")
    assert found.required == (0b01, 0b11)
    assert truth(counts, flags(2), "parent", unseen="negative").required == (0b11,)


@pytest.mark.slow
@pytest.mark.parametrize("shrink", ["none", "support", "parent", "linear"])
@given(rows=boolean_rows(min_rows=1, max_attributes=3))
def test_required_and_free_types_are_disjoint(shrink, rows):
    counts = tally(*rows)
    for unseen in ("negative", "dont_care", "follow"):
        found = truth(counts, flags(counts.ell), shrink, unseen=unseen, share=0.1)
        assert not set(found.required) & set(found.free)
