"""Rows that a fitted classifier has labelled: its answers take the place of a target column.

The answer and the true label are joined into one column of codes, 2 * answer + truth, so that
whoever counts one can count the other in the same scan. Only a description crosses to a worker,
which loads the classifier once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from dnfscale.core.arrays import Bools, Scalar
from dnfscale.core.columns import Block, Column, Reading, Role
from dnfscale.data.read import ParquetPartition, TablePartition, to_block, wanted
from dnfscale.data.source import Source
from dnfscale.errors import DataError, SpecError, first_line

ANSWERED_YES = (2, 3)
TRULY_YES = (1, 3)
AGREED = (0, 3)
"""The codes of rows whose answer is yes, whose truth is yes, and where the two agree."""


class Scorer(Protocol):
    """A fitted classifier of two classes, as something that can be sent to a worker."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    def answers(self, batch: pa.RecordBatch) -> Bools: ...


@dataclass(frozen=True, slots=True)
class XgboostFile:
    """A model that XGBoost has saved as JSON; it is data, and loading it runs no code of
    its own.
    """

    path: str
    columns: tuple[str, ...]
    categorical: tuple[bool, ...]
    threshold: float
    stamp: tuple[int, int]
    """Size and modification time of the file when it was checked; if they differ later, it is
    another model.
    """
    rounds: int
    """How many rounds of trees to use; 0 for all."""

    def answers(self, batch: pa.RecordBatch) -> Bools:
        """Return which rows of a batch are positive: those above the threshold, as in XGBoost's own
        classifier.
        """
        import xgboost

        features = np.empty((batch.num_rows, len(self.columns)), dtype=np.float32)
        for i, name in enumerate(self.columns):
            features[:, i] = _floats(batch.column(name), name)
        kinds = ["c" if is_category else "q" for is_category in self.categorical]
        matrix = xgboost.DMatrix(
            features,
            feature_names=list(self.columns),
            feature_types=kinds,
            enable_categorical=True,
            nthread=1,
        )
        given = _booster(self.path, self.stamp).predict(matrix, iteration_range=(0, self.rounds))
        return np.asarray(given > self.threshold)


def _floats(array: pa.Array, name: str) -> Any:
    kind = array.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise DataError(
            f"column {name!r}: expected numbers, because the classifier was trained on "
            f"numbers, got the type {kind}; "
            "give the data as the classifier was trained on it"
        )
    return array.cast(pa.float32(), safe=False).to_numpy(zero_copy_only=False)


def _stamp(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


@lru_cache(maxsize=4)
def _booster(path: str, stamp: tuple[int, int]) -> Any:
    """Load a model, once per process; a file that was written since the job began is an error."""
    import xgboost

    if not os.path.exists(path) or _stamp(path) != stamp:
        raise DataError(
            f"{path}: expected the classifier that the job began with, but the file is not "
            "there or was written since; "
            "run again, and give every worker the same file",
            "distill.model",
        )
    booster = xgboost.Booster(params={"nthread": 1})
    booster.load_model(path)
    return booster


def open_xgboost(path: str, threshold: float = 0.5) -> XgboostFile:
    """Check a model file of XGBoost and return it as a scorer; anything but JSON is refused before
    XGBoost reads it.
    """
    file = Path(path)
    try:
        stamp = _stamp(path)
        record = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(
            f"{path}: expected a model saved by XGBoost, but {error.strerror}", "distill.model"
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: expected a model that XGBoost saved as JSON, with "
            'save_model("model.json"), but it does not '
            f"parse: {str(error)[:80]}",
            "distill.model",
        ) from error
    learner = record.get("learner") if isinstance(record, dict) else None
    if not isinstance(learner, dict) or "gradient_booster" not in learner:
        raise DataError(
            f"{path}: expected a model that XGBoost saved as JSON, got other JSON", "distill.model"
        )
    try:
        booster = _booster(str(file.resolve()), stamp)
    except Exception as error:  # XGBoost has no narrower kind for a file it cannot use
        raise DataError(
            (
                f"{path}: expected a model of XGBoost, but it cannot be loaded: "
                f"{first_line(error)[:120]}"
            ),
            "distill.model",
        ) from error
    objective = learner.get("objective", {}).get("name", "")
    if objective != "binary:logistic":
        raise DataError(
            (
                f"{path}: expected a classifier of two classes, objective binary:logistic, got "
                f"{objective!r}"
            ),
            "distill.model",
        )
    names, kinds = booster.feature_names, booster.feature_types
    if not names:
        raise DataError(
            f"{path}: expected a model that knows the names of its columns, got one "
            "without; train it on a table with "
            "named columns",
            "distill.model",
        )
    categorical = tuple(kind == "c" for kind in (kinds or ["q"] * len(names)))
    attributes = booster.attributes()
    # XGBoost's classifiers that were stopped early answer with their best rounds; plain boosters
    # with all.
    stopped = "scikit_learn" in attributes and "best_iteration" in attributes
    rounds = int(attributes["best_iteration"]) + 1 if stopped else 0
    return XgboostFile(str(file.resolve()), tuple(names), categorical, threshold, stamp, rounds)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPartition:
    """A partition whose target is a classifier's answer, joined with the truth."""

    inner: ParquetPartition | TablePartition
    scorer: Scorer
    target: str
    truth: str | None
    positive: tuple[Scalar, ...]

    @property
    def ordinal(self) -> int:
        return self.inner.ordinal

    @property
    def n_rows(self) -> int:
        return self.inner.n_rows

    def blocks(self, reading: Reading) -> Iterator[Block]:
        """Read the rows and label them."""
        plain, coded = wanted(replace(reading, target=None))
        plain = list(dict.fromkeys([*plain, *self.scorer.columns]))
        coded = [name for name in coded if name != self.truth and name not in plain]
        if self.truth is not None and self.truth not in plain:
            coded.append(self.truth)
        for batch in self.inner.batches(plain, coded, first_only=reading.first_only):
            yield to_block(batch.append_column(self.target, self._codes(batch)), reading)

    def _codes(self, batch: pa.RecordBatch) -> pa.Array:
        codes = 2 * self.scorer.answers(batch).astype(np.int8)
        if self.truth is None:
            return pa.array(codes)
        reading = Reading((Column(self.truth, Role.CATEGORY),), None, keep_missing=True)
        [labels] = to_block(batch.select([self.truth]), reading).columns
        true = np.array(
            [value in self.positive for value in labels.values] + [False], dtype=np.int8
        )
        return pa.array(codes + true[labels.codes], mask=labels.missing())  # type: ignore[union-attr]


def scored_source(
    source: Source, scorer: Scorer, *, target: str, truth: str | None, positive: tuple[Scalar, ...]
) -> Source:
    """Return a source whose target column holds a classifier's answers, joined with the truth if it
    is known.
    """
    absent = [name for name in scorer.columns if name not in source.types]
    if absent:
        raise DataError(
            (
                f"{source.path}: expected the columns that the classifier was trained on, but "
                f"{absent[0]!r} is not there"
            ),
            "distill.model",
        )
    return replace(
        source,
        types={**source.types, target: pa.int8()},
        null_counts={
            **source.null_counts,
            target: 0 if truth is None else source.null_counts.get(truth, 1),
        },
        partitions=tuple(
            ScoredPartition(partition, scorer, target, truth, positive)  # type: ignore[arg-type]
            for partition in source.partitions
        ),
    )
