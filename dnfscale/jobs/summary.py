"""The last thing a person sees of a run: the formula, how accurate it is, and where the files are."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import replace
from typing import Any, TextIO

from dnfscale.core.formula import Dnf, Term
from dnfscale.experiment.formats import visible
from dnfscale.experiment.outcome import FORMULA_SIZE, IDEAL, read_outcome
from dnfscale.jobs.report.wording import comparison_words

_WIDEST = 100
_UNASKED = ("majority", "one_rule", FORMULA_SIZE)
"""What every study compares with, and what has lines of its own."""


def write_summary(result: dict[str, Any], model_file: dict[str, Any], folder: str, out: TextIO) -> None:
    """Write the summary of a result and of the model beside it."""
    data, ideal = result["data"], result["methods"]["ideal"]
    model = ideal["model"]
    formulas = model.get("classes", [model])
    files = model_file.get("classes", [model_file])
    dropped = f", {data['rows_dropped']:,} dropped for missing values" if data["rows_dropped"] else ""
    print(f"{result['name']}: {data['rows']:,} rows, {data['attributes']:,} attributes{dropped}", file=out)
    for formula, file in zip(formulas, files, strict=True):
        of_class = f", {visible(str(file['target']))} = {visible(str(formula['label']))}" if "label" in formula else ""
        print(f"\nformula of all rows{of_class}", file=out)
        print(_wrapped(_term_texts(file)), file=out)
        print(f"\n  {explain(formula, data)}", file=out)
    if "fidelity_mean" in ideal:
        _write_fidelity(result, out)
    elif ideal["folds"]:
        mean, deviation = 100 * ideal["accuracy_mean"], 100 * ideal["accuracy_std"]
        n_folds = len(ideal["folds"])
        print(f"\naccuracy   {mean:.1f} % ± {deviation:.1f} over {n_folds} test folds", file=out)
        frequent = "most" if "classes" in data else "more"
        print(f"majority   {100 * _majority(data):.1f} % for always giving the {frequent} frequent answer", file=out)
        print(f"attributes {ideal['ell_mean']:.1f} on average{' a class' * (len(formulas) > 1)}", file=out)
        _write_sized(result["methods"].get("formula_size"), out)
        _write_comparisons(result, out)
    elif "training_accuracy" in model:
        print(f"\naccuracy   {100 * model['training_accuracy']:.1f} % on the rows it was learned from", file=out)
    print(f"\nfiles      {visible(str(folder))}", file=out)


def _write_sized(method: dict[str, Any] | None, out: TextIO) -> None:
    """Write what the formula-size method came to, if it ran."""
    if method is None or method["accuracy_mean"] is None:
        return
    mean, deviation = 100 * method["accuracy_mean"], 100 * method["accuracy_std"]
    print(
        f"by size    {mean:.1f} % ± {deviation:.1f} with formulas of size {method['size_mean']:.1f} on average",
        file=out,
    )
    for found in method["model"].get("classes", [method["model"]]):
        if "formula" in found:
            of_class = f", {found['label']}" if "label" in found else ""
            print(f"           of all rows{of_class}: {found['formula']}", file=out)


def _write_comparisons(result: dict[str, Any], out: TextIO) -> None:
    """Write what the baselines of a spec came to in the same folds."""
    if set(result["methods"]) <= {*_UNASKED, IDEAL}:
        return
    outcome = read_outcome(result)
    asked = tuple(method for method in outcome.methods if method.name not in _UNASKED)
    for place, words in enumerate(comparison_words(replace(outcome, methods=asked))):
        opening = f"{'compared' if not place else '':<11}"
        print(textwrap.fill(words, _width(), initial_indent=opening, subsequent_indent=" " * 13), file=out)


def _write_fidelity(result: dict[str, Any], out: TextIO) -> None:
    """Write how close a formula comes to the classifier it explains."""
    ideal, box = result["methods"]["ideal"], result["methods"]["black_box"]
    n_folds = len(ideal["folds"])
    mean, deviation = 100 * ideal["fidelity_mean"], 100 * ideal["fidelity_std"]
    print(f"\nfidelity   {mean:.1f} % ± {deviation:.1f} over {n_folds} test folds: answers as the classifier", file=out)
    if ideal["accuracy_mean"] is not None:
        print(f"accuracy   {100 * ideal['accuracy_mean']:.1f} % of the formula, ", end="", file=out)
        print(f"{100 * box['accuracy_mean']:.1f} % of the classifier", file=out)


def _majority(data: dict[str, Any]) -> float:
    if "classes" in data:
        return float(max(entry["rows"] for entry in data["classes"]) / data["rows"])
    return float(max(data["positive_rows"], data["rows"] - data["positive_rows"]) / data["rows"])


def explain(model: dict[str, Any], data: dict[str, Any]) -> str:
    """Say what kind of formula it is; one without literals needs a reason."""
    if model["literals"] == 0:
        answer = "true" if model["formula"] == "true" else "false"
        counted = f" ({data['positive_rows']:,} of {data['rows']:,} rows are positive)" if "label" not in model else ""
        return f"constant: whatever the chosen attributes say, {answer} is the more frequent answer{counted}"
    status = {
        "proven": "proven shortest",
        "bounded": f"at most {model['minimized']['gap_literals']} literals longer than the shortest",
        "heuristic": "not proven shortest",
        "as_is": "as it came",
    }[model["minimized"]["status"]]
    terms, literals = model["terms"], model["literals"]
    return (
        f"{terms} term{'s' * (terms != 1)}, {literals} literal{'s' * (literals != 1)}, {status}; "
        f"ranking {model['rank']}, {model['ell']} attribute{'s' * (model['ell'] != 1)}"
    )


def _term_texts(model: dict[str, Any]) -> list[str]:
    """Write each term of a model file on its own; a formula without terms is false."""
    names = [attribute["name"] for attribute in model["attributes"]]
    terms = [
        Term(
            sum(1 << literal["attribute"] for literal in term),
            sum(1 << literal["attribute"] for literal in term if literal["value"]),
        )
        for term in model["terms"]
    ]
    return [Dnf((term,)).render(names) for term in terms] or [Dnf(()).render(names)]


def _wrapped(terms: list[str]) -> str:
    width = _width()
    lines = []
    for number, term in enumerate(terms):
        opening = "  or " if number else "     "
        # A name stays on one line with its «not».
        lines += textwrap.wrap(
            term.replace("not ", "not\xa0"),
            width,
            initial_indent=opening,
            subsequent_indent="       ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines).replace("\xa0", " ")


def _width() -> int:
    return min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns)
