"""One wording: whoever reads a condition of a formula, and wherever, reads the same words."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dnfscale import IdealClassifier
from dnfscale.data.models import read_model
from dnfscale.method.literals import n_literals
from dnfscale.method.words import formula_lines, model_lines, said_texts
from dnfscale.report.cards.formula import formula_text
from dnfscale.results.result import read_result
from tests.jobs.running import Desk


def table(n_rows: int = 900) -> pa.Table:
    """Numbers, whole numbers, categories, truth values, a name to be quoted, and missing values."""
    random = np.random.default_rng(5)
    visits = random.choice(4, n_rows, p=[0.55, 0.25, 0.15, 0.05])
    dose = np.round(random.normal(5, 2, n_rows), 2)
    ward = random.choice(["surgery", "urology", "eyes", "lungs"], n_rows)
    smokes = random.random(n_rows) < 0.4
    gone = random.random(n_rows) < 0.1
    ill = ((visits == 0) & np.isin(ward, ["surgery", "urology"])) | ((dose > 6) & smokes) | gone
    return pa.table(
        {
            "visits": visits,
            "daily dose": pa.array(dose, mask=gone),
            "ward": ward.tolist(),
            "smokes": smokes,
            "y": np.where(random.random(n_rows) < 0.03, ~ill, ill).tolist(),
        }
    )


SPECS = {
    "paper": {"data": {"missing": "drop"}},
    "best": {"data": {"missing": "indicator"}},
}


@pytest.fixture(params=SPECS)
def run(request: pytest.FixtureRequest, desk: Desk) -> tuple[Desk, str]:
    desk.table(table())
    spec = {"kind": "study", "profile": request.param, "folds": {"outer": 3}}
    spec["select"] = {"tolerance": 0.0}
    ended = desk.here("run", desk.spec(**spec, **SPECS[request.param]))
    assert ended.code == 0, ended.err
    return desk, ended.out


def plain(text: str) -> str:
    """Return a text on one line, with names as they are."""
    return re.sub(r'"([^"]*)"', r"\1", re.sub(r"\s+", " ", text)).strip()


def chips(page: str) -> list[str]:
    """Return the conditions of each term that a page shows."""
    shown = re.findall(r'<li><span class="term">(.*?)</span><span class="evidence">', page)
    return [plain(html.unescape(re.sub(r"<[^>]*>", "", one))) for one in shown]


def from_latex(text: str) -> list[str]:
    """Return the lines of a formula in LaTeX as text."""
    text = re.sub(r"\\\\\n& \\qquad \{\} \\land", r"\\land", text)
    signs = {
        r"\\le\b": "≤",
        r"\\ne\b": "≠",
        r"\\notin\b": "not in",
        r"\\in\b": "in",
        r"\\land\b": "and",
        r"\\lnot\b": "not",
        r"\\text\{((?:[^{}]|\\[{}])*?)\}": r"\1",
        r"\\([_{}])": r"\1",
    }
    for sign, word in signs.items():
        text = re.sub(sign, word, text)
    body = text.partition(r"\iff {} &")[2].partition(r"\end{align*}")[0]
    return [plain(line) for line in re.split(r"\\\\\n(?:\\lor \{\} &|&)", body)]


def test_the_formula_reads_the_same_everywhere(run):
    desk, told = run
    file = desk.folder() / "model.json"
    model = read_model(str(file))
    lines = [plain(line) for line in formula_lines(model)]
    assert plain(" or ".join(lines)) in plain(told)
    read = desk.here("explain", file).out
    assert all(plain(f"{n}. {line}") in plain(read) for n, line in enumerate(lines, 1))
    assert plain(" or ".join(lines)) in plain(desk.here("export", file, "--to", "text").out)
    by_line = plain(desk.here("bounds", "--model", file).out)
    assert all(f" {line}: " in by_line for line in lines)
    in_latex = from_latex(desk.here("export", file, "--to", "latex").out)
    assert in_latex[: len(lines)] == lines
    page = (desk.folder() / "report.html").read_text(encoding="utf-8")
    assert chips(page)[: len(lines)] == lines


def test_the_formulas_of_folds_read_as_those_of_models_and_are_as_long_as_they_read(run):
    desk, _ = run
    result = read_result((desk.folder() / "result.json").read_bytes())
    page = plain(html.unescape(re.sub(r"<[^>]*>", "", _page(desk))))
    for formula in [formula for fold in result.ideal.folds for formula in fold.formulas]:
        text = plain(formula_text(formula))
        lines = [line.strip("()") for line in text.split(" or ")]
        assert formula.terms == len(lines)
        assert formula.literals == sum(line.count(" and ") + 1 for line in lines)
        assert all(line in page for line in lines)
        assert not re.search(r"_above_|_p\d|_missing|ward_", text)
    [learned] = result.ideal.models
    model = read_model(str(desk.folder() / "model.json"))
    assert learned.literals == n_literals(model_lines(model))
    assert learned.terms == len(model_lines(model))


def _page(desk: Desk) -> str:
    return (desk.folder() / "report.html").read_text(encoding="utf-8")


def test_an_explanation_quotes_the_conditions_of_the_formula(run):
    desk, _ = run
    file = desk.folder() / "model.json"
    texts = {
        text for line in model_lines(read_model(str(file))) for text in said_texts(line.literals)
    }
    quoted = set()
    for row in range(12):
        told = desk.here("explain", file, "t.parquet", "--row", str(row)).out
        quoted |= set(re.findall(r"asks for (.*), but ", told))
    assert quoted
    assert {part for each in quoted for part in each.split(" and ")} <= texts


def test_whole_numbers_and_sets_are_written_as_people_say_them(run):
    _, told = run
    assert "visits = 0" in told
    assert "ward in {surgery, urology}" in told or "ward not in {eyes, lungs}" in told


def test_a_notebook_shows_the_lines_of_the_formula():
    frame: pd.DataFrame = table().to_pandas()
    model = IdealClassifier(profile="paper").fit(
        frame.drop(columns=["y", "daily dose"]), frame["y"]
    )
    lines = formula_lines(model.models_[0])
    shown = re.findall(r'<span class="term">(.*?)</li>', model._repr_html_())
    assert len(shown) == len(lines)
    for line, markup in zip(lines, shown, strict=True):
        said = html.unescape(re.sub(r"<[^>]+>", "", markup.partition('<span class="evidence">')[0]))
        assert said.split() == line.replace('"', "").split()
