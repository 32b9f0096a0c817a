"""The kind ssh through a real sshd on loopback, over TLS."""

from __future__ import annotations

import getpass
import importlib.util
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.conftest import QUICKSTART, tls_settings
from tests.deploy.processes import Processes, free_port
from tests.jobs.running import ROOT, command, surroundings

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@pytest.fixture(scope="module")
def by_ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The options that reach a sshd of our own, with keys of our own."""
    if importlib.util.find_spec("asyncssh") is None:
        pytest.skip("asyncssh is not installed: pip install 'dnfscale[ssh]'")
    if SSHD is None or shutil.which("ssh-keygen") is None:
        pytest.skip("sshd and ssh-keygen are not installed (Debian: openssh-server)")
    if os.geteuid() != 0:
        pytest.skip("sshd logs in only as its own user unless it is root")
    folder = tmp_path_factory.mktemp("ssh")
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True
        )
    shutil.copy(folder / "user.pub", folder / "authorized")
    port = free_port()
    (folder / "known").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
    (folder / "config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nAuthorizedKeysFile "
        f"{folder}/authorized\n"
        f"PidFile {folder}/pid\nStrictModes no\nUsePAM no\nPasswordAuthentication "
        "no\nPermitRootLogin yes\n"
        f"SetEnv PYTHONPATH={ROOT}\n"
    )
    Path("/run/sshd").mkdir(exist_ok=True)  # Where it locks itself in before anybody has logged in.
    with Processes(folder) as processes:
        processes.start("sshd", [SSHD, "-D", "-e", "-f", folder / "config"])
        processes.wait_for(lambda: _listens(port), "the start of sshd")
        settings = {
            "kind": "ssh",
            "ssh.hosts": '["127.0.0.1"]',
            "ssh.port": port,
            "ssh.username": getpass.getuser(),
            "ssh.key_file": folder / "user",
            "ssh.known_hosts": folder / "known",
        }
        yield [
            part for key, value in settings.items() for part in ("--set", f"cluster.{key}={value}")
        ]


@pytest.mark.portable
def test_the_quickstart_gives_the_same_result_and_no_process_is_left(
    by_ssh, quickstart, serially, certificates, tmp_path
):
    result, environment = quickstart(*by_ssh, *tls_settings(certificates))
    assert result == serially
    assert environment["workers"] == 2
    ours = ["pgrep", "-f", f"dask_spec.*{certificates}"]
    with Processes(tmp_path) as processes:
        processes.wait_for(
            lambda: subprocess.run(ours, check=False, capture_output=True).returncode,
            "the end of all",
        )


def test_a_host_that_shows_another_key_is_not_logged_in_to(by_ssh, certificates, tmp_path):
    nobody = tmp_path / "known"
    nobody.write_text("")
    strange = ["--set", f"cluster.ssh.known_hosts={nobody}"]
    done = subprocess.run(
        command("run", QUICKSTART, *by_ssh, *tls_settings(certificates), *strange),
        cwd=tmp_path,
        env=surroundings(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 4
    assert "expected to start a cluster of kind ssh, but that failed" in done.stderr
    assert "Host key is not trusted" in done.stderr
    assert "Traceback" not in done.stderr


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
