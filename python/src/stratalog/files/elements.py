"""The elements of a JSON array, one after the other, wherever lines end: an object or an array each.

A file may be larger than memory, so no more of it is held than an element and what was read with it. Objects
that stand side by side without an array around them are taken, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Protocol

from ..errors import FileError
from .compression import DAMAGED
from .text import LONGEST, Line

_CHUNK = 1 << 20
_SPACE = " \t\r\n"
#: What opens and closes, outside of text and inside.
_BRACKET, _QUOTE = re.compile(r'["{}\[\]]'), re.compile(r'["\\]')
#: The end of what is neither an object nor an array.
_END_OF_WORD = re.compile(r"[,\]\n]")
_DECODER = json.JSONDecoder()


class _Text(Protocol):
    def read(self, size: int, /) -> str: ...


class _Buffer:
    """What was read of a file, and not yet taken."""

    def __init__(self, name: str, source: _Text) -> None:
        self.name = name
        self._source = source
        self.text = ""
        #: The place of the next character, and its line.
        self.at, self.line = 0, 1
        self.ended = False

    def more(self) -> bool:
        """Reads on; whether there was something."""
        if not self.ended:
            try:
                found = self._source.read(_CHUNK)
            except DAMAGED as problem:
                raise FileError(self.name, str(problem)) from problem
            self.text, self.at = self.text[self.at :] + found, 0
            self.ended = not found
        return not self.ended

    def next(self) -> str:
        """The next character that is no space; nothing at the end."""
        while True:
            while self.at < len(self.text):
                if (sign := self.text[self.at]) not in _SPACE:
                    return sign
                self.line += sign == "\n"
                self.at += 1
            if not self.more():
                return ""

    def take(self, length: int) -> Line:
        """So many characters with the line where they begin."""
        line, found = self.line, self.text[self.at : self.at + length]
        self.at += length
        self.line += found.count("\n")
        return line, found

    def wrong(self, problem: str) -> FileError:
        return FileError(self.name, problem, line=self.line)


def elements(name: str, source: _Text) -> Iterator[Line]:
    """The texts of the elements of a file, with the lines where they begin."""
    buffer = _Buffer(name, source)
    inside = buffer.next() == "["
    if inside:
        buffer.at += 1
    while sign := buffer.next():
        if inside and sign == ",":
            buffer.at += 1
        elif inside and sign == "]":
            buffer.at += 1
            if buffer.next():
                raise buffer.wrong("something follows the array")
            return
        else:
            yield buffer.take(_length(buffer) if sign in "{[" else _length_of_word(buffer, sign))
    if inside:
        raise buffer.wrong("the array is not closed: the file ends inside of it")


def _length(buffer: _Buffer) -> int:
    """How long the object or array is that begins here."""
    try:
        return _DECODER.raw_decode(buffer.text, buffer.at)[1] - buffer.at
    except (ValueError, RecursionError):
        # It is not all there, or something is wrong with it: then its brackets tell where it ends.
        pass
    depth, length, in_text = 0, 0, False
    while True:
        found = (_QUOTE if in_text else _BRACKET).search(buffer.text, buffer.at + length)
        if found is None:
            length = len(buffer.text) - buffer.at
            if length > LONGEST:
                raise buffer.wrong("a row of more than 64 MiB begins here")
            if not buffer.more():
                raise buffer.wrong("what begins here is not closed: the file ends inside of it")
            continue
        length = found.end() - buffer.at
        match found[0]:
            case "\\":
                length += 1
            case '"':
                in_text = not in_text
            case "{" | "[":
                depth += 1
            case _:
                depth -= 1
                if depth == 0:
                    return length


def _length_of_word(buffer: _Buffer, first: str) -> int:
    """How long it is what is no row."""
    end = _QUOTE if first == '"' else _END_OF_WORD
    length = 1
    while (found := end.search(buffer.text, buffer.at + length)) is None or found[0] == "\\":
        length = len(buffer.text) - buffer.at if found is None else found.end() + 1 - buffer.at
        if found is None and (length > LONGEST or not buffer.more()):
            return length
    return found.end() - buffer.at if first == '"' else found.start() - buffer.at
