"""Which values have given ranks among all rows, exactly and in bounded memory, by counting.

Values are keys of 64 bits. Each pass counts the next 16 bits of those keys that begin like a key
that is looked for; after four passes the keys are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.core.hashes import Hashes

_BITS = 16
PASSES = 64 // _BITS
"""How many passes it takes to find keys; those that are looked for later share the first."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyRows:
    """Different keys in increasing order, and how many rows have each."""

    keys: Hashes
    rows: Ints

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, KeyRows)
            and np.array_equal(self.keys, other.keys)
            and np.array_equal(self.rows, other.rows)
        )

    @property
    def n_rows(self) -> int:
        return int(self.rows.sum())

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.keys.nbytes + self.rows.nbytes


def key_rows(keys: Hashes) -> KeyRows:
    """Count the rows of each key."""
    return KeyRows(*np.unique(keys, return_counts=True))


def merge(parts: Sequence[KeyRows]) -> KeyRows:
    """Merge the counts of disjoint rows."""
    if not parts:
        return KeyRows(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64))
    keys, places = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
    rows = np.zeros(len(keys), dtype=np.int64)
    np.add.at(rows, places, np.concatenate([part.rows for part in parts]))
    return KeyRows(keys, rows)


@dataclass(frozen=True, slots=True)
class CountBeginnings:
    """Counts rows by the first bits of their keys, of those keys that begin in one of some ways."""

    beginnings: tuple[int, ...]
    """The ways to begin, in increasing order."""
    n_bits: int
    """The number of bits that these have."""

    def __call__(self, known: KeyRows) -> KeyRows:
        wanted = np.array(self.beginnings, dtype=np.uint64)
        # A shift by all 64 bits is not defined.
        begins = known.keys >> np.uint64(64 - self.n_bits) if self.n_bits else known.keys * 0
        kept = wanted.take(np.searchsorted(wanted, begins), mode="clip") == begins
        counted = known.keys[kept] >> np.uint64(64 - self.n_bits - _BITS)
        return merge([KeyRows(counted, known.rows[kept])])


@dataclass(frozen=True, slots=True)
class Ranked:
    """The key of a rank."""

    key: int
    below: int
    """The number of rows with smaller keys."""
    rows: int
    """The number of rows with this key."""


Count = Callable[[CountBeginnings], KeyRows]
"""Counts all rows by the beginnings of their keys."""


def begun(count: Count) -> KeyRows:
    """Carry out the first pass, which is the same for all ranks: it tells how many rows there
    are.
    """
    return count(CountBeginnings((0,), 0))


def find(ranks: Sequence[int], first: KeyRows, count: Count) -> list[Ranked]:
    """Return the keys of ranks, which are counted from 1, after the first pass."""
    known = list(_next([Ranked(0, 0, 0)] * len(ranks), ranks, first))
    for n_bits in range(_BITS, 64, _BITS):
        counted = count(CountBeginnings(tuple(sorted({each.key for each in known})), n_bits))
        known = list(_next(known, ranks, counted))
    return known


def _next(known: Sequence[Ranked], ranks: Sequence[int], counted: KeyRows) -> Iterator[Ranked]:
    """Yield the beginning of each key, longer by the bits that were counted."""
    for so_far, rank in zip(known, ranks, strict=True):
        first, stop = np.searchsorted(
            counted.keys >> np.uint64(_BITS), [so_far.key, so_far.key + 1]
        ).tolist()
        upto = so_far.below + np.cumsum(counted.rows[first:stop])
        place = int(np.searchsorted(upto, rank))
        rows = int(counted.rows[first + place])
        yield Ranked(int(counted.keys[first + place]), int(upto[place]) - rows, rows)
