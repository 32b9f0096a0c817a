"""What the README shows is what happens: its commands are run, and print what it says
they print.
"""

from __future__ import annotations

import doctest
import functools
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dnfscale.spec.documented import documented_block
from dnfscale.spec.job import job_keys, read_spec
from tests.jobs.running import Desk, keeping_signals
from tests.readme import README, blocks, commands

ROOT = README.parent
QUICKSTART = ROOT / "jobs" / "quickstart.toml"
PAGES = [
    ROOT / "README.md",
    *(page for top in ("deploy", "jobs", "tests") for page in sorted((ROOT / top).rglob("*.md"))),
]
LONGEST_LINE = 125


def run_examples(text: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, {}, "README", str(README), 0)
    runner = doctest.DocTestRunner(
        optionflags=doctest.IGNORE_EXCEPTION_DETAIL | doctest.NORMALIZE_WHITESPACE
    )
    said: list[str] = []
    runner.run(test, out=said.append)
    assert test.examples
    assert not runner.failures, "".join(said)


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


def test_the_page_on_using_the_formula_shows_what_its_commands_print(desk, monkeypatch):
    assert desk.here("run", str(QUICKSTART), "--set", "cluster.kind=serial").code == 0
    shown = list(commands("Use the formula"))
    assert len(shown) >= 6
    for command, output in shown:
        start, arguments = command.split("dnfscale.jobs ")
        assert start == "python -m "
        ended = desk.here(*shlex.split(arguments))
        assert ended.code == 0, ended.err
        # How long it took is not for a README.
        assert re.sub(r" in [0-9.]+ s:", ":", ended.out) == output, command
    monkeypatch.syspath_prepend(str(desk.path))
    [examples] = blocks("Use the formula", "pycon")
    run_examples(examples)
    sys.modules.pop("tumours")


def test_the_first_page_shows_what_the_first_command_prints(desk):
    ended = desk.here("run", str(QUICKSTART), "--set", "cluster.kind=serial")
    assert ended.out == blocks("What you get", "")[0]


def test_the_python_examples_print_what_they_are_shown_to_print():
    [examples] = blocks("From Python", "pycon")
    run_examples(examples)


@pytest.mark.slow
def test_the_examples_of_both_families_print_what_they_are_shown_to_print():
    run_examples("\n".join(blocks("Two families", "pycon")))


def test_the_spec_that_is_shown_is_made_from_the_declared_keys():
    assert blocks("A job of your own", "toml")[0] == documented_block()


def test_the_spec_that_is_shown_can_be_read_with_and_without_its_examples(desk):
    shown = documented_block()
    given = read_spec(desk.spec(shown)).values
    for path, known in job_keys().items():
        if path in given and not known.is_optional and not known.required:
            assert known.check(given[path]) == given[path] == known.default, path
    examples = tomllib.loads(re.sub(r"^# (?=\w+ = )", "", shown, flags=re.MULTILINE))
    for path, known in job_keys().items():
        value = functools.reduce(lambda table, name: table[name], path.split("."), examples)
        known.checked(value)


def prose_of(page: Path) -> list[str]:
    """Return the lines of a page that are neither code nor a table."""
    text = re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return [line for line in text.splitlines() if not line.startswith("|")]


def anchors_of(page: Path) -> set[str]:
    """Return the names by which GitHub reaches the headings of a page."""
    titles = [line.lstrip("#").strip().lower() for line in prose_of(page) if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_lines_of_a_page_can_be_read_in_an_editor(page):
    assert [line for line in prose_of(page) if len(line) > LONGEST_LINE] == []
