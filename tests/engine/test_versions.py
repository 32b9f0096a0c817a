"""Which differences of software forbid a job, and how they are told."""

from __future__ import annotations

import pytest

from dnfscale.engine.versions import Software

SAME = {
    "python": "3.11",
    "dnfscale": "1.0",
    "dask": "5",
    "distributed": "5",
    "cloudpickle": "3",
    "msgpack": "1",
    "numpy": "2.1",
    "pyarrow": "20",
    "scipy": "1.15",
    "scikit-learn": "1.6",
    "sympy": "1.13",
    "xgboost": "3",
    "optuna": "4",
    "pandas": "missing",
    "numba": "missing",
}


def software(*, here: dict[str, str] | None = None, scheduler: dict[str, str] | None = None, **odd: str) -> Software:
    workers = {f"tcp://w:{number}": SAME for number in range(5)}
    workers["tcp://w:5"] = {**SAME, **odd}
    return Software({**SAME, **(here or {})}, {**SAME, **(scheduler or {})}, workers)


def test_the_same_software_is_nothing_to_tell():
    assert software().differences() == ([], [])


@pytest.mark.parametrize("package", ["python", "dnfscale", "dask", "distributed"])
def test_what_tasks_travel_with_must_be_the_same_everywhere(package):
    for found in (software(here={package: "0"}), software(scheduler={package: "0"}), software(**{package: "0"})):
        assert found.differences() == ([package], [])


def test_what_computes_must_be_the_same_on_all_workers_only():
    assert software(numpy="2.0").differences() == (["numpy"], [])
    assert software(numba="0.60").differences() == (["numba"], [])
    assert software(scheduler={"numpy": "2.0"}).differences() == ([], [])
    assert software(here={"numpy": "2.0", "pandas": "2.2"}).differences() == ([], ["numpy", "pandas"])


def test_what_no_worker_has_is_missing_whatever_is_here():
    lacking = {**SAME, "xgboost": "missing"}
    assert Software(lacking, lacking, {"tcp://w:1": lacking}).differences() == (["xgboost"], [])


def test_a_cluster_without_workers_is_judged_by_its_scheduler():
    assert Software(SAME, SAME, {}).differences() == ([], [])
    assert Software(SAME, {**SAME, "dnfscale": "missing"}, {}).differences() == (["dnfscale"], [])


def test_the_table_names_the_odd_worker_and_counts_the_others():
    found = software(here={"python": "3.12"}, numpy="2.0")
    assert found.table(["python", "numpy"]).splitlines() == [
        "          here  scheduler  workers",
        "  python  3.12  3.11       3.11",
        "  numpy   2.1   2.1        2.1 on 5 workers; 2.0 on tcp://w:5",
    ]
