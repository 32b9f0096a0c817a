"""Local clusters belong to the account that starts them, though others of the machine reach their
ports.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import dask
import psutil
import pytest
from distributed import LocalCluster, get_worker

from dnfscale.engine.dask.engine import ClusterEngine
from dnfscale.engine.dask.local import start_local
from dnfscale.engine.dask.scratch import private_scratch
from dnfscale.spec.cluster import ClusterSpec, TlsFiles
from tests.deploy.processes import make_certificates, tls_table
from tests.engine.dask.stranger import answers_to_nobody, listening


def own_pid(_item: int) -> int:
    return os.getpid()


def own_environment(_item: int) -> tuple[str, str]:
    return Path("/proc/self/environ").read_text("utf-8", "replace"), Path(
        "/proc/self/cmdline"
    ).read_text()


def places(_item: int) -> tuple[str, list[str]]:
    """Where a worker keeps results, and where it looks for modules."""
    return get_worker().local_directory, sys.path


@contextmanager
def small_cluster(**more: object) -> Iterator[ClusterEngine]:
    with closing(start_local(ClusterSpec(workers=1, memory_limit="1GiB", **more))) as engine:  # type: ignore[arg-type]
        yield engine


def open_cluster() -> LocalCluster:
    """A cluster as Dask starts it."""
    where = {"protocol": "tcp://", "dashboard_address": "127.0.0.1:0"}
    return LocalCluster(n_workers=1, processes=False, silence_logs=logging.CRITICAL, **where)


@pytest.fixture(scope="module")
def answers() -> dict[str, list[str]]:
    """What another account is answered by a local cluster, by one with a dashboard, and by one that
    is open.
    """
    if os.getuid() != 0:
        pytest.skip("only root can become another account")
    with ExitStack() as started:
        before = listening()
        started.enter_context(open_cluster())
        opened = listening() - before
        started.enter_context(small_cluster(dashboard="127.0.0.1:0"))
        shown = listening() - before - opened
        engine = started.enter_context(small_cluster())
        [worker] = engine.map("pid", [0], own_pid)
        os.kill(worker, signal.SIGKILL)
        assert engine.map("pid", [0], own_pid) != [worker]
        closed = listening() - before - opened - shown
        # The scheduler, the nanny, and the worker that replaced another; two of them listen for
        # HTTP too.
        assert len(closed) == len(shown) == 5
        assert {address for address, _port in closed | shown} == {"127.0.0.1"}
        clusters = {"closed": closed, "shown": shown, "opened": opened}
        by_port = answers_to_nobody(port for ports in clusters.values() for _address, port in ports)
        return {
            name: [answer for _address, port in ports for answer in by_port[port]]
            for name, ports in clusters.items()
        }


def test_another_account_is_answered_nothing_by_a_local_cluster(answers):
    # Dask's list of its pages, which here has nothing to list but itself.
    assert set(answers["closed"]) <= {"page /sitemap.json: 200"}


def test_a_dashboard_that_was_asked_for_is_shown_and_opens_nothing_else(answers):
    assert "page /info/main/workers.html: 200" in answers["shown"]
    assert not [answer for answer in answers["shown"] if not answer.startswith("page ")]


def test_another_account_is_answered_by_a_cluster_that_is_open(answers):
    """The judge of the two above: it finds what there is to find."""
    found = {"tcp Scheduler", "tcp Worker", "page /info/main/workers.html: 200"}
    assert found <= set(answers["opened"])


def test_the_files_of_a_spec_are_used_instead_of_a_certificate_for_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("dnfscale.engine.dask.local.temporary_security", pytest.fail)
    files = TlsFiles(**tls_table(make_certificates(tmp_path / "tls")))
    with small_cluster(tls=files) as engine:
        assert engine.map("pid", [0], own_pid) != [os.getpid()]


def test_the_key_of_a_run_is_in_no_file_environment_or_command_line(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with small_cluster() as engine:
        key = engine.client.security.tls_client_key
        assert "PRIVATE KEY" in key
        assert not any(
            "PRIVATE KEY" in text for text in engine.map("look", [0], own_environment)[0]
        )
        assert "PRIVATE KEY" not in " ".join([*os.environ.values(), *psutil.Process().cmdline()])
        files = [file for file in tmp_path.rglob("*") if file.is_file()]
        assert not [file for file in files if b"PRIVATE KEY" in file.read_bytes()]


@pytest.mark.parametrize(
    "taken", [["dask-scratch-space"], [f"dnfscale-{os.getuid()}", "dask-scratch-space"]]
)
def test_nothing_is_loaded_from_or_kept_in_a_folder_that_others_have_made(tmp_path, taken):
    """Dask's own folder is shared by all accounts: who makes it first could swap results, or give
    modules to load.
    """
    for name in taken:
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    with (
        dask.config.set({"temporary-directory": "/nowhere"}),
        small_cluster(local_directory=str(tmp_path)) as engine,
    ):
        [(kept, searched)] = engine.map("look", [0], places)
        for place in (kept, *searched, *sys.path):
            if Path(place).is_relative_to(tmp_path):
                assert Path(place).relative_to(tmp_path).parts[0] not in taken
        [private] = [folder for folder in tmp_path.iterdir() if Path(kept).is_relative_to(folder)]
        assert private.stat().st_mode & 0o777 == 0o700
    left = sorted(folder.name for folder in tmp_path.iterdir())
    assert left == sorted({*taken, f"dnfscale-{os.getuid()}"})


def test_a_cluster_beside_another_uses_the_same_folder(tmp_path):
    with private_scratch(str(tmp_path)), private_scratch(None):
        assert dask.config.get("temporary-directory") == str(tmp_path / f"dnfscale-{os.getuid()}")
    assert [folder.name for folder in tmp_path.rglob("*")] == [f"dnfscale-{os.getuid()}"]
