"""RIPPER's rules, by wittgenstein: a readable competitor. Its length is that of its rules."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from dnfscale.compare.peers import Answered, Peer, PeerFit
from dnfscale.compare.rows import Matrix, RowMatrix
from dnfscale.core.splits import TRAIN, VALIDATION, Splits
from dnfscale.spec.registry import COMPETITORS


def learn(rows: RowMatrix, splits: Splits, fit: PeerFit, tested: Matrix) -> Answered:
    """Learn rules on W_0 and answer other rows."""
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

    known = rows.part(splits, fit.fold, (TRAIN, VALIDATION))
    ripper = wittgenstein.RIPPER(random_state=fit.seed)
    with warnings.catch_warnings():
        # wittgenstein calls pandas in ways that newer versions warn about.
        warnings.simplefilter("ignore")
        ripper.fit(frame(known.features), y=(known.target == 1).astype(int), pos_class=1)
        answers = np.asarray(ripper.predict(frame(tested)), dtype=np.bool_)
    return answers, sum(len(rule.conds) for rule in ripper.ruleset_.rules)


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
