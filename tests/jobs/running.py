"""What the outside tests share: a folder with a table and a spec in it, and a command line that
starts there.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.jobs.cli import main

ROOT = Path(__file__).parents[2]
"""The folder of the project."""
PATIENCE_S = 180
"""How long a command may take before it counts as hanging, also on a busy machine."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def message(self) -> str:
        """The last line on stderr, which is where an error is told."""
        return self.err.strip().splitlines()[-1] if self.err.strip() else ""


class Desk:
    """A folder of one's own, with the command line at hand."""

    def __init__(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = path
        self._capsys = capsys

    def table(
        self, columns: Mapping[str, Any] | pa.Table, name: str = "t.parquet", **options: Any
    ) -> Path:
        """Write a table as a Parquet file."""
        table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as sink:
            pq.write_table(table, sink, **options)
        return file

    def spec(self, text: str | None = None, *, file: str = "job.toml", **tables: Any) -> Path:
        """Write a spec: the text, or what spec_text makes of the tables."""
        path = self.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(spec_text(**tables) if text is None else text, encoding="utf-8")
        return path

    def here(self, *arguments: str | Path) -> Ended:
        """Carry out a command line in this process."""
        self._capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        return Ended(code, *self._capsys.readouterr())

    def apart(
        self, *arguments: str | Path, timeout_s: float = PATIENCE_S, **environment: str
    ) -> Ended:
        """Carry out a command line in a process of its own."""
        done = subprocess.run(
            command(*arguments),
            cwd=self.path,
            env=surroundings(**environment),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=timeout_s,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def shell(self, line: str, *, before: Sequence[str] = ()) -> Ended:
        """Carry out a line of the shell, which must end; `before` comes before the shell itself."""
        done = subprocess.run(
            [*before, "bash", "-c", line],
            cwd=self.path,
            env=surroundings(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def run(self, **tables: Any) -> Ended:
        """Write a spec and run it in this process."""
        return self.here("run", self.spec(**tables))

    def folder(self, name: str = "job") -> Path:
        """The folder of a run."""
        return self.path / "runs" / name

    def result(self, name: str = "job") -> dict[str, Any]:
        return read_json(self.folder(name) / "result.json")

    def model(self, name: str = "job") -> dict[str, Any]:
        return read_json(self.folder(name) / "model.json")


@contextmanager
def keeping_signals() -> Iterator[None]:
    """Give back the signal handlers that a command line has set for itself."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def command(*arguments: str | Path) -> list[str]:
    """The command line as a process gets it."""
    return [sys.executable, "-m", "dnfscale.jobs", *map(str, arguments)]


def surroundings(**more: str) -> dict[str, str]:
    """The environment of a process that finds the package, and nothing else of the one that started
    it.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DASK_", "PYTEST_"))
    }
    ours = {
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
        # Workers too say where C code ended them.
        "PYTHONFAULTHANDLER": "1",
    }
    return {**kept, **ours, **more}


def spec_text(*, name: str = "job", kind: str = "fit", **tables: Any) -> str:
    """Write a spec for t.parquet, of the profile "paper", which costs least, and run serially
    unless told otherwise; values of TOML that JSON writes alike.
    """
    document: dict[str, Any] = {
        **tables,
        "data": {"path": "t.parquet", "target": "y", **tables.get("data", {})},
        "cluster": {"kind": "serial", **tables.get("cluster", {})},
    }
    head = {"schema_version": 1, "name": name, "kind": kind, "profile": "paper"}
    head |= {key: value for key, value in document.items() if not isinstance(value, dict)}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    for table, entries in document.items():
        if isinstance(entries, dict):
            lines += [f"[{table}]"]
            lines += [
                f"{key} = {json.dumps(value, ensure_ascii=False)}"
                for key, value in entries.items()
                if value is not None
            ]
            lines.append("")
    return "\n".join(lines)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file as strictly as JSON is defined: NaN and Infinity are not part of it."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{path} holds {constant}, which is not JSON")

    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    return record


def essence(path: Path) -> str:
    """A result without what may differ between runs, serialised again."""
    record = read_json(path)
    return json.dumps(
        {key: value for key, value in record.items() if key not in ("timing", "environment")}
    )


def tidy(folder: Path) -> list[str]:
    """Every file below a folder, so that nothing is left unnoticed."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def surprising(folder: Path) -> list[str]:
    """What the folder of a run holds beside what the design says: nothing, unless something was
    left behind.
    """
    known = re.compile(
        r"spec\.toml|result\.json|model\.json|frontier\.json|check\.json|model_formula_size\.json|report\.html|events\.jsonl"
        r"|tables/[\w-]+\.csv|figures/[\w-]+\.svg|tasks/[\w-]+\.(json|jsonl|bin)"
    )
    return [name for name in tidy(folder) if not known.fullmatch(name)]


def write_table(file: Path, columns: Mapping[str, Any]) -> None:
    """Write a table as a Parquet file."""
    pq.write_table(pa.table(dict(columns)), file)


def small_table(n_rows: int = 240, seed: int = 7) -> dict[str, Any]:
    """A table on which a formula of two attributes is nearly right: y is x > 0 and s = red, with
    some noise.
    """
    random = np.random.default_rng(seed)
    x = random.normal(size=n_rows)
    s = random.choice(["red", "green", "blue"], n_rows)
    y = ((x > 0) & (s == "red")) ^ (random.random(n_rows) < 0.05)
    return {
        "x": x,
        "n": random.integers(0, 50, n_rows),
        "s": s.tolist(),
        "b": random.random(n_rows) < 0.5,
        "y": y,
    }
