"""Suites: several job specs as one plan.

    kind = "suite"
    jobs = ["paper/colon.toml", {spec = "paper/covertype.toml", methods = ["ideal"]}]

Keys that a suite sets besides its own apply to all its jobs; keys beside a job's spec apply to that
job. With lists of profiles and seeds, each job is run with every profile and every seed, under a
name that shows them: `colon-best-2`. Competitors that do not depend on profiles run with the last
one only.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dnfscale.errors import DnfscaleError, SpecError
from dnfscale.spec.cluster import ClusterSpec, cluster_blocks, with_kind
from dnfscale.spec.job import (
    JobSpec,
    Output,
    asking_key,
    cluster_from,
    competitor_blocks,
    job_keys,
    name_from,
    overridden,
    read_spec,
    spec_of,
)
from dnfscale.spec.keys import Check, Key, built, keys_of, plain
from dnfscale.spec.registry import COMPETITORS
from dnfscale.spec.storage import Access, joined
from dnfscale.spec.toml import Origin, flattened, read_toml, write_values

_OWN = ("schema_version", "name", "output.")
_SHARED = ("cluster.",)
_FOR_ALL = ("select.", "formula.", "booleanize.", "baselines.", "methods", "seed", "profile")
"""Keys of a suite, or the tables that hold them: for itself, for the cluster that all jobs share,
and for every job.
"""
CROSSED = {"profiles": "profile", "seeds": "seed"}
"""Keys that list values with which each job is run, and the key of a job that takes these values.
"""


@dataclass(frozen=True, slots=True)
class SuiteSpec:
    """Several jobs that run on one cluster, into one folder."""

    origin: Origin
    name: str
    cluster: ClusterSpec
    output: Output
    jobs: tuple[JobSpec, ...]
    asked: Mapping[str, Any]
    """What resolved() writes: the suite's own keys with their defaults, and those that it sets for
    all jobs.
    """
    listed: tuple[str | Mapping[str, Any], ...]
    """The jobs as they are listed, each by the absolute path of its spec."""

    @property
    def file(self) -> Path:
        return self.origin.file

    @property
    def run_folder(self) -> str:
        return joined(self.output.dir, self.name)

    @property
    def output_access(self) -> Access:
        """How to reach the store for the suite's files."""
        return self.output.storage

    def located(self, error: DnfscaleError) -> DnfscaleError:
        """Return the error with the file and the line of the key that it is about."""
        return self.origin.located(error)

    def resolved(self) -> str:
        """Return the suite as TOML that means the same wherever it is; the defaults of a job are in
        its own spec.
        """
        return write_values({**self.asked, "kind": "suite", "jobs": self.listed})


def is_suite(file: Path) -> bool:
    """Return whether a file is the spec of a suite, not of a job."""
    document, _ = read_toml(file)
    return document.get("kind") == "suite"


def read_suite(file: Path, overrides: Mapping[str, Any] | None = None) -> SuiteSpec:
    """Read and check a suite and all its jobs; overrides take precedence over everything."""
    document, lines = read_toml(file)
    overrides = overrides or {}
    origin = Origin(file, lines, frozenset(overrides))
    document.pop("kind")
    listed = document.pop("jobs", None)
    if not isinstance(listed, list) or not listed:
        origin.fail("jobs", f"jobs must be a list of job specs, got {listed!r}; name at least one")
    known = _suite_keys()
    given = {
        **_asked_by_tables(lines),
        **overridden(flattened(document, known, origin), overrides, known),
    }
    given = with_kind(given)
    _check_crossed(given, origin)
    checked = {path: origin.checked(known[path], value) for path, value in given.items()}
    if "schema_version" not in given:
        raise SpecError(f"{file}: expected the key schema_version, but it is not there; add it")
    blocks = {path for block, table in cluster_blocks().values() for path in keys_of(block, table)}
    values = {
        path: checked.get(path, known[path].default)
        for path in _among(known, _OWN + _SHARED)
        if path in given or path not in blocks
    }
    values["name"] = values["name"] or name_from(file)
    output = built(Output, values, "output")
    for_all = {path: given[path] for path in _among(given, _FOR_ALL)}
    everywhere = {
        **{
            path: plain(values[path])
            for path in _among(values, _SHARED)
            if values[path] is not None
        },
        **for_all,
    }
    first = {path: given[path] for path in _among(overrides, _FOR_ALL)}
    folder = joined(joined(output.dir, values["name"]), "jobs")
    below = {
        **{
            path: plain(values[path])
            for path in _among(values, ("output.",))
            if values[path] is not None
        },
        "output.dir": folder,
    }
    crossed = {one: checked.get(several) for several, one in CROSSED.items()}
    jobs: list[JobSpec] = []
    for entry in listed:
        path, own = _entry(entry, origin)
        varied = {one: crossed[one] for one in crossed if one not in own}
        jobs += _variants(file.parent / path, {**everywhere, **own, **first, **below}, varied)
    _check_names(jobs, origin)
    return SuiteSpec(
        origin=origin,
        name=str(values["name"]),
        cluster=cluster_from(values),
        output=output,
        jobs=tuple(jobs),
        asked={**values, **for_all, **{path: given[path] for path in CROSSED if path in given}},
        listed=tuple(_absolute(entry, file.parent) for entry in listed),
    )


def _suite_keys() -> dict[str, Key]:
    """Return the keys of a suite: some of a job's, and the lists that cross its jobs."""
    known = {path: job_keys()[path] for path in _among(job_keys(), _OWN + _SHARED + _FOR_ALL)}
    crossed = {
        several: replace(job_keys()[one], path=several, check=_several(job_keys()[one].check))
        for several, one in CROSSED.items()
    }
    return known | crossed


def _among(paths: Mapping[str, Any], wanted: tuple[str, ...]) -> list[str]:
    """Return those keys that are listed, or whose table is."""
    tables = tuple(entry for entry in wanted if entry.endswith("."))
    return [path for path in paths if path in wanted or path.startswith(tables)]


def _asked_by_tables(lines: Mapping[str, int]) -> dict[str, Any]:
    """Return a key of each competitor that has a table: one without keys asks for it too, as it
    does in a job.
    """
    asked = [asking_key(name) for name, (_, path) in competitor_blocks().items() if path in lines]
    return {known.path: plain(known.default) for known in asked}


def _check_crossed(given: Mapping[str, Any], origin: Origin) -> None:
    for several, one in CROSSED.items():
        if several in given and one in given:
            origin.fail(
                several,
                (
                    f"{several} lists what {one} would be for all jobs, but both are given; "
                    "leave out one"
                ),
            )


def _entry(entry: Any, origin: Origin) -> tuple[str, dict[str, Any]]:
    """Return the path of a listed job and the keys given beside it."""
    if isinstance(entry, str):
        return entry, {}
    if not isinstance(entry, dict) or not isinstance(entry.get("spec"), str):
        origin.fail(
            "jobs",
            f'jobs must be paths, or tables with a spec such as {{spec = "a.toml"}}, got {entry!r}',
        )
    own = {name: value for name, value in entry.items() if name != "spec"}
    in_list = Origin(origin.file, {name: origin.lines.get("jobs", 1) for name in own})
    return entry["spec"], flattened(own, job_keys(), in_list)


def _absolute(entry: Any, folder: Path) -> str | dict[str, Any]:
    """Return a listed job with the absolute path of its spec."""
    if isinstance(entry, str):
        return os.path.abspath(folder / entry)
    return {**entry, "spec": os.path.abspath(folder / entry["spec"])}


def _several(one: Check) -> Check:
    """Return the check of a list of different values of a key."""

    def check(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not value or any(value.count(item) > 1 for item in value):
            raise ValueError("a list of different values")
        try:
            return tuple(one(item) for item in value)
        except ValueError as error:
            raise ValueError(f"a list of which each is {error}") from None

    return check


def _variants(
    file: Path, settings: Mapping[str, Any], crossed: Mapping[str, tuple[Any, ...] | None]
) -> Iterator[JobSpec]:
    """Yield a job with every combination of the listed values, or as it is if none are listed."""
    listed = {path: values for path, values in crossed.items() if values is not None}
    for chosen in itertools.product(*listed.values()):
        given = dict(zip(listed, chosen, strict=True))
        job = read_spec(file, {**settings, **given})
        changes: dict[str, Any] = {"name": "-".join(map(str, (job.name, *chosen)))}
        once = [name for name in job.methods if _runs_once(name)]
        if once and "profile" in given and given["profile"] != listed["profile"][-1]:
            changes["methods"] = tuple(name for name in job.methods if name not in once)
        yield spec_of(job.origin, {**job.values, **changes})


def _runs_once(name: str) -> bool:
    """Return whether a method costs something and gives the same with every profile."""
    known = COMPETITORS.get(name)
    return known is not None and known.options is not None and not known.by_profile


def _check_names(jobs: list[JobSpec], origin: Origin) -> None:
    names = [job.name for job in jobs]
    for name in names:
        if names.count(name) > 1:
            origin.fail(
                "jobs",
                f"jobs of a suite must have different names, but {name!r} occurs twice; rename one",
            )
