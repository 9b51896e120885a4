"""What the documents show is run."""

import re
from pathlib import Path

import numpy as np
import pytest
from simulations import small_simulation

from arena import Arena
from features import Question, Sample, parse_features
from features.declare.sample import EMPTY_ANSWER, NO_REFERENCE_SYSTEM
from surrogate.ranking.gate import GATE_VERDICTS

ROOT = Path(__file__).parents[1]


def blocks(document, language):
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_python_quickstart_runs(tmp_path, monkeypatch, capsys, whole):
    monkeypatch.chdir(tmp_path)
    if not whole:
        small = small_simulation(range(5), ["en"], questions=4).arena
        monkeypatch.setattr("arena.sample_arena", lambda: small)
    quickstart = blocks("README.md", "python")[0]
    assert len([line for line in quickstart.splitlines() if line.strip()]) <= 10
    held = {}
    jobs = "n_jobs=2" if whole else "n_jobs=1"
    exec(quickstart.replace("tournaments=20, n_jobs=2", f"tournaments=2, {jobs}"), held)
    assert isinstance(held["arena"], Arena)
    assert "my-system" in capsys.readouterr().out
    assert (tmp_path / "out" / "board" / "board.csv").is_file()


def test_own_systems_go_from_tables_to_a_gate(tmp_path, monkeypatch, capsys):
    pytest.importorskip("openai", reason="needs the extra llm")
    from chat_server import ChatServer, completion

    (code,) = [block for block in blocks("README.md", "python") if "from_frames" in block]
    assert len([line for line in code.splitlines() if line.strip()]) < 30
    arena = small_simulation(range(5), ["en"], questions=8).arena
    *judged, new = arena.info.systems
    answers = arena.answers[["query_id", "system", "answer"]]
    arena.queries[["query_id", "query"]].to_csv(tmp_path / "questions.csv", index=False)
    answers[answers["system"].isin(judged)].to_csv(tmp_path / "answers.csv", index=False)
    answers[answers["system"] == new].to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    held = {}
    with ChatServer(
        lambda prompt, _: completion("[[A]]" if len(prompt) % 3 else "[[B]]")
    ) as server:
        code = code.replace("http://localhost:8000/v1", server.url).replace(
            "n_jobs=2", "tournaments=2"
        )
        exec(code, held)
        assert server.asked
    assert list(held["board"].systems) == list(held["board"].overall["system"])
    assert set(held["board"].systems) == set(judged)
    assert (tmp_path / "board" / "site" / "index.html").is_file()
    printed = capsys.readouterr().out
    assert new in printed
    assert printed.splitlines()[-1] in GATE_VERDICTS


def test_features_shown_exist():
    text = (ROOT / "docs" / "guides" / "features.md").read_text(encoding="utf-8")
    assert parse_features("citation_recall@5,bleu,target_language(identifier=langid)")
    for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE):
        for name in re.findall(r"`([^`]+)`", row):
            assert parse_features(name), name


def test_the_feature_of_the_readme_is_measured(capsys):
    (code,) = [block for block in blocks("README.md", "python") if "DIGIT_SHARE" in block]
    assert len([line for line in code.splitlines() if line.strip()]) <= 22
    exec(code, {})
    assert "digit_share" in capsys.readouterr().out


def test_the_feature_of_the_guide_reads_a_model():
    held = {}
    exec(blocks("CONTRIBUTING.md", "python")[0], held)
    feature = held["ANSWER_RELEVANCE"]
    question = Question("en", "1", "Where?", (), NO_REFERENCE_SYSTEM)
    assert feature.items(Sample(question, "There.")) == (("Where?", "There."),)
    assert feature.items(Sample(question, "")) == EMPTY_ANSWER
    assert feature.measure(Sample(question, "There."), np.array([[0.5]])) == 0.5


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_files_named_exist(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    for name in re.findall(r"`((?:arena|features|surrogate)/[\w/]+\.py)`", text):
        assert (ROOT / name).is_file(), name
