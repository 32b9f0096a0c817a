"""Findings: what the facts of a table say that a person should know before learning from it.

Each rule looks for one thing, and gives its evidence in numbers. Where values or rows were sampled,
the evidence says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.columns import Role
from dnfscale.core.facts import ColumnFacts, TableFacts
from dnfscale.core.quantities import Kind as Quantities
from dnfscale.core.quantities import Measure
from dnfscale.method.telling import (
    best_attribute,
    best_value,
    concordance,
    departs_from_trend,
)
from dnfscale.results.check import Finding, Severity
from dnfscale.results.check import Kind as FindingKind

FEW_ROWS = 20
"""Of fewer rows, most of what stands out does so by chance."""
MANY_CATEGORIES = 50
_EQUAL = b"="
"""What the signature of a column of numbers begins with that another may equal."""
_NEARLY_ALL = 0.93
"""An estimated share from which on it may be that of all rows: three standard errors."""
_UNEVEN = 0.15
"""The greatest distance (Kolmogorov, Smirnov) from numbers that are spread evenly."""
RARE = 0.05
"""A class of a smaller share of the rows is rare."""
TOO_MANY_CATEGORIES = 1_000
"""More categories than that become more attributes than anything can be said about."""
_IDENTIFIER = re.compile(
    r"(?i:(^|[_\W])(id|ids|uuid|guid|key|no|nr|num|number|index|idx|rowid|row_number|record)$)|"
    r"(?<=[a-z])(Id|ID|Key|No|Number)$|(?i:^(id|uuid|guid|index|unnamed: ?0)([_\W]|$))|"
    r"(?i:(^|[_\W])ssn([_\W]|$)|^(pid|patid|subjid|usubjid|patnr|custid|uid|idnum|rownames|seqn|seqno)$)|"
    r"(?i:^(case|visit|order|loan|event|stop|trip|trans|obs|sample|row|rec|hosp|school|family|house|hh)id$)",
)
_SUBJECT = re.compile(
    r"(^|[_\W])(patient|subject|person|customer|client|user|member|household|student|participant|"
    r"device|account|policy|vehicle|store|animal|donor|mrn|pupil|respondent)"
    r"[_\W]*(id|no|nr|num|number|key|code|name|hash)?[_\W]*$|"
    r"^(pid|patid|subjid|usubjid|patnr|custid|uid)$",
    re.IGNORECASE,
)
"""Names of what repeats: neither `customer_age`, which says something of a customer, nor
`students`, which counts them."""
_CODE = re.compile(
    r"(^|[_\W])(code|codes|cod|type|kind|category|categ|status|region|zone|district|sector|"
    r"branch|colou?r|race|ethnicity|marital|nationality|religion|occupation|department|dept|zip)([_\W]|$)",
    re.IGNORECASE,
)
_AFTERWARDS = re.compile(
    r"(^|[_\W])(duration|outcome|result|after|ended|closed|discharge|discharged|death|died|"
    r"cancelled|canceled|refund|refunded|payout|settled|final|resolution|resolved)([_\W]|$)",
    re.IGNORECASE,
)
_MISSING_TEXTS = frozenset(
    [
        "",
        "?",
        "na",
        "n/a",
        "n.a.",
        "#n/a",
        "nan",
        "null",
        "-",
        "--",
        ".",
        "..",
        "missing",
        "k.a.",
        "n.d.",
        "#value!",
        "#ref!",
        "#div/0!",
        "<na>",
        "(null)",
    ]
)
_NEGATIVE_CODES = (-1, -7, -8, -9, -77, -88, -99, -777, -888, -999, -9999, -99999)
_NINES = (9, 99, 999, 9999, 99999, 999999, 9999999)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_COMMA_NUMBER = re.compile(
    r"[+-]?(\d+|\d{1,3}([.' \u00a0\u202f]\d{3})+)(,\d+)?|[+-]?\d{1,3}(,\d{3})+(\.\d+)?"
)
_MEASURED = re.compile(
    r"([€$£¥]?)\s*([+-]?[\d.,' \u00a0\u202f]*\d)\s*([%€$£¥°]?[^\W\d_]{0,5}[²³]?)"
)
"""A number with its unit, or the sign of a currency."""
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?|"
    r"\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ]\d{1,2}:\d{2}(:\d{2})?)?",
)


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A column that is looked at."""

    name: str
    role: Role
    measure: Measure | None
    facts: ColumnFacts
    values: npt.NDArray[Any]
    """Its values in the sampled rows."""
    absent: Bools
    """Which of the sampled rows have none."""
    n_rows: int
    """The rows of the table."""
    is_target: bool

    @property
    def is_text(self) -> bool:
        return self.role is Role.CATEGORY and isinstance(self.facts.least, str)

    @property
    def is_whole(self) -> bool:
        """Whether all its values are whole numbers, as far as they are known."""
        values = self.facts.sample.values
        if self.role is not Role.NUMBER or self.measure is not None or not len(values):
            return False
        return values.dtype.kind in "iu" or bool(
            np.isfinite(values).all() and (values == np.rint(values)).all()
        )

    @property
    def n_present(self) -> int:
        """The rows that have a value."""
        return self.n_rows - int(self.facts.missing.sum())

    @property
    def distinct(self) -> int:
        """How many values it has; an estimate is no larger than the rows that have one."""
        return min(self.facts.distinct, self.n_present)

    def counted(self, rows: Ints) -> tuple[npt.NDArray[Any], Ints]:
        """Return the values of the sampled rows and how many rows have each, given how often each
        row occurs.
        """
        present = ~self.absent
        distinct, of = np.unique(self.values[present], return_inverse=True)
        counts = np.bincount(of, weights=rows[present], minlength=len(distinct))
        return distinct, counts.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The table that the rules look at, with what several of them need."""

    facts: TableFacts
    tells: Mapping[str, float]
    """How well each column alone orders the rows of two classes, from 0.5 on."""
    copies: Mapping[str, tuple[str, _Likeness]]
    """The earlier column that a column copies, and how far."""

    @property
    def classes(self) -> Ints:
        """The rows of each label."""
        return self.facts.label_rows[:-1]


_Likeness = Literal["equal", "one_to_one", "reordered"]
"""How columns are alike: in their values; or one value goes with one; the same of numbers that do
not rise or fall together, so that a cut of one is none of the other."""

Rule = Callable[[Subject, _Table], Finding | None]


def findings_of(subjects: Sequence[Subject], facts: TableFacts) -> dict[str, tuple[Finding, ...]]:
    """Return what there is to say about each column, the gravest first."""
    table = _Table(
        facts,
        {s.name: _tells(s, facts) for s in subjects if not s.is_target},
        _copies(subjects),
    )
    return {subject.name: _graded(_found(subject, table)) for subject in subjects}


def table_findings(facts: TableFacts, target: str | None) -> tuple[Finding, ...]:
    """Return what there is to say about the table as a whole."""
    found = [*_rare_classes(facts, target), _repeated_rows(facts), _sorted(facts, target)]
    return _graded(finding for finding in found if finding is not None)


def _graded(findings: Iterator[Finding]) -> tuple[Finding, ...]:
    order: dict[Severity, int] = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(findings, key=lambda finding: order[finding.severity]))


def _found(subject: Subject, table: _Table) -> Iterator[Finding]:
    if subject.is_target:
        yield from filter(None, (_one_label(table), _spellings(subject, table)))
        return
    said: set[FindingKind] = set()
    for rule, unless in _RULES:
        finding = None if said & unless else rule(subject, table)
        if finding is not None:
            said.add(finding.kind)
            yield finding


def _share(part: float, whole: float) -> str:
    """Write a share in percent; one of all or none only where it is exactly that."""
    percent = 100 * part / whole if whole else 0.0
    if part < whole and percent >= 99.95:
        return "99.9 %"
    if 0 < percent < 0.05:
        return "less than 0.1 %"
    return f"{percent:.1f} %".replace(".0 %", " %")


def _shown(value: object) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _one_label(table: _Table) -> Finding | None:
    if len(table.facts.labels) > 1:
        return None
    values = ", ".join(map(_shown, table.facts.labels)) or "no value at all"
    return Finding(
        kind="constant",
        severity="error",
        evidence=f"the target has only {values}",
        advice="choose another target: there is nothing to tell apart",
    )


def folded(text: str) -> str:
    """Return a text as it is read: whatever its case, and the spaces around and in it."""
    return " ".join(text.split()).casefold()


def _spellings(subject: Subject, _table: _Table) -> Finding | None:
    """Find values that differ in case or spaces alone."""
    sample = subject.facts.sample
    if not (subject.is_text and sample.is_all):
        return None
    alike: dict[str, list[str]] = {}
    for text in sorted(map(str, sample.values)):
        alike.setdefault(folded(text), []).append(text)
    several = [texts for texts in alike.values() if len(texts) > 1]
    if not several:
        return None
    rows = dict(zip(map(str, sample.values), sample.totals.tolist(), strict=True))
    # The values of which most rows are spelled otherwise than most.
    worst = max(
        several, key=lambda texts: sum(rows[t] for t in texts) - max(rows[t] for t in texts)
    )
    shown = ", ".join(f"{_shown(text)} in {rows[text]:,} rows" for text in worst)
    more = f"; {len(several) - 1:,} more values are spelled in several ways" * (len(several) > 1)
    return Finding(
        kind="spellings",
        severity="warning",
        evidence=f"{shown} differ in case or spaces alone{more}",
        advice="write them alike: now each is a value of its own",
    )


def _identifier(subject: Subject, _table: _Table) -> Finding | None:
    n = subject.n_present
    if n < FEW_ROWS or not (subject.is_text or subject.is_whole):
        return None
    alone = _share_alone(subject)
    named = bool(_IDENTIFIER.search(subject.name))
    consecutive = subject.is_whole and alone >= 0.999 and _span(subject) <= 1.01 * n
    by_values = alone >= 0.95 if subject.is_text else alone >= 0.999 and n >= 1000
    if not (by_values or consecutive or (named and alone >= 0.8)):
        return None
    sample = subject.facts.sample
    reasons = [
        f"{_share(alone, 1)} of {n:,} rows have a value of their own"
        if sample.is_all
        else f"about {_share(alone, 1)} of {n:,} rows have a value of their own, by "
        f"{len(sample.values):,} sampled values"
    ]
    reasons += ["the numbers are consecutive"] if consecutive else []
    reasons += ["the name says so"] if named else []
    if not (named or consecutive or subject.is_text or _is_spread_evenly(subject)):
        return Finding(
            kind="identifier",
            severity="note",
            evidence="; ".join([*reasons, "but they are spread as amounts are"]),
            advice="add it to data.drop, if it is no amount",
        )
    return Finding(
        kind="identifier",
        severity="warning",
        evidence="; ".join(reasons),
        advice="add it to data.drop: a new row has a value that no formula has seen",
    )


def _is_spread_evenly(subject: Subject) -> bool:
    """Whether whole numbers are about as frequent everywhere between their least and greatest, as
    those that are given one after another or at random: the most frequent sizes of amounts are not.
    """
    values = np.sort(subject.facts.sample.values.astype(np.float64))
    expected = (values - float(_least(subject))) / max(1.0, _span(subject) - 1)
    found = (np.arange(len(values)) + 0.5) / len(values)
    return bool(np.abs(expected - found).max() <= _UNEVEN)


def _share_alone(subject: Subject) -> float:
    """Return the share of the rows whose value no other row has; an estimate, if not all values are
    known.
    """
    totals = subject.facts.sample.totals
    alone = float((totals == 1).sum())
    if subject.facts.sample.is_all:
        return alone / max(1, subject.n_present)
    # Sampled values do not show how many rows the others have; the number of all values does, but
    # with an error of some percent, so that near 1 the sample is the better judge.
    of_values = alone / len(totals)
    of_rows = of_values * subject.distinct / subject.n_present
    return of_values if of_rows >= _NEARLY_ALL else of_rows


def _span(subject: Subject) -> float:
    greatest = subject.facts.greatest
    assert isinstance(greatest, int | float)
    return greatest - _least(subject) + 1


def _least(subject: Subject) -> float:
    least = subject.facts.least
    assert isinstance(least, int | float)
    return least


def _constant(subject: Subject, _table: _Table) -> Finding | None:
    n, distinct = subject.n_present, subject.distinct
    missing = subject.n_rows - n
    if not n:
        return Finding(
            kind="constant",
            severity="warning",
            evidence=f"none of {subject.n_rows:,} rows has a value",
            advice="add it to data.drop",
        )
    if distinct == 1 and not missing:
        return Finding(
            kind="constant",
            severity="warning",
            evidence=f"all {n:,} rows have {_shown(subject.facts.least)}",
            advice="add it to data.drop: it tells no rows apart",
        )
    if not subject.facts.sample.is_all or missing:
        return None
    totals = subject.facts.sample.totals
    most = int(totals.max())
    if most < 0.99 * n:
        return None
    value = subject.facts.sample.values[int(totals.argmax())]
    return Finding(
        kind="constant",
        severity="note",
        evidence=f"{_share(most, n)} of the rows have {_shown(value)}; {n - most:,} rows differ",
        advice="a formula can hardly use it; drop it if these rows are mistakes",
    )


def _copies(subjects: Sequence[Subject]) -> dict[str, tuple[str, _Likeness]]:
    """Return the earlier column that each copying column copies, by the sampled rows."""
    seen: dict[bytes, Subject] = {}
    copies: dict[str, tuple[str, _Likeness]] = {}
    for subject in subjects:
        if subject.is_target or len(subject.values) < FEW_ROWS:
            continue
        for signature in (_equal_signature(subject), _pattern_signature(subject)):
            if signature is None:
                continue
            earlier = seen.setdefault(signature, subject)
            if earlier is not subject and subject.name not in copies:
                copies[subject.name] = (earlier.name, _likeness(signature, earlier, subject))
    return copies


def _likeness(signature: bytes, one: Subject, other: Subject) -> _Likeness:
    if signature[:1] == _EQUAL:
        return "equal"
    if not one.role is other.role is Role.NUMBER:
        return "one_to_one"
    _, first = np.unique(one.values[~one.absent], return_index=True)
    steps = np.diff(other.values[~other.absent][first].astype(np.float64))
    return "one_to_one" if (steps > 0).all() or (steps < 0).all() else "reordered"


def _codes(subject: Subject) -> tuple[Ints, int]:
    """Return each sampled row's value as a number, in order of their first rows, missing ones too;
    and how many there are.
    """
    distinct, of = np.unique(subject.values[~subject.absent], return_inverse=True)
    codes = np.full(len(subject.values), len(distinct), dtype=np.int64)
    codes[~subject.absent] = of
    _, first, of_all = np.unique(codes, return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))
    return ranks[of_all], len(first)


def _equal_signature(subject: Subject) -> bytes | None:
    """Return what two columns of equal numbers share; None for columns of few rows that differ."""
    if subject.role is not Role.NUMBER:
        return None
    codes, n_values = _codes(subject)
    if _n_unusual(codes, n_values) < FEW_ROWS // 2:
        return None
    numbers = np.where(subject.absent, 0, subject.values.astype(np.float64) + 0.0)
    return _EQUAL + numbers.tobytes() + subject.absent.tobytes()


def _pattern_signature(subject: Subject) -> bytes | None:
    """Return what two columns share whose values go together one to one; None where they are so
    many that this means nothing.
    """
    codes, n_values = _codes(subject)
    few = min(64, len(codes) // 10)
    if not 2 <= n_values <= few or _n_unusual(codes, n_values) < FEW_ROWS // 2:
        return None
    return b"~" + codes.tobytes()


def _n_unusual(codes: Ints, n_values: int) -> int:
    """Return how many rows do not have the most frequent value."""
    return len(codes) - int(np.bincount(codes, minlength=n_values).max())


def _copy(subject: Subject, table: _Table) -> Finding | None:
    if subject.name not in table.copies:
        return None
    other, likeness = table.copies[subject.name]
    rows = len(subject.values)
    where = f"all {rows:,} distinct rows" if table.facts.rows.is_all else f"{rows:,} sampled rows"
    says = "equal to" if likeness == "equal" else "its values go one to one with those of"
    if likeness == "reordered":
        return Finding(
            kind="copy",
            severity="note",
            evidence=f"{says} {other!r} in {where}, but not in the same order",
            advice="drop the one whose order says nothing, such as numbers that are names",
        )
    return Finding(
        kind="copy",
        severity="warning",
        evidence=f"{says} {other!r} in {where}",
        advice="drop one of the two: they tell the same",
    )


def _by_class(subject: Subject, facts: TableFacts) -> tuple[npt.NDArray[Any], Ints, bool]:
    """Return values in increasing order, their rows by label, and whether these are all rows."""
    sample = subject.facts.sample
    if sample.is_all:
        values, counts = sample.values, sample.counts[:, :-1]
    else:
        values, counts = _sampled_by_class(subject, facts)
    order = sorted(range(len(values)), key=lambda i: values[i])
    return values[order], counts[order], sample.is_all


def _sampled_by_class(subject: Subject, facts: TableFacts) -> tuple[npt.NDArray[Any], Ints]:
    labels, absent = facts.rows.columns[_target_place(facts)]
    used = ~subject.absent & ~absent
    distinct, of = np.unique(subject.values[used], return_inverse=True)
    classes = np.array([facts.labels.index(label) for label in labels[used]], dtype=np.int64)
    n = len(facts.labels)
    cells = of * n + classes
    counts = np.bincount(cells, weights=facts.rows.counts[used], minlength=len(distinct) * n)
    return distinct, counts.astype(np.int64).reshape(-1, n)


def _target_place(facts: TableFacts) -> int:
    assert facts.target is not None, "there are labels"
    return facts.target


def _tells(subject: Subject, facts: TableFacts) -> float:
    """Return how well a column alone orders the rows of two classes, from 0.5 on."""
    is_ordered = subject.role is Role.NUMBER
    known = subject.facts.sample.is_all or is_ordered
    if len(facts.labels) != 2 or not known:
        return 0.5
    values, counts, _ = _by_class(subject, facts)
    if not is_ordered and len(values) > MANY_CATEGORIES:
        return 0.5
    return concordance(counts, ordered=is_ordered)


def _leak(subject: Subject, table: _Table) -> Finding | None:
    if len(table.classes) < 2 or table.classes.min() < FEW_ROWS // 2:
        return None
    return (
        _leak_of_values(subject, table)
        or _leak_of_gaps(subject, table)
        or _leak_of_one_label(subject, table)
        or _known_afterwards(subject, table)
    )


def _leak_of_values(subject: Subject, table: _Table) -> Finding | None:
    """Find a column of which one condition is right for nearly all rows, whatever their label."""
    _, counts, is_all = _by_class(subject, table.facts)
    total = int(counts.sum())
    if not total or subject.facts.missing[:-1].sum() > 0.05 * subject.n_rows:
        return None
    is_ordered = subject.role is Role.NUMBER
    right = [best_attribute(pair, ordered=is_ordered) / total for pair in _pairs(counts)]
    majority = min(int(pair.sum(axis=0).max()) / total for pair in _pairs(counts))
    if not _tells_nearly_all(min(right), majority):
        return None
    sampled = "" if is_all else f" of {total:,} sampled rows"
    return Finding(
        kind="leak",
        severity="error",
        evidence=f"one condition on it {_right_words(min(right), majority, sampled)}",
        advice="drop it, unless it is known before the target is: it may be the answer itself",
    )


def _leak_of_gaps(subject: Subject, table: _Table) -> Finding | None:
    """Find a column that has a value for one label, and hardly ever for the others."""
    missing = subject.facts.missing[:-1]
    counts = np.array([table.classes - missing, missing])
    found = _most_told(counts, table)
    if found is None:
        return None
    label, right, majority = found
    about = "" if len(table.classes) == 2 else f" for {_shown(table.facts.labels[label])}"
    return Finding(
        kind="leak",
        severity="error" if len(table.classes) == 2 else "warning",
        evidence=f"whether it has a value {_right_words(right, majority, about)}",
        advice="drop it, unless it is known before the target is: it may be written afterwards",
    )


def _leak_of_one_label(subject: Subject, table: _Table) -> Finding | None:
    """Find a column of which one value goes with one label among several."""
    values, counts, is_all = _by_class(subject, table.facts)
    if len(table.classes) == 2 or (subject.role is Role.NUMBER and len(values) > 2):
        return None
    if subject.facts.missing[:-1].sum() > 0.05 * subject.n_rows:
        return None
    found = _most_told(counts, table)
    if found is None:
        return None
    label, right, majority = found
    sampled = "" if is_all else f" of {int(counts.sum()):,} sampled rows"
    words = _right_words(right, majority, f"{sampled} for {_shown(table.facts.labels[label])}")
    return Finding(
        kind="leak",
        severity="warning",
        evidence=f"one value of it {words}",
        advice="drop it, unless it is known before the target is: it may be a part of the answer",
    )


def _pairs(counts: Ints) -> Iterator[Ints]:
    """Yield, for each label, the rows of each value with another label and with this one."""
    of_value = counts.sum(axis=1)
    for one in counts.T:
        yield np.column_stack([of_value - one, one])


def _most_told(counts: Ints, table: _Table) -> tuple[int, float, float] | None:
    """Return a label that one value tells from all others for nearly all rows, the share of rows
    for which it does, and that of the most frequent answer.
    """
    total = int(counts.sum())
    told = [best_value(pair) / total for pair in _pairs(counts)] if total else []
    for label in sorted(range(len(told)), key=lambda i: -told[i]):
        own = int(table.classes[label]) / int(table.classes.sum())
        majority = max(own, 1 - own)
        if _tells_nearly_all(told[label], majority):
            return label, told[label], majority
    return None


def _tells_nearly_all(right: float, majority: float) -> bool:
    return right > 0.99 and 1 - right < (1 - majority) / 5


def _right_words(right: float, majority: float, where: str) -> str:
    return (
        f"is right on {_share(right, 1)}{where}, where the most frequent answer is right on "
        f"{_share(majority, 1)}"
    )


def _known_afterwards(subject: Subject, table: _Table) -> Finding | None:
    """Find a column that tells most of all, and whose name says that it is known too late."""
    own = table.tells[subject.name] - 0.5
    if own < 0.25 or not _AFTERWARDS.search(subject.name):
        return None
    # All other columns are looked at for these few alone: a table may have 100,000.
    others = [tells - 0.5 for name, tells in table.tells.items() if name != subject.name]
    next_best = max(others, default=0.0)
    if own < 1.25 * next_best:
        return None
    return Finding(
        kind="leak",
        severity="warning",
        evidence=(
            f"alone it orders {_share(own + 0.5, 1)} of the pairs of rows right (AUC), the next "
            f"best column {_share(next_best + 0.5, 1)}; and its name says that it is known only "
            "afterwards"
        ),
        advice="drop it, unless it is known before the target is",
    )


def _missing_in_one_class(subject: Subject, table: _Table) -> Finding | None:
    missing, classes = subject.facts.missing[:-1], table.classes
    total = int(missing.sum())
    if len(classes) < 2 or not total:
        return None
    expected = classes * (total / max(1, int(classes.sum())))
    spared = [i for i in range(len(classes)) if expected[i] >= 10 and missing[i] == 0]
    if not spared:
        return None
    labels = [_shown(table.facts.labels[i]) for i in spared]
    return Finding(
        kind="missing_in_one_class",
        severity="warning",
        evidence=(
            f"{total:,} rows have no value, none of them of the class {', '.join(labels)}, "
            f"where {round(float(expected[spared[0]])):,} were to be expected"
        ),
        advice="find out why: a value may be missing because the answer was known",
    )


def _missing_codes(subject: Subject, table: _Table) -> Finding | None:
    found = _text_codes(subject, table) if subject.is_text else _number_codes(subject, table)
    if not found:
        return None
    estimated = "" if subject.facts.sample.is_all else "about "
    shown = ", ".join(f"{_shown(value)} in {estimated}{rows:,} rows" for value, rows in found)
    return Finding(
        kind="missing_codes",
        severity="warning",
        evidence=f"{shown} may stand for a missing value",
        advice="write such values as missing, if they are; of a CSV, data.csv.missing lists texts",
    )


def _frequencies(subject: Subject, table: _Table) -> tuple[npt.NDArray[Any], Ints]:
    """Return values in increasing order with their rows: all, or estimated from sampled rows."""
    sample = subject.facts.sample
    if not sample.is_all:
        rows = table.facts.rows.counts
        values, totals = subject.counted(rows)
        return values, np.rint(totals * (subject.n_rows / rows.sum())).astype(np.int64)
    order = sorted(range(len(sample.values)), key=lambda i: sample.values[i])
    return sample.values[order], sample.totals[order]


def _text_codes(subject: Subject, table: _Table) -> list[tuple[Any, int]]:
    values, totals = _frequencies(subject, table)
    return [
        (value, int(rows))
        for value, rows in zip(values.tolist(), totals.tolist(), strict=True)
        if str(value).strip().casefold() in _MISSING_TEXTS
    ]


def _number_codes(subject: Subject, table: _Table) -> list[tuple[Any, int]]:
    if subject.role is not Role.NUMBER or subject.measure is not None:
        return []
    values, totals = _frequencies(subject, table)
    if len(values) < 5:
        return []
    found = []
    least, second, before_last, greatest = (float(values[i]) for i in (0, 1, -2, -1))
    enough = max(2, 0.001 * subject.n_present)
    if least in _NEGATIVE_CODES and second >= 0 and totals[0] >= enough:
        found.append((values[0], int(totals[0])))
    if greatest in _NINES and greatest > 3 * before_last > 0 and totals[-1] >= enough:
        found.append((values[-1], int(totals[-1])))
    return found


def _codes_of_categories(subject: Subject, table: _Table) -> Finding | None:
    sample = subject.facts.sample
    if not (subject.is_whole and sample.is_all and 3 <= len(sample.values) <= 30):
        return None
    if subject.n_present < 10 * len(sample.values):
        return None
    named = bool(_CODE.search(subject.name))
    departs = False
    if len(table.classes) == 2:
        values, counts, _ = _by_class(subject, table.facts)
        departs = departs_from_trend(values.astype(np.float64), counts)
    if not (named or departs):
        return None
    reasons = [f"{len(sample.values)} whole numbers"]
    reasons += ["the name says that they are codes"] if named else []
    reasons += (
        ["the target depends on them, but does not rise or fall with them"] if departs else []
    )
    return Finding(
        kind="codes",
        severity="warning" if named else "note",
        evidence="; ".join(reasons),
        advice="add it to data.categorical, if the numbers are names, not amounts",
    )


_NO_ROWS: Ints = np.empty(0, dtype=np.int64)


def _texts(subject: Subject) -> tuple[list[str], Ints]:
    """Return the texts that were kept, without codes of missing values, and the rows of each."""
    sample = subject.facts.sample
    kept = [
        (text, rows)
        for text, rows in zip(map(str, sample.values), sample.totals.tolist(), strict=True)
        if text.strip().casefold() not in _MISSING_TEXTS
    ]
    rows_of = np.array([rows for _, rows in kept], dtype=np.int64)
    return [text.strip() for text, _ in kept], rows_of


def _text_numbers(subject: Subject, _table: _Table) -> Finding | None:
    texts, rows = _texts(subject) if subject.is_text else ([], _NO_ROWS)
    if len(texts) < 3:
        return None
    plain = np.array([bool(_NUMBER.fullmatch(text)) for text in texts])
    comma = np.array([bool(_COMMA_NUMBER.fullmatch(text)) for text in texts])
    numbers, total = int(rows[plain | comma].sum()), int(rows.sum())
    if numbers < 0.95 * total:
        return _measured(subject, texts, rows)
    if all(map(str.isdigit, texts)) and _share_alone(subject) >= 0.95:
        return None  # digits of which nearly every row has its own: an identifier
    commas = int((comma & ~plain).sum())
    how = ", with commas or separators" if commas else ""
    example = next(
        t
        for t, c, p in zip(texts, comma, plain, strict=True)
        if (c and not p) or (not commas and p)
    )
    return Finding(
        kind="text_numbers",
        severity="warning",
        evidence=f"{_share(numbers, total)} of its texts are numbers{how}, such as "
        f"{_shown(example)}",
        advice="write it as numbers, so that it can be cut (of a CSV, data.csv.decimal may help); "
        "as text every value is a category",
    )


def _measured(subject: Subject, texts: Sequence[str], rows: Ints) -> Finding | None:
    """Find numbers that are all written with the same unit."""
    parts = [_MEASURED.fullmatch(text) for text in texts]
    of_unit: dict[tuple[str, str], int] = {}
    for part, own in zip(parts, rows.tolist(), strict=True):
        if part is not None and (part[1] or part[3]):
            of_unit[part[1], part[3]] = of_unit.get((part[1], part[3]), 0) + own
    unit, numbers = max(of_unit.items(), key=lambda found: found[1], default=(("", ""), 0))
    total = int(rows.sum())
    if not numbers or numbers < 0.95 * total:
        return None
    if unit[1].isalpha() and _share_alone(subject) >= 0.95:
        return None  # a letter after numbers of which nearly every row has its own: an identifier
    example = next(t for t, p in zip(texts, parts, strict=True) if p and (p[1], p[3]) == unit)
    return Finding(
        kind="text_numbers",
        severity="warning",
        evidence=f"{_share(numbers, total)} of its texts are numbers with the unit "
        f"{''.join(unit)!r}, such as {_shown(example)}",
        advice="write it as numbers without the unit, so that it can be cut; as text every value "
        "is a category",
    )


def _text_dates(subject: Subject, _table: _Table) -> Finding | None:
    texts, rows = _texts(subject) if subject.is_text else ([], _NO_ROWS)
    if not texts:
        return None
    dated = np.array([bool(_DATE.fullmatch(text)) for text in texts])
    dates, total = int(rows[dated].sum()), int(rows.sum())
    if dates < 0.95 * total:
        return None
    example = next(text for text, is_date in zip(texts, dated, strict=True) if is_date)
    return Finding(
        kind="text_dates",
        severity="warning",
        evidence=f"{_share(dates, total)} of its texts are dates, such as {_shown(example)}",
        advice="write it as dates; as text every date is a category, and new rows have new dates",
    )


def _dates(subject: Subject, _table: _Table) -> Finding | None:
    measure = subject.measure
    if measure is None or measure.kind in (
        Quantities.DECIMAL,
        Quantities.DURATION,
        Quantities.TIME,
    ):
        return None
    return Finding(
        kind="dates",
        severity="note",
        evidence=f"a column of {measure.kind}s",
        advice=(
            "new rows have new dates: booleanize.parts takes weekday, hour and month; drop the "
            "date itself if it only says when a row was recorded"
        ),
    )


def _many_categories(subject: Subject, _table: _Table) -> Finding | None:
    distinct = subject.distinct
    if not subject.is_text or distinct <= MANY_CATEGORIES:
        return None
    totals = subject.facts.sample.totals
    rare = float((totals < 10).mean())
    if rare < 0.5:
        return None
    in_rare = totals[totals < 10].sum() >= 0.5 * totals.sum()
    about = "" if subject.facts.sample.is_all else "about "
    return Finding(
        kind="many_categories",
        severity="warning" if in_rare or distinct > TOO_MANY_CATEGORIES else "note",
        evidence=f"{about}{distinct:,} categories, {_share(rare, 1)} of them in fewer than 10 rows",
        advice="join rare categories, or drop it: each category becomes an attribute",
    )


def _group(subject: Subject, _table: _Table) -> Finding | None:
    distinct, n = subject.distinct, subject.n_present
    if not (subject.is_text or subject.is_whole) or distinct < FEW_ROWS:
        return None
    is_subject = bool(_SUBJECT.search(subject.name))
    # Few of many subjects may have come twice; a number that merely repeats is no subject.
    repeats = _share_alone(subject) < 0.9 if is_subject else n >= 1.5 * distinct
    totals = subject.facts.sample.totals
    evenly = float(totals.max()) <= 20 * max(2.0, float(np.median(totals)))
    named = is_subject or bool(_IDENTIFIER.search(subject.name))
    if not (named and repeats and evenly and n / distinct <= 1000):
        return None
    about = "" if subject.facts.sample.is_all else "about "
    return Finding(
        kind="group",
        severity="note",
        evidence=f"{about}{distinct:,} values, each in {n / distinct:.1f} rows on average",
        advice="set folds.group to it, if the rows of a value belong together",
    )


_RULES: tuple[tuple[Rule, set[FindingKind]], ...] = (
    (_constant, set()),
    (_group, {"constant"}),
    (_text_dates, {"group"}),
    (_text_numbers, {"group", "text_dates"}),
    (_identifier, {"constant", "group", "text_dates", "text_numbers"}),
    (_copy, {"constant", "identifier", "group"}),
    (_leak, {"constant", "identifier", "group"}),
    (_missing_codes, set()),
    (_spellings, {"constant", "identifier", "group", "text_dates", "text_numbers"}),
    (_missing_in_one_class, {"constant", "leak"}),
    (_dates, set()),
    (_many_categories, {"identifier", "text_dates", "text_numbers", "group"}),
    (_codes_of_categories, {"constant", "group", "missing_codes"}),
)
"""The rules, each with the kinds of findings that make it needless."""


def _rare_classes(facts: TableFacts, target: str | None) -> Iterator[Finding]:
    rows = facts.label_rows[:-1]
    total = int(rows.sum())
    if len(rows) < 2:
        return
    for label, count in zip(facts.labels, rows.tolist(), strict=True):
        if count >= 10 and count >= RARE * total:
            continue
        rare = count < 10 or count < 0.01 * total
        yield Finding(
            kind="rare_class",
            severity="warning" if rare else "note",
            evidence=f"{count:,} of {total:,} rows have {target} = {_shown(label)}, "
            f"{_share(count, total)}",
            advice=(
                "always answering no is nearly as accurate as any formula: choose "
                'formula.objective = "balanced_accuracy", or gather more such rows'
            ),
        )


def _repeated_rows(facts: TableFacts) -> Finding | None:
    counts = facts.rows.counts
    counted = int(counts.sum())
    repeated = counted - len(counts)
    if not counted or repeated < 0.01 * counted or counted < FEW_ROWS:
        return None
    how = "" if facts.rows.is_all else f", estimated from {len(counts):,} distinct rows"
    rows = round(repeated / counted * facts.n_rows)
    share = _share(repeated, counted)
    return Finding(
        kind="repeated_rows",
        severity="warning" if repeated >= 0.1 * counted else "note",
        evidence=f"{rows:,} of {facts.n_rows:,} rows repeat another, {share}{how}",
        advice="if they are copies of one event, remove them: copies in both parts flatter a test",
    )


def _sorted(facts: TableFacts, target: str | None) -> Finding | None:
    rows = facts.label_rows[:-1].astype(np.float64)
    total = float(rows.sum())
    if len(rows) < 2:
        return None
    expected = (total - 1) * (1 - float(((rows / total) ** 2).sum()))
    changes = facts.label_changes()
    if expected < FEW_ROWS or changes > 0.1 * expected:
        return None
    return Finding(
        kind="sorted_by_class",
        severity="warning",
        evidence=(
            f"{target} differs from the row before in {changes:,} rows, where some "
            f"{round(expected):,} were to be expected"
        ),
        advice="never split such rows by their order; dnfscale deals them into folds at random",
    )
