from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.errors import SpecError
from dnfscale.spec.cluster import cluster_blocks
from dnfscale.spec.job import competitor_blocks, job_keys, read_spec
from dnfscale.spec.learn import LearnSpec, learn_keys
from dnfscale.spec.registry import CATALOGUES, Catalogue
from dnfscale.spec.toml import parse_override, write_toml
from tests.jobs.running import ROOT, Desk

DESIGN = """\
schema_version = 1
name = "breast-cancer"
kind = "study"                  # "fit": one model on all rows; "study": cross-validated comparison
seed = 0
methods = ["ideal"]

[data]
path = "data/breast_cancer.parquet"
target = "class"
positive = [2]
drop = ["sample_code_number"]
categorical = []
boolean = []
missing = "drop"

[booleanize]
cuts = "median"

[select]
rank = ["f", "mutual_info", "chi2"]
max_ell = 10
validation = 0.3
tolerance = 0.01

[formula]
unseen = "negative"
minimize = "exact"

[folds]
outer = 10

[baselines.random_forest]
trials = 100
[baselines.xgboost]
trials = 100

[cluster]
kind = "local"
workers = 2
memory_limit = "4GiB"

[output]
dir = "runs"
"""
"""The spec of DESIGN.md, section 5."""

LEAST = 'schema_version = 1\n[data]\npath = "t.parquet"\ntarget = "y"\n'

KEYS = job_keys()

WRONG_TYPES: dict[str, list[Any]] = {
    "schema_version": ["1", 1.0, True],
    "name": [1, True, ["a"]],
    "kind": [1, ["fit"], True],
    "seed": ["0", 0.0, True, [0]],
    "methods": ["ideal", [1], [["ideal"]]],
    "data.path": [1, ["a.parquet"], True],
    "data.target": [1, ["y"], False],
    "data.positive": [[["nested"]]],
    "data.drop": ["a", [1], True],
    "data.categorical": ["a", [1], 3],
    "data.boolean": ["a", [True], 3],
    "data.missing": [True, ["drop"], 0],
    "data.max_categories": ["10", 10.5, True],
    "profile": [1, ["best"], True],
    "booleanize.cuts": [1.5, True, ["median"]],
    "booleanize.at": [3, ["age"]],
    "booleanize.rare": ["5", 1.5, True],
    "select.validation_splits": ["3", 2.0, True, [1]],
    "select.rule": [1, ["tolerance"]],
    "select.drop_duplicates": [1, "yes"],
    "formula.objective": [1, ["accuracy"]],
    "formula.beta": ["1", True, [1.0]],
    "formula.shrink": [1, ["none"]],
    "formula.shrink_rows": ["8", True, ["8"]],
    "formula.freedom": ["0", True],
    "select.rank": ["f", [1], [["f"]], 3],
    "select.max_ell": ["10", 2.0, True],
    "select.validation": ["0.3", True, [0.3]],
    "select.tolerance": ["0.01", False, [0.0]],
    "formula.unseen": [0, ["negative"]],
    "formula.minimize": [False, ["exact"]],
    "folds.outer": [2.0, True, [10]],
    "baselines.random_forest.trials": ["100", 1.5, True],
    "baselines.xgboost.trials": ["100", 1.5, True],
    "cluster.kind": [1, ["local"], True],
    "cluster.workers": ["2", 2.0, True],
    "cluster.memory_limit": [4, ["4GiB"], True],
    "cluster.fan_in": ["8", 8.0, True],
    "cluster.address": [8786, ["tcp://a:1"], True],
    "cluster.scheduler_file": [1, ["f"], True],
    "output.dir": [1, ["runs"], True],
}
WRONG_VALUES: dict[str, list[Any]] = {
    "schema_version": [0, 2],
    "name": ["", ".", "..", "../up", "a/b", ".hidden", "-dash", "a b", "é", "a\n", "a\\b"],
    "kind": ["", "Fit", "studies"],
    "seed": [-1],
    "methods": [[], ["idael"]],
    "data.path": [""],
    "data.positive": [[]],
    "data.missing": ["", "Drop", "impute"],
    "data.max_categories": [0, -1, 10**9],
    "profile": ["", "Best", "worst"],
    "booleanize.cuts": ["mean", 0, 64, -1],
    "booleanize.rare": [-1],
    "select.validation_splits": [0, -1, 101, "automatic"],
    "select.rule": ["one_se"],
    "formula.objective": ["auc"],
    "formula.beta": [0, -1, float("inf")],
    "formula.shrink": ["lasso"],
    "formula.shrink_rows": [0, -1, float("nan"), [], [8, 0], [8, 8.0]],
    "formula.freedom": [-0.1, 1.1],
    "select.rank": [[], ["f", "f"], ["anova"]],
    "select.max_ell": [0, -1, 25, 40],
    "select.validation": [0, -0.1, 1, 1.5, float("nan"), float("inf")],
    "select.tolerance": [-0.01, 1.01, float("nan"), float("inf")],
    "formula.unseen": ["positive"],
    "formula.minimize": ["espresso"],
    "folds.outer": [0, 1, -1, "leave one out"],
    "baselines.random_forest.trials": [0, -1],
    "baselines.xgboost.trials": [0, -1],
    "cluster.kind": ["", "remote", "Local"],
    "cluster.workers": [0, -2],
    "cluster.memory_limit": ["", "4", "GiB", "4 gibibytes", "-1GiB"],
    "cluster.fan_in": [0, 1, -1, 10**6],
    "cluster.address": [""],
    "cluster.scheduler_file": [""],
    "output.dir": [""],
}


def with_value(key: str, value: Any) -> tuple[str, int]:
    """A spec in which one key has the value, after a few lines of its own, and the line on which
    the key stands.
    """
    document: dict[str, Any] = {"data": {"path": "t.parquet", "target": "y"}, "schema_version": 1}
    *tables, last = key.split(".")
    table = document
    for name in tables:
        table = table.setdefault(name, {})
    table[last] = value
    text = "# a comment\n\n" + write_toml(document)
    lines = text.splitlines()
    start = lines.index(f"[{'.'.join(tables)}]") if tables else 0
    return text, 1 + next(i for i in range(start, len(lines)) if lines[i].startswith(f"{last} = "))


def refusal(desk: Desk, text: str, **overrides: Any) -> str:
    """What is said of a spec that cannot be obeyed."""
    with pytest.raises(SpecError, match=r".") as caught:
        read_spec(desk.spec(text), overrides)
    return str(caught.value)


def test_the_spec_of_the_design_is_read_as_it_stands(desk):
    spec = read_spec(desk.spec(DESIGN))
    expected = {
        "schema_version": 1,
        "name": "breast-cancer",
        "kind": "study",
        "seed": 0,
        "methods": ("ideal",),
        "data.path": "data/breast_cancer.parquet",
        "data.target": "class",
        "data.positive": (2,),
        "data.drop": ("sample_code_number",),
        "data.categorical": (),
        "data.boolean": (),
        "data.missing": "drop",
        "data.max_categories": 10_000,
        "booleanize.cuts": "median",
        "select.rank": ("f", "mutual_info", "chi2"),
        "select.max_ell": 10,
        "select.validation": 0.3,
        "select.tolerance": 0.01,
        "formula.unseen": "negative",
        "formula.minimize": "exact",
        "folds.outer": 10,
        "baselines.random_forest.trials": 100,
        "baselines.xgboost.trials": 100,
        "cluster.kind": "local",
        "cluster.workers": 2,
        "cluster.memory_limit": "4GiB",
        "cluster.fan_in": 8,
        "cluster.address": None,
        "cluster.scheduler_file": None,
        "output.dir": "runs",
    }
    assert {key: spec.values.get(key) for key in expected} == expected


def test_keys_that_are_left_out_have_the_defaults_of_the_design(desk):
    least = read_spec(desk.spec(LEAST), {"profile": "paper"})
    design = read_spec(desk.spec(DESIGN, file="design.toml"))
    settled = [
        "kind",
        "seed",
        "data.missing",
        "booleanize.cuts",
        "select.rank",
        "select.max_ell",
        "select.validation",
    ]
    settled += [
        "select.tolerance",
        "formula.unseen",
        "formula.minimize",
        "cluster.workers",
    ]
    settled += ["cluster.memory_limit", "output.dir"]
    assert {key: least.values[key] for key in settled} == {
        key: design.values[key] for key in settled
    }


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ("", "auto"),
        ("[cluster]\nworkers = 3\n", "local"),
        ('[cluster]\nkind = "serial"\n', "serial"),
        ('[cluster]\nkind = "auto"\nworkers = 3\n', "auto"),
    ],
)
def test_the_size_of_a_job_chooses_where_it_runs_unless_its_spec_says_anything(
    tmp_path, table, kind
):
    file = tmp_path / "job.toml"
    data = '[data]\npath = "t.parquet"\ntarget = "y"\n'
    file.write_text(f"schema_version = 1\n{data}{table}", encoding="utf-8")
    assert read_spec(file).cluster.kind == kind


def test_each_job_of_the_project_is_a_valid_spec():
    specs = [ROOT / "jobs" / "quickstart.toml", *sorted((ROOT / "jobs" / "paper").glob("*.toml"))]
    assert len(specs) == 13
    assert len({read_spec(file).name for file in specs}) == len(specs), (
        "two jobs would share a folder"
    )


def test_the_keys_of_the_design_are_all_known():
    assert set(WRONG_TYPES) | set(WRONG_VALUES) <= set(KEYS)


def test_no_key_takes_a_truth_value_for_a_number():
    numbers = {key for key in KEYS if any(takes(key, number) for number in (1, 2, 10, 0.5))} - {
        "data.positive"
    }
    assert {
        "seed",
        "select.max_ell",
        "folds.outer",
        "cluster.workers",
        "select.tolerance",
    } <= numbers
    assert not {key for key in numbers if takes(key, True) or takes(key, False)}


def takes(key: str, value: Any) -> bool:
    try:
        KEYS[key].check(value)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("key", KEYS)
def test_no_key_takes_a_list_of_lists(desk, key):
    text, line = with_value(key, [[1]])
    message = refusal(desk, text)
    assert message.startswith(f"{desk.path / 'job.toml'}:{line}: {key} must be ")
    assert message.endswith(", got [[1]]")


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in WRONG_TYPES.items() for value in values]
)
def test_a_value_of_the_wrong_type_is_told_with_file_line_key_and_value(desk, key, value):
    text, line = with_value(key, value)
    message = refusal(desk, text)
    assert message.startswith(f"{desk.path / 'job.toml'}:{line}: {key} must be ")
    assert message.endswith(f", got {value!r}")


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in WRONG_VALUES.items() for value in values]
)
def test_a_value_out_of_range_is_told_with_file_line_key_and_value(desk, key, value):
    text, line = with_value(key, value)
    message = refusal(desk, text)
    assert message.startswith(f"{desk.path / 'job.toml'}:{line}: {key} must be ")
    assert message.endswith(f", got {value!r}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", 2**70),
        ("data.positive", [True]),
        ("data.positive", [1, 2.5, "x", ""]),
        ("data.max_categories", 1),
        ("select.rank", ["chi2"]),
        ("select.max_ell", 1),
        ("select.max_ell", 24),
        ("select.validation", 0.01),
        ("select.validation", 0.9),
        ("select.tolerance", 0),
        ("select.tolerance", 1),
        ("folds.outer", 2),
        ("folds.outer", "leave-one-out"),
        ("formula.minimize", "sympy"),
        ("formula.minimize", "none"),
        ("formula.unseen", "dont_care"),
        ("data.missing", "error"),
        ("data.missing", "indicator"),
        ("cluster.fan_in", 2),
        ("cluster.memory_limit", "1.5 GB"),
        ("name", "a.b-C_9"),
    ],
)
def test_a_value_at_the_edge_of_its_range_is_taken(desk, key, value):
    text, _ = with_value(key, value)
    found = read_spec(desk.spec(text)).values[key]
    assert (list(found) if isinstance(found, tuple) else found) == value


@pytest.mark.parametrize("key", KEYS)
def test_an_unknown_key_is_told_with_its_line_and_the_nearest_known_key(desk, key):
    *tables, last = key.split(".")
    misspelt = ".".join([*tables, last[:-2] + last[-1] if len(last) > 3 else last + "s"])
    text, line = with_value(misspelt, 1)
    assert (
        refusal(desk, text)
        == f"{desk.path / 'job.toml'}:{line}: unknown key {misspelt}; did you mean {key}?"
    )


def test_an_unknown_table_is_told_with_its_line_and_the_nearest_known_table(desk):
    message = refusal(desk, LEAST + "[selct]\nmax_ell = 3\n")
    assert message == f"{desk.path / 'job.toml'}:5: unknown key selct; did you mean select?"


def test_an_unknown_key_that_resembles_none_is_told_without_a_guess(desk):
    assert (
        refusal(desk, LEAST + "zzzzzz = 1\n")
        == f"{desk.path / 'job.toml'}:5: unknown key data.zzzzzz"
    )


@pytest.mark.parametrize(
    ("misplaced", "meant"),
    [
        ("outer", "folds.outer"),
        ("unseen", "formula.unseen"),
        ("data.tolerance", "select.tolerance"),
        ("data.rank", "select.rank"),
        ("formula.max_ell", "select.max_ell"),
    ],
)
def test_a_known_key_in_the_wrong_table_is_told_where_it_belongs(desk, misplaced, meant):
    text, line = with_value(misplaced, 1)
    assert (
        refusal(desk, text)
        == f"{desk.path / 'job.toml'}:{line}: unknown key {misplaced}; did you mean {meant}?"
    )


@pytest.mark.parametrize("text", ['data = "t.parquet"', '[[data]]\npath = "t.parquet"'])
def test_a_value_in_place_of_a_table_is_told_to_be_no_table(desk, text):
    message = refusal(desk, f"schema_version = 1\n{text}\n")
    assert message.startswith(f"{desk.path / 'job.toml'}:2: ")
    assert "table" in message
    assert "did you mean data?" not in message


@pytest.mark.parametrize("key", ["schema_version", "data.path"])
def test_a_required_key_that_is_missing_is_named(desk, key):
    without = "\n".join(
        line for line in LEAST.splitlines() if not line.startswith(key.split(".")[-1])
    )
    assert (
        refusal(desk, without)
        == f"{desk.path / 'job.toml'}: expected the key {key}, but it is not there; add it"
    )


def test_a_missing_target_is_told_with_the_line_of_its_table(desk):
    message = refusal(desk, LEAST.replace('target = "y"\n', ""))
    assert message.startswith(f"{desk.path / 'job.toml'}:2: expected the key data.target")


@pytest.mark.parametrize("path", ["builtin:breast_cancer", "paper:covertype"])
def test_a_named_dataset_needs_no_target(desk, path):
    spec = read_spec(desk.spec(f'schema_version = 1\n[data]\npath = "{path}"\n'))
    assert spec.knows_truth
    assert spec.data_path == path


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('schema_version = 1\nname = "open\n', 2),
        ("schema_version = 1\n[data\n", 2),
        ("schema_version = 1\nseed 3\n", 2),
        ("schema_version = 1\nseed = 1\nseed = 2\n", 3),
        ("\n\n\n= 3\n", 4),
    ],
)
def test_text_that_is_not_toml_is_told_with_its_line(desk, text, line):
    assert refusal(desk, text).startswith(
        f"{desk.path / 'job.toml'}:{line}: expected TOML, but it does not parse"
    )


def test_a_spec_that_cannot_be_read_is_told_by_its_name(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    for file in (tmp_path / "nowhere.toml", tmp_path, tmp_path / "binary.toml"):
        with pytest.raises(
            SpecError, match="expected a job spec in TOML, but it cannot be read"
        ) as caught:
            read_spec(file)
        assert str(caught.value).startswith(f"{file}: ")


def test_a_byte_order_mark_does_not_matter(tmp_path):
    (tmp_path / "notepad.toml").write_bytes(b"\xef\xbb\xbf" + LEAST.encode())
    assert read_spec(tmp_path / "notepad.toml").values["data.target"] == "y"


def test_lines_that_end_as_on_windows_do_not_matter(tmp_path):
    (tmp_path / "windows.toml").write_bytes((LEAST + "zzzzzz = 1\n").replace("\n", "\r\n").encode())
    with pytest.raises(SpecError, match=r"windows\.toml:5: unknown key data\.zzzzzz"):
        read_spec(tmp_path / "windows.toml")


@pytest.mark.parametrize(
    ("file", "name"),
    [("adult.toml", "adult"), ("my job (2).toml", "my-job-2-"), ("größe.toml", "gr-e")],
)
def test_a_spec_without_a_name_is_called_after_its_file(desk, file, name):
    assert read_spec(desk.spec(LEAST, file=file)).name == name


@pytest.mark.parametrize("file", ["..toml", "...toml", ".toml"])
def test_a_name_from_a_file_stays_inside_the_output_folder(desk, file):
    try:
        spec = read_spec(desk.spec(LEAST, file=file))
    except SpecError:
        return
    assert Path(spec.run_folder).resolve().parent == (desk.path / "runs").resolve()
    assert not spec.name.startswith(".")


def test_data_lies_relative_to_the_spec_and_output_relative_to_the_working_directory(
    desk, monkeypatch
):
    file = desk.spec(LEAST, file="specs/deep/job.toml")
    (desk.path / "elsewhere").mkdir()
    monkeypatch.chdir(desk.path / "elsewhere")
    spec = read_spec(file)
    assert Path(spec.data_path) == file.parent / "t.parquet"
    assert Path(spec.run_folder).resolve() == desk.path / "elsewhere" / "runs" / "job"


@pytest.mark.parametrize(
    "path", ["/abs/t.parquet", "s3://bucket/t.parquet", "gs://b/t", "abfs://b/t", "paper:colon"]
)
def test_absolute_paths_urls_and_names_are_left_as_they_are(desk, path):
    assert (
        read_spec(desk.spec(LEAST.replace("t.parquet", path), file="specs/job.toml")).data_path
        == path
    )


@pytest.mark.parametrize("path", ["10:30.parquet", "day=2024-01-01T10:00/t.parquet"])
def test_a_colon_does_not_make_a_path_a_name(desk, path):
    spec = read_spec(desk.spec(LEAST.replace("t.parquet", path), file="specs/job.toml"))
    assert Path(spec.data_path) == desk.path / "specs" / path


def test_a_single_label_may_stand_without_brackets(desk):
    assert read_spec(desk.spec(LEAST + 'positive = "yes"\n')).values["data.positive"] == ("yes",)


@pytest.mark.parametrize(
    ("kind", "needed"),
    [("address", "cluster.address"), ("scheduler_file", "cluster.scheduler_file")],
)
def test_a_cluster_that_is_elsewhere_needs_to_be_told_where(desk, kind, needed):
    message = refusal(desk, LEAST + f'[cluster]\nkind = "{kind}"\n')
    assert message.startswith(f"{desk.path / 'job.toml'}:6: ")
    assert f"needs {needed}" in message


def test_methods_restrict_what_a_study_runs(desk):
    spec = read_spec(
        desk.spec('methods = ["ideal"]\n' + LEAST + "[baselines.xgboost]\ntrials = 3\n")
    )
    assert spec.values["methods"] == ("ideal",)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("seed=3", "seed", 3),
        ("select.tolerance=0.5", "select.tolerance", 0.5),
        ('select.rank=["f", "chi2"]', "select.rank", ["f", "chi2"]),
        ("cluster.kind=serial", "cluster.kind", "serial"),
        ('cluster.kind="serial"', "cluster.kind", "serial"),
        ("data.path=a=b.parquet", "data.path", "a=b.parquet"),
        ("data.path=/tmp/x y.parquet", "data.path", "/tmp/x y.parquet"),
        (" seed =  3 ", "seed", 3),
        ("data.target=", "data.target", ""),
        ("data.drop=[]", "data.drop", []),
        ("folds.outer=leave-one-out", "folds.outer", "leave-one-out"),
    ],
)
def test_a_value_of_the_command_line_is_toml_or_else_a_string(text, key, value):
    assert parse_override(text) == (key, value)


def test_an_override_without_an_equals_sign_is_refused():
    with pytest.raises(
        SpecError, match=r"--set takes KEY=VALUE, such as select\.max_ell=5, got 'seed'"
    ):
        parse_override("seed")


def test_an_override_replaces_the_value_of_the_file(desk):
    spec = read_spec(
        desk.spec(LEAST + "[select]\nmax_ell = 3\n"), {"select.max_ell": 5, "name": "other"}
    )
    assert (spec.values["select.max_ell"], spec.name) == (5, "other")


def test_an_override_of_an_unknown_key_names_the_nearest(desk):
    message = refusal(desk, LEAST, **{"select.max_el": 3})
    assert message == "--set select.max_el: unknown key select.max_el; did you mean select.max_ell?"


def test_a_bad_override_is_not_blamed_on_a_line_of_the_file(desk):
    message = refusal(desk, LEAST + "[select]\nmax_ell = 3\n", **{"select.max_ell": 40})
    assert "select.max_ell must be a whole number between 1 and 24, got 40" in message
    assert "job.toml:6" not in message


def test_a_fit_has_no_folds_and_a_study_has_those_of_the_spec(desk):
    text = LEAST + "[folds]\nouter = 5\n"
    fit, study = (read_spec(desk.spec(text), {"kind": kind}) for kind in ("fit", "study"))
    assert fit.learn.outer == 0
    assert study.learn.outer == 5


def test_what_the_spec_says_goes_before_what_the_dataset_says(desk):
    text = LEAST.replace('path = "t.parquet"\ntarget = "y"', 'path = "builtin:breast_cancer"')
    known = read_spec(desk.spec(text)).learn
    assert (known.target, known.positive) == ("diagnosis", ("malignant",))
    told = read_spec(desk.spec(text + 'positive = ["benign"]\n')).learn
    assert (told.target, told.positive) == ("diagnosis", ("benign",))
    other = read_spec(desk.spec(text + 'target = "mean_area"\n')).learn
    assert (other.target, other.positive) == ("mean_area", None), (
        "the record's labels are those of its own target"
    )
    each = read_spec(desk.spec(text + 'classes = "all"\n')).learn
    assert (each.classes, each.positive) == ("all", None)


def test_a_record_goes_before_the_profile_and_both_give_way_to_the_spec(desk, monkeypatch):
    record = {"target": "diagnosis", "missing": "error", "tolerance": 0.25}
    monkeypatch.setitem(
        CATALOGUES._entries, "builtin", Catalogue(name="builtin", record=lambda _name: record)
    )
    text = LEAST.replace('path = "t.parquet"\ntarget = "y"', 'path = "builtin:breast_cancer"')
    best = read_spec(desk.spec('profile = "best"\n' + text)).learn
    assert (best.missing, best.tolerance, best.rule) == ("error", 0.25, "standard_error")
    told = read_spec(desk.spec('profile = "best"\n' + text + 'missing = "drop"\n')).learn
    assert (told.missing, told.tolerance) == ("drop", 0.25)


def test_a_resolved_spec_says_what_the_record_says(desk):
    text = LEAST.replace('path = "t.parquet"\ntarget = "y"', 'path = "builtin:breast_cancer"')
    resolved = tomllib.loads(read_spec(desk.spec(text)).resolved())
    assert resolved["data"]["target"] == "diagnosis"
    assert resolved["data"]["positive"] == ["malignant"]


STRINGS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
LABELS = st.one_of(STRINGS, st.booleans(), st.integers(), st.floats(allow_nan=False))


@given(
    target=STRINGS,
    path=STRINGS.filter(lambda text: "\0" not in text),
    drop=st.lists(STRINGS, max_size=3),
    positive=st.lists(LABELS, min_size=1, max_size=3),
    folder=STRINGS.filter(lambda text: "\0" not in text),
    tolerance=st.floats(0, 1),
    seed=st.integers(0, 2**80),
)
def test_a_resolved_spec_read_again_gives_the_same_values(tmp_path_factory, **given_values):
    folder = tmp_path_factory.mktemp("spec")
    keys = {
        "target": "data.target",
        "path": "data.path",
        "drop": "data.drop",
        "positive": "data.positive",
    }
    keys |= {"folder": "output.dir", "tolerance": "select.tolerance", "seed": "seed"}
    (folder / "job.toml").write_text(LEAST, encoding="utf-8")
    spec = read_spec(
        folder / "job.toml", {keys[name]: value for name, value in given_values.items()}
    )
    (folder / "spec.toml").write_text(spec.resolved(), encoding="utf-8")
    again = read_spec(folder / "spec.toml")
    assert {**again.values, "data.path": ""} == {**spec.values, "data.path": ""}
    assert again.learn == spec.learn
    assert os.path.normpath(again.data_path) == os.path.normpath(spec.data_path)
    assert [type(label) for label in again.values["data.positive"]] == [
        type(label) for label in spec.values["data.positive"]
    ]
    assert again.resolved() == spec.resolved()


@pytest.mark.parametrize(
    ("profile", "rank", "looked_for"),
    [
        ("best", None, True),
        ("best", ["jmi", "exchange"], True),
        ("best", ["jmi"], False),
        ("paper", None, False),
    ],
)
def test_a_profile_looks_for_intervals_where_a_ranking_does(desk, profile, rank, looked_for):
    spec = read_spec(
        desk.spec(LEAST), {"profile": profile, **({"select.rank": rank} if rank else {})}
    )
    assert spec.values["booleanize.intervals"] is looked_for
    assert spec.learn.intervals is looked_for


def test_a_resolved_spec_writes_out_every_default(desk):
    resolved = tomllib.loads(read_spec(desk.spec(LEAST)).resolved())
    written = {
        f"{table}.{key}"
        for table, entries in resolved.items()
        if isinstance(entries, dict)
        for key in entries
    }
    written |= {key for key, value in resolved.items() if not isinstance(value, dict)}
    blocks = {table for _, table in {**competitor_blocks(), **cluster_blocks()}.values()} - {
        "cluster"
    }
    always = {
        path for path, known in KEYS.items() if known.table not in blocks and not known.is_optional
    }
    assert written == {path for path in always if KEYS[path].default is not None} | {
        *("schema_version", "name", "data.path", "data.target")
    }


def test_what_gives_way_is_what_the_user_did_not_write(desk):
    best = 'profile = "best"\n' + LEAST
    assert read_spec(desk.spec(best), {"formula.shrink": "none"}).learn.unseen == "negative"
    assert "set formula.shrink" in refusal(
        desk, best, **{"formula.shrink": "none", "formula.unseen": "follow"}
    )
    lone = {"profile": "paper", "booleanize.intervals": True}
    assert "add it to select.rank" in refusal(desk, LEAST, **lone)
    both = {"formula.objective": "f_beta", "formula.threshold": 0.2}
    assert refusal(desk, LEAST, **both).startswith("--set: threshold is for the objective accuracy")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"formula.max_literals": 0}, "formula.max_literals must be a whole number between 1"),
        (
            {"formula.max_literals": 3, "formula.max_terms": 4},
            "lower formula.max_terms, or raise formula.max_literals",
        ),
        ({"select.search": []}, "select.search must be"),
        (
            {"formula.minimize": "sympy", "formula.max_literals": 5},
            "leave out formula.max_literals, or formula.minimize",
        ),
        (
            {"formula.minimize": "sympy", "formula.max_terms": 5},
            "leave out formula.max_terms, or formula.minimize",
        ),
        (
            {"formula.minimize": "sympy", "select.search": ["terms"]},
            'set select.search = ["attributes"]',
        ),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused_with_what_to_change(desk, written, told):
    assert told in refusal(desk, LEAST, **written)


def test_a_budget_of_the_profile_gives_way_to_what_the_user_wrote(desk):
    spec = read_spec(desk.spec(LEAST), {"formula.minimize": "sympy"}).learn
    assert (spec.max_literals, spec.search) == ("none", ("attributes",))
    assert read_spec(desk.spec(LEAST), {"formula.max_terms": 50}).learn.max_literals == "none"


@pytest.mark.parametrize("name", learn_keys())
def test_what_is_not_given_is_what_the_method_does_by_itself(name):
    assert learn_keys()[name].default == getattr(LearnSpec("y" if name != "target" else ""), name)


def test_a_fault_is_located_at_the_line_of_its_key_or_of_its_table(desk):
    spec = read_spec(desk.spec(LEAST))
    assert spec.place("data.target") == f"{spec.file}:4"
    assert spec.place("data.positive") == f"{spec.file}:2"
    assert spec.place("output.dir") == f"{spec.file}"
    assert str(spec.located(SpecError("wrong", "data.target"))) == f"{spec.file}:4: wrong"
    assert str(spec.located(SpecError("wrong"))) == "wrong"


@pytest.mark.parametrize("content", [b"age,ill\n1,yes\n", b"PAR1\xff\xfe"])
def test_a_table_in_the_place_of_a_spec_is_told_how_to_get_one(tmp_path, content):
    table = tmp_path / "visits.csv"
    table.write_bytes(content)
    with pytest.raises(SpecError, match=r"dnfscale init \S+visits.csv --target COLUMN"):
        read_spec(table)
