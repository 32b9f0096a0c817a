"""The types of rows that were not binned: attributes evaluated on columns as they are read."""

from __future__ import annotations

import math

import numpy as np

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.columns import Block, Categories, Column, Numbers, Role
from dnfscale.core.vocabulary import Above, Attribute, Equals, IsMissing, IsTrue, Vocabulary


def columns_of(tau: Vocabulary) -> tuple[Column, ...]:
    """Return the columns that the attributes need, each once."""
    roles = {
        attribute.column: Role.NUMBER if isinstance(attribute, Above) else Role.CATEGORY
        for attribute in sorted(tau.attributes, key=lambda attribute: isinstance(attribute, Above))
    }
    return tuple(Column(name, role) for name, role in roles.items())


def types_of(block: Block, columns: tuple[Column, ...], tau: Vocabulary) -> Ints:
    """Return the type of each row of a block that was read with these columns."""
    data = {column.name: values for column, values in zip(columns, block.columns, strict=True)}
    codes = np.zeros(block.n_rows, dtype=np.int64)
    for place in range(0, len(tau), 8):
        # Eight attributes at a time as bytes: half the time of eight-byte integers.
        byte = np.zeros(block.n_rows, dtype=np.uint8)
        for bit, attribute in enumerate(tau.attributes[place : place + 8]):
            np.bitwise_or(byte, holds(attribute, data[attribute.column]).view(np.uint8) << bit, out=byte)
        codes |= byte.astype(np.int64) << place
    return codes


def holds(attribute: Attribute, data: Numbers | Categories) -> Bools:
    """Say in which rows an attribute is true; where the value is missing, only IsMissing is."""
    if isinstance(data, Numbers):
        present = np.ones(len(data.values), dtype=np.bool_) if data.present is None else data.present
        if isinstance(attribute, IsMissing):
            return ~present
        assert isinstance(attribute, Above)
        if attribute.value is None:
            return np.zeros(len(data.values), dtype=np.bool_)
        # Whole numbers are compared with whole numbers: beyond 2**53 floats would not tell them apart.
        whole = data.values.dtype.kind in "iu" and math.isfinite(attribute.value)
        cut = math.floor(attribute.value) if whole else attribute.value
        return np.asarray((data.values > cut) & present)
    if isinstance(attribute, IsMissing):
        return np.asarray(data.codes < 0)
    assert isinstance(attribute, Equals | IsTrue)
    equal = np.array([value == attribute.value for value in data.values] + [False], dtype=np.bool_)
    return equal[data.codes]
