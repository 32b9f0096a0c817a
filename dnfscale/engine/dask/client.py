"""Connecting to a scheduler: look who answers, wait for workers, and ask what it knows of them."""

from __future__ import annotations

import socket
import ssl
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from typing import Any

from distributed import Client
from distributed.utils import TimeoutError as DaskTimeoutError
from distributed.versions import VersionMismatchWarning

from dnfscale.engine.api import Notice, Tell
from dnfscale.engine.dask.credentials import context_of, security_of
from dnfscale.engine.dask.internals import OneConnectionClient
from dnfscale.errors import ClusterError
from dnfscale.spec.cluster import ClusterSpec, TlsFiles

CONNECT_S = 15.0
"""Time limit for the connection to a scheduler."""
_TELL_S = 5.0
"""Interval of the notices while we wait for workers."""
_PAUSE_S = 0.25
_REFUSALS = 5
"""Attempts: a scheduler that is just starting refuses connections at first."""
_SPEAK_S = 15.0
"""Time limit for the first bytes of a scheduler, once connected."""


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
        identity: dict[str, Any] = client.sync(client.scheduler.identity, n_workers=most)
    except OSError:
        return {}
    return dict(identity["workers"])


def probe(address: str, context: ssl.SSLContext | None, *, timeout_s: float) -> None:
    """Raise ClusterError, saying why, where no scheduler would talk to us; context is for TLS.

    Dask retries in silence until its timeout. A scheduler speaks first: so one connection shows
    within a round trip whether anything listens, whether it speaks Dask, with or without TLS, and
    whether it accepts our certificate.
    """
    scheme, _, place = address.rpartition("://")
    if scheme not in ("tcp", "tls"):
        return
    host, _, port = place.rpartition(":")
    with closing(_connected(address, (host.strip("[]"), int(port)), timeout_s)) as plain:
        plain.settimeout(min(timeout_s, _SPEAK_S))
        if context is None:
            _hear_plain(address, plain)
        else:
            _hear_encrypted(address, plain, context)


def _connected(address: str, place: tuple[str, int], timeout_s: float) -> socket.socket:
    for attempt in range(_REFUSALS):
        try:
            return socket.create_connection(place, timeout=timeout_s)
        except ConnectionRefusedError as error:
            if attempt == _REFUSALS - 1:
                raise _nobody(
                    address, "the connection is refused: nothing listens there; start it"
                ) from error
            time.sleep(_PAUSE_S)
        except socket.gaierror as error:
            raise _nobody(
                address, f"the host is not known ({error.strerror}); correct the address"
            ) from error
        except TimeoutError as error:
            raise _nobody(
                address, f"within {timeout_s:.0f} s; look at the address and the firewall"
            ) from error
        except OSError as error:
            raise _nobody(address, f"{error.strerror or error}; correct the address") from error
    raise AssertionError("the last attempt returns or raises")


def _hear_plain(address: str, stream: socket.socket) -> None:
    try:
        word = stream.recv(1)
    except (TimeoutError, ConnectionError) as error:
        raise _nobody(
            address,
            "what listens there says nothing: perhaps it wants TLS (write tls:// and give "
            "[cluster.tls]), "
            "or it is not a Dask scheduler",
        ) from error
    if not word:
        raise _nobody(address, "what listens there hung up; is it a Dask scheduler?")


def _hear_encrypted(address: str, stream: socket.socket, context: ssl.SSLContext) -> None:
    try:
        with context.wrap_socket(stream) as encrypted:
            # With TLS 1.3 the other side rejects our certificate only after the handshake, instead
            # of its first bytes.
            if encrypted.recv(1):
                return
    except ssl.SSLCertVerificationError as error:
        raise _nobody(
            address,
            "its certificate is not of the authority in cluster.tls.ca_file "
            f"({error.verify_message}); use the "
            "ca_file that the cluster was started with",
        ) from error
    except ssl.SSLError as error:
        if error.reason is not None and "ALERT" in error.reason:
            raise _nobody(
                address,
                "it does not take our certificate "
                f"({error.reason.lower().replace('_', ' ')}); use a cert_file and "
                "key_file that the authority of the cluster has signed",
            ) from error
        raise _nobody(
            address, f"what listens there does not speak TLS ({error.reason or error})"
        ) from error
    except (TimeoutError, OSError) as error:
        raise _nobody(
            address,
            "what listens there does not speak TLS: perhaps the scheduler was started without",
        ) from error
    raise _nobody(address, "what listens there hung up; is it a Dask scheduler?")


def _nobody(address: str, why: str) -> ClusterError:
    return ClusterError(f"expected a Dask scheduler at {address}, but none answers: {why}")
