"""Imports point one way: jobs, experiment, learn, {method | data | engine}, core, errors."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import dnfscale

PACKAGE = "dnfscale"
LEVELS = {
    "errors": 0,
    "core": 1,
    "method": 2,
    "data": 2,
    "engine": 2,
    "evaluate": 3,
    "scans": 3,
    "selecting": 3,
    "table": 3,
    "learn": 3,
    "classes": 3,
    "weights": 3,
    "predict": 3,
    "distillation": 3,
    "distinct": 3,
    "fidelity": 3,
    "formula_size": 3,
    "frontier": 3,
    "labelled": 3,
    "readable": 3,
    "reading": 3,
    "sized": 3,
    "estimator": 3,
    "": 3,
    "experiment": 4,
    "jobs": 5,
}
"""The level of each part; the empty name is what the package itself offers to its users."""
STRANGERS = {"method", "data", "engine"}
"""Parts of one level that do not know each other."""


def sources() -> dict[str, str]:
    """Return the text of every module of the package by its dotted name."""
    root = Path(dnfscale.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join((PACKAGE, *(part for part in parts if part != "__init__")))] = path.read_text("utf-8")
    return found


def imports(module: str, text: str, modules: Mapping[str, str]) -> Iterator[str]:
    """Yield the dotted name of everything that a module imports, inside functions too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                is_package = any(name.startswith(f"{module}.") for name in modules)
                parents = module.split(".")[: len(module.split(".")) - node.level + is_package]
                base = ".".join([*parents, *([base] if base else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in modules else base


def part_of(module: str) -> str:
    """Return the layer's name: core of dnfscale.core.counts, nothing of dnfscale."""
    return module.split(".")[1] if "." in module else ""


def complaints(modules: Mapping[str, str]) -> list[str]:
    """Say which imports break the order."""
    found = []
    for module, text in modules.items():
        for imported in imports(module, text, modules):
            reason = _objection(module, imported)
            if reason:
                found.append(f"{module} imports {imported}: {reason}")
    return found


def _objection(module: str, imported: str) -> str | None:
    mine = part_of(module)
    if mine not in LEVELS:
        return f"{mine} has no place in the order"
    top = imported.split(".")[0]
    if top != PACKAGE:
        if top in {"dask", "distributed"} and mine != "engine":
            return "only engine/ knows Dask"
        if mine in {"core", "errors"} and top not in sys.stdlib_module_names | {"numpy"}:
            return f"{mine} is NumPy and the standard library only"
        return None
    theirs = part_of(imported)
    if theirs not in LEVELS:
        return f"{theirs} has no place in the order"
    if LEVELS[theirs] > LEVELS[mine]:
        return "it points up"
    if mine != theirs and {mine, theirs} <= STRANGERS:
        return f"{mine} and {theirs} do not know each other"
    if f"{imported}.".startswith("dnfscale.engine.cluster.") and mine != "engine":
        return "engine/cluster.py is imported nowhere outside engine/"
    return None


def test_imports_point_downwards_only():
    assert complaints(sources()) == []


def test_the_walk_sees_the_whole_package():
    found = sources()
    assert {"dnfscale", "dnfscale.errors", "dnfscale.learn", "dnfscale.core.counts", "dnfscale.engine"} <= set(found)
    assert "dnfscale.core.arrays" in set(imports("dnfscale.core.counts", found["dnfscale.core.counts"], found))


@pytest.mark.parametrize(
    ("module", "text", "complaint"),
    [
        ("dnfscale.core.counts", "from dnfscale.learn import learn", "it points up"),
        ("dnfscale.core.counts", "from ..method import ideal", "it points up"),
        ("dnfscale.errors", "import dnfscale.core.arrays", "it points up"),
        ("dnfscale.core.counts", "from dnfscale import __version__", "it points up"),
        ("dnfscale.learn", "from dnfscale.experiment import folds", "it points up"),
        ("dnfscale.experiment.folds", "import dnfscale.jobs.spec", "it points up"),
        ("dnfscale.method.ideal", "from dnfscale.data import source", "do not know each other"),
        ("dnfscale.engine.serial", "from dnfscale.method.ideal import ideal_types", "do not know each other"),
        ("dnfscale.core.counts", "import pandas as pd", "NumPy and the standard library only"),
        ("dnfscale.errors", "import pyarrow", "NumPy and the standard library only"),
        ("dnfscale.learn", "def run():\n    from dask.distributed import Client", "only engine/ knows Dask"),
        ("dnfscale.jobs.cli", "import distributed", "only engine/ knows Dask"),
        ("dnfscale.jobs.cli", "from dnfscale.engine.cluster import ClusterEngine", "nowhere outside engine/"),
        ("dnfscale.jobs.cli", "from dnfscale.engine import cluster", "nowhere outside engine/"),
        ("dnfscale.helpers", "import os", "no place in the order"),
        ("dnfscale.learn", "from dnfscale.helpers import thing", "no place in the order"),
    ],
)
def test_a_bad_import_is_named(module, text, complaint):
    modules = {"dnfscale": "", "dnfscale.method": "", "dnfscale.engine.cluster": "", module: text}
    [found] = complaints(modules)
    assert found.startswith(f"{module} imports ")
    assert complaint in found


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("dnfscale.jobs.cli", "from dnfscale import __version__\nfrom dnfscale.engine.launch import launch"),
        ("dnfscale", "from dnfscale.estimator import IdealClassifier"),
        ("dnfscale.learn", "from dnfscale.scans import BinRows\nfrom dnfscale.core import counts\nimport numpy"),
        ("dnfscale.engine.launch", "import dask\nfrom dnfscale.engine.cluster import ClusterEngine"),
        (
            "dnfscale.core.counts",
            "import os.path\nimport numpy\nfrom . import arrays\nfrom ..errors import X",
        ),
    ],
)
def test_a_good_import_is_let_pass(module, text):
    modules = {"dnfscale": "", "dnfscale.core.arrays": "", "dnfscale.errors": "", module: text}
    assert complaints(modules) == []
