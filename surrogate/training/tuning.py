"""Tuning a model on a training set by LoRA, with transformers' Trainer and peft."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from arena.data.files import file_digest
from arena.llm.ask import Progress
from arena.llm.local.folder import GGUF, local_model, require_local, required_model
from arena.llm.local.loading import Loaded, best_device, load_base, quiet
from surrogate.training.batches import Collator, TokenRow, padded, token_rows
from surrogate.training.recipes import DevicePlan, Hardware, Recipe, plan_for
from surrogate.training.record import (
    CHECKPOINTS,
    check_same,
    last_checkpoint,
    loss_table,
    started_training,
    training_versions,
    write_losses,
    write_training,
)
from surrogate.training.rows import read_chat_rows

ALL_LINEAR = "all-linear"
STAGE = "tuning"
MOST_CHECKPOINTS = 20
"""Checkpoints of a training, at most, spread evenly over its steps."""


@dataclass(frozen=True)
class Tuned:
    """A tuned model.

    Attributes:
        folder: Where it is.
        record: What ``training.json`` holds.
        losses: Loss of each step; see ``loss_table``.
        resumed: Step of the checkpoint that it went on from; 0 where it started.
    """

    folder: Path
    record: Mapping[str, Any]
    losses: pd.DataFrame
    resumed: int


@dataclass(frozen=True)
class TuningJob:
    """What is to be tuned on what.

    Attributes:
        file: Training set.
        base: A folder, a GGUF file, or a name on the Hugging Face hub.
        recipe: How.
        out: Folder of the adapter; new, or one of the same training that was cut off.
        test: Rows of unseen questions, whose loss is measured before and after; None for none.
        seed: Seed of the adapter, the order of examples, and dropout.
        download: Whether the base may be fetched.
    """

    file: Path
    base: str
    recipe: Recipe
    out: Path
    test: Path | None = None
    seed: int = 0
    download: bool = False

    def inputs(self) -> dict[str, Any]:
        """Return what the result depends on, as ``training.json`` has it."""
        base = local_model(self.base)
        name = self.base if base is None else str(base.path)
        return {
            "recipe": asdict(self.recipe),
            "base": {"name": name, "digest": None if base is None else base.digest},
            "data": {"file": self.file.name, "digest": file_digest(self.file)},
            "test": None if self.test is None else file_digest(self.test),
            "seed": self.seed,
        }


def finetune(job: TuningJob, progress: Progress | None = None) -> Tuned:
    """Tune a model; a training that was cut off goes on from its last checkpoint.

    Learned is each chat's last message alone. The folder then holds the adapter as safetensors,
    its tokenizer, ``training.json`` and ``loss.csv``.

    Args:
        job: What is to be tuned on what.
        progress: Called with a stage's name, the examples done, and all.

    Raises:
        UsageError: If the base cannot be read, the folder holds something else, or no example is
            short enough.
        DataError: If the training set is faulty.
        MissingDependencyError: If the extra ``train`` is not installed.
    """
    further = ("gguf",) if job.base.endswith(GGUF) else ()
    require_local("tuning a model", "peft", "accelerate", *further)
    rows = read_chat_rows(job.file)
    tests = [] if job.test is None else read_chat_rows(job.test)
    noted, inputs = started_training(job.out), job.inputs()
    if noted is not None:
        check_same(job.out, noted, inputs)
    plan = plan_for(job.recipe, this_hardware())
    loaded = _loaded(job, plan)
    kept, long = _short_enough(token_rows(rows, loaded.tokenizer), job.recipe.max_length)
    if not kept:
        raise UsageError(
            f"all {len(rows)} examples are longer than {job.recipe.max_length} tokens "
            "(`max_length`); make shorter prompts (`context_tokens` of trainset)"
        )
    tested, long_tests = _short_enough(token_rows(tests, loaded.tokenizer), job.recipe.max_length)
    job.out.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {
        **inputs,
        "device": plan.record(),
        "learned": "the last message of each chat",
        "examples": {"kept": len(kept), "too_long": long, "tokens": _tokens(kept)},
        "tests": {"kept": len(tested), "too_long": long_tests},
        "versions": training_versions(),
        "finished": False,
    }
    write_training(job.out, content)
    return _Run(job, plan, loaded, progress).tune(kept, tested, content)


def this_hardware() -> Hardware:
    """Look at what this machine has for training."""
    import torch

    device = best_device()
    if device != "cuda":
        return Hardware(device)
    return Hardware(
        device,
        torch.cuda.is_bf16_supported(),
        find_spec("flash_attn") is not None,
        find_spec("bitsandbytes") is not None,
        torch.cuda.get_device_properties(0).total_memory / 2**30,
    )


def mean_loss(loaded: Loaded, rows: Sequence[TokenRow]) -> float | None:
    """Return the mean negative log-likelihood of the learned tokens in nats; None without rows."""
    import torch

    if not rows:
        return None
    loaded.model.eval()
    total, count, device = 0.0, 0, loaded.model.device
    with torch.inference_mode():
        for row in rows:
            batch = {name: part.to(device) for name, part in padded([row], 0).items()}
            learned = len(row.tokens) - row.asked
            total += float(loaded.model(**batch).loss) * learned
            count += learned
    return round(total / count, 6)


class _Run:
    """One training: the adapter, the trainer, and what it leaves."""

    def __init__(
        self, job: TuningJob, plan: DevicePlan, loaded: Loaded, progress: Progress | None
    ) -> None:
        self._job = job
        self._plan = plan
        self._loaded = _with_adapter(job, plan, loaded)
        self._progress = progress

    def tune(
        self, rows: Sequence[TokenRow], tests: Sequence[TokenRow], content: dict[str, Any]
    ) -> Tuned:
        started, out = time.monotonic(), self._job.out
        checkpoint = last_checkpoint(out)
        resumed = 0 if checkpoint is None else int(checkpoint.name.rpartition("-")[2])
        before = mean_loss(self._loaded, tests)  # an adapter that is not trained changes nothing
        trainer = self._trainer(rows)
        with quiet():
            trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        after = mean_loss(self._loaded, tests)
        with quiet():
            self._loaded.model.save_pretrained(str(out), safe_serialization=True)
            self._loaded.tokenizer.save_pretrained(str(out))
        (out / "README.md").unlink(missing_ok=True)  # peft's, of blanks to fill in
        losses = loss_table(trainer.state.log_history)
        write_losses(out, losses)
        content |= {
            "steps": int(trainer.state.global_step),
            "resumed_from_step": resumed,
            "seconds": round(time.monotonic() - started, 1),
            "loss": {
                "first": float(losses["loss"].iloc[0]),
                "last": float(losses["loss"].iloc[-1]),
                "unseen_before": before,
                "unseen_after": after,
            },
            "trained_weights": _trained_weights(self._loaded.model),
            "adapter": required_model(str(out)).digest,
            "finished": True,
        }
        write_training(out, content)
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
        return Tuned(out, content, losses, resumed)

    def _trainer(self, rows: Sequence[TokenRow]) -> Any:  # noqa: ANN401 - of transformers
        import transformers

        job, plan, recipe = self._job, self._plan, self._job.recipe
        steps = _steps(len(rows), recipe)
        library: Any = transformers
        checkpointing = {
            "gradient_checkpointing": True,
            "gradient_checkpointing_kwargs": {"use_reentrant": False},
        }
        arguments = library.TrainingArguments(
            output_dir=str(job.out / CHECKPOINTS),
            per_device_train_batch_size=plan.together,
            gradient_accumulation_steps=plan.accumulation,
            num_train_epochs=recipe.epochs,
            learning_rate=recipe.learning_rate,
            lr_scheduler_type="cosine",
            warmup_steps=recipe.warmup_steps(steps),
            optim="adamw_8bit" if plan.is_quantized else "adamw_torch",
            bf16=plan.precision == "bf16",
            use_cpu=plan.device == "cpu",
            seed=job.seed,
            data_seed=job.seed,
            save_strategy="steps",
            save_steps=max(1, steps // MOST_CHECKPOINTS),
            save_total_limit=2,  # the last may be half written when a run is killed
            logging_steps=1,
            logging_first_step=True,
            report_to=[],
            disable_tqdm=True,
            remove_unused_columns=False,
            dataloader_pin_memory=False,
            **(checkpointing if plan.checkpointing else {}),
        )
        if arguments.n_gpu > 1:  # a step is of as many examples on every machine
            arguments._n_gpu = 1
        pad = self._loaded.tokenizer.pad_token_id or 0
        trainer = library.Trainer(
            model=self._loaded.model,
            args=arguments,
            train_dataset=[{"row": row} for row in rows],
            data_collator=Collator(pad, recipe.packing),
            callbacks=[_callback(self._progress, len(rows), recipe, plan)],
        )
        trainer.remove_callback(library.PrinterCallback)
        return trainer


def _loaded(job: TuningJob, plan: DevicePlan) -> Loaded:
    import torch

    quantization = None
    if plan.is_quantized and not job.base.endswith(GGUF):
        import transformers

        library: Any = transformers
        quantization = library.BitsAndBytesConfig(load_in_8bit=True)
    dtype = torch.bfloat16 if plan.precision == "bf16" else torch.float32
    base = local_model(job.base)
    if base is not None and base.lora is not None:
        raise UsageError(
            f"{job.base} is an adapter; tune the model that it adapts, {base.base}, on both sets "
            "together"
        )
    loaded = load_base(job.base, dtype, plan.attention, quantization, job.download)
    if quantization is None:
        return Loaded(loaded.model.to(plan.device), loaded.tokenizer, plan.device)
    return Loaded(loaded.model, loaded.tokenizer, plan.device)


def _with_adapter(job: TuningJob, plan: DevicePlan, loaded: Loaded) -> Loaded:
    """Give every linear layer but the last an adapter, drawn with the seed."""
    import peft
    import torch

    library: Any = peft  # some of which has no types
    recipe, model = job.recipe, loaded.model
    if plan.is_quantized:
        model = library.prepare_model_for_kbit_training(model)
    base = local_model(job.base)
    torch.manual_seed(job.seed)
    with quiet():
        adapted = library.get_peft_model(
            model,
            library.LoraConfig(
                r=recipe.rank,
                lora_alpha=recipe.alpha,
                lora_dropout=recipe.dropout,
                target_modules=ALL_LINEAR,
                task_type="CAUSAL_LM",
            ),
        )
    if plan.checkpointing:
        adapted.enable_input_require_grads()
    name = job.base if base is None else str(base.path)
    adapted.peft_config["default"].base_model_name_or_path = name
    return Loaded(adapted, loaded.tokenizer, loaded.device)


def _callback(progress: Progress | None, rows: int, recipe: Recipe, plan: DevicePlan) -> Any:  # noqa: ANN401 - of transformers
    """Return what tells how many examples are done, after each pass."""
    from transformers import TrainerCallback

    total = round(rows * recipe.epochs)

    class Passes(TrainerCallback):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            self.done = 0

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401, ARG002
            self.done = min(state.global_step * recipe.batch, total)

        def on_substep_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401, ARG002
            self._count()

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401, ARG002
            self._count()

        def _count(self) -> None:
            self.done = min(self.done + plan.together, total)
            if progress is not None:
                progress(STAGE, self.done, total)

    return Passes()


def _steps(rows: int, recipe: Recipe) -> int:
    return max(1, round(-(-rows // recipe.batch) * recipe.epochs))


def _short_enough(rows: Sequence[TokenRow], longest: int) -> tuple[list[TokenRow], int]:
    kept = [row for row in rows if len(row.tokens) <= longest]
    return kept, len(rows) - len(kept)


def _tokens(rows: Sequence[TokenRow]) -> dict[str, int]:
    whole = sum(len(row.tokens) for row in rows)
    return {"all": whole, "learned": whole - sum(row.asked for row in rows)}


def _trained_weights(model: Any) -> int:  # noqa: ANN401 - of peft
    return sum(int(each.numel()) for each in model.parameters() if each.requires_grad)
