"""All cases, in the order in which they run."""

from __future__ import annotations

from tests.bench import (
    best,
    checking,
    conversion,
    covertype,
    deep_features,
    evaluation,
    exact_medians,
    figures,
    growth,
    joint,
    memory,
    minimization,
    prediction,
    relations,
    shapes,
    study,
    type_counting,
)
from tests.bench.case import Case

CASES: tuple[Case, ...] = (
    type_counting.CASE,
    exact_medians.CASE,
    study.CASE,
    figures.CASE,
    prediction.CASE,
    evaluation.CASE,
    checking.CASE,
    conversion.CASE,
    relations.CASE,
    deep_features.CASE,
    covertype.CASE,
    joint.CASE,
    memory.CASE,
    minimization.CASE,
    *growth.CASES,
    best.CASE,
    *shapes.CASES,
)


def find_case(name: str) -> Case:
    """Return the case of this name; KeyError where there is none."""
    return {case.name: case for case in CASES}[name]
