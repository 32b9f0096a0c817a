"""What Dask's own configuration says, or is told, of the connections of this process."""

from __future__ import annotations


def configured_scheduler() -> str | None:
    """Return the address that Dask's own configuration names, such as DASK_SCHEDULER_ADDRESS."""
    # Dask is imported where it is needed: it takes half a second, which most verbs do without.
    import dask

    address = dask.config.get("scheduler-address", None)
    return None if address is None else str(address)


def use_client_name(name: str) -> None:
    """Make this process known to schedulers under a name."""
    import dask

    dask.config.set({"client-name": name})
