from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given

from dnfscale.core.formula import Dnf
from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, IsTrue
from dnfscale.export.text import export_text
from dnfscale.method.words import model_lines
from tests.export import examples
from tests.export.examples import expected, formula, single


def test_one_term_a_line_with_conditions_spelled_out():
    model = formula(
        [
            Above("a", "worst_area", 686.5),
            IsTrue("s", "smoker", True),
            Equals("c", "colour", "red"),
        ],
        [[(0, True), (1, False)], [(2, True)], [(1, True), (2, False)]],
        target="class",
        positive=("malignant",),
    )
    assert export_text(model).splitlines() == [
        "class is malignant if",
        "   worst_area > 686.5 and not smoker",
        "or colour = red",
        "or smoker and colour ≠ red",
    ]


def test_several_labels_are_listed():
    model = formula(
        [IsTrue("s", "s", True)], [[(0, True)]], target="grade", positive=("a b", 2, True)
    )
    assert export_text(model).splitlines()[0] == 'grade is one of "a b", 2, true if'


def test_a_constant_formula_says_so():
    assert export_text(formula([Above("a", "x", 1)], [])) == "y is true for no row"
    assert (
        export_text(formula([Above("a", "x", 1)], [[(0, True)], []])) == "y is true for every row"
    )


def test_a_note_says_what_missing_values_do_where_there_were_some():
    negated = formula([Above("a", "x", 1)], [[(0, False)]], missing="indicator")
    assert (
        export_text(negated)
        .splitlines()[-1]
        .startswith("note: where a value is missing, a condition with ≤")
    )
    assert "note" not in export_text(single(Above("a", "x", 1), False))
    for attribute, holds in (
        (Above("a", "x", 1), True),
        (Between("a", "x", 1, 2), True),
        (IsMissing("a", "x"), False),
    ):
        assert "note" not in export_text(formula([attribute], [[(0, holds)]], missing="indicator"))


def test_the_note_is_true_of_an_interval_whichever_way_it_came_about():
    attributes = [Above("a", "x", 1), Above("b", "x", 3), Between("c", "x", 1, 3)]
    model = formula(
        attributes,
        [[(0, True), (1, False)], [(2, True)], [(1, False)], [(2, False)]],
        missing="indicator",
    )
    *lines, note = export_text(model).splitlines()
    assert lines[1:] == ["   1 < x ≤ 3", "or 1 < x ≤ 3", "or x ≤ 3", "or not (1 < x ≤ 3)"]
    assert note == (
        "note: where a value is missing, a condition with ≤ alone, ≠ or not holds, and any "
        "other comparison does not"
    )
    missing = pa.table({"x": pa.array([None], pa.float64())})
    for term, holds in zip(model.dnf.terms, (False, False, True, True), strict=True):
        assert expected(replace(model, dnf=Dnf((term,))), missing) == [holds]


@pytest.mark.slow
@given(made=examples.cases())
def test_there_is_a_line_for_each_line_that_is_read_whatever_the_names(made):
    terms = made.model.dnf.terms
    lines = export_text(made.model).split("\n")
    assert all(line.isprintable() for line in lines)
    if lines[0].endswith(" for every row"):
        # Terms that say all there is of a column make one that says nothing.
        assert len(lines) == 1
        assert set(expected(made.model, made.table)) <= {made.model.answer}
    elif terms:
        read = model_lines(made.model) if made.model.tree is None else [None]
        n_lines = len(read)
        if n_lines == 1 and read[0] is not None and read[0].at_least is not None:
            n_lines = len(read[0].literals)
        assert len([line for line in lines if not line.startswith("note: ")]) == 1 + n_lines
    else:
        assert len(lines) == 1
