"""A second judge: an answer-set program that says what a formula is, solved by clingo, on real rows
at small sizes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dnfscale.datasets.named import FOLDER_VARIABLE
from dnfscale.formula_size import Limits, TypeTable, search, tabulate

from .judge import random_table

clingo = pytest.importorskip("clingo", reason="clingo, the second judge, is not installed")
pytest.importorskip("numba", reason="the formula-size method is an extra")

PROGRAM = """
% A formula has nodes 1 to K, K at most the bound, and is written from the root on: the first operand of a node
% comes right after it. Every node but the root is an operand of exactly one.
1 { length(1..bound) } 1.
node(1..K) :- length(K).
1 { symbol(N, A) : attribute(A) ; negation(N) ; conjunction(N) ; disjunction(N) } 1 :- node(N).
binary(N) :- conjunction(N).
binary(N) :- disjunction(N).
operand(N, N + 1) :- negation(N).
operand(N, N + 1) :- binary(N).
1 { second(N, M) : M = N + 2..bound } 1 :- binary(N).
operand(N, M) :- second(N, M).
:- operand(N, M), not node(M).
:- node(M), M > 1, #count { N : operand(N, M) } != 1.

true(N, T) :- symbol(N, A), holds(T, A).
true(N, T) :- negation(N), type(T), not true(N + 1, T).
true(N, T) :- conjunction(N), true(N + 1, T), second(N, M), true(M, T).
true(N, T) :- disjunction(N), true(N + 1, T).
true(N, T) :- disjunction(N), second(N, M), true(M, T).

#minimize { F@2, T : true(1, T), if_true(T, F) ; F@2, T : type(T), not true(1, T), if_false(T, F) ; K@1 : length(K) }.
"""


def by_clingo(table: TypeTable, bound: int) -> tuple[int, int]:
    """Return the fewest errors of a formula within a bound, and the smallest size that has
    so few.
    """
    facts = [f"attribute(0..{table.n_attributes - 1}). #const bound = {bound}."]
    for t, (row, n, c) in enumerate(
        zip(table.holds, table.n.tolist(), table.c.tolist(), strict=True)
    ):
        facts.append(f"type({t}). if_true({t}, {n - c}). if_false({t}, {c}).")
        facts += [f"holds({t}, {a})." for a in np.flatnonzero(row)]
    control = clingo.Control(["--opt-strategy=bb,lin"])
    control.add("base", [], PROGRAM + "\n".join(facts))
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        costs = [model.cost for model in handle]
        assert handle.get().exhausted
    errors, length = costs[-1]
    return errors, length


def assert_clingo_agrees(table: TypeTable, max_size: int) -> None:
    for result in search(table, Limits(max_size)):
        assert (result.errors, result.formula_size) == by_clingo(table, result.size)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_clingo_finds_no_better_formula_of_random_rows(seed):
    assert_clingo_agrees(random_table(np.random.default_rng(seed), n_attributes=4, max_types=12), 6)


def real_rows(folder: Path, name: str, seed: int) -> TypeTable:
    """Return 70 % of the rows of a paper dataset whose features are numbers, above their medians or
    not.
    """
    pandas = pytest.importorskip("pandas")
    import tomllib

    record = tomllib.loads((folder / "index.toml").read_text("utf-8"))["datasets"][name]
    frame = pandas.read_parquet(folder / record["file"]).drop(columns=record["drop"]).dropna()
    frame = frame.sample(frac=0.7, random_state=seed)
    target = frame.pop(record["target"]).isin(record["positive"]).to_numpy()
    values = frame.to_numpy(dtype=np.float64)
    return tabulate(values > np.median(values, axis=0), target)


@pytest.mark.parametrize(("name", "max_size"), [("breast_cancer", 5), ("hepatitis", 4)])
def test_clingo_finds_no_better_formula_of_real_rows(paper_data, name, max_size):
    assert FOLDER_VARIABLE
    assert_clingo_agrees(real_rows(paper_data, name, seed=0), max_size)
