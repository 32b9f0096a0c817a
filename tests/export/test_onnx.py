"""What onnxruntime says of every row of a dataset is what predict says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from dnfscale.core.model import Model
from dnfscale.core.vocabulary import Above, Between, Equals, IsIn, IsMissing, IsTrue, Vocabulary
from dnfscale.errors import DataError
from dnfscale.export.kinds import Kind, kinds
from dnfscale.export.onnx import export_onnx, export_onnx_of_classes
from tests.export import examples
from tests.export.examples import Case, expected, formula, probabilities, single
from tests.export.test_several import KINDS, holds, learned
from tests.jobs.running import Desk, keeping_signals

runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def inputs(models: list[Model], table: pa.Table) -> dict[str, np.ndarray]:
    """The columns of a table as the graph takes them: doubles with NaN, texts with empty ones."""
    kinds_of = {column: kind for model in models for column, kind in kinds(model.tau).items()}
    given = {}
    for column, kind in kinds_of.items():
        values = table[column].to_pylist()
        if kind is Kind.TEXT:
            listed = ["" if value is None else value for value in values]
            given[column] = np.array(listed, dtype=object).reshape(-1, 1)
            continue
        # A column that is only asked whether it has a value may be of any type.
        numbers = [np.nan if v is None else 0.0 if isinstance(v, str) else float(v) for v in values]
        given[column] = np.array(numbers, dtype=np.float64).reshape(-1, 1)
    return given


def run(content: bytes, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, given), strict=True))


def cut_within(attribute: Above | Between) -> Above | Between:
    """The attribute with cuts that are the same as doubles."""

    def within(cut):
        return cut if cut is None or isinstance(cut, float) else max(-(2**52), min(2**52, cut))

    if isinstance(attribute, Above):
        return replace(attribute, value=within(attribute.value))
    return replace(attribute, low=within(attribute.low), high=within(attribute.high))


def askable(case: Case) -> Case:
    """The model without what no graph can ask, and the rows without empty texts."""
    attributes = []
    for attribute in case.model.tau.attributes:
        values = (
            () if isinstance(attribute, Above | IsMissing) else getattr(attribute, "values", ())
        )
        value = getattr(attribute, "value", None)
        if isinstance(attribute, IsIn) and "" in values:
            kept = tuple(v for v in values if v != "")
            attribute = IsIn(attribute.name, attribute.column, kept)
        elif value == "" and isinstance(attribute, Equals | IsTrue):
            attribute = Equals(attribute.name, attribute.column, "no text has this value")
        if isinstance(attribute, Between | Above):
            attribute = cut_within(attribute)
        attributes.append(attribute)
    columns = {
        name: pa.array(
            [None if value == "" else value for value in column.to_pylist()], column.type
        )
        if pa.types.is_string(column.type)
        else column
        for name, column in zip(case.table.column_names, case.table.columns, strict=True)
    }
    tau = Vocabulary(tuple(attributes))
    return Case(replace(case.model, tau=tau), pa.table(columns))


def test_onnxruntime_says_what_predict_says(case):
    asked = askable(case)
    found = run(export_onnx(asked.model), inputs([asked.model], asked.table))
    assert found["prediction"].ravel().tolist() == expected(asked.model, asked.table)
    assert found["probability"].ravel().tolist() == probabilities(asked)


@pytest.mark.slow
@given(made=examples.cases())
@settings(max_examples=60)
def test_onnxruntime_agrees_on_any_model_and_any_rows(made):
    asked = askable(made)
    try:
        content = export_onnx(asked.model)
    except DataError:
        return
    given = inputs([asked.model], asked.table)
    found = run(content, given)
    assert found["prediction"].ravel().tolist() == expected(asked.model, asked.table)
    assert found["probability"].ravel().tolist() == probabilities(asked)


@pytest.mark.parametrize("kind", KINDS)
def test_onnxruntime_gives_the_label_of_several(kind):
    model, frame = learned(kind)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    content = export_onnx_of_classes(model.models_)
    found = run(content, inputs(list(model.models_), table))
    assert found["prediction"].ravel().tolist() == model.predict(frame).tolist()
    assert found["accepted"].T.tolist() == holds(model, frame)
    assert model.to_onnx() == content


def test_a_constant_formula_has_a_row_for_each_row():
    for terms, answer in (([], False), ([[]], True)):
        model = formula([Above("a", "x", 1)], terms)
        found = run(export_onnx(model), {"x": np.array([[1.0], [2.0], [np.nan]])})
        assert found["prediction"].tolist() == [[answer]] * 3


@pytest.mark.parametrize(
    ("attribute", "told"),
    [
        (Above("a", "x", 2**53 + 1), "is not exact at 9,007,199,254,740,993"),
        (Equals("a", "x", ""), "an empty text is a missing one"),
        (Above("a", "", 1), "no input with an empty name"),
    ],
)
def test_what_a_graph_cannot_say_exactly_is_refused(attribute, told):
    with pytest.raises(DataError, match=told):
        export_onnx(single(attribute))


def test_a_graph_goes_to_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model, _ = learned("attributes")
    model.save("model.json")
    with keeping_signals():
        desk = Desk(tmp_path, capsys)
        ended = desk.here("export", "model.json", "--to", "onnx")
        assert ended.code == 2
        assert "--to onnx is a binary format; name the file to write with --output" in ended.err
        assert desk.here("export", "model.json", "--to", "onnx", "--output", "m.onnx").code == 0
    assert (tmp_path / "m.onnx").read_bytes() == model.to_onnx()
