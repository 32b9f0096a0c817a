"""Conditions on related rows in SQL: EXISTS, and subqueries that add up."""

from __future__ import annotations

from dnfscale.core.arrays import Scalar
from dnfscale.core.concepts import MAY_LACK, Concept, Figure, RowTest, Sign
from dnfscale.core.quantities import Quantity
from dnfscale.core.vocabulary import Above, Attribute, Between, IsMissing, cuts_of, values_of
from dnfscale.export.dialect import Dialect

MAIN, _OTHER = "main_row", "related_row"
"""What the rows of both tables are called in a subquery."""


def related_condition(attribute: Attribute, concept: Concept, holds: bool, dialect: Dialect) -> str:
    """Write a condition on related rows, which is never NULL."""
    if concept.figure is Figure.SOME and not isinstance(attribute, Above | Between | IsMissing):
        some = f"EXISTS (SELECT 1 {_related_rows(concept, dialect)})"
        return some if holds is (True in values_of(attribute)) else f"NOT {some}"
    number = _figure(concept, dialect)
    if isinstance(attribute, IsMissing):
        return f"{number} IS {'' if holds else 'NOT '}NULL"
    lacks = concept.figure in MAY_LACK
    if isinstance(attribute, Above | Between):
        cuts = [_number(cut, dialect) for cut in cuts_of(attribute)]
        if len(cuts) == 1 and not lacks:
            return f"{number} {'>' if holds else '<='} {cuts[0]}"
        tests = [f"{number} {sign} {cut}" for sign, cut in zip((">", "<="), cuts, strict=False)]
        test = " AND ".join(tests) or dialect.truths[False]
    else:
        known = [_number(value, dialect) for value in values_of(attribute)]
        test = " OR ".join(f"{number} = {value}" for value in known)
    test = f"COALESCE({test}, {dialect.truths[False]})" if lacks else f"({test})"
    return test if holds else f"NOT {test}"


def _number(value: Scalar | Quantity, dialect: Dialect) -> str:
    assert isinstance(value, int | float)
    return dialect.number(value)


def _related_rows(concept: Concept, dialect: Dialect) -> str:
    """Write FROM and WHERE: the related rows that are meant."""
    relation = concept.relation

    def own(column: str) -> str:
        return f"{_OTHER}.{dialect.name(column)}"

    tests = [f"{own(relation.key)} = {MAIN}.{dialect.name(relation.main_key)}"]
    if relation.as_of is not None and relation.time is not None:
        time, now = own(relation.time), f"{MAIN}.{dialect.name(relation.as_of)}"
        tests.append(f"{time} < {now}")
        if concept.days is not None:
            # A day of an instant has 24 hours, whatever the clocks of a zone do.
            span = f"{24 * concept.days} hours" if relation.zoned else f"{concept.days} days"
            tests.append(f"{time} >= {now} - INTERVAL '{span}'")
    tests += [_row_test(test, own(test.column), dialect) for test in concept.where]
    if concept.of is not None:
        tests.append(f"{own(concept.of)} IS NOT NULL")
        if dialect.below_nan is not None:
            tests.append(dialect.below_nan(own(concept.of)))
    table = dialect.related[relation.table]
    return f"FROM {table} AS {_OTHER} WHERE {' AND '.join(tests)}"


def _row_test(test: RowTest, column: str, dialect: Dialect) -> str:
    """Write a test, which may be NULL instead of false."""
    if isinstance(test.value, bool):
        return dialect.is_truth(column, dialect.truths[test.value], True)
    if test.sign is Sign.IS:
        return dialect.same(column, test.value)
    cut = _number(test.value, dialect)
    if test.sign is Sign.UP_TO:
        return f"{column} <= {cut}"
    guard = "" if dialect.below_nan is None else f" AND {dialect.below_nan(column)}"
    return f"{column} > {cut}{guard}"


def _figure(concept: Concept, dialect: Dialect) -> str:
    """Write a figure of related rows as a subquery; NULL where there is none."""
    rows = _related_rows(concept, dialect)
    if concept.figure is Figure.COUNT:
        return f"(SELECT COUNT(*) {rows})"
    column = f"{_OTHER}.{dialect.name(str(concept.of))}"
    if concept.figure is Figure.LATEST:
        time = f"{_OTHER}.{dialect.name(str(concept.relation.time))}"
        return f"(SELECT {column} {rows} ORDER BY {time} DESC NULLS LAST, {column} DESC LIMIT 1)"
    if concept.figure in (Figure.LEAST, Figure.GREATEST):
        return f"(SELECT {'MIN' if concept.figure is Figure.LEAST else 'MAX'}({column}) {rows})"
    if concept.figure is Figure.SUM and concept.digits is None:
        return f"(SELECT COALESCE(SUM({column}), 0) {rows})"
    function = "SUM" if concept.figure is Figure.SUM else "AVG"
    found = f"{function}(CAST({column} AS {dialect.double}))"
    if concept.figure is Figure.SUM:
        found = f"COALESCE({found}, 0)"
    assert dialect.rounded is not None
    return f"(SELECT {dialect.rounded(found, concept.digits or 0)} {rows})"
