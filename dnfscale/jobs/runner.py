"""Runs a job: from a checked spec to the files of its run."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
from msgspec.structs import replace as changed

import dnfscale
from dnfscale.core.columns import unused_name
from dnfscale.data.listing import means
from dnfscale.data.models import read_models
from dnfscale.data.scored import ANSWERED_YES, open_xgboost, scored_source
from dnfscale.data.source import Source
from dnfscale.datasets.convert import Conversion, tables_folder
from dnfscale.datasets.named import open_dataset, open_tested
from dnfscale.engine.api import Engine, Notice, Progress, Tell
from dnfscale.engine.launch import check_limits, launch
from dnfscale.engine.preflight import check_cluster, check_performance_report
from dnfscale.errors import DataError, DnfscaleError, LimitError, SpecError, TaskError, visible
from dnfscale.jobs import endings
from dnfscale.jobs.checkpoints import CheckpointedEngine, ScanRecords
from dnfscale.jobs.environment import environment_of
from dnfscale.jobs.folders import FolderError
from dnfscale.jobs.lock import FolderLock
from dnfscale.jobs.notes import TaskNotes, fingerprint
from dnfscale.jobs.plan import plan
from dnfscale.jobs.progress import Phases, Watcher
from dnfscale.jobs.related import foreseen_source, joined_source, without_keys
from dnfscale.jobs.store import (
    BEGUN,
    SO_FAR,
    TASK_ENDINGS,
    Beginning,
    Journal,
    RunFolder,
    model_files,
)
from dnfscale.jobs.study import JobResult, Told, run_study
from dnfscale.jobs.verbs.report import write_report
from dnfscale.jobs.ways import settled
from dnfscale.jobs.workers import Choice, Opened, chosen_cluster
from dnfscale.learn import LOADED
from dnfscale.learn.fidelity import READINGS
from dnfscale.learn.phases import PlannedPhase
from dnfscale.learn.read import check_footers
from dnfscale.method.certificate import load_functions
from dnfscale.report.summary import write_summary
from dnfscale.report.tables import fold_tables
from dnfscale.results.record import Note
from dnfscale.results.result import Result, Timing, result_text
from dnfscale.spec.job import JobSpec
from dnfscale.spec.learn import LearnSpec
from dnfscale.spec.storage import is_named, is_remote, joined
from dnfscale.spec.suite import SuiteSpec

_FINISHED = "finished"
"""The record that is written last."""
NOTHING_DONE = "nothing was done, as this run had finished; --force runs it again"


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line adds to a spec."""

    force: bool = False
    resume: bool = False
    json: bool = False
    performance_report: str | None = None
    """Where Dask's own report of the run goes, if anywhere."""
    command: str | None = None
    """The command that goes on where this one stops, as a user would type it."""

    @property
    def goes_on(self) -> bool:
        """Whether what an earlier run of the same spec and data has finished is kept."""
        return self.resume or not self.force

    def stopping(self, kept: str | None, folder: str) -> str:
        """Return what to say when a signal has come."""
        what = f"kept in {visible(folder)}: {kept}" if kept else "nothing is finished yet"
        # On a line of its own, so that no terminal breaks it where it cannot be copied.
        again = "" if self.command is None else f"\ndnfscale: to go on: {self.command}"
        return f"dnfscale: stopping; {what}{again}"


def run(spec: JobSpec, options: Options, *, out: TextIO, err: TextIO) -> None:
    """Run a job and write its files; the summary goes to out, progress to err."""
    with Watcher(err, as_json=options.json) as shown:
        shown.waits("opening the data")
        job = Job.open(spec, options, shown)
        check_place(spec, options)
        was_finished = options.goes_on and job.is_finished
        if not was_finished:
            job.place(chosen_cluster(spec.cluster, [job.opened]))
            check_limits(job.spec.cluster)
            started = time.monotonic()
            job.claim()
            with endings.telling(job.tell_kept):
                _run_claimed(job, options, shown, started=started)
    result = job.folder.read_result()
    if options.json:
        print(result_text(result), end="", file=out)
    else:
        models = read_models(joined(job.folder.path, "model.json"), job.folder.access)
        write_summary(result, models, job.folder.path, out)
        if was_finished:
            print(NOTHING_DONE, file=out)
    failure = failed_folds(result)
    if failure is not None:
        raise failure


def _run_claimed(job: Job, options: Options, shown: Watcher, *, started: float) -> None:
    """Run a job whose folder is locked, and unlock it."""
    try:
        if job.spec.cluster.facts.starts:
            shown.waits("starting workers")
            load_functions()
        engine = launched(job.spec, options, job.notice)
        try:
            job.run(engine.watched_by(job.watch), launch_s=time.monotonic() - started)
        finally:
            engine.close()
    finally:
        job.release()


def check_place(spec: JobSpec | SuiteSpec, options: Options) -> None:
    """Raise an error if the job could not run on its cluster as described; nothing is started."""
    try:
        check_cluster(spec.cluster)
        if options.performance_report is not None:
            check_performance_report(spec.cluster, Path(options.performance_report))
    except DnfscaleError as error:
        raise spec.located(error) from error


def launched(spec: JobSpec | SuiteSpec, options: Options, tell: Tell) -> Engine:
    """Start or join the cluster of a job or a suite."""
    try:
        return launch(
            spec.cluster, tell=tell, loaded=LOADED, performance_report=options.performance_report
        )
    except DnfscaleError as error:
        raise spec.located(error) from error


def open_data(spec: JobSpec) -> tuple[Source, LearnSpec]:
    """Open the dataset of a spec, and return what to learn from it; only footers are read, unless
    related tables are to be joined.
    """
    return _open_data(spec, lambda main: joined_source(main, spec, conversion_of(spec)).source)


def foresee_data(spec: JobSpec) -> tuple[Source, LearnSpec, tuple[PlannedPhase, ...]]:
    """Open the dataset of a spec as far as footers tell, and return how related tables will be
    joined.
    """
    phases: tuple[PlannedPhase, ...] = ()

    def joined_later(main: Source) -> Source:
        nonlocal phases
        source, phases = foreseen_source(main, spec, conversion_of(spec))
        return source

    return *_open_data(spec, joined_later), phases


def _open_data(spec: JobSpec, with_related: Callable[[Source], Source]) -> tuple[Source, LearnSpec]:
    try:
        source = _opened(spec)
        to_learn = spec.learn
        if spec.related:
            source = with_related(source)
            to_learn = without_keys(to_learn, spec)
        if spec.distilled_file is not None:
            source, to_learn = _scored(source, to_learn, spec)
        check_footers(source, to_learn)
    except DnfscaleError as error:
        if error.key is None:
            error = type(error)(error.message, "data.path")
        raise spec.located(error) from error
    return source, to_learn


def _opened(spec: JobSpec) -> Source:
    path, tested = spec.data_path, spec.tested_path
    for place in (path, tested):
        if place is not None and not is_named(place) and means(place, spec.run_folder):
            raise SpecError(
                f"output.dir must lie outside of the data, because all that {place} holds is read, "
                f"got {spec.run_folder}; change output.dir or pass --output, or name the files "
                "of the data by a glob",
                "output.dir",
            )
    if tested is None:
        return open_dataset(path, spec.data_access, conversion_of(spec))
    return open_tested(path, tested, spec.data_access, conversion_of(spec))


def conversion_of(spec: JobSpec) -> Conversion:
    """Return how data that are not Parquet are converted: beside the run, on its workers if they
    are elsewhere.
    """
    beside = joined(spec.output.dir, ".tables")
    elsewhere = spec.cluster.facts.address is not None or is_remote(beside)
    beside = beside if is_remote(beside) else os.path.abspath(beside)
    return Conversion(
        csv=spec.data.csv,
        version=spec.data.version,
        places=(beside,) if elsewhere else (beside, str(tables_folder())),
        access=spec.output_access,
        progress=lambda _: endings.check(),
        launch=(lambda: launch(spec.cluster)) if spec.cluster.facts.address else None,
    )


def _scored(source: Source, to_learn: LearnSpec, spec: JobSpec) -> tuple[Source, LearnSpec]:
    """Return the source with a classifier's answers as its target, joined with the truth if it is
    known.
    """
    scorer = open_xgboost(str(spec.distilled_file), spec.distill.threshold)
    truth = to_learn.target if spec.knows_truth else None
    if truth is not None and truth in source.types and to_learn.positive is None:
        if not pa.types.is_boolean(source.types[truth]):
            raise SpecError(
                f"data.positive must say which labels of {truth!r} are the positive class; "
                "or leave out data.target, "
                "if the truth is not known",
                "data.target",
            )
        to_learn = replace(to_learn, positive=(True,))
    # Our own name must not be taken for one that differs only in case.
    name = unused_name("answer", [name.casefold() for name in source.types])
    scored = scored_source(
        source, scorer, target=name, truth=truth, positive=to_learn.positive or ()
    )
    drop = to_learn.drop if truth is None else (*to_learn.drop, truth)
    return scored, replace(to_learn, target=name, positive=ANSWERED_YES, others=READINGS, drop=drop)


def failed_folds(result: Result) -> TaskError | None:
    """Return an error that names the folds and methods that failed, or None; the model of all rows
    counts as a fold.
    """
    failed = []
    for name, method in result.methods.items():
        failed += [
            f"{name} fold {fold.fold}: {fold.error}"
            for fold in method.folds
            if fold.error is not None
        ]
        if method.model is not None and method.model.error is not None:
            failed.append(f"{name} of all rows: {method.model.error}")
    if not failed:
        return None
    folds = "1 fold" if len(failed) == 1 else f"{len(failed)} folds"
    return TaskError(f"{folds} failed, the rest is done; the first was {failed[0]}")


def _beginning(spec: JobSpec, source: Source) -> Beginning:
    contents = {file.path: file.contents for file in source.files}
    return Beginning(fingerprint(spec.essence()), source.identity, code_version(), contents)


def _token(begins: Beginning) -> str:
    return fingerprint(begins.spec, begins.data, begins.code)


def notes_of(spec: JobSpec, source: Source) -> TaskNotes:
    """Return the records of a job in its folder."""
    files = RunFolder(spec.run_folder, spec.output_access).files
    return TaskNotes(files, _token(_beginning(spec, source)))


class Job:
    """An opened job: its data, its folder, its records, and how its progress is reported."""

    def __init__(
        self, spec: JobSpec, options: Options, source: Source, to_learn: LearnSpec, shown: Watcher
    ) -> None:
        self.spec = spec
        self.folder = RunFolder(spec.run_folder, spec.output_access)
        self.source = source
        self._options = options
        self._to_learn = to_learn
        self._begins_with = _beginning(spec, source)
        token = _token(self._begins_with)
        files = self.folder.files
        self._notes = TaskNotes(files, token)
        self._scans = ScanRecords(files, token, data=source.path, recalled=self._recalled)
        self._lock = FolderLock(
            files, tell=lambda line: print(f"dnfscale: {line}", file=sys.stderr)
        )
        self._shown = shown
        self._journal = Journal(files)
        self._telling = threading.Lock()
        """Needed because workers joining and leaving is reported from another thread."""
        self._phases = Phases(plan(spec, source, to_learn))
        self._choice = Choice(spec.cluster)
        self._began: str | None = None
        """What to say of an earlier run in the same folder."""

    @classmethod
    def open(cls, spec: JobSpec, options: Options, shown: Watcher) -> Job:
        """Open the data of a job; nothing is written yet."""
        source, to_learn = open_data(spec)
        return cls(settled(spec, source, to_learn), options, source, to_learn, shown)

    @property
    def is_finished(self) -> bool:
        """Whether this job, on this very data, has written its last file."""
        try:
            resolved = tomllib.loads(self.spec.resolved())
            return self.folder.has_result(resolved) and bool(self._notes.recall(_FINISHED, Note))
        except OSError as error:
            raise self.spec.located(self.folder.unwritable(error)) from error

    @property
    def opened(self) -> Opened:
        """The job with the data that tell its size."""
        return Opened(self.spec, self.source, self._to_learn)

    def place(self, choice: Choice) -> None:
        """Settle where the job runs."""
        self.spec = replace(self.spec, cluster=choice.cluster)
        self._choice = choice
        self._phases = Phases(plan(self.spec, self.source, self._to_learn))

    def claim(self) -> None:
        """Lock the job's folder until release(); the work of an earlier run is kept where it is
        work of the same spec, data and code.
        """
        resolved = self.spec.resolved()
        try:
            self._lock.take()
            earlier = self.folder.begun_with()
            same = earlier == self._begins_with
            if self._options.resume and earlier is not None and not (same or self._options.force):
                self._check_begun(earlier)
            self.folder.claim(tomllib.loads(resolved), resolved, force=self._options.force)
            if same and self._options.goes_on:
                self._began = self._kept_before()
            else:
                self._began = self._changed_since(earlier)
                self.folder.begin_anew(self._begins_with)
        except OSError as error:
            self.release()
            raise self.spec.located(self.folder.unwritable(error)) from error
        except BaseException as error:
            self.release()
            if isinstance(error, DnfscaleError):
                raise self.spec.located(error) from error
            raise

    def _kept_before(self) -> str | None:
        kept = self.folder.kept()
        return None if kept is None else f"goes on with an earlier run; kept: {kept}"

    def _changed_since(self, earlier: Beginning | None) -> str | None:
        """Return why the work of an earlier run of this spec is not used, if there is such work."""
        if earlier is None or self._options.force or earlier.spec != self._begins_with.spec:
            return None
        if self.folder.kept() is None:
            return None
        what = "data" if earlier.data != self._begins_with.data else "version of dnfscale"
        return f"starts anew, as the {what} is not that of the earlier run"

    def tell_kept(self) -> None:
        """Say at once, when a signal has come, what is kept and how to go on."""
        # A store may take longer to answer than people wait.
        kept = "what is finished" if is_remote(self.folder.path) else self.folder.kept()
        self._shown.stop(self._options.stopping(kept, self.folder.path))

    def release(self) -> None:
        """Write what is pending, and unlock the folder."""
        with suppress(FolderError):
            self.folder.files.flush()
        self._lock.release()

    def _check_begun(self, earlier: Beginning) -> None:
        """Raise an error that says why a run cannot be resumed, unless it has no finished work to
        lose.
        """
        if self.folder.files.names("tasks", TASK_ENDINGS) in ([], [BEGUN]):
            return
        now, anew = self._begins_with, "run with --force, or without --resume, to start anew"
        if earlier.spec != now.spec:
            raise self.folder.of_another()
        if earlier.data != now.data:
            file, what = self._changed(earlier)
            raise DataError(
                f"{file}: expected the data that the run in {self.folder.path} began with, "
                f"but {what}; "
                f"put it back as it was, or {anew}",
                "data.path",
            )
        if earlier.code != now.code:
            raise SpecError(
                f"expected the version of dnfscale that the run in {self.folder.path} "
                f"began with, {earlier.code}, but "
                f"this is {now.code}; {anew}"
            )

    def _changed(self, earlier: Beginning) -> tuple[str, str]:
        """Return which file of the data is not what an earlier run began with, and why."""
        changed = earlier.changed_file(self._begins_with)
        if changed is None:
            return self.source.path, "its rows are read in another way"
        if self.source.folder is None:
            return changed
        # What changed is the file that was converted, which may lie in the same folder as before.
        related = [table.path for table in self.spec.related]
        what = "one of these has changed since" if related else "this has changed since"
        return ", ".join([self.source.path, *related]), what

    def run(self, engine: Engine, *, launch_s: float) -> None:
        """Carry out the job on an engine and write its files."""
        try:
            self._run(engine, launch_s=launch_s)
        except FolderError as error:
            raise self._unwritten(error) from error

    def _run(self, engine: Engine, *, launch_s: float) -> None:
        started = time.monotonic()
        self._shown.begin(
            self.spec.name,
            self.source.n_rows,
            len(self.source.partitions),
            self._phases.steps,
        )
        for line in (self._choice.reason, self._began):
            if line is not None:
                self._shown.notice_of(self.spec.name, line)
        self._tell("started", name=self.spec.name, kind=self.spec.kind, rows=self.source.n_rows)
        began_on = engine.describe()
        self._tell("cluster", elapsed_s=round(launch_s, 3), **began_on)
        try:
            found = run_study(
                self.spec,
                self.source,
                self._to_learn,
                CheckpointedEngine(engine, self._scans),
                self._notes,
                token=self.source.state,
                told=Told(
                    say=lambda text: self._shown.detail(self.spec.name, text),
                    warn=lambda text: self.notice(Notice.warning(text)),
                    learned=self._show_so_far,
                ),
            )
        except DnfscaleError as error:
            with suppress(FolderError):
                self._tell("failed", error=error.message)
            raise self.spec.located(error) from error
        learn_s = time.monotonic() - started
        timing = Timing(
            launch_s=round(launch_s, 3),
            learn_s=round(learn_s, 3),
            total_s=round(launch_s + learn_s, 3),
            methods_s=found.methods_s,
            phases_s={
                phase: round(elapsed, 3) for phase, elapsed in self._phases.elapsed_s.items()
            },
        )
        endings.check()
        self._lock.check()
        # A cluster that was lost answers no more.
        runs_on = began_on if found.lost else engine.describe()
        environment = environment_of(
            runs_on, cluster=self.spec.cluster.kind, dataset=self.spec.data.path
        )
        self._write(found.models, changed(found.result, timing=timing, environment=environment))
        if not found.lost:
            self._notes.note(_FINISHED, Note(step="all"))
        self._tell("finished", elapsed_s=timing.total_s)
        if not found.lost:
            self._scans.remove()
        self.folder.files.flush()

    def _show_so_far(self, found: JobResult) -> None:
        """Write the model and a first page, unless the folder holds those of a finished run."""
        if self.folder.files.has("result.json"):
            return
        self._shown.waits("writing the first page")
        waiting = [
            competitor.title for others in self.spec.families.values() for competitor in others
        ]
        for file, model in found.models.items():
            self.folder.write_text(file, f"{model}\n")
        known = {"result": json.loads(result_text(found.result)), "waiting": waiting}
        self.folder.write_json(SO_FAR, {"entries": [known]})
        write_report(self.folder)
        page = joined(self.folder.path, "report.html")
        self._shown.notice_of(self.spec.name, f"the formula is there: {visible(page)} shows it")

    def _unwritten(self, error: OSError) -> LimitError:
        """Return the error for a file of the run that could not be written; earlier files stay for
        --resume.
        """
        advice = "check the object store" if is_remote(self.folder.path) else "make room"
        return LimitError(
            f"{self.spec.place('output.dir')}: expected to write the run's files to "
            f"{self.folder.path}, but "
            f"{error.strerror or error}; {advice}, then run with --resume, or pass another --output"
        )

    def watch(self, progress: Progress) -> None:
        """Journal the beginning, progress and end of a phase, and show all of it."""
        endings.check()
        facts = self._phases.facts(progress, time.monotonic())
        if facts is not None:
            self._tell("phase", **facts)
        self._shown.progress(self.spec.name, progress)

    def notice(self, notice: Notice) -> None:
        """Journal and show what happens to the cluster."""
        self.journal(notice)
        self._shown.notice_of(self.spec.name, notice.message)

    def journal(self, notice: Notice) -> None:
        """Journal what happens to the cluster; a suite shows it itself, once for all jobs."""
        self._tell(notice.event, **notice.facts)

    def _recalled(self, phase: str) -> None:
        self._tell("recalled", phase=phase)
        self._shown.recalled(self.spec.name, phase)

    def _tell(self, event: str, **facts: Any) -> None:
        with self._telling:
            self._shown.event({**self._journal.record(event, **facts), "job": self.spec.name})

    def _write(self, models: dict[str, str], result: Result) -> None:
        """Write the run's files: result.json after those that it summarizes, and the report, which
        shows it, last.
        """
        self._shown.waits("writing the results")
        for file in model_files():
            if file not in models:
                self.folder.remove(file)
        for file, model in models.items():
            self.folder.write_text(file, f"{model}\n")
        for table in fold_tables(result):
            self.folder.write_csv(table.file, table.columns, table.rows)
        self.folder.write_text("result.json", result_text(result))
        write_report(self.folder)


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return the version of this package with a digest of its code: work of other code must not be
    resumed.
    """
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(Path(dnfscale.__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return f"{dnfscale.__version__}+{digest.hexdigest()}"
