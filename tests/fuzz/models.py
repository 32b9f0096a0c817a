"""Model files: JSON that is nearly a model, with numbers, texts and nesting that no model has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from dnfscale.core.arrays import Scalar
from dnfscale.core.concepts import OF_NUMBERS, Concept, Figure, Relation, RowTest, Sign
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import Model
from dnfscale.core.parts import ColumnName
from dnfscale.core.quantities import Kind, Measure, Quantity
from dnfscale.core.seen import SeenColumn
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
from dnfscale.data.models import classes_record, classes_text, model_record, model_text, read_models
from dnfscale.export.dialects import DIALECTS
from dnfscale.export.latex import export_latex
from dnfscale.export.pmml import export_pmml
from dnfscale.export.python import export_python
from dnfscale.export.sql import export_sql
from dnfscale.export.text import export_text
from dnfscale.method.explain import explain_model, explain_types, model_to_record, to_record
from dnfscale.method.narrate import write, write_model
from tests.fuzz.spoil import TEXTS, json_of, tree_spoiled
from tests.fuzz.verdict import attempt, demand
from tests.judges import by_lines

Files = dict[str, bytes]
_MOST_ELL = 10
"""Above this, tables of all types take too long for a thousand inputs a second."""


_CUTS = (0, 1.5, 2**63, -(2**53) - 1, float("inf"), -float("inf"), 5e-324)


FIRST = [
    json.loads(file.read_text(encoding="utf-8"))
    for file in sorted((Path(__file__).parents[1] / "results" / "first").glob("*-model.json"))
]
"""Model files that version 0.1.0 wrote."""


def make(random: Random) -> Files:
    """Make a model file."""
    model = any_checklist(random) if random.random() < 0.15 else any_model(random)
    tree: Any = model_record(model)
    if random.random() < 0.1:
        tree = classes_record([model, any_model(random, model.target)])
    if random.random() < 0.1:
        tree = random.choice(FIRST)
    for _ in range(random.choice((0, 1, 1, 2))):
        tree = tree_spoiled(random, tree)
    if isinstance(tree, dict) and random.random() < 0.3:
        tree["formula"] = model.formula
    return {"model.json": json_of(random, tree)}


def check(files: Files, folder: Path) -> None:
    """Read a model file; one that is accepted can be written, exported and explained."""
    file = folder / "model.json"
    file.write_bytes(files["model.json"])
    models = attempt(lambda: read_models(file))
    if models is None:
        return
    text = model_text(models[0]) if len(models) == 1 else classes_text(models)
    file.write_text(text, encoding="utf-8")
    again = attempt(lambda: read_models(file))
    demand(again is not None, f"a model that was written is refused:\n{text[:2000]}")
    assert again is not None
    written = model_text(again[0]) if len(again) == 1 else classes_text(again)
    demand(
        written == text,
        f"a model that was written says something else:\n{text[:2000]}\n{written[:2000]}",
    )
    for model in models:
        if len(model.tau) <= _MOST_ELL or model.types == "lines":
            _use(model)


def _use(model: Model) -> None:
    for dialect in DIALECTS:
        attempt(lambda dialect=dialect: export_sql(model, dialect, "t", probability=True))
    for export in (export_latex, export_pmml, export_text):
        written = attempt(lambda export=export: export(model))
        demand(written is None or "\x1b" not in written, "a character that a terminal obeys")
    source = attempt(lambda: export_python(model))
    if source is not None:
        compile(source, "exported", "exec")
    facts = explain_model(model)
    json.dumps(model_to_record(model, facts), allow_nan=False)
    demand("\x1b" not in write_model(model, facts), "a character that a terminal obeys")
    codes = model.counts.codes[:3].tolist() if model.types == "attributes" else []
    for explanation in explain_types(model, [*codes, (1 << len(model.tau)) - 1]).values():
        json.dumps(to_record(model, explanation), allow_nan=False)
        write(model, explanation)
    probabilities = model.table().probability
    demand(
        bool(((probabilities > float(model.threshold)) == model.table().accepted).all()),
        "an answer on the wrong side",
    )


def any_model(random: Random, target: str | None = None) -> Model:
    """Return a model of a few attributes."""
    columns = random.sample([*TEXTS[:20], "a", "b", "c", "d"], random.choice((1, 2, 3, 4)))
    attributes: list[Attribute] = []
    for place, column in enumerate(columns):
        attributes.append(_attribute(random, f"{place}{column}", column))
        if random.random() < 0.2:
            attributes.append(IsMissing(f"{place}{column}_missing", column))
    ell = len(attributes)
    codes = sorted(random.sample(range(1 << ell), random.randrange(1, min(8, 1 << ell) + 1)))
    n = [random.choice((1, 2, 50, 2**40)) for _ in codes]
    c = [random.randrange(count + 1) for count in n]
    terms = []
    for _ in range(random.randrange(4)):
        care = random.randrange(1 << ell)
        terms.append(_term(random, care, care & random.randrange(1 << ell)))
    other = {columns[0].swapcase()} - {columns[0]}
    model = Model(
        target=random.choice(TEXTS) if target is None else target,
        positive=(random.choice(("yes", 1, True, 0.5, float("inf"), "", "=1+1")),),
        tau=Vocabulary(tuple(attributes)),
        dnf=Dnf(tuple(terms)),
        counts=TypeCounts(ell, *(np.array(values, dtype=np.int64) for values in (codes, n, c))),
        missing=random.choice(("drop", "error", "indicator")),
        lookalikes={columns[0]: (f"{columns[0]}_1", *other)} if random.random() < 0.1 else {},
        seen=tuple(_seen(random, column) for column in columns) if random.random() < 0.3 else (),
    )
    if random.random() < 0.6:
        return model
    return replace(by_lines(model), answer=random.random() < 0.7)


def any_checklist(random: Random) -> Model:
    """Return a model that is one checklist, of whose signs its counts are."""
    columns = random.sample([*TEXTS[:20], "a", "b", "c", "d"], random.randrange(3, 9))
    attributes = [_attribute(random, f"{i}{column}", column) for i, column in enumerate(columns)]
    ell = len(attributes)
    every = (1 << ell) - 1
    signs = sorted(random.sample(range(ell + 1), random.randrange(1, ell + 2)))
    n = [random.choice((1, 2, 50, 2**40)) for _ in signs]
    c = [random.randrange(count + 1) for count in n]
    codes = [(1 << held) - 1 for held in signs]
    return Model(
        target=random.choice(TEXTS),
        positive=(random.choice(("yes", 1, True)),),
        tau=Vocabulary(tuple(attributes)),
        dnf=Dnf((Term(every, random.randrange(1 << ell), random.randrange(2, ell)),)),
        counts=TypeCounts(ell, *(np.array(values, dtype=np.int64) for values in (codes, n, c))),
        missing=random.choice(("drop", "error", "indicator")),
        types="signs",
    )


def _term(random: Random, care: int, value: int) -> Term:
    """Return a line: now and then a checklist."""
    n = care.bit_count()
    if n < 3 or random.random() < 0.7:
        return Term(care, value)
    return Term(care, value, random.randrange(2, n))


def _column(random: Random, column: str) -> ColumnName:
    """Return a column of the table, or now and then one that says something of related rows."""
    if random.random() < 0.85:
        return column
    timed = random.random() < 0.5
    relation = Relation(
        table=random.choice(("orders", *TEXTS)),
        key=random.choice(TEXTS),
        main_key=random.choice(TEXTS),
        time="at" if timed else None,
        as_of=random.choice((None, "now")) if timed else None,
        zoned=timed and random.random() < 0.5,
        id=random.choice((None, "id", *TEXTS)),
    )
    figure = random.choice([each for each in Figure if timed or each != Figure.LATEST])
    where = tuple(
        RowTest(random.choice(TEXTS), Sign.IS, random.choice((*TEXTS, True, 3)))
        if random.random() < 0.5
        else RowTest(
            "n", random.choice((Sign.ABOVE, Sign.UP_TO)), random.choice((3, 0.5, -(2**53)))
        )
        for _ in range(random.randrange(3))
    )
    of = random.choice(("n", *TEXTS)) if figure in OF_NUMBERS else None
    days = random.choice((None, 1, 30, 10**9)) if relation.as_of else None
    return Concept(column, relation, figure, where, of, days, random.choice((None, 2, -400)))


def _seen(random: Random, column: str) -> SeenColumn:
    missing = random.choice((0.0, 0.25, 1.0))
    if random.random() < 0.3:
        return SeenColumn(column, "string", missing, values=tuple(random.sample(TEXTS[:20], 3)))
    day = Measure(Kind.DATE, 1)
    ends = random.choice(((0, 2**63), (-float("inf"), 1.5), (Quantity(day, 1), Quantity(day, 2))))
    return SeenColumn(column, "int64", missing, *ends)


def _attribute(random: Random, name: str, stored: str) -> Attribute:
    column = _column(random, stored)
    match random.randrange(8):
        case 0:
            return Above(name, column, random.choice((None, *_CUTS)))
        case 5:
            return Between(name, column, *sorted(random.sample(_CUTS, 2)))
        case 6:
            measure, most = _measure(random), (2**62 - 1) >> random.randrange(60)
            low, high = sorted(random.sample(range(-most, most), 2))
            return Between(name, column, Quantity(measure, low), Quantity(measure, high))
        case 1:
            return Equals(name, column, random.choice((*TEXTS, 3, 0.25, True)))
        case 7:
            some: tuple[tuple[Scalar, ...], ...] = (
                tuple(TEXTS),
                (3, 2**64 - 1, 0.25, float("inf")),
            )
            return IsIn(name, column, tuple(random.sample(random.choice(some), 3)))
        case 2:
            return IsTrue(name, column, random.choice((True, 1, "yes", 2**64 - 1)))
        case _:
            return Above(
                name,
                column,
                Quantity(
                    _measure(random), random.randrange(-(2**63), 2**63) >> random.randrange(63)
                ),
            )


def _measure(random: Random) -> Measure:
    kind = random.choice(list(Kind))
    if kind is Kind.DATE:
        return Measure(kind, 1)
    return Measure(
        kind,
        10 ** (random.randrange(1, 39) if kind is Kind.DECIMAL else random.choice((0, 3, 6, 9))),
    )
