"""The best single attribute, against trying each by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.associations import Associations
from dnfscale.method.one_rule import best_single


@given(st.integers(1, 30), st.integers(1, 6), st.integers(0, 1000))
def test_the_single_attribute_is_the_first_that_errs_least(
    n_rows: int, n_attributes: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    holds = random.random((n_rows, n_attributes)) < 0.5
    target = random.random(n_rows) < 0.5
    tables = Associations(
        np.array([n_rows]),
        np.array([target.sum()]),
        holds.sum(axis=0)[None, :],
        (holds & target[:, None]).sum(axis=0)[None, :],
    )
    errors = [
        sum(min(target[side].sum(), (~target[side]).sum()) for side in (column, ~column))
        for column in holds.T
    ]
    assert best_single(tables).tolist() == [errors.index(min(errors))]
