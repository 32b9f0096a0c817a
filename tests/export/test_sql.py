"""SQL as it reads, and as DuckDB carries it out where an engine is easily mistaken."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, IsTrue
from dnfscale.errors import DataError, SpecError
from dnfscale.export.dialects import DIALECTS
from dnfscale.export.latex import export_latex
from dnfscale.export.pmml import export_pmml
from dnfscale.export.python import export_python
from dnfscale.export.sql import export_sql
from dnfscale.export.text import export_text
from dnfscale.spec.registry import EXPORTS
from tests.export.examples import NAMES, TEXTS, expected, formula, single

NAN, INF = float("nan"), float("inf")


def ask(connection, model, table):
    connection.register("t", table)
    return [row[-1] for row in connection.sql(export_sql(model, table="t")).fetchall()]


def test_one_term_a_line_in_the_order_of_the_formula():
    model = formula(
        [
            Above("a", "age", 38),
            IsTrue("s", "smoker", True),
            Equals("c", "colour", "red"),
            IsMissing("m", "colour"),
        ],
        [[(0, True), (1, False)], [(1, True), (2, True), (3, False)], [(2, False)]],
    )
    assert export_sql(model).splitlines() == [
        "COALESCE(",
        """  "age" > 38 AND "age" = least("age", 'inf'::DOUBLE) AND "smoker" IS NOT TRUE""",
        """  OR "smoker" IS TRUE AND "colour" = 'red'""",
        """  OR "colour" IS DISTINCT FROM 'red',""",
        "  FALSE",
        ")",
    ]


def test_a_select_has_all_columns_and_the_prediction():
    model = formula(
        [IsTrue("s", "smoker", True), IsTrue("b", "b", False)], [[(0, True)], [(1, False)]]
    )
    assert export_sql(model, table="people").splitlines() == [
        "SELECT",
        "  *,",
        "  (",
        '    "smoker" IS TRUE',
        '    OR "b" IS NOT FALSE',
        "  ) AS prediction",
        'FROM "people"',
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_constant_formula_is_a_constant(dialect):
    never, always = ("0", "1") if dialect == "sqlite" else ("FALSE", "TRUE")
    assert export_sql(formula([Above("a", "x", 1)], []), dialect) == never
    assert export_sql(formula([Above("a", "x", 1)], [[]]), dialect) == always


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("never", [Above("a", "x", None), Between("a", "x", None, None)])
def test_what_had_no_cut_is_never_above_it(dialect, never):
    no, yes = ("(0)", "(1)") if dialect == "sqlite" else ("(FALSE)", "(TRUE)")
    assert export_sql(single(never), dialect) == no
    assert export_sql(single(never, False), dialect) == yes


@pytest.mark.parametrize(
    ("dialect", "inside", "outside"),
    [
        (
            "duckdb",
            """COALESCE("x" > 1 AND "x" <= 2.5e0 AND "x" = least("x", 'inf'::DOUBLE), FALSE)""",
            """(("x" <= 1 OR "x" > 2.5e0 OR "x" IS NULL OR "x" > least("x", 'inf'::DOUBLE)))""",
        ),
        (
            "postgres",
            """COALESCE("x" > 1 AND "x" <= 2.5 AND "x" < 'NaN'::float8, FALSE)""",
            """(("x" <= 1 OR "x" > 2.5 OR "x" IS NULL OR "x" = 'NaN'::float8))""",
        ),
        (
            "bigquery",
            "COALESCE(`x` > 1 AND `x` <= 2.5, FALSE)",
            "((`x` <= 1 OR `x` > 2.5 OR `x` IS NULL OR IS_NAN(`x`)))",
        ),
    ],
)
def test_an_interval_is_two_comparisons_and_its_negation_is_never_null(dialect, inside, outside):
    interval = Between("a", "x", 1.0, 2.5)
    assert export_sql(single(interval), dialect) == inside
    assert export_sql(single(interval, False), dialect) == outside


@pytest.mark.slow
@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (
            pa.float64(),
            [NAN, np.copysign(NAN, -1), None, INF, -INF, 5.0, np.nextafter(5.0, 6), 4.9, -0.0],
        ),
        (pa.float32(), [NAN, np.copysign(NAN, -1), None, INF, -INF, 5.0, 5.0000005, 4.9]),
        (pa.int64(), [None, 5, 6, 2**63 - 1, -(2**63)]),
        (pa.uint64(), [None, 5, 6, 2**64 - 1, 0]),
        (pa.int8(), [None, 5, 6, -128, 127]),
    ],
)
@pytest.mark.parametrize("cut", [5, 5.0, 4.5, INF, -INF, -1, 1.5 * 2.0**100, 2**64 - 1, None])
def test_nan_and_null_are_above_nothing(connection, kind, values, cut, holds):
    table = pa.table({"x": pa.array(values, kind)})
    for low, high in ((cut, 6), (-2, cut), (5, cut)):
        ends = (None, None) if cut is None else (low, high)
        for attribute in (Above("a", "x", cut), Between("a", "x", *ends)):
            model = single(attribute, holds)
            assert ask(connection, model, table) == expected(model, table)


@pytest.mark.slow
@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("values", [[0, 10], [5, 10], [0, 4], [4.5, 4.75], [INF, 5], [-INF, 4]])
@pytest.mark.parametrize("row_group_size", [2, 1000])
def test_nan_is_above_nothing_in_a_parquet_file_whose_footer_does_not_know_of_it(
    connection, tmp_path, values, holds, row_group_size
):
    # What a footer says of the least and the greatest value leaves NaN out.
    for kind in (pa.float64(), pa.float32()):
        table = pa.table({"x": pa.array([*values, NAN, values[0], NAN, None, values[1]], kind)})
        file = tmp_path / f"{kind}.parquet"
        pq.write_table(table, file, row_group_size=row_group_size)
        for attribute in (
            Above("a", "x", 4.5),
            Between("a", "x", 4.5, 20),
            Between("a", "x", -1, 7),
            IsMissing("a", "x"),
        ):
            model = single(attribute, holds)
            answers = [
                row[-1] for row in connection.sql(export_sql(model, table=str(file))).fetchall()
            ]
            assert answers == expected(model, table)
            # Of a row group with one number besides NaN, DuckDB 2.0 takes all rows for that number
            # in a WHERE clause.
            if row_group_size < 3:
                continue
            found = connection.sql(
                f"SELECT count(*) FROM '{file}' WHERE {export_sql(model)}"
            ).fetchall()
            assert found == [(sum(answers),)]


@pytest.mark.parametrize(
    "cut", [2**53 + 1, -(2**53) - 1, 2**53, float(2**53), float(2**62), 2**62 + 1, 2**63 + 1]
)
@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_whole_numbers_beyond_floats_are_told_apart(connection, kind, cut):
    near = [int(cut) + step for step in (-2, -1, 0, 1, 2)]
    low, high = (0, 2**64 - 1) if kind == pa.uint64() else (-(2**63), 2**63 - 1)
    table = pa.table(
        {"x": pa.array([value for value in [low, *near, high] if low <= value <= high], kind)}
    )
    for attribute in (
        Above("a", "x", cut),
        Equals("a", "x", cut),
        Between("a", "x", 0.5, cut),
        Between("a", "x", cut, cut + 1),
    ):
        model = single(attribute)
        assert ask(connection, model, table) == expected(model, table)


def test_a_float32_column_is_cut_where_the_model_cuts_it(connection):
    values = np.array([0.1, 0.2, 0.3, 0.7, 1e-45, 3.4e38], dtype=np.float32)
    table = pa.table({"x": values})
    for cut in values:
        for model in (
            single(Above("a", "x", float(cut))),
            single(Equals("a", "x", float(cut))),
            single(Between("a", "x", 0.0, float(cut))),
        ):
            assert ask(connection, model, table) == expected(model, table)
            assert sum(expected(model, table)) >= (isinstance(model.tau.attributes[0], Equals))


@pytest.mark.parametrize(
    "cut", [0.30000000000000004, 0.1 + 0.7, 1 / 3, 123456.78901234567, 5e-324, 1.7e308]
)
def test_a_cut_of_seventeen_digits_is_that_very_number(connection, cut):
    table = pa.table({"x": [np.nextafter(cut, -np.inf), cut, np.nextafter(cut, np.inf)]})
    assert ask(connection, single(Above("a", "x", cut)), table) == [False, False, True]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_be_that_of_a_column(connection, name, tmp_path):
    table = pa.table({name: [1.0, 2.0, None], "other": [5.0, 5.0, 5.0]})
    file = tmp_path / "t.parquet"
    pq.write_table(table, file)
    model = formula(
        [Above("a", name, 1.5), Above("o", "other", 1)],
        [[(0, True), (1, True)], [(0, False), (1, False)]],
    )
    found = connection.sql(export_sql(model, table=str(file))).fetchall()
    assert [row[-1] for row in found] == [False, True, False]


def test_every_hostile_text_is_told_from_all_others(connection):
    texts = [*TEXTS, "x\0y", "\0", "x\0", "x"]
    connection.register("t", pa.table({"c": [*texts, None]}))
    listed = ",\n".join(
        f"{export_sql(single(Equals('a', 'c', text)))}, {differs(text)}" for text in texts
    )
    for value, found in zip(
        [*texts, None], connection.sql(f"SELECT {listed} FROM t").fetchall(), strict=True
    ):
        assert found[::2] == tuple(text == value for text in texts)
        assert found[1::2] == tuple(text != value for text in texts)


def differs(text):
    return export_sql(single(Equals("a", "c", text), False))


def test_a_category_of_a_dictionary_need_not_be_one_of_its_values(connection):
    connection.execute("CREATE TYPE colour AS ENUM ('red', '1'); CREATE TABLE t (c colour)")
    connection.execute("INSERT INTO t VALUES ('red'), ('1'), (NULL)")
    asked = {
        text: connection.sql(export_sql(single(Equals("a", "c", text)), table="t"))
        for text in ("red", "1", "2")
    }
    assert {text: [row[-1] for row in rows.fetchall()] for text, rows in asked.items()} == {
        "red": [True, False, False],
        "1": [False, True, False],
        "2": [False, False, False],
    }


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize(
    ("attribute", "column"),
    [
        (Equals("a", "c", 1), ["1", "2"]),
        (Equals("a", "c", 1.5), ["1.5", "2"]),
        (Equals("a", "c", 1), [True, False]),
        (Above("a", "c", 1), ["1", "2"]),
        (Above("a", "c", 0), [True, False]),
        (Between("a", "c", 0, 1), ["1", "2"]),
        (Between("a", "c", 0, 1), [True, False]),
        (Equals("a", "c", "1"), [1, 2]),
        (Equals("a", "c", "-1.5"), [1.5, 2]),
        (Equals("a", "c", "true"), [True, False]),
        (Equals("a", "c", "red"), [1, 2]),
    ],
)
def test_a_column_of_another_type_is_refused(connection, attribute, column, holds):
    connection.register("t", pa.table({"c": column}))
    with pytest.raises((duckdb.BinderException, duckdb.ConversionException)):
        connection.sql(export_sql(single(attribute, holds), table="t")).fetchall()


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("test", [IsTrue, Equals])
@pytest.mark.parametrize("holds", [True, False])
def test_truth_values_are_compared_as_such(connection, test, value, holds):
    table = pa.table({"b": [True, False, None]})
    model = single(test("a", "b", value), holds)
    assert ask(connection, model, table) == expected(model, table)


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.5, NAN, None, np.copysign(NAN, -1)], pa.float32()),
        pa.array([1.5, NAN, None, np.copysign(NAN, -1)], pa.float64()),
        pa.array([1, 2, None], pa.uint64()),
        pa.array(["nan", "NaN", None]),
        pa.array([True, False, None]),
        pa.array([None, None, None]),
    ],
)
def test_what_is_only_asked_for_its_absence_may_be_of_any_type(connection, column, holds):
    table = pa.table({"c": column})
    model = single(IsMissing("a", "c"), holds)
    assert ask(connection, model, table) == expected(model, table)


@pytest.mark.parametrize(
    ("dialect", "table", "written"),
    [
        ("duckdb", "people", 'FROM "people"'),
        ("duckdb", "sales.people", 'FROM "sales"."people"'),
        ("postgres", 'sales."a.b"', 'FROM "sales"."a.b"'),
        ("postgres", '"say ""hi"""', 'FROM "say ""hi"""'),
        ("postgres", "data.parquet", 'FROM "data"."parquet"'),
        ("bigquery", "my-project.d.people", "FROM `my-project`.`d`.`people`"),
        ("bigquery", "a`b", "FROM `a\\`b`"),
        ("duckdb", "data.parquet", "FROM 'data.parquet'"),
        ("duckdb", "it's/*.parquet", "FROM 'it''s/*.parquet'"),
        ("duckdb", "x; DROP TABLE t", 'FROM "x; DROP TABLE t"'),
    ],
)
def test_a_table_is_quoted_part_by_part(dialect, table, written):
    assert export_sql(single(Above("a", "x", 1)), dialect, table).splitlines()[-1] == written


@pytest.mark.parametrize("table", ["", ".", "a.", ".a", "a..b", '"', 'a"b', '"a"b', "a\0b", '""'])
def test_what_is_no_name_of_a_table_is_refused(table):
    with pytest.raises(SpecError, match=r"^a table must be a name such as customers"):
        export_sql(single(Above("a", "x", 1)), table=table)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_comment_says_what_conditions_about_nan_are_for_where_there_are_any(dialect):
    written = EXPORTS["sql"].write
    kept, number = written(single(IsTrue("b", "b", True)), dialect), single(Above("a", "x", 1))
    assert "/*" not in kept
    asked = [
        written(number, dialect),
        written(single(Above("a", "x", 1), False), dialect),
    ]
    noted = [text.startswith("/* ") and "NaN" in text.splitlines()[0] for text in asked]
    # BigQuery has it in negations only, SQLite has no NaN.
    expected = {"bigquery": [False, True], "sqlite": [False, False]}.get(dialect, [True, True])
    assert noted == expected


def test_an_unknown_dialect_is_refused():
    with pytest.raises(SpecError, match=r"^dialect must be one of duckdb, .*, got 'oracle'$"):
        export_sql(single(Above("a", "x", 1)), "oracle")


def test_a_probability_needs_a_table():
    with pytest.raises(SpecError, match="a column of a whole SELECT; name a table too"):
        export_sql(single(Above("a", "x", 1)), probability=True)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("name", "trouble"), [("", "an empty name"), ("a\0b", "the character NUL in its name")]
)
def test_a_name_that_no_column_can_have_is_refused(dialect, name, trouble):
    with pytest.raises(DataError, match=f"^{DIALECTS[dialect].title} has no column with {trouble}"):
        export_sql(single(Above("a", name, 1)), dialect)


def test_names_that_differ_in_case_only_are_refused_where_they_are_the_same():
    model = formula([Above("a", "x", 1), Above("b", "X", 1)], [[(0, True), (1, True)]])
    with pytest.raises(DataError, match=r"^DuckDB takes the columns 'x' and 'X' for the same"):
        export_sql(model)
    assert '"X" > 1' in export_sql(model, "postgres")
    other = formula([Above("a", "ä", 1), Above("b", "Ä", 1)], [[(0, True), (1, True)]])
    assert export_sql(other)


@pytest.mark.parametrize(
    ("column", "others", "refusing"),
    [
        ("Y", ("y",), {"duckdb", "bigquery"}),
        ("x", ("X",), {"duckdb", "bigquery"}),
        ("eÉ", ("Eé", "EÉ"), {"duckdb", "bigquery"}),
        ("É", ("é",), {"bigquery"}),
        ("İ", ("i\u0307",), {"bigquery"}),
        ("ß", ("ẞ",), {"bigquery"}),
        ("straße", ("STRASSE",), set()),
        ("X_1", ("x", "X"), {"duckdb", "bigquery"}),
        ("x" * 63 + "a", ("x" * 63 + "A",), {"duckdb", "bigquery", "postgres"}),
    ],
)
def test_a_column_that_may_be_taken_for_another_of_the_dataset_is_refused(
    connection, column, others, refusing
):
    model = formula(
        [Above("a", column, 1), Above("b", "z", 2)],
        [[(0, True), (1, True)]],
        lookalikes={column: tuple(others)},
    )
    # Spark compares names as BigQuery does, SQLite as DuckDB; Snowflake tells quoted names apart.
    refusing |= {"spark"} if "bigquery" in refusing else set()
    refusing |= {"sqlite"} if "duckdb" in refusing else set()
    for name, dialect in DIALECTS.items():
        if name not in refusing:
            assert export_sql(model, name, "t", probability=True)
            continue
        with pytest.raises(DataError) as caught:
            export_sql(model, name)
        told = str(caught.value)
        assert told.startswith(f"{dialect.title} takes the columns ")
        assert (
            f"for the same, and may read another column as {column!r} than the one learned from; "
            in told
        )
        assert told.endswith(
            "name one otherwise and learn again, or export to a language that tells them "
            "apart, such as Python"
        )
    # DuckDB itself takes exactly those for the same.
    connection.register("t", pa.table({name: [0] for name in dict.fromkeys((*others, column))}))
    assert (
        connection.sql("SELECT * FROM t").columns != list(dict.fromkeys((*others, column)))
    ) == ("duckdb" in refusing)
    for export in (export_python, export_text, export_latex, export_pmml):
        assert export(model)


def test_a_column_that_only_the_probability_needs_is_refused_with_it():
    model = formula(
        [Above("a", "x", 1), Above("b", "z", 1)], [[(0, True)]], lookalikes={"z": ("Z",)}
    )
    assert export_sql(model, table="t")
    with pytest.raises(
        DataError, match=r"^DuckDB takes the columns 'z' and 'Z' of the dataset for the same"
    ):
        export_sql(model, table="t", probability=True)


def test_only_the_columns_of_the_formula_matter():
    model = formula([Above("a", "x", 1), Above("b", "", 1)], [[(0, True)]])
    assert '"x" > 1' in export_sql(model)
    with pytest.raises(DataError, match="has no column with an empty name"):
        export_sql(model, table="t", probability=True)


def test_a_column_is_compared_with_values_of_one_kind():
    model = formula([Above("a", "x", 1), Equals("b", "x", "red")], [[(0, True), (1, True)]])
    with pytest.raises(DataError, match="compares 'x' with a number and with text"):
        export_sql(model)
