"""Connecting to a scheduler: look who answers, wait for workers, and ask what it knows of them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

from distributed import Client
from distributed.utils import TimeoutError as DaskTimeoutError
from distributed.versions import VersionMismatchWarning

from dnfscale.engine.api import Notice, Tell
from dnfscale.engine.dask.credentials import context_of, security_of
from dnfscale.engine.dask.internals import OneConnectionClient
from dnfscale.engine.dask.probe import probe
from dnfscale.errors import ClusterError
from dnfscale.spec.cluster import ClusterSpec, TlsFiles

CONNECT_S = 15.0
"""Time limit for the connection to a scheduler."""
_TELL_S = 5.0
"""Interval of the notices while we wait for workers."""


def connected(address: str, tls: TlsFiles | None) -> Client:
    """Connect to the scheduler at an address (with its scheme); raise ClusterError, saying why,
    where none answers.
    """
    security = security_of(tls)
    probe(
        address, context_of(security) if address.startswith("tls://") else None, timeout_s=CONNECT_S
    )
    try:
        with warnings.catch_warnings():
            # check_versions reports it, with what to do.
            warnings.simplefilter("ignore", VersionMismatchWarning)
            return OneConnectionClient(
                address=address, timeout=CONNECT_S, set_as_default=False, security=security
            )
    except (OSError, ValueError, DaskTimeoutError) as error:
        raise ClusterError(
            f"expected a Dask scheduler at {address}, but none answers: {error}"
        ) from error


def wait_for_workers(
    client: Client,
    spec: ClusterSpec,
    tell: Tell,
    where: str,
    *,
    advice: str,
    look: Callable[[], Any] = lambda: None,
) -> None:
    """Wait for the first worker, with a notice every few seconds; `look` may raise what makes
    waiting futile.
    """
    started = time.monotonic()
    while True:
        left_s = spec.start_limit_s - (time.monotonic() - started)
        try:
            client.wait_for_workers(1, timeout=max(0.01, min(_TELL_S, left_s)))
            return
        except (DaskTimeoutError, TimeoutError) as error:
            elapsed_s = time.monotonic() - started
            if elapsed_s >= spec.start_limit_s:
                raise ClusterError(
                    f"expected at least one worker at {where} within "
                    f"{spec.start_limit_s:.0f} s, but none came; "
                    f"{advice}, or raise cluster.start_timeout_s"
                ) from error
        tell(
            Notice(
                "waiting",
                f"waiting for a worker at {where}: {elapsed_s:.0f} of {spec.start_limit_s:.0f} s",
                {"elapsed_s": round(elapsed_s, 1), "limit_s": spec.start_limit_s},
            )
        )
        look()


def workers_of(client: Client, *, most: int = -1) -> dict[str, dict[str, Any]]:
    """Ask the scheduler for its workers, by address; an empty dict if it does not answer.

    The client's own `scheduler_info` returns the last answer that the client got, for whatever
    question. Every two seconds the client itself asks without workers, so that with several threads
    there sometimes seem to be none.
    """
    if client.scheduler is None:
        return {}
    try:
        told: dict[str, Any] = client.sync(client.scheduler.identity, n_workers=most)
    except OSError:
        return {}
    return dict(told["workers"])
