"""Arenas and boards on a hub, by huggingface_hub itself, against a server on this machine."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from hub_server import TOKEN, running_hub
from simulations import small_simulation

from arena import Arena, read_arena, write_arena
from surrogate import Board, build_board, rank_systems

library = pytest.importorskip("huggingface_hub", reason="needs the extra hub")
constants = pytest.importorskip("huggingface_hub.constants", reason="needs the extra hub")
# Of huggingface_hub, which uploads by a call that httpx will drop.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

SECRET = "Only the arena says xyzzy-plugh"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an arena, whose answers hold a text to look for, and a board of it."""
    folder = tmp_path_factory.mktemp("hub")
    arena = small_simulation(range(6), ["en", "de"], questions=4).arena
    answers = arena.answers.assign(answer=arena.answers["answer"] + f" {SECRET}.")
    arena = Arena(**{**vars(arena), "answers": answers})
    write_arena(arena, folder / "arena")
    (folder / "arena" / "judging.sqlite").write_text("replies that were paid for")
    board = build_board(arena, features="answer_length", surrogate="linear", tournaments=2)
    board.save(folder / "board", folder / "arena")
    return folder


@pytest.fixture
def hub():
    with running_hub() as running:
        yield running


@pytest.fixture
def publish(hub, folder, run, capsys, monkeypatch):
    """Publish in this process, as the command does."""
    monkeypatch.chdir(folder)

    def publish(*words, token=TOKEN):
        # The library reads its variables once.
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setenv("HF_TOKEN", token)
        status = run("publish", *words)
        printed = capsys.readouterr()
        assert TOKEN not in printed.out + printed.err
        return SimpleNamespace(returncode=status, stdout=printed.out, stderr=printed.err)

    return publish


def run_with(hub, folder, *words, token=TOKEN, program=("-m", "surrogate_arena")):
    """Run a program in a process of its own, which the environment tells of the hub."""
    home = {"HF_ENDPOINT": hub.url, "HF_HOME": str(folder / "home"), "HF_HUB_DISABLE_XET": "1"}
    env = {name: value for name, value in os.environ.items() if not name.startswith("HF_")} | home
    if token:
        env["HF_TOKEN"] = token
    done = subprocess.run(
        [sys.executable, *program, *map(str, words)],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert TOKEN not in done.stdout + done.stderr
    return done


def snapshot(hub, folder, name, target):
    """Download a data set as its readers do."""
    program = "import sys, huggingface_hub as h; h.snapshot_download("
    program += "sys.argv[1], repo_type='dataset', local_dir=sys.argv[2])"
    done = run_with(hub, folder, name, target, program=("-c", program))
    assert done.returncode == 0, done.stderr
    return target


@pytest.mark.slow
def test_an_arena_is_a_data_set_that_reads_as_an_arena(hub, folder, tmp_path):
    described = (
        "--title",
        "Our\narena",
        "--config",
        "description=What it is.",
        "--license",
        "CC BY 4.0",
    )
    done = run_with(hub, folder, "publish", "arena", "--hub", "me/arena", *described)
    assert done.stdout == f"Data set: {hub.url}/datasets/me/arena\n", done.stderr
    [created] = hub.created
    assert (created["type"], created["visibility"]) == ("dataset", "private")
    assert hub.storage  # which has addresses of its own, and is not shown the token
    assert hub.seen_tokens.pop("PUT") == {None}
    assert all(tokens == {f"Bearer {TOKEN}"} for tokens in hub.seen_tokens.values())
    files = hub.files["datasets", "me/arena"]
    assert "judging.sqlite" not in files
    assert not any(TOKEN.encode() in content for content in files.values())

    card = library.DatasetCard(files["README.md"].decode())
    assert card.data.pretty_name == "Our arena"
    assert card.data.license == "cc-by-4.0"
    assert sorted(card.data.language) == ["de", "en"]
    assert "surrogate-arena" in card.data.tags
    configs = {config["config_name"]: config["data_files"] for config in card.data.configs}
    assert {"queries", "answers", "judgments"} <= set(configs)
    assert set(configs.values()) <= set(files)
    assert "What it is." in card.text
    assert "hf download me/arena --repo-type dataset" in card.text

    read = read_arena(snapshot(hub, folder, "me/arena", tmp_path / "snapshot"))
    original = read_arena(folder / "arena")
    for table in ("queries", "answers", "judgments"):
        assert getattr(read, table).equals(getattr(original, table))
    assert read.info == original.info


def test_a_board_is_a_data_set_and_a_static_space(hub, folder, publish, tmp_path):
    asked = ("board", "--hub", "me/board", "--license", "apache-2.0")
    done = publish(*asked)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"Data set: {hub.url}/datasets/me/board",
        f"Space: {hub.url}/spaces/me/board",
    ]
    assert {(made["type"], made["visibility"]) for made in hub.created} == {
        ("dataset", "private"),
        ("space", "private"),
    }
    pages = hub.files["spaces", "me/board"]
    card = library.SpaceCard(pages["README.md"].decode())
    assert (card.data.sdk, card.data.datasets) == ("static", ["me/board"])
    assert SECRET.encode() in pages["pairs/en.html"]
    assert b"<html" in pages["index.html"]

    read = Board.load(snapshot(hub, folder, "me/board", tmp_path / "snapshot"))
    original = Board.load(folder / "board")
    assert read.ratings.equals(original.ratings)
    assert read.summary.arena_folder is None  # a path of this machine
    arena = read_arena(folder / "arena")
    new = arena.answers[arena.answers["system"] == arena.info.systems[0]].assign(system="new")
    assert rank_systems(read, new, arena).new.equals(rank_systems(original, new, arena).new)

    # Once more: one commit each, and what is no longer part of it is gone.
    hub.files["datasets", "me/board"]["old.csv"] = b"old"
    before = dict(hub.files["datasets", "me/board"])
    assert publish(*asked).returncode == 0
    after = hub.files["datasets", "me/board"]
    assert after == {name: data for name, data in before.items() if name != "old.csv"}


def test_without_questions_no_file_on_the_hub_holds_any(hub, folder, publish):
    done = publish("board", "--hub", "me/board", "--config", "questions=0")
    assert done.returncode == 0, done.stderr
    data_set = hub.files["datasets", "me/board"]
    assert {"board.csv", "overall.csv", "README.md"} <= set(data_set)
    assert all(name.endswith(".csv") for name in set(data_set) - {"README.md"})
    query = read_arena(folder / "arena").queries["query"][0]
    for files in hub.files.values():
        for name, content in files.items():
            assert SECRET.encode() not in content, name
            assert query.encode() not in content, name
    refused = publish("arena", "--hub", "me/arena", "--config", "questions=0")
    assert refused.returncode == 2
    assert "publish the board" in refused.stderr


def test_what_is_not_ours_is_not_replaced(hub, publish):
    theirs = {"README.md": b"---\ntags: [mine]\n---\n", "train.csv": b"a\n1\n"}
    hub.files["datasets", "me/arena"] = dict(theirs)
    done = publish("arena", "--hub", "me/arena")
    assert done.returncode == 2
    assert "name another repository" in done.stderr
    assert hub.files["datasets", "me/arena"] == theirs
    assert hub.commits == []
    # An empty one, as its page makes it, may be filled.
    hub.files["datasets", "me/arena"] = {".gitattributes": b"*.gz filter=lfs\n"}
    assert publish("arena", "--hub", "me/arena").returncode == 0
    assert ".gitattributes" in hub.files["datasets", "me/arena"]


@pytest.mark.parametrize(
    ("words", "token", "hint"),
    [
        (("--hub", "me/arena"), "", "set the environment variable HF_TOKEN"),
        (("--hub", "arena"), TOKEN, "write OWNER/NAME"),
        (("--hub", "../arena"), TOKEN, "write OWNER/NAME"),
        (("--hub", "me/arena", "--out", "site"), TOKEN, "leave --as and --out out"),
    ],
)
def test_nothing_is_sent_without_a_token_and_a_name(hub, publish, words, token, hint):
    done = publish("arena", *words, token=token)
    assert done.returncode == 2
    assert hint in done.stderr
    assert not hub.seen_tokens


def test_refusals_are_told_without_the_token(hub, publish):
    hub.refusal = 403  # the server repeats the token
    done = publish("arena", "--hub", "me/arena")
    assert done.returncode == 2
    assert "the dataset me/arena cannot be written" in done.stderr
    hub.url = "http://127.0.0.1:9"
    done = publish("arena", "--hub", "me/arena")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
