"""The types of columns, guessed from values at the beginning of a file."""

from __future__ import annotations

from typing import Any

from ..times import CutTime, time_text
from .cells import guessed_any, has_rounded, time_of

_TEXTS = ("string", "timestamp")


class Seen:
    """What a column has shown so far; nothing, or only null, at first."""

    def __init__(self) -> None:
        self._kind: str | None = None
        #: There was an integer that no float is equal to.
        self._large = False

    @property
    def kind(self) -> str:
        """The type; anything where nothing was seen."""
        return self._kind or "any"

    def text(self, field: str, is_marked: bool) -> None:
        """A field of a text file. Where values differ in kind, all are text.

        What is marked stood in quotes for being text; but vectors have commas, and stand in quotes for these.
        """
        value = guessed_any(str(field))
        if is_marked and not isinstance(value, list):
            kind = "string"
        elif isinstance(value, str) and time_of(value) is not None:
            kind = "timestamp"
        else:
            self._large |= _is_large(value)
            kind = kind_of(value)
        self._join(kind, "string")

    def json(self, value: Any) -> None:
        """A JSON value; null says nothing."""
        if value is not None:
            self._large |= _is_large(value)
            is_time = isinstance(value, str) and _is_written_time(value)
            self.found("timestamp" if is_time else kind_of(value))

    def found(self, kind: str) -> None:
        """A value of this type. Where values differ in kind, the column holds anything; but times among other
        text are text."""
        are_texts = kind in _TEXTS and self._kind in (None, *_TEXTS)
        self._join(kind, "string" if are_texts else "any")

    def _join(self, kind: str, widest: str) -> None:
        """Integers and floats are floats, as far as that loses nothing, and vectors of several lengths are of
        any; other kinds have only the widest type together."""
        if self._kind is None or self._kind == kind:
            self._kind = kind
        elif {self._kind, kind} == {"int", "float"}:
            self._kind = "float"
        elif self._kind.startswith("vector") and kind.startswith("vector"):
            self._kind = "vector"
        elif all(each == "list" or each.startswith("vector") for each in (self._kind, kind)):
            self._kind = "list"
        else:
            self._kind = widest
        if self._kind == "float" and self._large:
            self._kind = widest


def _is_large(value: Any) -> bool:
    return type(value) is int and int(float(value)) != value


def _is_written_time(text: str) -> bool:
    """Whether text is a time exactly as one is written here. In JSON, other text is text."""
    if not text.endswith("Z") or (found := time_of(text)) is None or isinstance(found, CutTime):
        return False
    return time_text(found) == text


def kind_of(value: Any) -> str:
    """The type that a value of JSON has in the language."""
    match value:
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case str():
            return "string"
        case list() if not all(type(each) in (int, float) for each in value):
            return "any"
        case list() if has_rounded(value):
            return "list"
        case list():
            return f"vector[{len(value)}]" if value else "vector"
        case _:
            return "any"
