"""What the tests of exports share: the judge, models of datasets, hostile names and values, models
made at random.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from hypothesis import strategies as st

from dnfscale.apply.evaluate import columns_of, evaluate
from dnfscale.core.columns import Reading
from dnfscale.core.counts import TypeCounts, tally_types
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import MOST_ELL, Model, formula_of
from dnfscale.core.tree import to_dnf
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
from dnfscale.data.frames import table_source
from dnfscale.data.read import TablePartition
from dnfscale.data.source import Source
from dnfscale.datasets.named import open_named
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.line import fold_model, learn
from dnfscale.spec.learn import LearnSpec
from tests.examples import adult_like
from tests.judges import by_lines
from tests.strategies import trees

NAMES = (
    "plain",
    'say "hi"',
    "it's",
    "a[b]",
    "(c)",
    "a-b",
    "Was it?",
    "`tick`",
    "a.b",
    " before",
    "after ",
    "two  spaces",
    "select",
    "Order",
    "null",
    "1st",
    "_",
    "%s",
    "100%",
    "{x}",
    "$1",
    ":name",
    "x; DROP TABLE t; --",
    "/* c */",
    "# -*- coding: utf-7 -*-",
    "back\\slash",
    "end\\",
    "\\u0041",
    "tab\there",
    "line\nbreak",
    "return\r",
    "bell\x07",
    "größe",
    "gro\u0308ße",
    "😀",
    "中文",
    "\u200bzero",
    "right\u202eleft",
    "'''",
    '"""',
    "&amp; <b>",
    "^~#_&%",
    "class",
    "row",
    "a--b",
)
"""Names of columns that are hard to quote; no two of them differ in case only, and none has more
than 63 bytes.
"""
TEXTS = (
    *NAMES,
    "",
    " ",
    "'",
    "''",
    '"',
    "\\",
    "\\n",
    "\n",
    "\r\n",
    "NULL",
    "nan",
    "NaN",
    "1",
    "1.0",
    "01",
    "-1",
    "1e5",
    "1_000",
    "true",
    "t",
    "2020-01-01",
    "%",
    "a%",
    "a_b",
    "ab",
    "AB",
    "ab ",
    "\x01\x1f\x7f",
    "\x85\u2028",
    "]]>",
)
"""Categories that are hard to quote, and some that are easily taken for others."""


@dataclass(frozen=True)
class Case:
    """A model and rows to score with it."""

    model: Model
    table: pa.Table


def expected(model: Model, table: pa.Table) -> list[bool]:
    """The judge: what predict says of each row."""
    return model.accepts(types(model, table)).tolist()


def types(model: Model, table: pa.Table) -> Any:
    columns = columns_of(model.tau)
    blocks = TablePartition(0, table).blocks(Reading(columns, None, keep_missing=True))
    planes = [evaluate(block, columns, [model.tau]).planes[0] for block in blocks]
    return np.concatenate([np.empty(0, np.int64), *map(model.types_in, planes)]).astype(np.int64)


def probabilities(case: Case) -> list[float]:
    """The judge: what predict says of each row, as a probability."""
    table = case.model.table()
    return table.probability[table.places(types(case.model, case.table))].tolist()


def used(case: Case) -> pa.Table:
    """The rows, with the columns that the model's attributes need."""
    return case.table.select(
        list(dict.fromkeys(attribute.column for attribute in case.model.tau.attributes))
    )


def single(attribute: Attribute, holds: bool = True) -> Model:
    """The model of one condition."""
    return formula([attribute], [[(0, holds)]])


def formula(attributes: list[Attribute], terms: list[list[tuple[int, bool]]], **more: Any) -> Model:
    """A model with the given terms, whose counts are one row of each type that it accepts and two
    of each other.
    """
    dnf = Dnf(
        tuple(
            Term(sum(1 << i for i, _ in term), sum(1 << i for i, holds in term if holds))
            for term in terms
        )
    )
    codes = np.arange(1 << len(attributes))
    accepted = dnf.accepts(codes)
    counts = TypeCounts(len(attributes), codes, np.where(accepted, 1, 2), np.where(accepted, 1, 0))
    return Model(
        **{"target": "y", "positive": (True,), **more},
        tau=Vocabulary(tuple(attributes)),
        dnf=dnf,
        counts=counts,
    )


def learned(source: Source, spec: LearnSpec) -> Model:
    found = learn(source, spec, SerialEngine())
    return fold_model(found.model, found, spec)


def disturbed(table: pa.Table, *, share: float = 0.1, seed: int = 3) -> pa.Table:
    """The rows, and once more with nulls, NaN, infinities and categories that nobody has seen."""
    random = np.random.default_rng(seed)
    columns = {}
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        values = column.to_pylist()
        odd: list[Any] = [None]
        if pa.types.is_floating(kind):
            odd += [float("nan"), float("inf"), float("-inf"), -0.0]
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            odd += ["never seen", "", "NaN"]
        elif pa.types.is_integer(kind):
            odd += [np.iinfo(kind.to_pandas_dtype()).max, np.iinfo(kind.to_pandas_dtype()).min]
        again = [
            odd[int(random.integers(len(odd)))] if random.random() < share else value
            for value in random.permutation(np.array(values, dtype=object)).tolist()
        ]
        columns[name] = pa.array([*values, *again], kind)
    return pa.table(columns)


@cache
def breast_cancer() -> Case:
    source, record = open_named("builtin:breast_cancer")
    [partition] = source.partitions
    assert isinstance(partition, TablePartition)
    spec = LearnSpec(target=record.target, positive=tuple(record.positive), tolerance=0, outer=0)
    return Case(learned(source, spec), disturbed(partition.table))


@cache
def adult(missing: str) -> Case:
    table = adult_like()
    spec = LearnSpec(target="income", positive=(">50K",), missing=missing, tolerance=0, outer=0)
    return Case(learned(table_source(table, "adult"), spec), disturbed(table))


@cache
def adult_written(kind: str) -> Case:
    """A formula of lines, or a checklist, over the columns of adults."""
    table = adult("indicator").table
    columns = [name for name in table.column_names if name != "income"]
    random = np.random.default_rng(22)
    asked = [
        (_asked(table, columns[place % len(columns)], random), bool(place % 3))
        for place in range(12)
    ]
    positive = pc.fill_null(pc.equal(table.column("income").cast(pa.string()), ">50K"), False)
    table = table.drop_columns(["income"]).append_column("y", positive)
    if kind == "checklist":
        return _counted(*formula_of([asked[:5]], [3]), table, "signs")
    written = [asked[at : at + 3] for at in range(0, 12, 3)]
    return _counted(*formula_of(written), table, "lines")


@cache
def paper(name: str) -> Case:
    """A dataset of the paper; DNFSCALE_DATA must be set."""
    source, record = open_named(f"paper:{name}")
    spec = LearnSpec(
        target=record.target,
        positive=tuple(record.positive),
        drop=tuple(record.drop),
        categorical=tuple(record.categorical),
        boolean=tuple(record.boolean),
        tolerance=0,
        outer=0,
    )
    model = learned(source, spec)
    needed = [attribute.column for attribute in model.tau.attributes]
    return Case(model, disturbed(pq.read_table(source.path, columns=list(dict.fromkeys(needed)))))


@cache
def hostile() -> Case:
    """A model learned from columns with hostile names and values, several of which decide."""
    random = np.random.default_rng(8)
    n_rows = 600
    columns: dict[str, Any] = {}
    for place, name in enumerate(NAMES):
        match place % 5:
            case 0:
                columns[name] = random.choice(np.array(TEXTS, dtype=object), n_rows).tolist()
            case 1:
                columns[name] = random.choice(
                    np.array(["'", "''", "\\", None], dtype=object), n_rows
                ).tolist()
            case 2:
                columns[name] = random.normal(size=n_rows).astype(np.float32)
            case 3:
                columns[name] = pa.array(
                    random.integers(0, 9, n_rows), mask=random.random(n_rows) < 0.1
                )
            case _:
                columns[name] = pa.array(
                    random.random(n_rows) < 0.5, mask=random.random(n_rows) < 0.1
                )
    deciding = [name for place, name in enumerate(NAMES) if place % 5 == 1][:6]
    score = sum(np.array([value == "'" for value in columns[name]]) * 1.0 for name in deciding)
    score = score + (columns["it's"] > 0) + (np.array(columns["select"]) == "''")
    columns["y"] = score + random.normal(0, 0.3, n_rows) > 2.5
    table = pa.table(columns)
    spec = LearnSpec(target="y", missing="indicator", tolerance=0, outer=0)
    return Case(learned(table_source(table, "hostile"), spec), disturbed(table))


@cache
def lines() -> Case:
    """A formula of many lines over columns with hostile names and values, of more attributes than
    types can be told apart by.
    """
    table = hostile().table
    random = np.random.default_rng(19)
    columns = [name for name in table.column_names[:-1] if _is_xml(name)]
    written = [
        [
            (_asked(table, columns[place], random), bool(random.random() < 0.7))
            for place in random.choice(len(columns), size=int(random.integers(2, 5)), replace=False)
        ]
        for _ in range(20)
    ]
    tau, dnf = formula_of(written)
    assert len(tau) > MOST_ELL
    model = Model("y", (True,), tau, dnf, empty_counts(len(dnf.terms)), "indicator", types="lines")
    seen = table.slice(0, table.num_rows // 2)
    target = np.asarray(seen.column("y").fill_null(False)).astype(bool)
    return Case(
        replace(model, counts=tally_types(types(model, seen), target, len(dnf.terms))), table
    )


@cache
def checklist() -> Case:
    """A checklist of columns with hostile names and values."""
    table = hostile().table
    random = np.random.default_rng(20)
    columns = [name for name in table.column_names[:-1] if _is_xml(name)]
    places = random.choice(len(columns), size=7, replace=False)
    written = [(_asked(table, columns[place], random), bool(place % 3)) for place in places]
    return _counted(*formula_of([written], [3]), table, "signs")


@cache
def mixed() -> Case:
    """Lines of which two are checklists, over the same columns."""
    table = hostile().table
    random = np.random.default_rng(21)
    columns = [name for name in table.column_names[:-1] if _is_xml(name)]
    places = random.choice(len(columns), size=11, replace=False)
    asked = [(_asked(table, columns[place], random), bool(place % 3)) for place in places]
    written = [asked[:4], asked[4:6], asked[5:11]]
    return _counted(*formula_of(written, [3, None, 4]), table, "lines")


def _counted(tau: Vocabulary, dnf: Dnf, table: pa.Table, kind: str) -> Case:
    ell = len(dnf.terms) if kind == "lines" else len(tau)
    model = Model("y", (True,), tau, dnf, empty_counts(ell), "indicator", types=kind)
    seen = table.slice(0, table.num_rows // 2)
    target = np.asarray(seen.column("y").fill_null(False)).astype(bool)
    return Case(replace(model, counts=tally_types(types(model, seen), target, ell)), table)


def empty_counts(ell: int) -> TypeCounts:
    return tally_types(np.empty(0), np.empty(0), ell)


def _is_xml(text: str) -> bool:
    return not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", text)


def _asked(table: pa.Table, name: str, random: np.random.Generator) -> Attribute:
    """A condition on a column: mostly an interval of numbers or a set of categories."""
    present = {v for v in table.column(name).to_pylist() if v is not None and v == v}
    values = sorted(v for v in present if not isinstance(v, str) or _is_xml(v))
    low, high = (values[place] for place in sorted(random.choice(len(values), 2, replace=False)))
    odd = random.random()
    # In PMML, a column that is asked nothing else may not have the text «NaN».
    if odd < 0.15 and not isinstance(values[0], str):
        return IsMissing(f"{name} missing", name)
    if isinstance(values[0], bool):
        return IsTrue(name, name, True)
    if isinstance(values[0], str):
        if odd < 0.3:
            return Equals(f"{name} is", name, low)
        some = random.choice(len(values), size=min(len(values), 6), replace=False)
        return IsIn(f"{name} in", name, tuple(values[place] for place in some))
    return Above(f"{name} above", name, low) if odd < 0.5 else Between(name, name, low, high)


# Models made at random, each with a table


TEXT = st.one_of(
    st.sampled_from(TEXTS),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
)
_INTEGERS = {
    "int8": (-128, 127),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
    "uint8": (0, 255),
}


def names(taken: frozenset[str] = frozenset()) -> st.SearchStrategy[str]:
    """A name that every engine can have beside those that are taken."""
    return TEXT.filter(lambda name: 0 < len(name.encode()) <= 63 and name.lower() not in taken)


@st.composite
def cases(draw: st.DrawFn, *, max_columns: int = 4, max_rows: int = 12) -> Case:
    """Any formula over any attributes of any columns, by its terms or as a tree, and rows
    for it.
    """
    n_rows = draw(st.integers(1, max_rows))
    columns: dict[str, pa.Array] = {}
    attributes: list[Attribute] = []
    for _ in range(draw(st.integers(1, max_columns))):
        name = draw(names(frozenset(known.lower() for known in columns)))
        column, found = draw(_column(name, n_rows))
        columns[name] = column
        attributes += found
    attributes = draw(st.permutations(attributes))[:6]
    full = (1 << len(attributes)) - 1
    cares = draw(st.lists(st.integers(0, full), max_size=4))
    terms = tuple(Term(care, draw(st.integers(0, full)) & care) for care in cares)
    codes = sorted(draw(st.sets(st.integers(0, full), max_size=8)))
    n = [draw(st.integers(1, 9)) for _ in codes]
    c = [draw(st.integers(0, rows)) for rows in n]
    counts = TypeCounts(
        len(attributes), *(np.array(column, dtype=np.int64) for column in (codes, n, c))
    )
    named = tuple(replace(attribute, name=f"a{i}") for i, attribute in enumerate(attributes))
    missing = draw(st.sampled_from(["drop", "indicator"]))
    tree = draw(st.none() | trees(len(attributes)))
    dnf = Dnf(terms) if tree is None else to_dnf(tree)
    model = Model("y", (True,), Vocabulary(named), dnf, counts, missing=missing, tree=tree)
    if tree is None and draw(st.booleans()):
        model = replace(by_lines(model), answer=draw(st.booleans()))
    return Case(model, pa.table(columns))


@st.composite
def _column(draw: st.DrawFn, name: str, n_rows: int) -> tuple[pa.Array, list[Attribute]]:
    kind = draw(
        st.sampled_from([*_INTEGERS, "float32", "float64", "text", "bool", "codes", "levels"])
    )
    known, arrow = _elements(kind, draw)
    values = draw(
        st.lists(st.one_of(known, known, known, st.none()), min_size=n_rows, max_size=n_rows)
    )
    present = [value for value in values if value is not None and value == value]
    candidates = st.one_of(st.sampled_from(present), known) if present else known
    asked = draw(
        st.lists(candidates.filter(lambda value: value == value), max_size=3, unique_by=repr)
    )
    attributes: list[Attribute] = []
    for value in asked:
        if kind in _INTEGERS or kind in ("float32", "float64"):
            half = (
                value + 0.5
                if kind in _INTEGERS and abs(value) < 2**52 and draw(st.booleans())
                else value
            )
            cut = draw(st.sampled_from([half, half, half, None, np.inf, -np.inf]))
            other = draw(st.one_of(candidates, st.sampled_from([0.1, -np.inf, np.inf])))
            attributes.append(
                draw(st.sampled_from([Above("", name, cut), _between(name, cut, other)]))
            )
        elif kind == "bool":
            attributes.append(
                draw(st.sampled_from([IsTrue("", name, True), Equals("", name, value)]))
            )
        else:
            attributes.append(draw(st.sampled_from([IsTrue, Equals]))("", name, value))
    if kind in ("text", "codes", "levels") and len(set(asked)) > 1 and draw(st.booleans()):
        attributes.append(IsIn("", name, tuple(dict.fromkeys(asked))))
    if draw(st.booleans()) or not attributes:
        attributes.append(IsMissing("", name))
    return pa.array(values, arrow), attributes


def _between(name: str, one: Any, other: Any) -> Between:
    """What lies between two cuts; between one and itself, and where there is none, nothing does."""
    if one is None or one == other or other != other:
        return Between("", name, None, None)
    return Between("", name, min(one, other), max(one, other))


def _elements(kind: str, draw: st.DrawFn) -> tuple[st.SearchStrategy[Any], pa.DataType]:
    if kind in _INTEGERS:
        low, high = _INTEGERS[kind]
        near = draw(st.integers(low, high))
        close = st.integers(max(low, near - 2), min(high, near + 2))
        return st.one_of(st.integers(low, high), close), getattr(pa, kind)()
    if kind in ("float32", "float64", "levels"):
        width = 32 if kind == "float32" else 64
        few = st.sampled_from(
            [0.0, -0.0, 0.5, 1.0, float(np.float32(0.1)), np.inf, -np.inf, np.nan, 2.0**53, 1.0e300]
        )
        return st.one_of(few if width == 64 else few.map(_single), st.floats(width=width)), getattr(
            pa, "float64" if width == 64 else "float32"
        )()
    return {
        "text": (TEXT, pa.string()),
        "bool": (st.booleans(), pa.bool_()),
        "codes": (st.sampled_from([0, 1, 2, -7, 2**53 + 1, 2**53 + 2]), pa.int64()),
    }[kind]


def _single(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))
