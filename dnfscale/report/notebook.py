"""Formulas and results as a notebook shows them: the formula as on the page, in a piece of HTML
that brings its own style and changes nothing around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dnfscale.core.model import Model
from dnfscale.errors import visible
from dnfscale.method.words import formula_lines, predicted
from dnfscale.report.cards.answer import formula_markup
from dnfscale.report.markup import Child, Html, element, join
from dnfscale.report.run import ReportRun, view_runs
from dnfscale.report.style import STYLE
from dnfscale.report.wording import accuracy_words
from dnfscale.results.result import Data, Result

_FRAME = "dnfscale"
MOST_EXPLAINED = 20
"""Rows whose explanations are shown."""
_MEASURED = 'a job with kind = "study" measures it'
"""What to do about accuracy where a job did not measure it; in Python, that is `study`."""
_OWN = (
    f".{_FRAME} {{ background: var(--card); color: var(--ink); border: 1px solid var(--rule); "
    "border-radius: 8px; padding: .8rem 1rem; max-width: 60rem; text-align: left; "
    "font: 15px/1.5 system-ui, sans-serif; }\n"
    f".{_FRAME} *, .{_FRAME} *::before {{ box-sizing: border-box; }}\n"
    f".{_FRAME} p, .{_FRAME} li {{ color: inherit; }}\n"
)


def run_card(run: ReportRun, said: str = "") -> Html:
    """Return the formula of a run, and how accurate it is: as given, or as the run says."""
    [view] = view_runs([run])
    tree = _tree_of(run.models)
    pieces: list[Child] = [tree] if tree is not None else list(formula_markup(view))
    said, study, rest = (said or " ".join(accuracy_words(run.result))).partition(_MEASURED)
    told: list[Child] = [element("code", "study"), " measures it", rest] if study else []
    if said:
        pieces.append(element("p", said, *told, class_="say"))
    return framed(*pieces)


def explained(texts: Sequence[str], n_rows: int) -> Html:
    """Return the explanations of the first rows of some."""
    pieces: list[Child] = []
    for number, text in enumerate(texts):
        pieces.append(element("p", element("strong", f"Row {number}"), class_="before"))
        for paragraph in text.strip().split("\n\n"):
            lines = [Html("<br>") if i % 2 else line for i, line in enumerate(_broken(paragraph))]
            pieces.append(element("p", *lines))
    if n_rows > len(texts):
        pieces.append(element("p", f"and {n_rows - len(texts):,} more rows"))
    return framed(*pieces)


def framed(*pieces: Child, has_tables: bool = False) -> Html:
    """Return pieces of a page in a frame of their own, with the style that they need."""
    style = element("style", Html(_OWN + _scoped(STYLE, has_tables=has_tables)))
    return element("div", style, *pieces, class_=_FRAME)


def model_result(models: Sequence[Model], name: str, *, n_columns: int | None = None) -> Result:
    """Return what models alone tell of the run that they come from."""
    counts = models[0].counts
    tau = {attribute for model in models for attribute in model.tau.attributes}
    columns = {column for model in models for column in model.columns}
    data = Data(
        rows=counts.n_rows // models[0].unit,
        rows_dropped=0,
        columns=len(columns) if n_columns is None else n_columns,
        attributes=len(tau),
        positive_rows=int(counts.c.sum()) // models[0].unit if len(models) == 1 else None,
    )
    return Result(name=name, kind="fit", seed=None, profile="paper", data=data, methods={})


def _tree_of(models: Sequence[Model]) -> Html | None:
    """Return formulas of bounded size, which have no lines; None for others."""
    if all(model.tree is None for model in models):
        return None
    return join(
        *(
            element(
                "p",
                "Predict ",
                element("strong", predicted(model)),
                " when ",
                element("code", *formula_lines(model)),
                class_="predict",
            )
            for model in models
        )
    )


def _broken(paragraph: str) -> list[str]:
    """Return the lines of a paragraph with an empty text between two of them."""
    lines = [visible(line) for line in paragraph.split("\n")]
    return [piece for line in lines for piece in (line, "")][:-1]


def _scoped(sheet: str, *, has_tables: bool) -> str:
    """Return the rules of the page for light rooms, each for what is in the frame only."""
    plain = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    # Rules within @media are for the page as a whole.
    plain = re.sub(r"@[^{]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", plain)
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", plain)
    return "".join(
        f"{_selectors(names)} {{{body}}}\n"
        for names, body in rules
        if _shown(names) or (has_tables and _is_of_tables(names))
    )


def _selectors(names: str) -> str:
    return ", ".join(
        # Twice, to go before what notebooks say of lists.
        f".{_FRAME}" if name.strip() == ":root" else f".{_FRAME}.{_FRAME} {name.strip()}"
        for name in re.split(r",(?![^(]*\))", names)
    )


def _shown(names: str) -> bool:
    """Return whether a formula, or what is said beside it, is shown by a rule."""
    classes = set(re.findall(r"\.([\w-]+)", names))
    return ":root" in names or bool(classes & _CLASSES)


def _is_of_tables(names: str) -> bool:
    """Return whether a rule shows tables, other than those that only pages have."""
    classes = set(re.findall(r"\.([a-z][\w-]*)", names))
    is_table = re.match(r"\s*(table|caption|thead|tbody|th|td)\b", names)
    return bool(classes & _OF_TABLES or (is_table and not classes))


_OF_TABLES = {"scroll", "wide", "text", "long"}
_CLASSES = {
    "and",
    "before",
    "box",
    "checklist",
    "chip",
    "evidence",
    "group",
    "legend",
    "needed",
    "note",
    "of-label",
    "otherwise",
    "predict",
    "say",
    "share",
    "sign",
    "term",
    "terms",
    "value",
}
