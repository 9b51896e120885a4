"""Configurations are read strictly: what is wrong is named with its place, value and hint."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import DataError, UsageError
from surrogate.runs import config
from surrogate.runs.config import read_configuration

EXAMPLE = Path(__file__).parents[3] / "examples" / "leaderboards.toml"


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        path = tmp_path / "boards.toml"
        path.write_text(text, encoding="utf-8")
        return read_configuration(path)

    return read_text


def test_the_example_is_read(tmp_path):
    (tmp_path / EXAMPLE.name).write_bytes(EXAMPLE.read_bytes())
    (tmp_path / "nomiracl-features.txt").write_text("bleu, rouge_l  # overlap\n\ncitations\n")
    read = read_configuration(tmp_path / EXAMPLE.name)
    boards = {board.name: board for board in read.boards}
    assert len(boards) == 4 + 2 * 2 * 2 * 2
    assert read.out == tmp_path / "boards"
    assert boards["rakuda"].arena == tmp_path / "arenas" / "rakuda"
    assert boards["weekly"].judge == "gpt-4o-mini"
    assert boards["nomiracl"].options.features is None
    assert [str(item) for item in boards["nomiracl"].features()] == [
        *("bleu", "rouge_l", "citations")
    ]
    last = boards["study-nomiracl-crowd-grounded-linear"]
    assert last.options.surrogate == "linear"
    assert last.options.tournaments == 50
    assert last.options.after.site


def test_defaults_lie_under_every_board_and_tables_are_merged(read):
    boards = read(
        """
        [defaults]
        arena = "a"
        seed = 7
        feature_table = "scores.parquet"
        after = { site = true }
        [boards.one]
        [boards.two]
        seed = 8
        features = "bleu,target_language(identifier=langid,part=reason)"
        after = { plots = true }
        """
    ).boards
    assert [board.options.seed for board in boards] == [7, 8]
    assert boards[0].options.feature_table == "scores.parquet"
    assert boards[1].options.feature_table is None
    assert len(boards[1].options.features) == 2
    assert boards[1].options.after.site
    assert boards[1].options.after.plots


def test_a_preset_lies_over_the_defaults_and_under_what_a_board_states(read):
    boards = read(
        """
        [defaults]
        features = "bleu"
        ties = "half"
        seed = 3
        [boards.published]
        arena = "a"
        preset = "mirage"
        [boards.other]
        arena = "a"
        preset = "mirage"
        ties = "half"
        feature_table = "scores.parquet"
        [boards.own]
        arena = "a"
        """
    ).boards
    published, other, own = (board.settings for board in boards)
    assert (published.ties, published.missing, published.rows) == ("drop", "zero", "overall")
    assert (published.ridge, published.surrogate, published.seed) == (0.0, "random-forest", 3)
    assert [len(board.features()) for board in (boards[0], boards[2])] == [11, 1]
    assert (other.ties, other.rows) == ("half", "overall")
    assert boards[1].options.features is None
    assert (own.ties, own.missing, own.rows) == ("half", "nan", "system")


def test_judges_of_a_matrix_judge_first_where_judging_is_asked_for(read):
    boards = read(
        """
        [matrix.m]
        arena = "a"
        judges = ["org/model:1", "local"]
        judging = { questions = 3 }
        """
    ).boards
    assert [board.name for board in boards] == ["m-org-model-1", "m-local"]
    assert [board.options.judging.model for board in boards] == ["org/model:1", "local"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[boards.a]\narena = 3", "boards.a.arena = 3: "),
        ("[boards.a]\narena = 'x'\ntournament = 3", "did you mean 'tournaments'?"),
        ("[boards.a]\narena = 'x'\ntournaments = '5'", "boards.a.tournaments = '5'"),
        ("[boards.a]\narena = 'x'\ntournaments = 0", "greater than or equal to 1"),
        ("[boards.a]\narena = 'x'\nties = 'win'", "input should be 'half' or 'drop'"),
        ("[boards.a]\narena = 'x'\nholdout = 2", "write a list of texts"),
        ("[boards.a]\nseed = 3", "a.arena = None: is missing; name the arena folder"),
        ("[boards.a]\narena = 'x'\nfeatures = 'blue'", "did you mean 'bleu'?"),
        ("[boards.a]\narena = 'x'\nfeature_file = 'no.txt'", "there is no file of features"),
        (
            "[boards.a]\narena = 'x'\nfeatures = 'bleu'\nfeature_table = 'x.csv'",
            "stands beside features; keep one",
        ),
        (
            "[boards.a]\narena = 'x'\nsurrogate = 'forrest'",
            "a.surrogate = 'forrest': cannot be used",
        ),
        ("[boards.a]\narena = 'x'\nrow = 'system'", "did you mean 'rows'?"),
        (
            "[boards.a]\narena = 'x'\nafter = { validation = { protocol = 'transfer' } }",
            "input should be 'leave-systems-out'",
        ),
        ("[boards.a]\narena = 'x'\njudging = {}", "a.judging.model = None: is missing"),
        (
            "[boards.a]\narena = 'x'\njudge = 'b'\njudging = { model = 'c' }",
            "is not the judge that judges (c)",
        ),
        ("[boards.'../a']\narena = 'x'", "is no name of a board"),
        ("[boards.a]\narena = 'x'\n[boards.A]\narena = 'x'", "is the name of two boards"),
        ("[matrix.m]\narenas = {}", "matrix.m.arenas"),
        ("[board.a]\narena = 'x'", "board = '(not shown)': is no key here; did you mean 'boards'?"),
        ("boards = 3", "boards = 3"),
        ("[boards.a", "is no TOML"),
    ],
)
def test_what_is_wrong_is_named(read, text, message):
    with pytest.raises(DataError) as caught:
        read(text)
    assert "boards.toml" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        "api_key = 'hunter2'",
        "openai_api_key = 'hunter2'",
        "token = 'hunter2'",
        "password = 'hunter2'",
        "judging = { model = 'm', key = 'hunter2' }",
        "judging = { model = 'm', api_key_env = 'sk-hunter2' }",
        "judging = { model = 'm', base_url = 'https://me:hunter2@host/v1' }",
        "llm = { api_key = 'hunter2' }",
    ],
)
def test_secrets_are_refused_and_never_repeated(read, line):
    with pytest.raises(DataError) as caught:
        read(f"[boards.a]\narena = 'x'\n{line}")
    assert "hunter2" not in str(caught.value)
    assert "environment" in str(caught.value) or "is no key here" in str(caught.value)


def test_a_file_without_boards_or_none_at_all_is_said(read, tmp_path):
    with pytest.raises(UsageError, match="names no board"):
        read("out = 'x'")
    with pytest.raises(UsageError, match="there is no configuration at"):
        read_configuration(tmp_path / "absent.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    with pytest.raises(DataError, match="is not UTF-8"):
        read_configuration(tmp_path / "latin.toml")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["arena", "judging", "after", "features", "arenas", "x", "surrogates"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["defaults", "boards", "matrix", "out"]), VALUES))
def test_whatever_a_file_says_is_read_or_refused_in_words(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("config") / "boards.toml"
    path.touch()
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(DataError, UsageError):
        patch.setattr(config, "_read_toml", lambda _: content)
        read_configuration(path)
