"""A job over two tables, from the spec to SQL, `predict` and `explain`, on a part of the shop."""

from __future__ import annotations

import json

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from dnfscale.datasets.shop import PLANTED, customers, orders
from tests.bench.setting import ROOT
from tests.jobs.running import essence

SPEC = """\
schema_version = 1
name = "job"
kind = "KIND"
profile = "paper"

[data]
path = "customers.parquet"
target = "churned"
key = "customer_id"
as_of = "as_of"
missing = "indicator"

[[data.related]]
name = "orders"
path = "orders"
key = "customer_id"
time = "ordered_at"
windows = [90]
id = "order_id"

[relations]
max_concepts = 60

[booleanize]
cuts = 9

[select]
max_ell = 3

[folds]
outer = 2

[cluster]
kind = "serial"
"""


@pytest.fixture
def shop(desk, monkeypatch):
    """The desk with a part of the shop, in several files."""
    monkeypatch.chdir(desk.path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(desk.path / "cache"))
    people = customers().slice(0, 1_500)
    desk.table(people, "customers.parquet")
    bought = orders()
    mine = bought.filter(pc.is_in(bought.column("customer_id"), people.column("customer_id")))
    step = mine.num_rows // 3 + 1
    for number in range(3):
        desk.table(mine.slice(number * step, step), f"orders/{number}.parquet")
    return desk


def _spec(shop, kind="fit", **changes):
    text = SPEC.replace("KIND", kind)
    if kind == "fit":
        text = text.replace("[folds]\nouter = 2\n", "")
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    return shop.spec(text)


def test_what_was_planted_is_found_and_written_in_words_and_every_use_agrees(shop):
    ended = shop.here("run", _spec(shop, "study"))
    assert ended.code == 0, ended.err
    assert "orders" in ended.out
    for line in PLANTED:
        assert line in ended.out
    assert shop.result()["methods"]["ideal"]["accuracy_mean"] > 0.93
    model = shop.folder() / "model.json"
    data = ["customers.parquet", "--related", "orders=orders"]
    answered = shop.here("predict", model, *data, "--output", "answers")
    assert answered.code == 0, answered.err
    ours = pq.read_table(shop.path / "answers").column("prediction").to_pylist()
    people = pq.read_table(shop.path / "customers.parquet")
    exported = shop.here("export", model, "--to", "sql", "--table", "customers")
    assert exported.code == 0, exported.err
    with duckdb.connect() as connection:
        connection.register("customers", people)
        connection.sql("CREATE VIEW orders AS SELECT * FROM 'orders/*.parquet'")
        found = connection.sql(exported.out).fetchall()
    theirs = {row[0]: row[-1] for row in found}
    keys = people.column("customer_id").to_pylist()
    assert [theirs[key] for key in keys] == ours
    # Some of the customers have no orders at all.
    owners = set(pq.read_table(shop.path / "orders").column("customer_id").to_pylist())
    assert set(keys) - owners
    _check_python(shop, model, people, ours)
    _check_explained(shop, model, data, people)
    evaluated = shop.here("evaluate", model, *data, "--json")
    right = sum(pc.equal(people.column("churned"), pa.array(ours)).to_pylist())
    accuracy = json.loads(evaluated.out)["metrics"]["accuracy"]
    assert accuracy == pytest.approx(right / len(ours))


def test_the_job_that_comes_with_the_project_finds_what_was_planted(shop):
    spec = ROOT / "jobs" / "shop.toml"
    less = ["profile=paper", "folds.outer=2", "relations.max_concepts=60", "booleanize.cuts=9"]
    sets = [word for each in [*less, "data.missing=indicator"] for word in ("--set", each)]
    ended = shop.here("run", spec, *sets, "--output", "runs")
    assert ended.code == 0, ended.err
    for line in PLANTED:
        assert line in ended.out


def _check_python(shop, model, people, ours):
    exported = shop.here("export", model, "--to", "python")
    scope = {}
    exec(exported.out, scope)
    by_owner = {}
    for row in pq.read_table(shop.path / "orders").to_pylist():
        by_owner.setdefault(row["customer_id"], []).append(row)
    rows = people.to_pylist()[:300]
    found = [
        scope["predict"](row, {"orders": by_owner.get(row["customer_id"], [])}) for row in rows
    ]
    assert found == ours[:300]


def _check_explained(shop, model, data, people):
    bought = pq.read_table(shop.path / "orders").to_pylist()

    def bad_orders(row):
        return [
            other["order_id"]
            for other in bought
            if other["customer_id"] == row["customer_id"]
            and other["ordered_at"].date() < row["as_of"]
            and other["amount"] > 120
            and other["returned"]
        ]

    rows = people.to_pylist()
    number, bad = next((i, found) for i, row in enumerate(rows) if (found := bad_orders(row)))
    told = shop.here("explain", model, *data, "--row", str(number))
    assert told.code == 0, told.err
    listed = ", ".join(map(str, bad))
    assert f"some order has amount > 120 and returned: order_id {listed}" in told.out
    record = json.loads(shop.here("explain", model, *data, "--row", str(number), "--json").out)
    [found] = [each for each in record["related"] if "returned" in each["concept"]]
    assert (found["rows"], found["names"]) == (len(bad), bad)


def test_the_result_does_not_depend_on_files_or_workers(shop):
    assert shop.here("run", _spec(shop)).code == 0
    once = essence(shop.folder() / "result.json")
    rows = pq.read_table(shop.path / "customers.parquet")
    desk_rows = pq.read_table(shop.path / "orders").to_pylist()
    for number in range(3):
        (shop.path / "orders" / f"{number}.parquet").unlink()
    shop.table(pa.Table.from_pylist(desk_rows[::-1]), "orders/all.parquet", row_group_size=999)
    shop.table(rows, "customers.parquet", row_group_size=100)
    cluster = ('kind = "serial"', 'kind = "local"\nworkers = 2')
    ended = shop.here("run", _spec(shop, cluster=cluster), "--force")
    assert ended.code == 0, ended.err
    assert essence(shop.folder() / "result.json") == once


def test_a_plan_and_a_validation_join_nothing(shop):
    spec = _spec(shop)
    told = shop.here("validate", spec)
    assert told.code == 0, told.err
    assert "1,500 rows" in told.out
    assert "of which at most 60 are concepts of related rows" in told.out
    planned = shop.here("plan", spec)
    assert planned.code == 0, planned.err
    lines = planned.out.splitlines()
    reading = [line for line in lines if "Parquet of related rows" in line]
    assert [line[:22].strip() for line in reading] == ["look at related", "deal related"]
    assert "orders: read twice, for at most 60 concepts; joined once, then kept" in planned.out
    assert not (shop.path / "runs").exists()
    assert shop.here("run", spec).code == 0
    planned = shop.here("plan", spec)
    assert "Parquet of related rows" not in planned.out
    assert "of which 60 are concepts of related rows" in shop.here("validate", spec).out


def test_data_relate_writes_the_joined_table_that_models_read(shop):
    spec = _spec(shop)
    assert shop.here("run", spec).code == 0
    ended = shop.here("data", "relate", spec, "joined")
    assert ended.code == 0, ended.err
    assert "1,500 rows, 60 concepts in _concepts.json" in ended.out
    assert "some_orders_amount_above_120_and_returned" in pq.read_table("joined").column_names
    model = shop.folder() / "model.json"
    one = shop.here("predict", model, "joined", "--output", "one")
    other = shop.here(
        "predict", model, "customers.parquet", "--related", "orders=orders", "--output", "other"
    )
    assert (one.code, other.code) == (0, 0), one.err + other.err
    assert pq.read_table("one").equals(pq.read_table("other"))


def test_the_check_tells_of_keys_and_of_rows_that_come_too_late(shop):
    people = customers().slice(0, 1_500)
    again = pa.concat_tables([people, people.slice(0, 7)])
    shop.table(again, "customers.parquet")
    shop.table(orders().slice(0, 20_000), "orders/1.parquet")
    ended = shop.here("check", _spec(shop), "--json")
    assert ended.code == 0, ended.err
    check = json.loads(ended.out)
    found = {finding["kind"]: finding for finding in check["findings"]}
    assert found["repeated_keys"]["severity"] == "error"
    assert found["repeated_keys"]["evidence"].startswith("7 of 1,507 rows have a customer_id that")
    owners = pq.read_table(shop.path / "orders").column("customer_id").to_pylist()
    keys = again.column("customer_id").to_pylist()
    without, strays = sum(k not in set(owners) for k in keys), sum(o not in keys for o in owners)
    assert found["keys_without_rows"]["evidence"] == f"{without} of 1,507 rows have none in orders"
    assert f"{strays:,} of {len(owners):,} rows of orders" in found["rows_without_main"]["evidence"]
    assert found["rows_without_main"]["severity"] == "note"
    assert "% of the pairs of rows right (AUC)" in found["later_rows"]["evidence"]
    assert [column["name"] for column in check["columns"]] == ["age", "region", "churned"]
    assert "repeated_rows" not in found, "customers of one age and region are no copies"


@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_what_is_not_joined_yet_is_validated_and_planned(shop, missing):
    spec = _spec(shop, missing=('missing = "indicator"', f'missing = "{missing}"'))
    valid = shop.here("validate", spec)
    assert (valid.code, valid.err) == (0, "")
    assert "of which at most 60 are concepts of related rows" in valid.out
    assert shop.here("plan", spec).code == 0
    assert not (shop.path / "runs").exists()


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        (
            ('key = "customer_id"\ntime', 'key = "customer"\ntime'),
            2,
            "got 'customer'; did you mean",
        ),
        (('key = "customer_id"\nas_of', 'key = "id"\nas_of'), 2, "key must name a column of"),
        (('as_of = "as_of"', 'as_of = "region"'), 3, "expected dates or times in 'region'"),
        (('as_of = "as_of"\n', ""), 2, "the windows of orders need its time and data.as_of"),
        (('key = "customer_id"\nas_of', "as_of"), 2, "[[data.related]] needs data.key"),
        (
            ("windows = [90]", "windows = [0]"),
            2,
            "job.toml:13: data.related[0].windows must be a list of at most",
        ),
        (
            ('id = "order_id"', '[[data.related]]\nname = "Orders"\npath = "x"\nkey = "id"'),
            2,
            "data.related must be tables that each have a name of their own",
        ),
        (('name = "orders"', 'name = "my orders"'), 2, "data.related[0].name must be a word of"),
        (('path = "orders"', 'paths = "orders"'), 2, "unknown key data.related[0].paths"),
        (('path = "orders"', 'path = "nowhere"'), 3, "nowhere: expected"),
        (("max_concepts = 60", "max_concepts = 0"), 2, "relations.max_concepts must be a whole"),
        (('id = "order_id"', 'id = "order"'), 2, "id must name a column of"),
    ],
)
def test_bad_specs_are_told(shop, change, code, told):
    ended = shop.here("run", _spec(shop, change=change))
    assert (ended.code, told in ended.message) == (code, True), ended.err
    assert "Traceback" not in ended.err
    assert not (shop.path / "runs" / "job").exists()


@pytest.mark.parametrize(
    ("related", "told"),
    [
        ([], "the model asks about related rows in orders; add --related orders=PATH"),
        (["--related", "orders"], "--related takes NAME=PATH"),
        (["--related", "visits=orders"], "must name a table that the model asks about (orders)"),
        (["--related", "orders=a", "--related", "orders=b"], "names the table 'orders' twice"),
    ],
)
def test_related_tables_that_are_not_named_are_told(shop, related, told):
    model = shop.path / "model.json"
    concept = {"table": "orders", "key": "customer_id", "main_key": "customer_id", "figure": "some"}
    attribute = {"name": "some", "column": "some", "test": "related", "asks": "true", "value": True}
    record = {
        "schema": "dnfscale.model/2",
        "target": "churned",
        "positive": [True],
        "missing": "drop",
        "unseen": "negative",
        "attributes": [{**attribute, "related": concept}],
        "lines": [{"all": [{"attribute": 0, "value": True}]}],
        "types": "attributes",
        "counts": [{"type": [True], "n": 2, "c": 2}],
        "formula": "some",
        "certificate": {},
        "provenance": {},
    }
    model.write_text(json.dumps(record))
    ended = shop.here("predict", model, "customers.parquet", *related, "--output", "answers")
    assert (ended.code, told in ended.message) == (2, True), ended.err
