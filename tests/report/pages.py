"""Pages of a report, taken apart."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "wbr", "hr", "input"}


class Document(HTMLParser):
    """A page taken apart: its elements in order, whether they close as they open, and the text in
    them.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag

    def handle_data(self, data):
        # Numbers keep to their signs by spaces that do not break.
        self.text += data.replace("\xa0", " ") if not {"style", "script"} & {*self._open} else ""

    @property
    def scripts(self) -> list[str | None]:
        """What kinds of scripts there are; None for those that are run."""
        return [attributes.get("type") for attributes in self.all("script")]

    def all(self, *names: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in names]
