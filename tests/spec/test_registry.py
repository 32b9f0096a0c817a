"""Registries: what a module declares of itself is found everywhere, and costs nothing until it
runs.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from dnfscale.errors import SpecError
from dnfscale.estimators.readable import Readable
from dnfscale.spec.job import job_keys, read_spec
from dnfscale.spec.learn import LearnSpec
from dnfscale.spec.registry import CLUSTERS, COMPETITORS, EXPORTS, RANKINGS, Needs, Registry

LEAST = 'schema_version = 1\n[data]\npath = "t.parquet"\ntarget = "y"\n'


@dataclass(frozen=True)
class Thing:
    name: str
    place: int = 0


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[Any]:
    """A registry of a package with two modules, of which one registers."""
    folder = tmp_path / "things"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "shared.py").write_text("PLACE = 3\n")
    registry: Registry[Any] = Registry("things")
    (folder / "one.py").write_text(
        "from things.shared import PLACE\nfrom tests.spec.test_registry import Thing\n"
        "import things\nthings.registry.register(Thing('one', PLACE))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    things = importlib.import_module("things")
    things.registry = registry  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "things", things)
    return registry


def test_a_module_that_is_laid_into_the_package_is_found(package):
    assert list(package) == ["one"]
    assert package["one"].place == 3


NEW = {
    "dnfscale.method.rankings": """
from dnfscale.method.rankings.alone import mutual_info_scores
from dnfscale.spec.registry import RANKINGS, Ranking

RANKINGS.register(
    Ranking(name="backwards", title="worst first", rank=lambda tables: -mutual_info_scores(tables))
)
""",
    "dnfscale.export": """
from dnfscale.spec.registry import EXPORTS, Export

def shout(model):
    return model.formula.upper()

EXPORTS.register(Export(name="shout", title="capitals", ending=".txt", write=shout))
""",
    "dnfscale.engine.clusters": """
from dataclasses import dataclass

from dnfscale.engine.serial import SerialEngine
from dnfscale.spec.checks import text
from dnfscale.spec.keys import key
from dnfscale.spec.registry import CLUSTERS, ClusterKind

@dataclass(frozen=True, slots=True)
class Here:
    greeting: str = key(text, "good morning", "what it says first")

def launch(spec, *, watch, **how):
    print(spec.own(Here).greeting)
    return SerialEngine(watch)

CLUSTERS.register(
    ClusterKind(name="here", title="right here", launch=launch, options=Here, distributed=False)
)
""",
}
"""A module for each of these packages: all that it takes to add a ranking, an export and a kind of
cluster.
"""
LAID = """
import importlib, sys

for package in sys.argv[1].split(","):
    importlib.import_module(package).__path__.append(package)
from dnfscale.jobs.cli import main
from dnfscale.spec.documented import documented_block

keys = ["cluster.kind=here", "cluster.here.greeting=hello", 'select.rank=["backwards"]']
ran = main(["run", "job.toml", *(word for key in keys for word in ("--set", key))])
written = main(["export", "runs/job/model.json", "--to", "shout"])
print(documented_block())
raise SystemExit(ran or written)
"""


@pytest.mark.slow
def test_a_ranking_an_export_and_a_kind_of_cluster_take_one_module_each(laid_desk):
    for package, module in NEW.items():
        (laid_desk.path / package).mkdir()
        (laid_desk.path / package / "new.py").write_text(module)
    laid_desk.spec(kind="fit")
    ended = subprocess.run(
        [sys.executable, "-c", LAID, ",".join(NEW)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("hello\n")
    assert "ranking backwards" in ended.stdout
    assert laid_desk.model()["formula"].upper() + "\n" in ended.stdout
    assert '[cluster.here]                  # right here\ngreeting = "good morning"' in ended.stdout
    assert '"backwards", "chi2"' in ended.stdout


COMPETITOR = """
from dataclasses import dataclass

from dnfscale.compare.peers import Answered, Peer
from dnfscale.core.splits import TRAIN, VALIDATION
from dnfscale.spec.checks import whole
from dnfscale.spec.keys import key
from dnfscale.spec.registry import COMPETITORS

@dataclass(frozen=True, slots=True)
class Neighbours:
    k: int = key(whole(1, 99), 5, "how many neighbours are asked")

def learn(rows, splits, fit):
    from sklearn.neighbors import KNeighborsClassifier

    known = rows.part(splits, fit.fold, (TRAIN, VALIDATION))
    asked = KNeighborsClassifier(fit.options.k).fit(known.features, known.target)
    return lambda tested: Answered(asked.predict(tested) == 1, 7)

COMPETITORS.register(
    Peer(
        name="neighbours",
        title="Nearest neighbours",
        short="Neighbours",
        colour="brown",
        place=35,
        options=Neighbours,
        learn=learn,
        weighs_rows=False,
    )
)
"""
"""All that it takes to add a competitor."""
COMPARED = """
import dnfscale.compare

dnfscale.compare.__path__.append("more")
from dnfscale.jobs.cli import main
from dnfscale.spec.documented import documented_block

for verb in ("plan", "run"):
    ended = main([verb, "job.toml", "--set", "baselines.neighbours.k=3"])
assert ended == 0
assert main(["run", "job.toml", "--set", "baselines.neighbours.k=0", "--force"]) == 2
print(documented_block())
"""


@pytest.mark.slow
def test_a_competitor_takes_one_module_from_the_spec_to_the_page(laid_desk):
    (laid_desk.path / "more").mkdir()
    (laid_desk.path / "more" / "neighbours.py").write_text(COMPETITOR)
    laid_desk.spec(kind="study", folds={"outer": 3})
    ended = subprocess.run(
        [sys.executable, "-c", COMPARED], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    told = "baselines.neighbours.k must be a whole number between 1 and 99, got 0"
    assert told in ended.stderr
    block = "# Nearest neighbours: runs if its table is there\nk = 5 "
    assert block in ended.stdout
    assert "\nfit peers             Parquet, once a worker         3 " in ended.stdout
    method = laid_desk.result()["methods"]["neighbours"]
    assert [fold["literals"] for fold in method["folds"]] == [7, 7, 7]
    assert method["accuracy_mean"] > 0.5
    assert f"Nearest neighbours {100 * method['accuracy_mean']:.1f} %: " in ended.stdout
    assert "neighbours" in [pair["other"] for pair in laid_desk.result()["comparisons"]]
    assert laid_desk.result()["timing"]["methods_s"]["neighbours"] > 0
    page = (laid_desk.folder() / "report.html").read_text("utf-8")
    assert 'class="bar m-brown"' in page
    assert ">Neighbours</text>" in page
    assert "Nearest neighbours: what was chosen in each fold" in page


def test_every_competitor_has_a_colour_of_the_charts_and_a_place_of_its_own():
    sheet = files("dnfscale.report").joinpath("charts.css").read_text("utf-8")
    for competitor in COMPETITORS.values():
        assert f".m-{competitor.colour} {{ fill: var(--{competitor.colour}); }}" in sheet
        assert len(competitor.short or competitor.title) <= 16
    places = [competitor.place for competitor in COMPETITORS.values()]
    assert len(set(places)) == len(places)


def test_names_come_in_the_order_of_their_places_then_of_the_alphabet():
    registry: Registry[Any] = Registry()
    for thing in (Thing("b", 1), Thing("c"), Thing("a", 1)):
        registry.register(thing)
    assert list(registry) == ["c", "a", "b"]
    with pytest.raises(ValueError, match="c is registered twice"):
        registry.register(Thing("c"))


def test_a_package_that_is_missing_is_named_with_its_extra():
    Needs(package="json").check_installed("reading", "data.path")
    with pytest.raises(
        SpecError, match=r"reading needs no_such, .*pip install 'dnfscale\[thing\]'"
    ) as caught:
        Needs(package="no_such", extra="thing").check_installed("reading", "data.path")
    assert caught.value.key == "data.path"


@pytest.mark.slow
def test_the_command_line_loads_neither_scikit_learn_nor_xgboost_nor_dask():
    command = (
        "import sys; import dnfscale.jobs.cli as cli; from dnfscale.spec.job import "
        "job_keys; job_keys(); "
        "from dnfscale.spec.registry import CLUSTERS, COMPETITORS, EXPORTS, RANKINGS; "
        "[list(registry) for registry in (CLUSTERS, COMPETITORS, EXPORTS, RANKINGS)]; "
        "cli.command_parser(); "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    ended = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    heavy = {
        "sklearn",
        "xgboost",
        "dask",
        "distributed",
        "optuna",
        "pandas",
        "sympy",
        "numba",
        "interpret",
        "lightgbm",
        "wittgenstein",
    }
    assert set(ended.stdout.split()) & heavy == set()


def test_every_export_is_a_choice_and_a_method():
    assert set(EXPORTS) == {*("json", "latex", "onnx", "pmml", "python", "rules", "sql", "text")}
    for name, export in EXPORTS.items():
        method = getattr(Readable, f"to_{name}")
        assert export.title in method.__doc__
        assert export.ending.startswith(".")


def test_every_ranking_says_what_it_is():
    assert {name for name, ranking in RANKINGS.items() if ranking.together} == {
        *("additive", "exchange", "forward", "jmi")
    }
    assert [name for name, ranking in RANKINGS.items() if ranking.intervals] == ["exchange"]
    assert not LearnSpec("y").looks_together
    assert LearnSpec("y", rank=("jmi",)).looks_together
    assert all(ranking.title for ranking in RANKINGS.values())


def test_a_new_competitor_is_known_to_specs_by_its_declaration_alone(desk, monkeypatch):
    forest = COMPETITORS["random_forest"]
    new = replace(
        forest,
        name="new",
        weighs_rows=False,
        many_classes=False,
        package="no_such",
        extra="new",
        place=99,
    )
    monkeypatch.setitem(COMPETITORS._entries, "new", new)
    job_keys.cache_clear()
    try:
        table = LEAST + "[baselines.new]\ntrials = 3\n"
        for keys, told in (
            ({}, "new needs no_such, which is not installed"),
            ({"kind": "fit"}, "new is to be compared"),
            ({"data.weight": "w"}, "new counts every row once"),
            ({"data.classes": "all"}, "new tells two classes apart"),
        ):
            with pytest.raises(SpecError, match=told):
                read_spec(desk.spec(table), keys)
    finally:
        job_keys.cache_clear()


def test_kinds_of_clusters_import_their_libraries_only_when_they_run():
    assert {kind for kind, facts in CLUSTERS.items() if not facts.starts} == {
        "serial",
        "address",
        "scheduler_file",
    }
    assert {kind for kind, facts in CLUSTERS.items() if facts.adapts} == {
        "local",
        "slurm",
        "pbs",
        "kubernetes",
    }
