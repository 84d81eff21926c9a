"""`stratalog.open`: a database inside of this process, without a server.

The native module answers over a socket what a server would answer, so clients, results and errors are the
same.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from . import errors
from .arrow import Batch, Collect, Handed
from .client import RECONNECT_SECONDS, Client
from .lifetime import close_at_end

if TYPE_CHECKING:
    from .aio import AsyncClient

#: What addresses are made of. Nobody looks them up: connections have sockets already.
_URL = "ws://127.0.0.1/ws"
#: What to do where a fork stands in the way.
_AFTER_A_FORK = "start the process by spawn, open after the fork, or use a server: stratalog.connect"
#: What stands for a folder where there is none.
MEMORY = ":memory:"


def open(  # noqa: A001 - what users write is stratalog.open
    path: str | os.PathLike[str] | None = None,
    *,
    kg: str = "default",
    timeout: float | None = None,
    threads: int | None = None,
) -> Client:
    """Opens a database in this process: a folder, which is made if it is not there, or one in memory.

    The client has all that one of `connect` has, except for what is about users. Closing it closes the
    database and with it every other client of it, such as `db.kg("lab")`. A folder is locked as long as it is
    open: it is that of a server, or of one process. `timeout`, in seconds, is the default for every request;
    there is none unless it is given. `threads` evaluate, as many as there are cores unless it is given.

    >>> import stratalog
    >>> with stratalog.open() as db:
    ...     _ = db.insert("edge", [(1, 2), (2, 3)])
    ...     db.query("?edge(1, Y)").rows()
    [(1, 2)]
    """
    database = Database(path, threads)
    try:
        return Client(database, kg=kg, timeout=timeout, reconnect=RECONNECT_SECONDS, at_end=database.close)
    except BaseException:
        database.close()
        raise


async def open_async(
    path: str | os.PathLike[str] | None = None,
    *,
    kg: str = "default",
    timeout: float | None = None,
    threads: int | None = None,
) -> AsyncClient:
    """Opens a database in this process, with the arguments of `stratalog.open`."""
    from .aio import connect_to
    from .aio_connection import to_thread

    database = await to_thread(lambda: Database(path, threads))
    try:
        return await connect_to(
            database, kg=kg, timeout=timeout, reconnect=RECONNECT_SECONDS, at_end=database.close
        )
    except BaseException:
        await to_thread(database.close)
        raise


class Database:
    """A database that is open in this process."""

    url = _URL
    #: It asks nobody who they are.
    login: Mapping[str, str] = {"type": "login", "username": "admin", "password": ""}

    def __init__(self, path: str | os.PathLike[str] | None, threads: int | None) -> None:
        native = _native()
        if threads is not None and threads < 1:
            raise ValueError(f"threads={threads}: at least one has to evaluate")
        self._folder = None if path is None or os.fspath(path) == MEMORY else str(Path(path).absolute())
        self._process = os.getpid()
        self._closed = False
        try:
            self._native = native.Database(self._folder, threads)
        except OSError as problem:
            help_text = _AFTER_A_FORK if isinstance(problem, ChildProcessError) else None
            raise errors.StorageUnavailable(str(problem), help=help_text) from None
        close_at_end(self)

    def without_graph(self) -> Self:
        """It is of no graph in particular."""
        return self

    def shown(self, address: str) -> str:
        """Its folder."""
        return self._folder or MEMORY

    def options(self) -> dict[str, Any]:
        """One end of another connection."""
        self.check()
        try:
            return {"sock": socket.socket(fileno=self._native.connect())}
        except OSError as problem:
            raise errors.ConnectionLost(str(problem)) from None

    def frames(self, batches: Iterable[Batch]) -> Deposit:
        """One, in the place of rows that are handed over where they lie."""
        return Deposit(self._native, batches)

    @property
    def collect(self) -> Collect:
        """Rows stay where they are."""
        return self._collect

    def _collect(self, frame: bytes) -> Handed:
        try:
            return Handed(self._native.collect(frame))
        except (OSError, ValueError) as problem:
            raise errors.ConnectionLost(str(problem)) from None

    def check(self) -> None:
        """It is of use until it is closed, and to the process that has opened it."""
        if os.getpid() != self._process:
            raise errors.ConnectionLost(
                "the database was opened by the process that this one was forked from, and is of no use here",
                help=_AFTER_A_FORK,
            )
        if self._closed:
            raise errors.ConnectionLost("the database is closed")

    def close(self, patience: float | None = None) -> None:
        """Ends all connections and leaves the folder in order, whatever the patience."""
        if os.getpid() == self._process:
            self._closed = True
            self._native.close()


class Deposit:
    """Rows that are handed over where they lie: the frame that stands for them, until this is closed."""

    def __init__(self, native: Any, batches: Iterable[Batch]) -> None:
        self._native = native
        self._batches = batches
        self._frame: bytes | None = None

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        held = list(self._batches)
        frame: bytes = self._native.deposit([batch.array for batch in held])
        self._frame = frame
        yield frame, sum(batch.length for batch in held)

    def close(self) -> None:
        """Takes the rows back if the insert has not come to them."""
        if self._frame is not None:
            with suppress(OSError):
                self._native.withdraw(self._frame)


def _native() -> ModuleType:
    """The native module."""
    try:
        from . import _native
    except ImportError as problem:
        raise ImportError(
            "this installation of stratalog has no native module, so nothing can be opened in this process "
            f"({problem}); stratalog.connect asks a server"
        ) from problem
    return _native
