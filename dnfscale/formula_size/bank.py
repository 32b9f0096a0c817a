"""All functions of small size, by meaning: what a formula means on the types that matter, not how
it is written.

A function and its negation share an entry: entry e as it is stored is function 2 * e, its negation
2 * e + 1. The stored bits are those of the one that is false on the first bit. For each function
the bank keeps the size of its shortest formula, and how to write one. Constants have no entry: no
formula needs one as a part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Ints
from dnfscale.formula_size.compiled import ONE, entry, part
from dnfscale.formula_size.table import Literals, Words

AND, OR, NOT = 1, 2, 3

_UNKNOWN = 1000


class Bank(NamedTuple):
    """The functions found so far, and a hash table over their bits."""

    bits: Words
    size: npt.NDArray[np.int16]
    """size[f]: nodes of the shortest formula of function f."""
    tops: npt.NDArray[np.uint8]
    """tops[f]: AND, OR or both, if a shortest formula of f has that connective on top."""
    made: npt.NDArray[np.uint8]
    """made[f]: the connective on top of the formula that is kept for f."""
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    slots: npt.NDArray[np.int32]
    """Entries by hash; -1 marks an empty slot."""
    n_entries: Ints
    """n_entries[0]: the number of entries."""


def bank_bytes(n_entries: int, n_words: int) -> int:
    """Return the bytes of a bank with room for n_entries entries."""
    return n_entries * (8 * n_words + 2 * 12) + 4 * _n_slots(n_entries)


def bank_of(literals: Literals) -> Bank:
    """Return the bank of functions of size one and two."""
    bank = _empty(max(16, 2 * len(literals)), literals.n_words)
    bank.bits[: len(literals)] = literals.bits
    bank.size[: 2 * len(literals)] = np.where(literals.attributes >= 0, 1, 2)
    bank.n_entries[0] = len(literals)
    rehash(bank)
    return bank


def grown(bank: Bank) -> Bank:
    """Return the same bank with twice the room."""
    n = int(bank.n_entries[0])
    larger = _empty(2 * len(bank.bits), bank.bits.shape[1])
    larger.bits[:n] = bank.bits[:n]
    for name in ("size", "tops", "made", "left", "right"):
        getattr(larger, name)[: 2 * n] = getattr(bank, name)[: 2 * n]
    larger.n_entries[0] = n
    rehash(larger)
    return larger


@entry
def combine(  # noqa: PLR0913 (a kernel creates nothing, so its caller passes all)
    bank: Bank, full: Words, meaning: Words, xs: Ints, ys: Ints, size: int, start: int, budget: int
) -> int:
    """Enter «x and y» and «x or y» for all pairs of functions in xs and ys, beginning with pair
    number `start`.

    Return the number of the first pair that was not entered because the room or the budget, in
    words read, ran out. If xs and ys are the same functions, each pair is taken once. `meaning` is
    scratch space.
    """
    n_words, n_ys = len(full), len(ys)
    same = len(xs) == n_ys and xs[0] == ys[0]
    pair = start
    work = 0
    while pair < len(xs) * n_ys:
        if bank.n_entries[0] + 2 > len(bank.bits) or work > budget:
            break
        i = pair // n_ys
        j = pair - i * n_ys
        if same and j <= i:
            pair += i + 1 - j
            continue
        pair += 1
        x, y = xs[i], ys[j]
        if x >> 1 == y >> 1:
            continue
        work += 2 * n_words + 20
        turn_x, turn_y = np.uint64(0) - np.uint64(x & 1), np.uint64(0) - np.uint64(y & 1)
        bits_x, bits_y = bank.bits[x >> 1], bank.bits[y >> 1]
        for top in (AND, OR):
            # (p and q) and y is p and (q and y), which has the same size and is entered when p
            # meets (q and y).
            if bank.tops[x] & top:
                continue
            for word in range(n_words):
                a = bits_x[word] ^ (full[word] & turn_x)
                b = bits_y[word] ^ (full[word] & turn_y)
                meaning[word] = a & b if top == AND else a | b
            _enter(bank, full, meaning, size, top, x, y)
    return int(pair)


@entry
def rehash(bank: Bank) -> None:
    """Fill the hash table anew."""
    last = np.uint64(len(bank.slots) - 1)
    for slot in range(len(bank.slots)):
        bank.slots[slot] = -1
    for place in range(bank.n_entries[0]):
        free = _hash(bank.bits[place]) & last
        while bank.slots[free] >= 0:
            free = (free + ONE) & last
        bank.slots[free] = place


@part
def _enter(bank: Bank, full: Words, meaning: Words, size: int, top: int, x: int, y: int) -> None:
    """Enter a function of the given size, unless it is constant or known at a smaller size."""
    side = np.int64(meaning[0] & ONE)
    some = np.uint64(0)
    for word in range(len(full)):
        if side:
            meaning[word] ^= full[word]
        some |= meaning[word]
    if some == np.uint64(0):
        return
    last = np.uint64(len(bank.slots) - 1)
    slot = _hash(meaning) & last
    while bank.slots[slot] >= 0 and not _equal(bank.bits[bank.slots[slot]], meaning):
        slot = (slot + ONE) & last
    place = np.int64(bank.slots[slot])
    if place < 0:
        place = bank.n_entries[0]
        bank.n_entries[0] += 1
        bank.slots[slot] = place
        for word in range(len(full)):
            bank.bits[place, word] = meaning[word]
        bank.size[2 * place + side] = _UNKNOWN
        negation = 2 * place + 1 - side
        bank.size[negation] = size + 1
        bank.made[negation] = NOT
        bank.left[negation] = 2 * place + side
    function = 2 * place + side
    if bank.size[function] > size:
        bank.size[function] = size
        bank.made[function] = bank.tops[function] = top
        bank.left[function] = x
        bank.right[function] = y
    elif bank.size[function] == size:
        bank.tops[function] |= top


@part
def _hash(words: Words) -> np.uint64:
    value = np.uint64(0x9E3779B97F4A7C15)
    for word in words:
        value ^= word
        value *= np.uint64(0xBF58476D1CE4E5B9)
        value ^= value >> np.uint64(29)
    return value ^ (value >> np.uint64(32))


@part
def _equal(a: Words, b: Words) -> bool:
    word = 0
    while word < len(a) and a[word] == b[word]:
        word += 1
    return word == len(a)


def _n_slots(n_entries: int) -> int:
    return 1 << (2 * n_entries - 1).bit_length()


def _empty(n_entries: int, n_words: int) -> Bank:
    return Bank(
        np.zeros((n_entries, n_words), np.uint64),
        np.zeros(2 * n_entries, np.int16),
        np.zeros(2 * n_entries, np.uint8),
        np.zeros(2 * n_entries, np.uint8),
        np.zeros(2 * n_entries, np.int32),
        np.zeros(2 * n_entries, np.int32),
        np.zeros(_n_slots(n_entries), np.int32),
        np.zeros(1, np.int64),
    )
