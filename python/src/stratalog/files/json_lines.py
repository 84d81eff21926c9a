"""The rows of JSON lines: keys are columns, or, where a line is an array, places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import FileError
from .cells import Read, json_reader
from .guesses import Seen
from .json_text import Rounded, parsed, shortened
from .text import LONGEST, Line, Row, Rows, beginning, is_utf8


def json_lines(
    name: str,
    source: Iterator[Line],
    declared: Mapping[str, str] | None,
    chosen: Sequence[str] | None = None,
) -> Rows:
    """The rows of a file; `chosen` leaves other columns out."""
    known = declared
    if declared is None or chosen is not None:
        looked, source = beginning(source)
        known = {**_look(name, looked), **(declared or {})}
    assert known is not None
    names = list(known) if chosen is None else list(chosen)
    for column in names:
        if column not in known:
            raise FileError(name, f"there is no column {column!r}; there are {', '.join(known)}")
    kinds = [known[column] for column in names]
    reads = [json_reader(kind) for kind in kinds]
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
            row: Row = [
                None if value is None else read(value) for read, value in zip(reads, values, strict=True)
            ]
        except ValueError as problem:
            row = FileError(name, str(problem), line=number)
        yield row


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
        raise ValueError("this is not UTF-8")
    try:
        found = parsed(text.rstrip())
    except json.JSONDecodeError as problem:
        raise ValueError(f"{problem.msg} (character {problem.colno})") from None
    if not isinstance(found, dict | list):
        raise ValueError("expected an object or an array")
    for value in found.values() if isinstance(found, dict) else found:
        if type(value) is Rounded:
            raise ValueError(f"`{shortened(value.text)}` is beyond 64 bits with sign: it can be a string")
    return found
