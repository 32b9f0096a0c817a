"""New terms: what they gain, and that the best of one literal is among them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dnfscale.method.terms.beam import Beam, new_terms
from dnfscale.method.terms.codes import CodeFormula
from dnfscale.method.terms.conditions import Finder
from dnfscale.method.terms.histograms import CountedRows, Layout
from tests.method.terms import made


@given(st.data())
def test_a_new_term_gains_what_it_says_on_the_rows_it_was_searched_on(choice):
    sample = choice.draw(made.samples())
    gains = sample.positive - sample.negative
    searched = choice.draw(hnp.arrays(np.bool_, sample.n_rows))
    finder = Finder(Layout(sample.columns), 3)
    if not finder.slots:
        return
    counted = CountedRows(finder.layout, sample.codes, gains)
    found = new_terms(counted, sample.codes, np.flatnonzero(searched), finder, Beam())
    assert len({len(term) for _, term in found}) == len(found)
    for gain, term in found:
        accepted = CodeFormula((term,)).accepts(sample.codes, sample.n_rows)
        assert gain == int(gains[accepted & searched].sum()) > 0
    best = max(
        int(gains[searched & condition.accepts(sample.codes[condition.column])].sum())
        for condition in made.all_conditions(sample.columns, max_values=3)
    )
    assert max((gain for gain, term in found if len(term) == 1), default=0) == max(best, 0)
