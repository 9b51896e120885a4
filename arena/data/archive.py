"""Zips of plain arrays and texts: nothing in them is executed, no more is read than declared."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.data.errors import UsageError
from arena.data.files import bounds

_DATE = (1980, 1, 1, 0, 0, 0)
"""Of every member, so that the same content gives the same bytes."""


def write_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Write bytes as a member."""
    member = zipfile.ZipInfo(name, _DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, content)


def write_array(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    """Write an array as a member ``name.npy``."""
    plain = io.BytesIO()
    np.lib.format.write_array(plain, np.ascontiguousarray(array), allow_pickle=False)
    write_member(archive, f"{name}.npy", plain.getvalue())


def check_size(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse a file that says it holds more than the bounds; more is not read of any member.

    Raises:
        DataError: If it does.
    """
    limits, members = bounds(), archive.infolist()
    limits.check(path.name, "members", len(members))
    declared = sum(member.file_size for member in members)
    limits.check(path.name, "expanded", declared, limits.most_expanded(path.stat().st_size))


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read one member, no further than the size it declares.

    Raises:
        UsageError: If it is longer or shorter.
    """
    size = archive.getinfo(name).file_size
    with archive.open(name) as member:
        content = member.read(size + 1)
    if len(content) != size:
        raise UsageError(f"{name} is not as long as it says")
    return content


def read_arrays(archive: zipfile.ZipFile, folder: str) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays whose names begin with a folder, by the rest of their names.

    Raises:
        UsageError: If one is no plain array.
    """
    return {
        name.removeprefix(folder).removesuffix(".npy"): _array(archive, name)
        for name in archive.namelist()
        if name.startswith(folder)
    }


def _array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Read a plain array, whose shape and type must account for every byte."""
    content = read_member(archive, name)
    stream = io.BytesIO(content)
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError("of an unknown version")
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    except ValueError as error:
        raise UsageError(f"{name} is no array ({error})") from error
    start = stream.tell()
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if dtype.kind not in "biuf" or is_fortran or size != len(content) - start:
        raise UsageError(f"{name} is no plain array of the size it names")
    return np.frombuffer(content, dtype, offset=start).reshape(shape)
