"""What is kept of a run: accuracies, counts, cuts and formulas, as short as they can be told
apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.jobs.running import read_json

FOLDER = Path(__file__).parent / "values"
_LONGEST = 300
"""Texts and lists up to this many characters are kept as they are, longer ones by their digest."""


def values_of(run: Path) -> dict[str, Any]:
    """Return what is kept of the run in a folder."""
    result = read_json(run / "result.json")
    model = read_json(run / "model.json")
    models = model.get("classes", [model])
    data = dict(result["data"])
    if "weight" in data:
        data["weight"] = {key: value for key, value in data["weight"].items() if key != "unit"}
    return {
        "data": data,
        "methods": {name: _method(name, record) for name, record in result["methods"].items()},
        "models": [_model(each.get("model", each)) for each in models],
    }


def _method(name: str, record: Mapping[str, Any]) -> dict[str, Any]:
    figures = {key: value for key, value in record.items() if isinstance(value, int | float)}
    if name in ("ideal", "majority", "one_rule"):
        figures = {
            key: value
            for key, value in figures.items()
            if key not in ("failed_folds", "literals_mean", "stability", "columns_shared")
        }
    objective = record.get("objective") or {}
    figures |= {
        f"objective_{key}": objective[key]
        for key in ("mean", "std", "constant_mean")
        if key in objective
    }
    return {**figures, "folds": [_fold(fold) for fold in record["folds"]]}


def _fold(fold: Mapping[str, Any]) -> str:
    """Return a fold as one line: its figures, then its formulas."""
    formulas = fold.get("formulas") or fold.get("sized") or [fold]
    figures = [fold[key] for key in ("test_rows", "accuracy") if key in fold]
    written = [
        [each.get(key) for key in ("rank", "ell", "size", "literals", "formula")]
        for each in formulas
        if each.get("formula") is not None
    ]
    sweeps = [
        [[step["rank"], step["validation_accuracy"]] for step in each.get("sweep", ())]
        for each in formulas
    ]
    return json.dumps([*figures, *map(_short, written), _digest(sweeps)], ensure_ascii=False)


def _model(model: Mapping[str, Any]) -> dict[str, Any]:
    cuts = [[each["name"], each["test"], each.get("value")] for each in model["attributes"]]
    return {
        "attributes": _short(cuts),
        "formula": _short(model["formula"]),
        "counts": _digest(model["counts"]),
    }


def _short(value: Any) -> Any:
    return value if len(json.dumps(value)) <= _LONGEST else _digest(value)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
