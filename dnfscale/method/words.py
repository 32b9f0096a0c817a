"""The one wording of conditions and formulas, for terminal, page, notebook, LaTeX and
explanations: `12.5 < bmi ≤ 30`, `ward in {surgery, urology}`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dnfscale.core.about import Label
from dnfscale.core.arrays import Scalar
from dnfscale.core.concepts import Concept, Figure, RowTest, Sign
from dnfscale.core.formula import quote
from dnfscale.core.model import Model
from dnfscale.core.parts import ColumnName, Part
from dnfscale.core.quantities import Quantity
from dnfscale.core.tree import literals
from dnfscale.core.vocabulary import Attribute, IsMissing, Vocabulary
from dnfscale.errors import visible
from dnfscale.method.literals import (
    Among,
    Gap,
    Line,
    Literal,
    Missing,
    Never,
    Range,
    Said,
    Scales,
    lines_read,
)
from dnfscale.method.spelling import Spelling, spell


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

    column: Callable[[ColumnName], str]
    text: Callable[[str], str]
    """Spells categories that are texts."""
    number: Callable[[int | float | Quantity], str]
    word: Callable[[str], str] = str
    """Spells plain words, such as true."""
    sign: Callable[[str], str] = str
    """Spells the signs of comparisons inside a name."""
    braces: tuple[str, str] = ("{", "}")
    labels: Mapping[str, Label] = field(default_factory=dict)
    """What columns and their values are called instead."""

    def name(self, column: ColumnName) -> str:
        """Write a column: its title, if it has one."""
        if isinstance(column, Concept):
            return concept_text(column, self)
        label = None if isinstance(column, Part) else self.labels.get(column)
        return self.text(label.title) if label and label.title else self.column(column)

    def of_column(self, column: ColumnName, value: Scalar | Quantity) -> str:
        """Write a cut or category of a column: by its name, or with the unit, if it has one."""
        label = self.labels.get(column) if isinstance(column, str) else None
        if label is None or isinstance(value, Quantity):
            return self.value(value)
        named = label.name_of(value)
        if named is not None:
            return self.text(named)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        unit = f" {label.unit}" if is_number and label.unit else ""
        return f"{self.value(value)}{unit}"

    def value(self, value: Scalar | Quantity) -> str:
        """Write a cut, label or category."""
        if isinstance(value, bool):
            return self.word("true" if value else "false")
        return self.text(value) if isinstance(value, str) else self.number(value)

    def set_of(self, values: Iterable[str]) -> str:
        """Write a set of categories, each as it is written already."""
        return ", ".join(values).join(self.braces)


def column_text(column: ColumnName, text: Callable[[str], str] = quote) -> str:
    """Write a column: `bmi`, `weekday of admitted`, or `hour of admitted (UTC)`, by the clock of
    that zone; its name is spelled as given.
    """
    if isinstance(column, Concept):
        return concept_text(column, WRITTEN)
    if not isinstance(column, Part):
        return text(column)
    zone = "" if column.zone is None else f" ({column.zone})"
    return f"{column.unit} of {text(column.of)}{zone}"


def condition(attribute: Attribute, holds: bool) -> str:
    """Write that an attribute holds, or that it does not: `age > 38` and `age ≤ 38`, `smoker` and
    `not smoker`.

    For an interval: `12.5 < bmi ≤ 30` and `not (12.5 < bmi ≤ 30)`. The negation of a test also
    holds where the value is missing. Names and texts that are not plain words are quoted.
    """
    return " and ".join(each.text for each in conditions_alone(attribute, holds, WRITTEN))


def conditions(attributes: Sequence[Attribute], literals: Sequence[Literal]) -> list[str]:
    """Write some literals that hold together; what they say about a column becomes as few
    conditions as possible.
    """
    return said_texts(Scales(tuple(attributes)).said(literals))


def said_texts(said: Iterable[Said]) -> list[str]:
    """Write what a line says."""
    return [condition_of(each, WRITTEN).text for each in said]


def formula_lines(model: Model) -> list[str]:
    """Return the lines of a formula, of which one must hold, as conditions; a tree is one line."""

    def words(i: int, holds: bool) -> str:
        return condition(model.tau.attributes[i], holds)

    if model.tree is not None:
        return [spell(model.tree, Spelling(words, " and ", " or ", lambda text: f"not {text}"))]
    return [line_text(line) for line in model_lines(model)]


def line_text(line: Line) -> str:
    """Write a line; one without conditions is empty."""
    texts = said_texts(line.literals)
    if line.at_least is not None:
        return f"at least {line.at_least} of ({', '.join(texts)})"
    return " and ".join(texts)


def joined_lines(lines: Sequence[Line]) -> str:
    """Write the lines of a formula as one, with those of several conditions in brackets."""
    written = [line_text(line) or "true" for line in lines]
    if len(written) < 2:
        return written[0] if written else "false"
    return " or ".join(
        f"({text})" if len(line.literals) > 1 and line.at_least is None else text
        for line, text in zip(lines, written, strict=True)
    )


def model_lines(model: Model) -> tuple[Line, ...]:
    """Return the lines of a model's formula; of a tree, those of its terms. Where types are told
    apart by lines, each term is one, unless several make a checklist.
    """
    return lines_read(model.tau, model.dnf, by_lines=model.types != "attributes")


def state_of(
    tau: Vocabulary, code: int, columns: Collection[ColumnName] | None = None
) -> tuple[Said, ...]:
    """Return what a type says about some columns, by default all."""
    return Scales(tau.attributes).said(
        [
            (i, bool(code >> i & 1))
            for i, attribute in enumerate(tau.attributes)
            if columns is None or attribute.column in columns
        ]
    )


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


def conditions_alone(attribute: Attribute, holds: bool, notation: Notation) -> list[Condition]:
    """Return the condition that an attribute, or its negation, puts on its column."""
    return [condition_of(each, notation) for each in Scales((attribute,)).alone(0, holds)]


def condition_of(said: Said, notation: Notation) -> Condition:
    """Return what is said about a column in the words of a notation."""
    if isinstance(said.column, Concept) and said.column.figure in (Figure.SOME, Figure.COUNT):
        found = _counted(said, said.column, notation)
        if found is not None:
            return found
    column = notation.name(said.column)
    match said:
        case Range(_, low, None):
            assert low is not None
            return Condition(column, ">", notation.of_column(said.column, low))
        case Range(_, low, high) | Gap(_, low, high):
            assert high is not None
            lower = "" if low is None else notation.value(low)
            negated = isinstance(said, Gap) or not lower
            return Condition(column, "≤", notation.of_column(said.column, high), negated, lower)
        case Missing(_, holds):
            return Condition(column, "is missing" if holds else "is not missing", negated=not holds)
        case Never(_, holds):
            # Without a cut there was no value to compare with, and the attribute is never true.
            return Condition(column, ">" if holds else "≤", notation.word("nothing"), not holds)
        case Among(_, (value,), holds):
            written = notation.of_column(said.column, value)
            if value is True and written == notation.value(True):
                return Condition(column, negated=not holds)
            return Condition(column, "=" if holds else "≠", written, not holds)
    sign = "in" if said.holds else "not in"
    values = notation.set_of(notation.of_column(said.column, value) for value in said.values)
    return Condition(column, sign, values, not said.holds)


def concept_text(concept: Concept, notation: Notation) -> str:
    """Write what a concept says: `some order has amount > 120`, `number of orders in the 30 days
    before`, `mean amount of orders`.
    """
    if concept.figure is Figure.SOME:
        return _some(concept, "some", notation)
    plural = notation.text(concept.relation.table) + _rest(concept, "with", notation)
    if concept.figure is Figure.COUNT:
        return f"{notation.word('number of ')}{plural}"
    named = "total" if concept.figure is Figure.SUM else concept.figure.value
    of = notation.text(str(concept.of)) + notation.word(" of ")
    return f"{notation.word(f'{named} ')}{of}{plural}"


def _one_of(table: str, notation: Notation) -> str:
    """Write what one row of a table is called: `order` of `orders`."""
    if table.endswith("ies") and len(table) > 4:
        return notation.text(f"{table[:-3]}y")
    if table.endswith(("sses", "xes", "ches", "shes")):
        return notation.text(table[:-2])
    if table.endswith("s") and not table.endswith(("ss", "us")) and len(table) > 2:
        return notation.text(table[:-1])
    return notation.word("row of ") + notation.text(table)


def row_test_text(test: RowTest, notation: Notation) -> str:
    """Write a test of a related row: `amount > 120`, `not returned`."""
    column, value = notation.text(test.column), notation.value(test.value)
    if isinstance(test.value, bool):
        return column if test.value else notation.word("not ") + column
    sign = {Sign.ABOVE: ">", Sign.UP_TO: "≤", Sign.IS: "="}[test.sign]
    return f"{column} {notation.sign(sign)} {value}"


def _some(concept: Concept, word: str, notation: Notation) -> str:
    """Write that there is a related row, or with «no» that there is none."""
    one = _one_of(concept.relation.table, notation)
    return notation.word(f"{word} ") + one + _rest(concept, "has", notation)


def _rest(concept: Concept, verb: str, notation: Notation) -> str:
    """Write which related rows are meant: ` in the 30 days before`, ` with amount > 120`."""
    tests = [row_test_text(test, notation) for test in concept.where]
    said = notation.word(" and ").join(tests)
    window = ""
    if concept.days is not None:
        days = f"{concept.days} days" if concept.days > 1 else "day"
        window = notation.word(f" in the {days} before")
    return window + (notation.word(f" {verb} ") + said if tests else "")


def _counted(said: Said, concept: Concept, notation: Notation) -> Condition | None:
    """Write how many related rows there are: `no order`, `at most 2 orders`, `exactly 1 order`."""
    if concept.figure is Figure.SOME:
        if not isinstance(said, Among):
            return None
        return Condition(_some(concept, "some" if said.holds else "no", notation))
    # Numbers of rows are whole: above 2.5 is at least 3.
    match said:
        case Range(_, low, None) if low is not None:
            return _so_many("at least", _floor(low) + 1, concept, notation)
        case Range(_, None, high) if high is not None:
            return _so_many("at most", _floor(high), concept, notation)
        case Range(_, low, high) if low is not None and high is not None:
            if _floor(low) + 1 == _floor(high):
                return _so_many("exactly", _floor(high), concept, notation)
            return _so_many(f"{_floor(low) + 1} to", _floor(high), concept, notation)
        case Among(_, (value,), True) if isinstance(value, int):
            return _so_many("exactly", value, concept, notation)
    return None


def _floor(cut: int | float | Quantity) -> int:
    assert not isinstance(cut, Quantity)
    return math.floor(cut)


def _so_many(words: str, number: int, concept: Concept, notation: Notation) -> Condition:
    if number == 0:
        return Condition(_some(concept, "no", notation))
    if words == "at least" and number == 1:
        return Condition(_some(concept, "some", notation))
    table = concept.relation.table
    noun = _one_of(table, notation) if number == 1 else notation.text(table)
    rest = _rest(concept, "with", notation)
    return Condition(f"{notation.word(f'{words} ')}{notation.value(number)} {noun}{rest}")


def measured(column: ColumnName, value: Quantity) -> str:
    """Write that a column has a date, time, duration or decimal as its value."""
    return f"{WRITTEN.column(column)} = {WRITTEN.value(value)}"


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


def said_number(value: int | float | Quantity) -> str:
    """Write a number as people say it: six digits at most, or the whole part if that has more.

    Model files, and what databases and programs are given, have all digits.
    """
    if isinstance(value, float) and math.isfinite(value) and value:
        value = round(value, max(0, 5 - math.floor(math.log10(abs(value)))))
    return number_text(value)


WRITTEN = Notation(column_text, quote, said_number)
"""Conditions as people read them: names can be read back, numbers have six digits."""


def about_lines(model: Model) -> list[str]:
    """Write what people call the model and the columns of its formula; nothing if nobody said."""
    told = [model.about.title, model.about.description, *model.about.of(model.columns)]
    return [visible(text) for text in told if text]


def holds_where_missing(attribute: Attribute, holds: bool) -> bool:
    """Return whether an attribute, or its negation, holds in a row where the value of its column is
    missing.
    """
    return holds == isinstance(attribute, IsMissing)
