"""The formula-size method in tables and reports: its curve, its formulas, and what is proved of
them.
"""

from __future__ import annotations

import re

import pytest

from dnfscale.formula_size.card import size_curve_of
from dnfscale.report.style import SCRIPT
from dnfscale.report.tables import accuracy_table, formula_table, study_tables
from tests.report.runs import HOSTILE, figures_of, page_of, plain_run, sized_run


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_both_families_stand_side_by_side() -> None:
    page = page_of([sized_run()])
    words = words_of(page)
    assert "Two families of formulas" in words
    assert "size 3, 2 attributes, proved to have the fewest errors" in words
    assert "How many attributes, or what length, are enough?" in words
    assert 'id="sweep-chart"' in page or "sweep-chart" in page
    assert "sizes-chart" in page
    assert "chosen for all rows: 4" in words
    assert "All of them are proved." in words


def test_what_is_not_proved_is_told() -> None:
    words = words_of(page_of([sized_run(proved=False, exact=False)]))
    assert "not proved: a limit was hit, over the best 3 attributes" in words
    assert "83.3 % of them are proved. In 10 folds only the best attributes were searched." in words


def test_a_run_without_the_method_is_shown_as_ever() -> None:
    page = page_of([plain_run()])
    assert "Two families" not in page
    assert "How many attributes are enough?" in page
    assert "sizes" not in figures_of([plain_run()])


def test_the_curve_is_a_figure_of_its_own() -> None:
    figure = figures_of([sized_run()])["sizes"]
    assert "size of the formula" in figure
    assert "ℓ" not in figure


def test_the_curve_averages_the_folds_that_searched_a_size() -> None:
    method = sized_run().read.methods.get("formula_size")
    assert method is not None
    sized = [sized for fold in method.folds for sized in fold.sized]
    curve = size_curve_of(sized, method.sized_models)
    [points] = curve.ranks.values()
    assert [point.ell for point in points] == [1, 2, 3, 4, 5, 6]
    assert points[0].mean == pytest.approx(0.73 + sum(0.01 * (fold % 3) for fold in range(10)) / 10)
    assert curve.choices == {4: 10}
    assert curve.chosen == 4


def test_the_method_is_in_all_tables_with_the_papers_column() -> None:
    outcomes = [sized_run().read]
    accuracies = accuracy_table(outcomes)
    assert {"Formula size", "Formula size (paper)"} <= set(accuracies.header)
    formulas = formula_table(outcomes)
    [row] = formulas.rows
    told = dict(zip(formulas.header, row, strict=True))
    assert told["Formula size"] == "caa_0 and thall_2"
    assert "formulas" in study_tables([sized_run().read])


def test_hostile_names_do_no_harm() -> None:
    page = page_of([sized_run(HOSTILE)])
    others = page.replace(f"<script>{SCRIPT}</script>", "", 1)
    assert others.count("<script") == others.count('<script type="application/json">')
    assert "<img" not in page
