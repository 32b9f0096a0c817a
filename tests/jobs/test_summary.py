from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from dnfscale.jobs.summary import explain, write_summary
from tests.jobs.report_runs import paper_run, plain_run

MODEL: dict[str, Any] = {
    "formula": "a",
    "terms": 1,
    "literals": 1,
    "ell": 1,
    "rank": "f",
    "training_accuracy": 0.875,
    "minimized": {"status": "proven", "gap_literals": 0},
}
DATA = {"rows": 1000, "rows_dropped": 0, "columns": 3, "attributes": 5, "positive_rows": 400}


def summary(
    *, attributes: list[str], terms: list[list[tuple[int, bool]]], folds: int = 0, data: dict[str, int] = DATA
) -> str:
    ideal = {"accuracy_mean": 0.9, "accuracy_std": 0.025, "ell_mean": 2.5, "folds": [{}] * folds, "model": MODEL}
    result = {"name": "job", "data": data, "methods": {"ideal": ideal}}
    model = {
        "attributes": [{"name": name} for name in attributes],
        "terms": [[{"attribute": index, "value": value} for index, value in term] for term in terms],
    }
    out = io.StringIO()
    write_summary(result, model, Path("runs/job"), out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "1 term, 1 literal, proven shortest; ranking f, 1 attribute"),
        (
            {"terms": 2, "literals": 5, "ell": 4, "rank": "chi2"},
            "2 terms, 5 literals, proven shortest; ranking chi2, 4 attributes",
        ),
        (
            {"minimized": {"status": "heuristic", "gap_literals": 0}},
            "1 term, 1 literal, not proven shortest; ranking f, 1 attribute",
        ),
        (
            {"minimized": {"status": "as_is", "gap_literals": 0}},
            "1 term, 1 literal, as it came; ranking f, 1 attribute",
        ),
    ],
)
def test_a_formula_is_described_by_its_size_and_what_is_known_of_it(changes, text):
    assert explain({**MODEL, **changes}, DATA) == text


def test_a_gap_is_given_in_literals():
    assert "at most 3 literals longer than the shortest" in explain(
        {**MODEL, "minimized": {"status": "bounded", "gap_literals": 3}}, DATA
    )


@pytest.mark.parametrize("answer", ["true", "false"])
def test_a_constant_formula_comes_with_its_reason(answer):
    text = explain({**MODEL, "formula": answer, "literals": 0, "terms": int(answer == "true")}, DATA)
    assert text.startswith("constant: ")
    assert f"{answer} is the more frequent answer (400 of 1,000 rows are positive)" in text


def test_each_term_has_a_line_of_its_own():
    text = summary(attributes=["a", "b c"], terms=[[(0, True), (1, False)], [(1, True)]])
    assert '     a and not "b c"\n  or "b c"\n' in text


def test_a_formula_without_terms_is_false():
    assert "\n     false\n" in summary(attributes=["a"], terms=[])


def test_long_terms_are_wrapped_between_names():
    names = [f"attribute_number_{i}_above_median" for i in range(9)]
    text = summary(attributes=names, terms=[[(i, i % 2 == 0) for i in range(9)]])
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    assert not any(line.rstrip().endswith("not") for line in lines)
    formula = " ".join(line.strip() for line in lines[3 : lines.index("", 3)])
    assert formula == " and ".join(("" if i % 2 == 0 else "not ") + name for i, name in enumerate(names))


def test_a_study_ends_with_its_accuracy_beside_the_majority_and_where_the_files_are():
    text = summary(attributes=["a"], terms=[[(0, True)]], folds=10)
    assert "90.0 % ± 2.5 over 10 test folds" in text
    assert "60.0 %" in text
    assert text.rstrip().endswith("runs/job")


def test_a_study_tells_how_its_baselines_fare_in_the_same_folds_and_what_that_shows():
    run = paper_run()
    out = io.StringIO()
    write_summary(run.result, run.model, "runs/job", out)
    lines = " ".join(out.getvalue().split())
    assert "compared Random forest 86.0 %: no difference shown (the formula −2.0 points," in lines
    assert (
        "XGBoost 81.0 %: the formula is more accurate (the formula +3.0 points, 95 % interval +1.0 to +5.0)." in lines
    )
    assert "One rule" not in lines
    assert max(map(len, out.getvalue().splitlines())) <= 100
    alone = plain_run()
    write_summary(alone.result, alone.model, "runs/job", out := io.StringIO())
    assert "compared" not in out.getvalue()


def test_a_fit_says_that_its_accuracy_is_that_of_training():
    assert "87.5 % on the rows it was learned from" in summary(attributes=["a"], terms=[[(0, True)]])


def test_dropped_rows_are_told():
    text = summary(attributes=["a"], terms=[[(0, True)]], data={**DATA, "rows_dropped": 1234})
    assert "1,234 dropped for missing values" in text
    assert "dropped" not in summary(attributes=["a"], terms=[[(0, True)]])
