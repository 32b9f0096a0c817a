"""A measurement in a process of its own: nothing left behind by another contender, and its memory
seen from outside.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.case import Case, Contender, Measured, Outcome, WorkerLog
from tests.bench.processes import PeakWatch, end_family
from tests.bench.setting import ROOT, Setting


class MeasurementError(Exception):
    """The process of a measurement ended without an outcome."""


def measure_apart(case: Case, contender: Contender, setting: Setting) -> Measured:
    """Measure a contender in a new process, and watch the memory of that process and
    its children.
    """
    with tempfile.TemporaryDirectory(prefix="dnfscale-bench-") as folder:
        file = Path(folder) / "outcome.json"
        errors = Path(folder) / "stderr.txt"
        command = [
            sys.executable,
            "-m",
            "tests.bench.measure",
            case.name,
            contender.name,
            setting.to_json(),
            str(file),
        ]
        with errors.open("wb") as stderr:
            process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=stderr)
            try:
                with PeakWatch(process.pid) as watch:
                    code = process.wait()
            except BaseException:
                end_family(process)
                raise
        if code != 0:
            told = errors.read_text(encoding="utf-8", errors="replace").strip()
            raise MeasurementError(
                f"{case.name}, {contender.name}: exit code {code}\n{told[-4000:]}"
            )
        return Measured(_outcome(json.loads(file.read_text(encoding="utf-8"))), watch.peaks)


def _outcome(fields: dict[str, Any]) -> Outcome:
    workers = fields["workers"]
    return Outcome(**{**fields, "workers": None if workers is None else WorkerLog(**workers)})
