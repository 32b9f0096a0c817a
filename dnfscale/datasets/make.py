"""Synthetic tables of any size with a planted formula, so that what is learned can be compared with
what is true.

Rows come in chunks, each from a random stream of its own (seed, chunk), so that chunks can be
written in any order and by any number of processes, and the dataset is the same.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.core.arrays import Bools, Scalar, Values
from dnfscale.errors import SpecError

CHUNK_ROWS = 1_000_000
_GROUP_ROWS = 250_000
_WORDS = ("red", "green", "blue", "grey", "gold", "pink", "lime", "teal")


@dataclass(frozen=True, slots=True)
class Kind:
    """Some columns of one kind."""

    count: int
    name: str
    """float32, float64, int64, bool or category."""
    n_values: int = 0

    def __str__(self) -> str:
        return f"{self.count} {self.name}" + (f":{self.n_values}" if self.n_values else "")


@dataclass(frozen=True, slots=True)
class Literal:
    """A condition on one column: above zero, equal to a value, or true."""

    column: str
    value: Scalar
    negated: bool

    def __str__(self) -> str:
        if isinstance(self.value, str):
            return f"{self.column} {'!=' if self.negated else '='} {self.value}"
        if isinstance(self.value, bool):
            return f"{'not ' * self.negated}{self.column}"
        return f"{self.column} {'<=' if self.negated else '>'} {self.value}"


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A dataset to be written: its size, its columns, and the formula planted in it."""

    rows: int
    kinds: tuple[Kind, ...]
    seed: int
    noise: float
    terms: tuple[tuple[Literal, ...], ...]

    @property
    def n_chunks(self) -> int:
        return max(1, -(-self.rows // CHUNK_ROWS))

    @property
    def planted(self) -> str:
        return " or ".join("(" + " and ".join(map(str, term)) + ")" for term in self.terms)


def parse_columns(text: str) -> tuple[Kind, ...]:
    """Read `14 float32, 6 category:4`; a plain number of columns is split 7 to 3 between those
    two.
    """
    if re.fullmatch(r"\s*[0-9]+\s*", text):
        total = int(text)
        text = f"{total - 3 * total // 10} float32, {3 * total // 10} category:4"
    kinds = []
    for part in text.split(","):
        match = re.fullmatch(
            r"\s*([0-9]+)\s+(float32|float64|int64|bool|category)(?::([1-9][0-9]*))?\s*", part
        )
        if match is None or (match[3] is not None and match[2] != "category"):
            raise SpecError(
                "--columns takes a number of columns, or counts with kinds such as "
                f'"14 float32, 6 category:4, 2 int64, 1 bool", got {part.strip()!r}'
            )
        n_values = int(match[3] or 4) if match[2] == "category" else 0
        if int(match[1]):
            kinds.append(Kind(int(match[1]), match[2], n_values))
    if not kinds:
        raise SpecError(f"--columns must ask for at least one column, got {text!r}")
    return tuple(kinds)


def plan_synthetic(rows: int, kinds: Sequence[Kind], *, seed: int, noise: float) -> Synthetic:
    """Plant a formula of three terms of two literals over the first columns of each kind, drawn
    from the seed.
    """
    random = np.random.default_rng([seed, 0])
    usable = [
        (name, values)
        for kind, names in zip(kinds, _names(kinds), strict=True)
        for name in names[:3]
        for values in [_planted_values(kind)]
    ]
    while True:
        terms = []
        for _ in range(3):
            chosen = random.choice(len(usable), size=min(2, len(usable)), replace=False)
            term = []
            for index in sorted(chosen.tolist()):
                name, values = usable[index]
                term.append(
                    Literal(
                        name, values[int(random.integers(len(values)))], bool(random.integers(2))
                    )
                )
            terms.append(tuple(term))
        planted = Synthetic(rows, tuple(kinds), seed, noise, tuple(dict.fromkeys(terms)))
        # «b or not b» would be no formula to learn: draw again until both answers are common.
        share = make_chunk(replace(planted, noise=0.0), 0, 1000)["y"].to_pylist().count(True) / 1000
        if 0.05 <= share <= 0.95:
            return planted


@dataclass(frozen=True, slots=True)
class WriteChunk:
    """Writes one file of a synthetic dataset, whole or not at all; it can be sent to a worker."""

    synthetic: Synthetic
    folder: str

    def __call__(self, chunk: int) -> int:
        rows = min(CHUNK_ROWS, self.synthetic.rows - chunk * CHUNK_ROWS)
        path = Path(self.folder) / f"part-{chunk:05d}.parquet"
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        pq.write_table(make_chunk(self.synthetic, chunk, rows), draft, row_group_size=_GROUP_ROWS)
        os.replace(draft, path)
        return rows


def make_chunk(synthetic: Synthetic, chunk: int, rows: int) -> pa.Table:
    """Return the rows of a chunk; the label is the column y."""
    random = np.random.default_rng([synthetic.seed, 1 + chunk])
    columns: dict[str, pa.Array] = {}
    values: dict[str, Values] = {}
    for kind, names in zip(synthetic.kinds, _names(synthetic.kinds), strict=True):
        for name in names:
            columns[name], values[name] = _column(kind, rows, random)
    label = np.zeros(rows, dtype=np.bool_)
    for term in synthetic.terms:
        label |= np.logical_and.reduce(
            [_holds(literal, values[literal.column]) for literal in term]
        )
    label ^= random.random(rows) < synthetic.noise
    return pa.table({**columns, "y": label})


def write_description(synthetic: Synthetic, folder: Path) -> None:
    """Write what was planted beside the data, in a file that readers of the dataset ignore."""
    record = {
        "rows": synthetic.rows,
        "columns": [str(kind) for kind in synthetic.kinds],
        "seed": synthetic.seed,
        "noise": synthetic.noise,
        "planted": synthetic.planted,
    }
    (folder / "_planted.json").write_text(json.dumps(record, indent=2) + "\n")


def _names(kinds: Sequence[Kind]) -> list[list[str]]:
    """Name columns by kind (x numbers, n whole numbers, b Booleans, s strings), counted over the
    table.
    """
    letters = {"float32": "x", "float64": "x", "int64": "n", "bool": "b", "category": "s"}
    used = dict.fromkeys(letters.values(), 0)
    names = []
    for kind in kinds:
        letter = letters[kind.name]
        names.append([f"{letter}{used[letter] + i}" for i in range(kind.count)])
        used[letter] += kind.count
    return names


def _planted_values(kind: Kind) -> tuple[Scalar, ...]:
    if kind.name == "category":
        return tuple(_word(i) for i in range(kind.n_values))
    return (True,) if kind.name == "bool" else (0,)


def _word(i: int) -> str:
    return _WORDS[i] if i < len(_WORDS) else f"{_WORDS[i % len(_WORDS)]}-{i // len(_WORDS)}"


def _column(kind: Kind, rows: int, random: np.random.Generator) -> tuple[pa.Array, Values]:
    if kind.name == "category":
        codes = random.integers(0, kind.n_values, rows, dtype=np.int32)
        words = np.array([_word(i) for i in range(kind.n_values)])
        return pa.DictionaryArray.from_arrays(codes, pa.array(words)).cast(pa.string()), words[
            codes
        ]
    if kind.name == "bool":
        flags = random.random(rows) < 0.5
        return pa.array(flags), flags
    if kind.name == "int64":
        whole = random.integers(-1000, 1001, rows)
        return pa.array(whole), whole
    numbers = random.standard_normal(
        rows, dtype=np.float32 if kind.name == "float32" else np.float64
    )
    return pa.array(numbers), numbers


def _holds(literal: Literal, values: Values) -> Bools:
    if isinstance(literal.value, bool):
        holds = values.astype(np.bool_)
    else:
        holds = (
            values == literal.value if isinstance(literal.value, str) else values > literal.value
        )
    return holds ^ literal.negated
