"""Battles of any shape: read right, or refused with the one command that works."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared_data import shared_path
from table_files import write_table

from arena import DataError, UsageError, import_arena, read_arena, write_arena
from surrogate_arena.importers.judgments import counted_judgments_of, read_judgments


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def winners(path, **options):
    table = counted_judgments_of(path, **options).table
    return [
        row.system_a if row.winner == "a" else row.system_b if row.winner == "b" else "tie"
        for row in table.itertuples()
    ]


def battles(tmp_path, values, header="model_a,model_b,winner", suffix=""):
    lines = [f"x,y,{value}{suffix}" for value in values]
    return written(tmp_path / "battles.csv", "\n".join([header, *lines]) + "\n")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["model_a", "model_b", "tie", "tie (bothbad)"], ["x", "y", "tie", "tie"]),
        (["[[A]]", "[[B]]", "[[C]]"], ["x", "y", "tie"]),
        (["A>B", "B>>A", "A=B"], ["x", "y", "tie"]),
        (["x", "y", "tie"], ["x", "y", "tie"]),
        (["1", "0", "0.5"], ["x", "y", "tie"]),
        (["1", "2"], ["x", "y"]),
        (["1", "-1", "0"], ["x", "y", "tie"]),
    ],
)
def test_winners_in_words_names_and_numbers(tmp_path, values, expected):
    assert winners(battles(tmp_path, values)) == expected


def test_what_was_assumed_of_numbers_is_said_with_the_other_reading(case):
    path = case("arena", "07_zero_means_first.csv")
    with pytest.raises(UsageError, match="--column winner=human_pref"):
        counted_judgments_of(path)
    columns = {"winner": "human_pref"}
    read = counted_judgments_of(path, columns=columns)
    [assumed] = [note for note in read.understood if "--values human_pref:" in note]
    stated = assumed.partition("--values ")[2]
    other = winners(path, columns=columns, values=[stated])
    first = winners(path, columns=columns)
    assert all(a != b or a == "tie" for a, b in zip(first, other, strict=True))


def test_the_first_battle_is_shown_with_who_won(tmp_path):
    read = counted_judgments_of(battles(tmp_path, ["0", "1"]))
    assert read.understood[-1] == "the first battle: x against y, y wins"


def test_numbers_that_may_mean_several_things_are_refused_and_can_be_stated(case):
    path = case("rag", "20-winner-012.csv")
    with pytest.raises(DataError, match="--values winner:0=") as refused:
        counted_judgments_of(path)
    assert refused.value.problems[0].line == 6
    assert winners(path, values=["winner:0=a,1=b,2=tie"])[:3] == ["alpha", "alpha", "beta"]
    path = case("arena", "14_signed_margin.csv")
    columns = {"winner": "overall_preference"}
    with pytest.raises(DataError, match="--values"):
        counted_judgments_of(path, columns=columns)
    values = ["overall_preference:-3..3=a..b"]
    assert winners(path, columns=columns, values=values)[:3] == ["x", "x", "tie"]


def test_a_name_that_is_a_word_for_a_side_is_refused(tmp_path):
    rows = "model_a,model_b,winner\nb,a,a\na,b,a\n"
    with pytest.raises(DataError, match="--values winner:a=a"):
        counted_judgments_of(written(tmp_path / "b.csv", rows))
    values = ["winner:a=a,b=b"]
    assert winners(tmp_path / "b.csv", values=values) == ["b", "a"]


def test_a_question_is_known_by_its_id_or_its_text(case):
    read = counted_judgments_of(case("rag", "05-battles-question-text.csv"))
    assert read.table["query_id"].nunique() == 3
    arena = import_arena("lmarena", case("rag", "05-battles-question-text.csv")).arena
    assert set(arena.queries["query"]) >= {"When did the bridge open?"}
    assert (
        counted_judgments_of(case("arena", "13_question_text_no_id.csv"))
        .table["query_id"]
        .nunique()
        == 8
    )


def test_both_orders_of_a_pair_are_seen_on_one_question(run, case, capsys):
    path = case("rag", "05-battles-question-text.csv")
    assert run("fit", path) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "of 6 pairs judged in both orders, 3 flip" in said


def test_counts_and_losers_have_no_sides(case):
    counts = counted_judgments_of(case("arena", "01_counts_sides.csv")).table
    assert (len(counts), counts["query_id"].nunique()) == (300, 300)
    losers = counted_judgments_of(case("arena", "02_winner_loser_names.csv")).table
    assert len(losers) == 60
    assert set(counts["sides"]) == set(losers["sides"]) == {"none"}
    # Whichever is first by name stands first.
    assert (losers["system_a"].astype(str) < losers["system_b"].astype(str)).all()
    named = set(zip(losers["system_a"], losers["system_b"], losers["winner"], strict=True))
    beaten = {(a, b) if winner == "a" else (b, a) for a, b, winner in named}
    frame = pd.read_csv(case("arena", "02_winner_loser_names.csv"))
    assert beaten == set(zip(frame["winner"], frame["loser"], strict=True))


def test_ties_stand_in_a_column_of_their_own(case):
    path = case("arena", "08_comparia_votes.jsonl")
    with pytest.raises(UsageError, match="--column winner=chosen_model_name"):
        counted_judgments_of(path)
    found = winners(path, columns={"winner": "chosen_model_name"})
    assert 0 < found.count("tie") < len(found)


def test_a_later_vote_of_a_person_replaces_the_earlier_whatever_the_sides(tmp_path):
    text = "question_id,model_a,model_b,winner,voter\n1,x,y,a,ann\n1,y,x,a,ann\n1,x,y,a,bob\n"
    read = counted_judgments_of(written(tmp_path / "b.csv", text))
    assert winners(tmp_path / "b.csv") == ["y", "x"]
    assert read.skipped["count"].sum() == 1
    judged = text.replace("voter", "judge")
    assert len(counted_judgments_of(written(tmp_path / "b.csv", judged)).table) == 3


def test_copies_by_a_named_judge_count_once_and_repeats_are_kept(tmp_path):
    head = "question_id,model_a,model_b,winner,judge,time\n"
    path = written(tmp_path / "b.csv", f"{head}1,x,y,a,gpt,1\n1,x,y,a,gpt,1\n1,x,y,a,gpt,2\n")
    read = counted_judgments_of(path)
    assert len(read.table) == 2
    assert read.table["repeat"].notna().sum() == 1


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_every_fault_names_its_line(tmp_path, suffix):
    frame = pd.DataFrame(
        {
            "model_a": ["x", "x", None, "x"],
            "model_b": ["y", "x", "y", "y"],
            "winner": ["a", "a", "a", "perhaps"],
        }
    )
    path = tmp_path / f"b{suffix}"
    write_table(frame, path)
    with pytest.raises(DataError) as refused:
        counted_judgments_of(path)
    first = 2 if suffix == ".csv" else 1
    places = {(problem.line - first, problem.field) for problem in refused.value.problems}
    assert places == {(1, "model_b"), (2, "model_a"), (3, "winner")}


def test_lines_count_through_quoted_line_ends(tmp_path):
    text = 'model_a,model_b,winner,note\nx,y,a,"two\nlines"\nx,y,perhaps,\n'
    with pytest.raises(DataError) as refused:
        counted_judgments_of(written(tmp_path / "b.csv", text))
    assert refused.value.problems[0].line == 4


def test_soft_preferences_are_probabilities(tmp_path):
    path = battles(tmp_path, [1.25, 1.9], "generator_1,generator_2,preference")
    table = read_judgments(path)
    assert table["probability_b"].tolist() == pytest.approx([0.25, 0.9])
    assert table["winner"].tolist() == ["a", "b"]


def test_a_file_in_our_own_form_is_read_as_it_was(tmp_path):
    text = (
        "query_id,language,system_a,system_b,winner,judge,probability_a,probability_b\n"
        "q,en,x,y,a,gpt,0.7,0.2\n"
    )
    [row] = read_judgments(written(tmp_path / "b.csv", text)).to_dict(orient="records")
    assert (row["judge"], row["language"]) == ("gpt", "en")
    assert (row["probability_a"], row["probability_b"]) == (0.7, 0.2)


@given(data=st.data())
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_of_rows_and_columns_changes_nothing(data, tmp_path):
    random = np.random.default_rng(0)
    pairs = [random.choice(["x", "y", "z"], 2, replace=False) for _ in range(12)]
    frame = pd.DataFrame(pairs, columns=["model_a", "model_b"])
    frame["winner"] = random.choice(["model_a", "model_b", "tie"], 12)
    frame["question_id"] = [f"q{number % 4}" for number in range(12)]
    frame["note"] = data.draw(st.sampled_from(["", "7", "model_a", "x"]))
    order = data.draw(st.permutations(range(12)))
    columns = data.draw(st.permutations(list(frame)))
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    frame.to_csv(first, index=False)
    frame.iloc[order][columns].to_csv(second, index=False)
    by = ["query_id", "system_a", "system_b", "winner"]
    tables = [read_judgments(path)[by].sort_values(by) for path in (first, second)]
    assert tables[0].to_numpy().tolist() == tables[1].to_numpy().tolist()


def test_verdicts_without_a_language_are_in_that_of_their_questions(bilingual_arena, tmp_path):
    questions, verdicts = (
        table.assign(query_id=table["query_id"] + table["language"])
        for table in (bilingual_arena.queries, bilingual_arena.judgments)
    )
    path = tmp_path / "verdicts.csv"
    verdicts.drop(columns="language").to_csv(path, index=False)
    read = read_judgments(path, questions)
    pd.testing.assert_frame_equal(read[verdicts.columns], verdicts, check_dtype=False)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".csv.gz"])
def test_real_battles_are_read_alike_in_every_format(tmp_path, suffix):
    frame = pd.read_csv(shared_path("data/battles/wmt16-fin-eng.csv.gz"), dtype=str)
    path = tmp_path / f"battles{suffix}"
    write_table(frame, path)
    read = read_judgments(path)
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    assert set(read["system_a"]) == set(frame["system_a"])
    copies = frame.duplicated().sum()
    assert len(read) == len(frame) - copies
    assert read[columns].drop_duplicates().shape == frame[columns].drop_duplicates().shape


ROUNDS = [("s1", "s2", "left is better"), ("s2", "s3", "right is better"), ("s3", "s1", "equal")]


@pytest.mark.parametrize(
    ("header", "option"),
    [
        ("left_model,right_model,preference", "system_a=left_model --column system_b=right_model"),
        ("player1,player2,result", "system_a=player1 --column system_b=player2"),
    ],
)
def test_sides_and_values_are_suggested_at_once(tmp_path, header, option):
    rows = [",".join(row) for row in ROUNDS * 4]
    path = written(tmp_path / "battles.csv", "\n".join([header, *rows]))
    with pytest.raises(UsageError) as refused:
        winners(path)
    first, second, last = header.split(",")
    assert f"--column {option}" in str(refused.value)
    assert f"--values '{last}:left is better=...,right is better=...,equal=...'" in str(
        refused.value
    )
    columns = {"system_a": first, "system_b": second, "winner": last}
    values = [f"{last}:left is better=a,right is better=b,equal=tie"]
    assert winners(path, columns=columns, values=values)[:3] == ["s1", "s3", "tie"]


def test_chosen_and_rejected_are_suggested_as_winner_and_loser(tmp_path):
    header = "prompt,chosen,rejected,chosen_model,rejected_model"
    rows = [f"Why {n}?,It is so {n}.,No {n}.,s1,s2" for n in range(4)]
    path = written(tmp_path / "battles.csv", "\n".join([header, *rows]))
    with pytest.raises(UsageError, match="winner=chosen_model --column loser=rejected_model"):
        winners(path)
    columns = {"winner": "chosen_model", "loser": "rejected_model"}
    assert winners(path, columns=columns) == ["s1"] * 4


def test_battles_without_a_header_are_refused(tmp_path):
    path = written(tmp_path / "battles.csv", "s1,s2,a\ns1,s3,b\ns2,s3,a\n")
    with pytest.raises(UsageError, match="begins with the names of its columns"):
        winners(path)


def test_the_first_battle_is_shown_with_its_question_and_answers(tmp_path):
    header = "question,model_a,model_b,answer_a,answer_b,winner"
    path = written(tmp_path / "battles.csv", f"{header}\nWhen?,x,y,In 1932.,Never.,a\n")
    for options in ({"language": "en"}, {}):
        shown = import_arena("lmarena", [path], **options).shown
        assert "question: When?" in shown
        assert "answer_b: Never." in shown


def test_the_language_of_battles_is_detected_where_they_have_a_text(tmp_path):
    rows = [
        '"When was the old bridge opened to traffic?",x,y,a',
        '"Wann wurde die alte Brücke für den Verkehr geöffnet?",x,y,b',
    ]
    path = written(tmp_path / "battles.csv", "\n".join(["question,model_a,model_b,winner", *rows]))
    read = import_arena("lmarena", [path])
    assert read.arena.info.languages == ("de", "en")
    assert any("detected" in note for note in read.notes)
    assert import_arena("lmarena", [path], language="en").arena.info.languages == ("en",)
    path = battles(tmp_path, ["a", "b"])
    assert import_arena("lmarena", [path]).arena.info.languages == ("und",)


def test_a_question_with_two_texts_is_counted(tmp_path):
    text = "query_id,question,model_a,model_b,winner\n1,Why?,x,y,a\n1,Who?,x,y,b\n"
    read = import_arena("lmarena", [written(tmp_path / "b.csv", text)], language="en")
    assert "its text differs from that of the same question before" in set(read.skipped["reason"])
    assert len(read.arena.judgments) == 2


def _wide(folder, frame):
    path = folder / "wide.csv"
    frame.to_csv(path, index=False)
    return path


def test_columns_of_ranks_are_not_suggested_as_systems(tmp_path):
    path = tmp_path / "ranks.csv"
    pd.DataFrame({"text": ["p", "q"], "rank_a": [1, 2], "rank_b": [2, 1]}).to_csv(path, index=False)
    with pytest.raises(UsageError) as refused:
        read_judgments(path)
    assert "rank_a" not in str(refused.value).partition("the columns are")[0]


def test_a_column_of_texts_is_suggested_as_the_question(tmp_path):
    rows = [f"Where is bridge {n % 2}?,x,y,a" for n in range(6)]
    path = written(tmp_path / "tasks.csv", "\n".join(["task,model_a,model_b,winner", *rows]))
    notes = import_arena("lmarena", [path], language="en").notes
    assert any("--column question=task" in note for note in notes)
    columns = {"question": "task"}
    assert len(import_arena("lmarena", [path], language="en", columns=columns).arena.queries) == 2


def test_sides_numbered_0_and_1_win_by_their_numbers(tmp_path):
    rows = ["When?,small,large,0", "Who?,small,large,1"]
    header = "prompt,reply_0_source,reply_1_source,better_reply_id"
    path = written(tmp_path / "numbered.csv", "\n".join([header, *rows * 2]))
    with pytest.raises(UsageError, match="winner=better_reply_id"):
        winners(path)
    columns = {"system_a": "reply_0_source", "system_b": "reply_1_source"}
    assert winners(path, columns={**columns, "winner": "better_reply_id"})[:2] == ["small", "large"]


def test_a_column_that_the_header_has_twice_is_refused(tmp_path):
    path = battles(tmp_path, ["x", "y"], header="model_a,model_b,winner,winner", suffix=",tie")
    with pytest.raises(DataError, match=r"winner.*several times in the header"):
        counted_judgments_of(path)


def test_categories_counts_and_times_of_battles_are_columns_of_the_arena(tmp_path):
    table = pd.DataFrame({"question": [f"What is {n}?" for n in range(4)], "winner": list("abab")})
    table = table.assign(
        model_a="x", model_b="y", category=["law", "food"] * 2, tokens_a=[5, 6, 7, 8]
    )
    table["asked"] = pd.date_range("2025-01-01", periods=4)
    table["seconds"] = [1.5, np.inf, np.nan, 2.5]
    table["client"] = [{"country": "de", "since": date(2024, 5, 1)}] * 4
    table["thoughts"] = "A long text of what the voter thought. " * 3
    path = tmp_path / "battles.parquet"
    table.to_parquet(path)
    read = import_arena("lmarena", [path])
    write_arena(read.arena, tmp_path / "arena")
    judgments = read_arena(tmp_path / "arena").judgments
    assert judgments["category"].tolist() == ["law", "food"] * 2
    assert judgments["tokens_a"].tolist() == [5, 6, 7, 8]
    assert judgments["asked"].iloc[1] == "2025-01-02T00:00:00"
    assert judgments["seconds"].fillna(-1).tolist() == [1.5, -1, -1, 2.5]
    assert judgments["client"].iloc[0] == {"country": "de", "since": "2024-05-01"}
    assert read.skipped["reason"].tolist() == ["'thoughts' is not read"]


def test_an_arena_of_votes_that_were_mostly_replaced_is_read(tmp_path):
    table = pd.DataFrame({"question": ["When?"] * 4, "winner": ["a", "a", "a", "b"]})
    path = tmp_path / "votes.csv"
    table.assign(model_a="x", model_b="y", voter="u1").to_csv(path, index=False)
    read = import_arena("lmarena", [path], language="en")
    assert read.arena.judgments["winner"].tolist() == ["b"]
    assert read.skipped["count"].tolist() == [3]


@pytest.mark.parametrize(
    ("header", "row", "fault"),
    [("tie", "x,y,,maybe", "neither true nor false"), ("weight", "x,y,a,much", "not a weight")],
)
def test_an_unclear_cell_is_one_fault_with_its_line(tmp_path, header, row, fault):
    text = f"model_a,model_b,winner,{header}\nx,y,a,1\n{row}\n"
    with pytest.raises(DataError, match=fault) as refused:
        counted_judgments_of(written(tmp_path / "b.csv", text))
    assert [problem.line for problem in refused.value.problems] == [3]


def test_the_line_that_names_the_delimiter_for_excel_is_no_header(tmp_path):
    path = written(tmp_path / "b.csv", "sep=;\nwinner;loser\nx;y\ny;x\n")
    assert winners(path) == ["x", "y"]
