"""The buffers of Arrow arrays in Python. Views and dictionaries are only ever read through `view()`."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import nanoarrow as na

from ..values import EPOCH

#: Metadata of a column whose values differ in type and therefore travel as JSON text.
ANY_KEY, ANY = b"stratalog.type", b"any"
#: Metadata of a column that is declared to hold anything, also where all its values are of one type.
DECLARED_KEY = b"stratalog.declared"
Code = Literal["b", "B", "h", "H", "i", "I", "q", "Q"]
CODES: dict[str, Code] = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q"}


def may_hold_any(schema: Any) -> bool:
    """Whether a column holds values of several types, or is declared so that it may."""
    metadata = schema.metadata
    declared = metadata is not None and dict(metadata.items()).get(DECLARED_KEY) == ANY
    return declared or type_name(schema) == "any"


def type_name(schema: Any) -> str:
    """The language's name of an Arrow type."""
    if schema.dictionary is not None:
        return type_name(schema.dictionary)
    if (metadata := schema.metadata) is not None and dict(metadata.items()).get(ANY_KEY) == ANY:
        return "any"
    fmt = schema.format
    if fmt in CODES:
        return "int"
    if fmt.startswith("+"):
        return "vector"
    if fmt.startswith("t"):
        return "timestamp"
    return {"n": "null", "b": "bool", "e": "float", "f": "float", "g": "float"}.get(fmt, "string")


def decode(column: Any, schema: Any) -> list[Any]:
    """The values of a column as Python objects."""
    start, length = column.offset, column.length
    if not length:
        return []
    if schema.dictionary is not None:
        values = dictionary_values(column, start, length)
    elif schema.format == "vu":
        values = _string_views(column, start, length)
    elif schema.format.startswith("ts"):
        view = column.view()
        times: list[Any] = [_time(value) for value in milliseconds_of(schema, view, start, length)]
        values = _masked(times, _valid(view, start, length))
    else:
        values = na.Array(column).to_pylist()
    if type_name(schema) == "any":
        return each(json.loads, values)
    return values


def raw(view: Any, number: int) -> memoryview:
    buffer = view.buffer(number)
    try:
        return memoryview(buffer).cast("B")
    except (TypeError, ValueError, BufferError):
        return memoryview(bytes(buffer))


def integers(view: Any, number: int, code: Code, start: int, length: int) -> list[int]:
    values = array(code)
    size = values.itemsize
    values.frombytes(raw(view, number)[start * size : (start + length) * size])
    return values.tolist()


def bits(view: Any, number: int, start: int, length: int) -> bytes | None:
    """A bitmap from the bit `start` on; None for no bitmap, which means that all are valid."""
    data = raw(view, number)
    if not len(data) or not length:
        return None
    part = bytes(data[start // 8 : (start + length + 7) // 8])
    if start % 8:
        shifted = int.from_bytes(part, "little") >> (start % 8)
        return (shifted & ((1 << length) - 1)).to_bytes((length + 7) // 8, "little")
    return part[: (length + 7) // 8]


def _valid(view: Any, start: int, length: int) -> Sequence[bool] | None:
    flags = bits(view, 0, start, length)
    if flags is None:
        return None
    text = f"{int.from_bytes(flags, 'little'):0{length}b}"[-length:]
    return [char == "1" for char in reversed(text)]


def _masked(values: list[Any], valid: Sequence[bool] | None) -> list[Any]:
    return values if valid is None else [v if ok else None for v, ok in zip(values, valid, strict=True)]


def _string_views(column: Any, start: int, length: int) -> list[str | None]:
    pieces, valid = viewed(column, start, length)
    return _masked([bytes(piece).decode() for piece in pieces], valid)


def viewed(column: Any, start: int, length: int) -> tuple[list[bytes | memoryview], Sequence[bool] | None]:
    """The bytes of string views, and which count. Short ones lie in the view, long ones where it points."""
    view = column.view()
    spare = [raw(view, number) for number in range(2, view.n_buffers - 1)]
    views = bytes(raw(view, 1)[start * 16 : (start + length) * 16])
    sizes, _, buffers, offsets = (memoryview(views).cast("i")[part::4].tolist() for part in range(4))
    if (valid := _valid(view, start, length)) is not None:
        # What stands in place of a null is anything.
        sizes = [size if ok else 0 for size, ok in zip(sizes, valid, strict=True)]
    pieces = [
        views[at : at + size] if size <= 12 else spare[buffer][offset : offset + size]
        for at, size, buffer, offset in zip(range(4, 16 * length, 16), sizes, buffers, offsets, strict=True)
    ]
    return pieces, valid


def dictionary_values(column: Any, start: int, length: int) -> list[Any]:
    words = column.dictionary
    values = decode(words, words.schema)
    view = column.view()
    places = integers(view, 1, CODES[column.schema.format], start, length)
    valid = _valid(view, start, length)
    if valid is None:
        return [values[place] for place in places]
    return [values[place] if ok else None for place, ok in zip(places, valid, strict=True)]


def milliseconds_of(schema: Any, view: Any, start: int, length: int) -> list[int]:
    """Dates and times in milliseconds since 1970; those that are finer are refused."""
    if schema.format == "tdD":
        return [day * 86_400_000 for day in integers(view, 1, "i", start, length)]
    values = integers(view, 1, "q", start, length)
    unit = schema.format[:3]
    if unit == "tss":
        return [value * 1000 for value in values]
    if (parts := {"tsu": 1000, "tsn": 1_000_000}.get(unit)) is None:
        return values
    if any(value % parts for value in values):
        for value in _masked(values, _valid(view, start, length)):
            if value is not None and value % parts:
                raise ValueError(
                    f"column {schema.name!r}: `{_finer(value, parts)}` is finer than milliseconds, "
                    "which is what times are kept in: round the column, or insert it as text"
                )
    return [value // parts for value in values]


def _finer(value: int, parts: int) -> str:
    """A time with all its digits."""
    seconds, rest = divmod(value, 1000 * parts)
    digits = f"{rest:0{len(str(parts)) + 2}}".rstrip("0")
    second = _time(seconds * 1000)
    return f"{second:%Y-%m-%dT%H:%M:%S}.{digits}" if isinstance(second, datetime) else str(value)


def _time(value: int) -> datetime | int:
    """A time as a datetime; the number itself where it lies outside the years 1 to 9999."""
    try:
        return EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        return value


def each(change: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    return [None if value is None else change(value) for value in values]
