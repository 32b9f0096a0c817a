"""What the README shows is what happens: its commands are run, and print what it says they print."""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.running import Desk, keeping_signals

README = Path(__file__).parents[1] / "README.md"
QUICKSTART = README.parent / "jobs" / "quickstart.toml"


def blocks(section: str, language: str) -> list[str]:
    """Return the blocks of code of a section."""
    text = README.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(section: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a section and what it is shown to print."""
    for block in blocks(section, "console"):
        for shown in block.split("$ ")[1:]:
            command, _, output = shown.partition("\n")
            yield command, output


def run_examples(text: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, {}, "README", str(README), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL | doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    runner.run(test, out=said.append)
    assert test.examples
    assert not runner.failures, "".join(said)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
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


def test_the_examples_of_both_families_print_what_they_are_shown_to_print():
    run_examples("\n".join(blocks("Two families", "pycon")))
