"""Slow and obvious versions, one row or one type at a time, that judge the fast ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd

from dnfscale.core.arrays import Bools
from dnfscale.core.bins import NumberBins
from dnfscale.core.columns import Numbers
from dnfscale.core.counts import TypeCounts, merge_counts, tally_types
from dnfscale.core.model import Model


def tally(holds: Bools, target: Bools) -> TypeCounts:
    """Count the types of some rows; holds[row, attribute] says which attributes are true."""
    n: Counter[int] = Counter()
    c: Counter[int] = Counter()
    for t, q in zip(row_types(holds), target.tolist(), strict=True):
        n[t] += 1
        c[t] += q
    codes = sorted(n)
    columns = (codes, [n[t] for t in codes], [c[t] for t in codes])
    return TypeCounts(holds.shape[1], *(np.array(column, dtype=np.int64) for column in columns))


def row_types(holds: Bools) -> list[int]:
    """Return the type of each row."""
    return [sum(1 << i for i, value in enumerate(row) if value) for row in holds.tolist()]


def ideal_types(counts: TypeCounts, threshold: Fraction = Fraction(1, 2)) -> list[int]:
    """Return the types that the ideal classifier accepts: those with c_t / n_t >= threshold, a tie
    being true.
    """
    rows = zip(counts.codes.tolist(), counts.n.tolist(), counts.c.tolist(), strict=True)
    return [t for t, n, c in rows if Fraction(c, n) >= threshold]


def number_codes(bins: NumberBins, data: Numbers) -> list[int]:
    """Return the code of each value: how many edges lie below it."""
    codes = [sum(bool(edge < value) for edge in bins.edges) for value in data.values]
    return [
        bins.missing_code if missing else code
        for code, missing in zip(codes, data.missing().tolist(), strict=True)
    ]


def booleans(frame: pd.DataFrame, rows: np.ndarray) -> np.ndarray:
    """Booleanize all rows at the medians of some, column by column, as the paper says."""
    found = []
    for name in frame.columns:
        if frame[name].dtype == bool:
            found.append(frame[name].to_numpy())
        elif frame[name].dtype.kind in "if":
            found.append((frame[name] > np.median(frame[name][rows])).to_numpy())
        else:
            found += [(frame[name] == value).to_numpy() for value in sorted(frame[name].unique())]
    return np.column_stack(found)


def by_lines(model: Model) -> Model:
    """The same model, with counts of the patterns of its lines."""
    counts, patterns = model.counts, replace(model, types="lines").type_of
    found = np.array([patterns(code) for code in counts.codes.tolist()], dtype=np.int64)
    n_lines = len(model.dnf.terms)
    positive = tally_types(found, np.ones(len(found)), n_lines, counts.c)
    negative = tally_types(found, np.zeros(len(found)), n_lines, counts.n - counts.c)
    return replace(model, counts=merge_counts([positive, negative]), types="lines")
