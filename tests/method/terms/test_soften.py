"""Soft labels."""

from __future__ import annotations

import numpy as np

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


def test_labels_of_one_class_stay_as_they_are():
    sample, _ = made.made_sample(20)
    zeros = np.zeros(20, dtype=np.int64)
    constant = Sample(sample.columns, sample.codes, zeros + 1, zeros)
    assert softened(constant, seed=0) is constant
