"""The demo's answers without the server: plain Python over the same Parquet files.

The tests compare every row of every answer, and the whole closure, with what the server says.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from questions import BOUND_SEED, BOUND_TIMES

DATA = Path(__file__).parent / "data"
Rows = list[tuple[Any, ...]]
Pairs = list[tuple[str, str]]


class Expected:
    """The package graph, and each question's answer as rows."""

    def __init__(self, data: Path = DATA) -> None:
        package = pl.read_parquet(data / "package.parquet")
        #: Names in alphabetical order; a package's number is its place.
        self.names: list[str] = sorted(package["name"])
        self._number = {name: number for number, name in enumerate(self.names)}
        self._kib: dict[str, int] = dict(package.select("name", "installed_kib").iter_rows())
        self._section: dict[str, str] = dict(package.select("name", "section").iter_rows())
        self._depends: Pairs = pl.read_parquet(data / "depends.parquet").rows()
        self._provides: Pairs = pl.read_parquet(data / "provides.parquet").rows()
        self._next = self._edges()

    def answers(self) -> dict[str, Rows]:
        """The rows of every question, by its name."""
        return {
            "gnome": self._weight(self.needs("gnome")),
            "gnome_largest": self._largest(self.needs("gnome"), 10),
            "break_most": self._most(self._dependents(), 20),
            "circles": sorted(
                ((len(ring), ring[0]) for ring in self._circles), key=lambda row: (-row[0], row[1])
            ),
            "largest_circle": self._circle_of("libjs-util"),
            "web": self._weight({name for package in self._web for name in self.needs(package)}),
            "web_every": [(name,) for name in self._web_every()],
            "web_share": self._most(Counter(n for package in self._web for n in self.needs(package)), 10),
            "closure": [(sum(map(len, self.closure)),)],
        }

    def needs(self, package: str) -> set[str]:
        """What a package needs in the end."""
        return {self.names[number] for number in self.closure[self._number[package]]}

    @cached_property
    def closure(self) -> list[set[int]]:
        """For each package the numbers of those that it needs in the end: a search from each."""
        return [self._reach(number) for number in range(len(self.names))]

    def pairs(self) -> pl.DataFrame:
        """The closure as a table of names, sorted."""
        numbers = pl.DataFrame(
            {"p": range(len(self.names)), "q": [sorted(found) for found in self.closure]},
            schema={"p": pl.UInt32, "q": pl.List(pl.UInt32)},
        )
        flat = numbers.filter(pl.col("q").list.len() > 0).explode("q")
        names = pl.Series(self.names)
        return pl.DataFrame({"P": names.gather(flat["p"]), "Q": names.gather(flat["q"])})

    def falls(self, without: str | None = None) -> set[str]:
        """What lacks something that it needs in the end, perhaps where one package does not exist."""
        real = self._real(without)
        users: dict[str, set[str]] = {}
        for package, name in self._depends:
            users.setdefault(real.get(name, ""), set()).add(package)
        found: set[str] = set()
        waiting = list(users.get("", ()))
        while waiting:
            package = waiting.pop()
            if package not in found:
                found.add(package)
                waiting.extend(users.get(package, ()))
        return found

    def _real(self, without: str | None = None) -> dict[str, str]:
        """For each name that means a package which one: itself, or the first that provides it."""
        exists = {name: name for name in self.names if name != without}
        stand_in: dict[str, str] = {}
        for package, virtual in self._provides:
            if virtual not in exists:
                stand_in[virtual] = min(package, stand_in.get(virtual, package))
        return stand_in | exists

    def _edges(self) -> list[set[int]]:
        real_of = self._real()
        edges: list[set[int]] = [set() for _ in self.names]
        for package, name in self._depends:
            real = real_of.get(name)
            if real is not None and real != package:
                edges[self._number[package]].add(self._number[real])
        return edges

    def _reach(self, start: int) -> set[int]:
        seen: set[int] = set()
        waiting = list(self._next[start])
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                waiting.extend(self._next[number] - seen)
        return seen

    def _weight(self, packages: Iterable[str]) -> Rows:
        sizes = [self._kib[name] for name in packages]
        return [(len(sizes), sum(sizes))]

    def _largest(self, packages: Iterable[str], count: int) -> Rows:
        rows = [(self._kib[name], name, self._section[name]) for name in packages]
        return list(sorted(rows, key=lambda row: (-row[0], row[1]))[:count])

    def _dependents(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for number, reached in enumerate(self.closure):
            found.update(self.names[other] for other in reached if other != number)
        return found

    @staticmethod
    def _most(counts: Counter[str], count: int) -> Rows:
        rows = [(number, name) for name, number in counts.items()]
        return list(sorted(rows, key=lambda row: (-row[0], row[1]))[:count])

    @cached_property
    def _circles(self) -> list[list[str]]:
        """Groups of packages that reach each other; numbers are in the order of names."""
        done: set[int] = set()
        circles = []
        for number, reached in enumerate(self.closure):
            if number in reached and number not in done:
                ring = sorted(other for other in reached if number in self.closure[other])
                done.update(ring)
                circles.append([self.names[other] for other in ring])
        return circles

    def _circle_of(self, package: str) -> Rows:
        return [(name, ring[0]) for ring in self._circles if package in ring for name in ring]

    @cached_property
    def _web(self) -> list[str]:
        return [name for name in self.names if self._section[name] == "web"]

    def _web_every(self) -> list[str]:
        needs = [self.needs(package) for package in self._web if self._next[self._number[package]]]
        return sorted(set.intersection(*needs)) if needs else []


def bound_packages(names: list[str]) -> list[str]:
    """The packages of the bound questions: the same ones each time."""
    return random.Random(BOUND_SEED).sample(sorted(names), BOUND_TIMES)


if __name__ == "__main__":
    for question, rows in Expected().answers().items():
        print(question, len(rows), rows[:5])
