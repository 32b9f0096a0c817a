"""Explanations in plain words, for people who must give reasons: why this answer, and which change
would turn it.

A term is called a line, because that is how a formula is shown, and lines are numbered from 1. A
formula of the formula-size method is written as it is, and its answer is explained by the fewest
conditions that settle it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from dnfscale.core.arrays import Scalar
from dnfscale.core.model import Model, signs_held
from dnfscale.core.parts import ColumnName
from dnfscale.core.quantities import Quantity
from dnfscale.core.vocabulary import Equals, IsMissing, IsTrue
from dnfscale.core.weights import amount, as_weight
from dnfscale.method.explain import (
    DELTA,
    Evidence,
    Explanation,
    Flip,
    ModelFacts,
    moved_columns,
    signs_table,
)
from dnfscale.method.literals import Line, Said, Scales
from dnfscale.method.words import (
    about_lines,
    column_text,
    condition,
    conditions,
    formula_lines,
    line_text,
    measured,
    model_lines,
    said_texts,
    state_of,
)

Told = Scalar | Quantity | None
Values = Mapping[ColumnName, Told]
"""The values of a row by column; None for a missing one."""


def write(model: Model, explanation: Explanation, values: Values | None = None) -> str:
    """Write why a row gets its answer, and the smallest change that turns it; with the row's values
    if given.
    """
    word = "yes" if explanation.accepted else "no"
    pieces = [
        f"The formula says {word}: {answer_words(model, explanation.accepted)}.",
        _reasons(model, explanation, values),
        _rows_alike(model, explanation),
        _way_out(model, explanation, values),
    ]
    if values is not None and None in values.values():
        pieces.insert(2, _missing_words(model, values))
    return "\n\n".join([*pieces, *_about(model)]) + "\n"


def write_model(model: Model, facts: ModelFacts) -> str:
    """Write what a formula says, and for each of its lines how the rows that it was learned from
    support it.
    """
    pieces = [f"{answer_words(model, model.answer)} when {_formula_words(model, facts)}"]
    if model.tree is not None:
        [told] = formula_lines(model)
        pieces = [
            f"{answer_words(model, True)} when\n  {told}",
            f"That is, when {_formula_words(model, facts)}",
        ]
    if facts.lines and all(line.literals for line, _ in facts.lines):
        if model.types == "signs":
            [line, _] = facts.lines[0]
            pieces[-1] += "\n" + "\n".join(f"  - {text}" for text in said_texts(line.literals))
            pieces.append(_signs_shares(model))
        else:
            pieces[-1] += "\n" + "\n".join(
                _line_words(model, number, *line) for number, line in enumerate(facts.lines, 1)
            )
        pieces.append(_interval_words(model, facts))
    pieces += [_coverage_words(model, facts), _type_words(model, facts), *_about(model)]
    return "\n\n".join(pieces) + "\n"


def _about(model: Model) -> list[str]:
    """Write what people call the columns, as one piece; none if nobody said."""
    told = about_lines(model)
    return ["\n".join(told)] if told else []


def type_words(model: Model, code: int) -> str:
    """Write the type of rows, given the truth values of their attributes: the conditions that they
    meet, or which lines hold.
    """
    if model.types == "lines":
        return held_words(model.type_of(code))
    if model.types == "signs":
        return _signs_hold(signs_held(model.type_of(code)), len(model.tau))
    return ", ".join(said_texts(state_of(model.tau, code)))


def held_words(pattern: int) -> str:
    """Write a pattern of lines."""
    held = [str(line + 1) for line in range(pattern.bit_length()) if pattern >> line & 1]
    if not held:
        return "no line holds"
    several = " and ".join([", ".join(held[:-1])] * (len(held) > 1) + held[-1:])
    return f"line {several} holds" if len(held) == 1 else f"lines {several} hold"


def value_words(column: ColumnName, value: Told) -> str:
    """Write the value of a row in a column."""
    if isinstance(value, Quantity):
        return measured(column, value)
    return (
        condition(IsMissing(str(column), column), True)
        if value is None
        else _equal(column, value, True)
    )


def answer_words(model: Model, accepted: bool) -> str:
    """Write what the formula predicts for the rows that it accepts, or for the others."""
    said = [_equal(model.target, label, accepted) for label in model.positive]
    return (" or " if accepted else " and ").join(said)


def flip_words(model: Model, flip: Flip) -> dict[ColumnName, str]:
    """Write, for each column that a change affects, its state after the change."""
    return {
        column: _joined(state_of(model.tau, flip.code, [column]))
        for column in moved_columns(model, flip)
    }


def count_words(model: Model, number: int) -> str:
    """Write a number of rows, or the weight of as many."""
    return amount(as_weight(number, model.unit))


def _reasons(model: Model, explanation: Explanation, values: Values | None) -> str:
    if not model.dnf.n_literals:
        return "It says so of every row."
    if explanation.because is not None:
        [asked] = formula_lines(model)
        told = conditions(model.tau.attributes, explanation.because)
        columns = [model.tau.attributes[i].column for i, _ in explanation.because]
        head = ["It asks for", f"  {asked}", "This settles it, whatever else is the case:"]
        return "\n".join([*head, f"  {' and '.join(told)}", *_here(columns, values)])
    lines = model_lines(model)
    if explanation.terms:
        held = lines_that_hold(lines, explanation)
        words = [f"{_lines_hold(held, len(lines))}:"]
        if len(lines) == 1 and lines[0].at_least is not None:
            return _signs_words(model, lines[0], explanation, values)
        for number in held:
            said = lines[number].literals
            words.append(f"  {number + 1}. {line_text(lines[number]) or 'always'}")
            words += _here([each.column for each in said], values)
        return "\n".join(words)
    if len(lines) == 1 and lines[0].at_least is not None:
        return _signs_words(model, lines[0], explanation, values)
    words = [
        "Its only line fails:" if len(lines) == 1 else f"All of its {len(lines):,} lines fail:"
    ]
    scales = Scales(model.tau.attributes)
    for number, line in enumerate(lines, 1):
        if line.at_least is not None:
            words.append(f"  {number}. {signs_found(line, explanation.code)}")
            continue
        failing = scales.failing(line, explanation.code) or _first_clash(scales, line, explanation)
        column = failing[0].column
        if values is None:
            found = _joined(state_of(model.tau, explanation.code, [column]))
        else:
            found = value_words(column, values[column])
        words.append(f"  {number}. asks for {_joined(failing)}, but {found}")
    return "\n".join(words)


def _signs_words(model: Model, line: Line, explanation: Explanation, values: Values | None) -> str:
    """Write which signs of a checklist hold."""
    words = [f"{signs_found(line, explanation.code)}:"]
    for (i, holds), text in zip(line.asked, said_texts(line.literals), strict=True):
        column = model.tau.attributes[i].column
        is_sign = bool(explanation.code >> i & 1) == holds
        here = "" if values is None else f"; here: {value_words(column, values[column])}"
        words.append(f"  {'yes' if is_sign else 'no '}  {text}{here}")
    return "\n".join(words)


def signs_found(line: Line, code: int) -> str:
    """Write how many signs of a checklist hold for a type, and how many are needed."""
    held = sum(bool(code >> i & 1) == holds for i, holds in line.asked)
    return f"{_signs_hold(held, len(line.asked))}, {line.at_least} are needed"


def _signs_hold(held: int, among: int) -> str:
    return f"{held} of {among} signs {'holds' if held == 1 else 'hold'}"


def _first_clash(scales: Scales, line: Line, explanation: Explanation) -> tuple[Said, ...]:
    """Return the literal that fails of a line's first term, for a type that no row has."""
    clash = explanation.clashes[line.terms[0]]
    assert clash is not None
    return scales.alone(*clash)


def lines_that_hold(lines: Sequence[Line], explanation: Explanation) -> list[int]:
    """Return which lines hold, given which terms do."""
    return [at for at, line in enumerate(lines) if set(line.terms) & set(explanation.terms)]


def _here(columns: Iterable[ColumnName], values: Values | None) -> list[str]:
    if values is None:
        return []
    told = ", ".join(value_words(column, values[column]) for column in dict.fromkeys(columns))
    return [f"     here: {told}"] if told else []


def _lines_hold(held: Sequence[int], n_lines: int) -> str:
    if n_lines == 1:
        return "Its only line holds"
    if len(held) == 1:
        return f"Line {held[0] + 1} of its {n_lines:,} lines holds"
    return f"{len(held):,} of its {n_lines:,} lines hold"


def _rows_alike(model: Model, explanation: Explanation) -> str:
    return "\n".join(
        [
            f"Rows like this one ({type_words(model, explanation.code)}):",
            f"  {_seen_words(model, explanation.n, explanation.c)}",
            *([f"  {_AGAINST}"] if _is_against(model, explanation) else []),
        ]
    )


_AGAINST = (
    "the formula answers against them, to be shorter or because similar combinations with "
    "more rows say otherwise"
)


def _is_against(model: Model, explanation: Explanation) -> bool:
    """Say whether the rows of a type, as far as there are any, ask for the other answer."""
    return (
        bool(explanation.n)
        and (Fraction(explanation.c, explanation.n) >= model.threshold) != explanation.accepted
    )


def _way_out(model: Model, explanation: Explanation, values: Values | None) -> str:
    flip, other = explanation.flip, "no" if explanation.accepted else "yes"
    if flip is None and not explanation.proven:
        return f"No change was found that would turn the answer to {other}; there may be one."
    if flip is None:
        return f"No change would turn the answer to {other}."
    lines = [f"The smallest change that turns the answer to {other}:"]
    if not explanation.proven:
        lines = [f"A change that turns the answer to {other}; there may be a smaller one:"]
    changed = {model.tau.attributes[i].column for i, _ in flip.literals}
    for column, words in flip_words(model, flip).items():
        before = f", instead of {value_words(column, values[column])}" if values else ""
        lines.append(f"  {words}{before if column in changed else ', as it is'}")
    return "\n".join([*lines, "It would then be like", f"  {_seen_words(model, flip.n, flip.c)}"])


def _seen_words(model: Model, n: int, c: int) -> str:
    """Write how many rows learned from have a type, and how many of them are positive."""
    of = f"of the {_rows(model, model.counts.n_rows)} learned from"
    if n:
        share = f"{count_words(model, c)} of them ({_percent(c, n)})"
        return f"{count_words(model, n)} {of}; {share} had {_label_words(model)}"
    if model.types == "lines":
        return f"none {of}; for this combination of lines the formula alone decides"
    if model.types == "signs":
        return f"none {of}; for this number of signs the formula alone decides"
    if model.unseen == "negative":
        return f"none {of}; for combinations without rows the formula says no"
    if model.unseen == "follow":
        return f"none {of}; for combinations without rows the formula follows similar ones"
    return f"none {of}; for combinations without rows the formula says whatever makes it shortest"


def _label_words(model: Model) -> str:
    """Write what positive rows have in the target, as in: had readmitted = true."""
    if len(model.positive) == 1 and isinstance(model.positive[0], bool):
        return f"{column_text(model.target)} = {str(model.positive[0]).lower()}"
    return answer_words(model, True)


def _missing_words(model: Model, values: Values) -> str:
    columns = [column for column, value in values.items() if value is None]
    told = ", ".join(value_words(column, None) for column in columns)
    left_out = (
        "" if model.missing == "indicator" else " Rows with missing values were not learned from."
    )
    return (
        f"{told}: a condition on a value that is missing does not hold, and its opposite "
        f"does.{left_out}"
    )


def _formula_words(model: Model, facts: ModelFacts) -> str:
    said, otherwise = ("yes", "no") if model.answer else ("no", "yes")
    if not facts.lines:
        return f"never: the formula says {otherwise} for every row."
    if any(not line.literals for line, _ in facts.lines):
        return f"always: the formula says {said} for every row."
    [first, _], *others = facts.lines
    if not others and first.at_least is not None:
        return f"at least {first.at_least} of these {len(first.literals)} signs hold:"
    return (
        "this line holds:"
        if len(facts.lines) == 1
        else f"at least one of these {len(facts.lines):,} lines holds:"
    )


def _line_words(model: Model, number: int, line: Line, own: Evidence) -> str:
    head = f"  {number}. {line_text(line)}\n     {_rows(model, own.n)}"
    if not own.n:
        return head
    share = _percent(own.c, own.n)
    if own.low is not None and own.high is not None:
        share += f", interval {_outwards(own.low, own.high)}"
    alone = (
        f"; {count_words(model, own.n_alone)} of them satisfy no other line"
        if own.n_alone < own.n
        else ""
    )
    return f"{head}, {count_words(model, own.c)} positive ({share}){alone}"


def _signs_shares(model: Model) -> str:
    """Write which share of the rows with each number of signs is positive."""
    words = ["Of the rows learned from, by how many signs hold:"]
    for each in signs_table(model):
        told = f"  {each.signs}: {_rows(model, each.n)}"
        if each.n:
            share = _percent(each.c, each.n)
            if each.low is not None and each.high is not None:
                share += f", interval {_outwards(each.low, each.high)}"
            told += f", {count_words(model, each.c)} positive ({share})"
        words.append(f"{told}; the answer is {'yes' if each.accepted else 'no'}")
    return "\n".join(words)


def _outwards(low: float, high: float) -> str:
    """Write an interval in percent; rounding must not narrow it."""
    return f"{math.floor(1000 * low) / 10:.1f} to {math.ceil(1000 * high) / 10:.1f} %"


def _interval_words(model: Model, facts: ModelFacts) -> str:
    if model.weighted:
        return f"Positive means {answer_words(model, True)}. Rows are counted by their weight."
    many = len(facts.lines) > 1 or model.types == "signs"
    several = "all intervals hold" if many else "the interval holds"
    words = (
        f"Positive means {answer_words(model, True)}. With probability at least "
        f"{100 * (1 - DELTA):g} % {several} for "
        "new cases from the same source"
    )
    if model.types != "signs":
        words += ", allowing for the lines having been picked by these rows"
    if model.certificate.get("chosen_on_the_same_rows", True):
        chosen = "signs" if model.types == "signs" else "attributes"
        words += f"; not for the {chosen}, which were chosen on the same rows: a little optimistic"
    return words + "."


def _coverage_words(model: Model, facts: ModelFacts) -> str:
    if not facts.n_rows:
        return "It is not known how many rows it was learned from."
    shared = (
        f", {count_words(model, facts.n_shared)} of them by several lines,"
        if facts.n_shared
        else ""
    )
    covered = f"{count_words(model, facts.n_covered)} ({_percent(facts.n_covered, facts.n_rows)})"
    right = f"{count_words(model, facts.n_correct)} ({_percent(facts.n_correct, facts.n_rows)})"
    return (
        f"Of the {_rows(model, facts.n_rows)} learned from, "
        f"{count_words(model, facts.n_positive)} are positive; the "
        f"formula covers {covered}{shared} and is right for {right}, a little too "
        "favourable for other rows."
    )


def _type_words(model: Model, facts: ModelFacts) -> str:
    if model.types == "signs":
        several = f"number{'s' * (facts.n_seen != 1)}"
        return f"{facts.n_seen:,} {several} of signs occurred, of {model.n_types:,} possible."
    if facts.n_possible is None:
        n_lines, several = len(facts.terms), f"combination{'s' * (facts.n_seen != 1)}"
        lines = "line holds" if n_lines == 1 else f"{n_lines:,} lines hold"
        return f"Its {lines} in {facts.n_seen:,} {several} on these rows."
    ell = len(model.tau)
    several = f"{ell} attribute tells" if ell == 1 else f"{ell} attributes tell"
    words = (
        f"Its {several} {facts.n_possible:,} possible type{'s' * (facts.n_possible != 1)} of "
        "rows apart"
    )
    if not facts.n_unseen:
        return f"{words}; all of them were seen."
    return (
        f"{words}; {facts.n_unseen:,} were never seen, and of these the formula accepts "
        f"{facts.n_unseen_accepted:,}."
    )


def _joined(said: Iterable[Said]) -> str:
    return " and ".join(said_texts(said))


def _equal(column: ColumnName, value: Scalar, holds: bool) -> str:
    if isinstance(value, bool):
        return condition(IsTrue(str(column), column, True), value == holds)
    return condition(Equals(str(column), column, value), holds)


def _rows(model: Model, number: int) -> str:
    if model.weighted:
        return f"weight {count_words(model, number)}"
    return f"{number:,} row{'s' * (number != 1)}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"
