"""Concepts: what the rows of a related table say of a row, each a column that is computed when the
tables are brought together.

A concept speaks of the related rows that have the key of a main row, and of them only of those that
are seen: before the moment of the main row, where it has one, and within some days of it. `SOME`
asks whether there is one for which all tests hold, `COUNT` how many there are; the others are
figures of a column of numbers, without its missing values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dnfscale.core.arrays import Scalar


class Figure(StrEnum):
    """What a concept says of related rows."""

    SOME = "some"
    COUNT = "count"
    SUM = "sum"
    LEAST = "least"
    GREATEST = "greatest"
    MEAN = "mean"
    LATEST = "latest"
    """The value of the row of the greatest time; of several, the greatest value."""


class Sign(StrEnum):
    """How a related row's value compares with that of a test."""

    ABOVE = "above"
    UP_TO = "up_to"
    IS = "equals"


OF_NUMBERS = frozenset((Figure.SUM, Figure.LEAST, Figure.GREATEST, Figure.MEAN, Figure.LATEST))
MAY_LACK = OF_NUMBERS - {Figure.SUM}
"""The figures that a main row without related rows does not have."""


@dataclass(frozen=True, slots=True)
class RowTest:
    """A test of a related row; a missing value fails it."""

    column: str
    sign: Sign
    value: Scalar

    @property
    def label(self) -> str:
        """It in a few characters, for names."""
        if isinstance(self.value, bool):
            return self.column if self.value else f"not_{self.column}"
        between = {Sign.ABOVE: "_above_", Sign.UP_TO: "_up_to_", Sign.IS: "_"}[self.sign]
        return f"{self.column}{between}{self.value}"


@dataclass(frozen=True, slots=True)
class Relation:
    """How rows of another table belong to those of the main table."""

    table: str
    key: str
    """The column of the related table."""
    main_key: str
    """The column of the main table that has the same values."""
    time: str | None = None
    as_of: str | None = None
    """Where given, only rows with a time before that of the main row in this column are seen."""
    zoned: bool = False
    """Whether these times are instants, on the clock of a zone."""
    id: str | None = None
    """The column that names a related row in explanations."""


@dataclass(frozen=True, slots=True)
class Concept:
    """A column that says something of related rows."""

    name: str
    """Of the column."""
    relation: Relation
    figure: Figure
    where: tuple[RowTest, ...] = ()
    """What holds for the rows that are meant."""
    of: str | None = None
    """The column of numbers that a figure is of."""
    days: int | None = None
    """Rows of so many days before the main row's moment; None for all before."""
    digits: int | None = None
    """Decimal places that a sum or a mean of floats is rounded to: sums do not depend on the order
    of rows then, whoever adds them up."""

    def __str__(self) -> str:
        return self.name

    @property
    def label(self) -> str:
        """What it may be called, unless another column is."""
        days = () if self.days is None else (f"{self.days}d",)
        of = () if self.of is None else (self.of,)
        tests = "_and_".join(test.label for test in self.where)
        where = (tests,) if tests else ()
        return "_".join((self.figure.value, self.relation.table, *of, *where, *days))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the related table whose values it needs, besides key and time."""
        of = () if self.of is None else (self.of,)
        return tuple(dict.fromkeys((*of, *(test.column for test in self.where))))
