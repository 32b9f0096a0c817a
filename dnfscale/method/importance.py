"""Importances: the accuracy that is lost when what a formula asks of a column is summed out of its
counts.
"""

from __future__ import annotations

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.core.model import Model
from dnfscale.core.parts import stored_column
from dnfscale.core.vocabulary import Attribute


def lost_accuracies(model: Model) -> dict[str, float]:
    """Return for each column the share of the rows learned from that is no longer told right
    without it.

    The accuracy meant is that of the best answer for each type of row, sum_t max(c_t, n_t - c_t) /
    N. Without a column, types that only its attributes tell apart are one. Where types are patterns
    of lines, the lines that mention the column are summed out; of a checklist, all of it.
    """
    counts = model.counts
    total = counts.n_rows
    masks: dict[str, int] = {}
    for bit, attributes in enumerate(_asked_by_bit(model)):
        for attribute in attributes:
            column = stored_column(attribute.column)
            masks[column] = masks.get(column, 0) | 1 << bit
    if not total:
        return dict.fromkeys(masks, 0.0)
    whole = _right(counts.codes, counts.n, counts.c)
    return {
        column: (whole - _right(counts.codes & ~mask, counts.n, counts.c)) / total
        for column, mask in masks.items()
    }


def _asked_by_bit(model: Model) -> list[list[Attribute]]:
    """Return for each bit of a type the attributes that it depends on."""
    attributes = model.tau.attributes
    if model.types == "attributes":
        return [[attribute] for attribute in attributes]
    if model.types == "signs":
        return [list(attributes)] * len(attributes)
    return [[attributes[i] for i, _ in term.literals] for term in model.dnf.terms]


def _right(types: Ints, n: Ints, c: Ints) -> int:
    """Return how many rows the best answer for each type gets right."""
    _, places = np.unique(types, return_inverse=True)
    rows, positive = np.zeros((2, int(places.max(initial=-1)) + 1), dtype=np.int64)
    np.add.at(rows, places, n)
    np.add.at(positive, places, c)
    return int(np.maximum(positive, rows - positive).sum())
