"""How far rows differ from those that formulas were learned from, from their types by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec.structs import replace

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.formula import quote
from dnfscale.core.model import Model
from dnfscale.core.parts import stored_column
from dnfscale.core.quantities import Quantity
from dnfscale.core.seen import SeenColumn, Unfamiliar
from dnfscale.method.drift import Compared, grouped, settled, shift_of
from dnfscale.method.intervals import exact_interval
from dnfscale.method.literals import Line
from dnfscale.method.words import line_text, model_lines
from dnfscale.results.evaluation import ColumnShift, Drift, LineShift, Shift, Side
from dnfscale.results.record import Label, label_record

_LEVEL = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class FormulaRows:
    """The rows of one formula's types, by class: no, yes, not known."""

    model: Model
    codes: Ints
    rows: Ints
    """Of each class and type."""
    comparable: Ints
    """The same without rows that would not have been learned from, for what they miss."""

    @classmethod
    def of(cls, model: Model, keys: Ints, counts: Ints, classes: Sequence[int]) -> FormulaRows:
        """Take counted keys apart; `classes` has the class of each class that was counted."""
        codes, of = np.unique(keys // (2 * len(classes)), return_inverse=True)
        own = np.array(classes)[keys // 2 % len(classes)]
        rows = np.zeros((3, len(codes)), dtype=np.int64)
        np.add.at(rows, (own, of), counts)
        if model.missing == "indicator":
            return cls(model, codes, rows, rows)
        comparable = np.zeros_like(rows)
        complete = keys % 2 == 0
        np.add.at(comparable, (own[complete], of[complete]), counts[complete])
        return cls(model, codes, rows, comparable)

    def compared(self, cells_of: Any, n_cells: int) -> Shift | None:
        """Return how far the shares of some cells differ; cells_of gives the cells of types."""
        learned = self.model.counts
        before = _in_cells(
            cells_of(learned.codes), np.array([learned.n - learned.c, learned.c]), n_cells
        )
        now = _in_cells(cells_of(self.codes), self.comparable, n_cells)
        everything = Compared(
            before.sum(axis=0, keepdims=True), now.sum(axis=0, keepdims=True), self.model.weighted
        )
        known = Compared(before, now[:2], self.model.weighted)
        if not known.now.any():
            return shift_of(grouped(everything))
        return shift_of(grouped(everything), grouped(known))

    @property
    def known(self) -> bool:
        return bool(self.comparable[:2].any())

    def types(self) -> Shift | None:
        """Return how far the types differ."""
        every = np.union1d(self.codes, self.model.counts.codes)
        return self.compared(lambda codes: np.searchsorted(every, codes), len(every))

    def lines(self, label: Label | None) -> list[LineShift]:
        """Return how often each line holds, and how often it is right."""
        lines = model_lines(self.model)
        return [self._line(i, line, len(lines), label) for i, line in enumerate(lines)]

    def _holds(self, line: Line, codes: Ints) -> Bools:
        held = np.zeros(len(codes), dtype=np.bool_)
        terms = self.model.over_types.terms
        for term in line.terms:
            held |= terms[term].accepts(codes)
        return held

    def _line(self, place: int, line: Line, n_lines: int, label: Label | None) -> LineShift:
        counts = self.model.counts
        before, now = self._holds(line, counts.codes), self._holds(line, self.codes)
        n, c = int(counts.n[before].sum()), int(counts.c[before].sum())
        negative, positive, _ = self.rows[:, now].sum(axis=1).tolist()
        level = _LEVEL / n_lines
        # Sums of weights are not binomial, so they give no interval.
        low, high = (None, None) if self.model.weighted else _interval(n, c, level)
        own_low, own_high = _interval(negative + positive, positive, level)
        share = _share(positive, negative + positive)
        learned = _share(c, n)
        outside: Side | None = None
        if share is not None and learned is not None and low is not None and high is not None:
            below = share < low and learned > own_high
            above = share > high and learned < own_low
            outside = "below" if below else "above" if above else None
        return LineShift(
            number=place + 1,
            text=line_text(line) or "always",
            label=label,
            learned_share=_share(n, int(counts.n.sum())),
            share=_share(int(self.rows[:, now].sum()), int(self.rows.sum())),
            learned_positive=learned,
            low=low,
            high=high,
            rows=negative + positive,
            positive=share,
            outside=outside,
            shift=self.compared(lambda codes: self._holds(line, codes).astype(np.intp), 2),
        )

    def columns(self) -> dict[str, Shift | None]:
        """Return how far the columns differ in what the model asks of them; None where its counts
        do not tell columns apart.
        """
        bits: dict[str, list[int]] = {}
        for i, attribute in enumerate(self.model.tau.attributes):
            bits.setdefault(stored_column(attribute.column), []).append(i)
        if self.model.types != "attributes":
            return dict.fromkeys(bits)
        return {
            name: self.compared(lambda codes, own=own: _bits(codes, own), 1 << len(own))
            for name, own in bits.items()
        }


def _bits(codes: Ints, places: Sequence[int]) -> Ints:
    cells = np.zeros(len(codes), dtype=np.int64)
    for i, place in enumerate(places):
        cells |= (codes >> place & 1) << i
    return cells


def _in_cells(cells: Ints, rows: Ints, n_cells: int) -> Ints:
    """Return rows by class and cell, given those by class and type."""
    found = np.zeros((len(rows), n_cells), dtype=np.int64)
    for own, of_class in zip(found, rows, strict=True):
        np.add.at(own, cells, of_class)
    return found


def _interval(n: int, c: int, level: float) -> tuple[float, float]:
    low, high = exact_interval(np.array([c]), np.array([n]), level)
    return float(low[0]), float(high[0])


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class ColumnRows:
    """What a column of a model holds."""

    n_rows: int
    missing: int
    """Rows without a value."""
    seen: SeenColumn | None
    """What it held in the rows learned from, if that is known."""
    unfamiliar: Unfamiliar

    def gaps(self, model: Model) -> Shift | None:
        """Return how far the share without a value differs."""
        if self.seen is None:
            return None
        kept = int(model.counts.n.sum()) / model.unit
        dropped = 0.0 if model.missing == "indicator" else self.seen.missing
        learned = round(kept / (1 - dropped)) if dropped < 1 else 0
        before = round(learned * self.seen.missing)
        return shift_of(
            Compared(
                np.array([[learned - before, before]]),
                np.array([[self.n_rows - self.missing, self.missing]]),
                model.weighted,
            )
        )

    def told(self, name: str, shift: Shift | None, gaps: Shift | None) -> ColumnShift:
        """Return the record of the column."""
        seen, own = self.seen, self.unfamiliar
        ends = (None, None) if seen is None else (_end(seen.least), _end(seen.greatest))
        return ColumnShift(
            name=name,
            missing=self.missing / self.n_rows,
            learned_missing=None if seen is None else seen.missing,
            shift=shift,
            missing_shift=gaps,
            new=own.new,
            new_values=tuple(label_record(value) for value in own.examples),
            below=own.below,
            above=own.above,
            least=ends[0],
            greatest=ends[1],
        )


def _end(value: int | float | Quantity | None) -> Label | None:
    if value is None:
        return None
    return str(value) if isinstance(value, Quantity) else label_record(value)


def drift_of(
    formulas: Sequence[FormulaRows], target: str, columns: Mapping[str, ColumnRows]
) -> Drift:
    """Return how far rows differ from those learned from."""
    several = len(formulas) > 1
    lines = [
        line
        for formula in formulas
        for line in formula.lines(label_record(formula.model.positive[0]) if several else None)
    ]
    names = list(columns)
    asked = _asked(formulas)
    gaps = [columns[name].gaps(formulas[0].model) for name in names]
    compared: list[tuple[str, Shift | None]] = [
        (quote(target), _classes(formulas)),
        *(("types", formula.types()) for formula in formulas),
        *((line.text, line.shift) for line in lines),
        *((quote(name), asked.get(name)) for name in names),
        *((f"missing values of {quote(name)}", own) for name, own in zip(names, gaps, strict=True)),
    ]
    found = settled([shift for _, shift in compared])
    greatest = max(
        ((shift.psi, -i) for i, shift in enumerate(found) if shift is not None), default=None
    )
    rest = iter(found)
    classes = next(rest)
    return Drift(
        learned_rows=round(formulas[0].model.counts.n_rows / formulas[0].model.unit),
        greatest=None if greatest is None else greatest[0],
        of=None if greatest is None else compared[-greatest[1]][0],
        classes=classes,
        types=tuple(shift for shift in [next(rest) for _ in formulas] if shift is not None),
        lines=tuple(replace(line, shift=next(rest)) for line in lines),
        columns=tuple(
            columns[name].told(name, shift, own)
            for name, shift, own in zip(names, *_halves([*rest]), strict=True)
        ),
    )


def _halves(found: list[Shift | None]) -> tuple[list[Shift | None], list[Shift | None]]:
    return found[: len(found) // 2], found[len(found) // 2 :]


def _asked(formulas: Sequence[FormulaRows]) -> dict[str, Shift | None]:
    """Return how far the columns differ in what is asked of them, most of it."""
    found: dict[str, Shift | None] = {}
    for formula in formulas:
        for name, shift in formula.columns().items():
            known = found.get(name)
            if known is None or (shift is not None and shift.effect > known.effect):
                found[name] = shift
    return found


def _classes(formulas: Sequence[FormulaRows]) -> Shift | None:
    """Return how far the shares of the classes differ."""
    if len(formulas) == 1:
        [formula] = formulas
        learned = formula.model.counts
        c, n = int(learned.c.sum()), int(learned.n.sum())
        before, now = [n - c, c], formula.comparable[:2].sum(axis=1)
    else:
        before = [int(formula.model.counts.c.sum()) for formula in formulas]
        now = np.array([formula.comparable[1].sum() for formula in formulas])
    return shift_of(Compared(np.array([before]), now[np.newaxis], formulas[0].model.weighted))
