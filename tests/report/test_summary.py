from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace as changed

from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import Model
from dnfscale.core.vocabulary import IsTrue, Vocabulary
from dnfscale.export.text import export_text
from dnfscale.report.summary import explain, write_summary
from dnfscale.report.wording import accuracy_words, doubt_words
from dnfscale.results.confusion import Confusion
from dnfscale.results.method import FrontierPoint, Objective
from dnfscale.results.result import Result, parse_result
from dnfscale.results.slices import Gap, Slice
from tests.judges import tally
from tests.report.runs import distill_run, labels_run, paper_run, plain_run, sized_run

MODEL: dict[str, Any] = {
    "search": "attributes",
    "attributes": [{"name": "a"}],
    "formula": "a",
    "lines": [{"all": [{"attribute": 0, "value": True}]}],
    "terms": 1,
    "literals": 1,
    "ell": 1,
    "rank": "f",
    "minimized": {"status": "proven", "gap_literals": 0},
    "sweep": [],
}
DATA = {"rows": 1000, "rows_dropped": 0, "columns": 3, "attributes": 5, "positive_rows": 400}


def result(*, folds: int = 0, data: dict[str, int] = DATA, **changes: Any) -> Result:
    scores = {"accuracy_mean": 0.9, "accuracy_std": 0.025, "ell_mean": 2.5}
    model = {"training_accuracy": 0.875, "formulas": [{**MODEL, **changes}]}
    ideal = {**scores, "folds": [{"fold": fold} for fold in range(folds)], "model": model}
    head = {
        "schema": "dnfscale.result/2",
        "name": "job",
        "kind": "study",
        "seed": 0,
        "profile": "paper",
    }
    return parse_result({**head, "data": data, "methods": {"ideal": ideal}})


def explained(**changes: Any) -> str:
    found = result(**changes)
    return explain(found.ideal.models[0], found)


def summary(*, attributes: list[str], terms: list[list[tuple[int, bool]]], **changes: Any) -> str:
    found = [
        Term(sum(1 << i for i, _ in term), sum(1 << i for i, holds in term if holds))
        for term in terms
    ]
    tau = Vocabulary(tuple(IsTrue(name, name, True) for name in attributes))
    no_rows = tally(np.zeros((0, len(tau)), dtype=np.bool_), np.zeros(0, dtype=np.bool_))
    model = Model("y", (True,), tau, Dnf(tuple(found)), no_rows)
    out = io.StringIO()
    write_summary(result(**changes), [model], "runs/job", out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "1 line, 1 condition, proven shortest; ranking f, 1 attribute"),
        (
            {"terms": 2, "literals": 5, "ell": 4, "rank": "chi2"},
            "2 lines, 5 conditions, proven shortest; ranking chi2, 4 attributes",
        ),
        (
            {"minimized": {"status": "heuristic", "gap_literals": None}},
            "1 line, 1 condition, not proven shortest; ranking f, 1 attribute",
        ),
        (
            {"minimized": {"status": "as_is", "gap_literals": None}},
            "1 line, 1 condition, as it came, not shortened; ranking f, 1 attribute",
        ),
    ],
)
def test_a_formula_is_described_by_its_size_and_what_is_known_of_it(changes, text):
    assert explained(**changes) == text


def test_a_gap_is_given_in_conditions():
    told = explained(minimized={"status": "bounded", "gap_literals": 3})
    assert "1 condition, at most 3 conditions longer than the shortest; ranking f" in told


@pytest.mark.parametrize(
    ("answer", "frequent"), [("true", ""), ("false", ", the more frequent one")]
)
def test_a_constant_formula_comes_with_its_reason(answer, frequent):
    text = explained(formula=answer, literals=0, terms=int(answer == "true"))
    assert text == (
        f"constant: whatever the chosen attributes say, the answer is {answer}{frequent} "
        "(400 of 1,000 rows are positive)"
    )


def test_each_line_has_a_row_of_its_own():
    text = summary(attributes=["a", "b c"], terms=[[(0, True), (1, False)], [(1, True)]])
    assert '\ny is true if\n     a and not "b c"\n  or "b c"\n' in text


def test_cuts_are_told_by_their_values():
    run = plain_run()
    write_summary(run.read, run.run.models, "runs/job", out := io.StringIO())
    told = export_text(run.run.models[0]).splitlines()
    assert [line.strip() for line in told] == [
        line.strip() for line in out.getvalue().splitlines()[2 : 2 + len(told)]
    ]
    assert " > " in out.getvalue()


@pytest.mark.parametrize(("terms", "rows"), [([], "no"), ([[]], "every")])
def test_a_constant_formula_is_told_in_words(terms, rows):
    assert f"\ny is true for {rows} row\n" in summary(attributes=["a"], terms=terms)


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        (
            {"name": "balanced_accuracy", "beta": None},
            "71.0 % ± 2.0 balanced accuracy: learned for this",
        ),
        ({"name": "f_beta", "beta": 2.0}, "71.0 % ± 2.0 F-score with beta 2: learned for this"),
        (
            {"name": "cost", "beta": None, "threshold": 0.2},
            (
                "71.0 % ± 2.0 of the cost avoided, where a miss costs as much as 4 false "
                "alarms: learned for this"
            ),
        ),
        (
            {"name": "cost", "beta": None, "threshold": 0.75},
            (
                "71.0 % ± 2.0 of the cost avoided, where a false alarm costs as much as 3 "
                "misses: learned for this"
            ),
        ),
    ],
)
def test_what_a_formula_was_learned_for_is_told_beside_its_accuracy(objective, words):
    run = plain_run()
    figures = {"mean": 0.71, "std": 0.02, "constant_mean": None}
    run.result["methods"]["ideal"]["objective"] = {"threshold": None, **objective, **figures}
    write_summary(run.read, run.run.models, "runs/job", out := io.StringIO())
    assert f"objective {words}" in " ".join(out.getvalue().split())


def test_long_terms_are_wrapped_between_names():
    names = [f"attribute_number_{i}_above_median" for i in range(9)]
    text = summary(attributes=names, terms=[[(i, i % 2 == 0) for i in range(9)]])
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    formula = " ".join(line.strip() for line in lines[3 : lines.index("", 3)])
    assert formula == " and ".join(
        ("" if i % 2 == 0 else "not ") + name for i, name in enumerate(names)
    )


def test_a_study_ends_with_its_accuracy_beside_the_majority_and_where_the_files_are():
    text = summary(attributes=["a"], terms=[[(0, True)]], folds=10)
    assert "90.0 % ± 2.5 over 10 test folds" in text
    assert "60.0 %" in text
    assert text.rstrip().endswith("runs/job")


def test_a_study_tells_how_its_baselines_fare_in_the_same_folds_and_what_that_shows():
    run = paper_run()
    out = io.StringIO()
    write_summary(run.read, run.run.models, "runs/job", out)
    lines = " ".join(out.getvalue().split())
    assert "compared Random forest 86.0 %: no difference shown (the formula −2.0 points," in lines
    assert (
        "XGBoost 81.0 %: the formula is more accurate (the formula +3.0 points, 95 % "
        "interval +1.0 to +5.0)."
    ) in lines
    assert "One rule" not in lines
    assert max(map(len, out.getvalue().splitlines())) <= 100
    alone = plain_run()
    write_summary(alone.read, alone.run.models, "runs/job", out := io.StringIO())
    assert "compared" not in out.getvalue()


@pytest.mark.parametrize("columns", [60, 80])
def test_figures_are_wrapped_between_words_where_a_terminal_is_narrow(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    run = plain_run()
    write_summary(run.read, run.run.models, "runs/job", out := io.StringIO())
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= columns
    assert any(line.startswith("majority   ") for line in lines)


def test_a_fit_says_that_its_accuracy_is_that_of_training():
    assert "87.5 % on the rows it was learned from" in summary(
        attributes=["a"], terms=[[(0, True)]]
    )


def test_dropped_rows_are_told():
    text = summary(attributes=["a"], terms=[[(0, True)]], data={**DATA, "rows_dropped": 1234})
    assert "1,234 dropped for missing values" in text
    assert "dropped" not in summary(attributes=["a"], terms=[[(0, True)]])


def test_each_label_has_a_formula_and_infinity_is_one_of_them():
    run = labels_run([{"float": "-inf"}, 0.5, {"float": "inf"}])
    write_summary(run.read, run.run.models, "runs/job", out := io.StringIO())
    labels = ("-inf", "0.5", "inf")
    assert [f"\nrisk is {label} if\n" in out.getvalue() for label in labels] == [True] * 3
    assert "majority   33.5 % for always giving the most frequent answer" in out.getvalue()


def test_the_formula_size_method_has_lines_of_its_own():
    run = sized_run()
    write_summary(run.read, run.run.models, "runs/job", out := io.StringIO())
    assert "by size    84.0 % ± 2.8 with formulas of size 3.0 on average\n" in out.getvalue()
    assert "           of all rows: caa_0 and thall_2\n" in out.getvalue()


def test_a_formula_that_explains_a_classifier_is_told_with_its_fidelity():
    known, unknown = (io.StringIO(), io.StringIO())
    for out, run in ((known, distill_run()), (unknown, distill_run(known=False))):
        write_summary(run.read, run.run.models, "runs/job", out)
        assert (
            "fidelity   84.0 % ± 2.8 over 10 test folds: answers as the classifier\n"
            in out.getvalue()
        )
    assert "accuracy   81.0 % of the formula, 93.0 % of the classifier\n" in known.getvalue()
    assert "accuracy" not in unknown.getvalue()


def with_frontier(**figures: Any) -> str:
    """Return the summary of a study whose formula is on its frontier."""
    found = result(folds=10)
    point = FrontierPoint(
        literals_mean=7.5,
        literals=8,
        accuracy_mean=0.786,
        accuracy_std=0.01,
        terms_mean=2.0,
        metrics=figures,
        shown=True,
    )
    return summary_of(changed(found, methods={"ideal": changed(found.ideal, frontier=(point,))}))


def summary_of(found: Result) -> str:
    """Return the summary of a study."""
    no_rows = tally(np.zeros((0, 1), dtype=np.bool_), np.zeros(0, dtype=np.bool_))
    tau = Vocabulary((IsTrue("a", "a", True),))
    out = io.StringIO()
    model = Model("y", (True,), tau, Dnf((Term(1, 1),)), no_rows)
    write_summary(found, [model], "runs/job", out)
    return out.getvalue()


def test_the_first_accuracy_is_that_of_formulas_of_the_length_shown():
    told = with_frontier(sensitivity=0.6, specificity=0.9)
    first = told.index("78.6 % ± 1.0 over 10 test folds: formulas of at most 8 conditions")
    assert first < told.index("procedure  90.0 % ± 2.5: the length chosen anew in each fold")
    assert "Beware" not in told


def held_out(*, rows: int = 168, weight: dict[str, Any] | None = None) -> Result:
    """Return a study that tested one part of the rows, with a slice."""
    found = result(folds=1, data={**DATA, **({} if weight is None else {"weight": weight})})
    gap = Gap(
        metric="sensitivity",
        difference=0.481,
        lowest="mid",
        lowest_rows=20,
        highest="old",
        highest_rows=30,
        certain=False,
    )
    point = FrontierPoint(
        literals_mean=7.5,
        literals=8,
        accuracy_mean=0.786,
        accuracy_std=0.0,
        low=0.718,
        high=0.841,
        terms_mean=2.0,
        shown=True,
    )
    ideal = changed(
        found.ideal,
        accuracy_std=0.0,
        frontier=(point,),
        slices=(Slice(column="grp", values=(), gaps=(gap,)),),
        folds=(changed(found.ideal.folds[0], test_rows=rows, accuracy=0.9),),
    )
    return changed(found, methods={"ideal": ideal})


def test_a_single_test_part_has_an_interval_and_no_spread_over_folds():
    found = held_out()
    told = summary_of(found)
    assert "78.6 % (71.8 to 84.1 % at 95 %) on one test part of 168 rows: formulas of" in told
    assert "procedure  90.0 %: the length chosen without these rows" in told
    assert "±" not in told
    assert "standard deviation" not in accuracy_words(found)
    assert found.deviation(found.ideal) is None


def test_of_weighted_rows_nothing_says_what_may_be_chance():
    weight = {"column": "w", "unit": 1, "total": 900.0, "positive": 400.0, "rows_without": 0}
    assert "highest for old, which may be chance" in summary_of(held_out())
    assert "highest for old\n" in summary_of(held_out(weight=weight))


def test_where_each_row_is_left_out_in_turn_no_spread_is_told():
    found = result(folds=62)
    folds = tuple(changed(fold, test_rows=1) for fold in found.ideal.folds)
    told = summary_of(changed(found, methods={"ideal": changed(found.ideal, folds=folds)}))
    assert "accuracy   90.0 % over 62 rows, each left out in turn\n" in told


def test_the_first_figure_is_of_what_formulas_were_learned_for():
    found = result(folds=10)
    point = FrontierPoint(
        literals_mean=7.5,
        literals=8,
        accuracy_mean=0.725,
        accuracy_std=0.07,
        objective_mean=0.612,
        objective_std=0.04,
        terms_mean=2.0,
        shown=True,
    )
    goal = Objective(
        name="balanced_accuracy", beta=None, threshold=None, mean=0.6, std=0.05, constant_mean=0.5
    )
    ideal = changed(found.ideal, frontier=(point,), objective=goal)
    told = summary_of(changed(found, methods={"ideal": ideal}))
    first = told.index("objective  61.2 % ± 4.0 balanced accuracy over 10 test folds: formulas of")
    assert first < told.index("60.0 % ± 5.0 by the") < told.index("accuracy   72.5 %")


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"sensitivity": 0.04, "specificity": 0.99}, "find only 4.0 % of the positive test rows"),
        ({"sensitivity": 0.99, "specificity": 0.04}, "clear only 4.0 % of the negative test rows"),
    ],
)
def test_a_formula_that_is_rarely_right_for_a_class_is_told_in_the_first_line(figures, said):
    told = " ".join(with_frontier(**figures).split())
    assert told.startswith("Beware: Formulas of this length ")
    assert said in told
    assert 'try formula.objective = "balanced_accuracy"' in told


@pytest.mark.parametrize(("right", "is_told"), [(60, False), (57, True)])
def test_a_formula_no_better_than_one_answer_for_all_is_told_in_the_first_line(right, is_told):
    found = result(folds=10)
    point = FrontierPoint(
        literals_mean=2.0,
        literals=2,
        accuracy_mean=right / 100,
        terms_mean=2.0,
        confusion=Confusion(tp=30, fp=88 - right, tn=right - 30, fn=12),
        shown=True,
    )
    told = doubt_words(changed(found, methods={"ideal": changed(found.ideal, frontier=(point,))}))
    assert (told is not None) == is_told
    assert (
        told is None
        or "57.0 % of the test rows; the same answer for all rows comes to 58.0" in told
    )


def test_a_formula_no_better_at_what_it_was_learned_for_than_one_answer_is_told():
    goal = Objective(
        name="balanced_accuracy", beta=None, threshold=None, mean=0.49, std=0.05, constant_mean=0.5
    )
    found = result(folds=10)
    told = doubt_words(changed(found, methods={"ideal": changed(found.ideal, objective=goal)}))
    assert told is not None
    assert "reach 49.0 % balanced accuracy; the same answer for all rows comes to 50.0 %" in told


def test_a_constant_formula_is_told_in_the_first_line():
    told = doubt_words(result(literals=0, formula="false", lines=[], terms=0))
    assert told is not None
    assert told.startswith("The formula is constant: it gives every row the same answer. ")
