"""`Client`: a session on the server, with blocking calls. `connect` opens it.

What travels, and how one waits for it, is `connection.py`; here is what can be asked, and what happens when
the connection is lost: it is opened again, requests that only read are repeated, and all others never are.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from os import PathLike
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from . import errors
from .address import address, credentials, server_url, session_address, without_graph
from .admin import Commands
from .arrow import ArrowStream
from .connection import Build, Connection
from .events import Events
from .files import Epoch, FileReader, OnError, Predicates, ReadOptions, is_path, opened
from .graph_name import GraphName
from .inserts import Committed, Inserted, kind_of_warning, refuse_to_register, told
from .lifetime import check_running, tell_of_fork
from .live import Live, subscription
from .naming import listed
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
from .statements import Rule, Select, Statement, declaration, definition, program_of
from .stream import ResultStream, in_order
from .transaction import Transaction

__all__ = ["Client", "Data", "Inserted", "Progress", "connect"]

T = TypeVar("T")

#: What `insert` takes.
Data = ArrowStream | Iterable[Any] | PathLike[str] | FileReader

#: For how long a lost connection is tried to be opened again.
RECONNECT_SECONDS = 10.0


def connect(
    url: str | None = None,
    *,
    user: str | None = None,
    password: str | None = None,
    api_key: str | None = None,
    kg: str = "default",
    timeout: float | None = None,
    reconnect: float = RECONNECT_SECONDS,
) -> Client:
    """Connects and logs in.

    `url` is `host:port`, `ws://host:port`, `http://host:port` or the like. What is left out comes from the
    environment: STRATALOG_URL; SERVICE_API_KEY, or STRATALOG_USER and STRATALOG_PASSWORD. `timeout`, in
    seconds, bounds the opening of the connection and is the default for every request. When the connection is
    lost, it is tried for `reconnect` seconds to open it again; 0 is not at all.

    >>> with connect(url, user="admin", password=password) as db:
    ...     db.session.role
    'admin'
    """
    login = credentials(user, password, api_key)
    return Client(Server(server_url(url), login), kg=kg, timeout=timeout, reconnect=reconnect)


class Client(Commands):
    """A session on the server. Close it, or use it in a `with` statement. Threads may share it."""

    _link: Connection | None = None

    def __init__(
        self,
        peer: Peer,
        *,
        kg: str = "default",
        timeout: float | None = None,
        reconnect: float = RECONNECT_SECONDS,
        at_end: Callable[[], None] | None = None,
    ) -> None:
        self._address = address(peer.url, kg)
        self._peer = peer
        self._at_end = at_end
        self._timeout = timeout
        self._reconnect = reconnect
        self.forked()
        tell_of_fork(self)
        self._closed = False
        #: Whether the session may hold facts or rules of its own.
        self._own = False
        self._link = Connection(address(peer.url, kg, ""), peer, timeout)

    def forked(self) -> None:
        """Whoever was about to connect is in the other process."""
        self._connecting = threading.Lock()

    # State

    @property
    def url(self) -> str:
        """Where this client is connected to: the address of a server, or the folder that is open."""
        return self._peer.shown(self._address)

    @property
    def session(self) -> Session:
        """What the server said at login."""
        if self._link is None or self._link.protocol.session is None:
            raise errors.ConnectionLost("not logged in")
        return self._link.protocol.session

    @property
    def kg(self) -> GraphName:
        """The name of the graph in use. Called with another name, a new client of that: `db.kg("lab")`."""
        name = self._link.protocol.knowledge_graph if self._link is not None else ""
        return GraphName(name, self._another)

    def _another(self, kg: str) -> Client:
        peer = self._peer.without_graph()
        return Client(peer, kg=kg, timeout=self._timeout, reconnect=self._reconnect)

    @property
    def notifications(self) -> list[dict[str, Any]]:
        """Takes the changes that the server told about, at most the last 10,000.

        They are noticed while an answer is awaited, and every ten seconds.
        """
        return self._link.notifications() if self._link is not None else []

    def events(self, last_seq: int | None = None) -> Events:
        """What changes on the graph in use, from now on, or from after the event number `last_seq`.

        Iterate over it: `for event in db.events(): ...` waits for the next `Event`. It has a connection and a
        session of its own, connects again when that is lost, and gives a `Gap` where events were missed.
        """
        url, kg = without_graph(self._address), str(self.kg)
        return Events(
            lambda seen: Connection(
                address(url, kg, "" if seen is None else seen), self._peer, self._timeout, listened=True
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
        progress: bool = False,
    ) -> Live:
        """The answer to a query on the graph in use, and how it changes from now on.

        Iterate over it: `for change in db.live("?reach(1, Y)"): ...` waits for the next `Change`, the first
        of which has all rows; `live.rows` is the answer as it stands, unless `keep` is False. It has a
        connection of its own, connects again when that is lost and goes on where it was. `resume` is the
        `token` of an earlier one, whose rows you have: only what has changed since comes, if the server
        still knows it.

        >>> _ = db.insert("edge", [(1, 2), (2, 3)])
        >>> with db.live("?edge(X, Y)") as live:
        ...     first = live.next()
        ...     _ = db.insert("edge", [(3, 4)])
        ...     change = live.next()
        >>> len(first.added), change.added, change.removed
        (2, [(3, 4)], [])
        """
        url, kg = without_graph(self._address), str(self.kg)
        text, values = parts(query, params)
        return Live(
            lambda: Connection(address(url, kg), self._peer, self._timeout, listened=True),
            subscription(text, values, resume, keep=keep, every_version=every_version, progress=progress),
        )

    # Queries

    @overload
    def query(
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
    def query(
        self,
        program: Select[T],
        *,
        limit: int | None = None,
        timeout: float | None = None,
        place: EvaluationPlace = "auto",
        progress: bool | Watch = False,
    ) -> Rows[T]: ...
    def query(
        self,
        program: str | Select[T],
        params: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        timeout: float | None = None,
        place: EvaluationPlace = "auto",
        progress: bool | Watch = False,
    ) -> Result | Rows[T]:
        """Runs a program with a query; `$y` takes its value from `params`. Or a query composed with `select`.

        >>> _ = db.insert("edge", [(1, 2), (2, 3)])
        >>> db.query("?edge(X, $y)", {"y": 3}).rows()
        [(2, 3)]
        """
        text, values = parts(program, params)
        result = self._execute(text, values, limit=limit, timeout=timeout, place=place, progress=progress)
        return Rows(program, result) if isinstance(program, Select) else result

    def stream(
        self,
        program: str | Select[Any],
        params: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        timeout: float | None = None,
        place: EvaluationPlace = "auto",
        progress: bool | Watch = False,
    ) -> ResultStream:
        """Runs a query whose rows are read while they come, never held as a whole.

        >>> _ = db.insert("number", range(5))
        >>> with db.stream("?number(N)") as stream:
        ...     sum(n for n, in stream.rows())
        10
        """
        query = in_order(program)
        text, values = parts(program, params)
        seconds = self._timeout if timeout is None else timeout
        retry = Retry(self._reconnect)
        while True:
            link = self._connected(retry)
            with watching(progress) as watch:
                build: Build = lambda protocol: protocol.execute(  # noqa: E731
                    text, values, timeout=seconds, limit=limit, place=place, streamed=True, watch=watch
                )
                call = link.send(build)
                link.header(call, seconds)
            if (pause := retry.after(call.outcome) if call.reads else None) is None:
                return ResultStream(link, call, seconds, query)
            time.sleep(pause)

    def execute(
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
        """Runs any program, or a composed statement. With `atomic` its writes happen all, or not at all.

        With `replace_rules`, its rules take the place of those of the same heads that there were before: a
        program that is changed and run again leaves none of its old rules. `progress` is a function that is
        told how far it is, as a `Working`, twice a second, or True for a line of tqdm, if that is installed.

        >>> db.execute("+city(\\"Oslo\\")").messages
        ['inserted 1 fact into city']
        """
        text, values = parts(program, params)
        return self._execute(
            text,
            values,
            limit=limit,
            atomic=atomic,
            replace_rules=replace_rules,
            timeout=timeout,
            place=place,
            progress=progress,
        )

    def check(self, program: str | Statement, *, timeout: float | None = None) -> list[errors.Diagnostic]:
        """What is wrong with a program on this graph, and what deserves a second look; nothing of it runs.

        Its parameters may have any value.

        >>> _ = db.insert("edge", [(1, 2)])
        >>> [found.help for found in db.check("?edgee(X, $y)")]
        ['did you mean `edge`?']
        """
        text, _ = parts(program, None)
        seconds = self._timeout if timeout is None else timeout
        return found_in(self._run(lambda protocol: protocol.check(text), seconds).answer())

    def explain(
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
        return read_plan(self._execute(plan, values, timeout=timeout, reads=True))

    def why(
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
        return Why(self._execute(why_program(text, word), values, timeout=timeout, reads=True))

    def why_not(
        self, fact: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> WhyNot:
        """Why a fact such as `path(2, 1)` does not hold, and with which facts it would."""
        text = f".why_not {fact}"
        return WhyNot(self._execute(text, dict(params or {}), timeout=timeout, reads=True))

    def what_if(
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
        return self._execute(text, dict(params or {}), timeout=timeout, reads=True)

    def impact(
        self, changes: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> Result:
        """How many rows of each derived relation would go and come with changes, and the first of them."""
        text = what_if_program(changes, "")
        return self._execute(text, dict(params or {}), timeout=timeout, reads=True)

    # Writes

    def insert(
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
        """Inserts facts: all of them, or none.

        `data` is anything with `__arrow_c_stream__` (a Polars or pandas DataFrame, a pyarrow table, a DuckDB
        relation, a `Result`), the path of a CSV, TSV, JSON, Parquet, Arrow or RDF file, or an iterable
        of tuples, lists, dicts, dataclasses, typed relations, or scalars for a relation of one column.
        Columns with names are matched by name with those of the relation, otherwise by position; `columns`
        names the places of tuples, and chooses among the columns of everything else. `scope` is
        `persistent`, or `session` for facts that end with this session. `progress=True` shows a bar if tqdm
        is installed; a function is told how many rows are sent, and of how many.

        Times finer than milliseconds are cut to the one before, and decimals become integers, or the nearest
        floats: a `PrecisionWarning` (of files a `FileWarning`) says in which columns. `exact` refuses them.
        `commit_every` gives up all or nothing: so many rows are a commit each, and `PartlyInserted` says how
        many are committed when one of them fails.

        Of files, `on_error="skip"` leaves out records that do not fit, and counts them; `types` names the
        types of some columns (`{"zip": "string"}`), `epoch` the unit of numbers that become times, and
        `encoding` how text is encoded that is not UTF-8.

        >>> db.insert("owns", [("ada", "acme"), ("acme", "bolts")])
        Inserted(inserted=2, duplicates=0)
        """
        name = relation_name(relation)
        options = ReadOptions(on_error, types or {}, epoch, encoding, exact)
        if is_path(data):
            return self._insert_file(name, data, scope, columns, progress, timeout, commit_every, options)
        options.refuse_for_memory()
        declared = self.column_types(name) if exact else None
        how = plan(data, columns, commit_every, exact, declared)
        if how.with_times is not None:
            found = self._insert_times(name, *how.with_times, scope, timeout)
            how.losses.tell()
            return found
        self._own = self._own or scope != "persistent"
        with Bar(progress, name, how.total) as bar, Committed() as committed:
            for part in how.parts:
                advance = bar.after(committed.rows)
                with closing(self._peer.frames(part.batches)) as frames:
                    call = self._upload(
                        name,
                        frames if part.rows is None else (),
                        advance,
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
            how.comparison.settle(self.column_types(name))
        how.losses.tell()
        return committed.total

    def _insert_times(
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
        known = listed(self, name, names) if names is not None else None
        transaction.collect("+", name, names, rows, known)
        with transaction:
            pass
        return told(transaction.result, len(rows))

    def _insert_file(
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
        declared = self.column_types(name)
        if declared is None and scope == "persistent":
            can_be_declared(str(path), name)
        with opened(path, declared, columns, options) as file:
            found = self.insert(
                name, file, scope=scope, progress=progress, timeout=timeout, commit_every=commit_every
            )
        # Only now, as a file that is refused leaves nothing behind.
        has_rows = found.inserted + found.duplicates > 0
        if declared is None and scope == "persistent" and (has_rows or file.has_only_names):
            self._execute(columns_of(name, file.columns).text, None, timeout=None)
        for warning in file.warnings:
            warnings.warn(f"{path}: {warning}", errors.FileWarning, stacklevel=3)
        return found.with_skipped(file.skipped, tuple(file.problems))

    def _upload(
        self,
        name: str,
        data: Iterable[tuple[bytes, int]],
        advance: Callable[[int], None],
        timeout: float | None,
        *,
        rows: list[list[Any]] | None = None,
        names: Sequence[str] | None = None,
        scope: str = "persistent",
    ) -> Call:
        """One commit, of frames, or of rows if these are given."""
        seconds = self._timeout if timeout is None else timeout
        link = self._connected(Retry(self._reconnect))
        return link.upload(
            lambda protocol: protocol.insert(name, rows, names, scope=scope), data, advance, seconds
        )

    def register(
        self,
        relation: str,
        data: Data,
        *,
        columns: Sequence[str] | None = None,
        types: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Inserted:
        """Makes a relation of data, a frame or a file, for this client alone: nothing is stored.

        It is there until `unregister`, or until the client is closed or goes to another graph. What has been
        registered by this name before is replaced. A name that the graph has already is refused, as its rows
        and these would be one relation.

        >>> db.register("price", [{"item": "nut", "cents": 3}, {"item": "bolt", "cents": 12}])
        Inserted(inserted=2, duplicates=0)
        >>> db.query("?price(Item, Cents), Cents > 5").rows()
        [('bolt', 12)]
        """
        name = relation_name(relation)
        refuse_to_register(name, self.relations.all())
        self.own.forget(name)
        return self.insert(name, data, scope="session", columns=columns, types=types, timeout=timeout)

    def unregister(self, relation: str) -> None:
        """Takes a relation away that was registered."""
        self.own.forget(relation_name(relation))

    def insert_predicates(
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
        found = Predicates(path, pattern, on_error)
        known = {name: self.column_types(name) for name in found.relations}
        found.check(known)
        batches = found.batches()
        done = dict.fromkeys(known, Inserted(0, 0))
        with Bar(progress, pattern, None) as bar, Committed() as committed:
            for name, batch in batches:
                with closing(self._peer.frames([batch])) as frames:
                    call = self._upload(name, frames, bar.after(committed.rows), timeout)
                more = committed.add(batch.length, call)
                done[name] = done[name].plus(more)
        for name, columns in found.relations.items():
            if known[name] is None:
                self._execute(columns_of(name, columns).text, None, timeout=None)
        for name in list(done)[:1]:
            done[name] = done[name].with_skipped(found.skipped, found.problems)
        return done

    def delete(
        self,
        relation: str | type[Relation],
        data: Data,
        *,
        columns: Sequence[str] | None = None,
        exact: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Deletes facts, each named in full, all or none. `data` as for `insert`, but for files; and so is
        `exact`.

        For those that fulfil a condition see `stratalog.delete`, or the language's `-owns(A, B) <- ...`.

        >>> _ = db.insert("owns", [("ada", "acme"), ("acme", "bolts")])
        >>> db.delete("owns", [("ada", "acme"), ("ada", "nothing")]).messages
        ['deleted 1 fact from owns']
        """
        name = relation_name(relation)
        names, rows = named_rows(data, columns, exact)
        if names is not None and (known := listed(self, name, names)) is not None:
            rows = known.arranged(names, rows)
        program = facts("-", name, rows)
        if not rows:
            return Result(Answer(["message"]))
        return self._execute(program.text, program.params, timeout=timeout)

    def declare(self, *relations: type[Relation]) -> None:
        """Declares the schemas of typed relations."""
        for relation in relations:
            self._execute(declaration(relation).text, None, timeout=None)

    def define(self, *rules: Rule, scope: str = "persistent") -> None:
        """Keeps rules composed with `rule`: in the graph, all or none, or, by `scope`, in the session."""
        if scope == "persistent":
            program = definition(rules)
            self._execute(program.text, program.params, atomic=True, timeout=None)
            return
        for each in rules:
            program = definition([each], "")
            self._execute(program.text, program.params, timeout=None)

    def transaction(self, *, timeout: float | None = None) -> Transaction:
        """Statements that take effect together, or not at all, at the end of a `with` block.

        >>> with db.transaction() as t:
        ...     t.insert("account", [("a", 10)])
        ...     t.execute("+open($who)", {"who": "a"})
        >>> t.result.messages
        ['inserted 1 fact into account', 'inserted 1 fact into open']
        """
        return Transaction(self, timeout)

    def use(self, kg: str) -> None:
        """Switches to another graph; facts and rules of the session are dropped."""
        self.graphs.use(kg)

    def create_kg(self, kg: str) -> None:
        """Creates a graph and switches to it."""
        self.graphs.create(kg)

    def column_types(self, relation: str) -> dict[str, str] | None:
        """Names and types of a relation's columns; None if there is no such relation yet."""
        try:
            return {each.column: each.type for each in self.relations.columns(relation)}
        except (errors.UnknownRelation, errors.NotFound):
            return None

    # The connection

    def ping(self) -> float:
        """Asks for a sign of life; the seconds that it took."""
        start = time.perf_counter()
        self._run(lambda protocol: protocol.ping(), self._timeout).answer()
        return time.perf_counter() - start

    def cancel(self) -> bool:
        """Stops the request that is running, called from another thread; whether there was one to stop."""
        return self._link.cancel() if self._link is not None and self._link.alive else False

    def close(self) -> None:
        """Ends the session. Calls that wait in other threads fail."""
        self._closed = True
        if self._link is not None:
            self._link.close()
        if self._at_end is not None:
            self._at_end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if self._link is not None and self._link.alive:
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=1)
            self._link.close(0)

    def __repr__(self) -> str:
        return f"<stratalog.Client {self.url} kg={str(self.kg)!r}>"

    def _command(self, text: str, reads: bool) -> Result:
        return self._execute(text, None, timeout=None, reads=reads)

    def _execute(
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
            answer = self._run(build, seconds).answer()
        if answer.switched_kg is not None:
            # Facts and rules of the session do not go along.
            self._own = False
        return Result(answer)

    def _run(self, build: Build, seconds: float | None) -> Call:
        retry = Retry(self._reconnect)
        while True:
            call = self._connected(retry).ask(build, seconds)
            if (pause := retry.after(call.outcome) if call.reads else None) is None:
                return call
            time.sleep(pause)

    def _connected(self, retry: Retry) -> Connection:
        """The connection; opened again if it was lost, or is that of another process."""
        check_running()
        with self._connecting:
            link = self._link
            if link is None or self._closed:
                raise errors.ConnectionLost("the client is closed")
            while not link.alive:
                reason = link.last_words()
                self._peer.check()
                if not link.is_inherited and (self._reconnect <= 0 or link.protocol.dismissed):
                    raise errors.ConnectionLost(reason)
                try:
                    link, same = self._open_again(link)
                except (errors.ConnectionLost, errors.Overloaded) as problem:
                    if (pause := retry.pause(problem.retry_after)) is None:
                        raise
                    time.sleep(pause)
                    continue
                self._link = link
                if not same and self._own:
                    self._own = False
                    raise errors.SessionLost("connected again, but facts and rules of the session are gone")
            return link

    def _open_again(self, lost: Connection) -> tuple[Connection, bool]:
        """Another connection, to the same session if it is still there; whether it is.

        The session of a parent is its own.
        """
        lost.close(0)
        seen = lost.protocol.last_seq
        if (session := lost.protocol.session) is not None and not lost.is_inherited:
            try:
                url = session_address(self._address, session.session_id, seen)
                return Connection(url, self._peer, self._timeout, lost), True
            except (errors.NotFound, errors.AccessDenied):
                pass
        kg = lost.protocol.knowledge_graph
        url = address(without_graph(self._address), kg, "" if seen is None else seen)
        return Connection(url, self._peer, self._timeout, lost), False


def parts(program: str | Statement, params: Mapping[str, Any] | None) -> tuple[str, Mapping[str, Any] | None]:
    """Text and parameters of what is to run."""
    found = program_of(program, params)
    return found.text, found.params


def found_in(answer: Answer) -> list[errors.Diagnostic]:
    """What was found in a program that was checked."""
    return [errors.diagnostic(item) for item in answer.extra["diagnostics"]]
