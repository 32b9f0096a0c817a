"""A formula as people read it: one line a term, each condition a chip, and what the rows say of each line.

The formula of all rows comes from model.json, with the columns, the cuts and the counts behind it. The formulas of
folds are there as text only, so they are read back from it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dnfscale.core.parts import ColumnName, Part, Unit
from dnfscale.core.quantities import Quantity, parse_measure, parse_quantity
from dnfscale.experiment.outcome import LearnedFormula, Support
from dnfscale.jobs.report.markup import Html, element, join, name_of
from dnfscale.method.conditions import Gap, Literal, Range, in_ranges, zone_text
from dnfscale.method.explain import term_intervals

_SHOWN_LINES = 8
"""Lines of a formula that are shown without unfolding it."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A literal: what is asked of a row, in three parts such as worst_radius, >, 16.8."""

    name: str
    sign: str = ""
    value: str = ""
    negated: bool = False
    """Whether the attribute occurs with a «not», which the sign may have swallowed."""
    low: str = ""
    """The lower end of an interval, if it is one."""

    @property
    def text(self) -> str:
        """What is asked, without the «not»."""
        low = f"{self.low} <" if self.low else ""
        return " ".join(part for part in (low, self.name, self.sign, self.value) if part)


@dataclass(frozen=True, slots=True)
class Line:
    """A term of a formula with the rows it accepts, where they are known."""

    conditions: tuple[Condition, ...]
    support: Support | None = None
    interval: tuple[float, float] | None = None
    """For the chance that a case which satisfies the term is positive."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A formula to be shown: any of its lines makes it true."""

    lines: tuple[Line, ...]
    otherwise: Support | None = None
    """The rows that no line accepts."""

    @property
    def has_intervals(self) -> bool:
        return any(line.interval for line in self.lines)

    @property
    def constant(self) -> bool | None:
        """What the formula always says; None for one that depends on the row."""
        return False if not self.lines else True if any(not line.conditions for line in self.lines) else None


def model_reading(model: Mapping[str, Any]) -> Reading:
    """Read the formula of a model file."""
    attributes = model["attributes"]
    terms = [tuple((literal["attribute"], literal["value"]) for literal in term) for term in model["terms"]]
    counts = [(tuple(count["type"]), count["n"], count["c"]) for count in model.get("counts") or ()]

    def accepted(term: Sequence[tuple[int, bool]], kind: Sequence[bool]) -> bool:
        return all(kind[index] == holds for index, holds in term)

    def support(chosen: Sequence[tuple[Sequence[bool], int, int]]) -> Support | None:
        return Support(sum(n for _, n, _ in chosen), sum(c for _, _, c in chosen)) if counts else None

    supports = [support([count for count in counts if accepted(term, count[0])]) for term in terms]
    # Counts of weights are not counts of draws, and give no interval.
    intervals = _intervals(supports, len(attributes)) if not model.get("weighted") else [None] * len(terms)
    lines = tuple(
        Line(tuple(conditions(attributes, term)), own, interval)
        for term, own, interval in zip(terms, supports, intervals, strict=True)
    )
    rest = [count for count in counts if not any(accepted(term, count[0]) for term in terms)]
    return Reading(lines, support(rest))


def text_reading(formula: LearnedFormula) -> Reading | None:
    """Read a formula back from its text; None for one that is not a disjunction of terms."""
    terms = parse_formula(formula.text)
    if terms is None:
        return None
    supports: Sequence[Support | None] = formula.supports
    if len(supports) != len(terms):
        supports = [None] * len(terms)
    return Reading(
        tuple(
            Line(tuple(Condition(name, negated=not holds) for name, holds in term), support, interval)
            for term, support, interval in zip(terms, supports, _intervals(supports, formula.ell), strict=True)
        )
    )


_TOKEN = re.compile(r'\s*(?:([()])|"((?:[^"\\]|\\.)*)"|(\w+))')


def parse_formula(text: str) -> list[list[tuple[str, bool]]] | None:
    """Return the terms of a formula as `core.formula.Dnf.render` writes them: lists of (name, whether it holds).

    Brackets may stand around whole terms only; anything else gives None, not a guess.
    """
    tokens = _tokens(text)
    if tokens in (["false"], ["true"]):
        return [] if tokens == ["false"] else [[]]
    terms: list[list[tuple[str, bool]]] = [[]]
    expected, bracketed, holds = "name", False, True
    for token in tokens or [""]:
        if isinstance(token, _Name) and expected == "name":
            terms[-1].append((token.text, holds))
            expected, holds = "and", True
        elif token == "not" and expected == "name" and holds:
            holds = False
        elif token == "(" and expected == "name" and holds and not terms[-1] and not bracketed:
            bracketed = True
        elif token == ")" and expected == "and" and bracketed:
            expected = "or"
        elif token == "and" and expected == "and":
            expected = "name"
        elif token == "or" and (expected == "or" or (expected == "and" and not bracketed)):
            terms.append([])
            expected, bracketed = "name", False
        else:
            return None
    return terms if expected == "or" or (expected == "and" and not bracketed) else None


def conditions(attributes: Sequence[Mapping[str, Any]], literals: Iterable[Literal]) -> list[Condition]:
    """Return what literals of a model file ask together; the cuts of a column become one interval."""
    gathered = in_ranges(literals, lambda literal: _range_left(attributes[literal[0]], literal[1]))
    return [_within(part) if isinstance(part, Range) else condition(attributes[part[0]], part[1]) for part in gathered]


def condition(attribute: Mapping[str, Any], holds: bool) -> Condition:
    """Return what a literal of a model file asks of its column."""
    column, test, value = column_words(attribute), attribute["test"], attribute.get("value")
    negated = not holds
    if test == "above":
        cut = "median" if value is None else number_text(value)
        return Condition(column, "≤" if negated else ">", cut, negated)
    if test == "between":
        if value is None:
            return Condition(column, "≤" if negated else ">", "nothing", negated)
        return Condition(column, "≤", number_text(value[1]), negated, low=number_text(value[0]))
    if test == "missing":
        return Condition(column, "is present" if negated else "is missing", negated=negated)
    if test == "true" and value is True:
        return Condition(column, negated=negated)
    return Condition(column, "≠" if negated else "=", number_text(value), negated)


def column_words(attribute: Mapping[str, Any]) -> str:
    """Return the column of an attribute of a model file, or which part of it is asked for."""
    return _words(_column(attribute))


def number_text(value: object) -> str:
    """Return a value as a condition shows it: six digits of a number, any other value as it is."""
    if isinstance(value, float) and not isinstance(value, bool):
        return f"{value:.6g}".replace("-", "−")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value).replace("-", "−")
    return {"inf": "∞", "-inf": "−∞"}.get(str(value), str(value))


def formula_list(reading: Reading, counted: str) -> Html:
    """Return the lines of a formula; those beyond the first few are folded.

    counted is what is said of the rows for which the formula should hold, as in: 12 % positive.
    """
    if reading.constant is not None:
        words = "at least as frequent" if reading.constant else "less frequent"
        return element("p", f"Whatever the chosen attributes say, this answer is {words}.", class_="note")
    items = [_item(line, counted) for line in reading.lines]
    if len(items) <= _SHOWN_LINES + 2:
        return element("ol", *items, class_="terms")
    more = len(items) - _SHOWN_LINES
    return join(
        element("ol", *items[:_SHOWN_LINES], class_="terms"),
        element(
            "details",
            element("summary", f"{more} more lines"),
            element("ol", *items[_SHOWN_LINES:], class_="terms", start=_SHOWN_LINES + 1),
            class_="lines",
        ),
    )


def chip(asked: Condition) -> Html:
    """Return a condition as a chip; the «no» in it is a word or a sign, not only a colour."""
    swallowed = asked.sign in {"≤", "≠", "is present"} and not asked.low
    negation = "" if swallowed or not asked.negated else "not (" if asked.low else "not "
    parts: list[Html | None] = [
        element("span", negation, class_="sign") if negation else None,
        join(element("bdi", asked.low, class_="value"), element("span", " < ", class_="sign")) if asked.low else None,
        name_of(asked.name),
        join(" ", element("span", asked.sign, class_="sign")) if asked.sign else None,
        join(" ", element("bdi", asked.value, class_="value")) if asked.value else None,
        element("span", ")", class_="sign") if negation.endswith("(") else None,
    ]
    return element("span", *parts, class_="chip no" if asked.negated else "chip")


def evidence(support: Support | None, counted: str, interval: tuple[float, float] | None = None) -> Html | None:
    """Return how many rows stand behind a line and which share of them is positive, in words and as a bar."""
    if support is None:
        return None
    share = support.c / support.n if support.n else 0.0
    text = f"{support.n:,} row{'s' * (support.n != 1)}"
    words = f"{text}, {100 * share:.0f} % {counted}" if support.n else f"{text} here"
    bar = element(
        "svg",
        element("rect", width="100%", height="100%", rx=3, class_="track"),
        element("rect", width=f"{100 * share:.1f}%", height="100%", rx=3, class_="fill") if share else None,
        class_="share",
        aria_hidden="true",
    )
    within = None
    if interval and support.n:
        # What is promised must not be narrowed by rounding.
        low, high = math.floor(100 * interval[0]), math.ceil(100 * interval[1])
        within = element("span", f"interval {low} to {high} %")
    return element("span", element("span", words), bar, within, class_="evidence")


def _item(line: Line, counted: str) -> Html:
    pieces: list[Html | str] = []
    for number, asked in enumerate(line.conditions):
        pieces += [Html(' <span class="and">and</span> ')] if number else []
        pieces.append(chip(asked))
    return element("li", element("span", *pieces, class_="term"), evidence(line.support, counted, line.interval))


def _range_left(attribute: Mapping[str, Any], holds: bool) -> Range | Gap | None:
    """Return what a literal of a model file leaves of its column, or leaves out, if it is one of cuts."""
    column, test, value = _column(attribute), attribute["test"], attribute.get("value")
    if test == "above" and (cut := _cut(value, attribute)) is not None:
        return Range(column, cut, None) if holds else Range(column, None, cut)
    if test == "between" and value is not None:
        low, high = (_cut(end, attribute) for end in value)
        if low is not None and high is not None:
            return (Range if holds else Gap)(column, low, high)
    return None


def _cut(value: Any, attribute: Mapping[str, Any]) -> int | float | Quantity | None:
    """Return a cut as what can be compared; None for one at infinity, or for none."""
    if isinstance(value, str) and "measure" in attribute:
        measure = parse_measure(str(attribute["measure"]))
        return None if measure is None else parse_quantity(value, measure)
    return value if isinstance(value, int | float) else None


def _column(attribute: Mapping[str, Any]) -> ColumnName:
    """Return the column of an attribute of a model file: a stored one may be called like a part of another."""
    column, part = str(attribute["column"]), attribute.get("part")
    return column if part is None else Part(column, Unit(part), attribute.get("zone"))


def _words(column: ColumnName) -> str:
    return column if isinstance(column, str) else f"{column}{zone_text(column.zone)}"


def _within(asked: Range) -> Condition:
    column = _words(asked.column)
    if asked.high is None:
        return Condition(column, ">", number_text(asked.low))
    low = "" if asked.low is None else number_text(asked.low)
    return Condition(column, "≤", number_text(asked.high), negated=not low, low=low)


def _intervals(supports: Sequence[Support | None], ell: int) -> list[tuple[float, float] | None]:
    found = term_intervals([(own.n, own.c) for own in supports if own is not None], ell)
    return list(found) if len(found) == len(supports) else [None] * len(supports)


@dataclass(frozen=True, slots=True)
class _Name:
    text: str


def _tokens(text: str) -> list[str | _Name] | None:
    tokens: list[str | _Name] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        bracket, quoted, word = match.groups()
        if quoted is not None:
            tokens.append(_Name(_unquoted(quoted)))
        elif word is not None:
            tokens.append(word if word in {"not", "and", "or", "true", "false"} else _Name(word))
        else:
            tokens.append(bracket)
        at = match.end()
    return tokens


def _unquoted(text: str) -> str:
    """Undo the escapes of \\ and of the quote; a character spelled out stays spelled out, as it is shown."""
    return re.sub(r'\\(["\\])', r"\1", text)
