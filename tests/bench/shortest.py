"""What could be left out of the formulas of the paper's datasets, as people read them.

`python -m tests.bench.shortest` learns every fold of the twelve datasets in DNFSCALE_DATA with
three seeds and both profiles, some 40 minutes on two cores, and asks the judge of
tests/method/rows.py. It prints, for the formulas of all rows and for those of all folds, the
literals, and how many conditions, lines, ends of intervals and values of sets could be left out
without another answer for any row that can exist. `--datasets`, `--seeds` and `--profiles`
restrict it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence

from dnfscale.engine.serial import SerialEngine
from dnfscale.jobs.runner import open_data
from dnfscale.learn.line import Learned, LearnedFold, learn
from dnfscale.method.literals import n_literals
from dnfscale.spec.job import read_spec
from tests.bench.setting import ROOT
from tests.method.rows import Rows, left_out

SPECS = ROOT / "jobs" / "paper"
KINDS = ("condition", "line", "an end of condition", "a value of condition")


def learned_from(dataset: str, profile: str, seed: int) -> Learned:
    """Learn the formulas of a dataset of the paper."""
    source, to_learn = open_data(
        read_spec(SPECS / f"{dataset}.toml", {"profile": profile, "seed": seed})
    )
    return learn(source, to_learn, SerialEngine())


def superfluous(folds: Iterable[LearnedFold]) -> Counter[str]:
    """Count the literals of some formulas, and what could be left out of these, by its kind."""
    found: Counter[str] = Counter()
    for fold in folds:
        found["literals"] += n_literals(fold.lines)
        for what in left_out(fold.tau, fold.dnf, Rows(fold.tau)):
            found[next(kind for kind in KINDS if what.startswith(kind))] += 1
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the datasets that are asked for, and print a line for each."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--datasets", nargs="+", default=sorted(file.stem for file in SPECS.glob("*.toml"))
    )
    options.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    options.add_argument("--profiles", nargs="+", default=["paper", "best"])
    asked = options.parse_args(arguments)
    print(f"{'':36} of all rows: literals, {', '.join(KINDS)}; of all folds: the same")
    for profile in asked.profiles:
        totals = (Counter[str](), Counter[str]())
        for dataset in asked.datasets:
            counts = (Counter[str](), Counter[str]())
            for seed in asked.seeds:
                learned = learned_from(dataset, profile, seed)
                for count, folds in zip(counts, ([learned.model], learned.folds), strict=True):
                    count.update(superfluous(folds))
            for total, count in zip(totals, counts, strict=True):
                total.update(count)
            _print(profile, dataset, counts)
        _print(profile, "all", totals)


def _print(profile: str, dataset: str, counts: Iterable[Counter[str]]) -> None:
    figures = [" ".join(f"{count[kind]:6,}" for kind in ("literals", *KINDS)) for count in counts]
    print(f"{profile:8}{dataset:28}{'   '.join(figures)}", flush=True)


if __name__ == "__main__":
    main()
