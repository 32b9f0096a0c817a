"""Models made at random, with columns that hang together, and a slow and obvious judge of the types of their rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dnfscale.core.columns import Categories, Numbers
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import Model
from dnfscale.core.tree import to_dnf
from dnfscale.core.vocabulary import Above, Attribute, Between, Equals, IsMissing, IsTrue, Vocabulary
from dnfscale.evaluate import holds
from tests.strategies import trees

CUTS = (-np.inf, -1, 0, 0.5, 2, np.inf)
COLOURS = ("red", "green", "blue")


@st.composite
def vocabularies(draw: st.DrawFn, *, max_attributes: int = 7) -> Vocabulary:
    """A tau of at least one attribute: columns of numbers, colours, truth values and flags, in any order."""
    asked: list[tuple[str, str, Any]] = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from("ncbf"), min_size=1, max_size=4))):
        column = f"{kind}{number}"
        if kind == "n":
            cuts = draw(st.lists(st.sampled_from((None, *CUTS)), max_size=3))
            asked += [(column, "above", cut) for cut in cuts]
            # Some of them the wrong way round, or between a cut and itself: they hold nowhere.
            ends = draw(st.lists(st.tuples(st.sampled_from(CUTS), st.sampled_from(CUTS)), max_size=3))
            asked += [(column, "between", pair) for pair in (*ends, *[(None, None)][: draw(st.integers(0, 1))])]
        elif kind == "c":
            asked += [(column, "equals", value) for value in draw(st.sets(st.sampled_from(COLOURS)))]
        elif kind == "b":
            asked += [(column, "equals", value) for value in draw(st.sets(st.booleans()))]
        else:
            asked.append((column, "true", "yes"))
        if draw(st.booleans()):
            asked.append((column, "missing", None))
    ranked = draw(st.permutations(asked or [("f0", "true", "yes")]))[:max_attributes]
    make: dict[str, Any] = {
        "above": Above,
        "between": lambda name, column, ends: Between(name, column, *ends),
        "equals": Equals,
        "true": IsTrue,
        "missing": lambda name, column, _: IsMissing(name, column),
    }
    return Vocabulary(tuple(make[test](f"a{i}", column, value) for i, (column, test, value) in enumerate(ranked)))


@st.composite
def models(draw: st.DrawFn, *, max_attributes: int = 7, max_terms: int = 5) -> Model:
    """Any formula over any tau, by its terms or as a tree, with any counts: it need not be the best one."""
    tau = draw(vocabularies(max_attributes=max_attributes))
    full = (1 << len(tau)) - 1
    cares = draw(st.lists(st.integers(0, full), max_size=max_terms))
    terms = tuple(Term(care, draw(st.integers(0, full)) & care) for care in cares)
    codes = sorted(draw(st.one_of(st.sets(st.integers(0, full), max_size=12), st.just(range(full + 1)))))
    n = [draw(st.integers(1, 50)) for _ in codes]
    c = [draw(st.integers(0, rows)) for rows in n]
    arrays = (np.array(column, dtype=np.int64) for column in (codes, n, c))
    tree = draw(st.none() | trees(len(tau)))
    dnf = Dnf(terms) if tree is None else to_dnf(tree)
    return Model("y", (True,), tau, dnf, TypeCounts(len(tau), *arrays), tree=tree)


def possible_columns(tau: Vocabulary, seen: Iterable[int] = ()) -> list[tuple[int, set[int]]]:
    """The judge: for each column the bits of its attributes, and the truth values that some value gives them.

    Of these, those that some type which was seen has; all of them if there is none.
    """
    found = []
    for column in dict.fromkeys(attribute.column for attribute in tau.attributes):
        own = [(i, attribute) for i, attribute in enumerate(tau.attributes) if attribute.column == column]
        mask = sum(1 << i for i, _ in own)
        asks_missing = any(isinstance(attribute, IsMissing) for _, attribute in own)
        truth = np.zeros(len(_values(column)) + 1, dtype=np.int64)
        for i, attribute in own:
            truth |= _truth(attribute, column).astype(np.int64) << i
        states = set(truth[: None if asks_missing else -1].tolist())
        found.append((mask, states & {code & mask for code in seen} or states))
    return found


def reachable_types(model: Model, code: int) -> list[int]:
    """The judge: every type in which each column is as it was, or in a possible state."""
    columns = possible_columns(model.tau, model.counts.codes.tolist())
    choices = [sorted(states | {code & mask}) for mask, states in columns]
    return [sum(parts) for parts in itertools.product(*choices)]


def _values(column: str) -> list[Any]:
    numbers = [-np.inf, -5.0, *(c + d for c in CUTS[1:-1] for d in (0.0, 0.25)), 9.0, np.inf]
    return {"n": numbers, "c": [*COLOURS, "grey"], "b": [True, False], "f": ["yes", "no"]}[column[0]]


def _truth(attribute: Attribute, column: str) -> np.ndarray[Any, Any]:
    """Whether an attribute holds for each value that the column may have, and last where it is missing."""
    values = _values(column)
    present = np.array([True] * len(values) + [False])
    if column[0] == "n":
        return holds(attribute, Numbers(np.array([*values, 0.0]), present))
    return holds(attribute, Categories(np.array([*range(len(values)), -1]), tuple(values)))
