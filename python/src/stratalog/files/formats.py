"""The formats of files, by the endings of their names."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import IO, Any, TypeGuard

from ..errors import FileError
from . import compression
from .compression import PACKED, unpacked
from .encoding import decoded

_FORMATS = {
    "csv": ("csv",),
    "tsv": ("tsv", "tab"),
    "json": ("json",),
    "jsonl": ("jsonl", "ndjson"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "ipc", "feather", "arrows"),
    "nt": ("nt",),
    "ttl": ("ttl",),
    "nq": ("nq",),
}
RDF = ("nt", "ttl", "nq")
_BY_ENDING = {ending: name for name, endings in _FORMATS.items() for ending in endings}
_BINARY = ("parquet", "arrow")
KNOWN = ", ".join(f".{ending}" for ending in _BY_ENDING)
_INSTEAD = {
    **dict.fromkeys(
        ("rdf", "owl"),
        "RDF/XML is not read: make it Turtle or N-Triples first, as by `riot --output=nt FILE`",
    ),
    **dict.fromkeys(("xlsx", "xls", "ods"), "spreadsheets are not read: save it as CSV"),
}


def is_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this is the path of a file: any path object, and text that ends like one."""
    return isinstance(data, os.PathLike) or (isinstance(data, str) and _format(data)[0] is not None)


def format_of(path: str | os.PathLike[str]) -> str:
    """What is in a file, by its name."""
    found, packed = _format(path)
    if found is None:
        ending = Path(os.fspath(path)).suffix.removeprefix(".").lower()
        help_text = _INSTEAD.get(ending, f"known are {KNOWN}")
        raise FileError(os.fspath(path), "what is in it is not known by its name", help=help_text)
    if packed and found in _BINARY:
        by_itself = "Parquet compresses by itself: " if found == "parquet" else ""
        raise FileError(
            os.fspath(path),
            f"a file of {found} is not compressed as a whole",
            help=f"{by_itself}leave out the second ending, or decompress the file first",
        )
    return found


def open_text(path: str, encoding: str | None) -> IO[bytes]:
    """A file of text to be read, in UTF-8, out of what compresses it."""
    source = unpacked(path)
    return source if encoding is None else decoded(source, encoding)


def packed_into(out: IO[bytes], name: str) -> IO[bytes]:
    """What compresses into `out`, as the name says."""
    plain, ending = _endings(name)
    return compression.packed_into(out, plain, PACKED.get(ending))


def pyarrow(module: str = "pyarrow") -> Any:
    """A part of pyarrow, loaded when it is needed."""
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise ImportError(
            "files of Parquet and Arrow are read and written by pyarrow: pip install 'stratalog[arrow]'"
        ) from problem


def _format(path: str | os.PathLike[str]) -> tuple[str | None, str]:
    name, packed = _endings(path)
    return _BY_ENDING.get(Path(name).suffix.removeprefix(".")), packed


def _endings(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The name in small letters without what compresses it, and the latter."""
    name = Path(os.fspath(path)).name.lower()
    packed = Path(name).suffix.removeprefix(".")
    return (name.removesuffix(f".{packed}"), packed) if packed in PACKED else (name, "")
