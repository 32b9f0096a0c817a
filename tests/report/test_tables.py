"""Tables of studies: what is in them, and that no name breaks out of its cell in any format."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.data.cells import defused
from dnfscale.errors import visible
from dnfscale.report.formats import Figure, Table, to_csv, to_latex, to_markdown, to_text
from dnfscale.report.tables import study_tables
from dnfscale.report.titles import paper_of
from dnfscale.results.result import parse_result
from tests.report.runs import (
    HOSTILE,
    distill_run,
    fit_run,
    from_paper,
    labels_run,
    leave_one_out_run,
    paper_run,
    plain_run,
    suite_runs,
)


def tables_of(*runs):
    return study_tables([run.read for run in runs])


def column(table, name):
    return [row[table.header.index(name)] for row in table.rows]


def test_accuracies_stand_beside_the_papers():
    table = tables_of(paper_run(), plain_run())["accuracies"]
    assert table.header == (
        "Dataset",
        "Formula",
        "Formula (paper)",
        "Random forest",
        "Random forest (paper)",
        "XGBoost",
        "XGBoost (paper)",
        "Formula size (paper)",
        "One rule",
        "Majority",
        "Literature (paper)",
    )
    assert column(table, "Dataset") == ["HeartDisease", "own-data"]
    ours, own = column(table, "Formula")
    assert (round(ours.value, 6), str(ours), str(own)) == (84.0, "84.0 ± 2.8", "84.0 ± 2.8")
    assert column(table, "Formula (paper)") == [Figure(81.2, deviation=5.0), None]
    assert column(table, "Literature (paper)") == [Figure(81.6), None]
    assert [str(cell) for cell in column(table, "Random forest")] == ["86.0 ± 2.8", "None"]


def test_a_run_that_was_not_of_the_paper_gets_no_column_of_the_papers():
    for table in tables_of(plain_run(), fit_run()).values():
        assert not any("paper" in name for name in table.header)


def test_leave_one_out_has_no_deviation():
    [cell] = column(tables_of(leave_one_out_run())["accuracies"], "Formula")
    assert cell.deviation is None
    assert cell.value == pytest.approx(100 * 41 / 62)


def test_a_fit_has_dimensions_but_no_accuracy():
    tables = tables_of(fit_run())
    assert set(tables) == {"features", "runtimes"}
    assert column(tables["runtimes"], "Splits") == [None]
    assert column(tables["features"], "Attributes used") == [Figure(3.0)]


def test_features_and_dimensions_stand_beside_the_papers():
    table = tables_of(paper_run("hepatitis", "hepatitis"))["features"]
    assert table.rows == (("Hepatitis", Figure(3.0), Figure(2.7), 12, 74, 9, 17, 200, 155),)


def test_run_times_are_given_for_all_splits_and_for_one():
    table = tables_of(paper_run())["runtimes"]
    assert table.rows == (
        (
            "HeartDisease",
            10,
            Figure(0.5, 2),
            Figure(0.05, 2),
            11,
            Figure(62.5, 1),
            Figure(6.25, 2),
            Figure(41.0, 1),
            Figure(4.1, 2),
        ),
    )


def test_the_first_formula_stands_beside_the_papers():
    [row] = tables_of(paper_run())["formulas"].rows
    assert row[2] == "(caa_0 and thall_2) or not oldpeak_above_median"
    assert row[3].startswith("(caa_0 and thall_2) or (caa_0 and not oldpeak_above_median)")


def test_comparisons_say_in_words_what_their_interval_shows():
    table = tables_of(paper_run())["comparisons"]
    assert column(table, "In words") == [
        "no difference shown",
        "Formula is more accurate",
        "no difference shown",
    ]
    assert [str(cell) for cell in column(table, "Difference")] == ["−2.0", "3.0", "5.0"]


def test_a_classifier_that_is_explained_stands_beside_its_formula():
    tables = tables_of(distill_run(), plain_run())
    assert [[str(cell) for cell in row] for row in tables["fidelities"].rows] == [
        ["explained", "84.0 ± 2.8", "81.0 ± 1.0", "93.0 ± 2.0"]
    ]
    assert tables["accuracies"].header == ("Dataset", "Formula", "Classifier explained")
    tables = tables_of(distill_run(known=False))
    assert [str(cell) for cell in tables["fidelities"].rows[0]] == [
        "explained",
        "84.0 ± 2.8",
        "None",
        "None",
    ]
    assert "accuracies" not in tables


def test_labels_come_with_recall_precision_and_what_they_are_taken_for():
    tables = tables_of(labels_run())
    assert [[str(cell) for cell in row[1:]] for row in tables["labels"].rows] == [
        ["low", "80", "100.0", "100.0", ""],
        ["middle", "90", "88.9", "88.9", "high"],
        ["high", "90", "88.9", "88.9", "middle"],
    ]
    cells = {row[1:3]: row[3] for row in tables["confusions"].rows}
    assert len(cells) == 9
    assert (cells["low", "low"], cells["middle", "high"], cells["low", "high"]) == (80, 10, 0)


def test_the_first_formulas_of_several_labels_have_a_line_each():
    table = tables_of(labels_run(), plain_run())["formulas"]
    assert column(table, "Dataset") == ["labels", "labels", "labels", "own-data"]
    assert column(table, "Label") == ["low", "middle", "high", None]


def test_the_papers_figures_are_not_those_of_other_questions_to_its_data():
    several = parse_result(from_paper(labels_run().result, "student_dropout"))
    explained = parse_result(from_paper(distill_run().result, "heart_disease"))
    assert paper_of(several) is None
    assert paper_of(explained) is None


def test_two_runs_of_one_dataset_go_by_their_own_names():
    tables = tables_of(
        paper_run(name="first"), paper_run(name="second"), paper_run("hepatitis", "third")
    )
    assert column(tables["features"], "Dataset") == ["first", "second", "Hepatitis"]


def test_csv_keeps_figures_whole_and_deviations_apart():
    table = Table(
        "t",
        ("name", "accuracy", "rows"),
        (("a", Figure(100 / 3, 1, 2.25), 1234), ("b", None, None)),
    )
    assert to_csv(table) == "name,accuracy,accuracy deviation,rows\na,33.33333333,2.25,1234\nb,,,\n"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "＝1", "\n-1"])
def test_csv_text_that_a_spreadsheet_would_run_is_defused(text):
    assert defused(text) == f"'{text}"
    [_, row] = csv.reader(io.StringIO(to_csv(Table("t", ("x",), ((text,),))), newline=""))
    assert row == [f"'{text}"]


@pytest.mark.parametrize("text", ["a=1", "not x", "(a and b)", "1-2", "", "é"])
def test_csv_text_that_is_only_text_stays_as_it_is(text):
    assert defused(text) == text


def test_a_negative_figure_is_a_number_in_csv():
    assert to_csv(Table("t", ("x",), ((Figure(-1.5),), (-2,)))) == "x\n-1.5\n-2\n"


def test_markdown_has_one_line_a_row_and_numbers_to_the_right():
    table = Table("A title", ("name", "rows"), (("a|b_c", 1234), ("x\ny", None)))
    assert to_markdown(table) == (
        "**A title**\n\n| name | rows |\n| --- | --: |\n| a\\|b\\_c | 1,234 |\n| x\\\\ny |  |\n"
    )


@pytest.mark.parametrize("width", [40, 80, 300])
def test_on_a_terminal_columns_that_do_not_fit_follow_below(width):
    header = ("Dataset", *(f"Accuracy of method {n}, %" for n in range(12)))
    rows = [(name, *(Figure(80 + n) for n in range(12))) for name in ("adult", "a" * 60)]
    written = to_text(Table("Accuracies", header, tuple(rows)), width)
    assert max(map(len, written.splitlines())) <= width
    assert (written.count("\nadult ") == 1) == (width == 300)
    assert all(written.count(f" {80 + n}.0") == 2 for n in range(12))


def test_markdown_makes_neither_links_nor_elements_of_text():
    text = to_markdown(Table("t", ("x",), (("[a](b) <img> https://x.y www.z.de `c` $d$ &amp;",),)))
    assert "\\[a\\](b) \\<img\\> https:\\//x.y www\\.z.de \\`c\\` \\$d\\$ \\&amp;" in text


def test_latex_escapes_every_sign_that_commands():
    text = to_latex(Table("50 % & more", ("a_b",), ((r"\input{x} $y$ #1 ~^ <>|\"'`[*",),)))
    assert r"\caption{50 \% \& more}" in text
    assert (
        r"\textbackslash{}input\{x\} \$y\$ \#1 \textasciitilde{}\textasciicircum{} "
        r"\textless{}\textgreater{}\textbar{}"
        r"\textbackslash{}\symbol{34}\textquotesingle{}\textasciigrave{}{[}{*}" in text
    )


def test_latex_wraps_long_text_and_aligns_numbers():
    text = to_latex(Table("t", ("a", "b", "c"), (("x" * 50, "y", 1),)))
    assert r"\begin{tabular}{>{\raggedright\arraybackslash}p{0.70\linewidth}lr}" in text


@pytest.mark.parametrize("write", [to_csv, to_markdown, to_latex])
def test_every_table_of_a_suite_is_written_in_every_format(write):
    tables = tables_of(*suite_runs())
    told = {"fidelities", "labels", "confusions"}
    assert set(tables) == {"accuracies", "features", "runtimes", "formulas", "comparisons"} | told
    for table in tables.values():
        assert write(table).count("\n") >= len(table.rows) + 1


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_no_text_adds_a_row_or_a_cell(texts):
    table = Table("t", ("a", "b"), tuple((text, 1) for text in [*texts, *HOSTILE]))
    cells = list(csv.reader(io.StringIO(to_csv(table), newline="")))
    assert [row[0].removeprefix("'") for row in cells[1:]] == [
        row[0].replace("\r", "\\r").removeprefix("'") for row in table.rows
    ]
    for line in to_markdown(table).splitlines()[2:]:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3
    body = to_latex(table).split("\\midrule\n")[1].split("\n\\bottomrule")[0].split("\n")
    assert len(body) == len(table.rows)
    for line in body:
        assert len(re.findall(r"(?<!\\)&", line)) == 1


@given(st.text())
def test_what_is_visible_is_printable_and_one_line(text):
    assert visible(text).isprintable()
    assert len(visible(text).splitlines()) <= 1


def test_a_table_with_a_ragged_row_is_refused():
    with pytest.raises(ValueError, match="must have 2 cells"):
        Table("t", ("a", "b"), (("x",),))
