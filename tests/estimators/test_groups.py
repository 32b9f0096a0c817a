"""Rows of a group are never on both sides when a classifier sets rows aside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dnfscale import FormulaSizeClassifier, IdealClassifier
from dnfscale.errors import DataError
from tests.jobs.running import Desk
from tests.learn.test_deal import noise_of_groups

FRAME: pd.DataFrame = noise_of_groups().to_pandas()
FEATURES = FRAME.drop(columns=["g", "y"])


def plain(**parameters: Any) -> IdealClassifier:
    return IdealClassifier(profile="paper", max_ell=6, **parameters)


def test_noise_that_repeats_within_groups_is_not_taken_for_a_rule() -> None:
    def validated(groups: Any) -> float:
        model = plain(cuts=8, rank=("f",)).fit(FEATURES, FRAME["y"], groups=groups)
        return max(step["validation_accuracy"] for step in model.sweep_)

    assert validated(None) > 0.75
    assert validated(FRAME["g"]) < 0.65


def test_the_size_of_a_formula_is_chosen_on_other_groups_too() -> None:
    def validated(groups: Any) -> list[float]:
        model = FormulaSizeClassifier(max_size=1).fit(FEATURES, FRAME["y"], groups=groups)
        return [step["validation_accuracy"] for step in model.path_]

    assert validated(None) != validated(FRAME["g"])


def test_a_table_and_its_file_are_dealt_alike(desk: Desk) -> None:
    # By its group alone, wherever a row stands.
    file = desk.table(noise_of_groups(), row_group_size=300)
    of_file = plain().fit(file, "y", groups="g")
    shuffled = FRAME.sample(frac=1, random_state=1)
    of_table = plain().fit(
        shuffled.drop(columns=["g", "y"]), shuffled["y"], groups=shuffled["g"].to_numpy()
    )
    assert of_table.sweep_ == of_file.sweep_
    assert of_table.formula_ == of_file.formula_
    assert "g" not in "".join(of_file.attributes_).replace("_above_median", "")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2, 3], "expected groups to have a value for each of the 1,600 rows, got 3 values"),
        (np.ones((1600, 2)), "for each of the 1,600 rows, got 2 dimensions"),
        ([None, *range(1599)], "expected a value in every row, because the parameter groups deals"),
        (
            [{}] * 1600,
            "expected groups to be numbers, dates or strings, all of one kind, got struct",
        ),
        (["a", *range(1599)], "all of one kind, got several"),
    ],
)
def test_groups_that_do_not_fit_the_rows_are_told(groups: Any, message: str) -> None:
    values = np.asarray(groups, dtype=object) if isinstance(groups, list) else groups
    with pytest.raises(DataError, match=message):
        plain().fit(FEATURES, FRAME["y"], groups=values)


def test_beside_a_path_groups_are_the_name_of_a_column(desk: Desk) -> None:
    file = desk.table(noise_of_groups())
    with pytest.raises(DataError, match="expected groups to be the name of a column of groups"):
        plain().fit(file, "y", groups=[1, 2])
