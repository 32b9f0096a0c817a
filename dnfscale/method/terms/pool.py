"""Terms met so far, each as the set of its rows, to be tried in other formulas."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.method.terms.bits import Words, pack
from dnfscale.method.terms.codes import CodeTerm


class Pool:
    """The terms met last, up to a number, and what each gains on any set of rows."""

    def __init__(self, gains: Ints, most: int) -> None:
        self._planes = tuple(_planes(gains))
        n_words = len(pack(gains != 0))
        self._rows = np.zeros((most, n_words), dtype=np.uint64)
        self._masked = np.empty_like(self._rows)
        self._ones = np.empty(self._rows.shape, dtype=np.uint8)
        self._terms: list[CodeTerm] = []
        self._known: set[CodeTerm] = set()
        self._next = 0

    def add(self, term: CodeTerm, rows: Words) -> None:
        """Add a term, in the place of the oldest if there are too many."""
        if term in self._known or not len(self._rows):
            return
        self._known.add(term)
        if self._next < len(self._terms):
            self._known.discard(self._terms[self._next])
            self._terms[self._next] = term
        else:
            self._terms.append(term)
        self._rows[self._next] = rows
        self._next = (self._next + 1) % len(self._rows)

    def best(self, rows: Words) -> Iterator[tuple[int, CodeTerm]]:
        """Yield for each number of literals the term that gains most on some rows, and what it
        gains."""
        n = len(self._terms)
        gains = np.zeros(n, dtype=np.int64)
        for factor, plane in self._planes:
            np.bitwise_and(self._rows[:n], rows & plane, out=self._masked[:n])
            np.bitwise_count(self._masked[:n], out=self._ones[:n])
            gains += factor * self._ones[:n].sum(axis=1, dtype=np.int64)
        found: dict[int, tuple[int, int]] = {}
        for place in np.flatnonzero(gains > 0).tolist():
            length, gain = len(self._terms[place]), int(gains[place])
            if length not in found or gain > found[length][0]:
                found[length] = (gain, place)
        for gain, place in found.values():
            yield gain, self._terms[place]


def _planes(gains: Ints) -> Iterator[tuple[int, Words]]:
    """Yield the bits of the gains: a factor, and the rows to which it applies."""
    for sign in (1, -1):
        sizes = np.maximum(sign * gains, 0)
        for bit in range(int(sizes.max(initial=0)).bit_length()):
            yield sign * (1 << bit), pack((sizes >> bit & 1).astype(np.bool_))
