"""Certificates, and what the quickstart gives when it runs in one process: what every other setting
must give too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.deploy.manifests import compose, compose_service
from tests.deploy.processes import Processes, free_port, make_certificates, written_address
from tests.jobs.running import ROOT, command, essence, read_json, surroundings

QUICKSTART = ROOT / "jobs" / "quickstart.toml"
TWO_FOLDS = ("--set", "folds.outer=2")
"""What the quickstart is told besides where a third of its work shows as much."""

Quickstart = Callable[..., tuple[str, dict[str, object]]]
"""Runs the quickstart with more options, of two folds unless its whole is asked for, and returns
its result without timing and environment, and the latter.
"""


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, which makes certificates")
    return make_certificates(tmp_path_factory.mktemp("tls") / "certificates")


@pytest.fixture
def quickstart(tmp_path: Path) -> Iterator[Quickstart]:
    with Processes(tmp_path) as processes:

        def run(
            *options: str | Path,
            before: tuple[str, ...] = (),
            whole: bool = False,
            **environment: str,
        ) -> tuple[str, dict[str, object]]:
            size = () if whole else TWO_FOLDS
            job = processes.start(
                "job", [*before, *command("run", QUICKSTART, *size, *options)], **environment
            )
            processes.wait_for(lambda: job.poll() is not None, "the end of the job")
            said = (tmp_path / "job.log").read_text(encoding="utf-8")
            assert job.returncode == 0, said
            result = tmp_path / "runs" / "quickstart" / "result.json"
            return essence(result), read_json(result)["environment"]

        yield run


@pytest.fixture(scope="session")
def serially(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The result of the quickstart, of two folds, in one process."""
    return result_in_one_process(tmp_path_factory.mktemp("serial"), *TWO_FOLDS)


def result_in_one_process(folder: Path, *options: str) -> str:
    """Run the quickstart in one process, and return what every other setting must give too."""
    serial = command("run", QUICKSTART, "--set", "cluster.kind=serial", *options)
    subprocess.run(serial, cwd=folder, env=surroundings(), check=True, capture_output=True)
    return essence(folder / "runs" / "quickstart" / "result.json")


@pytest.fixture(scope="session")
def encrypted_cluster(
    tmp_path_factory: pytest.TempPathFactory, certificates: Path
) -> Iterator[str]:
    """The address of a scheduler with two workers over TLS, started by hand, as the Compose file
    starts them.
    """
    with Processes(tmp_path_factory.mktemp("plain")) as processes:
        file, health = processes.folder / "scheduler.json", free_port()
        options = {
            "--port 8786": f"--host 127.0.0.1 --port 0 --scheduler-file {file}",
            "127.0.0.1:8787": f"127.0.0.1:{health}",
        }
        command, environment = compose_service("scheduler", certificates, options)
        processes.start("scheduler", [sys.executable, "-m", *command], **environment)
        address = processes.wait_for(lambda: written_address(file), "the start of the scheduler")
        is_well(processes, health)
        for number in range(compose()["services"]["worker"]["deploy"]["replicas"]):
            health = free_port()
            options = {
                "tls://scheduler:8786": address,
                "/spill": str(processes.folder),
                "127.0.0.1:8787": f"127.0.0.1:{health}",
            }
            command, environment = compose_service("worker", certificates, options)
            processes.start(f"worker{number}", [sys.executable, "-m", *command], **environment)
            is_well(processes, health)
        yield address


def is_well(processes: Processes, port: int) -> None:
    """Wait until what the image's health check asks is answered."""

    def asked() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=3) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    processes.wait_for(asked, "good health")


def tls_settings(certificates: Path) -> list[str]:
    """How a command line is told of certificates."""
    names = ("ca", "cert", "key")
    return [
        part
        for name in names
        for part in ("--set", f"cluster.tls.{name}_file={certificates / name}.pem")
    ]
