"""Metrics for parts of the rows: per value of a column, and the gaps between the values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dnfscale.method.metrics import Part, figures, label_figures, proportions, wilson
from dnfscale.results.confusion import Answers, Confusion, counted_of
from dnfscale.results.metrics import Figures, Scores
from dnfscale.results.record import Label
from dnfscale.results.slices import Gap, Slice, SliceValue

_BY_CHANCE = 0.05
SELECTION_RATE = "selection_rate"
_GAPS = (SELECTION_RATE, "sensitivity", "ppv")
"""In what groups of people are compared."""


@dataclass(frozen=True, slots=True)
class SliceRows:
    """The rows that have one value of a column, counted."""

    value: Label | None
    rows: int
    selected: int
    """Those of them that are answered with yes."""
    confusion: Confusion | None = None
    scores: Scores | None = None
    answers: Answers | None = None
    """By label and by answer, where there are several labels."""


@dataclass(frozen=True, slots=True)
class Measured:
    """How parts of the rows are measured."""

    threshold: Fraction | None = None
    """The cost of a wrong «yes», if errors do not all cost the same."""
    weighted: bool = False
    """Whether counts are weights: then there are no intervals."""


def slice_of(column: str, values: Sequence[SliceRows], how: Measured) -> Slice:
    """Return the metrics for each value of a column, and how far they lie apart."""
    return Slice(
        column=column,
        values=tuple(_measured(value, how) for value in values),
        gaps=tuple(_gaps(values, how)),
    )


def intervals_of(confusion: Confusion) -> dict[str, tuple[float, float]]:
    """Return Wilson's intervals of the metrics that are shares of rows."""
    found = {name: wilson(*part) for name, part in proportions(confusion).items()}
    return {name: ends for name, ends in found.items() if ends is not None}


def _measured(part: SliceRows, how: Measured) -> SliceValue:
    metrics: Figures = {}
    intervals: dict[str, tuple[float, float]] = {}
    if part.answers is not None:
        metrics = label_figures(part.answers)
        hits = wilson(*_share("accuracy", part)) if not how.weighted else None
        intervals = {} if hits is None else {"accuracy": hits}
    elif part.confusion is not None:
        metrics = figures(part.confusion, part.scores, how.threshold)
        intervals = {} if how.weighted else intervals_of(part.confusion)
    several = part.answers is not None
    if not several and not how.weighted:
        rate = wilson(part.selected, part.rows)
        intervals |= {} if rate is None else {SELECTION_RATE: rate}
    return SliceValue(
        value=part.value,
        rows=part.rows,
        known=_known(part),
        selection_rate=None if several or not part.rows else part.selected / part.rows,
        metrics=metrics,
        intervals=intervals,
        confusion=part.confusion,
        confusion_matrix=part.answers,
    )


def _known(part: SliceRows) -> int:
    if part.answers is not None:
        return counted_of(part.answers)
    return 0 if part.confusion is None else part.confusion.counted


def _gaps(values: Sequence[SliceRows], how: Measured) -> Iterator[Gap]:
    """Yield the gaps between the values; rows without one are no group."""
    parts = [part for part in values if part.value is not None]
    several = any(part.answers is not None for part in parts)
    for metric in ("accuracy",) if several else _GAPS:
        shares = [(part, _share(metric, part)) for part in parts]
        defined = [(hits / n, part, (hits, n)) for part, (hits, n) in shares if n]
        if len(defined) < 2:
            continue
        lowest = min(defined, key=lambda found: found[0])
        highest = max(defined, key=lambda found: found[0])
        yield Gap(
            metric=metric,
            difference=highest[0] - lowest[0],
            lowest=lowest[1].value,
            lowest_rows=lowest[2][1],
            highest=highest[1].value,
            highest_rows=highest[2][1],
            certain=not how.weighted and _is_certain([found[2] for found in defined]),
        )


def _share(metric: str, part: SliceRows) -> Part:
    if metric == SELECTION_RATE:
        return part.selected, part.rows
    if part.answers is not None:
        return sum(row[i] for i, row in enumerate(part.answers)), counted_of(part.answers)
    return (0, 0) if part.confusion is None else proportions(part.confusion)[metric]


def _is_certain(shares: Sequence[Part]) -> bool:
    """Say whether two of the shares have intervals apart, at a level that holds for all of them."""
    level = 1 - _BY_CHANCE / len(shares)
    ends = [wilson(*share, level) for share in shares]
    known = [end for end in ends if end is not None]
    return any(
        one[1] < other[0] or other[1] < one[0] for one, other in itertools.combinations(known, 2)
    )
