"""Models as the JSON of their files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dnfscale.core.arrays import Scalar
from dnfscale.core.concepts import Concept
from dnfscale.core.formula import Term
from dnfscale.core.model import Model, signs_held
from dnfscale.core.parts import ColumnName, Part, stored_column
from dnfscale.core.quantities import Quantity
from dnfscale.core.seen import SeenColumn
from dnfscale.core.tree import to_json
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsIn,
    IsMissing,
    IsTrue,
    cuts_of,
)
from dnfscale.data.models.concepts import concept_record
from dnfscale.spec.registry import EXPORTS, Export

MODEL_SCHEMA = "dnfscale.model/1"
LINES_SCHEMA = "dnfscale.model/2"
"""Of models that the first version cannot express."""
CLASSES_SCHEMA = "dnfscale.classes/1"
TESTS: Mapping[type[Attribute], str] = {
    Above: "above",
    Between: "between",
    Equals: "equals",
    IsIn: "in",
    IsTrue: "true",
    IsMissing: "missing",
}
"""What each kind of attribute is called in a file."""
RELATED = "related"
"""What an attribute of a concept is called there; what it asks of the concept stands beside it."""


_MOST_TERMS = 100
"""A formula of more terms is written by its lines alone."""


def model_record(model: Model) -> dict[str, Any]:
    """Return a model as the JSON object of its file."""
    counts = model.counts
    later = (
        model.types != "attributes"
        or model.dnf.has_checklist
        or not model.tau.attributes
        or any(_is_later(attribute) for attribute in model.tau.attributes)
    )
    multiplied_out = model.dnf.multiplied_out()
    is_short = model.answer and len(multiplied_out.terms) <= _MOST_TERMS
    return {
        "schema": LINES_SCHEMA if later else MODEL_SCHEMA,
        "target": model.target,
        "positive": [_written(label) for label in model.positive],
        "missing": model.missing,
        "unseen": model.unseen,
        "threshold": str(model.threshold),
        "unit": model.unit,
        "weighted": model.weighted,
        "attributes": [attribute_record(attribute) for attribute in model.tau.attributes],
        **_written_lookalikes(model),
        **({"lines": [_line(term) for term in model.dnf.terms]} if later else {}),
        **(
            {"terms": [_literals(term) for term in multiplied_out.terms]}
            if is_short or not later
            else {}
        ),
        **({} if model.answer else {"answer": False}),
        **({"types": model.types} if later else {}),
        "counts": [
            {"type": _type(model, code), "n": n, "c": c}
            for code, n, c in zip(
                counts.codes.tolist(), counts.n.tolist(), counts.c.tolist(), strict=True
            )
        ],
        **_written_columns(model),
        "formula": model.formula,
        **({} if model.tree is None else {"tree": to_json(model.tree)}),
        **({"about": model.about.record} if model.about else {}),
        "certificate": dict(model.certificate),
        "provenance": dict(model.provenance),
    }


def _is_later(attribute: Attribute) -> bool:
    """Say whether the first version has no words for an attribute."""
    return isinstance(attribute, IsIn) or isinstance(attribute.column, Concept)


def _type(model: Model, code: int) -> list[bool] | int:
    """Return a type in JSON: truth values, or a number of signs."""
    if model.types == "signs":
        return signs_held(code)
    return [bool(code >> i & 1) for i in range(model.counts.ell)]


def _line(term: Term) -> dict[str, Any]:
    if term.at_least is None:
        return {"all": _literals(term)}
    return {"at_least": term.at_least, "of": _literals(term)}


def _literals(term: Term) -> list[Any]:
    return [{"attribute": index, "value": holds} for index, holds in term.literals]


def model_text(model: Model) -> str:
    """Return the text of a model's file, without the line break at its end."""
    return json.dumps(model_record(model), indent=2, ensure_ascii=False, allow_nan=False)


def classes_record(models: Sequence[Model]) -> dict[str, Any]:
    """Return the models of several classes of one target as the JSON object of their file."""
    return {
        "schema": CLASSES_SCHEMA,
        "target": models[0].target,
        "classes": [model_record(model) for model in models],
    }


def classes_text(models: Sequence[Model]) -> str:
    """Return the text of the file of several classes, without the line break at its end."""
    return json.dumps(classes_record(models), indent=2, ensure_ascii=False, allow_nan=False)


def measure_name(attribute: Attribute) -> str | None:
    """Return the measure of an attribute's cuts, if they are dates, times, durations
    or decimals.
    """
    cuts = cuts_of(attribute) if isinstance(attribute, Above | Between) else ()
    return next((str(cut.measure) for cut in cuts if isinstance(cut, Quantity)), None)


def attribute_record(attribute: Attribute) -> dict[str, Any]:
    """Return an attribute as the JSON object of a file."""
    measure = measure_name(attribute)
    return {
        "name": attribute.name,
        "column": stored_column(attribute.column),
        **_written_part(attribute.column),
        **_written_test(attribute),
        "value": _written_value(attribute),
        **({} if measure is None else {"measure": measure}),
        **_written_whole(attribute),
    }


def _written_test(attribute: Attribute) -> dict[str, Any]:
    """Return what is asked of a column; of a concept also what it says of related rows."""
    test = TESTS[type(attribute)]
    if not isinstance(attribute.column, Concept):
        return {"test": test}
    return {"test": RELATED, "asks": test, "related": concept_record(attribute.column)}


def _written_whole(attribute: Attribute) -> dict[str, Any]:
    """Return that the numbers of an attribute are whole, if so, and the least of them, if it is
    known.
    """
    if not isinstance(attribute, Above | Between) or not attribute.whole:
        return {}
    return {"whole": True, **({} if attribute.least is None else {"least": attribute.least})}


def _written_lookalikes(model: Model) -> dict[str, Any]:
    """Return the columns that may be taken for others, if there are any."""
    noted = {column: list(others) for column, others in model.lookalikes.items()}
    return {"lookalikes": noted} if noted else {}


def _written_columns(model: Model) -> dict[str, Any]:
    """Return what the columns of the formula held, if that is known: in files of both versions, for
    it changes no answer, and readers of the first pass over it.
    """
    return {"columns": [_column(seen) for seen in model.seen]} if model.seen else {}


def _column(seen: SeenColumn) -> dict[str, Any]:
    measure = seen.least.measure if isinstance(seen.least, Quantity) else None
    values = None if seen.values is None else [_written(value) for value in seen.values]
    return {
        "name": seen.name,
        "type": seen.type,
        **({} if measure is None else {"measure": str(measure)}),
        "least": None if seen.least is None else _written_cut(seen.least),
        "greatest": None if seen.greatest is None else _written_cut(seen.greatest),
        "values": values,
        **({} if values is None else {"unlisted": seen.unlisted}),
        "missing": seen.missing,
    }


def _written_part(column: ColumnName) -> dict[str, str]:
    """Return which part of its column an attribute tests, if not the column itself."""
    if not isinstance(column, Part):
        return {}
    return {"part": str(column.unit), **({} if column.zone is None else {"zone": column.zone})}


def _written_value(attribute: Attribute) -> Any:
    """Return the value of an attribute in JSON: for an interval the list of its ends, for a set
    that of its values.
    """
    if isinstance(attribute, IsMissing):
        return None
    if isinstance(attribute, IsIn):
        return [_written(value) for value in attribute.values]
    if isinstance(attribute, Equals | IsTrue):
        return _written(attribute.value)
    ends = [_written_cut(cut) for cut in cuts_of(attribute)]
    return None if not ends else ends if isinstance(attribute, Between) else ends[0]


def _written_cut(cut: int | float | Quantity) -> int | float | str:
    """Return a cut in JSON; a quantity, -inf or inf is written as text."""
    return (
        str(cut)
        if isinstance(cut, Quantity) or (isinstance(cut, float) and math.isinf(cut))
        else cut
    )


def _written(value: Scalar) -> Any:
    """Return a label or category in JSON: «inf» may be a text, so the number is written as an
    object.
    """
    return {"float": str(value)} if isinstance(value, float) and math.isinf(value) else value


EXPORTS.register(
    Export(
        name="json",
        title="a model file",
        ending=".json",
        write=model_text,
        write_several=classes_text,
    )
)
