"""The best conditions of a histogram, judged by trying all."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.method.terms.conditions import Finder
from dnfscale.method.terms.histograms import CountedRows, Layout
from tests.method.terms import made


@given(made.samples(), st.integers(1, 4), st.booleans())
def test_the_best_condition_of_every_column_is_the_best_of_all(sample, max_values, intervals):
    layout = Layout(sample.columns)
    finder = Finder(layout, max_values, intervals)
    if not finder.slots:
        return
    gains = sample.positive - sample.negative
    counts = CountedRows(layout, sample.codes, gains).histograms([np.arange(sample.n_rows)])
    sums = finder.arrange(counts[:, 0] - counts[:, 1])
    scores = finder.scores(sums)[0].tolist()

    def gain(condition):
        return int(gains[condition.accepts(sample.codes[condition.column])].sum())

    for slot, score in enumerate(scores):
        condition = finder.condition(sums, 0, slot)
        assert condition is None or gain(condition) == score
    everything = int(gains.sum())
    candidates = made.all_conditions(sample.columns, max_values=max_values, intervals=intervals)
    for number, conditions in groupby(candidates, key=lambda condition: condition.column):
        found = max(
            score for score, (_, _, c, _) in zip(scores, finder.slots, strict=True) if c == number
        )
        # The best set of values may be empty, or hold all of them.
        assert max(found, 0, everything) == max(0, everything, *map(gain, conditions))


def test_a_cut_goes_before_an_interval_that_is_as_good():
    sample, _ = made.made_sample(300)
    finder = Finder(Layout(sample.columns))
    forms = [name for name, *_ in finder.slots]
    assert forms.index("between") > max(
        place for place, name in enumerate(forms) if name == "above"
    )
