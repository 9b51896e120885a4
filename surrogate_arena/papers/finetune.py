"""Tune a model on a training set with LoRA, by the papers' recipes, on trl's SFTTrainer.

pip install -e '.[train]'
python -m surrogate_arena.papers.finetune rows.jsonl BASE my-model --recipe mirage
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from arena.data.errors import MissingDependencyError, checked_choice


class Recipe(NamedTuple):
    """Hyper-parameters of a LoRA (Hu et al., 2022).

    ``warmup`` counts steps, or below 1 is their share. Examples longer than ``max_length`` tokens
    are cut. ``is_quantized`` (CUDA): weights and the optimizer's state have 8 bits.
    """

    rank: int
    batch: int
    epochs: float
    max_length: int
    warmup: float
    is_quantized: bool


RECIPES = MappingProxyType(
    {
        # MIRAGE-Bench, table 6; schedule and warm-up of the alignment handbook, which it used.
        "mirage": Recipe(16, 32, 1, 6144, warmup=0.1, is_quantized=False),
        # GroUSE, appendix H.
        "grouse": Recipe(32, 64, 3, 7104, warmup=10, is_quantized=True),
    }
)


def finetune(
    rows: Path,
    base: str,
    out: Path,
    recipe: str = "mirage",
    **changes: Any,  # noqa: ANN401 - of trl
) -> None:
    """Tune a model; a run that was cut off goes on from its last checkpoint.

    Only the last message of each chat is learned. ``base`` is a folder, or a name on the Hugging
    Face hub; ``out`` will hold the adapter and the tokenizer. ``changes`` are fields of
    ``trl.SFTConfig``.
    """
    checked_choice(recipe, RECIPES, "recipe")
    if find_spec("trl") is None:
        raise MissingDependencyError("tuning a model", "trl", "train")
    import datasets
    import peft
    import torch
    import transformers
    import trl

    numbers = RECIPES[recipe]
    on_gpu = torch.cuda.is_available()
    in_8_bits = numbers.is_quantized and on_gpu
    fields: dict[str, Any] = {
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": numbers.batch,
        "num_train_epochs": numbers.epochs,
        "max_length": numbers.max_length,
        "learning_rate": 2e-4,
        "lr_scheduler_type": "cosine",
        "warmup_steps": numbers.warmup,
        "optim": "adamw_8bit" if in_8_bits else "adamw_torch",
        "bf16": on_gpu,
        "report_to": [],
        "model_init_kwargs": {"use_safetensors": True},
    }
    quantization = transformers.BitsAndBytesConfig(load_in_8bit=True) if in_8_bits else None  # type: ignore[no-untyped-call]
    chats = datasets.Dataset.from_json(str(rows))
    trainer = trl.SFTTrainer(
        model=base,
        args=trl.SFTConfig(output_dir=str(out), **fields | changes),
        train_dataset=chats.map(_split_chat, remove_columns=chats.column_names),
        quantization_config=quantization,
        peft_config=peft.LoraConfig(
            r=numbers.rank,
            lora_alpha=16,
            lora_dropout=0.05,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        ),
    )
    trainer.train(resume_from_checkpoint=any(out.glob("checkpoint-*")))
    trainer.save_model()


def _split_chat(row: dict[str, Any]) -> dict[str, Any]:
    return {"prompt": row["messages"][:-1], "completion": row["messages"][-1:]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", type=Path, help="training set, as trainset writes it")
    parser.add_argument("base", help="folder of a model, or its name on the Hugging Face hub")
    parser.add_argument("out", type=Path, help="folder of the adapter")
    parser.add_argument("--recipe", choices=list(RECIPES), default="mirage")
    options = parser.parse_args()
    finetune(options.rows, options.base, options.out, options.recipe)
