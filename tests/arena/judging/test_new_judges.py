"""CONTRIBUTING, "Adding a judge": what it says to write is enough."""

import json
from types import MappingProxyType
from typing import get_args

from chat_server import completion
from judged_systems import better, build_arena, judge_arena

from arena.judging import LlmJudge, choose_pairs, pairwise_prompt
from arena.judging.forms import JUDGE_FORMS
from arena.judging.judging_settings import JudgingForm, VerdictForm
from arena.judging.pairwise import REPLY_FORMS, VARIABLES, ReplyForm
from arena.judging.verdict_parsing import WINNER_OF_LETTER, PairVerdict
from arena.llm import UnparsableError
from arena.llm.prompts import ReplaceablePrompt

TEMPLATE = """{{ question }}
[The Start of Assistant A's Answer {{ answer_code }}]
{{ answer_a }}
[The End of Assistant A's Answer {{ answer_code }}]
[The Start of Assistant B's Answer {{ answer_code }}]
{{ answer_b }}
[The End of Assistant B's Answer {{ answer_code }}]
Reply with JSON: {"better": "A"}
"""


def read_json(completion):
    """Step 1: a function that reads the verdict of a reply."""
    try:
        letter = json.loads(completion.answer)["better"]
        return PairVerdict(WINNER_OF_LETTER[letter])
    except (ValueError, KeyError, TypeError):
        raise UnparsableError("the reply is not such as {'better': 'A'}") from None


def test_a_new_reply_form_is_a_template_a_function_and_an_entry(
    serve, judge_at, store, tmp_path, monkeypatch
):
    # Step 2: a template in the folder ``prompts`` of a package.
    package = tmp_path / "new_judges"
    (package / "prompts").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "prompts" / "pairwise-json.v1.jinja").write_text(TEMPLATE)
    monkeypatch.syspath_prepend(tmp_path)
    # Step 3: an entry of REPLY_FORMS, with the fields of the request that it needs.
    form = ReplyForm(
        prompt=ReplaceablePrompt(
            name="pairwise-json",
            asks="Which of two answers is better, as JSON",
            reply='{"better": "A"}, B or C',
            variables=VARIABLES,
            package="new_judges",
            packaged_name="pairwise-json.v1",
        ),
        read=read_json,
        fields={"response_format": {"type": "json_object"}},
    )
    forms = MappingProxyType({**REPLY_FORMS, "json": form})
    monkeypatch.setattr("arena.judging.pairwise.REPLY_FORMS", forms)

    def behave(prompt, _):
        return completion(
            "A, I think" if "q1?" in prompt else json.dumps({"better": better(prompt)})
        )

    server = serve(behave)
    arena = build_arena(questions=2)
    judge = judge_at(server, prompt=pairwise_prompt(verdict="json"))
    judged = judge_arena(arena, judge, choose_pairs(arena), store)
    assert set(judged.judgments["winner"]) <= {"a", "b"}
    assert len(judged.judgments) == len(judged.failures) == 3
    assert set(judged.failures["reason"]) == {"unparsable"}
    assert judged.summary.prompt.startswith("pairwise-json.v1@")
    assert server.bodies[0]["response_format"] == {"type": "json_object"}


def test_settings_name_every_form_there_is():
    # Step 4: the name in the type of the setting, which the command line and TOML check.
    assert get_args(VerdictForm) == tuple(REPLY_FORMS)
    assert get_args(JudgingForm) == tuple(JUDGE_FORMS)
    assert all(prompt.form == name for name, prompt in JUDGE_FORMS.items())


def test_a_prompt_of_ones_own_needs_no_code(serve, judge_at, store, tmp_path):
    file = tmp_path / "strict.jinja"
    file.write_text(TEMPLATE.replace('{"better": "A"}', "[[A]], [[B]] or [[C]]"))
    server = serve(lambda prompt, _: completion(f"[[{better(prompt)}]]"))
    judge = LlmJudge(judge_at(server).settings, prompt=pairwise_prompt(file))
    arena = build_arena(questions=1)
    judged = judge_arena(arena, judge, choose_pairs(arena), store)
    assert len(judged.judgments) == 3
    assert judged.summary.prompt.startswith("strict@")
