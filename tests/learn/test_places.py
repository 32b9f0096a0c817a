"""Places and learning parts: their order, and which rows are learned from and which judge."""

from __future__ import annotations

import numpy as np
import pytest

from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from dnfscale.learn.places import (
    JUDGED,
    LEARNED,
    LearningPart,
    Place,
    final_part,
    inner_parts,
    n_ranking_parts,
    places_of,
    ranking_parts,
    whole_parts,
)


def splits_of(inner: int) -> Splits:
    return Splits(60, 3, 0.3, 7, inner)


def test_places_go_target_by_target_with_the_fold_of_all_rows_last():
    found = places_of(2, splits_of(1))
    assert found == tuple(sorted(found))
    assert found[:5] == (Place(0, 0), Place(0, 1), Place(0, 2), Place(0, 3), Place(1, 0))
    assert len(found) == 8


@pytest.mark.parametrize("inner", [1, 2, 5])
def test_every_part_that_ranks_learns_from_its_rows_and_is_judged_by_others(inner):
    splits = splits_of(inner)
    found = ranking_parts(splits)
    assert len(found) == splits.n_folds * n_ranking_parts(inner)
    for part, groups in (found | whole_parts(splits)).items():
        parts = splits.inner_parts(part.split or 0)[part.fold]
        whole = part.split is None
        assert np.array_equal(groups == LEARNED, parts != TEST if whole else parts == TRAIN)
        assert np.array_equal(groups == JUDGED, parts == (TEST if whole else VALIDATION))


@pytest.mark.parametrize(("inner", "split"), [(1, 0), (3, None)])
def test_attributes_are_taken_from_the_only_split_or_from_all_rows_learned_from(inner, split):
    splits = splits_of(inner)
    assert final_part(2, splits) == LearningPart(2, split)
    assert {final_part(2, splits), *inner_parts(2, splits)} == {
        p for p in ranking_parts(splits) if p.fold == 2
    }
