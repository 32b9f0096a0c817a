"""The process of a driver: how it ends, and how that is told."""

from __future__ import annotations

from collections.abc import Callable

import psutil
import pytest

from dnfscale.submit.supervisor import Driver


def started(limit_bytes: int, connection: dict[str, object] | None = None) -> Driver:
    """The driver of a job that says nothing of what to do, so that it breaks."""
    return Driver(
        "dnfscale.submit.driver",
        {},
        attempt=1,
        connection=connection or {},
        limit_bytes=limit_bytes,
    )


def ended(
    driver: Driver, meanwhile: Callable[[Driver], object] = lambda _driver: None
) -> tuple[int, str | None]:
    """Look after a driver until it has ended."""
    try:
        while not driver.wait(0.1):
            meanwhile(driver)
        return driver.exit_code, driver.error
    finally:
        driver.kill()


def test_a_driver_over_the_limit_of_its_worker_is_ended_and_says_so():
    code, error = ended(started(1 << 20), Driver.measure)
    assert code == 5
    assert error == (
        "expected the driver to stay below the 1 MiB of its worker, but it took more; give "
        "the workers more memory"
    )


@pytest.mark.slow
def test_a_driver_beside_a_large_worker_is_told_of_once():
    room = psutil.Process().memory_info().rss
    driver = started(room + 1)
    ended(driver, Driver.measure)
    told = [line for line in driver.said() if line.startswith("dnfscale: the driver uses ")]
    assert len(told) == 1
    assert told[0].endswith("MiB; see that the machine has room for both")


def test_a_driver_that_is_killed_did_not_fit():
    before = set(psutil.Process().children())
    driver = started(0)
    [process] = set(psutil.Process().children()) - before
    process.kill()
    code, error = ended(driver)
    assert code == 5
    assert (
        error
        == "the driver was killed by SIGKILL, most likely for want of memory; give its machine more"
    )


@pytest.mark.slow
def test_a_driver_that_breaks_says_how():
    driver = started(0, {"tls": {}})
    assert ended(driver) == (1, "KeyError: 'client_name'")
    lines = driver.said()
    assert lines[0].startswith("Traceback")
    driver.forget(len(lines) - 1)
    assert driver.said() == ["KeyError: 'client_name'"]


def test_a_driver_that_is_stopped_ends_by_the_signal():
    code, _ = ended(started(0), Driver.stop)
    assert code in (143, 1), (
        "asked before it listens, it ends at once; afterwards in order, or broken already"
    )


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 1 << 40])
def test_memory_within_the_limit_is_measured_and_let_be(limit):
    measured: list[int] = []
    code, _ = ended(started(limit, {"tls": {}}), lambda driver: measured.append(driver.measure()))
    assert code == 1
    assert max(measured) > 1 << 20
