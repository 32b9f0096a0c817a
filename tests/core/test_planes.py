from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.formula import Dnf, Term
from dnfscale.core.planes import joined, lines_of, no_planes, put


@st.composite
def formulas(draw: st.DrawFn) -> tuple[int, Dnf]:
    """A formula over up to 80 attributes, many more than types can be told apart by."""
    ell = draw(st.integers(0, 80))
    terms = []
    for _ in range(draw(st.integers(0, 20))):
        few = draw(st.sets(st.integers(0, ell - 1), max_size=4)) if ell else set()
        care = sum(1 << i for i in few)
        at_least = draw(st.sampled_from([None, 2])) if len(few) > 2 else None
        terms.append(Term(care, care & draw(st.integers(0, (1 << ell) - 1)), at_least))
    return ell, Dnf(tuple(terms))


@given(formulas(), st.data())
def test_planes_make_the_integers_that_python_makes(formula, data):
    ell, dnf = formula
    codes = data.draw(st.lists(st.integers(0, (1 << ell) - 1), max_size=5))
    planes = no_planes(ell, len(codes))
    for number in range(ell):
        put(planes, number, np.array([code >> number & 1 for code in codes], dtype=bool))
    assert joined(planes).tolist() == codes
    patterns = [
        sum(1 << i for i, term in enumerate(dnf.terms) if term.holds(code)) for code in codes
    ]
    assert joined(lines_of(planes, dnf)).tolist() == patterns
