"""Detached jobs, end to end: a scheduler and workers as processes, jobs that outlive who submitted
them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dnfscale.submit.record import NOT_ENDED_CODE
from tests.deploy.processes import Processes, make_certificates, tls_options
from tests.jobs.clusters import Found
from tests.jobs.running import ROOT, Desk, Ended, essence, tidy
from tests.readme import DEPLOY, commands

TUNED = {"select": {"max_ell": 2}, "folds": {"outer": 3}, "baselines.random_forest": {"trials": 2}}
"""A study that goes on for some seconds, with a checkpoint for every trial."""
ALONE: dict[str, str] = {}
"""What specs give when they run by themselves: every test has the same rows."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    """A scheduler and two workers with one thread each."""
    with Processes(tmp_path_factory.mktemp("cluster")) as processes:
        cluster = Found(processes)
        for _ in range(2):
            cluster.add_worker()
        yield cluster


class Office:
    """A desk from which jobs are sent to a cluster."""

    def __init__(self, desk: Desk, cluster: Found) -> None:
        self.desk = desk
        self.cluster = cluster

    def ask(self, *arguments: str | Path) -> Ended:
        return self.desk.here(*arguments, "--scheduler", self.cluster.address)

    def submit(self, spec: Path, *options: str) -> str:
        ended = self.ask("submit", spec, *options)
        assert ended.code == 0, ended.err
        [job] = ended.out.split()
        return job

    def status(self, job: str) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(self.ask("status", job, "--json").out)
        return record

    def wait_for(self, happened: Callable[[], Any], what: str) -> None:
        self.cluster.processes.wait_for(happened, what)

    def has_begun_tuning(self, name: str) -> bool:
        return any((self.desk.folder(name) / "tasks").glob("random_forest*"))

    def ids(self) -> list[str]:
        return [job["id"] for job in json.loads(self.ask("list", "--json").out)]

    def alone(self, spec: Path) -> str:
        """The result of the spec of a job that is run by itself, serially."""
        text = spec.read_text()
        if text not in ALONE:
            assert (
                self.desk.here(
                    "run", spec, "--output", "alone", "--set", "cluster.kind=serial"
                ).code
                == 0
            )
            ALONE[text] = essence(self.desk.path / "alone" / "job" / "result.json")
        return ALONE[text]


@pytest.fixture
def office(laid_desk: Desk, found: Found) -> Office:
    return Office(laid_desk, found)


def test_a_job_goes_on_when_its_submitter_has_left_and_ends_as_if_it_had_run_here(office):
    desk = office.desk
    spec = desk.spec(kind="study", select={"max_ell": 2})
    submitted = desk.apart("submit", spec, "--scheduler", office.cluster.address)
    assert submitted.code == 0, submitted.err
    job = submitted.out.strip()
    assert len(job) == 10
    ended = office.ask("status", job[:8], "--wait")
    assert ended.code == 0, ended.out
    assert ended.out.startswith(f"{job}  job: finished\n")
    assert essence(desk.folder() / "result.json") == office.alone(spec)
    printed = desk.here(
        "run", spec, "--output", desk.path / "again", "--set", "cluster.kind=serial"
    ).out
    summary = printed.replace(str(desk.path / "again"), str(desk.path / "runs"))
    assert office.ask("logs", job).out.endswith(summary)
    followed = [
        json.loads(line) for line in office.ask("logs", job, "--follow", "--json").out.splitlines()
    ]
    assert [line["sequence"] for line in followed] == list(range(1, len(followed) + 1))
    assert "\n".join(line["line"] for line in followed).endswith(summary.rstrip())
    record = office.status(job)
    assert (record["attempts"], record["folder"]) == (1, str(desk.folder()))
    assert record["driver_bytes"] > 10 << 20
    listed = json.loads(office.ask("list", "--json").out)
    assert record in listed
    assert any(
        line.startswith(f"{job}  finished  0 ") for line in office.ask("list").out.splitlines()
    )
    assert "had already finished" in office.ask("cancel", job).out


def test_a_driver_whose_worker_is_killed_goes_on_elsewhere_with_the_same_result(office):
    spec = office.desk.spec(kind="study", **TUNED)
    job = office.submit(spec)
    office.wait_for(lambda: office.has_begun_tuning("job"), "the first trial")
    record = office.status(job)
    assert record["state"] == "running"
    os.kill(office.cluster.process_of(record["worker"]), signal.SIGKILL)
    ended = office.ask("status", job, "--wait")
    assert ended.code == 0, ended.out
    assert office.status(job)["attempts"] == 2
    assert (
        "driver 2 goes on: the worker of the one before it is gone\n" in office.ask("logs", job).out
    )
    assert essence(office.desk.folder() / "result.json") == office.alone(spec)
    office.cluster.wait_for_workers(2)


def test_cancelling_one_of_two_jobs_leaves_the_other_and_keeps_what_is_finished(office):
    cancelled = office.desk.spec(file="cancelled.toml", name="cancelled", kind="study", **TUNED)
    other = office.desk.spec(kind="study", **TUNED)
    first, second = (
        office.submit(cancelled, "--set", "baselines.random_forest.trials=200"),
        office.submit(other),
    )
    office.wait_for(lambda: office.has_begun_tuning("cancelled"), "the first trial")
    assert office.ask("status", first).code == NOT_ENDED_CODE
    assert office.ask("cancel", first).out == f"{first}  cancelled: cancelled\n"
    ended = office.ask("status", first)
    assert ended.code == 143
    assert ended.out.startswith(f"{first}  cancelled: cancelled, exit code 143\n")
    assert office.has_begun_tuning("cancelled")
    assert not (office.desk.folder("cancelled") / "result.json").exists()
    assert office.ask("status", second, "--wait").code == 0
    assert essence(office.desk.folder() / "result.json") == office.alone(other)
    with office.cluster.client() as client:
        office.wait_for(lambda: not client.run_on_scheduler(_task_names), "the end of all tasks")


def _task_names(dask_scheduler: Any) -> list[str]:
    return [str(key) for key in dask_scheduler.tasks]


def test_a_job_on_bad_data_fails_with_the_code_and_the_words_of_run(office):
    spec = office.desk.spec(data={"path": "absent.parquet"})
    ended = office.ask("submit", spec)
    assert ended.code == 0
    expected = office.desk.path / "absent.parquet"
    assert (
        f"job.toml:6: {expected} is not on this machine; it must be on the workers'"
        in ended.message
    )
    job = ended.out.strip()
    ended = office.ask("status", job, "--wait")
    assert ended.code == office.desk.here("run", spec).code == 3
    assert f"job.toml:6: {expected}" in office.status(job)["error"]


def test_a_suite_is_submitted_as_one_job(office):
    office.desk.spec(file="a.toml", name="a", select={"max_ell": 1})
    office.desk.spec(file="b.toml", name="b", select={"max_ell": 2})
    text = (
        'schema_version = 1\nname = "both"\nkind = "suite"\njobs = ["a.toml", "b.toml"]\nseed = 3\n'
    )
    job = office.submit(office.desk.spec(text, file="suite.toml"))
    assert office.ask("status", job, "--wait").code == 0
    assert office.status(job)["kind"] == "suite"
    folder = office.desk.folder("both")
    assert [
        json.loads((folder / f"jobs/{name}/result.json").read_text())["seed"] for name in "ab"
    ] == [3, 3]
    again = office.submit(office.desk.path / "suite.toml", "--resume")
    assert office.ask("status", again, "--wait").code == 0


SECRETS = {
    "AWS_ACCESS_KEY_ID": "AKIAofSomebody",
    "AWS_SECRET_ACCESS_KEY": "s3cr3tOfSomebody",
    "AZURE_STORAGE_SAS_TOKEN": "sv=1&sig=s1gnature",
}


def test_nothing_that_a_scheduler_keeps_of_a_job_holds_a_secret_of_its_submitter(
    office, monkeypatch
):
    for name, secret in SECRETS.items():
        monkeypatch.setenv(name, secret)
    job = office.submit(office.desk.spec())
    with office.cluster.client() as client:
        kept = [client.run_on_scheduler(_kept)]
        assert office.ask("status", job, "--wait").code == 0
        kept.append(client.run_on_scheduler(_kept))
    kept += [office.ask(*verb, "--json").out for verb in (["list"], ["logs", job])]
    written = [file for file in office.desk.path.rglob("*.*") if file.suffix != ".parquet"]
    kept += [file.read_text() for file in written if file.is_file()]
    assert all(job in text for text in kept[:2])
    assert not [secret for secret in SECRETS.values() if any(secret in text for text in kept)]


def _kept(dask_scheduler: Any) -> str:
    """Return all that a scheduler keeps of jobs, and the events that anybody may ask for."""
    registry = dask_scheduler.plugins["dnfscale-jobs"]
    events = {topic: list(log) for topic, log in dask_scheduler.get_events().items()}
    return repr((registry._jobs, dask_scheduler.task_metadata, events))


def test_an_id_that_is_not_known_is_bad_usage(office):
    ended = office.ask("status", "nothing")
    assert ended.code == 2
    assert (
        f"expected the id of a job at {office.cluster.address}, but none begins with 'nothing'"
        in ended.message
    )
    assert office.ask("cancel", "").code == 2


def test_a_bad_spec_is_refused_before_anything_is_submitted(office):
    before = office.ids()
    ended = office.ask("submit", office.desk.spec(select={"max_ell": 99}))
    assert ended.code == 2
    assert "select.max_ell must be" in ended.message
    assert office.ids() == before


def test_workers_with_other_versions_are_named_before_a_job_starts(office, tmp_path):
    other = tmp_path / "other" / "dask-0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: dask\nVersion: 0.1\n")
    before = office.ids()
    with office.cluster.one_more_worker(
        PYTHONPATH=os.pathsep.join([str(other.parent), str(ROOT)])
    ) as odd:
        for verb in ("submit", "run"):
            ended = office.ask(verb, office.desk.spec())
            assert ended.code == 4
            assert "expected the same software here and on the cluster, but " in ended.message
            assert f"{odd} has dask 0.1, here is " in ended.message
            assert ended.message.endswith("; install the same versions on both sides")
    assert office.ids() == before


def test_a_run_on_a_found_cluster_leaves_nothing_behind(office):
    before = _state_of(office.cluster)
    assert office.ask("run", office.desk.spec(kind="study", **TUNED)).code == 0
    assert _state_of(office.cluster) == before


def _state_of(cluster: Found) -> dict[str, Any]:
    with cluster.client() as client:
        workers = client.run(_worker_state)
        cluster.processes.wait_for(
            lambda: client.run_on_scheduler(_clients) == [client.id], "the end of other clients"
        )
        return {"scheduler": client.run_on_scheduler(_scheduler_state), "workers": workers}


def _clients(dask_scheduler: Any) -> list[str]:
    return [name for name in dask_scheduler.clients if name != "fire-and-forget"]


def _scheduler_state(dask_scheduler: Any) -> dict[str, Any]:
    import dask

    # Dask itself keeps a topic for every client and worker it ever had, and for tasks that one took
    # from another.
    topics = dask_scheduler._broker._topics.keys() - {"scheduler", "stealing"}
    topics = {name for name in topics if "Client-" not in name and not name.startswith("tcp://")}
    return {
        "tasks": sorted(map(str, dask_scheduler.tasks)),
        "plugins": sorted(dask_scheduler.plugins),
        "worker_plugins": sorted(dask_scheduler.worker_plugins),
        "handlers": sorted(dask_scheduler.handlers),
        "metadata": sorted(map(str, dask_scheduler.task_metadata)),
        "topics": sorted(topics),
        "config": repr(dask.config.config),
    }


def _worker_state(dask_worker: Any) -> dict[str, Any]:
    import dask

    return {
        "data": sorted(map(str, dask_worker.data)),
        "plugins": sorted(dask_worker.plugins),
        "config": repr(dask.config.config),
    }


def test_without_workers_a_job_waits_and_without_a_scheduler_nothing_is_known(
    desk, tmp_path_factory
):
    with Processes(tmp_path_factory.mktemp("lonely")) as processes:
        cluster = Found(processes)
        office = Office(desk, cluster)
        assert office.ask("list").out.splitlines() == ["id  state  code  submitted  ran  by  name"]
        spec = desk.spec(data={"path": "builtin:breast_cancer", "target": None})
        submitted = office.ask("submit", spec)
        assert (
            submitted.err
            == f"dnfscale: {cluster.address} has no workers yet; the job waits for one\n"
        )
        job = submitted.out.strip()
        waiting = office.ask("status", job)
        assert (waiting.code, waiting.out.splitlines()[0]) == (
            NOT_ENDED_CODE,
            f"{job}  job: waiting",
        )
        assert office.ask("cancel", job).out == f"{job}  job: cancelled\n"
        assert office.ask("status", job).code == 143
        assert tidy(desk.path) == ["job.toml"]
    for command in (
        ["status", job],
        ["logs", job, "--follow"],
        ["cancel", job],
        ["list"],
        ["submit", spec],
    ):
        ended = office.ask(*command)
        assert ended.code == 4
        assert f"expected a Dask scheduler at {cluster.address}, but none answers" in ended.message


def test_a_scheduler_must_be_named(laid_desk):
    ended = laid_desk.here("list")
    assert ended.code == 2
    assert (
        "expected a scheduler, but none is named; pass --scheduler, such as tls://10.0.0.5:8786"
        in ended.message
    )


def test_the_page_on_walking_away_shows_what_its_commands_print(office):
    shown = list(commands(DEPLOY, "Submit a job and walk away"))
    assert [command.split()[1] for command, _ in shown] == [
        "submit",
        "status",
        "logs",
        "cancel",
        "list",
    ]
    written = shown[0][1][:4]
    actual = ""
    for command, output in shown:
        arguments = [argument.replace(written, actual[:8]) for argument in command.split()[1:]]
        ended = office.ask(
            *(
                str(ROOT / argument) if argument.startswith("jobs/") else argument
                for argument in arguments
            )
        )
        assert ended.code == 0, ended.err
        actual = actual or ended.out.strip()
        lines = [
            line
            for line in ended.out.splitlines()
            if arguments[0] != "list" or line.startswith(("id", actual))
        ]
        # Where a phase takes long, it is told of more than once.
        lines = [line for line in lines if not re.search(r" of \d+, \d+:\d\d", line)]
        assert [_masked(line) for line in lines] == [
            _masked(line) for line in output.splitlines()
        ], command


def _masked(line: str) -> str:
    """Return a line without ids, times, speeds, names of machines and people, and without its
    padding.
    """
    line = re.sub(r"\b[0-9a-f]{10}\b", "ID", line)
    line = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", line)
    line = re.sub(r"by \S+ on \S+|tcp://\S+|\S*/runs/", "SOMEWHERE", line)
    line = re.sub(r"[\d.,]+ (s|MiB|rows/s)\b", r"N \1", line)
    return re.sub(r" s\s+\S+\s+quickstart$", " s WHO quickstart", re.sub(r"\s+", " ", line)).strip()


def test_over_tls_a_driver_connects_as_its_worker_does_and_nobody_without_a_certificate(
    desk, tmp_path_factory
):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, which makes certificates")
    certificates = make_certificates(tmp_path_factory.mktemp("tls") / "certificates")
    with Processes(tmp_path_factory.mktemp("encrypted")) as processes:
        cluster = Found(processes, certificates)
        cluster.add_worker()
        office = Office(desk, cluster)
        spec = desk.spec(
            data={"path": "builtin:breast_cancer", "target": None}, select={"max_ell": 1}
        )
        assert office.ask("submit", spec).code == 2
        job = office.submit(spec, *map(str, tls_options(certificates)))
        assert office.ask("status", job, "--wait", *tls_options(certificates)).code == 0
        assert office.ask("status", job).code == 2
        ended = office.ask("list", "--tls-ca-file", certificates / "ca.pem")
        assert (ended.code, "belong together" in ended.message) == (2, True)
