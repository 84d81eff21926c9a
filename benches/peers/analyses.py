"""Facts of made-up programs, as analyses of them read them: objects and virtual calls, borrows, values in fields."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from generate import SEED, Table, functions

Rows = dict[str, list[tuple[int, ...]]]


def tables(rows: Rows) -> dict[str, Table]:
    """Distinct rows, in an order of their own."""
    return {name: np.unique(np.array(found, dtype=np.int64), axis=0) for name, found in rows.items()}


class _Hierarchy:
    """Classes under classes, in packages, with the signatures that each understands and the methods it declares."""

    PACKAGE = 40

    def __init__(self, rng: np.random.Generator, classes: int, rows: Rows) -> None:
        self.children: list[list[int]] = [[] for _ in range(classes)]
        self.understood: list[list[int]] = []
        self.methods: list[tuple[int, int]] = []
        signatures = 0
        for here in range(classes):
            inherited = self._parent(rng, here, rows)
            new = int(rng.geometric(0.5))
            overridden = [sig for sig in inherited if rng.random() < 0.4]
            for signature in [*overridden, *range(signatures, signatures + new)]:
                rows["implements"].append((here, signature, len(self.methods)))
                rows["declares"].append((here, signature))
                self.methods.append((here, signature))
            self.understood.append([*inherited, *range(signatures, signatures + new)])
            signatures += new
            rows["class"].append((here,))

    def _parent(self, rng: np.random.Generator, here: int, rows: Rows) -> list[int]:
        """Extends a class that was declared a little earlier, oftener one near the beginning of its package."""
        first = here // self.PACKAGE * self.PACKAGE
        if here == first:
            return []
        parent = first + int((here - first) * rng.random() ** 2)
        self.children[parent].append(here)
        rows["extends"].append((here, parent))
        return self.understood[parent]

    def near(self, rng: np.random.Generator, here: int) -> int:
        """A class that code of this class speaks of: mostly of its package, at times of one of the first, a library."""
        if rng.random() < 0.1:
            return int(rng.random() ** 3 * min(4 * self.PACKAGE, len(self.children)))
        first = here // self.PACKAGE * self.PACKAGE
        return min(first + int(rng.random() * self.PACKAGE), len(self.children) - 1)

    def below(self, rng: np.random.Generator, here: int) -> int:
        """This class or one under it."""
        while self.children[here] and rng.random() < 0.6:
            here = int(rng.choice(self.children[here]))
        return here


class _Bodies:
    """The statements of all methods. Variables follow each other: `this`, a parameter, the result, then others."""

    LOCALS = 7

    def __init__(self, rng: np.random.Generator, hierarchy: _Hierarchy, rows: Rows) -> None:
        self.rng, self.hierarchy, self.rows = rng, hierarchy, rows
        self.calls, self.objects = 0, 1
        #: The declared class of each variable.
        self.declared: list[int] = []

    def write(self, method: int) -> None:
        here, _ = self.hierarchy.methods[method]
        this = len(self.declared)
        declared = [here, *(self.hierarchy.near(self.rng, here) for _ in range(2 + self.LOCALS))]
        self.declared.extend(declared)
        self.rows["this"].append((method, this))
        self.rows["formal"].append((method, this + 1))
        self.rows["returned"].append((method, this + 2))
        for variable in self.rng.integers(3, 3 + self.LOCALS, 3):
            self._allocate(method, this + int(variable))
            self._call(this, this + int(variable))
        for number in self.rng.integers(0, 3 + self.LOCALS, (3, 2)):
            self._copy(this + int(number[0]), this + int(number[1]))
        self._copy(this + 2, this + int(self.rng.integers(3, 3 + self.LOCALS)))
        self._field("load", this, here)
        self._field("store", this, here)
        self._call(this, this + int(self.rng.integers(0, 3)))
        if self.rng.random() < 0.2:
            self._direct_call(method, this)

    def _allocate(self, method: int, variable: int) -> None:
        made = self.hierarchy.below(self.rng, self.declared[variable])
        self.rows["allocated"].append((variable, self.objects, method))
        self.rows["made"].append((self.objects, made))
        self.objects += 1

    def _copy(self, to: int, source: int) -> None:
        if self.declared[to] == self.declared[source]:
            self.rows["moved"].append((to, source))
        elif to != source:
            self.rows["cast"].append((to, source, self.declared[to]))

    def _field(self, kind: str, this: int, here: int) -> None:
        """Mostly of `this`, a field of its package."""
        package = here // self.hierarchy.PACKAGE
        field = package * 16 + int(self.rng.random() ** 2 * 16)
        base = this if self.rng.random() < 0.7 else this + int(self.rng.integers(1, 3 + self.LOCALS))
        other = this + int(self.rng.integers(1, 3 + self.LOCALS))
        self.rows[kind].append((other, base, field) if kind == "load" else (base, field, other))

    def _call(self, this: int, base: int) -> None:
        given, result = (this + int(n) for n in self.rng.integers(0, 3 + self.LOCALS, 2))
        signature = int(self.rng.choice(self.hierarchy.understood[self.declared[base]]))
        self.rows["virtual_call"].append((base, signature, self.calls))
        self._passed(given, result)

    def _direct_call(self, method: int, this: int) -> None:
        given, result = (this + int(n) for n in self.rng.integers(1, 3 + self.LOCALS, 2))
        callee = max(method - int(self.rng.random() ** 2 * 500), 0)
        self.rows["direct_call"].append((self.calls, callee, method))
        self._passed(given, result)

    def _passed(self, given: int, result: int) -> None:
        self.rows["actual"].append((self.calls, given))
        self.rows["result"].append((self.calls, result))
        self.calls += 1


def objects(classes: int) -> dict[str, Table]:
    """A made-up program of classes: a few methods each, ten variables and a dozen statements in each method."""
    rng = np.random.default_rng([SEED, classes, 12])
    names = "class extends implements declares this formal returned allocated made moved cast load store"
    rows: Rows = {name: [] for name in [*names.split(), "virtual_call", "direct_call", "actual", "result", "main"]}
    hierarchy = _Hierarchy(rng, classes, rows)
    bodies = _Bodies(rng, hierarchy, rows)
    for method in range(len(hierarchy.methods)):
        bodies.write(method)
    rows["main"] = [(int(method),) for method in rng.integers(0, len(hierarchy.methods), classes // 50)]
    return tables(rows)


class _Function:
    """One function for the borrow checker: its points follow each other, with branches forward and loops back.

    A variable is assigned at a point and used at several later ones; it has one origin. A loan has the origin of the
    reference that is made, which the variable's origin outlives.
    """

    def __init__(self, rng: np.random.Generator, first: int, points: int, name: int, rows: Rows) -> None:
        self.rng, self.first, self.points, self.rows = rng, first, points, rows
        self.name = name
        #: Variables that are references, newest last, and the loans that each began with.
        self.variables: list[tuple[int, int | None]] = []
        self._flow()
        for point in range(first, first + points):
            self._statement(point)

    def _flow(self) -> None:
        points = range(self.first, self.first + self.points)
        self.rows["flows"].extend(pairwise(points))
        for point in points:
            drawn = self.rng.random()
            reach = 2 + int(self.rng.exponential(12))
            if drawn < 0.12 and point + reach in points:
                self.rows["flows"].append((point, point + reach))
            elif drawn > 0.96 and point - reach in points:
                self.rows["flows"].append((point, point - reach))

    def _statement(self, point: int) -> None:
        drawn = self.rng.random()
        if drawn < 0.25 or not self.variables:
            self._borrow(point)
        elif drawn < 0.55:
            self._assign(point)
        elif drawn < 0.65:
            self._write(point)

    def _declare(self, point: int, loan: int | None) -> int:
        """A variable that is defined here and used a few times further on; its number is that of its origin too."""
        self.name += 1
        self.variables.append((self.name, loan))
        self.rows["defined"].append((self.name, point))
        self.rows["origin"].append((self.name, self.name))
        for step in self.rng.exponential(40, 1 + int(self.rng.geometric(0.5))):
            self.rows["used"].append((self.name, min(point + 1 + int(step), self.first + self.points - 1)))
        return self.name

    def _recent(self) -> tuple[int, int | None]:
        return self.variables[-1 - int(self.rng.random() ** 2 * min(25, len(self.variables)))]

    def _borrow(self, point: int) -> None:
        """`variable = &place`: a loan of its own, whose number is that of its origin too."""
        self.name += 1
        loan = self.name
        self.rows["issued"].append((loan, loan, point))
        self.rows["outlives"].append((loan, self._declare(point, loan), point))

    def _assign(self, point: int) -> None:
        """`variable = other`, or one that is known already, whose loans end as it points elsewhere."""
        other, _ = self._recent()
        self.rows["used"].append((other, point))
        if self.rng.random() < 0.5:
            self.rows["outlives"].append((other, self._declare(point, None), point))
            return
        variable, loan = self._recent()
        self.rows["defined"].append((variable, point))
        self.rows["outlives"].append((other, variable, point))
        if loan is not None:
            self.rows["killed"].append((loan, point))

    def _write(self, point: int) -> None:
        """A place that is lent is written: what holds its loan must be dead."""
        _, loan = self._recent()
        if loan is not None:
            self.rows["invalidated"].append((loan, point))


def borrows(points: int) -> dict[str, Table]:
    """Functions whose sizes have a long tail, as the borrow checker of Rust reads them."""
    rng = np.random.default_rng([SEED, points, 13])
    names = "flows defined origin used issued outlives killed invalidated"
    rows: Rows = {name: [] for name in names.split()}
    first, name = 0, 0
    while first < points:
        size = min(30 + int(40 * rng.pareto(1.2)), 2_000, points - first)
        name = _Function(rng, first, size, name, rows).name
        first += size
    return tables(rows)


def fields(variables: int, kinds: int) -> dict[str, Table]:
    """Assignments of a made-up program, and what goes into fields and comes out of them.

    A variable has its value from one a little before, at times from a little after, in functions of a hundred
    variables; one assignment of three hundred leaves its function. Some fields are used far more often than others.
    """
    rng = np.random.default_rng([SEED, variables, kinds, 14])
    first, after = functions(rng, variables, 100)

    def near(count: int, reach: float, leaving: float = 0.0) -> tuple[Table, Table]:
        source = rng.integers(0, variables, count)
        step = 1 + rng.exponential(reach, count).astype(np.int64)
        target = source + np.where(rng.random(count) < 0.93, step, -step)
        within = np.clip(target, first[source], after[source] - 1)
        further = np.minimum(source + 10 * step * int(reach), variables - 1)
        return source, np.where(rng.random(count) < leaving, further, within)

    def field(count: int) -> Table:
        return (rng.random(count) ** 2 * kinds).astype(np.int64)

    into, out = near(2 * variables, 8), near(2 * variables, 8)
    return {
        "plain": np.unique(np.stack(near(variables // 2, 6, 1 / 300), axis=1), axis=0),
        "opens": np.unique(np.stack([*into, field(len(into[0]))], axis=1), axis=0),
        "closes": np.unique(np.stack([*out, field(len(out[0]))], axis=1), axis=0),
    }
