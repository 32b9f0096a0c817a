"""Models out of parsed JSON, checked whole before anything is used."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dnfscale.core.about import NOTHING, About, Label
from dnfscale.core.concepts import Concept
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.model import (
    HALF,
    MISSING,
    MOST_CONDITIONS,
    MOST_ELL,
    MOST_LINES,
    MOST_SIGNS,
    TYPES,
    UNSEEN,
    Model,
)
from dnfscale.core.parts import stored_column
from dnfscale.core.tree import MOST_SIZE, Formula, from_json, size, symbols, to_dnf
from dnfscale.core.vocabulary import Attribute, IsIn, Vocabulary
from dnfscale.data.models.attributes import check_columns, kind_of, parse_attribute
from dnfscale.data.models.checked import choice, entry, listed, scalar, short, typed, whole
from dnfscale.data.models.columns import parse_columns
from dnfscale.data.models.writing import CLASSES_SCHEMA, LINES_SCHEMA, MODEL_SCHEMA, RELATED
from dnfscale.errors import DataError


def parse_models(record: Any) -> tuple[Model, ...]:
    """Check a parsed model file, of one model or of several classes."""
    if not (isinstance(record, dict) and record.get("schema") == CLASSES_SCHEMA):
        return (parse_model(record),)
    models = []
    for i, written in enumerate(entry(record, "classes", list, "a list")):
        try:
            models.append(parse_model(written))
        except DataError as error:
            raise DataError(f"classes[{i}]: {error.message}") from error
    labels = [model.positive for model in models]
    if (
        len(labels) < 2
        or len(set(labels)) < len(labels)
        or any(len(label) != 1 for label in labels)
    ):
        raise DataError("classes must be at least two, each with one label of its own in positive")
    if len({kind_of(label) for (label,) in labels}) > 1:
        raise DataError(
            "classes must have labels of one kind: all texts, all numbers, or all truth values"
        )
    if len({model.target for model in models} | {entry(record, "target", str, "text")}) > 1:
        raise DataError("classes must have the same target")
    return tuple(models)


def parse_model(record: Any) -> Model:
    """Check a parsed model file and return its model."""
    table = typed(record, dict, "a model file", "an object")
    schema = _schema(table)
    types = choice(table, "types", TYPES) if schema == LINES_SCHEMA else TYPES[0]
    attributes = _attributes(table, schema, types)
    dnf = _dnf(table, len(attributes), schema)
    if types == "lines" and len(dnf.terms) > MOST_LINES:
        raise DataError(f"lines must be at most {MOST_LINES}, got {len(dnf.terms):,}")
    if types != "attributes" and "tree" in table:
        raise DataError(f"tree must be left out where types are {types}")
    if types == "signs":
        _check_checklist(dnf, len(attributes))
    positive = listed(table, "positive", scalar)
    if not positive:
        raise DataError("positive must list at least one label, got none")
    model = Model(
        target=entry(table, "target", str, "text"),
        positive=tuple(positive),
        tau=Vocabulary(tuple(attributes)),
        dnf=dnf,
        counts=_counts(table, len(dnf.terms) if types == "lines" else len(attributes), types),
        types=types,
        answer=_answer(table, schema, types),
        missing=choice(table, "missing", MISSING),
        unseen=choice(table, "unseen", UNSEEN),
        threshold=_threshold(table),
        unit=_unit(table),
        weighted=bool(typed(table.get("weighted", False), bool, "weighted", "true or false")),
        certificate=_notes(table, "certificate"),
        provenance=_notes(table, "provenance"),
        lookalikes=_lookalikes(table, attributes),
        seen=parse_columns(table, attributes),
        about=_about(table),
        tree=_tree(table, len(attributes)),
    )
    _check_formula(table, model)
    return model


def _schema(table: Mapping[str, Any]) -> str:
    schema: str = entry(table, "schema", str, "text")
    if schema in (MODEL_SCHEMA, LINES_SCHEMA):
        return schema
    kind, _, version = schema.partition("/")
    is_later = kind == MODEL_SCHEMA.partition("/")[0] and version.isdigit()
    why = ": a later version of dnfscale wrote it" if is_later else ""
    raise DataError(
        f"schema must be {MODEL_SCHEMA!r} or {LINES_SCHEMA!r}, got {short(schema)}{why}"
    )


def _check_formula(table: Mapping[str, Any], model: Model) -> None:
    """Raise DataError unless the terms, the tree and the text of a formula say the same."""
    if model.tree is not None and model.dnf != to_dnf(model.tree):
        raise DataError("terms must say what tree says, multiplied out, but they do not")
    written = entry(table, "formula", str, "text")
    if written != model.formula:
        said = "terms say" if model.types == "attributes" else "lines say"
        said = said if model.tree is None else "tree says"
        raise DataError(
            f"formula must say what {said}, {short(model.formula)}, got {short(written)}"
        )


def _attributes(table: Mapping[str, Any], schema: str, types: str) -> list[Attribute]:
    attributes = listed(table, "attributes", parse_attribute)
    least, most = {
        "attributes": (int(schema == MODEL_SCHEMA), MOST_ELL),
        "lines": (0, MOST_CONDITIONS),
        "signs": (3, MOST_SIGNS),
    }[types]
    if not least <= len(attributes) <= most:
        raise DataError(f"attributes must be {least} to {most}, got {len(attributes):,}")
    if schema == MODEL_SCHEMA:
        for attribute in attributes:
            test = "in" if isinstance(attribute, IsIn) else RELATED
            if isinstance(attribute, IsIn) or isinstance(attribute.column, Concept):
                raise DataError(
                    f"attributes must not have the test {test!r} where schema is {schema!r}"
                )
    _check_concepts(attributes)
    names = [attribute.name for attribute in attributes]
    if len(set(names)) < len(names):
        raise DataError("attributes must have different names, but one occurs twice")
    check_columns(attributes)
    return attributes


def _check_concepts(attributes: list[Attribute]) -> None:
    """Raise DataError where related rows belong to main rows in several ways, or a column's name is
    that of two.
    """
    concepts = [a.column for a in attributes if isinstance(a.column, Concept)]
    relations = {concept.relation for concept in concepts}
    if len({(relation.main_key) for relation in relations}) > 1:
        raise DataError("attributes must name one column of the main table that relates all tables")
    if len({relation.table for relation in relations}) < len(relations):
        raise DataError("attributes must relate each table in one way")
    names = {stored_column(attribute.column): attribute.column for attribute in attributes}
    for attribute in attributes:
        column = attribute.column
        if isinstance(column, Concept) and names[column.name] != column:
            raise DataError(f"attributes must give {short(column.name)} one meaning")


def _lookalikes(
    table: Mapping[str, Any], attributes: list[Attribute]
) -> dict[str, tuple[str, ...]]:
    """Return the columns that may be taken for others, and these; only columns of attributes may
    have any.
    """
    known = {stored_column(attribute.column) for attribute in attributes}
    found = {}
    for column, others in typed(
        table.get("lookalikes", {}), dict, "lookalikes", "an object"
    ).items():
        place = f"lookalikes[{short(column)}]"
        if column not in known:
            raise DataError(
                f"lookalikes must be of columns that attributes test, got {short(column)}"
            )
        names = typed(others, list, place, "a list")
        found[column] = tuple(
            typed(name, str, f"{place}[{i}]", "text") for i, name in enumerate(names)
        )
        if not names or len({column, *names}) <= len(names):
            raise DataError(f"{place} must list other columns, each once, got {short(names)}")
    return found


def _dnf(table: Mapping[str, Any], ell: int, schema: str) -> Dnf:
    """Return the formula: by its lines in the second version, which may say it as terms too."""

    def term(value: Any, place: str) -> Term:
        return _term(value, place, ell)

    def line(value: Any, place: str) -> Term:
        written = typed(value, dict, place, "an object")
        if "at_least" in written:
            return _checklist(written, place, ell)
        return term(entry(written, "all", list, "a list", place), f"{place}.all")

    terms = listed(table, "terms", term) if "terms" in table or schema == MODEL_SCHEMA else None
    if schema == MODEL_SCHEMA:
        return Dnf(tuple(terms or ()))
    dnf = Dnf(tuple(listed(table, "lines", line)))
    if terms is not None and tuple(terms) != dnf.multiplied_out().terms:
        raise DataError("terms must say what lines say, but they do not")
    return dnf


def _checklist(line: Mapping[str, Any], place: str, ell: int) -> Term:
    """Return a line that is a checklist."""
    if "all" in line:
        raise DataError(f"{place} must have either 'all' or 'at_least' and 'of', got both")
    asked = _term(entry(line, "of", list, "a list", place), f"{place}.of", ell)
    n_conditions = asked.care.bit_count()
    at_least = whole(line["at_least"], f"{place}.at_least")
    if n_conditions > MOST_SIGNS:
        raise DataError(f"{place}.of must list at most {MOST_SIGNS}, got {n_conditions:,}")
    if not 1 < at_least < n_conditions:
        raise DataError(
            f"{place}.at_least must be more than 1 and less than the {n_conditions} that "
            f"{place}.of lists, got {at_least}"
        )
    return replace(asked, at_least=at_least)


def _check_checklist(dnf: Dnf, ell: int) -> None:
    """Raise DataError unless a formula is one checklist of all attributes."""
    [first, *others] = dnf.terms or (Term(0, 0),)
    if others or first.at_least is None or first.care != (1 << ell) - 1:
        raise DataError(
            "lines must be one checklist of all attributes where types are signs, "
            f"got {len(dnf.terms):,} of another form"
        )


def _answer(table: Mapping[str, Any], schema: str, types: str) -> bool:
    """Return what the formula says where a line holds; of the first version that is always yes."""
    if schema == MODEL_SCHEMA or "answer" not in table:
        return True
    answer: bool = entry(table, "answer", bool, "true or false")
    if not answer and (types != "lines" or "terms" in table):
        raise DataError("answer must be true unless types are lines and terms are left out")
    return answer


def _term(value: Any, place: str, ell: int) -> Term:
    care = holds = 0
    for i, literal in enumerate(typed(value, list, place, "a list")):
        table = typed(literal, dict, f"{place}[{i}]", "an object")
        index = whole(table.get("attribute"), f"{place}[{i}].attribute")
        if index >= ell:
            raise DataError(f"{place}[{i}].attribute must be below {ell}, got {index}")
        if care >> index & 1:
            raise DataError(f"{place} must name an attribute once, got {index} twice")
        care |= 1 << index
        holds |= entry(table, "value", bool, "true or false", f"{place}[{i}]") << index
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
        raise DataError(
            f"tree must speak of all attributes, 0 to {ell - 1}, and no other, got {short(used)}"
        )
    return tree


def _counts(table: Mapping[str, Any], ell: int, types: str) -> TypeCounts:
    codes, ns, cs = [], [], []
    for i, value in enumerate(entry(table, "counts", list, "a list")):
        place = f"counts[{i}]"
        cell = typed(value, dict, place, "an object")
        codes.append((_signs if types == "signs" else _type)(cell, place, ell))
        n, c = whole(cell.get("n"), f"{place}.n"), whole(cell.get("c"), f"{place}.c")
        if not c <= n < 1 << 62:
            raise DataError(f"{place} must have c <= n < 2**62, got c = {c} and n = {n}")
        ns.append(n)
        cs.append(c)
    if any(a >= b for a, b in itertools.pairwise(codes)):
        raise DataError("counts must list each type once, in increasing order")
    if sum(ns) >= 1 << 62:
        raise DataError("counts must add up to fewer than 2**62 rows")
    return TypeCounts(ell, *(np.array(column, dtype=np.int64) for column in (codes, ns, cs)))


def _type(cell: Mapping[str, Any], place: str, ell: int) -> int:
    bits = entry(cell, "type", list, "a list", place)
    if len(bits) != ell or not all(isinstance(bit, bool) for bit in bits):
        raise DataError(f"{place}.type must list {ell} truth values, got {short(bits)}")
    return sum(1 << j for j, bit in enumerate(bits) if bit)


def _signs(cell: Mapping[str, Any], place: str, ell: int) -> int:
    signs = whole(cell.get("type"), f"{place}.type")
    if signs > ell:
        raise DataError(f"{place}.type must be a number of signs up to {ell}, got {signs}")
    return (1 << signs) - 1


def _threshold(table: Mapping[str, Any]) -> Fraction:
    text = typed(table.get("threshold", str(HALF)), str, "threshold", "text")
    # Fraction would also read 1e999999999, and compute that power of ten.
    if not re.fullmatch(r"[0-9]{1,100}/0*[1-9][0-9]{0,99}", text):
        raise DataError(f"threshold must be a fraction such as '1/2', got {short(text)}")
    threshold = Fraction(text)
    if not 0 < threshold < 1:
        raise DataError(f"threshold must lie between 0 and 1, got {short(text)}")
    return threshold


def _unit(table: Mapping[str, Any]) -> int:
    unit = whole(table.get("unit", 1), "unit")
    if not 1 <= unit < 1 << 62:
        raise DataError(f"unit must be a whole number from 1 to 2**62, got {unit}")
    return unit


def _about(table: Mapping[str, Any]) -> About:
    """Return what people call the model and its columns."""
    if "about" not in table:
        return NOTHING
    about = typed(table["about"], dict, "about", "an object")
    labels = typed(about.get("labels", {}), dict, "about.labels", "an object")
    return About(
        _words(about, "title", "about"),
        _words(about, "description", "about"),
        {
            typed(column, str, "about.labels", "text"): _label(
                label, f"about.labels[{short(column)}]"
            )
            for column, label in labels.items()
        },
    )


def _label(label: Any, place: str) -> Label:
    found = typed(label, dict, place, "an object")
    values = typed(found.get("values", {}), dict, f"{place}.values", "an object")
    return Label(
        title=_words(found, "title", place),
        unit=_words(found, "unit", place),
        values={
            typed(value, str, f"{place}.values", "text"): typed(
                name, str, f"{place}.values[{short(value)}]", "text"
            )
            for value, name in values.items()
        },
        note=_words(found, "note", place),
    )


def _words(table: Mapping[str, Any], key: str, place: str) -> str:
    words: str = typed(table.get(key, ""), str, f"{place}.{key}", "text")
    return words


def _notes(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an object that is kept as it is, after checking that it can be written again."""
    notes: dict[str, Any] = entry(table, key, dict, "an object")
    try:
        json.dumps(notes, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(f"{key} must be what JSON can hold, but {error}") from error
    return notes
