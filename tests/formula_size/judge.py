"""The judges of the search: all functions by size, and random tables to search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from dnfscale.formula_size import TypeTable

Masks = npt.NDArray[np.uint64]
"""Functions as sets of types: bit t is the truth value on type t."""


def functions_by_size(table: TypeTable, max_size: int) -> Iterator[Masks]:
    """Yield the functions whose shortest formula has size one, two, and so on: straight from the
    definition.
    """
    bits = np.uint64(1) << np.arange(len(table.n), dtype=np.uint64)
    everything = np.bitwise_or.reduce(bits, initial=np.uint64(0))
    columns = [np.bitwise_or.reduce(bits[column], initial=np.uint64(0)) for column in table.holds.T]
    fresh = [np.zeros(0, np.uint64), np.unique(np.array(columns, dtype=np.uint64))]
    known = fresh[1]
    yield fresh[1]
    for size in range(2, max_size + 1):
        found = [fresh[size - 1] ^ everything]
        for left in range(1, (size - 1) // 2 + 1):
            x, y = fresh[left][:, None], fresh[size - 1 - left]
            found += [np.unique(x & y), np.unique(x | y)]
        fresh.append(np.setdiff1d(np.concatenate(found), known))
        known = np.union1d(known, fresh[size])
        yield fresh[size]


def least_errors(table: TypeTable, by_size: Iterable[Masks]) -> list[int]:
    """Return the fewest errors of any formula of size at most one, two, and so on, given the
    functions of each size.
    """
    least: list[int] = []
    for functions in by_size:
        errors = np.full(len(functions), table.c.sum(), dtype=np.int64)
        for t, change in enumerate((table.n - 2 * table.c).tolist()):
            errors += change * (functions >> np.uint64(t) & np.uint64(1)).astype(np.int64)
        least.append(int(min([*least[-1:], *errors.tolist()])))
    return least


def random_table(random: np.random.Generator, *, n_attributes: int, max_types: int) -> TypeTable:
    """Return types with constant, equal and complementary columns at times, ties, and weights small
    or large.
    """
    n_types = int(random.integers(1, min(2**n_attributes, max_types) + 1))
    codes = random.choice(2**n_attributes, size=n_types, replace=False)
    holds = (codes[:, None] >> np.arange(n_attributes) & 1).astype(np.bool_)
    for _ in range(random.integers(0, 3)):
        i, j = random.integers(0, n_attributes, size=2)
        kind = random.integers(0, 4)
        if kind == 0:
            holds[:, i] = holds[:, j]
        elif kind == 1 and i != j:
            holds[:, i] = ~holds[:, j]
        elif kind == 2:
            holds[:, i] = random.integers(0, 2)
    holds = np.unique(holds, axis=0)
    n = random.integers(1, random.choice([1, 3, 20, 10**8]) + 1, size=len(holds))
    c = (
        random.integers(0, n + 1)
        if random.integers(0, 2)
        else n * random.integers(0, 2, size=len(holds))
    )
    return TypeTable(holds, n, c)
