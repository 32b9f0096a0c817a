"""Pods in Kubernetes, made by the operator of dask-kubernetes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from dnfscale.engine.api import Tell, Watch
from dnfscale.engine.preflight import reach_warnings
from dnfscale.errors import SpecError
from dnfscale.spec.checks import plain_word
from dnfscale.spec.cluster import ClusterSpec, check_given
from dnfscale.spec.keys import key
from dnfscale.spec.registry import CLUSTERS, ClusterKind

_START_S = 600.0
"""Images are pulled."""


@dataclass(frozen=True, slots=True)
class Pods:
    """What the pods are made of."""

    image: str | None = key(
        plain_word("the name of an image with its tag"),
        None,
        "an image with dnfscale in it",
        example="registry.example/dnfscale:0.1.0",
    )
    namespace: str | None = key(
        plain_word("the name of a namespace", r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"),
        None,
        "default: that of the kubeconfig",
        example="dnfscale",
    )
    cpu: str = key(
        plain_word('an amount of cores, such as "1" or "500m"', r"\d+(\.\d+)?m?"),
        "1",
        "cores per worker",
    )
    tls_secret: str | None = key(
        plain_word("the name of a secret", r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"),
        None,
        "the secret with ca.crt, tls.crt and tls.key that scheduler and workers show",
        example="dnfscale-tls",
    )


def _check_keys(spec: ClusterSpec) -> None:
    check_given(spec, Pods, "image", "an image with dnfscale in it")
    if (spec.own(Pods).tls_secret is None) != (spec.tls is None):
        raise SpecError(
            "TLS in Kubernetes needs both [cluster.tls], for this side, and "
            "cluster.kubernetes.tls_secret, for the "
            "pods; add the other, or leave out both",
            "cluster.kubernetes",
        )


def _check(spec: ClusterSpec) -> list[str]:
    if spec.adaptive is not None and spec.tls is not None:
        raise SpecError(
            "cluster.adaptive is not for Kubernetes with TLS, because the operator asks "
            "the scheduler without; "
            "leave it out, and set cluster.workers",
            "cluster.adaptive",
        )
    return reach_warnings(spec, None, 'the scheduler of kind = "kubernetes"', "cluster.kind")


def _launch(spec: ClusterSpec, *, loaded: Sequence[str], watch: Watch, tell: Tell) -> Any:  # noqa: ARG001
    from dnfscale.engine.dask.remote import start_remote

    return start_remote(spec, _start, watch=watch, tell=tell)


def _start(spec: ClusterSpec, stack: ExitStack) -> Any:
    from dnfscale.engine.dask.client import connected
    from dnfscale.engine.dask.kubernetes import DaskPods
    from dnfscale.engine.dask.remote import Started

    pods = stack.enter_context(DaskPods(spec))
    return Started(
        lambda: connected(pods.address(stack), spec.tls),
        f"the cluster {pods.name} in Kubernetes",
        f"look at: kubectl describe pods --selector dask.org/cluster-name={pods.name}",
    )


CLUSTERS.register(
    ClusterKind(
        name="kubernetes",
        title="pods in Kubernetes",
        launch=_launch,
        options=Pods,
        check_keys=_check_keys,
        check=_check,
        adapts=True,
        start_timeout_s=_START_S,
        package="dask_kubernetes",
        extra="kubernetes",
    )
)
