"""The driver of a detached job: the process that a supervisor starts beside a worker to do what
`run` does.

It reads its instructions from standard input, and lives only as long as input keeps coming: the
scheduler may start another driver as soon as this one's worker is gone, and two must not write to
one folder.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from pathlib import Path

import dask

from dnfscale.engine.streams import outlive_readers
from dnfscale.jobs import endings
from dnfscale.jobs.runner import run
from dnfscale.jobs.suite import run_suite
from dnfscale.spec.storage import is_remote
from dnfscale.spec.suite import SuiteSpec
from dnfscale.submit.order import options_in, run_folder_of, spec_in, use_data_folder
from dnfscale.submit.record import Connection, Order

_SILENCE_S = 60.0
"""A supervisor sends something twice a second; one that is silent for this long is gone or cut
off.
"""


def main() -> None:
    """Read the instructions, carry them out, and exit with the code that `run` would have."""
    outlive_readers()
    told = json.loads(sys.stdin.readline())
    endings.listen()
    threading.Thread(target=_end_with_supervisor, daemon=True).start()
    sys.exit(
        endings.exit_code_of(lambda: _drive(told["order"], told["attempt"], told["connection"]))
    )


def _drive(order: Order, attempt: int, connection: Connection) -> None:
    dask.config.set({"client-name": connection["client_name"]})
    use_data_folder(order)
    spec = spec_in(order, _cluster(connection))
    if attempt > 1:
        _tell_of_resuming(run_folder_of(spec), attempt)
    options = options_in(order, attempt=attempt)
    if isinstance(spec, SuiteSpec):
        run_suite(spec, options, out=sys.stdout, err=sys.stderr)
    else:
        run(spec, options, out=sys.stdout, err=sys.stderr)


def _cluster(connection: Connection) -> dict[str, str | bool]:
    """Return the keys of [cluster] for the worker's own cluster; it is accepted as it is, with or
    without TLS.
    """
    tls = {f"cluster.tls.{name}": file for name, file in connection["tls"].items()}
    return {
        "cluster.kind": "address",
        "cluster.address": connection["address"],
        "cluster.insecure": True,
        **tls,
    }


def _tell_of_resuming(folder: str, attempt: int) -> None:
    print(f"driver {attempt} goes on: the worker of the one before it is gone", file=sys.stderr)
    if not is_remote(folder) and not Path(folder).is_dir():
        print(
            f"expected what was finished in {folder}, but it is not on this machine, so "
            "all is done again; put "
            "output.dir where all workers reach it",
            file=sys.stderr,
        )


def _end_with_supervisor() -> None:
    """End this process when its supervisor falls silent; safe, because files are written whole or
    not at all.
    """
    source = sys.stdin.fileno()
    while True:
        ready, _, _ = select.select([source], [], [], _SILENCE_S)
        if not ready or not os.read(source, 4096):
            os._exit(143)
