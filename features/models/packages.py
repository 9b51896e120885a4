"""Optional packages that run models."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from arena.errors import MissingDependencyError
from features.models.model_folder import holds_torch_weights, onnx_files

NEURAL = ("torch", "transformers", "sentence_transformers")
ONNX = ("onnxruntime", "tokenizers")


def require_neural() -> None:
    """Check that models with safetensors weights can be run.

    Raises:
        MissingDependencyError: If a package is not installed.
    """
    _require("a model", NEURAL, "neural")


def require_onnx() -> None:
    """Check that ONNX models can be run.

    Raises:
        MissingDependencyError: If a package is not installed.
    """
    _require("an ONNX model", ONNX, "onnx")


def require_model(model: str, **_: object) -> None:
    """Check that a model could be run, without loading it.

    Args:
        model: Its folder, or its name on the hub.

    Raises:
        MissingDependencyError: If a package is not installed.
    """
    folder = Path(model).expanduser()
    if folder.is_dir() and not holds_torch_weights(folder) and onnx_files(folder):
        require_onnx()
    else:
        require_neural()


def _require(purpose: str, packages: tuple[str, ...], extra: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            raise MissingDependencyError(purpose, package.replace("_", "-"), extra)
