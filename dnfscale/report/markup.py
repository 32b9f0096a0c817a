"""HTML and SVG that no text can break: it is escaped unless it is already markup."""

from __future__ import annotations

import html
import re

from dnfscale.errors import visible

_VOID = frozenset({"br", "hr", "input", "meta", "wbr"})


class Html(str):
    """Text that is already markup, and is not escaped again."""

    __slots__ = ()


Child = Html | str | None
Value = str | int | float | bool | None


def element(name: str, /, *children: Child, **attributes: Value) -> Html:
    """Return an element with its children in it.

    An attribute that is None or False is left out, and one that is True has its own name as its
    value. A trailing underscore is removed, so that class_ can be written, and an underscore inside
    stands for a hyphen.
    """
    opening = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{opening}>")
    return Html(f"<{opening}>{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """Return the pieces one after the other."""
    return Html("".join(_piece(child) for child in children if child is not None))


def name_of(text: str) -> Html:
    """Return a name from the data: escaped, isolated in text direction, and breakable after _ . / -
    and backslashes.
    """
    broken = re.sub(r"([_./\\-]+)", r"\1<wbr>", html.escape(visible(text)))
    return element("bdi", Html(broken))


def _piece(child: Html | str) -> str:
    if isinstance(child, Html):
        return child
    # No line of the page ends between a number and its sign.
    text = re.sub(r"(?<=\d) %", "\u00a0%", html.escape(visible(child)))
    return re.sub(r"± (?=\d)", "±\u00a0", text)


def _attribute(key: str, value: Value) -> str:
    if value is None or value is False:
        return ""
    key = key.rstrip("_").replace("_", "-")
    text = key if value is True else f"{value:g}" if isinstance(value, float) else str(value)
    return f' {key}="{html.escape(visible(text))}"'
