"""The one list of the keys that a job's spec may have, each with its check and its default.

A check returns the value as the job uses it, or raises an error that says what the value must be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, time
from itertools import chain
from typing import Any

from dnfscale.core.arrays import is_whole
from dnfscale.core.columns import MOST_CATEGORIES
from dnfscale.core.model import MISSING, MOST_ELL, UNSEEN
from dnfscale.core.parts import Unit
from dnfscale.core.tree import MOST_SIZE
from dnfscale.data.storage import check_endpoint, check_path, is_remote
from dnfscale.experiment.peers import PEERS
from dnfscale.experiment.tuning import PRUNERS
from dnfscale.jobs.checks import Check, Field
from dnfscale.jobs.checks import one_of as _one_of
from dnfscale.jobs.checks import real as _real
from dnfscale.jobs.checks import seconds as _seconds
from dnfscale.jobs.checks import text as _text
from dnfscale.jobs.checks import texts as _texts
from dnfscale.jobs.checks import whole as _whole
from dnfscale.jobs.checks import yes_no as _yes_no
from dnfscale.jobs.cluster_spec import CLUSTER_FIELDS
from dnfscale.learn.spec import MINIMIZE, PROFILES, RANKS, VALIDATION, LearnSpec
from dnfscale.method.cuts import CUTS, MOST_CUTS, written_cuts
from dnfscale.method.formula_size.choice import LEAST_PATIENCE
from dnfscale.method.objective import OBJECTIVES
from dnfscale.method.shrink import SHRINK
from dnfscale.method.sweep import RULES

METHODS = ("ideal", "majority", "one_rule", "random_forest", "xgboost", "formula_size", *PEERS)
"""The methods that a study can run, in the order in which they are shown."""
TUNED = ("random_forest", "xgboost")
SIZED = "formula_size"
STORAGE_KEYS = ("endpoint", "region", "anonymous")
_DEFAULTS = LearnSpec(target="")


def _share(low: float, high: float) -> Check:
    def check(value: Any) -> float:
        if not low <= _real(value) <= high:
            raise ValueError(f"a number between {low} and {high}")
        return float(value)

    return check


def _threshold(value: Any) -> float:
    if not 0 < _real(value) < 1:
        raise ValueError("a number above 0 and below 1")
    return float(value)


def _path(value: Any) -> str:
    return check_path(_text(value))


def _local_path(value: Any) -> str:
    if is_remote(_path(value)):
        raise ValueError("a path of this machine, not an URL")
    return str(value)


def _endpoint(value: Any) -> str:
    return check_endpoint(_text(value))


def _column(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("the name of a column")
    return value


def _labels(value: Any) -> tuple[Any, ...]:
    labels = value if isinstance(value, list) else [value]
    if not labels or not all(isinstance(item, str | int | float | bool) for item in labels):
        raise ValueError("a list of labels: strings, numbers or booleans")
    return tuple(labels)


def _cuts(value: Any) -> str | int:
    if not is_whole(value, 1, MOST_CUTS) and (not isinstance(value, str) or value not in CUTS):
        known = ", ".join(map(repr, CUTS))
        raise ValueError(f"one of {known}, or a number of quantiles between 1 and {MOST_CUTS}")
    return value  # type: ignore[no-any-return]


def _given_cuts(value: Any) -> dict[str, tuple[int | float | str, ...]]:
    def is_cut(cut: Any) -> bool:
        return isinstance(cut, str | date | time) or abs(_real(cut)) < float("inf")

    cuts = written_cuts(value or None)
    if not all(map(is_cut, chain.from_iterable(value.values()))):
        raise ValueError("a table of columns and finite numbers, dates or times, such as {age = [18, 65]}")
    return cuts


def _parts(value: Any) -> tuple[str, ...] | dict[str, list[str]]:
    def are_units(units: Any) -> bool:
        return isinstance(units, list) and all(unit in list(Unit) for unit in units) and len(set(units)) == len(units)

    if are_units(value):
        return tuple(value)
    if not isinstance(value, dict) or not all(units and are_units(units) for units in value.values()):
        known = ", ".join(map(repr, map(str, Unit)))
        raise ValueError(
            f"a list out of {known}, for all dates and times, or a table of columns and such lists, as in "
            '{admitted = ["weekday"]}'
        )
    return dict(value)


def _splits(value: Any) -> int | str:
    if value == "auto":
        return "auto"
    try:
        return int(_whole(1, 100)(value))
    except ValueError:
        raise ValueError('"auto" or a whole number between 1 and 100') from None


def _positive(value: Any) -> float:
    if not 0 < _real(value) < float("inf"):
        raise ValueError("a number greater than 0")
    return float(value)


def _positives(value: Any) -> tuple[float, ...]:
    listed = value if isinstance(value, list) else [value]
    try:
        numbers = tuple(map(_positive, listed))
    except ValueError:
        numbers = ()
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError("a number greater than 0, or a list of different ones")
    return numbers


def _ranks(value: Any) -> tuple[str, ...]:
    known = list(RANKS)
    if (
        not isinstance(value, list)
        or not value
        or not all(item in known for item in value)
        or len(set(value)) < len(value)
    ):
        raise ValueError("a list of different rankings out of " + ", ".join(map(repr, known)))
    return tuple(value)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", value):
        raise ValueError(
            "a name of letters, digits, dots, hyphens and underscores, because the run's folder is called so"
        )
    return value


def _folds(value: Any) -> int | str:
    if value == "leave-one-out":
        return str(value)
    try:
        return int(_whole(2)(value))
    except ValueError:
        raise ValueError('a whole number of at least 2, or "leave-one-out"') from None


def _methods(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(item in METHODS for item in value):
        raise ValueError("a list of methods out of " + ", ".join(map(repr, METHODS)))
    return tuple(method for method in METHODS if method in value)


FIELDS: Mapping[str, Field] = {
    "schema_version": Field(_whole(1, 1), required=True),
    "name": Field(_name),
    "kind": Field(_one_of("fit", "study", "distill"), "study"),
    "seed": Field(_whole(0), _DEFAULTS.seed),
    "profile": Field(_one_of(*PROFILES), "paper"),
    "methods": Field(_methods),
    "data.path": Field(_path, required=True),
    "data.storage.endpoint": Field(_endpoint),
    "data.storage.region": Field(_text),
    "data.storage.anonymous": Field(_yes_no),
    "data.target": Field(_column),
    "data.positive": Field(_labels),
    "data.classes": Field(_one_of("two", "all"), _DEFAULTS.classes),
    "data.weight": Field(_column),
    "data.drop": Field(_texts),
    "data.categorical": Field(_texts),
    "data.boolean": Field(_texts),
    "data.missing": Field(_one_of(*MISSING), _DEFAULTS.missing),
    "data.max_categories": Field(_whole(1, MOST_CATEGORIES), _DEFAULTS.max_categories),
    "booleanize.cuts": Field(_cuts, _DEFAULTS.cuts),
    "booleanize.at": Field(_given_cuts),
    "booleanize.intervals": Field(_yes_no, _DEFAULTS.intervals),
    "booleanize.parts": Field(_parts, _DEFAULTS.parts),
    "booleanize.rare": Field(_whole(0), _DEFAULTS.rare),
    "select.rank": Field(_ranks, _DEFAULTS.rank),
    "select.max_ell": Field(_whole(1, MOST_ELL), _DEFAULTS.max_ell),
    "select.validation": Field(_share(*VALIDATION), _DEFAULTS.validation),
    "select.validation_splits": Field(_splits, _DEFAULTS.splits),
    "select.tolerance": Field(_share(0.0, 1.0), _DEFAULTS.tolerance),
    "select.rule": Field(_one_of(*RULES), _DEFAULTS.rule),
    "select.drop_duplicates": Field(_yes_no, _DEFAULTS.drop_duplicates),
    "formula.objective": Field(_one_of(*OBJECTIVES), _DEFAULTS.objective),
    "formula.beta": Field(_positive, float(_DEFAULTS.beta)),
    "formula.threshold": Field(_threshold, float(_DEFAULTS.threshold)),
    "formula.shrink": Field(_one_of(*SHRINK), _DEFAULTS.shrink),
    "formula.shrink_rows": Field(_positives, _DEFAULTS.shrink_rows),
    "formula.freedom": Field(_share(0.0, 1.0), _DEFAULTS.freedom),
    "formula.unseen": Field(_one_of(*UNSEEN), _DEFAULTS.unseen),
    "formula.minimize": Field(_one_of(*MINIMIZE), _DEFAULTS.minimize),
    "folds.outer": Field(_folds),
    "folds.frontier": Field(_yes_no, _DEFAULTS.frontier),
    "distill.model": Field(_local_path),
    "distill.threshold": Field(_threshold, 0.5),
    "baselines.random_forest.trials": Field(_whole(1)),
    "baselines.random_forest.timeout_s": Field(_seconds),
    "baselines.random_forest.pruner": Field(_one_of(*PRUNERS)),
    "baselines.xgboost.trials": Field(_whole(1)),
    "baselines.xgboost.timeout_s": Field(_seconds),
    "baselines.xgboost.pruner": Field(_one_of(*PRUNERS)),
    f"baselines.{SIZED}.max_size": Field(_whole(1, MOST_SIZE)),
    f"baselines.{SIZED}.time_limit_s": Field(_seconds),
    f"baselines.{SIZED}.patience": Field(_whole(LEAST_PATIENCE)),
    f"baselines.{SIZED}.max_types": Field(_whole(2)),
    "baselines.decision_tree.max_leaves": Field(_whole(2, 1024)),
    "baselines.ripper.run": Field(_yes_no),
    "baselines.ebm.run": Field(_yes_no),
    **CLUSTER_FIELDS,
    "output.dir": Field(_path, "runs"),
    "output.storage.endpoint": Field(_endpoint),
    "output.storage.region": Field(_text),
    "output.storage.anonymous": Field(_yes_no),
}
"""Every key that a spec may have."""

LEARNED: Mapping[str, str] = {
    "data.classes": "classes",
    "data.weight": "weight",
    "data.missing": "missing",
    "data.max_categories": "max_categories",
    "booleanize.cuts": "cuts",
    "booleanize.intervals": "intervals",
    "booleanize.parts": "parts",
    "booleanize.rare": "rare",
    "select.rank": "rank",
    "select.max_ell": "max_ell",
    "select.validation": "validation",
    "select.validation_splits": "splits",
    "select.tolerance": "tolerance",
    "select.rule": "rule",
    "select.drop_duplicates": "drop_duplicates",
    "formula.objective": "objective",
    "formula.shrink": "shrink",
    "formula.shrink_rows": "shrink_rows",
    "formula.freedom": "freedom",
    "formula.unseen": "unseen",
    "formula.minimize": "minimize",
    "folds.frontier": "frontier",
}
"""Keys that go into a LearnSpec unchanged, and their names there."""
