"""What can be said against a cluster before anything is started: a package that is missing, TLS,
who could reach it.

A Dask scheduler runs whatever code it is sent. One that listens to more than its own machine
therefore asks for certificates, unless the spec says that this is on purpose.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import re
from pathlib import Path

from dnfscale.errors import ClusterError, SpecError
from dnfscale.spec.cluster import ClusterSpec, TlsFiles
from dnfscale.spec.registry import CLUSTERS

_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx", "inproc")
_ENCRYPTED = ("tls", "wss")


def check_cluster(spec: ClusterSpec) -> list[str]:
    """Raise where the cluster cannot be as it is described, and return warnings; nothing is started
    or reached.
    """
    spec.facts.check_installed(f'cluster.kind = "{spec.kind}"', "cluster.kind")
    if spec.adaptive is not None:
        _check_adapts(spec)
    if spec.tls is not None:
        _check_files(spec.tls)
    if spec.facts.address is not None:
        address = spec.facts.address(spec)
        return reach_warnings(spec, address, f"the scheduler at {address}", f"cluster.{spec.kind}")
    return spec.facts.check(spec)


def check_performance_report(spec: ClusterSpec, file: Path) -> None:
    """Raise SpecError where Dask could not make its report, or not here."""
    if not file.parent.is_dir() or file.is_dir():
        raise SpecError(
            f"--performance-report must be a file in a folder that is there, got {str(file)!r}"
        )
    if not spec.facts.distributed:
        raise SpecError(
            "--performance-report is of a Dask cluster, but cluster.kind is "
            f'"{spec.kind}"; leave it out'
        )
    if importlib.util.find_spec("bokeh") is None:
        raise SpecError(
            "--performance-report needs bokeh, which is not installed; install it with: "
            "pip install 'dnfscale[performance-report]'"
        )


def found_address(address: str | None, tls: TlsFiles | None) -> str:
    """Return the address of a scheduler that somebody else started, with its scheme."""
    match = re.fullmatch(
        r"(?:([a-z]+)://)?((?:\[[^\]]+\]|[^\[\]:/@]+):\d+|[^:@]*/.*)", address or ""
    )
    if match is None or (match[1] or "tcp") not in _SCHEMES:
        # Schedulers know no passwords, so somebody has put one there by mistake.
        shown = re.sub(r"(^|://)[^@]*@", r"\1***@", address or "")
        raise ClusterError(
            "expected the address of a Dask scheduler, such as tls://10.0.0.5:8786, got "
            f"{shown!r}; correct it"
        )
    return f"{match[1] or _default_scheme(tls)}://{match[2]}"


def is_loopback(address: str) -> bool:
    """Say whether an address can be reached from its own machine only; a name other than localhost
    is not asked for.
    """
    host = address.rpartition("://")[2].rpartition(":")[0].strip("[]")
    if address.startswith("inproc://") or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def configured_scheduler() -> str | None:
    """Return the address that Dask's own configuration names, such as DASK_SCHEDULER_ADDRESS."""
    import dask.config

    address = dask.config.get("scheduler-address", None)
    return None if address is None else str(address)


def configured_tls() -> bool:
    """Say whether Dask's own configuration has the files for TLS."""
    import dask.config

    keys = ("ca-file", "client.cert", "client.key")
    return all(dask.config.get(f"distributed.comm.tls.{key}", None) for key in keys)


def _default_scheme(tls: TlsFiles | None) -> str:
    if tls is not None:
        return "tls"
    import dask.config

    return str(dask.config.get("distributed.comm.default-scheme", "tcp"))


def reach_warnings(spec: ClusterSpec, address: str | None, what: str, key: str) -> list[str]:
    """Check that a scheduler is met with TLS where it must be; address is None where the job starts
    it.
    """
    encrypted = spec.tls is not None if address is None else address.split("://")[0] in _ENCRYPTED
    if encrypted:
        if spec.tls is None and not configured_tls():
            raise SpecError(
                (
                    f"{what} asks for certificates, but there are none; give [cluster.tls] "
                    "ca_file, cert_file and key_file"
                ),
                key,
            )
        return []
    if spec.tls is not None:
        raise SpecError(
            f"{what} is met without TLS, but [cluster.tls] is given; write tls:// in the address",
            key,
        )
    if address is not None and is_loopback(address):
        return []
    if not spec.insecure:
        raise SpecError(
            f"{what} can be reached by others and has no TLS, so that anybody who reaches "
            "it can run code on it; "
            "give [cluster.tls] (deploy/certificates.sh makes the files), or set "
            "cluster.insecure = true",
            key,
        )
    return [
        f"{what} has no TLS: anybody who reaches it can run code on it, and read what it is sent"
    ]


def _check_adapts(spec: ClusterSpec) -> None:
    if not spec.facts.adapts:
        able = ", ".join(name for name, kind in CLUSTERS.items() if kind.adapts)
        raise SpecError(
            (
                f'cluster.adaptive is for {able}; kind = "{spec.kind}" has the workers that it '
                "has; leave it out"
            ),
            "cluster.adaptive",
        )


def _check_files(tls: TlsFiles) -> None:
    for key in ("ca_file", "cert_file", "key_file"):
        path = getattr(tls, key)
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            raise SpecError(
                f"cluster.tls.{key} must be a file that can be read, but {error.strerror}: {path}",
                f"cluster.tls.{key}",
            ) from error
        if b"-----BEGIN" not in content:
            raise SpecError(
                f"cluster.tls.{key} must be a PEM file, but {path} is not one", f"cluster.tls.{key}"
            )
