"""The judge in AutoJudge's own programs, on a data set of their form.

Their packages are installed into a folder of the test, from PyPI alone. Importing them wants data
of nltk, which they would fetch: a list with one stopword and an empty folder stand in for it, and
nothing here uses either.
"""

import json

import pandas as pd
import pytest
from chat_server import ChatServer, completion
from judged_systems import shown_answers
from other_packages import install, run_theirs

from arena import import_arena
from surrogate_arena.diagnosis.agreement import agreement_with_reference

PACKAGES = ("autojudge-base==1.0.0", "autojudge-evaluate==1.1.0", "nltk", "tira", "krippendorff")
RUNS = {"run.a": 4, "run.b": 3, "run.c": 2, "run.d": 1, "run.e": 0}
"""Names of runs, with how many of the facts their answers state."""
TOPICS = tuple(f"lake-{number}" for number in range(6))
FACTS = ("It is {} m deep.", "Pikes live in it.", "It was dammed in 19{}.", "Boats cross it daily.")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with their packages; what these need beside them is installed here already."""
    folder = tmp_path_factory.mktemp("autojudge")
    install(folder, *PACKAGES)
    stopwords = folder / "nltk_data" / "corpora" / "stopwords"
    stopwords.mkdir(parents=True)
    (stopwords / "english").write_text("the\n")
    (folder / "nltk_data" / "tokenizers" / "punkt").mkdir(parents=True)
    return folder


@pytest.fixture
def data_set(tmp_path):
    folder = tmp_path / "data"
    runs = folder / "runs" / "generation"
    runs.mkdir(parents=True)
    for run, n_facts in RUNS.items():
        reports = [report(run, n_facts, number) for number in range(len(TOPICS))]
        (runs / run).write_text("".join(json.dumps(row) + "\n" for row in reports))
    topics = [
        {"request_id": topic, "title": topic, "problem_statement": f"What is known of {topic}?"}
        for topic in TOPICS
    ]
    (folder / "topics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in topics))
    truth = [f"{run} {topic} FACTS {n}" for run, n in RUNS.items() for topic in (*TOPICS, "all")]
    (folder / "truth.txt").write_text("\n".join(truth))
    return folder


def report(run, n_facts, number):
    facts = [fact.format(10 + number) for fact in FACTS]
    sentences = [{"text": fact, "citations": [f"d{n}"]} for n, fact in enumerate(facts[:n_facts])]
    sentences.append({"text": f"More is not known of {TOPICS[number]}.", "citations": []})
    return {
        "metadata": {"team_id": "team", "run_id": run, "topic_id": TOPICS[number]},
        "responses": sentences,
        "documents": {f"d{n}": {"id": f"d{n}", "text": fact} for n, fact in enumerate(facts)},
    }


def by_facts(prompt, _earlier):
    """Judge by the number of sentences."""
    first, second = (answer.count(".") for answer in shown_answers(prompt))
    return completion("[[A]]" if first > second else "[[B]]")


def judged_by_theirs(site, data_set, out, budget, server):
    """Run our judge by their ``auto-judge``, and score it by their ``meta-evaluate``."""
    workflow = out.parent / "workflow.yml"
    settings = "settings: {filebase: ours, budget: " + str(budget) + "}"
    workflow.write_text(
        "judge_class: surrogate_arena.autojudge:SurrogateJudge\n"
        "judge_uses_nuggets: false\njudge_uses_qrels: false\nqrels_uses_nuggets: false\n"
        f"{settings}\n"
    )
    words = ["run", "--workflow", workflow, "--out-dir", out]
    words += ["--rag-responses", data_set / "runs" / "generation"]
    words += ["--rag-topics", data_set / "topics.jsonl"]
    variables = {"NLTK_DATA": str(site / "nltk_data"), "OPENAI_BASE_URL": server.url}
    variables |= {"OPENAI_API_KEY": "none", "OPENAI_MODEL": "m"}
    run_theirs(site, "autojudge_base.cli", *words, **variables)
    leaderboard = out / "ours.eval.txt"
    words = ["meta-evaluate", "--truth-leaderboard", data_set / "truth.txt"]
    words += ["--truth-format", "ir_measures", "--eval-format", "ir_measures", "--silent"]
    words += ["--eval-measure", "RATING", "--output", out / "scores.jsonl", leaderboard]
    run_theirs(site, "autojudge_evaluate", *words, **variables)
    (scores,) = pd.read_json(out / "scores.jsonl", lines=True).to_dict(orient="records")
    return scores, leaderboard


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0, 40])
def test_runs_are_ranked_and_the_leaderboard_is_scored_by_their_programs(
    site, data_set, tmp_path, budget
):
    with ChatServer(by_facts) as server:
        scores, leaderboard = judged_by_theirs(site, data_set, tmp_path / "out", budget, server)
    n_calls = sum(server.asked.values())
    assert n_calls <= budget
    assert bool(n_calls) == bool(budget)
    if budget:
        assert scores["kendall"] == 1
    files = [data_set / "runs", data_set / "topics.jsonl", data_set / "truth.txt", leaderboard]
    arena = import_arena("trec-rag", files, language="en").arena
    assert arena.judges == ("FACTS", "RATING", "WINS")
    agreed = agreement_with_reference(arena.judgments, ["FACTS"]).set_index("judge")
    assert agreed.at["RATING", "tau"] == pytest.approx(scores["kendall"])
