"""Transactions: statements are collected, and sent as one atomic program when the block ends.

Nothing is sent before, so a block that raises has changed nothing, and nothing can be read in between.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from .arrow import kind_of
from .lifetime import Process
from .naming import Listed, are_letters, listed, listed_async
from .programs import Program, facts, identifiers, join
from .programs import declaration as declared
from .relation import Relation, field_names, relation_name
from .result import Result
from .rows import named_rows
from .statements import Rule, Statement, declaration, definition, program_of
from .values import Elements, typed

if TYPE_CHECKING:
    from .aio import AsyncClient
    from .client import Client


class _Collected:
    """What a transaction will send."""

    def __init__(self) -> None:
        self._programs: list[Program] = []
        self._result: Result | None = None
        self._process = Process()
        #: What was not made of rows, and may declare anything.
        self._told: list[Program] = []
        #: The columns of the relations that it declares, or knows to be there.
        self._columns: dict[str, Listed] = {}
        #: The relations that have got facts without names.
        self._unnamed: set[str] = set()

    @property
    def result(self) -> Result:
        """The answer, once the transaction is over."""
        if self._result is None:
            raise RuntimeError("the transaction has no result: it is not over, or nothing was in it")
        return self._result

    @property
    def program(self) -> Program:
        """What will be sent."""
        return join(self._programs)

    def execute(self, program: str | Statement, params: Mapping[str, Any] | None = None) -> None:
        """Adds statements, and commands that change relations, rules and indexes; others are refused."""
        self._tell(program_of(program, params))

    def declare(self, *relations: type[Relation]) -> None:
        """Adds the schemas of typed relations."""
        self._programs.extend(declaration(relation) for relation in relations)
        self._columns |= {relation_name(relation): Listed(field_names(relation)) for relation in relations}

    def define(self, *rules: Rule) -> None:
        """Adds rules."""
        self._tell(definition(rules))

    def _tell(self, program: Program) -> None:
        self._programs.append(program)
        self._told.append(program)

    def collect(
        self,
        sign: str,
        name: str,
        names: list[str] | None,
        rows: Sequence[Sequence[Any]],
        known: Listed | None,
    ) -> None:
        """Facts, or the end of facts. Named values find their columns; a new relation gets these names."""
        if names is None:
            self._programs.append(facts(sign, name, rows))
            self._unnamed.add(name)
            return
        columns = self._columns.get(name) or known or self._new(sign, name, names, rows)
        self._columns[name] = columns
        self._programs.append(facts(sign, name, columns.arranged(names, rows)))
        if sign == "+" and not columns.are_given and not are_letters(names):
            # The first names are those that it has from then on.
            self._columns[name] = Listed(identifiers(names))

    def _new(self, sign: str, name: str, names: list[str], rows: Sequence[Sequence[Any]]) -> Listed:
        """The columns of a relation that was not there before, declared here if facts are to come."""
        if self._is_told(name):
            raise ValueError(
                f"what the columns of {name} are called is not known before the transaction is over: "
                "give tuples in their order, or declare the relation before"
            )
        if name in self._unnamed or are_letters(names):
            return Listed([], are_given=False)
        if sign == "+":
            types = [_type_of([row[place] for row in rows]) for place in range(len(names))]
            columns = dict(zip(identifiers(names), types, strict=True))
            self._programs.append(declared(name, columns))
            return Listed(list(columns))
        return Listed(names)

    def _is_told(self, name: str) -> bool:
        """Whether statements of others say something of the relation."""
        return any(re.search(rf"\b{re.escape(name)}\b", program.text) for program in self._told)


def _type_of(values: Sequence[Any]) -> str:
    """The type of a new column with these values."""
    found = [value for value in map(typed, values) if value is not None]
    if found and all(isinstance(value, Elements) for value in found):
        return "list"
    return kind_of(found) if found else "any"


class Transaction(_Collected):
    """Statements that take effect together, or not at all. Use it in a `with` statement."""

    def __init__(self, client: Client, timeout: float | None) -> None:
        super().__init__()
        self._client = client
        self._timeout = timeout

    def insert(
        self,
        relation: str | type[Relation],
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        exact: bool = False,
    ) -> None:
        """Adds facts. They travel as program text: for very many, `Client.insert` is faster."""
        self._add("+", relation, data, columns, exact)

    def delete(
        self,
        relation: str | type[Relation],
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        exact: bool = False,
    ) -> None:
        """Adds the end of facts, each named in full."""
        self._add("-", relation, data, columns, exact)

    def _add(
        self,
        sign: str,
        relation: str | type[Relation],
        data: Any,
        columns: Sequence[str] | None,
        exact: bool,
    ) -> None:
        name = relation_name(relation)
        names, rows = named_rows(data, columns, exact)
        known = listed(self._client, name, names) if names is not None else None
        self.collect(sign, name, names, rows, known)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and (program := self.program).text.strip():
            self._process.check("the transaction")
            self._result = self._client.execute(
                program.text, program.params, atomic=True, timeout=self._timeout
            )


class AsyncTransaction(_Collected):
    """The same for asyncio. Use it in an `async with` statement."""

    def __init__(self, client: AsyncClient, timeout: float | None) -> None:
        super().__init__()
        self._client = client
        self._timeout = timeout

    async def insert(
        self,
        relation: str | type[Relation],
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        exact: bool = False,
    ) -> None:
        """Adds facts. They travel as program text: for very many, `AsyncClient.insert` is faster."""
        await self._add("+", relation, data, columns, exact)

    async def delete(
        self,
        relation: str | type[Relation],
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        exact: bool = False,
    ) -> None:
        """Adds the end of facts, each named in full."""
        await self._add("-", relation, data, columns, exact)

    async def _add(
        self,
        sign: str,
        relation: str | type[Relation],
        data: Any,
        columns: Sequence[str] | None,
        exact: bool,
    ) -> None:
        name = relation_name(relation)
        names, rows = named_rows(data, columns, exact)
        known = await listed_async(self._client, name, names) if names is not None else None
        self.collect(sign, name, names, rows, known)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and (program := self.program).text.strip():
            self._process.check("the transaction")
            self._result = await self._client.execute(
                program.text, program.params, atomic=True, timeout=self._timeout
            )
