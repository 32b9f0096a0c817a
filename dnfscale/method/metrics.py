"""How good answers and probabilities are, from counts: the figures that people decide by.

Answers are counted in a confusion; probabilities as `Scores`, rows by the value that they were
given. A formula gives all rows of a type the same value, so its scores are its types. Every figure
equals that of scikit-learn on the same rows, weighted or not. What is undefined, such as the
sensitivity where no row is positive, is None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from msgspec.structs import replace

from dnfscale.core.arrays import Bools, Floats, Ints
from dnfscale.results.confusion import Answers, Confusion
from dnfscale.results.metrics import Calibrated, Calibration, Figures, NetBenefit, Scores

LEVEL = 0.95
"""The level of intervals."""
MOST_SCORES = 4_096
"""With more different values, scores are counted in so many bins."""
_WIDEST_LOG_ODDS = 14.0
"""Bins are equally wide in log-odds up to here, about one in a million: rare classes have most of
their scores near zero."""
_SMALLEST = float(np.finfo(np.float64).eps)
"""The log loss takes no probability for smaller, as in scikit-learn."""
_CALIBRATION_GROUPS = 10
_CURVE = (0.01, 0.02, *(round(0.05 * step, 2) for step in range(1, 20)))
"""The thresholds of a decision curve; few of a rare class have a probability of 0.05."""


def wilson(part: int, whole: int, level: float = LEVEL) -> tuple[float, float] | None:
    """Return Wilson's interval for the chance behind `part` of `whole` independent rows."""
    if not whole:
        return None
    from scipy.special import ndtri

    z = float(ndtri(0.5 + level / 2))
    share = part / whole
    centre = share + z * z / (2 * whole)
    half = z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def resampled_t(
    values: Sequence[float] | Sequence[Fraction], *, test_share: float, level: float = LEVEL
) -> tuple[float, float] | None:
    """Return the corrected resampled t-interval of the mean over folds; None for fewer than two.

    Training parts of different folds share most of their rows, so the plain variance of the mean is
    too small. Nadeau and Bengio (2003) replace 1/K by 1/K + n_test/n_train; test_share is that
    ratio.
    """
    k = len(values)
    if k < 2:
        return None
    # scipy.special holds Student's quantiles and imports ten times faster than scipy.stats.
    from scipy.special import stdtrit

    exact = [Fraction(value) for value in values]
    mean = sum(exact, start=Fraction()) / k
    variance = float(sum((value - mean) ** 2 for value in exact) / (k - 1))
    half = float(stdtrit(k - 1, 0.5 + level / 2)) * math.sqrt((1 / k + test_share) * variance)
    return float(mean) - half, float(mean) + half


Part = tuple[int, int]
"""A number of rows, and what it is out of."""


def proportions(confusion: Confusion) -> dict[str, Part]:
    """Return the metrics that are shares of rows."""
    tp, fp, tn, fn = confusion.tp, confusion.fp, confusion.tn, confusion.fn
    return {
        "accuracy": (tp + tn, confusion.counted),
        "sensitivity": (tp, tp + fn),
        "specificity": (tn, tn + fp),
        "ppv": (tp, tp + fp),
        "npv": (tn, tn + fn),
    }


def figures(
    confusion: Confusion, scores: Scores | None = None, threshold: Fraction | None = None
) -> Figures:
    """Return all metrics of some answers, and of the probabilities behind them if they are known.

    With a threshold the expected cost comes first: per row, where a wrong «yes» costs the threshold
    and a wrong «no» the rest to one.
    """
    found: Figures = {}
    if threshold is not None:
        found["cost"] = expected_cost(confusion, threshold)
    found |= {name: _share(*part) for name, part in proportions(confusion).items()}
    of_yes, of_no = found["sensitivity"], found["specificity"]
    both = of_yes is not None and of_no is not None
    found["balanced_accuracy"] = ((of_yes or 0.0) + (of_no or 0.0)) / 2 if both else None
    twice = 2 * confusion.tp
    found["f1"] = _share(twice, twice + confusion.fp + confusion.fn)
    found["mcc"] = _mcc(confusion)
    if scores is not None:
        found |= {
            "auc": scores.auc,
            "average_precision": scores.average_precision,
            "brier": scores.brier,
            "log_loss": scores.log_loss,
        }
    return found


def expected_cost(confusion: Confusion, threshold: Fraction) -> float | None:
    """Return the cost per row, where a wrong «yes» costs the threshold and a wrong «no» the rest to
    one.
    """
    if not confusion.counted:
        return None
    cost = threshold * confusion.fp + (1 - threshold) * confusion.fn
    return float(cost / confusion.counted)


def within(name: str, interval: tuple[float, float]) -> tuple[float, float]:
    """Return the part of an interval that a metric can have: no share is below 0 or above 1."""
    least, greatest = _RANGES.get(name, (0.0, 1.0))
    low, high = interval
    return max(least, low), min(greatest, high)


_RANGES = {"mcc": (-1.0, 1.0), "log_loss": (0.0, math.inf)}
"""The values that a metric can have, where they are not those of a share."""


def label_figures(answers: Answers) -> Figures:
    """Return the metrics of the answers for several labels: means over labels, and Matthews'
    correlation.

    As in scikit-learn, balanced accuracy passes over labels without rows, and the F-score of a
    label that neither occurs nor is given is left out.
    """
    cells = [[Fraction(n) for n in row] for row in answers]
    of = [sum(row) for row in cells]
    given = [sum(column) for column in zip(*cells, strict=True)]
    right = [row[i] for i, row in enumerate(cells)]
    recalls = [hit / n for hit, n in zip(right, of, strict=True) if n]
    scores = [2 * hit / (n + m) for hit, n, m in zip(right, of, given, strict=True) if n + m]
    counted, correct = sum(of), sum(right)
    products = sum(n * m for n, m in zip(of, given, strict=True))
    spread = (counted**2 - sum(m * m for m in given)) * (counted**2 - sum(n * n for n in of))
    return {
        "accuracy": float(correct / counted) if counted else None,
        "balanced_accuracy": float(sum(recalls) / len(recalls)) if recalls else None,
        "f1": float(sum(scores) / len(scores)) if scores else None,
        "mcc": _over_root(correct * counted - products, spread) if counted else None,
    }


def scores_of_types(probability: Floats, n: Ints, c: Ints) -> Scores:
    """Return the scores of types that have been counted; types of equal probability are one."""
    value, place = np.unique(probability, return_inverse=True)
    counted = np.zeros((2, len(value)), dtype=np.int64)
    np.add.at(counted[0], place, n)
    np.add.at(counted[1], place, c)
    return _scores(value, *counted)


def scores_of_rows(probability: Floats, positive: Bools, weights: Ints | None) -> Scores:
    """Return the scores of rows, each with its probability; many different ones are counted in
    bins.
    """
    weigh = np.ones(len(positive), dtype=np.int64) if weights is None else weights
    exact = scores_of_types(probability.astype(np.float64), weigh, np.where(positive, weigh, 0))
    return exact if len(exact.value) <= MOST_SCORES else _binned(exact)


def pooled_scores(parts: Iterable[Scores]) -> tuple[Scores, float, float]:
    """Return the scores of several parts together, and how far bins may put its AUC and its average
    precision off.

    If one part is binned, all are.
    """
    parts = list(parts)
    binned = any(part.binned for part in parts)
    if binned:
        parts = [part if part.binned else _binned(part) for part in parts]
    joined = [
        np.concatenate([np.asarray(getattr(part, key)) for part in parts])
        for key in ("value", "n", "c")
    ]
    pooled = scores_of_types(joined[0], joined[1].astype(np.int64), joined[2].astype(np.int64))
    if not binned:
        return pooled, 0.0, 0.0
    # Sums of losses are known without bins.
    rows = [sum(part.n) for part in parts]
    losses = {
        key: math.fsum(n * (getattr(part, key) or 0.0) for n, part in zip(rows, parts, strict=True))
        / max(1, sum(rows))
        for key in ("brier", "log_loss")
    }
    return replace(pooled, binned=True, **losses), *_bin_errors(pooled)


def calibration(scores: Scores) -> Calibration:
    """Return how far probabilities can be taken at their word."""
    value, n, c = _arrays(scores)
    log_odds = _log_odds(value)
    line = _logistic_line(log_odds, n, c)
    shift = _logistic_shift(log_odds, n, c)
    return Calibration(intercept=shift, slope=line, table=_calibration_table(value, n, c))


def decision_curve(scores: Scores) -> tuple[NetBenefit, ...]:
    """Return the net benefit of acting from each of some thresholds on."""
    value, n, c = _arrays(scores)
    rows, positive = int(n.sum()), int(c.sum())
    if not rows:
        return ()
    curve = []
    for threshold in _CURVE:
        acted = value >= threshold
        true, false = int(c[acted].sum()), int((n - c)[acted].sum())
        odds = threshold / (1 - threshold)
        curve.append(
            NetBenefit(
                threshold=threshold,
                net_benefit=(true - odds * false) / rows,
                treat_all=(positive - odds * (rows - positive)) / rows,
                confusion=Confusion(
                    tp=true, fp=false, tn=rows - positive - false, fn=positive - true
                ),
            )
        )
    return tuple(curve)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mcc(confusion: Confusion) -> float | None:
    """Return Matthews' correlation of answers and truth: 0 where all answers are the same."""
    tp, fp, tn, fn = confusion.tp, confusion.fp, confusion.tn, confusion.fn
    if not tp + fn or not tn + fp:
        return None
    return _over_root(
        Fraction(tp * tn - fp * fn), Fraction((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    )


def _over_root(part: Fraction, square: Fraction) -> float:
    if not square:
        return 0.0
    # The square of the correlation is an exact fraction, whatever the counts.
    return math.copysign(math.sqrt(float(Fraction(part * part) / square)), part)


def _scores(value: Floats, n: Ints, c: Ints) -> Scores:
    """Return scores with the figures that follow from them; values increase."""
    there = n > 0
    value, n, c = value[there], n[there], c[there]
    return Scores(
        value=tuple(value.tolist()),
        n=tuple(n.tolist()),
        c=tuple(c.tolist()),
        auc=_auc(n, c),
        average_precision=_average_precision(n, c),
        brier=_brier(value, n, c),
        log_loss=_log_loss(value, n, c),
    )


def _auc(n: Ints, c: Ints) -> float | None:
    """Return the chance that a positive row has a higher value than a negative one, ties by half.

    It is exact: sums are Python's own integers, and rounded once.
    """
    below = twice = 0
    positive = int(c.sum())
    for rows, hits in zip(n.tolist(), c.tolist(), strict=True):
        twice += hits * (2 * below + rows - hits)
        below += rows - hits
    pairs = 2 * positive * below
    return float(Fraction(twice, pairs)) if pairs else None


def _average_precision(n: Ints, c: Ints) -> float | None:
    """Return the mean precision over the positive rows, by decreasing value; ties count as one."""
    positive = float(c.sum())
    if not 0 < positive < n.sum():
        return None
    hits, rows = np.cumsum(c[::-1]), np.cumsum(n[::-1])
    return min(1.0, math.fsum((c[::-1] / positive) * (hits / rows)))


def _brier(value: Floats, n: Ints, c: Ints) -> float | None:
    rows = int(n.sum())
    return math.fsum(c * (1 - value) ** 2 + (n - c) * value**2) / rows if rows else None


def _log_loss(value: Floats, n: Ints, c: Ints) -> float | None:
    rows = int(n.sum())
    sure = np.clip(value, _SMALLEST, 1 - _SMALLEST)
    return -math.fsum(c * np.log(sure) + (n - c) * np.log1p(-sure)) / rows if rows else None


def _log_odds(value: Floats) -> Floats:
    sure = np.clip(value, _SMALLEST, 1 - _SMALLEST)
    return np.asarray(np.log(sure) - np.log1p(-sure))


def _binned(scores: Scores) -> Scores:
    """Return scores in bins that are the same for all rows, with the figures of the values
    themselves.
    """
    value, n, c = _arrays(scores)
    found = scores_of_types(score_bins(value).astype(np.float64), n, c)
    middle = _middles(np.asarray(found.value))
    return replace(scores, value=tuple(middle.tolist()), n=found.n, c=found.c, binned=True)


def score_bins(value: Floats) -> Ints:
    """Return the bin of each probability."""
    at = (_log_odds(value) / _WIDEST_LOG_ODDS + 1) / 2
    return np.asarray(np.clip((MOST_SCORES * at).astype(np.int64), 0, MOST_SCORES - 1))


def scores_in_bins(n: Ints, c: Ints) -> Scores:
    """Return the scores of rows that were counted in every bin."""
    return replace(_scores(_middles(np.arange(MOST_SCORES)), n, c), binned=True)


def log_losses(value: Floats, positive: Bools) -> Floats:
    """Return the log loss of each row by its probability."""
    sure = np.clip(value, _SMALLEST, 1 - _SMALLEST)
    return np.asarray(-np.where(positive, np.log(sure), np.log1p(-sure)))


def _middles(bins: Ints | Floats) -> Floats:
    """Return the probability in the middle of bins, in log-odds."""
    middle = (2 * (bins + 0.5) / MOST_SCORES - 1) * _WIDEST_LOG_ODDS
    return np.asarray(1 / (1 + np.exp(-middle)))


def _bin_errors(scores: Scores) -> tuple[float, float]:
    """Return how far bins may put the AUC and the average precision off."""
    from scipy.special import digamma

    _, n, c = _arrays(scores)
    positive, negative = float(c.sum()), float((n - c).sum())
    if not positive or not negative:
        return 0.0, 0.0
    by_auc = float((c * (n - c) / 2).sum()) / positive / negative
    hits, misses = c[::-1].astype(np.float64), (n - c)[::-1].astype(np.float64)
    hits_before, misses_before = np.cumsum(hits) - hits, np.cumsum(misses) - misses

    def precision(above: Floats) -> float:
        """The sum of (t + i) / (t + i + above) over the hits i of each bin, after t others."""
        first = hits_before + above + 1
        lost = np.where(above > 0, above * (digamma(first + hits) - digamma(first)), 0.0)
        return math.fsum(hits - lost) / positive

    found = scores.average_precision or 0.0
    best, worst = precision(misses_before), precision(misses_before + misses)
    return by_auc, max(best - found, found - worst, 0.0)


def _arrays(scores: Scores) -> tuple[Floats, Ints, Ints]:
    return (
        np.array(scores.value, dtype=np.float64),
        np.array(scores.n, dtype=np.int64),
        np.array(scores.c, dtype=np.int64),
    )


def _calibration_table(value: Floats, n: Ints, c: Ints) -> tuple[Calibrated, ...]:
    """Return rows of similar value, in groups of about equal size; a value is in one group."""
    rows = int(n.sum())
    if not rows:
        return ()
    if len(value) <= _CALIBRATION_GROUPS:
        group = np.arange(len(value))
    else:
        before = np.cumsum(n) - n
        group = (_CALIBRATION_GROUPS * (before / rows)).astype(np.int64)
    return tuple(
        Calibrated(
            predicted=math.fsum(value[own] * n[own]) / int(n[own].sum()),
            observed=int(c[own].sum()) / int(n[own].sum()),
            n=int(n[own].sum()),
            c=int(c[own].sum()),
        )
        for number in np.unique(group).tolist()
        for own in [group == number]
    )


_STEPS = 60
_STEEPEST = 50.0
"""A greater slope or shift is no estimate: nothing bounds it, as where probabilities tell all rows
apart."""


def _logistic_line(log_odds: Floats, n: Ints, c: Ints) -> float | None:
    """Return the slope of the logistic regression of the truth on the log-odds, by Newton's steps;
    None where there is none.
    """
    if len(np.unique(log_odds)) < 2 or not 0 < c.sum() < n.sum():
        return None
    shift, slope = 0.0, 1.0
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(shift + slope * log_odds, -500, 500)))
        bend = n * p * (1 - p)
        a, b, d = (math.fsum(bend * log_odds**power) for power in (0, 1, 2))
        first, second = math.fsum(c - n * p), math.fsum((c - n * p) * log_odds)
        area = a * d - b * b
        if not area > 1e-12 * max(1.0, a * d):
            return None
        steps = (d * first - b * second) / area, (a * second - b * first) / area
        # Long steps are shortened: they may overshoot where the curvature is small.
        short = max(1.0, abs(steps[0]) / 4, abs(steps[1]) / 4)
        shift, slope = shift + steps[0] / short, slope + steps[1] / short
        if abs(slope) > _STEEPEST:
            return None
        if max(map(abs, steps)) < 1e-10:
            return slope
    return None


def _logistic_shift(log_odds: Floats, n: Ints, c: Ints) -> float | None:
    """Return what must be added to all log-odds for as many rows to be expected as are positive."""
    if not 0 < c.sum() < n.sum():
        return None
    shift = 0.0
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(shift + log_odds, -500, 500)))
        bend = math.fsum(n * p * (1 - p))
        if not bend:
            return None
        step = math.fsum(c - n * p) / bend
        shift += step / max(1.0, abs(step) / 4)
        if abs(step) < 1e-10:
            return shift
    return None
