"""A run's folder: files that are there whole or not at all, and the journal of what happened."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dnfscale.errors import SpecError
from dnfscale.experiment.formats import defused

_OURS = ("spec.toml", "events.jsonl", "result.json", "model.json", "report.html", "tables", "figures", "tasks")
"""What a run's folder holds."""
_SAME_RESULT = ("cluster", "output")
"""Tables of a spec that change where and how fast a job runs, never its result."""


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def claim(self, resolved_spec: Mapping[str, Any], spec_text: str, *, force: bool) -> None:
        """Make the folder ready for a run; the run of another spec is not overwritten unless by force."""
        self.check_own()
        earlier = self._earlier()
        another = earlier is not None and _essence(earlier) != _essence(resolved_spec)
        # Files by our names and no spec beside them: somebody else's.
        foreign = earlier is None and any((self.path / name).exists() for name in _OURS)
        if not force and (foreign or (another and (not earlier or self._holds_work()))):
            raise SpecError(
                f"expected {self.path} to be empty or to hold a run of this spec, but it holds one of another; "
                "change name or output.dir, or run with --force to replace it",
                "output.dir",
            )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if another:
                self._clear()
            self.write_text("spec.toml", spec_text)
            (self.path / "events.jsonl").write_text("")
        except OSError as error:
            raise SpecError(
                f"output.dir must be a folder that can be written, but {error.strerror or error}: {self.path}; "
                "change output.dir or pass --output",
                "output.dir",
            ) from error

    def check_own(self) -> None:
        """Raise SpecError where a file of the run is a link: what is written or removed there would be elsewhere."""
        for name in _OURS:
            if (self.path / name).is_symlink():
                raise SpecError(
                    f"expected {self.path} to hold the files of a run, but {name} in it is a link to another place; "
                    "remove the link, or change output.dir",
                    "output.dir",
                )

    def has_result(self, resolved_spec: Mapping[str, Any]) -> bool:
        """Say whether a run of this spec has finished here."""
        earlier = self._earlier()
        finished = (self.path / "result.json").is_file() and (self.path / "model.json").is_file()
        return finished and earlier is not None and _essence(earlier) == _essence(resolved_spec)

    def read_json(self, name: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.path / name).read_text(encoding="utf-8"))
        return content

    def write_json(self, name: str, record: Mapping[str, Any]) -> None:
        self.write_text(name, json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n")

    def write_csv(self, name: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        # A label may be what a spreadsheet would run.
        writer.writerows([defused(cell) if isinstance(cell, str) else cell for cell in row] for row in (header, *rows))
        self.write_text(name, buffer.getvalue())

    def write_text(self, name: str, text: str) -> None:
        write_whole(self.path / name, text)

    def _holds_work(self) -> bool:
        """Say whether there is something that would be lost."""
        return (self.path / "result.json").exists() or any((self.path / "tasks").glob("*.json"))

    def _clear(self) -> None:
        """Remove what a run of another spec has left, and nothing else."""
        tables = ("tables/*.csv", "tables/*.md", "tables/*.tex")
        for pattern in ("result.json", "model.json", "report.html", *tables, "figures/*.svg", "tasks/*.json"):
            for file in self.path.glob(pattern):
                file.unlink()

    def _earlier(self) -> dict[str, Any] | None:
        try:
            return tomllib.loads((self.path / "spec.toml").read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
            # A spec that cannot be read is not ours to overwrite.
            return {}


def write_whole(target: Path, text: str) -> None:
    """Write a file under another name, then rename it into place: it is there whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, 0o644)
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise


class Journal:
    """events.jsonl: one JSON object a line, each with its number and time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sequence = 0

    def record(self, event: str, **facts: Any) -> dict[str, Any]:
        """Add an event and return it."""
        self._sequence += 1
        entry = {"sequence": self._sequence, "time": round(time.time(), 3), "event": event, **facts}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        return entry


def _essence(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in _SAME_RESULT}
