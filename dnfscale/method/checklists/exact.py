"""The best checklist of every length over a counted table, from counts alone and proven.

A checklist over tau leaves each attribute out, asks for it, or asks for its negation: there are
3**ell choices. What the types with so many signs gain together, under every choice at once, follows
attribute by attribute: where one is left out, both halves of the types add up, and where one is
asked for, one of the halves has a sign more. So all choices and thresholds take some 3**ell times
ell additions, and the best of them is the best there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dnfscale.core.arrays import Ints

MOST_ATTRIBUTES = 10
"""Of so many attributes, all checklists take some fifty milliseconds."""


@dataclass(frozen=True, slots=True)
class BestChecklist:
    """A checklist over tau, and what it gains over the answer «no» to all."""

    care: int
    """Bit i is set when attribute i occurs."""
    value: int
    """Bit i is set when it occurs without negation."""
    at_least: int
    """How many must hold: from one of them to all."""
    gain: int


def best_checklists(gains: Ints, *, longest: int) -> tuple[BestChecklist, ...]:
    """Return the best checklist of each length that is better than all that are shorter and than a
    constant answer; of equally good ones the first.

    gains[type] says what a «yes» gains for a type, for all types over tau.
    """
    ell = len(gains).bit_length() - 1
    by_signs = _gains_by_signs(gains)
    # reached[choice, m - 1]: the gain of all types with at least m signs.
    reached = np.cumsum(by_signs[:, ::-1], axis=1)[:, -2::-1]
    found: list[BestChecklist] = []
    most = max(0, int(gains.sum()))
    for length, choices in enumerate(_choices_by_length(ell)[:longest], start=1):
        own = reached[choices, :length]
        best = int(own.argmax())
        gain = int(own.flat[best])
        if gain <= most:
            continue
        most = gain
        # The digits of a choice: 0 leaves an attribute out, 1 asks for it, and 2 for its negation.
        asked = choices[best // length] // 3 ** np.arange(ell) % 3
        bits = 1 << np.arange(ell)
        found.append(
            BestChecklist(
                care=int(bits[asked > 0].sum()),
                value=int(bits[asked == 1].sum()),
                at_least=1 + best % length,
                gain=gain,
            )
        )
    return tuple(found)


@lru_cache(maxsize=MOST_ATTRIBUTES + 1)
def _choices_by_length(ell: int) -> tuple[Ints, ...]:
    """Return the choices that ask for one attribute, for two, and so on."""
    lengths = np.zeros(1, dtype=np.int8)
    for _ in range(ell):
        lengths = np.concatenate([lengths, lengths + 1, lengths + 1], dtype=np.int8)
    return tuple(np.flatnonzero(lengths == length) for length in range(1, ell + 1))


def _gains_by_signs(gains: Ints) -> Ints:
    """Return found[choice, signs]: what the types with so many signs gain under each choice."""
    found = gains.reshape(1, -1, 1)
    while found.shape[1] > 1:
        choices, n_types, n_signs = found.shape
        clear, set_ = found[:, : n_types // 2], found[:, n_types // 2 :]
        grown = np.zeros((choices, 3, n_types // 2, n_signs + 1), dtype=np.int64)
        grown[:, 0, :, :-1] = clear + set_
        for digit, (holds, fails) in enumerate(((set_, clear), (clear, set_)), start=1):
            grown[:, digit, :, :-1] = fails
            grown[:, digit, :, 1:] += holds
        found = grown.reshape(3 * choices, n_types // 2, n_signs + 1)
    return found[:, 0]
