"""One rule (Holte 1993): the single attribute that errs least, as the plainest classifier to
compare with.
"""

from __future__ import annotations

import numpy as np

from dnfscale.core.arrays import Ints
from dnfscale.core.associations import Associations


def best_single(tables: Associations) -> Ints:
    """Return, for each fold, the attribute whose best use misclassifies the fewest rows; the first
    of several.
    """
    positive = tables.positive[:, None]
    negative = tables.n[:, None] - positive
    true_when_holds = tables.holds_positive
    false_when_holds = tables.holds - tables.holds_positive
    errors = np.minimum(true_when_holds, false_when_holds) + np.minimum(
        positive - true_when_holds, negative - false_when_holds
    )
    best: Ints = np.argmin(errors, axis=1)
    return best
