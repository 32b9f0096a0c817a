"""Results do not change unless somebody means to change them: see README.md."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden.cases import CASES, MADE, PUBLISHED, Case
from tests.golden.values import FOLDER, values_of
from tests.jobs.running import Desk, keeping_signals


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


def compare(desk: Desk, case: Case) -> None:
    ended = desk.here(*case.prepare(desk.path))
    assert ended.code == 0, ended.err
    kept = json.loads((FOLDER / f"{case.name}.json").read_text(encoding="utf-8"))
    assert values_of(desk.folder()) == kept


def test_every_case_has_its_values_and_no_file_is_left_over():
    assert sorted(CASES) == sorted(file.stem for file in FOLDER.iterdir())


@pytest.mark.parametrize("case", MADE, ids=lambda case: case.name)
def test_a_made_table_gives_what_it_gave(desk, case):
    compare(desk, case)


@pytest.mark.usefixtures("paper_data")
@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: case.name)
def test_a_dataset_of_the_paper_gives_what_it_gave(desk, case):
    if case.needs_numba and importlib.util.find_spec("numba") is None:
        pytest.skip("formulas by size need numba")
    compare(desk, case)
