"""`Connection`: one socket and the conversation over it, with blocking calls.

Any number of threads may share it. Whoever waits for an answer reads the socket for all; the server runs the
requests of one connection in order, except `ping` and `cancel`, which it answers at once.
"""

from __future__ import annotations

import ipaddress
import math
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.protocol import State
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as open_socket

from . import errors
from .lifetime import check_running, close_at_end, tell_of_fork
from .peer import Peer
from .protocol import Call, Protocol

#: Makes a request: its call, and the message to send.
Build = Callable[[Protocol], tuple[Call, str]]
#: Told how many rows are sent.
Advance = Callable[[int], None]

#: How long to wait for the socket to open when no timeout is given.
OPEN_SECONDS = 10.0
#: How much later than the server we notice that the time is over.
GRACE_SECONDS = 5.0
#: How often the server is shown that we are there, and what it has told us unasked is read.
KEEP_SECONDS = 10.0
#: For how long nothing comes, no answer to a ping either, until a connection that is read is given up.
SILENCE_SECONDS = 40.0
#: Why it is.
SILENT = "the server does not answer"
#: Waiting is done in slices, so that Ctrl-C is noticed wherever the system delivers it.
_SLICE_SECONDS = 0.5
#: Frames that are read away at the end, at most: more of them may come all the time.
_MOST_READ_AWAY = 10_000
#: How long the next one is waited for.
_BETWEEN_FRAMES = 0.05


class Connection:
    """Opens the socket and logs in; what was seen on the connection `before` goes on here.

    With `listened`, notifications are read no faster than `pushed` takes them, so that the server tells what
    was missed. Else the newest ones are kept.
    """

    def __init__(
        self,
        url: str,
        peer: Peer,
        timeout: float | None,
        before: Connection | None = None,
        *,
        listened: bool = False,
    ) -> None:
        check_running()
        self._listened = listened
        self.url = url
        self.protocol: Protocol = Protocol(before.protocol if before else None, peer.collect)
        #: Whether the socket belongs to the process that this one was forked from.
        self.is_inherited = False
        self._new_locks()
        seconds = OPEN_SECONDS if timeout is None else timeout
        try:
            self._socket = open_socket(url, legacy=True, open_timeout=seconds, **socket_options(url, peer))
        except (OSError, InvalidHandshake, ConnectionClosed, ValueError) as problem:
            raise cannot_connect(url, problem) from problem
        tell_of_fork(self)
        close_at_end(self)
        keeper = (weakref.ref(self), self._socket, self._ended)
        threading.Thread(target=_keep, args=keeper, name="stratalog", daemon=True).start()
        try:
            self.ask(lambda protocol: protocol.authenticate(peer.login), seconds).answer()
        except BaseException:
            self.close()
            raise

    def _new_locks(self) -> None:
        self._state = threading.Condition()
        self._reading = False
        self._sending = threading.Lock()
        self._ended = threading.Event()
        #: Set when a ping is answered, and for how many seconds somebody has read since and nothing came.
        self._pong: threading.Event | None = None
        self._silence = 0.0
        #: The thread that sends an upload.
        self._uploader: int | None = None

    @property
    def alive(self) -> bool:
        """Whether a request can be sent, as far as we know."""
        return self.protocol.ending is None and self._socket.state is State.OPEN

    def last_words(self) -> str:
        """Why the connection ended, once it is no longer alive; what still lies unread may say it."""
        self._wait(Call(-1), GRACE_SECONDS, lambda: self.protocol.ending is not None)
        return self.protocol.ending or "the connection is closed"

    # Requests

    def ask(self, build: Build, seconds: float | None = None) -> Call:
        """Sends a request and waits for its end. The call knows what came of it, also if it is lost."""
        call = self.send(build)
        self._finish(call, seconds)
        return call

    def upload(
        self, build: Build, frames: Iterable[tuple[bytes, int]], advance: Advance, seconds: float | None
    ) -> Call:
        """The same for a request that is followed by binary frames."""
        call = self.send(build, frames, advance)
        self._finish(call, seconds)
        return call

    def send(
        self, build: Build, frames: Iterable[tuple[bytes, int]] = (), advance: Advance | None = None
    ) -> Call:
        """Sends a request, and does not wait for anything."""
        check_running()
        with self._sending:
            with self._state:
                call, text = build(self.protocol)
            self._uploader = threading.get_ident()
            try:
                self._transmit(text)
                for frame, rows in frames:
                    call.follow(frame)
                    self._transmit(frame)
                    if advance is not None:
                        advance(rows)
                    if call.done:
                        break
            except _Broken:
                # Why may still lie unread: then the call's outcome says it.
                self._wait(call, GRACE_SECONDS)
                self._lost("the connection is closed")
            except BaseException:
                # It is not complete and never will be.
                self._take_back(call)
                raise
            finally:
                self._uploader = None
        return call

    def header(self, call: Call, seconds: float | None) -> None:
        """Waits until the first of a streamed call is there, or its end."""
        self._finish(call, seconds, lambda: call.header is not None)

    def frame(self, call: Call, seconds: float | None) -> bytes | None:
        """The next binary frame of a streamed call; None after the last."""
        if self._uploader == threading.get_ident():
            raise RuntimeError(
                "what is inserted comes from a stream of the same client, and each would wait for the other: "
                "stream through another client, db.kg(db.kg)"
            )
        self._finish(call, seconds, lambda: bool(call.frames))
        with self._state:
            return call.frames.popleft() if call.frames else None

    def drop(self, call: Call) -> None:
        """Ends a request whose answer nobody wants any more."""
        if sys.is_finalizing():
            # Whoever holds the lock stands still.
            return
        with self._sending:
            self._take_back(call)

    def cancel(self) -> bool:
        """Stops the request that is running; whether there was one to stop."""
        with self._state:
            target = self.protocol.running()
        if target is None:
            return False
        return bool(self.ask(lambda protocol: protocol.cancel(target)).answer().rows[0][0])

    def pushed(self, seconds: float) -> dict[str, Any] | None:
        """The next message that answers nothing; None if there is none in time."""
        protocol = self.protocol
        self._wait(Call(-1), seconds, lambda: bool(protocol.notifications) or protocol.ending is not None)
        with self._state:
            if not protocol.notifications and protocol.ending is not None:
                raise errors.ConnectionLost(protocol.ending)
            return protocol.notifications.popleft() if protocol.notifications else None

    def notifications(self) -> list[dict[str, Any]]:
        """Takes what was pushed and is not read yet."""
        with self._state:
            found = list(self.protocol.notifications)
            self.protocol.notifications.clear()
        return found

    def close(self, patience: float | None = None) -> None:
        """Hangs up. Calls that wait in other threads fail."""
        if sys.is_finalizing():
            # The thread that takes part in a polite end stands still.
            self._socket.socket.close()
        elif not self.is_inherited:
            if patience is not None:
                self._socket.close_timeout = patience
            self._read_away()
            self._socket.close()
        self._lost("the client is closed")

    def _read_away(self) -> None:
        """Takes what nobody has read: the server's farewell stands behind it, and is waited for."""
        with self._state:
            if self._reading:
                return
            self._reading = True
        try:
            with suppress(TimeoutError, ConnectionClosed, OSError):
                self._socket.recv(0)
                for _ in range(_MOST_READ_AWAY):
                    self._socket.recv(_BETWEEN_FRAMES)
        finally:
            with self._state:
                self._reading = False
                self._state.notify_all()

    def forked(self) -> None:
        """Leaves the socket to the parent: nothing is sent over this copy of it."""
        self.is_inherited = True
        self._new_locks()
        self.protocol.lost("the connection belongs to the process from which this one was forked")
        self._socket.socket.close()

    # How a request runs

    def _finish(self, call: Call, seconds: float | None, enough: Callable[[], bool] = lambda: False) -> None:
        """Waits for the end of a call, or until it is enough; takes it back when the time is over."""
        try:
            if not self._wait(call, None if seconds is None else seconds + GRACE_SECONDS, enough):
                self.drop(call)
                call.outcome = no_answer(call, seconds)
        except BaseException:
            # Ctrl-C, mostly: the server shall not go on with what nobody waits for.
            self.drop(call)
            raise

    def _take_back(self, call: Call) -> None:
        """Cancels a request and waits until the server has let go of it; hangs up if it does not.

        What stands behind another request cannot end before that, and is not waited for.
        """
        call.abandoned = True
        call.frames.clear()
        with self._state:
            if call.done:
                return
            _, text = self.protocol.cancel(call)
        try:
            self._transmit(text)
        except _Broken:
            return
        if not self._wait(call, GRACE_SECONDS) and not self._stands_behind(call):
            self.close(0)

    def _stands_behind(self, call: Call) -> bool:
        with self._state:
            return self.protocol.stands_behind(call)

    def _transmit(self, frame: str | bytes) -> None:
        if self.is_inherited:
            raise _Broken
        try:
            self._socket.send(frame)
        except (ConnectionClosed, OSError) as problem:
            raise _Broken from problem
        except BaseException:
            # Part of a frame may be on its way, and nothing can follow it.
            self.close(0)
            raise

    def _wait(self, call: Call, seconds: float | None, enough: Callable[[], bool] = lambda: False) -> bool:
        """Reads until the call is done, or it is enough; whether that is so."""
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        while True:
            check_running()
            call.tell()
            with self._state:
                if call.done or enough():
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
                return call.done or enough()

    def _read(self, seconds: float) -> bool:
        """Takes the next frame; whether one has come."""
        try:
            frame = self._socket.recv(seconds)
        except TimeoutError:
            self._silence += seconds
            return False
        except (ConnectionClosed, OSError) as problem:
            self._lost(closed_text(problem))
            return False
        self._silence = 0.0
        with self._state:
            self.protocol.receive(frame)
        return True

    def _lost(self, reason: str) -> None:
        self._ended.set()
        with self._state:
            self.protocol.lost(reason)
            self._state.notify_all()

    # While nobody waits for anything

    def keep(self) -> None:
        """Shows that we are there, and takes what has come. Without that the server would let us go."""
        if self._pong is not None and not self._pong.is_set() and self._silence >= SILENCE_SECONDS:
            self._lost(SILENT)
            self.close(0)
            return
        with suppress(ConnectionClosed, OSError):
            sent = self._socket.ping()
            if self._pong is None or self._pong.is_set():
                self._pong, self._silence = sent, 0.0
        while self._overhear():
            pass

    def _overhear(self) -> bool:
        """Takes a frame that nobody waits for; whether there was one. A stream is left to who reads it."""
        with self._state:
            awaited = self._reading or self._listened or self.protocol.open_calls() > 0
            if awaited or self.protocol.ending is not None:
                return False
            self._reading = True
        try:
            return self._read(0)
        except errors.InvalidMessage as problem:
            self._lost(problem.message)
            return False
        finally:
            with self._state:
                self._reading = False
                self._state.notify_all()


def _keep(link: weakref.ref[Connection], socket: ClientConnection, ended: threading.Event) -> None:
    """Keeps a connection until it is closed, or nobody has it any more."""
    while not ended.wait(KEEP_SECONDS):
        if (kept := link()) is None:
            socket.close()
            return
        kept.keep()
        del kept


class _Broken(Exception):
    """A frame could not be sent."""


def socket_options(url: str, peer: Peer) -> dict[str, Any]:
    """What both clients ask of websockets: no compression, any size, no proxy on the way to this machine.

    A socket that is read slowly holds back answers to pings with all else, so websockets must not hang up for
    want of them: whether the server is there is seen to here.
    """
    return {
        "ping_interval": None,
        "compression": None,
        "max_size": None,
        "max_queue": 16,
        "proxy": None if _is_local(urlsplit(url).hostname or "") else True,
        **peer.options(),
    }


def cannot_connect(url: str, problem: Exception) -> errors.Error:
    """Why there is no connection."""
    if isinstance(problem, InvalidStatus) and problem.response.status_code == 404:
        return errors.NotFound(f"cannot connect to {url}: there is no such endpoint or session")
    return errors.ConnectionLost(f"cannot connect to {url}: {problem}")


def no_answer(call: Call, seconds: float | None) -> errors.Error:
    """The server did not even say that the time is over."""
    return errors.QueryTimeout(
        f"no answer within {seconds} seconds",
        help=errors.LOOK_FIRST if call.uncertain else None,
        request_id=call.id,
        program=call.program or None,
        uncertain=call.uncertain,
    )


def closed_text(problem: Exception) -> str:
    """Why the connection ended, in words."""
    if isinstance(problem, ConnectionClosed) and problem.rcvd is not None:
        reason = problem.rcvd.reason or f"code {problem.rcvd.code}"
        return f"the server closed the connection ({reason})"
    return "the connection to the server broke off"


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
