"""``select``, what ``check`` counts, and ``import miracl`` as a user runs them."""

import json

import pytest

from arena import read_arena, write_arena
from surrogate_arena.cli.unanswered_arenas import read_arena_to_answer

TOWNS = ("Oslo", "Rome", "Paris", "Bern", "Riga", "Lima")


@pytest.fixture
def miracl(tmp_path):
    """Six questions on towns; a passage on each town, three on Oslo."""
    (tmp_path / "topics.en.tsv").write_text(
        "".join(f"{n}#0\tWhere is {town}?\n" for n, town in enumerate(TOWNS))
    )
    labels = [f"{n}#0\tQ0\tp{n}\t1\n" for n in range(6)]
    labels += [f"{n}#0\tQ0\tp{n + 1}\t0\n" for n in range(4)]
    (tmp_path / "qrels.en.tsv").write_text("".join(labels))
    texts = [f"{town} is a town, where people live." for town in TOWNS]
    texts += ["Where is Oslo, Oslo, Oslo?", "Where is Oslo?", "Oslo", "Where is Oslo, where?"]
    lines = [{"docid": f"p{n}", "title": "", "text": text} for n, text in enumerate(texts)]
    (tmp_path / "docs.en.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return [tmp_path / name for name in ("topics.en.tsv", "qrels.en.tsv", "docs.en.jsonl")]


def test_an_evaluation_set_of_miracl_has_hard_questions(run, miracl, tmp_path, capsys):
    whole, out = tmp_path / "whole", tmp_path / "arena"
    assert run("import", "miracl", *miracl, "--out", whole) == 0
    capsys.readouterr()
    assert run("select", whole, "--config", "only_hard=true", "--out", out, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["counts"]["questions"] == 4
    assert printed["questions_left_out"] == [
        {"language": "en", "reason": "questions without a passage labeled not relevant", "count": 2}
    ]
    arena = read_arena_to_answer(out)
    assert [item["relevance"] for item in arena.queries["passages"][0]] == [1, 0]
    assert run("generate", out, "--model", "m", "--dry-run", "--json") == 0
    assert json.loads(capsys.readouterr().out)["questions"] == 4
    assert run("select", whole, "--out", out, "--questions", 3, "--replace") == 0
    assert "questions not drawn" in capsys.readouterr().out
    assert len(read_arena_to_answer(out).queries) == 3
    filled = ["--config", "only_hard=true", "--config", "at_least=5"]
    assert run("select", whole, "--out", out, *filled, "--replace") == 0
    assert len(read_arena_to_answer(out).queries) == 5


def test_bm25_shows_the_best_of_the_corpus_and_one_that_is_relevant(run, miracl, tmp_path, capsys):
    pytest.importorskip("bm25s")
    out = tmp_path / "arena"
    assert run("import", "miracl", *miracl, "--out", tmp_path / "whole") == 0
    options = ["--config", f"corpus={tmp_path / 'docs.en.jsonl'}", "--out", out]
    assert run("select", tmp_path / "whole", "--config", "bm25=2", *options) == 0
    assert "of 1 question a relevant passage took the last place" in capsys.readouterr().out
    oslo = read_arena_to_answer(out).queries["passages"][0]
    assert len(oslo) == 2
    assert oslo[1]["passage_id"] == "p0"
    assert oslo[0]["relevance"] is None
    assert run("select", tmp_path / "whole", *options, "--replace") == 2
    assert "corpus is what bm25 selects from" in capsys.readouterr().err


def test_an_arena_is_cut_to_a_set_to_annotate(run, tiny_arena, tmp_path, capsys):
    write_arena(tiny_arena, tmp_path / "arena")
    out = tmp_path / "cut"
    rules = ["--config", "least_words=3", "--config", "one_answer=true"]
    options = [*rules, "--questions", 4, "--json"]
    assert run("select", tmp_path / "arena", "--out", out, *options) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["answers"] == 4
    cut = read_arena(out)
    assert cut.answers["query_id"].is_unique
    assert cut.answers["system"].is_unique
    before = dict(zip(tiny_arena.queries["query_id"], tiny_arena.queries["passages"], strict=True))
    pytest.importorskip("bm25s")
    options = ["--config", "bm25=1", "--replace"]
    assert run("select", tmp_path / "arena", "--out", out, *options) == 0
    for row in read_arena(out).queries.itertuples():
        assert len(row.passages) == 1
        assert row.passages[0] in before[row.query_id]


def test_statistics_count_tokens(run, tiny_arena, tmp_path, capsys):
    tokenizers = pytest.importorskip("tokenizers")
    letters = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    letters.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    letters.save(str(tmp_path / "tokenizer.json"))
    write_arena(tiny_arena, tmp_path / "arena")
    asked = ["check", tmp_path / "arena", "--tokenizer", tmp_path / "tokenizer.json"]
    assert run(*asked, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unit"].startswith("tokens of tokenizer:")
    expected = tiny_arena.queries["query"].str.len().mean()
    assert found["languages"][0]["question_length"] == pytest.approx(expected)
