"""What if: the page's script answers as `predict` and `explain` do."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.formula import Dnf, Term
from dnfscale.core.parts import Part, Unit
from dnfscale.core.quantities import Kind, Measure, Quantity
from dnfscale.core.seen import SeenColumn
from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, Vocabulary
from dnfscale.estimators.saved import classifier_of
from dnfscale.method.explain import explain_type
from dnfscale.report.cards.what_if import fields_of, rounded_outward
from tests.method.test_explain import model_of
from tests.report.vectors import FILE, form_of, models, rows_of, said_of, typed, vectors


def answered(file: Path) -> str:
    """Return what the script has to say of vectors."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not on PATH (Debian: apt-get install nodejs)")
    script = files("dnfscale.report").joinpath("script.js")
    program = Path(__file__).with_name("answers.mjs")
    done = subprocess.run(
        [node, program, str(script), file], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_vectors_are_what_predict_and_explain_say():
    assert json.loads(FILE.read_text(encoding="utf-8")) == json.loads(json.dumps(vectors()))


def test_the_script_answers_the_vectors_alike():
    assert answered(FILE) == "320 answered, 0 wrong"


@pytest.mark.slow
def test_the_script_answers_thousands_of_random_rows_alike(tmp_path):
    rng = np.random.default_rng(5)
    cases = []
    for name, own in models().items():
        rows = rows_of(750, rng)
        labels = [model.positive[0] for model in own]
        said, fields = said_of(own, rows), fields_of(own)
        case = {"name": name, "labels": labels, "form": form_of(own), "said": said}
        cases.append(case | {"rows": [typed(fields, row) for row in rows]})
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(cases), encoding="utf-8")
    assert answered(file) == f"{750 * len(cases)} answered, 0 wrong"


@pytest.mark.slow
def test_a_search_that_takes_too_long_gives_the_same_change_in_both(tmp_path):
    tau = Vocabulary(tuple(Above(f"a{i}", f"a{i}", 0.5) for i in range(30)))
    rng = np.random.default_rng(0)
    terms = [sum(1 << int(i) for i in rng.choice(30, 3, replace=False)) for _ in range(300)]
    empty = model_of(list(tau.attributes), [])
    model = replace(empty, dnf=Dnf(tuple(Term(care, care) for care in dict.fromkeys(terms))))
    model = replace(model, types="lines")
    code = (1 << 30) - 1
    explained = explain_type(model, code)
    assert explained.flip is not None
    formula = {
        "accepted": True,
        "probability": explained.probability,
        "n": 0,
        "c": 0,
        "terms": list(explained.terms),
        "after": hex(explained.flip.code),
        "proven": explained.proven,
    }
    said = {"prediction": True, "probability": explained.probability, "formulas": [formula]}
    case = {"name": "long", "labels": [True], "form": form_of([model]), "said": [said]}
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([case | {"rows": [[1] * 30]}]), encoding="utf-8")
    assert not explained.proven
    assert answered(file) == "1 answered, 0 wrong"


def test_dates_are_chosen_by_the_regions_that_the_formula_tells_apart():
    day = Quantity(Measure(Kind.DATE, 1), 18_000)
    tau = [
        Above("late", "day", day),
        Equals("monday", Part("day", Unit.WEEKDAY), "Monday"),
        IsMissing("unknown", "day"),
    ]
    [field] = fields_of([model_of(tau, [{0: True}])])
    assert field.options is not None
    texts = {option.text: option.bits for option in field.options}
    assert len(texts) == 5
    assert texts["missing"] == (0b100,)
    assert texts["day ≤ 2019-04-14 and weekday of day = Monday"] == (0b010,)
    assert texts["day > 2019-04-14 and weekday of day = Monday"] == (0b011,)


def test_the_number_to_begin_with_lies_between_cuts_that_are_close_together(tmp_path):
    cuts = 1_234_567.25, 1_234_567.5
    tau = [Above(f"x_{cut}", "x", cut) for cut in cuts]
    # All rows lie between the two.
    model = model_of(tau, [{0: True, 1: False}], {0b01: (9, 5)})
    page = tmp_path / "page.html"
    classifier_of([model]).report(page)
    [shown] = re.findall(r'data-field="0" value="([^"]*)"', page.read_text(encoding="utf-8"))
    assert cuts[0] < float(shown) <= cuts[1]


def test_the_form_begins_within_the_range_of_a_column_and_with_whole_numbers_where_it_has_them(
    tmp_path,
):
    seen = (
        SeenColumn("visits", "int64", 0.0, least=0, greatest=5),
        SeenColumn("dose", "double", 0.0, least=-3.8960153191661484, greatest=4.0119377714007305),
    )
    tau = [
        Between("once", "visits", 0, 1),
        Above("more", "visits", 1.5),
        Above("low", "dose", -1.0),
        Above("high", "dose", 2.0),
    ]
    model = replace(model_of(tau, [{0: True}, {2: True, 3: False}], {0b0000: (9, 1)}), seen=seen)
    page = tmp_path / "page.html"
    classifier_of([model]).report(page)
    text = page.read_text(encoding="utf-8")
    # Nobody has fewer than 0 visits, or half of one.
    assert re.findall(r'data-field="0" value="([^"]*)"', text) == ["0"]
    assert "0 to 5 in the rows learned from" in text
    assert "-3.897 to 4.012 in the rows learned from" in text


@given(finite=st.floats(-1e12, 1e12), direction=st.sampled_from([-1, 1]))
def test_the_ends_of_a_range_are_rounded_so_that_nothing_is_left_out(finite, direction):
    shown = rounded_outward(finite, direction)
    assert direction * (shown - finite) >= 0
    assert abs(shown - finite) <= 2e-3 * abs(finite)


def test_the_form_offers_what_the_rows_learned_from_held(tmp_path):
    seen = (
        SeenColumn("days", "int64", 0.0, least=0, greatest=30),
        SeenColumn("sex", "string", 0.0, values=("f", "m")),
    )
    tau = [Above("long", "days", 7, whole=True), Equals("male", "sex", "m")]
    model = replace(model_of(tau, [{0: True, 1: True}], {0b00: (9, 1)}), seen=seen)
    page = tmp_path / "page.html"
    classifier_of([model]).report(page)
    text = page.read_text(encoding="utf-8")
    assert re.findall(r'data-field="0" value="([^"]*)"', text) == ["3"]
    assert "0 to 30 in the rows learned from" in text
    [field] = [own for own in fields_of([model]) if own.options is not None]
    assert [option.text for option in field.options] == ["m", "f", "another value", "missing"]
    assert field.options[1].bits == field.options[2].bits == (0,)
    assert re.findall(r"<option selected[^>]*>([^<]*)<", text) == ["f"]
    # Above the cut, and not above what was seen.
    model = replace(model, counts=model_of(tau, [{0: True}], {0b01: (9, 1)}).counts)
    classifier_of([model]).report(page)
    [value] = re.findall(r'data-field="0" value="([^"]*)"', page.read_text(encoding="utf-8"))
    assert value == "18"
