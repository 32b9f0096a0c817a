"""The table [cluster]: every kind, what it needs, and what no value of it may do; nothing is
started.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from dnfscale.engine.clusters.address import Address
from dnfscale.engine.preflight import (
    check_cluster,
    check_performance_report,
    found_address,
    is_loopback,
)
from dnfscale.errors import ClusterError, SpecError
from dnfscale.spec.cluster import Adaptive, ClusterSpec, TlsFiles
from dnfscale.spec.job import command_line, job_keys, read_spec
from dnfscale.spec.registry import CLUSTERS
from tests.jobs.running import ROOT

QUICKSTART = ROOT / "jobs" / "quickstart.toml"
TLS = {f"cluster.tls.{name}_file": f"/tls/{name}.pem" for name in ("ca", "cert", "key")}
ADDRESS = {"cluster.kind": "address", "cluster.address": "tls://10.0.0.5:8786"}
SSH = {"cluster.kind": "ssh", "cluster.ssh.hosts": ["node1", "10.0.0.7"]}
KUBERNETES = {
    "cluster.kind": "kubernetes",
    "cluster.kubernetes.image": "registry.example:5000/dnfscale:0.1.0",
}


def cluster(**keys: Any) -> ClusterSpec:
    return read_spec(QUICKSTART, keys).cluster


def refused(keys: dict[str, Any]) -> str:
    with pytest.raises(SpecError) as caught:
        read_spec(QUICKSTART, keys)
    return caught.value.message


@pytest.mark.parametrize(
    "keys",
    [
        {"cluster.kind": "serial"},
        {
            "cluster.kind": "local",
            "cluster.dashboard": "127.0.0.1:8787",
            "cluster.local_directory": "/scratch",
        },
        ADDRESS | TLS,
        {"cluster.kind": "scheduler_file", "cluster.scheduler_file": "scheduler.json"},
        SSH | TLS | {"cluster.ssh.username": "me", "cluster.ssh.port": 2222},
        {
            "cluster.kind": "slurm",
            "cluster.slurm.queue": "main",
            "cluster.slurm.directives": ["--qos=long"],
        },
        {
            "cluster.kind": "pbs",
            "cluster.pbs.walltime": "02:00:00",
            "cluster.pbs.directives": ["-l place=scatter"],
        },
        KUBERNETES | TLS | {"cluster.kubernetes.tls_secret": "dnfscale-tls"},
    ],
    ids=lambda keys: keys["cluster.kind"],
)
def test_every_kind_is_described_by_its_keys(keys):
    spec = read_spec(QUICKSTART, keys)
    assert spec.cluster.kind == keys["cluster.kind"]
    assert spec.cluster.workers == 2
    assert spec.essence() == read_spec(QUICKSTART).essence(), (
        "where a job runs does not change its result"
    )


def test_a_table_on_the_command_line_gives_each_of_its_keys():
    overrides = command_line(["cluster.adaptive={minimum=1, maximum=3}", "cluster.kind=slurm"])
    assert read_spec(QUICKSTART, overrides).cluster.adaptive == Adaptive(1, 3)


def test_no_kind_is_left_out():
    assert set(CLUSTERS) == {
        "auto",
        "serial",
        "local",
        "address",
        "scheduler_file",
        "ssh",
        "slurm",
        "pbs",
        "kubernetes",
    }
    assert refused({"cluster.kind": "slrum"}).endswith("(did you mean 'slurm'?), got 'slrum'")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"cluster.kind": "address"}, 'cluster.kind = "address" needs cluster.address'),
        ({"cluster.kind": "scheduler_file"}, "needs cluster.scheduler_file"),
        ({"cluster.kind": "ssh"}, "needs cluster.ssh.hosts"),
        ({"cluster.kind": "kubernetes"}, "needs cluster.kubernetes.image"),
        ({"cluster.tls.ca_file": "ca.pem"}, "[cluster.tls] needs cluster.tls.cert_file too"),
        ({"cluster.adaptive.maximum": 3}, "[cluster.adaptive] needs cluster.adaptive.minimum too"),
        (
            {"cluster.adaptive.minimum": 4, "cluster.adaptive.maximum": 3},
            "must be at most maximum, 3, got 4",
        ),
        ({"cluster.workers": 10**6}, "on one machine, got 1000000; lower it"),
        (
            {"cluster.adaptive.minimum": 1, "cluster.adaptive.maximum": 10**6},
            "on one machine, got 1000000; lower it",
        ),
        (
            {"cluster.lost_timeout_s": 10**400},
            "cluster.lost_timeout_s must be a number of seconds greater than 0",
        ),
        (
            {"cluster.start_timeout_s": float("nan")},
            "cluster.start_timeout_s must be a number of seconds",
        ),
        ({"cluster.memory_limit": "2000TiB"}, "cluster.memory_limit must be at most 1 PiB"),
        (
            KUBERNETES | TLS,
            "needs both [cluster.tls], for this side, and cluster.kubernetes.tls_secret",
        ),
    ],
)
def test_what_a_kind_needs_is_said(keys, message):
    assert message in refused(keys)


INJECTIONS = ["a b", "a;b", "$(touch x)", "`x`", "a\nb", "a'b", 'a"b', "a&b", "", "../\x00"]


@pytest.mark.parametrize(
    "key",
    [
        *(
            "cluster.slurm.queue",
            "cluster.slurm.account",
            "cluster.slurm.walltime",
            "cluster.slurm.interface",
        ),
        *(
            "cluster.pbs.queue",
            "cluster.pbs.account",
            "cluster.slurm.shared_directory",
            "cluster.local_directory",
        ),
        *(
            "cluster.ssh.username",
            "cluster.kubernetes.image",
            "cluster.kubernetes.namespace",
            "cluster.dashboard",
        ),
        *("cluster.kubernetes.cpu", "cluster.kubernetes.tls_secret", "cluster.tls.key_file"),
    ],
)
@pytest.mark.parametrize("value", INJECTIONS)
def test_no_value_can_become_a_command_elsewhere(key, value):
    assert key in job_keys()
    assert f"{key} must be" in refused({key: value})


@pytest.mark.parametrize(
    "directive",
    [
        "--output=/etc/passwd",
        "-o x",
        "--export=PATH=/x",
        "--wrap=x",
        "--qos=a\n#SBATCH -o x",
        "--qos=$(x)",
        "qos",
        "",
    ],
)
def test_options_of_a_batch_system_choose_where_a_job_runs_and_nothing_else(directive):
    assert "cluster.slurm.directives must be a list of options of slurm" in refused(
        {"cluster.slurm.directives": [directive]}
    )


@pytest.mark.parametrize("hosts", [[], "node1", ["a b"], ["-oProxyCommand=x"], [1]])
def test_hosts_are_hosts(hosts):
    assert "cluster.ssh.hosts must be" in refused({"cluster.ssh.hosts": hosts})


# What can be said against a cluster before it is started.


@pytest.mark.parametrize("kind", [kind for kind, facts in CLUSTERS.items() if facts.package])
def test_a_package_that_is_missing_is_named_with_its_extra(kind, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    spec = cluster(**{**SSH, **KUBERNETES, "cluster.kind": kind})
    with pytest.raises(
        SpecError,
        match=rf"which is not installed; install it with: pip install 'dnfscale\[{kind}\]'",
    ):
        check_cluster(spec)


def test_a_missing_bokeh_is_named_and_a_serial_run_has_no_report(monkeypatch):
    with pytest.raises(SpecError, match=r'is of a Dask cluster, but cluster\.kind is "serial"'):
        check_performance_report(ClusterSpec(kind="serial"), Path("report.html"))
    with pytest.raises(
        SpecError, match=r"must be a file in a folder that is there, got 'no/such/report\.html'"
    ):
        check_performance_report(ClusterSpec(), Path("no/such/report.html"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(SpecError, match=r"pip install 'dnfscale\[performance-report\]'"):
        check_performance_report(ClusterSpec(), Path("report.html"))


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.5:8786", "tcp://first-host:8786", "10.0.0.5:8786", "tcp://[::2]:1"]
)
def test_a_scheduler_that_others_reach_needs_tls_or_a_word(address):
    spec = ClusterSpec(kind="address", options=Address(address))
    with pytest.raises(
        SpecError,
        match=r"has no TLS, so that anybody .*; or set cluster\.insecure = true|give \[cluster",
    ):
        check_cluster(spec)
    [warning] = check_cluster(ClusterSpec(kind="address", options=Address(address), insecure=True))
    assert "has no TLS: anybody who reaches it can run code on it" in warning


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:8786", "127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:8786"]
)
def test_a_scheduler_on_loopback_does_not(address):
    assert check_cluster(ClusterSpec(kind="address", options=Address(address))) == []
    assert is_loopback(found_address(address, None))


@pytest.mark.parametrize(
    "address", ["nonsense", "pigeon://127.0.0.1:1", "tcp://a:b", "http://127.0.0.1:1", "tcp://:1"]
)
def test_what_is_no_address_is_said(address):
    with pytest.raises(
        ClusterError, match="expected the address of a Dask scheduler, such as tls://"
    ):
        check_cluster(ClusterSpec(kind="address", options=Address(address)))


@pytest.fixture
def tls(tmp_path: Path) -> TlsFiles:
    """Files that look like what they should be."""
    paths = [tmp_path / f"{name}.pem" for name in ("ca", "cert", "key")]
    for path in paths:
        path.write_text("-----BEGIN CERTIFICATE-----\n")
    return TlsFiles(*map(str, paths))


def test_with_certificates_an_address_is_encrypted_or_contradicts_them(tls):
    assert found_address("10.0.0.5:8786", tls) == "tls://10.0.0.5:8786"
    assert (
        check_cluster(ClusterSpec(kind="address", options=Address("10.0.0.5:8786"), tls=tls)) == []
    )
    with pytest.raises(
        SpecError, match=r"met without TLS, but \[cluster\.tls\] is given; write tls://"
    ):
        check_cluster(ClusterSpec(kind="address", options=Address("tcp://10.0.0.5:8786"), tls=tls))


@pytest.mark.parametrize("content", [None, "not a certificate"])
def test_files_of_tls_are_there_and_pem(tls, content):
    Path(tls.key_file).unlink()
    if content is not None:
        Path(tls.key_file).write_text(content)
    with pytest.raises(
        SpecError, match=r"cluster\.tls\.key_file must be a (file that can be read|PEM file)"
    ) as caught:
        check_cluster(ClusterSpec(kind="local", tls=tls))
    assert caught.value.key == "cluster.tls.key_file"


@pytest.mark.parametrize("kind", ["serial", "address", "scheduler_file", "ssh"])
def test_workers_that_are_given_do_not_adapt(kind):
    spec = ClusterSpec(kind=kind, options=Address("127.0.0.1:1"), adaptive=Adaptive(1, 2))
    with pytest.raises(SpecError, match=r"cluster\.adaptive is for kubernetes, local, pbs, slurm"):
        check_cluster(spec)


def test_validate_says_what_is_wrong_with_a_cluster_and_where(laid_desk):
    given = {"kind": "address", "address": "tcp://10.0.0.5:8786"}
    ended = laid_desk.here("validate", laid_desk.spec(cluster=given))
    assert ended.code == 2
    line = (laid_desk.path / "job.toml").read_text().splitlines().index(
        'address = "tcp://10.0.0.5:8786"'
    ) + 1
    assert (
        f"job.toml:{line}: the scheduler at tcp://10.0.0.5:8786 can be reached by others"
        in ended.message
    )
    assert not (laid_desk.path / "runs").exists()
    assert laid_desk.here("validate", laid_desk.spec(cluster={**given, "insecure": True})).code == 0
