from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, IsTrue
from dnfscale.export.latex import escape, export_latex
from tests.export import examples
from tests.export.examples import NAMES, TEXTS, formula, single


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("bare_nuclei", r"bare\_nuclei"),
        ("100%", r"100\%"),
        ("#1 & $2", r"\#1 \& \$2"),
        ("a\\b{c}", r"a\textbackslash{}b\{c\}"),
        ("x^2~y", r"x\textasciicircum{}2\textasciitilde{}y"),
        ("a<b>c", r"a\textless{}b\textgreater{}c"),
        ("a--b", "a{-}{-}b"),
        ("Größe", r"Gr\"{o}\ss{}e"),
        ("naïve café", r"na\"{\i}ve caf\'{e}"),
        ("ça", r"\c{c}a"),
        ("😀", "[U+1F600]"),
        ("中", "[U+4E2D]"),
        (" a  b ", r"\ a \ b\ "),
        ("a\nb", r"a\textbackslash{}nb"),
        ("", ""),
    ],
)
def test_a_text_is_escaped(text, escaped):
    assert escape(text) == escaped


@given(st.text())
def test_what_is_escaped_is_ascii_with_braces_that_match(text):
    escaped = escape(text)
    assert escaped.isascii()
    assert escaped.isprintable()
    bare = re.sub(r"\\[\\{}$&#%_ ]", "", escaped)
    assert bare.count("{") == bare.count("}")
    assert not re.search(r"[$&#%_^~]", re.sub(r"\\[`'^~=.\"]\{|\\ensuremath\{\^\d\}", "", bare))


def test_conditions_read_like_mathematics():
    model = formula(
        [
            Above("a", "bare_nuclei", 3),
            IsTrue("s", "smoker", True),
            Equals("c", "colour", "dark red"),
        ],
        [[(0, True), (1, False)], [(1, True), (2, False), (0, False)]],
        target="class",
        positive=(2, 4),
    )
    assert export_latex(model).splitlines() == [
        r"\begin{align*}",
        r"\text{class} \in \{2, 4\} \iff {} & \text{bare\_nuclei} > 3 \land \lnot \text{smoker} \\",
        (
            r"\lor {} & \text{bare\_nuclei} \le 3 \land \text{smoker} \land \text{colour} \ne "
            r"\text{dark red}"
        ),
        r"\end{align*}",
    ]


@pytest.mark.parametrize(
    ("cut", "written"),
    [
        (38.0, "38"),
        (1e-05, r"1 \times 10^{-5}"),
        (1.5e300, r"1.5 \times 10^{300}"),
        (float("-inf"), r"-\infty"),
    ],
)
def test_numbers_are_set_as_such(cut, written):
    assert rf"\text{{x}} > {written}" in export_latex(single(Above("a", "x", cut)))


def test_an_interval_is_set_as_one_and_in_brackets_after_a_not():
    interval, cut = Between("a", "b_c", 1.0, 4.0), Above("b", "b_c", 2)
    assert r"1 < \text{b\_c} \le 4" in export_latex(single(interval))
    assert r"\lnot (1 < \text{b\_c} \le 4)" in export_latex(single(interval, False))
    assert r"1 < \text{b\_c} \le 2" in export_latex(
        formula([interval, cut], [[(0, True), (1, False)]])
    )
    assert r"\text{x} > \text{nothing}" in export_latex(single(Between("a", "x", None, None)))


def test_a_note_says_what_missing_values_do():
    model = formula(
        [Above("a", "x", 1), IsMissing("m", "x")], [[(0, False), (1, False)]], missing="indicator"
    )
    assert r"\text{ is not missing}" in export_latex(model)
    assert "where a value is missing" in export_latex(model)


@pytest.mark.parametrize("engine", ["pdflatex", "xelatex", "lualatex"])
def test_everything_compiles(engine, tmp_path):
    if not shutil.which(engine):
        pytest.skip(f"{engine} is not installed")
    models = [
        examples.hostile().model,
        examples.adult("indicator").model,
        formula([Above("a", "x", 1)], []),
        formula([Between("a", "x", 1, 2)], [[(0, False)]], missing="indicator"),
        formula([Above("a", "x", None)], [[(0, False)], []]),
        *(
            formula([Above("a", name, -1.5e-7)], [[(0, True)]], target=name, positive=(name,))
            for name in NAMES
        ),
        *(
            single(Equals("a", "c", text), False)
            for text in (*TEXTS, "ÀÉÎÕÜŠŽŐ ąęł ÆŒØ §°µ€£±×²³≤≥≠–— ǖ ﬁ")
        ),
    ]
    body = "\n".join(map(export_latex, models))
    document = (
        "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
        + body
        + "\n\\end{document}\n"
    )
    (tmp_path / "t.tex").write_text(document, encoding="ascii")
    ended = subprocess.run(
        [engine, "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stdout[-2000:]
    assert (tmp_path / "t.pdf").stat().st_size > 0
    assert "Missing character" not in (tmp_path / "t.log").read_text(errors="replace")
