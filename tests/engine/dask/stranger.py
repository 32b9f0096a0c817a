"""Another account of this machine, which tries what it can at ports: `python -m
tests.engine.dask.stranger PORT...`.

Prints, as JSON, what it was answered. Everything is tried once before the process gives up its own
account, so that all that is imported on the way is there: the other account may not be able to read
the packages.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterable

import psutil
from distributed.comm.core import connect
from distributed.security import Security

from dnfscale.engine.dask.credentials import temporary_security
from tests.jobs.running import PATIENCE_S, ROOT, surroundings

NOBODY = 65534
PAGES = (
    *(
        "/",
        "/status",
        "/health",
        "/metrics",
        "/sitemap.json",
        "/individual-plots.json",
        "/statics/css/base.css",
    ),
    *(
        "/info/main/workers.html",
        "/info/main/logs.html",
        "/json/counts.json",
        "/json/identity.json",
    ),
    *("/api/v1", "/api/v1/get_workers", "/proxy/8787/127.0.0.1/status", "/counters", "/system"),
)
_PATIENCE_S = 5.0


def answers_to_nobody(ports: Iterable[int]) -> dict[int, list[str]]:
    """Return what each port answers to the account that owns nothing; only root can become it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.dask.stranger", *map(str, ports)],
        cwd=ROOT,
        env=surroundings(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {int(port): answers for port, answers in json.loads(done.stdout).items()}


def listening() -> set[tuple[str, int]]:
    """The addresses and ports at which this process and those below it wait for others."""
    me = psutil.Process()
    return {
        (connection.laddr.ip, connection.laddr.port)
        for process in (me, *me.children(recursive=True))
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }


async def _answers(port: int, own: Security) -> list[str]:
    tried = [_page(port, page) for page in PAGES]
    tried += [_identity(f"tcp://127.0.0.1:{port}", Security())]
    tried += [_identity(f"tls://127.0.0.1:{port}", own)]
    return [answer for answer in await asyncio.gather(*tried) if answer]


async def _all_answers(ports: list[int], own: Security) -> dict[int, list[str]]:
    """Return what each port answers, also to somebody with a certificate of his own."""
    answers = await asyncio.gather(*(_answers(port, own) for port in ports))
    return dict(zip(ports, answers, strict=True))


async def _page(port: int, page: str) -> str:
    """Ask for a page as a browser does."""

    def get() -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
        connection.request("GET", page)
        return connection.getresponse().status

    try:
        status = await asyncio.to_thread(get)
    except (OSError, http.client.HTTPException):
        return ""
    return "" if status == http.client.NOT_FOUND else f"page {page}: {status}"


async def _identity(address: str, security: Security) -> str:
    """Ask a scheduler, worker or nanny who it is: whoever is told can also have it run
    a function.
    """

    async def ask() -> str:
        comm = await connect(address, timeout=_PATIENCE_S, **security.get_connection_args("client"))
        await comm.write({"op": "identity", "reply": True})
        return f"{address[:3]} {(await comm.read())['type']}"

    try:
        # Dask's own time limit does not hold for a server of HTTP, which waits for more.
        return await asyncio.wait_for(ask(), _PATIENCE_S)
    except (OSError, TimeoutError, ValueError):
        return ""


if __name__ == "__main__":
    asked = [int(port) for port in sys.argv[1:]]
    certificate = temporary_security()
    asyncio.run(_all_answers(asked, certificate))
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    print(json.dumps(asyncio.run(_all_answers(asked, certificate))))
