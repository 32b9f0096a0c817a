"""Results of the schema dnfscale.result/1 in the shape of dnfscale.result/2.

What the first schema did not record is null. It had no counts behind its accuracies, and its
formulas were text, so their lines are parsed. Weights were floats; a unit in which all of them are
whole numbers becomes the unit, and if there is none, they are null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dnfscale.core.formula import quote
from dnfscale.errors import DataError

_MOST = 1 << 53
"""Floats represent all whole numbers up to this one exactly."""
_TENS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
_MISSHAPEN = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
"""The errors that a damaged record causes here; what is of the wrong type only is found later."""

Parsed = Any
"""Parsed JSON of which nothing is known yet."""


def upgraded(record: Parsed) -> dict[str, Parsed]:
    """Return a parsed result.json of the first schema in the shape of the second."""
    try:
        return _Upgrade(record).result()
    except _MISSHAPEN as error:
        told = f"{type(error).__name__}: {error}"
        raise DataError(
            f"expected a result, but it is damaged ({told:.100}); run the job again"
        ) from error


class _Upgrade:
    """The upgrade of one result."""

    def __init__(self, record: Parsed) -> None:
        self._record = record
        self._unit = _unit_of(record) if record.get("data", {}).get("weight") else 1

    def result(self) -> dict[str, Parsed]:
        record = self._record
        methods = {name: self._method(own) for name, own in record.get("methods", {}).items()}
        return {
            "schema": "dnfscale.result/2",
            "name": str(record.get("name", "")),
            "kind": record.get("kind", "study"),
            "seed": record.get("seed"),
            "profile": record.get("profile", "paper"),
            "data": self._data(record.get("data", {})),
            "methods": methods,
            "comparisons": record.get("comparisons"),
            "timing": _timing(record.get("timing", {}), methods),
            "environment": _environment(record.get("environment", {})),
        }

    def _data(self, data: Parsed) -> dict[str, Parsed]:
        weight = data.get("weight")
        sizes = ("rows", "rows_dropped", "columns", "attributes")
        return {
            **{key: data.get(key, 0) for key in sizes},
            "positive_rows": data.get("positive_rows"),
            "silent_columns": data.get("silent_columns") or (),
            "weight": {**weight, "unit": self._unit} if weight else None,
            "classes": [{"rows": 0, **entry} for entry in data.get("classes") or ()],
        }

    def _method(self, method: Parsed) -> dict[str, Parsed]:
        folds = [self._fold(number, fold) for number, fold in enumerate(method.get("folds") or ())]
        means = ("accuracy_mean", "accuracy_std", "fidelity_mean", "fidelity_std", "ell_mean")
        return {
            **{key: method.get(key) for key in (*means, "size_mean")},
            "literals_mean": method.get("literals_mean", _mean(folds, "literals")),
            "objective": _objective(method),
            "frontier": [{"terms_mean": None, **step} for step in method.get("frontier") or ()],
            "folds": folds,
            "model": self._all_rows(method["model"]) if method.get("model") else None,
        }

    def _fold(self, number: int, fold: Parsed) -> dict[str, Parsed]:
        rows = ("train_rows", "validation_rows", "test_rows")
        confusion = fold.get("confusion")
        return {
            "fold": fold.get("fold", number),
            **{key: fold.get(key) for key in (*rows, "accuracy", "fidelity", "error", "attribute")},
            "confusion_matrix": confusion and self._answers(confusion),
            **self._formulas(fold),
            **({"literals": fold["literals"]} if "literals" in fold else {}),
            "tuning": _tuning(fold) if "params" in fold else None,
        }

    def _answers(self, confusion: Parsed) -> list[list[Parsed]] | None:
        known = self._unit is not None
        return [list(map(self._units, row)) for row in confusion] if known else None

    def _all_rows(self, model: Parsed) -> dict[str, Parsed]:
        known = {key: model.get(key) for key in ("rows", "training_accuracy", "error")}
        return {**known, **self._formulas(model)}

    def _formulas(self, record: Parsed) -> dict[str, Parsed]:
        """Return the formulas of a fold, or of all rows; those of bounded size apart."""
        entries = record.get("classes") or (record,)
        if "formula" not in entries[0]:
            return {}
        if "path" in entries[0]:
            return {"sized": [_sized(entry) for entry in entries]}
        # A method that nobody knows may have a formula of another kind.
        return (
            {"formulas": [self._formula(each) for each in entries]} if "terms" in entries[0] else {}
        )

    def _formula(self, entry: Parsed) -> dict[str, Parsed]:
        return {
            "label": entry.get("label"),
            "search": "attributes",
            **{key: entry.get(key, 0) for key in ("ell", "terms", "literals")},
            **{key: entry.get(key) for key in ("used", "rank", "shrink_rows", "minimized")},
            "attributes": [{"name": name} for name in entry.get("attributes") or ()],
            "formula": entry["formula"],
            "lines": self._lines(entry),
            "sweep": [_step(step) for step in entry.get("sweep") or ()],
            "certificate": _certificate(entry.get("certificate")),
        }

    def _lines(self, entry: Parsed) -> list[Parsed] | None:
        """Return the terms of a formula with their rows; None if its text is no disjunction."""
        terms = parse_terms(entry["formula"], entry.get("attributes") or ())
        if terms is None:
            return None
        counts = entry.get("term_counts") or entry.get("term_weights") or ()
        known = counts if len(counts) == len(terms) else [{}] * len(terms)
        return [
            {
                "all": [{"attribute": index, "value": holds} for index, holds in term],
                **{key: self._units(count[key]) for key in ("n", "c") if key in count},
            }
            for term, count in zip(terms, known, strict=True)
        ]

    def _units(self, weight: Parsed) -> Parsed:
        """Return a weight in units, in which it is a whole number; None without a unit."""
        return None if self._unit is None else round(weight * self._unit)


def parse_terms(text: str, names: Sequence[str]) -> list[list[tuple[int, bool]]] | None:
    """Return the terms of a formula as `core.formula.Dnf.render` writes them over attributes.

    Each term is a list of (attribute, whether it holds). Brackets may stand around whole terms
    only; anything else, or another name, gives None, not a guess.
    """
    tokens = _tokens(text)
    if tokens in (["false"], ["true"]):
        return [] if tokens == ["false"] else [[]]
    index = {quote(name): place for place, name in enumerate(names)}
    terms: list[list[tuple[int, bool]]] = [[]]
    expected, bracketed, holds = "name", False, True
    for token in tokens or [""]:
        if token in index and expected == "name":
            terms[-1].append((index[token], holds))
            expected, holds = "and", True
        elif token == "not" and expected == "name" and holds:
            holds = False
        elif token == "(" and expected == "name" and holds and not terms[-1] and not bracketed:
            bracketed = True
        elif token == ")" and expected == "and" and bracketed:
            expected = "or"
        elif token == "and" and expected == "and":
            expected = "name"
        elif token == "or" and (expected == "or" or (expected == "and" and not bracketed)):
            terms.append([])
            expected, bracketed = "name", False
        else:
            return None
    return terms if expected == "or" or (expected == "and" and not bracketed) else None


_TOKEN = re.compile(r'\s*([()]|"(?:[^"\\]|\\.)*"|\w+)')


def _tokens(text: str) -> list[str] | None:
    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        tokens.append(match[1])
        at = match.end()
    return tokens


def _unit_of(record: Parsed) -> int | None:
    """Return a unit that makes a whole number of every recorded weight; None if none is found.

    Weights were counted in powers of ten if they were decimals, and otherwise in powers of two.
    """
    weights = list(_weights(record))
    finest = max(weight.as_integer_ratio()[1] for weight in weights)
    units: list[int] = [*_TENS, finest]
    for unit in units:
        whole = max(weights) * unit < _MOST and all(round(w * unit) / unit == w for w in weights)
        if whole:
            return unit
    return None


def _weights(record: Parsed) -> Iterator[int | float]:
    """Yield every recorded weight that is counted in units from now on."""
    yield record["data"]["weight"]["total"]
    for method in record.get("methods", {}).values():
        for part in (*(method.get("folds") or ()), method.get("model") or {}):
            yield from (weight for row in part.get("confusion") or () for weight in row)
            for entry in part.get("classes") or (part,):
                for count in entry.get("term_weights") or ():
                    yield from (count["n"], count["c"])


def _objective(method: Parsed) -> dict[str, Parsed] | None:
    objective = method.get("objective")
    if not isinstance(objective, Mapping) or "name" not in objective:
        return None
    figures = {key: method.get(f"objective_{key}") for key in ("mean", "std", "constant_mean")}
    return {"beta": None, "threshold": None, **objective, **figures}


def _tuning(fold: Parsed) -> dict[str, Parsed]:
    trials = {key: fold.get(key, 0) for key in ("trials", "failed_trials", "pruned_trials")}
    return {
        "validation_correct": None,
        "validated": None,
        "validation_accuracy": fold.get("validation_accuracy"),
        "params": fold["params"],
        **trials,
    }


def _step(step: Parsed) -> dict[str, Parsed]:
    accuracy, rank = step.get("validation_accuracy"), step.get("rank")
    return {
        "ell": step["ell"],
        "rank": rank,
        "attributes": step.get("attributes") or (),
        "validation_accuracy": accuracy,
        "validation_score": step.get("validation_score"),
        "by_rank": step.get("by_rank") or {str(rank): accuracy},
    }


def _sized(entry: Parsed) -> dict[str, Parsed]:
    unknown = {"formula_size": None, "validation_accuracy": None, "proved": False}
    kept = ("formula", "label", "errors", "cost", "distinct_rows", "attributes_searched")
    return {
        **{key: entry.get(key) for key in kept},
        "size": entry.get("size", 0),
        "chosen_size": entry.get("chosen_size", entry.get("size", 0)),
        "attributes": [{"name": name} for name in entry.get("attributes") or ()],
        "proved": entry.get("proved", False),
        "exact_over_all_attributes": entry.get("exact_over_all_attributes", True),
        "path": [{**unknown, **step} for step in entry["path"]],
        "certificate": _certificate(entry.get("certificate")),
    }


def _certificate(record: Parsed) -> dict[str, Parsed] | None:
    if not record or record.get("rows") is None or record.get("delta") is None:
        return None
    return {"chosen_on_the_same_rows": True, "threshold": 0.5, "terms": (), **record}


def _timing(timing: Parsed, methods: Mapping[str, object]) -> dict[str, Parsed]:
    given = timing.get("methods_s") or {}
    known = {name: seconds for name, seconds in given.items() if seconds is not None}
    alone = timing.get("learn_s") if not given and set(methods) == {"ideal"} else None
    return {**timing, "methods_s": known if alone is None else {"ideal": alone}}


_PLACES = ("cluster", "engine", "workers", "threads", "hosts", "worker_bytes", "memory_bytes")
_NO_PACKAGES = (*_PLACES, "dnfscale", "python", "machine", "system", "cores", "dataset")
"""What the first schema had in `environment` beside the versions of packages."""


def _environment(environment: Parsed) -> dict[str, Parsed]:
    known = {key: environment[key] for key in _NO_PACKAGES if key in environment}
    others = {key: value for key, value in environment.items() if key not in known}
    return {**known, "packages": {key: str(value) for key, value in others.items()}}


def _mean(folds: Sequence[Mapping[str, Any]], key: str) -> float | None:
    known = [fold[key] for fold in folds if fold.get(key) is not None]
    return sum(known) / len(known) if known and len(known) == len(folds) else None
