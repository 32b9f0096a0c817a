"""The table [cluster] of a spec: keys that all kinds share, and a table of its own for each kind.

A spec may hold the tables of several kinds, so that cluster.kind alone chooses among them. No value is ever code:
anything that goes into the script of a batch system or to another host is checked to be a plain word.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from dnfscale.engine.kinds import KINDS, Adaptive, ClusterSpec, Pods, Queue, SshHosts, TlsFiles
from dnfscale.jobs.checks import Check, Field, memory, one_of, seconds, text, texts, whole, yes_no

_TLS = ("ca_file", "cert_file", "key_file")
_DEFAULTS = ClusterSpec()
_MOST_LOCAL_WORKERS = 64
"""The most workers on one machine, or four per core if that is more: a spec must not bring down its machine."""
_DIRECTIVES = {
    "slurm": (
        *("--constraint", "--exclude", "--exclusive", "--gres", "--hint", "--licenses", "--nice", "--nodelist"),
        *("--qos", "--reservation", "--switches", "--tmp"),
    ),
    "pbs": ("-l", "-p", "-P"),
}
"""The batch system's options that choose where and when a job runs; others could write files or change what is run."""


def _plain(what: str, pattern: str = r"[A-Za-z0-9_][A-Za-z0-9_.@:+/-]*") -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise ValueError(what)
        return value

    return check


def _walltime(value: Any) -> str:
    # Without quotes, TOML reads it as a time of day.
    given = value.isoformat() if isinstance(value, datetime.time) else value
    return str(_plain('a time, such as "02:00:00"', r"[0-9][0-9:-]*")(given))


def _hosts(value: Any) -> tuple[str, ...]:
    hosts = texts(value)
    if not hosts or not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.:_-]*", host) for host in hosts):
        raise ValueError('a list of hosts, such as ["node1", "node2"]')
    return hosts


def _directives(kind: str) -> Check:
    known = _DIRECTIVES[kind]

    def check(value: Any) -> tuple[str, ...]:
        directives = texts(value)
        for directive in directives:
            if re.split(r"[ =]", directive)[0] not in known or not re.fullmatch(r"[\w.,:=+@%/ \-\[\]*&|]+", directive):
                raise ValueError(f"a list of options of {kind} out of {', '.join(known)}, with their values")
        return directives

    return check


def _path(value: Any) -> str:
    return os.path.expanduser(text(value))


def _plain_path(value: Any) -> str:
    path = _path(value)
    if not re.fullmatch(r"[A-Za-z0-9_./@%+=:,~-]+", path):
        raise ValueError("a path without spaces, quotes and other special characters")
    return path


def _queue_fields(kind: str) -> dict[str, Field]:
    return {
        f"cluster.{kind}.queue": Field(_plain("the name of a queue or partition")),
        f"cluster.{kind}.account": Field(_plain("the name of an account")),
        f"cluster.{kind}.walltime": Field(_walltime),
        f"cluster.{kind}.workers_per_job": Field(whole(1)),
        f"cluster.{kind}.directives": Field(_directives(kind)),
        f"cluster.{kind}.interface": Field(_plain('a network interface, such as "ib0"')),
        f"cluster.{kind}.shared_directory": Field(_plain_path),
    }


CLUSTER_FIELDS: Mapping[str, Field] = {
    "cluster.kind": Field(one_of(*KINDS), _DEFAULTS.kind),
    "cluster.workers": Field(whole(1), _DEFAULTS.workers),
    "cluster.memory_limit": Field(memory, _DEFAULTS.memory_limit),
    "cluster.fan_in": Field(whole(2, 1024), _DEFAULTS.fan_in),
    "cluster.start_timeout_s": Field(seconds),
    "cluster.lost_timeout_s": Field(seconds, _DEFAULTS.lost_timeout_s),
    "cluster.local_directory": Field(_plain_path),
    "cluster.dashboard": Field(_plain('an address, such as "127.0.0.1:8787"', r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+):\d{1,5}")),
    "cluster.insecure": Field(yes_no, _DEFAULTS.insecure),
    "cluster.adaptive.minimum": Field(whole(1)),
    "cluster.adaptive.maximum": Field(whole(1)),
    "cluster.address": Field(text),
    "cluster.scheduler_file": Field(text),
    **{f"cluster.tls.{name}": Field(_plain_path) for name in _TLS},
    "cluster.ssh.hosts": Field(_hosts),
    "cluster.ssh.username": Field(_plain("the name of a user")),
    "cluster.ssh.port": Field(whole(1, 65535)),
    "cluster.ssh.key_file": Field(_path),
    "cluster.ssh.known_hosts": Field(_path),
    **_queue_fields("slurm"),
    **_queue_fields("pbs"),
    "cluster.kubernetes.image": Field(_plain("the name of an image with its tag")),
    "cluster.kubernetes.namespace": Field(_plain("the name of a namespace", r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")),
    "cluster.kubernetes.cpu": Field(_plain('an amount of cores, such as "1" or "500m"', r"\d+(\.\d+)?m?")),
    "cluster.kubernetes.tls_secret": Field(_plain("the name of a secret", r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")),
}
"""Every key of [cluster]."""


def check_cluster_keys(values: Mapping[str, Any], fail: Callable[[str, str], None]) -> None:
    """Check keys of [cluster] that depend on each other; `fail` is called with the key and what is wrong."""
    kind = values["cluster.kind"]
    for needing, key, example in (
        ("address", "cluster.address", 'such as "tls://10.0.0.5:8786"'),
        ("scheduler_file", "cluster.scheduler_file", "a path"),
        ("ssh", "cluster.ssh.hosts", 'such as ["node1", "node2"]'),
        ("kubernetes", "cluster.kubernetes.image", "an image with dnfscale in it"),
    ):
        if kind == needing and values[key] is None:
            fail("cluster.kind", f'cluster.kind = "{kind}" needs {key}, {example}; add it')
    most_here = max(_MOST_LOCAL_WORKERS, 4 * (os.cpu_count() or 1))
    wanted = max(values["cluster.workers"], values["cluster.adaptive.maximum"] or 0)
    if kind == "local" and wanted > most_here:
        given = str(wanted)[:20]
        fail("cluster.workers", f"cluster.workers must be at most {most_here} on one machine, got {given}; lower it")
    _check_all_or_none(values, [f"cluster.tls.{name}" for name in _TLS], fail)
    _check_all_or_none(values, ["cluster.adaptive.minimum", "cluster.adaptive.maximum"], fail)
    least, most = values["cluster.adaptive.minimum"], values["cluster.adaptive.maximum"]
    if least is not None and most is not None and least > most:
        fail("cluster.adaptive.minimum", f"cluster.adaptive.minimum must be at most maximum, {most}, got {least}")
    secret = values["cluster.kubernetes.tls_secret"]
    if kind == "kubernetes" and (secret is None) != (values["cluster.tls.ca_file"] is None):
        fail(
            "cluster.kubernetes",
            "TLS in Kubernetes needs both [cluster.tls], for this side, and cluster.kubernetes.tls_secret, for the "
            "pods; add the other, or leave out both",
        )


def cluster_of(values: Mapping[str, Any]) -> ClusterSpec:
    """Return the cluster that checked values describe."""
    common = ("kind", "workers", "memory_limit", "fan_in", "address", "scheduler_file", "insecure")
    timing = ("start_timeout_s", "lost_timeout_s", "local_directory", "dashboard")
    tls = _table(values, "cluster.tls.")
    adaptive = _table(values, "cluster.adaptive.")
    return ClusterSpec(
        **{name: values[f"cluster.{name}"] for name in (*common, *timing)},
        tls=TlsFiles(**tls) if tls else None,
        adaptive=Adaptive(**adaptive) if adaptive else None,
        ssh=SshHosts(**_table(values, "cluster.ssh.")),
        slurm=Queue(**_table(values, "cluster.slurm.")),
        pbs=Queue(**_table(values, "cluster.pbs.")),
        kubernetes=Pods(**_table(values, "cluster.kubernetes.")),
    )


def _table(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return those values of one table that are set."""
    return {
        key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix) and value is not None
    }


def _check_all_or_none(values: Mapping[str, Any], keys: list[str], fail: Callable[[str, str], None]) -> None:
    missing = [key for key in keys if values[key] is None]
    if missing and len(missing) < len(keys):
        table = keys[0].rpartition(".")[0]
        fail(table, f"[{table}] needs {missing[0]} too; add it, or leave out the table")
