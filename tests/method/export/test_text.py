from __future__ import annotations

from hypothesis import given

from dnfscale.core.vocabulary import Above, Equals, IsMissing, IsTrue
from dnfscale.method.export import export_text
from tests.method.export import examples
from tests.method.export.examples import formula, single


def test_one_term_a_line_with_conditions_spelled_out():
    model = formula(
        [Above("a", "worst_area", 686.5), IsTrue("s", "smoker", True), Equals("c", "colour", "red")],
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
    model = formula([IsTrue("s", "s", True)], [[(0, True)]], target="grade", positive=("a b", 2, True))
    assert export_text(model).splitlines()[0] == 'grade is one of "a b", 2, true if'


def test_a_constant_formula_says_so():
    assert export_text(formula([Above("a", "x", 1)], [])) == "y is true for no row"
    assert export_text(formula([Above("a", "x", 1)], [[(0, True)], []])) == "y is true for every row"


def test_a_note_says_what_missing_values_do_where_there_were_some():
    negated = formula([Above("a", "x", 1)], [[(0, False)]], missing="indicator")
    assert export_text(negated).splitlines()[-1].startswith("note: where a value is missing, a condition with ≤")
    assert "note" not in export_text(single(Above("a", "x", 1), False))
    for attribute, holds in ((Above("a", "x", 1), True), (IsMissing("a", "x"), False)):
        assert "note" not in export_text(formula([attribute], [[(0, holds)]], missing="indicator"))


@given(made=examples.cases())
def test_there_is_a_line_for_each_term_whatever_the_names(made):
    terms = made.model.dnf.terms
    lines = export_text(made.model).split("\n")
    assert all(line.isprintable() for line in lines)
    if terms and all(term.care for term in terms):
        n_lines = len(terms) if made.model.tree is None else 1
        assert len([line for line in lines if not line.startswith("note: ")]) == 1 + n_lines
    else:
        assert len(lines) == 1
