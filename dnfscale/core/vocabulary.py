"""Attributes: Boolean questions about one column of a row, and tau, the list of those that a
formula may use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dnfscale.core.arrays import Scalar
from dnfscale.core.parts import ColumnName, stored_column
from dnfscale.core.quantities import Quantity


@dataclass(frozen=True, slots=True)
class Above:
    """The number in the column is greater than the value."""

    name: str
    column: ColumnName
    value: int | float | Quantity | None
    """The cut; None where there was no row to take a median of, and the attribute is never true."""
    whole: bool = False
    """Whether the column has whole numbers only."""
    least: int | None = None
    """The least of these, if no row lacked one and it is known."""


@dataclass(frozen=True, slots=True)
class Between:
    """The number in the column is greater than the lower value and not greater than the higher
    one.
    """

    name: str
    column: ColumnName
    low: int | float | Quantity | None
    high: int | float | Quantity | None
    """The cuts; both are None where there was no row to take a quantile of, and the attribute is
    never true.
    """
    whole: bool = False
    least: int | None = None
    """As for Above."""


@dataclass(frozen=True, slots=True)
class Equals:
    """The category in the column is the value."""

    name: str
    column: ColumnName
    value: Scalar


@dataclass(frozen=True, slots=True)
class IsIn:
    """The category in the column is one of the values."""

    name: str
    column: ColumnName
    values: tuple[Scalar, ...]
    """At least two, each once."""


@dataclass(frozen=True, slots=True)
class IsTrue:
    """The two-valued column has its larger value."""

    name: str
    column: ColumnName
    value: Scalar


@dataclass(frozen=True, slots=True)
class IsMissing:
    """The column has no value."""

    name: str
    column: ColumnName


Attribute = Above | Between | Equals | IsIn | IsTrue | IsMissing


def cuts_of(attribute: Above | Between) -> tuple[int | float | Quantity, ...]:
    """Return the one cut of an attribute, or the two cuts of an interval; none if the attribute is
    never true.
    """
    ends = (attribute.value,) if isinstance(attribute, Above) else (attribute.low, attribute.high)
    known = tuple(end for end in ends if end is not None)
    return known if len(known) == len(ends) else ()


def values_of(attribute: Equals | IsIn | IsTrue) -> tuple[Scalar, ...]:
    """Return the values for which an attribute of categories holds."""
    return attribute.values if isinstance(attribute, IsIn) else (attribute.value,)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """tau: the attributes of a formula, in rank order."""

    attributes: tuple[Attribute, ...]

    def __len__(self) -> int:
        return len(self.attributes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def stored(self) -> tuple[str, ...]:
        """The columns of the dataset that they are of, each once, in rank order."""
        return tuple(dict.fromkeys(stored_column(each.column) for each in self.attributes))


def distinct_names(names: Sequence[str], spelled_out: Sequence[str]) -> list[str]:
    """Return the names, with those that occur twice replaced by their spelled-out form, and
    numbered if need be.

    Column «a» with the value «b_c» and column «a_b» with the value «c» would both be called
    «a_b_c».
    """
    twice = {name for name, count in Counter(names).items() if count > 1}
    chosen = [
        long if name in twice else name for name, long in zip(names, spelled_out, strict=True)
    ]
    taken: set[str] = set()
    distinct: list[str] = []
    for name in chosen:
        candidate, number = name, 2
        while candidate in taken:
            candidate, number = f"{name}#{number}", number + 1
        taken.add(candidate)
        distinct.append(candidate)
    return distinct
