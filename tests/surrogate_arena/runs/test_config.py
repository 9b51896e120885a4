"""Configurations are read strictly: what is wrong is named with its place, value and hint."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import DataError, UsageError
from surrogate_arena.runs import config
from surrogate_arena.runs.config import read_configuration

EXAMPLE = Path(__file__).parents[3] / "examples" / "leaderboards.toml"


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        path = tmp_path / "boards.toml"
        path.write_text(text, encoding="utf-8")
        return read_configuration(path)

    return read_text


def test_the_example_is_read():
    read = read_configuration(EXAMPLE)
    boards = {board.name: board for board in read.boards}
    assert list(boards) == [
        *("rakuda", "published", "nomiracl", "faithfulness", "fluency", "weekly"),
    ]
    assert read.out == EXAMPLE.parent / "boards"
    assert boards["rakuda"].arena == EXAMPLE.parent / "arenas" / "rakuda"
    assert boards["nomiracl"].pages.title == "NoMIRACL"
    assert boards["nomiracl"].pages.license == "CC BY 4.0"
    assert boards["fluency"].settings.criterion == "fluency"
    assert boards["weekly"].settings.judge == "gpt-4o-mini"
    assert boards["published"].options.feature_table is not None
    assert boards["nomiracl"].options.publish


def test_defaults_lie_under_every_board_and_tables_are_merged(read):
    boards = read(
        """
        [defaults]
        arena = "a"
        seed = 7
        feature_table = "scores.parquet"
        publish = true
        judging = { model = "m", questions = 3 }
        [boards.one]
        [boards.two]
        seed = 8
        features = "bleu,target_language(identifier=langid,part=reason)"
        judging = { questions = 4 }
        """
    ).boards
    assert [board.options.seed for board in boards] == [7, 8]
    assert boards[0].options.feature_table == "scores.parquet"
    assert boards[1].options.feature_table is None
    assert len(boards[1].options.features) == 2
    assert [board.options.judging.questions for board in boards] == [3, 4]
    assert boards[1].options.judging.model == "m"
    assert boards[1].options.publish


def test_a_preset_lies_under_what_the_defaults_and_a_board_state(read):
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
    assert (published.ties, published.missing, published.rows) == ("half", "zero", "overall")
    assert (published.ridge, published.surrogate, published.seed) == (0.0, "random-forest", 3)
    assert [len(board.features) for board in (published, own)] == [1, 1]
    assert (other.ties, other.rows) == ("half", "overall")
    assert (own.ties, own.missing, own.rows) == ("half", "nan", "system")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[boards.a]\narena = 3", "boards.a.arena = 3: "),
        ("[boards.a]\nseed = 3", "boards.a.arena = None: is missing"),
        ("[boards.a]\narena = 'x'\ntournament = 3", "did you mean 'tournaments'?"),
        ("[boards.a]\narena = 'x'\nholdout = 2", "write a list of texts"),
        ("[boards.a]\narena = 'x'\nfeatures = 'blue'", "did you mean 'bleu'?"),
        ("[boards.a]\narena = 'x'\nfeatures = 'bleu'\nfeature_table = 'x.csv'", "feature_table"),
        ("[boards.a]\narena = 'x'\npublish = 'pdf'", "boards.a.publish = 'pdf'"),
        ("[boards.a]\narena = 'x'\njudging = {}", "boards.a.judging.model"),
        ("[boards.a]\narena = 'x'\njudge = 'b'\njudging = { model = 'c' }", "boards.a.judge"),
        ("[boards.'../a']\narena = 'x'", "cannot name a board"),
        ("[boards.'feed.xml']\narena = 'x'", "run writes a file of that name"),
        ("[boards.'Index.HTML']\narena = 'x'", "run writes a file of that name"),
        ("[boards.'judging.sqlite']\narena = 'x'", "run writes a file of that name"),
        ("[boards.a]\narena = 'x'\n[boards.A]\narena = 'x'", "is the name of two boards"),
        ("[board.a]\narena = 'x'", "did you mean 'boards'?"),
        ("[boards.a", "is not valid TOML"),
        (f"x = {'[' * 9000}", "is nested too deeply"),
    ],
)
def test_what_is_wrong_is_named(read, text, named):
    with pytest.raises(DataError) as caught:
        read(text)
    assert "boards.toml" in str(caught.value)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[site]\ntitel = 't'", "did you mean 'title'?"),
        ("[boards.a]\narena = 'x'\nsite = { licence = 't' }", "did you mean 'license'?"),
        ("[boards.a]\narena = 'x'\njudging = { modle = 'm' }", "did you mean 'model'?"),
    ],
)
def test_a_misspelt_key_is_told_the_one_of_its_table(read, text, hint):
    with pytest.raises(DataError) as caught:
        read(text)
    assert [problem.hint for problem in caught.value.problems] == [hint]


def test_no_key_of_another_table_is_suggested(read):
    with pytest.raises(DataError) as caught:
        read("[site]\nfeed = true")
    (problem,) = caught.value.problems
    assert "seed" not in problem.hint
    assert "address" in problem.hint


@pytest.mark.parametrize(
    "line",
    [
        "api_key = 'hunter2'",
        "judging = { model = 'm', key = 'hunter2' }",
        "judging = { model = 'm', api_key_env = 'sk-hunter2' }",
        "judging = { model = 'm', base_url = 'https://me:hunter2@host/v1' }",
    ],
)
def test_secrets_are_refused_and_never_repeated(read, line):
    with pytest.raises(DataError) as caught:
        read(f"[boards.a]\narena = 'x'\n{line}")
    assert "hunter2" not in str(caught.value)
    assert "environment" in str(caught.value) or "is not a known key here" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("api_key_env = 'AWS_SECRET_ACCESS_KEY'", "variables that end in _API_KEY alone"),
        ("base_url = 'http://evil/v1'", "if you trust it, add --base-url http://evil/v1"),
        ("template = '../secret'", "name a path below it"),
        ("store = '/tmp/x.sqlite'", "name a path below it"),
    ],
)
def test_what_would_send_secrets_away_is_refused(read, line, named, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for table in ("defaults", "boards.a"):
        with pytest.raises(DataError) as caught:
            read(f"[boards.a]\narena = 'x'\n[{table}.judging]\nmodel = 'm'\n{line}")
        assert named in str(caught.value)


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
            st.sampled_from(["arena", "judging", "publish", "features", "preset", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["defaults", "boards", "out"]), VALUES))
def test_whatever_a_file_says_is_read_or_refused_in_words(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("config") / "boards.toml"
    path.touch()
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(DataError, UsageError):
        patch.setattr(config, "_read_toml", lambda _: content)
        read_configuration(path)
