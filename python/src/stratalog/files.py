"""Files in and out, a few batches at a time, by way of pyarrow (`pip install 'stratalog[arrow]'`)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeGuard

_DELIMITED = {".csv": ",", ".tsv": "\t"}
_LINES = (".jsonl", ".ndjson")
_IPC = (".arrow", ".ipc", ".feather")
_KNOWN = (*_DELIMITED, *_LINES, *_IPC, ".parquet")
#: The types of a file's columns without types of their own are guessed from so much of it.
_LOOK_AT_BYTES = 1 << 24
_BATCH_ROWS = 1 << 14


def is_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this is the path of a file: any path object, and text that ends like one."""
    return isinstance(data, os.PathLike) or (isinstance(data, str) and _format(data) in _KNOWN)


def columns_wanted(path: str | os.PathLike[str]) -> bool:
    """Whether the file says nothing of types, so that those of the relation count."""
    return _format(path) in _DELIMITED or _format(path) in _LINES


class FileStream:
    """A file that is read while somebody takes its batches."""

    def __init__(self, path: str | os.PathLike[str], declared: Mapping[str, str] | None) -> None:
        self._path = path
        self.problem: Exception | None = None
        #: How many rows there are, where the file says so.
        self.num_rows: int | None = None
        self._schema, self._batches, self._close = self._open(declared or {})

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        pa = _pyarrow("")
        return pa.RecordBatchReader.from_batches(self._schema, self._watched()).__arrow_c_stream__()

    def close(self) -> None:
        self._close()

    def _watched(self) -> Iterator[Any]:
        """The batches; keeps what goes wrong, as only its text would come through the C interface."""
        try:
            yield from self._batches
        except Exception as problem:
            self.problem = problem
            raise

    def _open(self, declared: Mapping[str, str]) -> tuple[Any, Iterator[Any], Any]:
        path, suffix = os.fspath(self._path), _format(self._path)
        if suffix == ".parquet":
            file = _pyarrow("parquet").ParquetFile(path)
            self.num_rows = file.metadata.num_rows
            return file.schema_arrow, file.iter_batches(_BATCH_ROWS), file.close
        if suffix in _DELIMITED:
            csv = _pyarrow("csv")
            reader = csv.open_csv(
                path,
                # Threads would keep errors from telling the row.
                csv.ReadOptions(block_size=_LOOK_AT_BYTES, use_threads=False),
                csv.ParseOptions(delimiter=_DELIMITED[suffix]),
                csv.ConvertOptions(column_types=_arrow_types(declared)),
            )
            return reader.schema, iter(reader), reader.close
        if suffix in _LINES:
            pa, lines = _pyarrow(""), _pyarrow("json")
            schema = pa.schema(list(_arrow_types(declared).items())) if declared else None
            reader = lines.open_json(
                path,
                lines.ReadOptions(block_size=_LOOK_AT_BYTES, use_threads=False),
                lines.ParseOptions(explicit_schema=schema),
            )
            return reader.schema, iter(reader), reader.close
        if suffix in _IPC:
            pa, ipc = _pyarrow(""), _pyarrow("ipc")
            source = pa.memory_map(path)
            if source.read(6) == b"ARROW1":
                file = ipc.open_file(source)
                batches = (file.get_batch(number) for number in range(file.num_record_batches))
                return file.schema, batches, source.close
            source.seek(0)
            stream = ipc.open_stream(source)
            return stream.schema, iter(stream), source.close
        raise ValueError(f"{path}: what is in it is not known by its name; known are {', '.join(_KNOWN)}")


@contextmanager
def opened(path: str | os.PathLike[str], declared: Mapping[str, str] | None) -> Iterator[FileStream]:
    """The rows of a file; `declared` are the types of the relation's columns, where that exists."""
    try:
        stream = FileStream(path, declared)
    except (FileNotFoundError, ImportError):
        raise
    except Exception as problem:
        raise _unreadable(path, problem, declared) from problem
    try:
        yield stream
    except Exception:
        if stream.problem is not None:
            raise _unreadable(path, stream.problem, declared) from stream.problem
        raise
    finally:
        stream.close()


def write(stream: Any, path: Path) -> int:
    """Writes an Arrow stream to a file, which is there only when it is complete; how many rows."""
    suffix = _format(path)
    pa = _pyarrow("")
    reader = pa.RecordBatchReader.from_stream(stream)
    partial = path.with_name(f"{path.name}.partial")
    try:
        with _writer(suffix, partial, reader.schema) as writer:
            rows = 0
            for batch in reader:
                writer.write_batch(batch)
                rows += batch.num_rows
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return rows


def _writer(suffix: str, path: Path, schema: Any) -> Any:
    if suffix == ".parquet":
        return _pyarrow("parquet").ParquetWriter(path, schema, compression="zstd")
    if suffix in _DELIMITED:
        csv = _pyarrow("csv")
        return csv.CSVWriter(path, schema, write_options=csv.WriteOptions(delimiter=_DELIMITED[suffix]))
    if suffix in _IPC:
        return _pyarrow("ipc").new_file(path, schema)
    if suffix in _LINES:
        return _LinesWriter(path)
    raise ValueError(f"{path.name}: cannot write such a file; known are {', '.join(_KNOWN)}")


class _LinesWriter:
    """One JSON object a line; times as text, in UTC."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")

    def write_batch(self, batch: Any) -> None:
        for row in batch.to_pylist():
            self._file.write(
                json.dumps(row, ensure_ascii=False, default=lambda value: value.isoformat()) + "\n"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _unreadable(path: str | os.PathLike[str], problem: Exception, declared: object) -> ValueError:
    text = f"{os.fspath(path)}: {problem}"
    if columns_wanted(path) and not declared:
        text += " (columns without types are taken as the file begins; else declare the relation)"
    return ValueError(text)


def _arrow_types(declared: Mapping[str, str]) -> dict[str, Any]:
    pa = _pyarrow("")
    known = {
        "int": pa.int64(),
        "float": pa.float64(),
        "string": pa.string(),
        "bool": pa.bool_(),
        "timestamp": pa.timestamp("ms", "UTC"),
        "vector": pa.list_(pa.float32()),
    }
    types = {name: known.get(kind.split("[")[0].split("(")[0]) for name, kind in declared.items()}
    return {name: kind for name, kind in types.items() if kind is not None}


def _format(path: str | os.PathLike[str]) -> str:
    """The ending that says what is in a file; what compresses it is left out."""
    name = Path(os.fspath(path)).name.lower()
    for packed in (".gz", ".zst", ".bz2"):
        if name.removesuffix(packed).endswith(tuple(_DELIMITED)):
            name = name.removesuffix(packed)
    return Path(name).suffix


def _pyarrow(module: str) -> Any:
    """A part of pyarrow, loaded when it is needed."""
    import importlib

    try:
        return importlib.import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError as problem:
        raise ImportError(
            "files are read and written by pyarrow: pip install 'stratalog[arrow]'"
        ) from problem
