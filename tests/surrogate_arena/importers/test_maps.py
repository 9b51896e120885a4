"""Maps of tools: shipped ones, those of examples, and what becomes of each file of the cases."""

import json
from pathlib import Path

import pandas as pd
import pytest

from arena import DataError, UsageError, import_arena
from surrogate_arena.importers.imports import evident_kind
from surrogate_arena.importers.tool_maps import shipped_maps

ROOT = Path(__file__).parents[3]
MAPS = ROOT / "examples" / "maps"


def questions(read):
    return read.arena.queries["query"].tolist()


def winners(read):
    rows = read.arena.judgments.to_dict(orient="records")
    return [row.get(f"system_{row['winner']}") for row in rows]


def test_a_table_of_promptfoo_says_what_to_export(rag_case):
    for kind in ("promptfoo", "csv"):
        with pytest.raises(DataError, match=r"promptfoo eval -o results\.json"):
            import_arena(kind, [rag_case("10-promptfoo.csv")])


def test_a_prompt_without_variables_is_the_question_and_a_failed_call_is_said(tmp_path):
    row = {"provider": {"id": "p"}, "vars": {}, "prompt": {"raw": "Why?"}, "promptIdx": 0}
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": {"results": [{**row, "error": "timed out"}]}}))
    with pytest.raises(UsageError, match="its call failed: 1"):
        import_arena("promptfoo", [path])
    path.write_text(json.dumps({"results": {"results": [{**row, "response": {"output": "So."}}]}}))
    assert questions(import_arena("promptfoo", [path])) == ["Why?"]


def test_an_example_reads_results_of_bedrock(rag_case):
    files = [rag_case("11-bedrock-lite.jsonl"), rag_case("11-bedrock-pro.jsonl")]
    read = import_arena(str(MAPS / "bedrock.toml"), files)
    assert read.arena.info.systems == ("amazon.nova-lite-v1:0", "amazon.nova-pro-v1:0")
    assert read.arena.queries["reference"].tolist()[0] == "It opened in 1932."
    assert read.arena.judges == ("Builtin.Correctness",)
    assert winners(read) == ["amazon.nova-lite-v1:0"] * 3


def test_an_experiment_of_phoenix_is_a_system(rag_case, tmp_path):
    path = rag_case("12-phoenix-experiment.json")
    runs = json.loads(path.read_text())
    for run in runs:
        run["output"]["answer"] = "I do not know."
        run["annotations"][0] |= {"score": 0.0, "label": "incorrect"}
    (tmp_path / "second.json").write_text(json.dumps(runs))
    read = import_arena("phoenix", [path, tmp_path / "second.json"])
    assert read.arena.queries["reference"].tolist()[1] == "J. Holt designed it."
    assert len(read.arena.queries["passages"][0]) == 2
    assert read.arena.judges == ("correctness",)
    assert winners(read) == ["12-phoenix-experiment"] * 3


@pytest.mark.parametrize("topics", ["13-trec-topics.jsonl", "14-ragtime-topics.jsonl"])
def test_runs_are_joined_to_their_topics(rag_case, topics):
    files = [rag_case("13-trec-run-a.jsonl"), rag_case("13-trec-run-b.jsonl"), rag_case(topics)]
    read = import_arena("trec-rag", files)
    assert questions(read)[0] == "Bridge opening. When did the bridge open?"
    assert read.arena.info.systems == ("a", "b")
    assert read.skipped["reason"].tolist() == ["'background' is not read"]


def test_runs_are_joined_to_the_tracks_table_of_topics(rag_case, tmp_path):
    topics = tmp_path / "rag25-topics-dev.tsv"
    topics.write_text("100\tWhen did it open?\n101\tWho designed it?\n102\tHow long is it?\n")
    read = import_arena("trec-rag", [rag_case("13-trec-run-a.jsonl"), topics])
    assert questions(read) == ["When did it open?", "Who designed it?", "How long is it?"]
    topics.write_text("100 When did it open?\n")
    with pytest.raises(UsageError, match=r"topics are missing .*an id, a tab and a text"):
        import_arena("trec-rag", [rag_case("13-trec-run-a.jsonl"), topics])
    topics.write_text("100\tWhen did it open?\n101 Who designed it?\n")
    with pytest.raises(DataError, match="an id, a tab and a text"):
        import_arena("trec-rag", [rag_case("13-trec-run-a.jsonl"), topics])


def test_runs_without_topics_say_so(rag_case):
    with pytest.raises(UsageError, match="topics are missing: add their file"):
        import_arena("trec-rag", [rag_case("13-trec-run-a.jsonl"), rag_case("13-trec-run-b.jsonl")])


def test_a_table_of_scores_of_langfuse_is_joined_to_its_traces(rag_case):
    files = [rag_case("15-langfuse-traces.csv"), rag_case("15-langfuse-scores.csv")]
    read = import_arena("langfuse", files)
    assert read.arena.judges == ("correctness",)
    assert winners(read) == ["v1"] * 3
    with pytest.raises(UsageError, match="no record has the traceId that it names: 6"):
        import_arena("langfuse", files[1:])


def test_an_example_reads_preferences_of_argilla(rag_case):
    read = import_arena(str(MAPS / "argilla.toml"), [rag_case("17-argilla.json")], language="en")
    assert winners(read) == ["alpha", "alpha", "beta"]
    assert len(read.arena.answers) == 6
    assert questions(read)[2] == "How long is the bridge?"


def test_several_preferences_for_a_pair_are_battles(tmp_path):
    record = {
        "id": "7",
        "fields": {"prompt": "Why?", "response_a": "So.", "response_b": "Thus."},
        "metadata": {"model_a": "alpha", "model_b": "beta"},
        "responses": {
            "preference": [
                {"value": "response_b", "user_id": "u1"},
                {"value": "response_a", "user_id": "u2"},
            ]
        },
    }
    path = tmp_path / "records.json"
    path.write_text(json.dumps([record]))
    read = import_arena(str(MAPS / "argilla.toml"), [path], language="en")
    assert winners(read) == ["beta", "alpha"]
    assert read.arena.judgments["voter"].tolist() == ["u1", "u2"]


def test_an_example_reads_reviews_of_evalscope(tmp_path):
    games = [
        {"model_a": "one", "model_b": "two", "judgment": "A>>B"},
        {"model_a": "two", "model_b": "one", "judgment": "A=B"},
    ]
    score = {"value": {"score": 0.75}, "metadata": {"battle_result": {"games": games}}}
    review = {"index": 3, "input": "Why?", "sample_score": {"score": score}}
    path = tmp_path / "reviews.jsonl"
    path.write_text(json.dumps(review))
    read = import_arena(str(MAPS / "evalscope.toml"), [path], language="en")
    assert questions(read) == ["Why?"]
    assert winners(read) == ["one", None]


def test_examples_are_short():
    for path in MAPS.glob("*.toml"):
        assert len(path.read_text().splitlines()) <= 20


def test_results_of_an_evaluation_belong_to_spans(tmp_path):
    spans = []
    for model, score in (("large", 0.9), ("small", 0.4)):
        attributes = {
            "input.value": "Why?",
            "output.value": f"{model} says so.",
            "gen_ai.request.model": model,
        }
        result = {"gen_ai.evaluation.name": "Relevance", "gen_ai.evaluation.score.value": score}
        spans.append(
            {
                "traceId": model,
                "spanId": model,
                "attributes": listed(attributes),
                "events": [{"name": "gen_ai.evaluation.result", "attributes": listed(result)}],
            }
        )
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    read = import_arena("opentelemetry", [path])
    assert read.arena.judges == ("Relevance",)
    assert winners(read) == ["large"]


def listed(attributes):
    return [
        {
            "key": name,
            "value": {"doubleValue" if isinstance(value, float) else "stringValue": value},
        }
        for name, value in attributes.items()
    ]


def test_runs_of_retrievers_within_a_run_are_its_passages(tmp_path):
    runs = [
        {"id": "r", "trace_id": "r", "run_type": "chain", "session_name": "s"}
        | {"inputs": {"question": "Why?"}, "outputs": {"answer": "So."}},
        {"id": "c", "trace_id": "r", "parent_run_id": "r", "run_type": "retriever"}
        | {"inputs": {}, "outputs": {"documents": [{"page_content": "It is so."}]}},
    ]
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(runs))
    read = import_arena("langsmith", [path])
    assert read.arena.queries["passages"][0][0]["text"] == "It is so."
    assert read.skipped.empty


def test_a_column_of_that_name_wins_over_a_path(tmp_path):
    frame = pd.DataFrame(
        {"input": ['{"question": "Why?"}'], "input.question": ["How?"], "output": ["So."]}
    )
    frame.assign(release="v1").to_csv(tmp_path / "traces.csv", index=False)
    read = import_arena("langfuse", [tmp_path / "traces.csv"])
    assert questions(read) == ["How?"]


@pytest.mark.parametrize("name", sorted(shipped_maps()))
def test_every_map_says_what_it_is(name):
    tool = shipped_maps()[name]
    assert tool.title
    assert tool.hint
    assert {"question", "system", "answer"} <= tool.fields.keys()


def test_a_file_of_the_cases_is_known(rag_case):
    assert evident_kind([rag_case("12-phoenix-experiment.json")])[0] == "phoenix"
    assert evident_kind([rag_case("13-trec-run-a.jsonl")])[0] == "trec-rag"
