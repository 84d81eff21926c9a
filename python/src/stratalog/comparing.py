"""`Comparison`: what the columns of a relation would make of values that fit a column of another type.

The server reads text as times where times are declared, and integers as floats. What is lost there cannot be
seen from the data: where nothing may be lost the types are asked for beforehand, else only if a value is in
question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import arrow
from .losses import Losses, labels
from .naming import matched

#: Text of a time with more digits than three after the second.
_FINE = re.compile(r":\d\d[.,]\d{3}\d*[1-9]")


class Comparison:
    """Notes what is lost, or refuses it, once the types of the relation are known."""

    def __init__(self, losses: Losses, declared: Mapping[str, str] | None) -> None:
        self._losses = losses
        #: Names and types of the columns of the relation, if they are known.
        self.declared = declared
        self._names: Sequence[str] = ()
        #: Integers that no float is, by the place of their column: how many, and the first.
        self._large: dict[int, tuple[int, int]] = {}

    def look(self, names: Sequence[str] | None, columns: Iterable[Sequence[Any]]) -> None:
        """At the values of all columns."""
        self._names = names or ()
        for place, values in enumerate(columns):
            self._look_at(place, values)

    def batches(self, batches: Iterable[arrow.Batch]) -> Iterator[arrow.Batch]:
        """The same batches, once they were looked at."""
        for batch in batches:
            fields = [batch.schema.child(place) for place in range(batch.schema.n_children)]
            self._names = [field.name for field in fields]
            for place, field in enumerate(fields):
                column = batch.array.child(place)
                is_text = self._type_of(place) == "timestamp" and arrow.type_name(field) == "string"
                if is_text or (field.format in ("l", "L") and arrow.has_large(column)):
                    self._look_at(place, arrow.decode(column, field))
            yield batch

    @property
    def is_open(self) -> bool:
        """Whether the types of the relation decide if something was lost."""
        return self.declared is None and bool(self._large)

    def settle(self, declared: Mapping[str, str] | None) -> None:
        """Notes what was lost in a relation with these columns."""
        self.declared = declared or {}
        for place, (count, first) in self._large.items():
            if self._type_of(place) == "float":
                self._losses.note("integers", self._label(place), str(first), count)

    def _look_at(self, place: int, values: Sequence[Any]) -> None:
        kind = self._type_of(place)
        if kind == "timestamp":
            fine = next((value for value in values if isinstance(value, str) and _FINE.search(value)), None)
            if fine is not None:
                self._losses.note("times", self._label(place), fine)
        large = [value for value in values if type(value) is int and not _is_float(value)]
        if large and kind == "float":
            self._losses.note("integers", self._label(place), str(large[0]), len(large))
        elif large:
            count, first = self._large.get(place, (0, large[0]))
            self._large[place] = (count + len(large), first)

    def _label(self, place: int) -> str | int:
        return labels(self._names, len(self._names))[place] if self._names else place + 1

    def _type_of(self, place: int) -> str | None:
        """The declared type of a column of the data."""
        if not self.declared:
            return None
        places = matched(list(self.declared), self._names)
        if all(found is None for found in places):
            return dict(enumerate(self.declared.values())).get(place)
        return dict(zip(places, self.declared.values(), strict=True)).get(place)


def _is_float(value: int) -> bool:
    return abs(value) <= 1 << 53 or int(float(value)) == value
