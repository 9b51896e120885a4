"""Formats: the arena's tables and files, and what is wrong with them."""


def __getattr__(name: str) -> str:
    """Return the version, which is that of what is installed, when it is asked for."""
    from importlib import metadata

    if name != "__version__":
        raise AttributeError(name)
    try:
        globals()[name] = version = metadata.version("surrogate-arena")  # asked for once
    except metadata.PackageNotFoundError:  # of files that nothing has installed
        return "0.0.0"
    return version
