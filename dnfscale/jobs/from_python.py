"""A study called from Python: what a job would write of a table, without a spec or a folder."""

from __future__ import annotations

import inspect
import json
import os
import time
import warnings
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec.structs import force_setattr

from dnfscale.data.frames import dask_source, is_dask, table_source, to_table
from dnfscale.data.models import parse_models
from dnfscale.data.read import TablePartition
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine, Progress
from dnfscale.engine.launch import launch
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DnfscaleError, SpecError
from dnfscale.estimators.readable import Readable
from dnfscale.estimators.saved import classifier_of
from dnfscale.jobs.environment import environment_of
from dnfscale.jobs.notes import TaskNotes
from dnfscale.jobs.runner import failed_folds, open_data
from dnfscale.jobs.store import model_file
from dnfscale.jobs.study import JobResult, Told, run_study
from dnfscale.learn import LOADED
from dnfscale.learn.read import check_footers
from dnfscale.report.notebook import run_card
from dnfscale.report.page import render_report
from dnfscale.report.run import ReportRun
from dnfscale.report.wording import accuracy_words
from dnfscale.results.check import CHECK_FILE, read_check
from dnfscale.results.frontier import FRONTIER_FILE, Frontier, read_frontier
from dnfscale.results.result import IDEAL, Result, Timing, result_text
from dnfscale.spec.cluster import ClusterSpec
from dnfscale.spec.job import JobSpec, job_keys, job_of
from dnfscale.spec.learn import LearnSpec, learn_keys
from dnfscale.spec.toml import Origin, unknown

_CALLED = "study"
"""What messages begin with, where those of a job name the file of its spec."""
_IN_MEMORY = "the table"


class Study(Result, frozen=True, kw_only=True, dict=True):
    """The result of a study, as result.json has it, with the classifier of all rows."""

    @property
    def model(self) -> Readable:
        """The formula of all rows as a fitted classifier."""
        texts: Mapping[str, str] = self.__dict__["model_texts"]
        models = parse_models(json.loads(texts[model_file(IDEAL)]))
        frontier = texts.get(FRONTIER_FILE)
        known = Frontier(name="", formulas=())
        if frontier is not None:
            known = read_frontier(frontier.encode())
        return classifier_of(models, self, known, self.__dict__["class_labels"])

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the page that a job writes: one HTML file that loads nothing."""
        Path(path).write_text(render_report([self._run()]), encoding="utf-8")

    def to_json(self) -> str:
        """Return the text of result.json."""
        return result_text(self)

    def _run(self) -> ReportRun:
        texts: Mapping[str, str] = self.__dict__["model_texts"]
        check = texts.get(CHECK_FILE)
        known = None if check is None else read_check(check.encode())
        return ReportRun(self, self.model.models_, check=known)

    def __repr__(self) -> str:
        return "\n".join([*map(str, self._texts()), "", *accuracy_words(self)])

    def _texts(self) -> list[str]:
        model = self.model
        labels = [of_label.positive[0] for of_label in model.models_]
        return [model.to_text(label=label) for label in labels]

    def _repr_html_(self) -> str:
        return str(run_card(self._run()))


def study(
    data: Any,
    target: str | None = None,
    *,
    keys: Mapping[str, Any] | None = None,
    workers: int | None = None,
    **choices: Any,
) -> Study:
    """Cross-validate formulas on a table, and return what a job writes to result.json.

    The data are a pandas, Polars, Arrow or Dask table, or a path or the name of a dataset, such as
    builtin:breast_cancer, which has a target of its own. Choices are keys of a spec by their last
    name, as in `profile="best"`, `max_literals=10`, `missing="indicator"`, `outer=5` (folds),
    `group="patient"`, `methods=["ideal", "decision_tree"]`. `keys` takes any key by its path, as in
    `{"baselines.xgboost.trials": 20}`. A path may be read by several workers.
    """
    started = time.monotonic()
    origin = Origin(Path(_CALLED), {})
    in_memory = not isinstance(data, str | os.PathLike)
    path = _IN_MEMORY if in_memory else os.fspath(data)
    given = {"schema_version": 1, "name": _CALLED, "data.path": path, **_given(choices)}
    if target is not None:
        given["data.target"] = target
    more = keys or {}
    for key in more:
        if key not in job_keys():
            raise SpecError(unknown(key, job_keys()))
    try:
        spec = job_of(origin, {**given, **more})
        source, to_learn = _in_memory(data, spec) if in_memory else open_data(spec)
        engine = _engine(workers, in_memory)
        launch_s = time.monotonic() - started
        with closing(engine):
            found = _carried_out(spec, source, to_learn, engine)
            runs_on = engine.describe()
    except DnfscaleError as error:
        raise type(error)(_in_python(error.message), error.key) from error.__cause__
    total_s = time.monotonic() - started
    timing = Timing(
        launch_s=round(launch_s, 3),
        learn_s=round(total_s - launch_s, 3),
        total_s=round(total_s, 3),
        methods_s=found.methods_s,
    )
    environment = environment_of(runs_on, cluster=None, dataset=path)
    fields = {name: getattr(found.result, name) for name in found.result.__struct_fields__}
    result = Study(**{**fields, "timing": timing, "environment": environment})
    force_setattr(result, "model_texts", found.models)
    force_setattr(result, "class_labels", _labels(source, spec))
    failure = failed_folds(result)
    if failure is not None:
        warnings.warn(failure.message, UserWarning, stacklevel=2)
    return result


class _Notes:
    """Notes of finished steps, in memory."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def read(self, name: str) -> bytes:
        if name not in self._files:
            raise FileNotFoundError(name)
        return self._files[name]

    def write(self, name: str, content: bytes) -> None:
        self._files[name] = content


def _carried_out(spec: JobSpec, source: Source, to_learn: LearnSpec, engine: Engine) -> JobResult:
    def watch(_progress: Progress) -> None:
        return

    return run_study(
        spec,
        source,
        to_learn,
        engine.watched_by(watch),
        TaskNotes(_Notes(), _CALLED),
        token=source.state,
        told=Told(say=lambda _: None, learned=lambda _: None, warn=_warn),
    )


def _warn(text: str) -> None:
    """Warn whoever called this package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("dnfscale"):
        level, frame = level + 1, frame.f_back
    warnings.warn(_in_python(text), UserWarning, stacklevel=level)


def _given(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return choices by the paths of their keys."""
    paths = {known.parameter_name: known.path for known in learn_keys().values()}
    paths |= {name: name for name in ("name", "kind", "profile", "methods")}
    for name in choices:
        if name not in paths:
            raise SpecError(unknown(name, paths))
    return {paths[name]: value for name, value in choices.items()}


def _in_memory(data: Any, spec: JobSpec) -> tuple[Source, LearnSpec]:
    if is_dask(data):
        source = dask_source(data, _IN_MEMORY)
    else:
        source = table_source(to_table(data), _IN_MEMORY)
    check_footers(source, spec.learn)
    return source, spec.learn


def _labels(source: Source, spec: JobSpec) -> dict[str, Any]:
    """Return the two labels of a table in memory, the positive one last; nothing of others."""
    positive = spec.learn.positive
    for partition in source.partitions:
        if not isinstance(partition, TablePartition):
            break
        found = set(partition.table.column(spec.learn.target).drop_null().unique().to_pylist())
        above = set(positive or [max(found)])
        if len(found) == 2 and len(above) == 1 and above < found:
            return {"labels": [*(found - above), *above]}
    return {}


def _engine(workers: int | None, in_memory: bool) -> Engine:
    if workers is None or in_memory:
        return SerialEngine()
    return launch(ClusterSpec(kind="local", workers=workers), loaded=LOADED)


def _in_python(message: str) -> str:
    """Return a message that names the choices of `study` instead of keys of a spec."""
    for known in learn_keys().values():
        message = message.replace(known.path, known.parameter_name)
    return message
