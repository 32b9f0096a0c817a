"""Confusions of labels: summed over folds, and what they say of each label."""

from __future__ import annotations

from dnfscale.experiment.confusion import Confusion, summed_confusion


def test_a_confusion_of_another_shape_is_not_guessed_at():
    assert summed_confusion(["a", "b"], [[[1, 0], [0, 1]], None]) is None
    assert summed_confusion(["a", "b"], [[[1, 0, 0], [0, 1, 0], [0, 0, 1]]]) is None
    assert summed_confusion(["a", "b"], []) is None
    assert summed_confusion(["a", "b"], [[[1, 2], [3, 4]], [[1, 0], [0, 1]]]) == Confusion(("a", "b"), ((2, 2), (3, 5)))


def test_a_label_without_rows_has_no_recall_and_one_never_given_no_precision():
    confusion = Confusion(("a", "b", "c"), ((5, 0, 1), (3, 0, 3), (0, 0, 0)))
    assert [confusion.recall(i) for i in range(3)] == [5 / 6, 0.0, None]
    assert [confusion.precision(i) for i in range(3)] == [5 / 8, None, 0.0]
    assert [confusion.mistaken_for(i) for i in range(3)] == [2, 0, None]
