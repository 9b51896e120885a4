"""Tuning a random Llama of two layers: the loss falls, killed runs go on, the adapter is used."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.data.errors import UsageError
from arena.llm import Llm, LlmSettings, Prompt, ask_table, open_store, read_text
from arena.llm.local.folder import local_model
from arena.llm.local.loading import load_local
from surrogate.training.batches import token_rows
from surrogate.training.recipes import TuningSettings
from surrogate.training.record import last_checkpoint, read_losses
from surrogate.training.rows import read_chat_rows
from surrogate.training.tuning import TuningJob, finetune, mean_loss

ROOT = Path(__file__).parents[3]
SETTINGS = TuningSettings(epochs=5, batch=4, learning_rate=0.03, warmup=0)


@pytest.fixture(scope="module")
def job(tiny_llama, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuning")
    row = {"role": "user", "content": "Say it."}, {"role": "assistant", "content": "yes"}
    lines = [json.dumps({"messages": row, "language": "en"})] * 8
    (folder / "chats.jsonl").write_text("\n".join(lines))
    chats = folder / "chats.jsonl"
    return TuningJob(chats, str(tiny_llama), SETTINGS.of("mirage"), folder / "tuned", test=chats)


@pytest.fixture(scope="module")
def tuned(job):
    return finetune(job)


def test_the_loss_falls_on_what_is_learned(tuned):
    losses = tuned.losses["loss"]
    assert len(losses) == 10
    assert losses.iloc[-1] < losses.iloc[0] - 0.3
    assert read_losses(tuned.folder).equals(tuned.losses.astype(read_losses(tuned.folder).dtypes))
    loss = tuned.record["loss"]
    assert loss["unseen_after"] < loss["unseen_before"] - 0.3


def test_the_record_says_what_was_tuned_on_what(tuned, job):
    noted = json.loads((tuned.folder / "training.json").read_text())
    assert noted["finished"] is True
    assert noted["base"]["digest"] == local_model(job.base).digest
    assert noted["adapter"] == local_model(str(tuned.folder)).digest
    assert noted["device"]["together"] * noted["device"]["accumulation"] == 4
    assert noted["recipe"]["rank"] == 16
    assert noted["examples"]["kept"] == 8
    # Every linear layer of both blocks, of 32 and 64 wide: 4 of attention, 3 of the feed-forward.
    assert noted["trained_weights"] == 2 * 16 * (4 * (32 + 32) + 3 * (32 + 64))
    assert not (tuned.folder / "checkpoints").exists()
    assert {path.suffix for path in tuned.folder.iterdir()} == {
        *(".safetensors", ".json", ".jinja", ".csv")
    }


def test_the_adapter_loads_as_it_was_trained(tuned, job):
    loaded = load_local(local_model(str(tuned.folder)))
    rows = token_rows(read_chat_rows(job.file), loaded.tokenizer)
    assert mean_loss(loaded, rows) == pytest.approx(tuned.record["loss"]["unseen_after"], abs=2e-5)


LOGPROBS = {"logprobs": True, "top_logprobs": 20}


def ask(model, store, **fields):
    settings = LlmSettings(model=str(model), max_tokens=4, **fields).located()
    asked = ask_table(["Say it."], Prompt.of, lambda each: each, Llm(settings, store))
    return asked.replies[0], asked.usage


def test_the_adapter_answers_otherwise_than_its_base_and_is_asked_once(tuned, job, tmp_path):
    with open_store(tmp_path / "store.sqlite") as store:
        base, _ = ask(job.base, store, body=LOGPROBS)
        one, usage = ask(tuned.folder, store, body=LOGPROBS)
        again, later = ask(tuned.folder, store, body=LOGPROBS)
    assert base.value.text != one.value.text
    assert one.value == again.value
    assert (usage.calls, later.calls, later.from_store) == (1, 0, 1)
    first = one.value.logprobs[0]
    assert first.alternatives[0] == (first.token, first.logprob)  # greedy takes the likeliest
    of_base = base.value.logprobs[0].alternatives
    learned = [
        max(logprob for token, logprob in alternatives if token in set("yes"))
        for alternatives in (first.alternatives, of_base)
    ]
    assert learned[0] > learned[1] + 0.3


def test_the_same_training_gives_the_same_adapter(tuned, job, tmp_path):
    again = finetune(TuningJob(job.file, job.base, job.recipe, tmp_path / "again", seed=job.seed))
    assert again.record["adapter"] == tuned.record["adapter"]
    other = finetune(TuningJob(job.file, job.base, job.recipe, tmp_path / "other", seed=1))
    assert other.record["adapter"] != tuned.record["adapter"]


def test_examples_that_are_too_long_are_left_out_and_counted(job, tmp_path):
    short = TuningSettings(max_length=10, epochs=1).of("mirage")
    with pytest.raises(UsageError, match="all 8 examples are longer than 10 tokens"):
        finetune(TuningJob(job.file, job.base, short, tmp_path / "short"))


PROGRAM = """
import sys, time
from pathlib import Path
from surrogate.training.recipes import TuningSettings
from surrogate.training.tuning import TuningJob, finetune

def slowly(stage, done, total):
    print(done, flush=True)
    time.sleep(0.2)

recipe = TuningSettings(epochs=5, batch=4, learning_rate=0.03, warmup=0).of("mirage")
finetune(TuningJob(Path(sys.argv[1]), sys.argv[2], recipe, Path(sys.argv[3])), slowly)
"""


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_end(tuned, job, tmp_path):
    out = tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(job.file), job.base, str(out)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )
    deadline = time.monotonic() + 600
    while last_checkpoint(out) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    stopped = last_checkpoint(out)
    assert process.returncode == -signal.SIGKILL
    assert stopped is not None
    assert not json.loads((out / "training.json").read_text())["finished"]
    with pytest.raises(UsageError, match="cut off with another seed"):
        finetune(TuningJob(job.file, job.base, job.recipe, out, seed=5))
    resumed = finetune(TuningJob(job.file, job.base, job.recipe, out))
    assert resumed.resumed == int(stopped.name.rpartition("-")[2]) > 0
    assert resumed.record["adapter"] == tuned.record["adapter"]
    assert resumed.losses["loss"].tolist() == pytest.approx(tuned.losses["loss"].tolist())


def test_the_command_tunes_and_says_so(chats, tiny_llama, tmp_path, run, capsys):
    out = tmp_path / "tuned"
    options = ["--recipe", "grouse", "--epochs", "1", "--batch", "8", "--test", chats]
    assert run("finetune", chats, "--base", tiny_llama, "--out", out, *options) == 0
    printed = capsys.readouterr().out
    assert "Examples: 8" in printed
    assert f"give that folder as --model, or llm:{out}" in printed
    assert run("finetune", chats, "--base", tiny_llama, "--out", out, *options) == 2
    assert "tuned already" in capsys.readouterr().err


def test_the_text_of_replies_is_read(tuned, tmp_path):
    settings = LlmSettings(model=str(tuned.folder), max_tokens=3, temperature=1.0).located()
    with open_store(tmp_path / "store.sqlite") as store:
        llm = Llm(settings, store)
        asked = ask_table(["Say it.", "Say it."], Prompt.of, read_text, llm)
        kept = ask_table(["Say it."], Prompt.of, lambda each: each, llm)
    (text,) = {reply.value.text for reply in kept.replies}
    assert text
    assert list(asked.values) == [text, text]
    assert asked.usage.calls == 1
    assert kept.usage.calls == 0
