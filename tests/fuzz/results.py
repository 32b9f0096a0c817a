"""Results: the folders of runs, with the files in them spoiled, for the report."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.jobs.runner import Options, run
from dnfscale.jobs.verbs.report import report_again
from dnfscale.report.style import SCRIPT
from dnfscale.spec.job import read_spec
from tests.fuzz.spoil import json_of, tree_spoiled
from tests.fuzz.verdict import attempt, demand

Files = dict[str, bytes]
_SPECS = {
    "study": 'kind = "study"\n[folds]\nouter = 3',
    "fit": 'kind = "fit"',
    "classes": 'kind = "study"\n[folds]\nouter = 2\n[select]\nmax_ell = 2',
}


@cache
def bases() -> tuple[dict[str, Any], ...]:
    """The files of runs, parsed: of two labels, of one model, of several labels, of a suite, and of
    version 0.1.0.
    """
    found = []
    random = np.random.default_rng(3)
    x = random.normal(size=90)
    table = {
        "x": x,
        "s": random.choice(["a", "b"], 90).tolist(),
        "y": (x > 0).tolist(),
        "k": np.digitize(x, [-0.5, 0.5]),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(pa.table(table), folder / "t.parquet")
        for kind, keys in _SPECS.items():
            file = folder / f"{kind}.toml"
            data = (
                'target = "k"\nclasses = "all"\ndrop = ["y"]'
                if kind == "classes"
                else 'target = "y"\ndrop = ["k"]'
            )
            head, _, tables = keys.partition("\n")
            file.write_text(
                f'schema_version = 1\nprofile = "paper"\n{head}\n{tables}\n'
                f'[data]\npath = "t.parquet"\n{data}\n'
                f'[cluster]\nkind = "serial"\n[output]\ndir = "{folder / "runs"}"\n'
            )
            with (folder / "out").open("w") as out:
                run(read_spec(file), Options(), out=out, err=out)
            made = folder / "runs" / kind
            found.append(
                {
                    part: json.loads((made / part).read_text())
                    for part in ("result.json", "model.json")
                }
            )
    jobs = [
        {"name": "a", "status": "done", "folder": "jobs/a"},
        {"name": "b", "status": "failed", "error": "no data"},
    ]
    suite = {"schema": "dnfscale.suite/1", "name": "several", "jobs": jobs}
    found.append({"result.json": suite, "jobs/a/result.json": found[0]["result.json"]})
    found += [_first_schema(case) for case in ("study", "classes", "weights")]
    return tuple(found)


def _first_schema(case: str) -> dict[str, Any]:
    """The files of a run of version 0.1.0."""
    folder = Path(__file__).parents[1] / "results" / "first"
    return {
        f"{part}.json": json.loads((folder / f"{case}-{part}.json").read_text())
        for part in ("result", "model")
    }


def make(random: Random) -> Files:
    """Make the files of a run."""
    base = random.choice(bases())
    return {
        part: json_of(random, tree_spoiled(random, tree))
        if random.random() < 0.7
        else json.dumps(tree).encode()
        for part, tree in base.items()
        if random.random() < 0.97
    }


def check(files: Files, folder: Path) -> None:
    """Write the report of a folder again; what comes out has the page's own script, its forms and
    their data as JSON, and no script and no tag of the result's own.
    """
    for part in ("result.json", "model.json", "jobs/a/result.json"):
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        (folder / part).unlink(missing_ok=True)
        if part in files:
            (folder / part).write_bytes(files[part])
    page = folder / "report.html"
    page.unlink(missing_ok=True)
    if attempt(lambda: report_again([str(folder)], str(page)) or True) is not None:
        demand(page.is_file(), "no report, and no error")
        tags = _Tags()
        tags.feed(page.read_text(encoding="utf-8"))
        demand(
            not tags.found & {"img", "iframe", "object", "embed", "link"},
            f"tags: {tags.found}",
        )
        demand(tags.scripts == [SCRIPT], f"{len(tags.scripts)} scripts that run")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.scripts: list[str] = []
        """What the policy may let run."""
        self._inside: str | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self._inside, self._text = None, ""
        if tag == "script":
            self._inside = dict(attrs).get("type") or "script"
        if tag == "form":
            demand("action" not in dict(attrs), "a form that sends what is typed")
        demand(not any(name.startswith("on") for name, _ in attrs), f"an event handler in {tag}")

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002  # as HTMLParser calls it
        if self._inside == "script":
            self.scripts.append(self._text)
        elif self._inside == "application/json":
            json.loads(self._text)
        self._inside = None
