"""Options for where the work is done, for the verbs that go over a dataset without a spec."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from dnfscale.engine.api import Engine
from dnfscale.engine.clusters.address import Address
from dnfscale.engine.launch import cores, launch
from dnfscale.errors import SpecError
from dnfscale.spec.cluster import ClusterSpec

_SERIAL_ROWS = 20_000_000
"""Up to here one process is done before several have started."""


def add_cluster_options(verb: argparse.ArgumentParser) -> None:
    """Add the options to a verb."""
    verb.add_argument(
        "--workers", metavar="N", type=int, help="processes (default: by the number of rows)"
    )
    verb.add_argument(
        "--scheduler", metavar="ADDR", help="run on the Dask cluster of this scheduler"
    )
    verb.add_argument(
        "--insecure", action="store_true", help="let that be another machine's, without TLS"
    )


def launched(options: argparse.Namespace, n_rows: int, loaded: Sequence[str]) -> Engine:
    """Start or join what the options ask for; workers of this machine begin with some modules."""
    if options.workers is not None and options.workers < 1:
        raise SpecError(f"--workers must be at least 1, got {options.workers}")
    joining = joined_workers(options)
    if joining is not None:
        return joining()
    workers = options.workers
    if workers is None:
        workers = 1 if n_rows <= _SERIAL_ROWS else cores()
    cluster = (
        ClusterSpec(kind="serial") if workers == 1 else ClusterSpec(kind="local", workers=workers)
    )
    return launch(cluster, loaded=loaded)


def joined_workers(options: argparse.Namespace) -> Callable[[], Engine] | None:
    """Return what joins the workers of the scheduler that the options name; None if they name
    none.
    """
    if options.scheduler is None:
        return None
    cluster = ClusterSpec(
        kind="address", options=Address(options.scheduler), insecure=options.insecure
    )
    return lambda: launch(
        cluster, tell=lambda notice: print(f"  {notice.message}", file=sys.stderr)
    )
