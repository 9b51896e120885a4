"""Questions whose answer changes with time."""

import pytest
from asked_questions import build_queries, question_of
from chat_server import completion

from arena.llm import Budget, Completion, LlmSettings, UnparsableError
from surrogate_arena.generation import (
    TimeFilter,
    dry_run_generate,
    generate_answers,
    time_dependence,
)
from surrogate_arena.generation.questions import read_label


def behave(prompt, earlier):
    """Question 0 is time-dependent, question 1 gets no label."""
    if "<label>" not in prompt:
        return completion(f"answer to {question_of(prompt)}")
    label = {"0": "Yes.", "1": "perhaps"}.get(question_of(prompt)[9], "no")
    return completion(f"<rationale>It depends.</rationale> <label>{label}</label>")


@pytest.fixture
def filter_at(system_at):
    def filter_at(server, model="filter"):
        return TimeFilter(system_at(server, model=model).settings)

    return filter_at


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "<label>maybe</label>",
        "<label>{yes or no}</label>",
        "<label></label>",
        "",
        "<think><label>no</label>",
    ],
)
def test_no_label_is_no_answer(text):
    with pytest.raises(UnparsableError):
        read_label(Completion(text))


def test_time_dependent_questions_are_left_out_and_listed(serve, store, system_at, filter_at):
    server = serve(behave)
    generated = generate_answers(
        build_queries(4), system_at(server), store, time_filter=filter_at(server)
    )
    assert list(generated.answers["query_id"]) == ["q2", "q3"]
    assert generated.skipped.to_dict("records") == [
        {
            "query_id": "q0",
            "language": "en",
            "system": "m",
            "reason": "time_dependent",
            "detail": "It depends.",
            "prompt": TimeFilter(LlmSettings(model="m")).template.version,
            "key": generated.skipped["key"][0],
            "query": "Question 0 in en?",
        }
    ]
    assert generated.counts()["failures"] == {"time_dependence_unparsable": 1}
    assert (generated.filter_usage.calls, generated.usage.calls) == (4, 2)
    assert {body["model"] for body in server.bodies} == {"filter", "m"}


def test_a_dry_run_knows_what_the_store_has_told(serve, store, system_at, filter_at):
    server, queries = serve(behave), build_queries(4)
    blank = dry_run_generate(queries, system_at(server), None, time_filter=filter_at(server))
    assert (blank["time_filter"].calls, blank["answers"].calls) == (4, 4)
    time_dependence(queries, filter_at(server), store, Budget())
    told = dry_run_generate(queries, system_at(server), store, time_filter=filter_at(server))
    assert (told["time_filter"].calls, told["answers"].calls) == (0, 3)
    assert len(server.bodies) == 4
