"""What the README shows: its blocks of code, and its commands with what they print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def blocks(section: str, language: str) -> list[str]:
    """Return the blocks of code of a section."""
    text = README.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(section: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a section and what it is shown to print."""
    for block in blocks(section, "console"):
        for shown in block.split("$ ")[1:]:
            command, _, output = shown.partition("\n")
            yield command, output
