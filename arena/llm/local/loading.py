"""Loading a model on this machine: safetensors or GGUF, no code of its own, no network unasked."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.data.errors import UsageError
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


@dataclass(frozen=True)
class Loaded:
    """A model in memory.

    Attributes:
        model: A causal language model of transformers, on its device.
        tokenizer: Its tokenizer, with a chat template.
        device: ``cuda``, ``mps`` or ``cpu``.
    """

    model: Any
    tokenizer: Any
    device: str


def best_device() -> str:
    """Return the device that models run on here: ``cuda``, ``mps`` or ``cpu``."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


_KEPT: dict[str, Loaded] = {}
"""The model loaded last, by its digest: one alone, as it may fill the memory."""


def kept_local(model: LocalModel) -> Loaded:
    """Return a model as ``load_local`` does, or as it was loaded last, if nothing else was since.

    Raises:
        UsageError: See ``load_local``.
        MissingDependencyError: See ``load_local``.
    """
    if model.digest not in _KEPT:
        _KEPT[model.digest] = load_local(model)
    return _KEPT[model.digest]


def load_local(model: LocalModel) -> Loaded:
    """Load a model to run: bf16 on CUDA devices that have it, fp32 elsewhere; adapters merged.

    Raises:
        UsageError: If its files do not fit together, or an adapter's base is not here.
        MissingDependencyError: If a package of the extra ``train`` is not installed.
    """
    require_local("running a model on this machine", *_further(model))
    import torch

    device = best_device()
    is_half = device == "cuda" and torch.cuda.is_bf16_supported()
    loaded = load_base(_base_of(model), torch.bfloat16 if is_half else torch.float32, SDPA)
    if model.lora is not None:
        adapted = _adapted(loaded.model, model.path, model.lora)
        loaded = Loaded(adapted, _tokenizer_of(model.path, loaded.tokenizer), device)
    return Loaded(loaded.model.to(device).eval(), loaded.tokenizer, device)


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
        attention: Which implementation, as transformers names them.
        quantization: How weights are quantized as they are read, if at all.
        download: Whether a model that is not here may be fetched.

    Raises:
        UsageError: If it is not here, or cannot be read.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    _KEPT.clear()
    place, options = _place(base, download)
    further = {} if quantization is None else {"quantization_config": quantization}
    if "gguf_file" in options:
        from transformers import GgufConfig

        further = {"quantization_config": GgufConfig(dequantize=True)}
    with readable(base), redirect_stderr(io.StringIO()):  # where reading GGUF draws a bar
        tokenizer = AutoTokenizer.from_pretrained(place, **options)
        model = AutoModelForCausalLM.from_pretrained(
            place, dtype=dtype, attn_implementation=attention, **_SAFE, **options, **further
        )
    return Loaded(model, _completed(tokenizer, PLAIN_TEMPLATE), "cpu")


def _completed(tokenizer: Any, template: str) -> Any:  # noqa: ANN401 - of transformers
    """Give a tokenizer a chat template and a token to pad with, where it has none."""
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
        own = AutoTokenizer.from_pretrained(str(adapter), **_HERE)
    return _completed(own, base.chat_template)


@contextmanager
def readable(model: str) -> Iterator[None]:
    """Say of a model that cannot be read what is wrong, and keep libraries' notices to developers.

    Raises:
        UsageError: If reading it fails.
    """
    try:
        with quiet():
            yield
    except UsageError:
        raise
    except Exception as error:  # whatever transformers makes of files of others
        said = " ".join(str(error).split())[:300]
        raise UsageError(
            f"the model {model} cannot be read: {type(error).__name__}: {said}; give a causal "
            "language model as safetensors or GGUF, or allow one to be fetched (`download`)"
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


_VOCABULARIES = ("tokenizer.json", "*.model", "vocab.*")
"""Files of which a tokenizer has one at least."""
_HERE = {"local_files_only": True, "trust_remote_code": False}
_SAFE = {"use_safetensors": True}


def _place(base: str, download: bool) -> tuple[str, dict[str, Any]]:
    path = Path(base).expanduser()
    if path.suffix == GGUF:
        if not path.is_file():
            raise UsageError(f"there is no file {path}; name a GGUF file, or a folder")
        return str(path.parent), {**_HERE, "gguf_file": path.name}
    return str(path) if path.is_dir() else base, {**_HERE, "local_files_only": not download}


def _further(model: LocalModel) -> tuple[str, ...]:
    packages = () if model.lora is None else ("peft",)
    base = str(model.path) if model.base is None else model.base
    return (*packages, "gguf") if base.endswith(GGUF) else packages


def _base_of(model: LocalModel) -> str:
    """Return where the weights are that an adapter was trained on, as far as that can be told.

    Raises:
        UsageError: If they are not where the adapter says, or not those of its training.
    """
    if model.base is None:
        return str(model.path)
    base = local_model(model.base)
    noted = _noted_digest(model.path)
    if base is not None and noted is not None and base.digest != noted:
        raise UsageError(
            f"{model.path} was trained on another model than the one at {model.base}; put that one "
            "there, or its place into adapter_config.json (base_model_name_or_path)"
        )
    if base is None and (model.base.startswith("/") or model.base.endswith(GGUF)):
        raise UsageError(
            f"{model.path} adapts {model.base}, which is not there; put the model there, or its "
            "place into adapter_config.json (base_model_name_or_path)"
        )
    return model.base


def _noted_digest(folder: Path) -> str | None:
    path = folder / TRAINING
    noted = read_settings_file(path).get("base") if path.is_file() else None
    digest = noted.get("digest") if isinstance(noted, dict) else None
    return digest if isinstance(digest, str) else None


def _adapted(base: Any, folder: Path, lora: LoraSettings) -> Any:  # noqa: ANN401 - of libraries
    """Put an adapter's weights into its base."""
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
    from safetensors.torch import load_file

    scale: Any = lora.lora_alpha  # peft divides it by the rank, whole or not
    with readable(str(folder)):
        model = get_peft_model(
            base,
            LoraConfig(
                r=lora.r,
                lora_alpha=scale,
                target_modules=lora.target_modules,
                task_type="CAUSAL_LM",
                init_lora_weights=False,
            ),
        )
        weights = load_file(folder / ADAPTER_WEIGHTS)
        expected = sum("lora_" in name for name in model.state_dict())
        result: Any = set_peft_model_state_dict(model, weights)
        if result.unexpected_keys or len(weights) != expected:
            raise UsageError(
                f"the weights of {folder} do not fit its base: {len(weights)} tensors for "
                f"{expected} places; give the base that it was trained on"
            )
        return model.merge_and_unload()
