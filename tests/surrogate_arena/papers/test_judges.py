"""Judges of all benchmarks: by name, checked, LLMs asked again, budgets, and what is left out."""

import pytest
from chat_server import completion

from arena import UsageError
from arena.llm import LlmSettings
from surrogate_arena.papers.evaluation import JudgeFactory, evaluate_judges, make_judges
from surrogate_arena.papers.judges import FunctionJudge, PromptJudge
from surrogate_arena.papers.memerag.accuracy import score_judges
from surrogate_arena.papers.memerag.benchmark import Memerag
from surrogate_arena.papers.memerag.claims import Claim, ClaimPrompts
from surrogate_arena.papers.settings import JudgeOptions, MetaevalSettings
from surrogate_arena.papers.verdict import Verdict

YES, NO = "Supported", "Not Supported"
CLAIM = Claim("en", "Where?", ("Paris is in France.",), "It is.", "Paris is in France.")
KINDS = {"llm:MODEL": lambda model, _: [f"LLM {model}"]}


def tagged(label):
    return completion(f"<answer>{label}</answer>")


def judge_on(llm, **fields):
    return PromptJudge(ClaimPrompts(), llm, **({"retries": 5} | fields))


def test_judges_by_name():
    factory = JudgeFactory(JudgeOptions(), None)
    assert make_judges("llm:org/model:free", KINDS, factory) == ["LLM org/model:free"]
    assert make_judges("python:math:sqrt", KINDS, factory)[0].function(4) == 2
    for spec in ("llm:", "gpt-4o", "python:math", "python:no_such_module:f", "python:math:pi"):
        with pytest.raises(UsageError):
            make_judges(spec, KINDS, factory)


def test_unusable_judges_are_refused(small_sentences):
    class Short:
        name, prompt = "short", ""

        def judge(self, items):
            return [Verdict(YES)]

    benchmark = Memerag(small_sentences)
    with pytest.raises(UsageError, match="short returned 1 verdict for 5 sentences; return one"):
        evaluate_judges(benchmark, [Short()])
    with pytest.raises(UsageError, match="there is no judge; give at least one"):
        evaluate_judges(benchmark, [])
    always = FunctionJudge("always", lambda *_: YES)
    with pytest.raises(UsageError, match="always is given twice"):
        evaluate_judges(benchmark, [always, always])


def test_an_llm_judges_the_sentences_with_the_papers_settings(serve, llm_at, small_sentences):
    server = serve(
        lambda prompt, earlier: tagged(YES if "Answer: Paris" in prompt else "unsupported")
    )
    settings = ClaimPrompts().settings(LlmSettings(model="m"))
    judge = judge_on(llm_at(server, settings=settings))
    found = evaluate_judges(Memerag(small_sentences), [judge])
    assert {(body["temperature"], body["top_p"]) for body in server.bodies} == {(0.1, 0.1)}
    assert list(found.verdicts["value"]) == [YES, NO, NO, YES, NO]
    assert set(found.verdicts["judge"]) == {"llm:m"}
    scores = score_judges(found.verdicts, MetaevalSettings(replicates=50))
    assert scores["value"].tolist() == pytest.approx([0.75, 1.0, 0.875])
    assert len(found.usages) == 1


def test_a_reply_without_a_label_is_asked_again_and_nothing_is_paid_twice(serve, llm_at):
    server = serve(lambda prompt, earlier: tagged(NO) if earlier == 3 else completion("Hm."))
    for calls in ([1, 1, 1, 1], [0, 0, 0, 0]):
        judge = judge_on(llm_at(server))
        assert judge.judge([CLAIM]) == [Verdict(NO)]
        assert sum(server.asked.values()) == 4
        assert [usage.calls for usage in judge.usages] == calls
