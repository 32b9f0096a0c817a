"""RIPPER's rules, by wittgenstein: a readable competitor. Its length is that of its rules."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from dnfscale.compare.peers import Answered, Peer, PeerFit
from dnfscale.compare.rows import Matrix, RowMatrix
from dnfscale.core.splits import WHOLE, Splits
from dnfscale.spec.registry import COMPETITORS


def learn(rows: RowMatrix, splits: Splits, fit: PeerFit) -> Callable[[Matrix], Answered]:
    """Learn rules on W_0 and return what answers other rows."""
    import pandas as pd  # type: ignore[import-untyped]
    import wittgenstein

    def frame(features: Matrix) -> Any:
        # Categories are passed as words: codes would be taken for quantities.
        columns = {
            f"c{i}": np.char.add("v", features[:, i].astype(np.int64).astype(str))
            if is_category
            else features[:, i]
            for i, is_category in enumerate(rows.categorical)
        }
        return pd.DataFrame(columns)

    known = rows.part(splits, fit.fold, WHOLE)
    ripper = wittgenstein.RIPPER(random_state=fit.seed)
    with warnings.catch_warnings():
        # wittgenstein calls pandas in ways that newer versions warn about.
        warnings.simplefilter("ignore")
        ripper.fit(frame(known.features), y=(known.target == 1).astype(int), pos_class=1)
        learned = np.asarray(ripper.predict(frame(known.features)), dtype=np.bool_)
    # Rules have no probabilities of their own: the share of positives among the rows learned from
    # that are answered alike, smoothed as a formula's is.
    yes, no = (
        (float((known.target[alike] == 1).sum()) + 1) / (float(alike.sum()) + 2)
        for alike in (learned, ~learned)
    )
    literals = sum(len(rule.conds) for rule in ripper.ruleset_.rules)

    def answer(tested: Matrix) -> Answered:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = np.asarray(ripper.predict(frame(tested)), dtype=np.bool_)
        return Answered(answers=answers, literals=literals, probability=np.where(answers, yes, no))

    return answer


COMPETITORS.register(
    Peer(
        name="ripper",
        title="RIPPER",
        place=60,
        learn=learn,
        weighs_rows=False,
        package="wittgenstein",
        extra="peers",
    )
)
