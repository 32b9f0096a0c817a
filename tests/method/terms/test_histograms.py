"""Histograms of groups of rows, judged by counting row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.method.terms import histograms
from dnfscale.method.terms.codes import CodeColumn
from dnfscale.method.terms.histograms import CountedRows, Layout
from tests.method.terms import made
from tests.strategies import groupings


def plain(sample, groups):
    """The judge."""
    gains = sample.positive - sample.negative
    layout = Layout(sample.columns)
    counts = np.zeros((len(groups), 2, int(layout.starts[-1])), dtype=np.int64)
    for number, rows in enumerate(groups):
        for row in rows.tolist():
            for column, codes in enumerate(sample.codes):
                counts[number, int(gains[row] < 0), layout.starts[column] + codes[row]] += abs(
                    gains[row]
                )
    return counts


@given(st.data(), st.sampled_from([1 << 16, 5]))
def test_groups_are_counted_by_sign_and_code(choice, keys):
    sample = choice.draw(made.samples())
    groups = choice.draw(groupings(sample.n_rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histograms, "_MOST_KEYS", keys)
        counted = CountedRows(
            Layout(sample.columns), sample.codes, sample.positive - sample.negative
        )
        assert np.array_equal(counted.histograms(groups), plain(sample, groups))


def test_columns_of_few_codes_are_counted_together():
    layout = Layout((CodeColumn(2, True),) * 14 + (CodeColumn(64, True),))
    assert [len(joint) for joint in layout.joints] == [6, 6, 2, 1]


def test_a_row_may_be_in_several_groups():
    sample, _ = made.made_sample(50, weighted=True)
    rows = np.arange(50)
    counted = CountedRows(Layout(sample.columns), sample.codes, sample.positive - sample.negative)
    found = counted.histograms([rows, rows[:20], rows[20:]])
    assert np.array_equal(found[0], found[1] + found[2])
