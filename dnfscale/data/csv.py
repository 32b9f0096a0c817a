"""How a CSV is written, recognized from a bounded look: at its beginning, and at some places in it.

Recognized are the encoding, the delimiter, whether there is a header, the decimal comma, dates as
people write them, marks between thousands, and codes of missing values; what the user says goes
before. What the look has not shown can still be told by a later row: see blocks.py.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.csv as pacsv

from dnfscale.data.kinds import (
    DAY_FIRST,
    LOCAL_DATE,
    LOCAL_TIME,
    MONTH_NAMED,
    YEAR_FIRST,
    grouped_pattern,
    number_kind,
    spelled_plainly,
    spelled_unit,
    unit_of,
)
from dnfscale.data.preamble import SAID_DELIMITER, lines_before_header
from dnfscale.data.signs import sign_of
from dnfscale.errors import DataError, visible
from dnfscale.spec.csv import MISSING, CsvOptions

DELIMITERS = (",", ";", "\t", "|")
_CODES = frozenset(
    (
        *("?", "-", "--", ".", "..", "...", "*", "\\N", "(null)", "<NA>", "-nan", "NAN", "Null"),
        *("none", "None", "NONE", "missing", "Missing", "unknown", "Unknown", "na", "n/a"),
        *("n.a.", "N.A.", "k.A.", "k.a.", "#N/A", "#NA", "#NV", "#DIV/0!", "#VALUE!", "#REF!"),
    )
)
"""What may stand for a missing value in a column of numbers or dates."""
_ERRORS = frozenset(("#N/A", "#NV", "#DIV/0!", "#VALUE!", "#WERT!", "#REF!", "#BEZUG!", "#NUM!"))
"""What spreadsheets write where a formula failed: no value in a column of any kind."""
_NUMBER = r"[+-]?([0-9]+{0}?[0-9]*|{0}[0-9]+)([eE][+-]?[0-9]+)?"
_PLAIN = {sign: re.compile(_NUMBER.format(re.escape(sign))) for sign in ".,"}
_WITH_MARKS = {sign: re.compile(grouped_pattern(sign)) for sign in ".,"}
_OFTEN_MARKED = {
    ".": re.compile(r"[0-9],[0-9]{3},[0-9]{3}"),
    ",": re.compile(r"[0-9]\.[0-9]{3}\.[0-9]{3}"),
}
"""Marks that can be nothing else, by the decimal sign that they leave."""
_ONLY_FIGURES = re.compile(r"[0-9.,' %()+\u00a0\u202f-]*[0-9][0-9.,' %()+\u00a0\u202f-]*")
_LOCAL = re.compile(DAY_FIRST)
_CLEAR = re.compile("|".join((YEAR_FIRST, MONTH_NAMED.replace("(?i)", ""))), re.IGNORECASE)
"""A date whose parts cannot be taken for one another."""
_SHORT_DATE = re.compile(r"[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{2}")
_LOOKED_ROWS = 20_000
_HEAD_CHARACTERS = 1 << 16
_FEW = 0.1
_FEW_TEXTS = 20


@dataclass(frozen=True, slots=True)
class Format:
    """How a CSV is written, and what its columns are."""

    delimiter: str
    encoding: str
    decimal: str
    month_first: bool | None
    """None where no date could be read in two ways."""
    missing: tuple[str, ...]
    header: bool
    line_end: bytes
    kinds: tuple[tuple[str, str], ...]
    """Every column with its kind."""
    free: frozenset[str]
    """Columns of which no value was seen: their kind is still free."""
    is_guess: bool = False
    """Whether the encoding is no more than likely."""
    renamed: bool = False
    """Whether the user names the columns, although a header does so too."""
    is_spaced: bool = False
    """Whether a space follows every delimiter; it belongs to no cell."""
    skip: int = 0
    """Lines before the header, such as a title."""
    left: tuple[str, ...] = ()
    """What was seen and left as it is, for the user to decide."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.kinds)

    @property
    def is_wide(self) -> bool:
        """Whether signs have two bytes or four, so that blocks cannot be cut at bytes."""
        return is_wide(self.encoding)

    def described(self, options: CsvOptions) -> str:
        """Say in a line what was recognized, as far as it is out of the ordinary."""
        kinds = [kind for _, kind in self.kinds]
        dates = LOCAL_DATE in kinds or LOCAL_TIME in kinds
        codes = [code for code in self.missing if code not in MISSING]
        order = "month" if self.month_first else "day"
        dated = "" if self.month_first is None else f" with the {order} first"
        spaces = " and spaces" if self.is_spaced else ""
        said = [
            f"{len(kinds):,} columns separated by {_shown(self.delimiter)}{spaces}"
            if len(kinds) > 1
            else "1 column",
            _skipped(self.skip) if options.skip is None else "",
            f"in {self.encoding}" if self.encoding != "utf-8" else "",
            "decimal comma" if self.decimal == "," else "",
            "marks between thousands" if number_kind("") in kinds else "",
            *self._with_units(),
            f"dates{dated}" if dates else "",
            f"missing where {', '.join(map(repr, codes))}" if codes and not options.missing else "",
            "no header" if not self.header else "",
            *self.left,
        ]
        return "; ".join(filter(None, said))

    def _with_units(self) -> Iterator[str]:
        for name, kind in self.kinds:
            unit = unit_of(kind)
            if unit:
                yield f"{name!r} read as numbers without {unit!r}"


@dataclass(frozen=True, slots=True)
class Look:
    """The bytes that are looked at: the beginning of a file, and pieces from other places."""

    path: str
    beginning: bytes
    is_all: bool
    """Whether the beginning is the whole file."""
    places: tuple[bytes, ...] = ()


def is_wide(encoding: str) -> bool:
    """Say whether all signs have two bytes or more."""
    return encoding.startswith(("utf-16", "utf_16", "utf-32", "utf_32"))


def recognized(look: Look, options: CsvOptions) -> Format:
    """Return how a text is written."""
    _check_is_text(look, options.encoding)
    encoding = options.encoding or _encoding(look)
    lines, said = _without_said(_lines(look, encoding))
    if not lines.strip():
        raise DataError(f"{look.path}: expected at least a header, got an empty file")
    delimiter = options.delimiter or said or _delimiter(lines)
    skip = _lines_to_skip(lines, delimiter, options)
    lines = _after(lines, skip)
    is_spaced = _is_spaced(lines, delimiter)
    first, *rows = _rows(lines, delimiter, spaced=is_spaced)
    names, has_header = _names(look.path, first, rows, options, skip + 1)
    if len(names) == 1:
        _check_is_one_column(look.path, names[0], rows, delimiter, said or options.delimiter)
    # The header of another file stands among what is looked at in other places.
    data = [row for row in rows if row != first] if has_header else [first, *rows]
    rows = [row for row in data if len(row) == len(names)]
    columns = [
        Counter(map(str.strip, cells)) for cells in (zip(*rows, strict=True) if rows else ())
    ] or [Counter[str]() for _ in names]
    units = [_unit(column) for column in columns]
    as_written = columns
    columns = [_bare(column, unit) for column, unit in zip(columns, units, strict=True)]
    decimal = options.decimal or _decimal(columns)
    missing = options.missing if options.missing is not None else _missing(columns, decimal)
    values = [set(column) - {"", *missing} for column in columns]
    month_first, left = _order(values, options)
    inferred = _inferred(names, rows, decimal=decimal, missing=missing)
    kinds = {
        name: number_kind(unit)
        if kind == "string" and _is_spelled(written, seen, decimal)
        else _local_kind(seen, month_first)
        if kind == "string"
        else kind
        for (name, kind), written, seen, unit in zip(
            inferred.items(), as_written, values, units, strict=True
        )
    }
    for name, seen in zip(names, values, strict=True):
        if kinds[name] == "double" and seen and all(map(str.isdecimal, seen)):
            # Whole numbers beyond 64 bits are names of something; floats would make some alike.
            kinds[name] = "string"
    for name in options.text or ():
        if name not in kinds:
            raise DataError(
                f"{look.path}: expected a column {name!r}, got {', '.join(list(kinds)[:20])}"
            )
        kinds[name] = "string"
    return Format(
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        month_first=bool(month_first) if any(map(_has_local_dates, values)) else None,
        missing=tuple(missing),
        header=has_header,
        line_end=line_end_of(look.beginning),
        kinds=tuple(kinds.items()),
        free=frozenset(name for name, kind in kinds.items() if kind == "null"),
        is_guess=options.encoding is None,
        is_spaced=is_spaced,
        skip=skip,
        left=(*left, *_slips(kinds, columns, missing, decimal, options)),
    )


def of_file(look: Look, layout: Format, options: CsvOptions) -> tuple[Format, tuple[str, ...]]:
    """Return how another file of the same layout is written, and the names of its columns."""
    _check_is_text(look, layout.encoding)
    lines = _without_said(_lines(look, layout.encoding))[0]
    if not lines.strip():
        raise DataError(f"{look.path}: expected at least a header, got an empty file")
    skip = _lines_to_skip(lines, layout.delimiter, options)
    layout = replace(layout, line_end=line_end_of(look.beginning), skip=skip)
    if not layout.header or layout.renamed:
        return layout, layout.names
    first, *_ = _rows(_after(lines, skip), layout.delimiter, spaced=layout.is_spaced)
    return layout, _cleaned(look.path, first)


def line_end_of(beginning: bytes) -> bytes:
    """Return what ends the lines of a text; where it is two signs, the second."""
    return b"\n" if b"\n" in beginning or b"\r" not in beginning else b"\r"


def as_read(beginning: bytes, layout: Format) -> bytes:
    """Return the beginning of a text as its blocks are read: UTF-16 is read as UTF-8."""
    if not layout.is_wide:
        return beginning
    return beginning.decode(layout.encoding, "ignore").encode()


def header_length(beginning: bytes, layout: Format) -> int:
    """Return how many bytes of a text stand before its first row."""
    at = len(codecs.BOM_UTF8) if beginning.startswith(codecs.BOM_UTF8) else 0
    said = re.compile(rb"sep=[^\r\n]+[\r\n]+", re.IGNORECASE).match(beginning, at)
    at = _past_empty_lines(beginning, at if said is None else said.end())
    for _ in range(layout.skip):
        at = beginning.find(layout.line_end, at) + 1 or len(beginning)
    start = at = _past_empty_lines(beginning, at)
    if not layout.header:
        return at
    while True:
        end = beginning.find(layout.line_end, at)
        if end < 0:
            return len(beginning)
        at = end + 1
        if beginning.count(b'"', start, at) % 2 == 0:
            return at


def _past_empty_lines(beginning: bytes, at: int) -> int:
    while beginning[at : at + 1] in (b"\n", b"\r"):
        at += 1
    return at


def header_line(before: bytes, layout: Format) -> bytes:
    """Return the header in what stands before the first row of a text, in UTF-8."""
    if not layout.header:
        return b""
    text = before.decode("utf-8" if layout.is_wide else layout.encoding, "ignore")
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").strip("\r\n")
    said = SAID_DELIMITER.match(lines)
    lines = lines[0 if said is None else said.end() :].strip("\r\n")
    return _after(lines, layout.skip).encode()


def check_is_lines(look: Look) -> None:
    """Raise DataError for what cannot be lines of JSON."""
    sign = sign_of(look.beginning)
    if sign is not None and sign.what != "JSON":
        raise DataError(
            f"{look.path}: expected an object of JSON on each line, got {sign.what}; {sign.advice}"
        )


def _check_is_text(look: Look, encoding: str | None = None) -> None:
    sign = sign_of(look.beginning)
    if sign is not None:
        raise DataError(
            f"{look.path}: expected a text with delimiters, got {sign.what}; {sign.advice}"
        )
    wide = look.beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or (
        encoding is not None and is_wide(encoding)
    )
    at = look.beginning.find(b"\0")
    if at >= 0 and not wide:
        line = look.beginning.count(b"\n", 0, at) + 1
        raise DataError(
            f"{look.path}: line {line:,}: expected text, got a NUL byte; if the file is UTF-16, "
            "write it as UTF-8; else remove the byte"
        )


def _encoding(look: Look) -> str:
    if look.beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    good = bad = 0
    for number, line in enumerate(look.beginning.split(b"\n")[: None if look.is_all else -1], 1):
        if not line.isascii():
            good, bad = (good or number, bad) if _is_utf8(line) else (good, bad or number)
    if good and bad:
        raise DataError(
            f"{look.path}: expected one encoding, got UTF-8 in line {good:,} and another in line "
            f"{bad:,}; write the file in one encoding"
        )
    others = (line for piece in look.places for line in piece.split(b"\n")[1:-1])
    return "cp1252" if bad or (not good and not all(map(_is_utf8, others))) else "utf-8"


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _lines(look: Look, encoding: str) -> str:
    """Return the whole lines that are looked at, as one text."""
    try:
        text = look.beginning.decode(encoding, "strict" if look.is_all else "ignore")
    except UnicodeDecodeError as error:
        line = look.beginning.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{look.path}: line {line:,}: expected text in {encoding}, got other bytes; "
            "write the file in one encoding, or say which it is"
        ) from error
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not look.is_all:
        text = text[: text.rfind("\n") + 1] or text
    ends = (piece.decode(encoding, "ignore") for piece in look.places)
    whole = (end[end.find("\n") + 1 : end.rfind("\n") + 1].replace("\r", "") for end in ends)
    return "".join((text, "" if text.endswith("\n") else "\n", *whole)).lstrip("\n")


def _without_said(lines: str) -> tuple[str, str | None]:
    """Return the lines after one that says the delimiter, and what that says."""
    said = SAID_DELIMITER.match(lines)
    return (lines, None) if said is None else (lines[said.end() :].lstrip("\n"), said[1])


def _lines_to_skip(lines: str, delimiter: str, options: CsvOptions) -> int:
    if options.skip is not None:
        return options.skip
    if options.names or options.header is False:
        return 0
    return lines_before_header(lines[:_HEAD_CHARACTERS], delimiter)


def _after(lines: str, skip: int) -> str:
    """Return what follows so many lines, from the next one that is not empty."""
    return "\n".join(lines.split("\n")[skip:]).lstrip("\r\n") if skip else lines


def _is_spaced(lines: str, delimiter: str) -> bool:
    """Say whether every cell but the first of a line begins with a space, or is empty."""
    head = re.sub(r'"[^"]*"', '""', lines[:_HEAD_CHARACTERS])
    after = re.findall(rf"{re.escape(delimiter)}(.)", head)
    return " " in after and set(after) <= {" ", delimiter}


def _delimiter(lines: str) -> str:
    """Return the sign that divides most lines into as many cells as the first has."""
    head = lines[:_HEAD_CHARACTERS]
    head = head[: head.rfind("\n") + 1] or head

    def agreement(sign: str) -> tuple[float, int]:
        first, *rows = _rows(head, sign)
        if len(first) < 2:
            return 0.0, 0
        alike = sum(len(row) == len(first) for row in rows)
        return (alike + 1) / (len(rows) + 1), len(first)

    def commonest(sign: str) -> tuple[float, int]:
        rows = _rows(head, sign)
        cells, alike = Counter(map(len, rows)).most_common(1)[0]
        return (alike / len(rows), cells) if cells > 1 else (0.0, 0)

    best = max(DELIMITERS, key=agreement)
    # The first lines may be a title, which says nothing of the rows.
    return best if agreement(best)[0] > 0.5 else max(DELIMITERS, key=commonest)


def _rows(lines: str, delimiter: str, *, spaced: bool = False) -> list[list[str]]:
    csv.field_size_limit(1 << 30)
    reader = csv.reader(io.StringIO(lines), delimiter=delimiter, skipinitialspace=spaced)
    rows: list[list[str]] = []
    for row in reader:
        if row:
            rows.append(row)
        if len(rows) > _LOOKED_ROWS:
            break
    return rows


def _names(
    path: str,
    first: Sequence[str],
    rows: Sequence[Sequence[str]],
    options: CsvOptions,
    line: int,
) -> tuple[tuple[str, ...], bool]:
    """Return the names of the columns, and whether the first line says them."""
    if options.names:
        has_header = bool(options.header)
        if len(options.names) != len(first):
            raise DataError(
                f"{path}: expected {len(options.names):,} columns as data.csv.names says, got "
                f"{len(first):,}; name each column"
            )
        return _cleaned(path, options.names), has_header
    if options.header is None and _looks_like_row(first, rows[:1000]):
        raise DataError(
            f"{path}: line {line}: expected the names of the columns, got {_shown_row(first)}, "
            "which looks like a row; add a header, or say data.csv.names, or data.csv.header "
            "= true if these are names"
        )
    if options.header is False:
        return tuple(f"column_{i}" for i in range(1, len(first) + 1)), False
    return _cleaned(path, first), True


def _check_is_one_column(
    path: str, name: str, rows: Sequence[Sequence[str]], delimiter: str, said: str | None
) -> None:
    """Raise DataError if the only column looks like several, between which another sign stands."""
    cells = [name, *(row[0] for row in rows if row)]
    signs = DELIMITERS if said else (sign for sign in name if not sign.isalnum())
    for sign in dict.fromkeys(signs):
        times = name.count(sign)
        if times and sign not in "_\"'" and all(cell.count(sign) == times for cell in cells):
            raise DataError(
                f"{path}: expected at least two columns separated by {delimiter!r}, got one, "
                f"{name[:60]!r}; if {sign!r} is the delimiter, say so in data.csv.delimiter, and "
                "if it is none, ','"
            )
    words = len(name.split())
    if words > 1 and not said and all(len(cell.split()) == words for cell in cells):
        raise DataError(
            f"{path}: expected columns separated by {delimiter!r}, got columns of fixed width, "
            f"{name[:60]!r}; write the file as CSV"
        )


def _cleaned(path: str, names: Sequence[str]) -> tuple[str, ...]:
    cleaned = [name.strip() or f"column_{i}" for i, name in enumerate(names, 1)]
    for name, times in Counter(cleaned).items():
        if times > 1:
            raise DataError(
                f"{path}: column names must differ, but {name!r} occurs twice; rename one of them"
            )
    return tuple(cleaned)


def _looks_like_row(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Say whether the first line has numbers or dates where the lines below have them, and no name
    above one of these.
    """
    rows = [row for row in rows if len(row) == len(first)]
    if not rows:
        return False
    similar = False
    cells = [cell.strip() for cell in first if _is_value(cell.strip())]
    if len(set(cells)) == len(cells) and all(re.fullmatch("(19|20)[0-9]{2}", c) for c in cells):
        return False
    for place, cell in enumerate(first):
        below = {row[place].strip() for row in rows} - {"", *MISSING}
        if below and all(map(_is_value, below)):
            if not _is_value(cell.strip()) and cell.strip() not in ("", *MISSING, *_CODES):
                return False
            similar |= _is_value(cell.strip())
    return similar


def _is_value(cell: str) -> bool:
    numbers = (*_PLAIN.values(), *_WITH_MARKS.values())
    return any(pattern.fullmatch(cell) for pattern in numbers) or _is_date(cell)


def _decimal(columns: Iterable[Counter[str]]) -> str:
    """Return the sign that makes numbers of more columns."""
    signs = Counter[str]()
    for column in columns:
        values = set(column) - {"", *MISSING, *_CODES}
        for sign in ".,":
            spelled = _PLAIN[sign].fullmatch, _WITH_MARKS[sign].fullmatch
            often = _OFTEN_MARKED[sign].search
            has_sign = any(sign in value or often(value) for value in values)
            if has_sign and all(any(match(value) for match in spelled) for value in values):
                signs[sign] += 1
    return "," if signs[","] > signs["."] else "."


def _missing(columns: Iterable[Counter[str]], decimal: str) -> tuple[str, ...]:
    """Return the usual codes of missing values, and those without which a column is not all
    numbers or dates.
    """
    found: dict[str, None] = dict.fromkeys(MISSING)
    for column in columns:
        values = set(column) - {"", *MISSING}
        codes = values & _CODES
        rest = values - codes
        found |= dict.fromkeys(sorted(values & _ERRORS))
        if codes and rest and all(_is_number(value, decimal) or _is_date(value) for value in rest):
            found |= dict.fromkeys(sorted(codes))
    return tuple(found)


def _is_number(value: str, decimal: str) -> bool:
    return bool(_PLAIN[decimal].fullmatch(value) or _WITH_MARKS[decimal].fullmatch(value))


def _is_date(value: str) -> bool:
    return bool(
        _LOCAL.match(value) or _CLEAR.match(value) or re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value)
    )


def _slips(
    kinds: Mapping[str, str],
    columns: Sequence[Counter[str]],
    missing: Sequence[str],
    decimal: str,
    options: CsvOptions,
) -> Iterator[str]:
    """Tell of columns that a person may want to have read otherwise."""
    for (name, kind), column in zip(kinds.items(), columns, strict=True):
        if name in (options.text or ()):
            continue
        cells = {cell: n for cell, n in column.items() if cell not in ("", *missing)}
        if kind == "int64" and any(re.fullmatch("0[0-9]+", cell) for cell in cells):
            yield f"{name!r} read as numbers, though some begin with 0: data.csv.text names codes"
        if kind != "string":
            continue
        odd = {cell: n for cell, n in cells.items() if not _is_number(cell, decimal)}
        if odd and sum(odd.values()) < _FEW * sum(cells.values()):
            yield f"{name!r} left as text, as it has {min(odd)!r} among its numbers"
        elif len(odd) > _FEW_TEXTS and all(map(_ONLY_FIGURES.fullmatch, cells)):
            yield f"{name!r} left as text, as {min(odd)!r} is no number"
        if cells and all(map(_SHORT_DATE.fullmatch, cells)):
            yield f"{name!r} left as text, as its years have two digits"


def _order(columns: Iterable[set[str]], options: CsvOptions) -> tuple[bool | None, tuple[str, ...]]:
    """Return whether dates have the month first; None where nobody can know, with what to say."""
    if options.dates is not None:
        return options.dates == "month-first", ()
    day_first = month_first = unknown = False
    for values in columns:
        dates = [_LOCAL.match(value) for value in values]
        if not values or not all(dates):
            continue
        matches = [match for match in dates if match is not None]
        firsts = max(int(match[1]) for match in matches)
        seconds = max(int(match[3]) for match in matches)
        with_dots = any(match[2] == "." for match in matches)
        day_first |= firsts > 12 or with_dots
        month_first |= seconds > 12 and not with_dots
        unknown = True
    if day_first != month_first:
        return month_first, ()
    if not unknown:
        return False, ()
    return None, ("dates left as text, as day and month cannot be told apart: say data.csv.dates",)


def _unit(column: Counter[str]) -> str:
    """Return the unit of all values, if they are numbers that have one."""
    values = set(column) - {"", *MISSING, *_CODES}
    units = {spelled_unit(value) for value in values}
    unit = units.pop() if len(units) == 1 else None
    return unit or ""


def _bare(column: Counter[str], unit: str) -> Counter[str]:
    """Return the numbers of a column as they are without a unit and with a sign for negatives."""
    if not unit and not any(value[:1].isdecimal() for value in column):
        return column
    bare = Counter[str]()
    for value, times in column.items():
        bare[spelled_plainly(value, unit)] += times
    return bare


def _is_spelled(written: Counter[str], values: set[str], decimal: str) -> bool:
    """Say whether all values are numbers, and some of them as people write them."""
    has_marks = any(map(_WITH_MARKS[decimal].fullmatch, values))
    is_plain = not has_marks and values <= set(written)
    return not is_plain and all(_is_number(value, decimal) for value in values)


def _local_kind(values: set[str], month_first: bool | None) -> str:
    """Return what a column is whose texts Arrow makes nothing of."""
    clear = {value for value in values if _CLEAR.match(value)}
    matches = [_LOCAL.match(value) for value in values - clear]
    if matches and month_first is None:
        return "string"
    if not all(_is_day(match, bool(month_first)) for match in matches):
        return "string"
    return LOCAL_TIME if any(":" in value for value in values) else LOCAL_DATE


def _has_local_dates(values: Iterable[str]) -> bool:
    return any(map(_LOCAL.match, values))


def _is_day(match: re.Match[str] | None, month_first: bool) -> bool:
    if match is None or match[2] != match[4]:
        return False
    day, month = (match[3], match[1]) if month_first else (match[1], match[3])
    return 1 <= int(day) <= 31 and 1 <= int(month) <= 12


def _inferred(
    names: Sequence[str], rows: Sequence[Sequence[str]], *, decimal: str, missing: Sequence[str]
) -> dict[str, str]:
    """Return what Arrow takes the columns for."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\x1f")
    writer.writerows(rows)
    content = text.getvalue().encode()
    if not content:
        return dict.fromkeys(names, "null")
    table = pacsv.read_csv(
        pa.BufferReader(content),
        pacsv.ReadOptions(column_names=list(names), use_threads=False, block_size=len(content)),
        pacsv.ParseOptions(delimiter="\x1f", newlines_in_values=True),
        pacsv.ConvertOptions(
            null_values=["", *missing], strings_can_be_null=True, decimal_point=decimal
        ),
    )
    return {column.name: str(column.type) for column in table.schema}


def _skipped(lines: int) -> str:
    return (
        f"{lines:,} {'line' if lines == 1 else 'lines'} before the header left out" if lines else ""
    )


def _shown(delimiter: str) -> str:
    return {"\t": "tabs"}.get(delimiter, f"{delimiter!r}")


def _shown_row(cells: Sequence[str]) -> str:
    return visible(", ".join(cells))[:80]
