"""Formulas of lines against plain pandas, and against the same formulas by their attributes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.counts import merge_counts, tally_types
from dnfscale.core.model import Model, formula_of
from dnfscale.core.vocabulary import Above, Attribute, Between, Equals, IsIn, IsMissing
from tests.export import examples
from tests.export.examples import Case, empty_counts, expected, probabilities, types
from tests.judges import by_lines

COLOURS = ("red", "green", "blue", "grey")
NUMBERS = (None, 0.0, 0.5, 1.0, 2.0, 3.5)


@st.composite
def conditions(draw: st.DrawFn) -> tuple[Attribute, bool]:
    place = draw(st.integers(0, 5))
    number, colour = f"x{place}", f"s{place}"
    low, high = draw(st.sampled_from([(0.0, 1.0), (0.25, 2.0), (1.0, 3.0)]))
    asked: list[Attribute] = [
        Above("above", number, low),
        Between("between", number, low, high),
        IsMissing("missing", draw(st.sampled_from([number, colour]))),
        Equals("equals", colour, draw(st.sampled_from(COLOURS[:3]))),
        IsIn("in", colour, draw(st.sampled_from([("red", "blue"), ("blue", "never seen")]))),
    ]
    return draw(st.sampled_from(asked)), draw(st.booleans())


@st.composite
def frames(draw: st.DrawFn, n_rows: int = 30) -> pd.DataFrame:
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns: dict[str, object] = {}
    for place in range(6):
        columns[f"x{place}"] = np.array(random.choice(NUMBERS, n_rows), dtype=float)
        columns[f"s{place}"] = random.choice(np.array([*COLOURS, None], dtype=object), n_rows)
    columns["y"] = random.random(n_rows) < 0.5
    return pd.DataFrame(columns)


def holds(attribute: Attribute, frame: pd.DataFrame) -> pd.Series:
    """The judge: an attribute in pandas; of a missing value only IsMissing is true."""
    column = frame[attribute.column]
    match attribute:
        case Above():
            return column > attribute.value
        case Between():
            return (column > attribute.low) & (column <= attribute.high)
        case Equals():
            return column == attribute.value
        case IsIn():
            return column.isin(attribute.values)
    return column.isna()


def patterns(lines: list[dict[Attribute, bool]], frame: pd.DataFrame) -> list[tuple[bool, ...]]:
    """The judge: which lines hold in each row."""
    found = []
    for line in lines:
        held = pd.Series(True, index=frame.index)
        for attribute, wanted in line.items():
            held &= holds(attribute, frame) == wanted
        found.append(held.tolist())
    return list(zip(*found, strict=True))


@given(
    st.lists(st.lists(conditions(), max_size=4).map(dict), min_size=1, max_size=20),
    st.booleans(),
    frames(),
    frames(),
)
def test_answers_and_probabilities_are_those_of_plain_pandas(lines, says, learned, asked):
    tau, dnf = formula_of([list(line.items()) for line in lines])
    model = Model("y", (True,), tau, dnf, empty_counts(len(lines)), "indicator", types="lines")
    whole = pa.Table.from_pandas(learned, preserve_index=False)
    counts = [
        tally_types(types(model, whole)[rows], learned["y"][rows], len(lines))
        for rows in (slice(0, 10), slice(10, None))
    ]
    model = replace(model, counts=merge_counts(counts), answer=says)
    assert merge_counts(counts[::-1]) == model.counts
    seen = patterns(lines, learned)
    case = Case(model, pa.Table.from_pandas(asked, preserve_index=False))
    for held, answer, probability in zip(
        patterns(lines, asked), expected(model, case.table), probabilities(case), strict=True
    ):
        assert answer == (any(held) == says)
        alike = learned["y"][[pattern == held for pattern in seen]]
        smoothed = (int(alike.sum()) + 1) / (len(alike) + 2)
        side = max if answer else min
        assert probability == side(smoothed, np.nextafter(0.5, float(answer)))


@given(made=examples.cases())
def test_a_formula_answers_alike_by_its_attributes_and_by_its_lines(made):
    if made.model.types == "lines" or made.model.tree is not None:
        return
    lines = by_lines(made.model)
    assert expected(lines, made.table) == expected(made.model, made.table)
    assert lines.counts.n_rows == made.model.counts.n_rows
    assert lines.counts.c.sum() == made.model.counts.c.sum()
    table = lines.table()
    for code, t in zip(
        types(made.model, made.table).tolist(), types(lines, made.table).tolist(), strict=True
    ):
        assert lines.type_of(code) == t
        assert table.first(np.array([t])) == made.model.table().first(np.array([code]))
