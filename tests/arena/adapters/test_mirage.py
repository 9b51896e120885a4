"""MIRAGE-Bench's published schemas."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena import DataError, UsageError
from arena.adapters import ForeignArena, MirageFiles, load_mirage, read_mirage
from arena.adapters.mirage import read_mirage_clone
from arena.adapters.mirage_outputs import PUBLISHED_FEATURES
from arena.data.rows import write_rows

FEATURES = [
    "target_language",
    "english",
    "citation_map@10",
    "citation_recall@10",
    "bleu",
    "rouge_l",
    "nli_entailment",
    "nli_neutral",
    "reranker_score",
    "llm_overlap",
    "llm_fluency",
]
INSTRUCTION = "Instruction: Provide an answer to the question.\n\nPlease respond in English."
REWRITE = "write 'Question: …', 'Contexts:', '[docid] text' a passage, and 'Instruction: …'"


def prompt(question: str, contexts: str) -> str:
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


def write(folder: Path, prompts=PROMPTS, outputs=OUTPUTS, judgments=JUDGMENTS) -> MirageFiles:
    folder.mkdir(exist_ok=True)
    for name, rows in [("prompts", prompts), ("outputs", outputs), ("pairs", judgments)]:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text)
    return MirageFiles(folder / "prompts.jsonl", folder / "outputs.jsonl", folder / "pairs.jsonl")


@pytest.fixture
def bench(tmp_path: Path) -> ForeignArena:
    return read_mirage({"en": write(tmp_path / "en")}, reference_system="m2")


def faults(files: dict[str, MirageFiles]) -> list[str]:
    with pytest.raises(DataError) as caught:
        read_mirage(files)
    return [str(problem) for problem in caught.value.problems]


def test_questions_and_passages(bench: ForeignArena):
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


def test_answers(bench: ForeignArena):
    assert bench.arena.answers.values.tolist() == [
        ["q1", "en", "m2", "##Reason: [66#0]"],
        ["q1", "en", "m1", ""],
        ["q2", "en", "m1", "b"],
    ]
    assert bench.arena.info.systems == ("m1", "m2")
    assert bench.arena.info.reference_system == "m2"


def test_judgments(bench: ForeignArena):
    table = bench.arena.judgments
    assert list(table) == ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    assert table[["system_a", "system_b", "winner"]].values.tolist() == [
        ["m1", "m2", "a"],
        ["m2", "m1", "a"],
        ["m1", "m2", "b"],
        ["m1", "m2", "tie"],
    ]
    assert set(table["judge"]) == {"gpt-4o"}


def test_what_was_left_out_is_counted(bench: ForeignArena):
    assert bench.skipped.values.tolist() == [
        ["en/outputs.jsonl", "answer", "its output is null", 1],
        ["en/pairs.jsonl", "judgment", "its verdict is 'C'", 2],
        ["en/pairs.jsonl", "judgment", "its verdict is 'Invalid'", 1],
        ["en/pairs.jsonl", "judgment", "its verdict is ['A']", 1],
        ["en/pairs.jsonl", "judgment", "its verdict is null", 1],
        ["en/prompts.jsonl", "passage", "its id is neither positive nor negative", 1],
    ]
    assert list(bench.skipped) == ["source", "item", "reason", "count"]


def test_features(bench: ForeignArena):
    table = bench.features
    assert list(PUBLISHED_FEATURES.values()) == FEATURES
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


def test_every_published_feature_lands_under_its_name(tmp_path: Path):
    scores = {name: {"m1": float(n)} for n, name in enumerate(PUBLISHED_FEATURES)}
    outputs = [{"query_id": "q1", "outputs": [{"model": "m1", "output": "a"}], **scores}]
    features = read_mirage({"en": write(tmp_path / "en", outputs=outputs, judgments=[])}).features
    expected = [float(n) for n in range(11)]
    expected[FEATURES.index("bleu")] /= 100
    assert features[FEATURES].values.tolist() == [expected]


def test_bleu_is_from_0_to_1_as_ours_whatever_the_scale_published(tmp_path: Path):
    row = {**OUTPUTS[0], "answer_bleu": {"m1": 0.125, "m2": 1}}
    files = write(tmp_path / "en", outputs=[row], judgments=[])
    assert list(read_mirage({"en": files}).features["bleu"]) == [0.125, 1.0]


def test_scores_that_are_no_finite_numbers(tmp_path: Path):
    row = {**OUTPUTS[0], "answer_bleu": {"m1": math.inf, "m2": math.nan}}
    files = write(tmp_path / "en", judgments=[])
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "outputs.parquet")
    outputs = MirageFiles(files.prompts, tmp_path / "outputs.parquet")
    features = read_mirage({"en": outputs}).features
    assert list(features["bleu"].isna()) == [True, True]
    assert list(features["bleu:missing"]) == ["published as inf", "published as nan"]


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".jsonl.zst", ".parquet"])
def test_every_format_gives_the_same(suffix: str, bench: ForeignArena, tmp_path: Path):
    paths = []
    for name, rows in [("prompts", PROMPTS), ("outputs", OUTPUTS), ("pairs", JUDGMENTS[:-1])]:
        paths.append(tmp_path / f"{name}{suffix}")
        write_rows(pd.DataFrame(rows), paths[-1])
    again = read_mirage({"en": MirageFiles(*map(str, paths))}, reference_system="m2")
    pd.testing.assert_frame_equal(bench.features, again.features)
    pd.testing.assert_frame_equal(bench.arena.queries, again.arena.queries)
    pd.testing.assert_frame_equal(bench.arena.answers, again.arena.answers)
    pd.testing.assert_frame_equal(bench.arena.judgments, again.arena.judgments)


def test_judgments_may_be_csv_and_lists_not(bench: ForeignArena, tmp_path: Path):
    write_rows(pd.DataFrame(JUDGMENTS[:-1]), tmp_path / "pairs.csv")
    files = write(tmp_path / "en")
    csv = MirageFiles(files.prompts, files.outputs, tmp_path / "pairs.csv")
    again = read_mirage({"en": csv})
    pd.testing.assert_frame_equal(bench.arena.judgments, again.arena.judgments)
    message = r"prompts.csv: CSV cannot hold the lists of this table; use .jsonl or .parquet"
    with pytest.raises(UsageError, match=message):
        read_mirage({"en": MirageFiles(tmp_path / "prompts.csv", files.outputs)})


def test_several_languages(tmp_path: Path):
    english = write(tmp_path / "en")
    outputs = [{"query_id": "q1", "outputs": [{"model": "m3", "output": "c"}]}]
    arabic = write(tmp_path / "ar", prompts=PROMPTS[:1], outputs=outputs, judgments=[])
    bench = read_mirage({"en": english, "ar": MirageFiles(arabic.prompts, arabic.outputs)})
    assert bench.arena.info.languages == ("en", "ar")
    assert bench.arena.info.systems == ("m1", "m2", "m3")
    assert list(bench.arena.queries["language"]) == ["en", "en", "ar"]
    assert list(bench.features["language"]) == ["ar", "en", "en", "en"]
    assert set(bench.arena.judgments["language"]) == {"en"}


def test_unknown_columns_are_ignored_and_said(tmp_path: Path):
    files = write(
        tmp_path / "en",
        [{**row, "hint": 1} for row in PROMPTS],
        [{**row, "answer_rougeLsum": {"m1": 1}} for row in OUTPUTS[:1]],
        [{**row, "explanation": "…"} for row in JUDGMENTS[:1]],
    )
    bench = read_mirage({"en": files})
    columns = bench.skipped[bench.skipped["item"] == "column"]
    assert list(columns["reason"]) == [
        "'answer_rougeLsum' is no column of this schema",
        "'explanation' is no column of this schema",
        "'hint' is no column of this schema",
    ]
    assert "explanation" not in bench.arena.judgments


def test_every_bad_prompt_is_reported(tmp_path: Path):
    good = PROMPTS[1]
    texts = ["Hello", "Question: why?", "Question: why?\n\nContexts:\n[a b] x", prompt(" ", "x")]
    prompts = [
        *({**good, "query_id": f"b{n}", "prompt": text} for n, text in enumerate(texts)),
        {**good, "positive_ids": ["a b", "gone"], "negative_ids": ["c.d", "a b"]},
        {**good, "query_id": 5, "positive_ids": "a b", "negative_ids": [3]},
        {"query_id": "b6", "prompt": prompt("why?", "[e] [f] x"), "positive_ids": ["e"]},
    ]
    files = write(tmp_path / "en", prompts=prompts)
    source = "en/prompts.jsonl"
    assert faults({"en": files}) == [
        f"{source}:1: prompt = 'Hello': has no section 'Question:'; {REWRITE}",
        f"{source}:2: prompt = 'Question: why?': "
        f"has no section 'Contexts:' after the question; {REWRITE}",
        f"{source}:3: prompt = {texts[2]!r}: "
        f"has no section 'Instruction' after the contexts; {REWRITE}",
        f"{source}:4: prompt = {texts[3]!r:.79}…: has an empty question; {REWRITE}",
        f"{source}:5: positive_ids = 'gone': has no text in the prompt; "
        "add the passage or unlist its id",
        f"{source}:5: negative_ids = 'a b': is listed twice; "
        "list each passage once, positive or negative",
        f"{source}:6: query_id = 5: Input should be a valid string; give query_id as a string",
        f"{source}:6: positive_ids = 'a b': Input should be a valid list; "
        "give positive_ids as a list of passage ids",
        f"{source}:6: negative_ids.0 = 3: Input should be a valid string; "
        "give negative_ids as a list of passage ids",
        f"{source}:7: negative_ids = None: Input should be a valid list; "
        "give negative_ids as a list of passage ids",
    ]


def test_every_bad_output_is_reported(tmp_path: Path):
    outputs = [
        {**OUTPUTS[0], "answer_bleu": {"m1": "12", "m2": True, "m9": 1.0}},
        {**OUTPUTS[0], "query_id": None, "answer_bleu": 3},
        {**OUTPUTS[1], "answer_bleu": [1]},
        {"query_id": "q2", "outputs": [{"model": "", "output": 3}, {"output": "x"}]},
    ]
    files = write(tmp_path / "en", outputs=outputs)
    source = "en/outputs.jsonl"
    number = "is not a number; write a number, or null if there is none"
    hint = "give outputs as a list of {model, output}"
    assert faults({"en": files}) == [
        f"{source}:1: answer_bleu.m1 = '12': {number}",
        f"{source}:1: answer_bleu.m2 = True: {number}",
        f"{source}:2: query_id = None: Input should be a valid string; give query_id as a string",
        f"{source}:3: answer_bleu = [1]: is not an object; write one object {{model: score}} a row",
        f"{source}:4: outputs.0.model = '': String should have at least 1 character; {hint}",
        f"{source}:4: outputs.0.output = 3: Input should be a valid string; {hint}",
        f"{source}:4: outputs.1.model = None: is missing; {hint}",
    ]


def test_a_score_of_a_model_without_output_is_counted_and_the_rest_is_read(tmp_path: Path):
    outputs = [{**OUTPUTS[0], "answer_bleu": {"m1": 12, "m9": 1.0}}, *OUTPUTS[1:]]
    read = read_mirage({"en": write(tmp_path / "en", outputs=outputs)})
    assert ["score", "m9 has no output to its question", 1] in read.skipped[
        ["item", "reason", "count"]
    ].values.tolist()
    assert "m9" not in set(read.features["system"])


def test_outputs_that_repeat_the_prompts_are_outputs_and_replies_of_the_judge_reasons(
    tmp_path: Path,
):
    both = [{**prompts, **outputs} for prompts, outputs in zip(PROMPTS, OUTPUTS, strict=True)]
    judgments = [{**row, "output": f"Because. [[{row['verdict']}]]"} for row in JUDGMENTS]
    write(tmp_path / "en", outputs=both, judgments=judgments)
    read = read_mirage_clone([tmp_path])
    assert set(read.arena.judgments["reason"]) == {f"Because. [[{it}]]" for it in ("A", "B", "Tie")}
    assert read.arena.info.systems == ("m1", "m2")


def test_problems_of_all_files_and_languages_are_reported_together(tmp_path: Path):
    broken = write(tmp_path / "en", prompts=[{"query_id": "q"}], judgments=[{"verdict": "A"}])
    other = write(tmp_path / "ar")
    (tmp_path / "ar" / "outputs.jsonl.gz").write_bytes(b"\x1f\x8b")
    damaged = MirageFiles(other.prompts, tmp_path / "ar" / "outputs.jsonl.gz")
    missing = "this column is missing; add it to every row"
    found = faults({"en": broken, "ar": damaged})
    assert found[0].startswith("ar/outputs.jsonl.gz: cannot be read (")
    assert found[1:] == [
        *(
            f"en/prompts.jsonl: {column} = None: {missing}"
            for column in ("prompt", "positive_ids", "negative_ids")
        ),
        *(
            f"en/pairs.jsonl: {column} = None: {missing}"
            for column in ("query_id", "model_A", "model_B", "judge")
        ),
    ]


def test_what_does_not_fit_together_is_reported_in_the_names_of_the_files(tmp_path: Path):
    first, second = OUTPUTS
    files = write(
        tmp_path / "en",
        [*PROMPTS, PROMPTS[0]],
        [
            {**first, "outputs": [*first["outputs"], first["outputs"][0]]},
            second,
            {**first, "query_id": "q9"},
        ],
        [
            {**JUDGMENTS[0], "query_id": "q8"},
            {**JUDGMENTS[0], "model_B": "m1"},
        ],
    )
    unknown = "that is not in en/prompts.jsonl; add the question there or leave the"
    assert faults({"en": files}) == [
        "en/prompts.jsonl:3: language+query_id = ('en', 'q1'): "
        "this query already stands on line 1; keep one of the two",
        "en/outputs.jsonl:1: language+query_id+system = ('en', 'q1', 'm2'): "
        "this answer already stands on line 1; keep one of the two",
        "en/outputs.jsonl:3: language+query_id = ('en', 'q9'): "
        f"this answer is to a question {unknown} answer out",
        "en/outputs.jsonl:3: language+query_id = ('en', 'q9'): "
        f"this answer is to a question {unknown} answer out",
        "en/pairs.jsonl:1: language+query_id = ('en', 'q8'): "
        f"this judgment is to a question {unknown} judgment out",
        "en/pairs.jsonl:2: model_B = 'm1': is judged against itself; remove this judgment",
    ]


def test_half_a_surrogate_pair_is_reported_wherever_it_stands(tmp_path: Path):
    half = "\ud800"
    outputs = [{"model": half, "output": "a"}, {"model": "m1", "output": half}]
    prompts = [PROMPTS[0], {**PROMPTS[1], "prompt": prompt(half, "[a b] x [c.d] y")}]
    files = write(
        tmp_path / "en",
        prompts,
        [{"query_id": "q1", "outputs": outputs}, {"query_id": half, "outputs": []}],
        [{**JUDGMENTS[0], "judge": half, "model_A": "m1", "model_B": "m1"}],
    )
    fault = "holds half a surrogate pair, which no file can store; replace it by U+FFFD"
    assert faults({"en": files}) == [
        f"en/prompts.jsonl:2: prompt = {prompts[1]['prompt']!r:.79}…: {fault}",
        f"en/outputs.jsonl:1: outputs.0.model = '\\ud800': {fault}",
        f"en/outputs.jsonl:1: outputs.1.output = '\\ud800': {fault}",
        f"en/outputs.jsonl:2: query_id = '\\ud800': {fault}",
        f"en/pairs.jsonl:1: judge = '\\ud800': {fault}",
    ]


class FakeHub(ModuleType):
    """The one function of ``datasets`` that is used."""

    def __init__(self, tables: dict[str, list[dict]]) -> None:
        super().__init__("datasets")
        self.tables = tables
        self.calls: list[tuple[str, str, str]] = []

    def load_dataset(self, name: str, config: str, *, split: str) -> SimpleNamespace:
        self.calls.append((name, config, split))
        if name not in self.tables:
            raise FileNotFoundError(f"no data set {name} on the hub")
        return SimpleNamespace(to_list=lambda: self.tables[name])


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    fake = FakeHub(
        {
            "nthakur/mirage-bench": PROMPTS,
            "nthakur/mirage-bench-output": OUTPUTS,
            "nthakur/mirage-bench-pairwise-judgments": JUDGMENTS,
        }
    )
    monkeypatch.setitem(sys.modules, "datasets", fake)
    return fake


def test_loading_by_name(hub: FakeHub, bench: ForeignArena):
    loaded = load_mirage(["en"], reference_system="m2")
    assert hub.calls == [
        ("nthakur/mirage-bench", "en", "dev"),
        ("nthakur/mirage-bench-output", "en", "dev"),
        ("nthakur/mirage-bench-pairwise-judgments", "en", "dev"),
    ]
    assert loaded.arena.info == bench.arena.info
    pd.testing.assert_frame_equal(loaded.arena.judgments, bench.arena.judgments)
    pd.testing.assert_frame_equal(loaded.features, bench.features)
    assert set(loaded.skipped["source"]) == {f"{name}/en/dev" for name in hub.tables}
