"""The verbs of detached jobs: submit one to a scheduler; ask for its status and its lines; cancel
it; list all.
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dnfscale.engine.clusters.address import Address
from dnfscale.engine.clusters.scheduler_file import SchedulerFile
from dnfscale.engine.preflight import check_cluster, configured_scheduler
from dnfscale.errors import SpecError
from dnfscale.jobs.runner import Options
from dnfscale.spec.cluster import ClusterSpec, TlsFiles
from dnfscale.spec.job import JobSpec
from dnfscale.spec.storage import is_local
from dnfscale.spec.suite import SuiteSpec
from dnfscale.submit.order import order_for, run_folder_of
from dnfscale.submit.record import NOT_ENDED_CODE, JobRecord

if TYPE_CHECKING:
    from dnfscale.submit.board import JobBoard, Line

_DRIVER = "dnfscale.submit.driver"
"""The module that drives a job on the cluster."""
_ASK_S = 0.5
"""How often a waiting verb asks for the job's state."""
_CANCEL_S = 30.0
"""How long `cancel` waits for the end of a job: the driver is asked to end, and killed after ten
seconds.
"""

Verbs = Any
"""The subparsers of argparse, whose type is private."""


def add_detached_verbs(
    verbs: Verbs,
    *,
    add_spec: Callable[[argparse.ArgumentParser, object], None],
    read: Callable[[argparse.Namespace], JobSpec | SuiteSpec],
) -> None:
    """Add submit, status, logs, cancel and list to the command line."""
    submit = verbs.add_parser("submit", help="hand a job to a cluster, print its id, and walk away")
    add_spec(submit, lambda options: _submit(options, read(options)))
    submit.add_argument(
        "--output", metavar="DIR", help="put the run's folder here instead of output.dir"
    )
    submit.add_argument(
        "--resume", action="store_true", help="go on with what an earlier run has finished"
    )
    submit.add_argument(
        "--force", action="store_true", help="replace the run of another spec in the same folder"
    )
    submit.add_argument(
        "--json",
        action="store_true",
        help="print what is known of the job as JSON, not its id alone",
    )
    _add_access(submit)

    status = verbs.add_parser(
        "status",
        help="say how a submitted job is doing",
        description=(
            f"Exits with what `run` would have ended with; with {NOT_ENDED_CODE} while "
            "the job has not ended."
        ),
    )
    status.add_argument("--wait", action="store_true", help="wait for the job to end")
    logs = verbs.add_parser("logs", help="show what a submitted job has printed")
    logs.add_argument("--follow", action="store_true", help="go on until the job ends")
    cancel = verbs.add_parser(
        "cancel", help="end a submitted job; what it has finished is kept for --resume"
    )
    cancel.set_defaults(prints_summary=True)
    for parser, verb in ((status, _status), (logs, _logs), (cancel, _cancel)):
        parser.add_argument(
            "job", metavar="ID", help="the id of the job, or enough of its beginning"
        )
        parser.set_defaults(verb=verb)
    listing = verbs.add_parser(
        "list", help="list the submitted jobs of a scheduler, the newest last"
    )
    listing.set_defaults(verb=_list)
    for parser in (status, logs, cancel, listing):
        parser.add_argument("--json", action="store_true", help="print JSON")
        _add_access(parser)


def _add_access(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scheduler", metavar="ADDR", help="the scheduler (default: that of Dask's configuration)"
    )
    parser.add_argument(
        "--scheduler-file",
        metavar="FILE",
        help="the file that the scheduler wrote, instead of ADDR",
    )
    parser.add_argument(
        "--tls-ca-file", metavar="PEM", help="the authority that signed the scheduler's certificate"
    )
    parser.add_argument(
        "--tls-cert", metavar="PEM", help="the certificate to show to the scheduler"
    )
    parser.add_argument("--tls-key", metavar="PEM", help="the key of the certificate")
    parser.add_argument(
        "--insecure", action="store_true", help="let a scheduler that others reach go without TLS"
    )


def _submit(options: argparse.Namespace, spec: JobSpec | SuiteSpec) -> None:
    _tell_of_absent_data(spec)
    with _board(options, spec.cluster) as board:
        for difference in board.check_versions():
            print(f"dnfscale: warning: {difference}", file=sys.stderr)
        job = board.submit(
            order_for(spec, Options(force=options.force, resume=options.resume)),
            _DRIVER,
            name=spec.name,
            kind="suite" if isinstance(spec, SuiteSpec) else spec.kind,
            spec=str(spec.file),
            folder=run_folder_of(spec),
            user=_user(),
            host=socket.gethostname(),
        )
        if not board.has_workers:
            print(
                f"dnfscale: {board.address} has no workers yet; the job waits for one",
                file=sys.stderr,
            )
        if options.json:
            print(json.dumps(board.find(job).to_dict(), ensure_ascii=False))
        else:
            print(job)


def _status(options: argparse.Namespace) -> int:
    with _board(options) as board:
        job = board.find(options.job)
        while options.wait and not job.has_ended:
            time.sleep(_ASK_S)
            job = board.find(job.id)
    print(json.dumps(job.to_dict(), ensure_ascii=False) if options.json else _described(job))
    return NOT_ENDED_CODE if job.exit_code is None else job.exit_code


def _logs(options: argparse.Namespace) -> None:
    with _board(options) as board:
        job, told = board.find(options.job), 0
        while True:
            lines, job = board.lines(job.id, after=told)
            for line in lines:
                if line.number > told + 1:
                    missing = line.number - told - 1
                    print(
                        f"dnfscale: {missing:,} lines before this one are no longer kept",
                        file=sys.stderr,
                    )
                told = line.number
                print(_as_json(line) if options.json else line.text)
            if not options.follow or (job.has_ended and not lines):
                return
            sys.stdout.flush()
            time.sleep(_ASK_S)


def _cancel(options: argparse.Namespace) -> int | None:
    with _board(options) as board:
        job = board.find(options.job)
        ended_before = job.has_ended
        job = board.cancel(job.id)
        give_up_at = time.monotonic() + _CANCEL_S
        while not job.has_ended and time.monotonic() < give_up_at:
            time.sleep(_ASK_S)
            job = board.find(job.id)
    if options.json:
        print(json.dumps(job.to_dict(), ensure_ascii=False))
    else:
        print(f"{job.id}  {job.name}: {'had already ' if ended_before else ''}{job.state}")
    return None if job.has_ended else NOT_ENDED_CODE


def _list(options: argparse.Namespace) -> None:
    with _board(options) as board:
        jobs = board.jobs()
    if options.json:
        print(json.dumps([job.to_dict() for job in jobs], indent=2, ensure_ascii=False))
        return
    rows = [("id", "state", "code", "submitted", "ran", "by", "name")]
    rows += [
        (
            job.id,
            job.state,
            "" if job.exit_code is None else str(job.exit_code),
            _when(job.submitted_at),
            _how_long(job),
            job.user,
            job.name,
        )
        for job in jobs
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def _board(options: argparse.Namespace, spec: ClusterSpec | None = None) -> JobBoard:
    """Connect to the scheduler named by the options, or else by the spec, or else by Dask's own
    configuration.
    """
    # Dask takes half a second to import, which other verbs are spared.
    from dnfscale.submit.board import JobBoard

    cluster = _access(options, spec or ClusterSpec())
    for warning in check_cluster(cluster):
        print(f"dnfscale: warning: {warning}", file=sys.stderr)
    return JobBoard(cluster)


def _access(options: argparse.Namespace, cluster: ClusterSpec) -> ClusterSpec:
    """Return how to reach the scheduler: as the spec says, unless the options say otherwise."""
    cluster = replace(
        cluster, insecure=cluster.insecure or options.insecure, tls=_tls(options) or cluster.tls
    )
    if options.scheduler is not None and options.scheduler_file is not None:
        raise SpecError("--scheduler and --scheduler-file both name a scheduler; leave out one")
    if options.scheduler_file is not None:
        return replace(
            cluster, kind="scheduler_file", options=SchedulerFile(options.scheduler_file)
        )
    if options.scheduler is None and cluster.facts.address is not None:
        return cluster
    address = options.scheduler or configured_scheduler()
    if address is None:
        raise SpecError(
            "expected a scheduler, but none is named; pass --scheduler, such as "
            "tls://10.0.0.5:8786, or "
            "--scheduler-file, or set DASK_SCHEDULER_ADDRESS"
        )
    return replace(cluster, kind="address", options=Address(address))


def _tls(options: argparse.Namespace) -> TlsFiles | None:
    files = (options.tls_ca_file, options.tls_cert, options.tls_key)
    if all(file is None for file in files):
        return None
    if any(file is None for file in files):
        raise SpecError(
            "--tls-ca-file, --tls-cert and --tls-key belong together; give all three, or none"
        )
    return TlsFiles(*files)


def _tell_of_absent_data(spec: JobSpec | SuiteSpec) -> None:
    """Report local paths that are not here, and are therefore taken to be the workers'."""
    for job in spec.jobs if isinstance(spec, SuiteSpec) else (spec,):
        path = job.data_path
        if is_local(path) and not any(mark in path for mark in "*?[") and not Path(path).exists():
            absolute = os.path.abspath(path)
            print(
                (
                    f"dnfscale: {job.place('data.path')}: {absolute} is not on this machine; "
                    "it must be on the workers'"
                ),
                file=sys.stderr,
            )


def _described(job: JobRecord) -> str:
    facts = {"submitted": f"{_when(job.submitted_at)} by {job.user} on {job.host}"}
    if job.worker is not None:
        attempts = f"{job.attempts} attempt{'s' * (job.attempts != 1)}"
        facts["driver"] = (
            f"{_how_long(job)}, {attempts}, {job.driver_bytes >> 20:,} MiB at most, beside "
            f"{job.worker}"
        )
    if job.error is not None:
        facts["error"] = job.error
    elif job.last_line is not None and not job.has_ended:
        facts["now"] = job.last_line.strip()
    facts["files"] = job.folder
    code = f", exit code {job.exit_code}" if job.exit_code else ""
    return "\n".join(
        [f"{job.id}  {job.name}: {job.state}{code}", *(f"{key:<10} {facts[key]}" for key in facts)]
    )


def _when(time_s: float) -> str:
    return datetime.fromtimestamp(time_s).strftime("%Y-%m-%d %H:%M:%S")


def _how_long(job: JobRecord) -> str:
    if job.started_at is None:
        return ""
    return f"{(job.ended_at or time.time()) - job.started_at:,.1f} s"


def _as_json(line: Line) -> str:
    return json.dumps(
        {"sequence": line.number, "time": line.time, "line": line.text}, ensure_ascii=False
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        # A container may run under a user id that has no name.
        return str(os.getuid())
