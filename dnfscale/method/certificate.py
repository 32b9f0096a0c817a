"""Certificates: what the rows at hand show about a formula; all promises hold together at
confidence 1 - delta.

Given are n rows drawn independently from one distribution mu, ell attributes that were fixed
without looking at these rows, and the counts n_t, c_t of the rows' types. Write p_t = mu(q | t) for
the chance that a case of type t is positive, m_t = mu(t) for the mass of the type, and K = 2**ell.
The types of a formula of lines are the patterns of lines that hold, so ell is the number of lines;
those of a checklist of n conditions are the numbers of signs, so K = n + 1. All of this holds for
them, if the lines or the checklist were fixed without looking at these rows. A third of delta goes
to each of three events.

*Labels.* Given the types of all rows, the labels are independent, and c_t is binomial with n_t
draws of chance p_t. The exact (Clopper-Pearson) interval of each of the k types that occur, at
level delta / 3 / k, misses p_t with probability at most that; so some interval misses with
probability at most delta / 3, given the types. This bound is the same whatever the types are, so it
holds without the condition too, although k and the list of types depend on the sample.

*Masses.* Which types are certified depends on the rows, so their mass is not that of a set fixed
beforehand; the bound is therefore made to hold for all sets of types at once. For a fixed set S the
number of its rows is binomial with n draws of chance mu(S). There are C(K, s) sets of size s; give
each the level delta / 3 / (K - 1) / C(K, s). Over s = 1 .. K - 1 these add up to delta / 3 (the
empty set and the whole need no bound), so with probability at least 1 - delta / 3 the exact upper
limit at its level holds for every set. The price is the logarithm of the number of sets of the same
size, divided by n: little for sets of few types, or of all but a few. A limit for every type on its
own, added up over the types, costs about as much for one type and more for many.

*Differences.* The formula differs from the ideal classifier on some set D of types. For a fixed D,
let Z be how much more a row costs with the formula than with the ideal classifier: 0 outside D,
never above b = 2 max(threshold, 1 - threshold), and with mean E, the excess error. For any kappa
below 1 / b, fixed beforehand, the mean of the product of 1 - kappa Z over the rows is (1 - kappa
E)**n; so by Markov's inequality the product is above 2**K (5 / (delta / 3)) (1 - kappa E)**n with
probability at most delta / 3 / 5 / 2**K. By the union bound this happens for no D and none of five
kappas, except with probability delta / 3. Solved for E, the largest value that any D gives is a
bound; that D is found type by type.

*What follows when all three hold.* A type whose interval lies on one side of the threshold has its
label *certified*: the ideal classifier answers the same. A type that the formula accepts costs at
most g_t = 2 (threshold - low_t) more than with the ideal answer, one that it rejects at most 2
(high_t - threshold), if these are positive: for certified types they are not. A type that no row
has costs at most b, whatever the formula says of it. So the excess error is at most the sum of m_t
g_t, which is the integral over x of the mass of {t: g_t > x}: finitely many sets, whose masses have
upper limits. This bound is small when most of the mass is certified. The bound from differences is
small when many types are near the threshold, where it does not matter much what the formula says.
The smaller of the two is given. At the threshold 1/2 the excess error is the paper's; elsewhere a
missed positive weighs 2 (1 - threshold), and a false alarm 2 threshold.

All of this is for plain counts of rows. Counts of weighted rows are not binomial, and have no
certificate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dnfscale.core.arrays import Bools, Floats, Ints, frozen
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import HALF, Model
from dnfscale.errors import SpecError
from dnfscale.method.bounds import least_error, separation
from dnfscale.method.intervals import exact_interval, term_intervals, term_supports, upper_limit
from dnfscale.results.certificate import Certified, CertifiedTerm
from dnfscale.results.record import plain

_SMALLEST_LOG_LEVEL = -600.0
"""At levels below the exponential of this the exact limit would underflow; Chernoff's bound takes
the logarithm.
"""
_BISECTIONS = 60
_STAKES = 5
"""How many values of kappa are tried: the first suits types near the threshold, each next one is
twice as large, and the last suits types far from it."""


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """What the counted rows show about a formula over the same attributes.

    Unless the attributes were chosen on these rows, all of it holds together with probability at
    least 1 - delta.
    """

    counts: TypeCounts
    delta: float
    threshold: Fraction
    chosen_on_these_rows: bool
    """Whether these rows were used to choose the attributes or their cuts: then nothing here is
    promised.
    """
    low: Floats
    high: Floats
    """For each type that occurs, an interval for the chance that a case of this type is positive.
    """
    accepted: Bools
    """The formula's answer for each type that occurs."""
    certified: Bools
    """For each type, whether its interval lies on the answer's side: the ideal classifier then
    answers the same.
    """
    refuted: Bools
    """For each type, whether its interval lies on the other side of the threshold.

    Never so if the formula is the plain ideal classifier of these rows.
    """
    certified_mass: float
    """A lower bound for the probability that a new case has a certified type."""
    excess_error: float
    """An upper bound for how much more often the formula errs than the best formula over the same
    attributes, or lines.
    """
    types: str = "attributes"
    """What tells the types apart, as in a model."""
    n_types: int = 0
    """K: how many types there are."""

    def __post_init__(self) -> None:
        for array in (self.low, self.high, self.accepted, self.certified, self.refuted):
            frozen(array)

    @property
    def certified_share(self) -> float:
        """The share of the counted rows that have a certified type; 0 without rows."""
        return _share(self.counts.n[self.certified].sum(), self.counts.n_rows)

    @property
    def refuted_share(self) -> float:
        """The share of the counted rows that have a refuted type; 0 without rows."""
        return _share(self.counts.n[self.refuted].sum(), self.counts.n_rows)


@dataclass(frozen=True, slots=True)
class TermCertificate:
    """How often a term is right on the counted rows."""

    term: Term
    n: int
    """Rows that satisfy the term: its support."""
    c: int
    """Those of them with a true target."""
    low: float
    high: float
    """An interval for the chance that a case which satisfies the term is positive."""
    certified_share: float
    """The share of the term's rows that have a certified type; 0 without rows."""

    @property
    def confidence(self) -> float | None:
        """The share of the term's rows that are positive; None without rows."""
        return self.c / self.n if self.n else None


def certify(
    counts: TypeCounts,
    *,
    delta: float,
    chosen_on_these_rows: bool,
    formula: Dnf,
    threshold: Fraction = HALF,
    types: str = "attributes",
    answer: bool = True,
) -> Certificate:
    """Return what plain (unweighted) counts of rows show about a formula over the same attributes.

    The formula may come from anywhere, these rows included; where it holds, its answer is `answer`.
    """
    n_types = counts.ell + 1 if types == "signs" else 1 << counts.ell
    if not 0 < delta < 1:
        raise SpecError(
            f"delta must lie between 0 and 1, got {delta}; 0.05 promises with probability 95 %"
        )
    if not 0 < threshold < 1:
        raise SpecError(
            f"threshold must lie between 0 and 1, got {threshold}; 1/2 weighs all errors alike"
        )
    accepted = np.asarray(formula.accepts(counts.codes) == answer)
    low, high = exact_interval(counts.c, counts.n, delta / 3 / max(1, len(counts.codes)))
    above, below = low > float(threshold), high < float(threshold)
    certified = np.where(accepted, above, below)
    at_risk = 2 * np.where(accepted, float(threshold) - low, high - float(threshold)).clip(min=0.0)
    worst = 2 * float(max(threshold, 1 - threshold))
    return Certificate(
        counts=counts,
        delta=delta,
        threshold=threshold,
        chosen_on_these_rows=chosen_on_these_rows,
        low=low,
        high=high,
        accepted=accepted,
        certified=certified,
        refuted=np.where(accepted, below, above),
        certified_mass=1
        - _weighted_mass(counts, n_types, np.where(certified, 0.0, 1.0), 1.0, delta / 3),
        excess_error=min(
            _weighted_mass(counts, n_types, at_risk, worst, delta / 3),
            _excess_from_differences(counts, n_types, accepted, float(threshold), delta / 3),
        ),
        types=types,
        n_types=n_types,
    )


def certify_terms(
    dnf: Dnf,
    certificate: Certificate,
    *,
    delta: float,
    formed_on_these_rows: bool,
    n_attributes: int | None = None,
) -> tuple[TermCertificate, ...]:
    """Return, for each term of a formula, how often it is right on the rows of a certificate.

    With probability at least 1 - delta all intervals hold; this delta is separate from that of the
    certificate. For a term fixed beforehand the number of positive rows among those that satisfy it
    is binomial, so the exact interval at level delta / (number of terms) suffices. A formula formed
    on the same rows has picked its terms by their labels, so the correction is then for all 3**ell
    possible terms, or for those over n_attributes if types are patterns of lines; checklists ask
    for any number of the literals of a term.
    """
    counts = certificate.counts
    attributes = counts.ell if n_attributes is None else n_attributes
    candidates = 3**attributes if formed_on_these_rows else len(dnf.terms)
    if formed_on_these_rows and dnf.has_checklist:
        candidates *= attributes
    supports = term_supports(dnf, counts)
    intervals = term_intervals(supports, delta=delta, candidates=candidates)
    certified = [
        counts.n[term.accepts(counts.codes) & certificate.certified].sum() for term in dnf.terms
    ]
    return tuple(
        TermCertificate(
            term=term, n=n, c=c, low=low, high=high, certified_share=_share(certified[i], n)
        )
        for i, (term, (n, c), (low, high)) in enumerate(
            zip(dnf.terms, supports, intervals, strict=True)
        )
    )


def certificate_of(
    model: Model, *, delta: float = 0.05, counts: TypeCounts | None = None
) -> Certified | None:
    """Return how far rows support the formula of a model.

    By default these are the rows that the model was learned from, by which its attributes were
    chosen as well. For a model of weighted rows there is none: nothing can be certified.
    """
    if model.weighted:
        return None
    own = counts is None
    certificate = certify(
        model.counts if counts is None else counts,
        delta=delta,
        threshold=model.threshold,
        chosen_on_these_rows=own,
        formula=model.over_types,
        types=model.types,
        answer=model.answer,
    )
    terms = certify_terms(
        model.over_types,
        certificate,
        delta=delta,
        formed_on_these_rows=own,
        n_attributes=len(model.tau),
    )
    return to_record(certificate, terms)


def certified(model: Model) -> Model:
    """Return a model with the certificate of the rows that it was learned from."""
    certificate = certificate_of(model)
    return replace(model, certificate={} if certificate is None else plain(certificate))


def load_functions() -> None:
    """Import the functions that the figures of formulas need.

    Before threads of ours begin: Python 3.11 does not guard what C modules do while two threads
    load some, and where a cluster starts, the process that workers are forked from loads its own
    meanwhile.
    """
    import scipy.sparse.csgraph
    import scipy.special  # noqa: F401


def to_record(certificate: Certificate, terms: Sequence[TermCertificate] = ()) -> Certified:
    """Return the certificate as it is written in files."""
    counts = certificate.counts
    rows, delta = counts.n_rows, certificate.delta
    ell = counts.ell if certificate.types != "signs" else math.log2(certificate.n_types)
    return Certified(
        rows=rows,
        delta=delta,
        epsilon=separation(rows, ell, delta) if rows else None,
        chosen_on_the_same_rows=certificate.chosen_on_these_rows,
        threshold=float(certificate.threshold),
        told_by="signs"
        if certificate.types == "signs"
        else "lines"
        if certificate.types == "lines"
        else "attributes",
        types=certificate.n_types,
        types_seen=len(counts.codes),
        types_certified=int(certificate.certified.sum()),
        types_refuted=int(certificate.refuted.sum()),
        certified_share=certificate.certified_share,
        certified_mass=certificate.certified_mass,
        excess_error=certificate.excess_error,
        excess_before_rows=least_error(rows, ell, delta) if rows else None,
        terms=tuple(
            CertifiedTerm(
                n=term.n,
                c=term.c,
                confidence=term.confidence,
                low=term.low,
                high=term.high,
                certified_share=term.certified_share,
            )
            for term in terms
        ),
    )


def sentences(certificate: Certificate) -> list[str]:
    """Write in plain words, for people who use the formula, what the certificate promises and what
    it does not.
    """
    sure = f"{100 * (1 - certificate.delta):g} %"
    of = certificate.types
    said = [
        f"If the rows ({certificate.counts.n_rows:,}) were drawn independently from the "
        "population in question, and "
        f"had no say in which {of} the formula uses, the following holds, all of it "
        "together, with probability "
        f"at least {sure}."
    ]
    if certificate.chosen_on_these_rows:
        said.append(
            f"HOWEVER, the {of} were chosen on these same rows, and choosing favours "
            "what looks better than it "
            "is. So the numbers describe these rows and promise nothing; a promise needs "
            "rows that were put aside "
            "before choosing."
        )
    said += [_said_of_labels(certificate), _said_of_errors(certificate)]
    if certificate.threshold != HALF:
        said.append(
            f"Here a missed positive counts as {float(2 * (1 - certificate.threshold)):g} "
            "errors and a false alarm as "
            f"{float(2 * certificate.threshold):g}, because the formula is to answer yes "
            "from a chance of "
            f"{float(certificate.threshold):g} on."
        )
    said.append(
        "Not promised: that the answer is right for a single case, how often the formula "
        f"errs, that other {of} "
        "would not do better, or anything about a population other than the one these rows "
        "came from."
    )
    return said


def _said_of_labels(certificate: Certificate) -> str:
    counts, certified = certificate.counts, int(certificate.certified.sum())
    noun = certificate.types
    several = f"{noun[:-1]} tells" if counts.ell == 1 else f"{counts.ell} {noun} tell"
    if certificate.types == "signs":
        several = f"number of {noun} tells"
    text = (
        f"The {several} {certificate.n_types:,} types of cases apart, of which "
        f"{len(counts.codes):,} occur. The formula's "
        f"answer is certified to be the best that the {noun} allow for {certified:,} "
        "of these, with "
        f"{_percent_down(certificate.certified_share)} of the rows"
    )
    text += (
        f", and at least {_percent_down(certificate.certified_mass)} of the population."
        if certified
        else "."
    )
    if certificate.refuted.any():
        text += (
            " The opposite answer is certified to be the best for "
            f"{int(certificate.refuted.sum()):,}, with "
            f"{_percent_down(certificate.refuted_share)} of the rows."
        )
    return text


def _said_of_errors(certificate: Certificate) -> str:
    if certificate.excess_error == 0:
        return f"No formula over the same {certificate.types} errs less often than this one."
    points = math.ceil(1000 * certificate.excess_error) / 10
    if points >= 200 * max(certificate.threshold, 1 - certificate.threshold):
        return (
            "The rows are too few to bound how much better another formula over the same "
            f"{certificate.types} could be."
        )
    return (
        f"The formula errs at most {points:g} percentage "
        f"{'point' if points == 1 else 'points'} more often than the "
        f"best formula over the same {certificate.types}."
    )


def _percent_down(share: float) -> str:
    """Write a share that is a lower bound: it is rounded down, so that rounding promises nothing
    more.
    """
    return f"{math.floor(1000 * share) / 10:g} %"


def _weighted_mass(
    counts: TypeCounts, n_types: int, weights: Floats, unseen: float, delta: float
) -> float:
    """Return an upper bound for the sum of m_t weights_t at confidence 1 - delta; a type without
    rows weighs unseen.

    No weight may be above unseen. The bound is the integral over x of bounds for the mass of {t:
    weights_t > x}; as these sets are nested, a smaller one has no more mass than the bound of a
    larger one.
    """
    order = np.argsort(-weights, kind="stable")
    heights = np.concatenate([[unseen], weights[order], [0.0]])
    rows = np.concatenate([[0], np.cumsum(counts.n[order])])
    drops = heights[:-1] - heights[1:]
    steps = np.flatnonzero(drops)
    limits = _mass_limits(counts, n_types, steps, rows[steps], delta)
    limits = np.minimum.accumulate(limits[::-1])[::-1]
    return float(np.sum(drops[steps] * limits))


def _mass_limits(
    counts: TypeCounts, n_types: int, n_seen: Ints, rows: Ints, delta: float
) -> Floats:
    """Return upper limits for the masses of sets of types, good for all sets at once with
    probability 1 - delta.

    Each set consists of n_seen types that occur, with `rows` rows together, and of all types that
    do not occur.
    """
    k = len(counts.codes)
    # There are as many sets of a size as complements of it; the smaller of both sizes that is at
    # most k is used.
    chosen = k - n_seen if n_types > k else n_seen
    places = np.arange(k, dtype=np.float64)
    log_sets = np.concatenate([[0.0], np.cumsum(np.log((n_types - places) / (places + 1)))])[chosen]
    log_levels = math.log(delta) - math.log(max(1, n_types - 1)) - log_sets
    exact = log_levels > _SMALLEST_LOG_LEVEL
    limits = np.empty(len(rows))
    limits[exact] = upper_limit(rows[exact], np.int64(counts.n_rows), np.exp(log_levels[exact]))
    if not exact.all():
        limits[~exact] = _chernoff_limit(rows[~exact], counts.n_rows, log_levels[~exact])
    # The set of all types has mass 1, the empty set 0; neither needs a limit from the rows.
    whole = n_seen == k
    nothing = (n_seen == 0) & (n_types == k)
    return np.where(whole, 1.0, np.where(nothing, 0.0, limits))


def _excess_from_differences(
    counts: TypeCounts, n_types: int, accepted: Bools, threshold: float, delta: float
) -> float:
    """Return the bound on the excess error from *differences*, see the module, at confidence 1 -
    delta.
    """
    if not counts.n_rows:
        return math.inf
    wrong = np.where(accepted, counts.n - counts.c, counts.c)
    wrong_cost = 2 * np.where(accepted, threshold, 1 - threshold)
    log_sets = math.log(2) * n_types
    price = log_sets + math.log(_STAKES / delta)
    largest = 0.9 / (2 * max(threshold, 1 - threshold))
    bounds = []
    for doubling in range(_STAKES):
        # kappa is fixed beforehand: it depends on K, n and the threshold only. It leaves delta out,
        # so that asking for less confidence never gives a weaker bound.
        kappa = min(largest, math.sqrt(2 * log_sets / counts.n_rows) * 2**doubling)
        # For a type in D, -ln of the product over its rows: those that the formula gets wrong, and
        # the others.
        loss = -wrong * np.log1p(-kappa * wrong_cost) - (counts.n - wrong) * np.log1p(
            kappa * (2 - wrong_cost)
        )
        bounds.append(-math.expm1(-(price + loss.clip(min=0.0).sum()) / counts.n_rows) / kappa)
    return float(min(bounds))


def _chernoff_limit(c: Ints, n: int, log_level: Floats) -> Floats:
    """Return a bound on the upper limit at a level so small that only its logarithm fits in a
    float.

    At a chance u >= c / n, c or fewer successes have probability at most exp(-n kl(c / n, u))
    (Chernoff).
    """
    share = c / max(1, n)
    below, above = share.copy(), np.ones(len(share))
    for _ in range(_BISECTIONS):
        middle = (below + above) / 2
        far = n * _divergence(share, middle) >= -log_level
        below, above = np.where(far, below, middle), np.where(far, middle, above)
    return above


def _divergence(p: Floats, u: Floats) -> Floats:
    """Return kl(p, u), in nats, between coins of chance p and of chance u; 0 ln 0 is 0, and u may
    be 1.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(p > 0, p * np.log(p / u), 0.0)
        tails = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - u)), 0.0)
    return np.asarray(heads + tails)


def _share(part: int, whole: int) -> float:
    return int(part) / whole if whole else 0.0
