"""Makes a model, which can be used without the data, of a formula that the formula-size method
found.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dnfscale.core.arrays import Scalar
from dnfscale.core.counts import TypeCounts, from_dense
from dnfscale.core.distinct import PackedTypes
from dnfscale.core.lookalikes import lookalikes
from dnfscale.core.model import Model
from dnfscale.core.tree import Formula, renumbered, symbols, to_dnf
from dnfscale.formula_size.distinct import FoldTypes
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.seen import seen_columns
from dnfscale.spec.learn import LearnSpec


def sized_model(
    formula: Formula,
    types: FoldTypes,
    kept: KeptRows,
    spec: LearnSpec,
    *,
    positive: tuple[Scalar, ...],
) -> Model:
    """Return a formula over a fold's attributes as a model, with the counts of W_0 over the
    attributes that it uses.

    For types that no row had, the formula's answer is whatever made it shortest.
    """
    used = used_attributes(formula)
    tree = renumbered(formula, {place: number for number, place in enumerate(used)})
    tau = kept.booleans.vocabulary(types.fold, [types.attributes[place] for place in used])
    return Model(
        target=spec.target,
        positive=positive,
        tau=tau,
        dnf=to_dnf(tree),
        counts=counts_over(types.whole, used),
        missing=spec.missing,
        unseen="dont_care",
        threshold=spec.threshold,
        unit=spec.unit,
        weighted=spec.weight is not None,
        lookalikes=lookalikes(tau, kept.table.alike),
        seen=seen_columns(tau, kept.table, spec),
        about=spec.about([spec.target, *tau.stored]),
        tree=tree,
    )


def used_attributes(formula: Formula) -> tuple[int, ...]:
    """Return the attributes of a formula, each once, in the order in which they occur."""
    return tuple(dict.fromkeys(symbols(formula)))


def counts_over(types: PackedTypes, attributes: Sequence[int]) -> TypeCounts:
    """Return the counts of the types over some of the attributes of distinct rows."""
    codes = types.holds()[:, attributes].astype(np.int64) @ (
        np.int64(1) << np.arange(len(attributes))
    )
    n, c = np.zeros((2, 1 << len(attributes)), dtype=np.int64)
    np.add.at(n, codes, types.n)
    np.add.at(c, codes, types.c)
    return from_dense(n - c, c)
