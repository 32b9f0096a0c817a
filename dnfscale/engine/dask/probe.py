"""Checks who answers at an address, because Dask retries in silence until its timeout.

A scheduler speaks first. So one connection shows within a round trip whether anything listens,
whether it speaks Dask, with or without TLS, and whether it accepts our certificate.
"""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import closing

from dnfscale.errors import ClusterError

_PAUSE_S = 0.25
_REFUSALS = 5
"""Attempts: a scheduler that is just starting refuses connections at first."""
_SPEAK_S = 15.0
"""Time limit for the first bytes of a scheduler, once connected."""


def probe(address: str, context: ssl.SSLContext | None, *, timeout_s: float) -> None:
    """Raise ClusterError, saying why, where no scheduler would talk to us; context is for TLS."""
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
