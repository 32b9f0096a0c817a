"""A run's folder: files that are there whole or not at all, and the journal of what happened."""

from __future__ import annotations

import csv
import io
import json
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dnfscale.data.cells import defused
from dnfscale.errors import SpecError
from dnfscale.jobs.folders import Folder, FolderError, open_folder
from dnfscale.report.wording import count
from dnfscale.results.check import CHECK_FILE
from dnfscale.results.frontier import FRONTIER_FILE
from dnfscale.results.result import IDEAL, Result, read_result
from dnfscale.spec.registry import COMPETITORS
from dnfscale.spec.storage import DEFAULT_ACCESS, Access

_SAME_RESULT = ("cluster", "output")
"""Tables of a spec that change where and how fast a job runs, never its result."""
EVENTS = "events.jsonl"
TASK_ENDINGS = (".json", ".bin")
"""Files of finished work, in the folder tasks."""
SO_FAR = "tasks/so-far.json"
"""The result of a run that has learned its formula and still fits other methods."""
BEGUN = "tasks/job.json"
"""What the job began with: the digests of its spec, its data and its code, and the contents of each
file.
"""

_OURS = ("spec.toml", EVENTS, "result.json", "report.html", "tables", "figures", "tasks")
"""What a run's folder holds, besides models."""


def model_file(method: str) -> str:
    """Return the name of the file that holds what a method learned from all rows."""
    return "model.json" if method == IDEAL else f"model_{method}.json"


def model_files() -> list[str]:
    """Return the names of all files of models that a run may write, and of those beside them."""
    others = [name for name, competitor in COMPETITORS.items() if competitor.has_model]
    return [model_file(IDEAL), FRONTIER_FILE, CHECK_FILE, *map(model_file, others)]


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a run begins with, and may be resumed with: digests of its spec, its data and
    its code.
    """

    spec: str
    data: str
    code: str
    files: Mapping[str, str]
    """The contents of each file of the data, as a text: the same for a copy."""

    def changed_file(self, now: Beginning) -> tuple[str, str] | None:
        """Return the first file that is another by now, and what became of it; None if all are the
        same.
        """
        for file in sorted({*self.files, *now.files}):
            if file not in now.files:
                return file, "this file is gone"
            if file not in self.files:
                return file, "this file has come since"
            if self.files[file] != now.files[file]:
                return file, "this file has changed since"
        return None


class RunFolder:
    """The folder of one run, on this machine or in an object store."""

    def __init__(self, path: str | Path, access: Access = DEFAULT_ACCESS) -> None:
        self.files: Folder = open_folder(path, access)
        self.access = access

    @property
    def path(self) -> str:
        """The folder as the user wrote it."""
        return self.files.path

    def claim(self, resolved_spec: Mapping[str, Any], spec_text: str, *, force: bool) -> None:
        """Prepare the folder for a run; the run of another spec is overwritten only by force."""
        self.check_own()
        try:
            earlier = self._earlier()
            another = earlier is not None and _essence(earlier) != _essence(resolved_spec)
            # Files with our names but without a spec are somebody else's.
            foreign = earlier is None and any(
                self.files.has(n) or self.files.names(n, ("",)) for n in (*_OURS, *model_files())
            )
            if not force and (foreign or (another and (not earlier or self._holds_work()))):
                raise self.of_another()
            self.files.prepare()
            if another:
                self._clear()
            self.write_text("spec.toml", spec_text)
            self.write_text(EVENTS, "")
        except OSError as error:
            raise self.unwritable(error) from error

    def of_another(self) -> SpecError:
        """Return the error for a folder that holds the run of another spec."""
        return SpecError(
            f"expected {self.path} to be empty or to hold a run of this spec, but it holds "
            "one of another; "
            "change name or output.dir, or run with --force to replace it",
            "output.dir",
        )

    def unwritable(self, error: OSError) -> SpecError:
        """Return the error for a folder that cannot be written."""
        return SpecError(
            "output.dir must be a folder that can be written, but "
            f"{error.strerror or error}: {self.path}; "
            "change output.dir or pass --output",
            "output.dir",
        )

    def check_own(self) -> None:
        """Raise SpecError if a file of the run is a link: writing or removing it would happen
        elsewhere.
        """
        for name in (*_OURS, *model_files()):
            if self.files.is_link(name):
                raise SpecError(
                    f"expected {self.path} to hold the files of a run, but {name} in it is "
                    "a link to another place; "
                    "remove the link, or change output.dir",
                    "output.dir",
                )

    def has_result(self, resolved_spec: Mapping[str, Any]) -> bool:
        """Return whether a run of this spec has finished here."""
        earlier = self._earlier()
        finished = self.files.has("result.json") and self.files.has("model.json")
        return finished and earlier is not None and _essence(earlier) == _essence(resolved_spec)

    def read_result(self) -> Result:
        """Read the result of the run."""
        return read_result(self.files.read("result.json"))

    def write_json(self, name: str, record: Mapping[str, Any]) -> None:
        self.write_text(
            name, json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        )

    def write_csv(self, name: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        # A label may be text that a spreadsheet would run as a formula.
        writer.writerows(
            [defused(cell) if isinstance(cell, str) else cell for cell in row]
            for row in (header, *rows)
        )
        self.write_text(name, buffer.getvalue())

    def write_text(self, name: str, text: str) -> None:
        self.files.write(name, text.encode())

    def begun_with(self) -> Beginning | None:
        """Return what the run in this folder began with; None if there is no run, or if that is not
        known.
        """
        try:
            [known] = json.loads(self.files.read(BEGUN))["entries"]
            return Beginning(known["spec"], known["data"], known["code"], dict(known["files"]))
        except FolderError:
            raise
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def begin_anew(self, beginning: Beginning) -> None:
        """Remove all finished work, and record what the run begins with."""
        for name in self.files.names("tasks", TASK_ENDINGS):
            self.files.remove(name)
        if not self.files.has("result.json"):
            # They are of a formula whose run did not finish.
            for name in (model_file(IDEAL), "report.html"):
                self.files.remove(name)
        self.write_json(BEGUN, {"entries": [asdict(beginning)]})

    def kept(self) -> str | None:
        """Return in words what a run has finished, and need not do again; None if nothing."""
        names = self.files.names("tasks", TASK_ENDINGS)
        learned = f"tasks/{IDEAL}.json"
        scans = sum(name.endswith(".bin") for name in names)
        others = [
            name
            for name in names
            if name.endswith(".json") and name not in (BEGUN, SO_FAR, learned)
        ]
        fits = sum(self._n_entries(name) for name in others)
        kept = []
        if learned in names:
            kept.append("the formula")
        elif scans:
            kept.append(count(scans, "finished step"))
        if fits:
            kept.append(f"{count(fits, 'fit')} of other methods")
        return " and ".join(kept) or None

    def _n_entries(self, name: str) -> int:
        try:
            return len(json.loads(self.files.read(name))["entries"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0

    def remove(self, name: str) -> None:
        """Remove a file that an earlier run may have left."""
        self.files.remove(name)

    def _holds_work(self) -> bool:
        """Return whether there is work to lose; results of scans do not count, as they are soon
        counted again.
        """
        return self.files.has("result.json") or self.files.names("tasks", (".json",)) not in (
            [],
            [BEGUN],
        )

    def _clear(self) -> None:
        """Remove what a run of another spec has left, and nothing else."""
        tables = self.files.names("tables", (".csv", ".md", ".tex"))
        more = [*self.files.names("figures", (".svg",)), *self.files.names("tasks", TASK_ENDINGS)]
        for name in ("result.json", *model_files(), "report.html", *tables, *more):
            self.files.remove(name)

    def _earlier(self) -> dict[str, Any] | None:
        try:
            return tomllib.loads(self.files.read("spec.toml").decode("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except FolderError:
            raise
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
            # A spec that cannot be read is not ours to overwrite.
            return {}


class Journal:
    """events.jsonl: one JSON object a line, each with its number and time."""

    def __init__(self, files: Folder) -> None:
        self._files = files
        self._sequence = 0

    def record(self, event: str, **facts: Any) -> dict[str, Any]:
        """Add an event and return it."""
        self._sequence += 1
        entry = {"sequence": self._sequence, "time": round(time.time(), 3), "event": event, **facts}
        self._files.append(EVENTS, json.dumps(entry, ensure_ascii=False) + "\n")
        return entry


def _essence(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in _SAME_RESULT}
