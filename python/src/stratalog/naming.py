"""Which column of the data is which of the relation, by the rule that the server has for what is inserted.

Columns find those of their name: spelled so, or else as they would be declared, or else but for capitals. If
no name fits, or the relation was given none, all go by position; names that fit only in part are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import InsertWarning
from .losses import warn
from .programs import identifier, identifiers

if TYPE_CHECKING:
    from .aio import AsyncClient
    from .client import Client


@dataclass(frozen=True, slots=True)
class Listed:
    """The columns that a relation is said to have."""

    columns: list[str]
    #: Whether they were given to it; else they are letters, to have something to call them.
    are_given: bool = True

    def arranged(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Rows whose values have names, in the order of these columns."""
        places = matched(self.columns, names) if self.are_given else []
        if all(place is None for place in places):
            if self.are_given and not are_nameless(names):
                told = f"the columns {', '.join(names)} have other names than {', '.join(self.columns)}"
                warn(f"{told}: they went by position", InsertWarning)
            return rows
        chosen = [place for place in places if place is not None]
        if len(chosen) < len(places) or len(chosen) < len(names):
            raise ValueError(
                f"the data has the columns {', '.join(names)}; the relation has {', '.join(self.columns)}"
            )
        return [[row[place] for place in chosen] for row in rows]


def listed(client: Client, relation: str, names: Sequence[str]) -> Listed | None:
    """What the columns of a relation are called; None if there is no such relation yet."""
    if (types := client.column_types(relation)) is None:
        return None
    columns = list(types)
    if not _may_be_letters(columns, names):
        return Listed(columns)
    return Listed(columns, client.query(_look(relation, columns), limit=0).columns == columns)


async def listed_async(client: AsyncClient, relation: str, names: Sequence[str]) -> Listed | None:
    """The same for asyncio."""
    if (types := await client.column_types(relation)) is None:
        return None
    columns = list(types)
    if not _may_be_letters(columns, names):
        return Listed(columns)
    return Listed(columns, (await client.query(_look(relation, columns), limit=0)).columns == columns)


def _may_be_letters(columns: Sequence[str], names: Sequence[str]) -> bool:
    """Whether columns are perhaps not given, and it makes a difference for data with these names."""
    return are_letters(columns) and list(names) != list(columns)


def _look(relation: str, columns: Sequence[str]) -> str:
    """An answer has the names of columns that were given, and those of the variables for others."""
    variables = ", ".join(f"Column_{place}" for place in range(len(columns)))
    return f"?{identifier(relation)}({variables})"


def matched(columns: Sequence[str], names: Sequence[str]) -> list[int | None]:
    """The place in the data of each column; None where there is none, or more than one."""
    called = [""] * len(names) if are_nameless(names) else identifiers(names)
    places: list[int | None] = [None] * len(columns)
    for given, wanted in (
        (names, columns),
        (called, columns),
        ([name.lower() for name in called], [column.lower() for column in columns]),
    ):
        for at, column in enumerate(wanted):
            if places[at] is None:
                free = [place for place, name in enumerate(given) if name == column and place not in places]
                places[at] = free[0] if len(free) == 1 else None
    return places


def are_nameless(names: Sequence[str]) -> bool:
    """Whether data has no names for its columns, but numbers of places at most, or letters."""
    return are_numbers(names) or are_letters(names)


def are_numbers(names: Sequence[str]) -> bool:
    """Whether these name no column: numbers of places, or nothing."""
    return all(not name or (name.isascii() and name.isdecimal()) for name in names)


def are_letters(names: Sequence[str]) -> bool:
    """Whether these are the columns of a relation that was given none."""
    return list(names) == letters(len(names))


def letters(count: int) -> list[str]:
    """A to Z, then A1, B1, ... ."""
    found = [(chr(ord("A") + place % 26), place // 26) for place in range(count)]
    return [f"{letter}{turn}" if turn else letter for letter, turn in found]
