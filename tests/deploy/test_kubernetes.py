"""The kind kubernetes, against the part of Kubernetes that it meets: a real cluster of it cannot be
had here.
"""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import pytest

from dnfscale.errors import ClusterError
from tests.deploy.conftest import QUICKSTART, tls_settings
from tests.deploy.manifests import kubernetes_resources

pytest.importorskip(
    "dask_kubernetes", reason="dask-kubernetes is not installed: pip install 'dnfscale[kubernetes]'"
)
pytest.importorskip("jsonschema", reason="jsonschema is not installed")

_CLUSTER = {
    "kind": "kubernetes",
    "kubernetes.image": "dnfscale:0.1.0",
    "kubernetes.tls_secret": "dnfscale-tls",
}
IN_PODS = [part for key, value in _CLUSTER.items() for part in ("--set", f"cluster.{key}={value}")]


def test_the_quickstart_gives_the_same_result_and_its_cluster_is_deleted(
    quickstart, serially, certificates, tmp_path_factory
):
    from tests.deploy.small_kubernetes import small_kubernetes

    with small_kubernetes(tmp_path_factory.mktemp("kubernetes"), certificates) as (
        kubernetes,
        config,
    ):
        result, environment = quickstart(
            *IN_PODS, *tls_settings(certificates), KUBECONFIG=str(config)
        )
        assert kubernetes.clusters == {}
        assert len(kubernetes.deleted) == 1
    assert result == serially
    assert environment["workers"] in (1, 2), "a job begins with the first worker"


@pytest.mark.portable
def test_pods_that_cannot_be_deleted_are_told_of_and_lose_no_result(
    quickstart, certificates, tmp_path, tmp_path_factory
):
    from tests.deploy.small_kubernetes import small_kubernetes

    with small_kubernetes(tmp_path_factory.mktemp("kept"), certificates) as (kubernetes, config):
        kubernetes.allows_deletion = False
        quick = ("--set", "kind=fit", "--set", "profile=paper")
        quickstart(*IN_PODS, *quick, *tls_settings(certificates), KUBECONFIG=str(config))
        (name,) = kubernetes.clusters
    said = (tmp_path / "job.log").read_text(encoding="utf-8")
    assert f"kubectl delete daskcluster {name} --namespace space" in said
    assert "diagnosis is malignant if" in said.rpartition("kubectl")[2], (
        "the summary comes after it"
    )


class Forward:
    """As the library's: a port that is free when it is looked for, and then perhaps not."""

    def __init__(self, *, free: bool) -> None:
        self._free = free
        self.servers: list[Forward] = []

    def run_forever(self) -> None:
        if not self._free:
            raise OSError(98, "address already in use")
        self.servers.append(self)

    def is_serving(self) -> bool:
        return True


@pytest.mark.parametrize("n_taken", [0, 2, 5])
def test_another_port_is_forwarded_where_one_has_been_taken_meanwhile(n_taken):
    from dnfscale.engine.dask.kubernetes import forwarded

    made = []

    class Service:
        name = "scheduler"

        def portforward(self, *, remote_port: int, local_port: str) -> Forward:
            assert (remote_port, local_port) == (8786, "auto")
            made.append(Forward(free=len(made) == n_taken))
            return made[-1]

    if n_taken < 5:
        assert forwarded(Service()) is made[n_taken]
        return
    with pytest.raises(ClusterError, match=r"forward a port to scheduler.*already in use"):
        forwarded(Service())
    assert len(made) == 5


def test_a_forwarded_port_is_closed_in_the_loop_that_it_belongs_to():
    from dnfscale.engine.dask.kubernetes import stop_forwarding

    closed_in = []

    async def listen() -> asyncio.Server:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        close = server.close
        server.close = lambda: (closed_in.append(threading.get_ident()), close())
        return server

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        server = asyncio.run_coroutine_threadsafe(listen(), loop).result()
        stop_forwarding(SimpleNamespace(servers=[server]))
        assert closed_in == [thread.ident]
        assert not server.is_serving()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_the_manifests_start_a_cluster_and_a_job_that_gives_the_same_result(
    quickstart, serially, certificates, tmp_path_factory
):
    from tests.deploy.small_kubernetes import small_kubernetes

    resources = kubernetes_resources()
    with small_kubernetes(tmp_path_factory.mktemp("manifests"), certificates) as (kubernetes, _):
        resources["DaskCluster"]["spec"]["worker"]["replicas"] = 1
        kubernetes.create(resources["DaskCluster"])
        job = resources["Job"]["spec"]["template"]["spec"]["containers"][0]
        verb, spec, *options = job["args"][1:]
        assert (verb, spec) == ("run", f"/opt/dnfscale/jobs/{QUICKSTART.name}")
        here = {
            "tls://dnfscale-scheduler:8786": kubernetes.clusters["dnfscale"]["address"],
            "/runs": "runs",
        }
        result, _ = quickstart(
            *(here.get(option, option) for option in options), **kubernetes.environment(job)
        )
    assert result == serially
