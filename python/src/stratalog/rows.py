"""From what a user hands to `insert` to what the protocol can carry: JSON rows, or columns for Arrow.

Few rows go as JSON, and so do columns of mixed types, which have no Arrow type. Many rows, and rows with
column names, go as Arrow, where names and types travel along.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from datetime import date
from itertools import islice
from typing import Any

from . import columns as arrow
from .values import plain

#: From so many rows on, Arrow is worth its schema.
_MANY = 1_000
#: A text message stays well below the server's 64 MiB.
_MANY_CHARACTERS = 1 << 24
#: Rows of a record batch that we build; of an iterator, as many decide about the types.
BATCH_ROWS = 1 << 16
#: Rows that are taken from an iterator at once after that.
_LATER_ROWS = 1 << 14


@dataclasses.dataclass(slots=True)
class Plan:
    """How the data will travel: as `rows`, or as `frames` with the rows done after each frame."""

    rows: list[list[Any]] | None = None
    frames: Iterator[tuple[bytes, int]] | None = None
    total: int | None = None


def plan(data: Any, names: Sequence[str] | None = None) -> Plan:
    """Looks at the data and decides."""
    if hasattr(data, "__arrow_c_stream__"):
        return Plan(frames=arrow.stream_frames(data, names), total=arrow.count_rows(data))
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise _unsuitable(data)
    if not isinstance(data, Sized):
        data = iter(data)
        first = list(islice(data, BATCH_ROWS))
        if len(first) == BATCH_ROWS:
            return _plan_of_many(first, data, names)
        data = first
    names, rows = table(data, names)
    whole, kinds = _by_column(rows)
    few = names is None and "timestamp" not in kinds and len(rows) < _MANY
    if "any" in kinds or (few and _characters(whole) < _MANY_CHARACTERS):
        return Plan(rows=[[plain(value) for value in row] for row in rows], total=len(rows))
    if names is not None and len(names) != len(kinds) and rows:
        raise ValueError(f"{len(names)} column names for rows of {len(kinds)} values")
    return Plan(frames=arrow.frames(_batches(names or [""] * len(kinds), kinds, whole)), total=len(rows))


def _plan_of_many(first: list[Any], rest: Iterator[Any], names: Sequence[str] | None) -> Plan:
    """More than one batch of an iterator: sent while it is read, so the first batch decides the types."""
    found, rows = table(first, names)
    whole, kinds = _by_column(rows)
    if "any" in kinds:
        # Columns of several types have no Arrow type.
        return plan([*first, *rest], names)
    labels = found or [""] * len(kinds)
    built = [arrow.build(labels, kinds, whole)]

    def batches() -> Iterator[arrow.Batch]:
        yield built.pop()
        done = BATCH_ROWS
        while chunk := list(islice(rest, _LATER_ROWS)):
            later, more = table(chunk, names)
            if found is not None and later != found:
                if later is None or set(later) != set(found):
                    raise ValueError(f"row {done} has other columns than the first")
                _, more = table(chunk, found)
            columns, theirs = _by_column(more, done, len(kinds))
            for place, (kind, other) in enumerate(zip(kinds, theirs, strict=True)):
                if other not in (kind, "null"):
                    raise ValueError(
                        f"column {place} holds {other} after row {done}, and {kind} before: what comes from "
                        "an iterator is sent while it is read, so its first rows decide; give a list"
                    )
            yield arrow.build(labels, kinds, columns)
            done += len(chunk)

    return Plan(frames=arrow.frames(batches()))


def _by_column(
    rows: Sequence[Sequence[Any]], first: int = 0, width: int | None = None
) -> tuple[list[list[Any]], list[str]]:
    """The values of each column, and its type, decided over all rows: a stream has one schema."""
    if width is None:
        width = len(rows[0]) if rows else 0
    for number, row in enumerate(rows, first):
        if len(row) != width:
            raise ValueError(f"row {number} has {len(row)} values, the rows before it have {width}")
    whole = [[_typed(row[place]) for row in rows] for place in range(width)]
    return whole, [arrow.kind_of(values) for values in whole]


def named_rows(
    data: Any, names: Sequence[str] | None = None
) -> tuple[list[str] | None, Sequence[Sequence[Any]]]:
    """Names, where there are any, and rows of whatever can be inserted."""
    if hasattr(data, "__arrow_c_stream__"):
        found, rows = arrow.stream_rows(data, names)
        return found, rows
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise _unsuitable(data)
    return table(data, names)


def table(data: Iterable[Any], names: Sequence[str] | None) -> tuple[list[str] | None, list[Sequence[Any]]]:
    """Names, where there are any, and rows, from whatever Python has for rows."""
    items = list(data)
    first = items[0] if items else None
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        chosen = list(names) if names else [spec.name for spec in dataclasses.fields(first)]
        return chosen, [[getattr(item, name) for name in chosen] for item in items]
    if isinstance(first, Mapping):
        chosen = list(names) if names else [str(name) for name in first]
        for number, item in enumerate(items):
            if surplus := set(item) - set(first):
                raise ValueError(f"row {number} has the surplus key {min(map(str, surplus))!r}")
        return chosen, [[item.get(name) for name in chosen] for item in items]
    return list(names) if names else None, [
        item if isinstance(item, tuple | list) else (item,) for item in items
    ]


def _unsuitable(data: Any) -> TypeError:
    return TypeError(
        f"cannot insert {type(data).__name__}: expected rows (tuples, lists, dicts, dataclasses or "
        "scalars), an object with __arrow_c_stream__, or the path of a file"
    )


def _batches(names: list[str], kinds: list[str], whole: list[list[Any]]) -> Iterator[arrow.Batch]:
    length = len(whole[0]) if whole else 0
    for start in range(0, max(1, length), BATCH_ROWS):
        yield arrow.build(names, kinds, [values[start : start + BATCH_ROWS] for values in whole])


def _characters(whole: list[list[Any]]) -> int:
    return sum(len(value) for values in whole for value in values if isinstance(value, str | list))


def _typed(value: Any) -> Any:
    """A value for Arrow: as in JSON, but times stay times."""
    return value if isinstance(value, date) else plain(value)
