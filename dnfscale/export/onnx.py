"""A model as an ONNX graph: an input for each column, the answer and its probability as outputs.

A number is a double and NaN is a missing one, a truth value is 1, 0 or NaN, and a text is missing
where it is empty. The probability of a row is looked up by its type, which the graph counts out as
a whole number, among the types that occur.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dnfscale.core.arrays import Scalar
from dnfscale.core.columns import unused_name
from dnfscale.core.formula import Term
from dnfscale.core.model import Model, joint_ranks, signs_held, unseen_ranks
from dnfscale.core.parts import Part, stored_column
from dnfscale.core.quantities import Quantity
from dnfscale.core.tree import And, Formula, Not, Or, Symbol
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    IsMissing,
    cuts_of,
    values_of,
)
from dnfscale.errors import DataError, SpecError
from dnfscale.export.kinds import Kind, check_one_table, kinds
from dnfscale.spec.registry import EXPORTS, Export

_OPSET, _ML_OPSET, _IR = 17, 3, 8
"""Of 2022: what most runtimes read."""
_EXACT = 1 << 53
"""Whole numbers up to here are exact as doubles."""


def export_onnx(model: Model) -> bytes:
    """Return an ONNX model with the outputs `prediction` and `probability`, a column each."""
    graph = _Graph([model])
    attributes = graph.attributes(model)
    accepted = graph.answer(model, attributes)
    counts = model.counts
    known = model.probability(counts.n, counts.c, model.accepts(counts.codes))
    no, yes = (float(model.probability(0, 0, answer)) for answer in (False, True))
    found = graph.of_type(model, attributes, np.asarray(known), accepted, (no, yes))
    graph.output("prediction", accepted, "BOOL")
    graph.output("probability", found, "DOUBLE")
    return graph.serialized()


def export_onnx_of_classes(models: Sequence[Model]) -> bytes:
    """Return an ONNX model with the output `prediction`, the label of a row, and `accepted`, what
    the formula of each label says, in the order of the labels.
    """
    graph = _Graph(models)
    ranked, accepted = [], []
    for model, (table, ranks) in zip(models, joint_ranks(models), strict=True):
        attributes = graph.attributes(model)
        accepted.append(graph.answer(model, attributes))
        known = ranks[table.places(model.counts.codes)].astype(np.float64)
        no, yes = unseen_ranks(table, ranks)
        ranked.append(graph.of_type(model, attributes, known, accepted[-1], (no, yes)))
    together = graph.node("Concat", *ranked, axis=1)
    best = graph.node("ArgMax", together, axis=1, keepdims=1)
    labels = [model.positive[0] for model in models]
    graph.output("prediction", graph.node("Gather", graph.labels(labels), best), _type_of(labels))
    graph.output("accepted", graph.node("Concat", *accepted, axis=1), "BOOL", width=len(models))
    return graph.serialized()


class _Graph:
    """A graph that is being built; values are known by their names."""

    def __init__(self, models: Sequence[Model]) -> None:
        if importlib.util.find_spec("onnx") is None:
            raise SpecError(
                "ONNX needs the package onnx, which is not installed; install it with: "
                "pip install 'dnfscale[onnx]'"
            )
        import onnx

        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._outputs: list[Any] = []
        asked = [attribute for model in models for attribute in model.tau.attributes]
        _check(asked)
        self._kinds: dict[str, Kind] = {}
        for model in models:
            check_one_table(model.tau, "ONNX")
            for column, kind in kinds(model.tau).items():
                known = self._kinds.get(column, Kind.UNKNOWN)
                self._kinds[column] = kind if known is Kind.UNKNOWN else known
        # Names of our own must not be those of columns.
        self._prefix = unused_name("dnfscale", [name.partition(":")[0] for name in self._kinds])

    def attributes(self, model: Model) -> list[str]:
        """Return the truth values of a model's attributes, a column each."""
        return [self._attribute(attribute) for attribute in model.tau.attributes]

    def answer(self, model: Model, attributes: Sequence[str]) -> str:
        """Return whether the formula accepts a row."""
        if model.tree is not None:
            return self._tree(model.tree, attributes)
        held = self._any([self._line(term, attributes) for term in model.dnf.terms])
        return held if model.answer else self.node("Not", held)

    def of_type(
        self,
        model: Model,
        attributes: Sequence[str],
        known: npt.NDArray[np.float64],
        accepted: str,
        unseen: tuple[float, float],
    ) -> str:
        """Return a number by the type of a row; of types without rows by the formula's answer."""
        no, yes = (self._doubles([[value]]) for value in unseen)
        others = self.node("Where", accepted, yes, no)
        codes = model.counts.codes.tolist()
        if not codes:
            return others
        if model.types == "signs":
            codes = list(map(signs_held, codes))
        type_ = self._type(model, attributes)
        same = self.node("Equal", type_, self._whole([codes]))
        picked = self.node("Cast", same, to=self._onnx.TensorProto.DOUBLE)
        value = self.node("MatMul", picked, self._doubles(known.reshape(-1, 1)))
        seen = self.node("ReduceMax", picked, axes=[1], keepdims=1)
        return self.node("Where", self.node("Greater", seen, self._doubles([[0]])), value, others)

    def node(self, operation: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operation, and return its value."""
        name = f"{self._prefix}:{len(self._nodes)}"
        made = self._onnx.helper.make_node(
            operation, list(inputs), [name], name=name, domain=domain, **attributes
        )
        self._nodes.append(made)
        return name

    def labels(self, labels: Sequence[Scalar]) -> str:
        """Return the labels as a constant."""
        return self._constant(labels, _type_of(labels))

    def output(self, name: str, value: str, kind: str, *, width: int = 1) -> None:
        """Give a value to the caller."""
        name = unused_name(name, list(self._kinds))
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name], name=name))
        element = getattr(self._onnx.TensorProto, kind)
        shape = ["rows", width]
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, element, shape))

    def serialized(self) -> bytes:
        """Return the graph as a file holds it, checked."""
        helper = self._onnx.helper
        inputs = [
            helper.make_tensor_value_info(column, self._element(kind), ["rows", 1])
            for column, kind in self._kinds.items()
        ]
        graph = helper.make_graph(
            self._nodes, "dnfscale", inputs, self._outputs, initializer=self._constants
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
        made = helper.make_model(
            graph, opset_imports=opsets, ir_version=_IR, producer_name="dnfscale"
        )
        self._onnx.checker.check_model(made)
        content: bytes = made.SerializeToString()
        return content

    def _element(self, kind: Kind) -> int:
        proto = self._onnx.TensorProto
        return int(proto.STRING if kind is Kind.TEXT else proto.DOUBLE)

    def _attribute(self, attribute: Attribute) -> str:
        column = stored_column(attribute.column)
        kind = self._kinds[column]
        if isinstance(attribute, IsMissing):
            if kind is Kind.TEXT:
                return self._is_one_of(column, [""])
            return self.node("IsNaN", column)
        if isinstance(attribute, Above | Between):
            return self._in_range(column, [float(_number(cut)) for cut in cuts_of(attribute)])
        if kind is Kind.TEXT:
            return self._is_one_of(column, [str(value) for value in values_of(attribute)])
        values = [self._doubles([[float(_number(value))]]) for value in values_of(attribute)]
        return self._any([self.node("Equal", column, value) for value in values])

    def _in_range(self, column: str, cuts: Sequence[float]) -> str:
        if not cuts:
            return self._never()
        tests = [self.node("Greater", column, self._doubles([[cuts[0]]]))]
        tests += [self.node("LessOrEqual", column, self._doubles([[cut]])) for cut in cuts[1:]]
        return self._all(tests)

    def _is_one_of(self, column: str, values: Sequence[str]) -> str:
        found = self.node(
            "LabelEncoder",
            column,
            domain="ai.onnx.ml",
            keys_strings=list(values),
            values_int64s=[1] * len(values),
            default_int64=0,
        )
        return self.node("Equal", found, self._whole([[1]]))

    def _line(self, term: Term, attributes: Sequence[str]) -> str:
        literals = [self._literal(attributes[i], holds) for i, holds in term.literals]
        if term.at_least is None:
            return self._all(literals)
        return self.node("GreaterOrEqual", self._sum(literals), self._whole([[term.at_least]]))

    def _literal(self, attribute: str, holds: bool) -> str:
        return attribute if holds else self.node("Not", attribute)

    def _tree(self, tree: Formula, attributes: Sequence[str]) -> str:
        match tree:
            case Symbol(attribute):
                return attributes[attribute]
            case Not(part):
                return self.node("Not", self._tree(part, attributes))
            case And(one, other) | Or(one, other):
                operation = "And" if isinstance(tree, And) else "Or"
                parts = (self._tree(part, attributes) for part in (one, other))
                return self.node(operation, *parts)
        raise AssertionError(tree)

    def _type(self, model: Model, attributes: Sequence[str]) -> str:
        """Return the type of a row as a whole number."""
        if model.types == "signs":
            [checklist] = model.dnf.terms
            held = [self._literal(attributes[i], holds) for i, holds in checklist.literals]
            return self._sum(held)
        bits = list(attributes)
        if model.types == "lines":
            bits = [self._line(term, attributes) for term in model.dnf.terms]
        return self._sum(bits, [1 << i for i in range(len(bits))])

    def _sum(self, tests: Sequence[str], weights: Sequence[int] | None = None) -> str:
        """Return how many tests hold, or what those that do weigh."""
        total = ""
        for test, weight in zip(tests, weights or [1] * len(tests), strict=True):
            one = self.node("Where", test, self._whole([[weight]]), self._whole([[0]]))
            total = self.node("Add", total, one) if total else one
        return total or self._whole([[0]])

    def _any(self, tests: Sequence[str]) -> str:
        return self._joined("Or", tests) if tests else self._never()

    def _all(self, tests: Sequence[str]) -> str:
        return self._joined("And", tests) if tests else self.node("Not", self._never())

    def _joined(self, operation: str, tests: Iterable[str]) -> str:
        first, *others = tests
        for other in others:
            first = self.node(operation, first, other)
        return first

    def _never(self) -> str:
        """Return false for every row, in the shape of the rows."""
        column, kind = next(iter(self._kinds.items()))
        is_text = kind is Kind.TEXT
        known = self._is_one_of(column, [""]) if is_text else self.node("IsNaN", column)
        return self.node("And", known, self.node("Not", known))

    def _doubles(self, values: Any) -> str:
        return self._constant(np.asarray(values, dtype=np.float64), "DOUBLE")

    def _whole(self, values: Any) -> str:
        return self._constant(np.asarray(values, dtype=np.int64), "INT64")

    def _constant(self, values: Any, kind: str) -> str:
        name = f"{self._prefix}:c{len(self._constants)}"
        if kind == "STRING":
            held = [value.encode("utf-8") for value in values]
            shape: tuple[int, ...] = (len(held),)
        else:
            held, shape = np.asarray(values).ravel().tolist(), np.asarray(values).shape
        element = getattr(self._onnx.TensorProto, kind)
        self._constants.append(self._onnx.helper.make_tensor(name, element, shape, held))
        return name


def _type_of(labels: Sequence[Scalar]) -> str:
    if all(isinstance(label, str) for label in labels):
        return "STRING"
    if all(isinstance(label, bool) for label in labels):
        return "BOOL"
    return "INT64" if all(isinstance(label, int) for label in labels) else "DOUBLE"


def _number(value: Any) -> Any:
    """Return a number, making sure that it is the same as a double."""
    if isinstance(value, int) and abs(value) > _EXACT:
        raise DataError(
            f"a number of ONNX is a double here, which is not exact at {value:,}; export to SQL or "
            "Python"
        )
    return value


def _check(attributes: Iterable[Attribute]) -> None:
    """Raise DataError where a graph cannot say what a model asks."""
    known = list(attributes)
    if not known:
        raise DataError("a graph needs an input, but the model asks for no column; export to SQL")
    for attribute in known:
        column = attribute.column
        if isinstance(column, Part):
            raise DataError(
                f"ONNX has no dates and times, but the model asks for the {column}; export to SQL "
                "or Python"
            )
        cuts = cuts_of(attribute) if isinstance(attribute, Above | Between) else ()
        for cut in cuts:
            if isinstance(cut, Quantity):
                raise DataError(
                    f"ONNX has no {cut.measure.kind}s, but the model cuts {column!r} at {cut}; "
                    "export to SQL or Python"
                )
        if not column:
            raise DataError(
                "ONNX has no input with an empty name; name the column otherwise and learn again"
            )
        values = () if isinstance(attribute, Above | Between | IsMissing) else values_of(attribute)
        if "" in values:
            raise DataError(
                f"an empty text is a missing one in ONNX, but the model asks whether {column!r} is "
                "empty; export to SQL or Python"
            )


EXPORTS.register(
    Export(
        name="onnx",
        title="an ONNX graph (needs the package onnx)",
        ending=".onnx",
        write=export_onnx,
        write_several=export_onnx_of_classes,
        binary=True,
    )
)
