"""Reports of runs that are on disk: one folder, a suite's, or several side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dnfscale.errors import DnfscaleError, SpecError
from dnfscale.jobs.report import ReportRun, render_figures, render_report
from dnfscale.jobs.store import RunFolder

_DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What comes of a file whose parts are not what they should be: they are looked at where they are shown."""


def report_again(folders: Sequence[Path], target: Path | None = None) -> Path:
    """Write the report of finished runs once more, and return its file; files that are damaged are an error."""
    try:
        if len(folders) == 1 and target is None:
            write_report(RunFolder(folders[0]))
            return folders[0] / "report.html"
        target = target or Path("report.html")
        write_joint_report(folders, target)
    except DnfscaleError:
        raise
    except _DAMAGE as error:
        raise SpecError(
            f"{', '.join(map(str, folders))}: expected the files of a finished run, but result.json or model.json is "
            f"damaged ({type(error).__name__}: {str(error)[:80]}); run the job again"
        ) from error
    except OSError as error:
        raise SpecError(f"the report cannot be written: {error.strerror}; choose another --output") from error
    return target


def write_report(folder: RunFolder) -> None:
    """Write report.html and figures/*.svg into the folder of a finished run or suite."""
    folder.check_own()
    runs, failures = runs_in(folder.path)
    title = folder.path.name if len(runs) != 1 or failures else None
    page, figures = render_report(runs, failures, title=title), render_figures(runs)
    for name, figure in figures.items():
        folder.write_text(f"figures/{name}.svg", figure)
    folder.write_text("report.html", page)


def write_joint_report(folders: Sequence[Path], target: Path) -> None:
    """Write one page about the runs of several folders."""
    runs: list[ReportRun] = []
    failures: list[tuple[str, str]] = []
    for folder in folders:
        more, failed = runs_in(folder)
        runs += more
        failures += failed
    RunFolder(target.parent).write_text(target.name, render_report(runs, failures))


def runs_in(folder: Path) -> tuple[list[ReportRun], list[tuple[str, str]]]:
    """Return the finished runs of a folder, which may be a suite's, and the jobs of it that failed."""
    result = _read(folder / "result.json")
    if result.get("schema") != "dnfscale.suite/1":
        model = _read(folder / "model.json") if (folder / "model.json").is_file() else None
        return [ReportRun(str(result.get("name", folder.name)), result, model)], []
    runs: list[ReportRun] = []
    failures: list[tuple[str, str]] = []
    for job in result["jobs"]:
        if job["status"] == "done":
            inner = folder / job["folder"]
            if not inner.resolve().is_relative_to(folder.resolve()) or inner.resolve() == folder.resolve():
                raise SpecError(f"{folder / 'result.json'}: expected jobs in its own folder, got {job['folder']!r}")
            runs += runs_in(inner)[0]
        else:
            failures.append((job["name"], job["error"]))
    return runs, failures


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(f"{file}: expected the result of a finished run, but it cannot be read: {error}") from error
    if not isinstance(content, dict) or not str(content.get("schema", "")).startswith("dnfscale."):
        raise SpecError(f"{file}: expected a result of dnfscale, but its schema is not one; is this a run's folder?")
    return content
