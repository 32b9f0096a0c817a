"""How far rows support a formula, as results and model files hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import field

from dnfscale.results.record import Count, Figure, Record, Share, checked, null


class CertifiedTerm(Record, frozen=True, kw_only=True):
    """How often a term is right on the counted rows."""

    n: Count
    c: Count
    confidence: Share | None
    """None without rows."""
    low: Share
    high: Share
    certified_share: Share


class Certified(
    Record,
    frozen=True,
    kw_only=True,
    rename={
        "certified_mass": "certified_mass_at_least",
        "excess_error": "excess_error_at_most",
        "excess_before_rows": "excess_error_before_rows",
    },
):
    """What the certificate of a formula says, on the rows it was made from.

    Earlier versions recorded less. `method.certificate` computes it and says what it means.
    """

    rows: Count
    delta: Share
    epsilon: Figure | None = field(default_factory=null)
    chosen_on_the_same_rows: bool
    """Whether these rows were used to choose the attributes: then nothing is promised."""
    threshold: Share
    """The chance of a positive from which the formula is to say yes."""
    told_by: Literal["attributes", "lines", "signs"] = "attributes"
    """What tells the types of rows apart."""
    types: Count | None = field(default_factory=null)
    types_seen: Count | None = field(default_factory=null)
    types_certified: Count | None = field(default_factory=null)
    types_refuted: Count | None = field(default_factory=null)
    certified_share: Share | None = field(default_factory=null)
    certified_mass: Share | None = field(default_factory=null)
    """A lower bound for the share of the population whose answer is certified."""
    excess_error: Figure | None = field(default_factory=null)
    """An upper bound for how much more often the formula errs than the best one over the same
    attributes, or lines; in errors of average cost, if they do not all cost the same."""
    excess_before_rows: Figure | None = field(default_factory=null)
    terms: tuple[CertifiedTerm, ...]

    @property
    def counts_cost(self) -> bool:
        """Whether errors do not all cost the same."""
        return self.threshold != 0.5

    @property
    def most_excess(self) -> float:
        """The largest possible excess error: a bound this large says nothing."""
        return 2 * max(self.threshold, 1 - self.threshold)


def read_certificate(record: Mapping[str, object]) -> Certified | None:
    """Read the certificate of a model file; None if there is none, as with weighted rows."""
    known = {"chosen_on_the_same_rows": True, "threshold": 0.5, "terms": (), **record}
    if known.get("rows") is None or known.get("delta") is None:
        return None
    return checked(known, Certified, "the certificate of a model")
