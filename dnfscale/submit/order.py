"""What is sent to a driver: a spec that means the same on every machine, as plain text, and how to
run it.

Paths are made absolute where the job is submitted, as `run` would understand them there: on a file
system that all machines share, they mean the same to the driver. Of the table [cluster] only keys
that apply to any cluster are kept, because the job runs on the cluster that it was submitted to.
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dnfscale.datasets.named import FOLDER_VARIABLE
from dnfscale.jobs.runner import Options
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.job import JobSpec, read_spec
from dnfscale.spec.keys import keys_of
from dnfscale.spec.storage import is_remote
from dnfscale.spec.suite import CROSSED, SuiteSpec, read_suite
from dnfscale.spec.toml import Origin, write_toml
from dnfscale.submit.record import Order, SentSpec


def order_for(spec: JobSpec | SuiteSpec, options: Options) -> Order:
    """Return all that a driver needs to know, as values that JSON can hold."""
    jobs = spec.jobs if isinstance(spec, SuiteSpec) else ()
    return {
        "spec": _packed(spec),
        "jobs": [_packed(job) for job in jobs],
        "force": options.force,
        "resume": options.resume,
        "data_folder": _absolute(os.environ.get(FOLDER_VARIABLE)),
    }


def spec_in(order: Order, cluster: Mapping[str, Any]) -> JobSpec | SuiteSpec:
    """Read and check the spec of an order, and return it for the given cluster."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, job in enumerate(order["jobs"]):
            files.append(f"{number}.toml")
            Path(folder, files[-1]).write_text(job["text"], encoding="utf-8")
        main = Path(folder, "spec.toml")
        document = tomllib.loads(order["spec"]["text"])
        # Each job is sent as it is run: with one profile and one seed of those that the suite may
        # list.
        crossed = {key: document.pop(key) for key in CROSSED if key in document}
        listed = document.pop("jobs", ())
        main.write_text(
            write_toml({**document, "jobs": files} if files else document), encoding="utf-8"
        )
        if files:
            suite = read_suite(main, cluster)
            # The keys that the suite sets for all jobs, and those that take precedence over them,
            # are already in each job.
            jobs = tuple(
                _named(read_spec(Path(folder, file), cluster), job)
                for file, job in zip(files, order["jobs"], strict=True)
            )
            return replace(
                suite,
                origin=_origin(order["spec"]),
                jobs=jobs,
                asked={**suite.asked, **crossed},
                listed=tuple(listed),
            )
        return _named(read_spec(main, cluster), order["spec"])


def options_in(order: Order, *, attempt: int) -> Options:
    """Return how to run an order; a driver that is not the first resumes where the one before it
    stopped.
    """
    return Options(force=order["force"], resume=order["resume"] or attempt > 1)


def use_data_folder(order: Order) -> None:
    """Look for named datasets where the submitter looks, if that folder is here too."""
    folder = order["data_folder"]
    if folder is not None and Path(folder).is_dir():
        os.environ[FOLDER_VARIABLE] = folder


def run_folder_of(spec: JobSpec | SuiteSpec) -> str:
    """Return the folder of a run as an absolute path or URL, which other machines
    can understand.
    """
    return str(_absolute(str(spec.run_folder)))


def _packed(spec: JobSpec | SuiteSpec) -> SentSpec:
    document = tomllib.loads(spec.resolved())
    cluster = document.get("cluster", {})
    portable = {known.name for known in keys_of(ClusterSpec).values() if known.portable}
    document["cluster"] = {name: value for name, value in cluster.items() if name in portable}
    document["output"]["dir"] = _absolute(document["output"]["dir"])
    return {"text": write_toml(document), "file": str(spec.file), "lines": dict(spec.origin.lines)}


def _named(spec: JobSpec, sent: SentSpec) -> JobSpec:
    """Return the spec with the file name and lines of the submitter, for messages."""
    return replace(spec, origin=_origin(sent))


def _origin(sent: SentSpec) -> Origin:
    return Origin(Path(sent["file"]), sent["lines"])


def _absolute(path: str | None) -> str | None:
    return path if path is None or is_remote(path) else os.path.abspath(path)
