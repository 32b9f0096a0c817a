"""A cluster of pods: a DaskCluster resource, which the operator of dask-kubernetes turns into
scheduler and workers.

The operator's own client cannot talk TLS to a scheduler, so that this creates the resource, waits
for the scheduler's pod, and connects by itself: by the service's name inside the Kubernetes
cluster, through a forwarded port outside.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import uuid
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import kr8s
from dask.utils import parse_bytes
from dask_kubernetes.operator import make_cluster_spec
from kr8s.objects import Service, new_class

from dnfscale.engine.clusters.kubernetes import Pods
from dnfscale.engine.dask.credentials import ROLES
from dnfscale.engine.dask.settings import ELSEWHERE
from dnfscale.errors import ClusterError
from dnfscale.spec.cluster import ClusterSpec

_PORT = 8786
_TLS_FOLDER = "/etc/dnfscale/tls"
_GROUP = "kubernetes.dask.org/v1"
_SECRETS_GROUP = 10001
_PAUSE_S = 1
_FORWARD_S = 30
_FORWARDS = 5
"""How many ports are tried."""
_HEADROOM = 5
"""Quarters of a worker's memory that its pod gets: Dask spills at its limit, Kubernetes kills at
the pod's.
"""


class DaskPods:
    """Creates the pods when it is entered, and deletes them when it is left."""

    def __init__(self, spec: ClusterSpec) -> None:
        self.name = f"dnfscale-{uuid.uuid4().hex[:10]}"
        self._spec = spec
        self._resources: list[Any] = []

    def __enter__(self) -> DaskPods:
        try:
            api = kr8s.api()
            self._namespace = self._spec.own(Pods).namespace or api.namespace
            self._create("DaskCluster", dask_cluster(self.name, self._namespace, self._spec))
            if self._spec.adaptive is not None:
                self._create("DaskAutoscaler", dask_autoscaler(self.name, self._spec))
        except BaseException as error:
            self.__exit__(None, None, None)
            if not isinstance(error, Exception):
                raise
            raise ClusterError(
                "expected to create a DaskCluster in Kubernetes, but that failed "
                f"({_told(error)}); "
                "look at the kubeconfig, the namespace, the rights, and whether the "
                "operator is installed"
            ) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        left = []
        while self._resources:
            resource = self._resources.pop()
            try:
                resource.delete()
            except kr8s.NotFoundError:
                pass
            except Exception as failed:
                left.append((resource.kind.lower(), _told(failed)))
        if left:
            kinds = ",".join(kind for kind, _ in left)
            raise ClusterError(
                f"expected to delete {self.name} in Kubernetes, but that failed "
                f"({left[0][1]}); its pods are still "
                f"there; delete them: kubectl delete {kinds} {self.name} --namespace "
                f"{self._namespace}"
            )

    def address(self, stack: ExitStack) -> str:
        """Wait for the scheduler's pod and return where it is reached; a forwarded port lives as
        long as the stack.
        """
        scheme = "tcp" if self._spec.tls is None else "tls"
        service = self._ready_service()
        if "KUBERNETES_SERVICE_HOST" in os.environ:
            return f"{scheme}://{service.name}.{self._namespace}.svc:{_PORT}"
        forward = forwarded(service)
        stack.callback(stop_forwarding, forward)
        return f"{scheme}://127.0.0.1:{forward.local_port}"

    def _create(self, kind: str, resource: dict[str, Any]) -> None:
        made = new_class(kind, _GROUP, asyncio=False)(resource, namespace=self._namespace)
        made.create()
        self._resources.append(made)

    def _ready_service(self) -> Any:
        started = time.monotonic()
        while time.monotonic() - started < self._spec.start_limit_s:
            try:
                service = Service.get(
                    f"{self.name}-scheduler", namespace=self._namespace, timeout=_PAUSE_S
                )
                if service.ready_pods():
                    return service
            except (kr8s.NotFoundError, TimeoutError):
                pass
            time.sleep(_PAUSE_S)
        raise ClusterError(
            f"expected the scheduler of {self.name} within {self._spec.start_limit_s:.0f} "
            "s, but its pod is not ready; "
            f"is the operator running? look at: kubectl describe daskcluster {self.name}, or raise "
            "cluster.start_timeout_s"
        )


def forwarded(service: Any) -> Any:
    """Forward a free port of this machine to a service.

    The library looks for a free port before it listens there; meanwhile another process may take
    it, so another port is tried then.
    """
    taken: list[OSError] = []

    def listen(forward: Any) -> None:
        try:
            forward.run_forever()
        except OSError as error:
            taken.append(error)

    started = time.monotonic()
    for attempt in range(_FORWARDS):
        forward = service.portforward(remote_port=_PORT, local_port="auto")
        threading.Thread(target=listen, args=(forward,), daemon=True).start()
        # It says that it has begun by what it listens with.
        while len(taken) == attempt and time.monotonic() - started < _FORWARD_S:
            if any(server.is_serving() for server in forward.servers):
                return forward
            time.sleep(0.05)
    why = f"that failed ({_told(taken[-1])})" if taken else "that has not begun"
    raise ClusterError(f"expected to forward a port to {service.name}, but {why}")


def stop_forwarding(forward: Any) -> None:
    """Close what a forwarded port listens with, in the loop that it belongs to.

    The library's own stop() closes it from whatever thread calls; where a connection ends at that
    moment, both wake who waits for the end, and the second fails.
    """
    for server in list(forward.servers):
        asyncio.run_coroutine_threadsafe(_close(server), server.get_loop()).result(_FORWARD_S)


def dask_cluster(name: str, namespace: str, spec: ClusterSpec) -> dict[str, Any]:
    """Return the DaskCluster resource that a spec describes."""
    pods = spec.own(Pods)
    amount = {"cpu": pods.cpu, "memory": f"{parse_bytes(spec.memory_limit) * _HEADROOM >> 22}Mi"}
    # Said here too, because the image need not be ours.
    environment = {**ELSEWHERE.as_environment(), **({} if spec.tls is None else _tls_environment())}
    scheme = "tcp" if spec.tls is None else "tls"
    resource: dict[str, Any] = make_cluster_spec(
        name=name,
        image=pods.image,
        n_workers=spec.first_workers,
        resources={"limits": amount, "requests": amount},
        env=environment,
    )
    scheduler, worker = resource["spec"]["scheduler"]["spec"], resource["spec"]["worker"]["spec"]
    scheduler["containers"][0]["args"] = ["dask", "scheduler", "--no-dashboard"]
    worker["containers"][0]["args"] = [
        *(
            "dask",
            "worker",
            "--name",
            "$(DASK_WORKER_NAME)",
            "--nthreads",
            "1",
            "--memory-limit",
            spec.memory_limit,
        ),
        *("--dashboard-address", "127.0.0.1:8788"),
    ]
    # The operator would tell workers to come without TLS.
    worker["containers"][0]["env"] = [
        *worker["containers"][0]["env"],
        {
            "name": "DASK_SCHEDULER_ADDRESS",
            "value": f"{scheme}://{name}-scheduler.{namespace}.svc:{_PORT}",
        },
    ]
    for pod in (scheduler, worker):
        # Files of a secret belong to root and to this group, which the image's user need not be of
        # otherwise.
        pod["securityContext"] = {
            "runAsNonRoot": True,
            "fsGroup": _SECRETS_GROUP,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        pod["automountServiceAccountToken"] = False
        container = pod["containers"][0]
        container["securityContext"] = {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
        if pods.tls_secret is not None:
            pod["volumes"] = [
                {"name": "tls", "secret": {"secretName": pods.tls_secret, "defaultMode": 0o440}}
            ]
            container["volumeMounts"] = [
                {"name": "tls", "mountPath": _TLS_FOLDER, "readOnly": True}
            ]
    return resource


def dask_autoscaler(name: str, spec: ClusterSpec) -> dict[str, Any]:
    """Return the resource by which the operator moves the number of workers."""
    assert spec.adaptive is not None
    return {
        "apiVersion": _GROUP,
        "kind": "DaskAutoscaler",
        "metadata": {"name": name},
        "spec": {
            "cluster": name,
            "minimum": spec.adaptive.minimum,
            "maximum": spec.adaptive.maximum,
        },
    }


async def _close(server: asyncio.Server) -> None:
    server.close()


def _told(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _tls_environment() -> dict[str, str]:
    prefix = "DASK_DISTRIBUTED__COMM__"
    by_role = {
        f"{prefix}TLS__{role.upper()}__{part}": f"{_TLS_FOLDER}/tls.{end}"
        for role in ROLES
        for part, end in (("CERT", "crt"), ("KEY", "key"))
    }
    return {
        f"{prefix}DEFAULT_SCHEME": "tls",
        f"{prefix}REQUIRE_ENCRYPTION": "true",
        f"{prefix}TLS__CA_FILE": f"{_TLS_FOLDER}/ca.crt",
        **by_role,
    }
