"""Queries, rules, deletes and updates composed in Python. Each is a value that knows the program it stands
for.

select(Owns).where(Owns.share > 0.5).order_by(desc(Owns.share)).limit(10)
rule(Controls(x, z), Controls(x, y), Owns(y, z, ANY))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, overload

from . import programs
from .expressions import Aggregate, Call, Column, Expression, Ordered, key
from .programs import Program
from .ranking import Ranked, Ranking
from .relation import R, Relation, field_names, reader, relation_name, schema
from .writer import Writer

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")

#: What `where` takes: a comparison, a fact with columns and variables, or a function that gives a bool.
Condition = bool | Relation | type[Relation]


class Statement:
    """Something that can be run."""

    @property
    def program(self) -> Program:
        """The text that it stands for, and its parameters."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.program.text


@dataclass(frozen=True, eq=False)
class Select(Ranked, Statement, Generic[T]):
    """A query. Its methods give another one; `Client.query` runs it."""

    _columns: tuple[object, ...]
    _names: tuple[str, ...]
    _read: Callable[[Sequence[Any]], T]
    _conditions: tuple[object, ...] = ()
    _order: tuple[Ordered, ...] = ()
    _limit: tuple[int, int] | None = None
    _ranking: Ranking | None = None

    def where(self, *conditions: Condition) -> Select[T]:
        """Only where all of this holds."""
        return replace(self, _conditions=self._conditions + conditions)

    def order_by(self, *columns: object) -> Select[T]:
        """Ordered by these of its columns, the first counting most: `order_by(desc(Owns.share))`."""
        marks = tuple(column if isinstance(column, Ordered) else Ordered(column, False) for column in columns)
        known = [key(column) for column in self._columns]
        for mark in marks:
            if key(mark.expression) not in known:
                raise ValueError(
                    f"{mark.expression!r} is no column of the answer, so it cannot be ordered by it"
                )
        return replace(self, _order=marks)

    def limit(self, rows: int, offset: int = 0) -> Select[T]:
        """At most so many rows, after so many others."""
        if rows < 0 or offset < 0:
            raise ValueError("neither limit nor offset can be negative")
        return replace(self, _limit=(int(rows), int(offset)))

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._names)

    @property
    def places(self) -> list[int]:
        """Where in the answer each column is: those that order may stand in front there."""
        emitted = self._emitted()
        return [emitted.index(place) for place in range(len(self._columns))]

    def read(self, row: Sequence[Any]) -> T:
        """A row whose values are in the order of the columns."""
        return self._read(row)

    def _emitted(self) -> list[int]:
        """The columns as the program has them: where several order, the first mark there counts most."""
        known = [key(column) for column in self._columns]
        marked = list(dict.fromkeys(known.index(key(mark.expression)) for mark in self._marks()))
        if marked == sorted(marked):
            return list(range(len(known)))
        return marked + [place for place in range(len(known)) if place not in marked]

    def _marks(self) -> tuple[Ordered, ...]:
        """What it is ordered by; what is ranked comes in its order if nothing else is said."""
        if self._ranking is None or self._order:
            return self._order
        return (*(Ordered(part, descending=False) for part in self._ranking.per), self._ranking.by)

    def _ranked_first(self, writer: Writer, variables: list[str], body: list[str]) -> str:
        """Ranks in a rule before the query, which then orders; the literal that asks for what is ranked."""
        assert self._ranking is not None
        groups = [key(part) for part in self._ranking.per]
        places = sorted(range(len(variables)), key=lambda place: key(self._columns[place]) not in groups)
        inner = [variables[place] for place in places]
        head = self._ranking.head(writer, [self._columns[place] for place in places], inner)
        name = f"ranked_{len(writer.before) + 1}"
        writer.before.append(f"{name}({head}) <- {', '.join(body)}")
        return f"{name}({', '.join(inner)})"

    def _ranked(self, ranking: Ranking) -> Select[T]:
        return replace(self, _ranking=ranking)

    @property
    def program(self) -> Program:
        """The text that it stands for, and its parameters."""
        writer = Writer([*self._columns, *self._conditions])
        body, more = writer.literals(self._conditions), list[str]()
        if self._ranking is None:
            outputs = [writer.output(column, more) for column in self._columns]
            body += more
        else:
            outputs = self._ranking.variables(writer, self._columns, more)
            body = [self._ranked_first(writer, outputs, body + more)]
        marks = {key(mark.expression): ":desc" if mark.descending else ":asc" for mark in self._marks()}
        columns = [outputs[place] + marks.get(key(self._columns[place]), "") for place in self._emitted()]
        if self._limit is not None:
            body.append(f"limit({', '.join(map(str, self._limit))})")
        text = f"?{', '.join(columns)} <- {', '.join(body)}"
        return Program("\n".join([*writer.before, text]), writer.params)


@overload
def select(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    relation: type[R], /
) -> Select[R]: ...
@overload
def select(a: A, /) -> Select[tuple[A]]: ...
@overload
def select(a: A, b: B, /) -> Select[tuple[A, B]]: ...
@overload
def select(a: A, b: B, c: C, /) -> Select[tuple[A, B, C]]: ...
@overload
def select(a: A, b: B, c: C, d: D, /) -> Select[tuple[A, B, C, D]]: ...
@overload
def select(a: A, b: B, c: C, d: D, e: E, /) -> Select[tuple[A, B, C, D, E]]: ...
@overload
def select(a: A, b: B, c: C, d: D, e: E, f: F, /) -> Select[tuple[A, B, C, D, E, F]]: ...
def select(*columns: Any) -> Select[Any]:
    """A query for objects of a relation; or for columns, variables, aggregates, and what is made of them."""
    if not columns:
        raise TypeError("select needs a relation, or at least one column")
    if len(columns) == 1 and isinstance(columns[0], type) and issubclass(columns[0], Relation):
        relation = columns[0]
        names = field_names(relation)
        return Select(tuple(getattr(relation, name) for name in names), tuple(names), reader(relation))
    for column in columns:
        if not isinstance(column, Expression):
            raise TypeError(f"{column!r} is no column: give one relation, or columns and variables")
    return Select(columns, tuple(_named(columns)), tuple)


@dataclass(frozen=True, eq=False)
class Rule(Ranked, Statement):
    """What follows from what. `Client.define` keeps it."""

    head: Relation
    body: tuple[object, ...]
    ranking: Ranking | None = None

    @property
    def program(self) -> Program:
        """The rule as it is kept in the graph."""
        return self.text("+")

    def text(self, sign: str) -> Program:
        """The rule with `+`, or without a sign for the session."""
        values = [self.head.__dict__[name] for name in field_names(type(self.head))]
        writer = Writer([*values, *self.body])
        writer.name_after(self.head)
        body, more = writer.literals(self.body), list[str]()
        if self.ranking is None:
            outputs = ["null" if value is None else writer.output(value, more) for value in values]
        else:
            variables = self.ranking.variables(writer, values, more)
            outputs = [self.ranking.head(writer, values, variables)]
        if writer.before:
            raise TypeError("a rule cannot hold is_in: insert the values as facts of a relation")
        head = f"{programs.identifier(relation_name(type(self.head)))}({', '.join(outputs)})"
        return Program(f"{sign}{head} <- {', '.join(body + more)}", writer.params)

    def _ranked(self, ranking: Ranking) -> Rule:
        return replace(self, ranking=ranking)


def rule(head: Relation, *body: Condition) -> Rule:
    """The head holds wherever the whole body does: `rule(Path(x, z), Path(x, y), Edge(y, z))`."""
    if not any(isinstance(value, Expression) for value in head.__dict__.values()) and not body:
        raise TypeError("a rule without a body is a fact: insert it")
    return Rule(head, body)


@dataclass(frozen=True, eq=False)
class Delete(Statement):
    """The end of all facts for which something holds. `Client.execute` runs it."""

    relation: type[Relation]
    conditions: tuple[object, ...] = ()

    def where(self, *conditions: Condition) -> Delete:
        """Only where all of this holds."""
        return replace(self, conditions=self.conditions + conditions)

    @property
    def program(self) -> Program:
        """The text that it stands for, and its parameters."""
        writer = _changing(self.relation, self.conditions)
        target = writer.row(self.relation)
        return _changed(writer, f"-{target}", [target], self.conditions)


def delete(relation: type[Relation]) -> Delete:
    """Deletes facts: `delete(Owns).where(Owns.share < 0.1)`."""
    return Delete(relation)


@dataclass(frozen=True, eq=False)
class Update(Statement):
    """Other values for all facts for which something holds. `Client.execute` runs it."""

    relation: type[Relation]
    changes: Mapping[str, object]
    conditions: tuple[object, ...] = ()

    def where(self, *conditions: Condition) -> Update:
        """Only where all of this holds."""
        return replace(self, conditions=self.conditions + conditions)

    @property
    def program(self) -> Program:
        """The text that it stands for, and its parameters."""
        writer = _changing(self.relation, [*self.conditions, *self.changes.values()])
        old = writer.row(self.relation)
        new = writer.row(self.relation, dict(self.changes))
        return _changed(writer, f"-{old}, +{new}", [old], self.conditions)


def update(relation: type[Relation], **changes: Any) -> Update:
    """Changes facts: `update(Owns, share=Owns.share * 2).where(Owns.owner == "ada")`."""
    if surplus := set(changes) - set(field_names(relation)):
        raise TypeError(f"{relation.__name__} has no column {min(surplus)}")
    if not changes:
        raise TypeError("nothing is changed")
    return Update(relation, changes)


def declaration(relation: type[Relation]) -> Program:
    """The schema of a relation."""
    return programs.declaration(relation_name(relation), schema(relation))


def definition(rules: Sequence[Rule], sign: str = "+") -> Program:
    """Several rules at once."""
    return programs.join(each.text(sign) for each in rules)


def program_of(what: str | Statement, params: Mapping[str, Any] | None) -> Program:
    """Text with its parameters, or what a statement stands for."""
    if isinstance(what, Statement):
        if params:
            raise TypeError("a composed statement has its values in it: it takes no params")
        return what.program
    return programs.with_times(Program(what, params or {}))


def _changing(relation: type[Relation], conditions: Sequence[object]) -> Writer:
    if not conditions:
        raise ValueError(f"this concerns every fact: say so with where({relation.__name__})")
    return Writer([*(getattr(relation, name) for name in field_names(relation)), *conditions])


def _changed(writer: Writer, targets: str, body: list[str], conditions: Sequence[object]) -> Program:
    found = dict.fromkeys([*body, *writer.literals(conditions)])
    if writer.before:
        raise TypeError("a delete or update cannot hold is_in: it does not see facts of the session")
    return Program(f"{targets} <- {', '.join(found)}", writer.params)


def _named(columns: Sequence[Any]) -> list[str]:
    """A name for each column, no two alike."""
    names: list[str] = []
    for place, column in enumerate(columns, 1):
        base = _name(column) or f"column_{place}"
        name, number = base, 2
        while name in names:
            name, number = f"{base}_{number}", number + 1
        names.append(name)
    return names


def _name(column: object) -> str:
    match column:
        case Column(_, name):
            return name
        case Aggregate(function, argument):
            return f"{function}_{_name(argument)}".rstrip("_")
        case Call(function, _):
            return function
        case type() if issubclass(column, Relation):
            return relation_name(column)
        case _:
            return ""
