"""``surrogate-arena validate`` as a user runs it."""

import json

import pandas as pd
import pytest
from simulations import small_simulation

from arena import write_arena
from surrogate_arena.studies.commands import _show_study
from surrogate_arena.studies.scores import SCORES
from surrogate_arena.studies.study_table import StudyTable

QUICK = ("--surrogate", "linear", "--repeats", 1, "--tournaments", 4, "--jobs", 1)


def with_features(arena, folder):
    """Write an arena and two features of its answers; give the arguments that name them."""
    answers = arena.answers
    lengths = answers["answer"].str.len().astype(float)
    kept = answers[["language", "system", "query_id"]]
    table = kept.assign(length=lengths, citations=answers["answer"].str.count(r"\["))
    write_arena(arena, folder / "arena")
    table.to_parquet(folder / "features.parquet")
    return folder / "arena", "--feature-table", folder / "features.parquet"


@pytest.fixture(scope="module")
def small(small_arena, tmp_path_factory):
    return with_features(small_arena, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    arena = small_simulation(range(8), ["en"], questions=4).arena
    return with_features(arena, tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def validate(run, small):
    return lambda *options: run("validate", *small, *options)


@pytest.fixture
def study(run, tiny):
    """The same of an arena small enough to train on many parts of it."""
    return lambda *options: run("validate", *tiny, *options)


def test_prints_a_table_or_strict_json(validate, capsys):
    assert validate(*QUICK) == 0
    printed = capsys.readouterr().out
    assert "leave-systems-out" in printed
    assert "macro" in printed
    assert "Signature: " in printed
    assert validate(*QUICK, "--json") == 0
    table = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["table"]
    assert [row["language"] for row in table] == ["en", "sw", "macro"]
    for scores in table:
        assert set(scores) == {*SCORES, "rated_by"}
        assert -1 <= scores["tau_low"] <= scores["tau_high"] <= 1
        assert scores["systems"] == 11  # all but the reference system


@pytest.mark.slow
def test_compares_surrogates_as_in_table_3(study, capsys):
    options = ("--protocol", "table3", "--repeats", 3, "--tournaments", 2, "--jobs", 1)
    assert study(*options, "--surrogate", "random-forest,linear", "--json") == 0
    printed = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    rows = {(row["language"], row["surrogate"]): row for row in printed["table"]}
    assert set(rows) == {("en", name) for name in ("random-forest", "linear")}
    for row in rows.values():
        assert row["train_r2"] <= 1
        assert row["repeats"] == 3
    forest = rows["en", "random-forest"]
    assert forest["train_r2"] > max(forest["holdout_r2"], 0.5)
    assert "protocol:table3" in printed["signature"]
    quick = ("--protocol", "table3", "--repeats", 1, "--tournaments", 1, "--jobs", 1)
    assert study(*quick, "--surrogate", "linear") == 0
    shown = capsys.readouterr().out
    assert "table3" in shown
    assert "Kendall" not in shown


@pytest.mark.slow
def test_a_preset_gives_what_is_not_stated(study, tmp_path, capsys):
    quick = ["--tournaments", 2, "--repeats", 1, "--jobs", 1, "--json"]
    assert study("--preset", "mirage", *quick) == 0
    signature = json.loads(capsys.readouterr().out)["signature"]
    assert "|surrogate:random-forest|rows:overall|missing:zero|" in signature
    assert "|tournaments:2|questions:100|ties:drop|ridge:0|" in signature
    config = tmp_path / "own.toml"
    config.write_text("ties = 'half'\nrows = 'system'\nridge = 0.2\n")
    stated = ["--surrogate", "linear", "--config", config]
    assert study("--preset", "mirage", *quick, *stated) == 0
    signature = json.loads(capsys.readouterr().out)["signature"]
    assert "|surrogate:linear|rows:system|missing:zero|" in signature
    assert "|ties:half|ridge:0.2|" in signature
    assert study("--preset", "mirag") == 2
    assert "'mirag'" in capsys.readouterr().err


@pytest.mark.slow
def test_the_reasons_of_a_learning_curve_are_printed_once(study, capsys):
    options = (*QUICK, "--protocol", "learning-curve")
    assert study(*options, "--json") == 0
    table = json.loads(capsys.readouterr().out)["table"]
    reasons = {row["reason"] for row in table if row["language"] == "en"} - {""}
    assert reasons  # few systems are left to learn from in the smallest parts
    # The row names its language.
    assert not any("en: " in reason for reason in reasons)
    assert study(*options) == 0
    lines = " ".join(capsys.readouterr().out.split()).split("Reason: ")[1:]
    assert len(lines) == len(set(lines)) > 0
    assert not any(one != other and one in other for one in lines for other in lines)


def test_a_study_is_published_as_figure_and_latex(study, run, tmp_path, capsys):
    file = tmp_path / "ablation.json"
    assert study(*QUICK, "--protocol", "ablation", "--json") == 0
    file.write_text(capsys.readouterr().out)
    assert run("publish", file, "--as", "figures", "--out", tmp_path / "figures") == 0
    assert (tmp_path / "figures" / "ablation.png").is_file()
    capsys.readouterr()
    assert run("publish", file, "--as", "latex") == 0
    latex = capsys.readouterr().out
    assert latex.count(r"\toprule") == 2  # taus, and differences
    assert "without length" in latex
    assert "p holm" in latex


def test_a_study_without_a_tau_has_no_figure(study, run, tmp_path, capsys):
    file = tmp_path / "table3.json"
    assert study(*QUICK, "--protocol", "table3", "--json") == 0
    file.write_text(capsys.readouterr().out)
    assert run("publish", file, "--as", "figures", "--out", tmp_path / "figures") == 1
    assert "no study with a tau" in capsys.readouterr().err


def test_surrogates_with_commas_between_are_compared(study, capsys):
    surrogates = "linear, sklearn.ensemble.RandomForestRegressor(n_estimators=2, max_depth=2)"
    assert study(*QUICK[2:], "--surrogate", surrogates) == 0
    printed = capsys.readouterr().out
    assert "Differences" in printed
    assert "RandomForest" in printed


def test_a_negative_r2_is_explained_where_there_is_one(capsys):
    table = pd.DataFrame({"language": ["en"], "tau": [0.8], "r2": [-150.0]})
    _show_study(StudyTable(table), "leave-best-out", as_json=False)
    assert "R² below 0" in capsys.readouterr().out
    for name, value in (("r2", 0.3), ("tau", -0.5)):
        others = table.assign(**{"r2": 0.1, name: value})
        _show_study(StudyTable(others), "leave-best-out", as_json=False)
        assert "R² below 0" not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("preset", [[], ["--preset", "mirage"]])
def test_sampling_compares_designs_and_ranks_as_the_preset_does(run, tiny_folder, capsys, preset):
    """Under the preset ties are dropped, without a prior: figure 6 of the paper."""
    command = ["validate", tiny_folder, "--protocol", "sampling", "--repeats", 2, *preset]
    assert run(*command) == 0
    assert "sampling" in capsys.readouterr().out
    assert run(*command, "--json") == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert {row["design"] for row in found["table"]} == {"questions", "pairs", "halves"}
    assert all(row["tau"] == 1.0 for row in found["table"] if row["share"] == 1.0)
    settings = "ties:drop|ridge:0|seed:0" if preset else "ties:half|ridge:0.1|seed:0"
    assert found["signature"] == f"repeats:2|{settings}"
