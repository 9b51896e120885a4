"""Tables of other shapes: refused, with a command or lines that work."""

import re

import pandas as pd
import pytest

from arena import DataError, UsageError, import_arena
from surrogate_arena.importers import write_import
from surrogate_arena.importers.judgments import counted_judgments_of

QUESTIONS = ("When did the bridge open?", "Who designed the bridge?")
ANSWERS = ("It opened in 1932.", "J. Holt designed it.")


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def refusal(read, *arguments, **options):
    with pytest.raises((UsageError, DataError)) as refused:
        read(*arguments, **options)
    return str(refused.value)


def columns_shown(message):
    """Return the columns that a message says to name."""
    before = message.partition("; the columns are")[0]
    shown = re.findall(r"--column '?(\w+)=([^' ]+)", before)
    assert shown
    return dict(shown)


def wins(path, **options):
    table = counted_judgments_of(path, **options).table
    counted = {}
    for row in table.itertuples():
        winner = {"a": row.system_a, "b": row.system_b}.get(row.winner, "tie")
        counted[winner] = counted.get(winner, 0) + 1
    return counted


@pytest.mark.parametrize(
    ("header", "ties"),
    [
        ("row,col,win,loss", 0),
        ("player1,player2,won,lost", 0),
        ("model_a,model_b,wins,losses", 0),
        ("model_a,model_b,wins_a,wins_b,tie", 6),
    ],
)
def test_counts_of_wins_are_read_by_the_columns_that_are_shown(tmp_path, header, ties):
    rows = ["x,y,3,1,1", "x,z,4,0,2", "y,z,2,2,3"]
    path = written(
        tmp_path / "counts.csv",
        f"{header}\n"
        + "\n".join(",".join(row.split(",")[: header.count(",") + 1]) for row in rows),
    )
    columns = {}
    if "wins_a" not in header:
        columns = columns_shown(refusal(counted_judgments_of, path))
    counted = wins(path, columns=columns)
    assert counted.pop("tie", 0) == ties
    assert counted == {"x": 7, "y": 3, "z": 2}


def test_counts_that_stand_twice_are_refused_with_the_line_to_write(tmp_path):
    table = pd.DataFrame(
        {"a": ["x", "x", "y"], "b": ["y", "z", "z"], "won": [3, 4, 2], "lost": [1, 1, 2]}
    )
    other = {"a": table["b"], "b": table["a"], "won": table["lost"], "lost": table["won"]}
    both = pd.concat([table, pd.DataFrame(other)])
    path = tmp_path / "both.csv"
    both.to_csv(path, index=False)
    columns = {"system_a": "a", "system_b": "b", "wins_a": "won", "wins_b": "lost"}
    message = refusal(counted_judgments_of, path, columns=columns)
    line = message.partition("by pandas: ")[2].partition(". If")[0]
    eval(line, {"table": both}).to_csv(path, index=False)
    assert wins(path, columns=columns) == {"x": 7, "y": 3, "z": 3}


def test_a_matrix_is_sent_to_its_recipe(tmp_path):
    matrix = written(tmp_path / "wins.csv", ",x,y\nx,0,3\ny,2,0\n")
    assert "'A matrix of wins'" in refusal(counted_judgments_of, matrix)


def test_a_margin_shows_both_directions_of_its_scale(case):
    message = refusal(counted_judgments_of, case("arena", "14_signed_margin.csv"))
    assert "--column winner=overall_preference --values overall_preference:-3..3=a..b" in message
    assert "=b..a" in message


def test_the_shown_scale_of_margins_has_zero_in_its_middle(tmp_path):
    rows = "".join(f"q{n},x,y,{margin}\n" for n, margin in enumerate([2, -1, 0, 1, 0]))
    path = written(tmp_path / "b.csv", f"question,system_a,system_b,margin\n{rows}")
    assert "margin:-2..2=a..b if the scale has these ends" in refusal(counted_judgments_of, path)


def test_replies_beside_their_names_are_read_by_the_columns_that_are_shown(case):
    path = case("arena", "05_response_source_columns.jsonl")
    assert "use 'import lmarena'" in refusal(import_arena, "csv", [path])
    columns = columns_shown(refusal(import_arena, "lmarena", [path]))
    arena = import_arena("lmarena", [path], columns=columns, language="en").arena
    assert set(arena.info.systems) == {"Alpaca-7B", "WizardLM-7B"}
    assert all(arena.answers["answer"].str.endswith("words of an answer"))
    assert len(arena.answers) == 12


def test_one_side_alone_is_not_read_and_said(tmp_path):
    text = "model_a,model_b,winner,response_1\nx,y,a,So.\n"
    read = import_arena("lmarena", [written(tmp_path / "b.csv", text)], language="en")
    assert "'response_1' is not read" in set(read.skipped["reason"])


@pytest.mark.parametrize("name", ["11-bedrock-lite.jsonl", "17-argilla.json"])
@pytest.mark.parametrize("kind", ["csv", "lmarena"])
def test_records_within_records_are_sent_to_a_map(rag_case, name, kind):
    assert "--map FILE.toml" in refusal(import_arena, kind, [rag_case(name)])


def test_columns_of_pairs_are_refused_by_every_command(rag_case):
    path = rag_case("16-vs-columns.csv")
    assert "'A column per pair'" in refusal(counted_judgments_of, path)
    assert "import lmarena" in refusal(import_arena, "csv", [path])


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("model_a,model_b,winner,user_id", set()),
        ("left_model,right_model,chosen,rater", {"system_a", "system_b", "winner"}),
    ],
)
def test_votes_without_answers_are_sent_to_fit(tmp_path, header, shown):
    rows = ["x,y,left,u1", "x,y,left,u2", "y,x,right,u1", "z,x,left,u2", "z,y,tie,u1"]
    path = written(tmp_path / "votes.csv", "\n".join([header, *rows]))
    message = refusal(import_arena, "csv", [path])
    assert "fit FILE" in message
    assert refusal(import_arena, "langfuse", [path]) == message
    columns = columns_shown(message) if shown else {}
    assert columns.keys() == shown
    assert wins(path, columns=columns) == {"x": 3, "z": 1, "tie": 1}


def test_columns_that_may_hold_winners_are_named_with_their_values(tmp_path):
    header = "model_a,model_b,area,pick"
    unclear = "x,y,math,the left\ny,z,law,the right\nz,x,law,the left"
    message = refusal(counted_judgments_of, written(tmp_path / "1.csv", f"{header}\n{unclear}"))
    assert "may be in 'area' (math, law) or 'pick' (the left, the right);" in message
    clear = unclear.replace("the ", "")
    message = refusal(counted_judgments_of, written(tmp_path / "2.csv", f"{header}\n{clear}"))
    assert columns_shown(message) == {"winner": "pick"}


def test_a_path_in_place_of_a_kind_is_shown_behind_the_likeliest_one(rag_case, tmp_path):
    table = written(tmp_path / "votes.csv", "model_a,model_b,winner\nx,y,a")
    paths = {"phoenix": rag_case("12-phoenix-experiment.json"), "csv": table}
    for kind, path in paths.items():
        assert f"such as 'import {kind} {path}'" in refusal(import_arena, str(path), [])


def test_battles_of_unnamed_systems_are_refused_with_both_ways_on(tmp_path):
    rows = []
    for question, answer in zip(QUESTIONS, ANSWERS, strict=True):
        rows.append({"question": question, "answer_1": answer, "answer_2": f"{answer} So."})
    path = tmp_path / "sheet.csv"
    pd.DataFrame(rows).assign(better="1").to_csv(path, index=False)
    message = refusal(import_arena, "lmarena", [path])
    assert "system_a and system_b" in message
    arena = import_arena("csv", [path], columns=columns_shown(message)).arena
    assert set(arena.info.systems) == {"answer_1", "answer_2"}
    named = pd.DataFrame(rows).assign(better="1", system_a="x", system_b="y")
    named.to_csv(path, index=False)
    read = import_arena("lmarena", [path], columns={"winner": "better"}, values=["better:1=a"])
    assert set(read.arena.info.systems) == {"x", "y"}


def test_versions_in_columns_are_read_as_systems_by_the_columns_that_are_shown(tmp_path):
    table = pd.DataFrame({"question": QUESTIONS, "v1": ANSWERS, "v2": ANSWERS[::-1]})
    path = tmp_path / "versions.csv"
    table.to_csv(path, index=False)
    assert "--column answer=v1,v2 (and --verdicts" in refusal(import_arena, "csv", [path])
    table.assign(preferred=["v1", "v2", "both"][: len(table)]).to_csv(path, index=False)
    arena = import_arena("csv", [path], columns={"answer": "v1,v2"}, verdicts=path).arena
    assert set(arena.info.systems) == {"v1", "v2"}
    assert len(arena.judgments) == len(table)


def test_all_unknown_columns_are_suggested_at_once(tmp_path):
    rows = []
    for question, answer in zip(QUESTIONS, ANSWERS, strict=True):
        rows.append(
            {
                "inputs.query": question,
                "inputs.response": answer,
                "inputs.context": f"{answer} It is said.",
                "inputs.ground_truth": f"{answer} Yes.",
            }
        )
    path = tmp_path / "eval_results.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    columns = columns_shown(refusal(import_arena, "csv", [path]))
    queries = import_arena("csv", [path], columns=columns).arena.queries
    assert list(queries["reference"]) == [row["inputs.ground_truth"] for row in rows]
    texts = [passages[0]["text"] for passages in queries["passages"]]
    assert texts == [row["inputs.context"] for row in rows]


def test_a_table_of_versions_and_scores_has_no_answers(tmp_path):
    text = "version name,Faithfulness\nv1 (first try),0.5\nv2 (hybrid search),0.7\n"
    message = refusal(import_arena, "csv", [written(tmp_path / "scores.csv", text)])
    assert "answer=version" not in message


def test_a_path_that_is_shown_for_a_question_leads_to_texts_that_differ(tmp_path):
    rows = []
    for number, question in enumerate(QUESTIONS):
        variables = {"ai_count": str(number), "style": "plain words", "topic_of_user": question}
        rows.append({"vars": variables, "provider": "p", "response": {"output": ANSWERS[number]}})
    path = tmp_path / "results.json"
    pd.Series({"results": {"results": rows}}).to_json(path)
    columns = columns_shown(
        refusal(import_arena, "promptfoo", [path]).replace("; or", "; the columns are")
    )
    assert columns == {"question": "vars.topic_of_user"}
    arena = import_arena("promptfoo", [path], columns=columns).arena
    assert set(arena.queries["query"]) == set(QUESTIONS)


@pytest.mark.parametrize("command", ["add", "gate", "rank"])
def test_a_candidate_with_two_columns_of_answers_is_asked_about(
    run, rag_case, tmp_path, capsys, caplog, command
):
    stated = {"answer": "prediction", "reference": "answer"}
    write_import(
        import_arena("csv", [rag_case("01-gold-as-answer.jsonl")], columns=stated), tmp_path / "a"
    )
    candidate = rag_case("01-gold-candidate.jsonl")
    arguments = {
        "add": ("add", tmp_path / "a", candidate),
        "gate": ("gate", "--arena", tmp_path / "a", "--candidate", candidate),
        "rank": ("rank", candidate, "--board", tmp_path / "b", "--arena", tmp_path / "a"),
    }
    if command == "rank":
        assert run("board", tmp_path / "a", "--out", tmp_path / "b") == 0
    capsys.readouterr()
    assert run(*arguments[command]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--column answer=prediction" in said
    if command == "add":
        assert run(*arguments[command], "--column", "answer=prediction") == 0
        assert "answer: No idea." in caplog.text


def test_a_table_below_a_title_is_read_from_its_sheet(tmp_path):
    path = tmp_path / "book.xlsx"
    table = pd.DataFrame({"question": QUESTIONS, "answer": ANSWERS, "latency_s": [0.5, None]})
    with pd.ExcelWriter(path) as book:
        pd.DataFrame(["Run of March 2026", None, "by the team"]).to_excel(
            book, sheet_name="small", index=False, header=False
        )
        table.to_excel(book, sheet_name="small", index=False, startrow=4)
        pd.DataFrame(["nothing here"]).to_excel(book, sheet_name="about", header=False)
    read = import_arena("csv", [path])
    assert set(read.arena.answers["answer"]) == set(ANSWERS)
    assert "book.xlsx: the header is row 5 of sheet 'small'" in " ".join(read.notes)
    faulty = pd.DataFrame([["Run of March 2026", None], ["question", "answer"], [None, "So."]])
    faulty.to_excel(path, index=False, header=False)
    with pytest.raises(DataError) as refused:
        import_arena("csv", [path])
    assert refused.value.problems[0].line == 3
