"""A formula as people read it: one line per term, each condition a chip, and how the rows support
each line.

The formula of all rows comes from model.json, with its columns, cuts and counts; the formulas of
folds are in result.json, and are shown by the names of their attributes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dnfscale.core.about import Label
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
from dnfscale.method.intervals import line_supports, term_intervals
from dnfscale.method.literals import Line as ReadLine
from dnfscale.method.literals import Said, lines_read, n_candidates
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
from dnfscale.report.measured import RARE_SHARE, round_share
from dnfscale.results.formula import Formula
from dnfscale.results.formula import Line as RecordedLine
from dnfscale.results.record import plain
from dnfscale.results.result import Weight

Labels = Mapping[str, Label]
"""What people call columns."""
NO_LABELS: Labels = {}
_SHOWN_LINES = 8
"""Lines of a formula that are shown without unfolding it."""
_GROUPED_LINES = 5
"""From so many lines on, those that share a condition are shown together."""


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
    """A line of a formula with the rows that it accepts, if they are known."""

    conditions: tuple[Condition, ...]
    at_least: int | None = None
    """How many conditions of a checklist must hold."""
    support: Support | None = None
    interval: tuple[float, float] | None = None
    """An interval for the chance that a case which satisfies the term is positive."""
    share: float | None = None
    """Of the rows that some line accepts, those that this one does; None if that is not known, or
    this is the only line."""


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
    def has_shares(self) -> bool:
        return any(line.share is not None for line in self.lines)

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
    otherwise, n_found = None, 0
    if len(counts.codes):
        terms = model.over_types.terms
        # Lines of their own as far as rows go: the terms of a checklist share some.
        held = [Dnf(tuple(terms[at] for at in line.terms)).accepts(counts.codes) for line in lines]
        supports = [
            support_of(model, int(counts.n[own].sum()), int(counts.c[own].sum())) for own in held
        ]
        left = ~model.over_types.accepts(counts.codes)
        n_found = counts.n_rows - int(counts.n[left].sum())
        otherwise = support_of(model, int(counts.n[left].sum()), int(counts.c[left].sum()))
    # Sums of weights are not binomial, so they give no interval.
    intervals = [None] * len(lines) if model.weighted else _intervals(lines, supports, model.tau)
    shown = _shown_lines(lines, supports, intervals, model.about.labels)
    if len(shown) > 1 and n_found:
        found = as_weight(n_found, model.unit)
        shown = tuple(replace(each, share=each.support.n / found) for each in shown if each.support)
    return ShownFormula(shown, otherwise)


def _shown_lines(
    lines: Sequence[ReadLine],
    supports: Sequence[Support | None],
    intervals: Sequence[tuple[float, float] | None],
    labels: Labels = NO_LABELS,
) -> tuple[Line, ...]:
    return tuple(
        Line(tuple(conditions(line.literals, labels)), line.at_least, own, interval)
        for line, own, interval in zip(lines, supports, intervals, strict=True)
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
    lines, unit = lines_read(tau, dnf), (weight and weight.unit) or 1
    supports: list[Support | None] = [None] * len(lines)
    known = [
        (line.n, line.c) for line in formula.lines if line.n is not None and line.c is not None
    ]
    if len(known) == len(formula.lines):
        # Terms that are read as a checklist share rows, and how many is not recorded.
        supports = [
            None
            if line.at_least is not None and len(line.terms) > 1
            else Support(as_weight(n, unit), as_weight(c, unit), weight is not None)
            for line, (n, c) in zip(lines, line_supports(lines, known), strict=True)
        ]
    # Sums of weights are not binomial, so they give no interval.
    intervals = [None] * len(lines) if weight is not None else _intervals(lines, supports, tau)
    return ShownFormula(_shown_lines(lines, supports, intervals))


def formula_text(formula: Formula) -> str:
    """Return a recorded formula on one line, in conditions."""
    if formula.lines is None:
        return formula.formula
    tau = Vocabulary(recorded_attributes(formula))
    return joined_lines(lines_read(tau, recorded_dnf(formula.lines)))


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
                sum(1 << each.attribute for each in line.literals),
                sum(1 << each.attribute for each in line.literals if each.value),
                line.at_least,
            )
            for line in lines
        )
    )


def conditions(said: Iterable[Said], labels: Labels = NO_LABELS) -> list[Condition]:
    """Return what is said about columns, as the page shows it."""
    notation = replace(SHOWN, labels=labels)
    return [condition_of(each, notation) for each in said]


def condition(attribute: Attribute, labels: Labels = NO_LABELS) -> str:
    """Return the condition of an attribute, as the page shows it."""
    notation = replace(SHOWN, labels=labels)
    return " and ".join(each.text for each in conditions_alone(attribute, True, notation))


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
    if len(reading.lines) >= _GROUPED_LINES:
        return _grouped_list(reading.lines, counted)
    items = [_item(line, counted) for line in reading.lines]
    return element("ol", *items, class_="terms")


@dataclass(frozen=True, slots=True)
class Group:
    """Lines of a formula that share a condition."""

    shared: Condition | None
    """None of lines that share none with another."""
    numbers: tuple[int, ...]
    """The lines, by their places in the formula."""


def grouped(lines: Sequence[Line]) -> list[Group]:
    """Return the lines by the condition that they share, that of most lines first; in a group, the
    line of most rows first.
    """
    left = [n for n, line in enumerate(lines) if line.at_least is None]
    groups = []
    while sharing := _most_shared(lines, left):
        shared, numbers = sharing
        groups.append(Group(shared, _by_rows(lines, numbers)))
        left = [n for n in left if n not in numbers]
    alone = left + [n for n, line in enumerate(lines) if line.at_least is not None]
    return [*groups, Group(None, _by_rows(lines, alone))] if alone else groups


def _most_shared(lines: Sequence[Line], left: Sequence[int]) -> tuple[Condition, list[int]] | None:
    """Return the condition of most of the lines that are left, and these; None if no two share
    one.
    """
    having: dict[Condition, list[int]] = {}
    for number in left:
        for asked in lines[number].conditions:
            having.setdefault(asked, []).append(number)
    shared = max(having.items(), key=lambda item: len(item[1]), default=None)
    return shared if shared is not None and len(shared[1]) > 1 else None


def _by_rows(lines: Sequence[Line], numbers: Sequence[int]) -> tuple[int, ...]:
    rows = {n: support.n if (support := lines[n].support) else 0 for n in numbers}
    return tuple(sorted(numbers, key=lambda n: (-rows[n], n)))


def _grouped_list(lines: Sequence[Line], counted: str) -> Html:
    """Return the lines by what they share; those beyond the first few are folded."""
    shown: list[Html] = []
    folded: list[Html] = []
    n_shown = 0
    for group in _split(grouped(lines)):
        within = n_shown == 0 or n_shown + len(group.numbers) <= _SHOWN_LINES + 2
        if group.shared is None and shown and not folded:
            (shown if within else folded).append(element("p", "or one of these lines:"))
        (shown if within else folded).append(_group(group, lines, counted))
        n_shown += len(group.numbers) if within else 0
    if not folded:
        return join(*shown)
    n_more = len(lines) - n_shown
    more = element("summary", f"{n_more} more line{'s' * (n_more > 1)}")
    return join(*shown, element("details", more, *folded, class_="lines"))


def _split(groups: Sequence[Group]) -> list[Group]:
    """Divide the lines that share nothing in two, so that the first can be shown unfolded."""
    *before, last = groups
    n_shown = sum(len(group.numbers) for group in before)
    left = max(_SHOWN_LINES - n_shown, 0)
    if last.shared is not None or not left or len(last.numbers) <= left + 2:
        return list(groups)
    return [*before, Group(None, last.numbers[:left]), Group(None, last.numbers[left:])]


def _group(group: Group, lines: Sequence[Line], counted: str) -> Html:
    items = []
    for number in group.numbers:
        line = lines[number]
        rest = tuple(asked for asked in line.conditions if asked != group.shared)
        items.append(_item(replace(line, conditions=rest), counted, number + 1))
    head = None
    if group.shared is not None:
        words = f" and at least one of these {len(items)} lines:"
        head = element("p", chip(group.shared), words, class_="shared")
    listed = element("ol", *items, class_="terms numbered")
    return element("div", head, listed, class_="group")


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


def negation_legend(reading: ShownFormula) -> Html | None:
    """Return what a dashed chip means, if there is one."""
    if not any(asked.negated for line in reading.lines for asked in line.conditions):
        return None
    entries = (
        ("chip", "solid frame", "false where the value is missing"),
        ("chip no", "dashed frame", "negated (≤, ≠, not): true where the value is missing"),
    )
    items = [
        element("li", element("span", frame, class_=class_), words)
        for class_, frame, words in entries
    ]
    return element("ul", *items, class_="legend")


def evidence(
    support: Support | None,
    counted: str,
    interval: tuple[float, float] | None = None,
    of_found: float | None = None,
) -> Html | None:
    """Return how many rows a line accepts and which share of them is positive, in words and as a
    bar.
    """
    if support is None:
        return None
    share = support.c / support.n if support.n else 0.0
    rows = f"{amount(support.n)} row{'s' * (support.n != 1)}"
    text = f"weight {amount(support.n)}" if support.weighted else rows
    words = f"{text}, {round_share(share)} {counted}" if support.n else f"{text} here"
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
        step = 10 if interval[1] < RARE_SHARE else 1
        low, high = math.floor(100 * step * interval[0]), math.ceil(100 * step * interval[1])
        within = element("span", f"interval {low / step:g} to {high / step:g} %")
    found = None if of_found is None else element("span", f"{round_share(of_found)} of all found")
    said = [each for each in (within, found) if each is not None]
    beside = join(said[0], ", ", *said[1:]) if len(said) > 1 else join(*said)
    return element("span", element("span", words), bar, beside, class_="evidence")


def _item(line: Line, counted: str, number: int | None = None) -> Html:
    if line.at_least is not None:
        return _checklist(line, counted, number)
    pieces: list[Html | str] = []
    for place, asked in enumerate(line.conditions):
        pieces += [Html(' <span class="and">and</span> ')] if place else []
        pieces.append(chip(asked))
    return element(
        "li",
        element("span", *(pieces or ["nothing else"]), class_="term"),
        evidence(line.support, counted, line.interval, line.share),
        data_at=number,
    )


def _checklist(line: Line, counted: str, number: int | None = None) -> Html:
    """Return a checklist as a list to tick off."""
    boxes = [
        element("li", element("span", class_="box", aria_hidden="true"), chip(asked))
        for asked in line.conditions
    ]
    head = f"at least {line.at_least} of these {len(line.conditions)}:"
    return element(
        "li",
        element("span", head, class_="needed"),
        element("ul", *boxes, class_="checklist"),
        evidence(line.support, counted, line.interval, line.share),
        data_at=number,
    )


def _intervals(
    lines: Sequence[ReadLine], supports: Sequence[Support | None], tau: Vocabulary
) -> list[tuple[float, float] | None]:
    counted = [(int(own.n), int(own.c)) for own in supports if own is not None]
    checklists = any(line.at_least is not None for line in lines)
    candidates = n_candidates(tau, checklists=checklists)
    found = iter(term_intervals(counted, delta=DELTA, candidates=candidates))
    return [None if own is None else next(found) for own in supports]


def _shown_text(text: str) -> str:
    """Return a name or category as it is; a blank one is quoted, so that it can be seen."""
    return text if text.strip() else quote(text)


SHOWN = Notation(lambda column: column_text(column, _shown_text), _shown_text, said_number)
"""Conditions as the page shows them."""
_EXACT = replace(SHOWN, number=number_text)
