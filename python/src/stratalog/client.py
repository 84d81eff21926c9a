"""`Client`: one connection, blocking calls. `connect` opens it.

Any number of threads may share a client. Whoever waits for an answer reads the socket for all; the server
runs the requests of one connection in order, except `ping` and `cancel`, which it answers at once.
"""

from __future__ import annotations

import ipaddress
import math
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as open_socket

from . import errors
from .columns import ArrowStream
from .events import Events
from .protocol import Call, Protocol, Session, address, credentials, graph_name, without_graph
from .result import Result
from .rows import Plan, plan

#: Told how many rows are sent, and of how many (None if that is not known).
Progress = Callable[[int, int | None], None]
#: What `insert` takes.
Data = ArrowStream | Iterable[Any]

#: How long to wait for the socket to open when no timeout is given.
OPEN_SECONDS = 10.0
#: How much later than the server we notice that the time is over.
GRACE_SECONDS = 5.0
#: Waiting is done in slices, so that Ctrl-C is noticed wherever the system delivers it.
_SLICE_SECONDS = 0.5


class Inserted(NamedTuple):
    """What became of the rows of an insert."""

    inserted: int
    #: Rows that were there already, or came twice.
    duplicates: int


def connect(
    url: str = "ws://127.0.0.1:8080/ws",
    *,
    user: str | None = None,
    password: str | None = None,
    api_key: str | None = None,
    kg: str = "default",
    timeout: float | None = None,
) -> Client:
    """Connects and logs in.

    `url` may also be `host:port`, `ws://host:port` or `http://host:port`. Without user and API key the key
    comes from the environment variable SERVICE_API_KEY. `timeout`, in seconds, bounds the opening of the
    connection and is the default for every request.
    """
    return Client(url, credentials(user, password, api_key), kg=kg, timeout=timeout)


class Client:
    """A session on the server. Close it, or use it in a `with` statement."""

    _socket: ClientConnection | None = None

    def __init__(
        self,
        url: str,
        login: Mapping[str, str],
        *,
        kg: str = "default",
        timeout: float | None = None,
        last_seq: int | None = None,
    ) -> None:
        #: Where this client is connected to.
        self.url = address(url, kg, last_seq)
        # Events connect anew, perhaps more than once; nobody else sees the credentials.
        self._again: Callable[[str, int | None], Client] = lambda kg, last_seq: Client(
            without_graph(url), login, kg=kg, timeout=timeout, last_seq=last_seq
        )
        self._timeout = timeout
        self._protocol = Protocol()
        self._state = threading.Condition()
        self._reading = False
        self._sending = threading.Lock()
        seconds = OPEN_SECONDS if timeout is None else timeout
        try:
            self._socket = open_socket(
                self.url, legacy=True, open_timeout=seconds, **socket_options(self.url)
            )
        except (OSError, InvalidHandshake, ValueError) as problem:
            raise errors.ConnectionLost(f"cannot connect to {self.url}: {problem}") from problem
        try:
            with self._state:
                call, text = self._protocol.authenticate(login)
            self._transmit(text)
            self._wait(call, seconds)
            call.answer()
        except BaseException:
            self.close()
            raise

    # State

    @property
    def session(self) -> Session:
        """What the server said at login."""
        if self._protocol.session is None:
            raise errors.ConnectionLost("not logged in")
        return self._protocol.session

    @property
    def kg(self) -> str:
        """The graph in use."""
        return self._protocol.knowledge_graph

    @property
    def notifications(self) -> list[dict[str, Any]]:
        """Takes the changes that the server told about; they are noticed while an answer is awaited."""
        with self._state:
            found = list(self._protocol.notifications)
            self._protocol.notifications.clear()
        return found

    def events(self, last_seq: int | None = None) -> Events:
        """What changes on the graph in use, from now on, or from after the event number `last_seq`.

        Iterate over it: `for event in db.events(): ...` waits for the next `Event`. It has a connection and a
        session of its own, connects again when that is lost, and gives a `Gap` where events were missed.
        """
        kg = self.kg
        return Events(lambda seen: self._again(kg, seen), last_seq)

    def _pushed(self, seconds: float) -> dict[str, Any] | None:
        """The next message that answers nothing, read by this thread alone."""
        with self._state:
            if self._protocol.notifications:
                return self._protocol.notifications.popleft()
            if self._protocol.ending is not None:
                raise errors.ConnectionLost(self._protocol.ending)
        self._read(seconds)
        with self._state:
            return self._protocol.notifications.popleft() if self._protocol.notifications else None

    # Requests

    def query(
        self,
        program: str,
        params: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Runs a program with a query, such as `?edge(X, $y)`; `$y` takes its value from `params`."""
        return self._execute(program, params, limit=limit, timeout=timeout)

    def execute(
        self,
        program: str,
        params: Mapping[str, Any] | None = None,
        atomic: bool = False,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Runs any program. With `atomic` its writes happen all, or not at all."""
        return self._execute(program, params, atomic=atomic, timeout=timeout)

    def insert(
        self,
        relation: str,
        data: Data,
        *,
        scope: str = "persistent",
        columns: Sequence[str] | None = None,
        progress: bool | Progress | None = None,
    ) -> Inserted:
        """Inserts facts: all of them, or none.

        `data` is anything with `__arrow_c_stream__` (a Polars or pandas DataFrame, a pyarrow table, a DuckDB
        relation, a `Result`), or an iterable of tuples, lists, dicts, dataclasses, or scalars for a relation
        of one column. Columns with names are matched by name with those of the relation, otherwise by
        position; `columns` names the places of tuples, and chooses among the columns of everything else.
        `scope` is `persistent`, or `session` for facts that end with this connection. `progress=True` shows
        a bar if tqdm is installed.
        """
        how = plan(data, columns)
        with _Bar(progress, relation, how.total) as advance:
            call = self._insert(relation, how, scope, advance)
        return inserted(call)

    def use(self, kg: str) -> None:
        """Switches to another graph; facts and rules of the session are dropped."""
        self.execute(f".kg use {graph_name(kg)}")

    def create_kg(self, kg: str) -> None:
        """Creates a graph and switches to it."""
        self.execute(f".kg create {graph_name(kg)}")

    def ping(self) -> float:
        """Asks for a sign of life; the seconds that it took."""
        start = time.perf_counter()
        self._ask(self._protocol.ping).answer()
        return time.perf_counter() - start

    def cancel(self) -> bool:
        """Stops the request that is running, called from another thread; whether there was one to stop."""
        with self._state:
            target = self._protocol.running()
        if target is None:
            return False
        return bool(Result(self._ask(lambda: self._protocol.cancel(target)).answer()).scalar())

    def close(self) -> None:
        """Ends the session. Calls that wait in other threads fail."""
        if self._socket is not None:
            self._socket.close()
        with self._state:
            self._protocol.lost("the client is closed")
            self._state.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if self._socket is not None and self._socket.close_code is None:
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=1)
            self._socket.close_timeout = 0
            self._socket.close()

    def __repr__(self) -> str:
        return f"<stratalog.Client {self.url} kg={self.kg!r}>"

    # How a request runs

    def _execute(
        self,
        program: str,
        params: Mapping[str, Any] | None,
        *,
        timeout: float | None,
        limit: int | None = None,
        atomic: bool = False,
    ) -> Result:
        seconds = self._timeout if timeout is None else timeout

        def build() -> tuple[Call, str]:
            return self._protocol.execute(program, params, timeout=seconds, limit=limit, atomic=atomic)

        return Result(self._ask(build, seconds).answer())

    def _ask(self, build: Callable[[], tuple[Call, str]], seconds: float | None = None) -> Call:
        with self._sending:
            with self._state:
                call, text = build()
            self._transmit(text, call)
        self._wait_or_cancel(call, seconds)
        return call

    def _insert(self, relation: str, how: Plan, scope: str, advance: Progress) -> Call:
        with self._sending:
            with self._state:
                call, text = self._protocol.insert(relation, how.rows, scope=scope)
            self._transmit(text, call)
            try:
                for frame, rows in how.frames or ():
                    self._transmit(frame, call)
                    advance(rows, how.total)
                    if call.done:
                        break
            except errors.Error:
                raise
            except BaseException:
                # The stream is not complete and never will be: take the request back.
                self._take_back(call)
                raise
        self._wait_or_cancel(call, None)
        if how.total is not None:
            advance(how.total, how.total)
        return call

    def _wait_or_cancel(self, call: Call, seconds: float | None) -> None:
        try:
            if not self._wait(call, None if seconds is None else seconds + GRACE_SECONDS):
                with self._sending:
                    self._take_back(call)
                call.outcome = errors.QueryTimeout(
                    f"no answer within {seconds} seconds", request_id=call.id, program=call.program or None
                )
        except KeyboardInterrupt:
            with self._sending:
                self._take_back(call)
            raise

    def _take_back(self, call: Call) -> None:
        """Cancels a request and waits until the server has let go of it; hangs up if it does not."""
        with self._state:
            if call.done:
                return
            _, text = self._protocol.cancel(call)
        self._transmit(text)
        if not self._wait(call, GRACE_SECONDS):
            self.close()

    def _transmit(self, frame: str | bytes, call: Call | None = None) -> None:
        if self._socket is None:
            raise errors.ConnectionLost("not connected")
        try:
            self._socket.send(frame)
        except (ConnectionClosed, OSError) as problem:
            # Why may still lie unread: then the call's outcome says it.
            if call is not None and self._wait(call, GRACE_SECONDS):
                return
            raise errors.ConnectionLost(f"the connection is closed: {problem}") from problem

    def _wait(self, call: Call, seconds: float | None) -> bool:
        """Reads until the call is done; whether it is."""
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        while True:
            with self._state:
                if call.done:
                    return True
                rest = min(_SLICE_SECONDS, max(0.0, deadline - time.monotonic()))
                if self._reading:
                    self._state.wait(rest)
                    lead = False
                else:
                    lead = self._reading = True
            if lead:
                try:
                    self._read(rest)
                finally:
                    with self._state:
                        self._reading = False
                        self._state.notify_all()
            if time.monotonic() >= deadline:
                return call.done

    def _read(self, seconds: float | None) -> None:
        if self._socket is None:
            raise errors.ConnectionLost("not connected")
        try:
            frame = self._socket.recv(seconds)
        except TimeoutError:
            return
        except (ConnectionClosed, OSError) as problem:
            with self._state:
                self._protocol.lost(closed_text(problem))
            return
        with self._state:
            self._protocol.receive(frame)


def socket_options(url: str) -> dict[str, Any]:
    """What both clients ask of websockets: no compression, any size, no proxy on the way to this machine."""
    return {
        "compression": None,
        "max_size": None,
        "max_queue": 1024,
        "proxy": None if _is_local(urlsplit(url).hostname or "") else True,
    }


def closed_text(problem: Exception) -> str:
    """Why the connection ended, in words."""
    if isinstance(problem, ConnectionClosed) and problem.rcvd is not None:
        reason = problem.rcvd.reason or f"code {problem.rcvd.code}"
        return f"the server closed the connection ({reason})"
    return "the connection to the server broke off"


def inserted(call: Call) -> Inserted:
    """The counts in the answer to an insert."""
    result = Result(call.answer())
    row = result.dicts()[0]
    return Inserted(int(row["inserted"]), int(row["duplicates"]))


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Bar:
    """Turns what the user wants to see of the progress into a function to call."""

    def __init__(self, wanted: bool | Progress | None, title: str, total: int | None) -> None:
        self._call: Progress | None = wanted if callable(wanted) else None
        self._bar: Any = None
        if wanted is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=total, desc=title, unit=" rows", unit_scale=True)

    def __enter__(self) -> Progress:
        return self._advance

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _advance(self, rows: int, total: int | None) -> None:
        if self._call is not None:
            self._call(rows, total)
        if self._bar is not None:
            self._bar.update(rows - self._bar.n)
