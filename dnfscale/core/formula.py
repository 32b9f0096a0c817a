"""Formulas in disjunctive normal form, as bit masks over tau; a line may be a checklist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import or_

import numpy as np

from dnfscale.core.arrays import Bools, Ints


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """A conjunction of literals: it accepts the types that agree with value wherever care has a
    bit. Or a checklist: it accepts those that agree with value in at least so many of these bits.
    """

    care: int
    """Bit i is set when attribute i occurs in the term."""
    value: int
    """Bit i is set when attribute i occurs without negation; no bit outside care."""
    at_least: int | None = None
    """How many literals of a checklist must hold: more than one, and not all."""

    def __post_init__(self) -> None:
        if self.value & ~self.care:
            raise ValueError(f"value {self.value:b} has bits outside care {self.care:b}")
        if self.at_least is not None and not 1 < self.at_least < self.care.bit_count():
            raise ValueError(f"{self.at_least} of {self.care.bit_count()} make no checklist")

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
        if self.at_least is not None:
            accepted = np.asarray(self.signs(codes) >= self.at_least)
        return accepted

    def holds(self, code: int) -> bool:
        """Return whether one type satisfies the term."""
        if self.at_least is None:
            return code & self.care == self.value
        return (~(code ^ self.value) & self.care).bit_count() >= self.at_least

    def signs(self, codes: Ints) -> Ints:
        """Return how many literals hold for each type."""
        found: Ints = np.bitwise_count(~(codes ^ self.value) & self.care).astype(np.int64)
        return found

    def multiplied_out(self) -> Iterator[Term]:
        """Yield the conjunctions of which one must hold: of a checklist all combinations of as many
        literals as it asks for.
        """
        if self.at_least is None:
            yield self
            return
        bits = [1 << i for i, _ in self.literals]
        for chosen in combinations(bits, self.at_least):
            care = sum(chosen)
            yield Term(care, self.value & care)


@dataclass(frozen=True, slots=True)
class Dnf:
    """A disjunction of terms. No term: false. The term without literals: true."""

    terms: tuple[Term, ...]

    @property
    def has_checklist(self) -> bool:
        return any(term.at_least is not None for term in self.terms)

    def multiplied_out(self) -> Dnf:
        """Return the same without checklists."""
        if not self.has_checklist:
            return self
        return Dnf(tuple(each for term in self.terms for each in term.multiplied_out()))

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
        written = [_rendered(term, names) for term in self.terms]
        if len(written) == 1:
            return written[0]
        return " or ".join(
            f"({text})" if len(term.literals) > 1 and term.at_least is None else text
            for term, text in zip(self.terms, written, strict=True)
        )


def _rendered(term: Term, names: Sequence[str]) -> str:
    literals = [("" if holds else "not ") + quote(names[i]) for i, holds in term.literals]
    if term.at_least is not None:
        return f"at least {term.at_least} of ({', '.join(literals)})"
    return " and ".join(literals) or "true"


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
