"""Runs a suite: all its jobs at once on one cluster, each in a thread of its own that only waits
for its tasks.

Small jobs are started first, and the cluster takes tasks of all jobs in turn, so that none waits
behind a large one. A job that fails is a row of the result with its error; the others go on. A job
that ends without some of its folds has a result all the same, and its row says what is missing.
"""

from __future__ import annotations

import json
import threading
import time
import tomllib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Literal, TextIO

from dnfscale.engine.api import Engine, Notice
from dnfscale.engine.limits import limit_behind
from dnfscale.errors import ClusterError, DataError, DnfscaleError, TaskError, visible
from dnfscale.jobs import endings
from dnfscale.jobs.environment import environment_of
from dnfscale.jobs.folders import FolderError
from dnfscale.jobs.lock import FolderLock
from dnfscale.jobs.progress import Watcher, time_text
from dnfscale.jobs.runner import NOTHING_DONE, Job, Options, check_place, failed_folds, launched
from dnfscale.jobs.store import Journal, RunFolder
from dnfscale.jobs.verbs.report import write_report
from dnfscale.jobs.workers import Choice, chosen_cluster
from dnfscale.method.certificate import load_functions
from dnfscale.report.formats import Table, to_csv, to_latex, to_markdown, to_text
from dnfscale.report.summary import terminal_width
from dnfscale.report.tables import study_tables
from dnfscale.results.result import Environment, Result, Timing
from dnfscale.results.suite import Suite, SuiteJob, parse_suite, suite_text
from dnfscale.spec.job import JobSpec
from dnfscale.spec.suite import SuiteSpec

_JOBS_PER_WORKER = 4
"""Enough that scans continue while trials are waited for; more would keep our scheduler from
answering.
"""
_NAMED = 3
"""How many jobs are named among those that failed for the same reason."""


@dataclass(slots=True)
class _Row:
    """A job of the suite and its outcome."""

    spec: JobSpec
    job: Job | None = None
    error: DnfscaleError | None = None
    result: Result | None = None

    @property
    def status(self) -> Literal["done", "incomplete", "failed"]:
        """The outcome of the job; an incomplete one has a result, but lacks some folds."""
        if self.error is None:
            return "done"
        return "failed" if self.result is None else "incomplete"

    def read_result(self) -> None:
        """Read the result that the job has written, unless it failed before."""
        if self.error is None:
            self.result = RunFolder(self.spec.run_folder, self.spec.output_access).read_result()
            self.error = failed_folds(self.result)

    @property
    def size(self) -> int:
        return 0 if self.job is None else self.job.source.n_rows * len(self.job.source.types)


def run_suite(suite: SuiteSpec, options: Options, *, out: TextIO, err: TextIO) -> None:
    """Run all jobs of a suite, write its tables, and print the accuracies."""
    check_place(suite, options)
    folder = RunFolder(suite.run_folder, suite.output_access)
    lock = FolderLock(folder.files, tell=lambda line: print(f"dnfscale: {line}", file=err))
    resolved = suite.resolved()
    try:
        try:
            lock.take()
            folder.claim(tomllib.loads(resolved), resolved, force=options.force)
        except OSError as error:
            raise folder.unwritable(error) from error
        try:
            _run_claimed(suite, folder, options, out=out, err=err)
        except FolderError as error:
            raise folder.unwritable(error) from error
    finally:
        lock.release()


def _run_claimed(
    suite: SuiteSpec, folder: RunFolder, options: Options, *, out: TextIO, err: TextIO
) -> None:
    """Run a suite in a folder that it has locked."""
    started = time.monotonic()
    with Watcher(err, as_json=options.json, n_jobs=len(suite.jobs)) as shown:

        def tell_kept() -> None:
            shown.stop(options.stopping("what each job has finished", folder.path))

        with endings.telling(tell_kept):
            rows, environment = _run_jobs(suite, folder, options, shown)
    for row in rows:
        row.read_result()
    result = Suite(
        name=suite.name,
        jobs=tuple(_record(row) for row in rows),
        timing=Timing(total_s=round(time.monotonic() - started, 3)),
        environment=environment,
    )
    tables = study_tables([row.result for row in rows if row.result is not None])
    nothing_done = all(row.job is None and row.error is None for row in rows)
    earlier = _finished_before(folder, result) if nothing_done else None
    if earlier is None:
        _write(folder, result, tables)
    else:
        result = earlier
    if options.json:
        print(suite_text(result), end="", file=out)
    else:
        _print_summary(folder, result, tables, out)
        if nothing_done:
            print(NOTHING_DONE, file=out)
    _check_all(rows)


def _run_jobs(
    suite: SuiteSpec, folder: RunFolder, options: Options, shown: Watcher
) -> tuple[list[_Row], Environment]:
    """Open all jobs, run those that are not finished, and return their outcomes and where they
    ran.
    """
    journal = Journal(folder.files)

    def tell(notice: Notice) -> None:
        shown.notice(notice.message)
        shown.event({**journal.record(notice.event, **notice.facts), "job": suite.name})

    rows: list[_Row] = []
    shown.waits("opening the data of all jobs")
    try:
        # One by one, so that the jobs opened so far are released if another cannot be.
        rows += (_opened(spec, options, shown) for spec in suite.jobs)
        waiting = sorted((row for row in rows if row.job is not None), key=lambda row: row.size)
        jobs = [row.job for row in waiting if row.job is not None]
        if not jobs:
            return rows, Environment()
        choice = chosen_cluster(suite.cluster, [job.opened for job in jobs])
        for job in jobs:
            job.place(Choice(choice.cluster))
        if choice.reason is not None:
            shown.notice(choice.reason)
        suite = replace(suite, cluster=choice.cluster)
        if suite.cluster.facts.starts:
            shown.waits("starting workers")
        with closing(launched(suite, options, tell)) as engine:
            environment = environment_of(engine.describe())
            workers = 0 if suite.cluster.kind == "serial" else environment.workers or 0
            _run_all(waiting, engine, shown, at_once=max(1, _JOBS_PER_WORKER * workers))
        return rows, environment
    finally:
        for row in rows:
            if row.job is not None:
                row.job.release()


def _finished_before(folder: RunFolder, result: Suite) -> Suite | None:
    """Return the result that the folder has of the same ends of the same jobs, with the time that
    they took.
    """
    try:
        earlier = parse_suite(json.loads(folder.files.read("result.json")))
    except (FileNotFoundError, ValueError, DataError):
        return None
    return earlier if earlier.jobs == result.jobs and earlier.name == result.name else None


def _write(folder: RunFolder, result: Suite, tables: Mapping[str, Table]) -> None:
    """Write the tables, the result and the report of a suite."""
    for name, table in tables.items():
        folder.write_text(f"tables/{name}.csv", to_csv(table))
        folder.write_text(f"tables/{name}.md", to_markdown(table))
        folder.write_text(f"tables/{name}.tex", to_latex(table))
    folder.write_text("result.json", suite_text(result))
    write_report(folder)


def _print_summary(
    folder: RunFolder, result: Suite, tables: Mapping[str, Table], out: TextIO
) -> None:
    printed = ("profiles", "profile_differences") if "profiles" in tables else ("accuracies",)
    for name in printed:
        if name in tables:
            print(to_text(tables[name], terminal_width()), file=out)
    with_result = sum(job.status != "failed" for job in result.jobs)
    print(
        (
            f"{result.name}: {with_result} of {len(result.jobs)} jobs in "
            f"{result.timing.total_s:,.1f} s"
        ),
        file=out,
    )
    print(f"files      {visible(str(folder.path))}, with these tables whole in tables/", file=out)


def _opened(spec: JobSpec, options: Options, shown: Watcher) -> _Row:
    """Open a job; a finished one stays as it is."""
    try:
        job = Job.open(spec, options, shown)
        if options.goes_on and job.is_finished:
            shown.ended(spec.name, "had finished before")
            return _Row(spec)
        job.claim()
    except DnfscaleError as error:
        shown.ended(spec.name, f"failed: {visible(error.message)}")
        return _Row(spec, error=error)
    return _Row(spec, job)


def _run_all(rows: list[_Row], engine: Engine, shown: Watcher, *, at_once: int) -> None:
    """Run jobs, some at once, and keep the error of each; a lost cluster ends the suite."""
    slots = threading.Semaphore(at_once)
    lost: list[ClusterError] = []

    def run_one(row: _Row) -> None:
        with slots:
            if row.job is None:
                return
            if lost:
                row.error = lost[0]
                return
            started = time.monotonic()
            try:
                with closing(engine.watched_by(row.job.watch, row.job.journal)) as guest:
                    row.job.run(guest, launch_s=0.0)
            except DnfscaleError as error:
                row.error = error
                if isinstance(error, ClusterError):
                    lost.append(error)
            except Exception as error:
                row.error = limit_behind(error) or TaskError(
                    f"unexpected {type(error).__name__}: {error}"
                )
            how = "done in" if row.error is None else f"failed: {visible(row.error.message)}, after"
            shown.ended(row.spec.name, f"{how} {time_text(time.monotonic() - started)}")

    load_functions()
    # The threads are daemons, so that a signal ends the process without waiting for jobs whose
    # cluster is gone.
    threads = [
        threading.Thread(target=run_one, args=(row,), name=row.spec.name, daemon=True)
        for row in rows
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _record(row: _Row) -> SuiteJob:
    return SuiteJob(
        name=row.spec.name,
        dataset=row.spec.data.path,
        profile=row.spec.profile,
        seed=row.spec.seed,
        status=row.status,
        error=None if row.error is None else row.error.message,
        folder=f"jobs/{row.spec.name}",
    )


def _check_all(rows: list[_Row]) -> None:
    """Raise the error that sets the suite's exit code: a lost cluster, or a job that failed or
    lacks some folds.
    """
    for row in rows:
        if isinstance(row.error, ClusterError):
            raise row.error
    troubles = []
    for status, words in (("failed", "failed"), ("incomplete", "miss some folds")):
        which = [row for row in rows if row.status == status]
        others = {row.status for row in rows} - {status}
        if which:
            rest = ", the rest is done" if others == {"done"} else ""
            troubles.append(
                f"{len(which)} of {len(rows)} jobs {words}{rest}: {'; '.join(_reasons(which))}"
            )
    if troubles:
        raise TaskError("; ".join(troubles))


def _reasons(failed: list[_Row]) -> list[str]:
    """Return every reason once, after the jobs that failed for it."""
    jobs: dict[str, list[str]] = {}
    for row in failed:
        jobs.setdefault(str(row.error), []).append(row.spec.name)
    return [f"{_some(names)}: {reason}" for reason, names in jobs.items()]


def _some(names: list[str]) -> str:
    left = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {left} more" if left > 0 else "")
