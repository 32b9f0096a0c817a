"""A small model to write, to spoil and to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import Model
from dnfscale.core.seen import SeenColumn
from dnfscale.core.tree import And, Not, Or, Symbol
from dnfscale.core.vocabulary import Above, Equals, IsIn, IsMissing, IsTrue, Vocabulary
from dnfscale.data.models import model_text

ATTRIBUTES = (
    Above("age_above_median", "age", 38.5),
    Equals("colour_dark red", "colour", "dark red"),
    IsTrue("smoker", "smoker", True),
    IsMissing("age_missing", "age"),
)


SEEN = (
    SeenColumn("age", "int64", 0.25, 18, 97),
    SeenColumn("colour", "string", 0.0, values=("dark red", "red"), unlisted=3),
    SeenColumn("smoker", "bool", 0.0, values=(False, True)),
)

TREE = Or(And(Symbol(0), Not(Symbol(1))), Not(And(Symbol(2), Symbol(3))))


def small(**more: Any) -> Model:
    counts = TypeCounts(4, np.array([0, 5]), np.array([7, 3]), np.array([1, 3]))
    dnf = Dnf((Term(0b101, 0b101), Term(0b1010, 0b0010)))
    return Model(
        **{
            "target": "y",
            "positive": ("yes",),
            "tau": Vocabulary(ATTRIBUTES),
            "dnf": dnf,
            "counts": counts,
            **more,
        }
    )


def lined() -> Model:
    """The same lines, one of them also of a set of values, with counts of their patterns."""
    tau = Vocabulary((*ATTRIBUTES, IsIn("colour_in", "colour", ("red", "dark blue"))))
    dnf = Dnf((Term(0b10101, 0b10101), Term(0b1010, 0b0010)))
    counts = TypeCounts(2, np.array([0, 1, 3]), np.array([7, 3, 1]), np.array([1, 3, 0]))
    return small(tau=tau, dnf=dnf, counts=counts, types="lines")


def ticked() -> Model:
    """A checklist of the same attributes, with counts by the number of signs."""
    dnf = Dnf((Term(0b1111, 0b0111, 2),))
    counts = TypeCounts(4, np.array([0, 1, 7]), np.array([7, 3, 1]), np.array([1, 1, 1]))
    return small(dnf=dnf, counts=counts, types="signs")


def written(tmp_path: Path, record: Any) -> Path:
    file = tmp_path / "model.json"
    file.write_text(record if isinstance(record, str) else json.dumps(record), encoding="utf-8")
    return file


def same(one: Model, other: Model) -> bool:
    fields = (
        "target",
        "positive",
        "tau",
        "dnf",
        "counts",
        "missing",
        "unseen",
        "threshold",
        "unit",
        "tree",
        "types",
        "answer",
        "seen",
    )
    return all(getattr(one, name) == getattr(other, name) for name in fields) and model_text(
        one
    ) == model_text(other)
