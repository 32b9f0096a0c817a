"""One size after another: fill the bank, run the compiled search in slices, and write the formula
that it found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Ints
from dnfscale.core.tree import And, Formula, Not, Or, Symbol, size
from dnfscale.formula_size import descent as d
from dnfscale.formula_size.bank import AND, NOT, Bank, bank_bytes, bank_of, combine, grown
from dnfscale.formula_size.table import Literals, Words

SLICE_WORDS = 20_000_000
"""About how many words are read before the clock is looked at again: some hundredths of a second.
"""
FIRST_CHILDREN = 1 << 16
"""The initial room for children, in entries; it is doubled when it is full."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The best formula of a size; errors leave out those that no formula can avoid."""

    errors: int
    formula: Formula
    lower_bound: int


class ExactSearch:
    """The search over one table, size by size; each size needs the answers of all smaller ones."""

    def __init__(self, literals: Literals) -> None:
        self._literals = literals
        self._bank = bank_of(literals)
        self._up_to = [0, len(literals), len(literals)]
        """How many entries of the bank have a function of size k or less, for each size that is
        complete.
        """
        self._weights = np.repeat(literals.weights, np.diff(literals.segments))
        self._n_good_words = int(literals.segments[literals.n_good])
        weighed = np.bitwise_count(literals.full).astype(np.int64) * self._weights
        self._good = int(weighed[: self._n_good_words].sum())
        self._bad = int(weighed[self._n_good_words :].sum())
        self._answers: list[Answer] = []

    def take(self, answer: Answer) -> None:
        """Take the proved answer of the next size."""
        self._answers.append(answer)

    def solve(self, deadline: float, memory_bytes: int) -> Answer:
        """Return the answer of the next size: proved if its lower bound is its errors."""
        bound = len(self._answers) + 1
        candidates = [*self._answers[-1:], *self._simple(bound)]
        best = min(candidates, key=lambda answer: answer.errors)
        if bound < 3 or best.errors == 0 or not len(self._literals):
            return Answer(best.errors, best.formula, best.errors)
        is_complete = self._fill_bank((bound - 1) // 2, deadline, memory_bytes)
        frames = self._frames(bound, best.errors)
        used = _bytes_of(self._bank) + _bytes_of(frames)
        while (
            frames.control[d.DEPTH] != d.DONE and perf_counter() < deadline and used <= memory_bytes
        ):
            d.descend(frames, SLICE_WORDS)
            if frames.control[d.NEEDS_ROOM]:
                used += _bytes_of(frames[_KEYS : _KEYS + 2])
                if used <= memory_bytes:
                    frames = _with_room(frames)
        errors = int(frames.answer[d.BEST])
        formula = best.formula if errors == best.errors else self._formula(frames.answer)
        return Answer(errors, formula, min(errors, _lower_bound(frames) if is_complete else 0))

    def _simple(self, bound: int) -> list[Answer]:
        """Return the literals and constants of exactly the given size, the first
        attributes first.
        """
        literals = self._literals
        false, true = literals.constants
        found: list[tuple[Formula, int]] = []
        if bound <= 2:
            columns = [
                (int(a), self._errors(i)) for i, a in enumerate(literals.attributes) if a >= 0
            ]
            columns += [(a, e) for a, e in ((false, self._good), (true, self._bad)) if a >= 0]
            total = self._good + self._bad
            found = [
                (Symbol(a), e) if bound == 1 else (Not(Symbol(a)), total - e)
                for a, e in sorted(columns)
            ]
        elif bound == 3:
            both = [pair for pair in literals.attributes.reshape(-1, 2).tolist() if min(pair) >= 0]
            found = [
                constant
                for x, y in both[:1]
                for constant in (
                    (And(Symbol(x), Symbol(y)), self._good),
                    (Or(Symbol(x), Symbol(y)), self._bad),
                )
            ]
        elif bound == 4:
            x = Symbol(0)
            found = [(And(x, Not(x)), self._good), (Or(x, Not(x)), self._bad)]
        return [Answer(errors, formula, errors) for formula, errors in found]

    def _errors(self, function: int) -> int:
        """Return the errors of a literal."""
        literals = self._literals
        bits = literals.bits[function >> 1] ^ (literals.full if function & 1 else np.uint64(0))
        weighed = np.bitwise_count(bits).astype(np.int64) * self._weights
        return (
            self._good
            - int(weighed[: self._n_good_words].sum())
            + int(weighed[self._n_good_words :].sum())
        )

    def _fill_bank(self, largest: int, deadline: float, memory_bytes: int) -> bool:
        """Add all functions up to a size to the bank; return whether time and memory sufficed."""
        while len(self._up_to) <= largest:
            n = 2 * int(self._bank.n_entries[0])
            sizes = self._bank.size[:n]
            level = len(self._up_to)
            meaning = _words(self._literals.n_words)
            for small in range(1, (level - 1) // 2 + 1):
                xs, ys = (np.flatnonzero(sizes == k) for k in (small, level - 1 - small))
                done = 0
                while done < len(xs) * len(ys):
                    if self._bank.n_entries[0] + 2 > len(self._bank.bits):
                        if (
                            bank_bytes(3 * len(self._bank.bits), len(self._literals.full))
                            > memory_bytes
                        ):
                            return False
                        self._bank = grown(self._bank)
                    if perf_counter() >= deadline:
                        return False
                    done = combine(
                        self._bank, self._literals.full, meaning, xs, ys, level, done, SLICE_WORDS
                    )
            self._up_to.append(int(self._bank.n_entries[0]))
        return True

    def _frames(self, bound: int, errors: int) -> d.Frames:
        """Return the memory of the search, with its root laid out."""
        literals, bank = self._literals, self._bank
        n, n_words, n_segments, depths = (
            len(literals),
            literals.n_words,
            len(literals.weights),
            bound // 2 + 3,
        )
        n_children = min(FIRST_CHILDREN, 4 * self._up_to[-1] * depths) + 4
        frames = d.Frames(
            bits=bank.bits,
            size=bank.size,
            tops=bank.tops,
            up_to=np.array(self._up_to, dtype=np.int64),
            full=literals.full,
            least_errors=np.array(
                [1 << 60, *(answer.errors for answer in self._answers), errors], dtype=np.int64
            ),
            literals=_words(depths, 2 * n, n_words),
            unpacked=_words(depths, n_words),
            open=_words(depths, n_words),
            weights=_ints(depths, n_words),
            segments=_ints(depths, n_segments + 1),
            segment_weights=_ints(depths, n_segments),
            moves=_words(depths, n_words, 7),
            target=_ints(depths, n_words),
            shift=_ints(depths, n_words),
            is_packed=_ints(depths),
            good=_ints(depths, 2 * n),
            bad=_ints(depths, 2 * n),
            floors=_ints(depths, max(3 * bound + 3, 21)),
            node=_ints(depths, d.NODE_NUMBERS),
            keys=_ints(n_children),
            items=_ints(n_children),
            answer=_ints(d.STEPS + depths),
            kept_answer=_ints(d.STEPS + depths),
            control=_ints(d.CONTROL_NUMBERS),
            words=_words(3, n_words),
            hole_good=_ints(2 * n),
            hole_bad=_ints(2 * n),
            candidates=_ints(2 * n),
            candidate_weights=_ints(2, 2 * n),
            pairs=_ints(n, n, 8),
        )
        frames.literals[0, ::2] = literals.bits
        frames.unpacked[0] = frames.open[0] = literals.full
        frames.weights[0] = self._weights
        frames.segments[0] = literals.segments
        frames.segment_weights[0] = literals.weights
        root = frames.node[0]
        root[d.PLUS], root[d.MINUS], root[d.GOOD], root[d.BAD] = (
            bound,
            bound - 1,
            self._good,
            self._bad,
        )
        root[d.N_WORDS], root[d.N_GOOD_WORDS] = n_words, self._n_good_words
        root[d.N_SEGMENTS], root[d.N_GOOD_SEGMENTS] = n_segments, literals.n_good
        frames.answer[d.BEST] = errors
        frames.control[d.DEPTH], frames.control[d.SIZE] = d.NOT_BEGUN, bound
        for k in range(1, bound):
            # A hole that may stand below a negation takes at most one node more.
            larger = frames.least_errors[k + 1] if k + 1 < bound else 0
            frames.floors[0, 3 * k : 3 * k + 3] = frames.least_errors[k], larger, larger
        return frames

    def _formula(self, answer: Ints) -> Formula:
        """Write the formula of an answer as short as its parts allow."""
        literal = [self._written(int(answer[place])) for place in (d.PAIR_X, d.PAIR_Y)]
        connective, operands = int(answer[d.PAIR]), literal
        for item in reversed(answer[d.STEPS : d.STEPS + int(answer[d.N_STEPS])].tolist()):
            if item & 3 != connective:
                operands = [_joined(connective, operands)]
                connective = item & 3
            operands.append(self._written(item >> 2))
        return _joined(connective, operands)[0]

    def _written(self, function: int) -> tuple[Formula, Formula]:
        """Return a function of the bank and its negation, as formulas."""
        return _write(self._bank, self._literals, function), _write(
            self._bank, self._literals, function ^ 1
        )


_KEYS = d.Frames._fields.index("keys")


def _write(bank: Bank, literals: Literals, function: int) -> Formula:
    """Return the formula that the bank keeps for a function."""
    made = int(bank.made[function])
    if function < 2 * len(literals):
        own, other = int(literals.attributes[function]), int(literals.attributes[function ^ 1])
        return Symbol(own) if own >= 0 else Not(Symbol(other))
    left = _write(bank, literals, int(bank.left[function]))
    if made == NOT:
        return Not(left)
    right = _write(bank, literals, int(bank.right[function]))
    return And(left, right) if made == AND else Or(left, right)


def _joined(connective: int, operands: list[tuple[Formula, Formula]]) -> tuple[Formula, Formula]:
    """Return the shortest conjunction or disjunction of operands, and its negation; operands are
    such pairs too.
    """
    plus, minus = (And, Or) if connective == AND else (Or, And)
    negated = [(no, yes) for yes, no in operands]
    return _shortest(plus, minus, operands), _shortest(minus, plus, negated)


def _shortest(
    join: Callable[[Formula, Formula], Formula],
    dual: Callable[[Formula, Formula], Formula],
    operands: list[tuple[Formula, Formula]],
) -> Formula:
    """Join operands as they are, or all below one negation, or only those below it whose negation
    is shorter.
    """
    shorter = [size(no) < size(yes) for yes, no in operands]
    ways = [[False] * len(operands), [True] * len(operands), shorter]
    written = []
    for below in ways:
        parts = [yes for (yes, _), is_below in zip(operands, below, strict=True) if not is_below]
        negated = [no for (_, no), is_below in zip(operands, below, strict=True) if is_below]
        if negated:
            parts.append(Not(_chain(dual, negated)))
        written.append(_chain(join, parts))
    return min(written, key=size)


def _chain(join: Callable[[Formula, Formula], Formula], parts: list[Formula]) -> Formula:
    chain = parts[-1]
    for part in reversed(parts[:-1]):
        chain = join(part, chain)
    return chain


def _lower_bound(frames: d.Frames) -> int:
    """Return a floor for the errors of all that is left to search; the root's children are sorted
    by their floors.
    """
    depth = int(frames.control[d.DEPTH])
    if depth == d.DONE:
        return int(frames.answer[d.BEST])
    if depth == d.NOT_BEGUN:
        return 0
    # A child that is on the stack counts as visited, but is not done.
    root = frames.node[0]
    current = int(root[d.NEXT]) - (depth > 0)
    return int(frames.keys[current] if current < root[d.END] else frames.answer[d.BEST])


def _with_room(frames: d.Frames) -> d.Frames:
    """Return the same memory with room for twice as many children."""
    more = np.zeros(len(frames.keys), np.int64)
    return frames._replace(
        keys=np.concatenate([frames.keys, more]), items=np.concatenate([frames.items, more])
    )


def _bytes_of(arrays: Iterable[npt.NDArray[Any]]) -> int:
    return sum(array.nbytes for array in arrays)


def _words(*shape: int) -> Words:
    return np.zeros(shape, np.uint64)


def _ints(*shape: int) -> Ints:
    return np.zeros(shape, np.int64)
