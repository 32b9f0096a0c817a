"""The map of the house: dnfscale/README.md has one line for every module, from its own docstring.

`python -m tests.test_map` prints the map as it should be.
"""

from __future__ import annotations

import ast
from pathlib import Path

import dnfscale

ROOT = Path(dnfscale.__file__).parent
HEADING = "## The map"


def module_map() -> str:
    """The tables of all packages: each module and the first paragraph of its docstring."""
    by_package: dict[str, list[Path]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).parts
        if path.name != "__init__.py" or len(parts) <= 2:
            by_package.setdefault(parts[0] if len(parts) > 1 else "", []).append(path)
    lines: list[str] = []
    for package, paths in sorted(by_package.items()):
        lines += ["", f"### {package or 'dnfscale'}", ""]
        folder = ROOT / package
        lines += ["| module | holds |", "| --- | --- |"]
        lines += [
            f"| `{path.relative_to(folder).as_posix()}` | {first_of(path)} |" for path in paths
        ]
    return "\n".join(lines).strip() + "\n"


def first_of(path: Path) -> str:
    """The first paragraph of a module's docstring on one line."""
    documented = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return " ".join(documented.partition("\n\n")[0].split()).replace("|", "\\|")


def test_every_module_says_what_it_holds():
    silent = [path for path in ROOT.rglob("*.py") if not first_of(path)]
    assert silent == []


def test_the_map_has_every_module_with_its_own_words():
    written = (ROOT / "README.md").read_text("utf-8").partition(HEADING)[2]
    assert written.partition("prints it.\n\n")[2] == module_map()


if __name__ == "__main__":
    print(module_map(), end="")
