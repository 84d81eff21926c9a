"""What compresses files: written as their names say, and read as their first bytes tell."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from ..errors import FileError

#: How a file shows that it cannot be read, or was cut off, once it is open.
DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)
#: The endings of names.
PACKED = {"gz": "gzip", "gzip": "gzip", "bz2": "bz2", "xz": "xz", "zst": "zstd", "zstd": "zstd"}
_BEGINNINGS = {
    "gzip": (b"\x1f\x8b",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
    "xz": (b"\xfd7zXZ\0",),
    "bz2": tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
}
_READERS: dict[str, Callable[[Any], Any]] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
#: The modules that know Zstandard, the first from Python 3.14 on, and how they open a file.
_ZSTANDARD = ("compression.zstd", "backports.zstd", "zstandard", "pyarrow")


def unpacked(path: str) -> IO[bytes]:
    """The bytes of a file, out of what compresses it."""
    source = Path(path).open("rb")  # noqa: SIM115 - whoever reads closes it
    try:
        packed = compression_of(source.peek(10))
        if packed is None:
            return source
        return io.BufferedReader(_Unpacked(_reader(path, source, packed), source), 1 << 16)
    except BaseException:
        source.close()
        raise


def compression_of(beginning: bytes) -> str | None:
    """What compresses a file that begins with these bytes."""
    return next((packed for packed, marks in _BEGINNINGS.items() if beginning.startswith(marks)), None)


def packed_into(out: IO[bytes], name: str, packed: str | None) -> IO[bytes]:
    """What compresses into `out`."""
    made: Any = out
    match packed:
        case "gzip":
            made = gzip.GzipFile(name, "wb", fileobj=out)
        case "bz2":
            made = bz2.BZ2File(out, "wb")
        case "xz":
            made = lzma.LZMAFile(out, "wb")  # noqa: SIM115 - whoever writes closes it
        case "zstd":
            match _zstandard(name):
                case module if module.__name__ == "zstandard":
                    made = module.ZstdCompressor().stream_writer(out, closefd=False)
                case module if module.__name__ == "pyarrow":
                    made = module.CompressedOutputStream(out, "zstd")
                case module:
                    made = module.open(out, "wb")
    found: IO[bytes] = made
    return found


def _reader(name: str, source: IO[bytes], packed: str) -> Any:
    if packed != "zstd":
        return _READERS[packed](source)
    module = _zstandard(name)
    if module.__name__ == "zstandard":
        return _Frames(source, lambda: module.ZstdDecompressor().decompressobj())
    if module.__name__ == "pyarrow":
        return module.CompressedInputStream(module.PythonFile(source, "r"), "zstd")
    return module.open(source, "rb")


def _zstandard(name: str) -> Any:
    for module in _ZSTANDARD:
        try:
            return importlib.import_module(module)
        except ImportError:
            continue
    raise FileError(
        name,
        "it is compressed by Zstandard, which neither this Python nor an installed package knows",
        help="pip install zstandard, or take Python 3.14",
    )


class _Unpacked(io.RawIOBase):
    """What is read out of a compressed file, which is closed with it."""

    def __init__(self, plain: Any, source: IO[bytes]) -> None:
        self._plain = plain
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._plain.read(len(buffer))
        except DAMAGED:
            raise
        except Exception as problem:
            # Each module that knows Zstandard has errors of its own.
            raise OSError(f"what compresses it is damaged: {problem}") from problem
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._source.close()
        super().close()


class _Frames:
    """Zstandard by the package `zstandard`, which by itself does not say that a file was cut off."""

    def __init__(self, source: IO[bytes], begin: Callable[[], Any]) -> None:
        self._source = source
        self._begin = begin
        self._frame: Any = None
        self._ready = b""

    def read(self, size: int) -> bytes:
        while not self._ready:
            data = self._frame.unused_data if self._frame is not None and self._frame.eof else b""
            data = data or self._source.read(1 << 16)
            if not data:
                if self._frame is not None and not self._frame.eof:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
                return b""
            if self._frame is None or self._frame.eof:
                self._frame = self._begin()
            self._ready = self._frame.decompress(data)
        found, self._ready = self._ready[:size], self._ready[size:]
        return found
