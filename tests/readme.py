"""What the manual shows: its pages, their blocks of code, and commands with what they print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
JOBS = ROOT / "jobs" / "README.md"
DEPLOY = ROOT / "deploy" / "README.md"
PAGES = [
    README,
    ROOT / "dnfscale" / "README.md",
    *(page for top in ("deploy", "jobs", "tests") for page in sorted((ROOT / top).rglob("*.md"))),
    *sorted((ROOT / ".github").glob("*.md")),
]


def fenced(text: str) -> list[tuple[str, str]]:
    """Return the language and the text of every block of code."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def blocks(page: Path, section: str, language: str) -> list[str]:
    """Return the blocks of code of a section."""
    text = page.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return [block for written_in, block in fenced(text) if written_in == language]


def commands(page: Path, section: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a section and what it is shown to print."""
    for block in blocks(page, section, "console"):
        for shown in block.split("$ ")[1:]:
            command, _, output = shown.partition("\n")
            yield command, output
