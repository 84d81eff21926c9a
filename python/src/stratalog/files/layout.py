"""Which column of a file is which column of the relation.

Names decide where they can, in capitals or not; else the order does, which is worth a warning where there
were names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import FileError
from ..naming import are_letters
from ..programs import identifiers
from .options import parted


def arranged(
    name: str, header: Sequence[str], declared: Mapping[str, str], line: int | None
) -> tuple[list[int], str | None]:
    """The place in the file of each column of the relation, and what is good to know about it."""
    wanted = list(declared)
    found = [_column(each.strip(), header, wanted) for each in header]
    if all(column is None for column in found):
        if header and len(header) != len(wanted):
            raise FileError(
                name,
                f"{len(header)} columns, expected {len(wanted)}",
                line=line,
                help=f"the relation has the columns {', '.join(wanted)}",
            )
        told = header and not are_letters(wanted)
        names = f"the columns {', '.join(header)} have other names than {', '.join(wanted)}"
        return list(range(len(wanted))), f"{names}: they went by position" if told else None
    if None in found or sorted(map(str, found)) != sorted(wanted):
        raise FileError(
            name,
            f"the file has the columns {', '.join(header)}",
            line=line,
            help=f"the relation has {', '.join(wanted)}; name all of them, or none: then they go by position",
        )
    return [found.index(column) for column in wanted], None


def retyped(name: str, names: Sequence[str], kinds: Sequence[str], types: Mapping[str, str]) -> list[str]:
    """The types of columns, of which some are named, as in the file or as they will be declared."""
    found = list(kinds)
    stripped, declared = [each.strip() for each in names], identifiers(names)
    for column, kind in types.items():
        places = stripped if column in stripped else declared
        if column not in places:
            raise FileError(
                name,
                f"there is no column `{column}` to be of type {kind}",
                help=f"the columns are {', '.join(names)}",
            )
        word, length = parted(kind)
        found[places.index(column)] = word if length is None else f"{word}[{length}]"
    return found


def _column(name: str, header: Sequence[str], wanted: Sequence[str]) -> str | None:
    """The wanted column of this name, or else the only one that differs in nothing but capitals."""
    if name in wanted:
        return name
    if are_letters(wanted):
        return None
    alike = [column for column in wanted if column.lower() == name.lower()]
    others = [other for other in header if other.strip().lower() == name.lower()]
    return alike[0] if len(alike) == len(others) == 1 else None
