"""Flags: every count is that of the rows, whether they are listed or multiplied."""

from __future__ import annotations

import numpy as np
import pytest

from dnfscale.method import flags as flags_module
from dnfscale.method.flags import Flags


@pytest.mark.parametrize("all_listed", [0, 1 << 15])
@pytest.mark.parametrize("heaviest", [0, 9, 1 << 20])
@pytest.mark.parametrize("shares", [(0.5, 0.02, 0.9, 0.0, 0.1, 1.0), (0.01, 0.05), (0.4, 0.6), ()])
def test_flags_of_few_and_of_many_rows_are_counted_in_every_cell(
    shares, heaviest, all_listed, monkeypatch
):
    monkeypatch.setattr(flags_module, "_ALL_LISTED", all_listed)
    random = np.random.default_rng(len(shares))
    holds = random.random((len(shares), 400)) < np.array(shares)[:, None]
    cells = random.integers(0, 7, 400)
    weights = random.integers(1, heaviest, 400) if heaviest else None
    flags = Flags.of(holds, weights)
    assert sorted([*flags.few.tolist(), *flags.many.tolist()]) == list(range(len(shares)))
    each = np.ones(400, dtype=int) if weights is None else weights
    expected = [[int(each[own & (cells == cell)].sum()) for cell in range(9)] for own in holds]
    assert flags.count(cells, 9, weights, np.dtype(np.int64)).tolist() == expected


def test_a_flag_of_many_is_listed_where_it_holds_in_one_row_of_eight_or_fewer(monkeypatch):
    monkeypatch.setattr(flags_module, "_ALL_LISTED", 0)
    holds = np.arange(16) < np.array([[0], [1], [2], [3], [16]])
    flags = Flags.of(holds)
    assert flags.few.tolist() == [0, 1, 2]
    assert flags.listed.tolist() == [0, 0, 1]
    assert flags.place.tolist() == [1, 2, 2]
