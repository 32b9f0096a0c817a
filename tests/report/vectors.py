"""Test vectors of *what if*: forms, rows typed into them, and what `predict` and `explain` say of
these rows. `python -m tests.report.vectors` writes vectors.json anew.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.apply.evaluate import columns_of, evaluate
from dnfscale.apply.predict import predict
from dnfscale.core.concepts import Concept, Figure, Relation, RowTest, Sign
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import HALF, Model
from dnfscale.core.parts import Part, Unit
from dnfscale.core.quantities import Kind, Measure, Quantity
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsIn,
    IsMissing,
    IsTrue,
    Vocabulary,
)
from dnfscale.data.read import Reading
from dnfscale.data.source import open_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.method.explain import explain_type
from dnfscale.report.cards.what_if import Field, field_data, fields_of, model_data

FILE = Path(__file__).with_name("vectors.json")
_ORDERS = Relation("orders", "customer", "customer", "at", "as_of")
_DEAR = RowTest("amount", Sign.ABOVE, 120)
MOMENTS: tuple[Attribute, ...] = (
    Above("late", "day", Quantity(Measure(Kind.DATE, 1), 18_000)),
    Equals("monday", Part("day", Unit.WEEKDAY), "Monday"),
    IsMissing("unknown", "day"),
    Above("orders", Concept("orders_90d", _ORDERS, Figure.COUNT, days=90), 2, whole=True),
    IsTrue("dear", Concept("some_dear", _ORDERS, Figure.SOME, (_DEAR,)), True),
    Above("z1", "z", -4),
)
"""Attributes of dates, of their parts, and of related rows."""
COLOURS = ("red", "blue", "green", "another", None)
FLAGS = (True, False, None)
ASKED: tuple[Attribute, ...] = (
    Above("x1", "x", 0.1),
    Above("x2", "x", 2.75),
    Between("x3", "x", -1.5, 0.30000000000000004),
    Above("y1", "y", 3, whole=True),
    Above("y2", "y", 7.5, whole=True),
    IsMissing("y3", "y"),
    Equals("c1", "colour", "red"),
    IsIn("c2", "colour", ("blue", "green")),
    IsTrue("f1", "flag", True),
    Above("z1", "z", -4),
)
"""Attributes of every kind that a script tests."""


def models() -> dict[str, tuple[Model, ...]]:
    """Return formulas of every kind: over attributes, of lines, a checklist, and several labels."""
    rng = np.random.default_rng(7)
    tau = Vocabulary(ASKED)
    dnf = Dnf((Term(0b11, 0b01), Term(0b1000001000, 0b1000), Term(0b101100000, 0b100000)))
    lines = Dnf((*dnf.terms, Term(0b10010001, 0b10000000), Term(0b1111000010, 0b0110000010, 3)))
    signs = Vocabulary((ASKED[1], ASKED[3], ASKED[6], ASKED[8], ASKED[9]))
    moments = Dnf((Term(0b11, 0b01), Term(0b111000, 0b100000, 2), Term(0b100, 0b100)))
    labels = [
        Dnf((Term(0b1, 0b1), Term(0b1000000, 0))),
        Dnf((Term(0b10000, 0b10000),)),
        Dnf((Term(0b110000000, 0b110000000), Term(0b100, 0b100))),
    ]
    thresholds = (HALF, HALF / 2, HALF / 2)
    return {
        "attributes": (_model(tau, dnf, rng),),
        "threshold": (_model(tau, dnf, rng, threshold=Fraction(1, 4), unit=4),),
        "lines": (_model(tau, lines, rng, types="lines"),),
        "the other answer": (_model(tau, dnf, rng, types="lines", answer=False),),
        "signs": (_model(signs, Dnf((Term(0b11111, 0b01011, 3),)), rng, types="signs"),),
        "labels": tuple(
            _model(tau, each, rng, threshold=threshold, positive=(label,))
            for each, threshold, label in zip(labels, thresholds, "abc", strict=True)
        ),
        "never": (_model(Vocabulary((Above("n", "x", None), ASKED[0])), Dnf((Term(3, 2),)), rng),),
        "moments": (_model(Vocabulary(MOMENTS), moments, rng, types="lines"),),
    }


def _model(
    tau: Vocabulary,
    dnf: Dnf,
    rng: np.random.Generator,
    *,
    types: str = "attributes",
    **facts: Any,
) -> Model:
    """Return a model with the counts of rows that are drawn."""

    ell = len(dnf.terms) if types == "lines" else len(tau)
    none = TypeCounts(ell, *np.zeros((3, 0), dtype=np.int64))
    bare = replace(Model("y", ("a",), tau, dnf, none, "indicator", types=types), **facts)
    rows = rows_of(300, rng)
    found: dict[int, list[int]] = {}
    for code in codes_of((bare,), rows)[0]:
        own = found.setdefault(bare.type_of(code), [0, 0])
        own[0] += bare.unit
        own[1] += bare.unit * int(rng.random() < 0.4)
    codes = sorted(found)
    n, c = np.array([found[code] for code in codes], dtype=np.int64).T
    counts = TypeCounts(ell, np.array(codes, dtype=np.int64), n.copy(), c.copy())

    return replace(bare, counts=counts)


def rows_of(n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Draw rows: values near every cut, at it and between, and missing ones."""
    xs = [0.1, 0.30000000000000004, 0.3, 2.75, -1.5, 2.7500000001, -7.0, 9.5, 1e300, None]
    ys = [3, 4, 7, 8, -1, 0, 12, None]
    return [
        {
            "x": xs[rng.integers(len(xs))],
            "y": ys[rng.integers(len(ys))],
            "colour": COLOURS[rng.integers(len(COLOURS))],
            "flag": FLAGS[rng.integers(len(FLAGS))],
            "z": float(rng.integers(-6, 0)),
            "day": None if not at % 7 else _DAY + timedelta(days=at * 37 % 29 - 14),
            "orders_90d": at * 13 % 6,
            "some_dear": at % 3 == 1,
        }
        for at in range(n)
    ]


_DAY = date(2019, 4, 14)
_SCHEMA = pa.schema(
    {
        "x": pa.float64(),
        "y": pa.int64(),
        "colour": pa.string(),
        "flag": pa.bool_(),
        "z": pa.float64(),
        "day": pa.date32(),
        "orders_90d": pa.int64(),
        "some_dear": pa.bool_(),
    }
)


def codes_of(models: Sequence[Model], rows: Sequence[dict[str, Any]]) -> list[list[int]]:
    """Return the truth values of the models' attributes for some rows, as `explain` finds them."""
    taus = [model.tau for model in models]
    columns = columns_of(*taus)
    with tempfile.TemporaryDirectory() as folder:
        source = written(rows, folder)
        reading = Reading(columns, None, keep_missing=True)
        blocks = [block for part in source.partitions for block in part.blocks(reading)]
        planes = [evaluate(block, columns, taus).planes for block in blocks]
    return [
        [
            int.from_bytes(own[at][:, row].tobytes(), "little")
            for own in planes
            for row in range(own[at].shape[1])
        ]
        for at in range(len(models))
    ]


def written(rows: Sequence[dict[str, Any]], folder: str) -> Any:
    """Return some rows as a source in a folder."""
    path = f"{folder}/rows.parquet"
    pq.write_table(pa.Table.from_pylist(list(rows), schema=_SCHEMA), path)
    return open_source(path)


def said_of(models: Sequence[Model], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what `predict` and `explain` say of some rows."""
    with tempfile.TemporaryDirectory() as folder:
        predict(models, written(rows, folder), SerialEngine(), f"{folder}/answers")
        answers = pq.read_table(f"{folder}/answers").to_pylist()
    found = []
    for answer, *codes in zip(answers, *codes_of(models, rows), strict=True):
        explained = [explain_type(model, code) for model, code in zip(models, codes, strict=True)]
        found.append(
            {
                "prediction": answer["prediction"],
                "probability": answer["probability"],
                "formulas": [
                    {
                        "accepted": each.accepted,
                        "probability": each.probability,
                        "n": each.n,
                        "c": each.c,
                        "terms": list(each.terms),
                        "after": None if each.flip is None else hex(each.flip.code),
                        "proven": each.proven,
                    }
                    for each in explained
                ],
            }
        )
    return found


def typed(fields: Sequence[Field], row: dict[str, Any]) -> list[Any]:
    """Return a row as it is typed into a form: numbers, and the places of choices."""
    return [
        row[field.column] if field.options is None else _chosen(field, row[field.column])
        for field in fields
    ]


def _chosen(field: Field, value: object) -> int:
    """Return the place of the choice that stands for a value."""
    texts = [option.text for option in field.options or ()]
    if field.column == "day":
        return texts.index(_region(value))
    if isinstance(field.asked[0][2].column, Concept):
        return texts.index(f"{'some' if value else 'no'} order has amount > 120")
    text = "missing" if value is None else str(value).lower()
    return texts.index(text if text in texts else "another value")


def _region(day: date | None) -> str:
    """Return the choice of all that a formula asks about a day."""
    if day is None:
        return "missing"
    late, monday = day > _DAY, day.weekday() == 0
    return f"day {'>' if late else '≤'} {_DAY} and weekday of day {'=' if monday else '≠'} Monday"


def form_of(models: Sequence[Model]) -> dict[str, Any]:
    """Return what the script is given of some models."""
    fields = fields_of(models)
    return {"fields": [*map(field_data, fields)], "models": [*map(model_data, models)]}


def vectors() -> list[dict[str, Any]]:
    """Return all vectors."""
    rng = np.random.default_rng(23)
    found = []
    for name, own in models().items():
        rows, fields = rows_of(40, rng), fields_of(own)
        found.append(
            {
                "name": name,
                "labels": [model.positive[0] for model in own],
                "form": form_of(own),
                "rows": [typed(fields, row) for row in rows],
                "said": said_of(own, rows),
            }
        )
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), separators=(",", ":")) + "\n", encoding="utf-8")
