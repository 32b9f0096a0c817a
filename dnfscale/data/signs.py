"""What a file is by its first bytes, where they are not those of a text with delimiters."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST_SIGN = 64


@dataclass(frozen=True, slots=True)
class Sign:
    """What files begin with that are of some kind."""

    pattern: re.Pattern[bytes]
    what: str
    advice: str


def _sign(pattern: bytes, what: str, advice: str) -> Sign:
    return Sign(re.compile(pattern, re.IGNORECASE | re.DOTALL), what, advice)


_SAVE = "save the sheet as CSV"
_EXPORT = "export the table as CSV or Parquet"
_SIGNS = (
    _sign(rb"PK\x03\x04", "an Excel workbook or an archive", _SAVE),
    _sign(rb"\xd0\xcf\x11\xe0", "an Excel workbook", _SAVE),
    _sign(rb"PAR1", "a Parquet file", "keep files of one kind in a folder or glob"),
    _sign(rb"ARROW1", "an Arrow file", "let its name end in .arrow"),
    _sign(rb"\x1f\x8b", "one compressed by gzip", "let its name end in .gz"),
    _sign(rb"\x28\xb5\x2f\xfd", "one compressed by zstd", "let its name end in .zst"),
    _sign(rb"BZh[0-9]", "one compressed by bzip2", "let its name end in .bz2"),
    _sign(rb"%PDF-", "a PDF", _EXPORT),
    _sign(rb"SQLite format 3\0", "a database of SQLite", _EXPORT),
    _sign(rb"\s*<(!doctype|html|\?xml|table)\b", "HTML or XML", _EXPORT),
    _sign(rb"\s*\{\s*\"", "JSON", "let its name end in .jsonl, and write one object a line"),
    _sign(rb"\s*\[\s*\{", "a list in JSON", "write one object a line"),
)


def sign_of(beginning: bytes) -> Sign | None:
    """Return the kind of a file that begins so, if it is one that is no text with delimiters."""
    head = beginning[:LONGEST_SIGN]
    return next((sign for sign in _SIGNS if sign.pattern.match(head)), None)


def seems_text(beginning: bytes) -> bool:
    """Say whether a file that begins so may be a text."""
    return bool(beginning) and b"\0" not in beginning and sign_of(beginning) is None
