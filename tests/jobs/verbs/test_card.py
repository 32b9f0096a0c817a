"""The verb card, from outside."""

from __future__ import annotations

from tests.jobs.running import read_json, spec_text


def test_a_card_is_printed_with_the_words_of_the_spec_which_the_model_carries(laid_desk):
    words = {
        "title": "Who is ill",
        "description": "For a test.",
        "labels": {"y": {"title": "State"}},
    }
    head = 'title = "Who is ill"\ndescription = "For a test."\n'
    spec = laid_desk.spec(head + spec_text(kind="fit") + '\n[labels.y]\ntitle = "State"\n')
    ended = laid_desk.here("run", spec)
    assert ended.code == 0, ended.err
    assert read_json(laid_desk.folder() / "model.json")["about"] == words
    ended = laid_desk.here("card", str(laid_desk.folder()))
    assert ended.code == 0, ended.err
    assert ended.out.startswith("# Who is ill\n")
    assert "For a test." in ended.out
    assert "Predict State = " in ended.out


def test_a_card_is_written_to_a_file(laid_desk):
    assert laid_desk.run(kind="fit").code == 0
    file = laid_desk.path / "card.md"
    ended = laid_desk.here("card", str(laid_desk.folder()), "--output", str(file))
    assert (ended.code, ended.out) == (0, "")
    assert file.read_text(encoding="utf-8").startswith("# ")


def test_a_folder_without_a_run_is_refused(laid_desk):
    ended = laid_desk.here("card", str(laid_desk.path))
    assert ended.code == 2
    assert "expected the result of a finished run" in ended.err
