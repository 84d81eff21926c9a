"""Writes expressions and conditions as program text, with a parameter for every value but times.

A column that is mentioned stands for one row of its relation: all columns of a relation are of the same row,
for which one literal is written. Equal columns and variables become one variable, so equality is a join.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .expressions import (
    ANY,
    Aggregate,
    Call,
    Column,
    Comparison,
    Condition,
    Expression,
    IsNull,
    Negation,
    OneOf,
    Operation,
    Ordered,
    Search,
    Variable,
)
from .losses import finer, warn
from .programs import identifier
from .relation import Relation, field_names, relation_name
from .times import CutTime, Time, time_literal
from .values import timed


class Writer:
    """One statement in the making, of everything that is mentioned in it."""

    def __init__(self, mentioned: Sequence[object]) -> None:
        self.params: dict[str, Any] = {}
        #: Statements that have to stand before this one.
        self.before: list[str] = []
        self._names: dict[object, str] = {}
        self._same = _Classes()
        self._rows: dict[type[Relation], set[str]] = {}
        for part in mentioned:
            self._look_at(part)

    def value(self, value: object) -> str:
        """An expression, or a constant as a parameter."""
        match value:
            case Column() | Variable():
                return self._variable(value)
            case Operation(operator, left, right):
                return f"({self.value(left)} {operator} {self.value(right)})"
            case Call(function, arguments):
                return f"{function}({', '.join(map(self.value, arguments))})"
            case Aggregate():
                raise TypeError(
                    "an aggregate is a column of a query or of the head of a rule, and nothing else"
                )
            case Ordered():
                raise TypeError("asc and desc belong into order_by")
            case Expression() | Condition() | Relation():
                raise TypeError(f"{value!r} is no value")
            case _ if isinstance(time := timed(value), Time):
                if isinstance(time, CutTime):
                    warn(finer(time.text))
                return time_literal(time)
            case _:
                name = f"p{len(self.params) + 1}"
                self.params[name] = value
                return f"${name}"

    def named(self, value: object, more: list[str]) -> str:
        """A variable that is this value, bound in the body or by what goes to `more`."""
        if isinstance(value, Column | Variable):
            return self._variable(value)
        computed = self._variable(Variable(), "Value")
        more.append(f"{computed} = {self._bare(value)}")
        return computed

    def output(self, value: object, more: list[str]) -> str:
        """A column of a head or of an answer; what it needs of the body goes to `more`."""
        if not isinstance(value, Aggregate):
            return self._bare(value)
        argument = value.argument
        if isinstance(argument, type) and issubclass(argument, Relation):
            argument = Column(argument, field_names(argument)[0])
        option = "" if value.option is None else f", {self.value(value.option)}"
        return f"{value.function}<{self.named(argument, more)}{option}>"

    def literals(self, conditions: Sequence[object]) -> list[str]:
        """The conditions, those that are only columns mentioned somewhere in front."""
        found = [text for condition in conditions if (text := self.literal(condition)) is not None]
        return [*self._of_columns(), *found]

    def literal(self, condition: object) -> str | None:
        """A condition; None for an equality that joins."""
        match condition:
            case Relation():
                return self.atom(condition)
            case Comparison("=", Column() | Variable(), Column() | Variable()):
                return None
            case Comparison(operator, left, right):
                return f"{self._bare(left)} {operator} {self._bare(right)}"
            case Call():
                return self.value(condition)
            case Search():
                return self._search(condition)
            case Negation(Relation() as fact):
                return f"!{self.atom(fact)}"
            case Negation(Call() as call):
                return f"!{self.value(call)}"
            case IsNull(value, negated):
                null, holder = self._variable(Variable(), "Null"), self._variable(Variable(), "Value")
                sign = "!=" if negated else "="
                return f"{null} = null, {holder} = {self._bare(value)}, {holder} {sign} {null}"
            case OneOf(value, choices):
                return self._one_of(value, choices)
            case type() if issubclass(condition, Relation):
                self._rows.setdefault(condition, set())
                return None
            case bool():
                raise TypeError(
                    f"a condition is {condition}: it was worked out in Python; one side has to be a column"
                )
            case _:
                raise TypeError(f"{condition!r} is no condition")

    def atom(self, fact: Relation) -> str:
        """A fact as a literal: ANY fits everything, None is null."""
        texts = []
        for name in field_names(type(fact)):
            value = fact.__dict__[name]
            if isinstance(value, Column | Variable):
                texts.append(self._variable(value, name))
            else:
                texts.append("_" if value is ANY else "null" if value is None else self.value(value))
        return f"{identifier(relation_name(type(fact)))}({', '.join(texts)})"

    def row(self, relation: type[Relation], changes: dict[str, object] | None = None) -> str:
        """The row that the columns of a relation stand for, whole; some of it changed."""
        texts = [
            self._bare(changes[name])
            if changes and name in changes
            else self._variable(Column(relation, name))
            for name in field_names(relation)
        ]
        return f"{identifier(relation_name(relation))}({', '.join(texts)})"

    def name_after(self, fact: Relation) -> None:
        """Calls variables as the columns in which they stand."""
        for name, value in fact.__dict__.items():
            if isinstance(value, Variable):
                self._variable(value, name)

    def _bare(self, value: object) -> str:
        """A value where no operator stands next to it."""
        text = self.value(value)
        return text[1:-1] if isinstance(value, Operation) else text

    def _of_columns(self) -> Iterator[str]:
        for relation, used in self._rows.items():
            texts = [
                self._variable(Column(relation, name)) if name in used else "_"
                for name in field_names(relation)
            ]
            yield f"{identifier(relation_name(relation))}({', '.join(texts)})"

    def _search(self, search: Search) -> str:
        parts = [self.value(search.index), self._bare(search.query), self.value(search.k)]
        parts.append(self._found(search, search.id, "id"))
        parts.append(self._found(search, search.measure, search.measured))
        if search.candidates is not None:
            parts.append(self.value(search.candidates))
        if search.rank is not ANY:
            parts.append(self._found(search, search.rank, "rank"))
        for each in search.per:
            if not isinstance(each, Column | Variable):
                raise TypeError(f"{search.name} searches per column or variable, not per {each!r}")
        each_of = [self._bare(each) for each in search.per]
        name = f"{search.name}_each" if each_of else search.name
        return f"{name}({', '.join(each_of + parts)})"

    def _found(self, search: Search, found: object, name: str) -> str:
        if found is ANY:
            return "_"
        if not isinstance(found, Column | Variable):
            raise TypeError(f"{search.name} binds columns and variables, not {found!r}")
        return self._variable(found, name)

    def _one_of(self, value: object, choices: Sequence[object]) -> str:
        if not choices:
            return "0 = 1"
        numbers = [isinstance(choice, int | float) and not isinstance(choice, bool) for choice in choices]
        if any(numbers) and not all(numbers):
            raise TypeError("is_in takes numbers, or other values, but not both")
        name = f"choice_{len(self.before) + 1}"
        self.before.append(f"{name}[{', '.join(f'({self.value(choice)})' for choice in choices)}]")
        if not all(numbers):
            joined = self._variable(Variable(), "Choice")
            return f"{name}({joined}), {joined} = {self._bare(value)}"
        choice = self._variable(Variable(), "Choice")
        # By way of arithmetic numbers are compared by value, as they are with `==`.
        return f"{name}({choice}), {choice} + 0 = {self._bare(value)}"

    def _variable(self, value: Column | Variable, hint: str = "") -> str:
        place = self._same.of(_identity(value))
        if (name := self._names.get(place)) is None:
            word = value.name if isinstance(value, Column) else hint or "x"
            base = "".join(part[:1].upper() + part[1:] for part in word.split("_")) or "X"
            if not base[0].isupper():
                base = f"V{base}"
            taken = set(self._names.values())
            name = base
            number = 2
            while name in taken:
                name, number = f"{base}{number}", number + 1
            self._names[place] = name
        return name

    def _look_at(self, part: object) -> None:
        """Finds columns that are mentioned, and what is equal."""
        match part:
            case Column(relation, name):
                self._rows.setdefault(relation, set()).add(name)
            case Comparison(operator, left, right):
                if (
                    operator == "="
                    and isinstance(left, Column | Variable)
                    and isinstance(right, Column | Variable)
                ):
                    self._same.unite(_identity(left), _identity(right))
                self._look_at(left)
                self._look_at(right)
            case Operation(_, left, right):
                self._look_at(left)
                self._look_at(right)
            case Search():
                for each in (part.query, part.id, part.measure, part.rank, *part.per):
                    self._look_at(each)
            case Call(_, arguments):
                for argument in arguments:
                    self._look_at(argument)
            case Aggregate(_, argument):
                if isinstance(argument, type) and issubclass(argument, Relation):
                    self._rows.setdefault(argument, set()).add(field_names(argument)[0])
                else:
                    self._look_at(argument)
            case Ordered(inner) | Negation(inner) | IsNull(inner) | OneOf(inner):
                self._look_at(inner)
            case Relation():
                for name in field_names(type(part)):
                    self._look_at(part.__dict__[name])
            case _:
                pass


class _Classes:
    """Which things are equal."""

    def __init__(self) -> None:
        self._above: dict[object, object] = {}

    def of(self, thing: object) -> object:
        while (above := self._above.get(thing)) is not None:
            thing = above
        return thing

    def unite(self, one: object, other: object) -> None:
        one, other = self.of(one), self.of(other)
        if one != other:
            self._above[other] = one


def _identity(value: Column | Variable) -> object:
    return (value.relation, value.name) if isinstance(value, Column) else value.identity
