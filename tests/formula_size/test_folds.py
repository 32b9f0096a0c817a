"""The chain of a fold: the same result however it is sliced, noted and taken up again, and what a
failure leaves.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dnfscale.core.distinct import PackedTypes
from dnfscale.core.tree import evaluate
from dnfscale.engine.api import Failure
from dnfscale.engine.serial import SerialEngine
from dnfscale.formula_size import folds as sizes
from dnfscale.formula_size import tabulate
from dnfscale.formula_size.distinct import FoldTypes
from dnfscale.formula_size.folds import (
    SearchSizes,
    SizeBudget,
    Sized,
    Unsized,
    size_fold,
    size_folds,
)
from tests.compare.notes import KeptNotes


def packed(holds: np.ndarray, target: np.ndarray) -> PackedTypes:
    table = tabulate(holds, target)
    return PackedTypes(table.n_attributes, np.packbits(table.holds, axis=1), table.n, table.c)


def fold_types(fold: int = 0) -> FoldTypes:
    random = np.random.default_rng(fold)
    holds = random.random((200, 8)) < 0.5
    target = (holds[:, 0] & holds[:, 1] | holds[:, 2]) ^ (random.random(200) < 0.2)
    parts = [
        packed(holds[rows], target[rows])
        for rows in (slice(110), slice(110, 160), slice(160), slice(160, 200))
    ]
    return FoldTypes(0, fold, tuple(range(8)), True, *parts)


def facts_of(fold: Sized | Unsized) -> Any:
    """What a fold has found, without the time it took."""
    assert isinstance(fold, Sized)
    results = [replace(result, seconds=0.0) for result in (*fold.choice.path, fold.final)]
    return results, fold.choice.correct, fold.choice.chosen.size, fold.tested


def test_slices_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = size_folds([fold_types(0), fold_types(1)], SizeBudget(), SerialEngine(), KeptNotes())
    monkeypatch.setattr(sizes, "_SLICE_S", 0.0)
    sliced = size_folds([fold_types(0), fold_types(1)], SizeBudget(), SerialEngine(), KeptNotes())
    assert [facts_of(fold) for fold in sliced] == [facts_of(fold) for fold in whole]


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

        chain = size_fold(fold_types(), SizeBudget(), notes=again, name=name)
        [found] = SerialEngine().chain("search", [chain], searched, expected=1)
        assert facts_of(found) == facts_of(whole)
        assert len(asked) == len(entries) - kept


def test_patience_ends_the_path() -> None:
    [found] = size_folds([fold_types()], SizeBudget(max_size=30), SerialEngine(), KeptNotes())
    assert isinstance(found, Sized)
    best = found.choice.correct.index(max(found.choice.correct))
    assert len(found.choice.path) == best + 1 + SizeBudget().patience
    assert found.choice.chosen.size == best + 1


def test_a_fold_that_fails_carries_its_error() -> None:
    types = fold_types()
    chain = size_fold(types, SizeBudget(), notes=KeptNotes(), name="fold")
    next(chain)
    with pytest.raises(StopIteration) as stop:
        chain.send(Failure("MemoryError: out of memory"))
    assert stop.value.value == Unsized(types, "MemoryError: out of memory")


def test_folds_of_several_classes_have_notes_of_their_own() -> None:
    notes = KeptNotes()
    size_folds(
        [replace(fold_types(), target=target) for target in (0, 1)],
        SizeBudget(4),
        SerialEngine(),
        notes,
    )
    assert list(notes.entries) == ["formula_size-class0-fold0", "formula_size-class1-fold0"]


def test_a_threshold_weighs_the_errors_that_are_searched_and_validated() -> None:
    threshold = Fraction(1, 5)
    [found] = size_folds(
        [fold_types()], SizeBudget(6), SerialEngine(), KeptNotes(), threshold=threshold
    )
    assert isinstance(found, Sized)
    assert found.types.whole.n.sum() == 160
    for result in (*found.choice.path, found.final):
        part = found.types.whole if result is found.final else found.types.train
        accepted = evaluate(result.formula, part.holds().T)
        assert result.errors == (part.n - part.c)[accepted].sum() + 4 * part.c[~accepted].sum()
    assert found.choice.n_rows == (found.types.validation.n + 3 * found.types.validation.c).sum()
