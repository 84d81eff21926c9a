"""The formats of files, and what may compress them, by the endings of names."""

from __future__ import annotations

import bz2
import errno
import gzip
import importlib
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeGuard

from ..errors import FileError

_FORMATS = {
    "csv": ("csv",),
    "tsv": ("tsv", "tab"),
    "jsonl": ("jsonl", "ndjson"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "ipc", "feather", "arrows"),
    "nt": ("nt",),
    "ttl": ("ttl",),
}
#: How a file shows that it cannot be read, or was cut off, once it is open.
DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)
_BY_ENDING = {ending: name for name, endings in _FORMATS.items() for ending in endings}
_BINARY = ("parquet", "arrow")
_PACKED: dict[str, Callable[..., Any]] = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}
KNOWN = ", ".join(f".{ending}" for ending in _BY_ENDING)


def is_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this is the path of a file: any path object, and text that ends like one."""
    return isinstance(data, os.PathLike) or (isinstance(data, str) and format_of(data) is not None)


def format_of(path: str | os.PathLike[str]) -> str | None:
    """What is in a file, by its name."""
    name, packed = _endings(path)
    found = _BY_ENDING.get(Path(name).suffix.removeprefix("."))
    return None if packed and found in _BINARY else found


def open_bytes(path: str | os.PathLike[str]) -> IO[bytes]:
    """A file to be read, out of what compresses it."""
    found: IO[bytes]
    match _endings(path)[1]:
        case "":
            return Path(path).open("rb")
        case "zst":
            if not Path(path).exists():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
            found = _zstandard(path, "rb")
        case packed:
            found = _PACKED[packed](path, "rb")
    return found


def packed_into(out: IO[bytes], name: str) -> IO[bytes]:
    """What compresses into `out`, as the name says."""
    plain, packed = _endings(name)
    made: IO[bytes]
    match packed:
        case "":
            return out
        case "gz":
            made = gzip.GzipFile(plain, "wb", fileobj=out)  # type: ignore[assignment]
        case "zst":
            made = _zstandard(out, "wb")
        case _:
            made = _PACKED[packed](out, "wb")
    return made


def pyarrow(module: str = "pyarrow") -> Any:
    """A part of pyarrow, loaded when it is needed."""
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise ImportError(
            "files of Parquet and Arrow are read and written by pyarrow: pip install 'stratalog[arrow]'"
        ) from problem


def unknown(path: str | os.PathLike[str]) -> FileError:
    """No format has such an ending."""
    return FileError(os.fspath(path), f"what is in it is not known by its name; known are {KNOWN}")


def _endings(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The name in small letters without what compresses it, and the latter."""
    name = Path(os.fspath(path)).name.lower()
    for packed in (*_PACKED, "zst"):
        if name.endswith(f".{packed}"):
            return name.removesuffix(f".{packed}"), packed
    return name, ""


def _zstandard(file: Any, mode: str) -> Any:
    """Zstandard is part of Python from 3.14 on; before, pyarrow has it."""
    try:
        return importlib.import_module("compression.zstd").open(file, mode)
    except ImportError:
        pa = pyarrow()
        if mode == "rb":
            return pa.CompressedInputStream(pa.OSFile(os.fspath(file), mode), "zstd")
        return pa.CompressedOutputStream(file, "zstd")
