"""LLMs as judges of faithfulness, at a server of the tests' own."""

import contextlib
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "llm"))

pytest.importorskip("openai", reason="needs the extra llm")
pytest.importorskip("sqlalchemy", reason="needs the extra llm")

from chat_server import ChatServer, completion, error, filtered, refused

from arena import UsageError
from arena.llm import Endpoint, ModelSettings, open_store
from surrogate.metaevaluation.memerag.balanced_accuracy import score_judges
from surrogate.metaevaluation.memerag.judges import (
    PROMPTS,
    Claim,
    FaithfulnessPrompt,
    LlmFaithfulnessJudge,
    judge_sentences,
    paper_settings,
)

YES, NO = "Supported", "Not Supported"
CLAIM = Claim(
    "en", "Where?", ("A & B < C", '{{ x }} "quoted"'), "It's. So.", "It's <here> & {{ y }}."
)

SYSTEM_SAYS = {
    "zero_shot": (
        "grounded in the list of provided evidence passages",
        "in <answer> </answer> tag.",
    ),
    "cot": ("write your reasoning in between the tags <rationale></rationale>", "</answer> tag"),
    "ag": (
        'Output "Not Supported" if ANY of the following are true:',
        "output only the single-word",
    ),
    "ag_cot": (
        "The answer conflates or misrepresents separate pieces",
        "Output **Supported** otherwise",
    ),
}


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.fixture
def serve():
    with contextlib.ExitStack() as stack:
        yield lambda behave: stack.enter_context(ChatServer(behave))


def judge_at(server, store, settings=None, **fields):
    endpoint = Endpoint(server.url, None, backoff_s=0.01, timeout_s=5, longest_wait_s=1, retries=0)
    return LlmFaithfulnessJudge(settings or paper_settings("m"), store, endpoint, **fields)


def tagged(label):
    return completion(f"<answer>{label}</answer>")


@pytest.mark.parametrize("name", PROMPTS)
def test_prompts_show_texts_as_they_are(name):
    system, user = FaithfulnessPrompt(name).ask(CLAIM).messages
    assert (system.role, user.role) == ("system", "user")
    for text in SYSTEM_SAYS[name]:
        assert text in system.content
    assert user.content == (
        'Evidence Passages:\n1: A & B < C\n\n2: {{ x }} "quoted"\n\n'
        "Answer: It's <here> & {{ y }}.\n\n"
        'Now provided your label directly as "Supported" or "Not Supported".'
    )


def test_prompts_are_versioned_by_content_and_differ():
    versions = {FaithfulnessPrompt(name).version for name in PROMPTS}
    assert len(versions) == len(PROMPTS)
    assert FaithfulnessPrompt("ag_cot").version.startswith("ag_cot.v1@")
    assert FaithfulnessPrompt("cot").ask(CLAIM).version == FaithfulnessPrompt("cot").version
    with pytest.raises(UsageError, match="unknown prompt 'few_shot'; use one of zero_shot, cot"):
        FaithfulnessPrompt("few_shot")


def test_settings_are_the_papers(serve, store):
    server = serve(lambda prompt, earlier: tagged(YES))
    judge_at(server, store, prompt_name="ag").judge([CLAIM])
    body = server.bodies[0]
    assert (body["temperature"], body["top_p"], body["model"]) == (0.1, 0.1, "m")


def test_an_llm_judges_the_sentences(serve, store, small_sentences):
    server = serve(
        lambda prompt, earlier: tagged(YES if "Answer: Paris" in prompt else "unsupported")
    )
    judge = judge_at(server, store)
    verdicts = judge_sentences(small_sentences, [judge])
    assert list(verdicts["label"]) == [YES, NO, NO, YES, NO]
    assert set(verdicts["judge"]) == {"llm:m"}
    scores = score_judges(verdicts, replicates=50)
    assert scores["balanced_accuracy"].tolist() == pytest.approx([0.75, 1.0, 0.875])
    assert len(judge.usages) == 1


def test_a_reply_without_a_label_is_asked_again_and_nothing_is_paid_twice(serve, store):
    server = serve(lambda prompt, earlier: tagged(NO) if earlier == 3 else completion("Hm."))
    judge = judge_at(server, store)
    assert judge.judge([CLAIM])[0].label == NO
    assert sum(server.asked.values()) == 4
    again = judge_at(server, store)
    assert again.judge([CLAIM])[0].label == NO
    assert sum(server.asked.values()) == 4
    assert [usage.calls for usage in again.usages] == [0, 0, 0, 0]


@pytest.mark.parametrize("reply", [completion("Hm."), completion(""), refused()])
def test_after_five_retries_the_judge_was_wrong(serve, store, reply):
    server = serve(lambda prompt, earlier: reply)
    verdict = judge_at(server, store).judge([CLAIM])[0]
    assert (verdict.label, verdict.was_asked) == (None, True)
    assert verdict.failure in ("unparsable", "empty", "refusal")
    assert sum(server.asked.values()) == 6


def test_what_a_filter_stops_is_not_asked_again(serve, store):
    server = serve(lambda prompt, earlier: filtered())
    verdict = judge_at(server, store).judge([CLAIM])[0]
    assert (verdict.failure, verdict.was_asked) == ("content_filter", True)
    assert sum(server.asked.values()) == 1


def test_retries_have_seeds_of_their_own(serve, store):
    server = serve(lambda prompt, earlier: completion("Hm."))
    judge_at(server, store, ModelSettings("m", seed=7), retries=2).judge([CLAIM])
    assert [body["seed"] for body in server.bodies] == [7, 8, 9]


def test_a_server_that_fails_in_passing_is_no_error_of_the_judge(serve, store):
    server = serve(lambda prompt, earlier: tagged(YES) if earlier else error(500))
    first, second = (judge_at(server, store).judge([CLAIM])[0] for _ in range(2))
    assert (first.label, first.was_asked, first.failure) == (None, False, "server_error")
    assert second.label == YES


def test_max_calls_counts_retries(serve, store):
    server = serve(lambda prompt, earlier: completion("Hm."))
    claims = [Claim("en", "Where?", ("A",), text, text) for text in ("a", "b", "c")]
    verdicts = judge_at(server, store, max_calls=4).judge(claims)
    assert sum(server.asked.values()) == 4
    assert {(each.was_asked, each.failure) for each in verdicts} == {(False, "over_budget")}


def test_progress_is_told_by_try(serve, store):
    server = serve(lambda prompt, earlier: tagged(YES) if earlier else completion("Hm."))
    told = []
    judge_at(server, store, progress=lambda *step: told.append(step)).judge([CLAIM])
    assert told == [("llm:m", 1, 1), ("llm:m retry 1", 1, 1)]


def test_fewer_than_no_retries_are_refused(store):
    with pytest.raises(UsageError, match="retries is -1"):
        LlmFaithfulnessJudge(paper_settings("m"), store, retries=-1)
