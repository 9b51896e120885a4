"""The settings of LLMs in every command that asks one, against servers that are picky."""

import json

import pandas as pd
import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import completion, error
from memerag_samples import answered, labeled, lines_of
from picky_servers import refusing_extra_fields, refusing_limits, refusing_two_samplings
from wikieval_samples import published_rows

from arena import write_arena

OF_MODELS_THAT_THINK = 'body = {max_completion_tokens = 4000}\nomit = ["temperature"]\n'
GROUSE_REPLY = json.dumps({"answer_2": {"score": 1}})


@pytest.fixture
def memerag(tmp_path):
    folder = tmp_path / "memerag"
    folder.mkdir()
    sentences = [
        labeled("Paris is in France.", "Supported", "Direct paraphrase"),
        labeled("It is huge.", "Not Supported", "Adds new information", number=1),
    ]
    (folder / "en.jsonl").write_text(lines_of(answered("q1", *sentences)), encoding="utf-8")
    return folder


@pytest.fixture
def wikieval(tmp_path):
    path = tmp_path / "wikieval.jsonl"
    path.write_text(lines_of(*published_rows()), encoding="utf-8")
    return path


@pytest.fixture
def commands(tiny_arena, memerag, wikieval, tmp_path):
    """Each command's words before those that say how the model is asked, and a good reply."""
    out = tmp_path / "out"
    out.mkdir()
    arena = tmp_path / "arena"
    write_arena(tiny_arena, arena)
    store = ["--config", f"store={tmp_path}/metaeval.sqlite"]
    few = ["--questions", 1, "--model", "m"]
    features = ["features", arena, "--jobs", 1, "--out"]
    return {
        "grouse": (
            ["metaeval", "grouse", "--judge", "llm:m", "--limit", 1, *store],
            GROUSE_REPLY,
        ),
        "memerag": (
            ["metaeval", "memerag", memerag, "--judge", "llm:m", *store],
            "<answer>Supported</answer>",
        ),
        "wikieval": (
            ["metaeval", "wikieval", wikieval, "--judge", "gpt-score:m", *store],
            "Score: 7",
        ),
        "fluency": (
            [*features, out / "fluency.parquet", "--features", "llm_fluency(model=m)"],
            "##Rating: 4",
        ),
        "judge": (
            ["judge", arena, "--pairs", 2, *few],
            "[[A]]",
        ),
        "generate": (
            ["generate", arena, *few, "--out", out / "answers.jsonl"],
            "##Reason: so ##Answer: There.",
        ),
    }


NAMES = ["grouse", "memerag", "wikieval", "fluency", "judge", "generate"]


@pytest.fixture
def ask(run, commands, serve, tmp_path, capsys):
    """Run a command against a server, and return its status, what it printed, and the server."""

    def ask(name, behavior, *options, config="", reply=None):
        words, good_reply = commands[name]
        server = serve(None)
        server.behave = behavior(lambda: server, good_reply if reply is None else reply)
        stated = []
        if config:
            path = tmp_path / f"{name}.toml"
            path.write_text(config, encoding="utf-8")
            stated = ["--config", path]
        status = run(*words, "--base-url", server.url, *stated, *options)
        return status, capsys.readouterr(), server

    return ask


def always(_, reply):
    return lambda prompt, earlier: completion(reply)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_error_that_names_a_setting_ends_the_command(ask, name):
    status, printed, server = ask(name, refusing_limits)
    assert status in (1, 2)
    assert "max_completion_tokens" in printed.err
    assert len(server.bodies) <= 8


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_settings_of_a_file_reach_the_model(ask, name):
    status, printed, server = ask(name, refusing_limits, config=OF_MODELS_THAT_THINK)
    assert status == 0, printed.err
    assert server.bodies
    for body in server.bodies:
        assert body["max_completion_tokens"] == 4000
        assert not {"max_tokens", "temperature"} & body.keys()


@pytest.mark.parametrize("name", NAMES)
def test_settings_of_options_reach_the_model(ask, name):
    stated = ["temperature=0.5", "max_tokens=77", 'body={"top_k": 3}', "omit=top_p"]
    options = [word for setting in stated for word in ("--config", setting)]
    status, printed, server = ask(name, always, *options)
    assert status == 0, printed.err
    for body in server.bodies:
        assert (body["temperature"], body["max_tokens"], body["top_k"]) == (0.5, 77, 3)
        assert "top_p" not in body


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_that_is_unknown_is_refused_with_a_suggestion(ask, name):
    status, printed, server = ask(name, always, config="temprature = 1.0\n")
    assert status == 2
    assert "temperature" in printed.err
    assert not server.bodies


@pytest.mark.parametrize("body", ['{"top_p": 0.5', "[1]", '{"temperature": 1}'])
def test_a_body_that_cannot_be_sent_is_refused(ask, body):
    status, _, server = ask("memerag", always, "--config", f"body={body}")
    assert status == 2
    assert not server.bodies


@pytest.mark.parametrize("omitted", ["temperature", "top_p"])
def test_published_parameters_are_defaults(ask, omitted, tmp_path):
    """A model that refuses two of them is asked with one, and the results say so."""
    status, _, server = ask("memerag", refusing_two_samplings)
    assert status in (1, 2)
    assert server.bodies[0]["temperature"] == server.bodies[0]["top_p"] == 0.1
    out = tmp_path / "verdicts.jsonl"
    options = ["--config", f"omit={omitted}", "--out", out]
    status, printed, server = ask("memerag", refusing_two_samplings, *options)
    assert status == 0, printed.err
    assert all(omitted not in body for body in server.bodies)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert all(f"{omitted}=none (published: 0.1)" in row["prompt"] for row in rows)


@pytest.mark.slow
def test_a_strict_server_is_asked_for_plain_text(ask):
    status, printed, _ = ask("grouse", refusing_extra_fields)
    assert status in (1, 2)
    assert "response_format" in printed.err
    status, printed, _ = ask("grouse", refusing_extra_fields, "--replies", "text")
    assert status == 0, printed.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "reply"),
    [
        *((name, "I cannot say.") for name in NAMES if name != "generate"),
        ("grouse", '{"answer_2": {"score": '),
        ("judge", "\n[[maybe]]"),
    ],
)
def test_replies_that_nobody_can_read_are_no_result(ask, name, reply, tmp_path):
    """No table of zeros: status 1, and what came back is shown."""
    status, printed, _ = ask(name, always, reply=reply)
    assert status == 1
    assert "unparsable" in printed.err
    assert " ".join(reply.split()) in " ".join(printed.err.split())
    assert "0.0 " not in printed.out


@pytest.mark.parametrize("name", NAMES)
def test_rejections_of_all_prompts_are_no_result(ask, name):
    """A prompt or two, each rejected for what it holds, with the server's words."""

    def rejecting(_, reply):
        return lambda prompt, earlier: error(400, "we do not like owls")

    status, printed, _ = ask(name, rejecting)
    assert status in (1, 2)
    assert "we do not like owls" in printed.err + printed.out


@pytest.mark.parametrize("name", ["memerag", "wikieval", "fluency", "judge"])
def test_some_failures_are_counted_with_their_reasons(ask, name):
    def sometimes(_, reply):
        seen = []

        def behave(prompt, earlier):
            if prompt not in seen:
                seen.append(prompt)
            return completion(reply) if seen.index(prompt) else error(400, "we do not like owls")

        return behave

    status, printed, _ = ask(name, sometimes)
    assert status == 0, printed.err
    assert "1 rejected" in printed.out
    assert "we do not like owls" in " ".join(printed.out.split())


def test_features_without_a_reply_leave_the_others_in_the_table(ask, commands, tmp_path):
    out = tmp_path / "both.parquet"
    words, _ = commands["fluency"]
    words[words.index("--out") + 1] = out
    words[words.index("--features") + 1] = "answer_length,llm_fluency(model=m)"
    status, _, _ = ask("fluency", always, reply="no idea")
    assert status == 1
    table = pd.read_parquet(out)
    assert table["answer_length"].notna().all()
    assert table["llm_fluency(model=m)"].isna().all()


def test_calls_of_features_are_bounded(ask, tmp_path):
    status, printed, server = ask("fluency", always, config="max_calls = 3\n")
    assert (status, len(server.bodies)) == (0, 3)
    assert "over_budget" in printed.out


def test_a_judge_without_a_verdict_does_not_take_the_others_with_it(run, serve, memerag, tmp_path):
    server = serve()
    server.behave = lambda prompt, _: completion(
        "no idea" if server.bodies[-1]["model"] == "bad" else "<answer>Supported</answer>"
    )
    out = tmp_path / "run.jsonl"
    words = ["metaeval", "memerag", memerag, "--judge", "llm:good", "--judge", "llm:bad"]
    words += ["--config", f"store={tmp_path}/s.sqlite"]
    status = run(*words, "--base-url", server.url, "--out", out)
    assert status == 1
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["judge"] for row in rows} == {"llm:good", "llm:bad"}


@pytest.mark.parametrize("stated", ["omit=top_p", 'body={"top_k": 1}'])
def test_a_function_in_a_models_place_takes_no_fields_of_requests(run, commands, stated, capsys):
    words, _ = commands["generate"]
    words = [word for word in words if word not in ("--model", "m")]
    assert run(*words, "--system", "json:dumps", "--config", stated) == 2
    assert stated.partition("=")[0] in capsys.readouterr().err
