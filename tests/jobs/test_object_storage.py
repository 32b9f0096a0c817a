"""Data and runs in object stores: real servers on loopback, in processes of their own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.core.columns import Column, Reading, Role
from dnfscale.data.outputs import new_folder, write_part
from dnfscale.data.source import open_source
from dnfscale.errors import DataError
from dnfscale.spec.storage import Access
from tests.jobs.running import PATIENCE_S, Desk, Ended, essence, small_table, surroundings, tidy
from tests.object_store import STORES, Store
from tests.twins import PLAIN
from tests.wire import Wire

every_store = pytest.mark.parametrize("store", list(STORES), indirect=True)
"""For a test that holds for each kind of store; others are about S3 or about what is alike."""


@pytest.fixture
def far(laid_desk: Desk, store: Store, store_keys: None) -> Iterator[Desk]:  # noqa: ARG001
    """A folder whose table is in the store too, and an environment that may use the store."""
    store.put_table("data/t.parquet", pa.table(small_table()), row_group_size=60)
    yield laid_desk
    store.remove("runs")
    store.remove("data")


def far_spec(
    store: Store, *, path: str | None = None, runs: str | None = None, **tables: object
) -> dict[str, object]:
    return {
        "kind": "study",
        "data": {"path": path or store.data, "target": "y"},
        "data.storage": store.reached,
        "output": {"dir": runs or store.runs},
        **tables,
    }


def far_essence(store: Store, name: str = "job") -> str:
    record = json.loads(store.read(f"runs/{name}/result.json"))
    return json.dumps(
        {key: value for key, value in record.items() if key not in ("timing", "environment")}
    )


def near_essence(desk: Desk) -> str:
    """The result of the same study on this machine."""
    assert desk.here("run", desk.spec(kind="study", file="near.toml")).code == 0
    return essence(desk.folder() / "result.json")


@pytest.mark.portable
@pytest.mark.parametrize(
    ("store", "cluster"),
    [("s3", "serial"), ("s3", "local"), ("abfs", "local"), ("gs", "local")],
    indirect=["store"],
)
def test_a_study_in_the_store_is_the_study_on_this_machine(far, store, cluster):
    ended = far.here("run", far.spec(**far_spec(store), cluster={"kind": cluster}))
    assert ended.code == 0, ended.err
    assert f"files      {store.runs}/job" in ended.out
    assert far_essence(store) == near_essence(far)
    assert store.names("runs/job") == tidy(far.folder())
    assert store.read("runs/job/model.json") == (far.folder() / "model.json").read_bytes()
    events = [
        json.loads(line)["event"] for line in store.read("runs/job/events.jsonl").splitlines()
    ]
    assert (events[0], events[-1]) == ("started", "finished")


def test_no_file_and_no_message_holds_the_credentials(far, store):
    ended = far.here("run", far.spec(**far_spec(store)), "--json")
    assert ended.code == 0
    written = [store.read(f"runs/job/{name}") for name in store.names("runs/job")]
    killed = die(far, store, "start count types", "run", "job.toml", "--set", "name=killed")
    written += [store.read(f"runs/killed/{name}") for name in store.names("runs/killed")]
    assert any(name.endswith(".bin") for name in store.names("runs/killed"))
    written += [text.encode() for text in (ended.out, ended.err, killed)]
    written += [file.read_bytes() for file in far.path.rglob("*") if file.is_file()]
    assert len(written) > 20
    for content in written:
        assert store.keys.secret.encode() not in content
        assert store.keys.name.encode() not in content


def die(desk: Desk, store: Store, moment: str, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.jobs.dying", moment, *arguments],
        cwd=desk.path,
        env=surroundings(**store.keys.environment),
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    return ended.stdout + ended.stderr


@every_store
def test_a_killed_run_in_the_store_is_taken_over_and_goes_on(far, store):
    far.spec(**far_spec(store))
    die(far, store, "start count types", "run", "job.toml")
    assert "lock.json" in store.names("runs/job")
    assert far.here("run", "job.toml", "--resume").code == 0
    events = [json.loads(line) for line in store.read("runs/job/events.jsonl").splitlines()]
    recalled = [event["phase"] for event in events if event["event"] == "recalled"]
    assert recalled == ["locate medians", "collect medians", "associate attributes"]
    assert far_essence(store) == near_essence(far)
    assert "lock.json" not in store.names("runs/job")
    again = far.here("run", "job.toml", "--resume")
    assert (again.code, again.err) == (0, "")


@every_store
def test_a_run_in_the_store_that_lives_is_not_disturbed(far, store):
    far.spec(**far_spec(store))
    first = subprocess.Popen(
        [sys.executable, "-m", "tests.jobs.dying", "wait start count types", "run", "job.toml"],
        cwd=far.path,
        env=surroundings(**store.keys.environment),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "waiting\n"
        ended = far.here("run", "job.toml", "--resume")
        assert ended.code == 2
        assert f"expected {store.runs}/job to be free, but process {first.pid} on" in ended.message
    finally:
        first.kill()
        first.communicate()


WRONG = {
    "other keys": "access is denied",
    "no bucket": "there is nothing at this path",
    "no object": "there is nothing at this path",
}


def use_wrong_keys(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    if store.wrong_keys is None:
        pytest.skip(f"the server for {store.scheme}:// refuses nobody")
    for name, value in store.wrong_keys.environment.items():
        monkeypatch.setenv(name, value)


@every_store
@pytest.mark.parametrize("verb", ["validate", "run"])
@pytest.mark.parametrize("wrong", WRONG)
def test_data_that_cannot_be_had_is_told_of(far, store, monkeypatch, wrong, verb):
    if wrong == "other keys":
        use_wrong_keys(store, monkeypatch)
    paths = {"no bucket": f"{store.at('no-such-bucket')}/t.parquet"}
    paths["no object"] = f"{store.at()}/elsewhere"
    path = paths.get(wrong, store.data)
    ended = far.here(verb, far.spec(**far_spec(store, path=path, runs="runs")))
    assert ended.code == 3
    assert ended.message.startswith("dnfscale: ")
    assert path in ended.message
    assert WRONG[wrong] in ended.message
    assert "wrong-secret-of-nobody" not in ended.err
    assert not far.folder().exists()


@every_store
@pytest.mark.parametrize("wrong", ["other keys", "no bucket"])
def test_a_place_that_cannot_be_written_is_told_of(far, store, monkeypatch, wrong):
    if wrong == "other keys":
        use_wrong_keys(store, monkeypatch)
    runs = f"{store.at('no-such-bucket')}/runs" if wrong == "no bucket" else store.runs
    spec = far_spec(store, path="t.parquet", runs=runs)
    spec["output.storage"] = spec.pop("data.storage")
    ended = far.here("run", far.spec(**spec))
    assert ended.code == 2
    assert "job.toml:" in ended.message
    assert "output.dir must be a folder that can be written" in ended.message
    # Google answers alike whether a bucket or an object is missing.
    no_bucket = "nothing of this name" if store.scheme == "gs" else "no such bucket"
    said = {"no bucket": f"there is {no_bucket}", "other keys": "access is denied: expected"}
    assert said[wrong] in ended.message


@pytest.mark.parametrize("store", ["s3", "abfs"], indirect=True)
def test_a_server_that_is_not_there_is_told_of(far, store):
    spec = far_spec(store)
    spec["data.storage"] = {**store.reached, "endpoint": "http://127.0.0.1:1"}
    ended = far.here("validate", far.spec(**spec))
    assert ended.code == 3
    assert "the store does not answer" in ended.message


def big_table() -> pa.Table:
    """A table whose columns are larger than what the wire lets through at once."""
    random = np.random.default_rng(5)
    columns = {f"x{i}": random.normal(size=60_000) for i in range(3)}
    return pa.table({**columns, "y": columns["x0"] + random.normal(size=60_000) > 0})


def through(desk: Desk, store: Store, *, breaks: int) -> tuple[Ended, Wire]:
    """Run a fit whose data comes through a wire that breaks."""
    store.put_table("data/big.parquet", big_table())
    wire = Wire(store.port, after_bytes=400_000, breaks=breaks)
    try:
        spec = far_spec(store, path=f"{store.at()}/data/big.parquet", runs="runs")
        spec["data.storage"] = {**store.reached, "endpoint": wire.endpoint}
        return desk.here("run", desk.spec(**spec)), wire
    finally:
        wire.close()


@every_store
def test_a_read_whose_connection_breaks_is_tried_again(far, store):
    ended, wire = through(far, store, breaks=3)
    assert ended.code == 0, ended.err
    assert wire.broken == 3
    far.table(big_table(), "big.parquet")
    assert (
        far.here("run", far.spec(kind="study", name="near", data={"path": "big.parquet"})).code == 0
    )
    near = essence(far.folder("near") / "result.json").replace('"name": "near"', '"name": "job"')
    assert essence(far.folder() / "result.json") == near


def test_a_read_whose_connection_always_breaks_ends_the_run(far, store):
    # S3 alone: the clients of the others go on where an answer broke off, and so get through.
    ended, wire = through(far, store, breaks=1_000)
    assert ended.code == 3
    assert (
        f"{store.at()}/data/big.parquet: expected to read its columns, but that failed"
        in ended.message
    )
    assert "the connection broke each time it was tried" in ended.message
    assert 2 <= wire.broken <= 20, "tried too often, or not again"
    assert not (far.folder() / "result.json").exists()


@every_store
@pytest.mark.usefixtures("far")
def test_an_object_that_is_put_again_is_another(store):
    access = Access(**store.reached)
    source = open_source(store.data, access)
    source.check_unchanged()
    table = small_table()
    store.put_table("data/t.parquet", pa.table({**table, "x": -table["x"]}), row_group_size=60)
    [partition] = source.partitions
    # A store's times are whole seconds: of an object that is put again within one, the etag is
    # another.
    said = (
        r"t\.parquet: expected the file that the job began with.*(written since|with "
        r"another footer)"
    )
    with pytest.raises(DataError, match=said):
        list(partition.blocks(Reading((Column("x", Role.NUMBER),), "y")))
    with pytest.raises(DataError, match=said):
        source.check_unchanged()


def twin_table() -> pa.Table:
    table = small_table()
    return pa.table({**table, "x": -table["x"], "y": ~table["y"]})


def test_an_object_replaced_by_its_twin_is_refused_when_a_run_is_resumed_and_its_copy_is_not(
    far, store
):
    plain = {"row_group_size": 60, **PLAIN}
    store.put_table("data/t.parquet", pa.table(small_table()), **plain)
    far.spec(**far_spec(store))
    die(far, store, "start count types", "run", "job.toml")
    size = len(store.read("data/t.parquet"))
    store.put_table("data/t.parquet", twin_table(), **plain)
    assert len(store.read("data/t.parquet")) == size
    ended = far.here("run", "job.toml", "--resume")
    assert ended.code == 3
    assert (
        f"{store.data}: expected the data that the run in {store.runs}/job began with, but "
        "this file has changed since"
    ) in (ended.message)
    store.put_table("data/t.parquet", pa.table(small_table()), **plain)
    assert far.here("run", "job.toml", "--resume").code == 0
    assert far_essence(store) == near_essence(far)


@pytest.mark.usefixtures("far")
def test_an_object_of_another_etag_is_told_by_its_contents(store):
    [file] = open_source(store.data, Access(**store.reached)).files
    another = replace(file.stamp, place="etag=another")
    replace(file, stamp=another).check()
    with pytest.raises(DataError, match="but with other values"):
        replace(file, stamp=another, sample=replace(file.sample, digest="another")).check()


@pytest.mark.usefixtures("far")
def test_an_object_that_is_not_parquet_is_refused_by_name_whatever_its_name(store):
    access = Access(**store.reached)
    for name in ("a.parquet", "b.PARQUET", "000000_0", "deep/c"):
        store.put_table(f"data/odd/{name}", pa.table({"x": [1], "y": [True]}))
    store.put("data/odd/_SUCCESS", b"")
    assert open_source(f"{store.at()}/data/odd", access).n_rows == 4
    store.put("data/odd/notes.txt", b"")
    for path in ("odd", "odd/*", "odd/**"):
        with pytest.raises(
            DataError, match=r"odd/notes\.txt: expected a Parquet file, .*\(it is empty\)"
        ):
            open_source(f"{store.at()}/data/{path}", access)


@pytest.mark.parametrize(
    "path",
    [
        "tree",
        "tree/year=2024",
        "tree/*/a.parquet",
        "tree/**/*.parquet",
        "tree/year=202[35]",
        "tree/year=202[!3]",
    ],
)
def test_folders_keys_and_globs_are_those_of_this_machine(far, store, path):
    for name in (
        "year=2023/a.parquet",
        "year=2024/a.parquet",
        "year=2024/b/c.parquet",
        "year=2024/_not.parquet",
    ):
        rows = pa.table({"x": [len(name), 2], "y": [True, False]})
        store.put_table(f"data/tree/{name}", rows)
        far.table(rows, f"tree/{name}")
    if path.endswith("]"):
        path += "/a.parquet"
    there = open_source(f"{store.at()}/data/{path}", Access(**store.reached))
    here = open_source(str(far.path / path))
    assert (there.types, there.n_rows) == (here.types, here.n_rows)
    root = f"{store.at()}/data/"
    assert [file.path.removeprefix(root) for file in there.files] == [
        file.path.removeprefix(f"{far.path}/") for file in here.files
    ]


@every_store
@pytest.mark.portable
def test_predictions_go_from_the_store_to_the_store(far, store):
    assert far.here("run", far.spec(**far_spec(store))).code == 0
    at = store.options
    model, answers = f"{store.runs}/job/model.json", f"{store.runs}/answers"
    ended = far.here("predict", model, store.data, "--output", answers, *at)
    assert ended.code == 0, ended.err
    assert store.names("runs/answers") == ["_SUCCESS", "part-00000.parquet"]
    near_essence(far)
    assert (
        far.here("predict", far.folder() / "model.json", "t.parquet", "--output", "answers").code
        == 0
    )
    written = pq.read_table(pa.BufferReader(store.read("runs/answers/part-00000.parquet")))
    assert written.equals(pq.read_table(far.path / "answers" / "part-00000.parquet"))
    again = far.here("predict", model, store.data, "--output", answers, *at)
    assert again.code == 2
    assert f"{answers} is already there" in again.message
    assert far.here("predict", model, store.data, "--output", answers, "--force", *at).code == 0
    assert far.here("explain", model, store.data, "--row", "3", *at).code == 0
    assert far.here("export", model, "--to", "sql", *at).code == 0
    before = store.read("runs/job/report.html")
    assert far.here("report", f"{store.runs}/job", *at).code == 0
    assert store.read("runs/job/report.html") == before


@every_store
def test_force_in_the_store_replaces_an_earlier_prediction_and_nothing_else(far, store):
    assert far.here("run", far.spec(**far_spec(store))).code == 0
    at = store.options
    verb = ("predict", f"{store.runs}/job/model.json")
    asked = (*verb, store.data, "--output", f"{store.runs}/mine", "--force", *at)
    assert far.here(*asked).code == 0
    first = store.read("runs/mine/part-00000.parquet")
    store.put_table("runs/mine/part-00007.parquet", pq.read_table(pa.BufferReader(first)))
    store.put_table("runs/mine/_NEW/part-00003.parquet", pq.read_table(pa.BufferReader(first)))
    ended = far.here(*asked)
    assert ended.code == 0, ended.err
    assert store.names("runs/mine") == ["_SUCCESS", "part-00000.parquet"]
    assert store.read("runs/mine/part-00000.parquet") == first
    store.put_table("runs/mine/dear.parquet", pa.table({"x": [1]}))
    before = store.names("runs")
    ended = far.here(*asked)
    assert ended.code == 2
    assert "expected nothing but an earlier prediction for --force to replace" in ended.message
    assert "'dear.parquet'" in ended.message
    for output in (store.at(), f"{store.at()}/"):
        ended = far.here(*verb, "t.parquet", "--output", output, "--force", *at)
        assert ended.code == 2
        assert "must be a folder" in ended.message
    assert store.names("runs") == before


@pytest.mark.usefixtures("far")
def test_a_prediction_that_fails_in_the_store_leaves_the_earlier_one(store):
    access = Access(**store.reached)
    for name, failing in (("a", False), ("a", True), ("b", True)):
        with (
            suppress(RuntimeError),
            new_folder(f"{store.runs}/{name}", access, columns=[("x",)], force=True) as folder,
        ):
            write_part(pa.table({"x": [int(failing)]}), folder, 0, "parquet", access)
            if failing:
                raise RuntimeError("a task")
    assert store.names("runs/a") == ["_SUCCESS", "part-00000.parquet"]
    assert pq.read_table(pa.BufferReader(store.read("runs/a/part-00000.parquet")))[
        "x"
    ].to_pylist() == [0]
    assert store.names("runs/b") == []


def test_a_spec_can_begin_in_the_store(far, store):
    ended = far.here("init", store.data, "--target", "y", *store.options)
    assert ended.code == 0, ended.err
    text = (far.path / "t.toml").read_text()
    assert f'path = "{store.data}"' in text
    assert f'[data.storage]\nendpoint = "{store.endpoint}"\nregion = "us-east-1"\n' in text
    assert far.here("validate", "t.toml").code == 0
    assert "240 rows in" in far.here("plan", "t.toml").out


@pytest.mark.usefixtures("far")
def test_what_the_environment_says_of_the_server_is_heard(store, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", store.endpoint)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert open_source(store.data).n_rows == 240
