"""From what a user hands to `insert` to what the protocol can carry: JSON rows, or columns for Arrow.

Few rows go as JSON, and so do columns of mixed types, which have no Arrow type. Many rows, and rows with
column names, go as Arrow, where names and types travel along.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import islice
from typing import Any

from . import arrow
from .comparing import Comparison
from .files import FileReader
from .losses import Losses, labels
from .naming import are_numbers
from .times import Time
from .values import timed, typed

#: From so many rows on, Arrow is worth its schema.
_MANY = 1_000
#: A text message stays well below the server's 64 MiB.
_MANY_CHARACTERS = 1 << 24
#: Rows of a record batch that we build; of an iterator, as many decide about the types.
BATCH_ROWS = arrow.BATCH_ROWS
#: Rows that are taken from an iterator at once after that.
_LATER_ROWS = 1 << 14


@dataclasses.dataclass(slots=True)
class Part:
    """What is committed at once: `rows`, or else `batches`."""

    rows: list[list[Any]] | None = None
    #: The names of the columns of `rows`, where there are any.
    names: Sequence[str] | None = None
    batches: Iterable[arrow.Batch] = ()
    #: How many rows it has; of batches, once they are made.
    length: int = 0


@dataclasses.dataclass(slots=True)
class Plan:
    """How the data will travel: `parts` are committed one after the other, and as a rule there is one."""

    parts: Iterator[Part]
    total: int | None
    #: What the values lose, once they are sent.
    losses: Losses
    #: What they lose by the types of the relation.
    comparison: Comparison
    #: Names and rows where a column has times beside others: only a program has a form for these.
    with_times: tuple[list[str] | None, list[Sequence[Any]]] | None = None


def plan(
    data: Any,
    names: Sequence[str] | None = None,
    commit_every: int | None = None,
    exact: bool = False,
    declared: Mapping[str, str] | None = None,
) -> Plan:
    """Looks at the data and decides.

    `exact` refuses values that would lose digits, also by the types of columns that are `declared`.
    """
    losses = Losses(exact)
    comparison = Comparison(losses, declared)
    if commit_every is not None and commit_every < 1:
        raise ValueError("commit_every is a number of rows, at least 1")
    most = min(BATCH_ROWS, commit_every or BATCH_ROWS)
    if isinstance(data, FileReader):
        return Plan(_parts(data.batches(most), commit_every), data.num_rows, losses, comparison)
    data = framed(data)
    if hasattr(data, "__arrow_c_stream__"):
        batches = arrow.batches_of(data, names, most, losses)
        parts = _parts(comparison.batches(batches), commit_every)
        return Plan(parts, arrow.count_rows(data), losses, comparison)
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise _unsuitable(data)
    if not isinstance(data, Sized):
        data = iter(data)
        first = list(islice(data, BATCH_ROWS))
        if len(first) == BATCH_ROWS:
            return _plan_of_many(first, data, names, commit_every, losses, comparison)
        data = first
    names, rows = table(data, names)
    whole, kinds = _by_column(names, rows, losses)
    comparison.look(names, whole)
    if not rows:
        names = None
    if names is not None and len(names) != len(kinds):
        raise ValueError(f"{len(names)} column names for rows of {len(kinds)} values")
    if any(kind == "any" and _has_times(values) for kind, values in zip(kinds, whole, strict=True)):
        if commit_every is not None:
            raise ValueError(
                "a column has times beside other values: these are one commit, without commit_every"
            )
        return Plan(
            iter(()), len(rows), losses, comparison, (_names_of(names), list(zip(*whole, strict=True)))
        )
    few = names is None and "timestamp" not in kinds and len(rows) < _MANY
    if "any" in kinds or (few and _characters(whole) < _MANY_CHARACTERS):
        settled = list(zip(*whole, strict=True)) if whole else rows
        parts = _parts_of_rows(names, settled, commit_every or len(rows) or 1)
        return Plan(parts, len(rows), losses, comparison)
    settled_kinds = [arrow.exact_kind(kind, values) for kind, values in zip(kinds, whole, strict=True)]
    batches = _batches(names or [""] * len(kinds), settled_kinds, whole, most)
    return Plan(_parts(batches, commit_every), len(rows), losses, comparison)


def _has_times(values: Sequence[Any]) -> bool:
    return any(isinstance(value, Time) for value in values)


def _parts(batches: Iterator[arrow.Batch], most: int | None) -> Iterator[Part]:
    """Batches in parts of so many rows at most; each part is read to its end before the next is asked for."""
    #: The batch that found no place in the part before.
    waiting: list[arrow.Batch] = []

    def taken(part: Part, first: arrow.Batch) -> Iterator[arrow.Batch]:
        following: arrow.Batch | None = first
        while following is not None:
            if most is not None and part.length and part.length + following.length > most:
                waiting.append(following)
                return
            part.length += following.length
            yield following
            # What comes after a full part may be wrong, and is none of its business.
            following = None if part.length == most else next(batches, None)

    while (first := waiting.pop() if waiting else next(batches, None)) is not None:
        part = Part()
        part.batches = taken(part, first)
        yield part


def _parts_of_rows(names: Sequence[str] | None, rows: Sequence[Sequence[Any]], most: int) -> Iterator[Part]:
    for start in range(0, len(rows) or 1, most):
        some = [list(row) for row in rows[start : start + most]]
        yield Part(rows=some, names=names, length=len(some))


def _plan_of_many(
    first: list[Any],
    rest: Iterator[Any],
    names: Sequence[str] | None,
    commit_every: int | None,
    losses: Losses,
    comparison: Comparison,
) -> Plan:
    """More than one batch of an iterator: sent while it is read, so the first batch decides the types."""
    found, rows = table(first, names)
    whole, kinds = _by_column(found, rows, losses)
    if "any" in kinds:
        # Columns of several types have no Arrow type.
        return plan([*first, *rest], names, commit_every, losses.exact, comparison.declared)
    comparison.look(found, whole)
    labels = found or [""] * len(kinds)
    most = min(BATCH_ROWS, commit_every or BATCH_ROWS)
    exact = [arrow.exact_kind(kind, values, more=True) for kind, values in zip(kinds, whole, strict=True)]
    built = list(_batches(labels, exact, whole, most))

    def batches() -> Iterator[arrow.Batch]:
        yield from built
        built.clear()
        done = BATCH_ROWS
        while chunk := list(islice(rest, min(_LATER_ROWS, most))):
            later, more = table(chunk, names, done, found)
            if later != found:
                raise ValueError(f"row {done} has other columns than the first")
            columns, theirs = _by_column(found, more, losses, done, kinds)
            comparison.look(found, columns)
            for place, (kind, other) in enumerate(zip(kinds, theirs, strict=True)):
                if exact[place] == "vector of int" and any(columns[place]):
                    kind, other = exact[place], arrow.exact_kind(other, columns[place])
                if other not in (kind, "null"):
                    raise ValueError(
                        f"column {place} holds {other} after row {done}, and {kind} before: what comes from "
                        "an iterator is sent while it is read, so its first rows decide; give a list"
                    )
            yield arrow.build(labels, exact, columns)
            done += len(chunk)

    return Plan(_parts(batches(), commit_every), None, losses, comparison)


def _by_column(
    names: Sequence[str] | None,
    rows: Sequence[Sequence[Any]],
    losses: Losses,
    first: int = 0,
    known: Sequence[str] | None = None,
) -> tuple[list[list[Any]], list[str]]:
    """The values of each column, and its type, decided over all rows: a stream has one schema.

    Where rows came before these, the types of theirs are `known`.
    """
    width = len(known) if known is not None else len(rows[0]) if rows else 0
    for number, row in enumerate(rows, first):
        if len(row) != width:
            raise ValueError(f"row {number} has {len(row)} values, the rows before it have {width}")
    whole = [
        losses.settled(
            label, [typed(row[place]) for row in rows], known is not None and known[place] == "float"
        )
        for place, label in enumerate(labels(names, width))
    ]
    return whole, [arrow.kind_of(values) for values in whole]


def framed(data: Any) -> Any:
    """A series of Polars or pandas as a frame of one column."""
    return data.to_frame() if hasattr(data, "to_frame") and not hasattr(data, "columns") else data


def named_rows(
    data: Any, names: Sequence[str] | None = None, exact: bool = False
) -> tuple[list[str] | None, Sequence[Sequence[Any]]]:
    """Names, where there are any, and rows of whatever can be inserted, with a warning for what they lose."""
    losses = Losses(exact)
    data = framed(data)
    if hasattr(data, "__arrow_c_stream__"):
        found, rows = arrow.stream_rows(data, names, losses)
        return _names_of(found), _settled(found, rows, losses)
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise _unsuitable(data)
    labelled, found_rows = table(data, names)
    return _names_of(labelled), _settled(labelled, found_rows, losses)


def _names_of(found: Sequence[str] | None) -> list[str] | None:
    return None if found is None or are_numbers(found) else list(found)


def _settled(
    names: Sequence[str] | None, rows: Sequence[Sequence[Any]], losses: Losses
) -> Sequence[Sequence[Any]]:
    """The same rows without decimals, their times in milliseconds; rows of several lengths as they are."""
    if rows and len({len(row) for row in rows}) == 1:
        columns = [list(map(timed, column)) for column in zip(*rows, strict=True)]
        found = [
            losses.settled(label, column)
            for label, column in zip(labels(names, len(columns)), columns, strict=True)
        ]
        rows = list(zip(*found, strict=True))
    losses.tell()
    return rows


def table(
    data: Iterable[Any], names: Sequence[str] | None, first: int = 0, known: Sequence[str] | None = None
) -> tuple[list[str] | None, list[Sequence[Any]]]:
    """Names, where there are any, and rows, from whatever Python has for rows.

    The first of them has the number `first`; the names of those before it are `known`. By `names`, columns
    are chosen, and others are left out.
    """
    items = list(data)
    head = items[0] if items else None
    if isinstance(head, Mapping):
        keys = list(names or known or _keys_as_names(head, first))
        return keys, [
            _values_of_keys(item, keys, number, is_choice=bool(names))
            for number, item in enumerate(items, first)
        ]
    if dataclasses.is_dataclass(head) and not isinstance(head, type):
        chosen = list(names or known or (spec.name for spec in dataclasses.fields(head)))
        return chosen, [_attributes(item, chosen, number) for number, item in enumerate(items, first)]
    return list(names) if names else None, [
        item if isinstance(item, tuple | list) else (item,) for item in items
    ]


def _keys_as_names(item: Mapping[Any, Any], number: int) -> list[str]:
    """The keys of a row as names of columns: numbers, as pandas has them, are those of places."""
    if None in item:
        raise ValueError(f"row {number} has the key None, which is no name of a column")
    names = [str(key) for key in item]
    if len(set(names)) != len(names):
        raise ValueError(f"row {number} has two keys that are both written as {_twice(names)!r}")
    return names


def _twice(names: list[str]) -> str:
    return next(name for name in names if names.count(name) > 1)


def _values_of_keys(item: Any, keys: list[str], number: int, *, is_choice: bool) -> list[Any]:
    """The values of a row in the order of these keys, each of which it has to have."""
    if not isinstance(item, Mapping):
        raise ValueError(f"row {number} is {item!r}, and those before it have keys")
    if not all(isinstance(key, str) for key in item):
        item = dict(zip(_keys_as_names(item, number), item.values(), strict=True))
    if missing := [key for key in keys if key not in item]:
        raise ValueError(f"row {number} lacks the key {missing[0]!r}: give it, with None for null")
    if len(item) > len(keys) and not is_choice:
        raise ValueError(f"row {number} has the surplus key {next(key for key in item if key not in keys)!r}")
    return [item[key] for key in keys]


def _attributes(item: Any, names: list[str], number: int) -> list[Any]:
    try:
        return [getattr(item, name) for name in names]
    except AttributeError:
        lacking = next(name for name in names if not hasattr(item, name))
        raise ValueError(f"row {number}, {item!r}, has no {lacking!r}") from None


def _unsuitable(data: Any) -> TypeError:
    return TypeError(
        f"cannot insert {type(data).__name__}: expected rows (tuples, lists, dicts, dataclasses or "
        "scalars), an object with __arrow_c_stream__, or the path of a file"
    )


def _batches(
    names: Sequence[str], kinds: list[str], whole: list[list[Any]], most: int
) -> Iterator[arrow.Batch]:
    length = len(whole[0]) if whole else 0
    for start in range(0, max(1, length), most):
        yield arrow.build(names, kinds, [values[start : start + most] for values in whole])


def _characters(whole: list[list[Any]]) -> int:
    return sum(len(value) for values in whole for value in values if isinstance(value, str | list))
