"""A cluster that somebody else started, by the address of its scheduler."""

from __future__ import annotations

from dataclasses import dataclass

from dnfscale.engine.preflight import found_address
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


CLUSTERS.register(
    ClusterKind(
        name="address",
        title="a cluster that is running, by the address of its scheduler",
        options=Address,
        table="cluster",
        check_keys=lambda spec: check_given(
            spec, Address, "address", 'such as "tls://10.0.0.5:8786"'
        ),
        address=_address,
    )
)
