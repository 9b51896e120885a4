"""People label sentences on a server; what they said is a benchmark in MEMERAG's format."""

import json
from html import unescape

import pandas as pd
import pytest
from view_client import served

from arena import Arena, UsageError
from surrogate_arena.cli.folders import has_folder

if not has_folder("papers"):
    pytest.skip("needs the folder of papers", allow_module_level=True)

from surrogate_arena.papers import FunctionJudge, Memerag, evaluate_judges
from surrogate_arena.papers.memerag.sentences import (
    COARSE_OF_FINE,
    COARSE_OF_RELEVANCE,
    read_memerag,
)
from surrogate_arena.voting.label_app import LabelService
from surrogate_arena.voting.labeling import (
    FAITHFULNESS,
    LABELS_FILE,
    RELEVANCE,
    Labeling,
    NamedLabel,
    label_sets,
)

QUALITY = {"quality": FAITHFULNESS, "n_questions": 10, "seed": 0, "whole": False}


@pytest.fixture(scope="module")
def answered():
    """Three questions in Swedish with passages, answered by two systems in two sentences each."""
    questions = [{"query_id": f"q{n}", "query": f"Var ligger ort {n}?"} for n in range(3)]
    passage = {"passage_id": "p1", "title": "Orter", "text": "Orten ligger vid havet."}
    answers = [
        {**question, "system": system, "answer": f"Den ligger vid <havet>. {system} såg den."}
        for question in questions
        for system in ("Ada", "Bo")
    ]
    queries = [{**question, "language": "sv", "passages": [passage]} for question in questions]
    for answer in answers:
        answer["language"] = "sv"
        del answer["query"]
    return Arena.from_frames(pd.DataFrame(queries), pd.DataFrame(answers), name="orter")


def label_all(labeling, voter, choose):
    """Label sentence by sentence until none is left."""
    while (sentence := labeling.next_sentence(voter, ["sv"])) is not None:
        choice = choose(sentence)
        labeling.label(NamedLabel(id=sentence.id, choice=choice, voter=voter))


def opinions(sentence):
    return "Direct paraphrase" if sentence.number == 0 else "Adds new information"


def test_labels_of_two_people_are_a_memerag_with_their_agreement(answered, tmp_path, run, capsys):
    labeling = Labeling(answered, tmp_path, **QUALITY)
    label_all(labeling, "Ann", opinions)
    label_all(labeling, "Ben", opinions)
    label_all(
        Labeling(answered, tmp_path, **QUALITY | {"quality": RELEVANCE}),
        "Ann",
        lambda sentence: "Directly answers the question",
    )
    assert run("metaeval", "memerag", tmp_path, "--statistics", "--json") == 0
    statistics = json.loads(capsys.readouterr().out)
    (fine,) = statistics["fine_grained"]
    assert (fine["Direct paraphrase"], fine["Adds new information"]) == (50, 50)
    assert statistics["relevance"][0]["Directly answers the question"] == 100
    agreement = {row["quality"]: row for row in statistics["agreement"]}
    assert agreement["faithfulness, fine"]["coefficients"]["ac1"]["value"] == 1
    assert agreement["faithfulness, fine"]["items_with_pairs"] == 6
    judged = Memerag(read_memerag(tmp_path))
    evaluation = evaluate_judges(judged, [FunctionJudge("naive", lambda *_: "Supported")])
    assert judged.report(evaluation).tables[0].table.loc[0, "sv"].startswith("50.0")


def test_what_was_labeled_is_there_after_a_kill_and_nothing_is_asked_again(answered, tmp_path):
    labeling = Labeling(answered, tmp_path, **QUALITY)
    sentence = labeling.next_sentence("Ann", ["sv"])
    labeling.label(NamedLabel(id=sentence.id, choice="Contradiction", voter="Ann"))
    file = tmp_path / LABELS_FILE
    file.write_text(file.read_text() + '{"id": "torn')
    again = Labeling(answered, tmp_path, **QUALITY)
    assert again.n_labeled("Ann") == 1
    following = again.next_sentence("Ann", ["sv"])
    assert following.id != sentence.id
    assert again.next_sentence("Ben", ["sv"]).id == sentence.id
    again.label(NamedLabel(id=following.id, choice="Other", voter="Ann"))
    labels = [json.loads(line)["choice"] for line in file.read_text().splitlines()]
    assert labels == ["Contradiction", "Other"]
    (answer,) = map(json.loads, (tmp_path / "sv.jsonl").read_text().splitlines())
    assert [part["factuality"] for part in answer["answer"]] == [["Not Supported"], ["Supported"]]
    assert answer["context"] == [{"text": "Orter\nOrten ligger vid havet."}]


def test_a_later_label_counts_and_half_labeled_answers_are_left_out(answered, tmp_path):
    labeling = Labeling(answered, tmp_path, **QUALITY)
    sentence = labeling.next_sentence("Ann", ["sv"])
    for choice in ("Other", "Challenging to determine"):
        labeling.label(NamedLabel(id=sentence.id, choice=choice, voter="Ann"))
    assert not (tmp_path / "sv.jsonl").exists()
    second = labeling.next_sentence("Ann", ["sv"])
    labeling.label(NamedLabel(id=second.id, choice="Other", voter="Ann"))
    (answer,) = map(json.loads, (tmp_path / "sv.jsonl").read_text().splitlines())
    first, _ = answer["answer"]
    assert first["factuality"] == ["Challenging to determine"]
    assert first["fine_grained_factuality"] == [None]


def test_answers_as_a_whole_are_one_item_each(answered, tmp_path):
    labeling = Labeling(answered, tmp_path, **QUALITY | {"whole": True})
    label_all(labeling, "Ann", lambda sentence: "Other")
    assert labeling.n_labeled("Ann") == 3


def test_the_page_shows_neither_systems_nor_markup_of_answers(answered, tmp_path):
    labeling = Labeling(answered, tmp_path, **QUALITY)
    with served(LabelService(labeling).app()) as client:
        text = unescape(client.ask("GET", "/vote.html")[2])
        assert all(label.meaning in text for label in label_sets()[FAITHFULNESS].labels)
        wish = {"voter": "Ann", "languages": [], "skipped": None}
        sentence = client.json("POST", "/pair", wish)["pair"]
        assert "<mark>Den ligger vid &lt;havet&gt;.</mark>" in sentence["answer"]
        assert "system" not in json.dumps(sentence)
        label = {"voter": "Ann", "id": sentence["id"], "choice": "Other"}
        assert client.json("POST", "/vote", label) == {"judged": 1}
        assert client.json("POST", "/pair", wish)["pair"]["id"] != sentence["id"]
        skipped = wish | {"skipped": client.json("POST", "/pair", wish)["pair"]["id"]}
        assert client.json("POST", "/pair", skipped)["pair"]["id"] != skipped["skipped"]
        for fault in ({"choice": "Perfect"}, {"id": "0" * 20}):
            assert client.ask("POST", "/vote", label | fault)[0] == 409
        assert client.ask("GET", "/labels.jsonl")[0] == 404


def test_labels_are_those_that_the_benchmark_reads():
    sets = label_sets()
    faithful = {label.name: label.coarse for label in sets[FAITHFULNESS].labels}
    challenging = faithful.popitem()
    assert challenging == ("Challenging to determine",) * 2
    assert faithful == COARSE_OF_FINE
    assert {label.name: label.coarse for label in sets[RELEVANCE].labels} == COARSE_OF_RELEVANCE
    for labels in sets.values():
        keys = [label.key for label in labels.labels]
        assert len({*keys, "s"}) == len(keys) + 1


def test_other_files_are_not_written_over(answered, tmp_path):
    (tmp_path / "sv.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match="holds other files"):
        Labeling(answered, tmp_path, **QUALITY)


def test_answers_without_passages_cannot_be_labeled(answered, tmp_path):
    without = Arena.from_frames(
        answered.queries.drop(columns="passages"), answered.answers, name="without"
    )
    with pytest.raises(UsageError, match="has passages"):
        Labeling(without, tmp_path, **QUALITY)


def test_a_file_that_holds_something_else_is_refused(answered, tmp_path):
    (tmp_path / LABELS_FILE).write_text('{"vote": 1}\n')
    with pytest.raises(UsageError, match="line 1 is no label"):
        Labeling(answered, tmp_path, **QUALITY)
