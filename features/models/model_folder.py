"""Where a model lies, what its folder holds, and the digest of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arena.data.errors import MissingDependencyError, UsageError
from arena.data.files import model_file_digest

ENDPOINT = "endpoint:"
"""Stands before the name of a model at an OpenAI-compatible endpoint."""

SAFE_WEIGHTS = ".safetensors"
_PICKLES = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl"})
_SETTINGS = frozenset({".json", ".txt", ".model"})
_OTHER_FORMATS = frozenset({"onnx", "openvino"})
_FETCHED = ("*.safetensors", "*.json", "*.txt", "*.model")
_NOT_FETCHED = ("onnx/*", "openvino/*")


def find_model(model: str, download: bool) -> Path:
    """Return the folder of a model.

    Args:
        model: A folder, or a name on the Hugging Face hub.
        download: Whether it may be fetched; otherwise nothing is asked of the network.

    Raises:
        UsageError: If it is not on this machine, or cannot be fetched.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    return _fetched(model) if download else _cached(model)


def holds_torch_weights(folder: Path) -> bool:
    """Say whether a folder, or one of its modules, holds safetensors weights."""
    return any(any(module.glob(f"*{SAFE_WEIGHTS}")) for module in _module_folders(folder))


def refuse_pickles(folder: Path) -> None:
    """Check that no weights would have to be unpickled, which runs what the file says.

    Raises:
        UsageError: If a module has weights in such a file only, or there are no weights at all.
    """
    for module in _module_folders(folder):
        names = {path.name for path in module.glob("*") if path.suffix in _PICKLES}
        if names and not any(module.glob(f"*{SAFE_WEIGHTS}")):
            raise UsageError(
                f"{module} holds its weights as {min(names)} only, which runs code when it is "
                "read; save the model again as safetensors (save_pretrained does), or take another"
            )
    if not holds_torch_weights(folder):
        raise UsageError(f"{folder} holds no model: there is no *.safetensors in it")


def module_types(folder: Path) -> list[str]:
    """Return the classes that ``modules.json`` of a sentence-transformers model names."""
    return [str(module.get("type", "")) for module in _modules(folder)]


def read_settings(folder: Path, name: str) -> dict[str, Any]:
    """Read a JSON file of a model; empty if it has none.

    Raises:
        UsageError: If the file is no JSON object.
    """
    path = folder / name
    if not path.is_file():
        return {}
    read = _read_json(path)
    if not isinstance(read, dict):
        raise UsageError(f"{path} should hold a JSON object; fetch or save the model again")
    return read


def torch_digest(folder: Path) -> str:
    """Digest the weights, settings and tokenizer of a model, wherever its folder lies."""
    return _digest(folder, _torch_files(folder))


def _cached(model: str) -> Path:
    absent = UsageError(
        f"the model {model!r} is not on this machine; give the folder it is in, "
        "or allow it to be fetched from the Hugging Face hub (`download`)"
    )
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        raise absent from None
    try:
        cached = try_to_load_from_cache(model, "config.json")
    except ValueError:
        raise absent from None
    if not isinstance(cached, str):
        raise absent
    return Path(cached).parent


def _fetched(model: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingDependencyError("fetching a model", "huggingface-hub", "neural") from None
    try:
        return Path(
            snapshot_download(
                model, allow_patterns=list(_FETCHED), ignore_patterns=list(_NOT_FETCHED)
            )
        )
    except Exception as error:
        raise UsageError(
            f"the model {model!r} cannot be fetched: {error}; check its name and the network, "
            "or give the folder it is in"
        ) from error


def _module_folders(folder: Path) -> Iterator[Path]:
    """Yield the folder and those that hold its modules."""
    yield folder
    for module in _modules(folder):
        path = folder / str(module.get("path", ""))
        if path != folder and path.is_dir():
            yield path


def _modules(folder: Path) -> list[dict[str, Any]]:
    path = folder / "modules.json"
    read = _read_json(path) if path.is_file() else []
    if not isinstance(read, list) or not all(isinstance(module, dict) for module in read):
        raise UsageError(f"{path} should list modules; fetch or save the model again")
    return read


def _read_json(path: Path) -> Any:  # noqa: ANN401
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path} is no JSON: {error}; fetch or save the model again") from error


def _torch_files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        foreign = parts[0] in _OTHER_FORMATS or any(part.startswith(".") for part in parts)
        if not foreign and path.suffix in (SAFE_WEIGHTS, *_SETTINGS):
            yield path


def _digest(folder: Path, files: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    named = {path.relative_to(folder).as_posix(): path for path in files if path.is_file()}
    for name in sorted(named):
        whole.update(f"{name}\0{model_file_digest(named[name])}\n".encode())
    return whole.hexdigest()


NEURAL = ("torch", "transformers", "sentence_transformers")


def require_neural() -> None:
    """Check that models with safetensors weights can be run.

    Raises:
        MissingDependencyError: If a package is not installed.
    """
    _require("a model", NEURAL, "neural")


def require_model(model: str, **_: object) -> None:
    """Check that a model could be run, without loading it.

    Args:
        model: Its folder, its name on the hub, or ``endpoint:`` and its name there.

    Raises:
        MissingDependencyError: If a package is not installed.
    """
    if model.startswith(ENDPOINT):
        _require("a model at an endpoint", ("openai", "aiohttp"), "llm")
        return
    require_neural()


def _require(purpose: str, packages: tuple[str, ...], extra: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            raise MissingDependencyError(purpose, package.replace("_", "-"), extra)
