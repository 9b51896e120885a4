"""A function as a RAG system: imported, called, kept, counted; what is wrong with it is said."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest
from asked_questions import build_queries
from chat_server import completion

from arena import Arena, ArenaInfo, UsageError, read_arena, write_arena
from arena.data.folder import read_own_answers
from arena.data.frames import as_rows, checked_answers, empty_rows
from arena.data.schema import JUDGMENTS
from surrogate_arena.generation import (
    FunctionSystem,
    GenerationSettings,
    TimeFilter,
    generate_answers,
)

NUMBERS = count()


@pytest.fixture
def own_system(tmp_path, monkeypatch):
    """Write a module of its own, and return the system that a function in it is."""
    monkeypatch.syspath_prepend(tmp_path)

    def own_system(code, path="answer", **settings):
        module = f"own_{os.getpid()}_{next(NUMBERS)}"
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        return FunctionSystem.of(GenerationSettings(**settings), f"{module}:{path}")

    return own_system


def test_a_function_gets_what_it_asks_for_and_may_return_passages(own_system, store):
    system = own_system(
        """
import json
def answer(question, *, passages, history, language):
    found = [{"text": "Found.", "passage_id": 7, "score": object()}, "Too."]
    return json.dumps([question, language, passages, history]), found if language == "fi" else None
""",
        name="mine",
    )
    queries = build_queries(2, ("en", "fi"))
    turns = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Yes?"}]
    queries["history"] = [turns] * len(queries)
    generated = generate_answers(queries, system, store)
    said = checked_answers(as_rows(generated.answers, "answers"), queries)
    assert set(said["system"]) == {"mine"}
    assert set(said["prompt"]) == {system.version}
    finnish = said[said["language"] == "fi"]["passages"].tolist()
    assert [[(each["passage_id"], each["text"]) for each in found] for found in finnish] == [
        [("7", "Found."), ("2", "Too.")]
    ] * 2
    assert said[said["language"] == "en"]["passages"].isna().all()
    given = json.loads(said["answer"][0])
    first = queries.iloc[0]
    assert given[:2] == [first["query"], first["language"]]
    assert given[3] == turns
    assert [set(each) for each in given[2]] == [{"passage_id", "text", "title"}] * len(
        first["passages"]
    )


SO = "def {}(question, config=None, **more): return f'So: {{question}}{{more or str()}}'"


@pytest.mark.parametrize(
    ("code", "path"),
    [
        (SO.format("answer"), "answer"),
        (f"async {SO.format('answer')}", "answer"),
        (f"async {SO.format('late')}\nanswer = lambda question: late(question)", "answer"),
        (
            "class Own:\n    " + SO.format("__call__").replace("(", "(self, ", 1) + "\nown = Own()",
            "own",
        ),
        ("class Chain:\n    @staticmethod\n    " + SO.format("invoke"), "Chain.invoke"),
    ],
)
def test_functions_of_every_kind(own_system, store, code, path):
    queries = build_queries(3)
    generated = generate_answers(queries, own_system(code, path), store)
    assert list(generated.answers["answer"]) == [f"So: {text}" for text in queries["query"]]
    assert "passages" not in generated.answers


def test_async_calls_run_side_by_side_and_others_one_at_a_time(own_system, store):
    code = """
import {0}
running = most = 0
{1}def answer(question):
    global running, most
    running += 1
    most = max(most, running)
    {2}{0}.sleep(0.05)
    running -= 1
    return "x"
"""
    queries = build_queries(6)
    for parts, most in ((("asyncio", "async ", "await "), 6), (("time", "", ""), 1)):
        system = own_system(code.format(*parts))
        generate_answers(queries, system, store)
        assert sys.modules[system.settings.where.partition(":")[0]].most == most


def test_what_a_function_raises_is_counted_with_its_reason_and_asked_again(own_system, store):
    code = """
import asyncio
from pathlib import Path
def answer(question):
    number = int("".join(filter(str.isdigit, question)) or 0)
    if number == 1 and not Path(__file__).with_name("repaired").exists():
        raise KeyError("no sk-1234567890abcdefgh here")
    if number in (2, 6, 7):
        raise {2: SystemExit(3), 6: asyncio.CancelledError(), 7: KeyboardInterrupt()}[number]
    return {3: None, 4: " "}.get(number, f"Answer {number}")
"""
    system, queries = own_system(code), build_queries(8)
    first = generate_answers(queries, system, store)
    assert first.counts()["failures"] == {"raised": 4, "empty": 2}
    assert list(first.answers["query_id"]) == ["q0", "q5"]
    details = first.failures.set_index("query_id")["detail"]
    assert details["q1"].startswith("KeyError: 'no [key] here' (own_")
    assert details["q1"].endswith(".py, line 7)")
    assert details["q2"].startswith("SystemExit: 3")
    (store.path.parent / "repaired").touch()
    second = generate_answers(queries, system, store)
    assert list(second.answers["query_id"]) == ["q0", "q1", "q5"]
    assert second.usage.calls == 4  # what was answered, or empty, is in the store


def test_a_function_that_hangs_is_left_behind(own_system, store):
    code = (
        "import time\ndef answer(question): time.sleep(600 if '1' in question else 0); return 'x'"
    )
    generated = generate_answers(build_queries(3), own_system(code, timeout_s=0.3), store)
    assert generated.counts()["failures"] == {"timeout": 1}
    assert generated.failures["detail"][0] == "no answer in 0.3 s"
    assert len(generated.answers) == 2


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("{'answer': 'x'}", "the answer it returned is of type dict; return the answer as a text"),
        ("('x', 'text')", "the passages it returned are of type str"),
        ("('x', [{'id': 1}])", "passages.0.text"),
        ("('x', [{'text': 'a', 'passage_id': 1}] * 2)", "passage_id '1' appears twice"),
    ],
)
def test_a_function_that_only_returns_the_wrong_type_stops(own_system, store, returned, said):
    system = own_system(f"def answer(question): return {returned}")
    with pytest.raises(UsageError, match=r"cannot be used: .* in a row failed so") as caught:
        generate_answers(build_queries(12), system, store)
    assert said in str(caught.value)
    once = own_system(f"def answer(question): return {returned} if '5' in question else 'x'")
    generated = generate_answers(build_queries(9), once, store)
    assert generated.counts()["failures"] == {"malformed": 1}


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("here", "`system` is 'here'; write package.module:function"),
        (":answer", "write package.module:function"),
        ("no_such.thing:answer", "there is no module 'no_such'"),
        ("json.no_such:answer", "there is no module 'json.no_such'"),
        ("json:dump_s", "json:dump_s: there is no 'dump_s'; did you mean 'dump"),
        ("json:decoder.NaN.x", "there is no 'x'"),
        ("json:__name__", "json:__name__ is of type str; name a function"),
        ("os:getcwd", r"os:getcwd cannot be called with question \(too many positional"),
        ("shutil:copyfile", "give it parameters for these, in this order"),
    ],
)
def test_a_place_without_a_function_is_said(place, said):
    with pytest.raises(UsageError, match=said):
        FunctionSystem.of(GenerationSettings(), place)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import no_such_pipeline",
            "ModuleNotFoundError: No module named 'no_such_pipeline' .own_",
        ),
        ("x = 1 / 0", "ZeroDivisionError: division by zero .own_.*line 1"),
        ("raise SystemExit('usage: me')", "SystemExit: usage: me"),
        ("def answer(:", "SyntaxError"),
    ],
)
def test_a_module_that_cannot_be_imported_is_said(own_system, code, said):
    with pytest.raises(UsageError, match=rf"own_\w+ cannot be imported: {said}"):
        own_system(code)


def test_settings_of_models_are_refused():
    with pytest.raises(UsageError, match="a function takes no `model`, `prompt`"):
        FunctionSystem.of(GenerationSettings(model="m", prompt="memerag"), "json:dumps")


def test_other_code_or_another_name_is_asked_again(own_system, store, tmp_path, monkeypatch):
    code = "def answer(question): return 'x'"
    queries, one = build_queries(2), own_system(code)
    place = one.settings.where
    assert generate_answers(queries, one, store).usage.calls == 2
    again = FunctionSystem.of(GenerationSettings(), place)
    assert generate_answers(queries, again, store).usage.calls == 0
    renamed = FunctionSystem.of(GenerationSettings(name="v2"), place)
    assert generate_answers(queries, renamed, store).usage.calls == 2
    (tmp_path / f"{place.partition(':')[0]}.py").write_text(f"{code}  # changed")
    changed = FunctionSystem.of(GenerationSettings(), place)
    assert generate_answers(queries, changed, store).usage.calls == 2


KILLED = """
import time
from pathlib import Path
def answer(question):
    with Path("calls").open("a") as file:
        file.write("x\\n")
    time.sleep(0.1)
    print("chatter")
    return f"So: {question}"
"""


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path):
    queries = build_queries(12)
    info = ArenaInfo(name="a", languages=["en"], systems=["s"])
    answers = queries[["query_id", "language"]].assign(system="s", answer="x")
    write_arena(Arena(info, queries, answers, empty_rows(JUDGMENTS).table), tmp_path / "arena")
    (tmp_path / "killed.py").write_text(KILLED)
    command = [sys.executable, "-c", "from surrogate_arena.cli.app import main; main()"]
    command += ["generate", "arena", "--system", "killed:answer", "--out", "mine.jsonl", "--json"]
    root = str(Path(__file__).parents[3])
    environment = os.environ | {"PYTHONPATH": root, "PYTHONSAFEPATH": ""}
    run = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    calls = tmp_path / "calls"
    end = time.monotonic() + 60
    while not calls.is_file() or calls.read_text().count("x") < 4:
        assert time.monotonic() < end
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    before = calls.read_text().count("x")
    assert before < 12
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert json.loads(done.stdout)["answered"] == 12  # what it printed is elsewhere
    assert b"chatter" in done.stderr
    assert calls.read_text().count("x") <= 13  # the one under way was lost, none else
    queries = read_arena(tmp_path / "arena").queries
    assert len(read_own_answers(tmp_path / "mine.jsonl", queries)) == 12


@pytest.mark.parametrize(
    ("recipe", "package"),
    [("langchain", "langchain_core"), ("llamaindex", "llama_index.core"), ("haystack", "haystack")],
)
def test_the_recipes_run_where_their_packages_are(recipe, package, store, monkeypatch):
    pytest.importorskip(package)
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "examples")
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    system = FunctionSystem.of(GenerationSettings(name=recipe), f"{recipe}_system:answer")
    queries = build_queries(2)
    generated = generate_answers(queries, system, store)
    assert generated.failures.empty
    assert len(checked_answers(as_rows(generated.answers, "answers"), queries)) == 2


def test_a_model_may_tell_which_questions_a_function_is_asked(serve, store, own_system):
    server = serve(
        lambda prompt, _: completion(f"<label>{'no' if '1' in prompt else 'yes'}</label>")
    )
    stated = {"filter_model": "f", "base_url": server.url, "api_key_env": None}
    system = own_system("def answer(question): return question", **stated)
    time_filter = TimeFilter.of(GenerationSettings(**stated))
    generated = generate_answers(build_queries(3), system, store, time_filter=time_filter)
    assert (list(generated.answers["query_id"]), len(generated.skipped)) == (["q1"], 2)
