"""Imports point one way.

jobs, estimators, report, compare, {learn | apply | export}, {method | data | engine}, results,
spec, core, errors
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import dnfscale

PACKAGE = "dnfscale"
LEVELS = {
    "errors": 0,
    "core": 1,
    "spec": 2,
    "results": 3,
    "method": 4,
    "data": 4,
    "engine": 4,
    "formula_size": 4,
    "submit": 4,
    "datasets": 5,
    "learn": 5,
    "apply": 5,
    "export": 5,
    "formula_size.distinct": 6,
    "relations": 6,
    "formula_size.learned": 7,
    "compare": 8,
    "formula_size.folds": 9,
    "report": 11,
    "formula_size.card": 11,
    "formula_size.competitor": 12,
    "estimators": 13,
    "formula_size.estimator": 14,
    "estimators.saved": 15,
    "": 16,
    "jobs": 16,
    "submit.driver": 16,
    "submit.order": 16,
}
"""The level of each part, and of modules that stand higher than the rest of theirs: what
formula_size/ and submit/ hold belongs together, but on several floors. The empty name is what the
package itself offers to its users, with the jobs that Python can call among it."""
STRANGERS = ({"method", "data", "engine"}, {"learn", "apply", "export", "datasets"})
"""Parts of one level that do not know each other."""
INNER_LEVELS = {
    "learn": (
        {"places"},
        {"phases", "scans", "table"},
        {"dropped", "times"},
        {"deal"},
        {"check", "read", "seen", "weighing"},
        {"keeping"},
        {"rank"},
        {"terms"},
        {"count"},
        {"choose"},
        {"shorten", "write"},
        {"lengths"},
        {"line"},
        {"classes", "fidelity", "frontier"},
    ),
    "apply": (
        {"evaluate"},
        {"unfamiliar"},
        {"drift", "findings", "found_types", "predict", "tested"},
        {"evaluation"},
    ),
    "estimators": (
        {"plots", "weights"},
        {"labelled"},
        {"checking", "evaluating", "readable"},
        {"ideal"},
        {"distillation", "saved"},
    ),
}
"""The modules of some parts, from the lowest level up; those of one level do not know each other.
"""
LISTS_PACKAGES = "dnfscale.spec.registry"
"""The one module that may name packages above it: a registry imports them when it is asked for what
they hold.
"""
OWN_TO_ENGINE = ("engine", "chains", "internals", "graphs", "local")
"""What the engine on Dask is made of: the other parts ask engine/launch.py for an engine, whatever
it runs on.
"""


def sources() -> dict[str, str]:
    """Return the text of every module of the package by its dotted name."""
    root = Path(dnfscale.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join((PACKAGE, *(part for part in parts if part != "__init__")))] = (
            path.read_text("utf-8")
        )
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


def mentions(text: str) -> Iterator[str]:
    """Yield every dotted name of the package in the strings of a module; the name of a format ends
    in its version.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(rf"\b{PACKAGE}(?:\.\w+)+(?![/\w]|\.\w)", node.value)


def part_of(module: str) -> str:
    """Return the layer's name: core of dnfscale.core.counts, nothing of dnfscale."""
    return module.split(".")[1] if "." in module else ""


def level_of(module: str) -> int:
    """Return the level of a module: its own where it has one, else that of its part."""
    return LEVELS.get(".".join(module.split(".")[1:3]), LEVELS[part_of(module)])


def complaints(modules: Mapping[str, str]) -> list[str]:
    """Say which imports, and which names of modules in strings, break the order."""
    found = []
    for module, text in modules.items():
        for imported in imports(module, text, modules):
            reason = _objection(module, imported)
            if reason:
                found.append(f"{module} imports {imported}: {reason}")
        for named in mentions(text) if module != LISTS_PACKAGES else ():
            reason = _objection(module, named)
            if reason:
                found.append(f"{module} names {named}: {reason}")
    return found


def _objection(module: str, imported: str) -> str | None:
    mine = part_of(module)
    if mine not in LEVELS:
        return f"{mine} has no place in the order"
    top = imported.split(".")[0]
    if top != PACKAGE:
        if top in {"dask", "distributed"} and mine not in {"engine", "submit"}:
            return "only engine/ and submit/ do"
        if mine in {"core", "errors"} and top not in sys.stdlib_module_names | {"numpy"}:
            return f"{mine} is NumPy and the standard library only"
        return None
    theirs = part_of(imported)
    if theirs not in LEVELS:
        return f"{theirs} has no place in the order"
    if level_of(imported) > level_of(module):
        return "it points up"
    if mine != theirs and any({mine, theirs} <= strangers for strangers in STRANGERS):
        return f"{mine} and {theirs} do not know each other"
    if mine == theirs and mine in INNER_LEVELS:
        return _inner_objection(module, imported)
    if mine not in {"engine", "submit"}:
        for name in OWN_TO_ENGINE:
            if f"{imported}.".startswith(f"dnfscale.engine.dask.{name}."):
                return f"engine/dask/{name}.py is imported nowhere outside engine/"
    return None


def _inner_objection(module: str, imported: str) -> str | None:
    """Say what is wrong with an import inside a part whose modules have levels of their own."""
    _, part, *mine = module.split(".")
    _, _, *theirs = imported.split(".")
    levels = {name: level for level, names in enumerate(INNER_LEVELS[part]) for name in names}
    for name in (*mine, *theirs):
        if name not in levels:
            return f"{name} has no place in {part}"
    if mine and theirs and mine != theirs and levels[theirs[0]] >= levels[mine[0]]:
        return f"it points up inside {part}"
    return None


def test_imports_point_downwards_only():
    assert complaints(sources()) == []


def test_the_walk_sees_the_whole_package():
    found = sources()
    assert {
        "dnfscale",
        "dnfscale.errors",
        "dnfscale.learn.line",
        "dnfscale.core.counts",
        "dnfscale.engine",
    } <= set(found)
    assert "dnfscale.core.arrays" in set(
        imports("dnfscale.core.counts", found["dnfscale.core.counts"], found)
    )


@pytest.mark.parametrize(
    ("module", "text", "complaint"),
    [
        ("dnfscale.core.counts", "from dnfscale.learn.line import learn", "it points up"),
        ("dnfscale.core.counts", "from ..method import ideal", "it points up"),
        ("dnfscale.spec.job", "from dnfscale.data.storage import located", "it points up"),
        ("dnfscale.spec.registry", "from dnfscale.engine.clusters import local", "it points up"),
        ("dnfscale.core.model", "from dnfscale.spec.learn import LearnSpec", "it points up"),
        ("dnfscale.errors", "import dnfscale.core.arrays", "it points up"),
        ("dnfscale.core.counts", "from dnfscale import __version__", "it points up"),
        ("dnfscale.learn.line", "from dnfscale.compare import folds", "it points up"),
        ("dnfscale.compare.folds", "import dnfscale.jobs.runner", "it points up"),
        ("dnfscale.core.counts", "from dnfscale.results.result import Result", "it points up"),
        (
            "dnfscale.results.result",
            "from dnfscale.method.ideal import ideal_correct",
            "it points up",
        ),
        ("dnfscale.method.ideal", "from dnfscale.data import source", "do not know each other"),
        (
            "dnfscale.engine.serial",
            "from dnfscale.method.ideal import ideal_correct",
            "do not know each other",
        ),
        ("dnfscale.core.counts", "import pandas as pd", "NumPy and the standard library only"),
        ("dnfscale.errors", "import pyarrow", "NumPy and the standard library only"),
        (
            "dnfscale.learn.line",
            "def run():\n    from dask.distributed import Client",
            "only engine/ and submit/ do",
        ),
        ("dnfscale.jobs.cli", "import distributed", "only engine/ and submit/ do"),
        (
            "dnfscale.jobs.cli",
            "from dnfscale.engine.dask.engine import ClusterEngine",
            "nowhere outside engine/",
        ),
        ("dnfscale.jobs.cli", "from dnfscale.engine.dask import engine", "nowhere outside engine/"),
        (
            "dnfscale.jobs.cli",
            "from dnfscale.engine.dask.local import start_local",
            "nowhere outside engine/",
        ),
        (
            "dnfscale.learn.places",
            "from dnfscale.learn.line import learn",
            "points up inside learn",
        ),
        (
            "dnfscale.learn.scans",
            "from dnfscale.learn.table import Table",
            "points up inside learn",
        ),
        (
            "dnfscale.learn.helpers",
            "from dnfscale.learn.table import Table",
            "helpers has no place in learn",
        ),
        ("dnfscale.compare.peers", "from dnfscale.estimators.ideal import X", "it points up"),
        (
            "dnfscale.apply.predict",
            "from dnfscale.learn.line import learn",
            "do not know each other",
        ),
        (
            "dnfscale.apply.evaluate",
            "from dnfscale.apply.predict import predict",
            "points up inside apply",
        ),
        ("dnfscale.helpers", "import os", "no place in the order"),
        ("dnfscale.learn.line", "from dnfscale.helpers import thing", "no place in the order"),
    ],
)
def test_a_bad_import_is_named(module, text, complaint):
    modules = {
        "dnfscale": "",
        "dnfscale.method": "",
        "dnfscale.engine.dask.engine": "",
        module: text,
    }
    [found] = complaints(modules)
    assert found.startswith(f"{module} imports ")
    assert complaint in found


@pytest.mark.parametrize(
    ("module", "text", "complaint"),
    [
        (
            "dnfscale.engine.dask.forking",
            'LOADED = ["scipy.optimize", "dnfscale.learn.line"]',
            "it points up",
        ),
        (
            "dnfscale.engine.process",
            'START = "from dnfscale.submit.driver import main; main()"',
            "it points up",
        ),
        ("dnfscale.engine.process", 'START = f"python -m dnfscale.jobs {verb}"', "it points up"),
        ("dnfscale.core.counts", '"""Used by dnfscale.learn."""', "it points up"),
        ("dnfscale.spec.job", 'PACKAGES = ["dnfscale.engine.clusters"]', "it points up"),
        (
            "dnfscale.engine.dask.forking",
            'LOADED = ["dnfscale.data.source"]',
            "do not know each other",
        ),
        (
            "dnfscale.jobs.cli",
            'LOADED = ["dnfscale.engine.dask.engine"]',
            "nowhere outside engine/",
        ),
        ("dnfscale.learn.line", 'LOADED = ["dnfscale.helpers"]', "no place in the order"),
    ],
)
def test_a_bad_name_in_a_string_is_told(module, text, complaint):
    [found] = complaints({module: text})
    assert found.startswith(f"{module} names dnfscale.")
    assert complaint in found


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (
            "dnfscale.jobs.cli",
            (
                'DRIVER, LOADED = "dnfscale.submit.driver", ["dnfscale.learn.line", '
                '"dnfscale.engine.dask.tasks"]'
            ),
        ),
        (
            "dnfscale.engine.dask.forking",
            'LOADED = ["dnfscale.engine.dask.tasks", "dnfscale", "scipy.optimize"]',
        ),
        ("dnfscale.data.models", 'FORMAT = "dnfscale.classes/1"'),
        (
            "dnfscale.jobs.cli",
            "from dnfscale import __version__\nfrom dnfscale.engine.launch import launch",
        ),
        ("dnfscale", "from dnfscale.estimators.ideal import IdealClassifier"),
        (
            "dnfscale.learn.line",
            (
                "from dnfscale.learn.scans import BinRows\nfrom dnfscale.core import "
                "counts\nimport numpy"
            ),
        ),
        (
            "dnfscale.engine.launch",
            "import dask\nfrom dnfscale.engine.dask.engine import ClusterEngine",
        ),
        (
            "dnfscale.core.counts",
            "import os.path\nimport numpy\nfrom . import arrays\nfrom ..errors import X",
        ),
    ],
)
def test_a_good_import_is_let_pass(module, text):
    modules = {"dnfscale": "", "dnfscale.core.arrays": "", "dnfscale.errors": "", module: text}
    assert complaints(modules) == []
