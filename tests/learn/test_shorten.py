"""Formulas over the attributes of a sweep's best step: of every length, and of these alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dnfscale.method.literals import n_literals
from tests.learn.test_terms import best, learned


def grades(n_rows: int = 3_000) -> pd.DataFrame:
    """A table where each of six flags adds a little, so that the table of types is long."""
    random = np.random.default_rng(3)
    flags = random.random((n_rows, 6)) < 0.5
    chance = 1 / (1 + np.exp(-(flags @ np.array([2.0, 1.5, 1.0, 0.8, 0.6, 0.5]) - 3.2)))
    return pd.DataFrame(
        {f"f{i}": flags[:, i] for i in range(6)} | {"y": random.random(n_rows) < chance, "w": 1}
    )


@pytest.fixture(scope="module")
def found():
    """Without a budget, the types of every step are written as they are besides."""
    return learned(grades(), best(search=("attributes",), max_literals="none"))


def test_a_formula_over_types_asks_about_the_columns_of_the_best_step_alone(found):
    for fold in (*found.folds, found.model):
        whole = {own.step.ell: own.classifier for own in fold.decision.candidates if own.classifier}
        over_types = [own for own in fold.decision.candidates if own.lines is not None]
        assert over_types
        for own in over_types:
            allowed = {str(a.column) for a in whole[own.step.ell].tau.attributes}
            asked = {
                number for line in own.lines.lines for one in line for number in one.attributes
            }
            assert {f"f{number}" for number in asked} <= allowed


def test_lengths_between_those_of_whole_tables_have_a_formula(found):
    fold = found.folds[0]
    written = {own.literals for own in fold.decision.candidates if own.lines is None}
    over_types = {own.literals for own in fold.decision.candidates if own.lines is not None}
    assert len(over_types) >= 5
    assert len(over_types - written) >= 3


def test_where_there_is_a_budget_no_table_of_types_is_written_as_it_is():
    found = learned(grades(), best(search=("attributes",)))
    for fold in (*found.folds, found.model):
        assert fold.decision.candidates
        assert all(own.lines is not None for own in fold.decision.candidates)


def test_a_budget_costs_little_where_the_table_of_types_is_long(found):
    short = learned(grades(), best(search=("attributes",), max_literals=4))
    assert all(n_literals(fold.lines) <= 4 for fold in short.folds)
    assert all(n_literals(fold.lines) > 4 for fold in found.folds)
    assert _right(short) > _right(found) - found.rows // 25


def _right(run) -> int:
    return sum(
        int(np.where(fold.accepts(fold.test), fold.test.c, fold.test.n - fold.test.c).sum())
        for fold in run.folds
    )


@pytest.mark.parametrize("form", ["lines", "checklist"])
@pytest.mark.parametrize("missing", [2, 8])
def test_a_fold_in_which_no_column_tells_rows_apart_has_a_constant(form, missing):
    x = np.where(np.arange(12) < missing, np.nan, np.arange(12))
    frame = pd.DataFrame({"x": x, "t": np.arange(12), "y": np.arange(12) % 2 == 0, "w": 1})
    run = learned(frame, best(time="t", outer=None, forms=(form,)))
    assert not run.folds[0].dnf.n_literals
    assert sum(fold.test_rows for fold in run.folds) == 11
