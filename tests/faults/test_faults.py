"""Some faults, and a short soak; `python -m tests.faults` does all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.__main__ import FAULTS, as_row, main, try_fault
from tests.faults.fault import IDENTICAL, RESUMED
from tests.faults.ground import SMALL, Ground, ground
from tests.faults.soak import soak

QUICK = (
    "kill-read-rows",
    "kill-several",
    "pause",
    "file-truncated",
    "kill-trial",
    "joint-kill",
    "scheduler",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("faults") / "ground") as made:
        yield made


@pytest.mark.parametrize("name", QUICK)
def test_a_job_survives(place, name):
    [fault] = [fault for fault in FAULTS if fault.name == name]
    tried = try_fault(fault, place, 1)
    assert (tried.outcome, tried.runs) == (fault.outcome, 1)


def test_every_result_under_random_kills_is_that_of_a_quiet_run(place):
    soaked = soak(place, minutes=3, faults=2, seed=5, freezes=0, workers=2, studies=SMALL)
    assert soaked.kills == 2
    assert soaked.jobs >= 1
    assert (soaked.failed, soaked.bytes_differing) == (0, 0)


def test_a_fault_that_is_not_survived_is_told(place, monkeypatch):
    monkeypatch.setitem(place._quiet, "formula", "{}")
    [fault] = [fault for fault in FAULTS if fault.name == "kill-count-types"]
    tried = try_fault(fault, place, 2)
    assert (tried.runs, tried.survived) == (0, False)
    assert "NOT SURVIVED: the result is another" in as_row(tried)


def test_there_are_at_least_fifteen_kinds_each_of_its_own_name(capsys):
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len({fault.name for fault in FAULTS}) == len(FAULTS) >= 15
    assert {IDENTICAL, RESUMED} <= {fault.outcome for fault in FAULTS}


def test_an_unknown_fault_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["earthquake"])
    assert "FAULT must be one of kill-sample-columns" in capsys.readouterr().err
