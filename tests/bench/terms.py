"""How long the search of terms takes, and what it finds, on made rows of a benchmark's shape.

`python -m tests.bench.terms` makes 30,000 rows of 8 columns with 63 cuts each, which is the shape
of Electricity, and of 10 such columns with 40 Boolean ones, and prints for the lengths 10, 20 and
40 the processor time of a search and the share of rows that its formulas get right: of the rows
searched, and of as many others. Then what counting takes a row: the answers of all formulas, and
the exchanges of one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from dnfscale.core.arrays import Bools, Codes
from dnfscale.method.terms.answers import count_answers
from dnfscale.method.terms.codes import CodeColumn, CodeFormula, Sample
from dnfscale.method.terms.exchanges import exchange_gains
from dnfscale.method.terms.histograms import Layout
from dnfscale.method.terms.search import Found, effort_for, frontier

T = TypeVar("T")
N_CUTS = 63


def made_rows(n_rows: int, n_numbers: int, n_flags: int) -> tuple[Sample, Codes, Bools]:
    """Make rows to search, and as many others with their target, of cuts, intervals and waves."""
    random = np.random.default_rng(0)
    values = random.normal(size=(2 * n_rows, n_numbers))
    score = 1.2 * (values[:, 0] > 0.3) + (np.abs(values[:, 1] - 0.15) < 0.65)
    score -= 1.5 * ((values[:, 2] > 0.2) & (values[:, 3] < 0.1))
    score += 0.8 * np.sin(2 * values[:, 4]) + 0.5 * values[:, 5] * values[:, 6]
    target = score + 0.6 * random.logistic(size=2 * n_rows) > np.median(score)
    flags = random.random((n_flags, 2 * n_rows)) < 0.5 + 0.1 * np.tanh(score)
    places = values.argsort(axis=0).argsort(axis=0)
    bins = (places * (N_CUTS + 1) // (2 * n_rows)).T
    codes = np.concatenate([bins, flags]).astype(np.uint8)
    columns = (CodeColumn(N_CUTS + 1, True),) * n_numbers + (CodeColumn(2, True),) * n_flags
    searched = target[:n_rows].astype(np.int64)
    sample = Sample(columns, codes[:, :n_rows], searched, 1 - searched)
    return sample, codes[:, n_rows:], target[n_rows:]


def cpu_s(work: Callable[[], T]) -> tuple[T, float]:
    """Do some work, and return its result and the processor time it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def measure(n_rows: int, n_numbers: int, n_flags: int, lengths: Sequence[int]) -> None:
    """Print what a search takes and finds, and what counting takes."""
    sample, others, target = made_rows(n_rows, n_numbers, n_flags)
    found: tuple[Found, ...] = ()
    print(f"{n_rows:,} rows, {n_numbers} columns of {N_CUTS} cuts, {n_flags} Boolean columns")
    for length in lengths:
        effort = effort_for(n_rows, max_literals=length)
        found, seconds = cpu_s(lambda effort=effort: frontier(sample, effort))  # type: ignore[misc]
        right = 1 - found[-1].cost / n_rows
        elsewhere = (found[-1].formula.accepts(others, n_rows) == target).mean()
        print(f"  {length:3} literals: {seconds:5.2f} s, {right:.4f} and {elsewhere:.4f}")
    _measure_counting(sample, [one.formula for one in found])


def _measure_counting(sample: Sample, formulas: list[CodeFormula]) -> None:
    cells = sample.positive.astype(np.uint8)
    _, answers_s = cpu_s(lambda: count_answers(sample.codes, formulas, cells, 2))
    gains = sample.positive - sample.negative
    layout = Layout(sample.columns)
    _, gains_s = cpu_s(lambda: exchange_gains(layout, sample.codes, gains, formulas[-1:]))
    for what, seconds in (
        (f"answers of {len(formulas)} formulas", answers_s),
        (f"exchanges of {formulas[-1].n_literals} literals", gains_s),
    ):
        print(f"  {what}: {1e9 * seconds / sample.n_rows:.0f} ns a row")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both shapes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rows", type=int, default=30_000)
    options.add_argument("--lengths", nargs="+", type=int, default=[10, 20, 40])
    asked = options.parse_args(arguments)
    for n_numbers, n_flags in ((8, 0), (10, 40)):
        measure(asked.rows, n_numbers, n_flags, asked.lengths)


if __name__ == "__main__":
    main()
