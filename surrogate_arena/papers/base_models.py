"""Loading a base model to tune: safetensors or GGUF, no code of its own, no network unasked."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arena.data.errors import MissingDependencyError, UsageError, argument
from arena.data.files import hub, model_file_digest
from features.models.model_folder import model_digest, read_model_config, refuse_unsafe
from features.models.sentence_models import quiet

GGUF = ".gguf"
SDPA = "sdpa"
PLAIN_TEMPLATE = (
    "{% for message in messages %}### {{ message.role }}:\n{{ message.content }}{{ eos_token }}\n"
    "{% endfor %}{% if add_generation_prompt %}### assistant:\n{% endif %}"
)
"""How chats are written for a base model that has no template of its own."""


@dataclass(frozen=True)
class LoadedBase:
    """A causal language model in memory, and its tokenizer, with a chat template."""

    model: Any
    tokenizer: Any


def checked_base(base: str) -> tuple[str, str | None]:
    """Return a base's absolute path and digest, or its name on the hub and None.

    Args:
        base: A folder, a GGUF file, or a name on the Hugging Face hub.

    Raises:
        UsageError: If the folder would run code, or its model cannot be tuned.
    """
    path = Path(base).expanduser()
    if path.suffix == GGUF:
        if not path.is_file():
            raise UsageError(f"there is no file {path}; name a GGUF file, or a folder")
        return str(path.resolve()), model_file_digest(path)
    if not path.is_dir():
        return base, None
    folder = path.resolve()
    if (folder / "adapter_config.json").is_file():
        raise UsageError(f"{base} is an adapter; tune its base, on both sets together")
    refuse_unsafe(folder, is_embedder=False)
    if read_model_config(folder).get("quantization_config"):
        # LoRA weights are added to the base's, which quantized ones are not.
        raise UsageError(f"{folder} holds quantized weights; give the unquantized model")
    return str(folder), model_digest(folder)


def require_tuning(base: str) -> None:
    """Check that the packages that tuning needs are installed.

    Raises:
        MissingDependencyError: If one is not.
    """
    packages = ["torch", "transformers", "peft", "accelerate"]
    if base.endswith(GGUF):
        packages.append("gguf")
    for package in packages:
        if find_spec(package) is None:
            raise MissingDependencyError("tuning a model", package, "train")


def load_base(
    base: str,
    dtype: Any,  # noqa: ANN401 - of torch
    quantization: Any = None,  # noqa: ANN401 - of transformers
    download: bool = False,
) -> LoadedBase:
    """Load a whole model and its tokenizer.

    Args:
        base: A folder, a GGUF file, or a name on the Hugging Face hub.
        dtype: Of its weights.
        quantization: Configuration, if any.
        download: Whether a model that is not here may be fetched.

    Raises:
        UsageError: If it is not here, or cannot be read.
    """
    if download:
        hub("fetching a model", "train")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path = Path(base).expanduser()
    place = str(path) if path.is_dir() else base
    options: dict[str, Any] = {"local_files_only": not download, "trust_remote_code": False}
    weights = {"dtype": dtype, "attn_implementation": SDPA, "use_safetensors": True}
    if path.suffix == GGUF:
        from transformers import GgufConfig

        place = str(path.parent)
        # LoRA needs floating-point weights.
        quantization = GgufConfig(dequantize=True)
        options["local_files_only"] = True
        options["gguf_file"] = path.name
    if quantization is not None:
        weights["quantization_config"] = quantization
    with _readable(base):
        tokenizer = AutoTokenizer.from_pretrained(place, **options)
        model = AutoModelForCausalLM.from_pretrained(place, **options, **weights)
    if tokenizer.chat_template is None:
        tokenizer.chat_template = PLAIN_TEMPLATE
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return LoadedBase(model, tokenizer)


def save_merged(base: str, adapter: Path | str | None, folder: Path | str) -> None:
    """Save a base with an adapter merged into it, as any server reads it.

    Args:
        base: A folder, a GGUF file, or a name on the Hugging Face hub.
        adapter: Folder that ``finetune`` wrote; None saves the base alone, unpacked.
        folder: Where the model and its tokenizer go.

    Raises:
        UsageError: If the base cannot be read.
    """
    import peft
    import torch

    loaded = load_base(base, torch.float32)
    model = loaded.model
    with quiet():
        if adapter is not None:
            library: Any = peft  # some of which has no types
            model = library.PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
        model.save_pretrained(str(folder))
        loaded.tokenizer.save_pretrained(str(folder))


@contextmanager
def _readable(model: str) -> Iterator[None]:
    """Turn whatever transformers raises about a damaged or absent model into a UsageError."""
    try:
        # Reading GGUF draws a progress bar on stderr.
        with quiet(), redirect_stderr(io.StringIO()):
            yield
    except Exception as error:
        message = " ".join(str(error).split())[:300]
        raise UsageError(
            f"the model {model} cannot be read: {type(error).__name__}: {message}; give a causal "
            "language model as safetensors or GGUF, or allow one to be fetched "
            f"({argument('download')})"
        ) from error
