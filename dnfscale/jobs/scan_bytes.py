"""Results of scans as bytes, and back, exact to the last bit: a line of JSON for their shape, then
the raw arrays.

Pickle is never used: only numbers, texts, arrays of numbers, and the few classes listed here by
name are read back, so a file from somebody else can do no harm.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from dnfscale.core.associations import Associations
from dnfscale.core.columns import CategorySummary, NumberSummary, TableSummary
from dnfscale.core.dealing import (
    DealColumn,
    DealSummary,
    FileStages,
    GroupCircle,
    GroupRows,
    LabelCircle,
    SiteStages,
    TimeStages,
)
from dnfscale.core.distinct import DistinctRows
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.medians import Located
from dnfscale.core.narrowing import Stepped
from dnfscale.core.ranks import KeyRows
from dnfscale.core.sample import SampledRows
from dnfscale.core.weights import Weighed
from dnfscale.learn.terms import Asked, Lines
from dnfscale.method.minimize.minimal import Minimized, Status
from dnfscale.method.shrink import Shrink
from dnfscale.method.sweep import Step, Sweep
from dnfscale.method.terms.answers import AnswerCounts

_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        TableSummary,
        NumberSummary,
        CategorySummary,
        DealSummary,
        GroupRows,
        DealColumn,
        GroupCircle,
        LabelCircle,
        SiteStages,
        FileStages,
        TimeStages,
        KeyRows,
        Stepped,
        Located,
        Associations,
        DistinctRows,
        Minimized,
        Dnf,
        Term,
        SampledRows,
        Sweep,
        Step,
        Shrink,
        Weighed,
        Lines,
        Asked,
        AnswerCounts,
    )
}
_CHOICES: dict[str, Any] = {kind.__name__: kind for kind in (Status,)}
_NUMBERS = "biuf"
"""Kinds of dtype that are fully described by their bytes."""


class NotExactError(TypeError):
    """A value that this module cannot store exactly."""


class DamagedError(ValueError):
    """Bytes that are not what was written."""


def to_bytes(title: str, value: Any) -> bytes:
    """Return a value as bytes, under a title."""
    arrays: list[bytes] = []
    shape = json.dumps(_shape(value, arrays), separators=(",", ":"), allow_nan=False).encode()
    body = b"".join([shape, b"\n", *arrays])
    return f"{json.dumps([title, zlib.crc32(body)])}\n".encode() + body


def from_bytes(title: str, content: bytes) -> Any:
    """Return the value that was stored under the title."""
    try:
        head, _, body = content.partition(b"\n")
        if json.loads(head) != [title, zlib.crc32(body)]:
            raise DamagedError("another title, or damaged")
        shape, _, arrays = body.partition(b"\n")
        reader = _Reader(arrays)
        value = reader.value(json.loads(shape))
    except DamagedError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, struct.error) as error:
        raise DamagedError(f"damaged: {error}") from error
    return value


def _shape(value: Any, arrays: list[bytes]) -> Any:
    """Return the part of a value that JSON can hold; the bytes of its arrays are appended to
    `arrays`.
    """
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        # A nan has a sign and payload bits, which must be kept too.
        return value if math.isfinite(value) else {"float": struct.pack("<d", value).hex()}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in _NUMBERS:
        # No dims means a scalar, which differs from an array of no dimensions.
        dims = {"dims": list(value.shape)} if isinstance(value, np.ndarray) else {}
        arrays.append(np.ascontiguousarray(value).tobytes())
        return {"dtype": value.dtype.str, **dims}
    if kind is Fraction:
        return {"over": [value.numerator, value.denominator]}
    if kind in (list, tuple):
        return {kind.__name__: [_shape(item, arrays) for item in value]}
    if kind is dict:
        return {
            "dict": [[_shape(key, arrays), _shape(item, arrays)] for key, item in value.items()]
        }
    if isinstance(value, Enum) and kind.__name__ in _CHOICES:
        return {"choice": kind.__name__, "value": value.value}
    if _KINDS.get(kind.__name__) is kind:
        return {
            "kind": kind.__name__,
            "fields": [_shape(getattr(value, name), arrays) for name in _names_of(kind)],
        }
    raise NotExactError(f"no exact form for {kind.__name__}")


def _names_of(kind: Any) -> tuple[str, ...]:
    return kind._fields if issubclass(kind, tuple) else tuple(f.name for f in fields(kind))


class _Reader:
    """Reads values back, in the order in which their arrays were written."""

    def __init__(self, arrays: bytes) -> None:
        self._arrays = arrays
        self._offset = 0

    def value(self, shape: Any) -> Any:
        if not isinstance(shape, dict):
            return shape
        if "dtype" in shape:
            return self._array(np.dtype(shape["dtype"]), shape.get("dims"))
        if "kind" in shape:
            return _KINDS[shape["kind"]](*map(self.value, shape["fields"]))
        if "choice" in shape:
            return _CHOICES[shape["choice"]](shape["value"])
        if "float" in shape:
            [value] = struct.unpack("<d", bytes.fromhex(shape["float"]))
            return value
        if "over" in shape:
            return Fraction(*shape["over"])
        if "dict" in shape:
            return {self.value(key): self.value(item) for key, item in shape["dict"]}
        return (
            tuple(map(self.value, shape["tuple"]))
            if "tuple" in shape
            else list(map(self.value, shape["list"]))
        )

    def _array(self, dtype: Any, dims: Any) -> Any:
        if dtype.kind not in _NUMBERS:
            raise DamagedError(f"arrays hold numbers, not {dtype}")
        count = math.prod(dims or ())
        flat = np.frombuffer(self._arrays, dtype, count, self._offset)
        self._offset += flat.nbytes
        # A copy is writable, as the original was, and aligned as the dtype requires.
        return flat.copy().reshape(dims) if dims is not None else flat[0]
