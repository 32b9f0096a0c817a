from __future__ import annotations

import io

import pytest

from dnfscale.engine.api import Progress
from dnfscale.jobs.progress import ProgressLines


class Screen(io.StringIO):
    """A stream that is a terminal or not."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def shown(
    steps: list[tuple[float, int]],
    *,
    terminal: bool,
    n_rows: int = 1000,
    phase: str = "count types",
) -> str:
    """What is written when, at some seconds, so many of ten tasks are done."""
    screen, clock = Screen(terminal=terminal), Clock()
    lines = ProgressLines(screen, clock=clock)
    lines.begin("job", n_rows, 10, scans={"count types"})
    begun = len(screen.getvalue())
    for elapsed_s, done in steps:
        clock.now_s = 1000.0 + elapsed_s
        lines.progress("job", Progress(phase, done, 10))
    return screen.getvalue()[begun:]


def test_a_phase_that_is_done_is_one_plain_line_without_control_characters():
    text = shown([(0, 0), (1, 5), (2, 10)], terminal=False)
    assert text.count("\n") == 1
    assert "\r" not in text
    assert "\x1b" not in text
    assert text.split() == ["count", "types", "10/10", "2.0", "s", "500", "rows/s"]


def test_a_long_phase_is_told_of_again_with_its_speed_and_the_time_left():
    text = shown([(0, 0), (4, 1), (8, 2), (9, 3), (40, 10)], terminal=False)
    middle, last = text.splitlines()
    assert middle.split() == [
        "count",
        "types",
        "2/10",
        "8.0",
        "s",
        "25",
        "rows/s",
        "32",
        "s",
        "left",
    ]
    assert last.split() == ["count", "types", "10/10", "40.0", "s", "25", "rows/s"]


def test_a_terminal_shows_a_line_that_moves_and_ends_it_when_the_phase_is_done():
    text = shown([(0, 0), (1, 5), (1.01, 6), (2, 10)], terminal=True)
    assert text.count("\n") == 1
    assert text.endswith("\n")
    drawn = [piece.split() for piece in text.split("\r\x1b[K") if piece]
    assert [piece[2] for piece in drawn] == ["5/10", "10/10"], "redrawn at most ten times a second"


def test_a_phase_that_is_no_scan_has_no_rows_per_second():
    assert "rows/s" not in shown([(0, 0), (2, 10)], terminal=False, phase="rank attributes")


def test_a_phase_that_took_no_time_at_all_is_shown():
    assert "10/10" in shown([(0, 0), (0, 10)], terminal=False)


@pytest.mark.parametrize(("terminal", "before"), [(False, ""), (True, "\r\x1b[K")])
def test_a_job_begins_with_a_line_of_its_own(terminal, before):
    screen = Screen(terminal=terminal)
    ProgressLines(screen).begin("adult", 48_842, 2, scans=())
    assert screen.getvalue() == f"{before}adult: 48,842 rows in 2 partitions\n"


def test_jobs_side_by_side_are_told_apart():
    screen, clock = Screen(terminal=False), Clock()
    lines = ProgressLines(screen, clock=clock)
    for name, n_rows in (("one", 1000), ("two", 3000)):
        lines.begin(name, n_rows, 1, scans={"count types"})
        lines.progress(name, Progress("count types", 0, 1))
    clock.now_s += 2
    lines.progress("two", Progress("count types", 1, 1))
    lines.progress("one", Progress("count types", 1, 1))
    two, one = screen.getvalue().splitlines()[2:]
    assert "two: count types" in two
    assert "1,500 rows/s" in two
    assert "one: count types" in one
    assert "500 rows/s" in one
