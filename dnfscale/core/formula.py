"""Formulas in disjunctive normal form, as bit masks over tau."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np

from dnfscale.core.arrays import Bools, Ints


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """A conjunction of literals: it accepts the types that agree with value wherever care has a
    bit.
    """

    care: int
    """Bit i is set when attribute i occurs in the term."""
    value: int
    """Bit i is set when attribute i occurs without negation; no bit outside care."""

    def __post_init__(self) -> None:
        if self.value & ~self.care:
            raise ValueError(f"value {self.value:b} has bits outside care {self.care:b}")

    @property
    def literals(self) -> tuple[tuple[int, bool], ...]:
        """Pairs (attribute, whether it occurs without negation), in rank order."""
        return tuple(
            (i, bool(self.value >> i & 1))
            for i in range(self.care.bit_length())
            if self.care >> i & 1
        )

    def accepts(self, codes: Ints) -> Bools:
        """Return which types satisfy the term."""
        accepted: Bools = (codes & self.care) == self.value
        return accepted


@dataclass(frozen=True, slots=True)
class Dnf:
    """A disjunction of terms. No term: false. The term without literals: true."""

    terms: tuple[Term, ...]

    @property
    def n_literals(self) -> int:
        return sum(term.care.bit_count() for term in self.terms)

    @property
    def n_attributes(self) -> int:
        """How many attributes occur; a short formula may do without some of tau."""
        return reduce(or_, (term.care for term in self.terms), 0).bit_count()

    def accepts(self, codes: Ints) -> Bools:
        """Return which types satisfy the formula."""
        accepted = np.zeros(len(codes), dtype=np.bool_)
        for term in self.terms:
            accepted |= term.accepts(codes)
        return accepted

    def render(self, names: Sequence[str]) -> str:
        """Write the formula in words: not, and, or, with a name in double quotes unless it is a
        plain word.
        """
        if not self.terms:
            return "false"
        written = [
            " and ".join(("" if holds else "not ") + quote(names[i]) for i, holds in term.literals)
            or "true"
            for term in self.terms
        ]
        if len(written) == 1:
            return written[0]
        return " or ".join(
            f"({text})" if len(term.literals) > 1 else text
            for term, text in zip(self.terms, written, strict=True)
        )


def of_types(codes: Ints, ell: int) -> Dnf:
    """Return the disjunction of some types, as it is before minimization."""
    care = (1 << ell) - 1
    return Dnf(tuple(Term(care, int(code)) for code in sorted(codes.tolist())))


def quote(name: str) -> str:
    """Return a name as it is written in a formula: plain if it reads as one word, else quoted and
    escaped.
    """
    if re.fullmatch(r"[^\W\d]\w*", name) and name not in {"not", "and", "or", "true", "false"}:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"'
        + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in escaped)
        + '"'
    )
