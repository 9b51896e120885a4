"""Commands that begin, check and extend an arena folder."""

import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from arena import DataError, read_arena, write_arena
from arena.data.folder import read_unlisted
from arena.data.systems import HELD

NEW = "newcomer"


def test_a_template_is_an_arena_without_problems(run, tmp_path, capsys):
    folder = tmp_path / "mine"
    assert run("init", folder) == 0
    assert f"Next: surrogate-arena check {folder}" in capsys.readouterr().out
    read = read_arena(folder)
    assert read.info.name == "mine"
    assert read.counts().to_dict(orient="records") == [
        {"language": "en", "questions": 4, "systems": 3, "answers": 12, "judgments": 12}
    ]
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", *[".jsonl"] * 3]
    assert run("check", folder) == 0
    said = capsys.readouterr().out
    assert "Arena mine: its files are valid" in said
    assert "Note" not in said
    assert run("init", folder) == 2
    assert "holds an arena; name another folder, or add --replace" in capsys.readouterr().err
    (folder / "answers.jsonl").write_text("")
    assert run("init", folder, "--replace") == 0
    assert run("check", folder) == 0


def test_check_says_every_problem(run, tmp_path, capsys):
    run("init", tmp_path / "mine")
    answers = tmp_path / "mine" / "answers.jsonl"
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    wrong = [row | {"system": f"x{place}"} for place, row in enumerate(rows * 3)]
    answers.write_text("".join(json.dumps(row) + "\n" for row in wrong))
    capsys.readouterr()
    assert run("check", tmp_path / "mine") == 1
    said = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in said[:-1]] == [
        f"answers.jsonl:{line}" for line in range(1, 37)
    ]
    assert said[-1] == f"36 problems in {tmp_path / 'mine'}"
    (tmp_path / "mine" / "queries.jsonl").unlink()
    assert run("check", tmp_path / "mine", "--json") == 1
    assert json.loads(capsys.readouterr().out)["problems"] == [
        f"{tmp_path / 'mine'} has no queries file such as queries.jsonl; "
        "'surrogate-arena import csv' converts tables in other forms"
    ]


def test_check_says_copies_and_what_to_run_next(run, six_systems, tmp_path, capsys):
    rows = list(range(len(six_systems.judgments)))
    copies, run_next = f"{len(rows)} judgments left out: exact copies", f"judge {tmp_path} --model"
    for places, said in ((rows * 2, copies), ([], run_next)):
        write_arena(replace(six_systems, judgments=six_systems.judgments.iloc[places]), tmp_path)
        assert run("check", tmp_path) == 0
        assert said in capsys.readouterr().out


def test_verdicts_without_answers_are_sent_to_fit(run, six_systems, tmp_path, capsys):
    write_arena(replace(six_systems, answers=six_systems.answers.iloc[:0]), tmp_path)
    assert run("check", tmp_path) == 0
    assert f"Next: surrogate-arena fit {tmp_path}" in capsys.readouterr().out
    assert run("board", tmp_path, "--out", tmp_path / "board") == 2
    assert f"fit {tmp_path}" in capsys.readouterr().err
    assert run("fit", tmp_path) == 0


def test_where_people_judged_the_next_board_hears_the_machines_too(
    run, six_systems, tmp_path, capsys
):
    by_machines = [six_systems.judgments.assign(judge=name) for name in ("gpt-a", "gpt-b")]
    by_people = six_systems.judgments.assign(judge="person:Ada")
    for parts, must_choose in ((by_machines, True), ([*by_machines, by_people], False)):
        arena = replace(six_systems, judgments=pd.concat(parts, ignore_index=True))
        write_arena(arena, tmp_path)
        assert run("check", tmp_path) == 0
        assert ("--judge" in capsys.readouterr().out) == must_choose


def votes_file(path, page, voter):
    """Write what the page exports when somebody always likes the longer answer."""
    text = page.read_text(encoding="utf-8")
    _, _, rest = text.partition('<script type="application/json" id="data">')
    ballot = json.loads(rest.partition("</script>")[0])
    votes = [
        {"id": pair["id"], "choice": "a" if len(pair["a"]) > len(pair["b"]) else "b"}
        for pair in ballot["pairs"]
    ]
    content = {"format": "surrogate-arena votes", "ballot": ballot["ballot"], "voter": voter}
    path.write_text(json.dumps(content | {"votes": votes}))
    return path


def test_colleagues_votes_on_two_versions_end_in_a_gate_that_counts_them(
    run, six_systems, tmp_path, capsys
):
    folder = tmp_path / "arena"
    write_arena(replace(six_systems, judgments=six_systems.judgments.iloc[:0]), folder)
    old, new = six_systems.info.systems[1:3]
    allowed = ["--allow", "dead-citation=all,other-language=all"]
    assert run("gate", "--arena", folder, "--candidate", new, "--baseline", old, *allowed) == 4
    assert "Next: surrogate-arena vote" in capsys.readouterr().out
    page = tmp_path / "vote.html"
    assert run("vote", folder, "--systems", f"{new},{old}", "--out", page) == 0
    for voter in ("Ada", "Bo"):
        file = votes_file(tmp_path / f"{voter}.json", page, voter)
        assert run("vote", folder, "--collect", file) == 0
    judged = read_arena(folder).judgments
    assert set(judged["system_a"]) | set(judged["system_b"]) == {old, new}
    line = capsys.readouterr().out.splitlines()[-1]
    words = shlex.split(line.removeprefix("Next: surrogate-arena "))
    assert words[:2] == ["gate", "--arena"]
    assert (words[words.index("--candidate") + 1], words[-1]) == (new, old)
    table = tmp_path / "answers.csv"
    table.write_text("question,model,answer\nWhere?,m1,Paris\n")
    assert run("import", "csv", table, "--out", folder, "--replace") == 2
    refusal = f"{len(judged)} verdicts, which would be lost"
    assert refusal in " ".join(capsys.readouterr().err.split())
    assert read_arena(folder).judgments.equals(judged)
    # A part that is selected again loses nothing, unless somebody voted there.
    part = tmp_path / "part"
    assert run("select", folder, "--out", part) == 0
    assert run("select", folder, "--out", part, "--judges", "person:Ada", "--replace") == 0
    file = votes_file(tmp_path / "Cy.json", page, "Cy")
    assert run("vote", part, "--collect", file) == 0
    assert run("select", folder, "--out", part, "--replace") == 2
    assert set(read_arena(part).judgments["judge"]) == {"person:Ada", "person:Cy"}
    capsys.readouterr()
    assert run(*words) in (0, 3, 4)
    assert f"{len(judged)} verdicts on" in " ".join(capsys.readouterr().out.split())
    assert run("agreement", folder) == 2
    assert "--reference 'person:Ada'" in capsys.readouterr().err
    assert run("agreement", folder, "--reference", "person:Ada", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)["judges"]
    assert (row["judge"], row["kappa"]) == ("person:Bo", 1.0)
    assert run("vote", folder, "--systems", "nobody", "--out", page) == 2
    assert "no system 'nobody' here (--systems)" in capsys.readouterr().err


@pytest.fixture(scope="module")
def before(six_systems, tmp_path_factory):
    """A folder with all systems but one, and that one's answers."""
    folder = tmp_path_factory.mktemp("before")
    *others, last = six_systems.info.systems
    write_arena(six_systems.select(["en"], others), folder / "arena")
    new = six_systems.answers[six_systems.answers["system"] == last].assign(system=NEW)
    new.to_json(folder / "new.jsonl", orient="records", lines=True)
    return folder


@pytest.fixture
def grown(before, tmp_path):
    """The same, to change."""
    return Path(shutil.copytree(before, tmp_path / "grown"))


def test_answers_are_added_once_and_never_changed(grown):
    from arena import add_answers

    file, added, there = add_answers(grown / "arena", grown / "new.jsonl")
    assert (added, there) == (6, 0)
    assert add_answers(grown / "arena", grown / "new.jsonl") == (file, 0, 6)
    assert NEW in read_arena(grown / "arena").info.systems
    before = file.read_bytes()
    changed = pd.read_json(grown / "new.jsonl", lines=True, dtype=False).assign(answer="Another.")
    with pytest.raises(DataError, match=r"6 problems.*\n.*the arena holds another answer"):
        add_answers(grown / "arena", changed)
    assert file.read_bytes() == before


def test_a_new_system_joins_the_arena_and_its_pairs_alone_are_judged(grown, run, capsys):
    pytest.importorskip("openai", reason="needs the extra llm")
    from chat_server import ChatServer, completion

    arena, config = grown / "arena", grown / "config.toml"
    assert run("add", arena, grown / "new.jsonl") == 0
    said = capsys.readouterr().out
    assert f"6 answers of {NEW} added to" in said
    assert f"{NEW}: answers to 6 of 6 questions" in said
    judged = read_arena(arena).judgments
    assert NEW not in {*judged["system_a"], *judged["system_b"]}
    config.write_text('name = "simulated-teacher"\npairs = "all"\naudit = 0.0')

    def either(prompt, _):
        return completion("[[A]]" if len(prompt) % 2 else "[[B]]")

    with ChatServer(either) as server:
        asked = ["--model", "local", "--base-url", server.url, "--config", config]
        assert run("judge", arena, *asked) == 0
        calls = sum(server.asked.values())
    judged = read_arena(arena).judgments
    new = judged[(judged["system_a"] == NEW) | (judged["system_b"] == NEW)]
    assert len(new) == 5 * 6
    assert 0 < calls <= len(new)  # the same texts are asked about once
    assert len(judged) == len(new) + 10 * 6


def test_a_submission_is_held_until_it_is_accepted_and_withdrawn_by_any_name(grown, run, capsys):
    arena = grown / "arena"
    name = "acme, inc. v2"
    answers = pd.read_json(grown / "new.jsonl", lines=True, dtype=False).assign(system=name)
    answers.to_csv(grown / "new.csv", index=False)
    assert run("add", arena, grown / "new.csv", "--hold") == 0
    said = capsys.readouterr().out
    assert f"{name}: answers to 6 of 6 questions, of " in said
    assert f"withdraw {arena} '{name}' --undo" in said
    assert name not in read_arena(arena).info.systems
    run("check", arena)
    assert f"{name} is held" in capsys.readouterr().out
    # Answers that are there already are known, whatever the state.
    assert run("add", arena, grown / "new.csv") == 0
    assert f"(6 were there); {name} is held" in capsys.readouterr().out
    assert run("withdraw", arena, name, "--undo") == 0
    assert name in read_arena(arena).info.systems
    assert run("withdraw", arena, name) == 0
    assert name not in read_arena(arena).info.systems


@pytest.mark.parametrize("n_written", [0, 1, 2])
def test_a_submission_that_was_to_be_held_is_never_listed_by_half(grown, monkeypatch, n_written):
    from arena import add_answers

    arena = grown / "arena"
    written = []

    def renamed(temporary, path):
        if len(written) == n_written:
            raise KeyboardInterrupt
        written.append(path)
        return Path.rename(temporary, path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", renamed)
        with pytest.raises(KeyboardInterrupt):
            add_answers(arena, grown / "new.jsonl", is_held=True)
    assert NEW not in set(read_arena(arena).answers["system"])
    add_answers(arena, grown / "new.jsonl", is_held=True)
    assert read_unlisted(arena) == {NEW: HELD}
    assert NEW in set(read_arena(arena, has_unlisted=True).answers["system"])


def test_adding_says_which_place_a_board_predicts(grown, run, capsys, tmp_path):
    arena, board = grown / "arena", tmp_path / "board"
    assert run("board", arena, "--out", board, "--no-site", "--tournaments", 2) == 0
    capsys.readouterr()
    assert run("add", arena, grown / "new.jsonl", "--board", board) == 0
    told = capsys.readouterr().out
    assert re.search(rf"^  {NEW}: .*(place|rank)", told, re.MULTILINE)
