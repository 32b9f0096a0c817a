"""How input is spoiled: bytes, texts and trees of values."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

DEEP = 5_000
TOKENS = (
    *(
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        '"""',
        "\\",
        "\\u0000",
        "\\ud800",
        "\\U00110000",
        "=",
        ".",
        ",",
        "#",
        "\n",
        "\r",
        "\0",
    ),
    *(
        "nan",
        "inf",
        "-inf",
        "true",
        "false",
        "null",
        "NaN",
        "Infinity",
        "1e999999999",
        "-0.0",
        "0x7f",
        "1_000",
        "9" * 5000,
    ),
    *(
        "\ufeff",
        "\u202e",
        "\x1b[31m",
        "é",
        "日本",
        "\U0001f600",
        "1979-05-27T07:32:00Z",
        "[[a]]",
        "[a.b.c]",
        "a.b = 1",
    ),
    *(
        "[" * DEEP,
        "{a=" * 2000,
        '{"a":' * DEEP,
        "[" * 500 + "]" * 500,
        "<script>",
        "'; DROP TABLE t; --",
        "=cmd|' /C x'!A0",
    ),
)
BOMBS = (
    "[" * DEEP,
    "{a=" * DEEP,
    '{"a":' * DEEP,
    "a." * DEEP,
    "9" * 100_000,
    "\\u0041" * 20_000,
    "é" * 100_000,
)
NUMBERS = (
    0,
    1,
    -1,
    2,
    10,
    24,
    25,
    2**31,
    2**53 + 1,
    2**63,
    -(2**63),
    2**64,
    10**400,
    0.0,
    -0.0,
    0.5,
    1.5,
    1e308,
    5e-324,
)
TEXTS = (
    *(
        "",
        " ",
        "x",
        "y",
        "a.b",
        "../../x",
        "/",
        "~",
        "\0",
        "\n",
        "\x1b]0;x\x07",
        "\u202eabc",
        "é" * 300,
    ),
    *(
        "nan",
        "inf",
        "-inf",
        "1/2",
        "1/0",
        "1e999999999",
        "0.1",
        "above",
        "equals",
        "date",
        "decimal[2]",
        "2024-02-30",
    ),
    *(
        "<img src=x onerror=alert(1)>",
        '"; DROP TABLE t; --',
        "=1+1",
        "@SUM(A1)",
        "%s%n",
        "{0.__class__}",
        "$(id)",
        "`id`",
    ),
    *(
        "study",
        "fit",
        "suite",
        "distill",
        "serial",
        "local",
        "address",
        "builtin:breast_cancer",
        "s3://b/k",
        "tcp://:1",
    ),
)


def bytes_spoiled(random: Random, content: bytes) -> bytes:
    """Return content with a few bytes flipped, cut out, doubled, put in or cut off."""
    spoiled = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        place = random.randrange(len(spoiled) + 1)
        length = min(random.choice((1, 1, 2, 4, 16, 64)), len(spoiled) - place)
        match random.randrange(6):
            case 0 if place < len(spoiled):
                spoiled[place] ^= 1 << random.randrange(8)
            case 1:
                del spoiled[place : place + length]
            case 2:
                spoiled[place:place] = spoiled[place : place + length]
            case 3:
                token = random.choice(TOKENS) if random.random() > 0.01 else random.choice(BOMBS)
                spoiled[place:place] = token.encode("utf-8", "surrogatepass")
            case 4:
                spoiled[place : place + length] = random.randbytes(length)
            case _ if random.random() < 0.2:
                del spoiled[place:]
    return bytes(spoiled)


def bits_flipped(random: Random, content: bytes) -> bytes:
    """Return content of the same length, or shorter, with some bits flipped."""
    spoiled = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 5, 40))):
        spoiled[random.randrange(len(spoiled))] ^= 1 << random.randrange(8)
    return bytes(spoiled[: random.randrange(len(spoiled))] if random.random() < 0.1 else spoiled)


def any_value(random: Random, depth: int = 0) -> Any:
    """Return a value of any type that JSON can hold."""
    match random.randrange(8 if depth < 3 else 6):
        case 0:
            return random.choice((None, True, False))
        case 1:
            return random.choice(NUMBERS)
        case 2 | 3:
            return random.choice(TEXTS) if random.random() > 0.002 else "x" * 100_000
        case 4:
            return random.randrange(-3, 30)
        case 5:
            return random.random()
        case 6:
            return [any_value(random, depth + 1) for _ in range(random.randrange(4))]
        case _:
            return {
                random.choice(TEXTS): any_value(random, depth + 1)
                for _ in range(random.randrange(3))
            }


def tree_spoiled(random: Random, tree: Any) -> Any:
    """Return a tree of lists and objects in which some values were replaced, removed, doubled,
    moved or renamed.
    """
    spoiled = copy.deepcopy(tree)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        parents = [parent for parent in _containers(spoiled) if len(parent)]
        if not parents:
            return any_value(random)
        parent = random.choice(parents)
        key = (
            random.choice(list(parent))
            if isinstance(parent, dict)
            else random.randrange(len(parent))
        )
        match random.randrange(7):
            case 0:
                del parent[key]
            case 1:
                other = random.choice(parents)
                parent[key] = copy.deepcopy(
                    random.choice(list(other.values() if isinstance(other, dict) else other))
                )
            case 2 if isinstance(parent, list):
                parent += copy.deepcopy(parent[: random.choice((1, 3, 40))])
            case 3 if isinstance(parent, dict):
                parent[random.choice(TEXTS)] = parent.pop(key)
            case 4:
                parent[key] = [parent[key]]
            case _:
                parent[key] = any_value(random)
    return spoiled


def json_of(random: Random, tree: Any) -> bytes:
    """Write a tree as JSON, now and then with a key twice, and some bytes of it spoiled."""
    text = json.dumps(tree, ensure_ascii=random.random() < 0.5)
    if random.random() < 0.02:
        text = text.replace('{"', '{"schema": 1, "schema": 2, "', 1)
    content = text.encode("utf-8", "surrogatepass")
    return bytes_spoiled(random, content) if random.random() < 0.3 else content


def _containers(tree: Any) -> list[Any]:
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict | list):
            found.append(node)
            waiting += node.values() if isinstance(node, dict) else node
    return found
