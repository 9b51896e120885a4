"""What a model on this machine is: files that hold weights and settings, never code."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from arena.data.errors import MissingDependencyError, UsageError
from arena.data.files import model_file_digest, parsed_json

ADAPTER = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
MODEL = "config.json"
GGUF = ".gguf"
TRAINING = "training.json"

NAME_DIGITS = 8
"""Digits of a model's digest in its name: verdicts and answers say which weights made them."""
LONGEST_SETTINGS = 2**24
"""Most bytes of a settings file that are read."""

_DIGESTED = frozenset({".safetensors", ".json", ".jinja", ".txt", ".model", GGUF})
_INERT = frozenset(
    {"task_type", "inference_mode", "lora_dropout", "fan_in_fan_out", "revision", "auto_mapping"}
    | {"peft_version", "qalora_group_size", "megatron_core"}
)
"""Settings of adapters that may say anything; any other that does makes one that is not plain."""
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


class LoraSettings(BaseModel):
    """What is read of ``adapter_config.json``: a plain LoRA adapter of linear layers.

    Peft's other ways to begin with (``init_lora_weights``) change the base's weights.
    """

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    base_model_name_or_path: str = Field(min_length=1)
    peft_type: Literal["LORA"]
    r: int = Field(ge=1, le=4096)
    lora_alpha: float = Field(gt=0, allow_inf_nan=False)
    target_modules: list[str] = Field(min_length=1)
    bias: Literal["none"] = "none"
    init_lora_weights: bool | Literal["gaussian", "eva", "orthogonal"] = True

    @model_validator(mode="after")
    def _is_plain(self) -> Self:
        for name, value in (self.model_extra or {}).items():
            if value and name not in _INERT:
                raise ValueError(f"{name} means that it is not a plain LoRA adapter")
        return self


@dataclass(frozen=True)
class LocalModel:
    """A folder of safetensors (a model, or a LoRA adapter with its settings), or a GGUF file."""

    path: Path
    lora: LoraSettings | None = None

    @property
    def base(self) -> str | None:
        """Of an adapter: what it adapts, a path or a name on the hub; else None."""
        return None if self.lora is None else self.lora.base_model_name_or_path

    @cached_property
    def digest(self) -> str:
        """SHA-256 of weights, settings and tokenizer, and of those of an adapter's base.

        A base that is a name on the hub counts by its name.
        """
        whole = hashlib.sha256()
        if self.lora is not None:  # what its weights mean, wherever its base lies
            modules = " ".join(sorted(self.lora.target_modules))
            meant = f"{self.lora.r} {self.lora.lora_alpha:.17g} {modules}"
            whole.update(f"{ADAPTER}\0{meant}\n".encode())
        files = [self.path] if self.path.is_file() else sorted(self.path.iterdir())
        for file in files:
            if file.is_file() and file.suffix in _DIGESTED and file.name not in (TRAINING, ADAPTER):
                whole.update(f"{file.name}\0{model_file_digest(file)}\n".encode())
        if self.base is not None:
            below = local_model(self.base)
            whole.update(f"base\0{self.base if below is None else below.digest}".encode())
        return whole.hexdigest()

    @property
    def name(self) -> str:
        """Name of the file or folder, and the first digits of the digest."""
        return f"{self.path.name.removesuffix(GGUF)}@{self.digest[:NAME_DIGITS]}"


def local_model(model: str) -> LocalModel | None:
    """Return the model that a path leads to; None where a name is no path to a model here.

    Raises:
        UsageError: If there is a folder whose model would run code, is of another kind than is
            read here, or is damaged.
    """
    path = Path(model).expanduser()
    if path.suffix == GGUF and path.is_file():
        return LocalModel(path.resolve())
    if not path.is_dir():
        return None
    folder = path.resolve()
    if (folder / ADAPTER).is_file():
        return LocalModel(folder, _lora_settings(folder))
    if not (folder / MODEL).is_file():
        return None
    _require_weights(folder, "*.safetensors")
    if read_settings_file(folder / MODEL).get("quantization_config"):
        raise UsageError(
            f"{folder} holds quantized weights, which are not read here; ask it through a server "
            "(--base-url), or give the unquantized model"
        )
    return LocalModel(folder)


def required_model(model: str) -> LocalModel:
    """Return the model that a path leads to.

    Raises:
        UsageError: If there is none, or it cannot be used; see ``local_model``.
    """
    found = local_model(model)
    if found is None:
        raise UsageError(
            f"there is no model at {model}: give a GGUF file, or a folder with {MODEL} or "
            f"{ADAPTER} and weights as safetensors"
        )
    return found


def require_local(purpose: str, *packages: str) -> None:
    """Check that models can be run here; MissingDependencyError names what is not installed."""
    for package in ("torch", "transformers", *packages):
        if find_spec(package) is None:
            raise MissingDependencyError(purpose, package, "train")


def read_settings_file(path: Path) -> Mapping[str, Any]:
    """Read a JSON file of a model's folder.

    Raises:
        UsageError: If it is not a JSON object, or unreasonably long.
    """
    if path.stat().st_size > LONGEST_SETTINGS:
        raise UsageError(f"{path} is longer than {LONGEST_SETTINGS} bytes; fetch the model again")
    try:
        read = parsed_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path} is not valid JSON ({error}); fetch the model again") from error
    if not isinstance(read, dict):
        raise UsageError(f"{path} should hold a JSON object; fetch or save the model again")
    return read


def _lora_settings(folder: Path) -> LoraSettings:
    try:
        lora = LoraSettings.model_validate(read_settings_file(folder / ADAPTER))
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise UsageError(
            f"{folder / ADAPTER}: {place} {fault['msg']}; only plain LoRA adapters are read: merge "
            "this one into its base (peft's merge_and_unload), and give that folder"
        ) from error
    if (Path(lora.base_model_name_or_path).expanduser() / ADAPTER).is_file():
        raise UsageError(
            f"{folder / ADAPTER}: base_model_name_or_path leads to an adapter, "
            f"{lora.base_model_name_or_path}; merge that one into its base (peft's "
            "merge_and_unload), or name the model that was adapted"
        )
    _require_weights(folder, ADAPTER_WEIGHTS)
    return lora


def _require_weights(folder: Path, pattern: str) -> None:
    """Refuse a folder without safetensors."""
    if any(folder.glob(pattern)):
        return
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles:
        raise UsageError(
            f"{folder} holds its weights as {pickles[0]}, which runs code when it is read; save "
            "the model again as safetensors (save_pretrained does), or take another"
        )
    raise UsageError(f"{folder} holds no weights: there are no *.safetensors in it")
