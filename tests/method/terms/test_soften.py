"""Soft labels."""

from __future__ import annotations

import numpy as np
import pytest

from dnfscale.method.terms.codes import Sample
from dnfscale.method.terms.soften import UNIT, softened
from tests.method.terms import made


def test_rows_keep_their_weight_and_reversed_labels_lose_theirs():
    sample, target = made.made_sample(300, weighted=True)
    found = softened(sample, seed=0)
    assert np.array_equal(
        found.positive + found.negative, UNIT * (sample.positive + sample.negative)
    )
    codes = sample.codes
    truth = ((codes[0] > 8) & (codes[0] < 16) & (codes[3] != 2)) | (
        (codes[1] > 4) & (codes[1] <= 9) & (codes[2] == 1)
    )
    share = found.positive / (found.positive + found.negative)
    sure = np.where(target, share, 1 - share)
    assert sure[target == truth].mean() > sure[target != truth].mean() + 0.2


def test_soft_labels_depend_on_the_seed_alone():
    sample, _ = made.made_sample(200)
    assert np.array_equal(softened(sample, seed=3).positive, softened(sample, seed=3).positive)
    assert not np.array_equal(softened(sample, seed=3).positive, softened(sample, seed=4).positive)


@pytest.mark.parametrize("n_rows", [2, 3, 7, 40])
def test_one_row_of_a_class_is_enough(n_rows):
    sample, _ = made.made_sample(n_rows)
    only = (np.arange(n_rows) == 1).astype(np.int64)
    for positive in (only, 1 - only):
        found = softened(Sample(sample.columns, sample.codes, positive, 1 - positive), seed=0)
        assert np.array_equal(found.positive + found.negative, np.full(n_rows, UNIT))
        assert (found.positive >= 0).all()
        assert (found.negative >= 0).all()


def test_labels_of_one_class_stay_as_they_are():
    sample, _ = made.made_sample(20)
    zeros = np.zeros(20, dtype=np.int64)
    constant = Sample(sample.columns, sample.codes, zeros + 1, zeros)
    assert softened(constant, seed=0) is constant
