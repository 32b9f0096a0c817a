"""What a column is worth, beside a slow judge that counts rows again without it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

from dnfscale.core.counts import TypeCounts
from dnfscale.core.model import Model
from dnfscale.core.parts import stored_column
from dnfscale.core.vocabulary import Above
from dnfscale.method.importance import lost_accuracies
from tests.export import examples
from tests.export.examples import formula


def right_without(model: Model, column: str | None) -> int:
    """The rows that the best answer gets right when a column cannot be seen."""
    rows: Counter[tuple[bool, ...]] = Counter()
    positive: Counter[tuple[bool, ...]] = Counter()
    counts = model.counts
    for code, n, c in zip(counts.codes.tolist(), counts.n.tolist(), counts.c.tolist(), strict=True):
        seen = tuple(
            bool(code >> i & 1)
            for i, attribute in enumerate(model.tau.attributes)
            if stored_column(attribute.column) != column
        )
        rows[seen] += n
        positive[seen] += c
    return sum(max(positive[seen], rows[seen] - positive[seen]) for seen in rows)


@given(made=examples.cases())
@settings(max_examples=40)
def test_a_column_is_worth_the_rows_that_are_no_longer_told_right_without_it(made):
    model = made.model
    if model.types != "attributes" or not model.counts.n_rows:
        return
    total, whole = model.counts.n_rows, right_without(model, None)
    for column, lost in lost_accuracies(model).items():
        assert lost == pytest.approx((whole - right_without(model, column)) / total)
        assert 0 <= lost <= 1 / 2


def test_a_column_that_decides_alone_is_worth_all_that_the_formula_is():
    model = formula([Above("a", "x", 1), Above("b", "z", 1)], [[(0, True)]])
    counts = TypeCounts(2, np.arange(4), np.full(4, 10), np.array([0, 10, 0, 10]))
    lost = lost_accuracies(Model("y", (1,), model.tau, model.dnf, counts))
    assert lost == {"x": 0.5, "z": 0.0}


def test_without_rows_nothing_is_worth_anything():
    model = formula([Above("a", "x", 1)], [[(0, True)]])
    empty = TypeCounts(1, np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
    assert lost_accuracies(Model("y", (1,), model.tau, model.dnf, empty)) == {"x": 0.0}


def test_of_lines_and_of_a_checklist_every_column_that_they_ask_has_a_worth():
    for case in (examples.lines(), examples.checklist(), examples.mixed()):
        lost = lost_accuracies(case.model)
        assert set(lost) == {stored_column(a.column) for a in case.model.tau.attributes}
        assert all(0 <= value <= 1 / 2 for value in lost.values())
