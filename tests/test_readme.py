"""What the manual shows is what happens: its commands are run, and print what it says
they print; nothing that a user can write is missing from it.
"""

from __future__ import annotations

import argparse
import doctest
import functools
import importlib.util
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import dnfscale
from dnfscale.jobs.cli import command_parser
from dnfscale.spec.documented import documented_block
from dnfscale.spec.job import job_keys, read_spec
from dnfscale.spec.learn import DEFAULT_PROFILE
from dnfscale.spec.suite import read_suite
from tests.jobs.running import Desk, keeping_signals
from tests.readme import DEPLOY, JOBS, PAGES, README, ROOT, blocks, commands, fenced

QUICKSTART = ROOT / "jobs" / "quickstart.toml"
MOST_LINES = 250
LONGEST_LINE = 125


def run_examples(text: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, {}, "manual", str(README), 0)
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
    shown = list(commands(JOBS, "Use the formula"))
    assert len(shown) >= 6
    for command, output in shown:
        start, arguments = command.split("dnfscale.jobs ")
        assert start == "python -m "
        ended = desk.here(*shlex.split(arguments))
        assert ended.code == 0, ended.err
        # How long it took is not for a manual.
        assert re.sub(r" in [0-9.]+ s:", ":", ended.out) == output, command
    monkeypatch.syspath_prepend(str(desk.path))
    [examples] = blocks(JOBS, "Use the formula", "pycon")
    run_examples(examples)
    sys.modules.pop("tumours")


def test_the_first_page_shows_what_the_first_command_prints(desk):
    ended = desk.here("run", str(QUICKSTART), "--set", "cluster.kind=serial")
    assert ended.out == blocks(README, "What you get", "")[0]


def test_the_python_examples_print_what_they_are_shown_to_print():
    [examples] = blocks(README, "From Python", "pycon")
    run_examples(examples)


@pytest.mark.slow
def test_the_examples_of_the_package_print_what_they_are_shown_to_print():
    run_examples(dnfscale.__doc__ or "")


def test_the_spec_that_is_shown_is_made_from_the_declared_keys():
    assert blocks(JOBS, "A job of your own", "toml")[0] == documented_block()


def test_the_spec_that_is_shown_can_be_read_with_and_without_its_examples(desk):
    shown = documented_block()
    given = read_spec(desk.spec(shown)).values
    for path, known in job_keys().items():
        if path in given and not known.is_optional and not known.required:
            assert known.check(given[path]) == given[path] == known.usual(DEFAULT_PROFILE), path
    examples = tomllib.loads(re.sub(r"^# (?=\w+ = )", "", shown, flags=re.MULTILINE))
    for path, known in job_keys().items():
        value = functools.reduce(lambda table, name: table[name], path.split("."), examples)
        known.checked(value)


def parsers_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parser of every verb."""
    [verbs] = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    return dict(verbs.choices)


def shell_lines(page: Path) -> Iterator[list[str]]:
    """Yield the words of every command in the shell blocks of a page, continued lines joined."""
    for language, block in fenced(page.read_text(encoding="utf-8")):
        if language == "sh":
            for line in block.replace("\\\n", " ").splitlines():
                for command in line.split("&&"):
                    yield shlex.split(command.strip().removesuffix(" &"), comments=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_is_one_that_its_program_takes(page):
    parser = command_parser()
    for words in shell_lines(page):
        if "-m" in words:
            at = words.index("-m")
            module, words = words[at + 1], ["dnfscale", *words[at + 2 :]]
            if module != "dnfscale.jobs":
                assert importlib.util.find_spec(module), module
                continue
        if words[:1] == ["dnfscale"]:
            parser.parse_args(words[1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_is_of_a_language_that_a_test_reads(page):
    """Blocks without a language are diagrams, and the one that the first command prints."""
    languages = {language for language, _ in fenced(page.read_text(encoding="utf-8"))}
    assert languages <= {"", "sh", "toml", "console", "pycon"}


def test_the_suites_and_the_storage_that_are_shown_can_be_read(desk):
    suites = blocks(JOBS, "A job of your own", "toml")[1:]
    assert len(suites) == 2
    whole = "".join(suites).replace("paper/", f"{ROOT}/jobs/paper/")
    assert len(read_suite(desk.spec(whole)).jobs) == 12
    [storage] = blocks(DEPLOY, "Object storage", "toml")
    spec = read_spec(desk.spec(f"schema_version = 1\n{storage}"))
    assert spec.values["data.storage.region"] == "eu-north-1"


def test_the_manual_names_every_verb_and_every_key_of_a_spec():
    shown = "\n".join(page.read_text(encoding="utf-8") for page in (README, JOBS, DEPLOY))
    for verb in parsers_of(command_parser()):
        assert f"`{verb}`" in shown, verb
    [block, *_] = blocks(JOBS, "A job of your own", "toml")
    for path in job_keys():
        assert re.search(rf"^(# )?{path.rpartition('.')[2]} = ", block, re.MULTILINE), path


def test_the_first_page_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


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
