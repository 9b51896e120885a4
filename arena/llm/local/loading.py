"""Loading a model on this machine: safetensors or GGUF, no code of its own, no network unasked."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.data.errors import UsageError, argument
from arena.data.files import hub
from arena.llm.local.folder import (
    ADAPTER_WEIGHTS,
    GGUF,
    TRAINING,
    LocalModel,
    LoraSettings,
    local_model,
    read_settings_file,
    require_local,
)

SDPA = "sdpa"
PLAIN_TEMPLATE = (
    "{% for message in messages %}### {{ message.role }}:\n{{ message.content }}{{ eos_token }}\n"
    "{% endfor %}{% if add_generation_prompt %}### assistant:\n{% endif %}"
)
"""How chats are written for a base model that has no template of its own."""

_VOCABULARIES = ("tokenizer.json", "*.model", "vocab.*")
"""Files of which a tokenizer has one at least."""


@dataclass(frozen=True)
class Loaded:
    """A causal language model in memory, and its tokenizer, with a chat template."""

    model: Any
    tokenizer: Any
    device: str


_KEPT: dict[str, Loaded] = {}
"""The model loaded last, by its digest: one alone, as it may fill the memory."""


def load_local(model: LocalModel) -> Loaded:
    """Load a model to run, unless it is the one loaded last.

    In bf16 on CUDA devices that have it, fp32 elsewhere; adapters merged.

    Raises:
        UsageError: If its files do not fit together, or an adapter's base is not here.
        MissingDependencyError: If a package of the extra ``train`` is not installed.
    """
    if model.digest in _KEPT:
        return _KEPT[model.digest]
    base = str(model.path) if model.lora is None else _base_of(model.path, model.lora)
    needed = ["peft"] * (model.lora is not None) + ["gguf"] * base.endswith(GGUF)
    require_local("running a model on this machine", *needed)
    import torch

    device = "mps" if torch.backends.mps.is_available() else "cpu"
    device = "cuda" if torch.cuda.is_available() else device
    is_half = device == "cuda" and torch.cuda.is_bf16_supported()
    loaded = load_base(base, torch.bfloat16 if is_half else torch.float32, SDPA)
    weights, tokenizer = loaded.model, loaded.tokenizer
    if model.lora is not None:
        weights = _adapted(weights, model.path, model.lora)
        tokenizer = _tokenizer_of(model.path, tokenizer)
    _KEPT[model.digest] = Loaded(weights.to(device).eval(), tokenizer, device)
    return _KEPT[model.digest]


def load_base(
    base: str,
    dtype: Any,  # noqa: ANN401 - of torch
    attention: str,
    quantization: Any = None,  # noqa: ANN401 - of transformers
    download: bool = False,
) -> Loaded:
    """Load a whole model and its tokenizer; the one that was kept makes room for it.

    Args:
        base: A folder, a GGUF file, or a name on the Hugging Face hub.
        dtype: Of its weights.
        attention: As transformers names them.
        quantization: Configuration, if any.
        download: Whether a model that is not here may be fetched.

    Raises:
        UsageError: If it is not here, or cannot be read.
    """
    if download:
        hub("fetching a model", "train")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    _KEPT.clear()
    path = Path(base).expanduser()
    place = str(path) if path.is_dir() else base
    options: dict[str, Any] = {"local_files_only": not download, "trust_remote_code": False}
    if path.suffix == GGUF:
        if not path.is_file():
            raise UsageError(f"there is no file {path}; name a GGUF file, or a folder")
        from transformers import GgufConfig

        place, quantization = str(path.parent), GgufConfig(dequantize=True)
        options |= {"local_files_only": True, "gguf_file": path.name}
    further = {} if quantization is None else {"quantization_config": quantization}
    with readable(base), redirect_stderr(io.StringIO()):  # where reading GGUF draws a bar
        tokenizer = AutoTokenizer.from_pretrained(place, **options)
        model = AutoModelForCausalLM.from_pretrained(
            place,
            dtype=dtype,
            attn_implementation=attention,
            use_safetensors=True,
            **options,
            **further,
        )
    return Loaded(model, _completed(tokenizer, PLAIN_TEMPLATE), "cpu")


@contextmanager
def readable(model: str) -> Iterator[None]:
    """Say of a model that cannot be read what is wrong (UsageError), without libraries' notices."""
    try:
        with quiet():
            yield
    except UsageError:
        raise
    except Exception as error:  # whatever transformers makes of files of others
        said = " ".join(str(error).split())[:300]
        raise UsageError(
            f"the model {model} cannot be read: {type(error).__name__}: {said}; give a causal "
            "language model as safetensors or GGUF, or allow one to be fetched "
            f"({argument('download')})"
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what libraries say of their own future, and their bars, from the user's screen."""
    import transformers

    logging: Any = transformers.utils.logging  # which has no types
    level, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if has_bars:
            logging.enable_progress_bar()


def _completed(tokenizer: Any, template: str) -> Any:  # noqa: ANN401 - of transformers
    if tokenizer.chat_template is None:
        tokenizer.chat_template = template
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def _tokenizer_of(adapter: Path, base: Any) -> Any:  # noqa: ANN401 - of transformers
    """Return the tokenizer in an adapter's folder, or its base's; what it lacks is its base's."""
    from transformers import AutoTokenizer

    if not any(any(adapter.glob(name)) for name in _VOCABULARIES):
        return base
    with readable(str(adapter)):
        own = AutoTokenizer.from_pretrained(
            str(adapter), local_files_only=True, trust_remote_code=False
        )
    return _completed(own, base.chat_template)


def _base_of(adapter: Path, lora: LoraSettings) -> str:
    """Return where the weights are that an adapter was trained on, as far as that can be told."""
    named = lora.base_model_name_or_path
    base = local_model(named)
    if base is None:
        if named.startswith("/") or named.endswith(GGUF):
            raise UsageError(
                f"{adapter} adapts {named}, which is not there; put the model there, or its place "
                "into adapter_config.json (base_model_name_or_path)"
            )
        return named
    path = adapter / TRAINING
    noted = read_settings_file(path).get("base") if path.is_file() else None
    if isinstance(noted, dict) and noted.get("digest") not in (None, base.digest):
        raise UsageError(
            f"{adapter} was trained on another model than the one at {named}; put that one there, "
            "or its place into adapter_config.json (base_model_name_or_path)"
        )
    return named


def _adapted(base: Any, folder: Path, lora: LoraSettings) -> Any:  # noqa: ANN401 - of libraries
    """Put an adapter's weights into its base."""
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
    from safetensors.torch import load_file

    scale: Any = lora.lora_alpha  # peft divides it by the rank, whole or not
    with readable(str(folder)):
        config = LoraConfig(
            r=lora.r,
            lora_alpha=scale,
            target_modules=lora.target_modules,
            task_type="CAUSAL_LM",
            init_lora_weights=False,
        )
        model = get_peft_model(base, config)
        weights = load_file(folder / ADAPTER_WEIGHTS)
        expected = sum("lora_" in name for name in model.state_dict())
        result: Any = set_peft_model_state_dict(model, weights)
        if result.unexpected_keys or len(weights) != expected:
            raise UsageError(
                f"the weights of {folder} do not fit its base: {len(weights)} tensors for "
                f"{expected} places; give the base that it was trained on"
            )
        return model.merge_and_unload()
