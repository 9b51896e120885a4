"""Folders of models: finding one, and checking that it has weights and never code."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arena.data.errors import MissingDependencyError, UsageError, argument
from arena.data.files import parsed_json, small_file
from features.models.hub import hub, model_file_digest

ENDPOINT = "endpoint:"
"""Prefix of the name of a model at an OpenAI-compatible endpoint."""
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_FILES = ("*.safetensors", "*.json", "*.txt", "*.model")
_OTHER_FORMATS = ("onnx", "openvino")
_OWN_MODULES = "sentence_transformers."


def find_model(model: str, download: bool) -> Path:
    """Return a model's folder, perhaps from the Hugging Face hub.

    Without ``download`` nothing is asked of the network.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    if not download:
        # Without the hub's package, or with a name that the hub could not have, nothing is cached.
        with suppress(MissingDependencyError, ValueError):
            cached = hub("a model", "neural").try_to_load_from_cache(model, "config.json")
            if isinstance(cached, str):
                return Path(cached).parent
        raise UsageError(
            f"the model {model!r} is not on this machine; give the folder it is in, "
            f"or allow it to be fetched from the Hugging Face hub ({argument('download')})"
        )
    hub_client = hub("fetching a model", "neural")
    ignored = [f"{name}/*" for name in _OTHER_FORMATS]
    try:
        fetched = hub_client.snapshot_download(
            model, allow_patterns=list(_FILES), ignore_patterns=ignored
        )
    except Exception as error:
        raise UsageError(
            f"the model {model!r} cannot be fetched: {error}; check its name and the network, "
            "or give the folder it is in"
        ) from error
    return Path(fetched)


def read_model_config(folder: Path) -> dict[str, Any]:
    """Read ``config.json`` of a model; empty if it has none."""
    return _read_json_file(folder / "config.json")


def _read_json_file(path: Path) -> dict[str, Any]:
    content = _read_json(path, {})
    if not isinstance(content, dict):
        raise UsageError(f"{path} should hold a JSON object; fetch the model again")
    return content


def refuse_unsafe(folder: Path, is_embedder: bool) -> None:
    """Check that nothing in a folder would run: no pickles, no code."""
    modules = _read_json(folder / "modules.json", [])
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise UsageError(f"{folder / 'modules.json'} should list modules; fetch the model again")
    if is_embedder and not modules:
        raise UsageError(
            f"{folder} holds no sentence-transformers model: modules.json is not in it; "
            "take one that was trained to embed"
        )
    types = [str(module.get("type", "")) for module in modules]
    foreign = [name for name in types if not name.startswith(_OWN_MODULES)]
    if foreign:
        raise UsageError(f"{folder} brings code of its own ({foreign[0]}), which is never run")
    parts = {folder, *(folder / str(module.get("path", "")) for module in modules)}
    for part in sorted(parts):
        pickles = sorted(path.name for path in part.glob("*") if path.suffix in _PICKLES)
        if pickles and not any(part.glob("*.safetensors")):
            raise UsageError(
                f"{part} holds its weights as {pickles[0]} only, which runs code when it is read; "
                "save the model again as safetensors (save_pretrained does), or take another"
            )
    if not any(any(part.glob("*.safetensors")) for part in parts):
        raise UsageError(f"{folder} holds no model: there is no *.safetensors in it")


def model_digest(folder: Path) -> str:
    """Digest a model's weights, settings and tokenizer."""
    paths: set[Path] = set()
    for pattern in _FILES:
        paths.update(folder.rglob(pattern))
    total = hashlib.sha256()
    for path in sorted(paths):
        name = path.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and not is_hidden and name.parts[0] not in _OTHER_FORMATS:
            total.update(f"{name.as_posix()}\0{model_file_digest(path)}\n".encode())
    return total.hexdigest()


def require_model(model: str, **_: object) -> None:
    """Check that a model could be run, without loading it.

    Args:
        model: Its folder, its name on the hub, or ``endpoint:`` and its name there.

    Raises:
        MissingDependencyError: If a package is not installed.
    """
    purpose = "a model"
    extra = "neural"
    packages = ["torch", "transformers", "sentence_transformers"]
    if model.startswith(ENDPOINT):
        purpose = "a model at an endpoint"
        extra = "llm"
        packages = ["openai", "aiohttp"]
    for package in packages:
        if find_spec(package) is None:
            raise MissingDependencyError(purpose, package.replace("_", "-"), extra)


def _read_json(path: Path, absent: object) -> object:
    if not path.is_file():
        return absent
    try:
        return parsed_json(small_file(path).decode())
    except ValueError as error:
        raise UsageError(f"{path} is not valid JSON: {error}; fetch the model again") from error
