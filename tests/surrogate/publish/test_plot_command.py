"""``surrogate-arena plot`` as a user runs it."""

import json
import re
from dataclasses import replace

import pytest

from arena.planning.study import study_sampling
from surrogate.metaevaluation.grouse.grouse import Grouse
from surrogate.metaevaluation.grouse.test_files import builtin_tests
from surrogate.metaevaluation.judges import FunctionJudge
from surrogate.metaevaluation.records import write_run
from surrogate.metaevaluation.runner import evaluate_judges
from surrogate.metaevaluation.settings import MetaevalSettings
from surrogate.publish.figures.board_figures import KINDS


def test_draws_all_that_the_board_can_give(board_folder, tmp_path, run, capsys):
    out = tmp_path / "new" / "plots"
    assert run("plot", board_folder, "--out", out) == 0
    names = {"heatmap", "lollipops", "importances", "ratings-en", "ratings-sw", "wins", "scatter"}
    assert {path.name for path in out.iterdir()} == {f"{name}.png" for name in names}
    printed = capsys.readouterr().out.splitlines()
    assert sorted(printed) == sorted(str(path) for path in out.iterdir())


def test_draws_one_kind_and_language_as_svg(board_folder, tmp_path, run):
    options = ["--kind", "ratings, scatter", "--language", "sw", "--format", "svg"]
    assert run("plot", board_folder, "--out", tmp_path, *options) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"ratings-sw.svg", "scatter-sw.svg"}


def test_boards_give_what_they_can_and_say_the_rest(board, tmp_path, run, capsys):
    replace(board, win_matrix=board.win_matrix.iloc[:0]).save(tmp_path / "few")
    options = ["--out", tmp_path / "plots", "--format", "svg"]
    assert run("plot", tmp_path / "few", *options) == 0
    drawn = {path.stem for path in (tmp_path / "plots").iterdir()}
    assert drawn == {"heatmap", "lollipops", "importances", "ratings-en", "ratings-sw", "scatter"}
    assert "wins left out: win_matrix.csv holds no pair" in capsys.readouterr().err
    assert run("plot", tmp_path / "few", "--out", tmp_path / "plots", "--kind", "wins") == 2
    assert "win_matrix.csv holds no pair" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kind", "pie"], f"there is no figure 'pie'; use some of {', '.join(KINDS)}"),
        (["--kind", ","], "nothing is asked for"),
        (["--format", "pdf"], "--format is 'pdf'; use one of png, svg"),
        (["--language", "xx"], "the board has no language 'xx'; there is en, sw"),
        (["--sampling", "absent.json"], "there is no sampling study at absent.json"),
        (["--importances", "absent.json"], "there is no study of importances at absent.json"),
        (["--memerag", "absent.jsonl"], "there is no file absent.jsonl"),
        (["--grouse", "absent.jsonl"], "there is no file absent.jsonl"),
    ],
)
def test_wrong_requests_say_what_can_be_asked(
    board_folder, tmp_path, run, capsys, options, message
):
    kind = [] if "--kind" in options else ["--kind", "heatmap"]
    assert run("plot", board_folder, "--out", tmp_path / "plots", *kind, *options) == 2
    assert message in capsys.readouterr().err


def test_no_board_is_an_error(tmp_path, run, capsys):
    assert run("plot", tmp_path, "--out", tmp_path / "plots") == 2
    assert "holds no board" in capsys.readouterr().err


def test_draws_a_sampling_study_and_a_run_of_judges(
    board_folder, small_arena, tmp_path, run, verdicts
):
    study = study_sampling(small_arena.judgments, (0.5, 1.0), ("questions",), 2)
    content = {"table": study.table.to_dict(orient="records"), "signature": study.signature}
    (tmp_path / "sampling.json").write_text(json.dumps(content))
    write_run(verdicts, tmp_path / "run.jsonl")
    options = ["--sampling", tmp_path / "sampling.json", "--memerag", tmp_path / "run.jsonl"]
    out = tmp_path / "plots"
    assert run("plot", board_folder, "--out", out, "--kind", "heatmap", *options) == 0
    assert {path.stem for path in out.iterdir()} == {"heatmap", "sampling", "memerag"}


def test_runs_of_judges_need_no_board(tmp_path, run, verdicts, capsys):
    fine = {"Supported": "Other", "Not Supported": "Contradiction"}
    write_run(verdicts.assign(fine=verdicts["truth"].map(fine)), tmp_path / "memerag.jsonl")
    tests = builtin_tests(["en"])[:2]
    null = FunctionJudge("null/1", lambda *_: None)
    scores = evaluate_judges(
        Grouse(tests, MetaevalSettings(reference="lexical")), [null, "lexical"]
    ).verdicts
    write_run(scores, tmp_path / "grouse.jsonl")
    out = tmp_path / "plots"
    options = ["--memerag", tmp_path / "memerag.jsonl", "--grouse", tmp_path / "grouse.jsonl"]
    assert run("plot", "--out", out, *options, "--format", "svg") == 0
    drawn = sorted(re.sub("-[0-9a-f]{8}$", "", path.stem) for path in out.iterdir())
    assert drawn == [
        *("grouse-confusions-null-1", "grouse-lexical", "grouse-null-1"),
        *("memerag", "memerag-errors"),
    ]
    assert run("plot", "--out", out, "--kind", "heatmap") == 2
    assert "--kind is of a board; name the board's folder, too" in capsys.readouterr().err
    assert run("plot", "--out", out) == 2
    assert "nothing is asked for; name a board" in capsys.readouterr().err


def test_draws_importances_of_a_validation(board_folder, tmp_path, run):
    row = {"language": "en", "feature": "bleu", "shap": 1.0, "shap_low": 0.9, "shap_high": 1.0}
    found = tmp_path / "importances.json"
    found.write_text(json.dumps({"table": [row], "signature": "protocol:importances"}))
    options = ["--kind", "heatmap", "--importances", found]
    assert run("plot", board_folder, "--out", tmp_path / "plots", *options) == 0
    names = {path.stem for path in (tmp_path / "plots").iterdir()}
    assert names == {"heatmap", "importance-intervals"}


@pytest.fixture
def verdicts():
    import pandas as pd

    labels = ["Supported", "Not Supported"]
    rows = [
        {
            "judge": judge,
            "prompt": "",
            "language": "en",
            "query_id": str(number // 2),
            "sentence_id": number,
            "truth": labels[number % 2],
            "fine": None,
            "value": labels[(number + (number % every == 0)) % 2],
            "failure": None,
            "was_asked": True,
        }
        for judge, every in (("good", 9), ("poor", 2))
        for number in range(40)
    ]
    return pd.DataFrame(rows).astype({"value": object, "fine": object, "failure": object})
