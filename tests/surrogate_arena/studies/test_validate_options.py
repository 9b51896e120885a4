"""``validate`` and ``Study.of`` take the options of ``build_board``, and refuse all others."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from arena import UsageError, study_sampling
from surrogate import BoardSettings, build_board, validate
from surrogate.board.settings import PRESET
from surrogate.learning.surrogate import find_surrogate
from surrogate_arena.studies import PROTOCOLS, Study
from surrogate_arena.studies.study_options import LEARNING_OPTIONS, STUDY_DEFAULTS

MISSPELT = [
    ({"surogate": "linear"}, "surrogate"),
    ({"jobs": 2}, "n_jobs"),
    ({"juge": "nobody"}, "judge"),
    ({"tournamnets": 3}, "tournaments"),
    ({"feature_tabel": None}, "feature_table"),
    ({"nonsense": 1}, None),
]
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def quick(english_arena, quick_features):
    """Validate the small arena by three features and a linear surrogate."""
    own = quick_features[quick_features["language"] == "en"]

    def run(protocol="leave-systems-out", **options):
        known = {"surrogate": "linear", "repeats": 1, "tournaments": 4, "feature_table": own}
        return validate(english_arena, protocol, **{**known, **options})

    return run


@pytest.mark.parametrize("call", [validate, Study.of, build_board])
@pytest.mark.parametrize(("wrong", "meant"), MISSPELT)
def test_unknown_options_are_refused_with_a_suggestion(call, wrong, meant, tiny_arena):
    with pytest.raises(UsageError) as refused:
        call(tiny_arena, **wrong)
    message = str(refused.value)
    [name] = wrong
    assert repr(name) in message
    assert "tournaments, " in message  # all options are listed
    if meant is None:
        assert "did you mean" not in message
    else:
        assert f"did you mean {meant!r}?" in message


@pytest.mark.parametrize("name", ["ratings", "arena_ratings"])
def test_options_that_only_boards_have_are_refused_by_studies(name, tiny_arena):
    value = BoardSettings.model_fields[name].default
    with pytest.raises(UsageError, match=repr(name)):
        validate(tiny_arena, **{name: value})


@pytest.mark.slow
def test_five_seeds_are_five_runs(quick):
    runs = [quick(seed=seed) for seed in range(5)]
    taus = [tuple(run.table["tau"]) for run in runs]
    errors = [tuple(run.table["r2"]) for run in runs]
    assert len(set(zip(taus, errors, strict=True))) == 5
    assert [f"|seed:{seed}|" in run.signature for seed, run in enumerate(runs)] == [True] * 5
    assert quick(seed=3).table.equals(runs[3].table)


@pytest.mark.slow
def test_settings_and_options_mean_the_same(quick):
    by_option = quick(seed=7, ties="drop", ridge=0.3, questions=5)
    settings = BoardSettings(seed=7, ties="drop", ridge=0.3, questions=5, ratings="surrogate")
    by_settings = quick(settings=settings)
    assert by_settings.signature == by_option.signature
    pd.testing.assert_frame_equal(by_settings.table, by_option.table)
    assert "|tournaments:4|questions:5|ties:drop|ridge:0.3|seed:7|" in by_option.signature
    assert "|ties:half|" in quick(settings=settings, ties="half").signature


def test_a_preset_sets_what_is_not_stated(quick, english_arena):
    found = quick(surrogate=None, preset="mirage", tournaments=2)
    assert "|surrogate:random-forest|rows:overall|missing:zero|" in found.signature
    assert "|tournaments:2|questions:100|ties:drop|ridge:0|" in found.signature
    with pytest.raises(UsageError, match="mirag"):
        validate(english_arena, preset="mirag")


def test_rows_and_missing_are_for_surrogates_by_name(quick):
    assert "|rows:overall|missing:zero|" in quick(rows="overall", missing="zero").signature
    with pytest.raises(UsageError, match="`rows`"):
        quick(surrogate=find_surrogate("linear"), rows="overall")


@pytest.mark.slow
def test_a_study_parts_the_questions_as_a_board_does(small_arena, quick_features):
    topics = small_arena.queries["query_id"].str[-1].astype(int) % 2
    queries = small_arena.queries.assign(topic=topics.map({0: "even", 1: "odd"}))
    arena = type(small_arena)(**{**vars(small_arena), "queries": queries})
    found = validate(
        *(arena, "leave-systems-out", "linear", 1),
        **{"by": "topic", "tournaments": 2, "feature_table": quick_features},
    )
    assert list(found.table["language"]) == ["even", "odd", "macro"]


def test_sampling_is_a_protocol_like_the_others(english_arena):
    assert "sampling" in PROTOCOLS
    found = validate(english_arena, "sampling", repeats=2, seed=4, ridge=0.2)
    direct = study_sampling(english_arena.judgments, repeats=2, seed=4, ridge=0.2)
    pd.testing.assert_frame_equal(found.table, direct.table)
    assert found.signature == direct.signature
    assert not validate(english_arena, "sampling", repeats=2, seed=5).table.equals(found.table)


@pytest.mark.parametrize("name", ["surrogate", "features", "tournaments", "missing"])
def test_sampling_refuses_what_it_has_no_use_for(name, english_arena):
    value = {"surrogate": "linear", "features": "bleu", "tournaments": 3, "missing": "zero"}[name]
    with pytest.raises(UsageError, match=f"`{name}`"):
        validate(english_arena, "sampling", **{name: value})


@pytest.mark.slow
def test_a_file_of_settings_keeps_its_seed_and_names_the_judge(run, arena_folder, tmp_path, capsys):
    """``--seed`` has a default of 0, which once came before the file's seed."""
    config = tmp_path / "board.toml"
    config.write_text('seed = 5\njudge = "simulated-teacher"\nratings = "posterior"\n')
    options = ["--protocol", "sampling", "--repeats", 2, "--config", config, "--json"]
    assert run("validate", arena_folder, *options) == 0
    assert json.loads(capsys.readouterr().out)["signature"].endswith("|seed:5")


@pytest.mark.parametrize(
    ("documented", "options"),
    [
        (build_board, [*BoardSettings.model_fields, PRESET]),
        (BoardSettings, BoardSettings.model_fields),
        (validate, LEARNING_OPTIONS),
        (Study.of, LEARNING_OPTIONS),
    ],
)
def test_help_has_a_line_for_every_option(documented, options):
    lines = documented.__doc__.splitlines()
    for name in options:
        [line] = [line for line in lines if line.strip().startswith(f"{name}=")]
        assert len(line) <= 110
        default = None if name == PRESET else BoardSettings.model_fields[name].default
        if documented in (validate, Study.of):
            default = STUDY_DEFAULTS.get(name, default)
        shown = default if not isinstance(default, tuple) else ",".join(default)
        assert line.strip().startswith(f"{name}={shown!r}")
        assert len(line.partition(": ")[2].split()) >= 2


def test_help_of_studies_has_their_default_of_tournaments(
    english_arena, quick_features, run, capsys
):
    study = Study.of(english_arena, "linear", feature_table=quick_features)
    n_drawn = study.settings.tournaments
    assert f"tournaments={n_drawn}: " in str(validate.__doc__)
    assert f"tournaments={n_drawn}: " in str(Study.of.__doc__)
    assert run("validate", "--help") == 0
    assert f"Default: {n_drawn}" in " ".join(capsys.readouterr().out.split())


def test_validate_takes_every_protocol_of_the_guide():
    guide = (ROOT / "docs" / "guides" / "validation.md").read_text(encoding="utf-8")
    table = guide.partition("| protocol | question |")[2].partition("\n\n")[0]
    first_cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    assert set(re.findall("`([^`]+)`", " ".join(first_cells))) == set(PROTOCOLS)
