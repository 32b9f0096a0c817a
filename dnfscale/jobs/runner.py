"""Runs a job: from a checked spec to the files of its run."""

from __future__ import annotations

import json
import platform
import sys
import time
import tomllib
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
import scipy

import dnfscale
from dnfscale.data.datasets import is_named, open_named
from dnfscale.data.source import Source, open_source
from dnfscale.engine.api import Engine, Progress
from dnfscale.engine.launch import launch
from dnfscale.errors import DnfscaleError, LimitError
from dnfscale.experiment.study import RESULT_SCHEMA, data_record, ideal_record, model_record
from dnfscale.jobs.progress import ProgressLines
from dnfscale.jobs.spec import JobSpec, learn_spec
from dnfscale.jobs.store import Journal, RunFolder
from dnfscale.jobs.summary import write_summary
from dnfscale.learn import Learned, LearnSpec, features, learn


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line adds to a spec."""

    force: bool = False
    resume: bool = False
    json: bool = False


def open_data(spec: JobSpec) -> tuple[Source, LearnSpec]:
    """Open the dataset of a spec, and settle its target, labels and roles; only footers are read."""
    try:
        if is_named(spec.data_path):
            source, record = open_named(spec.data_path)
            roles = {
                "positive": record.positive,
                "drop": record.drop,
                "categorical": record.categorical,
                "boolean": record.boolean,
            }
            if spec["data.target"] not in (None, record.target):
                # Another target: the record's labels say nothing of it.
                roles["positive"] = None  # type: ignore[assignment]
            to_learn = learn_spec(spec, target=spec["data.target"] or record.target, **roles)
        else:
            source = open_source(spec.data_path)
            to_learn = learn_spec(spec, target=spec["data.target"])
        features(source, to_learn)
    except DnfscaleError as error:
        if error.key is None:
            error = type(error)(error.message, "data.path")
        raise spec.located(error) from error
    return source, to_learn


def run(spec: JobSpec, options: Options, *, out: TextIO = sys.stdout, err: TextIO = sys.stderr) -> None:
    """Run a job and write its files; the summary goes to out, progress to err."""
    folder = RunFolder(spec.run_folder)
    resolved_text = spec.resolved()
    resolved = tomllib.loads(resolved_text)
    if options.resume and folder.has_result(resolved):
        _tell(folder, options, out)
        return
    started = time.monotonic()
    source, to_learn = open_data(spec)
    try:
        folder.claim(resolved, resolved_text, force=options.force)
        job = _Job(spec, folder, options, err)
        job.say("started", name=spec.name, kind=spec.kind, rows=source.n_rows, partitions=len(source.partitions))
        learned, timing, environment = job.learn(source, to_learn)
    except DnfscaleError as error:
        raise spec.located(error) from error
    timing["total_s"] = round(time.monotonic() - started, 3)
    try:
        _write_files(folder, spec, to_learn, learned, timing=timing, environment=environment)
    except OSError as error:
        raise LimitError(
            f"{spec.place('output.dir')}: expected to write the run's files to {folder.path}, but {error.strerror}; "
            "make room, or pass another --output"
        ) from error
    job.say("finished", elapsed_s=timing["total_s"])
    _tell(folder, options, out)


class _Job:
    """A run under way: its journal and what is shown of it."""

    def __init__(self, spec: JobSpec, folder: RunFolder, options: Options, err: TextIO) -> None:
        self._spec = spec
        self._journal = Journal(folder.path / "events.jsonl")
        self._err = err
        self._as_json = options.json
        self._lines = ProgressLines(err)
        self._phases: dict[str, float] = {}
        self._phase_started = time.monotonic()

    def learn(self, source: Source, to_learn: LearnSpec) -> tuple[Learned, dict[str, Any], dict[str, Any]]:
        """Learn on the spec's cluster, and say how long each phase took and what it ran on."""
        self._lines.n_rows = source.n_rows
        began = time.monotonic()
        engine: Engine = launch(self._spec.cluster, self._watch)
        try:
            launched = time.monotonic()
            environment = {**_versions(), **engine.describe(), "data": source.path}
            self.say("cluster", elapsed_s=round(launched - began, 3), **engine.describe())
            learned = learn(source, to_learn, engine)
            timing = {
                "launch_s": round(launched - began, 3),
                "learn_s": round(time.monotonic() - launched, 3),
                "phases_s": {phase: round(elapsed, 3) for phase, elapsed in self._phases.items()},
            }
        finally:
            engine.close()
        return learned, timing, environment

    def say(self, event: str, **facts: Any) -> None:
        """Journal an event and show it."""
        entry = self._journal.record(event, **facts)
        if self._as_json:
            print(json.dumps(entry, ensure_ascii=False), file=self._err, flush=True)
        elif event == "started":
            self._lines.say(f"{facts['name']}: {facts['rows']:,} rows in {facts['partitions']:,} partitions")

    def _watch(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.done == 0:
            self._phase_started = now
            self.say("phase", phase=progress.phase, done=0, total=progress.total)
        elif progress.done == progress.total:
            elapsed = now - self._phase_started
            self._phases[progress.phase] = self._phases.get(progress.phase, 0.0) + elapsed
            self.say(
                "phase", phase=progress.phase, done=progress.done, total=progress.total, elapsed_s=round(elapsed, 3)
            )
        if not self._as_json:
            self._lines(progress)


def _write_files(
    folder: RunFolder,
    spec: JobSpec,
    to_learn: LearnSpec,
    learned: Learned,
    *,
    timing: dict[str, Any],
    environment: dict[str, Any],
) -> None:
    """Write the run's files; result.json comes last, so that where it is, everything is."""
    ideal = ideal_record(learned)
    provenance = {"dnfscale": dnfscale.__version__, "name": spec.name, "seed": spec["seed"], "rows": learned.rows}
    folder.write_json("model.json", model_record(learned, target=to_learn.target, provenance=provenance))
    folder.write_csv(
        "tables/folds.csv",
        (
            "fold",
            "train_rows",
            "validation_rows",
            "test_rows",
            "accuracy",
            "ell",
            "rank",
            "terms",
            "literals",
            "formula",
        ),
        [
            [fold[key] for key in ("fold", "train_rows", "validation_rows", "test_rows", "accuracy")]
            + [fold[key] for key in ("ell", "rank", "terms", "literals", "formula")]
            for fold in ideal["folds"]
        ],
    )
    folder.write_csv(
        "tables/sweep.csv",
        ("fold", "ell", "rank", "validation_accuracy"),
        [
            [record.get("fold", "all"), step["ell"], rank, accuracy]
            for record in (*ideal["folds"], ideal["model"])
            for step in record["sweep"]
            for rank, accuracy in step["by_rank"].items()
        ],
    )
    folder.write_json(
        "result.json",
        {
            "schema": RESULT_SCHEMA,
            "name": spec.name,
            "kind": spec.kind,
            "seed": spec["seed"],
            "data": data_record(learned),
            "methods": {"ideal": ideal},
            "timing": timing,
            "environment": environment,
        },
    )


def _tell(folder: RunFolder, options: Options, out: TextIO) -> None:
    text = (folder.path / "result.json").read_text(encoding="utf-8")
    if options.json:
        out.write(text)
    else:
        model = json.loads((folder.path / "model.json").read_text(encoding="utf-8"))
        write_summary(json.loads(text), model, folder.path, out)


def _versions() -> dict[str, Any]:
    return {
        "dnfscale": dnfscale.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
    }
