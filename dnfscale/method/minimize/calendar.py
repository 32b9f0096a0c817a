"""Which parts go with which dates: the truth values that attributes of a date and of its parts can
have together.

A date between the first and the fifteenth of March is in March, and a time after noon has an hour
of twelve or more. So the cuts of a column divide its dates into stretches, and in each stretch the
calendar has certain months, weekdays and hours together. A stretch of 400 days contains a whole
year, in which every weekday occurs in every month.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.parts import Part, offset_s, parts_of
from dnfscale.core.quantities import DAY_S, Kind, Measure, Quantity
from dnfscale.core.vocabulary import Above, Attribute, Between, IsMissing, cuts_of, values_of

_HOUR_S = 3_600
_STRETCH_S = 400 * DAY_S
_ANY_TIME = Measure(Kind.TIMESTAMP, 1)


def calendar_states(own: Sequence[tuple[int, Attribute]]) -> set[int]:
    """Return the truth values that attributes of a date and its parts, each given with its bit, can
    have together.

    Those of a missing date are not among them. For an instant on the clock of a zone whose offset
    changes, every part may go with every date.
    """
    cuts = sorted(
        {
            cut
            for _, attribute in own
            if not isinstance(attribute.column, Part)
            for cut in _moments(attribute)
        }
    )
    zones = {attribute.column.zone for _, attribute in own if isinstance(attribute.column, Part)}
    ahead = [0 if zone is None else offset_s(zone) for zone in zones]
    measure = cuts[0].measure if cuts else _ANY_TIME
    if len(ahead) == 1 and ahead[0] is not None:
        stretches = [
            _stretch(low, high, measure, ahead[0]) for low, high in pairwise([None, *cuts, None])
        ]
    else:
        stretches = [_stretch(None, None, _ANY_TIME, 0)] * (len(cuts) + 1)
    states: set[int] = set()
    for passed, seconds in enumerate(stretches):
        codes = np.zeros(len(seconds), dtype=np.int64)
        for bit, attribute in own:
            codes |= np.where(_holds(attribute, seconds, cuts[:passed]), bit, 0)
        states.update(np.unique(codes).tolist())
    return states


def _moments(attribute: Attribute) -> list[Quantity]:
    """Return the dates at which an attribute cuts; none for a part."""
    cuts = cuts_of(attribute) if isinstance(attribute, Above | Between) else ()
    return [cut for cut in cuts if isinstance(cut, Quantity)]


def _stretch(low: Quantity | None, high: Quantity | None, measure: Measure, ahead: int) -> Ints:
    """Return local seconds at which the parts of the dates above low and not above high are all
    shown.
    """
    first = None if low is None else _second(low.ticks + 1, measure) + ahead
    last = None if high is None else _second(high.ticks, measure) + ahead
    if measure.kind is Kind.TIME:
        first, last = first or 0, DAY_S - 1 if last is None else last
    if first is None:
        first = (last or 0) - _STRETCH_S
    last = first + _STRETCH_S if last is None else min(last, first + _STRETCH_S)
    hours: Ints = np.arange(-(-first // _HOUR_S) * _HOUR_S, last + 1, _HOUR_S, dtype=np.int64)
    if measure.kind is Kind.DATE:
        return np.asarray(hours[hours % DAY_S == 0])
    return np.append(hours, np.full(int(first <= last), first))


def _second(ticks: int, measure: Measure) -> int:
    """Return the whole seconds from 1970-01-01, or from midnight."""
    return ticks * DAY_S if measure.kind is Kind.DATE else ticks // measure.steps


def _holds(attribute: Attribute, seconds: Ints, passed: Sequence[Quantity]) -> Bools:
    """Return whether an attribute holds at some moments of a stretch, which lies above some of the
    cuts.
    """
    column = attribute.column
    values = parts_of(seconds, column.unit) if isinstance(column, Part) else seconds
    if isinstance(attribute, Above | Between):
        above = [
            end in passed if isinstance(end, Quantity) else values > end
            for end in cuts_of(attribute)
        ]
        low, high = [*above, False, False][:2]
        return np.broadcast_to(np.logical_and(low, np.logical_not(high)), len(seconds))
    if isinstance(attribute, IsMissing) or not isinstance(column, Part):
        return np.zeros(len(seconds), dtype=np.bool_)
    places = [column.place(str(value)) for value in values_of(attribute)]
    return np.asarray(np.isin(values, places))
