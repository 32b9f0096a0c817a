"""The kind kubernetes, against the part of Kubernetes that it meets: a real cluster of it cannot be had here."""

from __future__ import annotations

import pytest

from tests.deploy.conftest import QUICKSTART, tls_settings
from tests.deploy.manifests import kubernetes_resources

pytest.importorskip("dask_kubernetes", reason="dask-kubernetes is not installed: pip install 'dnfscale[kubernetes]'")
pytest.importorskip("jsonschema", reason="jsonschema is not installed")


def test_the_quickstart_gives_the_same_result_and_its_cluster_is_deleted(
    quickstart, serially, certificates, tmp_path_factory
):
    from tests.deploy.small_kubernetes import small_kubernetes

    settings = {"kind": "kubernetes", "kubernetes.image": "dnfscale:0.1.0", "kubernetes.tls_secret": "dnfscale-tls"}
    options = [part for key, value in settings.items() for part in ("--set", f"cluster.{key}={value}")]
    with small_kubernetes(tmp_path_factory.mktemp("kubernetes"), certificates) as (kubernetes, config):
        result, environment = quickstart(*options, *tls_settings(certificates), KUBECONFIG=str(config))
        assert kubernetes.clusters == {}
        assert len(kubernetes.deleted) == 1
    assert result == serially
    assert environment["workers"] in (1, 2), "a job begins with the first worker"


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
        here = {"tls://dnfscale-scheduler:8786": kubernetes.clusters["dnfscale"]["address"], "/runs": "runs"}
        result, _ = quickstart(*(here.get(option, option) for option in options), **kubernetes.environment(job))
    assert result == serially
