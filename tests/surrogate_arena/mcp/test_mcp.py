"""The MCP server, by the SDK's own client and by bare pipes, over real processes."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys

import anyio
import pandas as pd
import pytest
from simulations import small_simulation

from arena import write_arena
from surrogate import Board, rank_systems

# The SDK takes a second to import, which every worker would do only to leave these tests out.
HAS_SDK = importlib.util.find_spec("mcp") is not None
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not HAS_SDK, reason="needs the extra mcp")]

SERVER = [sys.executable, "-m", "surrogate_arena", "mcp"]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder with an arena, new answers, and ways out; next to it what must not be read."""
    folder = tmp_path_factory.mktemp("mcp")
    arena = small_simulation(range(6), ["en"], questions=4).arena
    inside = folder / "inside"
    write_arena(arena, inside / "arena")
    write_arena(arena, folder / "outside")
    new = arena.answers[arena.answers["system"] == arena.info.systems[0]].assign(system="new")
    for place in (inside / "new.jsonl", folder / "outside.jsonl"):
        new.to_json(place, orient="records", lines=True)
    (inside / "link").symlink_to(folder / "outside")
    shutil.copytree(inside / "arena", inside / "linked")
    shutil.move(inside / "linked" / "answers.jsonl.gz", folder)
    (inside / "linked" / "answers.jsonl.gz").symlink_to(folder / "answers.jsonl.gz")
    broken = inside / "broken"
    shutil.copytree(inside / "arena", broken)
    (broken / "answers.jsonl.gz").unlink()
    (broken / "answers.jsonl").write_text('{"query_id": 1}\n')
    return inside


RANK = ("rank", {"answers": "new.jsonl", "board": "board"})
# The arena's latest system has answers that are broken.
GATED = {"arena": "arena", "candidate": "sim-cedar-pro", "baseline": "sim-atlas-large"}


def outside_calls(root):
    outside = root.parent
    return [
        ("check", {"arena": "../outside"}),
        ("check", {"arena": str(outside / "outside")}),
        ("check", {"arena": "link"}),
        ("check", {"arena": "linked"}),
        ("check", {"arena": "arena/../../outside"}),
        ("board", {"arena": "arena", "out": "../out"}),
        ("board", {"arena": "arena", "out": "link/out"}),
        ("board", {"arena": "link", "out": "out"}),
        ("rank", {"answers": "../outside.jsonl", "board": "board"}),
        ("rank", {"answers": "new.jsonl", "board": "board", "arena": "../outside"}),
        ("rank", {"answers": "new.jsonl", "board": "board", "judgments": "../outside.jsonl"}),
        ("gate", {"arena": "arena", "candidate": "../outside.jsonl"}),
        ("gate", {"arena": "../outside"}),
        # Its arena, which the board notes, is outside.
        ("rank", {"answers": "new.jsonl", "board": "moved"}),
        ("gate", {"board": "moved"}),
    ]


@pytest.fixture(scope="module")
def session(root):
    """Tools, and the result of each call, by the client of the SDK."""
    calls = [
        ("check", {"arena": "arena"}),
        ("check", {"arena": "broken"}),
        ("board", {"arena": "arena", "out": "board"}),
        RANK,
        ("gate", GATED),
        ("rank", {"answers": 3}),
        ("check", {"arena": "nowhere"}),
        ("board", {"arena": "arena", "out": "board", "judge": "nobody"}),
        ("gate", {}),
        ("gate", {**GATED, "cheaper": True}),
        ("check", {"arena": "a\0b"}),
    ]
    results = {}

    async def ask():
        import mcp

        parameters = mcp.StdioServerParameters(
            command=SERVER[0], args=SERVER[1:], cwd=root, env=dict(os.environ)
        )
        async with mcp.Client(mcp.stdio_client(parameters)) as client:
            tools = (await client.list_tools()).tools
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                results[name, json.dumps(arguments)] = result
            # Saved elsewhere by its owner, with the way to an arena that is outside.
            Board.load(root / "board").save(root / "moved", root.parent / "outside")
            for name, arguments in outside_calls(root):
                result = await client.call_tool(name, arguments)
                results[name, json.dumps(arguments)] = result
        return tools

    return {tool.name: tool for tool in anyio.run(ask)}, results


def result_of(session, name, **arguments):
    _, results = session
    return results[name, json.dumps(arguments)]


def test_tools_are_described_with_typed_inputs_and_results(session):
    tools, _ = session
    assert set(tools) == {"check", "board", "rank", "gate"}
    for name, tool in tools.items():
        assert tool.description
        for field in tool.input_schema["properties"].values():
            assert field["description"]
            assert "type" in field or "anyOf" in field
        assert tool.output_schema["properties"]
        assert tool.annotations.read_only_hint == (name != "board")


def test_results_are_data_and_sentences(session, root):
    checked = result_of(session, "check", arena="arena")
    assert not checked.is_error
    assert checked.structured_content["is_valid"]
    assert "4 questions, 24 answers" in checked.content[0].text
    broken = result_of(session, "check", arena="broken")
    assert not broken.structured_content["is_valid"]
    assert [text.split(":")[0] for text in broken.structured_content["problems"]] == [
        "answers.jsonl"
    ] * 3

    built = result_of(session, "board", arena="arena", out="board")
    saved = Board.load(root / "board")
    table = pd.DataFrame(built.structured_content["ratings"])
    assert table["system"].tolist() == saved.ratings["system"].tolist()
    assert table["rating"].to_numpy() == pytest.approx(saved.ratings["rating"].to_numpy())
    assert " is first" in built.content[0].text

    ranked = result_of(session, RANK[0], **RANK[1])
    [new] = ranked.structured_content["new"]
    expected = rank_systems(saved, root / "new.jsonl").new
    assert (new["system"], new["place"]) == ("new", expected["place"].item())
    assert f"new: about place {new['place']} (" in ranked.content[0].text

    gated = result_of(session, "gate", **GATED).structured_content
    assert gated["verdict"] in ("better", "same", "worse", "cannot say")
    assert gated["sentences"]
    cheaper = result_of(session, "gate", **GATED, cheaper=True)
    assert cheaper.structured_content["verdict"] == "cannot say"
    assert "no cost" in cheaper.content[0].text


def test_errors_are_the_tools_with_hints(session):
    for arguments, hint in (
        (("rank", {"answers": 3}), "board\n  Field required"),
        (("check", {"arena": "nowhere"}), "there is no 'nowhere' in "),
        (("board", {"arena": "arena", "out": "board", "judge": "nobody"}), "simulated-teacher"),
        (("gate", {}), "name a `board` or an `arena`"),
        (("check", {"arena": "a\0b"}), "cannot be followed"),
    ):
        name, options = arguments
        result = result_of(session, name, **options)
        assert result.is_error
        assert hint in result.content[0].text


def test_nothing_outside_the_folder_is_read_or_written(session, root):
    for name, arguments in outside_calls(root):
        result = result_of(session, name, **arguments)
        assert result.is_error, (name, arguments)
        assert f"outside {root}" in result.content[0].text
    assert not (root.parent / "out").exists()
    assert not (root.parent / "outside" / "out").exists()


def test_standard_output_carries_the_protocol_alone(root):
    messages = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "bare", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "check", "arguments": {"arena": "arena"}},
        },
    ]
    with subprocess.Popen(
        SERVER,
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
        replies = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        rest = server.stdout.read()
    assert [(reply["jsonrpc"], reply["id"]) for reply in replies] == [("2.0", 1), ("2.0", 2)]
    assert replies[1]["result"]["structuredContent"]["is_valid"]
    assert rest == ""
    assert server.returncode == 0


def test_without_the_package_the_extra_is_named(tmp_path):
    program = (
        "import sys; sys.modules['mcp'] = None\n"
        "from surrogate_arena.cli.app import main\nmain(['mcp'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 2
    assert "[mcp]'" in done.stderr
