"""Rankings: the best rows, of all or of each group, of a query or of what a rule derives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from .expressions import Aggregate, Ordered, key, several
from .writer import Writer


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """What is kept: by which aggregate, with its numbers, in what order, in each group of what."""

    aggregate: str
    numbers: tuple[float, ...]
    by: Ordered
    per: tuple[object, ...]

    def variables(self, writer: Writer, columns: Sequence[object], more: list[str]) -> list[str]:
        """A variable for each column; what it takes to compute them goes to `more`."""
        known = [key(column) for column in columns]
        for part in (self.by.expression, *self.per):
            if key(part) not in known:
                raise ValueError(f"{part!r} is none of the columns, so it cannot rank or group them")
        if any(isinstance(column, Aggregate) for column in columns):
            raise TypeError("a ranking stands alone: aggregate in a rule, and rank what that derives")
        return [writer.named(column, more) for column in columns]

    def head(self, writer: Writer, columns: Sequence[object], variables: Sequence[str]) -> str:
        """The columns as a head has them; those that are ranked have to stand side by side."""
        groups = [key(part) for part in self.per]
        mark = ":desc" if self.by.descending else ":asc"
        ranked = [place for place, column in enumerate(columns) if key(column) not in groups]
        if key(self.by.expression) in groups:
            raise ValueError(f"{self.by.expression!r} is the same in the whole group, and ranks nothing")
        if ranked != list(range(ranked[0], ranked[-1] + 1)):
            raise TypeError("in the head of a rule, columns of `per` cannot stand between the others")
        # The aggregate wants one mark.
        best = next(place for place in ranked if key(columns[place]) == key(self.by.expression))
        inner = [*map(writer.value, self.numbers)]
        inner += [variables[place] + (mark if place == best else "") for place in ranked]
        aggregate = f"{self.aggregate}<{', '.join(inner)}>"
        return ", ".join([*variables[: ranked[0]], aggregate, *variables[ranked[-1] + 1 :]])


class Ranked:
    """Something whose rows can be ranked."""

    def top_k(self, k: int, by: object, *, per: object = ()) -> Self:
        """Only the `k` best by a column, the largest if nothing is said: `top_k(3, asc(Offer.price))`.

        Of each group there are so many, if `per` names the columns that make one. Null has no rank.
        """
        return self._ranked(_ranking("top_k", (_count(k),), by, per))

    def top_k_threshold(self, k: int, threshold: float, by: object, *, per: object = ()) -> Self:
        """The same of those that have at least so much; with `asc`, at most."""
        return self._ranked(_ranking("top_k_threshold", (_count(k), threshold), by, per))

    def within_radius(self, distance: float, by: object, *, per: object = ()) -> Self:
        """All whose distance, a column, is at most so large."""
        by = by.expression if isinstance(by, Ordered) else by
        return self._ranked(_ranking("within_radius", (distance,), Ordered(by, descending=False), per))

    def _ranked(self, ranking: Ranking) -> Self:
        raise NotImplementedError


def _ranking(aggregate: str, numbers: tuple[float, ...], by: object, per: object) -> Ranking:
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise TypeError(f"expected a number, found {number!r}")
    return Ranking(aggregate, numbers, by if isinstance(by, Ordered) else Ordered(by, True), several(per))


def _count(k: int) -> int:
    if isinstance(k, bool) or not isinstance(k, int) or k < 0:
        raise ValueError(f"k is a number of rows, not {k!r}")
    return k
