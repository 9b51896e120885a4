"""The server of ``view``: what it answers, what it refuses, and what a kill leaves."""

import errno
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_client import Client, running

from arena import read_arena, write_arena
from arena.data.folder import VOTES_FILE
from surrogate.board.settings import ResolvedSettings
from surrogate_arena.voting.access import Access, Tokens
from surrogate_arena.voting.served_board import has_settings

START = [sys.executable, "-m", "surrogate_arena", "view"]


def next_pair(client, voter, **headers):
    return client.json("POST", "/pair", {"voter": voter}, **headers)["pair"]


def test_pages_of_the_board_and_the_page_to_vote_on(client):
    status, headers, _ = client.ask("GET", "/")
    assert (status, headers["location"]) == (303, "/index.html")
    index = client.ask("GET", "/index.html")[2]
    for link in re.findall(r'href="([^"#]+\.html)"', index):
        status, headers, text = client.ask("GET", f"/{link}")
        assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "connect-src &#39;self&#39;" in text
        assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert 'href="vote.html"' in index
    for path in ("/nothing", "/../arena/arena.json", "/%2e%2e/arena.json", "/votes.jsonl"):
        status, headers, _ = client.ask("GET", path)
        assert status == 404
        assert headers["content-security-policy"].startswith("default-src 'none'")
    assert client.ask("PUT", "/vote", b"")[0] == 405


def test_no_reply_to_a_voter_names_a_system(client, small_arena):
    texts = [client.ask("GET", "/vote.html")[2]]
    for _ in range(8):
        status, _, text = client.ask("POST", "/pair", {"voter": "Blind"})
        assert status == 200
        pair = json.loads(text)["pair"]
        texts.append(text)
        vote = {"voter": "Blind", "id": pair["id"], "choice": "tie"}
        texts.append(client.ask("POST", "/vote", vote)[2])
    for name in small_arena.info.systems:
        assert not any(name in text for text in texts)


def test_a_vote_is_a_judgment_as_soon_as_it_is_answered(client, folders):
    pair = next_pair(client, " Zoë  Z ")
    vote = {"voter": "Zoë Z", "id": pair["id"], "choice": "b"}
    assert client.json("POST", "/vote", vote) == {"judged": 1}
    judged = read_arena(folders[1]).judged_by("person:Zoë Z").judgments
    assert judged["winner"].to_list() == ["b"]
    # The board is by a machine, and counts no vote of people.
    counted = len(pd.read_json(folders[1] / VOTES_FILE, lines=True))
    votes, settings = client.json("GET", "/news")["remarks"]
    assert (votes["name"], votes["statistic"]) == ("new votes", counted)
    assert re.match(rf"{counted} new votes?: ", votes["sentence"])
    assert settings["name"] == "settings"
    assert (
        client.json("GET", "/news")["command"]
        == f"surrogate-arena board {folders[1]} --out {folders[0]}"
    )


def test_a_name_typed_in_two_forms_is_one_voter(client, folders):
    for n_judged, voter in enumerate(["Jos\u00e9", "Jose\u0301"], start=1):
        pair = next_pair(client, voter)
        vote = {"voter": voter, "id": pair["id"], "choice": "a"}
        assert client.json("POST", "/vote", vote) == {"judged": n_judged}
    assert len(read_arena(folders[1]).judged_by("person:Jos\u00e9").judgments) == 2


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"voter": "Ada", "id": "0" * 20, "choice": "a"}, 409),
        ({"voter": "Ada", "id": "ID", "choice": "A"}, 422),
        ({"voter": "Ada", "id": "<script>", "choice": "a"}, 422),
        ({"voter": " ", "id": "ID", "choice": "a"}, 422),
        ({"voter": "A\x1bda", "id": "ID", "choice": "a"}, 422),
        ({"voter": "A" * 81, "id": "ID", "choice": "a"}, 422),
        ({"voter": "\u3164", "id": "ID", "choice": "a"}, 422),
        ({"voter": "\u2800", "id": "ID", "choice": "a"}, 422),
        ({"voter": "x\ufe0f", "id": "ID", "choice": "a"}, 422),
        ({"voter": ["Ada"], "id": "ID", "choice": "a"}, 422),
        ({"voter": "Ada", "id": "ID", "choice": "a", "winner": "b"}, 422),
        (b"[" * 4000, 422),
        (b'{"voter": "\xff"}', 422),
        (b"x" * 5000, 413),
    ],
)
def test_votes_are_checked(client, folders, body, status):
    pair = next_pair(client, "Checker")
    if isinstance(body, dict) and body["id"] == "ID":
        body = body | {"id": pair["id"]}
    before = len(read_arena(folders[1]).judgments)
    replied, _, text = client.ask("POST", "/vote", body)
    assert replied == status
    assert json.loads(text)["error"]
    assert len(read_arena(folders[1]).judgments) == before


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": None}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
        ({"Host": "192.0.2.1:80", "Origin": "http://192.0.2.1:80"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": ""}, 403),
    ],
)
def test_other_pages_and_other_names_are_refused(client, headers, status):
    assert client.ask("POST", "/pair", {"voter": "Eve"}, **headers)[0] == status
    if "Host" in headers:
        assert client.ask("GET", "/index.html", **headers)[0] == status


@given(st.text(max_size=60))
def test_no_name_of_another_site_is_this_server(host):
    local, everywhere = Access("127.0.0.1", 80), Access("0.0.0.0", 80, Tokens("b", "v"))
    named = host.rpartition(":")[0] or host
    if named.strip("[]").lower() not in {"localhost", "127.0.0.1", "::1"}:
        assert not local.is_known_host(host) or host.partition(":")[0].lower() == "localhost"
    assert not everywhere.is_known_host(f"{named}.evil.example")


@pytest.mark.slow
def test_people_who_vote_at_the_same_time_lose_nothing(client, folders):
    def vote_often(name):
        ids = set()
        for _ in range(6):
            pair = next_pair(client, name)
            vote = {"voter": name, "id": pair["id"], "choice": "a"}
            client.json("POST", "/vote", vote)
            ids.add(pair["id"])
        return ids

    names = [f"crowd {letter}" for letter in "abcdefgh"]
    with ThreadPoolExecutor(len(names)) as pool:
        assert [len(ids) for ids in pool.map(vote_often, names)] == [6] * len(names)
    counts = read_arena(folders[1]).judgments["judge"].value_counts()
    assert [counts[f"person:{name}"] for name in names] == [6] * len(names)


def test_other_machines_need_a_token_and_voters_see_no_board(folders):
    with running(folders, "0.0.0.0") as client:
        board, vote = client.server.board_link, client.server.voting_link
        assert client.server.is_open
        secrets = {"/": board.partition("=")[2], "/vote.html": vote.partition("=")[2]}
        assert len({*secrets.values()}) == 2
        assert min(map(len, secrets.values())) >= 43
        for path in ("/", "/index.html", "/news", "/vote.html", "/?token=", "/vote.html?token=x"):
            status, headers, text = client.ask("GET", path)
            assert (status, headers["set-cookie"]) == (403, None)
            assert "view printed" in text
        assert client.ask("POST", "/pair", {"voter": "Eve"})[0] == 403
        cookies = {}
        for path, secret in secrets.items():
            status, headers, _ = client.ask("GET", f"{path}?token={secret}")
            assert (status, headers["location"]) == (303, path)
            assert "HttpOnly" in headers["set-cookie"]
            assert "SameSite=lax" in headers["set-cookie"]
            cookies[path] = headers["set-cookie"].partition(";")[0]
        assert client.ask("GET", f"/index.html?token={secrets['/vote.html']}")[0] == 403
        voter, owner = cookies["/vote.html"], cookies["/"]
        assert client.ask("GET", "/vote.html", Cookie=voter)[0] == 200
        assert next_pair(client, "Ada", Cookie=voter)["a"]
        for foreign in ('theme={"dark":true}', "name=Jo Hn"):
            cookie = f"{foreign}; {voter}"
            assert client.ask("GET", "/vote.html", Cookie=cookie)[0] == 200
        many_fields = "a=1&" * 20
        assert client.ask("GET", f"/vote.html?{many_fields}")[0] == 403
        assert client.ask("GET", f"/vote.html?{many_fields}", Cookie=voter)[0] == 200
        for path in ("/", "/index.html", "/news", "/judge.html"):
            assert client.ask("GET", path, Cookie=voter)[0] == 403
            assert client.ask("GET", path, Cookie=owner)[0] in (200, 303)
        for cookie in (f"{voter}x", voter[:-1], "a=b; ;;=\x01", f"{voter.partition('=')[0]}="):
            assert client.ask("GET", "/vote.html", Cookie=cookie)[0] == 403
        name = socket.gethostname()
        origin = f"http://{name}:{client.port}"
        status, _, _ = client.ask(
            "POST", "/pair", {"voter": "Ada"},
            Host=f"{name}:{client.port}", Origin=origin, Cookie=voter,
        )  # fmt: skip
        assert status == 200
        rebound = {"Host": "evil.example", "Origin": "http://evil.example", "Cookie": owner}
        assert client.ask("POST", "/pair", {"voter": "Eve"}, **rebound)[0] == 403


@pytest.mark.slow
def test_a_board_that_is_built_again_is_served_and_counts_the_votes(
    english_arena, build_quickly, tmp_path
):
    folder, board = tmp_path / "arena", tmp_path / "board"
    of_people = english_arena.judgments.assign(judge="person:Old")
    judgments = pd.concat([english_arena.judgments, of_people], ignore_index=True)
    voted = replace(english_arena, judgments=judgments)
    write_arena(voted, folder)
    by_people = build_quickly(voted, judge="people")
    summary = by_people.summary
    settings = summary.settings.model_copy(update={"judge": english_arena.judges[0]})
    by_machine = replace(by_people, summary=summary.model_copy(update={"settings": settings}))
    by_machine.save(board, folder)
    with running((board, folder)) as client:
        assert client.json("GET", "/news")["remarks"][0]["statistic"] == len(of_people)
        by_people.save(board, folder)
        assert client.json("GET", "/news")["remarks"] == []
        assert f"<bdi>{summary.judge}</bdi>" in client.ask("GET", "/index.html")[2]
        pair = next_pair(client, "Ada")
        client.json("POST", "/vote", {"voter": "Ada", "id": pair["id"], "choice": "a"})
        assert (
            client.json("GET", "/news")["remarks"][0]["sentence"] == "1 new vote: run board again."
        )
        (board / "manifest.json").rename(board / "away.json")
        assert client.ask("GET", "/index.html")[0] == 200


def test_only_settings_that_a_user_chose_are_pointed_to():
    settings = ResolvedSettings(
        judge="gpt", features=("bleu", "answer_length"), other_judges=("b",)
    )
    assert not has_settings(settings)
    assert has_settings(settings.model_copy(update={"seed": 1}))
    assert has_settings(settings.model_copy(update={"features": ("bleu", "nli_support")}))


def test_votes_on_answers_that_have_changed_are_refused(client, folders):
    pair = next_pair(client, "Late")
    (answers,) = folders[1].glob("answers.*")
    before = answers.stat()
    os.utime(answers, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    vote = {"voter": "Late", "id": pair["id"], "choice": "a"}
    status, _, text = client.ask("POST", "/vote", vote)
    assert status == 409
    assert "start view again" in text
    os.utime(answers, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert client.json("POST", "/vote", vote) == {"judged": 1}


def test_a_disk_that_fails_is_said(client, monkeypatch):
    pair = next_pair(client, "Full")

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("surrogate_arena.voting.voting.append_vote", fail)
    vote = {"voter": "Full", "id": pair["id"], "choice": "a"}
    status, _, text = client.ask("POST", "/vote", vote)
    assert (status, json.loads(text)) == (
        507,
        {"error": "Nothing was saved: No space left on device."},
    )
    monkeypatch.undo()
    assert client.json("POST", "/vote", vote) == {"judged": 1}


def test_without_the_extra_it_is_named(folders, run, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "surrogate_arena.voting.server", None)
    assert run("view", folders[0]) == 2
    assert "[serve]'" in capsys.readouterr().err


def test_a_port_that_is_taken_is_said_plainly(folders, run, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert run("view", folders[0], "--port", taken.getsockname()[1]) == 2
    assert "another port may be free: --port" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_nothing_that_was_answered_is_lost_when_the_server_is_killed(folders):
    board, arena = folders
    command = [*START, str(board), "--port", "0"]
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
    while "Ctrl+C" not in server.stdout.readline():
        pass
    client = Client.__new__(Client)
    client.port, client.origin = port, f"http://127.0.0.1:{port}"
    answered = []

    def vote_until_it_dies(name):
        try:
            while True:
                pair = next_pair(client, name)
                vote = {"voter": name, "id": pair["id"], "choice": "tie"}
                client.json("POST", "/vote", vote)
                answered.append(name)
                if len(answered) >= 25:
                    server.send_signal(signal.SIGKILL)
        except (OSError, http.client.HTTPException):
            return

    names = [f"victim {letter}" for letter in "abcd"]
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(vote_until_it_dies, names))
    assert server.wait() == -signal.SIGKILL
    server.stdout.close()
    assert len(answered) >= 25
    counts = read_arena(arena).judgments["judge"].value_counts()
    for name in names:
        # One may have been written whose reply did not arrive.
        assert counts.get(f"person:{name}", 0) - answered.count(name) in (0, 1)
