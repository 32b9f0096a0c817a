"""Reports of runs that are on disk: one folder, a suite's, or several side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TypeVar

import msgspec

from dnfscale.data.storage import split
from dnfscale.errors import DataError, SpecError
from dnfscale.jobs.folders import Folder, open_folder
from dnfscale.jobs.store import SO_FAR, RunFolder
from dnfscale.report import ReportRun, render_figures, render_report, report_run
from dnfscale.results.check import CHECK_FILE, read_check
from dnfscale.results.frontier import FRONTIER_FILE, read_frontier
from dnfscale.results.record import converted
from dnfscale.results.result import parse_result
from dnfscale.results.suite import is_suite, parse_suite
from dnfscale.spec.storage import DEFAULT_ACCESS, Access, joined

T = TypeVar("T")


def report_again(
    folders: Sequence[str], target: str | None = None, access: Access = DEFAULT_ACCESS
) -> str:
    """Write the report of finished runs again, and return its path; raise SpecError if their files
    are damaged.
    """
    try:
        if len(folders) == 1 and target is None:
            write_report(RunFolder(folders[0], access))
            return joined(folders[0], "report.html")
        target = target or "report.html"
        write_joint_report(folders, target, access)
    except OSError as error:
        raise SpecError(
            f"the report cannot be written: {error.strerror}; choose another --output"
        ) from error
    return target


def write_report(folder: RunFolder) -> None:
    """Write report.html and figures/*.svg into the folder of a finished run or suite."""
    folder.check_own()
    runs, failures = runs_in(folder.path, folder.access)
    title = PurePosixPath(folder.path).name if len(runs) != 1 or failures else None
    page, figures = render_report(runs, failures, title=title), render_figures(runs)
    for name, figure in figures.items():
        folder.write_text(f"figures/{name}.svg", figure)
    folder.write_text("report.html", page)


def write_joint_report(
    folders: Sequence[str], target: str, access: Access = DEFAULT_ACCESS
) -> None:
    """Write one page about the runs of several folders."""
    runs: list[ReportRun] = []
    failures: list[tuple[str, str]] = []
    for folder in folders:
        more, failed = runs_in(folder, access)
        runs += more
        failures += failed
    parent, name = split(target)
    RunFolder(parent, access).write_text(name, render_report(runs, failures))


def runs_in(
    folder: str, access: Access = DEFAULT_ACCESS
) -> tuple[list[ReportRun], list[tuple[str, str]]]:
    """Return the finished runs of a folder, which may be a suite's, and the names and errors of
    jobs that failed.
    """
    files = open_folder(folder, access)
    if files.has(SO_FAR) and not files.has("result.json"):
        return [_unfinished(files)], []
    record = _read(files, "result.json")
    if not is_suite(record):
        model = _read(files, "model.json") if files.has("model.json") else None
        run = report_run(_checked(parse_result, record, files), model)
        frontier = _known(files, FRONTIER_FILE, read_frontier)
        return [replace(run, frontier=frontier, check=_known(files, CHECK_FILE, read_check))], []
    runs: list[ReportRun] = []
    failures: list[tuple[str, str]] = []
    for job in _checked(parse_suite, record, files).jobs:
        if job.status != "failed":
            inner = PurePosixPath(job.folder or "")
            if inner.is_absolute() or ".." in inner.parts or not inner.parts:
                raise SpecError(
                    f"{joined(folder, 'result.json')}: expected jobs in its own folder, "
                    f"got {str(inner)!r}"
                )
            runs += runs_in(joined(folder, str(inner)), access)[0]
        else:
            failures.append((job.name, job.error or ""))
    return runs, failures


def _known(files: Folder, name: str, read: Callable[[bytes], T]) -> T | None:
    """Return what a file of a run holds; None if there is none, or none that can be read."""
    if not files.has(name):
        return None
    try:
        return read(files.read(name))
    except (OSError, DataError):
        return None


class _KnownSoFar(msgspec.Struct, frozen=True):
    """What a run knows before other methods are fitted."""

    result: dict[str, object]
    waiting: tuple[str, ...]


class _SoFar(msgspec.Struct, frozen=True):
    """The file that holds it."""

    entries: tuple[_KnownSoFar]


def _unfinished(files: Folder) -> ReportRun:
    """Return a run of which there is the formula, and not yet all that it is compared with."""
    try:
        [known] = converted(msgspec.json.decode(files.read(SO_FAR)), _SoFar).entries
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(
            f"{joined(files.path, SO_FAR)}: expected what a run has learned so far, but it cannot "
            f"be read: {error}; run the job again"
        ) from error
    model = _read(files, "model.json") if files.has("model.json") else None
    return replace(
        report_run(_checked(parse_result, known.result, files), model), waiting=known.waiting
    )


Parsed = TypeVar("Parsed")


def _checked(parse: Callable[[object], Parsed], record: object, files: Folder) -> Parsed:
    """Parse a result.json; an error says which."""
    try:
        return parse(record)
    except DataError as error:
        raise DataError(
            f"{joined(files.path, 'result.json')}: {error.message}; run the job again"
        ) from error


def _read(files: Folder, name: str) -> object:
    place = joined(files.path, name)
    try:
        content = msgspec.json.decode(files.read(name))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        raise SpecError(
            f"{place}: expected the result of a finished run, but it cannot be read: {why}"
        ) from error
    if not isinstance(content, dict) or not str(content.get("schema", "")).startswith("dnfscale."):
        raise SpecError(
            f"{place}: expected a result of dnfscale, but its schema is not one; is this a "
            "run's folder?"
        )
    return content
