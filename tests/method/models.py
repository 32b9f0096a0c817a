"""Models made at random, with columns that hang together, and a slow and obvious judge of the types
of their rows.
"""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dnfscale.apply.evaluate import holds
from dnfscale.core.columns import Categories, Numbers
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import Model
from dnfscale.core.parts import ColumnName, Part, Unit, stored_column
from dnfscale.core.quantities import Kind, Measure, Quantity
from dnfscale.core.tree import to_dnf
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsIn,
    IsMissing,
    IsTrue,
    Vocabulary,
)
from tests.strategies import trees

CUTS = (-np.inf, -1, 0, 0.5, 2, np.inf)
COLOURS = ("red", "green", "blue")
SECONDS = Measure(Kind.TIMESTAMP, 1)
TIMES = tuple(
    datetime.datetime(2020, month, day, hour, tzinfo=datetime.UTC)
    for month, day, hour in (
        (2, 3, 7),
        (3, 2, 12),
        (3, 14, 23),
        (3, 16, 3),
        (3, 31, 20),
        (4, 1, 9),
        (4, 6, 18),
    )
)
"""Mondays are the first, the second, the fourth and the last."""
TIME_CUTS = tuple(
    Quantity(SECONDS, int(datetime.datetime(2020, month, day, tzinfo=datetime.UTC).timestamp()))
    for month, day in ((3, 1), (3, 15), (4, 1))
)


@st.composite
def vocabularies(
    draw: st.DrawFn, *, max_attributes: int = 7, kinds: str = "ncbft", sets: bool = False
) -> Vocabulary:
    """A tau of at least one attribute: columns of numbers, colours (and sets of them), truth
    values, flags and times, in any order.
    """
    asked: list[tuple[ColumnName, str, Any]] = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))):
        column = f"{kind}{number}"
        if kind == "n":
            cuts = draw(st.lists(st.sampled_from((None, *CUTS)), max_size=3))
            asked += [(column, "above", cut) for cut in cuts]
            # Some of them the wrong way round, or between a cut and itself: they hold nowhere.
            ends = draw(
                st.lists(st.tuples(st.sampled_from(CUTS), st.sampled_from(CUTS)), max_size=3)
            )
            asked += [
                (column, "between", pair)
                for pair in (*ends, *[(None, None)][: draw(st.integers(0, 1))])
            ]
        elif kind == "c":
            asked += [
                (column, "equals", value) for value in draw(st.sets(st.sampled_from(COLOURS)))
            ]
            pairs = st.sampled_from(list(itertools.combinations(COLOURS, 2)))
            asked += [(column, "in", pair) for pair in draw(st.sets(pairs))] if sets else []
        elif kind == "b":
            asked += [(column, "equals", value) for value in draw(st.sets(st.booleans()))]
        elif kind == "t":
            hour, weekday, month = (
                Part(column, unit) for unit in (Unit.HOUR, Unit.WEEKDAY, Unit.MONTH)
            )
            asked += [(column, "above", cut) for cut in draw(st.sets(st.sampled_from(TIME_CUTS)))]
            asked += [(hour, "above", cut) for cut in draw(st.sets(st.sampled_from((8, 17))))]
            asked += [(weekday, "equals", "Monday")][: draw(st.integers(0, 1))]
            asked += [
                (month, "equals", value)
                for value in draw(st.sets(st.sampled_from(("March", "April"))))
            ]
        else:
            asked.append((column, "true", "yes"))
        if draw(st.booleans()):
            asked.append((column, "missing", None))
    ranked = draw(st.permutations(asked or [("f0", "true", "yes")]))[:max_attributes]
    make: dict[str, Any] = {
        "above": Above,
        "between": lambda name, column, ends: Between(name, column, *ends),
        "equals": Equals,
        "in": IsIn,
        "true": IsTrue,
        "missing": lambda name, column, _: IsMissing(name, column),
    }
    return Vocabulary(
        tuple(make[test](f"a{i}", column, value) for i, (column, test, value) in enumerate(ranked))
    )


@st.composite
def models(
    draw: st.DrawFn, *, max_attributes: int = 7, max_terms: int = 5, kinds: str = "ncbft"
) -> Model:
    """Any formula over any tau, by its terms or as a tree, with any counts: it need not be the best
    one.
    """
    tau = draw(vocabularies(max_attributes=max_attributes, kinds=kinds, sets=True))
    full = (1 << len(tau)) - 1
    cares = draw(st.lists(st.integers(0, full), max_size=max_terms))
    terms = tuple(Term(care, draw(st.integers(0, full)) & care) for care in cares)
    codes = sorted(
        draw(st.one_of(st.sets(st.integers(0, full), max_size=12), st.just(range(full + 1))))
    )
    n = [draw(st.integers(1, 50)) for _ in codes]
    c = [draw(st.integers(0, rows)) for rows in n]
    arrays = (np.array(column, dtype=np.int64) for column in (codes, n, c))
    tree = draw(st.none() | trees(len(tau)))
    dnf = Dnf(terms) if tree is None else to_dnf(tree)
    return Model("y", (True,), tau, dnf, TypeCounts(len(tau), *arrays), tree=tree)


@st.composite
def learned_models(draw: st.DrawFn) -> Model:
    """A model with the counts of some rows that there can be; values are missing only where tau
    asks for it.
    """
    model = draw(models())
    own: dict[str, list[tuple[int, Attribute]]] = {}
    for i, attribute in enumerate(model.tau.attributes):
        own.setdefault(stored_column(attribute.column), []).append((i, attribute))
    truths = [_truths(asked).tolist() for asked in own.values()]
    rows = draw(st.lists(st.tuples(*map(st.sampled_from, truths)), min_size=1, max_size=8))
    found = sorted(Counter(map(sum, rows)).items())
    arrays = (
        np.array(column, dtype=np.int64) for column in (*zip(*found, strict=True), [0] * len(found))
    )
    return replace(model, counts=TypeCounts(len(model.tau), *arrays))


def value_columns(tau: Vocabulary) -> dict[ColumnName, tuple[int, set[int]]]:
    """The judge: for each column the bits of its attributes, and the truth values that some value
    gives them.
    """
    found = {}
    for column in dict.fromkeys(attribute.column for attribute in tau.attributes):
        own = [
            (i, attribute)
            for i, attribute in enumerate(tau.attributes)
            if attribute.column == column
        ]
        found[column] = (sum(1 << i for i, _ in own), set(_truths(own).tolist()))
    return found


def possible_columns(tau: Vocabulary, seen: Iterable[int]) -> list[tuple[int, set[int]]]:
    """The judge: for each column and its parts the bits of their attributes, and the truth values
    that they had.

    That is in the types that were seen, if some value gives each by itself its truth values there.
    Where there is no such type, each by itself and all that some value gives it.
    """
    stored: dict[str, list[tuple[int, set[int]]]] = {}
    for column, judged in value_columns(tau).items():
        stored.setdefault(stored_column(column), []).append(judged)
    found = []
    for columns in stored.values():
        whole = sum(mask for mask, _ in columns)
        had = {
            code & whole for code in seen if all(code & mask in states for mask, states in columns)
        }
        found += [(whole, had)] if had else columns
    return found


def reachable_types(model: Model, code: int) -> list[int]:
    """The judge: every type in which each column is as it was, or in a possible state."""
    columns = possible_columns(model.tau, model.counts.codes.tolist())
    choices = [sorted(states | {code & mask}) for mask, states in columns]
    return [sum(parts) for parts in itertools.product(*choices)]


def _truths(own: Iterable[tuple[int, Attribute]]) -> np.ndarray[Any, Any]:
    """The truth values of attributes of one stored column for each of its values, missing only if
    one asks for it.
    """
    own = list(own)
    truths = sum(_truth(attribute).astype(np.int64) << i for i, attribute in own)
    assert isinstance(truths, np.ndarray)
    return truths if any(isinstance(attribute, IsMissing) for _, attribute in own) else truths[:-1]


def _values(column: ColumnName) -> list[Any]:
    """What a column may be; of a part in the order of the column that it is part of."""
    if isinstance(column, Part):
        part = {
            Unit.HOUR: lambda t: t.hour,
            Unit.WEEKDAY: lambda t: f"{t:%A}",
            Unit.MONTH: lambda t: f"{t:%B}",
        }
        return [part[column.unit](time) for time in TIMES]
    numbers = [-np.inf, -5.0, *(c + d for c in CUTS[1:-1] for d in (0.0, 0.25)), 9.0, np.inf]
    times = [int(time.timestamp()) for time in TIMES]
    known = {
        "n": numbers,
        "c": [*COLOURS, "grey"],
        "b": [True, False],
        "f": ["yes", "no"],
        "t": times,
    }
    return known[column[0]]


def _truth(attribute: Attribute) -> np.ndarray[Any, Any]:
    """Whether an attribute holds for each value that its column may have, and last where it is
    missing.

    Numbers, times and the hours of times are compared; all else is one of some categories.
    """
    column, values = attribute.column, _values(attribute.column)
    present = np.array([True] * len(values) + [False])
    if str(column)[0] in "nth":
        return holds(
            attribute,
            Numbers(np.array([*values, 0]), present, SECONDS if str(column)[0] == "t" else None),
        )
    return holds(attribute, Categories(np.array([*range(len(values)), -1]), tuple(values)))
