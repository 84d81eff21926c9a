"""The rows of JSON, as lines or as one array: keys are columns, or, where a row is an array, places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import FileError
from .cells import Read, has_object, json_reader
from .guesses import Seen
from .json_text import Rounded, parsed, shortened
from .layout import retyped
from .options import ReadOptions
from .text import LONGEST, Line, Row, Rows, advice_on, beginning, is_utf8

#: What can be done about values that have values inside.
_NESTED = (
    "give each value inside a column of its own, or its rows a relation of their own that names this one; "
    "or keep it as text, as by `json.dumps`"
)


def json_rows(
    name: str,
    source: Iterator[Line],
    declared: Mapping[str, str] | None,
    chosen: Sequence[str] | None,
    options: ReadOptions,
) -> Rows:
    """The rows of a file, from their texts; `chosen` leaves other columns out."""
    known = declared
    if declared is None or chosen is not None:
        looked, source = beginning(source)
        known = {**_look(name, looked), **(declared or {})}
    assert known is not None
    names = list(known) if chosen is None else list(chosen)
    for column in names:
        if column not in known:
            raise FileError(name, f"there is no column {column!r}; there are {', '.join(known)}")
    kinds = retyped(name, names, [known[column] for column in names], options.types)
    reads = [json_reader(kind, options) for kind in kinds]
    return Rows(names, kinds, _rows(name, source, names, reads, surplus=chosen is not None))


def _rows(
    name: str, source: Iterator[Line], names: list[str], reads: list[Read], surplus: bool
) -> Iterator[Row]:
    every = frozenset(names)
    for number, text in source:
        if len(text) >= LONGEST:
            raise FileError(name, "a line of more than 64 MiB", line=number)
        if not text.strip():
            continue
        found: Any = None
        try:
            found = _parsed(text)
            if isinstance(found, dict):
                if not surplus and not found.keys() <= every:
                    unknown = next(key for key in found if key not in every)
                    raise ValueError(f"there is no column `{shortened(unknown)}`")
                values = [found.get(column) for column in names]
            elif len(found) != len(names):
                raise ValueError(f"{len(found)} values, expected {len(names)}")
            else:
                values = found
            row: Row = _row(names, reads, values)
        except json.JSONDecodeError as problem:
            place = f"{problem.msg} (character {problem.colno})"
            help_text = "a file of one array is called .json" if text.strip() == "[" else None
            row = FileError(name, place, line=number + problem.lineno - 1, help=help_text)
        except UnicodeError:
            row = FileError(name, "this is not UTF-8", line=number, help=advice_on(text))
        except ValueError as problem:
            nested = _NESTED if found is not None and _is_nested(found) else None
            row = FileError(name, str(problem), line=number, help=nested)
        yield row


def _row(names: list[str], reads: list[Read], values: Sequence[Any]) -> list[Any]:
    row: list[Any] = []
    for name, read, value in zip(names, reads, values, strict=True):
        try:
            row.append(None if value is None else read(value))
        except ValueError as problem:
            raise ValueError(f"{name}: {problem}") from None
    return row


def _is_nested(row: dict[str, Any] | list[Any]) -> bool:
    """Whether a row has objects in it."""
    return any(map(has_object, row.values() if isinstance(row, dict) else row))


def _look(name: str, looked: Sequence[Line]) -> dict[str, str]:
    """The keys of the objects, in the order in which they come, and what they hold."""
    seen: dict[str, Seen] = {}
    for _, text in looked:
        try:
            found = _parsed(text)
        except ValueError:
            # What is wrong with a line is told when it is read.
            continue
        pairs = found if isinstance(found, dict) else {f"column_{n}": v for n, v in enumerate(found, 1)}
        for key, value in pairs.items():
            seen.setdefault(key, Seen()).json(value)
    return {key: column.kind for key, column in seen.items()}


def _parsed(text: str) -> Any:
    if not is_utf8([text]):
        raise UnicodeError
    found = parsed(text.rstrip())
    if not isinstance(found, dict | list):
        raise ValueError("expected an object or an array")
    for value in found.values() if isinstance(found, dict) else found:
        if type(value) is Rounded:
            raise ValueError(f"`{shortened(value.text)}` is beyond 64 bits with sign: it can be a string")
    return found
