"""A study against a slow and obvious judge in pandas and scikit-learn: every fold, every ell, every
ranking.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest, chi2, f_classif, mutual_info_classif

from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from tests.jobs.running import Desk, keeping_signals

SCORES = {
    "f": f_classif,
    "mutual_info": lambda X, y: mutual_info_classif(X, y, discrete_features=True),  # noqa: N803
    "chi2": chi2,
}
N_ROWS, OUTER, MAX_ELL, SEED = 331, 4, 6, 11


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


def mixed_table(seed: int) -> pd.DataFrame:
    """Numbers with and without ties, strings, a Boolean; some columns say the same, so that
    rankings tie.
    """
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": random.normal(size=N_ROWS),
            "b": random.integers(0, 5, N_ROWS),
            "c": random.normal(size=N_ROWS).astype(np.float32),
            "d": random.choice(["u", "v", "w"], N_ROWS),
            "e": random.random(N_ROWS) < 0.3,
        }
    )
    frame["a_again"] = frame["a"] * 2
    signal = (frame["a"] > 0.2) & (frame["b"] > 1) | (frame["d"] == "w") & frame["e"]
    frame["y"] = signal ^ (random.random(N_ROWS) < 0.15)
    return frame


def booleans(frame: pd.DataFrame, medians_of: pd.DataFrame) -> pd.DataFrame:
    """Booleanize with the medians of some rows, as the paper says."""
    columns: dict[str, Any] = {}
    for name in frame.columns.drop("y"):
        values = frame[name]
        if values.dtype == bool:
            columns[name] = values
        elif pd.api.types.is_numeric_dtype(values):
            columns[f"{name}_above_median"] = values > np.median(medians_of[name].to_numpy())
        else:
            columns |= {
                f"{name}_{value}": values == value for value in sorted(frame[name].unique())
            }
    return pd.DataFrame(columns)


def ranking(rank: str, holds: pd.DataFrame, y: pd.Series) -> list[str]:
    """The attributes in the order in which SelectKBest takes them in."""
    order: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for ell in range(1, MAX_ELL + 1):
            chosen = (
                SelectKBest(SCORES[rank], k=ell)
                .fit(holds.to_numpy(dtype=float), y.to_numpy())
                .get_support()
            )
            order += [name for name in holds.columns[chosen] if name not in order]
    return order


def ideal(holds: pd.DataFrame, y: pd.Series) -> dict[tuple[bool, ...], bool]:
    """The empirical ideal classifier: what it answers for each type that occurs."""
    types = y.groupby([holds[name] for name in holds.columns]).agg(["size", "sum"])
    keys = [key if isinstance(key, tuple) else (key,) for key in types.index]
    return {
        tuple(map(bool, key)): bool(2 * c >= n)
        for key, n, c in zip(keys, types["size"], types["sum"], strict=True)
    }


def correct(classifier: dict[tuple[bool, ...], bool], holds: pd.DataFrame, y: pd.Series) -> int:
    """How many rows a classifier gets right; a type it has not seen is false."""
    return sum(
        classifier.get(tuple(map(bool, row)), False) == bool(label)
        for row, label in zip(holds.itertuples(index=False, name=None), y, strict=True)
    )


def judged(frame: pd.DataFrame, part: np.ndarray, tolerance: Fraction) -> dict[str, Any]:
    """What the paper's method gives for one fold."""
    train, validation, test = (frame[part == p] for p in (TRAIN, VALIDATION, TEST))
    whole = frame[part != TEST]
    fitted, held_out = booleans(train, train), booleans(validation, train)
    fitted, held_out = fitted.align(held_out, join="outer", axis=1, fill_value=False)
    every = booleans(frame, whole)
    fitted, held_out = fitted[every.columns], held_out[every.columns]
    orders = {rank: ranking(rank, fitted, train["y"]) for rank in SCORES}
    steps = []
    for ell in range(1, MAX_ELL + 1):
        by_rank = {}
        for rank, order in orders.items():
            tau = order[:ell]
            by_rank[rank] = correct(ideal(fitted[tau], train["y"]), held_out[tau], validation["y"])
        best = max(by_rank, key=lambda rank: by_rank[rank])
        steps.append(
            {"ell": ell, "rank": best, "attributes": orders[best][:ell], "correct": by_rank[best]}
        )
    top = max(step["correct"] for step in steps)
    chosen = next(
        step for step in steps if Fraction(top - step["correct"], len(validation)) <= tolerance
    )
    tau = chosen["attributes"]
    classifier = ideal(every[part != TEST][tau], whole["y"])
    return {
        "sweep": [
            {key: step[key] for key in ("ell", "rank", "attributes")}
            | {"validation_accuracy": step["correct"] / len(validation)}
            for step in steps
        ],
        "ell": chosen["ell"],
        "rank": chosen["rank"],
        "attributes": tau,
        "correct": correct(classifier, every[part == TEST][tau], test["y"]),
        "test_rows": len(test),
        "training_correct": correct(classifier, every[part != TEST][tau], whole["y"]),
    }


@pytest.mark.parametrize(("seed", "tolerance"), [(1, "0.01"), (2, "0.0")])
def test_a_study_gives_what_the_papers_steps_give_in_pandas(desk, seed, tolerance):
    frame = mixed_table(seed)
    desk.table(
        {name: frame[name].to_list() if name == "d" else frame[name].to_numpy() for name in frame}
    )
    ended = desk.run(
        kind="study",
        seed=SEED,
        folds={"outer": OUTER},
        select={"max_ell": MAX_ELL, "tolerance": float(tolerance)},
    )
    assert ended.code == 0, ended.err
    splits = Splits(N_ROWS, OUTER, 0.3, SEED)
    parts = splits.parts[:, splits.arcs(0, N_ROWS)]
    record = desk.result()["methods"]["ideal"]
    accuracies = []
    for fold, part in zip((*record["folds"], record["model"]), parts, strict=True):
        judge = judged(frame, part, Fraction(tolerance))
        [formula] = fold["formulas"]
        steps = [{key: step[key] for key in judge["sweep"][0]} for step in formula["sweep"]]
        assert steps == judge["sweep"]
        assert [formula[key] for key in ("ell", "rank")] == [judge[key] for key in ("ell", "rank")]
        assert [attribute["name"] for attribute in formula["attributes"]] == judge["attributes"]
        if "fold" in fold:
            assert (fold["correct"], fold["tested"]) == (judge["correct"], judge["test_rows"])
            assert fold["accuracy"] == judge["correct"] / judge["test_rows"]
            accuracies.append(judge["correct"] / judge["test_rows"])
        else:
            assert (fold["correct"], fold["counted"]) == (judge["training_correct"], N_ROWS)
    assert record["accuracy_mean"] == pytest.approx(np.mean(accuracies), abs=1e-15)
    assert record["accuracy_std"] == pytest.approx(np.std(accuracies), abs=1e-15)
