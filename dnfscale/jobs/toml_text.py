"""What tomllib lacks: finding the line of a key, and writing a document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_OPAQUE = re.compile(
    r'"""(?:\\.|[^\\])*?"""'
    r"|'''.*?'''"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*",
    re.DOTALL,
)
"""Strings and comments: nothing inside them is a key or a bracket."""
_TABLE = re.compile(r"\s*\[\[?([\w\s.-]+)\]\]?\s*$")
_KEY = re.compile(r"\s*([\w-]+(?:\s*\.\s*[\w-]+)*)\s*=")


def key_lines(text: str) -> dict[str, int]:
    """Return the line, from 1, on which each dotted key or table of a valid document begins.

    Quoted keys are not found: no key of ours needs quotes, and an error about one is reported without its line.
    """
    lines: dict[str, int] = {}
    table = ""
    depth = 0
    for number, line in enumerate(_OPAQUE.sub(_blanked, text).split("\n"), start=1):
        if depth == 0 and (match := _TABLE.match(line)):
            table = _bare(match[1]) + "."
            lines.setdefault(table[:-1], number)
            continue
        if depth == 0 and (match := _KEY.match(line)):
            lines.setdefault(table + _bare(match[1]), number)
        depth += sum((c in "[{") - (c in "]}") for c in line)
    return lines


def _blanked(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _bare(key: str) -> str:
    return re.sub(r"\s", "", key)


def write_toml(document: Mapping[str, Any]) -> str:
    """Write a document of tables, strings, numbers, booleans and lists; keys without a value are left out."""
    return "\n".join(_table(document, ())).strip() + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    plain = {key: value for key, value in table.items() if value is not None and not isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    if path and lines:
        lines = ["", f"[{'.'.join(map(_key, path))}]", *lines]
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += _table(value, (*path, key))
    return lines


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return '"' + "".join(_escaped(character) for character in value) + '"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    raise TypeError(f"no TOML for {type(value).__name__}")


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08X}"
