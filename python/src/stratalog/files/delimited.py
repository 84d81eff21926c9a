"""The rows of CSV and TSV.

Only a field that did not stand in quotes can be null. In TSV, what is not in quotes has backslashes as
PostgreSQL writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import FileError
from .cells import Quoted, Read, text_reader
from .guesses import Seen
from .layout import arranged, retyped
from .options import ReadOptions
from .text import LOOK_AT, Line, Row, Rows, advice_on, beginning, is_utf8

_UNTYPED = (
    "types are those of the relation, or guessed from the beginning of the file: name some by `types`, or "
    "leave such records out"
)
#: The longest record: more is a quote that was left open.
_LONGEST = 16 << 20
_ESCAPED = re.compile(r'\\([tnr\\"])')
_PLAIN = {"t": "\t", "n": "\n", "r": "\r"}

#: The line of a record and its fields, or what is wrong in their place.
_Record = tuple[int, list[str | None]] | FileError


def delimited(
    name: str,
    source: Iterator[Line],
    delimiter: str,
    declared: Mapping[str, str] | None,
    chosen: Sequence[str] | None,
    options: ReadOptions,
) -> Rows:
    """The rows of a file whose first record are names; `chosen` leaves other columns out."""
    guessing = declared is None or chosen is not None
    looked, source = beginning(source, LOOK_AT if guessing else 1 << 16)
    header, seen = _look(name, looked, delimiter)
    places, names, kinds, warning = _arranged(name, header, seen, declared, chosen)
    kinds = retyped(name, names, kinds, options.types)
    records = _records(name, source, delimiter, one_column=len(header) == 1)
    next(records, None)
    reads = [text_reader(kind, options) for kind in kinds]
    plain_header = len(header) > 1 and looked[0][1].strip("\r\n") != "" and looked[0][1].count('"') % 2 == 0
    where = (len(header), places) if plain_header else None
    return Rows(names, kinds, _rows(name, records, len(header), places, reads), where, warning)


def _rows(
    name: str, records: Iterator[_Record], width: int, places: Sequence[int], reads: Sequence[Read]
) -> Iterator[Row]:
    in_order = list(places) == list(range(width))
    for record in records:
        if isinstance(record, FileError):
            yield record
            continue
        line, fields = record
        if len(fields) != width:
            yield FileError(name, f"{_counted(len(fields))}, expected {width}", line=line)
            continue
        cells = fields if in_order else [fields[place] for place in places]
        try:
            row: Row = [None if cell is None else read(cell) for read, cell in zip(reads, cells, strict=True)]
        except ValueError as problem:
            row = FileError(name, str(problem), line=line, help=_UNTYPED)
        yield row


def _counted(fields: int) -> str:
    return "1 field" if fields == 1 else f"{fields} fields"


def _look(name: str, looked: Sequence[Line], delimiter: str) -> tuple[list[str], list[Seen]]:
    """The names in the first record, and what the columns hold."""
    records = _told(_records(name, iter(looked), delimiter))
    first = next(records, None)
    if isinstance(first, FileError):
        raise first
    names = first[1] if first is not None else []
    header = [field or "" for field in names]
    # Quotes tell nothing in a file whose names have some that they do not need; so it is guessed twice.
    marked, unmarked = [Seen() for _ in header], [Seen() for _ in header]
    for record in records:
        # What is wrong with a record is told when it is read.
        if not isinstance(record, FileError):
            for column, plain, field in zip(marked, unmarked, record[1], strict=False):
                if field is not None:
                    is_quoted = type(field) is Quoted
                    column.text(field, is_quoted)
                    plain.text(field, False)
    given = [field for field in names if field is not None]
    names_quoted = all(type(field) is Quoted for field in given) and not all(map(_needs_quotes, given))
    return header, unmarked if names_quoted else marked


def _needs_quotes(name: str) -> bool:
    return name == "" or name != name.strip() or any(sign in name for sign in ',"\n\r')


def _arranged(
    name: str,
    header: list[str],
    seen: list[Seen],
    declared: Mapping[str, str] | None,
    chosen: Sequence[str] | None,
) -> tuple[list[int], list[str], list[str], str | None]:
    """Which fields go where, the names and types of the columns then, and what is good to know about it."""
    if chosen is not None:
        for column in chosen:
            if column not in header:
                raise FileError(name, f"there is no column {column!r}; there are {', '.join(header)}", line=1)
        places = [header.index(column) for column in chosen]
        kinds = [(declared or {}).get(header[place], seen[place].kind) for place in places]
        return places, list(chosen), kinds, None
    if declared is None:
        return list(range(len(header))), header, [column.kind for column in seen], None
    places, warning = arranged(name, header, declared, 1)
    return places, list(declared), list(declared.values()), warning


def _told(records: Iterator[_Record]) -> Iterator[_Record]:
    """The records up to the first fault that ends the file, which is the last."""
    try:
        yield from records
    except FileError as problem:
        yield problem


def _records(
    name: str, source: Iterator[Line], delimiter: str, one_column: bool = False
) -> Iterator[_Record]:
    """The records; None is a field that is null. After a quote that is never closed, there are no more."""
    null = "\\N" if delimiter == "\t" else ""
    is_header = True
    for number, line in source:
        text = line.rstrip("\r\n")
        # In a file of one column an empty line is a record: a null, or an empty string.
        if not text and (is_header or not one_column):
            continue
        is_header = False
        if len(line) > _LONGEST:
            raise _too_long(name, number)
        fields: list[str | None]
        try:
            # Most lines have no quotes.
            found = _quoted(name, number, line, source, delimiter) if '"' in text else text.split(delimiter)
        except _Stray:
            yield FileError(name, str(_Stray()), line=number)
            continue
        if not is_utf8(found):
            yield FileError(name, "this is not UTF-8", line=number, help=advice_on(line))
            continue
        fields = [None if field == null and type(field) is str else field for field in found]
        if delimiter == "\t" and "\\" in line:
            fields = [_unescaped(field) if type(field) is str else field for field in fields]
        yield number, fields


def _quoted(name: str, number: int, line: str, source: Iterator[Line], delimiter: str) -> list[str]:
    """The fields of a record of which some stand in quotes, perhaps over several lines."""
    fields: list[str] = []
    at, size = 0, 0
    stray = False
    while True:
        parts: list[str] = []
        is_quoted = line.startswith('"', at)
        if is_quoted:
            at += 1
            while (end := line.find('"', at)) < 0 or line.startswith('"', end + 1):
                parts.append(line[at:] if end < 0 else line[at : end + 1])
                at = end + 2
                if end < 0:
                    size += len(line)
                    _, line = next(source, (0, ""))
                    at = 0
                    if not line:
                        raise FileError(name, "a quote is opened here and never closed", line=number)
                    if size > _LONGEST:
                        raise _too_long(name, number)
            parts.append(line[at:end])
            at = end + 1
        stop = line.find(delimiter, at)
        rest = line[at:].rstrip("\r\n") if stop < 0 else line[at:stop]
        stray |= is_quoted and rest != ""
        fields.append(Quoted("".join(parts)) if is_quoted else rest)
        if stop < 0:
            break
        at = stop + 1
    if stray:
        raise _Stray
    return fields


class _Stray(Exception):
    """A record whose end is known, but not what it says."""

    def __str__(self) -> str:
        return "text follows a closing quote: a quote inside of quotes is written twice"


def _too_long(name: str, number: int) -> FileError:
    return FileError(name, "a record of more than 16 MiB begins here: is a quote left open?", line=number)


def _unescaped(text: Any) -> str:
    return _ESCAPED.sub(lambda found: _PLAIN.get(found[1], found[1]), text)
