"""What the search reads: the distinct rows with their counts, and the same as bits with weights.

A formula that is true on a type errs on n - c of its rows, else on c. Whatever its answer, min(c, n
- c) of them are lost; the rest, the net weight |n - 2c|, is lost only if the answer is wrong. So a
type is *good* (a formula should be true there) or *bad*, with a weight, and a type of weight zero
does not matter.

Weights are bit planes: a good type of weight 5 has a bit in the words that count 1 and one in the
words that count 4. The weight of a set of types is then a sum of popcounts, whatever the number of
rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Bools, Ints, frozen
from dnfscale.errors import DataError

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class TypeTable:
    """The distinct rows over m attributes, with the rows of each and those with a true target."""

    holds: Bools
    """holds[t, i]: whether attribute i is true in type t; no two rows are equal."""
    n: Ints
    """n_t: rows of type t."""
    c: Ints
    """c_t: rows of type t whose target is true; 0 <= c_t <= n_t."""

    def __post_init__(self) -> None:
        if (
            self.holds.ndim != 2
            or self.n.shape != self.c.shape
            or self.n.shape != self.holds.shape[:1]
        ):
            raise DataError(
                "expected a matrix of types and, for each, n and c; "
                f"got shapes {self.holds.shape}, {self.n.shape} and {self.c.shape}"
            )
        if ((self.c < 0) | (self.c > self.n)).any():
            raise DataError("expected 0 <= c <= n for every type; got counts outside")
        for array in (self.holds, self.n, self.c):
            frozen(array)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TypeTable)
            and np.array_equal(self.holds, other.holds)
            and np.array_equal(self.n, other.n)
            and np.array_equal(self.c, other.c)
        )

    @property
    def n_attributes(self) -> int:
        return int(self.holds.shape[1])

    @property
    def n_rows(self) -> int:
        return int(self.n.sum())


def tabulate(holds: Bools, target: Bools) -> TypeTable:
    """Count the distinct rows; holds[row, attribute] says which attributes are true."""
    if not len(holds):
        return TypeTable(
            np.zeros((0, holds.shape[1]), np.bool_), np.zeros(0, np.int64), np.zeros(0, np.int64)
        )
    if not holds.shape[1]:
        return TypeTable(
            np.zeros((1, 0), np.bool_),
            np.array([len(target)], dtype=np.int64),
            np.array([np.count_nonzero(target)], dtype=np.int64),
        )
    # One item of bytes per row sorts several times as fast as a row of Booleans.
    packed = np.ascontiguousarray(np.packbits(holds, axis=1))
    items = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, which = np.unique(items, return_index=True, return_inverse=True)
    n = np.bincount(which, minlength=len(first)).astype(np.int64)
    c = np.bincount(which[target], minlength=len(first)).astype(np.int64)
    return TypeTable(holds[first].copy(), n, c)


@dataclass(frozen=True, slots=True, eq=False)
class Literals:
    """The columns that differ on the types that matter, in a fixed orientation, as bits.

    Columns that are equal, or each other's negations, share one literal. A column that is constant
    has none.
    """

    bits: Words
    """bits[i]: where literal i is true, one bit per type and plane; the very first bit is false."""
    attributes: Ints
    """attributes[2 * i]: an attribute that is literal i, or -1; attributes[2 * i + 1]: one that is
    its negation.
    """
    full: Words
    """A bit for each type and plane."""
    segments: Ints
    """segments[k]: the first word of segment k; one entry more than there are segments. A segment
    is one plane.
    """
    weights: Ints
    """weights[k]: what a bit of segment k weighs."""
    n_good: int
    """How many segments hold good types; they come first."""
    constants: tuple[int, int]
    """An attribute that is false on all types that matter, and one that is true on them; -1 if
    there is none.
    """

    @property
    def n_words(self) -> int:
        return int(self.bits.shape[1])

    def __len__(self) -> int:
        return len(self.bits)


def literals(table: TypeTable) -> Literals:
    """Return a table's distinct columns as bits, those that separate good from bad types best
    first.
    """
    net = table.n - 2 * table.c
    matters = net != 0
    columns, net = table.holds[matters].T, net[matters]
    bits, full, segments, weights, n_good = _planes(columns, net)
    turned: Bools = np.any(bits[:, :1] & np.uint64(1), axis=1)
    bits[turned] ^= full
    varies: Bools = np.any(bits, axis=1)
    places: dict[bytes, int] = {}
    attributes: list[list[int]] = []
    for attribute in np.flatnonzero(varies).tolist():
        place = places.setdefault(bits[attribute].tobytes(), len(places))
        if place == len(attributes):
            attributes.append([-1, -1])
        side = int(turned[attribute])
        if attributes[place][side] < 0:
            attributes[place][side] = attribute
    # With the best columns first, the search meets good formulas early, and their errors cut off
    # the rest.
    worth = [
        abs(int(net[columns[max(pair)]].sum()) - int(net[~columns[max(pair)]].sum()))
        for pair in attributes
    ]
    order = sorted(range(len(attributes)), key=lambda place: (-worth[place], place))
    return Literals(
        np.ascontiguousarray(
            bits[[max(attributes[place]) for place in order]].reshape(len(order), len(full))
        ),
        np.array([attributes[place] for place in order], dtype=np.int64).reshape(-1),
        full,
        segments,
        weights,
        n_good,
        (_first(~varies & ~turned), _first(~varies & turned)),
    )


def _first(which: Bools) -> int:
    return int(np.argmax(which)) if which.any() else -1


def _planes(columns: Bools, net: Ints) -> tuple[Words, Words, Ints, Ints, int]:
    """Pack columns as bits, a segment for each sign and bit of the net weight, good types first."""
    parts: list[Words] = []
    fulls: list[Words] = []
    starts, weights = [0], []
    n_good = 0
    for is_good in (True, False):
        magnitude = np.where((net < 0) == is_good, np.abs(net), 0)
        for bit in range(int(magnitude.max(initial=0)).bit_length()):
            members = np.flatnonzero(magnitude >> bit & 1)
            if len(members):
                parts.append(_pack(columns[:, members]))
                fulls.append(_pack(np.ones((1, len(members)), np.bool_))[0])
                starts.append(starts[-1] + len(fulls[-1]))
                weights.append(1 << bit)
                n_good += is_good
    bits = np.concatenate(parts, axis=1) if parts else np.zeros((len(columns), 0), np.uint64)
    full = np.concatenate(fulls) if fulls else np.zeros(0, np.uint64)
    return bits, full, np.array(starts, dtype=np.int64), np.array(weights, dtype=np.int64), n_good


def _pack(matrix: Bools) -> Words:
    """Pack each row into words, the lowest bit first."""
    n_words = -(-matrix.shape[1] // 64)
    padded = np.zeros((matrix.shape[0], 64 * n_words), np.bool_)
    padded[:, : matrix.shape[1]] = matrix
    packed: Words = np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    return packed
