"""The record of the formula-size method where a search fails: the fold carries its error and does
not count.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dnfscale.compare.competitor import Outcome, Study
from dnfscale.data.frames import table_source
from dnfscale.data.models import parse_models
from dnfscale.engine.serial import SerialEngine
from dnfscale.formula_size import SizeResult
from dnfscale.formula_size import folds as sizes
from dnfscale.formula_size.competitor import size_study
from dnfscale.formula_size.folds import SearchSizes, SizeBudget
from dnfscale.jobs.folders import LocalFolder
from dnfscale.jobs.notes import TaskNotes
from dnfscale.jobs.runner import failed_folds
from dnfscale.learn.keeping import keep_rows
from dnfscale.results.result import Data, Result
from dnfscale.spec.learn import LearnSpec
from dnfscale.spec.registry import COMPETITORS
from tests.jobs.running import small_table

FOLDS = 3


def studied(tmp_path: Path, *, classes: str) -> Outcome:
    table: dict[str, Any] = small_table(120)
    if classes == "all":
        table["y"] = np.where(table["x"] > 0, np.where(table["b"], "a", "b"), "c").tolist()
    spec = LearnSpec(target="y", classes=classes, outer=FOLDS)
    engine = SerialEngine()
    kept = keep_rows(table_source(pa.table(table), "t"), spec, engine)
    notes = TaskNotes(LocalFolder(tmp_path), "print")
    study = Study(
        spec=spec,
        engine=engine,
        notes=notes,
        plan_rows=lambda: pytest.fail("it needs no rows"),
        provenance={"name": "t"},
        clock=lambda: 0.0,
        kept=kept,
    )
    [outcome] = size_study(study, {COMPETITORS["formula_size"]: SizeBudget(4)}).values()
    return outcome


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The numbers of the searches, in the order in which chains begin, that run out of memory."""
    wanted: set[int] = set()
    begun: list[SearchSizes] = []
    searched = sizes.search_sizes

    def search(given: SearchSizes) -> list[SizeResult]:
        if given.validation is not None and not given.start:
            begun.append(given)
            if len(begun) - 1 in wanted:
                raise MemoryError("no room")
        return searched(given)

    monkeypatch.setattr(sizes, "search_sizes", search)
    return wanted


@pytest.mark.parametrize("classes", ["two", "all"])
def test_a_fold_that_fails_carries_its_error_and_does_not_count(
    tmp_path: Path, failing: set[int], classes: str
) -> None:
    failing.add(1)
    found = studied(tmp_path, classes=classes)
    good, bad, other = found.method.folds
    assert bad.fold == 1
    assert bad.error is not None
    assert "no room" in bad.error
    assert bad.error.startswith("a: ") == (classes == "all")
    assert found.method.failed_folds == 1
    assert found.method.accuracy_mean == pytest.approx((good.accuracy + other.accuracy) / 2)
    assert found.model is not None
    assert len(parse_models(json.loads(found.model))) == (3 if classes == "all" else 1)


@pytest.mark.parametrize("classes", ["two", "all"])
def test_without_a_formula_of_all_rows_there_is_no_model(
    tmp_path: Path, failing: set[int], classes: str
) -> None:
    failing.add(FOLDS)
    found = studied(tmp_path, classes=classes)
    assert found.method.model is not None
    assert "no room" in str(found.method.model.error)
    assert found.model is None
    assert found.method.failed_folds == 0
    data = Data(rows=120, rows_dropped=0, columns=4, attributes=6, positive_rows=None)
    head = {"name": "t", "kind": "study", "seed": 0, "profile": "paper"}
    failure = failed_folds(Result(**head, data=data, methods={"formula_size": found.method}))
    assert "1 fold failed, the rest is done; the first was formula_size of all rows: " in str(
        failure
    )
    assert found.method.accuracy_mean is not None
    assert found.method.accuracy_mean > 0.5
