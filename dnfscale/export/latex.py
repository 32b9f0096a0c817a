"""A model as a LaTeX formula, for a document that uses amsmath. It is plain ASCII and compiles with
every engine.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from dnfscale.core.model import Model
from dnfscale.core.quantities import Kind, Quantity
from dnfscale.core.vocabulary import Attribute
from dnfscale.method.spelling import Spelling, spell
from dnfscale.method.words import (
    Condition,
    Notation,
    column_text,
    condition_of,
    conditions_alone,
    model_lines,
    needs_note,
)
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
            r"& \text{(where a value is missing, $\le$ alone, $\ne$, $\notin$ and $\lnot$ hold; "
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
    target, labels = _text(model.target), model.positive
    if len(labels) == 1:
        return rf"{target} {'=' if model.answer else chr(92) + 'ne'} {_NOTATION.value(labels[0])}"
    values = _NOTATION.set_of(map(_NOTATION.value, labels))
    return rf"{target} \{'in' if model.answer else 'notin'} {values}"


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
    for number, line in enumerate(model_lines(model)):
        conditions = [_written(condition_of(each, _NOTATION)) for each in line.literals]
        joint, head, tail = r" \land ", "", ""
        if line.at_least is not None:
            # A comma ends a row, where a sign of conjunction begins the next.
            conditions = [f"{each}," for each in conditions[:-1]] + conditions[-1:]
            joint, head, tail = r"\; ", rf"\text{{at least }} {line.at_least} \text{{ of }} (", ")"
        opening = r"& \qquad {}" if line.at_least is not None else r"& \qquad {} \land"
        for start in range(0, len(conditions), _PER_LINE):
            joined = joint.join(conditions[start : start + _PER_LINE])
            joined += tail if start + _PER_LINE >= len(conditions) else ""
            if start:
                lines.append(f"{opening} {joined}")
            else:
                lines.append(head + joined if number == 0 else rf"\lor {{}} & {head}{joined}")
    return lines


def latex_condition(attribute: Attribute, holds: bool) -> str:
    """Return an attribute, or its negation, in mathematics mode."""
    return r" \land ".join(map(_written, conditions_alone(attribute, holds, _NOTATION)))


def _written(asked: Condition) -> str:
    before, after = asked.around
    low = f"{asked.low} < " if asked.low else ""
    sign = _SIGNS.get(asked.sign, asked.sign)
    rest = " ".join(part for part in (low + asked.name, sign, asked.value) if part)
    return before.replace("not ", r"\lnot ") + rest + after


def _text(text: str) -> str:
    return rf"\text{{{escape(text)}}}"


def _number(value: int | float | Quantity) -> str:
    if isinstance(value, Quantity):
        return str(value) if value.measure.kind is Kind.DECIMAL else _text(str(value))
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


_SIGNS = {
    "≤": r"\le",
    "≠": r"\ne",
    "in": r"\in",
    "not in": r"\notin",
    "is missing": r"\text{ is missing}",
    "is not missing": r"\text{ is not missing}",
}
_NOTATION = Notation(
    column=lambda column: _text(column_text(column, str)),
    text=lambda text: _text(text),
    number=_number,
    word=lambda word: _text(word),
    sign=lambda sign: _SIGNS.get(sign, sign),
    braces=(r"\{", r"\}"),
)


def export_latex_of_classes(models: Sequence[Model]) -> str:
    """Return the formula of each label, one after the other."""
    return "\n".join(map(export_latex, models))


EXPORTS.register(
    Export(
        name="latex",
        title="LaTeX",
        ending=".tex",
        write=export_latex,
        write_several=export_latex_of_classes,
    )
)
