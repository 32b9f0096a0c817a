"""All cases, in the order in which they run."""

from __future__ import annotations

from tests.bench import covertype, memory, minimization, study, type_counting
from tests.bench.case import Case

CASES: tuple[Case, ...] = (
    type_counting.CASE,
    study.CASE,
    covertype.CASE,
    memory.CASE,
    minimization.CASE,
)


def find_case(name: str) -> Case:
    """Return the case of this name; KeyError where there is none."""
    return {case.name: case for case in CASES}[name]
