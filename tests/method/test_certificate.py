"""Certificates hold as often as they say: by slow judges, by laws, and by a thousand draws from
known distributions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp
from scipy.stats import binomtest

from dnfscale.core.arrays import Floats
from dnfscale.core.counts import TypeCounts, from_dense
from dnfscale.core.formula import Dnf, Term, of_types
from dnfscale.core.model import Model
from dnfscale.core.vocabulary import Above, Vocabulary
from dnfscale.errors import SpecError
from dnfscale.method.bounds import least_error, separation
from dnfscale.method.certificate import (
    HALF,
    Certificate,
    certificate_of,
    certify,
    certify_terms,
    sentences,
    to_record,
)
from dnfscale.method.intervals import exact_interval
from dnfscale.results.record import plain
from tests.judges import ideal_types, row_types, tally
from tests.strategies import boolean_rows

deltas = st.floats(1e-4, 0.9)
thresholds = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)


def counts_of(*pairs: tuple[int, int]) -> TypeCounts:
    """Return counts from (n_t, c_t) of all types in order."""
    n, c = np.array(pairs, dtype=np.int64).T
    return from_dense(n - c, c)


@st.composite
def some_counts(draw: st.DrawFn, max_ell: int = 3) -> TypeCounts:
    """Counts of a few types, with all sizes from none to many rows."""
    size = 1 << draw(st.integers(0, max_ell))
    n = draw(st.lists(st.sampled_from([0, 1, 2, 7, 30, 200, 5000]), min_size=size, max_size=size))
    return counts_of(*[(rows, draw(st.integers(0, rows))) for rows in n])


def formula_of(types: Iterable[int], ell: int) -> Dnf:
    return of_types(np.array(sorted(types), dtype=np.int64), ell)


def certify_ideal(
    counts: TypeCounts,
    *,
    delta: float,
    threshold: Fraction = HALF,
    chosen_on_these_rows: bool = False,
) -> Certificate:
    """Certify the ideal classifier of the counts themselves."""
    formula = formula_of(ideal_types(counts, threshold), counts.ell)
    return certify(
        counts,
        delta=delta,
        threshold=threshold,
        chosen_on_these_rows=chosen_on_these_rows,
        formula=formula,
    )


def formulas(counts: TypeCounts, threshold: Fraction) -> st.SearchStrategy[Dnf]:
    """Any formula over the same attributes, the ideal one above all."""
    types = st.sets(st.integers(0, (1 << counts.ell) - 1))
    return (st.just(ideal_types(counts, threshold)) | types).map(
        lambda chosen: formula_of(chosen, counts.ell)
    )


# Intervals


@given(st.integers(0, 300), st.integers(0, 300), st.floats(1e-9, 0.9))
def test_intervals_are_those_of_clopper_and_pearson(c, others, level):
    low, high = exact_interval(np.array([c]), np.array([c + others]), level)
    if c + others == 0:
        assert (low[0], high[0]) == (0.0, 1.0)
    else:
        judge = binomtest(c, c + others).proportion_ci(1 - level, method="exact")
        assert (low[0], high[0]) == pytest.approx((judge.low, judge.high), abs=1e-9)
        assert low[0] <= c / (c + others) <= high[0]


@pytest.mark.parametrize("n", [10**9, 10**12])
def test_intervals_of_many_rows_are_those_of_the_normal_distribution(n):
    low, high = exact_interval(np.array([n // 2]), np.array([n]), 0.05)
    assert low[0] == pytest.approx(0.5 - 1.959964 / 2 / math.sqrt(n), abs=1e-3 / math.sqrt(n))
    assert high[0] == pytest.approx(0.5 + 1.959964 / 2 / math.sqrt(n), abs=1e-3 / math.sqrt(n))


@given(some_counts(), deltas)
def test_the_correction_is_for_the_types_that_occur(counts, delta):
    certificate = certify_ideal(counts, delta=delta)
    low, high = exact_interval(counts.c, counts.n, delta / 3 / max(1, len(counts.codes)))
    assert (certificate.low == low).all()
    assert (certificate.high == high).all()


# Laws


@given(some_counts(), deltas, thresholds, st.data())
def test_a_label_is_certified_only_where_the_interval_lies_on_its_side_of_the_threshold(
    counts, delta, threshold, data
):
    formula = data.draw(formulas(counts, threshold))
    found = certify(
        counts, delta=delta, threshold=threshold, chosen_on_these_rows=False, formula=formula
    )
    for accepted, low, high, certified, refuted in zip(
        found.accepted, found.low, found.high, found.certified, found.refuted, strict=True
    ):
        inside = low <= float(threshold) <= high
        assert (bool(certified), bool(refuted)) in (
            {(False, False)} if inside else {(True, False), (False, True)}
        )
        assert not certified or accepted == (low > threshold)


@given(boolean_rows(max_attributes=4), deltas)
def test_the_ideal_classifier_of_the_counts_is_never_refuted(rows, delta):
    counts = tally(*rows)
    certificate = certify_ideal(counts, delta=delta)
    assert counts.codes[certificate.accepted].tolist() == ideal_types(counts)
    assert not certificate.refuted.any()


@given(some_counts(), deltas, thresholds)
def test_the_opposite_formula_is_refuted_where_the_ideal_one_is_certified(counts, delta, threshold):
    ideal = certify_ideal(counts, delta=delta, threshold=threshold)
    flipped = of_types(counts.codes[~ideal.accepted], counts.ell)
    opposite = certify(
        counts, delta=delta, threshold=threshold, chosen_on_these_rows=False, formula=flipped
    )
    assert (opposite.refuted == ideal.certified).all()
    assert not opposite.certified.any()
    assert opposite.refuted_share == ideal.certified_share
    if threshold == HALF:
        assert opposite.excess_error >= ideal.excess_error


@given(some_counts(), deltas, thresholds)
def test_less_is_promised_with_more_certainty(counts, delta, threshold):
    one, other = (
        certify_ideal(counts, delta=part, threshold=threshold) for part in (delta, delta / 10)
    )
    assert (other.low <= one.low).all()
    assert (other.high >= one.high).all()
    assert (one.certified | ~other.certified).all()
    assert other.certified_mass <= one.certified_mass <= one.certified_share + 1e-12
    assert one.excess_error <= other.excess_error * (1 + 1e-12)
    assert other.excess_error <= 2 * max(threshold, 1 - threshold) + Fraction(1, 10**12)


def test_no_rows_certify_nothing():
    certificate = certify_ideal(counts_of(*[(0, 0)] * 8), delta=0.05)
    assert (certificate.certified_share, certificate.certified_mass, certificate.excess_error) == (
        0,
        0,
        1,
    )


def test_when_every_type_is_certified_the_formula_is_the_ideal_one():
    certificate = certify_ideal(counts_of(*[(100, 0), (100, 100)] * 2), delta=0.01)
    assert (certificate.certified_share, certificate.certified_mass, certificate.excess_error) == (
        1,
        1,
        0,
    )


def test_types_that_no_row_has_hold_back_some_mass():
    certificate = certify_ideal(counts_of((1000, 0), (1000, 1000), (0, 0), (0, 0)), delta=0.05)
    assert certificate.certified_share == 1
    assert 0.99 < certificate.certified_mass < 1
    assert certificate.excess_error == pytest.approx(1 - certificate.certified_mass)


@pytest.mark.parametrize(
    ("delta", "threshold"), [(0, HALF), (1, HALF), (math.nan, HALF), (0.1, 0), (0.1, Fraction(1))]
)
def test_a_delta_or_threshold_that_is_no_probability_is_refused(delta, threshold):
    with pytest.raises(SpecError, match="must lie between 0 and 1, got"):
        certify_ideal(counts_of((1, 1)), delta=delta, threshold=threshold)


# Slow judges


def slow_limit(c: int, n: int, level: float) -> float:
    return float(binomtest(c, n, alternative="less").proportion_ci(1 - level, method="exact").high)


def slow_mass_limits(counts: TypeCounts, delta: float) -> dict[frozenset[int], float]:
    """Return an upper limit for the mass of every set of types, one by one."""
    types, n_rows = 1 << counts.ell, counts.n_rows
    rows = dict(zip(counts.codes.tolist(), counts.n.tolist(), strict=True))
    limits = {frozenset(): 0.0, frozenset(range(types)): 1.0}
    for size in range(1, types):
        level = delta / (types - 1) / math.comb(types, size)
        for members in itertools.combinations(range(types), size):
            limits[frozenset(members)] = slow_limit(
                sum(rows.get(t, 0) for t in members), n_rows, level
            )
    return limits


def slow_excess(certificate: Certificate) -> float:
    """Return the smaller bound on the excess error as the module's text derives it, over all sets
    of types.
    """
    counts, delta, threshold = (
        certificate.counts,
        certificate.delta / 3,
        float(certificate.threshold),
    )
    types, n_rows, worst = 1 << counts.ell, counts.n_rows, 2 * max(threshold, 1 - threshold)
    g = dict.fromkeys(range(types), worst)
    for t, low, high, accepted in zip(
        counts.codes.tolist(), certificate.low, certificate.high, certificate.accepted, strict=True
    ):
        g[t] = 2 * max(0.0, float(threshold - low if accepted else high - threshold))
    limits = slow_mass_limits(counts, delta)
    levels = sorted({0.0, *g.values()})
    nested = [frozenset(t for t in g if g[t] > level) for level in levels[:-1]]
    by_masses = sum(
        (upper - lower) * min(limits[other] for other in nested if inside <= other)
        for lower, upper, inside in zip(levels, levels[1:], nested, strict=False)
    )
    price = math.log(2**types * 5 / delta)
    by_differences = math.inf
    for doubling in range(5):
        kappa = min(0.9 / worst, math.sqrt(2 * types * math.log(2) / n_rows) * 2**doubling)
        largest = max(
            price - sum(log_product(certificate, place, kappa) for place in inside)
            for size in range(len(counts.codes) + 1)
            for inside in itertools.combinations(range(len(counts.codes)), size)
        )
        by_differences = min(by_differences, (1 - math.exp(-largest / n_rows)) / kappa)
    return min(by_masses, by_differences)


def log_product(certificate: Certificate, place: int, kappa: float) -> float:
    """Return ln of the product of 1 - kappa Z over the rows of a type on which the ideal classifier
    disagrees.
    """
    n, c, threshold = (
        certificate.counts.n[place],
        certificate.counts.c[place],
        float(certificate.threshold),
    )
    missed, alarm = 2 * (1 - threshold), 2 * threshold
    if certificate.accepted[place]:
        return float((n - c) * math.log(1 - kappa * alarm) + c * math.log(1 + kappa * missed))
    return float(c * math.log(1 - kappa * missed) + (n - c) * math.log(1 + kappa * alarm))


@settings(max_examples=25, deadline=None)
@given(
    some_counts(max_ell=2).filter(lambda counts: counts.n_rows > 0),
    st.floats(0.01, 0.5),
    thresholds,
    st.data(),
)
def test_masses_and_errors_are_bounded_as_by_going_through_all_sets_of_types(
    counts, delta, threshold, data
):
    formula = data.draw(formulas(counts, threshold))
    found = certify(
        counts, delta=delta, threshold=threshold, chosen_on_these_rows=False, formula=formula
    )
    open_types = frozenset(range(1 << counts.ell)) - set(counts.codes[found.certified].tolist())
    assert found.certified_mass == pytest.approx(
        1 - slow_mass_limits(counts, delta / 3)[open_types], abs=1e-9
    )
    assert found.excess_error == pytest.approx(slow_excess(found), abs=1e-9)


def log_binomial_cdf(c: int, n: int, u: float) -> float:
    j = np.arange(c + 1)
    chosen = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    return float(logsumexp(chosen + j * math.log(u) + (n - j) * math.log1p(-u)))


def test_levels_too_small_for_a_float_are_still_bounded_and_closely():
    # 1,500 of 4,096 types occur, half of them certified: some exp(2,000) sets have as many types as
    # these.
    n = np.zeros(4096, dtype=np.int64)
    n[:1500] = 40
    c = np.where(np.arange(4096) < 750, n, n // 2)
    certificate = certify_ideal(from_dense(n - c, c), delta=0.05)
    log_level = math.log(0.05 / 3 / 4095) - math.log(math.comb(4096, 750))
    assert log_level < -1900
    reached = log_binomial_cdf(750 * 40, 60_000, 1 - certificate.certified_mass)
    assert log_level - 15 < reached <= log_level
    assert certificate.certified_share == 0.5
    assert 0.25 < certificate.certified_mass < 0.5


def test_the_widest_vocabulary_is_no_trouble():
    counts = TypeCounts(60, np.array([5, 2**59]), np.array([4000, 4000]), np.array([0, 4000]))
    certificate = certify_ideal(counts, delta=0.05)
    assert certificate.certified.all()
    # Two of 2**60 types were found: the price is the logarithm of the number of pairs, and of the
    # number of sizes.
    price = math.log(math.comb(2**60, 2)) + math.log(2**60 - 1) + math.log(3 / 0.05)
    assert certificate.certified_mass == pytest.approx(math.exp(-price / 8000))


# By simulation: 1,000 samples each, delta = 0.1.

DELTA, DRAWS = 0.1, 1000


@dataclass(frozen=True)
class Known:
    """A distribution, and how it is tried."""

    mass: Floats
    chance: Floats
    n_rows: int
    threshold: Fraction = HALF


def uneven(ell: int, seed: int) -> tuple[Floats, Floats]:
    """Types of very different mass, some clear and some not: what real tables are like."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(1 << ell, 0.5)), rng.beta(0.6, 0.6, 1 << ell)


KNOWN = {
    "uneven": Known(*uneven(3, 4), 1000),
    "uneven, many types": Known(*uneven(6, 1), 1000),
    "uneven, threshold 1/5": Known(*uneven(3, 2), 1000, Fraction(1, 5)),
    "even chances": Known(np.full(8, 1 / 8), np.full(8, 0.5), 1000),
    "near ties": Known(np.full(8, 1 / 8), np.array([0.45, 0.55] * 4), 1000),
    "few rows": Known(np.array([0.7, 0.1, 0.1, 0.1]), np.array([0.05, 0.6, 0.9, 0.3]), 60),
}


@dataclass(frozen=True)
class Rates:
    """How often each promise failed, and what was promised on average."""

    intervals: float
    labels: float
    masses: float
    errors: float
    anything: float
    certified_share: float
    certified_mass: float
    excess_bound: float
    excess: float


def tried(known: Known) -> Rates:
    rng = np.random.default_rng(7)
    n = rng.multinomial(known.n_rows, known.mass, size=DRAWS)
    c = rng.binomial(n, known.chance)
    threshold = float(known.threshold)
    ideal = known.chance >= threshold
    failed, means = np.zeros((DRAWS, 4), dtype=bool), np.zeros((DRAWS, 4))
    for draw in range(DRAWS):
        counts = from_dense(n[draw] - c[draw], c[draw])
        found = certify_ideal(counts, delta=DELTA, threshold=known.threshold)
        chance, answers = known.chance[counts.codes], np.zeros(len(ideal), dtype=bool)
        answers[counts.codes] = found.accepted
        excess = (known.mass * 2 * abs(known.chance - threshold))[answers != ideal].sum()
        failed[draw] = (
            ((chance < found.low) | (chance > found.high)).any(),
            (found.accepted != ideal[counts.codes])[found.certified].any(),
            known.mass[counts.codes[found.certified]].sum() < found.certified_mass - 1e-12,
            excess > found.excess_error + 1e-12,
        )
        means[draw] = found.certified_share, found.certified_mass, found.excess_error, excess
    return Rates(*failed.mean(axis=0), failed.any(axis=1).mean(), *means.mean(axis=0))


@pytest.fixture(scope="module")
def rates() -> dict[str, Rates]:
    return {name: tried(known) for name, known in KNOWN.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_everything_that_a_certificate_promises_holds_together_as_often_as_it_says(rates, name):
    found = rates[name]
    assert max(found.intervals, found.labels, found.masses, found.errors) <= found.anything <= DELTA
    # How loose it is: the labels' third of delta is nearly used up, the bounds of masses and errors
    # hardly fail.
    assert found.intervals <= DELTA / 3 + 0.012
    assert found.masses <= DELTA / 10
    assert found.errors <= DELTA / 100


def test_the_intervals_use_much_of_what_they_may_fail(rates):
    assert max(found.intervals for found in rates.values()) >= DELTA / 5


def test_where_the_chance_is_at_the_threshold_few_labels_are_certified(rates):
    assert rates["even chances"].certified_share <= DELTA / 3
    # Here both answers are as good, so the ideal classifier's yes is all that a certified no could
    # be wrong about.
    assert 0 < rates["even chances"].labels <= DELTA / 3


@pytest.mark.parametrize("name", ["uneven", "uneven, threshold 1/5"])
def test_a_thousand_rows_certify_most_of_eight_types_and_bound_the_rest_within_a_few_points(
    rates, name
):
    found = rates[name]
    assert 0.65 < found.certified_share - 0.06 < found.certified_mass < found.certified_share
    assert found.excess < found.excess_bound < 0.05


@pytest.mark.parametrize("name", KNOWN)
def test_rows_show_more_than_their_number_does(rates, name):
    known, found = KNOWN[name], rates[name]
    assert found.excess_bound < least_error(known.n_rows, len(known.mass).bit_length() - 1, DELTA)


def test_where_types_are_near_ties_the_bound_on_errors_is_within_ten_times_the_truth(rates):
    assert (
        rates["near ties"].excess < rates["near ties"].excess_bound < 10 * rates["near ties"].excess
    )


# Terms


def all_terms(ell: int) -> Dnf:
    return Dnf(
        tuple(
            Term(care, value)
            for care in range(1 << ell)
            for value in range(1 << ell)
            if not value & ~care
        )
    )


@given(boolean_rows(max_attributes=3), deltas, st.booleans(), st.data())
def test_a_term_is_judged_by_the_rows_that_satisfy_it(rows, delta, formed, data):
    holds, target = rows
    counts = tally(holds, target)
    terms = data.draw(
        st.lists(st.sampled_from(all_terms(counts.ell).terms), max_size=4, unique=True)
    )
    certificate = certify_ideal(counts, delta=0.5)
    found = certify_terms(Dnf(tuple(terms)), certificate, delta=delta, formed_on_these_rows=formed)
    assert [one.term for one in found] == terms
    for one in found:
        satisfied = np.array(
            [all(row[i] == value for i, value in one.term.literals) for row in holds], dtype=bool
        )
        assert (one.n, one.c) == (satisfied.sum(), target[satisfied].sum())
        if one.n == 0:
            assert (one.confidence, one.low, one.high, one.certified_share) == (None, 0, 1, 0)
            continue
        level = delta / (3**counts.ell if formed else len(terms))
        judge = binomtest(one.c, one.n).proportion_ci(1 - level, method="exact")
        assert (one.low, one.high) == pytest.approx((judge.low, judge.high), abs=1e-9)
        assert one.low <= one.confidence <= one.high
        sure = set(counts.codes[certificate.certified].tolist())
        certified = sum(
            t in sure for t, inside in zip(row_types(holds), satisfied, strict=True) if inside
        )
        assert one.certified_share == pytest.approx(certified / one.n)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dnf", "formed", "least"),
    [(Dnf((Term(1, 1), Term(3, 2))), False, 0.05), (all_terms(2), True, 0.02)],
)
def test_the_chances_of_terms_lie_within_their_intervals_as_often_as_they_say(dnf, formed, least):
    # With the correction for all terms, no choice of terms by their labels can do worse than all of
    # them together.
    mass, chance = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.2, 0.7, 0.5, 0.9])
    inside = np.array([term.accepts(np.arange(4)) for term in dnf.terms])
    truth = inside @ (mass * chance) / (inside @ mass)
    rng = np.random.default_rng(3)
    n = rng.multinomial(500, mass, size=DRAWS)
    c = rng.binomial(n, chance)
    failed = 0
    for draw in range(DRAWS):
        certificate = certify_ideal(from_dense(n[draw] - c[draw], c[draw]), delta=DELTA)
        found = certify_terms(dnf, certificate, delta=DELTA, formed_on_these_rows=formed)
        failed += any(
            not one.low <= chance <= one.high for one, chance in zip(found, truth, strict=True)
        )
    assert least <= failed / DRAWS <= DELTA


# What is written


@given(some_counts(), deltas, thresholds, st.booleans())
def test_a_record_holds_the_facts_as_plain_json(counts, delta, threshold, chosen):
    certificate = certify_ideal(
        counts, delta=delta, threshold=threshold, chosen_on_these_rows=chosen
    )
    terms = certify_terms(
        all_terms(counts.ell), certificate, delta=delta, formed_on_these_rows=True
    )
    record = plain(to_record(certificate, terms))
    assert (record["rows"], record["delta"]) == (counts.n_rows, delta)
    assert record["epsilon"] == (
        separation(counts.n_rows, counts.ell, delta) if counts.n_rows else None
    )
    assert record["chosen_on_the_same_rows"] is chosen
    assert (record["types"], record["types_seen"]) == (1 << counts.ell, len(counts.codes))
    assert record["types_certified"] == certificate.certified.sum()
    assert record["certified_mass_at_least"] <= record["certified_share"] + 1e-12
    assert [term["n"] for term in record["terms"]] == [term.n for term in terms]


def test_sentences_say_what_is_promised_and_what_is_not():
    certificate = certify_ideal(counts_of((400, 20), (100, 90), (30, 16), (0, 0)), delta=0.05)
    text = " ".join(sentences(certificate))
    for words in (
        "the rows (530)",
        "95 %",
        "2 attributes tell 4 types",
        "3 occur",
        "for 2 of these",
        "94.3 % of the rows",
    ):
        assert words in text
    assert (
        f"at least {math.floor(1000 * certificate.certified_mass) / 10:g} % of the population"
        in text
    )
    assert (
        f"at most {math.ceil(1000 * certificate.excess_error) / 10:g} percentage points more often"
        in text
    )
    assert "Not promised: that the answer is right for a single case" in text
    assert "chosen on these same rows" not in text


def test_sentences_say_plainly_when_the_attributes_were_chosen_on_the_same_rows():
    certificate = certify_ideal(
        counts_of((400, 20), (100, 90)), delta=0.05, chosen_on_these_rows=True
    )
    said = sentences(certificate)
    assert "chosen on these same rows" in said[1]
    assert "promise nothing" in said[1]
    assert "The attribute tells 2 types" in said[2]
    assert said[3] == "No formula over the same attributes errs less often than this one."


def test_sentences_say_when_the_rows_are_too_few_or_speak_against_the_formula():
    few = certify_ideal(counts_of((1, 1), (0, 0)), delta=0.05)
    assert "the rows (1)" in sentences(few)[0]
    assert "for 0 of these, with 0 % of the rows." in sentences(few)[1]
    assert sentences(few)[2].startswith("The rows are too few to bound")
    against = certify(
        counts_of((100, 0), (100, 100)), delta=0.05, chosen_on_these_rows=False, formula=Dnf(())
    )
    assert (
        "The opposite answer is certified to be the best for 1, with 50 % of the rows."
        in sentences(against)[1]
    )


def test_sentences_say_how_errors_are_weighed():
    certificate = certify_ideal(counts_of((9, 2)), delta=0.05, threshold=Fraction(1, 5))
    assert any(
        "a missed positive counts as 1.6 errors and a false alarm as 0.4" in text
        for text in sentences(certificate)
    )


@given(some_counts(), st.booleans())
def test_patterns_of_lines_are_certified_as_types_of_as_many_attributes(counts, answer):
    lines = tuple(Term(1 << line, 1 << line) for line in range(counts.ell))
    tau = Vocabulary(tuple(Above(f"a{i}", f"a{i}", 0) for i in range(counts.ell)))
    model = Model("y", (True,), tau, Dnf(lines), counts, types="lines", answer=answer)
    own = certificate_of(model)
    accepted = Dnf(lines) if answer else formula_of([0], counts.ell)
    other = certificate_of(Model("y", (True,), tau, accepted, counts))
    assert own is not None
    assert own.told_by == "lines"
    for name in own.__struct_fields__:
        if name not in ("told_by", "terms"):
            assert getattr(own, name) == getattr(other, name)
    assert [term.n for term in own.terms] == [
        int(counts.n[counts.codes >> line & 1 == 1].sum()) for line in range(counts.ell)
    ]


def test_many_lines_are_certified_without_listing_their_patterns():
    codes = np.array([0, 1, 3, 1 << 40, (1 << 55) + 1])
    counts = TypeCounts(56, codes, np.full(5, 1000), np.array([10, 990, 900, 950, 500]))
    tau = Vocabulary(tuple(Above(f"a{i}", f"a{i}", 0) for i in range(500)))
    dnf = Dnf(tuple(Term(0b11 << 8 * i, 1 << 8 * i) for i in range(56)))
    certificate = certificate_of(Model("y", (True,), tau, dnf, counts, types="lines"))
    assert certificate is not None
    assert (certificate.types, certificate.types_seen) == (1 << 56, 5)
    assert certificate.types_certified == 4
    assert plain(certificate)["told_by"] == "lines"
    for term in certificate.terms:
        assert 0 <= term.low <= (term.confidence or 0.0) <= term.high <= 1
