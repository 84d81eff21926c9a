"""Columns of Python values as Arrow arrays."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from typing import Any

import nanoarrow as na

from ..times import Time
from ..values import Elements, plain, timed
from .buffers import ANY, ANY_KEY, each

#: Rows of a record batch at most.
BATCH_ROWS = 1 << 16


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
        na.c_schema(column.schema).modify(name=name, metadata={ANY_KEY: ANY} if kind == "any" else {})
        for name, kind, column in zip(names, kinds, built, strict=True)
    ]
    return batch_of(fields, built, len(values[0]) if values else 0)


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
        case "vector":
            return _vectors(values, validity)
        case "any":
            # The mark is known of strings with short offsets only.
            return column_as(na.c_schema(na.string()), each(_json, values))
        case _:
            return column_as(na.c_schema(na.large_string()), values)


def _json(value: Any) -> str:
    return json.dumps(plain(timed(value)), ensure_ascii=False)


def column_as(target: Any, values: Sequence[Any]) -> Any:
    """A C array of a plain type; strings of either width, everything else by way of its kind."""
    if target.format not in ("u", "U"):
        return na.c_array(list(values), target)
    validity = _bitmap(value is not None for value in values) if None in values else None
    data = [value.encode() if value else b"" for value in values]
    offsets = array("q" if target.format == "U" else "i", [0, *accumulate(map(len, data))])
    return na.c_array_from_buffers(target, len(data), [validity, offsets, b"".join(data)])


def _vectors(values: Sequence[Any], validity: bytes | None) -> Any:
    """Always a list of float32: batches of one stream share a schema whatever the lengths."""
    offsets = array("i", [0, *accumulate(len(value) if value is not None else 0 for value in values)])
    items = array("f", [item for value in values if value is not None for item in value])
    child = na.c_array_from_buffers(na.float32(), len(items), [None, items])
    return na.c_array_from_buffers(na.list_(na.float32()), len(values), [validity, offsets], children=[child])


def _bitmap(flags: Iterable[bool]) -> bytes:
    text = "".join(["1" if flag else "0" for flag in flags])[::-1]
    return int(text or "0", 2).to_bytes((len(text) + 7) // 8, "little")
