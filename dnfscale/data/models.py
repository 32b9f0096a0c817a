"""Model files: JSON with a schema, checked whole before anything is used. Reading one executes nothing."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dnfscale.core.arrays import Scalar
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import HALF, MISSING, MOST_ELL, UNSEEN, Model
from dnfscale.core.parts import NAMES, ColumnName, Part, Unit, is_zone, stored_column
from dnfscale.core.quantities import Measure, Quantity, parse_measure, parse_quantity
from dnfscale.core.tree import MOST_SIZE, Formula, from_json, size, symbols, to_dnf, to_json
from dnfscale.core.vocabulary import Above, Attribute, Between, Equals, IsMissing, IsTrue, Vocabulary, cuts_of
from dnfscale.data.storage import DEFAULT_ACCESS, Access, CredentialError, read_bytes, told
from dnfscale.errors import DataError

MODEL_SCHEMA = "dnfscale.model/1"
CLASSES_SCHEMA = "dnfscale.classes/1"
_MOST_BYTES = 1 << 30
_BIGGEST = 1 << 64
"""Columns of whole numbers have at most 64 bits."""
_T = TypeVar("_T")
_TESTS: Mapping[type[Attribute], str] = {
    Above: "above",
    Between: "between",
    Equals: "equals",
    IsTrue: "true",
    IsMissing: "missing",
}


def model_record(model: Model) -> dict[str, Any]:
    """Return a model as the JSON object of its file."""
    ell = len(model.tau)
    counts = model.counts
    return {
        "schema": MODEL_SCHEMA,
        "target": model.target,
        "positive": [_written(label) for label in model.positive],
        "missing": model.missing,
        "unseen": model.unseen,
        "threshold": str(model.threshold),
        "unit": model.unit,
        "weighted": model.weighted,
        "attributes": [
            {
                "name": attribute.name,
                "column": stored_column(attribute.column),
                **_written_part(attribute.column),
                "test": _TESTS[type(attribute)],
                "value": _written_value(attribute),
                **_written_measure(attribute),
            }
            for attribute in model.tau.attributes
        ],
        **_written_lookalikes(model),
        "terms": [[{"attribute": index, "value": holds} for index, holds in term.literals] for term in model.dnf.terms],
        "counts": [
            {"type": [bool(code >> i & 1) for i in range(ell)], "n": n, "c": c}
            for code, n, c in zip(counts.codes.tolist(), counts.n.tolist(), counts.c.tolist(), strict=True)
        ],
        "formula": model.formula,
        **({} if model.tree is None else {"tree": to_json(model.tree)}),
        "certificate": dict(model.certificate),
        "provenance": dict(model.provenance),
    }


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


def read_model(file: str | Path, label: str | None = None, access: Access = DEFAULT_ACCESS) -> Model:
    """Read the model of a file, or the one of several that belongs to a label."""
    models = read_models(file, access)
    if label is None and len(models) == 1:
        return models[0]
    labels = [str(model.positive[0]) for model in models]
    if label is None or label not in labels:
        got = "no label was given" if label is None else f"got {label!r}"
        raise DataError(f"{file}: expected one of its labels, {', '.join(map(repr, labels))}, but {got}; pass --label")
    return models[labels.index(label)]


def read_models(file: str | Path, access: Access = DEFAULT_ACCESS) -> tuple[Model, ...]:
    """Read the models of a file: one, or one for each of several classes.

    A file that is damaged, of a later version or no model at all raises a DataError that says where.
    """
    try:
        size, content = read_bytes(str(file), access, most=_MOST_BYTES)
        if content is None:
            raise DataError(f"{file}: expected a model file, got one of {size:,} bytes, over 1 GiB")
        text = content.decode("utf-8")
    except CredentialError as error:
        raise DataError(f"the path of a model {error}") from error
    except OSError as error:
        why = told(error, str(file))
        raise DataError(f"{file}: expected a model file, but {why}; give the model.json of a run") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{file}: expected JSON in UTF-8, but byte {error.start:,} is not; write it again") from error
    try:
        record = json.loads(
            text, parse_float=_finite, parse_constant=_refuse_constant, object_pairs_hook=_distinct_keys
        )
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file}: expected a model file in JSON, but {error}; write it again") from error
    try:
        return parse_models(record)
    except DataError as error:
        raise DataError(f"{file}: {error.message}; give the model.json of a run, or write it again") from error


def parse_models(record: Any) -> tuple[Model, ...]:
    """Check a parsed model file, of one model or of several classes."""
    if not (isinstance(record, dict) and record.get("schema") == CLASSES_SCHEMA):
        return (parse_model(record),)
    models = []
    for i, entry in enumerate(_entry(record, "classes", list, "a list")):
        try:
            models.append(parse_model(entry))
        except DataError as error:
            raise DataError(f"classes[{i}]: {error.message}") from error
    labels = [model.positive for model in models]
    if len(labels) < 2 or len(set(labels)) < len(labels) or any(len(label) != 1 for label in labels):
        raise DataError("classes must be at least two, each with one label of its own in positive")
    if len({_kind(label) for (label,) in labels}) > 1:
        raise DataError("classes must have labels of one kind: all texts, all numbers, or all truth values")
    if len({model.target for model in models} | {_entry(record, "target", str, "text")}) > 1:
        raise DataError("classes must have the same target")
    return tuple(models)


def parse_model(record: Any) -> Model:
    """Check a parsed model file and return its model."""
    table = _typed(record, dict, "a model file", "an object")
    schema = _entry(table, "schema", str, "text")
    if schema != MODEL_SCHEMA:
        kind, _, version = schema.partition("/")
        if kind == MODEL_SCHEMA.partition("/")[0] and version.isdigit():
            raise DataError(
                f"schema must be {MODEL_SCHEMA!r}, got {_short(schema)}: a later version of dnfscale wrote it"
            )
        raise DataError(f"schema must be {MODEL_SCHEMA!r}, got {_short(schema)}")
    attributes = _list(table, "attributes", _attribute)
    if not 1 <= len(attributes) <= MOST_ELL:
        raise DataError(f"attributes must be 1 to {MOST_ELL}, got {len(attributes):,}")
    names = [attribute.name for attribute in attributes]
    if len(set(names)) < len(names):
        raise DataError("attributes must have different names, but one occurs twice")
    _check_columns(attributes)
    ell = len(attributes)
    positive = _list(table, "positive", _scalar)
    if not positive:
        raise DataError("positive must list at least one label, got none")
    model = Model(
        target=_entry(table, "target", str, "text"),
        positive=tuple(positive),
        tau=Vocabulary(tuple(attributes)),
        dnf=Dnf(tuple(_list(table, "terms", lambda value, place: _term(value, place, ell)))),
        counts=_counts(table, ell),
        missing=_choice(table, "missing", MISSING),
        unseen=_choice(table, "unseen", UNSEEN),
        threshold=_threshold(table),
        unit=_unit(table),
        weighted=bool(_typed(table.get("weighted", False), bool, "weighted", "true or false")),
        certificate=_notes(table, "certificate"),
        provenance=_notes(table, "provenance"),
        lookalikes=_lookalikes(table, attributes),
        tree=_tree(table, ell),
    )
    if model.tree is not None and model.dnf != to_dnf(model.tree):
        raise DataError("terms must say what tree says, multiplied out, but they do not")
    written = _entry(table, "formula", str, "text")
    if written != model.formula:
        said = "terms say" if model.tree is None else "tree says"
        raise DataError(f"formula must say what {said}, {_short(model.formula)}, got {_short(written)}")
    return model


def _attribute(value: Any, place: str) -> Attribute:
    table = _typed(value, dict, place, "an object")
    name, column = _entry(table, "name", str, "text", place), _column(table, place)
    test = _entry(table, "test", str, "text", place)
    given = table.get("value")
    if isinstance(column, Part):
        _check_part(column, test, given, place)
    if test in ("above", "between"):
        measure = _measure(table, place) if "measure" in table and not isinstance(column, Part) else None
        if test == "between":
            return Between(name, column, *_interval(given, measure, f"{place}.value"))
        return Above(name, column, None if given is None else _cut(given, measure, f"{place}.value", test))
    if test == "missing":
        if given is not None:
            raise DataError(f"{place}.value must be null for the test 'missing', got {_short(given)}")
        return IsMissing(name, column)
    if test == "equals":
        return Equals(name, column, _scalar(given, f"{place}.value"))
    if test == "true":
        return IsTrue(name, column, _scalar(given, f"{place}.value"))
    raise DataError(f"{place}.test must be one of {', '.join(_TESTS.values())}, got {_short(test)}")


def _column(table: Mapping[str, Any], place: str) -> ColumnName:
    """Return the column of an attribute, or the part of one."""
    column: str = _entry(table, "column", str, "text", place)
    if "part" not in table:
        return column
    unit, zone = _entry(table, "part", str, "text", place), table.get("zone")
    if unit not in set(Unit):
        raise DataError(f"{place}.part must be one of {', '.join(Unit)}, got {_short(unit)}")
    if zone is not None and not is_zone(_typed(zone, str, f"{place}.zone", "text")):
        raise DataError(
            f"{place}.zone must be the name of a time zone, or an offset such as +02:00, got {_short(zone)}"
        )
    return Part(column, Unit(unit), zone)


def _check_part(part: Part, test: str, given: Any, place: str) -> None:
    """Raise DataError unless an hour is cut, and a weekday or month is compared with one that exists."""
    names = NAMES.get(part.unit)
    expected = ("above", "between") if names is None else ("equals",)
    if test not in expected:
        listed = " or ".join(map(repr, expected))
        raise DataError(f"{place}.test must be {listed} for the part {str(part.unit)!r}, got {_short(test)}")
    if names is not None and given not in names:
        raise DataError(f"{place}.value must be one of {', '.join(names)}, got {_short(given)}")


def _measure(table: Mapping[str, Any], place: str) -> Measure:
    named = _entry(table, "measure", str, "text", place)
    measure = parse_measure(named)
    if measure is None:
        raise DataError(
            f"{place}.measure must be date, time[us], timestamp[us], instant[us], duration[us] or such, or decimal[2], "
            f"got {_short(named)}"
        )
    return measure


def _cut(given: Any, measure: Measure | None, place: str, test: str) -> int | float | Quantity:
    if measure is not None:
        quantity = parse_quantity(given, measure) if isinstance(given, str) else None
        if quantity is None:
            raise DataError(f"{place} must be the text of a value of {measure}, got {_short(given)}")
        return quantity
    if given in ("inf", "-inf"):
        return float(given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise DataError(f"{place} must be a number for the test {test!r}, got {_short(given)}")
    _scalar(given, place)
    return given


def _interval(given: Any, measure: Measure | None, place: str) -> tuple[Any, Any]:
    """Return the ends of an interval; both are None if there was no row to take a quantile of."""
    if given is None:
        return None, None
    if not (isinstance(given, list) and len(given) == 2):
        raise DataError(f"{place} must be a list of two ends for the test 'between', got {_short(given)}")
    # Both are numbers, or of the same measure.
    ends: list[Any] = [_cut(end, measure, f"{place}[{i}]", "between") for i, end in enumerate(given)]
    if not ends[0] < ends[1]:
        raise DataError(f"{place} must be a lower and a higher end, got {_short(given)}")
    return ends[0], ends[1]


def _check_columns(attributes: list[Attribute]) -> None:
    """Raise DataError if a column is tested in two ways: each has either cuts or categories of one kind."""
    known: dict[ColumnName, str] = {}
    for attribute in attributes:
        if isinstance(attribute, IsMissing):
            continue
        if isinstance(attribute, Above | Between):
            kind = _written_measure(attribute).get("measure", "numbers")
        else:
            kind = _kind(attribute.value)
        before = known.setdefault(attribute.column, kind)
        if kind != before:
            raise DataError(
                f"attributes must test a column in one way, but {str(attribute.column)!r} is tested for {before} "
                f"and {kind}"
            )


def _lookalikes(table: Mapping[str, Any], attributes: list[Attribute]) -> dict[str, tuple[str, ...]]:
    """Return the columns that may be taken for others, and these; only columns of attributes may have any."""
    known = {stored_column(attribute.column) for attribute in attributes}
    found = {}
    for column, others in _typed(table.get("lookalikes", {}), dict, "lookalikes", "an object").items():
        place = f"lookalikes[{_short(column)}]"
        if column not in known:
            raise DataError(f"lookalikes must be of columns that attributes test, got {_short(column)}")
        names = _typed(others, list, place, "a list")
        found[column] = tuple(_typed(name, str, f"{place}[{i}]", "text") for i, name in enumerate(names))
        if not names or len({column, *names}) <= len(names):
            raise DataError(f"{place} must list other columns, each once, got {_short(names)}")
    return found


def _kind(value: Scalar) -> str:
    if isinstance(value, bool):
        return "truth values"
    return "texts" if isinstance(value, str) else "categories that are numbers"


def _term(value: Any, place: str, ell: int) -> Term:
    care = holds = 0
    for i, literal in enumerate(_typed(value, list, place, "a list")):
        table = _typed(literal, dict, f"{place}[{i}]", "an object")
        index = _whole(table.get("attribute"), f"{place}[{i}].attribute")
        if index >= ell:
            raise DataError(f"{place}[{i}].attribute must be below {ell}, got {index}")
        if care >> index & 1:
            raise DataError(f"{place} must name an attribute once, got {index} twice")
        care |= 1 << index
        holds |= _entry(table, "value", bool, "true or false", f"{place}[{i}]") << index
    return Term(care, holds)


def _tree(table: Mapping[str, Any], ell: int) -> Formula | None:
    """Return the formula as a tree, if it is one of bounded size."""
    if "tree" not in table:
        return None
    try:
        tree = from_json(table["tree"])
        n_nodes, used = size(tree), sorted(set(symbols(tree)))
    except (ValueError, RecursionError) as error:
        raise DataError(f"tree must be a formula, but {error}") from error
    if n_nodes > MOST_SIZE:
        raise DataError(f"tree must have a size of at most {MOST_SIZE}, got {n_nodes:,}")
    if used != list(range(ell)):
        raise DataError(f"tree must speak of all attributes, 0 to {ell - 1}, and no other, got {_short(used)}")
    return tree


def _counts(table: Mapping[str, Any], ell: int) -> TypeCounts:
    codes, ns, cs = [], [], []
    for i, value in enumerate(_entry(table, "counts", list, "a list")):
        place = f"counts[{i}]"
        entry = _typed(value, dict, place, "an object")
        bits = _entry(entry, "type", list, "a list", place)
        if len(bits) != ell or not all(isinstance(bit, bool) for bit in bits):
            raise DataError(f"{place}.type must list {ell} truth values, got {_short(bits)}")
        n, c = _whole(entry.get("n"), f"{place}.n"), _whole(entry.get("c"), f"{place}.c")
        if not c <= n < 1 << 62:
            raise DataError(f"{place} must have c <= n < 2**62, got c = {c} and n = {n}")
        codes.append(sum(1 << j for j, bit in enumerate(bits) if bit))
        ns.append(n)
        cs.append(c)
    if any(a >= b for a, b in itertools.pairwise(codes)):
        raise DataError("counts must list each type once, in increasing order")
    if sum(ns) >= 1 << 62:
        raise DataError("counts must add up to fewer than 2**62 rows")
    return TypeCounts(ell, *(np.array(column, dtype=np.int64) for column in (codes, ns, cs)))


def _threshold(table: Mapping[str, Any]) -> Fraction:
    text = _typed(table.get("threshold", str(HALF)), str, "threshold", "text")
    # Fraction would also read 1e999999999, and compute that power of ten.
    if not re.fullmatch(r"[0-9]{1,100}/0*[1-9][0-9]{0,99}", text):
        raise DataError(f"threshold must be a fraction such as '1/2', got {_short(text)}")
    threshold = Fraction(text)
    if not 0 < threshold < 1:
        raise DataError(f"threshold must lie between 0 and 1, got {_short(text)}")
    return threshold


def _unit(table: Mapping[str, Any]) -> int:
    unit = _whole(table.get("unit", 1), "unit")
    if not 1 <= unit < 1 << 62:
        raise DataError(f"unit must be a whole number from 1 to 2**62, got {unit}")
    return unit


def _choice(table: Mapping[str, Any], key: str, known: tuple[str, ...]) -> str:
    value = table.get(key, known[0])
    if value not in known:
        raise DataError(f"{key} must be one of {', '.join(known)}, got {_short(value)}")
    return str(value)


def _notes(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an object that is kept as it is, after checking that it can be written again."""
    notes: dict[str, Any] = _entry(table, key, dict, "an object")
    try:
        json.dumps(notes, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(f"{key} must be what JSON can hold, but {error}") from error
    return notes


def _scalar(value: Any, place: str) -> Scalar:
    if isinstance(value, dict) and value in ({"float": "inf"}, {"float": "-inf"}):
        return float(value["float"])
    if not isinstance(value, bool | int | float | str):
        raise DataError(f"{place} must be a number, text, true or false, got {_short(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError(f"{place} must be a finite number, got {_short(value)}")
    if isinstance(value, int) and abs(value) >= _BIGGEST:
        raise DataError(f"{place} must be a whole number of at most 64 bits, got one of {value.bit_length():,}")
    return value if not isinstance(value, str) else _unicode(value, place)


def _whole(value: Any, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DataError(f"{place} must be a whole number of at least 0, got {_short(value)}")
    return value


def _list(table: Mapping[str, Any], key: str, parse: Callable[[Any, str], _T]) -> list[_T]:
    values = _entry(table, key, list, "a list")
    return [parse(value, f"{key}[{i}]") for i, value in enumerate(values)]


def _entry(table: Mapping[str, Any], key: str, kind: type, expected: str, place: str = "") -> Any:
    path = f"{place}.{key}" if place else key
    if key not in table:
        raise DataError(f"{path} must be {expected}, but it is not there")
    return _typed(table[key], kind, path, expected)


def _typed(value: Any, kind: type, place: str, expected: str) -> Any:
    if not isinstance(value, kind):
        raise DataError(f"{place} must be {expected}, got {_short(value)}")
    return _unicode(value, place) if isinstance(value, str) else value


def _unicode(text: str, place: str) -> str:
    """Return a text after checking that it can be written again: JSON can spell half a character, which cannot."""
    if re.search("[\ud800-\udfff]", text):
        raise DataError(f"{place} must be Unicode text, got half of a surrogate pair in {_short(text)}")
    return text


def _short(value: object) -> str:
    shown = ascii(value) if isinstance(value, str) and re.search("[\ud800-\udfff]", value) else repr(value)
    return shown[:60] + "…" if len(shown) > 60 else shown


def _written_lookalikes(model: Model) -> dict[str, Any]:
    """Return the columns that may be taken for others, if there are any."""
    noted = {column: list(others) for column, others in model.lookalikes.items()}
    return {"lookalikes": noted} if noted else {}


def _written_value(attribute: Attribute) -> Any:
    """Return the value of an attribute in JSON; for an interval, the list of its ends."""
    if isinstance(attribute, IsMissing):
        return None
    if isinstance(attribute, Equals | IsTrue):
        return _written(attribute.value)
    ends = [_written_cut(cut) for cut in cuts_of(attribute)]
    return None if not ends else ends if isinstance(attribute, Between) else ends[0]


def _written_cut(cut: int | float | Quantity) -> int | float | str:
    """Return a cut in JSON; a quantity, -inf or inf is written as text."""
    return str(cut) if isinstance(cut, Quantity) or (isinstance(cut, float) and math.isinf(cut)) else cut


def _written_measure(attribute: Attribute) -> dict[str, str]:
    """Return the measure of an attribute's cuts, if they are dates, times, durations or decimals."""
    cuts = cuts_of(attribute) if isinstance(attribute, Above | Between) else ()
    return next(({"measure": str(cut.measure)} for cut in cuts if isinstance(cut, Quantity)), {})


def _written_part(column: ColumnName) -> dict[str, str]:
    """Return which part of its column an attribute tests, if not the column itself."""
    if not isinstance(column, Part):
        return {}
    return {"part": str(column.unit), **({} if column.zone is None else {"zone": column.zone})}


def _written(value: Scalar) -> Any:
    """Return a label or category in JSON: «inf» may be a text, so the number is written as an object."""
    return {"float": str(value)} if isinstance(value, float) and math.isinf(value) else value


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"it holds {_short(text)}, which is too large for a number")
    return number


def _refuse_constant(text: str) -> None:
    raise ValueError(f"it holds {text}, which JSON does not know")


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("an object has the same key twice")
    return table
