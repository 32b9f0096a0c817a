"""Studies as the suite runs them: a job spec learned from in this process, or handed to the command
line.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from dnfscale.data.source import Source
from dnfscale.engine.api import Engine, Progress
from dnfscale.engine.launch import launch
from dnfscale.jobs.forecast import LAUNCH_S
from dnfscale.jobs.plan import plan
from dnfscale.jobs.runner import open_data
from dnfscale.jobs.study import LearnedFacts, learned_facts
from dnfscale.learn import LOADED
from dnfscale.results.record import plain
from dnfscale.spec.job import JobSpec, read_spec
from dnfscale.spec.learn import LearnSpec
from dnfscale.spec.registry import IDEAL
from tests.bench.case import Outcome, timed
from tests.bench.overseer import overseen
from tests.bench.setting import ROOT, Setting

Overrides = Mapping[str, str | int | list[str]]
"""Values that replace those of a spec, by dotted key."""


def measure_learn(spec_file: Path, setting: Setting, overrides: Overrides) -> Outcome:
    """Measure learning from a spec's data once its cluster is up; reading the footers is part of
    it.
    """
    spec = read_spec(spec_file, {**overrides, **_everywhere(setting)})
    clock = PhaseClock()
    engine = launch(spec.cluster, clock, loaded=LOADED)
    try:
        with overseen(engine) as workers:
            clock.phases_s.clear()
            (source, to_learn, facts), wall_s, cpu_s = timed(lambda: _learned(spec, engine))
            log = workers()
    finally:
        engine.close()
    planned = plan(spec, source, to_learn)
    # The cluster was up before the clock started.
    planned_s = planned.seconds - (LAUNCH_S if planned.work.starts_cluster else 0.0)
    return Outcome(
        wall_s,
        cpu_s,
        facts.data.rows,
        # As a result file says it.
        plain(facts.methods[IDEAL]),
        clock.phases_s,
        log,
        len(source.partitions),
        planned_s,
        None if spec.cluster.kind == "serial" else planned.worker_bytes,
    )


def measure_command(spec_file: Path, setting: Setting, overrides: Overrides) -> Outcome:
    """Measure the whole command `python -m dnfscale.jobs run`, from its start to
    its result.json.
    """
    with tempfile.TemporaryDirectory(prefix="dnfscale-bench-") as folder:
        command = [sys.executable, "-m", "dnfscale.jobs", "run", str(spec_file), "--output", folder]
        for key, value in {**overrides, **_everywhere(setting)}.items():
            command += ["--set", f"{key}={json.dumps(value)}"]
        started = time.time()
        _, exit_s, cpu_s = timed(lambda: _run(command))
        [file] = Path(folder).glob("*/result.json")
        # The file is written whole and renamed, so the time of its writing is when the result was
        # there.
        wall_s = file.stat().st_mtime - started
        result = json.loads(file.read_text(encoding="utf-8"))
    timing = result["timing"]
    parts_s = {
        "launch": timing["launch_s"],
        "learn": timing["learn_s"],
        "until exit": exit_s,
        **timing["phases_s"],
    }
    return Outcome(wall_s, cpu_s, result["data"]["rows"], result["methods"]["ideal"], parts_s)


class PhaseClock:
    """A watch of an engine that notes how long each phase took."""

    def __init__(self) -> None:
        self.phases_s: dict[str, float] = {}
        self._started = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.perf_counter()
        if progress.done == 0:
            self._started = now
        elif progress.done == progress.total:
            self.phases_s[progress.phase] = (
                self.phases_s.get(progress.phase, 0.0) + now - self._started
            )


def _learned(spec: JobSpec, engine: Engine) -> tuple[Source, LearnSpec, LearnedFacts]:
    source, to_learn = open_data(spec)
    return source, to_learn, learned_facts(source, spec, to_learn, engine)[0]


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-4000:]}"
        )


def _everywhere(setting: Setting) -> dict[str, str | int | list[str]]:
    """Return what every spec is run with: the setting's cluster, and the formula alone, without
    baselines.
    """
    return {
        "methods": ["ideal"],
        "cluster.kind": setting.cluster,
        "cluster.workers": setting.workers,
    }
