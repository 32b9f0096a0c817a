"""Cells of CSV files: no text in them is run by a spreadsheet as a formula."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_SIGNS = "=+-@＝＋－＠"
_RUN = rf"^([\s\p{{Z}}\x0b\x1c-\x1f\x85]*[{_SIGNS.replace('-', '')}-]|[\t\r\n])"


def defused(text: str) -> str:
    """Return a text so that a spreadsheet shows it instead of running it as a formula."""
    runs = text.lstrip().startswith(tuple(_SIGNS)) or text.startswith(("\t", "\r", "\n"))
    return f"'{text}" if runs else text


def defused_table(table: pa.Table) -> pa.Table:
    """Return a table with the texts and the names of its columns defused."""
    columns = [
        _defused_column(column) if pa.types.is_string(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, names=[defused(name) for name in table.column_names])


def _defused_column(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    runs = pc.match_substring_regex(texts, _RUN)
    return pc.if_else(runs, pc.binary_join_element_wise("'", texts, ""), texts)
