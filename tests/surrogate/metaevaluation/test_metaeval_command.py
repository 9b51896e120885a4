"""``surrogate-arena metaeval`` as a user runs it."""

import pytest
from memerag_samples import answered, labeled, lines_of
from metaeval_command import run, run_json

from arena import DataError, UsageError
from surrogate.board.judge.metaevaluations import read_metaevaluations
from surrogate.metaevaluation.memerag.run_file import MEMERAG_RUN
from surrogate.metaevaluation.report import judges_of

YES, NO = "Supported", "Not Supported"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "memerag"
    folder.mkdir()
    rows = [
        answered(
            f"q{number}",
            labeled("Paris is in France.", YES, "Direct paraphrase"),
            labeled("Bananas are yellow.", NO, "Adds new information", number=1),
            labeled("Perhaps.", "Challenging to determine", number=2),
        )
        for number in range(6)
    ]
    for language in ("en", "de"):
        (folder / f"{language}.jsonl").write_text(lines_of(*rows))
    return folder


@pytest.fixture
def rated(tmp_path):
    """Three raters of four sentences, who disagree on one."""
    rows = [
        answered("a", labeled("x", [YES, YES, YES]) | {"relevance": None}),
        answered("b", labeled("x", [NO, NO, NO])),
        answered("c", labeled("x", [NO, YES, NO])),
        answered("d", labeled("x", [YES, YES, None])),
    ]
    path = tmp_path / "en.jsonl"
    path.write_text(lines_of(*rows))
    return path


def test_agreement_of_files(rated, folder):
    found = run_json("agreement", rated, folder / "de.jsonl", "--seed", 1, "--replicates", 200)
    first, second = found["files"]
    assert first["file"] == str(rated)
    assert (first["items"], first["raters"]) == (4, 3)
    assert first["percent_agreement"] == pytest.approx((1 + 1 + 1 / 3 + 1) / 4)
    assert first["ac1_low"] <= first["ac1"] <= first["ac1_high"]
    assert {"fleiss_kappa", "krippendorff_alpha"} <= set(first)
    assert second["ac1"] is None
    assert second["reasons"]["ac1"] == "no item has two ratings"
    printed = run("agreement", rated, folder / "de.jsonl", "--coarse").stdout
    assert "Agreement on factuality, coarse" in printed
    assert "de.jsonl: no item has two ratings" in printed


def test_agreement_refuses_what_it_cannot_read(rated, tmp_path):
    with pytest.raises(UsageError, match="--field is 'label'; use one of factuality"):
        run("agreement", rated, "--field", "label")
    with pytest.raises(UsageError, match="there is no file"):
        run("agreement", tmp_path / "no.jsonl")
    rated.write_text(rated.read_text().replace("Not Supported", "Dubious"))
    with pytest.raises(
        DataError, match=r"en\.jsonl:2: answer.0.factuality = 'Dubious': has no coarse"
    ):
        run("agreement", rated, "--coarse")


def test_judges_side_by_side(folder, tmp_path):
    out, arena = tmp_path / "run.json", tmp_path / "arena"
    arena.mkdir()
    judges = ("--judge", "lexical", "--judge", "grounding")
    found = run_json("memerag", folder, *judges, "--out", out, "--arena", arena)
    scores = {(row["judge"], row["language"]): row for row in found["scores"]}
    assert scores["lexical", "macro"]["balanced_accuracy"] == 1
    assert scores["grounding", "en"]["sentences"] == 12
    assert found["challenging"] == 12
    assert found["usage"] == []
    labels = {row["fine_grained_factuality"] for row in found["fine_grained"]}
    assert labels == {"Direct paraphrase", "Adds new information"}
    assert len(judges_of(MEMERAG_RUN.read(out))) == 2
    known = read_metaevaluations(arena)
    assert [(each.judge, each.n) for each in known] == [("grounding", 24), ("lexical", 24)]
    printed = run("memerag", folder, *judges, "--languages", "de", "--limit", 3).stdout
    assert "Balanced accuracy in percent" in printed
    assert "not statistically different from the best" in printed
    assert "Left out: 6 sentences challenging to determine" in printed


def test_labels_of_several_people_are_taken_by_majority(tmp_path):
    votes = [["Supported"] * 3 + ["Not Supported"] * 2, ["Not Supported"] * 5]
    draw = ["Supported", "Not Supported"]
    rated = [labeled(f"Oslo {n}.", vote, number=n) for n, vote in enumerate([*votes, draw, draw])]
    (tmp_path / "en.jsonl").write_text(lines_of(answered("q", *rated)))
    found = run_json("memerag", tmp_path, "--judge", "lexical")
    assert [row["sentences"] for row in found["scores"]] == [4, 4]


def test_runs_are_compared(folder, tmp_path):
    paths = [tmp_path / f"{judge}.json" for judge in ("lexical", "grounding")]
    for path in paths:
        run("memerag", folder, "--judge", path.stem, "--out", path)
    found = run_json("compare", *paths)["comparisons"]
    assert [each["judge_a"]["judge"] for each in found] == ["lexical"]
    assert {row["p_value"] for row in found[0]["languages"]} == {1.0}
    printed = run("compare", *paths).stdout
    assert "A: lexical" in printed
    assert "p value" in printed


def test_what_cannot_be_asked_is_refused(folder, tmp_path):
    with pytest.raises(UsageError, match="there is no judge 'oracle'"):
        run("memerag", folder, "--judge", "oracle")
    with pytest.raises(UsageError, match="unknown prompt 'few_shot'; use one of zero_shot, cot"):
        run("memerag", folder, "--judge", "lexical", "--prompt", "few_shot")
    with pytest.raises(UsageError, match="no file for fr; languages there: de, en"):
        run("memerag", folder, "--judge", "lexical", "--languages", "en,fr")
    for absent in (["memerag", tmp_path / "a", "--judge", "lexical"], ["compare", *"ab"]):
        done = run(*absent)
        assert done.exit_code == 2
        assert "does not exist" in done.stderr
    with pytest.raises(UsageError, match="give a --judge, or --statistics, and not both"):
        run("memerag", folder)


@pytest.fixture
def server(serve):
    from chat_server import completion

    def behave(prompt, earlier):
        if "Answer: Paris" not in prompt:
            return completion("<answer>unsupported</answer>")
        return completion("Hm." if earlier == 0 else "<answer>Supported</answer>")

    return serve(behave)


def test_an_llm_judges_over_http_and_is_paid_once(folder, tmp_path, server):
    asked = ["memerag", folder, "--judge", "llm:tiny", "--prompt", "ag", "--languages", "en"]
    asked += ["--base-url", server.url, "--store", tmp_path / "s.sqlite", "--concurrency", 1]
    found = run_json(*asked)
    macro = found["scores"][-1]
    assert macro["judge"] == "llm:tiny"
    assert macro["prompt"].startswith("ag.v1@")
    assert macro["balanced_accuracy"] == 1
    assert (macro["failures"], macro["not_asked"]) == (0, 0)
    calls = sum(server.asked.values())
    assert calls == 3  # two distinct prompts, one of them again
    again = run(*asked).stdout
    assert sum(server.asked.values()) == calls
    assert "12 prompts; 0 calls to tiny" in again


def test_sentences_that_were_not_asked_are_said(folder, tmp_path, server):
    asked = ["memerag", folder, "--judge", "llm:tiny", "--languages", "en", "--max-calls", 1]
    asked += ["--base-url", server.url, "--store", tmp_path / "s.sqlite", "--concurrency", 1]
    printed = run(*asked).stdout
    assert "were not answered and are left out; run again" in printed
    assert "No value: no sentence of en that was judged is labeled" in printed
