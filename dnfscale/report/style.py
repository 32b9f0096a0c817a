"""The style of the page, that of a chart by itself, and the script of the page: files beside it."""

from importlib.resources import files


def _sheet(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


_CHARTS = _sheet("charts.css")
STYLE = _CHARTS + _sheet("style.css")
"""Of the page."""
FIGURE_STYLE = _CHARTS.replace("light dark", "light")
"""Of a chart in a file of its own."""
SCRIPT = _sheet("script.js")
"""Of the page."""
