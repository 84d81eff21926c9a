"""Columns of Python values as Arrow arrays."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from typing import Any, Literal

import nanoarrow as na

from ..times import Time
from ..values import Elements, plain, timed
from .buffers import ANY_KEY, each

#: Rows of a record batch at most.
BATCH_ROWS = 1 << 16

#: The largest float of 32 bits.
_LARGEST = 3.4028234663852886e38


@dataclass(slots=True)
class Batch:
    """Columns of one length, each a nanoarrow C array in plain layout."""

    schema: Any
    array: Any
    length: int


def build(names: Sequence[str], kinds: Sequence[str], values: Sequence[Sequence[Any]]) -> Batch:
    """A batch from Python values, column by column."""
    built = [_column(kind, column) for kind, column in zip(kinds, values, strict=True)]
    fields = [
        na.c_schema(column.schema).modify(name=name, metadata=_mark(kind))
        for name, kind, column in zip(names, kinds, built, strict=True)
    ]
    return batch_of(fields, built, len(values[0]) if values else 0)


def _mark(kind: str) -> dict[bytes, bytes]:
    return {ANY_KEY: kind.encode()} if kind in ("any", "list") else {}


def batch_of(fields: Sequence[Any], children: Sequence[Any], length: int) -> Batch:
    schema = na.c_schema(na.struct(list(fields)))
    whole = na.c_array_from_buffers(schema, length, [None], children=list(children))
    return Batch(schema, whole, length)


def kind_of(values: Iterable[Any]) -> str:
    """The type of a column of Python values: any where they differ, null where there are none."""
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) == 1:
        return kinds.pop()
    return "any" if kinds else "null"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Time | date):
        return "timestamp"
    if isinstance(value, int):
        return "int"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "string"
    return "any" if isinstance(value, Elements) else "vector"


def _column(kind: str, values: Sequence[Any]) -> Any:
    """A C array of Python values of one kind."""
    length = len(values)
    validity = _bitmap(value is not None for value in values) if None in values else None
    match kind:
        case "null":
            return na.c_array_from_buffers(na.null(), length, [], null_count=length)
        case "bool":
            return na.c_array_from_buffers(na.bool_(), length, [validity, _bitmap(bool(v) for v in values)])
        case "int":
            ints = array("q", [value or 0 for value in values])
            return na.c_array_from_buffers(na.int64(), length, [validity, ints])
        case "float":
            floats = array("d", [value or 0.0 for value in values])
            return na.c_array_from_buffers(na.float64(), length, [validity, floats])
        case "timestamp":
            times = array("q", [timed(value) or 0 for value in values])
            return na.c_array_from_buffers(na.timestamp("ms", timezone="UTC"), length, [validity, times])
        case "vector" | "vector of int" | "vector of float":
            return _vectors(values, validity, _ELEMENTS[kind])
        case "any" | "list":
            # The mark is known of strings with short offsets only.
            return column_as(na.c_schema(na.string()), each(_json, values))
        case _:
            return column_as(na.c_schema(na.large_string()), values)


def _json(value: Any) -> str:
    return json.dumps(plain(timed(value)), ensure_ascii=False)


def column_as(target: Any, values: Sequence[Any]) -> Any:
    """A C array of a plain type; strings of either width, everything else by way of its kind."""
    if target.format.startswith("ts"):
        return _column("timestamp", values)
    if target.format not in ("u", "U"):
        return na.c_array(list(values), target)
    validity = _bitmap(value is not None for value in values) if None in values else None
    data = [value.encode() if value else b"" for value in values]
    offsets = array("q" if target.format == "U" else "i", [0, *accumulate(map(len, data))])
    return na.c_array_from_buffers(target, len(data), [validity, offsets, b"".join(data)])


#: What vectors of numbers travel as, so that a column that is declared to hold lists keeps them as they are.
_ELEMENTS: dict[str, tuple[Literal["f", "q", "d"], Any]] = {
    "vector": ("f", na.float32()),
    "vector of int": ("q", na.int64()),
    "vector of float": ("d", na.float64()),
}


def exact_kind(kind: str, values: Sequence[Any], *, more: bool = False) -> str:
    """The kind of a column in which no number becomes another one; `more` may follow these values."""
    if kind != "vector":
        return kind
    items = [item for value in values if value is not None for item in value]
    if items and all(isinstance(item, int) for item in items):
        return "vector of int"
    # Most vectors come from where they had 32 bits.
    return "vector" if not more and all(map(_has_32_bits, items)) else "vector of float"


def _has_32_bits(item: float) -> bool:
    return abs(item) <= _LARGEST and array("f", [item])[0] == item


def _vectors(
    values: Sequence[Any], validity: bytes | None, elements: tuple[Literal["f", "q", "d"], Any]
) -> Any:
    """Lists without a length: batches of one stream share a schema whatever the lengths."""
    code, item = elements
    offsets = array("i", [0, *accumulate(len(value) if value is not None else 0 for value in values)])
    items = array(code, [item for value in values if value is not None for item in value])
    child = na.c_array_from_buffers(item, len(items), [None, items])
    return na.c_array_from_buffers(na.list_(item), len(values), [validity, offsets], children=[child])


def _bitmap(flags: Iterable[bool]) -> bytes:
    text = "".join(["1" if flag else "0" for flag in flags])[::-1]
    return int(text or "0", 2).to_bytes((len(text) + 7) // 8, "little")
