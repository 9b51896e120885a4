"""What a training leaves behind: ``training.json``, the loss curve, checkpoints to go on from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from arena.data.files import atomic_path
from arena.data.rows import read_rows, write_rows
from arena.llm.local.folder import ADAPTER_WEIGHTS, TRAINING, read_settings_file

LOSS_FILE = "loss.csv"
CHECKPOINTS = "checkpoints"
_STATE = "trainer_state.json"
_OPTIMIZER = "optimizer.pt"
_PACKAGES = ("torch", "transformers", "peft", "accelerate", "surrogate-arena")

LOSS_COLUMNS = ("step", "epoch", "loss", "learning_rate", "gradient_norm")


def training_versions() -> dict[str, str]:
    """Return the versions of the packages that training rests on."""
    return {name: version(name) for name in _PACKAGES}


def write_training(folder: Path, content: Mapping[str, Any]) -> None:
    """Write ``training.json``, atomically."""
    with atomic_path(folder / TRAINING) as temporary:
        text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def started_training(folder: Path) -> Mapping[str, Any] | None:
    """Return what a folder notes of its training; None where there is none.

    Raises:
        UsageError: If the folder holds anything else.
    """
    if not folder.exists():
        return None
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file; give a folder for the model")
    if (folder / TRAINING).is_file():
        return read_settings_file(folder / TRAINING)
    if any(folder.iterdir()):
        raise UsageError(f"{folder} holds something else than a training; give a new folder")
    return None


def check_same(folder: Path, noted: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Make sure that a training that was cut off is the one that is asked for.

    Raises:
        UsageError: If it is done already, or is another one, with what differs.
    """
    if noted.get("finished"):
        raise UsageError(f"{folder} holds a model that is tuned already; give a new folder")
    differing = sorted(name for name in asked if noted.get(name) != asked[name])
    if differing:
        raise UsageError(
            f"{folder} holds a training that was cut off with another {', '.join(differing)}; go "
            "on with the same, or give a new folder"
        )


def last_checkpoint(folder: Path) -> Path | None:
    """Return the last checkpoint that is whole: its state is the file that is written last."""
    found = [
        (int(path.name.rpartition("-")[2]), path)
        for path in (folder / CHECKPOINTS).glob("checkpoint-*")
        if path.name.rpartition("-")[2].isdecimal() and _is_whole(path)
    ]
    return max(found)[1] if found else None


def _is_whole(checkpoint: Path) -> bool:
    files = (ADAPTER_WEIGHTS, _OPTIMIZER, _STATE)
    if not all((checkpoint / name).is_file() for name in files):
        return False
    try:
        json.loads((checkpoint / _STATE).read_text(encoding="utf-8"))
    except ValueError:  # cut off while it was written
        return False
    return True


def loss_table(history: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the loss of each step: columns ``LOSS_COLUMNS``.

    Args:
        history: What transformers' Trainer logged.
    """
    rows = [
        (
            each["step"],
            each.get("epoch"),
            each["loss"],
            each.get("learning_rate"),
            each["grad_norm"],
        )
        for each in history
        if "loss" in each
    ]
    return pd.DataFrame(rows, columns=list(LOSS_COLUMNS))


def write_losses(folder: Path, losses: pd.DataFrame) -> Path:
    """Write the loss curve as CSV; returns the file."""
    path = folder / LOSS_FILE
    write_rows(losses, path)
    return path


def read_losses(path: Path | str) -> pd.DataFrame:
    """Read a loss curve that ``finetune`` wrote.

    Args:
        path: The file, or the folder of the model.

    Raises:
        UsageError: If there is no such file, or it holds no losses.
    """
    given = Path(path)
    table = read_rows(given / LOSS_FILE if given.is_dir() else given).table
    absent = [name for name in LOSS_COLUMNS if name not in table]
    if absent or table.empty:
        raise UsageError(f"{path} holds no losses; surrogate-arena finetune writes {LOSS_FILE}")
    numbers = table[list(LOSS_COLUMNS)].apply(pd.to_numeric, errors="coerce")
    return numbers.astype({"step": "int64"})
