"""A model as a small JSON file of rules, for programs that need nothing of dnfscale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dnfscale.core.formula import Dnf
from dnfscale.core.model import Model
from dnfscale.core.parts import Part, stored_column
from dnfscale.core.quantities import Quantity
from dnfscale.core.vocabulary import Above, Between, Vocabulary
from dnfscale.export.kinds import check_one_table
from dnfscale.method.literals import Among, Gap, Line, Missing, Never, Range, Said
from dnfscale.method.words import model_lines
from dnfscale.results.record import label_record
from dnfscale.results.rules import End, Rule, RuleCondition, RuleFormula, Rules, rules_text
from dnfscale.spec.registry import EXPORTS, Export


def export_rules(model: Model) -> str:
    """Return the formula as JSON, schema dnfscale.rules/1."""
    return export_rules_of_classes([model])


def export_rules_of_classes(models: Sequence[Model]) -> str:
    """Return the formula of each label as JSON, schema dnfscale.rules/1."""
    return rules_text(Rules(target=models[0].target, formulas=tuple(map(_formula, models))))


def _formula(model: Model) -> RuleFormula:
    check_one_table(model.tau, "the format of rules")
    # With the cuts as they are: a reader's column need not hold whole numbers.
    tau = tuple(
        replace(attribute, whole=False, least=None)
        if isinstance(attribute, Above | Between)
        else attribute
        for attribute in model.tau.attributes
    )
    lines = model_lines(replace(model, tau=Vocabulary(tau)))
    return RuleFormula(
        labels=tuple(map(label_record, model.positive)),
        answer=model.answer,
        lines=tuple(_rule(line, model) for line in lines),
        threshold=str(model.threshold),
    )


def _rule(line: Line, model: Model) -> Rule:
    terms = model.over_types.terms
    held = Dnf(tuple(terms[at] for at in line.terms)).accepts(model.counts.codes)
    rows = (int(model.counts.n[held].sum()), int(model.counts.c[held].sum()))
    n, c = (None, None) if model.weighted or not len(model.counts.codes) else rows
    return Rule(
        conditions=tuple(map(_condition, line.literals)),
        at_least=line.at_least,
        rows=n,
        positive_rows=c,
    )


def _condition(said: Said) -> RuleCondition:
    part = said.column if isinstance(said.column, Part) else None
    about: dict[str, Any] = {"column": stored_column(said.column)}
    if part is not None:
        about |= {"part": str(part.unit), "zone": part.zone}
    match said:
        case Range(_, low, high):
            return RuleCondition(**about, **_ends(low, high))
        case Gap(_, low, high):
            return RuleCondition(**about, **_ends(low, high), negated=True)
        case Among(_, values, holds):
            listed = tuple(map(label_record, values))
            return RuleCondition(**about, values=listed, negated=not holds)
        case Missing(_, holds):
            return RuleCondition(**about, missing=holds)
        case Never(_, holds):
            return RuleCondition(**about, values=(), negated=not holds)


def _ends(low: Any, high: Any) -> dict[str, Any]:
    measures = {str(end.measure) for end in (low, high) if isinstance(end, Quantity)}
    return {
        "above": None if low is None else _end(low),
        "up_to": None if high is None else _end(high),
        "measure": next(iter(measures), None),
    }


def _end(cut: int | float | Quantity) -> End:
    return str(cut) if isinstance(cut, Quantity) else label_record(cut)


EXPORTS.register(
    Export(
        name="rules",
        title="a small JSON file of rules, for other programs",
        ending=".json",
        write=export_rules,
        write_several=export_rules_of_classes,
    )
)
