"""`Relation`: a class whose objects are the facts of a relation.

    class Owns(stratalog.Relation):
        owner: str
        owned: str
        share: float = 1.0

The class is a frozen dataclass. Its attributes are the columns, for queries and rules; an object is a fact,
or, where it holds columns and variables, a condition that asks for such facts.
"""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import (
    Annotated,
    Any,
    ClassVar,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from .expressions import Column

R = TypeVar("R", bound="Relation")

_TYPES: dict[object, str] = {
    int: "int",
    float: "float",
    str: "string",
    bool: "bool",
    datetime: "timestamp",
    date: "timestamp",
    Any: "any",
    object: "any",
    list[float]: "vector",
    list[int]: "vector_int8",
    list: "list",
    list[str]: "list",
    list[bool]: "list",
    list[Any]: "list",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Vector:
    """The length of a vector: `embedding: Annotated[list[float], Vector(384)]`."""

    dimensions: int


class _Field:
    """What a class shows in place of a field; its objects have the value."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type[Relation]) -> Any:
        if instance is None:
            return Column(owner, self._name)
        return instance.__dict__[self._name]


@dataclass_transform(frozen_default=True)
class Relation:
    """The base of typed relations. `class Owns(Relation, name="shares")` has another name on the server."""

    __relation__: ClassVar[str]

    def __init_subclass__(cls, *, name: str | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        dataclasses.dataclass(frozen=True)(cls)
        cls.__relation__ = name or _snake_case(cls.__name__)
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            setattr(cls, field.name, _Field(field.name))


def relation_name(relation: str | type[Relation]) -> str:
    """What a relation is called on the server."""
    return relation if isinstance(relation, str) else relation.__relation__


def field_names(relation: type[Relation]) -> list[str]:
    """The columns, in their order."""
    return [field.name for field in dataclasses.fields(relation)]  # type: ignore[arg-type]


def schema(relation: type[Relation]) -> dict[str, str]:
    """The columns and their types, in the words of the language."""
    return {
        name: _column_type(relation, name, hint)
        for name, hint in get_type_hints(relation, include_extras=True).items()
        if not name.startswith("__")
    }


def reader(relation: type[R]) -> Callable[[Sequence[Any]], R]:
    """Makes objects of rows."""
    hints = get_type_hints(relation)
    days = [place for place, name in enumerate(field_names(relation)) if date in _members(hints[name])]

    def read(row: Sequence[Any]) -> R:
        if not days:
            return relation(*row)
        values = [
            value.date() if place in days and isinstance(value, datetime) else value
            for place, value in enumerate(row)
        ]
        return relation(*values)

    return read


def _column_type(relation: type[Relation], name: str, hint: Any) -> str:
    if get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        length = next((mark.dimensions for mark in marks if isinstance(mark, Vector)), None)
        kind = _column_type(relation, name, inner)
        return kind if length is None else f"{kind}[{length}]"
    members = _members(hint)
    if len(members) == 1 and members[0] is not hint:
        return _column_type(relation, name, members[0])
    if hint in _TYPES:
        return _TYPES[hint]
    if members and all(member in _TYPES for member in members):
        return "any"
    raise TypeError(
        f"{relation.__name__}.{name} has the type {hint}, which no column can have; there are int, float, "
        "str, bool, datetime, date, list[float], list[str], list, each also `| None`, and Any"
    )


def _members(hint: Any) -> list[Any]:
    """The types of a union, without None."""
    if get_origin(hint) in (Union, types.UnionType):
        return [member for member in get_args(hint) if member is not type(None)]
    return [hint]


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
