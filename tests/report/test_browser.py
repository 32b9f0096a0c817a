"""The report in a real browser: nothing sticks out, nothing is fetched, nothing complains, in light
and in dark.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import numpy as np
import pytest

from dnfscale.apply.evaluation import Asked, evaluate_models
from dnfscale.engine.serial import SerialEngine
from dnfscale.method.explain import explain_type
from dnfscale.method.narrate import flip_words, lines_that_hold
from dnfscale.method.words import model_lines
from dnfscale.report import ReportRun, render_report
from dnfscale.report.cards.what_if import fields_of
from dnfscale.report.evaluated import evaluation_page
from tests.report.runs import (
    HOSTILE,
    certified_run,
    distill_run,
    fit_run,
    hostile_run,
    labels_run,
    leave_one_out_run,
    lengths_run,
    page_of,
    paper_run,
    plain_run,
    sized_run,
    suite_runs,
)
from tests.report.vectors import codes_of, models, rows_of, said_of, typed, written

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
    # Whatever the page might ask for, no name can be looked up.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
_TIMEOUT_S = 60


class Browser:
    """Chromium, spoken to over a pair of pipes: JSON, a NUL byte after each message."""

    def __init__(self, program: str, profile: Path) -> None:
        commands_in, self._commands = _pipe()
        self._answers, answers_out = _pipe()
        # Chromium reads commands from descriptor 3 and answers on 4.
        shell = f'exec "$0" "$@" 3<&{commands_in} 4>&{answers_out}'
        self._process = subprocess.Popen(
            [
                "/bin/bash",
                "-c",
                shell,
                program,
                *_FLAGS,
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            pass_fds=(commands_in, answers_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands_in)
        os.close(answers_out)
        self._numbers = count(1)
        self._messages: Queue[dict[str, Any]] = Queue()
        self.events: list[dict[str, Any]] = []
        threading.Thread(target=self._listen, daemon=True).start()
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network", "Security"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result; events that come in between are kept."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if hasattr(self, "_session"):
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda message: message.get("id") == number)
        assert "error" not in answer, f"{method}: {answer}"
        return answer["result"]

    def open(self, page: Path, *, width: int, dark: bool = False, media: str = "screen") -> None:
        """Show a page at a width; from here on events are those of this page."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=scheme)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        self.events.clear()
        self.ask("Page.navigate", url=page.as_uri())
        if not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self._until(lambda message: message.get("method") == "Page.loadEventFired")

    def value(self, expression: str) -> Any:
        """Return what an expression is worth in the page; the page's policy does not bind the
        debugger.
        """
        answer = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self) -> bytes:
        """Return what the window shows as a PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot")["data"])

    def pdf(self) -> bytes:
        """Return the page as it is printed."""
        return base64.b64decode(self.ask("Page.printToPDF")["data"])

    def press(self, key: str, code: int) -> None:
        """Press and release a key."""
        text = {"text": "\r"} if key == "Enter" else {}
        self.ask(
            "Input.dispatchKeyEvent",
            type="keyDown",
            key=key,
            code=key,
            windowsVirtualKeyCode=code,
            **text,
        )
        self.ask(
            "Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code
        )

    def happened(self, *methods: str) -> list[dict[str, Any]]:
        """Return the events of some kinds since the page was opened."""
        # An answer comes after all events before it.
        self.ask("Runtime.evaluate", expression="0")
        return [event["params"] for event in self.events if event["method"] in methods]

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(_TIMEOUT_S)
        os.close(self._commands)

    def _until(self, wanted: Any) -> dict[str, Any]:
        while True:
            try:
                message = self._messages.get(timeout=_TIMEOUT_S)
            except Empty:
                pytest.fail(f"Chromium did not answer within {_TIMEOUT_S} s")
            if "method" in message:
                self.events.append(message)
            if wanted(message):
                return message

    def _listen(self) -> None:
        rest = b""
        while piece := os.read(self._answers, 1 << 16):
            *whole, rest = (rest + piece).split(b"\0")
            for message in whole:
                self._messages.put(json.loads(message))
        os.close(self._answers)


def _pipe() -> tuple[int, int]:
    """Return a pipe whose ends are clear of the descriptors that Chromium expects."""
    ends = os.pipe()
    reading, writing = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return reading, writing


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("chromium is not on PATH (Debian: apt-get install chromium)")
    browser = Browser(program, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


def _evaluated() -> str:
    """Return the page of an evaluation of which every table has rows."""
    models_ = [replace(model, target="flag", positive=(True,)) for model in models()["lines"]]
    with tempfile.TemporaryDirectory() as folder:
        source = written(rows_of(300, np.random.default_rng(1)), folder)
        asked = Asked(slices=("colour",))
        found = evaluate_models(models_, source, SerialEngine(), asked)
    return evaluation_page(found, "rows.parquet")


RUNS = {
    "evaluation": _evaluated,
    "study": lambda: page_of([plain_run()]),
    "paper": lambda: page_of([paper_run()]),
    "sized": lambda: page_of([sized_run()]),
    "sized, hostile": lambda: page_of([sized_run(HOSTILE)]),
    "fit": lambda: page_of([fit_run()]),
    "leave-one-out": lambda: page_of([leave_one_out_run()]),
    "hostile": lambda: page_of([hostile_run()], [("<b>lost</b>", "x" * 500)], title="y" * 200),
    "certified": lambda: page_of([certified_run()]),
    "distill": lambda: page_of([distill_run()]),
    "labels": lambda: page_of([labels_run()]),
    "labels-hostile": lambda: page_of([labels_run(["x" * 300, *HOSTILE, 1, 2, 3])]),
    "lengths": lambda: page_of([lengths_run()]),
    "suite": lambda: page_of(suite_runs()[4:], [("adult", "no such file")], title="paper"),
}


@pytest.fixture(scope="module", params=RUNS)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(RUNS[request.param](), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def labels_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(RUNS["labels"](), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def paper_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(RUNS["paper"](), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def lengths_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(page_of([lengths_run()]), encoding="utf-8")
    return file


_UNFOLD = "document.querySelectorAll('details').forEach(each => each.open = true)"
_STICKING_OUT = """
[...document.querySelectorAll('body *')]
  .filter(each => !each.closest('.scroll *') && !each.closest('.skip') && !each.closest('.facts thead'))
  .filter(each => each.getBoundingClientRect().right > innerWidth + 1 || each.getBoundingClientRect().left < -1)
  .map(each => each.outerHTML.slice(0, 200))
"""
_CUT_WORDS = """
[...document.querySelectorAll('.chart text')]
  .filter(each => {
    const word = each.getBoundingClientRect(), chart = each.closest('.chart').getBoundingClientRect();
    return word.left < chart.left - 1 || word.right > chart.right + 1 || word.bottom > chart.bottom + 1;
  })
  .map(each => each.textContent)
"""


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_nothing_sticks_out_of_the_page_even_unfolded(browser, page, width):
    browser.open(page, width=width)
    for unfold in ("0", _UNFOLD):
        browser.value(unfold)
        assert browser.value("innerWidth") == width
        assert browser.value("document.documentElement.scrollWidth <= innerWidth")
        assert browser.value(_STICKING_OUT) == []
    assert browser.value(_CUT_WORDS) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_drawn_in_light_and_in_dark(browser, page, width):
    grounds = []
    for dark in (False, True):
        browser.open(page, width=width, dark=dark)
        assert len(set(_pixels(browser.screenshot()))) > 50
        grounds.append(_luminance(browser.value("getComputedStyle(document.body).backgroundColor")))
    assert grounds[0] > 0.8
    assert grounds[1] < 0.05


def test_no_request_leaves_the_page(browser, page):
    browser.open(page, width=1280)
    browser.value(_UNFOLD)
    requests = [event["request"]["url"] for event in browser.happened("Network.requestWillBeSent")]
    assert requests == [page.as_uri()]


def test_nothing_is_logged_thrown_or_asked(browser, page):
    browser.open(page, width=1280)
    browser.value(_UNFOLD)
    kinds = (
        "Log.entryAdded",
        "Runtime.exceptionThrown",
        "Runtime.consoleAPICalled",
        "Page.javascriptDialogOpening",
    )
    assert browser.happened(*kinds) == []


def test_the_policy_holds_against_what_might_still_slip_in(browser, paper_page):
    browser.open(paper_page, width=1280)
    browser.value(
        """
        document.body.insertAdjacentHTML('beforeend', '<img src="/tmp/x.png" onerror="window.ran = 1">');
        for (const [tag, text] of [['script', 'window.ran = 1'], ['style', 'body { color: rgb(1, 2, 3) }']]) {
            const each = document.createElement(tag);
            each.textContent = text;
            document.body.append(each);
        }
        """
    )
    assert browser.value("window.ran === undefined")
    assert browser.value("getComputedStyle(document.body).color") != "rgb(1, 2, 3)"
    [image] = browser.happened("Network.loadingFailed")
    assert image["blockedReason"] == "csp"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", ["paper_page", "labels_page"])
def test_text_stands_out_from_its_ground(browser, request, kind, dark):
    browser.open(request.getfixturevalue(kind), width=1280, dark=dark)
    browser.value(_UNFOLD)
    pairs = browser.value(
        """
        [...document.querySelectorAll('p, li, a, th, td, .chip, .and, .evidence, dt, dd, small, summary, caption')]
          .map(each => {
            let ground = each;
            while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
            return [getComputedStyle(each).color, getComputedStyle(ground).backgroundColor];
          })
        """
    )
    assert len(pairs) > 100
    for ink, ground in {tuple(pair) for pair in pairs}:
        high, low = sorted((_luminance(ink), _luminance(ground)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)


def test_on_a_phone_the_names_of_rows_stay_in_sight_beside_their_figures(browser, labels_page):
    browser.open(labels_page, width=320)
    browser.value(_UNFOLD)
    browser.value("document.querySelectorAll('.scroll').forEach(each => each.scrollLeft = 1000)")
    left = """
    [...document.querySelectorAll('.scroll tbody th')]
      .map(each => each.getBoundingClientRect().left - each.closest('.scroll').getBoundingClientRect().left)
    """
    found = browser.value(left)
    assert len(found) > 20
    assert all(0 <= each <= 2 for each in found)
    widths = (
        "[...document.querySelectorAll('.scroll tbody th')].map(each => each.offsetWidth / "
        "innerWidth)"
    )
    assert max(browser.value(widths)) < 0.55


def test_the_keyboard_reaches_the_content_the_links_and_the_folds(browser, paper_page):
    browser.open(paper_page, width=1280)
    browser.press("Tab", 9)
    assert browser.value("document.activeElement.textContent") == "Skip to the content"
    assert browser.value("document.activeElement.getBoundingClientRect().left >= 0")
    reached = set()
    for _ in range(60):
        browser.press("Tab", 9)
        assert (
            browser.value("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
        )
        reached.add(browser.value("document.activeElement.tagName"))
        if browser.value("document.activeElement.tagName === 'SUMMARY'"):
            break
    assert reached >= {"A", "SUMMARY"}
    browser.press("Enter", 13)
    assert browser.value("document.activeElement.parentElement.open")


@pytest.mark.parametrize("dark", [False, True])
def test_on_paper_the_ground_is_white_and_only_what_is_unfolded_is_printed(
    browser, paper_page, dark
):
    browser.open(paper_page, width=800, dark=dark, media="print")
    heights = "[...document.querySelectorAll('details')].map(each => each.offsetHeight)"
    assert set(browser.value(heights)) == {0}
    browser.value("document.querySelector('#answer details').open = true")
    assert max(browser.value(heights)) > 0
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.value("getComputedStyle(document.querySelector('nav')).display") == "none"


@pytest.mark.parametrize("kind", ["paper_page", "labels_page"])
def test_a_run_is_printed_on_two_pages(browser, request, kind):
    browser.open(request.getfixturevalue(kind), width=1280, media="print")
    printed = browser.pdf()
    assert printed.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 2


def test_a_slider_shows_one_panel_and_says_which(browser, lengths_page):
    browser.open(lengths_page, width=1280)
    shown = "[...document.querySelectorAll('#lengths .panel')].map(each => each.offsetHeight > 0)"
    assert browser.value(shown) == [False, False, True]
    browser.value("document.querySelector('#length').focus()")
    browser.press("ArrowLeft", 37)
    assert browser.value(shown) == [False, True, False]
    said = "document.querySelector('#lengths output').textContent"
    assert browser.value(said) == "2 conditions"
    told = "document.querySelector('#length').getAttribute('aria-valuetext')"
    assert browser.value(told) == "2 conditions"
    panel = browser.value("document.querySelector('#lengths .panel[open]').textContent")
    assert "dnfscale choose RUN --literals 2" in panel


def test_without_scripts_the_formulas_of_all_lengths_can_be_unfolded(browser, lengths_page):
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(lengths_page, width=1280)
        heights = "[...document.querySelectorAll('#lengths .panel')].map(each => each.offsetHeight)"
        assert min(browser.value(heights)) > 0
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)


def test_a_press_on_the_head_of_a_column_sorts_by_numbers_and_a_second_turns_it_round(
    browser, lengths_page
):
    browser.open(lengths_page, width=1280)
    browser.value(_UNFOLD)
    table = (
        "[...document.querySelectorAll('#errors tbody tr')].map(each => each.cells[0].textContent)"
    )
    assert browser.value(table)[:4] == ["1", "2", "5", "10"]
    press = "document.querySelectorAll('#errors thead button')[0].click()"
    browser.value(press)
    assert browser.value(table)[:4] == ["1", "2", "5", "10"]
    browser.value(press)
    assert browser.value(table)[:4] == ["95", "90", "85", "80"]
    sorted_by = "document.querySelector('#errors thead th').getAttribute('aria-sort')"
    assert browser.value(sorted_by) == "descending"


_N_TYPED = 720
"""Rows of each kind of formula: 5,040 together."""
_TYPED = """
rows => rows.map(values => {
  const form = document.querySelector('form.what-if');
  values.forEach((value, i) => {
    const input = form.querySelector(`[data-field="${i}"]`);
    if (input.tagName === 'SELECT') input.selectedIndex = value;
    else input.value = value === null ? '' : String(value);
  });
  form.dispatchEvent(new Event('input'));
  const held = [...form.querySelectorAll('[data-line]')].flatMap(
    (line, i) => line.classList.contains('held') ? [i] : []);
  const change = [...form.querySelectorAll('.change li')].map(each => each.textContent);
  return [form.querySelector('.verdict').textContent, form.querySelector('data').value, held, change];
})
"""


@pytest.mark.parametrize(
    "kind", ["attributes", "threshold", "lines", "the other answer", "signs", "moments"]
)
def test_rows_typed_into_what_if_get_the_answers_of_predict_and_explain(browser, tmp_path, kind):
    [model] = models()[kind]
    file = tmp_path / "report.html"
    run = ReportRun(plain_run().read, (model,))
    file.write_text(render_report([run]), encoding="utf-8")
    rows = rows_of(_N_TYPED, np.random.default_rng(3))
    browser.open(file, width=1280)
    fields = fields_of([model])
    given = browser.value(f"({_TYPED})({json.dumps([typed(fields, row) for row in rows])})")
    lines = model_lines(model)
    [codes] = codes_of([model], rows)
    for (verdict, probability, held, change), said, code in zip(
        given, said_of([model], rows), codes, strict=True
    ):
        explained = explain_type(model, code)
        assert verdict == ("y = a" if said["prediction"] else "y ≠ a")
        assert float(probability) == said["probability"]
        assert held == lines_that_hold(lines, explained)
        flip = explained.flip
        words = [] if flip is None else [*flip_words(model, flip).values()]
        if kind == "moments":
            # The page says of a date and its parts what they are together.
            assert len(change) <= len(words)
            change, words = [], [text for text in words if text not in " and ".join(change)]
        assert change == words


_TICK = """
at => {
  const form = document.querySelector('form.what-if');
  form.querySelectorAll('.to-tick input')[at].click();
  const ticked = [...form.querySelectorAll('.to-tick input')].map(each => each.checked);
  const typed = [...form.querySelectorAll('[data-field]')].map(
    each => each.tagName === 'SELECT' ? each.selectedIndex : each.value === '' ? null : Number(each.value));
  return [ticked, typed, form.querySelector('.held-or-not').textContent, form.querySelector('.verdict').textContent];
}
"""


def test_the_signs_of_a_checklist_can_be_ticked_and_the_columns_follow(browser, tmp_path):
    [model] = models()["signs"]
    file = tmp_path / "report.html"
    file.write_text(render_report([ReportRun(plain_run().read, (model,))]), encoding="utf-8")
    browser.open(file, width=1280)
    signs = "[...document.querySelectorAll('.to-tick input')].map(each => each.checked)"
    assert browser.value(signs) == [False] * 5
    for n in range(5):
        ticked, values, told, verdict = browser.value(f"({_TICK})({n})")
        assert ticked == [at <= n for at in range(5)]
        assert told == f"{n + 1} of 5 hold, 3 are needed"
        assert verdict == ("y = a" if n >= 2 else "y ≠ a")
    ticked, values, told, _ = browser.value(f"({_TICK})(3)")
    assert ticked == [True, True, True, False, True]
    # What was typed for a sign is what predict is asked.
    columns = [field.column for field in fields_of([model])]
    assert dict(zip(columns, values, strict=True))["x"] > 2.75


@pytest.mark.parametrize("kind", ["paper_page", "labels_page", "lengths_page"])
def test_nothing_on_paper_is_larger_than_the_text_but_headings_and_key_figures(
    browser, request, kind
):
    browser.open(request.getfixturevalue(kind), width=800, media="print")
    sizes = browser.value(
        """
        [...document.querySelectorAll('.note, .evidence, .and, caption, td, dt, small, footer p, .legend li')]
          .filter(each => each.offsetHeight)
          .map(each => parseFloat(getComputedStyle(each).fontSize) / parseFloat(getComputedStyle(document.body).fontSize))
        """
    )
    assert len(sizes) > 5
    assert max(sizes) <= 1


def test_the_label_that_what_if_gives_is_that_of_predict(browser, tmp_path):
    own = models()["labels"]
    run = labels_run(["a", "b", "c"])
    file = tmp_path / "report.html"
    file.write_text(render_report([ReportRun(run.read, own)]), encoding="utf-8")
    rows = rows_of(_N_TYPED, np.random.default_rng(3))
    browser.open(file, width=1280)
    given = browser.value(f"({_TYPED})({json.dumps([typed(fields_of(own), row) for row in rows])})")
    answers = [(verdict, float(probability)) for verdict, probability, _, _ in given]
    said = said_of(own, rows)
    assert answers == [(f"y = {each['prediction']}", each["probability"]) for each in said]


@pytest.fixture(scope="module")
def axe() -> str:
    """The rules of axe-core, which .ci/run installs."""
    file = os.environ.get("DNFSCALE_AXE")
    if file is None:
        pytest.skip("DNFSCALE_AXE does not name axe.min.js (npm install axe-core)")
    return Path(file).read_text(encoding="utf-8")


_VIOLATIONS = """
axe.run(document, {resultTypes: ['violations']}).then(found => found.violations.map(
  rule => [rule.id, rule.nodes.slice(0, 3).map(node => node.html.slice(0, 200))]))
"""


def test_axe_finds_no_violation_even_unfolded(browser, axe, page):
    browser.open(page, width=1280)
    browser.value(_UNFOLD)
    browser.value(axe)
    assert browser.value(_VIOLATIONS) == []


def test_axe_finds_no_violation_on_a_phone_in_the_dark(browser, axe, lengths_page):
    browser.open(lengths_page, width=390, dark=True)
    browser.value(_UNFOLD)
    browser.value(axe)
    assert browser.value(_VIOLATIONS) == []


def test_without_scripts_nothing_is_offered_that_needs_one(browser, page):
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page, width=1280)
        shown = browser.value(
            "[...document.querySelectorAll('[data-live]')]"
            ".filter(each => each.getBoundingClientRect().height > 0).length"
        )
        links = browser.value("document.querySelectorAll('nav li:not([hidden])').length")
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert shown == 0
    assert links > 0


def _pixels(png: bytes) -> bytes:
    """Return the unpacked picture data of a PNG."""
    assert png.startswith(b"\x89PNG")
    packed, at = b"", 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            packed += png[at + 8 : at + 8 + length]
        at += 12 + length
    return zlib.decompress(packed)


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour such as rgb(1, 2, 3), as the guidelines for web
    content define it.
    """
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
