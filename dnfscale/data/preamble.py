"""What stands before the header of a CSV: a line that says the delimiter, a title, comments."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

SAID_DELIMITER = re.compile(r"sep=([^\n])\n", re.IGNORECASE)
"""The first line of a CSV that is meant for Excel."""
_LOOKED_ROWS = 2000
_MOST_ROWS = 30


def lines_before_header(lines: str, delimiter: str) -> int:
    """Return how many lines at the beginning are none of the table.

    They fill at most half as many cells as the rows do, or begin with # and have another number
    of cells.
    """
    reader = csv.reader(io.StringIO(lines), delimiter=delimiter)
    ends = list(_with_ends(reader))
    rows = [row for row, _ in ends]
    if len(rows) < 2:
        return 0
    width, _ = Counter(map(len, rows)).most_common(1)[0]
    if width < 2:
        return 0
    typical = median(map(_filled, rows))
    before = 0
    for row, end in ends[: _MOST_ROWS + 1]:
        if not _is_before(row, width, typical):
            return before
        before = end
    return 0


def _with_ends(reader: Iterator[list[str]]) -> Iterator[tuple[list[str], int]]:
    """Yield rows that are not empty, each with the number of the line that it ends on."""
    for number, row in enumerate(reader):
        if number == _LOOKED_ROWS:
            return
        if row:
            yield row, reader.line_num  # type: ignore[attr-defined]


def _is_before(row: Sequence[str], width: int, typical: float) -> bool:
    if len(row) != width and row[0].startswith("#"):
        return True
    # The index that pandas writes has no name, and neither have empty columns of a spreadsheet.
    is_title = width > 2 and (_filled(row) == 0 or (_filled(row) == 1 and bool(row[0].strip())))
    return (len(row) < width or is_title) and _filled(row) <= typical // 2


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)
