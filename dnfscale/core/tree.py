"""Formulas as trees: proposition symbols under not, and, or; every node counts one towards the
size.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dnfscale.core.formula import Dnf, Term, quote

MOST_SIZE = 47
"""A formula of this size has at most 24 symbols: tables over all its types still fit in memory."""
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

    Columns may be packed as bits. Negation then also flips the padding bits beyond the last row.
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


def renumbered(formula: Formula, places: Mapping[int, int]) -> Formula:
    """Return the formula with its symbols renumbered by `places`."""
    match formula:
        case Symbol(attribute):
            return Symbol(places[attribute])
        case Not(operand):
            return Not(renumbered(operand, places))
        case And(left, right):
            return And(renumbered(left, places), renumbered(right, places))
        case Or(left, right):
            return Or(renumbered(left, places), renumbered(right, places))


def without_negations(formula: Formula, holds: bool = True) -> Formula:
    """Return a formula that means the same, or the opposite, with negations at its symbols only."""
    match formula:
        case Symbol():
            return formula if holds else Not(formula)
        case Not(operand):
            return without_negations(operand, not holds)
        case And(left, right):
            parts = without_negations(left, holds), without_negations(right, holds)
            return And(*parts) if holds else Or(*parts)
        case Or(left, right):
            parts = without_negations(left, holds), without_negations(right, holds)
            return Or(*parts) if holds else And(*parts)


def literals(formula: Formula, holds: bool = True) -> Iterator[tuple[int, bool]]:
    """Yield each symbol from left to right, and whether it stands under an even number of
    negations.
    """
    match formula:
        case Symbol(attribute):
            yield attribute, holds
        case Not(operand):
            yield from literals(operand, not holds)
        case And(left, right) | Or(left, right):
            yield from literals(left, holds)
            yield from literals(right, holds)


def to_dnf(formula: Formula) -> Dnf:
    """Return a formula in disjunctive normal form: «and» multiplied out, without terms that others
    contain.

    Where no symbol occurs both plain and negated, these are all its prime implicants, and it is the
    shortest such form. A formula that is always true has the term without literals.
    """
    if not _terms(without_negations(formula, holds=False)):
        return Dnf((Term(0, 0),))
    return Dnf(tuple(_terms(without_negations(formula))))


def render(formula: Formula, names: Sequence[str]) -> str:
    """Write a formula in words: not, and, or, with a name in double quotes unless it is a plain
    word.

    A chain of equal connectives is written without inner brackets; and inside or, and or inside
    and, with them.
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
    """Return a formula as plain JSON: a symbol is its number, the rest a list such as ["and", 0,
    ["not", 1]].
    """
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
    shown = repr(value)
    raise ValueError(
        "a formula is a symbol's number or a list that begins with not, and, or; got "
        + (shown if len(shown) <= 60 else f"{shown[:60]}…")
    )


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


def _terms(formula: Formula) -> list[Term]:
    """Return the terms of a formula with negations at its symbols only, in the order in which they
    are read.
    """
    match formula:
        case Symbol(attribute):
            return [Term(1 << attribute, 1 << attribute)]
        case Not(Symbol(attribute)):
            return [Term(1 << attribute, 0)]
        case Or(left, right):
            return _absorbed([*_terms(left), *_terms(right)])
        case And(left, right):
            pairs = itertools.product(_terms(left), _terms(right))
            return _absorbed(
                Term(a.care | b.care, a.value | b.value)
                for a, b in pairs
                if not (a.value ^ b.value) & a.care & b.care
            )
    raise AssertionError(formula)


def _absorbed(terms: Iterable[Term]) -> list[Term]:
    """Return each term once, without those that imply another."""
    distinct = list(dict.fromkeys(terms))
    care = np.array([term.care for term in distinct], dtype=np.int64)
    value = np.array([term.value for term in distinct], dtype=np.int64)

    def is_alone(term: Term) -> bool:
        return (
            int(np.count_nonzero(care & ~term.care | (value ^ term.value) & care))
            == len(distinct) - 1
        )

    return [term for term in distinct if is_alone(term)]
