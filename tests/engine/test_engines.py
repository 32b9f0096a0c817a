"""One contract for every engine: SerialEngine is right by definition, a cluster does the same."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial

import dask
import distributed
import psutil
import pytest

from dnfscale.engine.api import Engine, Failure, JointWork, Notice, Progress, Share, unwatched
from dnfscale.engine.dask.engine import ClusterEngine
from dnfscale.engine.dask.local import start_local
from dnfscale.engine.dask.settings import ALLOWED_FAILURES
from dnfscale.engine.launch import launch
from dnfscale.engine.reductions import check_merge
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import ClusterError, DataError, LimitError
from dnfscale.spec.cluster import ClusterSpec

UNUSED_MODULE = "wave"
"""What nobody loads who is not told to."""

# Work for the engines: top-level functions, so that they pickle.


def is_loaded(module: str) -> bool:
    return module in sys.modules


def square(item: int) -> int:
    return item * item


def add(parts: Sequence[int]) -> int:
    return sum(parts)


def listed(item: int) -> tuple[int, ...]:
    return (item,)


def union(parts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted(i for part in parts for i in part))


def widest(parts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Merge pairs (sum, most parts ever merged at once)."""
    return sum(value for value, _ in parts), max(len(parts), *(width for _, width in parts))


def paired(item: int) -> tuple[int, int]:
    return item, 0


def spoil(item: int) -> int:
    if item == 7:
        raise DataError("part 7: expected rows, got none; write it again", "data.path")
    return item


def refuse(parts: Sequence[int]) -> int:
    raise DataError(f"cannot merge {len(parts)} parts", "data.target")


def divide(item: int) -> float:
    return 1 / (item - 3)


def with_pid(item: int) -> tuple[int, int]:
    return os.getpid(), item


def slowly_with_pid(item: int) -> tuple[int, int]:
    time.sleep(0.005)
    return with_pid(item)


def value_of(kept: tuple[int, int]) -> int:
    return kept[1]


def pids_of(kept: tuple[int, int]) -> frozenset[int]:
    return frozenset({kept[0]})


def union_of_pids(parts: Sequence[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*parts)


def die(_item: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def eat(n_bytes: int) -> int:
    eaten = b"x" * n_bytes
    time.sleep(60)
    return len(eaten)


def die_of_zero(item: int) -> int:
    if item == 0:
        die(item)
    # Long enough for a worker to die before all of its other tasks are done.
    time.sleep(0.2)
    return item


@dataclass(frozen=True)
class Scaled:
    """A function that carries data along, as the scans do."""

    factor: int

    def __call__(self, item: int) -> int:
        return self.factor * item


Heard = list[Progress]


@pytest.fixture(params=["serial", "cluster"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return SerialEngine() if request.param == "serial" else request.getfixturevalue("cluster")


@pytest.fixture
def watched(engine: Engine) -> tuple[Engine, Heard]:
    """An engine and the list of what it says of its progress."""
    heard: Heard = []
    return engine.watched_by(heard.append), heard


@pytest.mark.portable
@pytest.mark.parametrize("n_items", [*range(1, 21), 27, 28, 50])
def test_reducing_is_summing_over_all_items(engine, n_items):
    assert engine.reduce("add squares", range(n_items), square, add) == sum(
        i * i for i in range(n_items)
    )


@pytest.mark.parametrize("n_items", [1, 2, 3, 9, 10, 33])
def test_every_item_is_summarized_exactly_once(engine, n_items):
    assert engine.reduce("list", range(n_items), listed, union) == tuple(range(n_items))


def test_a_single_item_is_merged_too(engine):
    assert engine.reduce("add", [5], square, partial(max, default=0)) == 25
    assert engine.reduce("widest", [5], paired, widest) == (5, 1)


@pytest.mark.portable
@pytest.mark.parametrize("fan_in", [2, 3, 5, 16, 100])
def test_results_do_not_depend_on_the_fan_in_and_no_merge_takes_more(engine, fan_in, monkeypatch):
    monkeypatch.setattr(engine, "fan_in", fan_in)
    total, width = engine.reduce("widest", range(40), paired, widest)
    assert total == sum(range(40))
    assert width <= fan_in


def test_a_map_keeps_the_order_of_its_items(engine):
    items = [5, 3, 9, 1, 1, 0, 12]
    assert engine.map("square", items, square) == [i * i for i in items]


def test_a_map_of_nothing_is_nothing(engine):
    assert engine.map("square", [], square) == []


def test_items_may_be_any_value_that_pickles(engine):
    items = [("a", 1), {"b": [2]}, None, "text", frozenset({3}), ClusterSpec()]
    assert engine.map("repeat", items, repr) == [repr(item) for item in items]


def test_a_function_carries_its_own_data(engine):
    assert engine.map("scale", range(5), Scaled(10)) == [0, 10, 20, 30, 40]


@pytest.mark.portable
def test_what_is_kept_stands_for_its_result_in_later_calls(engine):
    kept = engine.keep("square", range(12), square)
    assert len(kept) == 12
    assert engine.map("same", kept, Scaled(1)) == [i * i for i in range(12)]
    assert engine.reduce("add", kept, Scaled(2), add) == 2 * sum(i * i for i in range(12))
    again = engine.keep("scale", kept, Scaled(3))
    assert engine.reduce("add", again, Scaled(1), add) == 3 * sum(i * i for i in range(12))


def test_keeping_nothing_keeps_nothing(engine):
    assert list(engine.keep("square", [], square)) == []


def test_two_phases_of_one_name_do_not_get_mixed_up(engine):
    assert engine.map("work", range(4), Scaled(1)) == [0, 1, 2, 3]
    assert engine.map("work", range(4), Scaled(2)) == [0, 2, 4, 6]


Call = Callable[[Engine], object]
SPOILT: dict[str, Call] = {
    "reduce": lambda engine: engine.reduce("spoil", range(12), spoil, add),
    "map": lambda engine: engine.map("spoil", range(12), spoil),
    "keep, then reduce": lambda engine: engine.reduce(
        "add", engine.keep("spoil", range(12), spoil), square, add
    ),
}


@pytest.mark.portable
@pytest.mark.parametrize("call", SPOILT)
def test_our_own_errors_arrive_as_they_were_raised(engine, call):
    with pytest.raises(
        DataError, match=r"^part 7: expected rows, got none; write it again$"
    ) as caught:
        SPOILT[call](engine)
    assert caught.value.key == "data.path"
    assert caught.value.exit_code == 3


def test_our_own_errors_arrive_from_a_merge(engine):
    with pytest.raises(DataError, match=r"^cannot merge \d+ parts$") as caught:
        engine.reduce("refuse", range(9), square, refuse)
    assert caught.value.key == "data.target"


def test_other_errors_arrive_too(engine):
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        engine.map("divide", range(6), divide)


def test_an_engine_works_on_after_an_error(engine):
    with pytest.raises(DataError, match="part 7"):
        engine.map("spoil", range(12), spoil)
    assert engine.reduce("add", range(12), square, add) == sum(i * i for i in range(12))


PHASES: dict[str, Call] = {
    "reduce": lambda engine: engine.reduce("count types", range(10), square, add),
    "map": lambda engine: engine.map("count types", range(10), square),
    "a single item": lambda engine: engine.reduce("count types", [3], square, add),
}


@pytest.mark.portable
@pytest.mark.parametrize("phase", PHASES)
def test_progress_begins_with_nothing_never_exceeds_the_total_and_ends_with_all(watched, phase):
    engine, heard = watched
    PHASES[phase](engine)
    total = 1 if phase == "a single item" else 10
    assert heard[0] == Progress("count types", 0, total)
    assert heard[-1] == Progress("count types", total, total)
    assert {progress.phase for progress in heard} == {"count types"}
    assert {progress.total for progress in heard} == {total}
    done = [progress.done for progress in heard]
    assert done == sorted(done)
    assert done[-1] == max(done) == total


def test_the_progress_of_a_phase_that_fails_never_reaches_the_total(watched):
    engine, heard = watched
    with pytest.raises(DataError, match="part 7"):
        engine.map("spoil", range(12), spoil)
    assert heard[0] == Progress("spoil", 0, 12)
    assert all(progress.done < 12 for progress in heard)


def test_an_engine_describes_itself(engine):
    described = engine.describe()
    assert described["engine"] in {"serial", "dask"}
    assert described["workers"] >= 1


def test_an_engine_with_another_watcher_works_on_the_same_workers_and_closing_it_closes_nothing(
    engine,
):
    heard: Heard = []
    guest = engine.watched_by(heard.append)
    kept = engine.keep("square", range(4), square)
    assert guest.reduce("add", kept, Scaled(1), add) == 14
    guest.close()
    assert engine.map("square", [3], square) == [9]
    assert {progress.phase for progress in heard} == {"add"}


# Chains of tasks.


def counting_down(start: int) -> Generator[int, int, list[int]]:
    """A chain that asks for the square of start, start - 1, ..., 1."""
    answers = []
    for item in range(start, 0, -1):
        answers.append((yield item))
    return answers


def forgiving() -> Generator[int, object, object]:
    """A chain whose second task fails, and that says what it was told."""
    assert (yield 4) == 1.0
    failure = yield 3
    return failure, (yield 5)


@pytest.mark.portable
def test_every_chain_is_sent_the_results_of_its_own_tasks_and_ends_in_its_place(engine):
    chains = [counting_down(n) for n in (3, 0, 1, 5)]
    found = engine.chain("count down", chains, square, expected=9)
    assert found == [[9, 4, 1], [], [1], [25, 16, 9, 4, 1]]


def test_no_chains_have_no_results(engine):
    assert engine.chain("nothing", [], square, expected=0) == []


def test_a_task_of_a_chain_that_fails_is_told_to_its_chain_which_goes_on(engine):
    [(failure, answer)] = engine.chain("divide", [forgiving()], divide, expected=3)
    assert failure == Failure("ZeroDivisionError: division by zero")
    assert answer == 0.5


def test_our_own_error_in_a_chain_arrives_as_it_was_raised(engine):
    with pytest.raises(
        DataError, match=r"^part 7: expected rows, got none; write it again$"
    ) as caught:
        engine.chain("spoil", [counting_down(2), counting_down(8)], spoil, expected=10)
    assert caught.value.key == "data.path"


@pytest.mark.parametrize("expected", [6, 4, 20])
def test_the_progress_of_chains_ends_with_what_was_expected_and_never_exceeds_it(watched, expected):
    engine, heard = watched
    engine.chain("count down", [counting_down(3), counting_down(3)], square, expected=expected)
    done = [progress.done for progress in heard]
    assert (done[0], done[-1]) == (0, expected)
    assert done == sorted(done)
    assert {progress.total for progress in heard} == {expected}


# Work of all workers together.


def together(engine: Engine, function: Callable[[int, Share], object], *starts: int) -> object:
    return engine.together(
        "together",
        [counting_down(start) for start in starts],
        JointWork(function, range(10), meeting, list),
        expected=sum(starts),
    )


def meeting(host: str, size: int) -> tuple[str, int]:
    return host, size


def shared(item: int, share: Share) -> tuple[int, list[int], object]:
    time.sleep(0.01 * share.rank)
    assert share.meeting[1] == share.size
    return share.rank, [item * each for each in share.items], os.getpid()


def divide_share(item: int, share: Share) -> float:
    return 1 / (item - share.items[0])


def spoil_share(item: int, share: Share) -> int:
    return spoil(7 if 9 in share.items else item)


@pytest.mark.portable
def test_work_together_is_dealt_in_order_and_each_task_is_sent_what_all_shares_came_to(engine):
    [answers] = together(engine, shared, 2)
    assert len(answers) == 2
    for item, parts in zip((2, 1), answers, strict=True):
        assert [rank for rank, _, _ in parts] == list(range(len(parts)))
        assert [n for _, numbers, _ in parts for n in numbers] == [item * n for n in range(10)]
        assert len({process for _, _, process in parts}) == len(parts)


def test_work_together_of_which_a_share_fails_is_told_to_its_chain_which_goes_on(engine):
    [(failed, answer)] = engine.together(
        "together",
        [forgiving_all()],
        JointWork(divide_share, range(10), meeting, list),
        expected=2,
    )
    assert failed == Failure("ZeroDivisionError: division by zero")
    assert answer[0] == 1.0


def forgiving_all() -> Generator[int, object, object]:
    """A chain whose first task fails in its first share."""
    failure = yield 0
    return failure, (yield 1)


def test_our_own_error_in_work_together_arrives_as_it_was_raised(engine):
    with pytest.raises(DataError, match=r"^part 7: expected rows, got none; write it again$"):
        together(engine, spoil_share, 1)


# A cluster only.


def test_work_together_is_on_all_workers(cluster):
    [[parts]] = together(cluster, shared, 1)
    assert len(parts) == 2
    assert os.getpid() not in {process for _, _, process in parts}


def test_a_cluster_knows_the_memory_of_its_smallest_worker(cluster):
    assert cluster.worker_bytes == 2**30
    assert cluster.describe() == {
        "engine": "dask",
        "workers": 2,
        "threads": 2,
        "hosts": 1,
        "worker_bytes": 2**30,
        "memory_bytes": 2**31,
    }


def test_work_is_done_by_the_workers_not_here(cluster):
    assert os.getpid() not in {pid for pid, _ in cluster.map("pids", range(8), with_pid)}


@pytest.mark.portable
@pytest.mark.parametrize("n_items", [2, 5, 8, 24])
def test_tasks_are_dealt_out_evenly_in_every_phase(cluster, n_items):
    for _phase in range(7):
        done = Counter(pid for pid, _ in cluster.map("deal", range(n_items), slowly_with_pid))
        assert len(done) == 2
        assert max(done.values()) - min(done.values()) <= 1


@pytest.mark.portable
def test_a_local_cluster_listens_to_its_own_machine_alone(cluster):
    """Schedulers, workers and dashboards: whoever reaches one of the former can run code on it."""
    workers = {pid for pid, _ in cluster.map("pids", range(8), with_pid)}
    sockets = [
        each
        for pid in (os.getpid(), *workers)
        for each in psutil.Process(pid).net_connections("tcp")
    ]
    listening = {each.laddr.ip for each in sockets if each.status == psutil.CONN_LISTEN}
    assert listening
    assert listening <= {"127.0.0.1", "::1"}


def test_a_worker_of_this_machine_begins_with_the_modules_that_it_is_told_to_load(cluster):
    engine = start_local(ClusterSpec(workers=1, memory_limit="1GiB"), loaded=[UNUSED_MODULE])
    with closing(engine):
        assert engine.map("look", [UNUSED_MODULE], is_loaded) == [True]
    assert cluster.map("look", [UNUSED_MODULE], is_loaded) == [False]


@contextmanager
def mortal_cluster(**settings: object) -> Iterator[ClusterEngine]:
    """A cluster of its own, with these settings of Dask, for a test that kills its workers."""
    chosen = dask.config.set(
        {f"distributed.{name.replace('__', '.')}": value for name, value in settings.items()}
    )
    with (
        chosen,
        closing(start_local(ClusterSpec(workers=2, memory_limit="1GiB", fan_in=3))) as engine,
    ):
        yield engine


@pytest.mark.portable
def test_workers_that_die_between_keeping_and_reducing_change_nothing():
    with mortal_cluster() as engine:
        kept = engine.keep("keep", range(20), with_pid)
        expected = engine.reduce("add", kept, value_of, add)
        holders = engine.reduce("pids", kept, pids_of, union_of_pids)
        os.kill(min(holders), signal.SIGKILL)
        assert engine.reduce("add again", kept, value_of, add) == expected == sum(range(20))
        everyone = {pid for pid, _ in engine.map("who is there", range(20), with_pid)}
        assert min(holders) not in everyone
        for pid in everyone:
            os.kill(pid, signal.SIGKILL)
        # What one worker had fetched from the other is lost too: everything kept is made again.
        assert engine.reduce("add once more", kept, value_of, add) == expected


def test_workers_that_take_long_to_come_back_are_waited_for_and_not_given_up(in_time):
    # After deploy.lost-worker-timeout, 15 s unless set, Dask ends the nanny of a worker that has
    # not come back: a slow start, or a second death just then, and the cluster has no workers for
    # good while the job waits for them.
    with mortal_cluster(deploy__lost_worker_timeout="1ms") as engine, in_time(30):
        for pid in {pid for pid, _ in engine.map("who is there", range(20), with_pid)}:
            os.kill(pid, signal.SIGKILL)
        assert engine.map("square", [4], square) == [16]


def allow_failures(count: int, dask_scheduler: distributed.Scheduler) -> None:
    assert dask_scheduler.allowed_failures == ALLOWED_FAILURES
    dask_scheduler.allowed_failures = count


def once(item: object) -> Generator[object, object, object]:
    return (yield item)


def fail_once(file: str) -> str:
    if os.path.exists(file):
        return "done"
    with open(file, "x", encoding="utf-8"):
        raise OSError("no room")


def never_end(_item: int) -> None:
    time.sleep(3600)


def test_a_task_of_a_chain_that_kills_its_workers_or_never_ends_has_failed_and_the_next_is_done(
    in_time, tmp_path
):
    """One test for all, because starting the processes takes longer than it."""
    with mortal_cluster() as engine, in_time(240):
        engine.client.run_on_scheduler(allow_failures, 1)
        assert engine.chain("die", [once(0)], die, expected=1) == [
            Failure("2 workers in a row died on it")
        ]
        kept = engine.keep("keep", range(6), with_pid)
        late = Failure("TaskTimeoutError: the task was still at work after 0.5 s")
        assert engine.chain("hang", [once(0)], never_end, expected=1, limit=lambda _item: 0.5) == [
            late
        ]
        assert engine.chain("fail", [once(str(tmp_path / "tried"))], fail_once, expected=1) == [
            "done"
        ]
        assert engine.chain("square", [once(4)], square, expected=1, limit=lambda _item: 60) == [16]
        assert engine.map("values", kept, value_of) == list(range(6))


def test_a_task_that_kills_its_workers_takes_no_other_task_with_it(in_time):
    with mortal_cluster() as engine, in_time(240):
        engine.client.run_on_scheduler(allow_failures, 0)
        answers = engine.chain("die", [once(item) for item in range(8)], die_of_zero, expected=8)
        assert answers == [Failure("1 workers in a row died on it"), *range(1, 8)]


def test_a_connection_that_is_lost_ends_the_job_even_if_the_scheduler_could_be_reached_again(
    in_time,
):
    with mortal_cluster() as engine, in_time(120):
        kept = engine.keep("keep", range(4), square)
        connection = engine.client.scheduler_comm.comm
        cut = threading.Timer(0.5, lambda: engine.client.loop.add_callback(connection.abort))
        cut.start()
        with pytest.raises(ClusterError, match="the connection to it was lost"):
            engine.map("hang", range(2), never_end)
        cut.join()
        with pytest.raises(ClusterError, match="the connection to it was lost"):
            engine.map("square", kept, square)


def test_a_task_that_a_worker_dies_of_is_a_lost_cluster_and_the_next_task_is_done():
    with mortal_cluster() as engine:
        engine.client.run_on_scheduler(allow_failures, 0)
        with pytest.raises(
            ClusterError, match=r"1 of them died on it, most likely for want of memory; raise"
        ):
            engine.map("die", [0], die)
        assert engine.map("square", [4], square) == [16]


def test_a_task_that_needs_more_memory_than_a_worker_has_is_over_a_limit():
    with mortal_cluster() as engine:
        heard: list[Notice] = []
        watched = engine.watched_by(unwatched, heard.append)
        engine.client.run_on_scheduler(allow_failures, 0)
        with pytest.raises(
            LimitError, match=r"1 of them died on it, because they used more than their memory"
        ):
            watched.map("eat", [1 << 30], eat)
        assert engine.map("square", [4], square) == [16]
    assert any("ended for using more than its memory" in notice.message for notice in heard)


def test_the_progress_of_a_finished_phase_is_not_set_back_by_a_late_event(cluster, monkeypatch):
    handlers = []
    heard: Heard = []
    subscribe = distributed.Client.subscribe_topic

    def remember(client: distributed.Client, topic: str, handler: Callable[[object], None]) -> None:
        handlers.append(handler)
        subscribe(client, topic, handler)

    monkeypatch.setattr(distributed.Client, "subscribe_topic", remember)
    cluster.watched_by(heard.append).map("square", range(4), square)
    # A task that ran again after a death is told of again, perhaps when the phase is over.
    for handler in handlers:
        handler((0.0, 1))
    assert heard[-1] == Progress("square", 4, 4)


def test_a_thousand_items_make_a_task_for_eight_of_them_each_and_few_beyond(cluster, monkeypatch):
    sizes = sizes_of_graphs(monkeypatch)
    monkeypatch.setattr(cluster, "fan_in", 8)
    assert cluster.reduce("add", range(1000), square, add) == sum(i * i for i in range(1000))
    [size] = sizes
    assert 125 < size < 160


def test_few_items_are_a_task_each_and_so_are_results_that_were_kept(cluster, monkeypatch):
    sizes = sizes_of_graphs(monkeypatch)
    monkeypatch.setattr(cluster, "fan_in", 100)
    monkeypatch.setattr(cluster, "_foreseen", 2)
    assert cluster.reduce("add", range(8), square, add) == sum(i * i for i in range(8))
    kept = cluster.keep("square", range(50), square)
    assert cluster.reduce("add", kept, square, add) == sum(i**4 for i in range(50))
    # Beside the tasks: the merge of all.
    assert sizes == [8 + 1, 50, 50 + 1]


def test_functions_that_are_large_are_in_the_graph_once(cluster, monkeypatch):
    sizes = sizes_of_graphs(monkeypatch)
    monkeypatch.setattr(cluster, "fan_in", 100)
    monkeypatch.setattr(cluster, "_foreseen", 2)
    large = bytes(1 << 16)
    merge = partial(_add_beside, large)
    assert cluster.reduce("add", range(8), partial(_square_beside, large), merge) == sum(
        i * i for i in range(8)
    )
    assert cluster.map("square", range(8), partial(_square_beside, large)) == [
        i * i for i in range(8)
    ]
    # Beside the tasks: the function, the merger, and the merge of all; the function.
    assert sizes == [8 + 3, 8 + 1]


def _square_beside(large: bytes, item: int) -> int:
    return square(item) * (len(large) == 1 << 16)


def _add_beside(large: bytes, parts: Sequence[int]) -> int:
    return add(parts) * (len(large) == 1 << 16)


@pytest.mark.parametrize("n_items", [1, 7, 8, 9, 40, 63, 64, 65])
def test_every_item_is_in_one_run_and_they_keep_their_order(cluster, monkeypatch, n_items):
    monkeypatch.setattr(cluster, "fan_in", 8)
    assert cluster.reduce("join", [[i] for i in range(n_items)], list, joined) == list(
        range(n_items)
    )


def joined(parts: Sequence[list[int]]) -> list[int]:
    return [item for part in parts for item in part]


def sizes_of_graphs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the size of every graph that is handed to Dask from now on."""
    sizes = []
    get = distributed.Client.get

    def measure(client: distributed.Client, graph: dict, keys: list, **options: object) -> object:
        sizes.append(len(graph))
        return get(client, graph, keys, **options)

    monkeypatch.setattr(distributed.Client, "get", measure)
    return sizes


# Launching and budgets.


@pytest.fixture
def serial() -> Iterator[Engine]:
    engine = launch(ClusterSpec(kind="serial"))
    yield engine
    engine.close()


def test_a_serial_cluster_is_the_serial_engine(serial):
    assert isinstance(serial, SerialEngine)
    assert serial.worker_bytes is None


MIB = 2**20


def test_a_merge_that_does_not_fit_in_a_worker_is_over_the_limit_before_it_starts():
    message = (
        r"^merging type counts may need 900 MiB, but a worker may use 512 MiB for it; "
        r"lower select\.max_ell$"
    )
    with pytest.raises(LimitError, match=message) as caught:
        check_merge(
            "type counts",
            100 * MIB,
            fan_in=8,
            worker_bytes=1024 * MIB,
            advice="lower select.max_ell",
            key="select.max_ell",
        )
    assert caught.value.key == "select.max_ell"


@pytest.mark.parametrize(
    ("summary_bytes", "worker_bytes"), [(100 * MIB, 1800 * MIB), (2**50, None), (0, 1)]
)
def test_a_merge_that_fits_is_let_pass(summary_bytes, worker_bytes):
    check_merge("counts", summary_bytes, fan_in=8, worker_bytes=worker_bytes, advice="", key="")


def test_threads_that_ask_for_the_workers_at_once_are_all_told_of_all(cluster):
    """Dask's client forgets its workers whenever its own clock asks how the scheduler is."""
    client = cluster.client
    limit, seen = cluster.worker_bytes, set()

    def ask() -> None:
        seen.update(cluster.worker_bytes for _ in range(100))

    def forget() -> None:
        for _ in range(200):
            client.scheduler_info(n_workers=0)

    threads = [threading.Thread(target=each) for each in (ask, ask, forget)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert limit is not None
    assert seen == {limit}
