"""Hosts that are reached by ssh; the first runs the scheduler too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from dnfscale.engine.api import Tell, Watch
from dnfscale.engine.preflight import reach_warnings
from dnfscale.spec.checks import plain_word, texts, whole
from dnfscale.spec.cluster import ClusterSpec, check_given, home_path
from dnfscale.spec.keys import key
from dnfscale.spec.registry import CLUSTERS, ClusterKind


def _hosts(value: Any) -> tuple[str, ...]:
    hosts = texts(value)
    if not hosts or not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.:_-]*", host) for host in hosts):
        raise ValueError('a list of hosts, such as ["node1", "node2"]')
    return hosts


@dataclass(frozen=True, slots=True)
class SshHosts:
    """The hosts, and how to log in."""

    hosts: tuple[str, ...] = key(
        _hosts, (), "the first runs the scheduler too", example=["node1", "node2"]
    )
    username: str | None = key(plain_word("the name of a user"), None, "who logs in", example="me")
    port: int | None = key(whole(1, 65535), None, "of ssh", example=22)
    key_file: str | None = key(
        home_path, None, "the key that ssh shows", example="~/.ssh/id_ed25519"
    )
    known_hosts: str | None = key(
        home_path, None, "the hosts that ssh trusts", example="~/.ssh/known_hosts"
    )


def _launch(spec: ClusterSpec, *, loaded: Sequence[str], watch: Watch, tell: Tell) -> Any:  # noqa: ARG001
    from dnfscale.engine.dask.remote import start_remote

    return start_remote(spec, _start, watch=watch, tell=tell)


def _start(spec: ClusterSpec, stack: ExitStack) -> Any:
    from distributed import SSHCluster

    from dnfscale.engine.dask.credentials import by_role, security_of
    from dnfscale.engine.dask.internals import OneConnectionClient
    from dnfscale.engine.dask.remote import Started

    files = {} if spec.tls is None else {"protocol": "tls://", "security": by_role(spec.tls)}
    options = spec.own(SshHosts)
    login = {
        "username": options.username,
        "port": options.port,
        "client_keys": options.key_file,
        "known_hosts": options.known_hosts,
    }
    hosts = options.hosts
    cluster = stack.enter_context(
        SSHCluster(
            [hosts[0], *hosts],
            connect_options={name: value for name, value in login.items() if value is not None},
            worker_options={
                "nthreads": 1,
                "n_workers": -(-spec.workers // len(hosts)),
                "memory_limit": spec.memory_limit,
                "dashboard_address": "127.0.0.1:0",
                **(
                    {}
                    if spec.local_directory is None
                    else {"local_directory": spec.local_directory}
                ),
                **files,
            },
            scheduler_options={
                "port": 0,
                "dashboard_address": spec.dashboard or "127.0.0.1:0",
                "dashboard": spec.dashboard is not None,
                **files,
            },
            security=security_of(spec.tls),
        )
    )
    return Started(
        lambda: OneConnectionClient(cluster, set_as_default=False),
        "the hosts " + ", ".join(hosts),
        "look whether dnfscale is installed at the same path on every host",
    )


CLUSTERS.register(
    ClusterKind(
        name="ssh",
        title="hosts that are reached by ssh",
        launch=_launch,
        options=SshHosts,
        check_keys=lambda spec: check_given(spec, SshHosts, "hosts", 'such as ["node1", "node2"]'),
        check=lambda spec: reach_warnings(
            spec, None, 'the scheduler of kind = "ssh"', "cluster.kind"
        ),
        package="asyncssh",
        extra="ssh",
    )
)
