"""Columns of scores in plain tables: thumbs and other words, their judges, and their use."""

import shlex

import pandas as pd
import pytest

from arena import DataError, UsageError, import_arena

ANSWERS = [
    ("When?", "one", "It opened in 1932."),
    ("When?", "two", "Nobody can say."),
    ("Who?", "one", "J. Holt did."),
    ("Who?", "two", "The city, in the end."),
]


@pytest.fixture
def read(tmp_path):
    """Return what imports the four answers with further columns."""

    def read_with(cells, **options):
        table = pd.DataFrame(ANSWERS, columns=["question", "system", "answer"])
        path = tmp_path / "answers.csv"
        table.assign(**cells).to_csv(path, index=False)
        return import_arena("csv", path, language="en", **options)

    return read_with


def winners(foreign):
    """Return the winning system of each verdict."""
    judgments = foreign.arena.judgments.to_dict(orient="records")
    return [row.get(f"system_{row['winner']}", "tie") for row in judgments]


@pytest.mark.parametrize(
    ("up", "down"),
    [
        ("up", "down"),
        ("Thumbs up", "thumbs down"),
        ("THUMBS_UP", "THUMBS_DOWN"),
        ("like", "dislike"),
        ("Positive", "Negative"),
        ("good", "bad"),
        ("👍", "👎"),
        ("true", "false"),
    ],
)
def test_words_of_praise_are_scores_and_empty_cells_are_missing(read, up, down):
    thumbs = {"thumbs": [up, down, up, None]}
    foreign = read(thumbs, scores=["thumbs"])
    assert winners(foreign) == ["one"]
    assert foreign.skipped.empty
    assert winners(read(thumbs, columns={"verdict": "thumbs"})) == ["one"]
    assert "if it is a score: --scores thumbs" in " ".join(read(thumbs).skipped["reason"])


def test_strange_words_among_thumbs_are_counted_and_a_column_of_them_is_refused(read):
    foreign = read({"thumbs": ["up", "down", "up", "sideways"]}, scores=["thumbs"])
    assert foreign.skipped["reason"].tolist() == ["'thumbs' is no score"]
    with pytest.raises(UsageError, match=r"'thumbs' holds no scores, which are .* up or down"):
        read({"thumbs": ["sideways"] * 4}, scores=["thumbs"])


def test_words_of_praise_do_not_say_whether_two_answers_tied(tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text("question,system_a,system_b,winner,both_bad\nq1,x,y,,good\n")
    with pytest.raises(DataError, match="neither true nor false"):
        import_arena("lmarena", path, language="en")


def test_the_judge_of_one_column_of_scores_can_be_named(read):
    thumbs = {"thumbs": ["up", "down", "up", "up"]}
    assert set(read(thumbs, scores=["thumbs"]).arena.judgments["judge"]) == {"thumbs"}
    foreign = read(thumbs, scores=["thumbs"], judge="human")
    assert set(foreign.arena.judgments["judge"]) == {"human"}
    assert "judge human: 1" in foreign.shown


def test_places_of_a_named_judge_are_better_the_lower_they_are(read):
    foreign = read({"rank": [1, 2, 1, 2]}, scores=["rank"], judge="human")
    assert winners(foreign) == ["one", "one"]


def test_one_judge_of_several_columns_is_refused_with_what_to_do(read):
    columns = {"thumbs": ["up", "down", "up", "up"], "f1": [0.1, 0.2, 0.3, 0.4]}
    with pytest.raises(UsageError, match=r"has thumbs, f1: .* --column verdict=NAME"):
        read(columns, scores=["thumbs"], judge="human")
    foreign = read(columns, columns={"verdict": "thumbs"}, judge="human")
    assert set(foreign.arena.judgments["judge"]) == {"human", "f1"}


def test_a_judge_without_scores_is_refused(read):
    with pytest.raises(UsageError, match=r"'human' .* has none: .* --column verdict=NAME"):
        read({}, judge="human")


def test_one_note_says_how_many_scores_are_used(read):
    columns = {"thumbs": ["up", "down", "up", None], "f1": [0.1, 0.2, 0.3, 0.4]}
    assert read(columns, scores=["thumbs"]).notes == (
        "scores used in verdicts (which need two systems' scores on a question): thumbs (the "
        "highest wins) 2 of 3, f1 (the highest wins) 4 of 4; to reverse one: --lowest-wins thumbs",
    )


@pytest.mark.parametrize("option", [{"values": ["thumbs:up=a,down=b"]}, {"no_sides": True}])
def test_options_of_verdicts_say_which_tables_they_are_for(read, option):
    with pytest.raises(UsageError, match=r"--verdicts FILE, or 'import lmarena'.*--scores NAME"):
        read({"thumbs": ["up", "down", "up", "up"]}, scores=["thumbs"], **option)


def test_scores_show_no_sides_whatever_the_systems_are_called(read):
    judgments = read({"faithfulness": [1, 0.5, 1, 0.5]}).arena.judgments
    assert set(judgments["sides"]) == {"none"}
    assert set(judgments["system_a"]) == {"one"}
    assert set(judgments["winner"]) == {"a"}


@pytest.mark.parametrize(
    ("column", "best"),
    [
        ("noise_sensitivity(mode=relevant)", "lowest"),
        ("hallucination_rate", "lowest"),
        ("factual_correctness(mode=f1)", "highest"),
        ("style", "highest"),
    ],
)
def test_the_direction_of_every_score_is_said(read, column, best):
    [note] = read({column: [0.1, 0.2, 0.3, 0.4]}, scores=[column]).notes
    assert f"{column} (the {best} wins)" in note


@pytest.mark.parametrize("column", ["metric", "evaluator"])
def test_the_lowest_score_wins_where_each_row_names_its_metric(read, column):
    cells = {column: ["toxicity", "toxicity", "correctness", "correctness"]}
    foreign = read(cells | {"score": [0.1, 0.9, 0.1, 0.9]})
    assert sorted(winners(foreign)) == ["one", "two"]
    assert "toxicity (the lowest wins)" in " ".join(foreign.notes)


def turning(foreign):
    """Return the options that import names to reverse scores."""
    [note] = [note for note in foreign.notes if "--lowest-wins" in note]
    return shlex.split(note.partition("reverse one: --lowest-wins ")[2])


ERRORS = {"error_rate": [0.1, 0.9, 0.1, 0.9]}


def test_the_user_says_that_the_lowest_score_wins_and_need_not_name_the_score_twice(read):
    foreign = read(ERRORS, lowest_wins=["error_rate"])
    assert winners(foreign) == ["one", "one"]
    assert "judge error_rate: 0.1, the lower the better" in foreign.shown
    assert winners(read(ERRORS, scores=["error_rate"])) == ["two", "two"]
    named = read(ERRORS, scores=["error_rate"], lowest_wins=["error_rate"])
    assert named.arena.judgments.equals(foreign.arena.judgments)


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        (ERRORS, {"scores": ["error_rate"]}),
        ({"toxicity": [0.1, 0.9, 0.1, 0.9]}, {}),
        ({"bias": [1, 2, 1, 2]}, {"scores": ["bias"]}),
        ({"rating": [1, 2, 1, 2], "judge": ["ann", "ann", "ann", "ann"]}, {}),
        ({"Mean rank": [1, 2, 1, 2]}, {"columns": {"verdict": "Mean rank"}}),
        (ERRORS, {"scores": ["error_rate"], "judge": "human"}),
        ({"metric": ["toxicity"] * 4, "score": [0.1, 0.9, 0.1, 0.9]}, {}),
    ],
)
def test_the_note_on_directions_names_what_reverses_each(read, cells, options):
    before = read(cells, **options)
    after = read(cells, lowest_wins=turning(before), **options)
    assert sorted(set(after.arena.judgments["judge"])) == sorted(
        set(before.arena.judgments["judge"])
    )
    other = {"one": "two", "two": "one"}
    assert winners(after) == [other[winner] for winner in winners(before)]


def test_one_of_several_criteria_or_raters_in_a_column_can_be_turned(read):
    cells = {"rater": ["ann", "ann", "bob", "bob"], "rating": [1, 2, 1, 2]}
    columns = {"judge": "rater"}
    foreign = read(cells, columns=columns, lowest_wins=["bob"])
    assert sorted(winners(foreign)) == ["one", "two"]
    assert winners(read(cells, columns=columns, lowest_wins=["rating"])) == ["one", "one"]


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        (["speed", "pace"], r"lowest_wins` 'speed' is no score; the scores: error_rate"),
        (["tone"], r"'tone' holds no scores, which are numbers"),
        (["answer"], r"'answer' holds no scores"),
    ],
)
def test_directions_of_no_score_are_refused_with_the_scores_that_there_are(read, stated, message):
    cells = {**ERRORS, "tone": ["curt", "warm", "dry", "long"]}
    with pytest.raises(UsageError, match=message):
        read(cells, scores=["error_rate"], lowest_wins=stated)


def test_a_direction_without_any_score_is_refused(read):
    with pytest.raises(UsageError, match=r"'f1' is no score; the scores: none"):
        read({}, lowest_wins=["f1"])


@pytest.mark.parametrize("cells", [["4/5", "4", "3/5", "2"], ["80%", "70", "60%", "50"]])
@pytest.mark.parametrize("options", [{"scores": ["rating"]}, {"columns": {"verdict": "rating"}}])
def test_scores_on_two_scales_are_refused_by_row_and_column(read, cells, options):
    with pytest.raises(DataError) as error:
        read({"rating": cells}, **options)
    problems = error.value.problems
    assert [(problem.line, problem.value) for problem in problems] == [(3, cells[1]), (5, cells[3])]
    assert {problem.field for problem in problems} == {"rating"}


@pytest.mark.parametrize("cells", [["4/5", "3/5", "8/10", "0"], ["80%", "0.7", "0", "1"]])
def test_shares_of_one_are_on_one_scale(read, cells):
    assert len(winners(read({"rating": cells}, scores=["rating"]))) == 2
