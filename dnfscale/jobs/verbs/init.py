"""The verb `init`: a first spec for somebody's own data, written from what a check of it finds."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from dnfscale.core.arrays import Scalar
from dnfscale.core.columns import Role
from dnfscale.data.roles import role_of
from dnfscale.data.source import Source
from dnfscale.datasets.convert import AS_USUAL, Conversion
from dnfscale.datasets.named import open_dataset
from dnfscale.errors import SpecError, visible
from dnfscale.jobs.folders import write_asked
from dnfscale.jobs.verbs.check import checked
from dnfscale.jobs.verbs.data_options import TABLE, add_data_options, conversion_from
from dnfscale.jobs.verbs.storage_options import (
    access_from,
    add_storage_options,
    file_from,
    place_from,
)
from dnfscale.method.findings import folded
from dnfscale.report.wording import count
from dnfscale.results.check import Check, ColumnCheck, Finding
from dnfscale.results.record import Infinite, Label, label_text
from dnfscale.spec.starter import Choice, Facts, starter_text
from dnfscale.spec.storage import DEFAULT_ACCESS, Access, is_remote

_DROPPED = ("constant", "identifier", "leak", "copy", "text_dates", "many_categories")
"""The findings for which a column is left out, the most telling first; notes are for people."""
_MOST_CATEGORIES = 50
"""Numbers in text that are more different ones than that would be as many attributes."""
_SHOWN_LABELS = 10
_SELDOM = 0.1
"""Of a class of a smaller share of the rows, formulas learned for accuracy hardly find any."""


def add_init_verb(verbs: Any) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser(
        "init", help="check a dataset, and write a starter spec from what is found"
    )
    verb.add_argument("data", metavar="DATA", help=TABLE)
    verb.add_argument("--target", metavar="COLUMN", required=True, help="the column to predict")
    verb.add_argument(
        "--positive",
        metavar="LABEL",
        action="append",
        default=[],
        help="the label to tell from the others; several times for several labels (default: the "
        "larger of two; of three or more, each gets a formula)",
    )
    verb.add_argument(
        "--output", metavar="FILE", help="the spec to write (default: the data's name with .toml)"
    )
    verb.add_argument("--force", action="store_true", help="replace the spec if it is there")
    add_data_options(verb)
    add_storage_options(verb)
    verb.set_defaults(verb=_init, prints_summary=True)


def _init(options: argparse.Namespace) -> None:
    data, access = place_from("DATA", options.data), access_from(options)
    target = file_from("--output", options.output or PurePosixPath(data).stem + ".toml")
    if target.exists() and not options.force:
        raise SpecError(
            f"{target} is already there; choose another --output, or pass --force to replace it"
        )
    facts = found_facts(
        data,
        options.target,
        options.positive,
        target.parent,
        access,
        asked=conversion_from(options),
    )
    write_asked(target, starter_text(facts))
    print("\n".join([f"{target}: written", *_told(facts)]))
    print(f"look it over, then: python -m dnfscale.jobs run {target}")


def found_facts(
    data: str,
    target: str,
    positive: Sequence[str],
    folder: Path,
    access: Access = DEFAULT_ACCESS,
    *,
    asked: Conversion = AS_USUAL,
) -> Facts:
    """Check a dataset, and return what a spec should say of it; its path is relative to the folder
    that the spec will lie in.
    """
    source = open_dataset(data, access, asked)
    check = checked(data, target, access, asked=asked)
    place = PurePosixPath(data) if is_remote(data) else Path(data).resolve()
    labels = [_plain(label.value) for label in check.labels]
    columns = [column for column in check.columns if column.name != target]
    dropped = {column.name: _dropped(source, column) for column in columns}
    left = [column for column in columns if dropped[column.name] is None]
    group = next(filter(None, map(_group, left)), None)
    left = [column for column in left if group is None or column.name != group.name]
    categorical = [choice for column in left for choice in _codes(column)]
    boolean = [
        Choice(column.name, _two_words(column)) for column in left if _is_two_valued(source, column)
    ]
    roles = {column.name: role_of(source.types[column.name]) for column in left}
    roles |= {choice.name: Role.CATEGORY for choice in categorical}
    roles |= {choice.name: Role.FLAG for choice in boolean}
    chosen = _positive(labels, positive, target)
    objective = _objective(check, labels, chosen)
    counted = ", ".join(f"{sum(r is role for r in roles.values())} {role}" for role in Role)
    return Facts(
        name=_name(place),
        path=_relative(place, folder.resolve()) if isinstance(place, Path) else data,
        target=target,
        labels=_labels_words(check),
        positive=chosen,
        classes="all" if len(labels) > 2 and not chosen else None,
        drop=[choice for choice in dropped.values() if choice is not None],
        group=group,
        categorical=categorical,
        boolean=boolean,
        objective=objective,
        missing=_missing_words(left),
        others=tuple(_others(check, left, objective)),
        found=f"{check.rows:,} rows; columns: {counted}",
        access=access,
        csv=asked.csv,
        version=asked.version,
    )


def _dropped(source: Source, column: ColumnCheck) -> Choice | None:
    """Return the reason to leave a column out, if there is one."""
    if role_of(source.types[column.name]) is None:
        return Choice(column.name, f"its type, {column.type}, cannot be learned from")
    found = {finding.kind: finding for finding in column.findings if finding.severity != "note"}
    for kind in _DROPPED:
        if kind in found:
            return Choice(column.name, f"{kind}: {found[kind].evidence}")
    numbers = found.get("text_numbers")
    if numbers is not None and (column.distinct or 0) > _MOST_CATEGORIES:
        return Choice(column.name, f"text_numbers: {numbers.evidence}; {numbers.advice}")
    return None


def _group(column: ColumnCheck) -> Choice | None:
    found = next((finding for finding in column.findings if finding.kind == "group"), None)
    return None if found is None else Choice(column.name, found.evidence)


def _codes(column: ColumnCheck) -> Iterator[Choice]:
    for finding in column.findings:
        if finding.kind == "codes" and finding.severity == "warning":
            yield Choice(column.name, f"{finding.kind}: {finding.evidence}")


def _is_two_valued(source: Source, column: ColumnCheck) -> bool:
    """Return whether a column of whole numbers has two values: its median may be the larger."""
    if role_of(source.types[column.name]) is not Role.NUMBER or column.distinct != 2:
        return False
    ends = column.least, column.greatest
    return column.exact and all(isinstance(end, int | float) and end == int(end) for end in ends)


def _two_words(column: ColumnCheck) -> str:
    ends = (label_text(end) for end in (column.least, column.greatest) if end is not None)
    return f"its only values are {' and '.join(ends)}"


def _missing_words(columns: Sequence[ColumnCheck]) -> str:
    worst = max(columns, key=lambda column: column.missing_rows, default=None)
    if worst is None or not worst.missing_rows:
        return "no value is missing"
    others = sum(column.missing_rows > 0 for column in columns) - 1
    have = "has" if others == 1 else "have"
    more = f", and {count(others, 'more column')} {have} gaps" if others else ""
    return (
        f"{visible(worst.name)} has no value in {100 * worst.missing:.1f} % of the rows{more}; "
        f'"drop" would leave out at least {worst.missing_rows:,} rows'
    )


def _objective(
    check: Check, labels: Sequence[Scalar], positive: Sequence[Scalar] | None
) -> Choice | None:
    """Return what to learn for where so few rows are of one class that «no» is nearly always right,
    or «yes».
    """
    if not positive or len(labels) < 2:
        return None
    rows = [label.rows for label in check.labels]
    own = sum(n for label, n in zip(labels, rows, strict=True) if label in positive)
    of_class = min(own, sum(rows) - own)
    if of_class >= _SELDOM * sum(rows):
        return None
    share = f"{100 * of_class / sum(rows):.1f} %"
    which = "positive" if own == of_class else "negative"
    return Choice(
        "balanced_accuracy",
        f"rare_class: {of_class:,} rows ({share}) are {which}; by accuracy, the same answer for "
        "all is hard to beat",
    )


def _others(check: Check, left: Sequence[ColumnCheck], objective: Choice | None) -> Iterator[str]:
    """Yield the warnings that a spec can do nothing about, and what dates are good for."""
    if not left:
        yield "no column is left to learn from: take one out of drop"
    of_table = [("", finding) for finding in check.findings]
    of_columns = [(column.name, finding) for column in left for finding in column.findings]
    of_columns += [
        (column.name, finding)
        for column in check.columns
        if column.name == check.target
        for finding in column.findings
    ]
    for name, finding in [*of_table, *of_columns]:
        is_mended = finding.kind == "codes" or (finding.kind == "rare_class" and objective)
        if finding.kind == "dates" or (finding.severity != "note" and not is_mended):
            yield _warning(name, finding)


def _warning(name: str, finding: Finding) -> str:
    about = f"{visible(name)}: " if name else ""
    return visible(f"{finding.kind}: {about}{finding.evidence}; {finding.advice}")


def _positive(
    labels: Sequence[Scalar], asked: Sequence[str], target: str
) -> tuple[Scalar, ...] | None:
    """Return the labels that are asked for; the larger of two, if none is."""
    if not asked:
        # Of more than two, those that differ in case or spaces alone are one.
        found = _alike(labels) if len(labels) > 2 else [(label,) for label in labels]
        return found[-1] if len(found) == 2 or len(labels) == 1 else None
    by_text = {str(label): label for label in labels}
    for text in asked:
        if text not in by_text:
            raise SpecError(
                f"--positive must be a label of {target!r}, got {text!r}; it has "
                f"{', '.join(map(repr, by_text))}"
            )
    if len(set(asked)) == len(labels):
        raise SpecError(
            f"--positive must leave some label of {target!r} to be told from, got all of them"
        )
    return tuple(dict.fromkeys(by_text[text] for text in asked))


def _alike(labels: Sequence[Scalar]) -> list[tuple[Scalar, ...]]:
    """Return labels together that are spelled in several ways, in the order of their last."""
    found: dict[Scalar, list[Scalar]] = {}
    for label in labels:
        found.setdefault(folded(label) if isinstance(label, str) else label, []).append(label)
    return sorted(map(tuple, found.values()), key=lambda own: labels.index(own[-1]))


def _labels_words(check: Check) -> str:
    """Say which labels there are, and how many rows have each."""
    shown = [
        f"{visible(repr(_plain(label.value)))} in {label.rows:,} rows "
        f"({100 * label.rows / check.rows:.1f} %)"
        for label in check.labels[:_SHOWN_LABELS]
    ]
    if len(check.labels) > _SHOWN_LABELS:
        shown.append(f"and {len(check.labels) - _SHOWN_LABELS} more")
    absent = check.rows - sum(label.rows for label in check.labels)
    shown += [f"none in {absent:,}, which are left out"] if absent else []
    return ", ".join(shown) or "no label at all"


def _told(facts: Facts) -> Iterator[str]:
    """Yield what was chosen, as lines of a terminal."""
    yield f"  labels       {facts.labels}"
    if facts.classes == "all":
        yield '  classes      "all", a formula for each; --positive LABEL tells one from the rest'
    elif facts.positive:
        yield f"  positive     {', '.join(visible(repr(label)) for label in facts.positive)}"
    chosen: list[tuple[str, Sequence[Choice]]] = [
        ("drop", facts.drop),
        ("group", [facts.group] if facts.group else []),
        ("categorical", facts.categorical),
        ("boolean", facts.boolean),
        ("objective", [facts.objective] if facts.objective else []),
    ]
    for title, choices in chosen:
        for choice in choices:
            yield f"  {title:<12} {visible(choice.name)}: {visible(choice.reason)}"
    yield f'  missing      "indicator": {facts.missing}'
    for other in facts.others:
        yield f"  look at      {other}"


def _plain(label: Label) -> Scalar:
    return float(label.float) if isinstance(label, Infinite) else label


def _relative(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _name(path: PurePath) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", path.stem).strip("-") or "job"
