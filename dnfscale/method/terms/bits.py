"""Sets of rows as bits, 64 to a word."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Bools, Ints

Words = npt.NDArray[np.uint64]
"""64 rows in each, the first in the lowest bit."""
WORD_BITS = 64


def pack(holds: Bools) -> Words:
    """Return Booleans as words; the last is filled up with zeros."""
    octets = np.packbits(holds, bitorder="little")
    words = np.zeros(-(-len(holds) // WORD_BITS), dtype="<u8")
    words.view(np.uint8)[: len(octets)] = octets
    return words.astype(np.uint64, copy=False)


def rows_of(words: Words) -> Ints:
    """Return the numbers of the rows in a set, increasing."""
    octets: Any = words.astype("<u8", copy=False).view(np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little").view(np.bool_))
