"""Terms kept for other formulas, and what they gain on any rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dnfscale.method.terms.bits import pack
from dnfscale.method.terms.codes import one_of
from dnfscale.method.terms.pool import Pool


def term(number: int, length: int):
    return tuple(one_of(number, [place]) for place in range(length))


@given(st.data())
def test_the_best_term_of_each_length_is_found(choice):
    n_rows = choice.draw(st.integers(1, 130))
    gains = choice.draw(hnp.arrays(np.int64, n_rows, elements=st.integers(-100, 100)))
    sets = hnp.arrays(np.bool_, n_rows)
    members = [(term(i, choice.draw(st.integers(1, 3))), choice.draw(sets)) for i in range(4)]
    pool = Pool(gains, 10)
    for one, rows in members:
        pool.add(one, pack(rows))
    asked = choice.draw(sets)
    worth = {one: int(gains[rows & asked].sum()) for one, rows in members}
    best = {
        length: max((gain for one, gain in worth.items() if len(one) == length), default=0)
        for length in (1, 2, 3)
    }
    found = {len(one): gain for gain, one in pool.best(pack(asked))}
    assert found == {length: gain for length, gain in best.items() if gain > 0}
    assert all(worth[one] == gain for gain, one in pool.best(pack(asked)))


def test_the_oldest_term_gives_way():
    pool = Pool(np.ones(3, dtype=np.int64), 2)
    everything = pack(np.ones(3, dtype=np.bool_))
    for number in (0, 1, 1, 2):
        pool.add(term(number, number + 1), everything)
    assert sorted(len(one) for _, one in pool.best(everything)) == [2, 3]
