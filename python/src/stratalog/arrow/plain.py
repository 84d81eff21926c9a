"""What other libraries have, laid out anew.

nanoarrow 0.9 writes neither string views nor dictionaries nor slices, and copying a view array through it
corrupts memory. So every column is first laid out from its buffers in the plain form of its type.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Protocol

import nanoarrow as na

from ..extras import extra
from ..losses import Losses
from .buffers import (
    ANY_KEY,
    Code,
    bits,
    decode,
    dictionary_values,
    integers,
    marked,
    milliseconds_of,
    numbers_of,
    raw,
    scale_of,
    viewed,
)
from .building import BATCH_ROWS, Batch, batch_of, column_as

_WIDTHS = {"c": 1, "C": 1, "s": 2, "S": 2, "i": 4, "I": 4, "l": 8, "L": 8, "e": 2, "f": 4, "g": 8}


#: What a type is called that is kept as another.
_EXTENSION = b"ARROW:extension:name"


class ArrowStream(Protocol):
    """Anything that exports the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def batches_of(
    data: ArrowStream,
    names: Sequence[str] | None = None,
    most: int = BATCH_ROWS,
    losses: Losses | None = None,
) -> Iterator[Batch]:
    """The batches of any Arrow stream, in plain layout: only the columns `names`, in that order, if given.

    Times are cut to milliseconds there, and decimals are numbers, as `losses` counts.
    """
    losses = losses or Losses()
    with _stream_of(data) as stream:
        schema = stream._get_cached_schema()
        if schema.format != "+s":
            raise TypeError(f"a stream of {_shown(schema)} has no columns to insert: make a table of it")
        fields = [(i, schema.child(i).name) for i in range(schema.n_children)]
        chosen = _choose(fields, names, drop_index=type(data).__module__.startswith("pandas"))
        targets = [
            _plain_schema(schema.child(i)).modify(name=name, metadata=_mark(schema.child(i)))
            for i, name in chosen
        ]
        empty = True
        for batch in stream:
            _refuse_null_rows(batch)
            for start in range(0, batch.length, most):
                length = min(most, batch.length - start)
                columns = [batch.child(i) for i, _ in chosen]
                children = [_plain(c, c.offset + batch.offset + start, length, losses) for c in columns]
                empty = False
                yield batch_of(targets, children, length)
        if empty:
            yield batch_of(targets, [_no_rows(target) for target in targets], 0)


def stream_rows(
    data: ArrowStream, names: Sequence[str] | None, losses: Losses
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names and rows of any Arrow stream; its times are cut to milliseconds."""
    drop_index = type(data).__module__.startswith("pandas")
    found, values, length = values_of(data, losses)
    chosen = _choose(list(enumerate(found)), names, drop_index)
    kept = [values[place] for place, _ in chosen]
    return [name for _, name in chosen], list(zip(*kept, strict=True)) if kept else [()] * length


def count_rows(data: Any) -> int | None:
    """How many rows there are, where that is known without computing them."""
    for name in ("num_rows", "height"):
        if isinstance(count := getattr(data, name, None), int):
            return count
    if type(data).__module__.startswith("pandas"):
        return len(data)
    return None


def values_of(source: Any, losses: Losses | None = None) -> tuple[list[str], list[list[Any]], int]:
    """Names, the values of each column, and the number of rows."""
    with _stream_of(source) as stream:
        schema = stream._get_cached_schema()
        fields = [schema.child(i) for i in range(schema.n_children)]
        for field in fields:
            _refuse_periods(field)
        found: list[list[Any]] = [[] for _ in fields]
        length = 0
        for batch in stream:
            _refuse_null_rows(batch)
            for place, field in enumerate(fields):
                found[place].extend(decode(batch.child(place), field, losses, batch.offset, batch.length))
            length += batch.length
    return [field.name for field in fields], found, length


def _refuse_null_rows(batch: Any) -> None:
    """An array of structs is a batch as well, and may lack some of them, whose columns may hold anything."""
    if batch.null_count == 0 or not batch.buffers[0]:
        # Nor can a batch with a column of type null always be viewed as a whole.
        return
    flags = bits(batch.view(), 0, batch.offset, batch.length)
    if flags is not None and int.from_bytes(flags, "little").bit_count() < batch.length:
        raise ValueError("a row of the data is null as a whole: leave it out, or give its columns")


def _stream_of(data: Any) -> Any:
    try:
        with extra("pandas"):
            return na.c_array_stream(data)
    except (TypeError, ValueError) as problem:
        if not type(data).__module__.startswith("pandas"):
            raise
        if not data.columns.is_unique:
            raise ValueError(
                f"two columns of the frame have one name: {', '.join(map(str, data.columns))}"
            ) from None
        raise TypeError(
            f"a column of the frame has no type of Arrow: {' '.join(map(str, problem.args))}; "
            "its rows can be inserted, `data.to_dict('records')`"
        ) from problem


def _shown(schema: Any) -> str:
    """An Arrow type in words."""
    return repr(na.Schema(schema)).split(": ", 1)[-1].removeprefix("<Schema> ")


def _mark(schema: Any) -> dict[bytes, bytes]:
    """What is kept of a column's metadata."""
    mark = marked(schema)
    return {ANY_KEY: mark.encode()} if mark is not None else {}


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


def _numbers(values: list[Any], schema: Any, losses: Losses) -> list[Any]:
    """The words of a dictionary, without decimals."""
    if not schema.dictionary.format.startswith("d:"):
        return values
    return losses.settled(schema.name or 1, values, are_floats=scale_of(schema.dictionary) > 0)


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
    _refuse_periods(schema)
    if fmt == "vu":
        return na.c_schema(na.large_string())
    if fmt.startswith(("ts", "td")):
        return na.c_schema(na.timestamp("ms", timezone="UTC"))
    if fmt.startswith("d:"):
        return na.c_schema(na.float64() if scale_of(schema) > 0 else na.int64())
    if fmt in ("+l", "+L") or fmt.startswith("+w:"):
        return na.c_schema(_list_of(fmt, _plain_schema(_element(schema))))
    if fmt in _WIDTHS or fmt in ("n", "b", "u", "U"):
        return na.c_schema(schema)
    raise TypeError(
        f"column {schema.name!r} has the Arrow type {_shown(schema)}, which cannot be stored: cast the column"
    )


def _refuse_periods(schema: Any) -> None:
    if schema.metadata is not None and dict(schema.metadata.items()).get(_EXTENSION) == b"pandas.period":
        raise TypeError(
            f"column {schema.name!r} has periods of pandas, which would be numbers: make times of them, "
            "`.dt.to_timestamp()`, or text"
        )


def _list_of(fmt: str, element: Any) -> Any:
    if fmt.startswith("+w:"):
        return na.fixed_size_list(element, int(fmt[3:]))
    return na.large_list(element) if fmt == "+L" else na.list_(element)


def _element(schema: Any) -> Any:
    """The type of a list's elements, which times cannot be."""
    child = schema.child(0)
    while (kind := child.dictionary or child).format.startswith("+") and kind.n_children == 1:
        child = kind.child(0)
    if kind.format.startswith(("ts", "td")):
        raise TypeError(
            f"column {schema.name!r} has the Arrow type {_shown(schema)}, and a list holds no times: "
            "cast them to text, or to integers"
        )
    return schema.child(0)


def _plain(column: Any, start: int, length: int, losses: Losses) -> Any:
    """Lays `length` values from the physical place `start` out anew, in the form of `_plain_schema`."""
    source = column.schema
    target = _plain_schema(source)
    fmt = source.format
    if source.dictionary is not None:
        return column_as(target, _numbers(dictionary_values(column, start, length, losses), source, losses))
    if fmt == "n":
        return na.c_array_from_buffers(target, length, [], null_count=length)
    view = column.view()
    validity = bits(view, 0, start, length)
    if fmt == "vu":
        pieces, _ = viewed(column, start, length)
        ends = array("q", [0, *accumulate(map(len, pieces))])
        return na.c_array_from_buffers(target, length, [validity, ends, b"".join(pieces)])
    if fmt.startswith(("ts", "td")):
        times = array("q", milliseconds_of(source, view, start, length, losses))
        return na.c_array_from_buffers(target, length, [validity, times])
    if fmt.startswith("d:"):
        numbers = array("d" if scale_of(source) > 0 else "q", numbers_of(source, view, start, length, losses))
        return na.c_array_from_buffers(target, length, [validity, numbers])
    if fmt in ("u", "U"):
        offsets = integers(view, 1, "i" if fmt == "u" else "q", start, length + 1)
        first, last = (offsets[0], offsets[-1]) if length else (0, 0)
        moved = offsets if first == 0 else [offset - first for offset in offsets]
        text = bytes(raw(view, 2)[first:last])
        return na.c_array_from_buffers(
            target, length, [validity, array("i" if fmt == "u" else "q", moved or [0]), text]
        )
    if fmt in ("+l", "+L"):
        code: Code = "i" if fmt == "+l" else "q"
        offsets = integers(view, 1, code, start, length + 1) if length else [0]
        child = column.child(0)
        values = _plain(child, child.offset + offsets[0], offsets[-1] - offsets[0], losses)
        moved = [offset - offsets[0] for offset in offsets]
        return na.c_array_from_buffers(target, length, [validity, array(code, moved)], children=[values])
    if fmt.startswith("+w:"):
        size, child = int(fmt[3:]), column.child(0)
        values = _plain(child, child.offset + start * size, length * size, losses)
        return na.c_array_from_buffers(target, length, [validity], children=[values])
    if fmt == "b":
        return na.c_array_from_buffers(target, length, [validity, bits(view, 1, start, length) or b""])
    width = _WIDTHS[fmt]
    data = bytes(raw(view, 1)[start * width : (start + length) * width])
    return na.c_array_from_buffers(target, length, [validity, data])
