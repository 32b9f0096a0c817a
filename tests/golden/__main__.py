"""Renews the kept values: `python -m tests.golden [NAME ...]`, all of them or some;
see README.md.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from dnfscale.jobs.cli import main as command
from tests.golden.cases import CASES, Case
from tests.golden.values import FOLDER, values_of


def renew(case: Case) -> None:
    """Run a case, and keep what it gives now."""
    before = Path.cwd()
    with (
        tempfile.TemporaryDirectory() as folder,
        redirect_stdout(StringIO()),
        redirect_stderr(StringIO()) as told,
    ):
        os.chdir(folder)
        try:
            code = command(case.prepare(Path(folder)))
        finally:
            os.chdir(before)
        if code != 0:
            raise SystemExit(f"{case.name} ended with {code}: {told.getvalue()}")
        found = values_of(Path(folder) / "runs" / "job")
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    (FOLDER / f"{case.name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        renew(CASES[name])
        print(name, flush=True)
