"""Cards of boards and judges."""

import hashlib
import itertools
from dataclasses import replace

import pytest
import yaml
from markdown_it import MarkdownIt

from surrogate.board.summary import UNSEEN_BY_CHANCE
from surrogate.publish.cards import (
    dataset_card,
    model_card,
)

CARDS = (dataset_card, model_card)


def parts(card):
    """Return the front matter, read, and the text."""
    _, fields, text = card.split("---\n", 2)
    return yaml.safe_load(fields), text


def headings(text):
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return [
        (before.tag, "".join(child.content for child in token.children))
        for before, token in itertools.pairwise(tokens)
        if before.type == "heading_open"
    ]


def test_the_dataset_card_follows_the_hub(board_folder, board):
    fields, text = parts(dataset_card(board, "cc-by-4.0"))
    assert fields["language"] == ["en", "sw"]
    assert fields["license"] == "cc-by-4.0"
    assert fields["size_categories"] == ["n<1K"]
    assert fields["pretty_name"] == f"Leaderboard of {board.summary.arena}"
    assert "rag" in fields["tags"]
    files = [config["data_files"] for config in fields["configs"]]
    assert {"board.csv", "overall.csv", "features.parquet"} <= set(files)
    assert all((board_folder / name).is_file() for name in files)
    assert [config["config_name"] for config in fields["configs"] if config.get("default")] == [
        "board"
    ]
    names = [name for _, name in headings(text)]
    assert names[1:] == ["What it is", "Files", "How it was made", "Signature", "Limits"]


@pytest.mark.parametrize("card", CARDS)
def test_cards_warn_where_the_surrogate_ranks_by_chance(board, card):
    bad = {"tau_unseen_low": -0.2}
    macro = board.summary.macro.model_copy(update=bad)
    english = board.summary.languages["en"].model_copy(update=bad)
    languages = {**board.summary.languages, "en": english}
    summary = board.summary.model_copy(update={"macro": macro, "languages": languages})
    text = card(replace(board, summary=summary), "mit")
    assert f"- {UNSEEN_BY_CHANCE.sentence}" in text
    assert f"- en: {UNSEEN_BY_CHANCE.sentence}" in text
    assert f"- sw: {UNSEEN_BY_CHANCE.sentence}" not in text


def test_the_model_card_says_what_the_judge_is_for(board_folder, board):
    fields, text = parts(model_card(board, "apache-2.0"))
    assert fields["library_name"] == "sklearn"
    names = [name for _, name in headings(text)]
    assert names[1:] == [
        *("Intended use", "Training field", "Features", "Validation", "Limitations"),
        *("How to load it", "Security", "Signature"),
    ]
    digest = hashlib.sha256((board_folder / "surrogate.zip").read_bytes()).hexdigest()
    assert digest in text
    assert "Board.load(" in text
    assert "Held out of training: none." in text


@pytest.mark.parametrize("card", CARDS)
def test_hostile_names_stay_in_their_place(tabled_hostile, card):
    fields, text = parts(card(tabled_hostile, 'weird: "license"\n---'))
    assert fields["license"] == 'weird: "license"\n---'
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert "<script" not in html
    assert "<b>" not in html
    assert "<a " not in html
    first = headings(text)[0][1]
    assert first.endswith('my "arena" --- # <b>: $x_1$')
    assert len([tag for tag, _ in headings(text) if tag == "h1"]) == 1
