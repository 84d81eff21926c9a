"""What the readers of text have in common: lines with their numbers, and rows or what is wrong instead."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import IO, Any

from ..errors import FileError
from .compression import DAMAGED
from .encoding import advice

#: So many characters of a file decide about the types of its columns.
LOOK_AT = 4 << 20
#: The longest line.
LONGEST = 64 << 20
#: What bytes that are no UTF-8 become.
_WRONG_BYTES = re.compile("[\udc80-\udcff]")

#: The values of a row, or what is wrong in its place.
Row = Sequence[Any] | FileError
#: A line with its number.
Line = tuple[int, str]


class Rows:
    """The rows of a file of text, whose columns are known before the first of them."""

    def __init__(
        self,
        names: Sequence[str],
        kinds: Sequence[str],
        rows: Iterator[Row],
        places: tuple[int, Sequence[int]] | None = None,
        warning: str | None = None,
    ) -> None:
        self.names = list(names)
        #: The types of the columns, in the words of the language.
        self.kinds = list(kinds)
        self.rows = rows
        #: How many fields a record has, and which of them are the columns, after one line of names.
        self.places = places
        #: What is good to know about the order of the columns.
        self.warning = warning


def lines(name: str, source: IO[bytes]) -> Iterator[Line]:
    """The lines of a file; they keep their ends."""
    with as_text(source) as text:
        number = 1
        while line := _line(name, text):
            yield number, line
            number += 1


def as_text(source: IO[bytes]) -> io.TextIOWrapper:
    """The text of a file, without the mark that some programs put before it."""
    return io.TextIOWrapper(source, encoding="utf-8-sig", errors="surrogateescape", newline="")


def _line(name: str, text: io.TextIOWrapper) -> str:
    try:
        return text.readline(LONGEST)
    except DAMAGED as problem:
        raise FileError(name, str(problem)) from problem


def beginning(source: Iterator[Line], characters: int = LOOK_AT) -> tuple[list[Line], Iterator[Line]]:
    """The lines that are looked at before, and all of them."""
    looked: list[Line] = []
    size = 0
    for line in source:
        looked.append(line)
        size += len(line[1])
        if size >= characters:
            break
    return looked, chain(looked, source)


def is_utf8(texts: Iterable[str]) -> bool:
    """Whether all bytes were text."""
    return all(text.isascii() or _WRONG_BYTES.search(text) is None for text in texts)


def advice_on(text: str) -> str:
    """What to do about text that is not UTF-8."""
    return advice(text.encode(errors="surrogateescape"))
