"""The part of Kubernetes that a job meets, on loopback: it takes a DaskCluster, and plays operator
and kubelet to it.

What it is sent is held against the operator's own schema; what it starts are real processes, with
the arguments and the environment of the containers; the port of the scheduler is forwarded by
Kubernetes' own protocol.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.tcpclient import TCPClient
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from tests.deploy.manifests import DEPLOY, operator_schema
from tests.deploy.processes import Processes, written_address

_TLS_FOLDER, _DASK_FOLDER = "/etc/dnfscale/tls", "/etc/dnfscale/dask"


class SmallKubernetes:
    """The clusters that are there, and their processes."""

    def __init__(self, processes: Processes, certificates: Path) -> None:
        self.clusters: dict[str, dict[str, Any]] = {}
        self.deleted: list[str] = []
        self.allows_deletion = True
        self._processes = processes
        self._secret = processes.folder / "secret"
        self._secret.mkdir()
        for there, here in {
            "ca.crt": "ca.pem",
            "tls.crt": "cert.pem",
            "tls.key": "key.pem",
        }.items():
            shutil.copy(certificates / here, self._secret / there)
        self._configuration = processes.folder / "configuration"
        self._configuration.mkdir()
        dask = (DEPLOY / "kubernetes" / "dask.yaml").read_text(encoding="utf-8")
        (self._configuration / "dask.yaml").write_text(
            dask.replace(_TLS_FOLDER, str(self._secret)), encoding="utf-8"
        )

    def create(self, resource: dict[str, Any]) -> None:
        jsonschema.validate(resource, operator_schema("daskcluster"))
        name = resource["metadata"]["name"]
        file = self._processes.folder / f"{name}.json"
        scheduler = resource["spec"]["scheduler"]["spec"]["containers"][0]
        here = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)]
        self._start(
            "scheduler",
            scheduler,
            [*scheduler["args"], *here, "--dashboard-address", "127.0.0.1:0"],
        )
        address = self._processes.wait_for(
            lambda: written_address(file), "the start of the scheduler"
        )
        worker = resource["spec"]["worker"]["spec"]["containers"][0]
        for number in range(resource["spec"]["worker"]["replicas"]):
            arguments = [
                part.replace("$(DASK_WORKER_NAME)", f"w{number}") for part in worker["args"]
            ]
            arguments = [
                address if part == f"tls://{name}-scheduler:8786" else part for part in arguments
            ]
            arguments[arguments.index("--dashboard-address") + 1] = "127.0.0.1:0"
            self._start(f"worker{number}", worker, arguments, DASK_SCHEDULER_ADDRESS=address)
        self.clusters[name] = {"resource": resource, "address": address}

    def environment(self, container: dict[str, Any]) -> dict[str, str]:
        """The environment of a container, with its volumes where they are here."""
        return {
            entry["name"]: entry["value"]
            .replace(_TLS_FOLDER, str(self._secret))
            .replace(_DASK_FOLDER, str(self._configuration))
            for entry in container["env"]
        }

    def delete(self, name: str) -> None:
        del self.clusters[name]
        self.deleted.append(name)
        self._processes.end_all()

    def _start(
        self, name: str, container: dict[str, Any], arguments: list[str], **more: str
    ) -> None:
        self._processes.start(
            name, [sys.executable, "-m", *arguments], **{**self.environment(container), **more}
        )


class _Resources(RequestHandler):
    def initialize(self, kubernetes: SmallKubernetes) -> None:
        self._kubernetes = kubernetes

    async def post(self, _plural: str, _name: str | None = None) -> None:
        resource = json.loads(self.request.body)
        resource["metadata"].pop("namespace", None)
        await asyncio.to_thread(self._kubernetes.create, resource)
        self.set_status(201)
        self.write(resource)

    async def delete(self, _plural: str, name: str) -> None:
        if not self._kubernetes.allows_deletion:
            self.set_status(403)
            self.write({"kind": "Status", "status": "Failure", "message": "deletion is not yours"})
            return
        await asyncio.to_thread(self._kubernetes.delete, name)
        self.write({"kind": "Status", "status": "Success"})

    def get(self, plural: str, name: str | None = None) -> None:
        made = [
            part
            for cluster in self._kubernetes.clusters
            for part in (_service(cluster), _pod(cluster))
        ]
        kind = {"services": "Service", "pods": "Pod"}[plural]
        found = [
            part
            for part in made
            if part["kind"] == kind and name in (None, part["metadata"]["name"])
        ]
        self.write(
            found[0] if name else {"kind": f"{kind}List", "apiVersion": "v1", "items": found}
        )


class _Version(RequestHandler):
    def get(self) -> None:
        self.write({"major": "1", "minor": "33", "gitVersion": "v1.33.0"})


class _Forward(WebSocketHandler):
    """A frame begins with its channel, 0 for data and 1 for errors; the first of each names the
    port.
    """

    def initialize(self, kubernetes: SmallKubernetes) -> None:
        self._kubernetes = kubernetes

    async def open(self, name: str) -> None:  # type: ignore[override]
        address = self._kubernetes.clusters[name.removesuffix("-scheduler")]["address"]
        port = int(self.get_argument("ports"))
        for channel in (b"\x00", b"\x01"):
            await self.write_message(channel + port.to_bytes(2, "little"), binary=True)
        self._stream = await TCPClient().connect("127.0.0.1", int(address.rpartition(":")[2]))
        asyncio.get_running_loop().create_task(self._back())

    async def _back(self) -> None:
        try:
            while True:
                await self.write_message(
                    b"\x00" + await self._stream.read_bytes(1 << 20, partial=True), binary=True
                )
        except Exception:
            self.close()

    async def on_message(self, message: Any) -> None:
        await self._stream.write(message[1:])

    def on_close(self) -> None:
        self._stream.close()


def _service(cluster: str) -> dict[str, Any]:
    labels = {"dask.org/cluster-name": cluster, "dask.org/component": "scheduler"}
    metadata = {"name": f"{cluster}-scheduler", "namespace": "space"}
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": metadata,
        "spec": {"selector": labels},
    }


def _pod(cluster: str) -> dict[str, Any]:
    conditions = [{"type": kind, "status": "True"} for kind in ("Ready", "ContainersReady")]
    metadata = {"name": f"{cluster}-scheduler", "namespace": "space"}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": metadata,
        "spec": {},
        "status": {"conditions": conditions},
    }


@contextmanager
def small_kubernetes(folder: Path, certificates: Path) -> Iterator[tuple[SmallKubernetes, Path]]:
    """Serve on loopback, and return what is served and the kubeconfig that leads there."""
    with Processes(folder) as processes:
        kubernetes = SmallKubernetes(processes, certificates)
        held = {"kubernetes": kubernetes}
        routes = [
            (r"/version/?", _Version),
            (
                r"/apis/kubernetes.dask.org/v1/namespaces/space/(daskclusters)(?:/([\w-]+))?",
                _Resources,
                held,
            ),
            (r"/api/v1/namespaces/space/pods/([\w-]+)/portforward", _Forward, held),
            (r"/api/v1/namespaces/space/(services|pods)(?:/([\w-]+))?", _Resources, held),
        ]
        sockets = bind_sockets(0, "127.0.0.1")
        port = sockets[0].getsockname()[1]
        ready, stop = threading.Event(), []

        async def serve() -> None:
            server = HTTPServer(Application(routes))
            server.add_sockets(sockets)
            ended = asyncio.Event()
            stop.append((asyncio.get_running_loop(), ended))
            ready.set()
            await ended.wait()
            server.stop()

        thread = threading.Thread(target=lambda: asyncio.run(serve()))
        thread.start()
        ready.wait()
        config = folder / "kubeconfig"
        config.write_text(_kubeconfig(port), encoding="utf-8")
        os.chmod(config, 0o600)
        try:
            yield kubernetes, config
        finally:
            loop, ended = stop[0]
            loop.call_soon_threadsafe(ended.set)
            thread.join()


def _kubeconfig(port: int) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "small", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
            "users": [{"name": "me", "user": {}}],
            "contexts": [
                {
                    "name": "here",
                    "context": {"cluster": "small", "user": "me", "namespace": "space"},
                }
            ],
            "current-context": "here",
        }
    )
