"""Every case runs once at a tiny size, so that none rots; its times are nobody's business here."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pandas", reason="pandas comes with the extra «bench»")

import pyarrow as pa

from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from dnfscale.engine.serial import SerialEngine
from dnfscale.jobs.runner import open_data
from dnfscale.learn.line import learn
from dnfscale.method.ideal import correct_rows
from dnfscale.spec.job import read_spec
from dnfscale.spec.learn import LearnSpec
from tests.bench import __main__ as command
from tests.bench import lengths, study, terms, type_counting
from tests.bench.apart import MeasurementError, measure_apart
from tests.bench.careful_pandas import ShareScores, Split, frame_of, learn_split, table_of
from tests.bench.case import (
    Case,
    Contender,
    DisagreementError,
    Figure,
    Measured,
    NotReadyError,
    Outcome,
    WorkerLog,
    summarized,
)
from tests.bench.cases import CASES
from tests.bench.datasets import make_synthetic, synthetic_folder
from tests.bench.overseer import overseen, paused_s
from tests.bench.processes import PeakWatch, ProcessPeak
from tests.bench.setting import Setting

ROWS = 20_000
SMALL_PAPER_SPEC = """
schema_version = 1
kind = "study"
profile = "paper"
[data]
path = "builtin:breast_cancer"
[select]
max_ell = 4
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    """All cases small and in this process; the dataset of the paper is the one that comes with
    scikit-learn.
    """
    folder = tmp_path_factory.mktemp("bench")
    spec = folder / "small.toml"
    spec.write_text(SMALL_PAPER_SPEC, encoding="utf-8")
    return Setting(folder, rows=ROWS, cluster="serial", paper_spec=spec, folds=2, ell=4)


@pytest.fixture(autouse=True)
def _own_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a case set the threads of its peers without a trace."""
    monkeypatch.setenv("POLARS_MAX_THREADS", "2")
    threads = pa.cpu_count()
    yield
    pa.set_cpu_count(threads)


def measure_here(_case: Case, contender: Contender, setting: Setting) -> Measured:
    """Measure as measure_apart does, but in this process and without a cluster."""
    with PeakWatch(os.getpid()) as watch:
        outcome = contender.measure(replace(setting, cluster="serial"))
    return Measured(outcome, watch.peaks)


def contenders() -> list[object]:
    pairs = [(case, contender) for case in CASES for contender in case.contenders]
    return [
        pytest.param(case, contender, id=f"{case.name}-{contender.name}")
        for case, contender in pairs
    ]


@pytest.fixture(scope="module")
def measured(tiny: Setting) -> Callable[[Case, Contender], Measured]:
    """Measure a contender at the tiny size; what was measured once is remembered."""
    known: dict[tuple[str, str], Measured] = {}

    def measure(case: Case, contender: Contender) -> Measured:
        for module in contender.needs:
            pytest.importorskip(module, reason=f"{module} comes with the extra «bench»")
        if (case.name, contender.name) not in known:
            case.prepare(tiny)
            known[case.name, contender.name] = measure_here(case, contender, tiny)
        return known[case.name, contender.name]

    return measure


@pytest.mark.parametrize(("case", "contender"), contenders())
def test_a_contender_runs(case, contender, measured):
    run = measured(case, contender)
    assert run.outcome.wall_s > 0
    assert run.outcome.cpu_s >= 0
    assert run.peaks[0].role == "main"
    assert run.worker_peak_bytes > 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_contenders_agree(case, measured):
    ready = [contender for contender in case.contenders if all(map(find_spec, contender.needs))]
    runs = {contender.name: measured(case, contender) for contender in ready}
    case.check({name: run.outcome for name, run in runs.items()})
    assert case.figures(runs)
    assert all(np.isfinite(figure.value) for figure in case.figures(runs))


def test_counts_that_differ_are_told(measured):
    case = type_counting.CASE
    right = measured(case, case.contender("dnfscale")).outcome
    wrong = [*right.answer]
    wrong[3] = [3, wrong[3][1], wrong[3][2] + 1]
    with pytest.raises(
        DisagreementError, match="answer of peer and of dnfscale differ: entry 3 is"
    ):
        case.check({"dnfscale": right, "peer": replace(right, answer=wrong)})


def test_a_measurement_has_a_process_of_its_own(tiny):
    case = type_counting.CASE
    case.prepare(tiny)
    run = measure_apart(case, case.contender("bare scan"), tiny)
    assert run.outcome.rows == ROWS
    assert [peak.role for peak in run.peaks] == ["main"]
    assert run.peaks[0].peak_bytes > 50 << 20


def test_the_workers_of_a_cluster_are_seen(cluster):
    with overseen(cluster) as workers, PeakWatch(os.getpid()) as watch:
        cluster.map("nap", [0.1] * 8, time.sleep)
        assert workers() == WorkerLog(restarted=0, paused_s=0.0)
    peaks = [peak.peak_bytes for peak in watch.peaks if peak.role == "worker"]
    assert len(peaks) >= 2
    assert min(peaks) > 50 << 20


def test_pauses_are_added_up_from_the_schedulers_journal():
    change = {"action": "worker-status-change"}
    journal = {
        "tcp://a": [(10.0, change | {"status": "paused"}), (12.5, change | {"status": "running"})],
        "tcp://b": [(11.0, change | {"status": "paused"}), (12.0, {"action": "remove-worker"})],
        "count-types": [(11.0, "done"), (12.0, "done")],
    }
    assert paused_s(journal, began=5.0, now=20.0) == 3.5
    assert paused_s(journal, began=11.5, now=20.0) == 1.5
    unfinished = {"tcp://a": journal["tcp://a"][:1]}
    assert paused_s(unfinished, began=5.0, now=20.0) == 10.0


def test_a_measurement_that_fails_says_why(tiny):
    nowhere = replace(tiny, data=Path("/nowhere"))
    with pytest.raises(MeasurementError, match=r"study, bare scan: exit code 1(.|\n)*Error"):
        measure_apart(study.CASE, study.CASE.contender("bare scan"), nowhere)


def test_the_command_prints_records_and_compares(tiny, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "measure_apart", measure_here)
    file = tmp_path / "record.json"
    options = ["types", "--data", str(tiny.data), "--rows", str(ROWS)]
    assert command.main([*options, "--repeat", "2", "--json", str(file)]) == 0
    assert "| dnfscale / bare scan, wall time" in capsys.readouterr().out
    record = json.loads(file.read_text())
    assert record["schema"] == "dnfscale.bench/1"
    assert record["machine"]["cores"] >= 1
    assert record["commit"]
    assert len(record["cases"]["types"]["contenders"]["dnfscale"]["runs"]) == 2
    assert command.main([*options, "--compare", str(file)]) == 0
    assert "## change" in capsys.readouterr().out


def test_the_command_lists_the_cases(capsys):
    assert command.main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(case.name in listed for case in CASES)


def test_a_case_that_is_not_there_is_told(capsys):
    with pytest.raises(SystemExit):
        command.main(["tpyes"])
    told = capsys.readouterr().err
    assert f"CASE must be one of {', '.join(case.name for case in CASES)}, got 'tpyes'" in told


def test_a_case_without_its_data_is_skipped_with_a_reason(monkeypatch, capsys):
    monkeypatch.delenv("DNFSCALE_DATA", raising=False)
    assert command.main(["covertype"]) == 0
    assert "skipped: the environment variable DNFSCALE_DATA" in capsys.readouterr().out


def test_a_contender_without_its_library_is_not_ready():
    with pytest.raises(
        NotReadyError, match=r"no_such_library is not installed: pip install 'dnfscale\[bench\]'"
    ):
        Contender("peer", lambda _: Outcome(1, 1, 0), needs=("no_such_library",)).check_ready()


def test_data_of_another_size_is_not_used(tmp_path):
    setting = Setting(tmp_path)
    folder = synthetic_folder(setting, 2000)
    folder.mkdir()
    (folder / "_planted.json").write_text(json.dumps({"rows": 1000, "seed": 0, "columns": []}))
    with pytest.raises(ValueError, match="expected 2,000 rows"):
        make_synthetic(setting, 2000)


def test_runs_are_summarized_by_the_least_time_and_the_most_memory():
    quick = Measured(
        Outcome(1, 1, 5, workers=WorkerLog(0, 2.0)),
        (ProcessPeak("main", 10), ProcessPeak("worker", 20)),
    )
    slow = Measured(
        Outcome(2, 2, 5, workers=WorkerLog(1, 0.0)),
        (ProcessPeak("main", 10), ProcessPeak("worker", 30)),
    )
    summary = summarized([quick, slow])
    assert summary.outcome == Outcome(1, 1, 5, workers=WorkerLog(1, 2.0))
    assert summary.worker_peak_bytes == 30


@pytest.mark.parametrize(("value", "reached"), [(0.5, True), (1.0, True), (1.01, False)])
def test_a_goal_is_reached_up_to_its_limit(value, reached):
    assert Figure("ratio", value, at_most=1.0).reached is reached
    assert Figure("ratio", -value, at_least=-1.0).reached is reached


def test_the_setting_survives_the_command_line(tiny):
    assert Setting.from_json(tiny.to_json()) == tiny


@pytest.mark.parametrize("remember", [lambda score: score, ShareScores], ids=["anew", "sharing"])
def test_careful_pandas_finds_what_dnfscale_finds(tiny, remember):
    make_synthetic(tiny, ROWS // 4)
    synthetic = read_spec(
        study.SPEC, {"data.path": str(synthetic_folder(tiny, ROWS // 4)), "select.max_ell": 4}
    )
    for spec in (synthetic, read_spec(tiny.paper_spec)):
        source, to_learn = open_data(spec)
        to_learn = replace(to_learn, outer=5, seed=3)
        learned = learn(source, to_learn, SerialEngine())
        table = table_of(frame_of(source), to_learn)
        for fold in (0, 3):
            found = learn_split(
                table, same_split(to_learn, learned.rows, fold), to_learn, remember=remember
            )
            ours = learned.folds[fold]
            accepted = ours.dnf.accepts(ours.test.codes)
            assert set(found.attributes) == set(ours.tau.names)
            assert found.rank == ours.rank
            assert found.correct == correct_rows(accepted, ours.test)


def same_split(spec: LearnSpec, n_rows: int, fold: int) -> Split:
    """Return the rows of dnfscale's own split as lists."""
    splits = Splits(n_rows, int(spec.outer or 0), spec.validation, spec.seed)
    parts = splits.parts[fold][splits.arcs(0, n_rows)]
    return Split(*(np.flatnonzero(parts == part) for part in (TRAIN, VALIDATION, TEST)))


def test_the_search_of_terms_is_measured(capsys):
    terms.main(["--rows", "400", "--lengths", "3"])
    assert (
        len(re.findall(r"3 literals: +\d+\.\d+ s, 0\.\d+ and 0\.\d+", capsys.readouterr().out)) == 2
    )


def test_formulas_and_trees_of_every_length_are_measured_in_the_same_folds():
    random = np.random.default_rng(4)
    x, colour = random.normal(size=300), random.choice(["red", "blue"], 300)
    frame = pd.DataFrame({"x": x, "colour": colour})
    frame[lengths.TARGET] = (x > 0.2) & (colour == "red")
    measured = lengths.measure(frame, folds=2)
    assert measured.accuracy["dnf"] > 95
    assert measured.literals["dnf"] == 2
    assert measured.literals["cart 5"] <= 5
    assert measured.literals["standard_error 0.005"] == measured.literals["dnf"]
