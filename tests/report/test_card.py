"""The model card: every figure is the run's, and what is not known is said to be so."""

from __future__ import annotations

import re
from dataclasses import replace

from dnfscale.core.about import About, Label
from dnfscale.report.card import card_parts, card_text
from dnfscale.report.run import RunView, view_runs
from tests.report.pages import Document
from tests.report.runs import (
    HOSTILE,
    Made,
    fit_run,
    hostile_run,
    labels_run,
    lengths_run,
    page_of,
    views_of,
)


def labelled(made: Made) -> RunView:
    """Return a run whose job said what it is for."""
    labels = {"sex": Label("Sex", values={"a <b>": "other"}), "outcome": Label("State")}
    about = About("A *test*", "For the ward.", labels)
    run = made.run
    models = tuple(replace(model, about=about) for model in run.models)
    return view_runs([replace(run, models=models)])[0]


def test_a_card_says_what_a_run_says():
    [view] = views_of([lengths_run()])
    text = card_text(view)
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert headings == [
        "What it is for",
        "In short",
        "The formula",
        "The data",
        "On unseen rows",
        "Slices",
        "Limits",
        "Certificate",
        "How to reproduce it",
    ]
    assert "No purpose is recorded" in text
    assert "200 rows, 9 columns, 40.0 % positive. The target is outcome." in text
    assert "were right for 84.0 % of them" in text
    assert "5 rows with missing values were left out, of 205" in text
    assert "No guarantee, because the attributes were chosen by looking at the same rows" in text
    assert "not proven shortest" not in text


def test_a_card_uses_the_words_of_the_job():
    view = labelled(lengths_run())
    text = card_text(view)
    assert text.startswith("# A \\*test\\*\n")
    assert "For the ward." in text
    assert "Predict State = ill when" in text
    assert "Sex = other" in text
    assert "| sex | Sex |  | a \\<b\\> = other |  |" in text


def test_a_card_of_a_fit_promises_nothing():
    [view] = views_of([fit_run()])
    text = card_text(view)
    assert "It was not tested" in text
    assert "Figures are for rows like those tested" not in text


def test_a_card_of_several_labels_has_each_formula():
    [view] = views_of([labels_run()])
    text = card_text(view)
    assert text.count("when at least one of these lines holds") == 3


def test_hostile_names_make_no_markdown():
    text = card_text(views_of([hostile_run()])[0])
    assert not re.search(r"(?<!\\)<", text)
    assert HOSTILE[0] not in text
    assert "\x00" not in text


def test_the_page_has_of_the_card_what_it_says_nowhere_else():
    [view] = views_of([lengths_run()])
    text = Document(page_of([lengths_run()])).text
    shown = [part.heading for part in card_parts(view) if part.on_page]
    assert shown == ["What it is for", "Slices", "Limits", "How to reproduce it"]
    card = text[text.index("Model card", text.index("Which errors?")) :]
    assert all(heading in card for heading in shown)
