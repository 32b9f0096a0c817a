"""Suites: several job specs as one plan.

    kind = "suite"
    jobs = ["paper/colon.toml", {spec = "paper/covertype.toml", methods = ["ideal"]}]

Keys that a suite sets besides its own apply to all its jobs; keys beside a job's spec apply to that job. With lists of
profiles and seeds, each job is run with every profile and every seed, under a name that shows them: `colon-best-2`.
Forests, boosted trees and readable peers do not depend on profiles, and run with the last one only.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dnfscale.data.storage import Access, joined
from dnfscale.engine.launch import ClusterSpec
from dnfscale.errors import DnfscaleError, SpecError
from dnfscale.experiment.peers import PEERS
from dnfscale.jobs.checks import Check, Field
from dnfscale.jobs.cluster_spec import cluster_of
from dnfscale.jobs.fields import FIELDS, TUNED
from dnfscale.jobs.spec import (
    BASELINES,
    JobSpec,
    access_of,
    checked,
    flattened,
    located_in,
    name_from,
    place_of,
    read_spec,
    read_toml,
    resolved_toml,
    unknown,
)

_OUTPUT = tuple(key for key in FIELDS if key.startswith("output."))
_OWN = ("schema_version", "name", *_OUTPUT)
_SHARED = tuple(key for key in FIELDS if key.startswith("cluster."))
_FOR_ALL = tuple(
    key
    for key in FIELDS
    if key.startswith(("select.", "formula.", "booleanize.", "baselines.")) or key in ("methods", "seed", "profile")
)
"""Keys of a suite: for itself, for the cluster that all jobs share, and for every job."""
CROSSED = {"profiles": "profile", "seeds": "seed"}
"""Keys that list values with which each job is run, and the key of a job that takes these values."""


@dataclass(frozen=True, slots=True)
class SuiteSpec:
    """Several jobs that run on one cluster, into one folder."""

    file: Path
    lines: Mapping[str, int]
    values: Mapping[str, Any]
    jobs: tuple[JobSpec, ...]
    asked: Mapping[str, Any]
    """What resolved() writes: the suite's own keys with their defaults, and those that it sets for all jobs."""
    listed: tuple[str | Mapping[str, Any], ...]
    """The jobs as they are listed, each by the absolute path of its spec."""

    @property
    def name(self) -> str:
        return str(self.values["name"])

    @property
    def run_folder(self) -> str:
        return joined(str(self.values["output.dir"]), self.name)

    @property
    def output_access(self) -> Access:
        """How to reach the store for the suite's files."""
        return access_of(self.values, "output")

    @property
    def cluster(self) -> ClusterSpec:
        return cluster_of(self.values)

    def located(self, error: DnfscaleError) -> DnfscaleError:
        """Return the error with the file and the line of the key that it is about."""
        return located_in(error, self.file, self.lines)

    def resolved(self) -> str:
        """Return the suite as TOML that means the same wherever it is; the defaults of a job are in its own spec."""
        return resolved_toml({**self.asked, "kind": "suite", "jobs": self.listed})


def is_suite(file: Path) -> bool:
    """Return whether a file is the spec of a suite, not of a job."""
    document, _ = read_toml(file)
    return document.get("kind") == "suite"


def read_suite(file: Path, overrides: Mapping[str, Any] | None = None) -> SuiteSpec:
    """Read and check a suite and all its jobs; overrides take precedence over everything."""
    document, lines = read_toml(file)

    def place(key: str) -> str:
        return place_of(file, lines, key)

    document.pop("kind")
    listed = document.pop("jobs", None)
    if not isinstance(listed, list) or not listed:
        raise SpecError(f"{place('jobs')}: jobs must be a list of job specs, got {listed!r}; name at least one")
    fields: dict[str, Field] = {key: FIELDS[key] for key in (*_OWN, *_SHARED, *_FOR_ALL)}
    fields |= {key: Field(_several(FIELDS[one])) for key, one in CROSSED.items()}
    # A table without keys asks for its baseline, as it does in a job.
    asked = {key: value for table, (key, value) in BASELINES.items() if table in lines}
    given = {**asked, **flattened(document, fields, place)}
    for key, value in (overrides or {}).items():
        if key not in fields:
            raise SpecError(f"--set {key}: {unknown(key, fields)}")
        given[key] = value
    for key, one in CROSSED.items():
        if key in given and one in given:
            raise SpecError(
                f"{place(key)}: {key} lists what {one} would be for all jobs, but both are given; leave out one"
            )
    values = checked(given, fields, file, place)
    crossed = {one: values.pop(key) for key, one in CROSSED.items()}
    values["name"] = values["name"] or name_from(file)
    folder = joined(str(values["output.dir"]), str(values["name"]))
    for_all = {key: given[key] for key in _FOR_ALL if key in given}
    first = {key: given[key] for key in overrides or {} if key in _FOR_ALL}
    jobs: list[JobSpec] = []
    for entry in listed:
        path, own = _entry(entry, place("jobs"))
        shared = {key: values[key] for key in _SHARED if values[key] is not None}
        output = {key: values[key] for key in _OUTPUT if values[key] is not None}
        everywhere = {**_raw(shared), **_raw(for_all), **own, **first, **output}
        settings = {**everywhere, "output.dir": joined(folder, "jobs")}
        jobs += _variants(file.parent / path, settings, {one: crossed[one] for one in crossed if one not in own})
    _check_names(jobs, place("jobs"))
    own_values = {key: values[key] for key in (*_OWN, *_SHARED)}
    asked = {**own_values, **for_all, **{key: given[key] for key in CROSSED if key in given}}
    return SuiteSpec(file, lines, values, tuple(jobs), asked, tuple(_absolute(entry, file.parent) for entry in listed))


def _entry(entry: Any, place: str) -> tuple[str, dict[str, Any]]:
    """Return the path of a listed job and the keys given beside it."""
    if isinstance(entry, str):
        return entry, {}
    if not isinstance(entry, dict) or not isinstance(entry.get("spec"), str):
        raise SpecError(
            f'{place}: jobs must be paths, or tables with a spec such as {{spec = "a.toml"}}, got {entry!r}'
        )
    own = {key: value for key, value in entry.items() if key != "spec"}
    return entry["spec"], flattened(own, FIELDS, lambda _key: place)


def _absolute(entry: Any, folder: Path) -> str | dict[str, Any]:
    """Return a listed job with the absolute path of its spec."""
    if isinstance(entry, str):
        return os.path.abspath(folder / entry)
    return {**entry, "spec": os.path.abspath(folder / entry["spec"])}


def _several(field: Field) -> Check:
    """Return the check of a list of different values of a key."""

    def check(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not value or any(value.count(each) > 1 for each in value):
            raise ValueError("a list of different values")
        try:
            return tuple(field.check(each) for each in value)
        except ValueError as error:
            raise ValueError(f"a list of which each is {error}") from None

    return check


def _variants(
    file: Path, settings: Mapping[str, Any], crossed: Mapping[str, tuple[Any, ...] | None]
) -> Iterator[JobSpec]:
    """Yield a job with every combination of the listed values, or as it is if none are listed."""
    listed = {key: values for key, values in crossed.items() if values is not None}
    for chosen in itertools.product(*listed.values()):
        given = dict(zip(listed, chosen, strict=True))
        job = read_spec(file, {**settings, **given})
        changes: dict[str, Any] = {"name": "-".join(map(str, (job.name, *chosen)))}
        if "profile" in given and given["profile"] != listed["profile"][-1] and (job.baselines or job.peers):
            changes["methods"] = tuple(method for method in job.methods if method not in (*TUNED, *PEERS))
        yield replace(job, values={**job.values, **changes})


def _raw(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as they are in a file: lists, not tuples."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def _check_names(jobs: list[JobSpec], place: str) -> None:
    names = [job.name for job in jobs]
    for name in names:
        if names.count(name) > 1:
            raise SpecError(
                f"{place}: jobs of a suite must have different names, but {name!r} occurs twice; rename one"
            )
