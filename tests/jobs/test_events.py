"""events.jsonl holds what the manual says of it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

from dnfscale.engine.api import Notice, Progress
from dnfscale.jobs.plan import Plan, plan
from dnfscale.jobs.progress import Phases, Watcher
from dnfscale.jobs.runner import Job, Options, open_data
from dnfscale.learn.count import COUNT_TYPES
from dnfscale.learn.read import READ_ROWS
from dnfscale.spec.job import read_spec
from tests.jobs.running import ROOT


def documented() -> dict[str, set[str]]:
    """The keys of every event in the manual's table."""
    text = (ROOT / "jobs" / "README.md").read_text(encoding="utf-8")
    table = text[text.index("| event | further keys |") :].split("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", table, flags=re.MULTILINE)
    return {event: set(re.findall(r"`(\w+)`", keys)) for event, keys in rows}


def events_of(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def check(events: list[dict[str, object]]) -> None:
    known = documented()
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    times = [event["time"] for event in events]
    assert times == sorted(times)
    for event in events:
        assert set(event) - {"sequence", "time", "event", "job"} <= known[event["event"]], event


def test_a_run_writes_the_events_that_are_documented_and_streams_the_same(laid_desk):
    spec = laid_desk.spec(kind="study")
    ended = laid_desk.here("run", spec, "--json")
    assert ended.code == 0
    written = events_of(laid_desk.folder() / "events.jsonl")
    check(written)
    assert [event["event"] for event in written if event["event"] != "phase"] == [
        "started",
        "cluster",
        "finished",
    ]
    streamed = [json.loads(line) for line in ended.err.splitlines()]
    assert streamed == [{**event, "job": "job"} for event in written]


def test_the_phases_together_read_what_was_planned_once(laid_desk):
    file = laid_desk.spec(kind="study")
    laid_desk.here("run", file)
    spec = read_spec(file)
    planned = sum(phase.read_bytes for phase in plan(spec, *open_data(spec)).phases)
    ends = [event for event in events_of(laid_desk.folder() / "events.jsonl") if "bytes" in event]
    assert sum(event["bytes"] for event in ends) == planned > 0
    assert {event["rows"] for event in ends if "rows" in event} == {240}


def test_what_happens_to_the_cluster_is_journalled_as_documented(laid_desk):
    job = Job.open(read_spec(laid_desk.spec()), Options(), Watcher(io.StringIO()))
    lost = {"worker": "tcp://a:1", "workers": 1, "retries": 3, "expected": False}
    job.claim()
    try:
        job.notice(Notice("waiting", "waiting", {"elapsed_s": 5.0, "limit_s": 60.0}))
        job.notice(Notice("warning", "warning: no TLS", {"message": "no TLS"}))
        job.notice(Notice("worker_lost", "lost", lost))
        job.notice(Notice("worker_joined", "joined", {"worker": "tcp://b:1", "workers": 2}))
    finally:
        job.release()
    written = events_of(laid_desk.folder() / "events.jsonl")
    check(written)
    assert written[2] | {"sequence": 0, "time": 0} == {
        "sequence": 0,
        "time": 0,
        "event": "worker_lost",
        **lost,
    }


def test_a_failed_run_says_so_in_its_last_event(laid_desk):
    assert laid_desk.run(data={"max_categories": 2}).code == 5
    events = events_of(laid_desk.folder() / "events.jsonl")
    check(events)
    assert events[-1]["event"] == "failed"
    assert "at most 2 different values" in events[-1]["error"]


def test_a_long_phase_is_told_of_every_five_seconds():
    planned = (READ_ROWS.planned(4, 700), COUNT_TYPES.planned(4))
    phases = Phases(Plan(planned, 4, 90, (), 0, 0, work=None))
    told = [
        phases.facts(Progress("count types", done, 4), now)
        for done, now in enumerate((0.0, 2.0, 5.5, 6.0, 9.0))
    ]
    start = {"phase": "count types", "total": 4}
    assert told == [
        start | {"done": 0},
        None,
        start | {"done": 2, "elapsed_s": 5.5},
        None,
        start | {"done": 4, "elapsed_s": 9.0, "rows": 90, "bytes": 700},
    ]
    assert phases.elapsed_s == {"count types": 9.0}
    again = phases.facts(Progress("count types", 4, 4), 9.0)
    assert again is not None
    assert again["bytes"] == 0, "rows are read once"
