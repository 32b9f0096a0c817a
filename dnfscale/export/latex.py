"""A model as a LaTeX formula, for a document that uses amsmath. It is plain ASCII and compiles with
every engine.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence

from dnfscale.core.arrays import Scalar
from dnfscale.core.model import Model
from dnfscale.core.parts import ColumnName, Part
from dnfscale.core.quantities import Kind, Quantity
from dnfscale.core.vocabulary import Above, Attribute, Between, IsIn, IsMissing
from dnfscale.method.spelling import Spelling, spell
from dnfscale.method.words import Gap, Literal, Range, in_ranges, needs_note, range_of, zone_text
from dnfscale.spec.registry import EXPORTS, Export

_PER_LINE = 3
"""Conditions on one line, because LaTeX does not break a formula by itself."""
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
}
"""The characters that mean something to LaTeX, as text."""
_ESCAPES = {
    **SPECIAL,
    # Two of these in a row would become one other character.
    "-": "{-}",
    ",": "{,}",
    "!": "{!}",
    "?": "{?}",
    "\n": r"\textbackslash{}n",
    "\r": r"\textbackslash{}r",
    "\t": r"\textbackslash{}t",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "§": r"\S{}",
    "°": r"\textdegree{}",
    "µ": r"\textmu{}",
    "€": r"\texteuro{}",
    "£": r"\pounds{}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "²": r"\ensuremath{^2}",
    "³": r"\ensuremath{^3}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "≠": r"\ensuremath{\ne}",
    "–": "--",
    "—": "---",
}
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}


def export_latex(model: Model) -> str:
    """Return the formula as an align* environment: what it predicts, then one term per line, or the
    tree.
    """
    lines = [
        rf"{_predicted(model)} \iff {{}} & {first}" if i == 0 else first
        for i, first in enumerate(_lines(model))
    ]
    if needs_note(model):
        lines.append(
            r"& \text{(where a value is missing, $\le$ alone, $\ne$ and $\lnot$ hold; "
            r"other comparisons do not)}"
        )
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


def escape(text: str) -> str:
    """Return a text as LaTeX prints it; a character that LaTeX may not know is spelled by its
    number, as in U+1F600.
    """
    # Spaces at the ends, and all but one in a row, would vanish.
    spaced = [
        r"\ " if c == " " and (i in (0, len(text) - 1) or text[i - 1] == " ") else _escaped(c)
        for i, c in enumerate(text)
    ]
    return "".join(spaced)


def _predicted(model: Model) -> str:
    target = rf"\text{{{escape(model.target)}}}"
    labels = ", ".join(_value(label) for label in model.positive)
    if len(model.positive) == 1:
        return f"{target} = {labels}" if model.answer else rf"{target} \ne {labels}"
    return rf"{target} \{'in' if model.answer else 'notin'} \{{{labels}\}}"


def _lines(model: Model) -> list[str]:
    def told(i: int, holds: bool) -> str:
        return latex_condition(model.tau.attributes[i], holds)

    if model.tree is not None:
        return [
            spell(model.tree, Spelling(told, r" \land ", r" \lor ", lambda text: rf"\lnot {text}"))
        ]
    if not model.dnf.terms:
        return [r"\text{false}"]
    if any(not term.care for term in model.dnf.terms):
        return [r"\text{true}"]
    lines = []
    for number, term in enumerate(model.dnf.terms):
        conditions = latex_conditions(model.tau.attributes, term.literals)
        for start in range(0, len(conditions), _PER_LINE):
            joined = r" \land ".join(conditions[start : start + _PER_LINE])
            if start:
                lines.append(rf"& \qquad {{}} \land {joined}")
            else:
                lines.append(joined if number == 0 else rf"\lor {{}} & {joined}")
    return lines


def latex_conditions(attributes: Sequence[Attribute], literals: Iterable[Literal]) -> list[str]:
    """Return literals that hold together in mathematics mode; the cuts of a column become one
    interval.
    """
    return [
        latex_condition(attributes[part[0]], part[1]) if isinstance(part, tuple) else _range(part)
        for part in in_ranges(attributes, literals)
    ]


def latex_condition(attribute: Attribute, holds: bool) -> str:
    """Return an attribute, or its negation, in mathematics mode."""
    column = _column(attribute.column)
    if isinstance(attribute, IsMissing):
        return rf"{column} \text{{ is {'' if holds else 'not '}missing}}"
    if (left := range_of(attribute, holds)) is not None:
        return _range(left)
    if isinstance(attribute, Above | Between):
        return rf"{column} > \text{{nothing}}" if holds else rf"{column} \le \text{{nothing}}"
    if isinstance(attribute, IsIn):
        listed = ", ".join(map(_value, attribute.values))
        return rf"{column} {chr(92)}{'in' if holds else 'notin'} \{{{listed}\}}"
    if attribute.value is True:
        return column if holds else rf"\lnot {column}"
    return f"{column} {'=' if holds else chr(92) + 'ne'} {_value(attribute.value)}"


def _range(asked: Range | Gap) -> str:
    if isinstance(asked, Gap):
        return rf"\lnot ({_range(Range(asked.column, asked.low, asked.high))})"
    column = _column(asked.column)
    if asked.high is None:
        assert asked.low is not None
        return f"{column} > {_number(asked.low)}"
    low = "" if asked.low is None else f"{_number(asked.low)} < "
    return rf"{low}{column} \le {_number(asked.high)}"


def _column(column: ColumnName) -> str:
    words = str(column) + zone_text(column.zone) if isinstance(column, Part) else column
    return rf"\text{{{escape(words)}}}"


def _value(value: Scalar) -> str:
    if isinstance(value, bool):
        return rf"\text{{{'true' if value else 'false'}}}"
    return rf"\text{{{escape(value)}}}" if isinstance(value, str) else _number(value)


def _number(value: int | float | Quantity) -> str:
    if isinstance(value, Quantity):
        return (
            str(value) if value.measure.kind is Kind.DECIMAL else rf"\text{{{escape(str(value))}}}"
        )
    if isinstance(value, float) and math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e16
    mantissa, _, exponent = (str(int(value)) if whole else repr(value)).partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def _escaped(c: str) -> str:
    if c in _ESCAPES:
        return _ESCAPES[c]
    if " " <= c <= "~":
        return c
    base, *accents = list(unicodedata.normalize("NFD", c))
    if len(accents) == 1 and accents[0] in _ACCENTS and base.isascii() and base.isalpha():
        # The dot of i or j would collide with the accent.
        base = {"i": r"\i", "j": r"\j"}.get(base, base) if accents[0] != "\u0327" else base
        return rf"\{_ACCENTS[accents[0]]}{{{base}}}"
    return f"[U+{ord(c):04X}]"


EXPORTS.register(Export(name="latex", title="LaTeX", ending=".tex", write=export_latex))
