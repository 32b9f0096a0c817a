"""The verb `explain`: what a formula says and rests on, why a row gets its answer, and which types
a dataset has.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dnfscale.apply.evaluate import check_columns, evaluate, seen_in
from dnfscale.apply.found_types import FindTypes, merge_found
from dnfscale.apply.unfamiliar import UnfamiliarRows, unfamiliar_in
from dnfscale.core.columns import Block, Categories, Numbers
from dnfscale.core.model import Model
from dnfscale.core.parts import ColumnName
from dnfscale.core.quantities import Quantity
from dnfscale.data.models import read_model
from dnfscale.data.source import Source
from dnfscale.datasets.named import open_dataset
from dnfscale.engine.api import Progress
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, SpecError, visible
from dnfscale.jobs import endings
from dnfscale.jobs.progress import display_for
from dnfscale.jobs.related import concepts_of
from dnfscale.jobs.verbs.data_options import TABLE, add_data_options, conversion_from
from dnfscale.jobs.verbs.related_options import add_related_option, joined_for
from dnfscale.jobs.verbs.storage_options import access_from, add_storage_options
from dnfscale.method.explain import (
    Answer,
    answer_to_record,
    answer_type,
    explain_model,
    explain_type,
    explain_types,
    model_to_record,
    to_record,
)
from dnfscale.method.narrate import Told, count_words, type_words, write, write_model
from dnfscale.method.words import WRITTEN, concept_text
from dnfscale.relations.rows import MeantRows, related_rows
from dnfscale.relations.tables import Side
from dnfscale.report.unfamiliar import unfamiliar_record, unfamiliar_words
from dnfscale.report.wording import count

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

SCHEMA = "dnfscale.explanation/1"
_SHOWN_TYPES = 20


def add_explain_verb(subparsers: Subparsers) -> None:
    """Add `explain` to the command line."""
    verb = subparsers.add_parser(
        "explain",
        help="say what a model's formula rests on, or why rows get their answers",
        description="Without DATA: the formula, and what the rows it was learned from say of "
        "each line. With DATA: the "
        "types that its rows have, and their answers. With --row: why this row gets its "
        "answer, and the smallest "
        "change that turns it.",
    )
    verb.add_argument("model", metavar="MODEL", help="the model.json of a run")
    verb.add_argument(
        "data",
        metavar="DATA",
        nargs="?",
        help=TABLE,
    )
    verb.add_argument(
        "--row",
        type=int,
        metavar="N",
        help="explain the answer for this row of DATA; the first is 0",
    )
    verb.add_argument(
        "--limit",
        type=int,
        metavar="K",
        help=f"tell of the K most frequent types (default: {_SHOWN_TYPES}; with --json: all)",
    )
    verb.add_argument("--label", help="which formula of a model of several classes to explain")
    verb.add_argument("--json", action="store_true", help="as JSON")
    add_related_option(verb)
    add_data_options(verb)
    add_storage_options(verb)
    verb.set_defaults(verb=_explain)


def _explain(options: argparse.Namespace) -> None:
    if options.data is None and options.row is not None:
        raise SpecError("--row needs the data that the row is in; give DATA after MODEL")
    if options.row is not None and options.row < 0:
        raise SpecError(f"--row must be at least 0, which is the first row, got {options.row}")
    if options.limit is not None and options.limit < 1:
        raise SpecError(f"--limit must be at least 1, got {options.limit}")
    model = read_model(options.model, options.label, access_from(options))
    if options.data is None:
        text, record = _whole(model)
    else:
        source, sides = _open(options, model)
        text, record = (
            _types(model, source, options)
            if options.row is None
            else _row(model, source, sides, options.row)
        )
    print(
        json.dumps({"schema": SCHEMA, **record}, indent=2, ensure_ascii=False)
        if options.json
        else text
    )


def _whole(model: Model) -> tuple[str, dict[str, Any]]:
    facts = explain_model(model)
    return write_model(model, facts).rstrip("\n"), {
        "formula": model.formula,
        **model_to_record(model, facts),
    }


def _row(
    model: Model, source: Source, sides: Sequence[Side], number: int
) -> tuple[str, dict[str, Any]]:
    code, values, unlike = _find_row(model, source, number)
    explanation = explain_type(model, code)
    written = {str(column): _written(value) for column, value in values.items()}
    record = {
        "data": source.path,
        "row": number,
        "values": written,
        "unfamiliar": unfamiliar_record(unlike.rows, unlike.columns)["columns"],
        **to_record(model, explanation),
    }
    head = f"{source.path}, row {number:,} of {source.n_rows:,} (the first is 0)"
    told = unfamiliar_words(unlike.rows, unlike.columns, [model])
    head += f"\n{told}" if told else ""
    text = f"{head}\n\n{write(model, explanation, values)}".rstrip("\n")
    if not sides:
        return text, record
    found = related_rows(concepts_of([model]), source, sides, number)
    told_rows = "\n".join(f"  {_meant_words(rows)}" for rows in found)
    return f"{text}\n\nThe related rows:\n{told_rows}", {
        **record,
        "related": [_meant_record(rows) for rows in found],
    }


def _meant_words(found: MeantRows) -> str:
    """Say which related rows a concept means for a row."""
    what = visible(concept_text(found.concept, WRITTEN))
    if not found.n:
        return f"{what}: none"
    shown = ", ".join(visible(str(row)) for row in found.names)
    more = f" and {found.n - len(found.names):,} more" if found.n > len(found.names) else ""
    return f"{what}: {visible(found.named_by)} {shown}{more}"


def _meant_record(found: MeantRows) -> dict[str, Any]:
    return {
        "concept": found.concept.name,
        "table": found.concept.relation.table,
        "rows": found.n,
        "named_by": found.named_by,
        "names": list(found.names),
    }


def _types(model: Model, source: Source, options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    scan = FindTypes(model)
    with _engine(source) as engine:
        found = engine.reduce("find types", source.partitions, scan, merge_found)
    accepted = model.accepts(found.codes)
    n_accepted = int(found.rows[accepted].sum())
    unseen = int(found.rows[~np.isin(found.codes, model.counts.codes)].sum())
    limit = options.limit or (len(found.codes) if options.json else _SHOWN_TYPES)
    # The most frequent first; a stable sort leaves ties in the order of their codes.
    order = np.argsort(-found.rows, kind="stable")[:limit]
    types = found.codes[order].tolist()
    answers = [answer_type(model, type_) for type_ in types]
    listed = list(zip(answers, found.rows[order].tolist(), strict=True))
    if model.types == "attributes":
        records = [to_record(model, each) for each in explain_types(model, types).values()]
    else:
        # Why lines fail, and what would change the answer, differs between the rows of a type.
        records = [answer_to_record(model, answer) for answer in answers]
    record = {
        "data": source.path,
        "rows": source.n_rows,
        "accepted_rows": n_accepted,
        "rows_of_unseen_types": unseen,
        "unfamiliar": unfamiliar_record(found.unfamiliar.rows, found.unfamiliar.columns),
        "types_found": len(found.codes),
        "types": [
            {"rows": rows, **record} for record, (_, rows) in zip(records, listed, strict=True)
        ],
    }
    lines = [
        (
            f"{source.path}: {source.n_rows:,} rows of {len(found.codes):,} "
            f"type{'s' * (len(found.codes) != 1)}"
        ),
        f"yes for {n_accepted:,} rows{_share(n_accepted, source.n_rows)}, no for "
        f"{source.n_rows - n_accepted:,}; "
        f"{unseen:,} rows are of types that were not learned from",
    ]
    unlike = unfamiliar_words(found.unfamiliar.rows, found.unfamiliar.columns, [model])
    lines += [unlike] if unlike else []
    if listed:
        lines += ["", *_table(model, listed, source.n_rows)]
    left = source.n_rows - sum(rows for _, rows in listed)
    if left:
        more = count(len(found.codes) - len(listed), "more type")
        lines.append(f"and {more} with {count(left, 'row')}; raise --limit to see them")
    return "\n".join(lines), record


def _table(model: Model, listed: Sequence[tuple[Answer, int]], n_rows: int) -> list[str]:
    """Return a table of types; the column that may be long comes last."""
    rows: list[tuple[str, ...]] = [
        ("rows", "share", "answer", "lines", "learned from, positive", "type")
    ]
    for answer, n in listed:
        held = ", ".join(str(index + 1) for index in answer.terms) or "none"
        learned = "never seen"
        if answer.n:
            share = _share(answer.c, answer.n)
            learned = f"{count_words(model, answer.n)}, {count_words(model, answer.c)}{share}"
        said = "yes" if answer.accepted else "no"
        told = "" if model.types == "lines" else type_words(model, answer.type_)
        rows.append((f"{n:,}", f"{100 * n / n_rows:.1f} %", said, held, learned, told))
    if model.types == "lines":
        # The lines that hold are the type.
        rows = [row[:-1] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    adjust = (str.rjust, str.rjust, *[str.ljust] * (len(widths) - 2))
    return [
        "  ".join(
            side(cell, width) for side, cell, width in zip(adjust, row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def _find_row(
    model: Model, source: Source, number: int
) -> tuple[int, dict[ColumnName, Told], UnfamiliarRows]:
    """Return the truth values of a row's attributes, its values in their columns, and which of
    these are unfamiliar; only its partition is read.
    """
    if number >= source.n_rows:
        raise SpecError(
            f"--row must be below {source.n_rows:,}, the rows of {source.path}, got {number:,}"
        )
    reading = FindTypes(model).reading
    seen = seen_in([model], reading.columns)
    first = 0
    for rows in source.partitions:
        if first + rows.n_rows <= number:
            first += rows.n_rows
            continue
        for block in rows.blocks(reading):
            if number < first + block.n_rows:
                place = number - first
                values = {
                    column.name: _value(data, place)
                    for column, data in zip(reading.columns, block.columns, strict=True)
                }
                found = evaluate(_only(block, place), reading.columns, [model.tau], seen)
                [planes] = found.planes
                code = int.from_bytes(planes[:, 0].tobytes(), "little")
                return code, values, unfamiliar_in(found, reading.columns)
            first += block.n_rows
    raise DataError(
        f"{source.path}: expected {source.n_rows:,} rows as its footers say, got "
        f"{first:,}; write it again"
    )


def _only(block: Block, row: int) -> Block:
    """Return the columns of one row of a block."""
    here = slice(row, row + 1)
    columns: list[Numbers | Categories] = []
    for data in block.columns:
        if isinstance(data, Categories):
            columns.append(replace(data, codes=data.codes[here]))
            continue
        present = None if data.present is None or data.present[row] else data.present[here]
        columns.append(replace(data, values=data.values[here], present=present))
    return replace(block, n_read=1, n_rows=1, columns=columns)


def _value(data: Numbers | Categories, place: int) -> Told:
    if isinstance(data, Numbers):
        missing = data.present is not None and not data.present[place]
        if missing:
            return None
        value = data.values[place]
        if data.measure is not None:
            return Quantity(data.measure, int(value))
        # A float of low precision is written with the digits that it needs in its own precision,
        # not in double precision.
        return float(str(value)) if value.dtype.kind == "f" else int(value)
    code = int(data.codes[place])
    return None if code < 0 else data.values[code]


def _open(options: argparse.Namespace, model: Model) -> tuple[Source, tuple[Side, ...]]:
    """Open a dataset with its related tables, and check that it has the columns that the model
    needs.
    """
    asked = conversion_from(options)
    main = open_dataset(options.data, access_from(options), asked)
    source, sides = joined_for([model], main, options, asked)
    check_columns([model.tau], source.types, options.data)
    # Messages show the name that was asked for, not the place where a dataset of that name was
    # found.
    return replace(source, path=options.data), sides


@contextmanager
def _engine(source: Source) -> Iterator[SerialEngine]:
    """Show on a terminal how far an engine has come; elsewhere this is not worth a line."""
    if not sys.stderr.isatty() or len(source.partitions) < 2:
        yield SerialEngine(lambda _: endings.check())
        return
    with display_for(sys.stderr) as shown:
        shown.begin(source.path, source.n_rows, len(source.partitions), ())

        def watch(progress: Progress) -> None:
            endings.check()
            shown.progress(source.path, progress)

        yield SerialEngine(watch)


def _share(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.1f} %)" if whole else ""


def _written(value: Told) -> Any:
    """Return a value in JSON: infinity, dates and the like as model files write them."""
    if isinstance(value, Quantity):
        return str(value)
    return {"float": str(value)} if isinstance(value, float) and math.isinf(value) else value
