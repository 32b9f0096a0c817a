"""The chain of a fold: the same result however it is sliced, noted and taken up again, and what a failure leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dnfscale.core.distinct import PackedTypes
from dnfscale.distinct import FoldTypes
from dnfscale.engine.api import Failure
from dnfscale.engine.serial import SerialEngine
from dnfscale.experiment import sizes
from dnfscale.experiment.sizes import SearchSizes, SizeBudget, Sized, Unsized, size_fold, size_folds, sized_record
from dnfscale.method.formula_size import tabulate

NAMES = [f"a{number}" for number in range(8)]


class KeptNotes:
    """Notes in memory."""

    def __init__(self) -> None:
        self.entries: dict[str, list[dict[str, Any]]] = {}

    def recall(self, chain: str) -> list[dict[str, Any]]:
        return list(self.entries.get(chain, []))

    def note(self, chain: str, entry: dict[str, Any]) -> None:
        self.entries.setdefault(chain, []).append(entry)


def packed(holds: np.ndarray, target: np.ndarray) -> PackedTypes:
    table = tabulate(holds, target)
    return PackedTypes(table.n_attributes, np.packbits(table.holds, axis=1), table.n, table.c)


def fold_types(fold: int = 0) -> FoldTypes:
    random = np.random.default_rng(fold)
    holds = random.random((200, 8)) < 0.5
    target = (holds[:, 0] & holds[:, 1] | holds[:, 2]) ^ (random.random(200) < 0.2)
    parts = [packed(holds[rows], target[rows]) for rows in (slice(110), slice(110, 160), slice(160), slice(160, 200))]
    return FoldTypes(0, fold, tuple(range(8)), True, *parts)


def record_of(fold: Sized | Unsized) -> dict[str, Any]:
    return sized_record([fold, fold], NAMES)["folds"][0]


def test_slices_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = size_folds([fold_types(0), fold_types(1)], SizeBudget(), SerialEngine(), KeptNotes())
    monkeypatch.setattr(sizes, "_SLICE_S", 0.0)
    sliced = size_folds([fold_types(0), fold_types(1)], SizeBudget(), SerialEngine(), KeptNotes())
    assert [record_of(fold) for fold in sliced] == [record_of(fold) for fold in whole]


def test_a_chain_goes_on_where_its_notes_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "_SLICE_S", 0.0)
    notes = KeptNotes()
    [whole] = size_folds([fold_types()], SizeBudget(), SerialEngine(), notes)
    [(name, entries)] = notes.entries.items()
    assert {entry["part"] for entry in entries} == {"train", "whole"}
    for kept in range(len(entries) + 1):
        again = KeptNotes()
        again.entries[name] = entries[:kept]
        asked: list[SearchSizes] = []

        def searched(wanted: SearchSizes, asked: list[SearchSizes] = asked) -> Any:
            asked.append(wanted)
            return sizes.search_sizes(wanted)

        chain = size_fold(fold_types(), SizeBudget(), notes=again)
        [found] = SerialEngine().chain("search", [chain], searched, expected=1)
        assert record_of(found) == record_of(whole)
        assert len(asked) == len(entries) - kept


def test_patience_ends_the_path() -> None:
    [found] = size_folds([fold_types()], SizeBudget(max_size=30), SerialEngine(), KeptNotes())
    assert isinstance(found, Sized)
    best = found.choice.correct.index(max(found.choice.correct))
    assert len(found.choice.path) == best + 1 + SizeBudget().patience
    assert found.choice.chosen.size == best + 1


def test_a_fold_that_fails_carries_its_error_and_does_not_count() -> None:
    chain = size_fold(fold_types(), SizeBudget(), notes=KeptNotes())
    next(chain)
    with pytest.raises(StopIteration) as stop:
        chain.send(Failure("MemoryError: out of memory"))
    [good] = size_folds([fold_types(1)], SizeBudget(), SerialEngine(), KeptNotes())
    record = sized_record([stop.value.value, good, good], NAMES)
    assert record["folds"][0] == {"fold": 0, "error": "MemoryError: out of memory"}
    assert record["failed_folds"] == 1
    assert record["accuracy_mean"] == record["folds"][1]["accuracy"]
    assert sized_record([good, stop.value.value], NAMES)["model"] == {"error": "MemoryError: out of memory"}
