"""Values as 64-bit numbers: in their order, or scrambled so that nothing of their order is left."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Scalar, Values
from dnfscale.core.columns import Categories, Numbers

Hashes = npt.NDArray[np.uint64]

_SIGN = np.uint64(1 << 63)


def order_keys(values: Values) -> Hashes:
    """Return numbers as unsigned ones that are ordered alike; the two zeros of floats are alike."""
    if values.dtype.kind == "f":
        bits = (values.astype(np.float64) + 0.0).view(np.uint64)
        return np.where(bits & _SIGN, ~bits, bits | _SIGN)
    if values.dtype.kind == "i":
        return np.asarray(values.astype(np.int64).view(np.uint64) ^ _SIGN)
    return values.astype(np.uint64)


def key_value(key: int, dtype: np.dtype[Any]) -> Any:
    """Return the number of a dtype that has a key, in the order of keys."""
    bits = np.uint64(key)
    if dtype.kind == "f":
        return (bits ^ _SIGN if bits & _SIGN else ~bits).view(np.float64).item()
    return int(bits) - (int(_SIGN) if dtype.kind == "i" else 0)


def value_keys(data: Numbers | Categories) -> Hashes:
    """Return a number for each row: equal values have equal ones; rows without a value have any."""
    if isinstance(data, Numbers):
        return order_keys(data.values)
    return np.append(_digests(data.values), np.uint64(0)).take(data.codes)


def keyed(keys: Hashes, *, purpose: str, seed: int) -> Hashes:
    """Return numbers scrambled by a key that follows from a purpose and a seed."""
    digest = hashlib.blake2b(f"dnfscale {purpose} {seed}".encode(), digest_size=16).digest()
    addend, factor = np.frombuffer(digest, dtype="<u8")
    hashes = (keys + addend) * (factor | np.uint64(1))
    scramble(hashes)
    return np.asarray(hashes)


def scramble(hashes: Hashes) -> None:
    """Scramble 64-bit numbers in place: every bit depends on every other."""
    hashes ^= hashes >> np.uint64(31)
    hashes *= np.uint64(0xD6E8FEB86659FD93)
    hashes ^= hashes >> np.uint64(32)
    hashes *= np.uint64(0xD6E8FEB86659FD93)
    hashes ^= hashes >> np.uint64(29)


def _digests(values: Sequence[Scalar]) -> Hashes:
    return np.array([_digest(value) for value in values], dtype=np.uint64)


def _digest(value: Any) -> int:
    text = repr(value).encode("utf-8", "backslashreplace")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
