"""What tools log, in the manners that they write it: JSON text, indices, arguments, scores."""

import gzip
import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import DataError, UsageError, import_arena
from surrogate_arena.cli.app import main
from surrogate_arena.importers.contract import value_at
from surrogate_arena.importers.opened import opened_value
from surrogate_arena.importers.tool_fields import text_of
from surrogate_arena.importers.values import unquoted

QUESTION = "How deep is the lake?"
ANSWERS = ("It is 40 m deep.", "About 45 m.")
PASSAGES = ["The lake is 40 m deep.", "Pikes live in it."]


def traces(question, answers, **more):
    """Return one trace for each answer; ``more`` has a value for each."""
    return [
        {"id": f"t{n}", "release": f"v{n}", "input": question, "output": answer}
        | {name: values[n] for name, values in more.items()}
        for n, answer in enumerate(answers)
    ]


def written(folder, rows, ending=".json"):
    path = folder / f"traces{ending}"
    if ending == ".json":
        path.write_text(json.dumps(rows))
    elif ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif ending == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        pd.DataFrame(rows).to_parquet(path)
    return path


def read_of(folder, rows, ending=".json", kind="langfuse", **options):
    return import_arena(kind, [written(folder, rows, ending)], **options)


def texts(read):
    answers = read.arena.answers.sort_values("system")["answer"]
    return list(read.arena.queries["query"]), list(answers)


def skipped(read):
    return dict(zip(read.skipped["reason"], read.skipped["count"], strict=True))


def winners(read, judge):
    rows = read.arena.judgments.to_dict(orient="records")
    named = [row for row in rows if row["judge"] == judge]
    return [None if row["winner"] == "tie" else row[f"system_{row['winner']}"] for row in named]


def json_text(value, times=1):
    for _ in range(times):
        value = json.dumps(value)
    return value


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".csv", ".parquet"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_json_text_is_opened_wherever_it_stands(tmp_path, ending, times):
    answers = [{"answer": text, "contexts": json_text(PASSAGES)} for text in ANSWERS]
    rows = traces(json_text({"question": QUESTION}, times), [json_text(a, times) for a in answers])
    read = read_of(tmp_path, rows, ending)
    assert texts(read) == ([QUESTION], list(ANSWERS))
    assert [passage["text"] for passage in read.arena.queries["passages"][0]] == PASSAGES


@pytest.mark.parametrize(
    "answer", ['{"depth": 40, "unit": "m"}', '{"depth": "40 m"}', '["40", "m"]']
)
def test_an_answer_in_json_is_left_out_unless_its_path_is_stated(tmp_path, answer):
    rows = traces({"question": QUESTION}, [answer, ANSWERS[0]])
    assert texts(read_of(tmp_path, rows))[1] == [ANSWERS[0]]
    stated = read_of(tmp_path, rows, columns={"answer": "output"})
    assert texts(stated)[1] == [answer, ANSWERS[0]]


def test_records_that_hold_the_answer_elsewhere_are_read(tmp_path):
    rows = traces({"question": QUESTION}, [{"answer": ANSWERS[0]}, ANSWERS[1]])
    read = read_of(tmp_path, rows)
    assert texts(read)[1] == list(ANSWERS)
    assert "answer from 'output.answer' or 'output'" in read.arena.info.note


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "times"),
    [
        *((".json", times) for times in [(1, 1), (0, 1), (1, 0), (3, 2)]),
        *((ending, (0, 1)) for ending in (".jsonl", ".csv", ".parquet")),
    ],
)
def test_quoted_texts_lose_their_quotes_also_beside_plain_ones(tmp_path, ending, times):
    answers = [json_text(text, n) for text, n in zip(ANSWERS, times, strict=True)]
    rows = traces(QUESTION, answers)
    for row, n in zip(rows, times, strict=True):
        row["input"] = json_text(QUESTION, n)
    assert texts(read_of(tmp_path, rows, ending)) == ([QUESTION], list(ANSWERS))


@pytest.mark.parametrize("text", ['"40 m" or "45 m"', '"', '""', '"40 m', 'It says "40 m"'])
def test_other_quotes_are_the_text(tmp_path, text):
    rows = traces(QUESTION, [text, ANSWERS[0]])
    assert texts(read_of(tmp_path, rows))[1] == [text, ANSWERS[0]]


@given(text=st.text(min_size=1).filter(lambda text: text.strip()), times=st.integers(1, 4))
@settings(max_examples=50)
def test_any_text_is_as_before_it_was_quoted(text, times):
    assert unquoted(json_text(text, times)) == unquoted(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"args": [{"question": QUESTION}], "kwargs": {}}, {"args": [QUESTION], "kwargs": {}}),
        ({"args": [], "kwargs": {"question": QUESTION}}, {"args": [QUESTION], "kwargs": {}}),
        (
            {"args": [], "kwargs": json_text({"body": {"query": QUESTION}})},
            json_text({"args": [4, {"query": QUESTION, "text": "No."}], "kwargs": {}}),
        ),
        ({"question": QUESTION}, {"args": ["session", {"question": QUESTION}], "kwargs": {}}),
    ],
)
@pytest.mark.parametrize("ending", [".json", ".jsonl", ".csv"])
def test_arguments_of_calls_are_read_in_each_manner(tmp_path, first, second, ending):
    rows = traces(None, ANSWERS)
    rows[0]["input"], rows[1]["input"] = first, second
    if ending == ".csv":
        for row in rows:
            row["input"] = json_text(row["input"])
    assert texts(read_of(tmp_path, rows, ending)) == ([QUESTION], list(ANSWERS))


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("is_record", [True, False])
def test_turns_among_the_arguments_of_a_call_are_the_history(tmp_path, is_named, is_record):
    turns = [("user", "Hello"), ("assistant", "Yes?"), ("user", QUESTION)]
    messages = [{"role": role, "content": text} for role, text in turns]
    value = {"messages": messages} if is_record else messages
    call = {"args": [], "kwargs": {"body": value, "k": 4}}
    if not is_named:
        call = {"args": [value, "session"], "kwargs": {}}
    rows = traces(call, ANSWERS)
    if not is_named and not is_record:
        call["args"] = [value]
    read = read_of(tmp_path, rows)
    assert texts(read) == ([QUESTION], list(ANSWERS))
    assert read.arena.queries["history"][0] == messages[:-1]


REPLY = {"role": "assistant", "content": ANSWERS[1]}


@pytest.mark.parametrize(
    "output",
    [
        ANSWERS[1],
        {"messages": [{"role": "user", "content": QUESTION}, REPLY]},
        {"generations": [[{"text": ANSWERS[1]}]]},
        {"choices": [{"message": REPLY}]},
        {"response": ANSWERS[1]},
    ],
)
def test_records_of_two_shapes_are_read_together(tmp_path, output):
    rows = traces({"question": QUESTION}, [{"output": ANSWERS[0]}, output])
    assert texts(read_of(tmp_path, rows))[1] == list(ANSWERS)


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_record_of_something_else_is_no_answer(tmp_path, times):
    error = json_text({"error": "timed out"}, times)
    rows = traces({"question": QUESTION}, [{"answer": ANSWERS[0]}, error])
    assert texts(read_of(tmp_path, rows))[1] == [ANSWERS[0]]


@pytest.mark.parametrize("name", ["sources", "documents", "docs"])
def test_passages_of_each_record_are_read_by_their_name(tmp_path, name):
    outputs = [{"answer": text} for text in ANSWERS]
    outputs[0]["contexts"] = PASSAGES
    outputs[1][name] = json_text(PASSAGES)
    passages = read_of(tmp_path, traces(QUESTION, outputs)).arena.queries["passages"][0]
    # They are those of both answers, or they would be the answers' own.
    assert [passage["text"] for passage in passages] == PASSAGES


def test_no_other_name_stands_for_a_missing_system(tmp_path):
    rows = traces(QUESTION, ANSWERS, name=["app", "app"])
    del rows[1]["release"]
    read = read_of(tmp_path, rows)
    assert read.arena.info.systems == ("v0",)
    assert sum(skipped(read).values()) == 1


@pytest.mark.parametrize("ending", [".json", ".csv", ".parquet"])
@pytest.mark.parametrize(
    "values", [(0.5, 0.25), (True, False), (1, 0), ("0.5", "0.25"), ("good", "bad")]
)
def test_numbers_beside_the_scores_are_counted_and_read_if_named(tmp_path, ending, values):
    rows = traces(QUESTION, ANSWERS, right=values, latency=[0.1, 0.2], note=["polite", "rude"])
    read = read_of(tmp_path, rows, ending)
    (reason,) = skipped(read)
    assert "'right'" in reason
    assert skipped(read) == {reason: 2}
    named = read_of(tmp_path, rows, ending, scores=["right"])
    assert winners(named, "right") == ["v0"]
    assert not skipped(named)


@pytest.mark.parametrize(
    "outputs",
    [
        [[{"page_content": PASSAGES[0]}, {"page_content": PASSAGES[1]}]],
        [PASSAGES],
        [{"documents": PASSAGES}],
        [[PASSAGES[0]], [{"text": PASSAGES[1]}]],
        [json_text(PASSAGES)],
    ],
)
def test_what_retrievers_within_a_trace_found_are_passages(tmp_path, outputs):
    observations = [{"type": "RETRIEVER", "output": output} for output in outputs]
    observations.append({"type": "GENERATION", "output": "40 m"})
    rows = traces(QUESTION, ANSWERS, observations=[observations, json_text(observations)])
    passages = read_of(tmp_path, rows).arena.queries["passages"][0]
    assert [passage["text"] for passage in passages] == PASSAGES


@pytest.mark.parametrize("ending", [".json", ".csv"])
@pytest.mark.parametrize("order", [1, -1])
def test_retrievers_in_a_table_of_observations_are_no_answers(tmp_path, ending, order):
    rows = []
    for row in traces(QUESTION, ANSWERS):
        documents = json_text([{"page_content": text} for text in PASSAGES])
        retriever = {"id": f"{row['id']}-r", "type": "RETRIEVER", "output": documents}
        rows.append({**row, **retriever, "traceId": row["id"]})
        rows.append({**row, "id": f"{row['id']}-g", "type": "GENERATION", "traceId": row["id"]})
    read = read_of(tmp_path, rows[::order], ending)
    assert texts(read) == ([QUESTION], list(ANSWERS))
    assert [passage["text"] for passage in read.arena.queries["passages"][0]] == PASSAGES
    assert not skipped(read)


@pytest.mark.parametrize(
    "contexts",
    [
        "|".join(PASSAGES),
        json_text(PASSAGES),
        [{"context": text, "source": "a"} for text in PASSAGES],
    ],
)
def test_contexts_of_deepeval_are_passages_in_each_manner(tmp_path, contexts):
    row = {"input": QUESTION, "actual_output": ANSWERS[0], "retrieval_context": contexts}
    ending = ".csv" if isinstance(contexts, str) else ".json"
    read = read_of(tmp_path, [row], ending, kind="deepeval")
    assert [passage["text"] for passage in read.arena.queries["passages"][0]] == PASSAGES


@pytest.mark.parametrize("text", ["The lake is deep; pikes live in it.", "Pike&amp;perch."])
def test_a_semicolon_in_a_sentence_parts_no_passages(tmp_path, text):
    row = {"input": QUESTION, "actual_output": ANSWERS[0], "retrieval_context": text}
    read = read_of(tmp_path, [row], ".csv", kind="deepeval")
    assert [passage["text"] for passage in read.arena.queries["passages"][0]] == [text]


def inspect_log(folder, model, task_args, questions, dataset="lakes"):
    samples = [
        {"id": n, "epoch": 1, "input": question, "output": {"completion": f"{model} {question}"}}
        for n, question in enumerate(questions)
    ]
    run = {"task": "qa", "model": model, "dataset": {"name": dataset}, "task_args": task_args}
    name = f"{model}_{'_'.join(map(str, task_args.values()))}.json"
    (folder / name).write_text(json.dumps({"eval": run, "samples": samples}))


@pytest.mark.parametrize("dataset", ["lakes", None])
def test_a_task_run_with_other_arguments_has_other_questions(tmp_path, dataset):
    by_language = {
        "en": ["How deep?", "How wide?"],
        "fr": ["Quelle profondeur ?", "Quelle largeur ?"],
    }
    for model in ("m", "n"):
        for language, questions in by_language.items():
            task_args = {"a_seed": f"{model}-{language}", "lang": language}
            inspect_log(tmp_path, model, task_args, questions, dataset)
    read = import_arena("inspect", [tmp_path])
    assert sorted(read.arena.queries["query"]) == sorted(by_language["en"] + by_language["fr"])
    assert len(read.arena.answers) == 8
    assert not skipped(read)


def test_arguments_of_a_system_part_no_questions(tmp_path):
    for model in ("m", "n"):
        inspect_log(tmp_path, model, {"solver": model}, ["How deep?"])
    read = import_arena("inspect", [tmp_path])
    assert len(read.arena.queries) == 1
    assert len(read.arena.answers) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            [{"name": "right", "value": 1}, {"name": "right", "value": 0}],
            [{"name": "right", "value": 0.4}],
        ),
        ({"right": [1, 0]}, {"right": [0.4, 0.4]}),
        ({"right": "[1, 0]"}, {"right": "[0.4]"}),
        (
            json_text([{"name": "right", "value": 1}, {"name": "right", "value": 0}]),
            json_text([{"name": "right", "value": 0.4}]),
        ),
        (
            [{"name": "right", "value": True}, {"name": "right", "value": False}],
            {"right": {"value": 0.4, "dataType": "NUMERIC"}},
        ),
    ],
)
def test_several_values_of_a_score_count_by_their_mean(tmp_path, first, second):
    read = read_of(tmp_path, traces(QUESTION, ANSWERS, scores=[first, second]))
    assert winners(read, "right") == ["v0"]  # 0.5 over 0.4


def test_a_missing_value_of_a_score_is_counted_and_the_others_are_read(tmp_path):
    rows = traces(QUESTION, ANSWERS, scores=[{"right": [1, None]}, {"right": [0.9]}])
    read = read_of(tmp_path, rows)
    assert winners(read, "right") == ["v0"]
    assert skipped(read) == {"'right' is missing": 1}


def test_equal_means_are_a_tie_however_many_values_they_have(tmp_path):
    rows = traces(QUESTION, ANSWERS, scores=[{"right": [0.1, 0.1, 0.1]}, {"right": 0.1}])
    assert winners(read_of(tmp_path, rows), "right") == [None]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            {"value": 0, "stringValue": "polite", "dataType": "CATEGORICAL"},
            {"value": 0, "stringValue": "rude", "dataType": "CATEGORICAL"},
        ),
        ({"value": 0, "stringValue": "polite"}, {"value": None, "stringValue": "rude"}),
        ({"value": "polite", "dataType": "TEXT"}, {"value": "1", "data_type": "CATEGORICAL"}),
    ],
)
def test_categories_are_no_ties_but_left_out_and_counted(tmp_path, first, second):
    scores = [[{"name": "tone", **score}] for score in (first, second)]
    read = read_of(tmp_path, traces(QUESTION, ANSWERS, scores=scores))
    assert read.arena.judgments.empty
    assert skipped(read) == {"'tone' is a category, not a number": 2}
    assert "Scores: none" in read.arena.info.note


def test_truth_values_are_read_and_a_grade_is_no_word_of_inspects(tmp_path):
    scores = [
        [
            {"name": "ok", "value": value, "stringValue": text, "dataType": "BOOLEAN"},
            {"name": "grade", "value": grade},
        ]
        for value, text, grade in ((0, "False", "C"), (1, "True", "A"))
    ]
    read = read_of(tmp_path, traces(QUESTION, ANSWERS, scores=scores))
    assert winners(read, "ok") == ["v1"]
    assert winners(read, "grade") == []


def test_labels_up_and_down_count_where_the_number_beside_them_is_a_filler(tmp_path):
    scores = [[{"name": "thumb", "value": 0, "stringValue": word}] for word in ("down", "up")]
    read = read_of(tmp_path, traces(QUESTION, ANSWERS, scores=scores))
    assert winners(read, "thumb") == ["v1"]


def test_columns_of_labels_are_counted(tmp_path):
    more = {"tone": ['["polite"]', '["rude"]'], "tags": ['["a"]', "[]"], "right": ["[1.0]", "[0]"]}
    read = read_of(tmp_path, traces(QUESTION, ANSWERS, **more), ".csv")
    assert read.arena.judges == ("right",)
    assert skipped(read) == {"'tone' is a category, not a number": 2}


def test_a_context_that_holds_no_passages_is_passed_over(tmp_path):
    logged = {"question": QUESTION, "context": {"tenant": 5}, "documents": PASSAGES}
    read = read_of(tmp_path, traces(logged, ANSWERS))
    assert [passage["text"] for passage in read.arena.queries["passages"][0]] == PASSAGES
    with pytest.raises(DataError):
        read_of(tmp_path, traces(logged, ANSWERS), columns={"passages": "input.context"})


def test_passages_that_cannot_be_read_are_counted(tmp_path):
    logged = {"question": QUESTION, "documents": "[<Document object at 0x7f0c>]"}
    read = read_of(tmp_path, traces(logged, ANSWERS))
    assert skipped(read) == {"'input.documents' holds none that can be read": 2}


def test_why_no_record_is_left_is_said(tmp_path):
    with pytest.raises(UsageError, match="its call failed: 2"):
        read_of(tmp_path, traces(QUESTION, ANSWERS, level=["ERROR", "ERROR"]))


def test_scores_that_are_mere_ids_are_counted(tmp_path):
    read = read_of(tmp_path, traces(QUESTION, ANSWERS, scores=[["s1", "s2"], ["s3"]]))
    assert skipped(read) == {"it has no name": 3}


@pytest.mark.parametrize("name", ["traces.json", "traces.ndjson", "traces.json.gz"])
def test_objects_one_a_line_are_read_whatever_the_ending(tmp_path, name):
    rows = traces({"question": QUESTION}, ANSWERS)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    assert texts(import_arena("langfuse", [tmp_path])) == ([QUESTION], list(ANSWERS))


@pytest.mark.parametrize("metric", ["hallucination", "Toxicity"])
def test_the_lower_score_of_a_known_fault_wins_in_every_tool(tmp_path, metric):
    langfuse = traces(QUESTION, ANSWERS)
    for row, score in zip(langfuse, (0.2, 0.7), strict=True):
        row["scores"] = [{"name": metric, "value": score}]
    read = read_of(tmp_path, langfuse)
    assert winners(read, metric) == ["v0"]
    assert f"{metric} (the lowest wins)" in " ".join(read.notes)
    turned = read_of(tmp_path, langfuse, lowest_wins=[f"{metric}=no"])
    assert winners(turned, metric) == ["v1"]
    with pytest.raises(UsageError, match=f"unknown score 'tone'; use one of {metric}"):
        read_of(tmp_path, langfuse, lowest_wins=["tone"])


def test_langsmith_counts_categories_too(tmp_path):
    rows = [
        {"session_name": f"v{n}", "inputs": {"question": QUESTION}, "outputs": {"answer": text}}
        | {"feedback_stats": {"tone": {"n": 1, "avg": None, "values": {"polite": 1}}}}
        for n, text in enumerate(ANSWERS)
    ]
    read = read_of(tmp_path, rows, kind="langsmith")
    assert skipped(read) == {"'tone' is a category, not a number": 2}


@pytest.mark.parametrize(
    ("logged", "path"),
    [
        ({"args": [QUESTION, "de"], "kwargs": {}}, "input.args.0"),
        ({"args": [QUESTION, "de"], "kwargs": {}}, "input.args[0]"),
        ({"args": [{"k": 3}, QUESTION]}, "input.args.-1"),
        ({"contents": [{"parts": [{"text": QUESTION}]}]}, "input.contents.0.parts.0.text"),
        (json_text({"log": [{"text": "x"}, {"text": QUESTION}]}), "input.log.1.text"),
    ],
)
def test_paths_have_places_in_lists(tmp_path, logged, path):
    read = read_of(tmp_path, traces(logged, ANSWERS), columns={"question": path})
    assert texts(read) == ([QUESTION], list(ANSWERS))


@pytest.mark.parametrize(
    "logged",
    [
        {"args": [QUESTION], "kwargs": {}},
        json_text({"args": [QUESTION], "kwargs": {"k": 3}}),
        {"args": [], "kwargs": {"question": QUESTION, "language": "de"}},
        {"args": [[{"role": "user", "content": QUESTION}]], "kwargs": {}},
        {"contents": [{"role": "user", "parts": [{"text": QUESTION}]}]},
        [["system", "Be brief."], ["human", QUESTION]],
        json_text(
            [{"role": "system", "content": "Be brief."}, {"role": "USER", "content": QUESTION}]
        ),
    ],
)
def test_calls_and_messages_are_read_without_a_path(tmp_path, logged):
    assert texts(read_of(tmp_path, traces(logged, ANSWERS)))[0] == [QUESTION]


def test_several_texts_of_a_call_are_listed_and_not_guessed(tmp_path):
    rows = traces({"args": [QUESTION, "de"], "kwargs": {}}, ANSWERS)
    with pytest.raises(UsageError) as caught:
        read_of(tmp_path, rows)
    assert "input.args[1]" in str(caught.value)
    assert "--column 'question=input.args[0]'" in str(caught.value)


@pytest.mark.parametrize(
    "reply",
    [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": ANSWERS[0]}]}}]},
        {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": ANSWERS[0]}]},
        [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": ANSWERS[0]}],
        [{"role": "assistant", "content": [{"type": "output_text", "text": ANSWERS[0]}]}],
        {"generations": [[{"text": ANSWERS[0], "generation_info": {}}, {"text": "Other."}]]},
        {"choices": [{"message": {"content": ANSWERS[0]}}, {"message": {"content": "Other."}}]},
    ],
)
def test_replies_are_read_in_the_manner_of_each_provider(tmp_path, reply):
    for logged in (reply, json_text(reply)):
        rows = traces(QUESTION, [logged, ANSWERS[1]])
        assert texts(read_of(tmp_path, rows))[1] == list(ANSWERS)


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".csv"])
def test_runs_of_chat_models_are_read(tmp_path, ending):
    def message(kind, text):
        ids = ["langchain", "schema", "messages", f"{kind}Message"]
        return {"lc": 1, "type": "constructor", "id": ids, "kwargs": {"content": text}}

    prompt = {"messages": [[message("System", "Be brief."), message("Human", QUESTION)]]}
    rows = [
        {"session_name": f"v{n}", "run_type": "llm", "inputs": prompt}
        | {"outputs": {"generations": [[{"text": "", "message": message("AI", text)}]]}}
        for n, text in enumerate(ANSWERS)
    ]
    if ending == ".csv":
        rows = [
            row | {"inputs": json_text(row["inputs"]), "outputs": json_text(row["outputs"])}
            for row in rows
        ]
    assert texts(read_of(tmp_path, rows, ending, "langsmith")) == ([QUESTION], list(ANSWERS))


def test_nothing_read_is_a_failure(tmp_path, capsys):
    path = written(tmp_path, traces({"args": [1, 2]}, ANSWERS))
    out = tmp_path / "arena"
    arguments = ["import", "langfuse", str(path), "--column", "question=input.args"]
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--out", str(out)])
    assert stopped.value.code not in (0, None)
    assert "--column question=PATH" in capsys.readouterr().err
    assert not out.exists()
    (tmp_path / "answers.csv").write_text("question,system,answer\n")
    with pytest.raises(UsageError, match="nothing could be read"):
        import_arena("csv", [tmp_path / "answers.csv"])


def log(task, model, samples, dataset=None):
    return {
        "version": 2,
        "eval": {"task": task, "model": model, "dataset": {"name": dataset or task}},
        "samples": [
            {
                "id": number,
                "epoch": 1,
                "input": question,
                "output": {"completion": f"{question} Yes."},
            }
            for number, question in samples
        ],
    }


def logs_of(folder, *logs):
    for number, record in enumerate(logs):
        (folder / f"{number}.json").write_text(json.dumps(record))
    return import_arena("inspect", [folder])


def test_ids_of_inspect_are_those_of_a_task(tmp_path):
    lakes, fish = [(1, "How deep?"), (2, "How wide?")], [(1, "How long?")]
    read = logs_of(tmp_path, log("lakes", "a", lakes), log("fish", "a", fish))
    assert set(read.arena.queries["query"]) == {"How deep?", "How wide?", "How long?"}
    assert len(read.arena.answers) == 3
    assert any("kept distinct" in note for note in read.notes)


def test_an_id_that_the_user_names_is_taken_as_it_is(tmp_path):
    logs = [log(task, "a", [(1, f"{task}?")]) for task in ("lakes", "fish")]
    for inspected in logs:
        name = inspected["eval"]["task"]
        inspected["samples"][0]["metadata"] = {"key": f"{name}-1"}
        (tmp_path / f"{name}.json").write_text(json.dumps(inspected))
    read = import_arena("inspect", [tmp_path], columns={"query_id": "metadata.key"})
    assert set(read.arena.queries["query_id"]) == {"lakes-1", "fish-1"}


def test_two_data_sets_of_one_task_are_kept_apart(tmp_path):
    logs = [log("qa", "a", [(1, text)], name) for text, name in (("How?", "de"), ("Why?", "fr"))]
    read = logs_of(tmp_path, *logs)
    assert set(read.arena.queries["query"]) == {"How?", "Why?"}


def test_a_log_without_samples_is_counted(tmp_path):
    empty = log("lakes", "b", [])
    del empty["samples"]
    read = logs_of(tmp_path, log("lakes", "a", [(1, "How deep?")]), empty)
    assert read.skipped["item"].tolist() == ["file"]
    with pytest.raises(DataError):
        import_arena("inspect", [tmp_path / "1.json"])


def test_paths_that_help_are_listed_first(tmp_path):
    row = {"config": {"a": "x"}, "vars": {"topic": "lakes", "n": 3}, "provider": "p"}
    row |= {"response": {"output": "Deep."}, "prompt": {"raw": "Say something of lakes."}}
    path = written(tmp_path, [row], ".jsonl")
    with pytest.raises(UsageError) as caught:
        import_arena("promptfoo", [path])
    listed = str(caught.value)
    assert listed.index("vars.topic") < listed.index("response.output") < listed.index("config.a")
    assert "--column question=vars.topic" in listed


RUN = {
    "testRunData": {
        "testCases": [
            {
                "name": "test_case_0",
                "input": QUESTION,
                "actualOutput": ANSWERS[0],
                "expectedOutput": "40 m",
                "context": ["ideal"],
                "retrievalContext": PASSAGES,
                "metricsData": [
                    {"name": "Faithfulness", "score": 0.9, "success": True},
                    {"name": "Hallucination", "score": 0.1, "success": True},
                    {"name": "Bias", "score": None, "error": "the call failed"},
                ],
            }
        ],
        "conversationalTestCases": [{"name": "c", "turns": []}],
        "hyperparameters": {"model": "large"},
    }
}


def snake_run(**changes):
    case = {"input": QUESTION, "actual_output": ANSWERS[1], "retrieval_context": PASSAGES}
    metrics = [{"name": "Faithfulness", "score": 0.5}, {"name": "Hallucination", "score": 0.6}]
    talk = {"conversational": True, "turns": [{"role": "user", "content": "?"}]}
    return {"test_results": [case | {"metrics_data": metrics}, talk]} | changes


def test_deepeval_test_runs_of_two_versions(tmp_path):
    (tmp_path / "first.json").write_text(json.dumps(RUN))
    (tmp_path / "second.json").write_text(json.dumps(snake_run()))
    read = import_arena("deepeval", [tmp_path])
    assert texts(read) == ([QUESTION], list(ANSWERS))
    assert read.arena.info.systems == ("first", "second")
    assert read.arena.queries["reference"].tolist() == ["40 m"]
    assert [passage["text"] for passage in read.arena.queries["passages"][0]] == PASSAGES
    assert winners(read, "Faithfulness") == ["first"]
    assert winners(read, "Hallucination") == ["first"]  # of which the lower is better
    assert skipped(read)["it is a conversation of DeepEval's"] == 1
    assert "'Bias' is missing" in skipped(read)


def test_the_system_of_a_deepeval_run_is_its_model_or_file(tmp_path):
    path = tmp_path / ".latest_test_run.json"
    path.write_text(json.dumps(RUN))
    assert import_arena("deepeval", [path]).arena.info.systems == ("large",)
    named = import_arena("deepeval", [path], columns={"system": "file"})
    assert named.arena.info.systems == ("latest_test_run",)
    path.write_text(json.dumps(snake_run()))
    assert import_arena("deepeval", [path]).arena.info.systems == ("latest_test_run",)


def test_a_file_of_deepeval_without_an_ending_is_read(tmp_path):
    (tmp_path / "20260102_030405").write_text(json.dumps(snake_run()))
    read = import_arena("deepeval", [tmp_path / "20260102_030405"])
    assert read.arena.answers["answer"].tolist() == [ANSWERS[1]]


def test_each_asking_may_be_a_question(tmp_path):
    rows = [trace for _ in range(2) for trace in traces({"question": QUESTION}, ANSWERS)]
    first = read_of(tmp_path, rows)
    assert len(first.arena.queries) == 1
    assert sum(skipped(first).values()) == 2
    read = read_of(tmp_path, rows, repeats="each")
    assert len(read.arena.queries) == 2
    assert len(read.arena.answers) == 4
    assert read.skipped.empty
    with pytest.raises(UsageError, match="repeated questions"):
        read_of(tmp_path, rows, repeats="last")


def test_one_trace_alone_is_a_record(tmp_path):
    (trace, _) = traces({"question": QUESTION}, ANSWERS)
    assert texts(read_of(tmp_path, trace)) == ([QUESTION], [ANSWERS[0]])


def test_ragchecker_results(tmp_path):
    def results(answer, f1, noise):
        contexts = [{"doc_id": f"d{n}", "text": text} for n, text in enumerate(PASSAGES)]
        metrics = {"f1": f1, "noise_sensitivity_in_relevant": noise}
        row = {"query_id": "q7", "query": QUESTION, "gt_answer": "40 m", "response": answer}
        return {
            "results": [row | {"retrieved_context": contexts, "metrics": metrics}],
            "metrics": {"overall": {"f1": 50.0}},
        }

    (tmp_path / "a.json").write_text(json.dumps(results(ANSWERS[0], 0.8, 0.1)))
    (tmp_path / "b.json").write_text(json.dumps(results(ANSWERS[1], 0.6, 0.3)))
    read = import_arena("ragchecker", [tmp_path])
    assert texts(read) == ([QUESTION], list(ANSWERS))
    assert read.arena.queries["query_id"].tolist() == ["q7"]
    assert [passage["passage_id"] for passage in read.arena.queries["passages"][0]] == ["d0", "d1"]
    assert winners(read, "f1") == winners(read, "noise_sensitivity_in_relevant") == ["a"]


@pytest.mark.parametrize(
    ("given_kind", "content", "other"),
    [
        ("csv", RUN, "deepeval"),
        ("langfuse", RUN, "deepeval"),
        ("promptfoo", log("lakes", "a", []), "inspect"),
        ("deepeval", {"resourceSpans": [{}]}, "opentelemetry"),
    ],
)
def test_a_file_of_another_kind_is_named(tmp_path, given_kind, content, other):
    path = tmp_path / "file.json"
    path.write_text(json.dumps(content))
    with pytest.raises((DataError, UsageError), match=f"import {other}"):
        import_arena(given_kind, [path])


WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30
).filter(lambda text: text.strip())


@settings(max_examples=60, deadline=None)
@given(WORDS, st.integers(min_value=1, max_value=4), st.sampled_from(["answer", "response"]))
def test_any_text_comes_back_from_any_number_of_quotings(text, times, name):
    record = {"output": json_text({name: text}, times)}
    assert value_at(opened_value(record), f"output.{name}") == text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), WORDS), min_size=1))
def test_the_last_message_of_a_role_counts_in_every_manner(turns):
    questions = [text for role, text in turns if role == "user"]
    expected = questions[-1] if questions else None
    messages = [{"role": role, "content": text} for role, text in turns]
    parts = [{"role": role, "content": [{"type": "text", "text": text}]} for role, text in turns]
    contents = [{"role": role, "parts": [{"text": text}]} for role, text in turns]
    pairs = [[role, text] for role, text in turns]
    for logged in (messages, parts, {"messages": messages}, {"contents": contents}, pairs):
        assert text_of("question", logged) == expected
