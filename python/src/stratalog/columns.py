"""Arrow without pyarrow: the one door to nanoarrow, for both directions.

nanoarrow 0.9 writes neither string views nor dictionaries nor slices, and copying a view array through it
corrupts memory. So every column is first laid out anew from its buffers in the plain form of its type
(`_plain`), and view and dictionary arrays are only ever read through `view()`.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Any, Literal, Protocol

import nanoarrow as na
from nanoarrow.c_array_stream import CArrayStream
from nanoarrow.ipc import InputStream, StreamWriter

from .values import EPOCH, milliseconds, plain

#: No frame that we send is larger.
FRAME_BYTES = 1 << 20
#: Metadata of a column whose values differ in type and therefore travel as JSON text.
ANY_KEY, ANY = b"stratalog.type", b"any"
PROVENANCE = "_provenance"
_BATCH_ROWS = 1 << 16
_WIDTHS = {"c": 1, "C": 1, "s": 2, "S": 2, "i": 4, "I": 4, "l": 8, "L": 8, "e": 2, "f": 4, "g": 8}
_Code = Literal["b", "B", "h", "H", "i", "I", "q", "Q"]
_CODES: dict[str, _Code] = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q"}


class ArrowStream(Protocol):
    """Anything that exports the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@dataclass(slots=True)
class Batch:
    """Columns of one length, each a nanoarrow C array in plain layout."""

    schema: Any
    array: Any
    length: int


# Writing


def stream_frames(data: ArrowStream, names: Sequence[str] | None = None) -> Iterator[tuple[bytes, int]]:
    """The frames of any Arrow stream: only the columns `names`, in that order, if given."""
    return frames(_normalised(data, names))


def frames(batches: Iterable[Batch]) -> Iterator[tuple[bytes, int]]:
    """One Arrow IPC stream cut into frames, each with the number of rows that are complete with it."""
    sink = _Sink()
    rows = 0
    with StreamWriter.from_writable(sink) as writer:
        for batch in batches:
            writer.write_stream(batch.array)
            pieces = sink.cut(FRAME_BYTES)
            for number, piece in enumerate(pieces, 1):
                yield piece, rows + batch.length * number // (len(pieces) + 1)
            rows += batch.length
    for piece in sink.cut(1):
        yield piece, rows


def count_rows(data: Any) -> int | None:
    """How many rows there are, where that is known without computing them."""
    for name in ("num_rows", "height"):
        if isinstance(count := getattr(data, name, None), int):
            return count
    if type(data).__module__.startswith("pandas"):
        return len(data)
    return None


def kind_of(values: Iterable[Any]) -> str:
    """The type of a column of Python values: any where they differ, null where there are none."""
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) == 1:
        return kinds.pop()
    return "any" if kinds else "null"


def build(names: Sequence[str], kinds: Sequence[str], values: Sequence[Sequence[Any]]) -> Batch:
    """A batch from Python values, column by column."""
    built = [_column(kind, column) for kind, column in zip(kinds, values, strict=True)]
    fields = [
        na.c_schema(column.schema).modify(name=name, metadata={ANY_KEY: ANY} if kind == "any" else {})
        for name, kind, column in zip(names, kinds, built, strict=True)
    ]
    return _batch(fields, built, len(values[0]) if values else 0)


class _Sink:
    def __init__(self) -> None:
        self.buffer = bytearray()

    def write(self, data: Any) -> int:
        self.buffer += data
        return len(data)

    def cut(self, at_least: int) -> list[bytes]:
        """Takes out what fills whole frames, or everything when `at_least` is 1."""
        pieces = []
        while len(self.buffer) >= max(at_least, 1):
            pieces.append(bytes(self.buffer[:FRAME_BYTES]))
            del self.buffer[:FRAME_BYTES]
        return pieces


def _batch(fields: Sequence[Any], children: Sequence[Any], length: int) -> Batch:
    schema = na.c_schema(na.struct(list(fields)))
    whole = na.c_array_from_buffers(schema, length, [None], children=list(children))
    return Batch(schema, whole, length)


def _normalised(data: ArrowStream, names: Sequence[str] | None) -> Iterator[Batch]:
    with na.c_array_stream(data) as stream:
        schema = stream._get_cached_schema()
        if schema.format != "+s":
            raise TypeError(f"an Arrow stream of {schema.format!r} has no columns to insert")
        fields = [(i, schema.child(i).name) for i in range(schema.n_children)]
        chosen = _choose(fields, names, drop_index=type(data).__module__.startswith("pandas"))
        targets = [_plain_schema(schema.child(i)).modify(name=name, metadata={}) for i, name in chosen]
        empty = True
        for batch in stream:
            for start in range(0, batch.length, _BATCH_ROWS):
                length = min(_BATCH_ROWS, batch.length - start)
                columns = [batch.child(i) for i, _ in chosen]
                children = [_plain(c, c.offset + batch.offset + start, length) for c in columns]
                empty = False
                yield _batch(targets, children, length)
        if empty:
            yield _batch(targets, [_no_rows(target) for target in targets], 0)


def _choose(
    fields: list[tuple[int, str]], names: Sequence[str] | None, drop_index: bool
) -> list[tuple[int, str]]:
    if names is None:
        return [
            (i, name) for i, name in fields if not (drop_index and name and name.startswith("__index_level_"))
        ]
    places = {name: i for i, name in fields}
    for name in names:
        if name not in places:
            raise ValueError(f"the data has no column {name!r}; it has {', '.join(places)}")
    return [(places[name], name) for name in names]


def _no_rows(schema: Any) -> Any:
    """An empty array of a plain type."""
    fmt = schema.format
    children = [_no_rows(schema.child(0))] if fmt.startswith("+") else []
    buffers: list[Any] = [None]
    if fmt in ("u", "U", "+l", "+L"):
        buffers.append(array("q" if fmt in ("U", "+L") else "i", [0]))
    return na.c_array_from_buffers(schema, 0, [] if fmt == "n" else buffers, children=children)


def _plain_schema(schema: Any) -> Any:
    """The type that `_plain` lays a column of this type out in."""
    if schema.dictionary is not None:
        return _plain_schema(schema.dictionary)
    fmt = schema.format
    if fmt == "vu":
        return na.c_schema(na.large_string())
    if fmt.startswith(("ts", "td")):
        return na.c_schema(na.timestamp("ms", timezone="UTC"))
    if fmt == "+L":
        return na.c_schema(na.large_list(_plain_schema(schema.child(0))))
    if fmt == "+l":
        return na.c_schema(na.list_(_plain_schema(schema.child(0))))
    if fmt.startswith("+w:"):
        return na.c_schema(na.fixed_size_list(_plain_schema(schema.child(0)), int(fmt[3:])))
    if fmt in _WIDTHS or fmt in ("n", "b", "u", "U"):
        return na.c_schema(schema)
    raise TypeError(f"column {schema.name!r} has the Arrow type {na.Schema(schema)}, which cannot be stored")


def _plain(column: Any, start: int, length: int) -> Any:
    """Lays `length` values from the physical place `start` out anew, in the form of `_plain_schema`."""
    source = column.schema
    target = _plain_schema(source)
    fmt = source.format
    if source.dictionary is not None:
        return _column_as(target, _dictionary_values(column, start, length))
    view = column.view()
    if fmt == "n":
        return na.c_array_from_buffers(target, length, [])
    validity = _bits(view, 0, start, length)
    if fmt == "vu":
        pieces, _ = _viewed(column, start, length)
        ends = array("q", [0, *accumulate(map(len, pieces))])
        return na.c_array_from_buffers(target, length, [validity, ends, b"".join(pieces)])
    if fmt.startswith(("ts", "td")):
        times = array("q", _milliseconds(fmt, view, start, length))
        return na.c_array_from_buffers(target, length, [validity, times])
    if fmt in ("u", "U"):
        offsets = _integers(view, 1, "i" if fmt == "u" else "q", start, length + 1)
        first, last = (offsets[0], offsets[-1]) if length else (0, 0)
        moved = offsets if first == 0 else [offset - first for offset in offsets]
        text = bytes(_raw(view, 2)[first:last])
        return na.c_array_from_buffers(
            target, length, [validity, array("i" if fmt == "u" else "q", moved or [0]), text]
        )
    if fmt in ("+l", "+L"):
        code: _Code = "i" if fmt == "+l" else "q"
        offsets = _integers(view, 1, code, start, length + 1) if length else [0]
        child = column.child(0)
        values = _plain(child, child.offset + offsets[0], offsets[-1] - offsets[0])
        moved = [offset - offsets[0] for offset in offsets]
        return na.c_array_from_buffers(target, length, [validity, array(code, moved)], children=[values])
    if fmt.startswith("+w:"):
        size, child = int(fmt[3:]), column.child(0)
        values = _plain(child, child.offset + start * size, length * size)
        return na.c_array_from_buffers(target, length, [validity], children=[values])
    if fmt == "b":
        return na.c_array_from_buffers(target, length, [validity, _bits(view, 1, start, length) or b""])
    width = _WIDTHS[fmt]
    data = bytes(_raw(view, 1)[start * width : (start + length) * width])
    return na.c_array_from_buffers(target, length, [validity, data])


def _raw(view: Any, number: int) -> memoryview:
    buffer = view.buffer(number)
    try:
        return memoryview(buffer).cast("B")
    except (TypeError, ValueError, BufferError):
        return memoryview(bytes(buffer))


def _integers(view: Any, number: int, code: _Code, start: int, length: int) -> list[int]:
    values = array(code)
    size = values.itemsize
    values.frombytes(_raw(view, number)[start * size : (start + length) * size])
    return values.tolist()


def _bits(view: Any, number: int, start: int, length: int) -> bytes | None:
    """A bitmap from the bit `start` on; None for no bitmap, which means that all are valid."""
    data = _raw(view, number)
    if not len(data) or not length:
        return None
    part = bytes(data[start // 8 : (start + length + 7) // 8])
    if start % 8:
        shifted = int.from_bytes(part, "little") >> (start % 8)
        return (shifted & ((1 << length) - 1)).to_bytes((length + 7) // 8, "little")
    return part[: (length + 7) // 8]


def _valid(view: Any, start: int, length: int) -> Sequence[bool] | None:
    bits = _bits(view, 0, start, length)
    if bits is None:
        return None
    text = f"{int.from_bytes(bits, 'little'):0{length}b}"[-length:]
    return [char == "1" for char in reversed(text)]


def _masked(values: list[Any], valid: Sequence[bool] | None) -> list[Any]:
    return values if valid is None else [v if ok else None for v, ok in zip(values, valid, strict=True)]


def _string_views(column: Any, start: int, length: int) -> list[str | None]:
    pieces, valid = _viewed(column, start, length)
    return _masked([bytes(piece).decode() for piece in pieces], valid)


def _viewed(column: Any, start: int, length: int) -> tuple[list[bytes | memoryview], Sequence[bool] | None]:
    """The bytes of string views, and which count. Short ones lie in the view, long ones where it points."""
    view = column.view()
    spare = [_raw(view, number) for number in range(2, view.n_buffers - 1)]
    views = bytes(_raw(view, 1)[start * 16 : (start + length) * 16])
    sizes, _, buffers, offsets = (memoryview(views).cast("i")[part::4].tolist() for part in range(4))
    if (valid := _valid(view, start, length)) is not None:
        # What stands in place of a null is anything.
        sizes = [size if ok else 0 for size, ok in zip(sizes, valid, strict=True)]
    pieces = [
        views[at : at + size] if size <= 12 else spare[buffer][offset : offset + size]
        for at, size, buffer, offset in zip(range(4, 16 * length, 16), sizes, buffers, offsets, strict=True)
    ]
    return pieces, valid


def _dictionary_values(column: Any, start: int, length: int) -> list[Any]:
    words = column.dictionary
    values = _decode(words, words.schema)
    view = column.view()
    places = _integers(view, 1, _CODES[column.schema.format], start, length)
    valid = _valid(view, start, length)
    if valid is None:
        return [values[place] for place in places]
    return [values[place] if ok else None for place, ok in zip(places, valid, strict=True)]


def _milliseconds(fmt: str, view: Any, start: int, length: int) -> list[int]:
    if fmt == "tdD":
        return [day * 86_400_000 for day in _integers(view, 1, "i", start, length)]
    values = _integers(view, 1, "q", start, length)
    match fmt[:3]:
        case "tss":
            return [value * 1000 for value in values]
        case "tsu":
            return [value // 1000 for value in values]
        case "tsn":
            return [value // 1_000_000 for value in values]
        case _:
            return values


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "string"
    if isinstance(value, date):
        return "timestamp"
    return "vector"


def _column(kind: str, values: Sequence[Any]) -> Any:
    """A C array of Python values of one kind."""
    length = len(values)
    validity = _bitmap(value is not None for value in values) if None in values else None
    match kind:
        case "null":
            return na.c_array_from_buffers(na.null(), length, [])
        case "bool":
            return na.c_array_from_buffers(na.bool_(), length, [validity, _bitmap(bool(v) for v in values)])
        case "int":
            ints = array("q", [value or 0 for value in values])
            return na.c_array_from_buffers(na.int64(), length, [validity, ints])
        case "float":
            floats = array("d", [value or 0.0 for value in values])
            return na.c_array_from_buffers(na.float64(), length, [validity, floats])
        case "timestamp":
            times = array("q", [0 if value is None else milliseconds(value) for value in values])
            return na.c_array_from_buffers(na.timestamp("ms", timezone="UTC"), length, [validity, times])
        case "vector":
            return _vectors(values, validity)
        case "any":
            return _column("string", _each(_json, values))
        case _:
            return _column_as(na.c_schema(na.large_string()), values)


def _json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def _column_as(target: Any, values: Sequence[Any]) -> Any:
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


# Reading


@dataclass(slots=True)
class Table:
    """A received Arrow IPC stream, decoded no further than asked for."""

    data: bytes

    def schema(self) -> Any:
        with na.c_array_stream(InputStream.from_readable(self.data)) as stream:
            return stream._get_cached_schema()

    def types(self) -> list[str]:
        """The type of each column, without the provenance."""
        schema = self.schema()
        fields = [schema.child(i) for i in range(schema.n_children)]
        return [type_name(field) for field in fields if field.name != PROVENANCE]

    def columns(self) -> tuple[list[list[Any]], list[str], int]:
        """The values of every column, the provenance of every row if it was sent, and the number of rows."""
        names, found, length = _values(InputStream.from_readable(self.data))
        provenance = [found[i] for i, name in enumerate(names) if name == PROVENANCE]
        kept = [found[i] for i, name in enumerate(names) if name != PROVENANCE]
        return kept, provenance[0] if provenance else [], length

    def length(self) -> int:
        """How many rows there are."""
        with na.c_array_stream(InputStream.from_readable(self.data)) as stream:
            return sum(batch.length for batch in stream)

    def stream(self) -> Any:
        """The stream for other libraries, without the provenance."""
        return open_stream(self.data)


def open_stream(source: Any) -> Any:
    """The batches of an Arrow IPC stream in bytes, or in something to read from, without the provenance.

    They are read when they are asked for, but where there is a provenance to take out.
    """
    stream = na.c_array_stream(InputStream.from_readable(source))
    schema = stream._get_cached_schema()
    kept = [i for i in range(schema.n_children) if schema.child(i).name != PROVENANCE]
    if len(kept) == schema.n_children:
        return stream
    fields = [schema.child(i) for i in kept]
    with stream:
        parts = [_batch(fields, [batch.child(i) for i in kept], batch.length) for batch in stream]
    return CArrayStream.from_c_arrays(
        [part.array for part in parts], na.c_schema(na.struct(fields)), validate=False
    )


def table_stream(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """A stream of rows that came as JSON."""
    values = [[row[i] for row in rows] for i in range(len(names))]
    return build(names, [kind_of(column) for column in values], values).array


def stream_rows(
    data: ArrowStream, names: Sequence[str] | None = None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names and rows of any Arrow stream."""
    drop_index = type(data).__module__.startswith("pandas")
    found, values, length = _values(data)
    chosen = _choose(list(enumerate(found)), names, drop_index)
    kept = [values[place] for place, _ in chosen]
    return [name for _, name in chosen], list(zip(*kept, strict=True)) if kept else [()] * length


def _values(source: Any) -> tuple[list[str], list[list[Any]], int]:
    """Names, the values of each column, and the number of rows."""
    with na.c_array_stream(source) as stream:
        schema = stream._get_cached_schema()
        fields = [schema.child(i) for i in range(schema.n_children)]
        found: list[list[Any]] = [[] for _ in fields]
        length = 0
        for batch in stream:
            length += batch.length
            for place, field in enumerate(fields):
                found[place].extend(_decode(batch.child(place), field))
    return [field.name for field in fields], found, length


def type_name(schema: Any) -> str:
    """The language's name of an Arrow type."""
    if schema.dictionary is not None:
        return type_name(schema.dictionary)
    if (metadata := schema.metadata) is not None and dict(metadata.items()).get(ANY_KEY) == ANY:
        return "any"
    fmt = schema.format
    if fmt in _CODES:
        return "int"
    if fmt.startswith("+"):
        return "vector"
    if fmt.startswith("t"):
        return "timestamp"
    return {"n": "null", "b": "bool", "e": "float", "f": "float", "g": "float"}.get(fmt, "string")


def _decode(column: Any, schema: Any) -> list[Any]:
    """The values of a column as Python objects."""
    start, length = column.offset, column.length
    if not length:
        return []
    if schema.dictionary is not None:
        values = _dictionary_values(column, start, length)
    elif schema.format == "vu":
        values = _string_views(column, start, length)
    elif schema.format.startswith("ts"):
        view = column.view()
        times: list[Any] = [_time(value) for value in _milliseconds(schema.format, view, start, length)]
        values = _masked(times, _valid(view, start, length))
    else:
        values = na.Array(column).to_pylist()
    if type_name(schema) == "any":
        return _each(json.loads, values)
    return values


def _time(value: int) -> datetime | int:
    """A time as a datetime; the number itself where it lies outside the years 1 to 9999."""
    try:
        return EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        return value


def _each(change: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    return [None if value is None else change(value) for value in values]
