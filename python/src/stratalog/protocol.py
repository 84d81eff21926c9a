"""The WebSocket protocol without the socket: builds messages, and turns what arrives into answers.

Every request carries an id and every reply repeats it, so a `Call` finds its answer whatever else arrives in
between. Both clients are thin around this: they move frames, and wait until a call is done.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from . import errors
from .values import plain


@dataclass(frozen=True, slots=True)
class Session:
    """What the server said when it let us in."""

    session_id: str
    knowledge_graph: str
    version: str
    role: str


@dataclass(slots=True)
class Answer:
    """A complete reply, however many frames it came in."""

    columns: list[str]
    #: Rows that came as JSON.
    rows: list[list[Any]] = field(default_factory=list)
    #: Bytes of one Arrow IPC stream, if the rows came that way.
    arrow: bytes | None = None
    row_count: int = 0
    total_count: int = 0
    truncated: bool = False
    execution_time_ms: int = 0
    warnings: tuple[str, ...] = ()
    provenance: list[str] = field(default_factory=list)
    switched_kg: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Call:
    """A request on its way; `outcome` is set once it is over."""

    id: int
    #: The text that ran, empty for an insert; None for what takes no time and cannot be cancelled.
    program: str | None = None
    outcome: Answer | errors.Error | None = None
    _partial: Answer | None = None
    _frames: list[bytes] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.outcome is not None

    def answer(self) -> Answer:
        """The answer; raises what the server refused the request with."""
        if isinstance(self.outcome, errors.Error):
            raise self.outcome
        if self.outcome is None:
            raise RuntimeError("the call is not done")
        return self.outcome


class Protocol:
    """One connection's conversation. Not thread-safe: the clients hold a lock around each method."""

    def __init__(self) -> None:
        self.session: Session | None = None
        #: The graph that the session is bound to now.
        self.knowledge_graph = ""
        #: Changes that the server told us about, oldest first.
        self.notifications: deque[dict[str, Any]] = deque(maxlen=10_000)
        #: The last thing the server said outside of any request, such as why it is about to hang up.
        self.notice: errors.Error | None = None
        #: Why the connection ended, once it has.
        self.ending: str | None = None
        self._calls: dict[int, Call] = {}
        self._greeting: Call | None = None
        self._streaming: Call | None = None
        self._last_id = 0

    # What to send

    def authenticate(self, credentials: Mapping[str, str]) -> tuple[Call, str]:
        """Says who we are; nothing else may be sent before the answer."""
        self._greeting = Call(0)
        return self._greeting, json.dumps(credentials)

    def execute(
        self,
        program: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        limit: int | None = None,
        atomic: bool = False,
    ) -> tuple[Call, str]:
        """Runs a program; the rows of its query are asked for as Arrow."""
        message: dict[str, Any] = {"type": "execute", "program": program, "format": "arrow"}
        if params:
            message["params"] = {name: json_value(value) for name, value in params.items()}
        if timeout is not None:
            message["timeout_ms"] = max(1, round(timeout * 1000))
        if limit is not None:
            message["limit"] = limit
        if atomic:
            message["atomic"] = True
        return self._request(message, program)

    def insert(
        self, relation: str, rows: list[list[Any]] | None, *, scope: str = "persistent"
    ) -> tuple[Call, str]:
        """Inserts `rows`, or announces the binary frames of an Arrow stream when they are None."""
        message: dict[str, Any] = {"type": "insert", "relation": relation}
        if scope != "persistent":
            message["scope"] = scope
        if rows is None:
            message["format"] = "arrow"
        else:
            message["rows"] = rows
        return self._request(message, "")

    def cancel(self, target: Call) -> tuple[Call, str]:
        """Asks to stop a request; whether it was stopped is the one value of the answer."""
        return self._request({"type": "cancel", "target": target.id})

    def ping(self) -> tuple[Call, str]:
        return self._request({"type": "ping"})

    def running(self) -> Call | None:
        """The oldest program or insert whose answer is not complete."""
        return next((call for call in self._calls.values() if call.program is not None), None)

    def _request(self, message: dict[str, Any], program: str | None = None) -> tuple[Call, str]:
        self._last_id += 1
        call = Call(self._last_id, program)
        message["id"] = call.id
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._calls[call.id] = call
        return call, text

    # What arrives

    def receive(self, frame: str | bytes) -> None:
        """Takes one frame from the server."""
        if isinstance(frame, bytes):
            if self._streaming is not None:
                self._streaming._frames.append(frame)
            return
        try:
            message = json.loads(frame)
            kind = message["type"]
        except (ValueError, KeyError, TypeError) as problem:
            raise errors.InvalidMessage(f"the server sent something that is no message: {problem}") from None
        match kind:
            case "authenticated":
                self._welcome(message)
            case "auth_error":
                self._refused(errors.AuthError(str(message.get("message", "authentication failed"))))
            case "result" | "result_start" | "result_chunk" | "result_end" | "pong":
                if (call := self._calls.get(message.get("id"))) is not None:
                    self._reply(call, kind, message)
            case "error":
                self._error(message)
            case _:
                # Pushed by the server: a change notification, or a type of a later version.
                self.notifications.append(message)

    def lost(self, reason: str) -> None:
        """The connection is gone: every open call fails, with what the server said last."""
        if self.ending is None:
            self.ending = reason
        said = f": {self.notice.message}" if self.notice is not None else ""
        for call in [*self._calls.values(), *([self._greeting] if self._greeting else [])]:
            if not call.done:
                call.outcome = errors.ConnectionLost(
                    f"{reason}{said}", request_id=call.id, program=call.program
                )
        self._calls.clear()

    def _welcome(self, message: Mapping[str, Any]) -> None:
        self.session = Session(
            str(message.get("session_id", "")),
            str(message.get("knowledge_graph", "")),
            str(message.get("version", "")),
            str(message.get("role", "")),
        )
        self.knowledge_graph = self.session.knowledge_graph
        if self._greeting is not None:
            self._greeting.outcome = Answer([])

    def _refused(self, error: errors.Error) -> None:
        if self._greeting is not None and not self._greeting.done:
            self._greeting.outcome = error
        else:
            self.notice = error

    def _error(self, message: Mapping[str, Any]) -> None:
        call = self._calls.pop(message["id"], None) if message.get("id") is not None else None
        if call is not None:
            if self._streaming is call:
                self._streaming = None
            call.outcome = errors.from_message(message, call.program or None)
        elif "gap" in message:
            self.notifications.append(dict(message))
        elif self.session is None:
            self._refused(errors.from_message(message))
        else:
            self.notice = errors.from_message(message)

    def _reply(self, call: Call, kind: str, message: dict[str, Any]) -> None:
        if kind == "pong":
            self._finish(call, Answer([]))
        elif kind == "result":
            self._finish(call, _answer(message))
        elif kind == "result_start":
            call._partial = _answer(message)
            if message.get("format") == "arrow":
                self._streaming = call
        elif call._partial is not None and kind == "result_chunk":
            call._partial.rows.extend(message["rows"])
            call._partial.provenance.extend(message.get("row_provenance") or ())
        elif call._partial is not None:
            if self._streaming is call:
                self._streaming = None
                call._partial.arrow = b"".join(call._frames)
                call._frames.clear()
            call._partial.row_count = message.get("row_count", len(call._partial.rows))
            self._finish(call, call._partial)

    def _finish(self, call: Call, answer: Answer) -> None:
        if answer.switched_kg is not None:
            self.knowledge_graph = answer.switched_kg
        del self._calls[call.id]
        call.outcome = answer


_ANSWER_FIELDS = frozenset(
    {"type", "id", "format", "columns", "rows", "row_count", "total_count", "truncated", "execution_time_ms"}
    | {"row_provenance", "switched_kg"}
)


def _answer(message: dict[str, Any]) -> Answer:
    rows = message.get("rows") or []
    metadata = message.get("metadata") or {}
    return Answer(
        columns=list(message["columns"]),
        rows=rows,
        row_count=message.get("row_count", len(rows)),
        total_count=message.get("total_count", len(rows)),
        truncated=message.get("truncated", False),
        execution_time_ms=message.get("execution_time_ms", 0),
        warnings=tuple(str(text) for text in metadata.get("warnings") or ()),
        provenance=list(message.get("row_provenance") or ()),
        switched_kg=message.get("switched_kg"),
        extra={key: value for key, value in message.items() if key not in _ANSWER_FIELDS},
    )


def json_value(value: Any) -> Any:
    """A parameter as JSON: null, booleans, numbers, strings, arrays of numbers."""
    try:
        return plain(value)
    except (TypeError, ValueError) as problem:
        raise errors.InvalidParameter(str(problem)) from None


def address(url: str, kg: str, last_seq: int | None = None) -> str:
    """The WebSocket address for any form of URL that a person may write."""
    if "://" not in url:
        url = f"ws://{url}"
    parts = urlsplit(url)
    scheme = {"ws": "ws", "http": "ws", "wss": "wss", "https": "wss"}.get(parts.scheme)
    if scheme is None or not parts.hostname:
        raise ValueError(f"{url!r} is not an address such as ws://127.0.0.1:8080/ws or http://127.0.0.1:8080")
    query = dict(parse_qsl(parts.query))
    query.setdefault("kg", kg)
    if last_seq is not None:
        query["last_seq"] = str(last_seq)
    path = parts.path if parts.path.strip("/") else "/ws"
    return urlunsplit((scheme, parts.netloc, path, urlencode(query), ""))


def without_graph(url: str) -> str:
    """The address, for a connection to another graph."""
    parts = urlsplit(url if "://" in url else f"ws://{url}")
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("kg", "last_seq")]
    return urlunsplit(parts._replace(query=urlencode(query)))


def credentials(user: str | None, password: str | None, api_key: str | None) -> dict[str, str]:
    """The first message. What is given wins over the key in the environment."""
    if user is not None and api_key is not None:
        raise errors.AuthError("give either user and password, or api_key")
    if user is not None:
        if password is None:
            raise errors.AuthError(f"no password given for the user {user!r}")
        return {"type": "login", "username": user, "password": password}
    key = api_key or os.environ.get("SERVICE_API_KEY")
    if not key:
        raise errors.AuthError(
            "no credentials",
            help="give user and password, or api_key, or set the environment variable SERVICE_API_KEY",
        )
    return {"type": "authenticate", "api_key": key}


def graph_name(name: str) -> str:
    """A name that can stand in a command: commands are split at blanks."""
    if not name or any(char.isspace() or not char.isprintable() for char in name):
        raise ValueError(f"{name!r} cannot be the name of a graph: it must not be empty or hold blanks")
    return name
