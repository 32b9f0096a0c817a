"""A job is done whoever listens; a command whose product is what it prints says so if that did not
arrive.
"""

from __future__ import annotations

import shlex

import pytest

from tests.jobs.running import (
    Desk,
    Ended,
    command,
    essence,
    read_json,
    surprising,
)

CLOSED = "<&- >&- 2>&-"
FULL = ">/dev/full 2>/dev/full"
LEFT = "2>&1 | true"
"""What the shell adds to a command: its streams are closed, or full, or read by somebody who has
gone.
"""


def redirected(desk: Desk, redirection: str, *arguments: str) -> Ended:
    """Carry out a command line whose streams the shell sends elsewhere; the code is that of the
    command.
    """
    line = f"{shlex.join(command(*arguments))} {redirection}; exit ${{PIPESTATUS[0]}}"
    return desk.shell(line)


@pytest.fixture
def finished(laid_desk: Desk) -> Desk:
    """A desk with a finished run, and the spec of another like it."""
    assert laid_desk.run().code == 0
    return laid_desk


@pytest.mark.parametrize(
    ("kind", "redirection"),
    [("serial", CLOSED), ("serial", FULL), ("serial", LEFT), ("local", CLOSED)],
)
def test_a_job_that_nobody_listens_to_is_done_all_the_same(finished, kind, redirection):
    quiet = essence(finished.folder() / "result.json")
    cluster = (
        {"kind": kind, "workers": 2, "memory_limit": "1GiB"} if kind == "local" else {"kind": kind}
    )
    ended = redirected(finished, redirection, "run", str(finished.spec(cluster=cluster)))
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert essence(finished.folder() / "result.json") == quiet
    assert surprising(finished.folder()) == []


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_a_summary_that_cannot_be_written_is_no_failure_and_progress_goes_on(
    laid_desk, redirection
):
    ended = redirected(laid_desk, redirection, "run", str(laid_desk.spec()))
    assert (ended.code, ended.out) == (0, "")
    assert "shorten formulas" in ended.message
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "runs/job/model.json", "--to", "sql"),
        ("validate", "job.toml"),
        ("--help",),
        ("--version",),
    ],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [
        (
            ">&-",
            5,
            "dnfscale: expected to write to stdout, but that failed: Bad file descriptor; send it",
        ),
        (
            ">/dev/full",
            5,
            (
                "dnfscale: expected to write to stdout, but that failed: No space left on "
                "device; send it"
            ),
        ),
        (">/dev/full 2>&1", 5, ""),
        ("| true", 141, ""),
    ],
)
def test_what_was_asked_for_and_cannot_be_printed_is_an_error(
    finished, arguments, redirection, code, said
):
    ended = redirected(finished, redirection, *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.startswith(said)
    assert ended.err.count("\n") == bool(said)


def test_a_result_as_json_that_cannot_be_printed_is_an_error_but_its_files_are_there(laid_desk):
    ended = redirected(laid_desk, ">/dev/full", "run", str(laid_desk.spec()), "--json")
    assert ended.code == 5
    assert ended.message.startswith("dnfscale: expected to write to stdout")
    assert read_json(laid_desk.folder() / "result.json")["data"]["rows"] == 240


def test_the_exit_code_of_a_requirement_and_a_page_do_not_need_somebody_who_listens(finished):
    asked = ("evaluate", "runs/job/model.json", "t.parquet", "--require", "accuracy=1")
    ended = redirected(finished, ">/dev/full", *asked, "--report", "page.html")
    assert (ended.code, ended.out) == (1, "")
    assert "required: " in ended.message
    assert (finished.path / "page.html").is_file()
