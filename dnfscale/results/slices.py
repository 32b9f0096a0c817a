"""How good answers are for parts of the rows: per value of a column, with the gaps between them."""

from __future__ import annotations

from msgspec import field

from dnfscale.results.confusion import Answers, Confusion
from dnfscale.results.metrics import Figures
from dnfscale.results.record import Count, Figure, Label, Record, Share, null


class SliceValue(Record, frozen=True, kw_only=True):
    """The rows that have one value of a column."""

    value: Label | None
    """None of rows where it is missing."""
    rows: Count
    known: Count
    """The rows whose truth is known; metrics are of these."""
    selection_rate: Share | None
    """The share of the rows that are answered with yes; None for several labels."""
    metrics: Figures
    intervals: dict[str, tuple[Figure, Figure]] = field(default_factory=dict)
    """At 95 %, Wilson's."""
    confusion: Confusion | None = field(default_factory=null)
    confusion_matrix: Answers | None = None
    """Rows by label and by answer, where there are several labels."""


class Gap(Record, frozen=True, kw_only=True):
    """How far the values of a column lie apart in a metric."""

    metric: str
    difference: Share
    lowest: Label | None
    """The value with the lowest figure."""
    lowest_rows: Count
    """How many rows its figure rests on."""
    highest: Label | None
    highest_rows: Count
    certain: bool
    """Whether the difference is beyond chance at 5 %, for all pairs of values together."""


class Slice(Record, frozen=True, kw_only=True):
    """The rows by the values of a column."""

    column: str
    values: tuple[SliceValue, ...]
    """In increasing order, the missing one last."""
    gaps: tuple[Gap, ...]
