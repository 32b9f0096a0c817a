"""What given formulas answer on any rows, counted exactly and many formulas at a time.

Rows are packed 64 to a word, so a condition is a comparison of bytes, and terms and formulas are
bit operations, each condition and term done once however many formulas share it. Rows are laid out
by *cell* (a row's parts and its class, as the caller numbers them), each of which begins a word:
one count of bits gives every cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import AnyInts, Bools, Codes, Ints
from dnfscale.method.terms.bits import WORD_BITS, Words, pack
from dnfscale.method.terms.codes import ByColumn, CodeFormula, CodeTerm, Condition
from dnfscale.results.confusion import Confusion


@dataclass(frozen=True, slots=True, eq=False)
class AnswerCounts:
    """How many rows of each cell, or what weight of them, each formula accepts. Parts of the rows
    add."""

    accepted: Ints
    """accepted[formula, cell]."""
    rows: Ints
    """rows[cell]: all rows of the cell, or their weight."""

    def __add__(self, other: AnswerCounts) -> AnswerCounts:
        return AnswerCounts(self.accepted + other.accepted, self.rows + other.rows)

    def confusion(self, formula: int, positive: Bools, counted: Bools) -> Confusion:
        """Return the answers of a formula in some cells; positive[cell] says which answer is
        right."""
        yes, no = positive & counted, ~positive & counted
        tp, fp = int(self.accepted[formula, yes].sum()), int(self.accepted[formula, no].sum())
        return Confusion(
            tp=tp, fp=fp, tn=int(self.rows[no].sum()) - fp, fn=int(self.rows[yes].sum()) - tp
        )


def count_answers(
    codes: ByColumn,
    formulas: Sequence[CodeFormula],
    cells: AnyInts,
    n_cells: int,
    *,
    weights: Ints | None = None,
) -> AnswerCounts:
    """Count the answers of formulas; codes[column] has the codes of all rows, and cells the cell of
    each."""
    rows = _laid_out(cells, n_cells, weights)
    accepted = np.zeros((len(formulas), n_cells), dtype=np.int64)
    if len(cells):
        lines = _Lines(codes, rows)
        for number, formula in enumerate(formulas):
            accepted[number] = rows.counted(lines.answers(formula))
    return AnswerCounts(accepted, rows.counted(rows.real))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Where each row lies among the bits, and what it weighs."""

    places: Ints
    n_words: int
    real: Words
    """The bits that stand for a row."""
    starts: Ints
    """The first word of each cell that has rows."""
    cells: Ints
    """These cells."""
    n_cells: int
    planes: tuple[Words, ...]
    """Bit b of the weight of each row; none where all weigh one."""

    def counted(self, words: Words) -> Ints:
        """Return how many of some rows are in each cell, or their weight."""
        found = np.zeros(self.n_cells, dtype=np.int64)
        if not len(self.starts):
            return found
        for bit, plane in enumerate(self.planes or (self.real,)):
            ones = np.bitwise_count(words & plane)
            found[self.cells] += np.add.reduceat(ones, self.starts, dtype=np.int64) << bit
        return found


def _laid_out(cells: AnyInts, n_cells: int, weights: Ints | None) -> _Rows:
    order = np.argsort(cells, kind="stable")
    sizes = np.bincount(cells, minlength=n_cells)
    n_words = -(-sizes // WORD_BITS)
    first_words = np.cumsum(n_words) - n_words
    first_rows = np.cumsum(sizes) - sizes
    own = cells[order].astype(np.int64)
    places = np.empty(len(cells), dtype=np.int64)
    places[order] = WORD_BITS * first_words[own] + np.arange(len(cells)) - first_rows[own]
    total = int(n_words.sum())

    def packed(holds: Bools) -> Words:
        bits = np.zeros(WORD_BITS * total, dtype=np.bool_)
        bits[places] = holds
        return pack(bits)

    planes: tuple[Words, ...] = ()
    if weights is not None:
        n_bits = max(1, int(weights.max(initial=0)).bit_length())
        planes = tuple(packed((weights >> bit & 1).astype(np.bool_)) for bit in range(n_bits))
    real = packed(np.ones(len(cells), dtype=np.bool_))
    there = np.flatnonzero(sizes)
    return _Rows(places, total, real, first_words[there], there, n_cells, planes)


class _Lines:
    """The rows that satisfy conditions, terms and formulas, each found once."""

    def __init__(self, codes: ByColumn, rows: _Rows) -> None:
        self._codes = codes
        self._rows = rows
        self._columns: dict[int, Codes] = {}
        self._conditions: dict[Condition, Words] = {}
        self._terms: dict[CodeTerm, Words] = {}

    def answers(self, formula: CodeFormula) -> Words:
        """Return the rows that a formula accepts."""
        # reached[k]: at least k + 1 of the terms so far are true.
        reached: Words = np.zeros((formula.at_least, self._rows.n_words), dtype=np.uint64)
        for term in formula.terms:
            holds = self._term(term)
            reached[1:] |= reached[:-1] & holds
            reached[0] |= holds
        found: Words = reached[-1]
        return (~found if formula.complemented else found) & self._rows.real

    def _term(self, term: CodeTerm) -> Words:
        key = tuple(sorted(term))
        found = self._terms.get(key)
        if found is None:
            found = self._rows.real.copy()
            for condition in key:
                found &= self._condition(condition)
            self._terms[key] = found
        return found

    def _condition(self, condition: Condition) -> Words:
        affirmed = Condition(condition.column, condition.runs)
        if affirmed not in self._conditions:
            self._conditions[affirmed] = pack(affirmed.accepts(self._column(condition.column)))
        found = self._conditions[affirmed]
        return found if condition.holds else ~found

    def _column(self, column: int) -> Codes:
        if column not in self._columns:
            codes = self._codes[column]
            laid_out = np.zeros(WORD_BITS * self._rows.n_words, dtype=codes.dtype)
            laid_out[self._rows.places] = codes
            self._columns[column] = laid_out
        return self._columns[column]
