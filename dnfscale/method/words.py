"""Conditions and formulas as people write them: every attribute spelled out with its column and
value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dnfscale.core.arrays import Scalar
from dnfscale.core.formula import quote
from dnfscale.core.model import Model
from dnfscale.core.parts import ColumnName, Part
from dnfscale.core.quantities import Quantity
from dnfscale.core.tree import literals
from dnfscale.core.vocabulary import Above, Attribute, Between, IsIn, IsMissing, cuts_of
from dnfscale.method.spelling import Spelling, spell

Literal = tuple[int, bool]
"""An attribute, and whether it holds."""


@dataclass(frozen=True, slots=True)
class Range:
    """The values that some cuts of a column, holding together, allow: those above low, and not
    above high.
    """

    column: ColumnName
    low: int | float | Quantity | None
    """None if there is no lower end. Then, and only then, the range also admits missing values."""
    high: int | float | Quantity | None


@dataclass(frozen=True, slots=True)
class Gap:
    """The values that the negation of an interval excludes from a column."""

    column: ColumnName
    low: int | float | Quantity
    high: int | float | Quantity


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a row, in parts such as worst_radius, >, 16.8."""

    name: str
    sign: str = ""
    value: str = ""
    negated: bool = False
    """Whether it negates an attribute; the sign may already express the «not»."""
    low: str = ""
    """The lower end, if the condition is an interval."""

    @property
    def around(self) -> tuple[str, str]:
        """What stands before and after it: a «not» that the sign does not express, and the brackets
        that it needs.
        """
        if not self.negated or (self.sign and not self.low):
            return "", ""
        return ("not (", ")") if self.low else ("not ", "")

    @property
    def text(self) -> str:
        """All of it on one line."""
        before, after = self.around
        low = f"{self.low} <" if self.low else ""
        return (
            before
            + " ".join(part for part in (low, self.name, self.sign, self.value) if part)
            + after
        )


@dataclass(frozen=True, slots=True)
class Notation:
    """How conditions spell names, texts and numbers."""

    text: Callable[[str], str]
    """Spells names of columns, and categories that are texts."""
    number: Callable[[int | float | Quantity], str]

    def column(self, column: ColumnName) -> str:
        """Write a column: `bmi`, `weekday of admitted`, or `hour of admitted (UTC)`, by the clock
        of that zone.
        """
        if not isinstance(column, Part):
            return self.text(column)
        return f"{column.unit} of {self.text(column.of)}" + zone_text(column.zone)

    def value(self, value: Scalar | Quantity) -> str:
        """Write a cut, label or category."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return self.text(value) if isinstance(value, str) else self.number(value)


def conditions(attributes: Sequence[Attribute], literals: Iterable[Literal]) -> list[str]:
    """Write some literals that hold together; the cuts of a column become one interval: `12.5 < bmi
    ≤ 30`.
    """
    return [asked.text for asked in conditions_of(attributes, literals, WRITTEN)]


def condition(attribute: Attribute, holds: bool) -> str:
    """Write that an attribute holds, or that it does not: `age > 38` and `age ≤ 38`, `smoker` and
    `not smoker`.

    For an interval: `12.5 < bmi ≤ 30` and `not (12.5 < bmi ≤ 30)`. The negation of a test also
    holds where the value is missing. Names and texts that are not plain words are quoted.
    """
    return condition_of(attribute, holds, WRITTEN).text


def formula_lines(model: Model) -> list[str]:
    """Return the lines of a formula, of which one must hold, as conditions; a tree is one line."""

    def words(i: int, holds: bool) -> str:
        return condition(model.tau.attributes[i], holds)

    if model.tree is not None:
        return [spell(model.tree, Spelling(words, " and ", " or ", lambda text: f"not {text}"))]
    return [
        " and ".join(conditions(model.tau.attributes, term.literals)) for term in model.dnf.terms
    ]


def predicted(model: Model) -> str:
    """Say what the formula predicts where it holds, in a few words: the target and its positive
    labels, or that it is none of them.
    """
    labels = ", ".join(value_text(label) for label in model.positive)
    several = len(model.positive) > 1
    verb = ("is one of" if model.answer else "is none of") if several else "is"
    return f"{quote(model.target)} {verb if model.answer or several else 'is not'} {labels}"


def needs_note(model: Model) -> bool:
    """Return whether missing values were learned from and the formula negates a comparison, which
    holds for them.
    """
    return model.missing == "indicator" and any(
        not holds and not isinstance(model.tau.attributes[i], IsMissing)
        for i, holds in literals_of(model)
    )


def literals_of(model: Model) -> Iterator[tuple[int, bool]]:
    """Yield the literals of a formula as often as they occur, with negations moved down to them."""
    if model.tree is not None:
        yield from literals(model.tree)
    else:
        yield from (literal for term in model.dnf.terms for literal in term.literals)


def conditions_of(
    attributes: Sequence[Attribute], literals: Iterable[Literal], notation: Notation
) -> list[Condition]:
    """Return the conditions of literals that hold together; the cuts of a column become one
    interval.
    """
    return [
        condition_of(attributes[part[0]], part[1], notation)
        if isinstance(part, tuple)
        else _within(part, notation)
        for part in in_ranges(attributes, literals)
    ]


def condition_of(attribute: Attribute, holds: bool, notation: Notation) -> Condition:
    """Return the condition that an attribute, or its negation, puts on its column."""
    if (left := range_of(attribute, holds)) is not None:
        return _within(left, notation)
    column, negated = notation.column(attribute.column), not holds
    if isinstance(attribute, IsMissing):
        return Condition(column, "is missing" if holds else "is not missing", negated=negated)
    if isinstance(attribute, Above | Between):
        # Without a cut there was no value to compare with, and the attribute is never true.
        return Condition(column, ">" if holds else "≤", "nothing", negated)
    if isinstance(attribute, IsIn):
        listed = "{" + ", ".join(map(notation.value, attribute.values)) + "}"
        return Condition(column, "in" if holds else "not in", listed, negated)
    if attribute.value is True:
        return Condition(column, negated=negated)
    return Condition(column, "=" if holds else "≠", notation.value(attribute.value), negated)


def range_of(attribute: Attribute, holds: bool) -> Range | Gap | None:
    """Return the range that an attribute of cuts, or its negation, allows, or the gap it excludes;
    None for others.
    """
    if not isinstance(attribute, Above | Between) or not (cuts := cuts_of(attribute)):
        return None
    if isinstance(attribute, Between):
        return (Range if holds else Gap)(attribute.column, cuts[0], cuts[1])
    return (
        Range(attribute.column, cuts[0], None) if holds else Range(attribute.column, None, cuts[0])
    )


def in_ranges(
    attributes: Sequence[Attribute], literals: Iterable[Literal]
) -> list[Literal | Range | Gap]:
    """Return literals that hold together, with those that allow a range of a column merged into one
    range.

    The range stands where its column came first. A gap at one of its ends shortens it: `bmi > 25`
    and not `20 < bmi ≤ 30` is `bmi > 30`. Gaps that touch or overlap become one.
    """
    found: dict[object, Literal | Range | Gap] = {}
    for literal in literals:
        new = range_of(attributes[literal[0]], literal[1])
        if isinstance(new, Range):
            before = found.get(new.column)
            found[new.column] = _common(before, new) if isinstance(before, Range) else new
        elif new is None:
            found[literal] = literal
        else:
            _add_gap(found, literal, new)
    gaps = {key: gap for key, gap in found.items() if isinstance(gap, Gap)}
    # When one gap has shortened the range, another may come to lie at its end; each pass but the
    # last removes one.
    for _ in range(len(gaps)):
        for key, gap in list(gaps.items()):
            whole = found.get(gap.column)
            rest = _without(whole, gap) if isinstance(whole, Range) else None
            if rest is not None:
                found[gap.column] = rest
                del found[key], gaps[key]
    return list(found.values())


def measured(column: ColumnName, value: Quantity) -> str:
    """Write that a column has a date, time, duration or decimal as its value."""
    return f"{WRITTEN.column(column)} = {WRITTEN.value(value)}"


def zone_text(zone: str | None) -> str:
    """Write the zone of a clock in brackets, or nothing if it is not known."""
    return "" if zone is None else f" ({zone})"


def value_text(value: Scalar) -> str:
    """Write a label or category; a text that could be taken for something else is in double
    quotes.
    """
    return WRITTEN.value(value)


def number_text(value: int | float | Quantity) -> str:
    """Write a number so that it reads back as the same one, without a fraction where it
    has none.
    """
    if isinstance(value, Quantity):
        return str(value)
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e16
    return str(int(value)) if whole else repr(value)


WRITTEN = Notation(quote, number_text)
"""Conditions in files and on the terminal: every name and number can be read back."""


def holds_where_missing(attribute: Attribute, holds: bool) -> bool:
    """Return whether an attribute, or its negation, holds in a row where the value of its column is
    missing.
    """
    return holds == isinstance(attribute, IsMissing)


def _within(left: Range | Gap, notation: Notation) -> Condition:
    """Return the condition of being in a range, or not in a gap: `age > 38`, `age ≤ 38` or `12.5 <
    bmi ≤ 30`.
    """
    column = notation.column(left.column)
    if left.high is None:
        assert left.low is not None
        return Condition(column, ">", notation.value(left.low))
    low = "" if left.low is None else notation.value(left.low)
    return Condition(
        column, "≤", notation.value(left.high), negated=isinstance(left, Gap) or not low, low=low
    )


def _common(one: Range, other: Range) -> Range:
    # The values of one column are all numbers, or all of one measure.
    lows: list[Any] = [end for end in (one.low, other.low) if end is not None]
    highs: list[Any] = [end for end in (one.high, other.high) if end is not None]
    return Range(one.column, max(lows, default=None), min(highs, default=None))


def _add_gap(found: dict[object, Literal | Range | Gap], literal: Literal, gap: Gap) -> None:
    """Add a gap to what was found, as one with those that it touches or overlaps, in the place of
    the first of them.
    """
    touched = [key for key, other in found.items() if isinstance(other, Gap) and _touch(gap, other)]
    for key in touched:
        other = found.pop(key) if key != touched[0] else found[key]
        assert isinstance(other, Gap)
        ends: list[Any] = [gap.low, gap.high, other.low, other.high]
        gap = Gap(gap.column, min(ends), max(ends))
    found[touched[0] if touched else literal] = gap


def _touch(one: Gap, other: Gap) -> bool:
    """Return whether two gaps leave nothing between them; an interval the wrong way round is no
    gap.
    """
    if one.column != other.column:
        return False
    # The values of one column are all numbers, or all of one measure.
    ends: list[Any] = [one.low, one.high, other.low, other.high]
    low, high, other_low, other_high = ends
    return bool(low < high and other_low < other_high and low <= other_high and other_low <= high)


def _without(whole: Range, gap: Gap) -> Range | None:
    """Return what is left of a range without a gap, or None if that is not a nonempty range."""
    # The values of one column are all numbers, or all of one measure.
    low: Any = whole.low
    high: Any = whole.high
    if low is not None and gap.low <= low:
        low = max(low, gap.high)
    elif high is not None and gap.high >= high:
        high = min(high, gap.low)
    else:
        return None
    # An empty range would hide the contradiction; the literals as they were show it.
    return (
        None
        if low is not None and high is not None and low >= high
        else Range(whole.column, low, high)
    )
