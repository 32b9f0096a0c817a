"""The scan that finds types against a judge that reads rows one by one."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.apply.found_types import FindTypes, FoundTypes, merge_found
from dnfscale.core.counts import tally_types
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import Model
from dnfscale.core.vocabulary import Above, Equals, IsMissing, Vocabulary
from dnfscale.data.source import Source, open_source

TAU = Vocabulary(
    (Above("x_above", "x", 0.5), Equals("s_red", "s", "red"), IsMissing("s_missing", "s"))
)
FORMULA = Dnf((Term(0b011, 0b001), Term(0b100, 0b100)))
MODEL = Model("y", (True,), TAU, FORMULA, tally_types(np.empty(0), np.empty(0), 3))
X = [0.0, 1.0, None, 2.0] * 30
S = ["red", "blue", None] * 40


@pytest.fixture
def source(tmp_path) -> Source:
    """A file of several row groups, with missing values."""
    pq.write_table(pa.table({"x": X, "s": S}), tmp_path / "t.parquet", row_group_size=10)
    return open_source(str(tmp_path / "t.parquet"))


def found_in(found: FoundTypes) -> dict[int, int]:
    return dict(zip(found.codes.tolist(), found.rows.tolist(), strict=True))


def test_every_row_is_found_under_its_type_missing_values_too(source):
    [rows] = source.partitions
    found = FindTypes(MODEL)(rows)
    judged = Counter(
        int(x is not None and x > 0.5) | 2 * (s == "red") | 4 * (s is None)
        for x, s in zip(X, S, strict=True)
    )
    assert found_in(found) == dict(judged)
    assert found.codes.tolist() == sorted(judged)


def test_every_row_is_found_under_the_lines_that_hold_for_it(source):
    [rows] = source.partitions
    counts = tally_types(np.empty(0), np.empty(0), 2)
    found = FindTypes(replace(MODEL, counts=counts, types="lines"))(rows)
    judged = Counter(
        int(x is not None and x > 0.5 and s != "red") | 2 * (s is None)
        for x, s in zip(X, S, strict=True)
    )
    assert found_in(found) == dict(judged)


def test_the_scan_travels_and_its_parts_merge_in_any_grouping(source):
    scan = pickle.loads(pickle.dumps(FindTypes(MODEL)))
    [rows] = source.partitions
    whole = scan(rows)
    assert whole.rows.sum() == len(X)
    parts = [merge_found([]), whole, whole]
    for grouped in (merge_found(parts), merge_found([merge_found(parts[1:]), parts[0]])):
        assert grouped.codes.tolist() == whole.codes.tolist()
        assert grouped.rows.tolist() == (2 * whole.rows).tolist()


def test_what_was_found_cannot_be_changed(source):
    [rows] = source.partitions
    found = FindTypes(MODEL)(rows)
    for array in (found.codes, found.rows):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = np.int64(7)
