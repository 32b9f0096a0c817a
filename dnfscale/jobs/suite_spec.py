"""Suites: several job specs as one plan.

    kind = "suite"
    jobs = ["paper/colon.toml", {spec = "paper/covertype.toml", methods = ["ideal"]}]

Keys that a suite gives besides its own hold for all its jobs; keys beside a job's spec hold for that job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dnfscale.data.storage import Access, joined
from dnfscale.engine.launch import ClusterSpec
from dnfscale.errors import DnfscaleError, SpecError
from dnfscale.jobs.checks import Field
from dnfscale.jobs.cluster_spec import cluster_of
from dnfscale.jobs.fields import FIELDS
from dnfscale.jobs.spec import (
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


@dataclass(frozen=True, slots=True)
class SuiteSpec:
    """Several jobs that run on one cluster, into one folder."""

    file: Path
    lines: Mapping[str, int]
    values: Mapping[str, Any]
    jobs: tuple[JobSpec, ...]

    @property
    def name(self) -> str:
        return str(self.values["name"])

    @property
    def run_folder(self) -> str:
        return joined(str(self.values["output.dir"]), self.name)

    @property
    def output_access(self) -> Access:
        """How the store for the suite's files is reached."""
        return access_of(self.values, "output")

    @property
    def cluster(self) -> ClusterSpec:
        return cluster_of(self.values)

    def located(self, error: DnfscaleError) -> DnfscaleError:
        """Return the error with the file and the line of the key that it speaks of."""
        return located_in(error, self.file, self.lines)

    def resolved(self) -> str:
        """Return the suite as TOML with every default written out."""
        return resolved_toml({**self.values, "kind": "suite", "jobs": [str(job.file) for job in self.jobs]})


def is_suite(file: Path) -> bool:
    """Tell a suite from a job."""
    document, _ = read_toml(file)
    return document.get("kind") == "suite"


def read_suite(file: Path, overrides: Mapping[str, Any] | None = None) -> SuiteSpec:
    """Read and check a suite and all its jobs; overrides go before everything."""
    document, lines = read_toml(file)

    def place(key: str) -> str:
        return place_of(file, lines, key)

    document.pop("kind")
    listed = document.pop("jobs", None)
    if not isinstance(listed, list) or not listed:
        raise SpecError(f"{place('jobs')}: jobs must be a list of job specs, got {listed!r}; name at least one")
    fields: dict[str, Field] = {key: FIELDS[key] for key in (*_OWN, *_SHARED, *_FOR_ALL)}
    given = flattened(document, fields, place)
    for key, value in (overrides or {}).items():
        if key not in fields:
            raise SpecError(f"--set {key}: {unknown(key, fields)}")
        given[key] = value
    values = checked(given, fields, file, place)
    values["name"] = values["name"] or name_from(file)
    folder = joined(str(values["output.dir"]), str(values["name"]))
    for_all = {key: given[key] for key in _FOR_ALL if key in given}
    first = {key: given[key] for key in overrides or {} if key in _FOR_ALL}
    jobs = []
    for entry in listed:
        path, own = _entry(entry, place("jobs"))
        shared = {key: values[key] for key in _SHARED if values[key] is not None}
        output = {key: values[key] for key in _OUTPUT if values[key] is not None}
        everywhere = {**_raw(shared), **_raw(for_all), **own, **first, **output}
        settings = {**everywhere, "output.dir": joined(folder, "jobs")}
        jobs.append(read_spec(file.parent / path, settings))
    _check_names(jobs, place("jobs"))
    return SuiteSpec(file, lines, values, tuple(jobs))


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


def _raw(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as they stand in a file: lists, not tuples."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def _check_names(jobs: list[JobSpec], place: str) -> None:
    names = [job.name for job in jobs]
    for name in names:
        if names.count(name) > 1:
            raise SpecError(
                f"{place}: jobs of a suite must have different names, but {name!r} occurs twice; rename one"
            )
