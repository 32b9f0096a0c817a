"""Formulas as trees: proposition symbols under not, and, or; every node counts one towards the size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dnfscale.core.formula import quote

Packed = TypeVar("Packed", npt.NDArray[np.bool_], npt.NDArray[np.uint8], npt.NDArray[np.uint64])
"""Truth values, one by one or packed as bits."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """An attribute, by its place in tau."""

    attribute: int


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a formula."""

    operand: Formula


@dataclass(frozen=True, slots=True)
class And:
    """The conjunction of two formulas."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Or:
    """The disjunction of two formulas."""

    left: Formula
    right: Formula


Formula = Symbol | Not | And | Or


def size(formula: Formula) -> int:
    """Return the number of nodes: proposition symbols, and, or, not."""
    match formula:
        case Symbol():
            return 1
        case Not(operand):
            return 1 + size(operand)
        case And(left, right) | Or(left, right):
            return 1 + size(left) + size(right)


def symbols(formula: Formula) -> Iterator[int]:
    """Yield the attributes of a formula from left to right, each as often as it occurs."""
    match formula:
        case Symbol(attribute):
            yield attribute
        case Not(operand):
            yield from symbols(operand)
        case And(left, right) | Or(left, right):
            yield from symbols(left)
            yield from symbols(right)


def evaluate(formula: Formula, columns: Packed) -> Packed:
    """Return where a formula is true; columns[i] holds the truth values of attribute i.

    Columns may be packed as bits. Negation then turns the bits beyond the last row too.
    """
    match formula:
        case Symbol(attribute):
            column: Packed = columns[attribute]
            return column
        case Not(operand):
            return ~evaluate(operand, columns)
        case And(left, right):
            return evaluate(left, columns) & evaluate(right, columns)
        case Or(left, right):
            return evaluate(left, columns) | evaluate(right, columns)


def render(formula: Formula, names: Sequence[str]) -> str:
    """Write a formula in words: not, and, or, with a name in double quotes unless it is a plain word.

    A chain of equal connectives is written without inner brackets; and inside or, and or inside and, with them.
    """
    match formula:
        case Symbol(attribute):
            return quote(names[attribute])
        case Not(operand):
            return f"not {_bracketed(operand, names)}"
        case And():
            return " and ".join(_bracketed(part, names) for part in chain(formula, And))
        case Or():
            return " or ".join(_bracketed(part, names) for part in chain(formula, Or))


def to_json(formula: Formula) -> Any:
    """Return a formula as plain JSON: a symbol is its number, the rest a list such as ["and", 0, ["not", 1]]."""
    match formula:
        case Symbol(attribute):
            return attribute
        case Not(operand):
            return ["not", to_json(operand)]
        case And(left, right):
            return ["and", to_json(left), to_json(right)]
        case Or(left, right):
            return ["or", to_json(left), to_json(right)]


def from_json(value: Any) -> Formula:
    """Return the formula that to_json wrote."""
    match value:
        case int() if not isinstance(value, bool) and value >= 0:
            return Symbol(value)
        case ["not", operand]:
            return Not(from_json(operand))
        case ["and", left, right]:
            return And(from_json(left), from_json(right))
        case ["or", left, right]:
            return Or(from_json(left), from_json(right))
    raise ValueError(f"a formula is a symbol's number or a list that begins with not, and, or; got {value!r}")


def chain(formula: Formula, connective: type[And] | type[Or]) -> Iterator[Formula]:
    """Yield the operands of a chain of equal connectives, however it is bracketed."""
    if isinstance(formula, connective):
        yield from chain(formula.left, connective)
        yield from chain(formula.right, connective)
    else:
        yield formula


def _bracketed(formula: Formula, names: Sequence[str]) -> str:
    text = render(formula, names)
    return f"({text})" if isinstance(formula, And | Or) else text
