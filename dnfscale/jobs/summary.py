"""The last thing a person sees of a run: the formula, how accurate it is, and where the files are."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import Any, TextIO

from dnfscale.core.formula import Dnf, Term

_WIDEST = 100


def write_summary(result: dict[str, Any], model_file: dict[str, Any], folder: Path, out: TextIO) -> None:
    """Write the summary of a result and of the model beside it."""
    data, ideal = result["data"], result["methods"]["ideal"]
    model = ideal["model"]
    dropped = f", {data['rows_dropped']:,} dropped for missing values" if data["rows_dropped"] else ""
    print(f"{result['name']}: {data['rows']:,} rows, {data['attributes']:,} attributes{dropped}", file=out)
    print("\nformula of all rows", file=out)
    print(_wrapped(_term_texts(model_file)), file=out)
    print(f"\n  {explain(model, data)}", file=out)
    if ideal["folds"]:
        mean, deviation = 100 * ideal["accuracy_mean"], 100 * ideal["accuracy_std"]
        n_folds = len(ideal["folds"])
        print(f"\naccuracy   {mean:.1f} % ± {deviation:.1f} over {n_folds} test folds", file=out)
        majority = max(data["positive_rows"], data["rows"] - data["positive_rows"]) / data["rows"]
        print(f"majority   {100 * majority:.1f} % for always giving the more frequent answer", file=out)
        print(f"attributes {ideal['ell_mean']:.1f} on average", file=out)
    else:
        print(f"\naccuracy   {100 * model['training_accuracy']:.1f} % on the rows it was learned from", file=out)
    print(f"\nfiles      {folder}", file=out)


def explain(model: dict[str, Any], data: dict[str, Any]) -> str:
    """Say what kind of formula it is; one without literals needs a reason."""
    if model["literals"] == 0:
        answer = "true" if model["formula"] == "true" else "false"
        return (
            f"constant: whatever the chosen attributes say, {answer} is the more frequent answer "
            f"({data['positive_rows']:,} of {data['rows']:,} rows are positive)"
        )
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
    width = min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns)
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
