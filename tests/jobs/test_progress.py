from __future__ import annotations

import io
import re

import pytest

from dnfscale.engine.api import Progress
from dnfscale.jobs.progress import PlainLines, Step, Watcher, clock_text, display_for, time_text
from dnfscale.jobs.screen import Screen

STEPS = (
    Step("read rows", "read all rows", is_scan=True, reads_files=True),
    Step("count types", "count rows by conditions", is_scan=True),
    Step("minimize formulas", "shorten formulas"),
    Step("count types", "count rows by conditions", is_scan=True),
)


class Stream(io.StringIO):
    """A stream that is a terminal or not."""

    def __init__(self, *, terminal: bool = False) -> None:
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


class Plain:
    """Plain lines with a clock that is set by hand."""

    def __init__(self, *, n_rows: int = 1000, n_jobs: int = 1, has_read: bool = True) -> None:
        self.stream, self.clock = Stream(), Clock()
        self.lines = PlainLines(self.stream, n_jobs=n_jobs, clock=self.clock)
        self.lines.begin("job", n_rows, 1, STEPS)
        self._read = 0
        if has_read:
            self.at(0, "read rows", 10)
        self.new()

    def at(self, elapsed_s: float, phase: str, done: int, total: int = 10) -> list[str]:
        """Return the lines after so many seconds, when so many tasks are done."""
        self.clock.now_s = 1000.0 + elapsed_s
        self.lines.progress("job", Progress(phase, done, total))
        return self.new()

    def tick(self, elapsed_s: float) -> list[str]:
        self.clock.now_s = 1000.0 + elapsed_s
        self.lines.tick()
        return self.new()

    def new(self) -> list[str]:
        text = self.stream.getvalue()[self._read :]
        self._read += len(text)
        return text.splitlines()


def test_a_step_that_is_done_is_one_plain_line_without_control_characters():
    plain = Plain()
    assert plain.at(0, "count types", 0) == []
    assert plain.at(0.5, "count types", 5) == []
    [line] = plain.at(0.9, "count types", 10)
    assert line == "  step 2 of 4    count rows by conditions          0.9 s"


def test_rows_per_second_are_told_of_scans_of_many_rows_alone():
    many = Plain(n_rows=1_000_000)
    many.at(0, "count types", 0)
    [line] = many.at(0.5, "count types", 10)
    assert line.endswith("2,000,000 rows/s")
    many.at(1, "minimize formulas", 0)
    [line] = many.at(1.5, "minimize formulas", 10)
    assert "rows/s" not in line


def test_a_step_that_takes_long_is_shown_though_nothing_of_it_is_done():
    plain = Plain()
    plain.at(0, "minimize formulas", 0)
    assert plain.tick(0.5) == []
    [line] = plain.tick(1.5)
    assert line == "  step 3 of 4    shorten formulas, 0 of 10, 0:01"
    assert plain.tick(5) == []
    [line] = plain.at(12, "minimize formulas", 4)
    assert line.endswith("4 of 10, 0:12, 18 s left")


def test_what_runs_now_is_told_with_a_step_that_takes_long():
    plain = Plain()
    plain.at(0, "minimize formulas", 0)
    plain.lines.detail("job", "XGBoost, fold 3")
    assert plain.tick(2) == ["  step 3 of 4    shorten formulas, 0 of 10, 0:02, XGBoost, fold 3"]


def test_a_phase_that_comes_twice_is_two_steps_and_one_that_no_plan_has_is_shown_by_its_name():
    plain = Plain()
    numbers = []
    for _ in range(3):
        plain.at(0, "count types", 0)
        [line] = plain.at(0, "count types", 10)
        numbers.append(line[:17].strip())
    assert numbers == ["step 2 of 4", "step 4 of 4", ""]


def test_the_time_left_of_a_resumed_step_is_judged_by_what_is_done_now():
    plain = Plain()
    plain.at(0, "minimize formulas", 90, 100)
    [line] = plain.at(10, "minimize formulas", 95, 100)
    assert line.endswith("95 of 100, 0:10, 10 s left")


def test_a_step_of_an_earlier_run_is_said_to_be_done_before():
    plain = Plain()
    plain.lines.recalled("job", "count types")
    assert plain.new() == ["  step 2 of 4    count rows by conditions      done before"]


def test_rows_that_are_read_when_a_later_step_asks_for_them_have_a_line_too():
    plain = Plain(has_read=False)
    first = plain.at(0, "count types", 0)
    assert first == ["  step 1 of 4    read all rows                 with step 2"]
    plain.at(0, "count types", 10)
    assert plain.at(0, "count types", 0) == []


def test_a_resumed_job_does_not_say_that_rows_are_read_by_a_step_that_needs_none():
    plain = Plain(has_read=False)
    assert plain.at(0, "minimize formulas", 0) == []


def test_work_between_two_steps_is_not_a_silent_minute():
    plain = Plain()
    assert plain.tick(9) == []
    assert plain.tick(11) == ["  working on what was counted, 0:11"]
    assert plain.tick(12) == []
    assert plain.tick(22) == ["  working on what was counted, 0:22"]


def test_a_phase_that_only_a_resumed_job_has_is_named_for_people():
    plain = Plain()
    [line] = plain.at(0, "compare counts", 10)
    assert line.strip().startswith("check that rows are the same ")


def test_several_jobs_have_a_line_each_when_they_begin_and_when_they_end():
    plain = Plain(n_jobs=2)
    assert plain.at(0, "count types", 0) == []
    assert plain.at(0.5, "count types", 10) == []
    plain.lines.ended("job", "done in 3 s")
    assert plain.new() == ["job: done in 3 s"]


@pytest.mark.parametrize(
    ("seconds", "clock", "left"),
    [
        (0.2, "0:00", "1 s"),
        (75, "1:15", "75 s"),
        (600, "10:00", "10 min"),
        (9000, "2:30:00", "2.5 h"),
    ],
)
def test_times_are_told_as_people_say_them(seconds, clock, left):
    assert clock_text(seconds) == clock
    assert time_text(seconds) == left


def test_a_terminal_gets_lines_that_move_and_anything_else_plain_ones(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(display_for(Stream(terminal=True)), Screen)
    assert isinstance(display_for(Stream()), PlainLines)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(display_for(Stream(terminal=True)), PlainLines)


@pytest.mark.parametrize("columns", [80, 200])
def test_a_screen_shows_the_step_that_runs_and_leaves_a_line_of_it_when_it_is_stopped(
    monkeypatch, columns
):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    stream = Stream(terminal=True)
    with Screen(stream) as screen:
        screen.waits("opening the data")
        screen.begin("job", 1000, 2, STEPS)
        for done in (0, 10):
            screen.progress("job", Progress("count types", done, 10))
        screen.progress("job", Progress("minimize formulas", 3, 10))
        screen.detail("job", "fold 3")
        screen.progress("job", Progress("minimize formulas", 10, 10))
        screen.waits("writing the first page")
        screen.progress("job", Progress("count types", 3, 10))
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    assert "opening the data … 0:00" in text
    lines = text.replace("\r", "\n").splitlines()
    assert "job: 1,000 rows in 2 partitions" in lines
    assert "  step 2 of 4    count rows by conditions          0.0 s" in lines
    assert "  step 1 of 4    read all rows                 with step 2" in lines
    assert "  writing the first page … 0:00" in lines
    assert lines[-1] == "  step 4 of 4  count rows by conditions, 3 of 10, 0:00"
    assert max(map(len, lines)) <= columns


def test_a_screen_says_that_a_job_works_between_two_steps(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Stream(terminal=True)
    with Screen(stream) as screen:
        screen.begin("job", 1000, 2, STEPS)
        screen.progress("job", Progress("read rows", 10, 10))
    assert "  working on what was counted … 0:00" in stream.getvalue()


def test_what_happens_to_one_of_several_jobs_is_told_with_its_name():
    for n_jobs, line in ((1, "  it goes on\n"), (2, "  first: it goes on\n")):
        stream = Stream()
        Watcher(stream, n_jobs=n_jobs).notice_of("first", "it goes on")
        assert stream.getvalue() == line


def test_jobs_that_a_signal_ends_are_not_said_to_have_failed():
    stream = Stream()
    watcher = Watcher(stream, n_jobs=2)
    watcher.stop("stopping")
    watcher.ended("job", "failed: the cluster is gone")
    watcher.notice_of("another", "the formula is there")
    assert stream.getvalue() == "stopping\n"
