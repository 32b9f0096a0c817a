"""Studies on the paper's twelve datasets: their sizes as the index says, their accuracies as the
paper says.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.running import ROOT, Desk, keeping_signals

DATASETS = [
    "bank_marketing",
    "breast_cancer",
    "colon",
    "congressional_voting",
    "covertype",
    "electricity",
    "eye_movement",
    "german_credit",
    "heart_disease",
    "hepatitis",
    "road_safety",
    "student_dropout",
]
PERCENT = {
    "covertype": (74.7, 0.5),
    "electricity": (72, 1),
    "road_safety": (73.2, 1),
    "student_dropout": (81, 1.5),
    "bank_marketing": (89, 1),
    "congressional_voting": (95.5, 1.5),
    "breast_cancer": (95, 2),
}


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


def index(folder: Path) -> dict[str, Any]:
    with (folder / "index.toml").open("rb") as file:
        return dict(tomllib.load(file)["datasets"])


def test_the_index_has_the_twelve_datasets(paper_data):
    assert sorted(index(paper_data)) == DATASETS


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_study_has_the_rows_of_the_index_and_the_accuracy_of_the_paper(desk, paper_data, dataset):
    spec = ROOT / "jobs" / "paper" / f"{dataset}.toml"
    ended = desk.here(
        "run",
        spec,
        "--set",
        "cluster.kind=serial",
        "--set",
        'methods=["ideal"]',
        "--set",
        "name=job",
    )
    assert ended.code == 0, ended.err
    entry, result = index(paper_data)[dataset], desk.result()
    found = result["data"]
    assert (found["rows"], found["attributes"], found["positive_rows"]) == (
        entry["rows_without_missing"],
        entry["boolean_features"],
        entry["positive_rows"],
    )
    assert found["rows_dropped"] == entry["rows"] - entry["rows_without_missing"]
    assert found["columns"] == entry["features"]
    ideal = result["methods"]["ideal"]
    folds = entry["rows_without_missing"] if entry["rows_without_missing"] < 100 else 10
    assert len(ideal["folds"]) == folds
    if dataset in PERCENT:
        percent, within = PERCENT[dataset]
        assert abs(100 * ideal["accuracy_mean"] - percent) <= within
