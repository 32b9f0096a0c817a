"""Dense ARFF files, the format of Weka and of OpenML, as tables.

Numbers become float64; nominal values, strings and dates become text; an unquoted `?` becomes null.
Names and values may stand in single or double quotes with backslash escapes. Sparse files are
refused: none of our datasets is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

import pyarrow as pa

from dnfscale.errors import DataError

_CHUNK_ROWS = 1 << 16
_NUMERIC = ("numeric", "real", "integer")
_TEXT = ("string", "date")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_CELL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,'"]*?))\s*(?:,|$)""")
_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s'"{]+))\s*(.+)""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column as the header declares it."""

    name: str
    kind: pa.DataType
    values: frozenset[str] | None = None
    """The values of a nominal column."""


def parse_arff(content: bytes, where: str) -> pa.Table:
    """Read an ARFF file; errors name the file and the line."""
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{where}: expected an ARFF file in UTF-8, but line {line:,} is not; convert it"
        ) from error
    attributes, first = _header(lines, where)
    schema = pa.schema([(attribute.name, attribute.kind) for attribute in attributes])
    rows: list[list[str | None]] = []
    numbers: list[int] = []
    tables = []
    for number, cells in _rows(lines, first, where):
        if len(cells) != len(attributes):
            _fail(
                where,
                number,
                f"expected {len(attributes):,} values, got {len(cells):,}; correct the line",
            )
        rows.append(cells)
        numbers.append(number)
        if len(rows) == _CHUNK_ROWS:
            tables.append(_chunk(rows, numbers, attributes, schema, where))
            rows, numbers = [], []
    tables.append(_chunk(rows, numbers, attributes, schema, where))
    return pa.concat_tables(tables).combine_chunks()


def _header(lines: Sequence[str], where: str) -> tuple[list[Attribute], int]:
    """Return the attributes and the index of the first line of data."""
    attributes: list[Attribute] = []
    for index, raw in enumerate(lines):
        line = raw.strip()
        keyword = line.split(None, 1)[0].lower() if line else "%"
        if keyword.startswith("%") or keyword == "@relation":
            continue
        if keyword == "@data":
            if not attributes:
                _fail(
                    where,
                    index + 1,
                    "expected @attribute lines before @data, got none; is this an ARFF file?",
                )
            return attributes, index + 1
        if keyword != "@attribute":
            _fail(
                where,
                index + 1,
                (
                    f"expected @relation, @attribute or @data, got {line[:40]!r}; is this an "
                    "ARFF file?"
                ),
            )
        attribute = _attribute(line, where, index + 1)
        if any(attribute.name == other.name for other in attributes):
            _fail(
                where,
                index + 1,
                f"attribute names must differ, but {attribute.name!r} occurs twice; rename one",
            )
        attributes.append(attribute)
    raise DataError(
        f"{where}: expected a line @data, but there is none; is this a whole ARFF file?"
    )


def _attribute(line: str, where: str, number: int) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        _fail(
            where, number, f"expected `@attribute name type`, got {line[:60]!r}; correct the line"
        )
    name, declared = _token(match), match[4].strip()
    keyword = re.split(r"[\s\[{]", declared, maxsplit=1)[0].lower()
    if keyword in _NUMERIC:
        return Attribute(name, pa.float64())
    if keyword in _TEXT:
        return Attribute(name, pa.string())
    if not (declared.startswith("{") and declared.endswith("}")):
        _fail(
            where,
            number,
            (
                f"expected numeric, string or {{values}} as the type of {name!r}, got "
                f"{declared[:40]!r}"
            ),
        )
    values = _cells(declared[1:-1], where, number)
    return Attribute(
        name, pa.string(), frozenset("?" if value is None else value for value in values)
    )


def _rows(lines: Sequence[str], first: int, where: str) -> Iterator[tuple[int, list[str | None]]]:
    """Yield the number and the cells of each line of data."""
    for index in range(first, len(lines)):
        line = lines[index].strip()
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            _fail(
                where,
                index + 1,
                "expected values separated by commas, got a sparse row; use a dense ARFF file",
            )
        yield index + 1, _cells(line, where, index + 1)


def _cells(line: str, where: str, number: int) -> list[str | None]:
    if "'" not in line and '"' not in line:
        return [None if cell == "?" else cell for cell in map(str.strip, line.split(","))]
    cells: list[str | None] = []
    at = 0
    while True:
        match = _CELL.match(line, at)
        if match is None:
            _fail(
                where,
                number,
                (
                    f"expected a value with its quotes closed, got {line[at : at + 40]!r}; "
                    "correct the line"
                ),
            )
        cells.append(None if match[3] == "?" else _token(match))
        at = match.end()
        if not match[0].endswith(","):
            return cells


def _token(match: re.Match[str]) -> str:
    quoted = match[1] if match[1] is not None else match[2]
    if quoted is None:
        return match[3]
    return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted)


def _chunk(
    rows: Sequence[Sequence[str | None]],
    numbers: Sequence[int],
    attributes: Sequence[Attribute],
    schema: pa.Schema,
    where: str,
) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(attributes)
    arrays = []
    for attribute, cells in zip(attributes, columns, strict=True):
        if attribute.values is not None and not set(cells) <= attribute.values | {None}:
            row = next(
                i
                for i, cell in enumerate(cells)
                if cell is not None and cell not in attribute.values
            )
            _fail(
                where,
                numbers[row],
                f"expected one of the values declared for {attribute.name!r}, got {cells[row]!r}",
            )
        array = pa.array(cells, pa.string())
        try:
            arrays.append(array.cast(attribute.kind))
        except pa.ArrowInvalid:
            row = next(
                i for i, cell in enumerate(cells) if cell is not None and not _is_number(cell)
            )
            _fail(
                where,
                numbers[row],
                f"expected a number in {attribute.name!r}, got {cells[row]!r}; correct the line",
            )
    return pa.table(arrays, schema=schema)


def _is_number(cell: str) -> bool:
    try:
        pa.scalar(cell).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _fail(where: str, line: int, message: str) -> NoReturn:
    raise DataError(f"{where}: line {line:,}: {message}")
