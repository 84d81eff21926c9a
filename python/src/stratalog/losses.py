"""`Losses`: what values lose on their way into the graph, told for each column, or refused.

Times are kept in whole milliseconds, and decimals as integers, or as the floats that are nearest to them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Literal

from .errors import PrecisionWarning
from .times import CutTime
from .values import has_scale, number_of

Kind = Literal["times", "decimals", "integers"]
#: The name of a column, or its place, counted from 1.
Label = str | int


class Losses:
    """Counts the values of each column that lost digits; `exact` refuses the first of them."""

    def __init__(self, exact: bool = False) -> None:
        #: The first value that loses digits is refused.
        self.exact = exact
        self._found: dict[Label, tuple[Kind, int, str]] = {}

    def note(self, kind: Kind, column: Label, first: str, count: int = 1) -> None:
        """So many values of a column lost digits."""
        if self.exact:
            lost = (
                f"`{first}` is finer than milliseconds, which is what times are kept in"
                if kind == "times"
                else f"`{first}` would be rounded to a float"
            )
            raise ValueError(f"column {column!r}: {lost}: round the column, or insert it as text")
        known, before, value = self._found.get(column, (kind, 0, first))
        self._found[column] = (known, before + count, value)

    def settled(self, column: Label, values: list[Any], are_floats: bool = False) -> list[Any]:
        """The values of a column without decimals: integers where no decimal has a fraction, else floats."""
        types = set(map(type, values))
        if CutTime in types:
            self.note_times(column, values)
        if Decimal not in types:
            return values
        decimals = [value for value in values if type(value) is Decimal]
        are_whole = not are_floats and not any(map(has_scale, decimals))
        found: list[Any] = []
        rounded: list[str] = []
        for value in values:
            if type(value) is Decimal:
                number, is_rounded = number_of(value, are_whole)
                if is_rounded:
                    rounded.append(f"{value:f}")
                found.append(number)
            else:
                found.append(value)
        if rounded:
            self.note("decimals", column, rounded[0], len(rounded))
        return found

    def note_times(self, column: Label, values: Iterable[Any]) -> None:
        """Counts the times that were cut."""
        cut = [value.text for value in values if type(value) is CutTime]
        if cut:
            self.note("times", column, cut[0], len(cut))

    @property
    def warnings(self) -> list[str]:
        """What is to be told."""
        columns = sorted(self._found, key=lambda column: (isinstance(column, str), column))
        return [_told(column, *self._found[column]) for column in columns]

    def tell(self) -> None:
        """Warns, at the place where the client was called."""
        for text in self.warnings:
            warn(text)


def _told(column: Label, kind: Kind, count: int, first: str) -> str:
    values, are = ("1 value", "is") if count == 1 else (f"{count} values", "are")
    example = f"`{first}`," if count == 1 else f"as in `{first}`,"
    lost = (
        "finer than milliseconds, which is what times are kept in: what comes after is cut off"
        if kind == "times"
        else "rounded to the nearest float"
    )
    name = f"`{column}`" if isinstance(column, str) else column
    return f"column {name}: {values}, {example} {are} {lost}"


def labels(names: Sequence[str] | None, width: int) -> list[Label]:
    """What columns are called in warnings: those without names by their places."""
    return [names[place] if names and names[place] else place + 1 for place in range(width)]


def finer(text: str) -> str:
    """What to say of a time that stands by itself."""
    return f"{text} is finer than milliseconds, which is what times are kept in: what comes after is cut off"


def warn(text: str, kind: type[Warning] = PrecisionWarning) -> None:
    """A warning that names the line that called the client."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("stratalog."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, kind, stacklevel=level)
