"""MIRAGE-Bench's published schemas."""

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena import DataError, UsageError
from surrogate_arena.importers import import_arena
from surrogate_arena.papers import read_mirage
from surrogate_arena.papers.mirage.published_rows import PUBLISHED_FEATURES

FEATURES = list(PUBLISHED_FEATURES.values())
INSTRUCTION = "Instruction: Provide an answer to the question.\n\nPlease respond in English."


def prompt(question, contexts):
    return f"Question: {question}\n\nContexts:\n{contexts}\n\n{INSTRUCTION}"


PROMPTS = [
    {
        "query_id": "q1",
        "prompt": prompt(
            "What was first?\nReally?",
            "[36#2] Lögberg – The very first [3] newspaper.\nIt cites [19#6] too.\n\n"
            '"[19#6]" "Times" – Its first issue.\n[7#1] Never listed.\n[66#0] Letterpress',
        ),
        "positive_ids": ["66#0"],
        "negative_ids": ["19#6", "36#2"],
    },
    {
        "query_id": "q2",
        "prompt": prompt("Who?", "[a b] on one line [c.d] and \n\nInstruction manuals"),
        "positive_ids": ["a b", "c.d"],
        "negative_ids": [],
    },
]
OUTPUTS = [
    {
        "query_id": "q1",
        "outputs": [{"model": "m2", "output": "##Reason: [66#0]"}, {"model": "m1", "output": ""}],
        "answer_bleu": {"m1": 12.5, "m2": 100},
        "fluency_score": {"m2": 4, "m1": None},
    },
    {
        "query_id": "q2",
        "outputs": [{"model": "m1", "output": "b"}, {"model": "m2", "output": None}],
        "answer_bleu": {"m1": 0.0, "m2": 3.0},
        "fluency_score": None,
    },
]
JUDGMENTS = [
    {"query_id": "q1", "judge": "gpt-4o", "model_A": a, "model_B": b, "verdict": verdict}
    for a, b, verdict in [
        ("m1", "m2", "A"),
        ("m2", "m1", "A"),
        ("m1", "m2", "B"),
        ("m1", "m2", "Tie"),
        ("m1", "m2", None),
        ("m1", "m2", "Invalid"),
        ("m1", "m2", "C"),
        ("m1", "m2", "C"),
        ("m1", "m2", ["A"]),
    ]
]


def write(folder, prompts=PROMPTS, outputs=OUTPUTS, judgments=JUDGMENTS):
    folder.mkdir(exist_ok=True)
    for name, rows in [("prompts", prompts), ("outputs", outputs), ("pairs", judgments)]:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text)
    return folder


@pytest.fixture
def bench(tmp_path):
    return import_arena(read_mirage, [write(tmp_path / "en")], reference_system="m2")


def faults(folder):
    with pytest.raises(DataError) as caught:
        read_mirage([folder])
    return [(it.source.removesuffix(".jsonl"), it.line, it.field) for it in caught.value.problems]


def test_questions_and_passages(bench):
    first, second = bench.arena.queries.to_dict(orient="records")
    assert first["query"] == "What was first?\nReally?"
    assert first["passages"] == [
        {
            "passage_id": "36#2",
            "text": "Lögberg – The very first [3] newspaper.\nIt cites [19#6] too.",
            "title": None,
            "relevance": 0,
        },
        {"passage_id": "19#6", "text": '"Times" – Its first issue.', "title": None, "relevance": 0},
        {"passage_id": "66#0", "text": "Letterpress", "title": None, "relevance": 1},
    ]
    assert [(p["passage_id"], p["text"], p["relevance"]) for p in second["passages"]] == [
        ("a b", "on one line", 1),
        ("c.d", "and \n\nInstruction manuals", 1),
    ]


def test_answers_judgments_and_what_was_left_out(bench):
    assert bench.arena.answers.values.tolist() == [
        ["q1", "en", "m2", "##Reason: [66#0]"],
        ["q1", "en", "m1", ""],
        ["q2", "en", "m1", "b"],
    ]
    assert set(bench.arena.info.systems) == {"m1", "m2"}
    assert bench.arena.info.reference_system == "m2"
    assert bench.arena.judgments.values.tolist() == [
        ["q1", "en", "m1", "m2", "a", "gpt-4o"],
        ["q1", "en", "m2", "m1", "a", "gpt-4o"],
        ["q1", "en", "m1", "m2", "b", "gpt-4o"],
        ["q1", "en", "m1", "m2", "tie", "gpt-4o"],
    ]
    assert bench.skipped.values.tolist() == [
        ["outputs.jsonl", "answer", "its output is null", 1],
        ["pairs.jsonl", "judgment", "its verdict is 'C'", 2],
        ["pairs.jsonl", "judgment", "its verdict is 'Invalid'", 1],
        ["pairs.jsonl", "judgment", "its verdict is ['A']", 1],
        ["pairs.jsonl", "judgment", "its verdict is null", 1],
        ["prompts.jsonl", "passage", "its id is neither positive nor negative", 1],
    ]


def test_features(bench):
    table = bench.features
    missing = [f"{name}:missing" for name in FEATURES]
    assert list(table) == ["language", "system", "query_id", *FEATURES, *missing]
    assert table[["language", "system", "query_id"]].values.tolist() == [
        ["en", "m1", "q1"],
        ["en", "m1", "q2"],
        ["en", "m2", "q1"],
    ]
    assert {str(dtype) for dtype in table[FEATURES].dtypes} == {"float64"}
    assert list(table["bleu"]) == [0.125, 0.0, 1.0]  # 12.5 of 100
    assert list(table["bleu:missing"]) == [None, None, None]
    assert list(table["llm_fluency"])[2] == 4.0
    assert list(table["llm_fluency:missing"]) == ["not published", "not published", None]
    assert set(table["reranker_score:missing"]) == {"feature not published"}
    for name in FEATURES:
        assert list(table[name].isna()) == list(table[f"{name}:missing"].notna())


def test_every_published_feature_lands_under_its_name(tmp_path):
    scores = {name: {"m1": n / 10} for n, name in enumerate(PUBLISHED_FEATURES)}
    outputs = [{"query_id": "q1", "outputs": [{"model": "m1", "output": "a"}], **scores}]
    features = read_mirage([write(tmp_path / "en", outputs=outputs, judgments=[])]).features
    assert features[FEATURES].values.tolist() == [[n / 10 for n in range(11)]]  # no percent


def test_scores_that_are_no_finite_numbers(tmp_path):
    row = {**OUTPUTS[0], "answer_bleu": {"m1": math.inf, "m2": math.nan}}
    (write(tmp_path / "en", judgments=[]) / "outputs.jsonl").unlink()
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "en" / "outputs.parquet")
    features = read_mirage([tmp_path]).features
    assert list(features["bleu"].isna()) == [True, True]
    assert list(features["bleu:missing"]) == ["not published"] * 2


def test_several_languages(tmp_path):
    write(tmp_path / "en")
    outputs = [{"query_id": "q1", "outputs": [{"model": "m3", "output": "c"}]}]
    write(tmp_path / "ar", prompts=PROMPTS[:1], outputs=outputs, judgments=[])
    bench = read_mirage([tmp_path])
    assert bench.arena.info.languages == ("ar", "en")
    assert set(bench.arena.info.systems) == {"m1", "m2", "m3"}
    assert list(bench.arena.queries["language"]) == ["ar", "en", "en"]
    assert list(bench.features["language"]) == ["ar", "en", "en", "en"]
    assert set(bench.arena.judgments["language"]) == {"en"}
    assert read_mirage([tmp_path], languages=["ar"]).arena.info.languages == ("ar",)
    with pytest.raises(UsageError, match="no file of prompts in fi"):
        read_mirage([tmp_path], languages=["ar", "fi"])
    with pytest.raises(UsageError, match="unknown reference system 'm9'"):
        import_arena(read_mirage, [tmp_path], reference_system="m9")


def test_scores_without_an_answer_are_counted(tmp_path):
    first = {**OUTPUTS[0], "answer_bleu": {"m1": 12, "m9": 1.0}}
    bench = read_mirage([write(tmp_path / "en", outputs=[first], judgments=JUDGMENTS[:1])])
    assert "m9 has no output to its question" in set(bench.skipped["reason"])
    assert "m9" not in set(bench.features["system"])


def test_outputs_that_repeat_the_prompts_are_outputs_and_replies_of_the_judge_reasons(tmp_path):
    both = [{**prompts, **outputs} for prompts, outputs in zip(PROMPTS, OUTPUTS, strict=True)]
    judgments = [{**row, "output": f"Because. [[{row['verdict']}]]"} for row in JUDGMENTS]
    read = read_mirage([write(tmp_path / "en", outputs=both, judgments=judgments)])
    assert set(read.arena.judgments["reason"]) == {f"Because. [[{it}]]" for it in ("A", "B", "Tie")}
    assert set(read.arena.info.systems) == {"m1", "m2"}


def test_every_bad_prompt_and_output_is_reported(tmp_path):
    good = PROMPTS[1]
    texts = ["Hello", "Question: why?", "Question: why?\n\nContexts:\n[a b] x", prompt(" ", "x")]
    prompts = [
        *({**good, "query_id": f"b{n}", "prompt": text} for n, text in enumerate(texts)),
        {**good, "positive_ids": ["a b", "gone"], "negative_ids": ["c.d", "a b"]},
        {**good, "query_id": 5, "positive_ids": "a b", "negative_ids": [3]},
        {"query_id": "b6", "prompt": prompt("why?", "[e] [f] x"), "positive_ids": ["e"]},
    ]
    outputs = [
        {**OUTPUTS[0], "answer_bleu": {"m1": "12", "m2": True, "m9": 1.0}},
        {**OUTPUTS[0], "query_id": None, "answer_bleu": 3},
        {**OUTPUTS[1], "answer_bleu": [1]},
        {"query_id": "q2", "outputs": [{"model": "", "output": 3}, {"output": "x"}]},
    ]
    folder = write(tmp_path / "en", prompts=prompts, outputs=outputs)
    assert faults(folder) == [
        *(("prompts", line, "prompt") for line in (1, 2, 3, 4)),
        ("prompts", 5, "positive_ids"),
        ("prompts", 5, "negative_ids"),
        ("prompts", 6, "query_id"),
        ("prompts", 6, "positive_ids"),
        ("prompts", 6, "negative_ids.0"),
        ("prompts", 7, "negative_ids"),
        ("outputs", 1, "answer_bleu.m1"),
        ("outputs", 1, "answer_bleu.m2"),
        ("outputs", 2, "query_id"),
        ("outputs", 2, "answer_bleu"),
        ("outputs", 3, "answer_bleu"),
        *(("outputs", 4, f"outputs.{field}") for field in ("0.model", "0.output", "1.model")),
    ]


def test_problems_of_all_files_and_languages_are_reported_together(tmp_path):
    write(tmp_path / "en", judgments=[{"model_A": "m1", "model_B": "m2", "verdict": "A"}])
    (write(tmp_path / "ar") / "outputs.jsonl").rename(tmp_path / "ar" / "old")
    (tmp_path / "ar" / "outputs.jsonl.gz").write_bytes(b"\x1f\x8b")
    assert faults(tmp_path) == [
        ("ar/outputs.jsonl.gz", None, None),
        ("en/pairs", None, None),
    ]


def test_what_does_not_fit_together_is_reported_in_the_names_of_the_files(tmp_path):
    first, second = OUTPUTS
    twice = {**first, "outputs": [*first["outputs"], first["outputs"][0]]}
    judged = [{**JUDGMENTS[0], "query_id": "q8"}, {**JUDGMENTS[0], "model_B": "m1"}]
    judged += [{**JUDGMENTS[0], "model_A": "m9"}]
    folder = write(tmp_path / "en", [*PROMPTS, PROMPTS[0]], [twice, second], judged[2:])
    assert faults(folder) == [("prompts", 3, "query_id"), ("outputs", 1, "outputs.model")]
    write(folder, outputs=[first, second, {**first, "query_id": "q9"}], judgments=judged[:2])
    key = "language+query_id"
    assert faults(folder) == [
        *[("outputs", 3, key), ("outputs", 3, key)],
        *[("pairs", 1, key), ("pairs", 2, "model_B")],
    ]
    assert faults(write(folder, judgments=judged[2:])) == [("pairs", 1, "model_A")]


def test_a_folder_without_a_table_of_the_benchmark_is_refused(tmp_path):
    (tmp_path / "en.jsonl").write_text(json.dumps({"text": "Not of the benchmark."}) + "\n")
    with pytest.raises(UsageError, match="file: it is not a table of MIRAGE-Bench"):
        import_arena(read_mirage, [tmp_path])
