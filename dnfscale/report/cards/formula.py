"""A formula as people read it: one line per term, each condition a chip, and how the rows support
each line.

The formula of all rows comes from model.json, with its columns, cuts and counts; the formulas of
folds are in result.json, and are shown by the names of their attributes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dnfscale.core.formula import Dnf, Term, quote
from dnfscale.core.model import Model
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    IsMissing,
    IsTrue,
    Vocabulary,
    cuts_of,
    values_of,
)
from dnfscale.core.weights import amount, as_weight
from dnfscale.data.models.attributes import parse_attribute
from dnfscale.method.explain import DELTA
from dnfscale.method.intervals import line_supports, term_intervals, term_supports
from dnfscale.method.literals import Said, lines_of, n_candidates
from dnfscale.method.words import (
    Condition,
    Notation,
    column_text,
    condition_of,
    conditions_alone,
    joined_lines,
    model_lines,
    number_text,
    said_number,
)
from dnfscale.report.markup import Html, element, join, name_of
from dnfscale.results.formula import Formula
from dnfscale.results.formula import Line as RecordedLine
from dnfscale.results.record import plain
from dnfscale.results.result import Weight

_SHOWN_LINES = 8
"""Lines of a formula that are shown without unfolding it."""


@dataclass(frozen=True, slots=True)
class Support:
    """How many rows satisfy a term, and how many of them are positive; or the weights of these
    rows.
    """

    n: int | float
    c: int | float
    weighted: bool = False
    """Whether these are weights."""


@dataclass(frozen=True, slots=True)
class Line:
    """A term of a formula with the rows that it accepts, if they are known."""

    conditions: tuple[Condition, ...]
    support: Support | None = None
    interval: tuple[float, float] | None = None
    """An interval for the chance that a case which satisfies the term is positive."""


@dataclass(frozen=True, slots=True)
class ShownFormula:
    """A formula to be shown: any of its lines makes it true."""

    lines: tuple[Line, ...]
    otherwise: Support | None = None
    """The rows that no line accepts."""

    @property
    def has_intervals(self) -> bool:
        return any(line.interval for line in self.lines)

    @property
    def constant(self) -> bool | None:
        """The formula's answer if it is the same for all rows; otherwise None."""
        return (
            False
            if not self.lines
            else True
            if any(not line.conditions for line in self.lines)
            else None
        )


def shown_formula(model: Model) -> ShownFormula:
    """Return the formula of a model with the rows behind each line."""
    counts, lines = model.counts, model_lines(model)
    supports: list[Support | None] = [None] * len(lines)
    otherwise = None
    if len(counts.codes):
        of_lines = line_supports(lines, term_supports(model.over_types, counts))
        supports = [support_of(model, n, c) for n, c in of_lines]
        left = ~model.over_types.accepts(counts.codes)
        otherwise = support_of(model, int(counts.n[left].sum()), int(counts.c[left].sum()))
    # Sums of weights are not binomial, so they give no interval.
    intervals = [None] * len(lines) if model.weighted else _intervals(supports, model.tau)
    return ShownFormula(
        tuple(
            Line(tuple(conditions(line.literals)), own, interval)
            for line, own, interval in zip(lines, supports, intervals, strict=True)
        ),
        otherwise,
    )


def support_of(model: Model, n: int, c: int) -> Support:
    """Return counts of a model as the rows that they are, or as what these weigh."""
    return Support(as_weight(n, model.unit), as_weight(c, model.unit), model.weighted)


def shown_fold_formula(formula: Formula, weight: Weight | None) -> ShownFormula | None:
    """Return the formula of a fold with the rows behind each line; None if its lines are not
    known.
    """
    if formula.lines is None:
        return None
    tau, dnf = Vocabulary(recorded_attributes(formula)), recorded_dnf(formula.lines)
    lines, unit = lines_of(tau, dnf), (weight and weight.unit) or 1
    supports: list[Support | None] = [None] * len(lines)
    known = [
        (line.n, line.c) for line in formula.lines if line.n is not None and line.c is not None
    ]
    if len(known) == len(formula.lines):
        supports = [
            Support(as_weight(n, unit), as_weight(c, unit), weight is not None)
            for n, c in line_supports(lines, known)
        ]
    # Sums of weights are not binomial, so they give no interval.
    intervals = [None] * len(lines) if weight is not None else _intervals(supports, tau)
    return ShownFormula(
        tuple(
            Line(tuple(conditions(line.literals)), support, interval)
            for line, support, interval in zip(lines, supports, intervals, strict=True)
        )
    )


def formula_text(formula: Formula) -> str:
    """Return a recorded formula on one line, in conditions."""
    if formula.lines is None:
        return formula.formula
    tau = Vocabulary(recorded_attributes(formula))
    return joined_lines(lines_of(tau, recorded_dnf(formula.lines)))


def recorded_attributes(formula: Formula) -> tuple[Attribute, ...]:
    """Return the attributes of a recorded formula; those of which no more than their names is
    recorded hold when they are true.
    """
    return tuple(
        IsTrue(attribute.name, attribute.name, True)
        if attribute.test is None
        else parse_attribute(plain(attribute), f"attributes[{place}]")
        for place, attribute in enumerate(formula.attributes)
    )


def recorded_dnf(lines: Sequence[RecordedLine]) -> Dnf:
    """Return the terms of a recorded formula."""
    return Dnf(
        tuple(
            Term(
                sum(1 << each.attribute for each in line.all),
                sum(1 << each.attribute for each in line.all if each.value),
            )
            for line in lines
        )
    )


def conditions(said: Iterable[Said]) -> list[Condition]:
    """Return what is said about columns, as the page shows it."""
    return [condition_of(each, _SHOWN) for each in said]


def condition(attribute: Attribute) -> str:
    """Return the condition of an attribute, as the page shows it."""
    return " and ".join(each.text for each in conditions_alone(attribute, True, _SHOWN))


def exact_value(attribute: Attribute) -> str:
    """Return the value that an attribute compares with, with all digits; for an interval, both
    ends.
    """
    if isinstance(attribute, IsMissing):
        return ""
    values = cuts_of(attribute) if isinstance(attribute, Above | Between) else values_of(attribute)
    return ", ".join(map(_EXACT.value, values))


def formula_list(reading: ShownFormula, counted: str) -> Html:
    """Return the lines of a formula; those beyond the first few are folded.

    `counted` is the word for rows for which the formula should hold, as in: 12 % positive.
    """
    if reading.constant is not None:
        always = next(
            (line.support for line in reading.lines if not line.conditions), reading.otherwise
        )
        same = element("span", "Whatever the chosen attributes say, the answer is the same.")
        return element("div", same, evidence(always, counted), class_="otherwise")
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
    """Return a condition as a chip; a negation is shown by a word or a sign, not by
    colour alone.
    """
    before, after = asked.around
    parts: list[Html | None] = [
        element("span", before, class_="sign") if before else None,
        join(element("bdi", asked.low, class_="value"), element("span", " < ", class_="sign"))
        if asked.low
        else None,
        name_of(asked.name),
        join(" ", element("span", asked.sign, class_="sign")) if asked.sign else None,
        join(" ", element("bdi", asked.value, class_="value")) if asked.value else None,
        element("span", after, class_="sign") if after else None,
    ]
    return element("span", *parts, class_="chip no" if asked.negated else "chip")


def evidence(
    support: Support | None, counted: str, interval: tuple[float, float] | None = None
) -> Html | None:
    """Return how many rows a line accepts and which share of them is positive, in words and as a
    bar.
    """
    if support is None:
        return None
    share = support.c / support.n if support.n else 0.0
    rows = f"{amount(support.n)} row{'s' * (support.n != 1)}"
    text = f"weight {amount(support.n)}" if support.weighted else rows
    words = f"{text}, {100 * share:.0f} % {counted}" if support.n else f"{text} here"
    bar = element(
        "svg",
        element("rect", width="100%", height="100%", rx=3, class_="track"),
        element("rect", width=f"{100 * share:.1f}%", height="100%", rx=3, class_="fill")
        if share
        else None,
        class_="share",
        aria_hidden="true",
    )
    within = None
    if interval and support.n:
        # Rounding must not narrow the interval.
        low, high = math.floor(100 * interval[0]), math.ceil(100 * interval[1])
        within = element("span", f"interval {low} to {high} %")
    return element("span", element("span", words), bar, within, class_="evidence")


def _item(line: Line, counted: str) -> Html:
    pieces: list[Html | str] = []
    for number, asked in enumerate(line.conditions):
        pieces += [Html(' <span class="and">and</span> ')] if number else []
        pieces.append(chip(asked))
    return element(
        "li",
        element("span", *pieces, class_="term"),
        evidence(line.support, counted, line.interval),
    )


def _intervals(
    supports: Sequence[Support | None], tau: Vocabulary
) -> list[tuple[float, float] | None]:
    counted = [(int(own.n), int(own.c)) for own in supports if own is not None]
    found = term_intervals(counted, delta=DELTA, candidates=n_candidates(tau))
    return list(found) if len(found) == len(supports) else [None] * len(supports)


def _shown_text(text: str) -> str:
    """Return a name or category as it is; a blank one is quoted, so that it can be seen."""
    return text if text.strip() else quote(text)


_SHOWN = Notation(lambda column: column_text(column, _shown_text), _shown_text, said_number)
_EXACT = replace(_SHOWN, number=number_text)
