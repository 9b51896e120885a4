"""What a model on this machine is: files that hold weights and settings, never code."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

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
_INITS = (True, False, "gaussian", "eva", "orthogonal")
"""How a LoRA's weights may begin; peft's others begin with changes of the base's weights."""
_OTHER_KINDS = (
    *("use_dora", "use_rslora", "modules_to_save", "rank_pattern", "alpha_pattern"),
    *("alora_invocation_tokens", "use_qalora", "use_bdlora", "lora_bias", "target_parameters"),
    *("trainable_token_indices", "layer_replication", "arrow_config", "kasa_config"),
    "monteclora_config",
)
"""Settings of which each, where it says anything, makes an adapter that is no plain one."""
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


class LoraSettings(BaseModel):
    """What is read of ``adapter_config.json``: a plain LoRA adapter of linear layers.

    All else that it says is kept as it is; ``unusual`` looks at it.

    Attributes:
        base_model_name_or_path: Folder, GGUF file, or name on the Hugging Face hub.
        r: Rank.
        lora_alpha: Scale times rank.
        target_modules: Names of the layers that are adapted.
        init_lora_weights: How its weights began.
    """

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    base_model_name_or_path: str = Field(min_length=1)
    peft_type: str
    r: int = Field(ge=1, le=4096)
    lora_alpha: float = Field(gt=0, allow_inf_nan=False)
    target_modules: list[str] = Field(min_length=1)
    bias: str = "none"
    init_lora_weights: bool | str = True

    def content(self) -> str:
        """Return what the adapter's weights mean, as one text."""
        return f"{self.r} {self.lora_alpha:.17g} {' '.join(sorted(self.target_modules))}"

    def unusual(self) -> str | None:
        """Name what makes it another adapter than a plain one, if anything does."""
        usual = {"peft_type": "LORA", "bias": "none"}
        for name, expected in usual.items():
            if getattr(self, name) != expected:
                return name
        if self.init_lora_weights not in _INITS:
            return "init_lora_weights"
        return next((name for name in _OTHER_KINDS if getattr(self, name, None)), None)


@dataclass(frozen=True)
class LocalModel:
    """A model on this machine.

    Attributes:
        path: A folder of safetensors (a model, or a LoRA adapter of one), or a GGUF file.
        base: Of an adapter: what it adapts, a path or a name on the hub; else None.
        lora: Of an adapter: its settings.
    """

    path: Path
    base: str | None = None
    lora: LoraSettings | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of weights, settings and tokenizer, and of those of an adapter's base.

        A base that is a name on the hub counts by its name.
        """
        whole = hashlib.sha256()
        if self.lora is not None:  # what its weights mean, wherever its base lies
            whole.update(f"{ADAPTER}\0{self.lora.content()}\n".encode())
        for file in _files(self.path):
            if file.name == ADAPTER:
                continue
            whole.update(f"{file.name}\0{model_file_digest(file)}\n".encode())
        if self.base is not None:
            below = local_model(self.base)
            whole.update(f"base\0{self.base if below is None else below.digest}".encode())
        return whole.hexdigest()

    @property
    def name(self) -> str:
        """Name of the file or folder, and the first digits of the digest."""
        stem = self.path.name.removesuffix(GGUF)
        return f"{stem}@{self.digest[:NAME_DIGITS]}"


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
    if (path / ADAPTER).is_file():
        return _adapter(path.resolve())
    return _whole(path.resolve()) if (path / MODEL).is_file() else None


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
    """Check that models can be run here.

    Raises:
        MissingDependencyError: If a package is not installed.
    """
    for package in ("torch", "transformers", *packages):
        if find_spec(package) is None:
            raise MissingDependencyError(purpose, package, "train")


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for file in sorted(path.iterdir()):
        if file.is_file() and file.suffix in _DIGESTED and file.name != TRAINING:
            yield file


def _adapter(folder: Path) -> LocalModel:
    read = read_settings_file(folder / ADAPTER)
    try:
        lora = LoraSettings.model_validate(read)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise UsageError(
            f"{folder / ADAPTER}: {place} {fault['msg'].lower()}; adapters made by finetune, and "
            "plain LoRA adapters of peft, are read"
        ) from error
    odd = lora.unusual()
    if odd is not None:
        raise UsageError(
            f"{folder / ADAPTER}: {odd} is {getattr(lora, odd)!r}; plain LoRA adapters alone are "
            "read: merge this one into its base (peft's merge_and_unload), and give that folder"
        )
    if (Path(lora.base_model_name_or_path).expanduser() / ADAPTER).is_file():
        raise UsageError(
            f"{folder / ADAPTER}: base_model_name_or_path leads to an adapter, "
            f"{lora.base_model_name_or_path}; an adapter is read on a whole model: merge that one "
            "into its base (peft's merge_and_unload), or name the model that was adapted"
        )
    if not (folder / ADAPTER_WEIGHTS).is_file():
        raise _no_weights(folder)
    return LocalModel(folder, lora.base_model_name_or_path, lora)


def _whole(folder: Path) -> LocalModel:
    if not any(folder.glob("*.safetensors")):
        raise _no_weights(folder)
    if read_settings_file(folder / MODEL).get("quantization_config"):
        raise UsageError(
            f"{folder} holds quantized weights, which are not read here; ask it through a server "
            "(--base-url), or give the unquantized model"
        )
    return LocalModel(folder)


def _no_weights(folder: Path) -> UsageError:
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles:
        return UsageError(
            f"{folder} holds its weights as {pickles[0]}, which runs code when it is read; save "
            "the model again as safetensors (save_pretrained does), or take another"
        )
    return UsageError(f"{folder} holds no weights: there are no *.safetensors in it")


def read_settings_file(path: Path) -> Mapping[str, Any]:
    """Read a JSON file of a model's folder.

    Raises:
        UsageError: If it is no JSON object, or unreasonably long.
    """
    if path.stat().st_size > LONGEST_SETTINGS:
        raise UsageError(f"{path} is longer than {LONGEST_SETTINGS} bytes; fetch the model again")
    try:
        read = parsed_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path} is no JSON ({error}); fetch or save the model again") from error
    if not isinstance(read, dict):
        raise UsageError(f"{path} should hold a JSON object; fetch or save the model again")
    return read
