"""What the report says of several labels, of classifiers that are explained, and
of certificates.
"""

from __future__ import annotations

import copy
import re

import pytest

from dnfscale.errors import visible
from dnfscale.report.cards.certificate import certified_words
from dnfscale.report.shaded import Labels, shade
from dnfscale.report.wording import accuracy_words, comparison_words
from dnfscale.results.certificate import read_certificate
from tests.report.pages import Document
from tests.report.runs import (
    HOSTILE,
    Made,
    certificate,
    certified_run,
    distill_run,
    labels_fit_run,
    labels_run,
    made,
    page_of,
    plain_run,
    views_of,
)


def text_of(*runs: Made) -> str:
    return re.sub(r"\s+", " ", Document(page_of(runs)).text)


def test_each_label_has_its_formula_with_the_rows_behind_each_line():
    text = text_of(labels_run())
    for label in ("low", "middle", "high"):
        assert f"risk = {label}" in text
    assert text.count("50 rows, 78 % with this label") == 3
    assert text.count("Otherwise another label.") == 3
    assert "Predict risk with one formula for each label." in text
    assert "10 folds, from 92.3 % to 92.3 %" in text
    assert "Always giving the most frequent label is right for 33.5 % of the rows." in text
    assert "all of one formula hold" in text


def test_what_several_labels_have_no_slider_for_is_told_with_what_to_set():
    text = text_of(labels_run())
    assert "How long a formula?" not in text
    assert "set data.positive to the label, and leave out data.classes" in text
    assert "leave out data.classes" not in text_of(plain_run())


def test_formulas_of_many_labels_are_folded():
    few, many = page_of([labels_run(range(4))]), page_of([labels_run(range(5))])
    assert few.count("<h3><bdi>risk = ") == 4
    assert many.count("<h3><bdi>risk = ") == 0
    assert many.count('<summary><span class="plain"><bdi>risk = ') == 5


def test_the_confusion_of_all_folds_is_a_table_with_its_diagonal_in_another_shade():
    page = page_of([labels_run()])
    [matrix] = re.findall(r'<table class="shaded"><caption><span>Test rows: lines.*?</table>', page)
    rows = re.findall(r'<th scope="row".*?</tr>', matrix)
    cells = [re.findall(r'<td class="(\w+?)(?:-\d)?">([\d,]+)</td>', row) for row in rows]
    assert cells == [
        [("hit", "80"), ("nought", "0"), ("nought", "0")],
        [("nought", "0"), ("hit", "80"), ("miss", "10")],
        [("nought", "0"), ("miss", "10"), ("hit", "80")],
    ]
    assert "240 right (92.3 %)" in text_of(labels_run())


def test_columns_of_many_or_long_labels_go_by_numbers_and_are_named_to_those_who_listen():
    assert not Labels(tuple(map(str, range(12)))).are_numbered
    assert not Labels(("barbera", "barolo", "grignolino")).are_numbered
    assert Labels(
        ("barbera", "barolo", "grignolino", "nebbiolo", "dolcetto", "freisa")
    ).are_numbered
    long = Labels(("a", "a name of a label that is far too long to stand above a column"))
    assert long.are_numbered
    assert long.column(1).startswith(
        '<span class="number" aria-hidden="true">2</span><span class="unseen">'
    )
    assert "…" in long.row(1)


def test_shades_are_none_for_nothing_and_darkest_for_all():
    assert [shade("hit", share) for share in (0, 1e-9, 0.2, 0.21, 1)] == [
        None,
        "hit-1",
        "hit-1",
        "hit-2",
        "hit-5",
    ]


def test_stability_counts_folds_by_label():
    text = text_of(labels_run())
    assert "4 attributes chosen for any label in any of 10 folds." in text
    assert "age_above_median101010" in text
    assert "height_above_median555" in text


def test_a_fit_of_labels_says_nothing_of_tests():
    text = text_of(labels_fit_run())
    assert "risk = low" in text
    assert "taken for" not in text
    assert "in the test folds" not in text


def test_hostile_labels_are_shown_whole_once_and_do_nothing():
    page = page_of([labels_run(HOSTILE)])
    assert Document(page).scripts == ["application/json", None]
    assert "<img" not in page
    assert "\u202e" not in page
    text = Document(page).text
    for label in HOSTILE:
        assert f"risk = {visible(label)}" in text


@pytest.mark.slow
@pytest.mark.parametrize("k", range(2, 13))
def test_any_number_of_labels_is_reported(k):
    text = text_of(labels_run([f"label {i}" for i in range(k)]), labels_run(list(range(k))))
    assert f"risk = label {k - 1}" in text
    assert f"{k} formulas, {2 * k} lines" in text


@pytest.mark.parametrize("gone", ["data", "confusion", "model", "sweep", "formulas", "everything"])
def test_results_of_labels_that_record_less_are_reported(gone):
    run = labels_run()
    result = copy.deepcopy(run.result)
    ideal = result["methods"]["ideal"]
    if gone == "data":
        del result["data"]["classes"]
    for fold in ideal["folds"]:
        if gone in ("confusion", "everything"):
            del fold["confusion_matrix"]
        if gone == "formulas":
            del fold["formulas"]
        if gone in ("sweep", "everything"):
            for entry in fold["formulas"]:
                entry |= {"sweep": [], "lines": None}
    if gone in ("model", "everything"):
        del ideal["model"]
    page = page_of([made("x", result, None if gone in ("model", "everything") else run.model)])
    assert "84.0 %" in Document(page).text
    # Without the labels of the data nothing says whose rows the lines of a matrix are.
    assert ("Which labels are taken for which?" in page) is (
        gone not in ("data", "confusion", "everything")
    )


def test_fidelity_comes_first_and_says_what_it_is():
    text = text_of(distill_run())
    assert text.index("Fidelity: answers as the classifier84.0 %± 2.8 over 10 folds") < text.index(
        "By this formula"
    )
    assert (
        "By this formula, the classifier answers yes when at least one of these 2 lines holds"
        in text
    )
    assert "Otherwise it answers no." in text
    assert "50 rows, 78 % answered yes" in text
    assert "validation fidelity, %" in text
    outcome = views_of([distill_run()])[0].result
    assert accuracy_words(outcome) == [
        "Formulas learned this way, each tested on rows it had not seen, answered as the "
        "classifier does for 84.0 % of "
        "them on average (10 folds, from 80.0 % to 88.0 %, standard deviation 2.8 points).",
        "This is the fidelity: how well the formula stands in for the classifier, right or wrong.",
        "Against the truth, the formula is right for 81.0 % of these rows and the "
        "classifier for 93.0 %; if it was "
        "trained on some of them, it looks better here than it is.",
    ]
    [compared] = comparison_words(outcome)
    assert compared.startswith("Classifier explained 93.0 %: it is more accurate")


def test_where_the_truth_is_not_known_no_accuracy_is_told():
    page = page_of([distill_run(known=False)])
    text = Document(page).text
    assert (
        "How often either of them is right was not measured: the true answers are not known."
        in text
    )
    assert "Accuracy of the" not in text
    assert "failed" not in text
    assert 'id="accuracy"' not in page
    assert 'id="methods"' not in page
    assert "84.0" in text_of(distill_run(known=False), plain_run())


def test_the_certificates_of_folds_are_summed_up_as_promises_and_the_models_is_none():
    text = text_of(certified_run())
    promises, described = text.split("The formula of all rows")[-2:]
    assert (
        "checked on its own test rows (20 a fold), which had no part in choosing it, so these"
        in promises
    )
    assert "Test rows with a certified answer, %40.062.585.0" in promises
    assert "All cases with a certified answer: at least, %20.031.242.5" in promises
    assert "same attributes: at most, %10.014.619.1" in promises
    assert "at least 95 % by themselves, not those of all folds at once" in promises
    assert "No guarantee: the attributes were chosen by looking at the same 200 rows" in described
    assert (
        "The answer is certified for 2 of these, to which 60.0 % of the rows belong." in described
    )
    assert "could be right for at most 3.2 % more of all cases" in described
    assert "of the population" not in described


def test_promises_are_not_rounded_in_their_favour():
    record = {
        **certificate(50),
        "certified_mass_at_least": 0.51299,
        "excess_error_at_most": 0.03201,
    }
    first, second = certified_words(read_certificate(record))
    assert first.endswith("60.0 % of the rows belong, and at least 51.2 % of the population.")
    assert "at most 3.3 % more" in second
    record = {**record, "excess_error_at_most": 1.0, "types_refuted": 1}
    assert certified_words(read_certificate(record))[1:] == [
        "For 1 the opposite answer is certified to be better.",
        (
            "The rows are too few to say how much better another formula of the same "
            "attributes could be."
        ),
    ]


def test_test_parts_too_small_to_certify_say_so():
    run = certified_run()
    for fold in run.result["methods"]["ideal"]["folds"]:
        fold["formulas"][0]["certificate"] = certificate(1, share=0.0, excess=1.0)
    text = text_of(run)
    assert "They are too few to certify any answer." in text
    assert "guarantees." not in text


def test_certificates_that_are_missing_or_of_rows_that_chose_promise_nothing():
    run = certified_run()
    folds = run.result["methods"]["ideal"]["folds"]
    [first] = folds[0]["formulas"]
    del first["certificate"]
    assert "On rows put aside" not in text_of(run)
    first["certificate"] = certificate(20, own=True)
    assert "On rows put aside" not in text_of(run)
    assert 'id="certificate"' not in page_of([made("x", run.result)])


def test_an_older_certificate_still_warns_and_tells_the_theorem():
    text = text_of(plain_run())
    assert "No guarantee:" in text
    assert "with 200 rows drawn independently" in text
    assert "by at least 0.206." in text or "by at least 0.207." in text


def three_kinds(n: int = 120) -> dict[str, list[object]]:
    """A table of three labels that two columns tell apart, one of them with a name that is no
    good.
    """
    kinds = ["<b>red</b>", "green", "blue"]
    return {
        "x": [float(i % 3 == 0) * 5 + i % 2 for i in range(n)],
        "z": [float(i % 3 == 1) * 7 + i % 5 for i in range(n)],
        "kind": [kinds[i % 3] for i in range(n)],
    }


def test_a_job_of_several_labels_writes_its_report_alone_and_in_a_suite(desk):
    desk.table(three_kinds())
    several = {"kind": "study", "data": {"target": "kind", "classes": "all"}, "folds": {"outer": 4}}
    assert desk.run(**several).code == 0
    page = (desk.folder() / "report.html").read_text(encoding="utf-8")
    assert "Which labels are taken for which?" in page
    assert "<b>" not in page
    assert {"confusion.svg", "sweep-3.svg"} <= {
        file.name for file in (desk.folder() / "figures").iterdir()
    }
    desk.spec(name="again", file="again.toml", **several)
    suite = 'schema_version = 1\nname = "both"\nkind = "suite"\njobs = ["job.toml", "again.toml"]\n'
    ended = desk.here("run", desk.spec(suite + '[cluster]\nkind = "serial"\n', file="suite.toml"))
    assert ended.code == 0, ended.err
    assert (desk.folder("both") / "tables" / "labels.csv").is_file()
    assert "3 formulas" in (desk.folder("both") / "report.html").read_text(encoding="utf-8")
    assert (
        desk.here("report", desk.folder(), desk.folder("both"), "--output", "joint.html").code == 0
    )
    assert (desk.path / "joint.html").read_text(encoding="utf-8").count("<article") == 3
