"""The report: well formed, self-contained, safe whatever the names, and saying what the figures
say.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from dnfscale.core.formula import Dnf, Term
from dnfscale.core.parts import Part, Unit
from dnfscale.core.quantities import Quantity, parse_measure, parse_quantity
from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, IsTrue
from dnfscale.data.models import model_text, parse_model
from dnfscale.errors import visible
from dnfscale.method import words
from dnfscale.method.certificate import certified
from dnfscale.method.intervals import term_intervals
from dnfscale.method.literals import Scales
from dnfscale.method.words import Condition
from dnfscale.report.cards.acting import acting_table
from dnfscale.report.cards.curve import curve_of
from dnfscale.report.cards.deciding import deciding_card
from dnfscale.report.cards.formula import (
    Support,
    chip,
    condition,
    conditions,
    evidence,
    exact_value,
    grouped,
    shown_formula,
)
from dnfscale.report.cards.lengths import by_length, lengths_table
from dnfscale.report.charts import Axis, difference_axis, log_axis
from dnfscale.report.markup import Html, element, name_of
from dnfscale.report.measured import round_share
from dnfscale.report.parts import Place
from dnfscale.report.style import SCRIPT
from dnfscale.report.wording import (
    accuracy_words,
    comparison_words,
    duration,
    length_words,
    signed,
    suite_words,
    summary_words,
)
from dnfscale.results.formula import Formula
from tests.judges import by_lines
from tests.report.pages import Document
from tests.report.runs import (
    HOSTILE,
    PLAIN,
    Made,
    certified_run,
    distill_run,
    figures_of,
    fit_run,
    formula_record,
    from_paper,
    hostile_run,
    labels_fit_run,
    labels_run,
    leave_one_out_run,
    lengths_run,
    made,
    model,
    page_of,
    paper_run,
    plain_run,
    study,
    suite_runs,
    views_of,
    with_supports,
)

PAGES = {
    "study": lambda: page_of([plain_run()]),
    "paper": lambda: page_of([paper_run()]),
    "fit": lambda: page_of([fit_run()]),
    "leave-one-out": lambda: page_of([leave_one_out_run()]),
    "no-model": lambda: page_of([made("own", plain_run().result)]),
    "refused-model": lambda: page_of(
        [made("own", plain_run().result, {**model(PLAIN), "formula": HOSTILE[0]})]
    ),
    "hostile": lambda: page_of([hostile_run()]),
    "hostile-suite": lambda: page_of(
        [hostile_run(), made(HOSTILE[6], hostile_run().result)],
        [(HOSTILE[0], HOSTILE[6] + "\nsecond line")],
        title=HOSTILE[6],
    ),
    "suite": lambda: page_of(suite_runs(), [("adult", "no such file")], title="paper"),
    "lengths": lambda: page_of([lengths_run()]),
    "certified": lambda: page_of([certified_run()]),
    "distill": lambda: page_of([distill_run()]),
    "distill-unknown": lambda: page_of([distill_run(known=False)]),
    "labels": lambda: page_of([labels_run()]),
    "labels-2": lambda: page_of([labels_run((0, 1))]),
    "labels-12": lambda: page_of([labels_run(range(12))]),
    "labels-fit": lambda: page_of([labels_fit_run()]),
    "labels-leave-one-out": lambda: page_of([labels_run(folds=40)]),
    "labels-no-model": lambda: page_of([made("own", labels_run().result)]),
    "labels-hostile": lambda: page_of([labels_run(HOSTILE)]),
    "only-failures": lambda: page_of([], [("adult", "no such file")]),
}


@pytest.fixture(scope="module", params=PAGES)
def page(request):
    return PAGES[request.param]()


@pytest.mark.slow
def test_elements_close_as_they_open_and_ids_are_unique(page):
    document = Document(page)
    ids = [attributes["id"] for _, attributes in document.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert page.startswith("<!DOCTYPE html>")


def drawings(page: str) -> list[str]:
    """Return the drawings of a page, each with the drawings inside it."""
    found, depth, start = [], 0, 0
    for match in re.finditer(r"<svg\b|</svg>", page):
        if match[0] == "</svg>":
            depth -= 1
            found += [page[start : match.end()]] if depth == 0 else []
        else:
            start = match.start() if depth == 0 else start
            depth += 1
    assert depth == 0
    return found


def test_every_drawing_is_xml_with_a_name_and_a_description_or_hidden(page):
    roots = [ElementTree.fromstring(drawing) for drawing in drawings(page)]
    named = [root for root in roots if root.get("role") == "img"]
    assert len(named) == page.count('role="img"')
    for root in named:
        texts = {child.get("id"): child.text for child in root if child.tag in ("title", "desc")}
        assert all(texts[key] for key in root.get("aria-labelledby").split())
    assert all(root.get("aria-hidden") == "true" for root in roots if root not in named)


@pytest.mark.slow
def test_nothing_in_the_page_is_fetched_and_only_our_script_is_run(page):
    document = Document(page)
    tags = {tag for tag, _ in document.elements}
    assert not tags & {
        "img",
        "link",
        "iframe",
        "object",
        "embed",
        "base",
        "image",
        "use",
    }
    for tag, attributes in document.elements:
        assert not any(
            name.startswith("on") or name in {"src", "srcset", "style", "action"}
            for name in attributes
        ), tag
        assert attributes.get("href", "#").startswith("#")
    [script] = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    assert script == SCRIPT
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document.write|eval|fetch|XMLHttp", script
    )
    style = re.search(r"<style>(.*?)</style>", page, flags=re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_no_address_with_a_scheme_is_in_the_page(page):
    assert re.findall(r"[a-zA-Z][a-zA-Z0-9+.-]*://", page) == []


@pytest.mark.slow
def test_the_policy_allows_the_one_style_sheet_and_the_one_script_and_nothing_else(page):
    [policy] = [
        m["content"]
        for m in Document(page).all("meta")
        if m.get("http-equiv") == "Content-Security-Policy"
    ]
    digests = []
    for tag in ("style", "script"):
        [text] = re.findall(f"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digests.append(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


@pytest.mark.slow
def test_links_lead_somewhere_and_labels_name_something(page):
    document = Document(page)
    ids = {attributes["id"] for _, attributes in document.elements if "id" in attributes}
    for _, attributes in document.elements:
        if "href" in attributes:
            assert attributes["href"][1:] in ids
        assert set((attributes.get("aria-labelledby") or "").split()) <= ids


@pytest.mark.slow
def test_headings_come_in_order_and_landmarks_are_there(page):
    document = Document(page)
    levels = [int(tag[1]) for tag, _ in document.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(document.all("main")) == len(document.all("nav")) == len(document.all("footer")) == 1


@pytest.mark.slow
def test_tables_have_captions_and_scopes_and_scroll_in_a_box_of_their_own(page):
    document = Document(page)
    assert (
        len(document.all("caption")) == len(document.all("table")) == page.count('class="scroll"')
    )
    assert all(cell.get("scope") in ("col", "row") for cell in document.all("th"))
    boxes = [
        attributes for attributes in document.all("div") if attributes.get("class") == "scroll"
    ]
    assert all(
        box["tabindex"] == "0" and box["role"] == "group" and box["aria-label"] for box in boxes
    )


def test_hostile_names_are_shown_and_do_nothing():
    page = PAGES["hostile-suite"]()
    document = Document(page)
    assert {*document.scripts} <= {"application/json", None}
    assert document.scripts.count(None) == 1
    assert "<img" not in page
    for name in HOSTILE:
        assert visible(name) in document.text
    assert "\x00" not in page
    assert "\u202e" not in page
    assert "second line" in document.text


@given(st.text(), st.text())
def test_text_in_an_element_comes_out_as_it_went_in(text, value):
    document = Document(element("p", text, name_of(value), title=value))
    assert document.text == visible(text) + visible(value)
    assert document.elements[0] == ("p", {"title": visible(value)})


def test_markup_is_not_escaped_twice_and_flags_stand_alone():
    assert element("p", Html("<b>x</b>"), None, "<", open=True, hidden=False, id=None) == (
        '<p open="open"><b>x</b>&lt;</p>'
    )


def shown_together(attributes: list[Any], literals: list[tuple[int, bool]]) -> list[Condition]:
    return conditions(Scales(tuple(attributes)).said(literals))


def quantity(text: str, measure: str) -> Quantity:
    return parse_quantity(text, parse_measure(measure))


@pytest.mark.parametrize(
    ("attribute", "holds", "negated"),
    [
        (Above("a", "x", 16.8), "x > 16.8", "x ≤ 16.8"),
        (Above("a", "x", -38), "x > -38", "x ≤ -38"),
        (Above("a", "x", math.inf), "x > inf", "x ≤ inf"),
        (Above("a", "x", None), "x > nothing", "x ≤ nothing"),
        (Above("a", "day", quantity("2024-02-29", "date")), "day > 2024-02-29", "day ≤ 2024-02-29"),
        (Above("a", "price", quantity("9.5", "decimal[2]")), "price > 9.5", "price ≤ 9.5"),
        (
            Above("a", Part("seen", Unit.HOUR, "UTC"), 17),
            "hour of seen (UTC) > 17",
            "hour of seen (UTC) ≤ 17",
        ),
        (Between("a", "x", -math.inf, 2.5), "-inf < x ≤ 2.5", "not (-inf < x ≤ 2.5)"),
        (Between("a", "x", None, None), "x > nothing", "x ≤ nothing"),
        (Equals("a", "city", "Oslo"), "city = Oslo", "city ≠ Oslo"),
        (Equals("a", "city", "inf"), "city = inf", "city ≠ inf"),
        (Equals("a", "k", math.inf), "k = inf", "k ≠ inf"),
        (Equals("a", "k", -math.inf), "k = -inf", "k ≠ -inf"),
        (Equals("a", "k", 3), "k = 3", "k ≠ 3"),
        (Equals("a", "city", True), "city", "not city"),
        (Equals("a", "city", False), "city = false", "city ≠ false"),
        (
            Equals("a", Part("seen", Unit.WEEKDAY), "Monday"),
            "weekday of seen = Monday",
            "weekday of seen ≠ Monday",
        ),
        (IsTrue("a", "flag", True), "flag", "not flag"),
        (IsTrue("a", "flag", False), "flag = false", "flag ≠ false"),
        (IsTrue("a", "sex", 2), "sex = 2", "sex ≠ 2"),
        (IsTrue("a", "sex", "m"), "sex = m", "sex ≠ m"),
        (IsMissing("a", "x"), "x is missing", "x is not missing"),
    ],
)
def test_the_page_says_of_an_attribute_what_files_and_the_terminal_say(attribute, holds, negated):
    for value, shown in ((True, holds), (False, negated)):
        [asked] = conditions(Scales((attribute,)).alone(0, value))
        assert Document(chip(asked)).text == asked.text == shown
        assert asked.negated is not value
        assert words.condition(attribute, value) == shown
    assert condition(attribute) == holds


@pytest.mark.parametrize(
    ("attribute", "shown", "exact"),
    [
        (Above("a", "x", -1234567.25), "x > -1234567", "-1234567.25"),
        (Above("a", "x", 38.0), "x > 38", "38"),
        (Above("a", "x", None), "x > nothing", ""),
        (Between("a", "x", 1.23456789, math.inf), "x > 1.23457", "1.23456789, inf"),
        (Equals("a", "two words", "dark red"), "two words = dark red", "dark red"),
        (Equals("a", "x", ""), 'x = ""', '""'),
        (Equals("a", "x", "  "), 'x = "  "', '"  "'),
        (Equals("a", "k", math.inf), "k = inf", "inf"),
        (IsTrue("a", "flag", True), "flag", "true"),
        (IsMissing("a", "x"), "x is missing", ""),
    ],
)
def test_a_condition_has_six_digits_and_its_definition_all(attribute, shown, exact):
    assert condition(attribute) == shown
    assert exact_value(attribute) == exact


@pytest.mark.parametrize(
    ("literals", "shown"),
    [
        ([(0, True)], ["x > 1.5"]),
        ([(0, False)], ["x ≤ 1.5"]),
        ([(2, False), (3, True)], ["-2 < x ≤ 4"]),
        ([(1, True), (2, False), (3, False)], ["x > 3", "x ≤ 4", "not (-2 < x ≤ 9)"]),
        ([(2, False), (1, False)], ["x ≤ 3"]),
        ([(2, False), (3, True), (1, True)], ["3 < x ≤ 4"]),
        ([(4, True), (3, False)], ["x > nothing", "not (-2 < x ≤ 9)"]),
    ],
)
def test_an_interval_is_one_chip_and_its_not_is_a_word(literals, shown):
    attributes = [
        Between("a", "x", 1.5, math.inf),
        Above("b", "x", 3),
        Above("c", "x", 4),
        Between("d", "x", -2, 9),
        Between("e", "x", None, None),
    ]
    assert [Document(chip(asked)).text for asked in shown_together(attributes, literals)] == shown


@pytest.mark.parametrize(
    ("measure", "low", "high"),
    [
        ("date", "2024-02-28", "2024-02-29"),
        ("decimal[2]", "9.5", "10.25"),
        ("duration[s]", "-P0DT0H0M2S", "P0DT0H0M11S"),
    ],
)
def test_two_cuts_of_a_date_or_decimal_are_one_chip(measure, low, high):
    attributes = [Above("a", "x", quantity(low, measure)), Above("b", "x", quantity(high, measure))]
    assert [asked.text for asked in shown_together(attributes, [(1, False), (0, True)])] == [
        f"{low} < x ≤ {high}"
    ]


def test_a_column_that_is_called_like_a_part_of_another_keeps_its_own_chip():
    attributes = [Above("a", "hour of admitted", 101), Above("b", Part("admitted", Unit.HOUR), 8)]
    shown = [asked.text for asked in shown_together(attributes, [(0, True), (1, False)])]
    assert shown == ["hour of admitted > 101", "hour of admitted ≤ 8"]


def test_an_interval_is_defined_with_both_of_its_ends():
    record = model(["a", "b", "c"])
    record["attributes"][0] |= {"test": "between", "value": [1.23456789, 30]}
    text = Document(page_of([made("x", plain_run().result, record)])).text
    assert "1.23457 < a ≤ 301.23456789, 30" in text


def test_each_line_has_its_rows_and_so_has_the_rest():
    reading = shown_formula(parse_model(model(["a", "b", "c"])))
    assert [line.support for line in reading.lines] == [Support(50, 39), Support(60, 48)]
    assert reading.otherwise == Support(110, 11)
    text = Document(PAGES["study"]()).text
    assert "50 rows, 78 % positive" in text
    assert "110 rows, 10 % positive" in text
    assert "Otherwise predict outcome ≠ ill." in text


def test_a_target_that_looks_like_a_comparison_is_denied_as_a_whole():
    text = Document(
        page_of([made("x", fit_run().result, {**model(PLAIN), "target": "a = b"})])
    ).text
    assert "Predict a = b = ill when" in text
    assert "Otherwise predict a = b ≠ ill." in text


def test_the_truth_table_counts_what_the_formula_gets_right_and_wrong():
    [view] = views_of([plain_run()])
    assert view.formulas[0].truth == (Support(90, 69), Support(110, 11))


def test_the_supports_of_a_folds_lines_are_shown_where_they_are_recorded():
    run = plain_run()
    fold = run.result["methods"]["ideal"]["folds"][0]
    fold["formulas"] = [with_supports(fold["formulas"][0], (77, 7), (3, 3))]
    assert "77 rows, 9 % positive" in Document(page_of([run])).text


def test_each_line_has_the_interval_of_terms_picked_by_the_same_rows():
    reading = shown_formula(parse_model(model(["a", "b", "c"])))
    expected = term_intervals([(50, 39), (60, 48)], delta=0.05, candidates=27)
    assert [line.interval for line in reading.lines] == expected
    text = Document(PAGES["study"]()).text
    for low, high in expected:
        assert f"interval {math.floor(100 * low)} to {math.ceil(100 * high)} %" in text
    assert "with 95 % confidence, all of them hold." in text
    run = plain_run()
    fold = run.result["methods"]["ideal"]["folds"][0]
    fold["formulas"] = [with_supports(fold["formulas"][0], (77, 7), (3, 3))]
    [(low, high), _] = term_intervals([(77, 7), (3, 3)], delta=0.05, candidates=27)
    shown = f"77 rows, 9 % positiveinterval {math.floor(100 * low)} to {math.ceil(100 * high)} %"
    assert shown in Document(page_of([run])).text


def test_counts_of_weights_and_models_without_counts_have_no_intervals():
    for record in (
        {**model(["a", "b", "c"]), "weighted": True},
        {**model(["a", "b", "c"]), "counts": []},
    ):
        assert not shown_formula(parse_model(record)).has_intervals
        assert "interval" not in Document(page_of([made("x", fit_run().result, record)])).text


def test_the_most_frequent_types_are_gone_through():
    [view] = views_of([plain_run()])
    section = deciding_card(Place("", 2), view)
    assert section is not None
    text = re.sub(r"\s+", " ", Document(section.html).text)
    accepted, rejected = text.split("A row that it rejects")
    # Neither old nor of the value, and no smoker: the second line holds.
    assert (
        "age_above_median ≤ 14.97 and sex ≠ a <b> and smoker ≠ 1The answer is outcome = ill"
        in accepted
    )
    assert "because one line holds: smoker ≠ 1" in accepted.replace("holds:smoker", "holds: smoker")
    assert "40 of the 200 rows learned from are like this one; 75.0 % positive." in accepted
    assert (
        "would turn the answer:smoker = 1None of the 200 rows learned from is like that."
        in accepted
    )
    assert (
        "age_above_median ≤ 14.97 and sex = a <b> and smoker = 1The answer is outcome ≠ ill"
        in rejected
    )
    assert "age_above_median > 14.97 is not so: age_above_median ≤ 14.97" in rejected
    assert "smoker ≠ 1 is not so: smoker = 1" in rejected
    assert "110 of the 200 rows learned from are like this one; 10.0 % positive." in rejected
    # Either would do; the attribute that is ranked first is told.
    assert "would turn the answer:age_above_median > 14.97" in rejected
    assert "30 of the 200 rows learned from are like that; 70.0 % positive." in rejected


def test_a_date_that_would_turn_the_answer_is_shown_with_its_parts():
    record = {
        **model(["a", "b", "c"]),
        "attributes": [
            {
                "name": "late",
                "column": "d",
                "test": "above",
                "value": "2020-03-15",
                "measure": "date",
            },
            {"name": "april", "column": "d", "part": "month", "test": "equals", "value": "April"},
        ],
        "terms": [[{"attribute": 1, "value": True}]],
        "counts": [
            {"type": [False, False], "n": 9, "c": 0},
            {"type": [True, False], "n": 3, "c": 0},
            {"type": [True, True], "n": 4, "c": 4},
        ],
        "formula": "april",
    }
    [view] = views_of([made("x", plain_run().result, record)])
    section = deciding_card(Place("", 2), view)
    assert section is not None
    accepted, rejected = re.sub(r"\s+", " ", Document(section.html).text).split(
        "A row that it rejects"
    )
    # No row of April was before the cut; and a date that leaves April would stay after it.
    assert "would turn the answer:d > 2020-03-15 and month of d = April4 of the 16 rows" in rejected
    assert "would turn the answer:d > 2020-03-15 and month of d ≠ April3 of the 16 rows" in accepted


def test_a_formula_of_lines_is_shown_with_the_patterns_of_its_lines():
    lines = certified(by_lines(parse_model(model(PLAIN))))
    record = json.loads(model_text(lines))
    text = re.sub(r"\s+", " ", Document(page_of([made("x", plain_run().result, record)])).text)
    assert "Rows for which the same lines hold get the same answer." in text
    assert "Of the 4 possible combinations of lines 4 occur among the rows." in text
    assert "Another formula of the same lines could be right" in text
    assert "These are the most frequent of 4 combinations on the rows learned from." in text
    [view] = views_of([made("x", plain_run().result, record)])
    section = deciding_card(Place("", 2), view)
    assert section is not None
    shown = re.sub(r"\s+", " ", Document(section.html).text)
    assert "No line holdsno11010" in shown.replace(" ", "").replace("Nolineholds", "No line holds")
    assert shown.index("No line holds") < shown.index("Line 2 holds")


def test_a_formula_of_the_other_answer_says_so():
    lines = replace(by_lines(parse_model(model(PLAIN))), answer=False)
    record = json.loads(model_text(certified(lines)))
    text = re.sub(r"\s+", " ", Document(page_of([made("x", plain_run().result, record)])).text)
    assert "Predict outcome ≠ ill when at least one of these 2 lines holds:" in text
    assert "Otherwise predict outcome = ill.110 rows, 10 % positive" in text
    assert "Formula says yes" in text
    assert "No line holdsyes110" in text


def test_many_lines_of_an_example_are_folded():
    attributes = [
        {"name": f"a{i}", "column": f"a{i}", "test": "true", "value": True} for i in range(9)
    ]
    terms = [[{"attribute": i, "value": True}] for i in range(9)]
    record = {
        **model(["a", "b", "c"]),
        "attributes": attributes,
        "terms": terms,
        "counts": [{"type": [False] * 9, "n": 3, "c": 0}, {"type": [True] * 9, "n": 2, "c": 2}],
        "formula": " or ".join(f"a{i}" for i in range(9)),
    }
    [view] = views_of([made("x", plain_run().result, record)])
    section = deciding_card(Place("", 2), view)
    assert section is not None
    assert section.html.count("<summary>3 more lines</summary>") == 2
    assert "because all 9 lines fail:" in section.html
    assert "because 9 lines hold:" in section.html


@pytest.mark.parametrize("changes", [{"terms": [], "formula": "false"}, {"counts": []}])
def test_there_are_no_examples_of_constant_formulas_and_of_models_without_counts(changes):
    page = page_of([made("x", plain_run().result, {**model(PLAIN), **changes})])
    assert "How a row is decided" not in page
    assert "cannot be used" not in page
    assert "How a row is decided" in PAGES["study"]()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"formula": "something else"}, "formula must say what terms say"),
        ({"schema": "dnfscale.model/3"}, "a later version of dnfscale wrote it"),
        ({"attributes": 5}, "attributes must be a list, got 5"),
        ({"positive": []}, "positive must list at least one label"),
    ],
)
def test_a_model_file_that_is_refused_is_told_and_the_formula_is_that_of_the_result(
    changes, reason
):
    run = made("own-data", plain_run().result, {**model(PLAIN), **changes})
    assert run.run.models == ()
    text = Document(page_of([run])).text
    assert "model.json cannot be used: " in text
    assert reason in text
    assert (
        "Predict positive when at least one of these 2 lines holds:age_above_median and sex" in text
    )
    assert "How a row is decided" not in text
    assert figures_of([run]) == figures_of([plain_run()])


def test_a_model_file_of_labels_that_is_refused_is_told_too():
    run = made(
        "x", labels_run().result, {"schema": "dnfscale.classes/1", "target": "risk", "classes": []}
    )
    text = Document(page_of([run])).text
    assert "model.json cannot be used: classes must be at least two" in text
    assert "Predict the label with one formula for each label." in text


@pytest.mark.parametrize(
    ("terms", "formula", "words"),
    [([], "false", "outcome = ill: never."), ([[]], "true", "outcome = ill: always.")],
)
def test_a_constant_formula_is_said_plainly(terms, formula, words):
    run = made("x", plain_run().result, {**model(PLAIN), "terms": terms, "formula": formula})
    text = Document(page_of([run])).text
    assert words in text
    assert "Otherwise" not in text


@pytest.mark.parametrize(
    ("status", "gap", "words"),
    [
        ("proven", 0, "proven shortest"),
        ("bounded", 3, "at most 3 conditions longer than the shortest"),
        ("bounded", 1, "at most 1 condition longer than the shortest"),
        ("heuristic", None, "not proven shortest"),
        ("simplified", None, "simplified by SymPy, not proven shortest"),
        ("as_is", None, "as it came, not shortened"),
        ("of a later version", None, "of a later version"),
        (None, None, None),
    ],
)
def test_what_is_known_of_the_length_of_a_formula_is_told(status, gap, words):
    minimized = None if status is None else {"status": status, "gap_literals": gap}
    formula = msgspec.convert({**formula_record(PLAIN[:3]), "minimized": minimized}, Formula)
    assert length_words(formula) == words
    assert length_words(changed(formula, literals=0)) is None


def test_the_answer_comes_first_in_plain_words():
    text = Document(PAGES["paper"]()).text
    assert (
        text.index("tells whether outcome = ill")
        < text.index("84.0 %")
        < text.index("Predict outcome = ill")
        < text.index("Timing and environment")
    )
    outcome = views_of([paper_run()])[0].result
    assert accuracy_words(outcome) == [
        "Formulas learned this way, each tested on rows it had not seen, were right for "
        "84.0 % of them on average "
        "(10 folds, from 80.0 % to 88.0 %, standard deviation 2.8 points).",
        "Always giving the more frequent answer is right for 60.0 % of the rows.",
        "The paper reports 81.2 % ± 5 for its method on this dataset.",
    ]
    assert comparison_words(outcome) == [
        (
            "Random forest 86.0 %: no difference shown (the formula −2.0 points, 95 % interval "
            "−5.0 to +1.0)."
        ),
        (
            "XGBoost 81.0 %: the formula is more accurate (the formula +3.0 points, 95 % "
            "interval +1.0 to +5.0)."
        ),
        (
            "One rule 79.0 %: no difference shown (the formula +5.0 points, 95 % interval −1.0 "
            "to +11.0)."
        ),
    ]


def test_shares_of_rare_rows_are_told_with_a_decimal():
    told = str(evidence(Support(24_573, 75), "positive", (0.0021, 0.0042), 0.02)).replace(
        "\xa0", " "
    )
    assert "24,573 rows, 0.3 % positive" in told
    assert "interval 0.2 to 0.5 %" in told
    assert "2.0 % of all found" in told
    assert [round_share(value) for value in (0, 0.0001, 0.5, 0.951, 0.9999, 1)] == [
        *("0 %", "under 0.1 %", "50 %", "95.1 %", "over 99.9 %", "100 %")
    ]


def test_three_sentences_sum_a_run_up():
    [view] = views_of([lengths_run()])
    assert summary_words(view) == [
        "A formula of 3 conditions in 2 lines tells whether outcome = ill.",
        "On unseen rows, formulas as short as this one are right for 84.0 % of them; always giving "
        "the same answer is right for 60.0 %.",
        "With 95 % confidence, that share lies between 79.0 % and 89.0 %, for new rows that are "
        "like those tested.",
    ]
    page = PAGES["lengths"]()
    assert page.index("A formula of 3 conditions") < page.index("Predict ")


def test_the_three_sentences_speak_of_what_a_formula_was_learned_for():
    run = lengths_run()
    ideal = run.result["methods"]["ideal"]
    objective = {"name": "balanced_accuracy", "beta": None, "threshold": None, "mean": 0.777}
    ideal["objective"] = objective | {"std": 0.1, "constant_mean": 0.5}
    ends = {"low": 0.7, "high": 0.8, "interval": "resampled_t"}
    ideal["metrics"] = {"balanced_accuracy": {"mean": 0.777, "std": 0.1, "pooled": 0.78, **ends}}
    for point in ideal["frontier"]:
        del point["metrics"]["balanced_accuracy"]
    [view] = views_of([run])
    assert summary_words(view)[1:] == [
        "It was learned for balanced accuracy: on unseen rows, formulas learned this way reach "
        "77.7 %; always giving the same answer reaches 50.0 %.",
        "With 95 % confidence, that share lies between 70.0 % and 80.0 %, for new rows that are "
        "like those tested.",
    ]
    # Where it was measured, the first figure is that of formulas of the length shown.
    for point in ideal["frontier"]:
        point["metrics"]["balanced_accuracy"] = 0.75 if point.get("shown") else 0.9
    [view] = views_of([run])
    assert summary_words(view)[1:] == [
        "It was learned for balanced accuracy: on unseen rows, formulas as short as this one reach "
        "75.0 %; always giving the same answer reaches 50.0 %.",
        "With 95 % confidence, what the procedure reaches, which chooses the length anew in each "
        "fold, lies between 70.0 % and 80.0 %, for new rows that are like those tested.",
    ]
    # What formulas of this length reach is told as such, with an interval of its own.
    ends = {"objective_low": 0.69, "objective_high": 0.79}
    for point in ideal["frontier"]:
        point |= {"objective_mean": 0.74, "objective_std": 0.02} | ends
    [view] = views_of([run])
    told = summary_words(view)[1:]
    assert "formulas as short as this one reach 74.0 %" in told[0]
    assert "that share lies between 69.0 % and 79.0 %" in told[1]
    page = page_of([run])
    assert page.index("Learned for, on unseen rows") < page.index("Accuracy on unseen rows")


def test_the_formula_of_each_length_comes_with_its_figures_and_its_command():
    frontier = lengths_run().frontier
    rows = lengths_table(by_length(frontier)).rows
    assert [row[0] for row in rows] == ["1 condition", "2 conditions", "3 conditions (shown above)"]
    assert rows[1][-1] == "dnfscale choose RUN --literals 2"
    counted = frontier.formulas[1].tested.confusion
    assert rows[1][3].value == pytest.approx(100 * counted.tp / (counted.tp + counted.fn))
    said = Document(PAGES["lengths"]()).text
    assert "On unseen rows, formulas of at most 2 conditions were right for 82.0 %" in said


def test_a_formula_of_the_frontier_that_cannot_be_read_is_told():
    run = lengths_run()
    first, *others = run.frontier.formulas
    damaged = changed(first, model={**first.model, "formula": "x"})
    frontier = changed(run.frontier, formulas=(damaged, *others))
    page = page_of([replace(run, frontier=frontier)])
    assert "frontier.json cannot be used: formula must say" in Document(page).text


def test_the_errors_of_each_threshold_are_those_of_test_rows():
    points = views_of([lengths_run()])[0].result.ideal.decision_curve
    shown = {row[0]: row[1:] for row in acting_table(points).rows}
    sensitivity, specificity, ppv, benefit, always = (cell.value for cell in shown["50"])
    assert (sensitivity, ppv) == pytest.approx((100 * 62 / 70, 100 * 62 / 80))
    assert specificity == pytest.approx(100 * 112 / 130)
    assert benefit == pytest.approx(1_000 * (62 - 18) / 200)
    assert always == pytest.approx(1_000 * (70 - 130) / 200)
    told = "Of the 200 test rows, 80 are acted on: 62 rightly, and 18 false alarms. 8 of the 70"
    assert f"{told} positives are missed." in Document(PAGES["lengths"]()).text


def long_model(n_lines: int) -> dict[str, Any]:
    """Return a model of so many lines: all but the last two share their first condition."""
    names = [f"a{i}" for i in range(n_lines + 1)]
    terms = [[0, i] for i in range(1, n_lines - 1)] + [[n_lines - 1], [n_lines]]
    dnf = Dnf(tuple(Term(care := sum(1 << i for i in each), care) for each in terms))
    supports = [(1 << i | 1, 10 * (i + 1), 9) for i in range(1, n_lines + 1)]
    return {
        **model(PLAIN),
        "attributes": [
            {"name": name, "column": name, "test": "true", "value": True} for name in names
        ],
        "terms": [[{"attribute": i, "value": True} for i in each] for each in terms],
        "counts": [
            {"type": [bool(code >> i & 1) for i in range(len(names))], "n": n, "c": c}
            for code, n, c in sorted(supports)
        ],
        "formula": dnf.render(names),
    }


def test_lines_of_a_long_formula_stand_by_what_they_share_the_most_frequent_first():
    shown = shown_formula(parse_model(long_model(6)))
    first, alone = grouped(shown.lines)
    assert first.shared.text == "a0"
    assert first.numbers == (3, 2, 1, 0)
    assert alone.shared is None
    assert alone.numbers == (5, 4)
    assert [line.share for line in shown.lines] == pytest.approx(
        [n / 270 for n in (20, 30, 40, 50, 60, 70)]
    )


def test_a_long_formula_says_each_shared_condition_once_and_keeps_the_numbers_of_its_lines():
    page = page_of([made("long", plain_run().result, long_model(14))])
    document = Document(page)
    assert "at least one of these 12 lines" in document.text
    numbers = [item["data-at"] for item in document.all("li") if "data-at" in item]
    assert numbers == [str(n) for n in (*range(12, 0, -1), 14, 13)]
    assert "2 more lines" in document.text


def test_leave_one_out_is_told_as_rows_that_came_out_right():
    outcome = views_of([leave_one_out_run()])[0].result
    assert accuracy_words(outcome)[0] == (
        "Each of the 62 rows was left out in turn and predicted from the others: 41 came "
        "out right, 66.1 %."
    )
    text = Document(PAGES["leave-one-out"]()).text
    assert "leave-one-out" in text
    assert "± one standard deviation" not in text
    assert "In 31 folds" in text


def test_a_fit_says_that_it_was_not_tested():
    text = Document(PAGES["fit"]()).text
    assert "right for 90.0 % of the 200 rows it was learned from" in text
    assert "not measured" in text
    assert "Accuracy on unseen rows" not in text


def test_the_papers_figures_appear_only_for_its_datasets():
    assert "paper's own figure" not in Document(PAGES["study"]()).text
    page = PAGES["paper"]()
    assert "paper's own figure" in Document(page).text
    assert 'class="theirs">73.6 ±\xa012.2' in page


def test_the_meaning_of_a_label_is_told_only_for_the_papers_own_target():
    run = plain_run()
    result = from_paper(run.result, "breast_cancer")
    own = {**model(PLAIN), "target": "class", "positive": [2]}
    assert "(the tumour is benign)" in Document(page_of([made("x", result, own)])).text
    assert "benign" not in Document(page_of([made("x", result, run.model)])).text


def test_a_suite_comes_with_an_overview_and_a_part_for_each_run():
    page = PAGES["suite"]()
    document = Document(page)
    assert len(document.all("article")) == len(suite_runs())
    assert document.text.index("At a glance") < document.text.index(
        "dnfscale study · run bank-marketing"
    )
    assert "1 job failed" in document.text
    assert "no such file" in document.text
    # The paper's figures are of a procedure: they stand beside ours of the same, not of one length.
    assert "Accuracy (paper)" not in document.text
    assert "Formula (paper)" in document.text
    assert suite_words(views_of(suite_runs()))[:2] == [
        "Formula against random forest, 6 runs: no difference shown in 6.",
        "Formula against XGBoost, 6 runs: the formula more accurate in 6.",
    ]


def test_a_page_says_what_the_paper_is_only_where_it_quotes_it():
    assert "DAO-XAI" not in PAGES["study"]()
    assert "DAO-XAI" in PAGES["suite"]()


def test_the_figures_beside_a_formula_are_those_that_people_decide_by():
    text = Document(page_of([lengths_run()])).text
    first = text[: text.index("What if?", text.index("Predict "))]
    assert re.search(r"Sensitivity[\d.]+ %of the positives are found", first)
    assert "Positive predictive value" in first


def test_runs_side_by_side_say_what_each_was_learned_for():
    run = plain_run()
    objective = {"name": "balanced_accuracy", "beta": None, "threshold": None, "mean": 0.777}
    run.result["methods"]["ideal"]["objective"] = objective | {"std": 0.1, "constant_mean": 0.5}
    text = Document(page_of([run, lengths_run()])).text
    assert "77.7 % balanced accuracy" in text
    assert text.index("Learned for") < text.index("77.7 %")
    assert "Learned for" not in Document(page_of([plain_run(), lengths_run()])).text


def test_names_of_methods_keep_their_capitals_inside_a_sentence():
    def compared_with_ripper(run: Made) -> Made:
        known = msgspec.json.encode(run.result).replace(b'"xgboost"', b'"ripper"')
        return Made(msgspec.json.decode(known), run.model)

    runs = [compared_with_ripper(run) for run in suite_runs()]
    told = "Formula against RIPPER, 6 runs: the formula more accurate in 6."
    assert told in suite_words(views_of(runs))


def test_one_run_with_failures_beside_it_is_a_suite():
    document = Document(page_of([plain_run()], [("other", "lost")]))
    assert len(document.all("article")) == 1


def test_the_curve_is_the_mean_of_the_folds_and_marks_what_was_chosen():
    [view] = views_of([plain_run()])
    curve = curve_of(view.formulas[0].folds, view.formulas[0].learned)
    assert list(curve.ranks) == ["f", "mutual_info", "chi2"]
    first = curve.ranks["f"][0]
    swings = [0.01 * (fold % 3) for fold in range(10)]
    assert first.mean == pytest.approx(0.72 + sum(swings) / 10)
    assert curve.chosen == 3
    assert curve.choices == {3: 5, 4: 5}
    assert "chosen for all rows: 3" in PAGES["study"]()


def test_the_curve_of_a_fit_is_that_of_its_model():
    [view] = views_of([fit_run()])
    curve = curve_of(view.formulas[0].folds, view.formulas[0].learned)
    assert [point.mean for point in curve.ranks["f"]] == pytest.approx([0.72, 0.74, 0.76])
    assert curve.choices == {}


def test_stability_counts_the_folds_of_each_attribute():
    text = re.sub(r"\s+", " ", Document(PAGES["study"]()).text)
    assert "4 attributes chosen in any of 10 folds, 3 in all of them." in text
    assert "height_above_median5 of 10" in text


def test_folds_that_failed_are_told_and_shown_with_their_error():
    run = paper_run()
    xgboost = run.result["methods"]["xgboost"]
    xgboost["folds"] = [
        *xgboost["folds"][:8],
        {"fold": 8, "error": "lost <b>"},
        {"fold": 9, "error": "lost <b>"},
    ]
    run.result["comparisons"] = []
    text = Document(page_of([run])).text
    assert "XGBoost 81.0 %: over 8 of 10 folds, the others failed." in text
    assert "HeartDisease: XGBoost: over 8 of 10 folds, the others failed." in text
    assert "lost <b>" in text


def test_a_method_that_nobody_knows_is_shown_all_the_same():
    run = paper_run()
    run.result["methods"]["optimal_tree"] = {
        "accuracy_mean": 0.81,
        "accuracy_std": 0.02,
        "folds": [{"fold": 0, "accuracy": 0.81, "depth": 4}],
    }
    assert "optimal tree" in Document(page_of([run])).text


def test_figures_are_svg_files_of_their_own():
    files = figures_of([paper_run()])
    assert set(files) == {"accuracies", "differences", "runtimes", "sweep"}
    assert set(figures_of([plain_run()])) == {"accuracies", "runtimes", "sweep"}
    sweeps = {f"sweep-{number}" for number in range(1, 9)}
    assert (
        set(figures_of([labels_run(HOSTILE)])) == {"accuracies", "runtimes", "confusion"} | sweeps
    )
    assert set(figures_of(suite_runs())) == {"accuracies", "differences", "runtimes"}
    for text in files.values():
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert float(root.get("height")) > 50
        assert "dark" not in text
    for text in [
        *figures_of([hostile_run()]).values(),
        *figures_of([labels_run(HOSTILE)]).values(),
    ]:
        ElementTree.fromstring(text)


def test_an_axis_keeps_every_value_inside():
    axis = Axis(0, 100, (), "%")
    assert axis.x(-5) == axis.x(0) < axis.x(50) < axis.x(100) == axis.x(130)
    times = log_axis([0.07, 2710], "s")
    assert (times.low, times.high) == (0.01, 10_000)
    assert log_axis([1.0], "s").high == 10
    differences = difference_axis([-0.3, 2.2], "points")
    assert differences.low <= -2.2
    assert differences.high >= 2.2
    assert [label for _, label in difference_axis([0.0], "points").ticks]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.071, "0.07 s"), (2, "2.0 s"), (69, "69 s"), (2710, "45 min"), (9000, "2.5 h")],
)
def test_times_are_short_to_read(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.04, "0.0"), (-0.04, "0.0"), (1.25, "+1.2"), (-3, "−3.0")]
)
def test_differences_have_a_sign_unless_they_are_none(value, text):
    assert signed(value) == text


def test_the_page_is_the_same_each_time():
    assert PAGES["suite"]() == PAGES["suite"]()


def test_study_without_seconds_has_no_run_time_section():
    run = plain_run()
    run.result["timing"] = {}
    assert 'id="runtime"' not in page_of([run])
    assert 'id="runtime"' in page_of([made("x", study("x", ["a", "b", "c"]))])


def test_a_formula_that_was_chosen_by_its_length_has_the_curve_of_both_searches():
    record = plain_run().result
    points = [
        {"literals": n, "search": search, "form": "lines", "validation_score": 0.6 + 0.05 * n}
        for search, n in (("attributes", 1), ("terms", 1), ("terms", 2), ("attributes", 3))
    ]
    ideal = record["methods"]["ideal"]
    for part in (*ideal["folds"], ideal["model"]):
        for formula in part["formulas"]:
            formula["curve"] = points
    text = Document(page_of([made("x", record, model(["a", "b", "c"]))])).text
    assert "How many conditions are enough?" in text
    assert "types of the best attributes" in text
    assert "lines over all columns" in text
