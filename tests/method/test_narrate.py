"""Explanations in words: what a doctor or a clerk reads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.counts import TypeCounts, project
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import Model
from dnfscale.core.parts import Part, Unit
from dnfscale.core.quantities import Kind, Measure, Quantity
from dnfscale.core.tree import And, Or, Symbol, to_dnf
from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, IsTrue, Vocabulary
from dnfscale.method.explain import Evidence, explain_model, explain_type
from dnfscale.method.narrate import answer_words, type_words, value_words, write, write_model
from dnfscale.method.words import model_lines
from tests.method.models import models

TAU = Vocabulary(
    (
        Above("age_above_median", "age", 38.0),
        IsTrue("smoker", "smoker", True),
        Equals("colour_red", "colour", "red"),
        Equals("colour_blue", "colour", "blue"),
    )
)
COUNTS = TypeCounts(
    4, *(np.array(a, dtype=np.int64) for a in ([0b0000, 0b0011, 0b1000], [50, 20, 30], [5, 18, 21]))
)
MODEL = Model("risk", ("high",), TAU, Dnf((Term(0b0011, 0b0011), Term(0b1000, 0b1000))), COUNTS)
"""Older smokers, or blue."""


def test_an_accepted_row_is_told_its_line_its_like_and_the_way_out():
    values = {"age": 52, "smoker": True, "colour": "green"}
    assert write(MODEL, explain_type(MODEL, 0b0011), values) == (
        "The formula says yes: risk = high.\n"
        "\n"
        "Line 1 of its 2 lines holds:\n"
        "  1. age > 38 and smoker\n"
        "     here: age = 52, smoker\n"
        "\n"
        "Rows like this one (age > 38, smoker, colour not in {blue, red}):\n"
        "  20 of the 100 rows learned from; 18 of them (90.0 %) had risk = high\n"
        "\n"
        "The smallest change that turns the answer to no:\n"
        "  age ≤ 38, instead of age = 52\n"
        "It would then be like\n"
        "  none of the 100 rows learned from; for combinations without rows the formula says no\n"
    )


def test_a_row_is_told_what_settles_the_answer_of_a_formula_of_bounded_size():
    tree = Or(And(Symbol(0), Symbol(1)), Symbol(3))
    model = replace(MODEL, dnf=to_dnf(tree), tree=tree, unseen="dont_care")
    assert write(
        model, explain_type(model, 0b0001), {"age": 52, "smoker": False, "colour": "green"}
    ) == (
        "The formula says no: risk ≠ high.\n"
        "\n"
        "It asks for\n"
        "  (age > 38 and smoker) or colour = blue\n"
        "This settles it, whatever else is the case:\n"
        "  not smoker and colour ≠ blue\n"
        "     here: not smoker, colour = green\n"
        "\n"
        "Rows like this one (age > 38, not smoker, colour not in {blue, red}):\n"
        "  none of the 100 rows learned from; for combinations without rows the formula says "
        "whatever makes it shortest\n"
        "\n"
        "The smallest change that turns the answer to yes:\n"
        "  smoker, instead of not smoker\n"
        "It would then be like\n"
        "  20 of the 100 rows learned from; 18 of them (90.0 %) had risk = high\n"
    )
    told = write_model(model, explain_model(model))
    assert told.startswith(
        "risk = high when\n"
        "  (age > 38 and smoker) or colour = blue\n"
        "\n"
        "That is, when at least one of these 2 lines holds:\n"
        "  1. age > 38 and smoker\n"
        "     20 rows, 18 positive (90.0 %"
    )


def test_a_rejected_row_is_told_where_each_line_fails_and_the_way_out():
    values = {"age": 20, "smoker": False, "colour": "red"}
    assert write(MODEL, explain_type(MODEL, 0b0100), values) == (
        "The formula says no: risk ≠ high.\n"
        "\n"
        "All of its 2 lines fail:\n"
        "  1. asks for age > 38, but age = 20\n"
        "  2. asks for colour = blue, but colour = red\n"
        "\n"
        "Rows like this one (age ≤ 38, not smoker, colour = red):\n"
        "  none of the 100 rows learned from; for combinations without rows the formula says no\n"
        "\n"
        "The smallest change that turns the answer to yes:\n"
        "  colour = blue, instead of colour = red\n"
        "It would then be like\n"
        "  30 of the 100 rows learned from; 21 of them (70.0 %) had risk = high\n"
    )


def test_without_values_the_conditions_speak_for_themselves():
    text = write(MODEL, explain_type(MODEL, 0b0000))
    assert "  1. asks for age > 38, but age ≤ 38\n" in text
    assert "  colour = blue\n" in text
    assert "here:" not in text
    assert "  2. asks for colour = blue, but colour = red\n" in write(
        MODEL, explain_type(MODEL, 0b0100)
    )


def test_several_lines_that_hold_are_all_told():
    text = write(MODEL, explain_type(MODEL, 0b1011))
    assert "2 of its 2 lines hold:\n  1. age > 38 and smoker\n  2. colour = blue\n" in text
    assert "to no:\n  age ≤ 38\n  colour not in {blue, red}\n" in text


def test_a_missing_value_is_told_and_what_follows():
    values = {"age": None, "smoker": True, "colour": "red"}
    text = write(MODEL, explain_type(MODEL, 0b0110), values)
    assert "  1. asks for age > 38, but age is missing\n" in text
    assert (
        "\n\nage is missing: a condition on a value that is missing does not hold, and its "
        "opposite does."
    ) in text
    assert "Rows with missing values were not learned from." in text
    kept = write(replace(MODEL, missing="indicator"), explain_type(MODEL, 0b0110), values)
    assert "Rows with missing values" not in kept


@pytest.mark.parametrize(("terms", "word"), [((), "no"), ((Term(0, 0),), "yes")])
def test_a_constant_formula_has_no_reasons_and_no_way_out(terms, word):
    model = replace(MODEL, dnf=Dnf(terms))
    text = write(model, explain_type(model, 0))
    assert f"The formula says {word}" in text
    assert "It says so of every row." in text
    assert f"No change would turn the answer to {'yes' if word == 'no' else 'no'}." in text
    assert f"the formula says {word} for every row" in write_model(model, explain_model(model))


def test_types_not_seen_under_dont_care_are_said_to_be_free():
    text = write(replace(MODEL, unseen="dont_care"), explain_type(MODEL, 0b0100))
    assert (
        "none of the 100 rows learned from; for combinations without rows the formula says "
        "whatever makes it shortest"
    ) in (text)


def test_a_model_is_told_line_by_line_with_what_the_rows_say():
    shared = TypeCounts(
        4,
        *(
            np.array(a, dtype=np.int64)
            for a in ([0, 0b0011, 0b1000, 0b1011], [50, 20, 30, 4], [5, 18, 21, 4])
        ),
    )
    model = replace(MODEL, counts=shared)
    facts = explain_model(model)
    (_, first), (_, second) = facts.lines

    def outward(term: Evidence) -> str:
        return f"{100 * term.low - 0.05:.1f} to {100 * term.high + 0.05:.1f} %"

    assert write_model(model, facts) == (
        "risk = high when at least one of these 2 lines holds:\n"
        "  1. age > 38 and smoker\n"
        f"     24 rows, 22 positive (91.7 %, interval {outward(first)}); "
        "20 of them satisfy no other line\n"
        "  2. colour = blue\n"
        f"     34 rows, 25 positive (73.5 %, interval {outward(second)}); "
        "30 of them satisfy no other line\n"
        "\n"
        "Positive means risk = high. With probability at least 95 % all intervals hold for "
        "new cases from the same "
        "source, allowing for the lines having been picked by these rows; not for the "
        "attributes, which were chosen on "
        "the same rows: a little optimistic.\n"
        "\n"
        "Of the 104 rows learned from, 48 are positive; the formula covers 54 (51.9 %), 4 "
        "of them by several lines, "
        "and is right for 88 (84.6 %), a little too favourable for other rows.\n"
        "\n"
        "Its 4 attributes tell 8 possible types of rows apart; 4 were never seen, and of "
        "these the formula accepts "
        "2.\n"
    )


def test_one_attribute_tells_types_apart_and_several_tell():
    model = replace(
        MODEL,
        tau=Vocabulary(MODEL.tau.attributes[:1]),
        dnf=Dnf((Term(1, 1),)),
        counts=project(MODEL.counts, [0]),
    )
    assert "Its 1 attribute tells 2 possible types of rows apart;" in write_model(
        model, explain_model(model)
    )
    assert "Its 4 attributes tell 8 possible types of rows apart;" in write_model(
        MODEL, explain_model(MODEL)
    )


def test_rows_with_weights_are_counted_by_their_weight():
    weighed = replace(MODEL, unit=8, weighted=True)
    text = write_model(weighed, explain_model(weighed))
    assert "weight 2.5, 2.25 positive (90.0 %)\n" in text
    assert "Rows are counted by their weight." in text
    assert "interval" not in text
    assert "2.5 of the weight 12.5 learned from; 2.25 of them (90.0 %)" in write(
        weighed, explain_type(weighed, 0b0011)
    )


@pytest.mark.parametrize(
    ("positive", "yes", "no"),
    [
        (("a",), "y = a", "y ≠ a"),
        (("a", "b c"), 'y = a or y = "b c"', 'y ≠ a and y ≠ "b c"'),
        ((True,), "y", "not y"),
        ((False,), "not y", "y"),
        ((1,), "y = 1", "y ≠ 1"),
    ],
)
def test_the_answer_is_told_by_the_labels(positive, yes, no):
    model = replace(MODEL, target="y", positive=positive)
    assert (answer_words(model, True), answer_words(model, False)) == (yes, no)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "x is missing"),
        (2.5, "x = 2.5"),
        (3.0, "x = 3"),
        ("red", "x = red"),
        (True, "x"),
        (False, "not x"),
    ],
)
def test_a_value_is_told_as_a_condition_would_be(value, words):
    assert value_words("x", value) == words


def test_a_number_between_its_cuts_is_told_by_the_nearest():
    cuts = tuple(Above(f"x{cut}", "x", cut) for cut in (10, 30, 20, 40))
    model = replace(
        MODEL, tau=Vocabulary((*cuts, IsMissing("gone", "x"))), counts=replace(COUNTS, ell=5)
    )
    assert type_words(model, 0b00101) == "20 < x ≤ 30"
    assert type_words(model, 0b00000) == "x ≤ 10, x is not missing"
    assert type_words(model, 0b10000) == "x is missing"


def test_an_interval_is_told_as_one_condition():
    tau = Vocabulary((Between("bmi_p20_to_p80", "bmi", 12.5, 30.0),))
    counts = TypeCounts(1, np.array([0, 1]), np.array([4, 6]), np.array([1, 5]))
    model = Model("risk", ("high",), tau, Dnf((Term(1, 1),)), counts)
    told = write(model, explain_type(model, 0), {"bmi": 30.5})
    assert "  1. asks for 12.5 < bmi ≤ 30, but bmi = 30.5\n" in told
    assert "Rows like this one (not (12.5 < bmi ≤ 30)):\n" in told
    assert "  12.5 < bmi ≤ 30, instead of bmi = 30.5\n" in told
    assert "  1. 12.5 < bmi ≤ 30\n     here: bmi = 20\n" in write(
        model, explain_type(model, 1), {"bmi": 20}
    )


def test_a_date_that_changes_is_told_with_its_parts():
    cut, part = Quantity(Measure(Kind.DATE, 1), 18_336), Part("d", Unit.MONTH)
    tau = Vocabulary((Above("d_above", "d", cut), Equals("d_month_April", part, "April")))
    counts = TypeCounts(2, np.array([0b00, 0b01, 0b11]), np.array([4, 6, 5]), np.array([0, 5, 0]))
    model = Model("y", (True,), tau, Dnf((Term(0b11, 0b01),)), counts)
    values = {"d": Quantity(cut.measure, cut.ticks - 1), part: "March"}
    assert (
        "The smallest change that turns the answer to yes:\n"
        "  d > 2020-03-15, instead of d = 2020-03-14\n"
        "  month of d ≠ April, as it is\n"
    ) in write(model, explain_type(model, 0b00), values)
    assert "to no:\n  d ≤ 2020-03-15\n  month of d ≠ April, as it is\n" in write(
        model, explain_type(model, 0b01)
    )
    assert "to yes:\n  d > 2020-03-15, as it is\n  month of d ≠ April\n" in write(
        model, explain_type(model, 0b11)
    )
    assert "tell 3 possible types of rows apart; all of them were seen." in write_model(
        model, explain_model(model)
    )


@given(models(), st.data())
def test_there_are_words_for_everything(model, data):
    code = data.draw(st.integers(0, (1 << len(model.tau)) - 1))
    explanation = explain_type(model, code)
    text = write(model, explanation)
    if model.tree is None:
        assert text.count(". asks for ") == (0 if explanation.accepted else len(model_lines(model)))
    else:
        assert ("This settles it" in text) == (model.dnf.n_literals > 0)
    assert ("No change would turn" in text) == (explanation.flip is None)
    assert f"Its {len(model.tau)} attribute" in write_model(model, explain_model(model))


CHECKLIST = replace(
    MODEL,
    dnf=Dnf((Term(0b1111, 0b1011, 2),)),
    counts=TypeCounts(
        4, *(np.array(a, dtype=np.int64) for a in ([0, 1, 3], [50, 20, 30], [5, 4, 27]))
    ),
    types="signs",
)
"""At least two of: older, a smoker, not red, blue."""


def test_a_row_is_told_how_many_signs_of_a_checklist_hold_and_the_smallest_change():
    values = {"age": 52, "smoker": False, "colour": "red"}
    assert write(CHECKLIST, explain_type(CHECKLIST, 0b0101), values) == (
        "The formula says no: risk ≠ high.\n"
        "\n"
        "1 of 4 signs holds, 2 are needed:\n"
        "  yes  age > 38; here: age = 52\n"
        "  no   smoker; here: not smoker\n"
        "  no   colour ≠ red; here: colour = red\n"
        "  no   colour = blue; here: colour = red\n"
        "\n"
        "Rows like this one (1 of 4 signs holds):\n"
        "  20 of the 100 rows learned from; 4 of them (20.0 %) had risk = high\n"
        "\n"
        "The smallest change that turns the answer to yes:\n"
        "  smoker, instead of not smoker\n"
        "It would then be like\n"
        "  30 of the 100 rows learned from; 27 of them (90.0 %) had risk = high\n"
    )


def test_a_checklist_is_told_with_what_each_number_of_signs_came_to():
    told = write_model(CHECKLIST, explain_model(CHECKLIST))
    assert told.startswith(
        "risk = high when at least 2 of these 4 signs hold:\n"
        "  - age > 38\n"
        "  - smoker\n"
        "  - colour ≠ red\n"
        "  - colour = blue\n"
        "\n"
        "Of the rows learned from, by how many signs hold:\n"
        "  0: 50 rows, 5 positive (10.0 %, interval 2.2 to 25.9 %); the answer is no\n"
        "  1: 20 rows, 4 positive (20.0 %, interval 3.5 to 50.7 %); the answer is no\n"
        "  2: 30 rows, 27 positive (90.0 %, interval 67.9 to 98.9 %); the answer is yes\n"
        "  3: 0 rows; the answer is yes\n"
        "  4: 0 rows; the answer is yes\n"
    )
    assert told.endswith("3 numbers of signs occurred, of 5 possible.\n")
