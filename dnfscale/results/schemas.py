"""A JSON Schema for every file that is written, made from the types that it is written from."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from dnfscale.results.check import CHECK_SCHEMA, Check
from dnfscale.results.evaluation import EVALUATION_SCHEMA, Evaluation
from dnfscale.results.frontier import FRONTIER_SCHEMA, Frontier
from dnfscale.results.model import ClassesFile, ModelFile
from dnfscale.results.result import RESULT_SCHEMA, Result
from dnfscale.results.rules import RULES_SCHEMA, Rules
from dnfscale.results.suite import SUITE_SCHEMA, Suite

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
FILES: dict[str, dict[Any, str | None]] = {
    "result": {Result: RESULT_SCHEMA},
    "suite": {Suite: SUITE_SCHEMA},
    "model": {ModelFile: None, ClassesFile: None},
    "frontier": {Frontier: FRONTIER_SCHEMA},
    "rules": {Rules: RULES_SCHEMA},
    "check": {Check: CHECK_SCHEMA},
    "evaluation": {Evaluation: EVALUATION_SCHEMA},
}
"""The types of each kind of file, and the schema that it names, where the type does not say it."""


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file."""
    kinds = FILES[name]
    tops, parts = msgspec.json.schema_components(
        kinds, schema_hook=_anything, ref_template="#/$defs/{name}"
    )
    for kind, version in kinds.items():
        if version is not None:
            top = parts[kind.__name__]
            top["properties"]["schema"] = {"const": version}
            # It is always written, though a reader can do without.
            top["required"] = ["schema", *top.get("required", ())]
    whole: dict[str, Any] = tops[0] if len(tops) == 1 else {"anyOf": list(tops)}
    return {"$schema": _DIALECT, "title": f"dnfscale {name}", **whole, "$defs": parts}


def _anything(_kind: type) -> dict[str, Any]:
    """Return the schema of a part that is a file of its own within another."""
    return {}


def schema_text(name: str) -> str:
    """Return the JSON Schema of a kind of file as text."""
    return json.dumps(json_schema(name), indent=2, ensure_ascii=False)
