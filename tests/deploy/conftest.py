"""Certificates, and what the quickstart gives when it runs in one process: what every other setting must give too."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.deploy.processes import Processes, make_certificates, start_scheduler, start_worker
from tests.jobs.running import ROOT, command, essence, read_json, surroundings

QUICKSTART = ROOT / "jobs" / "quickstart.toml"

Quickstart = Callable[..., tuple[str, dict[str, object]]]
"""Runs the quickstart with more options, and returns its result without timing and environment, and the latter."""


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, which makes certificates")
    return make_certificates(tmp_path_factory.mktemp("tls") / "certificates")


@pytest.fixture
def quickstart(tmp_path: Path) -> Iterator[Quickstart]:
    with Processes(tmp_path) as processes:

        def run(
            *options: str | Path, before: tuple[str, ...] = (), **environment: str
        ) -> tuple[str, dict[str, object]]:
            job = processes.start("job", [*before, *command("run", QUICKSTART, *options)], **environment)
            processes.wait_for(lambda: job.poll() is not None, "the end of the job")
            said = (tmp_path / "job.log").read_text(encoding="utf-8")
            assert job.returncode == 0, said
            result = tmp_path / "runs" / "quickstart" / "result.json"
            return essence(result), read_json(result)["environment"]

        yield run


@pytest.fixture(scope="session")
def serially(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The result of the quickstart in one process."""
    import subprocess

    folder = tmp_path_factory.mktemp("serial")
    serial = command("run", QUICKSTART, "--set", "cluster.kind=serial")
    subprocess.run(serial, cwd=folder, env=surroundings(), check=True, capture_output=True)
    return essence(folder / "runs" / "quickstart" / "result.json")


@pytest.fixture(scope="session")
def encrypted_cluster(tmp_path_factory: pytest.TempPathFactory, certificates: Path) -> Iterator[str]:
    """The address of a scheduler with two workers, started by hand, over TLS."""
    with Processes(tmp_path_factory.mktemp("plain")) as processes:
        address = start_scheduler(processes, certificates)
        for name in ("one", "two"):
            start_worker(processes, address, certificates, name=name)
        yield address


def tls_settings(certificates: Path) -> list[str]:
    """How a command line is told of certificates."""
    names = ("ca", "cert", "key")
    return [part for name in names for part in ("--set", f"cluster.tls.{name}_file={certificates / name}.pem")]
