"""Classes and functions of the core and the ring that users import."""

import inspect
from importlib import import_module

PACKAGES = [
    "arena",
    "arena.judging",
    "arena.llm",
    "arena.quality",
    "features",
    "features.models",
    "surrogate",
]


def public_names():
    """Yield the package, the name and the class or function."""
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield package, name, value
