"""Joining a cluster: look who answers, connect, wait for workers, compare versions.

A cluster that somebody else started is left as it was: results go with the client, and what a scheduler remembers of
our phases is forgotten.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

from distributed import Client
from distributed.utils import TimeoutError as DaskTimeoutError
from distributed.utils import silence_logging_cmgr
from distributed.versions import VersionMismatchWarning

from dnfscale.engine.api import Notice, Tell, Watch, untold, unwatched
from dnfscale.engine.cluster import ClusterEngine, take_down
from dnfscale.engine.credentials import context_of, security_of
from dnfscale.engine.dask_internals import OneConnectionClient
from dnfscale.engine.kinds import ClusterSpec, TlsFiles
from dnfscale.engine.preflight import found_address
from dnfscale.engine.probe import probe
from dnfscale.engine.steady import keep_scheduler_steady, let_scheduler_go, steady_clock
from dnfscale.engine.versions import check_versions
from dnfscale.errors import ClusterError

CONNECT_S = 15.0
"""How long a scheduler may take to answer."""
_TELL_S = 5.0
"""How often waiting is told of."""


def join(spec: ClusterSpec, *, watch: Watch = unwatched, tell: Tell = untold) -> ClusterEngine:
    """Run on a cluster that somebody else started; closing the engine leaves it as it was."""
    address = found_address(spec)
    stack = ExitStack()
    stack.enter_context(steady_clock())
    # What happens is told in our words; Dask's would be tracebacks in the middle of them.
    stack.enter_context(silence_logging_cmgr(logging.CRITICAL))
    try:
        client = stack.enter_context(connected(address, spec.tls))
        wait_for_workers(client, spec, tell, f"the scheduler {address}", advice="start one")
        for difference in check_versions(client):
            tell(Notice.warning(difference))
        keep_scheduler_steady(client)
        engine = ClusterEngine.opened(client, stack, spec, watch=watch, tell=tell)
    except BaseException:
        take_down(stack, tell)
        raise
    engine.at_close(partial(let_scheduler_go, client))
    engine.at_close(engine.forget_phases)
    return engine


def connected(address: str, tls: TlsFiles | None) -> Client:
    """Return a client of the scheduler at an address with its scheme, or say why there is none."""
    security = security_of(tls)
    probe(address, context_of(security) if address.startswith("tls://") else None, timeout_s=CONNECT_S)
    try:
        with warnings.catch_warnings():
            # check_versions says it in words that help.
            warnings.simplefilter("ignore", VersionMismatchWarning)
            return OneConnectionClient(address=address, timeout=CONNECT_S, set_as_default=False, security=security)
    except (OSError, ValueError, DaskTimeoutError) as error:
        raise ClusterError(f"expected a Dask scheduler at {address}, but none answers: {error}") from error


def wait_for_workers(
    client: Client,
    spec: ClusterSpec,
    tell: Tell,
    where: str,
    *,
    advice: str,
    look: Callable[[], Any] = lambda: None,
) -> None:
    """Wait until there is a worker, telling of it; look may raise what makes waiting futile."""
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
                    f"expected at least one worker at {where} within {spec.start_limit_s:.0f} s, but none came; "
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
