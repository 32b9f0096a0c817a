"""Answers by truth: of two classes, and of several labels."""

from __future__ import annotations

import numpy as np

from dnfscale.results.confusion import Confusion, LabelConfusion, correct_of, counted_of, summed


def test_rows_are_counted_by_their_truth_and_their_answer():
    accepted, n, c = np.array([True, False, True]), np.array([10, 7, 3]), np.array([9, 2, 0])
    found = Confusion.of_types(accepted, n, c)
    assert found == Confusion(tp=9, fp=4, tn=5, fn=2)
    assert (found.correct, found.counted) == (14, 20)
    assert Confusion.of_two(((5, 4), (2, 9))) == found


def test_the_answers_of_all_folds_are_added_up():
    answers = summed([((1, 2), (3, 4)), ((1, 0), (0, 1))])
    assert answers == ((2, 2), (3, 5))
    assert (correct_of(answers), counted_of(answers)) == (7, 12)


def test_a_label_without_rows_has_no_recall_and_one_never_given_no_precision():
    confusion = LabelConfusion(("a", "b", "c"), ((5, 0, 1), (3, 0, 3), (0, 0, 0)))
    assert [confusion.recall(i) for i in range(3)] == [5 / 6, 0.0, None]
    assert [confusion.precision(i) for i in range(3)] == [5 / 8, None, 0.0]
    assert [confusion.mistaken_for(i) for i in range(3)] == [2, 0, None]
