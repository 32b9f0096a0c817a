"""What the compiled parts share: the decorators, and popcounts.

Kernels are compiled on first use and kept on disk, beside this file or where NUMBA_CACHE_DIR says,
so that worker processes load them. Numba notices changes only in the file of an entry point, so
bank.py and descent.py each hold all the code they run, except for the few lines below. No kernel is
recursive: one that was crashed when it was loaded from the cache.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.formula_size.table import Words

# Numba is an optional extra, and mypy must come to the same result with and without it.
numba: Any = importlib.import_module("numba")

Number = int | np.int64
"""A whole number in a kernel."""
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

ONE = np.uint64(1)

# Kernels read and write arrays that their callers hold, and create none, so they need no reference
# counts: counting references to parts of arrays, one locked instruction each, took a third of the
# time.
_OPTIONS = {"nogil": True, "_nrt": False}


def entry(function: Kernel) -> Kernel:
    """Compile a function that Python calls; keep the result on disk, and let other threads run
    meanwhile.
    """
    compiled: Kernel
    try:
        compiled = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:
        # There is no folder for the cache, so each process compiles for itself.
        compiled = numba.njit(**_OPTIONS)(function)
    return compiled


def part(function: Kernel) -> Kernel:
    """Compile a function that other compiled ones call."""
    compiled: Kernel = numba.njit(**_OPTIONS)(function)
    return compiled


def inlined(function: Kernel) -> Kernel:
    """Compile a function into each of its callers: a call that passes arrays costs more than a
    short loop.
    """
    compiled: Kernel = numba.njit(forceinline=True, **_OPTIONS)(function)
    return compiled


def _popcount(typing_context: object, word: object) -> Any:  # noqa: ARG001 (numba passes both)
    """Count the bits of a word, with the machine's own instruction if it has one."""

    def generate(context: object, builder: Any, signature: object, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return numba.types.uint64(numba.types.uint64), generate


popcount: Callable[[np.uint64], np.uint64] = numba.extending.intrinsic(_popcount)


@inlined
def weigh(a: Words, b: Words, low: Number, middle: Number, high: Number, weights: Ints) -> int:
    """Weigh the bits that a and b share in words low to high; those in words before middle weigh
    one each.

    An unsigned index spares the compiler the case of a negative one, and the loop becomes four
    times as fast.
    """
    word, end = np.uint64(low), np.uint64(middle)
    n = np.uint64(0)
    while word < end:
        n += popcount(a[word] & b[word])
        word += ONE
    total = np.int64(n)
    end = np.uint64(high)
    while word < end:
        total += weights[word] * np.int64(popcount(a[word] & b[word]))
        word += ONE
    return int(total)
