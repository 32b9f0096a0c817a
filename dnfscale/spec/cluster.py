"""The table [cluster]: what all kinds of clusters have in common; what is a kind's own is declared
by its module.

A spec may hold the tables of several kinds, so that cluster.kind alone chooses among them. No value
is ever code: anything that goes into the script of a batch system or to another host is checked to
be a plain word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from dnfscale.errors import SpecError
from dnfscale.spec.checks import OneOf, memory, plain_word, seconds, text, whole, yes_no
from dnfscale.spec.keys import blocks_of, key, subtable
from dnfscale.spec.registry import CLUSTERS, ClusterKind

T = TypeVar("T")

AUTO = "auto"
"""The kind of a job whose spec has no table [cluster]."""

PLAIN_PATH = re.compile(r"[A-Za-z0-9_./@%+=:,~-]+")
"""What a batch system's script may hold without quotes, which dask-jobqueue does not write."""


def home_path(value: Any) -> str:
    """Check a path of this machine, in which ~ is the home folder."""
    return os.path.expanduser(text(value))


def plain_path(value: Any) -> str:
    """Check a path that a script may hold without quotes."""
    path = home_path(value)
    if not PLAIN_PATH.fullmatch(path):
        raise ValueError("a path without spaces, quotes and other special characters")
    return path


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The private authority that all parts of a cluster trust, and the certificate that this one
    shows.
    """

    ca_file: str = key(plain_path, None, "the authority", required=True, example="tls/ca.pem")
    cert_file: str = key(
        plain_path, None, "the certificate", required=True, example="tls/client.pem"
    )
    key_file: str = key(plain_path, None, "its key", required=True, example="tls/client-key.pem")


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Between how many workers a cluster moves, as there is work."""

    minimum: int = key(whole(1), None, "scale workers with the work", required=True, example=1)
    maximum: int = key(whole(1), None, "for kinds that can", required=True, example=8)


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """Where a job runs."""

    kind: str = key(
        OneOf(CLUSTERS), AUTO, '"auto": by the size of the job; with other keys here: "local"'
    )
    workers: int = key(whole(1), 2, "worker processes")
    memory_limit: str = key(memory, "4GiB", "per worker")
    fan_in: int = key(whole(2, 1024), 8, "how many summaries are merged at once", portable=True)
    lost_timeout_s: float = key(
        seconds,
        300.0,
        "exit code 4 after this long without any worker, or any answer of the scheduler",
        portable=True,
    )
    insecure: bool = key(yes_no, False, "allow a scheduler on another machine without TLS")
    start_timeout_s: float | None = key(
        seconds,
        None,
        "how long to wait for the first worker; default: 60, or 600 where jobs wait in a queue",
        example=60.0,
        portable=True,
    )
    local_directory: str | None = key(
        plain_path,
        None,
        'where workers spill to disk; kind "local": in a folder that only you can enter',
        example="/scratch",
    )
    dashboard: str | None = key(
        plain_word('an address, such as "127.0.0.1:8787"', r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+):\d{1,5}"),
        None,
        "dashboard of a cluster that the job starts; default: none",
        example="127.0.0.1:8787",
    )
    adaptive: Adaptive | None = subtable(Adaptive, optional=True)
    tls: TlsFiles | None = subtable(TlsFiles, optional=True)
    options: Any = None
    """The block of the kind's own keys, where it has one."""

    @property
    def facts(self) -> ClusterKind:
        """What is declared of the kind."""
        return CLUSTERS[self.kind]

    @property
    def start_limit_s(self) -> float:
        """How long the first worker may take."""
        return self.facts.start_timeout_s if self.start_timeout_s is None else self.start_timeout_s

    @property
    def first_workers(self) -> int:
        """How many workers it starts with."""
        return self.adaptive.minimum if self.adaptive else self.workers

    def own(self, block: type[T]) -> T:
        """Return the kind's own keys; all of them have their defaults where none is given."""
        return self.options if isinstance(self.options, block) else block()


def with_kind(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return given keys with the kind that they mean: whoever says how workers are wants workers of
    this machine, and whoever says nothing leaves the choice to the size of the job.
    """
    named = any(path.startswith("cluster.") for path in given)
    return {"cluster.kind": "local", **given} if named else dict(given)


def cluster_blocks() -> dict[str, tuple[type, str]]:
    """Return the block of each kind that has one, and the table that it stands in."""
    return blocks_of(CLUSTERS, "cluster")


def check_cluster_keys(spec: ClusterSpec) -> None:
    """Raise SpecError where keys of [cluster] contradict each other."""
    if spec.adaptive is not None and spec.adaptive.minimum > spec.adaptive.maximum:
        raise SpecError(
            (
                f"cluster.adaptive.minimum must be at most maximum, {spec.adaptive.maximum}, "
                f"got {spec.adaptive.minimum}"
            ),
            "cluster.adaptive.minimum",
        )
    spec.facts.check_keys(spec)


def check_given(spec: ClusterSpec, block: type, name: str, example: str) -> None:
    """Raise SpecError unless a key that a kind cannot do without is given."""
    if not getattr(spec.own(block), name):
        table = cluster_blocks()[spec.kind][1]
        raise SpecError(
            f'cluster.kind = "{spec.kind}" needs {table}.{name}, {example}; add it', "cluster.kind"
        )
