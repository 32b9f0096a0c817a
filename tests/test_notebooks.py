"""The notebooks in jobs/ are executed, and print what they are shown to print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.readme import ROOT

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel, which executes Python, is not installed")

NOTEBOOKS = sorted((ROOT / "jobs").glob("*.ipynb"))


def said(book: Any) -> list[list[str]]:
    """What each cell prints, and the text of what it shows."""
    return [
        [output["text"] for output in cell.get("outputs", []) if "text" in output]
        + [
            words(output["data"].get("text/html") or output["data"]["text/plain"])
            for output in cell.get("outputs", [])
            if "data" in output and "image/png" not in output["data"]
        ]
        for cell in book.cells
        if cell.cell_type == "code"
    ]


def words(markup: str) -> str:
    text = re.sub(r"<style>.*?</style>", "", markup, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def executed(file: Path) -> Any:
    book = nbformat.read(file, as_version=4)
    return nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_prints_what_it_is_shown_to_print(file):
    shown = nbformat.read(file, as_version=4)
    nbformat.validate(shown)
    assert said(executed(file)) == said(shown)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_was_executed_whole_and_in_order_without_an_error(file):
    shown = nbformat.read(file, as_version=4)
    cells = [cell for cell in shown.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert any("image/png" in output.get("data", {}) for output in outputs)


def test_there_are_two_notebooks():
    assert [file.stem for file in NOTEBOOKS] == ["first-formula", "hospital"]
