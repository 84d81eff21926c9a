"""`AsyncClient`: the client for asyncio, around the same protocol object. `connect_async` opens it.

Its methods are those of `Client`, to be awaited. A cancelled task takes its request back on the server.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from os import PathLike
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from . import errors
from .address import address, credentials, server_url, session_address, without_graph
from .aio_admin import AsyncCommands
from .aio_connection import AsyncConnection, Frames, at_once, on_thread, to_thread
from .client import RECONNECT_SECONDS, Data, found_in, parts
from .connection import Build
from .events import AsyncEvents
from .files import Epoch, FileReader, OnError, Predicates, ReadOptions, is_path, opened
from .graph_name import AsyncGraphName
from .inserts import Committed, Inserted, kind_of_warning, refuse_to_register, told
from .live import AsyncLive, subscription
from .naming import listed_async
from .objects import Rows
from .peer import Peer, Server
from .plan import Plan, plan_program, read_plan
from .programs import can_be_declared, facts
from .programs import declaration as columns_of
from .progress import Bar, Progress, watching
from .proof import Why, WhyNot, what_if_program, why_program, why_word
from .protocol import Answer, Call, EvaluationPlace, Session, Watch
from .relation import Relation, relation_name
from .result import Result
from .retry import Retry, touches_session
from .rows import named_rows, plan
from .statements import Rule, Select, Statement, declaration, definition
from .stream import AsyncResultStream, in_order
from .transaction import AsyncTransaction

T = TypeVar("T")


async def connect_async(
    url: str | None = None,
    *,
    user: str | None = None,
    password: str | None = None,
    api_key: str | None = None,
    kg: str = "default",
    timeout: float | None = None,
    reconnect: float = RECONNECT_SECONDS,
) -> AsyncClient:
    """Connects and logs in, with the arguments of `stratalog.connect`."""
    login = credentials(user, password, api_key)
    return await connect_to(Server(server_url(url), login), kg=kg, timeout=timeout, reconnect=reconnect)


async def connect_to(
    peer: Peer,
    *,
    kg: str,
    timeout: float | None,
    reconnect: float,
    at_end: Callable[[], None] | None = None,
) -> AsyncClient:
    """Connects to a server, or to a database in this process; `at_end` is called when it is closed."""
    link = await AsyncConnection.open(address(peer.url, kg, ""), peer, timeout)
    return AsyncClient(peer, link, kg=kg, timeout=timeout, reconnect=reconnect, at_end=at_end)


class AsyncClient(AsyncCommands):
    """A session on the server. Close it, or use it in an `async with` statement."""

    def __init__(
        self,
        peer: Peer,
        link: AsyncConnection,
        *,
        kg: str,
        timeout: float | None,
        reconnect: float,
        at_end: Callable[[], None] | None = None,
    ) -> None:
        self._address = address(peer.url, kg)
        self._peer = peer
        self._at_end = at_end
        self._link = link
        self._timeout = timeout
        self._reconnect = reconnect
        self._connecting = asyncio.Lock()
        self._closed = False
        #: Whether the session may hold facts or rules of its own.
        self._own = False

    # State

    @property
    def url(self) -> str:
        """Where this client is connected to: the address of a server, or the folder that is open."""
        return self._peer.shown(self._address)

    @property
    def session(self) -> Session:
        """What the server said at login."""
        if self._link.protocol.session is None:
            raise errors.ConnectionLost("not logged in")
        return self._link.protocol.session

    @property
    def kg(self) -> AsyncGraphName:
        """The graph in use: its name. Called with another one, a new client of that: `await db.kg("lab")`."""
        return AsyncGraphName(self._link.protocol.knowledge_graph, self._another)

    async def _another(self, kg: str) -> AsyncClient:
        return await connect_to(
            self._peer.without_graph(), kg=kg, timeout=self._timeout, reconnect=self._reconnect
        )

    @property
    def notifications(self) -> list[dict[str, Any]]:
        """Takes the changes that the server told about since the last look."""
        found = list(self._link.protocol.notifications)
        self._link.protocol.notifications.clear()
        return found

    def events(self, last_seq: int | None = None) -> AsyncEvents:
        """What changes on the graph in use, as for `Client.events`, for `async for`.

        Inside of `async with` it is connected at once, else when the first event is asked for.
        """
        url, kg = without_graph(self._address), str(self.kg)
        return AsyncEvents(
            lambda seen: AsyncConnection.open(
                address(url, kg, "" if seen is None else seen), self._peer, self._timeout
            ),
            last_seq,
        )

    def live(
        self,
        query: str | Select[Any],
        params: Mapping[str, Any] | None = None,
        *,
        resume: str | None = None,
        keep: bool = True,
        every_version: bool = False,
    ) -> AsyncLive:
        """The answer to a query, and how it changes, as for `Client.live`, for `async for`.

        Inside of `async with` it is connected at once, else when the first change is asked for.
        """
        url, kg = without_graph(self._address), str(self.kg)
        text, values = parts(query, params)
        return AsyncLive(
            lambda: AsyncConnection.open(address(url, kg), self._peer, self._timeout),
            subscription(text, values, resume, keep=keep, every_version=every_version, progress=False),
        )

    # Queries

    @overload
    async def query(
        self,
        program: str,
        params: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        timeout: float | None = None,
        place: EvaluationPlace = "auto",
        progress: bool | Watch = False,
    ) -> Result: ...
    @overload
    async def query(
        self,
        program: Select[T],
        *,
        limit: int | None = None,
        timeout: float | None = None,
        place: EvaluationPlace = "auto",
        progress: bool | Watch = False,
    ) -> Rows[T]: ...
    async def query(
        self,
        program: str | Select[T],
        params: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        timeout: float | None = None,
        place: EvaluationPlace = "auto",
        progress: bool | Watch = False,
    ) -> Result | Rows[T]:
        """Runs a program with a query, as text or composed with `select`."""
        text, values = parts(program, params)
        result = await self._execute(
            text, values, limit=limit, timeout=timeout, place=place, progress=progress
        )
        return Rows(program, result) if isinstance(program, Select) else result

    async def stream(
        self,
        program: str | Select[Any],
        params: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        timeout: float | None = None,
        place: EvaluationPlace = "auto",
        progress: bool | Watch = False,
    ) -> AsyncResultStream:
        """Runs a query whose rows are read while they come: `async with await db.stream(..) as stream`."""
        query = in_order(program)
        text, values = parts(program, params)
        seconds = self._timeout if timeout is None else timeout
        retry = Retry(self._reconnect)
        while True:
            link = await self._connected(retry)
            with watching(progress) as watch:
                build: Build = lambda protocol: protocol.execute(  # noqa: E731
                    text, values, timeout=seconds, limit=limit, place=place, streamed=True, watch=watch
                )
                call = await link.send(build)
                await link.header(call, seconds)
            if (pause := retry.after(call.outcome) if call.reads else None) is None:
                return AsyncResultStream(link, call, seconds, query)
            await asyncio.sleep(pause)

    async def execute(
        self,
        program: str | Statement,
        params: Mapping[str, Any] | None = None,
        atomic: bool = False,
        *,
        replace_rules: bool = False,
        limit: int | None = None,
        timeout: float | None = None,
        place: EvaluationPlace = "auto",
        progress: bool | Watch = False,
    ) -> Result:
        """Runs any program, or a composed statement, as `Client.execute` does."""
        text, values = parts(program, params)
        return await self._execute(
            text,
            values,
            limit=limit,
            atomic=atomic,
            replace_rules=replace_rules,
            timeout=timeout,
            place=place,
            progress=progress,
        )

    async def check(
        self, program: str | Statement, *, timeout: float | None = None
    ) -> list[errors.Diagnostic]:
        """What is wrong with a program, as `Client.check` tells it."""
        text, _ = parts(program, None)
        seconds = self._timeout if timeout is None else timeout
        return found_in((await self._run(lambda protocol: protocol.check(text), seconds)).answer())

    async def explain(
        self,
        program: str | Select[Any],
        params: Mapping[str, Any] | None = None,
        *,
        profile: bool = False,
        timeout: float | None = None,
    ) -> Plan:
        """How a query would be answered; with `profile` it is, and the plan says what that took."""
        text, values = parts(program, params)
        plan = plan_program(text, profile)
        return read_plan(await self._execute(plan, values, timeout=timeout, reads=True))

    async def why(
        self,
        program: str | Select[Any],
        params: Mapping[str, Any] | None = None,
        *,
        full: bool = False,
        all_proofs: bool = False,
        timeout: float | None = None,
    ) -> Why:
        """The rows of a query with a proof of each: the smallest that there is.

        `full` tells all inputs of aggregates, `all_proofs` up to five proofs of a row.
        """
        text, values = parts(program, params)
        word = why_word(full, all_proofs)
        return Why(await self._execute(why_program(text, word), values, timeout=timeout, reads=True))

    async def why_not(
        self, fact: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> WhyNot:
        """Why a fact such as `path(2, 1)` does not hold, and with which facts it would."""
        text = f".why_not {fact}"
        return WhyNot(await self._execute(text, dict(params or {}), timeout=timeout, reads=True))

    async def what_if(
        self,
        changes: str,
        query: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> Result:
        """The rows of a query that would come and go with changes such as `-edge(1, 2) +edge(1, 3)`.

        The column `change` says `added` or `removed`. Nothing is stored.
        """
        text = what_if_program(changes, query)
        return await self._execute(text, dict(params or {}), timeout=timeout, reads=True)

    async def impact(
        self, changes: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> Result:
        """How many rows of each derived relation would go and come with changes, and the first of them."""
        text = what_if_program(changes, "")
        return await self._execute(text, dict(params or {}), timeout=timeout, reads=True)

    # Writes

    async def insert(
        self,
        relation: str | type[Relation],
        data: Data,
        *,
        scope: str = "persistent",
        columns: Sequence[str] | None = None,
        progress: bool | Progress | None = None,
        timeout: float | None = None,
        exact: bool = False,
        commit_every: int | None = None,
        on_error: OnError = "abort",
        types: Mapping[str, str] | None = None,
        epoch: Epoch | None = None,
        encoding: str | None = None,
    ) -> Inserted:
        """Inserts facts, all of them or none, as `Client.insert` does."""
        name = relation_name(relation)
        options = ReadOptions(on_error, types or {}, epoch, encoding, exact)
        if is_path(data):
            return await self._insert_file(
                name, data, scope, columns, progress, timeout, commit_every, options
            )
        options.refuse_for_memory()
        declared = await self.column_types(name) if exact else None
        how = plan(data, columns, commit_every, exact, declared)
        if how.with_times is not None:
            found = await self._insert_times(name, *how.with_times, scope, timeout)
            how.losses.tell()
            return found
        # To read a file takes a while.
        in_turn = isinstance(data, FileReader)
        self._own = self._own or scope != "persistent"
        with Bar(progress, name, how.total) as bar, Committed() as committed:
            async for part in on_thread(how.parts) if in_turn else at_once(how.parts):
                with closing(self._peer.frames(part.batches)) as frames:
                    made: Frames = ()
                    if part.rows is None:
                        made = on_thread(frames) if in_turn else frames
                    call = await self._upload(
                        name,
                        made,
                        bar.after(committed.rows),
                        timeout,
                        rows=part.rows,
                        names=part.names,
                        scope=scope,
                    )
                committed.add(part.length, call)
            bar.complete()
        for warning in committed.warnings:
            warnings.warn(warning, kind_of_warning(warning), stacklevel=2)
        if how.comparison.is_open:
            how.comparison.settle(await self.column_types(name))
        how.losses.tell()
        return committed.total

    async def _insert_times(
        self,
        name: str,
        names: list[str] | None,
        rows: Sequence[Sequence[Any]],
        scope: str,
        timeout: float | None,
    ) -> Inserted:
        """Rows with times beside other values in a column travel as a program, which has a form for them."""
        if scope != "persistent":
            raise ValueError("a column has times beside other values: for the session, execute a program")
        transaction = self.transaction(timeout=timeout)
        known = await listed_async(self, name, names) if names is not None else None
        transaction.collect("+", name, names, rows, known)
        async with transaction:
            pass
        return told(transaction.result, len(rows))

    async def _insert_file(
        self,
        name: str,
        path: str | PathLike[str],
        scope: str,
        columns: Sequence[str] | None,
        progress: bool | Progress | None,
        timeout: float | None,
        commit_every: int | None,
        options: ReadOptions,
    ) -> Inserted:
        declared = await self.column_types(name)
        if declared is None and scope == "persistent":
            can_be_declared(str(path), name)
        opening = opened(path, declared, columns, options)
        # The types of its columns are guessed from its beginning, which takes a while.
        file = await to_thread(opening.__enter__)
        with ExitStack() as cleanup:
            cleanup.push(opening.__exit__)
            found = await self.insert(
                name, file, scope=scope, progress=progress, timeout=timeout, commit_every=commit_every
            )
        # Only now, as a file that is refused leaves nothing behind.
        has_rows = found.inserted + found.duplicates > 0
        if declared is None and scope == "persistent" and (has_rows or file.has_only_names):
            await self._execute(columns_of(name, file.columns).text, None, timeout=None)
        for warning in file.warnings:
            warnings.warn(f"{path}: {warning}", errors.FileWarning, stacklevel=3)
        return found.with_skipped(file.skipped, tuple(file.problems))

    async def _upload(
        self,
        name: str,
        data: Frames,
        advance: Callable[[int], None],
        timeout: float | None,
        *,
        rows: list[list[Any]] | None = None,
        names: Sequence[str] | None = None,
        scope: str = "persistent",
    ) -> Call:
        """One commit, of frames, or of rows if these are given."""
        seconds = self._timeout if timeout is None else timeout
        link = await self._connected(Retry(self._reconnect))
        return await link.upload(
            lambda protocol: protocol.insert(name, rows, names, scope=scope), data, advance, seconds
        )

    async def register(
        self,
        relation: str,
        data: Data,
        *,
        columns: Sequence[str] | None = None,
        types: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Inserted:
        """Makes a relation of data for this client alone, as `Client.register` does."""
        name = relation_name(relation)
        refuse_to_register(name, await self.relations.all())
        await self.own.forget(name)
        return await self.insert(name, data, scope="session", columns=columns, types=types, timeout=timeout)

    async def unregister(self, relation: str) -> None:
        """Takes a relation away that was registered."""
        await self.own.forget(relation_name(relation))

    async def insert_predicates(
        self,
        pattern: str,
        path: str | PathLike[str],
        *,
        on_error: OnError = "abort",
        progress: bool | Progress | None = None,
        timeout: float | None = None,
    ) -> dict[str, Inserted]:
        """Inserts the triples of an RDF file into one relation a predicate, of subject and object.

        In `pattern` the star stands for the last part of the predicate: `person_*`. The file is looked at as
        a whole before the first fact is sent; then each relation gets its facts in commits of some thousands.
        """
        found = await to_thread(lambda: Predicates(path, pattern, on_error))
        known = {name: await self.column_types(name) for name in found.relations}
        await to_thread(lambda: found.check(known))
        batches = on_thread(found.batches())
        done = dict.fromkeys(known, Inserted(0, 0))
        with Bar(progress, pattern, None) as bar, Committed() as committed:
            async for name, batch in batches:
                with closing(self._peer.frames([batch])) as frames:
                    call = await self._upload(name, frames, bar.after(committed.rows), timeout)
                more = committed.add(batch.length, call)
                done[name] = done[name].plus(more)
        for name, columns in found.relations.items():
            if known[name] is None:
                await self._execute(columns_of(name, columns).text, None, timeout=None)
        for name in list(done)[:1]:
            done[name] = done[name].with_skipped(found.skipped, found.problems)
        return done

    async def delete(
        self,
        relation: str | type[Relation],
        data: Data,
        *,
        columns: Sequence[str] | None = None,
        exact: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Deletes facts, each named in full, all or none; `data` as for `Client.delete`."""
        name = relation_name(relation)
        names, rows = named_rows(data, columns, exact)
        if names is not None and (known := await listed_async(self, name, names)) is not None:
            rows = known.arranged(names, rows)
        program = facts("-", name, rows)
        if not rows:
            return Result(Answer(["message"]))
        return await self._execute(program.text, program.params, timeout=timeout)

    async def declare(self, *relations: type[Relation]) -> None:
        """Declares the schemas of typed relations."""
        for relation in relations:
            await self._execute(declaration(relation).text, None, timeout=None)

    async def define(self, *rules: Rule, scope: str = "persistent") -> None:
        """Keeps rules composed with `rule`, as for `Client.define`."""
        if scope == "persistent":
            program = definition(rules)
            await self._execute(program.text, program.params, atomic=True, timeout=None)
            return
        for each in rules:
            program = definition([each], "")
            await self._execute(program.text, program.params, timeout=None)

    def transaction(self, *, timeout: float | None = None) -> AsyncTransaction:
        """Statements that take effect together, or not at all, at the end of an `async with` block."""
        return AsyncTransaction(self, timeout)

    async def use(self, kg: str) -> None:
        """Switches to another graph; facts and rules of the session are dropped."""
        await self.graphs.use(kg)

    async def create_kg(self, kg: str) -> None:
        """Creates a graph and switches to it."""
        await self.graphs.create(kg)

    async def column_types(self, relation: str) -> dict[str, str] | None:
        """Names and types of a relation's columns; None if there is no such relation yet."""
        try:
            return {each.column: each.type for each in await self.relations.columns(relation)}
        except (errors.UnknownRelation, errors.NotFound):
            return None

    # The connection

    async def ping(self) -> float:
        """Asks for a sign of life; the seconds that it took."""
        start = time.perf_counter()
        (await self._run(lambda protocol: protocol.ping(), self._timeout)).answer()
        return time.perf_counter() - start

    async def cancel(self) -> bool:
        """Stops the request that is running; whether there was one to stop."""
        return await self._link.cancel() if self._link.alive else False

    async def close(self) -> None:
        """Ends the session."""
        self._closed = True
        await self._link.close()
        if self._at_end is not None:
            await to_thread(self._at_end)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        if not self._closed and self._link.alive:
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=1)

    def __repr__(self) -> str:
        return f"<stratalog.AsyncClient {self.url} kg={str(self.kg)!r}>"

    async def _command(self, text: str, reads: bool) -> Result:
        return await self._execute(text, None, timeout=None, reads=reads)

    async def _execute(
        self,
        program: str,
        params: Mapping[str, Any] | None,
        *,
        timeout: float | None,
        limit: int | None = None,
        atomic: bool = False,
        replace_rules: bool = False,
        place: EvaluationPlace = "auto",
        progress: bool | Watch = False,
        reads: bool = False,
    ) -> Result:
        seconds = self._timeout if timeout is None else timeout
        self._own = self._own or touches_session(program)
        with watching(progress) as watch:
            build: Build = lambda protocol: protocol.execute(  # noqa: E731
                program,
                params,
                timeout=seconds,
                limit=limit,
                atomic=atomic,
                replace_rules=replace_rules,
                place=place,
                reads=reads,
                watch=watch,
            )
            answer = (await self._run(build, seconds)).answer()
        if answer.switched_kg is not None:
            # Facts and rules of the session do not go along.
            self._own = False
        return Result(answer)

    async def _run(self, build: Build, seconds: float | None) -> Call:
        retry = Retry(self._reconnect)
        while True:
            call = await (await self._connected(retry)).ask(build, seconds)
            if (pause := retry.after(call.outcome) if call.reads else None) is None:
                return call
            await asyncio.sleep(pause)

    async def _connected(self, retry: Retry) -> AsyncConnection:
        """The connection; opened again if it was lost."""
        self._link.check_loop()
        async with self._connecting:
            link = self._link
            if self._closed:
                raise errors.ConnectionLost("the client is closed")
            while not link.alive:
                reason = await link.last_words()
                self._peer.check()
                if self._reconnect <= 0 or link.protocol.dismissed:
                    raise errors.ConnectionLost(reason)
                try:
                    link, same = await self._open_again(link)
                except (errors.ConnectionLost, errors.Overloaded) as problem:
                    if (pause := retry.pause(problem.retry_after)) is None:
                        raise
                    await asyncio.sleep(pause)
                    continue
                self._link = link
                if not same and self._own:
                    self._own = False
                    raise errors.SessionLost("connected again, but facts and rules of the session are gone")
            return link

    async def _open_again(self, lost: AsyncConnection) -> tuple[AsyncConnection, bool]:
        """Another connection, to the same session if it is still there; whether it is."""
        await lost.close()
        seen = lost.protocol.last_seq
        if (session := lost.protocol.session) is not None:
            try:
                url = session_address(self._address, session.session_id, seen)
                return await AsyncConnection.open(url, self._peer, self._timeout, lost), True
            except (errors.NotFound, errors.AccessDenied):
                pass
        kg = lost.protocol.knowledge_graph
        url = address(without_graph(self._address), kg, "" if seen is None else seen)
        return await AsyncConnection.open(url, self._peer, self._timeout, lost), False
