"""The types of columns, guessed from values at the beginning of a file."""

from __future__ import annotations

from typing import Any

from .cells import Quoted, guessed, looks_like_time, time_of


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

    def text(self, field: str) -> None:
        """A field of a text file. Where values differ in kind, all are text."""
        value = guessed(str(field)) if type(field) is Quoted else guessed(field)
        self._large |= _is_large(value)
        is_time = isinstance(value, str) and looks_like_time(value) and time_of(value) is not None
        self.found("timestamp" if is_time else kind_of(value), "string")

    def json(self, value: Any) -> None:
        """A JSON value; null says nothing. Where values differ in kind, the column holds anything."""
        if value is not None:
            self._large |= _is_large(value)
            self.found(kind_of(value))

    def found(self, kind: str, otherwise: str = "any") -> None:
        """A value of this type. Integers and floats are floats, as far as that loses nothing."""
        if self._kind is None or self._kind == kind:
            self._kind = kind
        elif {self._kind, kind} == {"int", "float"}:
            self._kind = "float"
        else:
            self._kind = otherwise
        if self._kind == "float" and self._large:
            self._kind = otherwise


def _is_large(value: Any) -> bool:
    return type(value) is int and int(float(value)) != value


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
        case list():
            return "vector"
        case _:
            return "any"
