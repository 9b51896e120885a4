"""Tuning a model on a training set by LoRA, with transformers' Trainer and peft."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import UsageError, argument
from arena.data.files import file_digest, model_file_digest
from arena.data.safe_writes import write_text
from arena.data.types import Progress
from features.models.model_folder import read_json_file
from features.models.sentence_models import quiet
from surrogate_arena.papers.base_models import checked_base, load_base, require_tuning
from surrogate_arena.papers.chats import ChatRow, read_chat_rows
from surrogate_arena.papers.recipes import Recipe

STAGE = "tuning"
IGNORED = -100
"""Label of tokens that are shown and not learned (torch's cross-entropy skips it)."""
TRAINING = "training.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
CHECKPOINTS = "checkpoints"
CHECKPOINT_SHARE = 0.05
"""Of all steps, between two checkpoints."""
LOSS_FILE = "loss.csv"
LOSS_COLUMNS = ["step", "epoch", "loss", "learning_rate", "grad_norm"]

_STATE = "trainer_state.json"
_PACKAGES = ("torch", "transformers", "peft", "accelerate", "surrogate-arena")

TokenRow = dict[str, list[int]]
"""``input_ids`` and ``labels`` of a chat."""


def finetune(
    file: Path,
    base: str,
    recipe: Recipe,
    out: Path,
    test: Path | None = None,
    seed: int = 0,
    download: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Tune a model; a training that was cut off resumes from its last checkpoint.

    Learned is each chat's last message alone. The folder then holds the adapter as safetensors,
    its tokenizer, ``training.json`` and ``loss.csv`` (``LOSS_COLUMNS``, one row per step).

    Args:
        file: Training set.
        base: A folder, a GGUF file, or a name on the Hugging Face hub.
        recipe: With which hyper-parameters.
        out: Folder of the adapter; new, or one of the same training that was cut off.
        test: Rows of unseen questions, whose loss is measured before and after; None for none.
        seed: Seed of the adapter, the order of examples, and dropout.
        download: Whether the base may be fetched.
        progress: Called with a stage's name, the steps done, and all.

    Returns:
        What ``training.json`` holds.

    Raises:
        UsageError: If the base cannot be read, the folder holds something else, or no example is
            short enough.
        DataError: If the training set is faulty.
        MissingDependencyError: If the extra ``train`` is not installed.
    """
    require_tuning(base)
    name, digest = checked_base(base)
    chats = read_chat_rows(file)
    test_chats = [] if test is None else read_chat_rows(test)
    inputs: dict[str, Any] = {
        "recipe": asdict(recipe),
        "base": {"name": name, "digest": digest},
        "data": {"file": file.name, "digest": file_digest(file)},
        "test": None if test is None else file_digest(test),
        "seed": seed,
    }
    _refuse_other_folder(out, inputs)
    started = time.monotonic()
    model, tokenizer = _adapted(base, recipe, seed, download)
    model.peft_config["default"].base_model_name_or_path = name
    rows = _training_rows(chats, tokenizer, recipe.max_length)
    test_rows = _short_rows(test_chats, tokenizer, recipe.max_length)
    checkpoint = last_checkpoint(out)
    record = inputs | {
        "examples": {"kept": len(rows), "too_long": len(chats) - len(rows)},
        "tokens": sum(len(row["labels"]) for row in rows),
        "tests": len(test_rows),
        "versions": {package: version(package) for package in _PACKAGES},
        "resumed_from_step": 0 if checkpoint is None else _step(checkpoint),
        "finished": False,
    }
    # An interrupted training is recognized by its record.
    _write_record(out, record)
    trainer = _trainer(model, recipe, rows, out, seed, progress)
    # An adapter that is not trained changes nothing: this is the loss of the base.
    loss_before = _loss(trainer, test_rows)
    _train(trainer, checkpoint, seed)
    losses = _save(trainer, tokenizer, out)
    record |= {
        "device": f"{model.device.type}, {str(model.dtype).removeprefix('torch.')}",
        "steps": int(trainer.state.global_step),
        "seconds": round(time.monotonic() - started, 1),
        "loss": {"first": float(losses.iloc[0]), "last": float(losses.iloc[-1])},
        "unseen_loss": {"before": loss_before, "after": _loss(trainer, test_rows)},
        "trained_weights": int(model.get_nb_trainable_parameters()[0]),
        "adapter": model_file_digest(out / ADAPTER_WEIGHTS),
        "finished": True,
    }
    _write_record(out, record)
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    return record


def _train(trainer: Any, checkpoint: Path | None, seed: int) -> None:  # noqa: ANN401 - of transformers
    """Train to the last step, from a checkpoint where there is one."""
    import transformers

    transformers.set_seed(seed)  # measuring a loss has drawn
    resumed_from = None if checkpoint is None else str(checkpoint)
    with quiet():
        trainer.train(resume_from_checkpoint=resumed_from)


def _save(trainer: Any, tokenizer: Any, out: Path) -> pd.Series:  # noqa: ANN401 - of transformers
    """Save adapter, tokenizer and the table of losses.

    Returns:
        The loss of each step.
    """
    with quiet():
        trainer.model.save_pretrained(str(out), safe_serialization=True)
        tokenizer.save_pretrained(str(out))
    (out / "README.md").unlink(missing_ok=True)  # peft's, of blanks to fill in
    steps = pd.DataFrame(trainer.state.log_history).dropna(subset="loss")[LOSS_COLUMNS]
    steps.to_csv(out / LOSS_FILE, index=False)
    return steps["loss"]


def _training_rows(
    chats: Sequence[ChatRow],
    tokenizer: Any,  # noqa: ANN401 - of transformers
    max_length: int,
) -> list[TokenRow]:
    """Cut the chats to train on into tokens; refuse a training set without a short one."""
    rows = _short_rows(chats, tokenizer, max_length)
    if not rows:
        raise UsageError(
            f"all {len(chats)} examples are longer than {max_length} tokens "
            f"({argument('max_length')}); "
            f"make shorter prompts ({argument('context_tokens')} of trainset)"
        )
    return rows


def _short_rows(
    chats: Sequence[ChatRow],
    tokenizer: Any,  # noqa: ANN401 - of transformers
    max_length: int,
) -> list[TokenRow]:
    """Cut chats into tokens, and leave out those that are too long."""
    token_rows = [token_row(chat, tokenizer) for chat in chats]
    return [row for row in token_rows if len(row["labels"]) <= max_length]


def token_row(row: ChatRow, tokenizer: Any) -> TokenRow:  # noqa: ANN401 - of transformers
    """Write a chat as the model's template has it; all but the last message is ignored.

    The prompt is cut by itself, as it is when the model is asked.

    Raises:
        UsageError: If the template cannot write a chat, or writes the prompt differently where a
            reply follows.
    """
    messages = [message.model_dump() for message in row.messages]
    template = partial(tokenizer.apply_chat_template, tokenize=False)
    try:
        prompt_text = template(messages[:-1], add_generation_prompt=True)
        chat_text = template(messages)
    except Exception as error:  # whatever a template raises
        raise UsageError(f"the model's chat template refuses a chat: {error}"[:300]) from error
    if not chat_text.startswith(prompt_text):
        raise UsageError(
            "the model's chat template writes a prompt differently where a reply follows, so what "
            "is to be learned cannot be told; take a model with another template"
        )
    reply_text = chat_text.removeprefix(prompt_text).rstrip("\n")
    prompt = tokenizer(prompt_text, add_special_tokens=False)["input_ids"]
    reply = tokenizer(reply_text, add_special_tokens=False)["input_ids"]
    return {"input_ids": [*prompt, *reply], "labels": [IGNORED] * len(prompt) + list(reply)}


def last_checkpoint(folder: Path) -> Path | None:
    """Return the last checkpoint that is whole: its state is the file that is written last."""
    complete = [
        path.parent
        for path in (folder / CHECKPOINTS).glob(f"checkpoint-*/{_STATE}")
        if path.read_text(encoding="utf-8").rstrip().endswith("}")
    ]
    return max(complete, key=_step, default=None)


def _loss(trainer: Any, rows: Sequence[TokenRow]) -> float | None:  # noqa: ANN401 - of transformers
    """Return the mean loss of chats in nats a learned token; None without chats."""
    if not rows:
        return None
    with quiet():
        return round(float(trainer.evaluate(list(rows))["eval_loss"]), 6)


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def _refuse_other_folder(folder: Path, inputs: Mapping[str, Any]) -> None:
    """Make sure that a folder is new, or holds the same training, cut off."""
    if folder.is_file():
        raise UsageError(f"{folder} is a file; give a folder for the model")
    if not (folder / TRAINING).is_file():
        if folder.is_dir() and any(folder.iterdir()):
            raise UsageError(f"{folder} holds something other than a training; give a new folder")
        return
    record = read_json_file(folder / TRAINING)
    if record.get("finished"):
        raise UsageError(f"{folder} holds a model that is tuned already; give a new folder")
    differing = sorted(name for name in inputs if record.get(name) != inputs[name])
    if differing:
        raise UsageError(
            f"{folder} holds an interrupted training with another {', '.join(differing)}; "
            "continue with the same, or give a new folder"
        )


def _write_record(folder: Path, content: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
    write_text(text + "\n", folder / TRAINING)


def _adapted(base: str, recipe: Recipe, seed: int, download: bool) -> tuple[Any, Any]:
    """Return the base, every linear layer but the last with an adapter, and its tokenizer.

    In bf16 on CUDA devices that have it, else fp32; in 8 bits where the recipe has them.
    """
    import peft
    import torch
    import transformers

    library: Any = peft  # some of which has no types
    is_half = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    dtype = torch.bfloat16 if is_half else torch.float32
    quantization: Any = None
    if _has_8_bits(recipe):
        quantization = transformers.BitsAndBytesConfig(load_in_8bit=True)  # type: ignore[no-untyped-call]
    loaded = load_base(base, dtype, quantization, download)
    model = loaded.model
    if quantization is not None:
        model = library.prepare_model_for_kbit_training(model)
    transformers.set_seed(seed)
    config = library.LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    with quiet():
        return library.get_peft_model(model, config), loaded.tokenizer


def _has_8_bits(recipe: Recipe) -> bool:
    import torch

    return recipe.quantized and torch.cuda.is_available() and bool(find_spec("bitsandbytes"))


def _trainer(
    model: Any,  # noqa: ANN401 - of peft
    recipe: Recipe,
    rows: Sequence[TokenRow],
    out: Path,
    seed: int,
    progress: Progress | None,
) -> Any:  # noqa: ANN401 - of transformers
    """Return a trainer that takes one example at a time, and so many a step as the recipe says."""
    import torch
    import transformers

    library: Any = transformers

    class Steps(library.TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401, ARG002
            if progress is not None:
                progress(STAGE, state.global_step, state.max_steps)

    if torch.cuda.is_available():  # activations are computed again instead of kept
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable({"use_reentrant": False})
    arguments = library.TrainingArguments(
        output_dir=str(out / CHECKPOINTS),
        per_device_train_batch_size=1,
        per_device_eval_batch_size=1,
        prediction_loss_only=True,
        gradient_accumulation_steps=recipe.batch,
        num_train_epochs=recipe.epochs,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=recipe.warmup,
        optim="adamw_8bit" if _has_8_bits(recipe) else "adamw_torch",
        bf16=model.dtype == torch.bfloat16,
        seed=seed,
        data_seed=seed,
        save_strategy="steps",
        save_steps=CHECKPOINT_SHARE,
        save_total_limit=2,  # the last may be half written when a run is killed
        logging_steps=1,
        report_to=[],
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)  # a step is of as many examples on every machine
    trainer = library.Trainer(
        model=model,
        args=arguments,
        train_dataset=list(rows),
        data_collator=library.default_data_collator,
        callbacks=[Steps()],
    )
    trainer.remove_callback(library.PrinterCallback)
    return trainer
