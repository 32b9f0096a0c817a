"""What batch systems have in common: the keys of their tables, what a script may hold, and how
workers are started.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from dnfscale.engine.api import Tell, Watch
from dnfscale.errors import SpecError
from dnfscale.spec.checks import plain_word, texts, whole
from dnfscale.spec.cluster import PLAIN_PATH, ClusterSpec, TlsFiles, plain_path
from dnfscale.spec.keys import Check, key
from dnfscale.spec.registry import CLUSTERS, ClusterKind

_QUEUE_S = 600.0
"""How long the first worker may take: jobs wait in a queue."""


def _walltime(value: Any) -> str:
    # Without quotes, TOML reads it as a time of day.
    given = value.isoformat() if isinstance(value, datetime.time) else value
    return str(plain_word('a time, such as "02:00:00"', r"[0-9][0-9:-]*")(given))


def directives(kind: str, *known: str) -> Check:
    """Return the check of options that choose where and when a job runs; others could write files
    or run commands.
    """

    def check(value: Any) -> tuple[str, ...]:
        given = texts(value)
        for directive in given:
            is_known = re.split(r"[ =]", directive)[0] in known
            if not is_known or not re.fullmatch(r"[\w.,:=+@%/ \-\[\]*&|]+", directive):
                raise ValueError(
                    f"a list of options of {kind} out of {', '.join(known)}, with their values"
                )
        return given

    return check


@dataclass(frozen=True, slots=True)
class Queue:
    """How workers are asked of a batch system; some of them share a job."""

    queue: str | None = key(
        plain_word("the name of a queue or partition"),
        None,
        "the queue or partition",
        example="main",
    )
    account: str | None = key(
        plain_word("the name of an account"), None, "who pays", example="physics"
    )
    walltime: str | None = key(_walltime, None, "how long a job may take", example="02:00:00")
    workers_per_job: int = key(whole(1), 1, "how many workers share a job")
    interface: str | None = key(
        plain_word('a network interface, such as "ib0"'),
        None,
        "the network of the workers",
        example="ib0",
    )
    shared_directory: str | None = key(
        plain_path,
        None,
        "a folder that all nodes see, for certificates and logs; default: the working directory",
        example="/shared/me",
    )
    directives: tuple[str, ...] = ()
    """The batch system's own options; each system declares which it knows."""


@dataclass(frozen=True, slots=True)
class BatchSystem:
    """The commands and the class of a batch system."""

    name: str
    title: str
    submit: str
    """The command that submits a job."""
    cluster: str
    """The class of dask-jobqueue."""
    ask: Callable[[list[str]], list[str]]
    """The command that prints a line for each of some jobs, by their ids, that is still in the
    queue.
    """


def register_batch(system: BatchSystem, options: type[Queue]) -> None:
    """Register the kind of cluster whose workers are jobs of a batch system."""
    CLUSTERS.register(
        ClusterKind(
            name=system.name,
            title=f"jobs of {system.title}",
            launch=partial(_launch, system=system),
            options=options,
            check=_check_plain,
            adapts=True,
            start_timeout_s=_QUEUE_S,
            package="dask_jobqueue",
            extra=system.name,
        )
    )


def _check_plain(spec: ClusterSpec) -> list[str]:
    """Check that a script can hold what the spec says, so that no value of it becomes a command;
    return warnings.
    """
    values = {
        f"cluster.{spec.kind}.shared_directory": os.path.abspath(
            spec.own(Queue).shared_directory or "."
        ),
        "cluster.local_directory": spec.local_directory,
    }
    if spec.tls is not None:
        values |= {f"cluster.tls.{name}": getattr(spec.tls, name) for name in TlsFiles.__slots__}
    for path, value in values.items():
        if value is not None and not PLAIN_PATH.fullmatch(value):
            raise SpecError(
                f"{path} must be a path without spaces and special characters, which "
                "scripts of a batch system cannot "
                f"hold, got {value!r}; name another folder",
                path,
            )
    return (
        ["the scheduler has no TLS, as insecure = true asks"]
        if spec.insecure and spec.tls is None
        else []
    )


def _launch(
    spec: ClusterSpec, system: BatchSystem, *, loaded: Sequence[str], watch: Watch, tell: Tell
) -> Any:
    """Start a cluster in the queue of a batch system."""
    del loaded
    from dnfscale.engine.dask.remote import start_remote

    def start(spec: ClusterSpec, stack: ExitStack) -> Any:
        from dnfscale.engine.dask.queues import start_queue

        return start_queue(spec, system, stack)

    return start_remote(spec, start, watch=watch, tell=tell)
