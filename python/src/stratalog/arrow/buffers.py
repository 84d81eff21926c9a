"""The buffers of Arrow arrays in Python. Views and dictionaries are only ever read through `view()`."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import nanoarrow as na

from ..losses import Losses
from ..times import EPOCH
from ..values import is_int, is_rounded

#: Metadata of a column whose values differ in type and therefore travel as JSON text.
ANY_KEY, ANY, LIST = b"stratalog.type", b"any", b"list"
#: Metadata of a column that is declared to hold anything, also where all its values are of one type.
DECLARED_KEY = b"stratalog.declared"
Code = Literal["b", "B", "h", "H", "i", "I", "q", "Q"]
CODES: dict[str, Code] = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q"}


def may_hold_any(schema: Any) -> bool:
    """Whether a column holds values of several types, or is declared so that it may."""
    metadata = schema.metadata
    declared = metadata is not None and dict(metadata.items()).get(DECLARED_KEY) == ANY
    return declared or type_name(schema) == "any"


def marked(schema: Any) -> str | None:
    """`any` or `list` where a column's values are JSON: of several types, or lists."""
    found = dict(schema.metadata.items()).get(ANY_KEY) if schema.metadata is not None else None
    return found.decode() if found in (ANY, LIST) else None


def type_name(schema: Any) -> str:
    """The language's name of an Arrow type."""
    if schema.dictionary is not None:
        return type_name(schema.dictionary)
    if (mark := marked(schema)) is not None:
        return mark
    fmt = schema.format
    if fmt in CODES:
        return "int"
    if fmt.startswith("+"):
        holds_numbers = schema.n_children == 1 and schema.child(0).format in "cCsSiIlLefgn"
        return "vector" if holds_numbers else "list"
    if fmt.startswith("t"):
        return "timestamp"
    if fmt.startswith("d:"):
        return "float" if scale_of(schema) > 0 else "int"
    return {"n": "null", "b": "bool", "e": "float", "f": "float", "g": "float"}.get(fmt, "string")


def decode(
    column: Any, schema: Any, losses: Losses | None = None, first: int = 0, count: int | None = None
) -> list[Any]:
    """The values of a column as Python objects; decimals as such, and times in whole milliseconds.

    Of a batch that is a slice, the columns may be whole: then `count` values from `first` on are meant.
    """
    start, length = column.offset + first, column.length - first if count is None else count
    if not length:
        return []
    if schema.dictionary is not None:
        values = dictionary_values(column, start, length, losses)
    elif schema.format == "vu":
        values = _string_views(column, start, length)
    elif schema.format.startswith("ts"):
        view = column.view()
        times = milliseconds_of(schema, view, start, length, losses or Losses())
        values = _masked(list(map(_time, times)), _valid(view, start, length))
    elif schema.format.startswith("d:"):
        values = [
            None if value is None else Decimal(f"{value}E{-scale_of(schema)}")
            for value in unscaled(schema, column.view(), start, length)
        ]
    else:
        values = na.Array(column).to_pylist()[first : first + length]
    if marked(schema) is not None:
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


#: The seventh byte of integers that any float holds exactly, be they below zero or not.
_SMALL = bytes([*range(0x20), *range(0xE0, 0x100)])


def has_large(column: Any) -> bool:
    """Whether a column of 64-bit integers has perhaps one beyond 2^53: what is seen from its bytes."""
    data = bytes(raw(column.view(), 1))
    return bool(data[7::8].translate(None, b"\0\xff") or data[6::8].translate(None, _SMALL))


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


def dictionary_values(column: Any, start: int, length: int, losses: Losses | None = None) -> list[Any]:
    words = column.dictionary
    values = decode(words, words.schema.modify(name=column.schema.name), losses)
    view = column.view()
    places = integers(view, 1, CODES[column.schema.format], start, length)
    valid = _valid(view, start, length)
    if valid is None:
        return [values[place] for place in places]
    return [values[place] if ok else None for place, ok in zip(places, valid, strict=True)]


def milliseconds_of(schema: Any, view: Any, start: int, length: int, losses: Losses) -> list[int]:
    """Dates and times in whole milliseconds since 1970."""
    if schema.format == "tdD":
        return [day * 86_400_000 for day in integers(view, 1, "i", start, length)]
    values = integers(view, 1, "q", start, length)
    unit = schema.format[:3]
    if unit == "tss":
        return [value * 1000 for value in values]
    if (parts := {"tsu": 1000, "tsn": 1_000_000}.get(unit)) is None:
        return values
    if any(value % parts for value in values):
        # What stands in place of a null is anything.
        told = _masked(values, _valid(view, start, length))
        finer = [value for value in told if value is not None and value % parts]
        if finer:
            losses.note("times", schema.name or 1, _finer(finer[0], parts), len(finer))
    return [value // parts for value in values]


def _finer(value: int, parts: int) -> str:
    """A time with its digits, three or six or nine after the second."""
    seconds, rest = divmod(value, 1000 * parts)
    digits = f"{rest:0{len(str(parts)) + 2}}"
    while digits.endswith("000"):
        digits = digits[:-3]
    second = _time(seconds * 1000)
    if not isinstance(second, datetime):
        return str(value)
    return f"{second.replace(tzinfo=None).isoformat()}.{digits}"


def scale_of(schema: Any) -> int:
    """How many digits decimals have after their point."""
    return int(schema.format.removeprefix("d:").split(",")[1])


def unscaled(schema: Any, view: Any, start: int, length: int) -> list[int | None]:
    """Decimals as integers, without their points."""
    parts = schema.format.removeprefix("d:").split(",")
    width = int(parts[2]) // 8 if len(parts) > 2 else 16
    data = bytes(raw(view, 1)[start * width : (start + length) * width])
    values = [
        int.from_bytes(data[at : at + width], "little", signed=True) for at in range(0, len(data), width)
    ]
    return _masked(values, _valid(view, start, length))


def numbers_of(schema: Any, view: Any, start: int, length: int, losses: Losses) -> list[int] | list[float]:
    """Decimals as integers, or as the floats that are nearest to them; 0 in place of a null."""
    scale, found = scale_of(schema), unscaled(schema, view, start, length)
    if scale <= 0:
        whole = [(value or 0) * 10**-scale for value in found]
        if beyond := [value for value in whole if not is_int(value)]:
            raise ValueError(f"column {schema.name!r}: {beyond[0]} does not fit in 64 bits")
        return whole
    # The division of integers is the one that gives the nearest float.
    one = 10**scale
    real = [(value or 0) / one for value in found]
    rounded = [
        value for value, number in zip(found, real, strict=True) if value and is_rounded(number, value, scale)
    ]
    if rounded:
        losses.note("decimals", schema.name or 1, f"{Decimal(f'{rounded[0]}E{-scale}'):f}", len(rounded))
    return real


def _time(value: int) -> datetime | int:
    """A time as a datetime; the number itself where it lies outside the years 1 to 9999."""
    try:
        return EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        return value


def each(change: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    return [None if value is None else change(value) for value in values]
