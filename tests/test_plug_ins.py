"""Plug-ins: an example that pip installs, broken and clashing ones, and what may name one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from simulations import small_simulation

from arena import Arena, UsageError, import_arena, read_arena, write_arena
from arena.data import plug_ins
from arena.judging import judge
from arena.judging.judging_settings import JudgingSettings
from features import extract, parse_features
from surrogate_arena.cli.app import main

ROOT = Path(__file__).parents[1]
EXAMPLE = "arena_example"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder that pip has installed the example package into, without the network."""
    for package in ("hatchling", "pip"):
        pytest.importorskip(package, reason="needs what the locked install builds with")
    folder = tmp_path_factory.mktemp("plug_in")
    source = shutil.copytree(ROOT / "examples" / "plug_in", folder / "source")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    command += ["--no-build-isolation", "--target", folder / "site", source]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "site"


def run_with(site, folder, *words):
    return subprocess.run(
        [sys.executable, "-m", "surrogate_arena", *map(str, words)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def installed(site, monkeypatch):
    """The example in this process's path, to be looked for again before and after."""
    plug_ins.plug_ins.cache_clear()
    monkeypatch.syspath_prepend(site)
    yield site
    plug_ins.plug_ins.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == EXAMPLE]:
        del sys.modules[name]


@pytest.fixture
def declare(tmp_path, monkeypatch):
    """Return a function that adds an installed package with entry points of one kind."""
    plug_ins.plug_ins.cache_clear()
    monkeypatch.syspath_prepend(tmp_path)

    def add(package, kind, entry_points, code=""):
        info = tmp_path / f"{package}-2.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 2.0\n")
        lines = [f"{name} = {place}" for name, place in entry_points.items()]
        (info / "entry_points.txt").write_text(f"[surrogate_arena.{kind}s]\n" + "\n".join(lines))
        (tmp_path / f"{package}_module.py").write_text(code)
        plug_ins.plug_ins.cache_clear()

    yield add
    plug_ins.plug_ins.cache_clear()
    for name in [name for name in sys.modules if name.endswith("_module")]:
        del sys.modules[name]


QUIZ = "What is 2+2?\tIt is 4 [1].\tFour [1][2].\tNo idea\nWho?\tMe\tYou [3]\tThey\nAlone\n"


@pytest.mark.slow
def test_the_example_imports_judges_and_measures_by_the_command(site, tmp_path):
    (tmp_path / "quiz.tsv").write_text(QUIZ)
    imported = run_with(site, tmp_path, "import", "quiz", "quiz.tsv", "--out", "quiz", "--json")
    assert json.loads(imported.stdout)["skipped"][0]["reason"] == "has no answer"
    assert read_arena(tmp_path / "quiz").info.systems == ("system1", "system2", "system3")

    judge = ("judge", "quiz", "--plug-in", "cites-more", "--pairs", "all", "--json")
    judged = json.loads(run_with(site, tmp_path, *judge).stdout)
    assert judged["judges"][0]["calls"] == judged["added"] >= 6  # some in both orders
    again = json.loads(run_with(site, tmp_path, *judge).stdout)
    assert (again["judges"][0]["calls"], again["added"]) == (0, 0)
    table = read_arena(tmp_path / "quiz").judgments
    assert set(table["judge"]) == {"cites-more"}
    n_cited = {"system1": (1, 0), "system2": (2, 1), "system3": (0, 0)}
    for row in table.itertuples():
        question = int(row.query_id.partition("-")[2]) - 1
        cited_a, cited_b = n_cited[row.system_a][question], n_cited[row.system_b][question]
        expected = "tie" if cited_a == cited_b else "a" if cited_a > cited_b else "b"
        assert row.winner == expected
        assert row.reason == f"A cites {cited_a}, B cites {cited_b}"
        assert row.prompt.endswith("|arena-example 1.0")

    measure = ("features", "quiz", "--features", "digit_share,answer_length", "--out", "f.parquet")
    assert run_with(site, tmp_path, *measure).returncode == 0
    shares = pd.read_parquet(tmp_path / "f.parquet").set_index(["system", "query_id"])
    assert shares["digit_share"]["system1", "quiz-1"] == pytest.approx(1 / 8)  # It is 4.


def test_lists_name_the_package_of_a_plug_in(installed, capsys):
    main_of("features", "--json")
    listed = {row["feature"]: row for row in json.loads(capsys.readouterr().out)["features"]}
    assert listed["digit_share"]["source"] == "arena-example 1.0"
    assert listed["digit_share"]["available"] == "yes"
    with pytest.raises(UsageError, match=r"unknown kind of source 'quizz'; .*, quiz$"):
        import_arena("quizz", [])
    settings = JudgingSettings(plug_in="cite-more")
    with pytest.raises(UsageError, match="did you mean 'cites-more'"):
        judge(two_answers(), settings, ":memory:")


def main_of(*words):
    """Run the command line in this process; return its exit status."""
    try:
        main([str(word) for word in words])
    except SystemExit as ended:
        return ended.code
    return 0


@pytest.fixture(scope="module")
def board(site, tmp_path_factory):
    """A folder with an arena, a board of it that was built with the example's feature, answers."""
    folder = tmp_path_factory.mktemp("board")
    arena = small_simulation(range(6), ["en"], questions=5).arena
    # The name of the judge is that of a plug-in, too.
    arena = Arena(**{**vars(arena), "judgments": arena.judgments.assign(judge="cites-more")})
    write_arena(arena, folder / "arena")
    new = arena.answers[arena.answers["system"] == arena.info.systems[0]].assign(system="new")
    new.to_json(folder / "new.jsonl", orient="records", lines=True)
    asked = ("--features", "digit_share,answer_length", "--surrogate", "linear")
    asked += ("--tournaments", 2, "--no-site", "--out", "board")
    done = run_with(site, folder, "board", "arena", *asked)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_files_import_no_plug_in_and_users_do(installed, board, capsys):
    """Arena, board and model name the example's judge and feature; only the last call does, too."""
    rank = ("rank", board / "new.jsonl", "--board", board / "board")
    commands = {
        ("check", board / "arena"): 0,
        ("diagnose", board / "arena"): 0,
        ("fit", board / "arena"): 0,
        ("publish", board / "board", "--out", board / "site"): 0,
        rank: 2,
    }
    for words, status in commands.items():
        assert main_of(*words) == status, capsys.readouterr().err
        assert EXAMPLE not in sys.modules
    message = capsys.readouterr().err
    assert "name them (--features; " in message
    assert "no feature is named 'digit_share'" in message
    assert main_of(*rank, "--features", "digit_share") == 0
    assert f"{EXAMPLE}.digits" in sys.modules


def test_nothing_is_imported_that_is_not_named(installed, capsys):
    main_of("--help")
    main_of("judge", "--help")
    extract(two_answers(), "answer_length,bleu")
    with pytest.raises(UsageError, match="unknown kind of source 'no-such-kind'"):
        import_arena("no-such-kind", [])
    with pytest.raises(UsageError, match=r"no feature is named 'digit_shares'; did you mean"):
        parse_features("digit_shares")
    assert EXAMPLE not in sys.modules


def two_answers():
    questions = pd.DataFrame([{"query_id": "q", "query": "Why?"}])
    answers = [
        {"query_id": "q", "system": "first", "answer": "So."},
        {"query_id": "q", "system": "second", "answer": "And so."},
    ]
    return Arena.from_frames(questions, pd.DataFrame(answers), language="en")


FEATURE = """
from features import Feature
def measure(sample): return {value}
FEATURE = Feature(name="{name}", summary="", source="", needs=("answer",), measurement=measure)
"""


def test_names_of_ours_and_of_two_packages_are_refused_with_both_packages(declare, capsys):
    code = FEATURE.format(name="bleu", value=1.0)
    declare("their_metrics", "feature", {"bleu": "their_metrics_module:FEATURE"}, code)
    declare("their_readers", "importer", {"mirage": "x:y", "csv": "x:y"})
    declare("one", "judge", {"strict": "x:y"})
    declare("two", "judge", {"strict": "x:y"})
    for call, packages in (
        (lambda: parse_features("bleu"), "surrogate-arena and by their_metrics 2.0"),
        (lambda: import_arena("csv", []), "surrogate-arena and by their_readers 2.0"),
        (lambda: judged_by("strict"), "one 2.0 and by two 2.0"),
    ):
        with pytest.raises(UsageError, match=packages):
            call()
    assert main_of("import", "mirage", "--config", "download=true", "--out", "nowhere") == 2
    assert "surrogate-arena and by their_readers 2.0" in capsys.readouterr().err
    assert parse_features("default,rouge_l")  # other features work
    assert main_of("features", "--json") == 0
    rows = [
        row for row in json.loads(capsys.readouterr().out)["features"] if row["feature"] == "bleu"
    ]
    assert ["their_metrics 2.0" in row["available"] for row in rows] == [False, True]


def test_a_feature_of_our_name_does_not_stop_a_judge_that_measures_ours(declare):
    from surrogate_arena.diagnosis.judging_prior import judging_prior

    code = "def judge(question, answer_a, answer_b): return 'tie'"
    declare("their_metrics", "feature", {"answer_length": "x:y", "bleu": "x:y"})
    declare("their_judges", "judge", {"even": "their_judges_module:judge"}, code)
    arena = two_answers()
    prior = judging_prior(arena)
    assert len(prior) == 2
    assert prior["rating"].notna().all()


def judged_by(name):
    return judge(two_answers(), JudgingSettings(plug_in=name, pairs="all"), ":memory:")


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("import no_such_package", "cannot be imported: ModuleNotFoundError"),
        ("raise SystemExit(3)", r"cannot be imported: SystemExit: 3 \(.*_module.py, line 1\)"),
        ("FEATURE = 3", "is of type int, not a features.Feature"),
        (FEATURE.format(name="other", value=1.0), "calls itself other"),
        (FEATURE.format(name="theirs", value="1 / 0"), "raised ZeroDivisionError"),
    ],
)
def test_a_broken_feature_is_named_and_nothing_else_breaks(declare, capsys, code, fault):
    declare("broken", "feature", {"theirs": "broken_module:FEATURE"}, code)
    with pytest.raises(UsageError, match=rf"feature theirs of the package broken 2\.0 {fault}"):
        extract(two_answers(), "theirs")
    assert len(extract(two_answers(), "answer_length")) == 2
    assert main_of("features", "--json") == 0
    listed = {row["feature"]: row for row in json.loads(capsys.readouterr().out)["features"]}
    is_listed_as_broken = "broken 2.0" in listed["theirs"]["available"]
    assert is_listed_as_broken == ("1 / 0" not in code)  # which shows when it measures


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("def judge(question): ...", "cannot be called with question, answer_a, answer_b"),
        ("judge = 3", "is of type int, not a function"),
    ],
)
def test_a_judge_that_cannot_be_called_is_refused(declare, code, fault):
    declare("broken", "judge", {"theirs": "broken_module:judge"}, code)
    with pytest.raises(UsageError, match=f"the judge theirs of the package broken 2.0 {fault}"):
        judged_by("theirs")


@pytest.mark.parametrize(
    ("code", "reason", "detail"),
    [
        ("raise KeyError('x')", "raised", "KeyError: 'x' (broken_module.py, line 2)"),
        ("return 'A'", "malformed", "it returned 'A'; return 'a', 'b' or 'tie'"),
        ("return ('a', 3)", "malformed", "it returned ('a', 3)"),
    ],
)
def test_a_judge_without_a_verdict_is_a_counted_failure(declare, tmp_path, code, reason, detail):
    code = f"def judge(question, answer_a, answer_b):\n    {code}\n"
    declare("broken", "judge", {"theirs": "broken_module:judge"}, code)
    settings = JudgingSettings(plug_in="theirs", pairs="all", audit=0.0, retries=0)
    judging = judge(two_answers(), settings, tmp_path / "store.sqlite")
    assert judging.judgments.empty
    assert judging.usage.failures == {reason: 1}
    assert detail in judging.failures["detail"].item()


def test_a_judge_sees_what_it_asks_for_and_no_names_of_systems(declare, tmp_path):
    code = """
import json
async def judge(question, answer_a, answer_b, *, passages, history, language):
    return "tie", json.dumps([question, sorted([answer_a, answer_b]), passages, history, language])
"""
    declare("theirs", "judge", {"theirs": "theirs_module:judge"}, code)
    settings = JudgingSettings(plug_in="theirs", pairs="all", audit=0.0)
    judging = judge(two_answers(), settings, tmp_path / "store.sqlite")
    [reason] = judging.judgments["reason"]
    assert json.loads(reason) == ["Why?", ["And so.", "So."], [], [], "en"]


def test_an_importer_that_fails_is_named(declare):
    code = "def read(paths): raise ValueError('of theirs')\ndef none(paths): return None"
    places = {"raises": "broken_module:read", "none": "broken_module:none"}
    declare("broken", "importer", places, code)
    with pytest.raises(UsageError, match=r"importer raises of the package broken 2.0 raised Value"):
        import_arena("raises", [])
    with pytest.raises(UsageError, match="none returned NoneType; a reader returns"):
        import_arena("none", [])


@pytest.mark.parametrize("option", [{"model": "gpt"}, {"form": "pointwise"}, {"batch": True}])
def test_options_of_llms_are_refused_with_a_plug_in(option):
    [name] = option
    with pytest.raises(UsageError, match=f"leave `{name}` out"):
        JudgingSettings(plug_in="theirs", **option).require_plan()
