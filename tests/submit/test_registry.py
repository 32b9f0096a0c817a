"""What the scheduler keeps of detached jobs, and what it answers; the scheduler itself is stood in
for.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from dnfscale.submit import registry as module
from dnfscale.submit.registry import Registry, driver_name, task_key


@dataclass
class Task:
    """A task as the scheduler knows it."""

    suspicious: int = 0
    exception_text: str = "KilledWorker(...)"


@dataclass
class Surroundings:
    """What the registry touches of a scheduler."""

    handlers: dict[str, Any] = field(default_factory=dict)
    task_metadata: dict[str, Any] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    clients: dict[str, None] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)

    def client_desires_keys(self, *, keys: list[str], client: str) -> None:
        assert client == "fire-and-forget"
        self.wanted |= set(keys)

    def client_releases_keys(self, *, keys: list[str], client: str) -> None:
        assert client == "fire-and-forget"
        self.wanted -= set(keys)


ABOUT = {"name": "n", "kind": "fit", "spec": "s", "folder": "f", "user": "u", "host": "h"}
"""What is said of a job, beside its id."""


@pytest.fixture
def scheduler() -> Surroundings:
    return Surroundings()


@pytest.fixture
def registry(scheduler: Surroundings) -> Registry:
    plugin = Registry()
    asyncio.run(plugin.start(scheduler))
    return plugin


def submitted(registry: Registry, scheduler: Surroundings, job: str = "a1") -> str:
    about = {**ABOUT, "id": job}
    assert registry.add(about, {"spec": job}, "Client-1")
    scheduler.tasks[task_key(job)] = Task()
    assert registry.launch(job)
    return job


def begun(registry: Registry, scheduler: Surroundings, job: str = "a1") -> str:
    submitted(registry, scheduler, job)
    assert registry.begin(job, "tcp://w:1") == {
        "answer": "start",
        "order": {"spec": job},
        "attempt": 1,
    }
    return job


def test_a_worker_has_few_drivers_at_a_time_and_the_others_begin_in_their_order(
    registry, scheduler
):
    worker = "tcp://w:1"
    jobs = [submitted(registry, scheduler, f"a{number}") for number in range(7)]
    answers = [registry.begin(job, worker)["answer"] for job in jobs]
    assert answers == ["start"] * 4 + ["wait"] * 3
    assert registry.begin(jobs[6], "tcp://w:2")["answer"] == "start", "another has room"
    scheduler.tasks[task_key(jobs[5])].suspicious = 3
    assert registry.begin(jobs[5], worker) == {"answer": "wait", "seconds": module._TURN_S}
    assert scheduler.tasks[task_key(jobs[5])].suspicious == 0, "whoever waits is not to blame"
    assert registry.end(jobs[1], 1, 0, None)
    assert registry.begin(jobs[5], worker)["answer"] == "wait", "another is before it"
    assert registry.begin(jobs[4], worker)["answer"] == "start"
    assert registry.cancel(jobs[2]) is not None
    assert registry.begin(jobs[5], worker)["answer"] == "wait", "it has not ended yet"
    assert registry.end(jobs[2], 1, 143, None)
    assert registry.begin(jobs[5], worker)["answer"] == "start"


def state_of(registry: Registry, job: str) -> tuple[str, int | None]:
    [record] = [record for record in registry.jobs() if record["id"] == job]
    return record["state"], record["exit_code"]


def test_a_job_is_there_once_its_task_has_arrived(registry, scheduler):
    about = {**ABOUT, "id": "a1"}
    assert registry.add(about, {}, "Client-1")
    assert not registry.add(about, {}, "Client-2"), "an id is given once"
    assert not registry.launch("a1")
    assert registry.jobs() == []
    scheduler.tasks[task_key("a1")] = Task()
    assert registry.launch("a1")
    assert scheduler.wanted == {task_key("a1")}
    assert state_of(registry, "a1") == ("waiting", None)


def test_a_job_whose_submitter_dies_before_it_is_launched_is_forgotten_and_no_other(
    registry, scheduler
):
    submitted(registry, scheduler, "a1")
    about = {**ABOUT, "id": "b2"}
    registry.add(about, {}, "Client-1")
    registry.remove_client(scheduler, "Client-1")
    assert [record["id"] for record in registry.jobs()] == ["a1"]
    assert registry.lines("b2", after=0) is None


@pytest.mark.parametrize(
    ("code", "state"), [(0, "finished"), (1, "failed"), (3, "failed"), (143, "failed")]
)
def test_a_job_ends_as_its_driver_ends(registry, scheduler, code, state):
    job = begun(registry, scheduler)
    assert registry.report(job, 1, ["one", "two"], 5) == "go on"
    registry.end(job, 1, code, "why" if code else None)
    assert state_of(registry, job) == (state, code)
    assert [text for _, _, text in registry.lines(job, after=1)["lines"]] == ["two"]
    registry.transition(task_key(job), "memory", "forgotten")
    assert state_of(registry, job) == (state, code)


def test_a_driver_that_was_replaced_has_no_say(registry, scheduler):
    job = begun(registry, scheduler)
    assert registry.begin(job, "tcp://w:2")["attempt"] == 2
    assert registry.report(job, 1, ["stale"], 0) == "leave"
    registry.end(job, 1, 0, None)
    assert state_of(registry, job) == ("running", None)
    assert registry.lines(job, after=0)["lines"] == []


def test_no_driver_is_started_while_an_earlier_one_is_connected(registry, scheduler):
    job = begun(registry, scheduler)
    scheduler.clients[f"Client-{driver_name(job)}-uuid"] = None
    assert registry.begin(job, "tcp://w:2") == {"answer": "wait"}
    scheduler.clients.clear()
    assert registry.begin(job, "tcp://w:2")["answer"] == "start"


def test_a_waiting_job_is_cancelled_at_once_and_a_running_one_by_its_driver(registry, scheduler):
    submitted(registry, scheduler, "a1")
    assert registry.cancel("a1")["state"] == "cancelled"
    assert scheduler.wanted == set()
    assert registry.begin("a1", "tcp://w:1") == {"answer": "leave"}
    job = begun(registry, scheduler, "b2")
    assert registry.cancel(job)["state"] == "cancelling"
    assert registry.report(job, 1, [], 0) == "cancel"
    registry.end(job, 1, 143, "ended by SIGTERM")
    assert state_of(registry, job) == ("cancelled", 143)
    assert registry.cancel("unknown") is None


def test_a_job_that_finishes_while_it_is_cancelled_has_finished(registry, scheduler):
    job = begun(registry, scheduler)
    registry.cancel(job)
    registry.end(job, 1, 0, None)
    assert state_of(registry, job) == ("finished", 0)


def test_a_job_that_loses_its_worker_while_it_is_cancelled_is_cancelled(registry, scheduler):
    job = begun(registry, scheduler)
    registry.cancel(job)
    assert registry.begin(job, "tcp://w:2") == {"answer": "leave"}
    assert state_of(registry, job) == ("cancelled", 143)


@pytest.mark.parametrize(
    ("finish", "reason"), [("erred", "KilledWorker"), ("forgotten", "was it restarted")]
)
def test_a_job_that_the_scheduler_gives_up_is_lost(registry, scheduler, finish, reason):
    job = begun(registry, scheduler)
    registry.transition("another-task", "processing", finish)
    registry.transition(task_key(job), "processing", "memory")
    assert state_of(registry, job) == ("running", None)
    registry.transition(task_key(job), "processing", finish)
    assert state_of(registry, job) == ("lost", 4)
    assert reason in registry.jobs()[0]["error"]
    assert "submit it again with --resume" in registry.jobs()[0]["error"]


def test_deaths_long_after_the_start_are_not_held_against_a_job(registry, scheduler, monkeypatch):
    job = begun(registry, scheduler)
    task = scheduler.tasks[task_key(job)]
    task.suspicious = 3
    registry.begin(job, "tcp://w:2")
    assert task.suspicious == 3
    monkeypatch.setattr(module, "_BLAMELESS_S", -1)
    registry.begin(job, "tcp://w:3")
    assert task.suspicious == 0


def test_what_is_kept_is_bounded(registry, scheduler, monkeypatch):
    monkeypatch.setattr(module, "_MOST_LINES", 10)
    monkeypatch.setattr(module, "_MOST_CHARACTERS", 100)
    monkeypatch.setattr(module, "_MOST_ENDED", 3)
    job = begun(registry, scheduler, "live")
    registry.report(job, 1, [str(number) for number in range(25)], 0)
    assert [number for number, _, _ in registry.lines(job, after=0)["lines"]] == list(range(16, 26))
    registry.report(job, 1, ["x" * 60, "y" * 60], 0)
    assert [text[0] for _, _, text in registry.lines(job, after=0)["lines"]] == ["y"]
    for number in range(5):
        registry.end(begun(registry, scheduler, f"ended{number}"), 1, 0, None)
    assert [record["id"] for record in registry.jobs()] == ["live", "ended2", "ended3", "ended4"]


def test_a_job_that_ends_before_it_is_launched_leaves_no_task(registry, scheduler):
    about = {**ABOUT, "id": "a1"}
    registry.add(about, {}, "Client-1")
    scheduler.tasks[task_key("a1")] = Task()
    registry.begin("a1", "tcp://w:1")
    registry.end("a1", 1, 0, None)
    assert registry.launch("a1")
    assert scheduler.wanted == set()
    assert state_of(registry, "a1") == ("finished", 0)
