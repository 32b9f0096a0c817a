"""The shortest formula as a person reads it: nothing of it can be left out, judged by all rows that
can exist.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.data.frames import table_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.line import Learned, learn
from dnfscale.method.freedom import Freedom, truth_of
from dnfscale.method.literals import Scales, lines_of, n_literals
from dnfscale.method.minimize.minimal import Status, minimize
from dnfscale.method.minimize.possible import axes_of, row_states
from dnfscale.method.shrink import Shrink
from dnfscale.method.words import said_texts
from dnfscale.spec.learn import LearnSpec
from tests.bench.shortest import learned_from, superfluous
from tests.method.models import vocabularies
from tests.method.rows import Rows, answers, left_out


@st.composite
def counted(draw: st.DrawFn, max_attributes: int) -> tuple[Vocabulary, TypeCounts, Rows]:
    """A tau, the rows that can exist, and counts of some of these."""
    tau = draw(vocabularies(max_attributes=max_attributes))
    rows = Rows(tau)
    types = sorted(set(rows.types().tolist()))
    n = np.array(draw(st.lists(st.integers(0, 3), min_size=len(types), max_size=len(types))))
    c = np.array([draw(st.integers(0, own)) for own in n])
    seen = n > 0
    return tau, TypeCounts(len(tau), np.array(types)[seen], n[seen], c[seen]), rows


def shortest(tau: Vocabulary, counts: TypeCounts, **freedom: object) -> Dnf:
    columns = row_states(tau)
    truth = truth_of(
        counts,
        columns,
        shrink=Shrink("none"),
        threshold=Fraction(1, 2),
        freedom=Freedom(**freedom),  # type: ignore[arg-type]
    )
    found = minimize(replace(truth, axes=axes_of(tau, columns)))
    assert found.status is Status.PROVEN
    return found.dnf


def worded_cost(tau: Vocabulary, dnf: Dnf) -> tuple[int, int]:
    lines = lines_of(tau, dnf)
    return n_literals(lines), len(lines)


def ideal(counts: TypeCounts) -> set[int]:
    return {int(t) for t, n, c in zip(counts.codes, counts.n, counts.c, strict=True) if 2 * c >= n}


@pytest.mark.slow
@given(counted(max_attributes=6))
@settings(max_examples=40)
def test_each_row_that_can_exist_gets_the_answer_of_its_type_and_one_that_was_not_seen_a_no(found):
    tau, counts, rows = found
    said = answers(tau, shortest(tau, counts), rows)
    assert said.tolist() == [t in ideal(counts) for t in rows.types().tolist()]


@pytest.mark.slow
@given(counted(max_attributes=6))
@settings(max_examples=40)
def test_no_line_and_no_condition_can_be_left_out(found):
    tau, counts, rows = found
    superfluous = left_out(tau, shortest(tau, counts), rows)
    assert not [what for what in superfluous if what.startswith(("line", "condition"))]


@pytest.mark.slow
@given(counted(max_attributes=4))
@settings(max_examples=60)
def test_no_formula_that_answers_each_row_alike_is_shorter(found):
    """The judge tries all sets of lines, each of which says anything at all about each column."""
    tau, counts, rows = found
    scales = Scales(tau.attributes)
    types = sorted(set(rows.types().tolist()))
    wanted = sum(1 << place for place, t in enumerate(types) if t in ideal(counts))
    by_cover: dict[int, int] = {}
    for said in itertools.product(*(choices(scales, at) for at in range(len(scales.scales)))):
        accepted = sum(
            1 << place
            for place, t in enumerate(types)
            if all(t & mask in states for mask, states, _ in said)
        )
        literals = sum(own for *_, own in said)
        if accepted and not accepted & ~wanted:
            by_cover[accepted] = min(literals, by_cover.get(accepted, literals))
    best = {0: (0, 0)}
    for accepted, literals in by_cover.items():
        for covered, (n_before, n_lines) in list(best.items()):
            longer = (n_before + literals, n_lines + 1)
            best[covered | accepted] = min(longer, best.get(covered | accepted, longer))
    assert worded_cost(tau, shortest(tau, counts)) == best[wanted]


def choices(scales: Scales, at: int) -> list[tuple[int, set[int], int]]:
    """Return what can be said about a column in conditions whose answer a type settles: its
    attributes, the states that are left, and the literals.
    """
    scale, states = scales.scales[at], scales.states(at)
    mask = sum(1 << i for i, own in enumerate(scales.of_attribute) if own == at)
    found = []
    for regions in range(1, scale.everything + 1):
        left = {state for place, state in enumerate(states) if regions >> place & 1}
        out = {state for place, state in enumerate(states) if not regions >> place & 1}
        said = scale.literals(regions)
        if said is not None and not left & out:
            found.append((mask, left, len(said)))
    return found


def learned(table: pa.Table, **choices: object) -> Learned:
    return learn(table_source(table, "memory"), LearnSpec("y", outer=0, **choices), SerialEngine())  # type: ignore[arg-type]


COLOURS = ["red", "green", "blue", "grey"] * 30
BY_COLOUR = pa.table({"colour": COLOURS, "y": [colour in ("red", "blue") for colour in COLOURS]})


def test_of_a_column_that_equals_a_value_nothing_more_is_said():
    found = learned(BY_COLOUR, max_ell=4, tolerance=0.0).model
    assert found.dnf.render(found.tau.names) in (
        "colour_blue or colour_red",
        "colour_red or colour_blue",
    )
    [line] = found.lines
    assert said_texts(line.literals) == ["colour in {blue, red}"]


def test_sympy_writes_the_formula_as_the_paper_does():
    found = learned(BY_COLOUR, minimize="sympy", max_ell=4, tolerance=0.0).model
    assert " and not colour_" in found.dnf.render(found.tau.names)


@pytest.mark.usefixtures("paper_data")
@pytest.mark.parametrize("dataset", ["german_credit", "heart_disease", "road_safety"])
def test_nothing_can_be_left_out_of_the_formulas_of_the_paper_s_datasets(dataset):
    found = learned_from(dataset, "paper", 0)
    assert superfluous([*found.folds, found.model]).keys() == {"literals"}
