"""A cluster that somebody else started, by the address of its scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dnfscale.engine.api import Tell, Watch
from dnfscale.engine.preflight import found_address, reach_warnings
from dnfscale.spec.checks import text
from dnfscale.spec.cluster import ClusterSpec, check_given
from dnfscale.spec.keys import key
from dnfscale.spec.registry import CLUSTERS, ClusterKind


@dataclass(frozen=True, slots=True)
class Address:
    """Where the scheduler listens."""

    address: str | None = key(text, None, 'for kind = "address"', example="tls://10.0.0.5:8786")


def _address(spec: ClusterSpec) -> str:
    return found_address(spec.own(Address).address, spec.tls)


def _check(spec: ClusterSpec) -> list[str]:
    address = _address(spec)
    return reach_warnings(spec, address, f"the scheduler at {address}", "cluster.address")


def _launch(spec: ClusterSpec, *, loaded: Sequence[str], watch: Watch, tell: Tell) -> Any:  # noqa: ARG001
    from dnfscale.engine.dask.joined import join

    return join(spec, _address(spec), watch=watch, tell=tell)


CLUSTERS.register(
    ClusterKind(
        name="address",
        title="a cluster that is running, by the address of its scheduler",
        launch=_launch,
        options=Address,
        table="cluster",
        check_keys=lambda spec: check_given(
            spec, Address, "address", 'such as "tls://10.0.0.5:8786"'
        ),
        check=_check,
        address=_address,
    )
)
