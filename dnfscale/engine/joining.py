"""How this process joins a Dask scheduler that somebody else runs: which one, as whom, with which certificates.

Certificates go into Dask's own configuration for this process, so that every connection it makes has them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tls:
    """Where a client's certificates are; what is None is left to Dask's own configuration."""

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None


def use_tls(tls: Tls) -> None:
    """Make all further connections of this process use these certificates."""
    given = {"ca-file": tls.ca_file, "client.cert": tls.cert_file, "client.key": tls.key_file}
    _configure({f"distributed.comm.tls.{key}": value for key, value in given.items() if value is not None})


def use_client_name(name: str) -> None:
    """Make this process known to schedulers under a name."""
    _configure({"client-name": name})


def configured_scheduler() -> str | None:
    """Return the address that Dask's own configuration names, such as DASK_SCHEDULER_ADDRESS."""
    import dask

    address = dask.config.get("scheduler-address", None)
    return None if address is None else str(address)


def _configure(settings: dict[str, str]) -> None:
    # Dask is imported where it is needed: it takes half a second, which most verbs do without.
    import dask

    dask.config.set(settings)
