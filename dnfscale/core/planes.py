"""Truth values of rows as planes of bytes: eight to a byte, the first in the lowest bit.

Attributes of many rows are evaluated into planes, because byte arithmetic moves eight times as many
rows at once as that of wide integers. From planes follow the types of the rows: the integers that
their bytes make, or, for a formula of many attributes, the integers of which lines hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dnfscale.core.arrays import Bools, Codes, narrowest
from dnfscale.core.formula import Dnf, Term

Planes = Sequence[Codes] | Codes
"""planes[number // 8][row] has the truth value of attribute `number` in bit number % 8."""
_WORD = 8


def no_planes(n_values: int, n_rows: int) -> Codes:
    """Return the planes of so many truth values, all of them false."""
    return np.zeros((max(1, -(-n_values // 8)), n_rows), dtype=np.uint8)


def put(planes: Planes, number: int, holds: Bools) -> None:
    """Note in which rows a truth value holds; the array is used up."""
    bits = holds.view(np.uint8)
    # Multiplying bytes takes a tenth of the time of shifting them.
    np.multiply(bits, np.uint8(1 << number % 8), out=bits)
    np.bitwise_or(planes[number // 8], bits, out=planes[number // 8])


def joined(planes: Planes) -> Any:
    """Return the integers that the bytes of each row make, in as few bytes as they need.

    From eight planes on they are Python's own integers: a code of 64 bits has none for its sign.
    """
    if len(planes) >= _WORD:
        rows = np.ascontiguousarray(np.array(planes).T)
        found = np.empty(len(rows), dtype=object)
        found[:] = [int.from_bytes(row.tobytes(), "little") for row in rows]
        return found
    codes: Codes = planes[0].astype(narrowest((1 << 8 * len(planes)) - 1), copy=False)
    for place, plane in enumerate(planes[1:], start=1):
        codes |= plane * codes.dtype.type(1 << 8 * place)
    return codes


def lines_of(planes: Planes, dnf: Dnf) -> Codes:
    """Return which lines of a formula hold in each row, given its attributes, as planes again."""
    found = no_planes(len(dnf.terms), len(planes[0]))
    for number, term in enumerate(dnf.terms):
        put(found, number, _holds(planes, term))
    return found


def signs_of(planes: Planes, term: Term) -> Codes:
    """Return how many literals of a term hold in each row."""
    found = np.zeros(len(planes[0]), dtype=np.uint8)
    for place, plane in enumerate(planes):
        care = np.uint8(term.care >> 8 * place & 255)
        if care:
            differs = plane ^ np.uint8(term.value >> 8 * place & 255)
            found += np.bitwise_count(~differs & care)
    return found


def _holds(planes: Planes, term: Term) -> Bools:
    if term.at_least is not None:
        return np.asarray(signs_of(planes, term) >= term.at_least)
    holds: Bools | None = None
    for place, plane in enumerate(planes):
        care = term.care >> 8 * place & 255
        if care:
            agrees = (plane & np.uint8(care)) == term.value >> 8 * place & 255
            holds = agrees if holds is None else np.logical_and(holds, agrees, out=holds)
    return np.ones(len(planes[0]), dtype=np.bool_) if holds is None else holds
