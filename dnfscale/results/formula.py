"""A formula as data: its attributes, its lines with the rows behind each, and how it was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import field

from dnfscale.results.certificate import Certified
from dnfscale.results.record import (
    Conditions,
    Count,
    Ell,
    Figure,
    Label,
    Record,
    Share,
    Size,
    label_text,
    null,
)

Amount = int | Figure
"""A number of rows, or what rows weigh."""


class Attribute(Record, frozen=True, kw_only=True):
    """What an attribute asks of its column, in the form of model files.

    The first schema recorded its name alone.
    """

    name: str
    column: str | None = field(default_factory=null)
    part: str | None = None
    """Which part of a date or time is asked for, such as its hour, if not the column itself."""
    zone: str | None = None
    """The time zone of the part."""
    test: str | None = field(default_factory=null)
    value: Label | tuple[Label, ...] | None = field(default_factory=null)
    asks: str | None = None
    """What is asked of a concept, where the test is "related"."""
    related: dict[str, Any] | None = None
    """What the concept says of related rows, as core/concepts.py has it."""
    measure: str | None = None
    """What the value measures, if it is a date, a time, a duration or a decimal."""
    whole: bool | None = None
    """Whether the column has whole numbers only."""
    least: int | None = None
    """The least of these, if it is known."""


class Literal(Record, frozen=True, kw_only=True):
    """An attribute that must hold, or must not."""

    attribute: Conditions
    """Its place among the attributes of the formula."""
    value: bool


class Line(Record, frozen=True, kw_only=True):
    """A line of a formula, and the rows learned from that satisfy it.

    It has either `all`, or `at_least` and `of` if it is a checklist.
    """

    all: tuple[Literal, ...] | None = None
    at_least: Count | None = None
    """How many literals of a checklist must hold."""
    of: tuple[Literal, ...] | None = None
    n: Count | None = field(default_factory=null)
    """These rows, or what they weigh in units; None if it is not recorded."""
    c: Count | None = field(default_factory=null)
    """The positive rows among them."""

    def __post_init__(self) -> None:
        if self.n is not None and self.c is not None and self.c > self.n:
            raise ValueError(f"{self.c} of {self.n} rows cannot be positive")
        is_checklist = self.at_least is not None and self.of is not None
        if is_checklist == (self.all is not None):
            raise ValueError("a line has either all, or at_least and of")
        if self.at_least is not None and not 1 < self.at_least < len(self.of or ()):
            raise ValueError(f"{self.at_least} of {len(self.of or ())} make no checklist")
        used = [literal.attribute for literal in self.literals]
        if len(set(used)) < len(used):
            raise ValueError(f"a line names one of its attributes {used} twice")

    @property
    def literals(self) -> tuple[Literal, ...]:
        return (self.of if self.all is None else self.all) or ()


class Minimized(Record, frozen=True, kw_only=True):
    """What is known about the length of a formula."""

    status: str
    """proven, bounded, heuristic, simplified or as_is."""
    gap_literals: Count | None


class SweepStep(Record, frozen=True, kw_only=True):
    """One ell of a sweep: the best ranking, and the validation accuracy of each."""

    ell: Ell
    rank: str | None
    attributes: tuple[str, ...]
    validation_accuracy: Share | None
    """None if there was no row to validate on."""
    validation_score: Figure | None = None
    """What decided, if not accuracy."""
    by_rank: dict[str, Share | None]


class CurvePoint(Record, frozen=True, kw_only=True):
    """How good the formulas of one search of at most so many literals are on validation rows."""

    literals: Count
    search: str
    """What was searched: attributes or terms."""
    form: str
    validation_score: Figure
    """The share of validation rows that they get right, unless the objective is another."""


class Formula(Record, frozen=True, kw_only=True):
    """A formula over a few attributes, and how it was chosen."""

    label: Label | None = None
    """The label that it tells from the others; None for the formula of two classes."""
    search: str
    """What was searched: attributes or terms."""
    form: str = "lines"
    """What the formula is: lines of which one must hold, or a checklist."""
    ell: Conditions
    used: Conditions | None = field(default_factory=null)
    """How many of the attributes occur in the formula."""
    rank: str | None
    shrink_rows: Figure | None = None
    """The rows that the share counts for which a type of few rows is shrunk to, if it is."""
    attributes: tuple[Attribute, ...]
    """tau, in rank order."""
    formula: str
    lines: tuple[Line, ...] | None
    """Its terms over the attributes; None where the first schema had a text that is no disjunction
    of terms.
    """
    terms: Count
    """Its lines as people read them; such a line may join terms that differ in one column."""
    literals: Count
    """The conditions in these: what a line says about one column, in one condition, counts 1."""
    minimized: Minimized | None
    curve: tuple[CurvePoint, ...] = ()
    """What the formula was chosen from by its length; empty if it was chosen by its attributes."""
    sweep: tuple[SweepStep, ...]
    certificate: Certified | None = None
    """Of a fold's formula: what the fold's test rows show about it."""

    def __post_init__(self) -> None:
        used = {literal.attribute for line in self.lines or () for literal in line.literals}
        if used and max(used) >= len(self.attributes):
            raise ValueError(f"a line uses attribute {max(used)} of {len(self.attributes)}")

    @property
    def attribute_names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def label_shown(self) -> str | None:
        return None if self.label is None else label_text(self.label)


def check_labels(formulas: Sequence[Formula | SizedFormula]) -> None:
    """Raise ValueError unless each of several formulas has a label of its own."""
    labels = [formula.label_shown for formula in formulas]
    if len(set(labels)) < len(labels):
        raise ValueError(f"each of {len(labels)} formulas must have a label of its own")


class SizeStep(Record, frozen=True, kw_only=True):
    """One size of a search: the errors of its best formula, and its validation accuracy."""

    size: Size
    """The bound on the size."""
    formula_size: Size | None
    """The formula's own."""
    errors: Amount
    cost: Figure | None = None
    """The cost of the errors in errors of average cost, if they do not all cost the same."""
    validation_accuracy: Share | None
    validation_score: Figure | None = None
    """The share of the cost that is avoided on validation rows, if errors have costs."""
    proved: bool
    """Whether no formula of this size has fewer errors."""


class SizedFormula(Record, frozen=True, kw_only=True):
    """A formula of bounded size, and how its size was chosen."""

    label: Label | None = None
    """The label that it tells from the others; None for the formula of two classes."""
    formula: str
    """In the names of its attributes."""
    conditions: str | None = None
    """As people read it."""
    size: Size
    """Its own."""
    attributes: tuple[Attribute, ...]
    errors: Amount | None
    """The rows learned from that it gets wrong, or what they weigh."""
    cost: Figure | None = None
    chosen_size: Size
    """The bound that did best on validation rows."""
    proved: bool
    """Whether no formula of this size over the attributes searched has fewer errors."""
    distinct_rows: Count | None
    attributes_searched: Count | None
    exact_over_all_attributes: bool
    """Whether these are all attributes."""
    path: tuple[SizeStep, ...]
    certificate: Certified | None = None

    @property
    def shown(self) -> str:
        """The formula as people read it, or else in the names of its attributes."""
        return self.conditions or self.formula

    @property
    def label_shown(self) -> str | None:
        return None if self.label is None else label_text(self.label)
