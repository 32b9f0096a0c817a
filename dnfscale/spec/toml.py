"""Specs as TOML: what a file says, on which line, and what to write instead; and how values are
written out.

tomllib reads and tomli-w writes. The finder of lines is our own: neither library says where a key
stands.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import tomli_w

from dnfscale.errors import DnfscaleError, SpecError
from dnfscale.spec.keys import Key, plain, shown

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
_SECRET_KEYS = re.compile(
    r"secret|password|passwd|token|credential|access_?key|account_?key|\bkey$|sas"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the keys of a spec come from: a file with its lines, and the command line."""

    file: Path
    lines: Mapping[str, int]
    overridden: frozenset[str] = frozenset()
    """The keys that the command line sets: they are not the fault of a line."""

    def place(self, key: str) -> str:
        """Return the file and, if it is known, the line on which a key or its table stands."""
        if key in self.overridden:
            return "--set"
        while key:
            if key in self.lines:
                return f"{self.file}:{self.lines[key]}"
            key = key.rpartition(".")[0]
        return str(self.file)

    def located(self, error: DnfscaleError) -> DnfscaleError:
        """Return an error with the place of the key that it is about, if it is about one."""
        if error.key is None:
            return error
        return type(error)(f"{self.place(error.key)}: {error.message}")

    def fail(self, key: str, message: str) -> NoReturn:
        """Raise SpecError about a key."""
        raise SpecError(f"{self.place(key)}: {message}")

    def checked(self, known: Key, value: Any) -> Any:
        """Return the value of a key as it is used."""
        try:
            return known.checked(value)
        except SpecError as error:
            raise self.located(error) from None


def read_toml(file: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """Read a TOML file, and the line of each of its keys."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SpecError(
            f"{file}: expected a job spec in TOML, but it cannot be read: {error}{_hint(file)}"
        ) from error
    try:
        return tomllib.loads(text), key_lines(text)
    except (ValueError, RecursionError) as error:
        line = re.search(r"line (\d+)", str(error))
        place = f"{file}:{line[1]}" if line else str(file)
        raise SpecError(
            f"{place}: expected TOML, but it does not parse: {error}{_hint(file)}"
        ) from error


def _hint(file: Path) -> str:
    if file.suffix == ".toml" or not file.is_file():
        return ""
    return f"; if it is a table, write its spec: dnfscale init {file} --target COLUMN"


def key_lines(text: str) -> dict[str, int]:
    """Return the line, from 1, on which each dotted key or table of a valid document begins.

    Quoted keys are not found: no key of ours needs quotes, and an error about one is reported
    without its line.
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
    """Write a document of tables and values; keys without a value are left out."""
    return tomli_w.dumps(_without_none(plain(document)))


def write_value(value: Any) -> str:
    """Write a value on one line, as in an inline table."""
    value = plain(value)
    if isinstance(value, list):
        return f"[{', '.join(map(write_value, value))}]"
    if isinstance(value, dict):
        entries = (f"{_key(name)} = {write_value(item)}" for name, item in value.items())
        return f"{{{', '.join(entries)}}}"
    return write_toml({"value": value}).removeprefix("value = ").rstrip("\n")


def write_values(values: Mapping[str, Any]) -> str:
    """Write values by dotted key as a TOML document."""
    document: dict[str, Any] = {}
    for key, value in values.items():
        *tables, last = key.split(".")
        table = document
        for name in tables:
            table = table.setdefault(name, {})
        table[last] = value
    return write_toml(document)


def _key(name: str) -> str:
    return write_toml({name: 0}).removesuffix(" = 0\n")


def _without_none(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table without keys that have no value, and without tables that have no key."""
    found = {
        name: _without_none(value) if isinstance(value, dict) else value
        for name, value in table.items()
        if value is not None
    }
    return {
        name: value
        for name, value in found.items()
        if value != {} or not isinstance(table[name], dict) or not table[name]
    }


def parse_override(text: str) -> tuple[str, Any]:
    """Split `a.b=value` of the command line; a value that is not TOML is taken as a string."""
    key, equals, value = text.partition("=")
    if not equals:
        raise SpecError(f"--set takes KEY=VALUE, such as select.max_ell=5, got {text!r}")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        return key.strip(), value


def parse_overrides(texts: Iterable[str], known: Collection[str]) -> dict[str, Any]:
    """Return all values of the command line by dotted key; a table sets each of its keys."""
    overrides: dict[str, Any] = {}
    for text in texts:
        key, value = parse_override(text)
        in_parts = isinstance(value, dict) and key not in known
        overrides |= (
            {f"{key}.{name}": part for name, part in value.items()} if in_parts else {key: value}
        )
    return overrides


def flattened(
    document: Mapping[str, Any], known: Collection[str], origin: Origin, prefix: str = ""
) -> dict[str, Any]:
    """Return the document by dotted key; a key that is not known is an error."""
    flat: dict[str, Any] = {}
    for name, value in document.items():
        key = prefix + name
        is_table = any(path.startswith(key + ".") for path in known)
        if isinstance(value, dict) and is_table:
            flat |= flattened(value, known, origin, key + ".")
        elif key in known:
            flat[key] = value
        elif is_table:
            origin.fail(key, f"{key} must be a table, headed by [{key}], got {shown(value)}")
        elif ".storage." in key and _SECRET_KEYS.search(name.lower()):
            origin.fail(
                key,
                (
                    f"{key}: credentials never stand in a spec; take it out, and set them in "
                    "the environment "
                    "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for s3://), or rely on the "
                    "platform's own"
                ),
            )
        else:
            origin.fail(key, unknown(key, known))
    return flat


def unknown(key: str, known: Collection[str]) -> str:
    """Say that a key is unknown, and which known one is nearest."""
    near = _nearest(key, list(known))
    return f"unknown key {key}" + (f"; did you mean {near}?" if near else "")


def _nearest(key: str, known: list[str]) -> str | None:
    """Return the known key that was probably meant: one of the same name, of a similar path, or of
    a similar name.
    """
    last = {path: path.rpartition(".")[2] for path in known}
    name = key.rpartition(".")[2]
    same = [path for path in known if last[path] == name]
    tables = {path.rpartition(".")[0] for path in known if "." in path}
    near = same[:1] or difflib.get_close_matches(key, [*known, *sorted(tables)], n=1)
    if near:
        return near[0]
    close = difflib.get_close_matches(name, list(last.values()), n=1)
    return next((path for path in known if close and last[path] == close[0]), None)
