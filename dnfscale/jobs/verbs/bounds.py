"""The verb `bounds`: how many rows a promise takes, what a number of rows promises, and what a
model's rows show.
"""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING, Any

from dnfscale.core.formula import Dnf
from dnfscale.core.model import Model
from dnfscale.data.models import read_model
from dnfscale.errors import DataError, SpecError
from dnfscale.jobs.verbs.storage_options import access_from, add_storage_options
from dnfscale.method.bounds import (
    class_error,
    class_rows,
    corollary_error,
    corollary_rows,
    least_error,
    least_rows,
    separation,
    separation_rows,
)
from dnfscale.method.certificate import (
    Certificate,
    TermCertificate,
    certify,
    certify_terms,
    sentences,
    to_record,
)
from dnfscale.method.intervals import term_intervals
from dnfscale.method.literals import n_candidates
from dnfscale.method.words import line_text, model_lines
from dnfscale.results.record import plain

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_MOST_ATTRIBUTES = 60
_PAPER_EXAMPLE = (3, 0.01, 0.05)
_DELTA = 0.05


def add_bounds_verb(subparsers: Subparsers) -> None:
    """Add `bounds` to the command line."""
    verb = subparsers.add_parser(
        "bounds",
        help="say how many rows a promise takes, and what rows promise",
        description="With --epsilon, print the rows that each bound asks for; with --rows, the "
        "epsilon that it gives; "
        "with --model, what the rows of a model show of its formula.",
    )
    verb.add_argument(
        "--attributes", type=int, metavar="ELL", help="how many attributes the formula may use"
    )
    verb.add_argument(
        "--delta",
        type=float,
        default=_DELTA,
        help=f"how often a promise may fail (default {_DELTA})",
    )
    verb.add_argument("--epsilon", type=float, help="how far from the best formula is near enough")
    verb.add_argument("--rows", type=int, metavar="N", help="how many rows there are")
    verb.add_argument("--model", metavar="FILE", help="a model.json, instead of the numbers")
    verb.add_argument("--label", metavar="LABEL", help="which class, if the model is of several")
    verb.add_argument("--json", action="store_true", help="as JSON")
    add_storage_options(verb)
    verb.set_defaults(verb=_bounds)


def _bounds(options: argparse.Namespace) -> None:
    if not 0 < options.delta < 1:
        raise SpecError(
            f"--delta must lie between 0 and 1, got {options.delta}; 0.05 promises with "
            "probability 95 %"
        )
    if options.model is not None:
        _model(options)
        return
    _check(options)
    ell, delta = options.attributes, options.delta
    if options.epsilon is not None:
        answer = _rows_record(ell, delta, options.epsilon)
        text = _rows_text(ell, delta, options.epsilon)
    else:
        answer = _epsilon_record(ell, delta, options.rows)
        text = _epsilon_text(ell, delta, options.rows)
    print(json.dumps(answer, indent=2) if options.json else text)


def _check(options: argparse.Namespace) -> None:
    if options.attributes is None:
        raise SpecError(
            "bounds needs --attributes ELL with --epsilon or --rows, or --model FILE; got neither"
        )
    if not 1 <= options.attributes <= _MOST_ATTRIBUTES:
        raise SpecError(
            f"--attributes must be between 1 and {_MOST_ATTRIBUTES}, got {options.attributes}"
        )
    given = [name for name in ("epsilon", "rows") if getattr(options, name) is not None]
    if len(given) != 1:
        got = "both; leave one out" if given else "neither; add the one that you know"
        raise SpecError(f"bounds needs either --epsilon or --rows, got {got}")
    if options.epsilon is not None and not 0 < options.epsilon <= 1:
        raise SpecError(
            f"--epsilon must be above 0 and at most 1, got {options.epsilon}; 0.05 is five "
            "points of error"
        )
    if options.rows is not None and options.rows < 1:
        raise SpecError(f"--rows must be at least 1, got {options.rows}")


def _rows_record(ell: int, delta: float, epsilon: float) -> dict[str, Any]:
    return {
        "attributes": ell,
        "delta": delta,
        "epsilon": epsilon,
        "rows": {
            "theorem": separation_rows(epsilon, ell, delta),
            "corollary": corollary_rows(epsilon, ell, delta),
            "finite_class": class_rows(epsilon, ell, delta),
            "least_for_error": least_rows(epsilon, ell, delta),
        },
    }


def _rows_text(ell: int, delta: float, epsilon: float) -> str:
    named = _names(f"{epsilon:g}")
    sizes = (
        separation_rows(epsilon, ell, delta),
        corollary_rows(epsilon, ell, delta),
        class_rows(epsilon, ell, delta),
    )
    rows = [
        (name, _count(size), promise) for (name, promise), size in zip(named, sizes, strict=True)
    ]
    lines = [
        *_head(ell, delta),
        "",
        *_table(("bound", "rows needed", "what they promise"), rows),
        "",
        _ADVICE,
    ]
    if (ell, delta, epsilon) == _PAPER_EXAMPLE:
        lines.append(
            "The paper's text gives 18,887 for this example of its corollary, which "
            "divides by epsilon where the\n"
            "corollary divides by epsilon squared."
        )
    return "\n".join(lines)


def _epsilon_record(ell: int, delta: float, n_rows: int) -> dict[str, Any]:
    return {
        "attributes": ell,
        "delta": delta,
        "rows": n_rows,
        "epsilon": {
            "theorem": separation(n_rows, ell, delta),
            "corollary": corollary_error(n_rows, ell, delta),
            "finite_class": class_error(n_rows, ell, delta),
            "least_for_error": least_error(n_rows, ell, delta),
        },
    }


def _epsilon_text(ell: int, delta: float, n_rows: int) -> str:
    epsilons = (
        separation(n_rows, ell, delta),
        corollary_error(n_rows, ell, delta),
        class_error(n_rows, ell, delta),
    )
    rows = [
        (name, _upward(epsilon), promise if epsilon < 1 else "nothing: no error is above 1")
        for (name, promise), epsilon in zip(_names("epsilon"), epsilons, strict=True)
    ]
    head = _head(ell, delta)
    return "\n".join(
        [
            *head,
            "",
            *_table(("bound", "epsilon", f"what {n_rows:,} rows promise"), rows),
            "",
            _ADVICE,
        ]
    )


_ADVICE = (
    "Corollary and finite class promise the same, so the smaller number is enough. Rows at "
    "hand mostly show more\n"
    "than their number does: bounds --model model.json."
)


def _head(ell: int, delta: float) -> list[str]:
    types = "1 attribute tells" if ell == 1 else f"{ell} attributes tell"
    return [
        (
            f"{types} {_count(1 << ell)} types of rows apart; each promise holds with "
            f"probability {100 * (1 - delta):g} %,"
        ),
        "for rows drawn independently and attributes chosen without looking at them.",
    ]


def _names(epsilon: str) -> list[tuple[str, str]]:
    """Return the bounds and what they promise, in the order of the paper."""
    error = f"the formula errs at most {epsilon} more often than the best one over these attributes"
    return [
        (
            "theorem",
            f"the best answer for every type with |P(type and yes) - P(type and no)| >= {epsilon}",
        ),
        ("corollary", error),
        ("finite class", error),
    ]


def _table(header: tuple[str, str, str], rows: list[tuple[str, str, str]]) -> list[str]:
    lines = [header, *rows]
    first, second = (max(len(line[i]) for line in lines) for i in range(2))
    return [f"{line[0]:<{first}}  {line[1]:>{second}}  {line[2]}" for line in lines]


def _count(number: int) -> str:
    """Write a whole number; from 10**15 on, with an exponent."""
    return f"{number:,}" if number < 10**15 else f"{float(number):.3g}"


def _upward(epsilon: float) -> str:
    """Write an epsilon to four places, rounded up so that the bound still holds."""
    return f"{math.ceil(epsilon * 10_000) / 10_000:.4f}" if epsilon < 1000 else f"{epsilon:.3g}"


def _model(options: argparse.Namespace) -> None:
    for name in ("attributes", "epsilon", "rows"):
        if getattr(options, name) is not None:
            raise SpecError(
                f"--model brings its own attributes and rows, got --{name} as well; leave "
                "one of them out"
            )
    model = read_model(options.model, options.label, access_from(options))
    if model.weighted:
        raise DataError(
            f"{options.model} must have counts of plain rows, got weighted ones; learn "
            "without weights"
        )
    certificate = certify(
        model.counts,
        delta=options.delta,
        threshold=model.threshold,
        chosen_on_these_rows=bool(model.certificate.get("chosen_on_the_same_rows", True)),
        formula=model.over_types,
        types=model.types,
        answer=model.answer,
    )
    terms = certify_terms(
        model.over_types,
        certificate,
        delta=options.delta,
        formed_on_these_rows=True,
        n_attributes=len(model.tau),
    )
    if options.json:
        print(json.dumps(plain(to_record(certificate, terms)), indent=2))
    else:
        print(_model_text(model, certificate, terms))


def _model_text(model: Model, certificate: Certificate, terms: tuple[TermCertificate, ...]) -> str:
    lines = sentences(certificate)
    if terms:
        sure, said = f"{100 * (1 - certificate.delta):g} %", "yes" if model.answer else "no"
        lines += [
            "",
            f"When the formula says {said}, by line; "
            f"with probability {sure} the chances lie within:",
        ]
    counts = certificate.counts
    for line in model_lines(model):
        own = Dnf(tuple(model.over_types.terms[at] for at in line.terms)).accepts(counts.codes)
        n, c = int(counts.n[own].sum()), int(counts.c[own].sum())
        candidates = n_candidates(model.tau, checklists=line.at_least is not None)
        [(low, high)] = term_intervals([(n, c)], delta=certificate.delta, candidates=candidates)
        certified = int(counts.n[own & certificate.certified].sum()) / max(1, n)
        share = f"{c:,} of {n:,} rows positive" if n else "no rows"
        lines.append(
            f"  {line_text(line) or 'true'}: {share}, chance {_down(low)} "
            f"to {_upward(high)}; the answer is certified for {100 * certified:.1f} % of them"
        )
    return "\n".join(lines)


def _down(chance: float) -> str:
    return f"{math.floor(chance * 10_000) / 10_000:.4f}"
