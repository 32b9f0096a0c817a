"""Each finding is made where the data have it, and not where they almost have it."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dnfscale.engine.serial import SerialEngine
from dnfscale.learn.check import check_source
from dnfscale.results.check import Check, Finding
from tests.examples import in_parts

N = 2_000
RANDOM = np.random.default_rng(21)
Y = RANDOM.random(N) < 0.4
NOISE = RANDOM.normal(size=N).round(1)
IDS = RANDOM.permutation(10 * N)[:N]
TEXTS = [f"c-{i}" for i in IDS]
DAYS = [str(date(2020, 1, 1) + timedelta(days=int(i) % 400)) for i in IDS]
CODES = RANDOM.integers(1, 6, N)


def checked(columns: dict[str, Any], y: Any = Y) -> Check:
    table = pa.table({**columns, "noise": NOISE[: len(y)], "y": y})
    return check_source(in_parts(table, []), "y", SerialEngine())


def kinds(check: Check, column: str) -> dict[str, Finding]:
    return {finding.kind: finding for finding in check.column(column).findings}


def flipped(values: Any, n: int) -> Any:
    """Return truth values with the first n turned around."""
    changed = np.array(values)
    changed[:n] = ~changed[:n]
    return changed


def replaced(values: Any, n: int, by: Any) -> list[Any]:
    """Return values with the first n replaced."""
    return [*[by] * n, *list(values)[n:]]


COLUMNS: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "unique texts": ("identifier", "a", {"a": TEXTS}, {"a": replaced(TEXTS, 200, "x")}),
    "unique whole numbers": ("identifier", "a", {"a": IDS}, {"a": replaced(IDS, 200, 5)}),
    "consecutive numbers of few rows": (
        "identifier",
        "a",
        {"a": np.arange(N) + 7},
        {"a": np.arange(N) // 2},
    ),
    "a name and nearly unique numbers": (
        "identifier",
        "visit_id",
        {"visit_id": replaced(IDS, 300, 5)},
        {"visit_id": replaced(IDS, 500, 5)},
    ),
    "one value": ("constant", "a", {"a": ["x"] * N}, {"a": replaced(["x"] * N, 21, "z")}),
    "nearly one value": (
        "constant",
        "a",
        {"a": replaced([0] * N, 20, 1)},
        {"a": replaced([0] * N, 30, 1)},
    ),
    "no value": ("constant", "a", {"a": pa.nulls(N, pa.float64())}, {"a": NOISE + 1}),
    "equal numbers": (
        "copy",
        "b",
        {"a": NOISE * 3, "b": NOISE * 3},
        {"a": NOISE * 3, "b": replaced(NOISE * 3, 1, 77.0)},
    ),
    "a complement": (
        "copy",
        "b",
        {"a": NOISE > 0.5, "b": NOISE <= 0.5},
        {"a": NOISE > 0.5, "b": flipped(NOISE <= 0.5, 1)},
    ),
    "other words for the same": (
        "copy",
        "b",
        {"a": CODES, "b": [f"k{i}" for i in CODES]},
        {"a": CODES, "b": [f"k{min(i, 4)}" for i in CODES]},
    ),
    "the answer itself": ("leak", "a", {"a": flipped(Y, 10)}, {"a": flipped(Y, 30)}),
    "the answer behind a cut": (
        "leak",
        "a",
        {"a": np.where(Y, 5.5, 0.0) + NOISE},
        {"a": np.where(Y, 1.5, 0.0) + NOISE},
    ),
    "a number of missing": (
        "missing_codes",
        "a",
        {"a": replaced(RANDOM.integers(18, 90, N), 30, -9)},
        {"a": replaced(RANDOM.integers(-20, 90, N), 30, -9)},
    ),
    "nines of missing": (
        "missing_codes",
        "a",
        {"a": replaced(RANDOM.integers(18, 90, N), 30, 999)},
        {"a": replaced(RANDOM.integers(18, 900, N), 30, 999)},
    ),
    "a text of missing": (
        "missing_codes",
        "a",
        {"a": replaced(["p", "q"] * (N // 2), 30, " N/A ")},
        {"a": replaced(["p", "q"] * (N // 2), 30, "Namibia")},
    ),
    "an empty text": (
        "missing_codes",
        "a",
        {"a": replaced(["p", "q"] * (N // 2), 30, "")},
        {"a": replaced(["p", "q"] * (N // 2), 30, "o")},
    ),
    "codes by their name": (
        "codes",
        "ward_code",
        {"ward_code": CODES},
        {"ward_code": RANDOM.integers(0, 60, N)},
    ),
    "codes by the target": (
        "codes",
        "a",
        {"a": np.where(Y, RANDOM.choice([1, 3, 5], N), RANDOM.choice([1, 2, 4], N))},
        {"a": np.where(Y, RANDOM.choice([2, 3, 4], N), RANDOM.choice([1, 2, 3], N))},
    ),
    "numbers in text": (
        "text_numbers",
        "a",
        {"a": replaced(map(str, NOISE), 90, "x")},
        {"a": replaced(map(str, NOISE), 150, "x")},
    ),
    "decimal commas": (
        "text_numbers",
        "a",
        {"a": [f"{v:.1f}".replace(".", ",") for v in NOISE]},
        {"a": [f"{v:.1f};" for v in NOISE]},
    ),
    "numbers with a unit": (
        "text_numbers",
        "a",
        {"a": replaced([f"{i % 90} cm" for i in IDS], 90, "?")},
        {"a": [f"{i % 90} {'cm' if i % 9 else 'in'}" for i in IDS]},
    ),
    "shares in text": (
        "text_numbers",
        "a",
        {"a": [f"{abs(v):.1f} %" for v in NOISE]},
        {"a": [f"{i}a" for i in IDS]},
    ),
    "prices in text": (
        "text_numbers",
        "a",
        {"a": [f"${1000 + i % 900:,}.50" for i in IDS]},
        {"a": [f"{'$' if i % 9 else '€'}{1000 + i % 900:,}.50" for i in IDS]},
    ),
    "one value in two spellings": (
        "spellings",
        "a",
        {"a": replaced(["m", "w"] * (N // 2), 30, " M")},
        {"a": replaced(["m", "w"] * (N // 2), 30, "mm")},
    ),
    "dates in text": (
        "text_dates",
        "a",
        {"a": replaced(DAYS, 90, "soon")},
        {"a": replaced(DAYS, 150, "soon")},
    ),
    "dates": (
        "dates",
        "a",
        {"a": pa.array((IDS % 400).astype(np.int32), pa.date32())},
        {"a": pa.array(IDS % 400, pa.duration("s"))},
    ),
    "many rare categories": (
        "many_categories",
        "a",
        {"a": [f"c{i % 300}" for i in IDS]},
        {"a": [f"c{i % 40}" for i in IDS]},
    ),
    "values that repeat like subjects": (
        "group",
        "patient",
        {"patient": [f"p{i % 400}" for i in IDS]},
        {"patient": [f"p{i % 12}" for i in IDS]},
    ),
    "subjects of whom few came twice": (
        "group",
        "patient",
        {"patient": [f"p{i % 1500}" for i in range(N)]},
        {"patient": [f"p{i % 1920}" for i in range(N)]},
    ),
    "numbers of subjects": (
        "group",
        "customer_id",
        {"customer_id": IDS % 400},
        {"customer_id": NOISE},
    ),
    "a value where the answer is yes": (
        "leak",
        "a",
        {"a": pa.array(NOISE, mask=flipped(~Y, 8))},
        {"a": pa.array(NOISE, mask=flipped(~Y, 30))},
    ),
    "values that are each of one class": (
        "leak",
        "a",
        {"a": [f"{'p' if y else 'n'}{i}" for y, i in zip(flipped(Y, 8), CODES, strict=True)]},
        {"a": [f"{'p' if y else 'n'}{i}" for y, i in zip(flipped(Y, 60), CODES, strict=True)]},
    ),
    "the answer between two cuts": (
        "leak",
        "a",
        {"a": np.where(Y, 0.0, np.where(CODES > 2, 9.0, -9.0)) + NOISE / 3},
        {"a": np.where(Y, 0.0, np.where(CODES > 2, 9.0, -9.0)) + NOISE * 3},
    ),
    "decimal commas of which each row has its own": (
        "text_numbers",
        "a",
        {"a": [f"{i / 7:.4f}".replace(".", ",") for i in IDS]},
        {"a": [f"{i:05d}" for i in IDS]},
    ),
    "dates of which each row has its own": (
        "text_dates",
        "a",
        {"a": [f"{DAYS[i]} {i // 60 % 24:02d}:{i % 60:02d}:00" for i in range(N)]},
        {"a": [f"{DAYS[i]}/{i}" for i in range(N)]},
    ),
    "missing in one class only": (
        "missing_in_one_class",
        "a",
        {"a": pa.array(NOISE, mask=Y & (NOISE > 0.5))},
        {"a": pa.array(NOISE, mask=(Y & (NOISE > 0.5)) | (np.arange(N) == np.flatnonzero(~Y)[0]))},
    ),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_a_column_that_has_it_is_found_and_one_that_almost_has_it_is_not(case):
    kind, name, has, almost = COLUMNS[case]
    assert kind in kinds(checked(has), name)
    assert kind not in kinds(checked(almost), name)


def test_a_leak_is_an_error_and_says_how_often_one_condition_is_right():
    found = kinds(checked({"a": flipped(Y, 10)}), "a")["leak"]
    assert found.severity == "error"
    assert "99.5 %" in found.evidence
    assert "drop it" in found.advice


def test_a_column_known_afterwards_is_a_leak_only_if_it_tells_most_and_its_name_says_so():
    duration = np.where(Y, 2.0, 0.0) + RANDOM.normal(size=N)
    assert kinds(checked({"duration": duration}), "duration")["leak"].severity == "warning"
    assert "leak" not in kinds(checked({"length": duration}), "length")
    assert "leak" not in kinds(checked({"duration": duration, "b": duration + 0.1}), "duration")


def test_labels_in_several_spellings_are_told_with_their_rows():
    labels = np.where(Y, "Yes", "No").astype(object)
    labels[np.flatnonzero(Y)[:7]] = "yes "
    [finding] = checked({}, labels.tolist()).column("y").findings
    assert (finding.kind, finding.severity) == ("spellings", "warning")
    assert f"'Yes' in {Y.sum() - 7:,} rows, 'yes ' in 7 rows differ in case or" in finding.evidence


def test_many_categories_are_more_than_a_note_where_most_rows_have_a_rare_one():
    rare = [f"c{i % 300}" for i in IDS]
    assert kinds(checked({"a": rare}), "a")["many_categories"].severity == "warning"
    mostly = ["other" if i % 3 else text for i, text in enumerate(rare)]
    assert kinds(checked({"a": mostly}), "a")["many_categories"].severity == "note"


def test_numbers_that_go_one_to_one_in_another_order_are_only_noted():
    shuffled = np.array([0.0, 5.5, 1.5, 4.5, 3.5, 2.5])
    check = checked({"code": CODES, "price": shuffled[CODES], "rises": CODES * 2.5 + 1})
    assert kinds(check, "price")["copy"].severity == "note"
    assert "not in the same order" in kinds(check, "price")["copy"].evidence
    assert kinds(check, "rises")["copy"].severity == "warning"


def test_no_more_values_are_told_than_there_are_rows():
    n = 3_000
    columns = {f"a{i}": RANDOM.permutation(10 * n)[:n] / 7 for i in range(12)}
    table = pa.table({**columns, "y": np.arange(n) % 2})
    found = check_source(in_parts(table, []), "y", SerialEngine())
    assert all((column.distinct or 0) <= n for column in found.columns)


@pytest.mark.parametrize("name", ["seqn", "SeqNo", "caseid", "visitid"])
def test_names_of_numbers_that_are_given_to_rows_say_that_they_are_identifiers(name):
    amounts = np.sort(RANDOM.permutation(100 * N)[:N]) ** 2
    assert kinds(checked({name: amounts}), name)["identifier"].severity == "warning"
    assert kinds(checked({"covid": amounts}), "covid")["identifier"].severity == "note"


def test_where_one_class_is_nearly_all_rows_being_right_as_often_is_no_leak():
    y = np.arange(N) % 100 == 0
    assert "leak" not in kinds(checked({"a": flipped(y, 10)}, y), "a")


def test_a_condition_that_finds_nearly_all_of_a_rare_class_is_a_leak():
    y = np.arange(N) % 20 == 0
    assert "leak" in kinds(checked({"a": flipped(y, 18)}, y), "a")
    assert "leak" not in kinds(checked({"a": flipped(y, 20)}, y), "a")


def test_a_target_of_one_label_is_an_error():
    found = kinds(checked({}, np.ones(N, dtype=bool)), "y")["constant"]
    assert (found.severity, "only True" in found.evidence) == ("error", True)


def with_rare(n: int) -> Any:
    y = np.repeat(["no", "yes"], [N - n, n])
    return y[RANDOM.permutation(N)]


TABLES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "a rare class": ("rare_class", {"y": with_rare(60)}, {"y": with_rare(120)}),
    "rows that repeat": (
        "repeated_rows",
        {"columns": {"a": [*range(N - 30), *[7] * 30]}, "y": np.arange(N) % 2 == 0, "flat": True},
        {"columns": {"a": [*range(N - 10), *[7] * 10]}, "y": np.arange(N) % 2 == 0, "flat": True},
    ),
    "rows sorted by class": ("sorted_by_class", {"y": np.sort(Y)}, {"y": Y}),
    "rows nearly sorted by class": (
        "sorted_by_class",
        {"y": flipped(np.sort(Y), 0) ^ (np.arange(N) % 50 == 0)},
        {"y": np.sort(Y) ^ (np.arange(N) % 5 == 0)},
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_table_that_has_it_is_found_and_one_that_almost_has_it_is_not(case):
    kind, has, almost = TABLES[case]
    assert kind in {finding.kind for finding in of_table(**has).findings}
    assert kind not in {finding.kind for finding in of_table(**almost).findings}


def of_table(y: Any, columns: dict[str, Any] | None = None, flat: bool = False) -> Check:
    if not flat:
        return checked(columns or {}, y)
    table = pa.table({**(columns or {}), "y": y})
    return check_source(in_parts(table, []), "y", SerialEngine())


def test_rows_sorted_by_class_are_found_across_partitions():
    table = pa.table({"noise": NOISE, "y": np.sort(Y)})
    for cuts in ([], [1, 700, 1500], range(0, N, 3)):
        found = check_source(in_parts(table, list(cuts)), "y", SerialEngine())
        assert [finding.kind for finding in found.findings if "sorted" in finding.kind] != []


def test_a_name_alone_makes_no_identifier_of_numbers_that_repeat():
    assert "identifier" not in kinds(checked({"room_no": CODES}), "room_no")


def test_of_few_rows_nothing_is_said_that_chance_would_say():
    few = 12
    found = checked({"a": IDS[:few], "b": [f"t{i}" for i in IDS[:few]]}, Y[:few])
    assert not kinds(found, "a")
    assert not kinds(found, "b")


def test_what_is_said_of_subjects_or_counts_them_is_no_group():
    columns = {"customer_age": IDS % 70, "students": IDS % 400, "account_balance": IDS % 900}
    found = checked(columns)
    assert not any("group" in kinds(found, name) for name in columns)


def test_amounts_that_happen_to_be_all_different_are_only_noted():
    people = np.unique((10 ** RANDOM.normal(5, 1, 2 * N)).astype(np.int64))
    found = kinds(checked({"population": RANDOM.permutation(people)[:N]}), "population")
    assert found["identifier"].severity == "note"
    assert "spread as amounts" in found["identifier"].evidence
    named = kinds(checked({"CITY_ID": RANDOM.permutation(people)[:N]}), "CITY_ID")
    assert named["identifier"].severity == "warning"


def test_a_part_of_one_label_among_three_is_a_leak_of_this_label():
    label = np.where(Y, "died", np.where(CODES > 2, "home", "moved"))
    flag = kinds(checked({"a": flipped(Y, 10)}, label), "a")["leak"]
    assert flag.severity == "warning"
    assert "for 'died'" in flag.evidence
    assert "leak" not in kinds(checked({"a": flipped(Y, 60)}, label), "a")
    written = pa.array(NOISE, mask=~Y)
    assert "for 'died'" in kinds(checked({"a": written}, label), "a")["leak"].evidence
    # A number that one label has the largest of, as of the irises, is a measure.
    assert "leak" not in kinds(checked({"a": np.where(Y, 9.0, 0.0) + NOISE}, label), "a")


def test_none_is_a_category_like_others():
    assert not kinds(checked({"belt": replaced(["lap", "full"] * (N // 2), 300, "none")}), "belt")


def test_a_column_of_unique_floats_is_no_identifier():
    assert not kinds(checked({"a": RANDOM.normal(size=N)}), "a")
