"""Several hosts on one machine: network namespaces with addresses of their own, joined by a switch
in one more.

Nothing outside of them is touched: the switch is not in the machine's own network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """A namespace and its address."""

    name: str
    address: str

    @property
    def inside(self) -> tuple[str, ...]:
        """What is put before a command so that it runs there."""
        return ("ip", "netns", "exec", self.name)


def why_no_hosts() -> str | None:
    """Say why namespaces cannot be had here, if they cannot."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "the command ip of iproute2 is not installed"
    probe = f"dnf-{os.getpid()}-probe"
    try:
        _ip("netns", "add", probe)
        _ip("-n", probe, "link", "add", "name", "bridge", "type", "bridge")
        _ip("-n", probe, "link", "add", "name", "eth0", "type", "veth", "peer", "name", "port")
    except subprocess.CalledProcessError as error:
        return (
            "network namespaces cannot be made here: "
            f"{error.stderr.decode(errors='replace').strip()}"
        )
    finally:
        subprocess.run(["ip", "netns", "delete", probe], check=False, capture_output=True)
    return None


@contextmanager
def hosts(count: int) -> Iterator[list[Host]]:
    """Make hosts that reach each other, and nobody else."""
    stem = f"dnf-{os.getpid()}"
    switch = f"{stem}-switch"
    made = [switch]
    try:
        _ip("netns", "add", switch)
        _ip("-n", switch, "link", "add", "name", "bridge", "type", "bridge")
        _ip("-n", switch, "link", "set", "bridge", "up")
        found = [Host(f"{stem}-{number}", f"10.213.7.{number}") for number in range(1, count + 1)]
        for number, host in enumerate(found):
            made.append(host.name)
            _ip("netns", "add", host.name)
            _ip("-n", host.name, "link", "set", "lo", "up")
            _ip(
                "-n",
                host.name,
                "link",
                "add",
                "name",
                "eth0",
                "type",
                "veth",
                "peer",
                "name",
                f"port{number}",
                "netns",
                switch,
            )
            _ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", "eth0")
            _ip("-n", host.name, "link", "set", "eth0", "up")
            _ip("-n", switch, "link", "set", f"port{number}", "master", "bridge", "up")
        yield found
    finally:
        for name in reversed(made):
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
