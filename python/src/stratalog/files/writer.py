"""`write`: the batches of a stream as a file, which is there only when it is complete."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime
from json.encoder import encode_basestring
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..times import time_text, written
from .cells import guessed_any, time_of
from .formats import RDF, format_of, packed_into, pyarrow
from .new_file import new_file
from .rdf import TripleWriter

if TYPE_CHECKING:
    from ..result import Result
    from ..stream import ResultStream

#: How a row becomes a line.
_Line = Callable[[Sequence[Any]], str]


def write(stream: ResultStream, path: Path) -> int:
    """Writes what is left of a stream; how many rows."""
    kind = format_of(path.name)
    with new_file(path) as out:
        if kind in ("parquet", "arrow"):
            return _binary(stream, out, kind)
        return _text(stream, out, path, kind)


def _binary(stream: ResultStream, out: IO[bytes], kind: str) -> int:
    pa = pyarrow()
    reader = pa.RecordBatchReader.from_stream(stream)
    rows = 0
    with ExitStack() as stack:
        if kind == "parquet":
            made = pyarrow("pyarrow.parquet").ParquetWriter(out, reader.schema, compression="zstd")
        else:
            made = pyarrow("pyarrow.ipc").new_file(out, reader.schema)
        writer = stack.enter_context(made)
        for batch in reader:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def _text(stream: ResultStream, file: IO[bytes], path: Path, kind: str) -> int:
    rows = 0

    def counted() -> Iterator[Result]:
        nonlocal rows
        for batch in stream:
            rows += len(batch)
            yield batch

    with ExitStack() as stack:
        out = packed_into(file, path.name)
        if out is not file:
            stack.enter_context(out)
        if kind in RDF:
            writer = TripleWriter(str(path), out, kind, stream.columns)
            writer.write(row for batch in counted() for row in batch)
        else:
            _lines(counted(), out, kind, stream.columns)
    return rows


def _lines(batches: Iterator[Result], out: IO[bytes], kind: str, columns: Sequence[str]) -> None:
    if kind == "csv":
        out.write((",".join(map(_csv_text, columns)) + "\n").encode())
    elif kind == "tsv":
        out.write(("\t".join(map(_tsv_text, columns)) + "\n").encode())
    elif kind == "json":
        _array(batches, out, columns)
        return
    for batch in batches:
        types = batch.types
        if kind == "jsonl":
            line = _json_line(columns, types)
        else:
            # Text tells apart what a column of any type may hold, also where it happens to hold one.
            marked = zip(types, batch._may_hold_any, strict=True)
            line = _delimited_line(kind, ["any" if may_hold_any else word for word, may_hold_any in marked])
        out.write("".join([line(row) for row in batch]).encode())


def _array(batches: Iterator[Result], out: IO[bytes], columns: Sequence[str]) -> None:
    before = "[\n  "
    for batch in batches:
        line = _json_line(columns, batch.types)
        for row in batch:
            out.write((before + line(row).removesuffix("\n")).encode())
            before = ",\n  "
    out.write(b"\n]\n" if before.startswith(",") else b"[]\n")


def _json_line(columns: Sequence[str], types: Sequence[str]) -> _Line:
    keys: list[str] = []
    for name in columns:
        key, copy = name, 2
        while key in keys:
            key, copy = f"{name}_{copy}", copy + 1
        keys.append(key)
    named = [f"{encode_basestring(key)}:" for key in keys]

    def line(row: Sequence[Any]) -> str:
        values = map(_json, row, types)
        return "{" + ",".join(key + value for key, value in zip(named, values, strict=True)) + "}\n"

    return line


def _json(value: Any, column: str) -> str:
    match value:
        case None:
            return "null"
        case str():
            return encode_basestring(value)
        case bool():
            return "true" if value else "false"
        case float():
            return _number(value)
        case datetime():
            return f'"{written(value)}"'
        case list() if column == "vector":
            return f"[{','.join(_number(_shortest(item)) for item in value)}]"
        case list():
            return f"[{','.join(_json(item, 'any') for item in value)}]"
        case int() if column == "timestamp" and (time := time_text(value)):
            return f'"{time}"'
        case _:
            return str(value)


def _delimited_line(kind: str, types: Sequence[str]) -> _Line:
    is_csv = kind == "csv"
    of_text, null, delimiter = (_csv_text, "", ",") if is_csv else (_tsv_text, "\\N", "\t")

    def cell(value: Any, column: str) -> str:
        match value:
            case None:
                return null
            case str():
                # Text that would be read as something else where a column holds anything.
                return _quoted(value) if _is_like_another(value, column) else of_text(value)
            case bool():
                return "true" if value else "false"
            case float():
                return _real(value)
            case datetime():
                return written(value)
            case list() if column == "list" or not is_vector(value):
                text = _list_text(value)
                return _quoted(text) if is_csv else _tsv_text(text)
            case list():
                # Quotes would make it text where a column holds anything, so there is no comma in it.
                comma = " " if column == "any" else ", "
                text = f"[{comma.join(_real(_shortest(item)) for item in value)}]"
                return _quoted(text) if is_csv and column != "any" else text
            case int() if column == "timestamp" and (time := time_text(value)):
                return time
            case _:
                return str(value)

    return lambda row: delimiter.join(map(cell, row, types)) + "\n"


def is_vector(value: list[Any]) -> bool:
    """Whether a list of a column of any type is one."""
    return all(isinstance(item, int | float) and not isinstance(item, bool) for item in value)


def _list_text(value: list[Any]) -> str:
    """A list as JSON, in which floats have a fraction."""

    def text(item: Any) -> str:
        if isinstance(item, list):
            return _list_text(item)
        return _real(item) if isinstance(item, float) else _json(item, "any")

    return f"[{', '.join(map(text, value))}]"


def _is_like_another(text: str, column: str) -> bool:
    """Whether text would be taken for something else, where a column holds anything or is guessed."""
    guess = guessed_any(text)
    if column == "any":
        return not text or not isinstance(guess, str)
    return not isinstance(guess, str) or time_of(text) is not None


def _csv_text(text: str) -> str:
    """A string that could be taken for null, or that holds a separator, stands in quotes."""
    is_plain = text and not any(sign in text for sign in ',"\n\r') and not _has_edges(text)
    return text if is_plain else _quoted(text)


def _has_edges(text: str) -> bool:
    """Whether there is space at an end; what separates files and records is none elsewhere."""
    return any(end.isspace() and end not in "\x1c\x1d\x1e\x1f" for end in (text[0], text[-1]))


def _tsv_text(text: str) -> str:
    if "\\" in text:
        text = text.replace("\\", "\\\\")
    if "\t" in text or "\n" in text or "\r" in text:
        text = text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return f"\\{text}" if text.startswith('"') else text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _real(value: float) -> str:
    """The shortest text that reads back as the number, always with a fraction."""
    digits, exponent, power = _number(value).partition("e")
    return f"{digits if '.' in digits else f'{digits}.0'}{exponent}{power}"


def _number(value: float) -> str:
    """The shortest text that reads back as the number, as JSON has it elsewhere."""
    digits, exponent, power = repr(float(value)).partition("e")
    if power == "-05":
        sign = "-" * digits.startswith("-")
        return f"{sign}0.0000{digits.strip('-').replace('.', '')}"
    return f"{digits}e{power[0]}{power[1:].lstrip('0')}" if exponent else digits


def _shortest(item: float) -> float:
    """An element of a vector, with no more digits than its 32 bits have."""
    bits = struct.pack("f", item)
    for digits in range(6, 9):
        if struct.pack("f", shorter := float(f"{item:.{digits}g}")) == bits:
            return shorter
    return float(f"{item:.9g}")
