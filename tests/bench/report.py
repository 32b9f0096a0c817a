"""What a run measured, for people: Markdown tables, ready for the README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.bench.case import Figure, Measured

_MIB = 1 << 20


def heading(run: Mapping[str, Any]) -> str:
    """Say when, where and on what commit a run took place."""
    machine, versions = run["machine"], run["versions"]
    peers = ", ".join(
        f"{name} {versions[name]}"
        for name in ("pyarrow", "dask", "duckdb", "polars")
        if name in versions
    )
    setting = run["setting"]
    return (
        f"{setting['rows']:,} rows, {setting['workers']} workers, "
        f"{run['date'][:10]}, {machine['cores']} cores, {machine['memory_bytes'] / 2**30:.0f} GiB, "
        f"commit {run['commit'] or 'unknown'}, Python {versions['python']}, {peers}"
    )


def measurements(runs: Mapping[str, Measured]) -> str:
    """Return the table of a case's contenders."""
    rows = []
    for name, measured in runs.items():
        outcome = measured.outcome
        others = max(
            (peak.peak_bytes for peak in measured.peaks if peak.role != "worker"), default=0
        )
        workers = [peak.peak_bytes for peak in measured.peaks if peak.role == "worker"]
        rows.append(
            [
                name,
                number(outcome.wall_s),
                number(outcome.cpu_s),
                f"{outcome.rows / outcome.wall_s:,.0f}" if outcome.rows else "",
                f"{others / _MIB:,.0f}",
                f"{len(workers)} × {max(workers) / _MIB:,.0f}" if workers else "",
            ]
        )
    header = ["", "wall s", "CPU s", "rows/s", "largest process MiB", "workers MiB"]
    return table(header, rows)


def figures(found: Sequence[Figure]) -> str:
    """Return the table of a case's figures and their goals."""
    rows = [
        [
            figure.what,
            ("at least " if figure.lower_bound else "") + number(figure.value),
            figure.goal,
            "" if not figure.goal else "yes" if figure.reached else "no",
        ]
        for figure in found
    ]
    return table(["figure", "measured", "goal", "reached"], rows)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return what changed between two records: wall time and the largest peak of every contender
    that both have.
    """
    rows = []
    for case, measured in after["cases"].items():
        earlier = before["cases"].get(case, {"contenders": {}})
        for name, contender in measured["contenders"].items():
            if name in earlier["contenders"]:
                old, new = earlier["contenders"][name]["summary"], contender["summary"]
                times, peaks = (
                    (old["wall_s"], new["wall_s"]),
                    (_largest_peak(old) / _MIB, _largest_peak(new) / _MIB),
                )
                rows.append([case, name, *_change(*times), *_change(*peaks)])
    header = [
        "case",
        "",
        "wall s before",
        "wall s now",
        "change",
        "peak MiB before",
        "peak MiB now",
        "change",
    ]
    return "\n\n".join(
        [*_warnings(before, after), f"before: {heading(before)}", table(header, rows)]
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, first column to the left, the others to the right, padded to be read
    as it is.
    """
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    lines = [
        _line(header, widths),
        "|" + "|".join(_rule(i, width) for i, width in enumerate(widths)) + "|",
    ]
    return "\n".join(lines + [_line(row, widths) for row in rows])


def number(value: float) -> str:
    """Return a number with three digits, or all that stand before the point."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return (
        f"{value:.1f}"
        if abs(value) >= 10
        else f"{value:.2f}"
        if abs(value) >= 1
        else f"{value:.3f}"
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if i else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "| " + " | ".join(padded) + " |"


def _rule(place: int, width: int) -> str:
    return "-" * (width + 1) + ":" if place else "-" * (width + 2)


def _change(before: float, after: float) -> list[str]:
    return [number(before), number(after), f"{100 * (after / before - 1):+.0f} %" if before else ""]


def _largest_peak(run: Mapping[str, Any]) -> int:
    return max((peak["peak_bytes"] for peak in run["peaks"]), default=0)


def _warnings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Say what makes two records hard to compare."""
    told = []
    for key in ("machine", "setting"):
        differing = [
            name
            for name in after[key]
            if before[key].get(name) != after[key][name] and name != "data"
        ]
        if differing:
            told.append(f"mind: the records differ in {key}: {', '.join(differing)}")
    return told
