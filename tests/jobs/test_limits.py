"""Small limits of the operating system end a job with 5 and one line that names them."""

from __future__ import annotations

import os
import shlex
import shutil

import pytest

from tests.jobs.running import Desk, Ended, command

OTHER_USER = 54321
"""Somebody who has no process yet; root is not bound by the limit on processes."""


def limited(desk: Desk, limit: str, *arguments: str, before: tuple[str, ...] = ()) -> Ended:
    """Carry out a command line under a limit of the shell."""
    return desk.shell(f"ulimit {limit}; exec {shlex.join(command(*arguments))}", before=before)


def spec_of(desk: Desk, kind: str) -> str:
    return str(desk.spec(cluster={"kind": kind, **({"workers": 2} if kind == "local" else {})}))


@pytest.mark.parametrize(
    ("limit", "kind", "said"),
    [
        ("-n 16", "local", "16 may be open at once; raise that, such as with ulimit -n 4096"),
        ("-n 32", "local", "32 may be open at once; raise that, such as with ulimit -n 4096"),
        ("-v 100000", "serial", "limited to 97 MiB; raise that, such as with ulimit -v unlimited"),
        ("-v 350000", "serial", "limited to 341 MiB; raise that, such as with ulimit -v unlimited"),
        ("-v 600000", "local", "limited to 585 MiB; raise that, such as with ulimit -v unlimited"),
        (
            "-v 2000000",
            "local",
            "limited to 1,953 MiB; raise that, such as with ulimit -v unlimited",
        ),
    ],
)
def test_a_limit_that_is_too_low_for_a_job_is_named(laid_desk, limit, kind, said):
    ended = limited(laid_desk, limit, "run", spec_of(laid_desk, kind))
    assert (ended.code, ended.out) == (5, "")
    assert said in ended.err
    assert ended.err.count("\n") == 1
    assert not laid_desk.folder().exists()


@pytest.mark.parametrize("limit", ["-n 32", "-v 1000000"])
def test_a_job_within_a_low_limit_is_done(laid_desk, limit):
    assert limited(laid_desk, limit, "run", spec_of(laid_desk, "serial")).code == 0


@pytest.mark.parametrize(
    "arguments", [("--help",), ("validate", "job.toml")], ids=lambda arguments: arguments[0]
)
def test_what_needs_little_works_under_limits_that_are_too_low_for_a_job(laid_desk, arguments):
    spec_of(laid_desk, "local")
    for limit in ("-n 16", "-v 350000"):
        assert limited(laid_desk, limit, *arguments).code == 0


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="another user needs root and setpriv",
)
@pytest.mark.parametrize(
    ("limit", "kind"), [("-u 2", "serial"), ("-u 12", "local"), ("-u 20", "local")]
)
def test_a_limit_on_processes_is_named(laid_desk, limit, kind):
    laid_desk.path.chmod(0o777)
    # The interpreter may lie in a folder of root's; only this right is kept.
    kept = [f"--{caps}-caps=+dac_override" for caps in ("inh", "ambient")]
    before = ("setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups", *kept)
    ended = limited(laid_desk, limit, "run", spec_of(laid_desk, kind), before=before)
    number = limit.split()[1]
    assert (ended.code, ended.out) == (5, "")
    assert (
        f"processes and threads, but {number} are allowed; raise that, such as with ulimit -u 4096"
        in ended.err
    )
    assert ended.err.count("\n") == 1
