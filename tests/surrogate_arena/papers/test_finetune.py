"""Tuning a random Llama of two layers: the loss falls, killed runs go on, the adapter is used."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from arena.data.errors import UsageError
from arena.data.files import model_file_digest
from features.models.model_folder import model_digest
from features.models.sentence_models import quiet
from surrogate_arena.papers.base_models import load_base
from surrogate_arena.papers.chats import ChatRow
from surrogate_arena.papers.recipes import TuningSettings
from surrogate_arena.papers.tuning import IGNORED, finetune, last_checkpoint, token_row

# Half of what they take is the import of peft.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
SETTINGS = TuningSettings(epochs=5, batch=4, learning_rate=0.03, warmup=0)


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuning")
    row = {"role": "user", "content": "Say it."}, {"role": "assistant", "content": "yes"}
    (folder / "chats.jsonl").write_text("\n".join([json.dumps({"messages": row})] * 8))
    return folder / "chats.jsonl"


@pytest.fixture(scope="module")
def tune(lesson, tiny_llama):
    return partial(finetune, lesson, str(tiny_llama), SETTINGS.of("mirage"))


@pytest.fixture(scope="module")
def folder(lesson, tune):
    tune(lesson.with_name("tuned"), lesson)
    return lesson.with_name("tuned")


def noted(folder):
    return json.loads((folder / "training.json").read_text())


def test_the_loss_falls_on_what_is_learned(folder):
    losses = pd.read_csv(folder / "loss.csv")["loss"]
    assert len(losses) == 10
    assert losses.iloc[-1] < losses.iloc[0] - 0.3
    loss = noted(folder)["unseen_loss"]
    assert loss["after"] < loss["before"] - 0.3


def test_the_record_says_what_was_tuned_on_what(folder, tiny_llama):
    record = noted(folder)
    assert record["finished"] is True
    assert record["base"]["digest"] == model_digest(tiny_llama)
    assert record["adapter"] == model_file_digest(folder / "adapter_model.safetensors")
    assert record["recipe"]["rank"] == 16
    assert record["examples"]["kept"] == 8
    # Every linear layer of both blocks, of 32 and 64 wide: 4 of attention, 3 of the feed-forward.
    assert record["trained_weights"] == 2 * 16 * (4 * (32 + 32) + 3 * (32 + 64))
    assert not (folder / "checkpoints").exists()
    assert {path.suffix for path in folder.iterdir()} == {
        *(".safetensors", ".json", ".jinja", ".csv")
    }


@pytest.fixture(scope="module")
def tuned(folder):
    """The adapter on its base, as servers load it, and its tokenizer."""
    import peft
    import torch

    base = load_base(noted(folder)["base"]["name"], torch.float32)
    with quiet():
        model = peft.PeftModel.from_pretrained(base.model, str(folder))
    return model.eval(), base.tokenizer


def test_the_last_message_alone_is_learned_and_the_adapter_loads_as_trained(folder, tuned):
    import torch

    model, tokenizer = tuned
    texts = ["Why?", "First.", "Say it.", "yes"]
    chats = [
        {"role": role, "content": text}
        for role, text in zip(["user", "assistant"] * 2, texts, strict=True)
    ]
    whole, last = (ChatRow.model_validate({"messages": part}) for part in (chats, chats[2:]))
    row, one = (token_row(each, tokenizer) for each in (whole, last))
    learned = [label for label in row["labels"] if label != IGNORED]
    assert tokenizer.decode(learned) == "yes<end>"
    assert row["input_ids"][-len(learned) :] == learned
    with torch.inference_mode():
        loss = model(**{name: torch.tensor([part]) for name, part in one.items()}).loss
    assert float(loss) == pytest.approx(noted(folder)["unseen_loss"]["after"], abs=2e-5)


def test_a_template_that_changes_the_prompt_is_refused():
    class Changing:
        def apply_chat_template(self, messages, **_):
            return f"{len(messages)}"

    chat = [{"role": role, "content": "a"} for role in ("user", "assistant")]
    with pytest.raises(UsageError, match="writes a prompt differently"):
        token_row(ChatRow.model_validate({"messages": chat}), Changing())


def test_the_adapter_makes_what_was_taught_likelier_than_its_base_does(tuned):
    import torch

    model, tokenizer = tuned
    chat = {
        "messages": [
            {"role": "user", "content": "Say it."},
            {"role": "assistant", "content": "yes"},
        ]
    }
    row = token_row(ChatRow.model_validate(chat), tokenizer)
    tensors = {name: torch.tensor([values]) for name, values in row.items()}
    with torch.inference_mode():
        tuned_loss = float(model(**tensors).loss)
        with model.disable_adapter():
            base_loss = float(model(**tensors).loss)
    assert tuned_loss < base_loss - 0.3


def refusal(base, tmp_path, lesson):
    with pytest.raises(UsageError) as refused:
        finetune(lesson, str(base), SETTINGS.of("mirage"), tmp_path / "out")
    return str(refused.value)


def test_bases_that_would_run_code_or_cannot_be_tuned_are_refused(folder, lesson, tmp_path):
    assert "is an adapter" in refusal(folder, tmp_path, lesson)
    assert "no file" in refusal(tmp_path / "absent.gguf", tmp_path, lesson)
    base = tmp_path / "base"
    base.mkdir()
    (base / "config.json").write_text('{"model_type": "llama"}')
    assert "no *.safetensors" in refusal(base, tmp_path, lesson)
    (base / "pytorch_model.bin").write_text("pickled")
    assert "pytorch_model.bin" in refusal(base, tmp_path, lesson)
    (base / "model.safetensors").write_text("damaged")
    assert f"{base} cannot be read" in refusal(base, tmp_path, lesson)
    (base / "config.json").write_text('{"quantization_config": {"bits": 4}}')
    assert "quantized" in refusal(base, tmp_path, lesson)


def test_the_same_training_gives_the_same_adapter(folder, tune, tmp_path):
    again = tune(tmp_path / "again")
    assert again["adapter"] == noted(folder)["adapter"]
    assert tune(tmp_path / "other", seed=1)["adapter"] != again["adapter"]


PROGRAM = """
import sys, time
from pathlib import Path
from surrogate_arena.papers.recipes import TuningSettings
from surrogate_arena.papers.tuning import finetune

recipe = TuningSettings(epochs=5, batch=4, learning_rate=0.03, warmup=0).of("mirage")
file, base, out = sys.argv[1:]
finetune(Path(file), base, recipe, Path(out), progress=lambda *_: time.sleep(0.8))
"""


def test_a_killed_training_goes_on_to_the_same_end(folder, lesson, tiny_llama, tune, tmp_path):
    out = tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(lesson), str(tiny_llama), str(out)],
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
    assert not noted(out)["finished"]
    with pytest.raises(UsageError, match="with another seed"):
        tune(out, seed=5)
    resumed = tune(out)
    assert resumed["resumed_from_step"] == int(stopped.name.rpartition("-")[2]) > 0
    assert resumed["adapter"] == noted(folder)["adapter"]
    losses = [pd.read_csv(each / "loss.csv")["loss"].tolist() for each in (out, folder)]
    assert losses[0] == pytest.approx(losses[1])


def test_the_command_tunes_and_says_so(lesson, tiny_llama, tmp_path, run, capsys):
    out = tmp_path / "tuned"
    options = ["--recipe", "grouse", "--epochs", "1", "--batch", "8", "--test", lesson]
    assert run("finetune", lesson, "--base", tiny_llama, "--out", out, *options) == 0
    printed = capsys.readouterr().out
    assert "cpu, float32" in printed
    assert str(out) in printed
    assert run("finetune", lesson, "--base", tiny_llama, "--out", out, *options) == 2
    assert "tuned already" in capsys.readouterr().err
