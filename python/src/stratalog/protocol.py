"""The WebSocket protocol without the socket: builds messages, and turns what arrives into answers.

Every request carries an id and every reply repeats it, so a `Call` finds its answer whatever else arrives in
between. Both clients are thin around this: they move frames, and wait until a call is done.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from . import errors
from .address import address, credentials, graph_name, without_graph
from .losses import finer, warn
from .retry import only_reads
from .times import CutTime
from .values import has_scale, number_of, plain, timed, whole_text

if TYPE_CHECKING:
    from .arrow import Collect, Handed

__all__ = [
    "Answer",
    "Call",
    "Protocol",
    "Session",
    "Watch",
    "Working",
    "address",
    "credentials",
    "graph_name",
    "json_value",
    "without_graph",
]


#: What an Arrow IPC stream ends with.
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


@dataclass(frozen=True, slots=True)
class Session:
    """What the server said when it let us in."""

    session_id: str
    knowledge_graph: str
    version: str
    role: str
    #: The number of the last notification before this session, where it was asked for.
    last_seq: int | None = None
    #: What the API key opens of what its user may do, where that is not all of it: `write` or `read`.
    scope: str | None = None


@dataclass(slots=True)
class Answer:
    """A complete reply, however many frames it came in."""

    columns: list[str]
    #: Rows that came as JSON.
    rows: list[list[Any]] = field(default_factory=list)
    #: Bytes of one Arrow IPC stream, if the rows came that way, or where they are.
    arrow: bytes | Handed | None = None
    row_count: int = 0
    total_count: int = 0
    truncated: bool = False
    execution_time_ms: int = 0
    version: int | None = None
    warnings: tuple[str, ...] = ()
    provenance: list[str] = field(default_factory=list)
    switched_kg: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Working:
    """How far a program is whose answer is not there yet."""

    #: `waiting` for a place, `running` or `stopping`.
    state: str
    #: Milliseconds since its turn came.
    elapsed_ms: int
    #: Rounds of recursions that are done. Nobody knows before how many there will be.
    rounds: int
    #: Rows that rules have found so far.
    rows: int
    #: What it holds now.
    memory_bytes: int


#: Told how far a program is, twice a second.
Watch: TypeAlias = Callable[[Working], object]


@dataclass(slots=True)
class Call:
    """A request on its way; `outcome` is set once it is over."""

    id: int
    #: The text that ran, empty for an insert; None for what takes no time and cannot be cancelled.
    program: str | None = None
    outcome: Answer | errors.Error | None = None
    #: Whether it changes nothing, so that it may be sent again.
    reads: bool = True
    #: It takes effect at its end, which was not sent yet.
    pending: bool = False
    #: Whether somebody takes `frames` as they come. Else they become part of the answer.
    streamed: bool = False
    #: Nobody takes the rows any more.
    abandoned: bool = False
    #: Whether rows stay where they are, and a frame names them.
    in_place: bool = False
    #: What comes before the rows of a stream.
    header: Answer | None = None
    frames: deque[bytes] = field(default_factory=deque)
    #: Who wants to know how far it is, and what is not told yet.
    watch: Watch | None = None
    working: Working | None = None

    @property
    def done(self) -> bool:
        return self.outcome is not None

    @property
    def uncertain(self) -> bool:
        """Whether it may have taken effect although there is no answer."""
        return not self.reads and not self.pending

    def tell(self) -> None:
        """Tells how far it is, if that has come. Whoever waits for it does that, without any lock."""
        working, self.working = self.working, None
        if working is not None and self.watch is not None and not self.abandoned:
            self.watch(working)

    def follow(self, frame: bytes) -> None:
        """A frame of its data is about to be sent."""
        # What is shorter may be a part of the mark.
        self.pending = len(frame) >= len(END_OF_STREAM) and not frame.endswith(END_OF_STREAM)

    def answer(self) -> Answer:
        """The answer; raises what the server refused the request with."""
        if isinstance(self.outcome, errors.Error):
            raise self.outcome
        if self.outcome is None:
            raise RuntimeError("the call is not done")
        return self.outcome


#: Where queries are evaluated: in the server's memory, by its cluster, or where they fit.
EvaluationPlace: TypeAlias = Literal["auto", "here", "cluster"]


class Protocol:
    """One connection's conversation. Not thread-safe: the clients hold a lock around each method."""

    def __init__(self, before: Protocol | None = None, collect: Collect | None = None) -> None:
        self._collect = collect
        self.session: Session | None = None
        #: The graph that the session is bound to now.
        self.knowledge_graph = ""
        #: Changes that the server told us about, oldest first.
        self.notifications: deque[dict[str, Any]] = before.notifications if before else deque(maxlen=10_000)
        #: The number of the last notification that was seen, over all connections.
        self.last_seq: int | None = before.last_seq if before else None
        #: The last thing the server said outside of any request, such as why it is about to hang up.
        self.notice: errors.Error | None = None
        #: Why the connection ended, once it has.
        self.ending: str | None = None
        self._calls: dict[int, Call] = {}
        self._greeting: Call | None = None
        self._streaming: Call | None = None
        #: Rows of a live query, whose binary frame comes next.
        self._delta: dict[str, Any] | None = None
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
        replace_rules: bool = False,
        place: EvaluationPlace = "auto",
        reads: bool = False,
        streamed: bool = False,
        watch: Watch | None = None,
    ) -> tuple[Call, str]:
        """Runs a program; the rows of its query are asked for as Arrow.

        `reads` says that it changes nothing, where its text does not show that.
        """
        message: dict[str, Any] = {"type": "execute", "program": program, "format": "arrow"}
        if params:
            message["params"] = {name: json_value(value) for name, value in params.items()}
        if timeout is not None:
            message["timeout_ms"] = max(1, round(timeout * 1000))
        if limit is not None:
            message["limit"] = limit
        if atomic:
            message["atomic"] = True
        if replace_rules:
            message["replace_rules"] = True
        if place != "auto":
            message["place"] = place
        if watch is not None:
            message["progress"] = True
        # Of a stream, no more is to be held than is read.
        if in_place := self._collect is not None and not streamed:
            message["in_place"] = True
        call, text = self._request(message, program)
        call.reads = reads or only_reads(program)
        call.streamed, call.in_place, call.watch = streamed, in_place, watch
        return call, text

    def check(self, program: str) -> tuple[Call, str]:
        """Asks what is wrong with a program, which does not run."""
        return self._request({"type": "check", "program": program}, program)

    def insert(
        self,
        relation: str,
        rows: list[list[Any]] | None,
        names: Sequence[str] | None = None,
        *,
        scope: str = "persistent",
    ) -> tuple[Call, str]:
        """Inserts `rows`, whose columns may have names, or announces an Arrow stream when they are None."""
        message: dict[str, Any] = {"type": "insert", "relation": relation}
        if scope != "persistent":
            message["scope"] = scope
        if rows is None:
            message["format"] = "arrow"
        else:
            message["rows"] = rows
            if names is not None:
                message["columns"] = list(names)
        call, text = self._request(message, "")
        call.reads = False
        call.pending = rows is None
        return call, text

    def subscribe(
        self,
        query: str,
        params: Mapping[str, Any] | None,
        resume: Mapping[str, Any] | None,
        options: Mapping[str, bool],
    ) -> tuple[Call, str]:
        """Asks for the answer to a query and its changes, which are pushed."""
        message: dict[str, Any] = {"type": "subscribe", "query": query, "format": "arrow"}
        if params:
            message["params"] = {name: json_value(value) for name, value in params.items()}
        message |= {name: True for name in ("every_version", "progress") if options[name]}
        if resume is not None:
            message["resume"] = dict(resume)
        return self._request(message, query)

    def cancel(self, target: Call) -> tuple[Call, str]:
        """Asks to stop a request; whether it was stopped is the one value of the answer."""
        return self._request({"type": "cancel", "target": target.id})

    def ping(self) -> tuple[Call, str]:
        return self._request({"type": "ping"})

    def running(self) -> Call | None:
        """The oldest program or insert whose answer is not complete."""
        return next((call for call in self._calls.values() if call.program is not None), None)

    @property
    def dismissed(self) -> bool:
        """Whether the server has hung up because this user or key may not be here any more."""
        return self.ending is not None and isinstance(self.notice, errors.AccessDenied)

    def stands_behind(self, call: Call) -> bool:
        """Whether the server has to answer another request first, that somebody waits for."""
        return any(other.id < call.id and not other.abandoned for other in self._calls.values())

    def open_calls(self) -> int:
        """How many requests wait for their end."""
        return len(self._calls)

    def _request(self, message: dict[str, Any], program: str | None = None) -> tuple[Call, str]:
        self._last_id += 1
        call = Call(self._last_id, program)
        message["id"] = call.id
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        if not text.isascii():
            whole_text(text)
        self._calls[call.id] = call
        return call, text

    # What arrives

    def receive(self, frame: str | bytes) -> None:
        """Takes one frame from the server."""
        if isinstance(frame, bytes):
            if self._delta is not None:
                message, self._delta = self._delta, None
                self._pushed(message | {"frame": frame})
            elif self._streaming is not None:
                self._take(self._streaming, frame)
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
            case "working":
                if (call := self._calls.get(message.get("id"))) is not None:
                    call.working = _working(message)
            case "subscribed":
                if (call := self._calls.get(message.get("id"))) is not None:
                    columns = list(message.get("names", message["columns"]))
                    self._finish(call, Answer(columns, extra=message))
            case "checked":
                if (call := self._calls.get(message.get("id"))) is not None:
                    self._finish(call, Answer([], extra=message))
            case "delta" if message.get("format") == "arrow":
                self._delta = message
            case "error":
                self._error(message)
            case _:
                # A change notification, or a type of a later version.
                self._pushed(message)

    def _take(self, call: Call, frame: bytes) -> None:
        """Takes a frame of an answer."""
        if call.in_place and self._collect is not None and call.header is not None:
            # Also what nobody wants is taken from where it lies.
            try:
                rows = self._collect(frame)
            except errors.Error as problem:
                # The database is being closed.
                self._streaming = None
                self._calls.pop(call.id, None)
                call.outcome = problem
                return
            call.header.arrow = None if call.abandoned else rows
        elif not call.abandoned:
            call.frames.append(frame)

    def lost(self, reason: str) -> None:
        """The connection is gone: every open call fails, with what the server said last."""
        if self.ending is None:
            self.ending = reason + (f": {self.notice.message}" if self.notice is not None else "")
        for call in [*self._calls.values(), *([self._greeting] if self._greeting else [])]:
            if not call.done:
                call.outcome = errors.ConnectionLost(
                    self.ending,
                    help=errors.LOOK_FIRST if call.uncertain else None,
                    request_id=call.id,
                    program=call.program,
                    uncertain=call.uncertain,
                )
        self._calls.clear()

    def _welcome(self, message: Mapping[str, Any]) -> None:
        self.session = Session(
            str(message.get("session_id", "")),
            str(message.get("knowledge_graph", "")),
            str(message.get("version", "")),
            str(message.get("role", "")),
            message.get("last_seq"),
            message.get("scope"),
        )
        if self.last_seq is None:
            self.last_seq = self.session.last_seq
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
            self._pushed(dict(message))
        elif self.session is None:
            self._refused(errors.from_message(message))
        else:
            self.notice = errors.from_message(message)

    def _pushed(self, message: dict[str, Any]) -> None:
        self.notifications.append(message)
        if "seq" in message:
            self.last_seq = int(message["seq"])

    def _reply(self, call: Call, kind: str, message: dict[str, Any]) -> None:
        if kind == "pong":
            self._finish(call, Answer([]))
        elif kind == "result":
            self._finish(call, _answer(message))
        elif kind == "result_start":
            call.header = _answer(message)
            if message.get("format") == "arrow":
                self._streaming = call
        elif call.header is not None and kind == "result_chunk":
            call.header.rows.extend(message["rows"])
            call.header.provenance.extend(message.get("row_provenance") or ())
        elif call.header is not None:
            if self._streaming is call:
                self._streaming = None
                if not call.streamed and not call.in_place:
                    call.header.arrow = b"".join(call.frames)
                    call.frames.clear()
            call.header.row_count = message.get("row_count", len(call.header.rows))
            self._finish(call, call.header)

    def _finish(self, call: Call, answer: Answer) -> None:
        if answer.switched_kg is not None:
            self.knowledge_graph = answer.switched_kg
        del self._calls[call.id]
        call.outcome = answer


def _working(message: Mapping[str, Any]) -> Working:
    state = str(message.get("state", "running"))
    counted = [int(message.get(name, 0)) for name in ("elapsed_ms", "rounds", "rows", "memory_bytes")]
    return Working(state, *counted)


_ANSWER_FIELDS = frozenset(
    {
        "type",
        "id",
        "format",
        "columns",
        "names",
        "rows",
        "row_count",
        "total_count",
        "truncated",
        "execution_time_ms",
        "version",
    }
    | {"row_provenance", "switched_kg"}
)


def _answer(message: dict[str, Any]) -> Answer:
    rows = message.get("rows") or []
    metadata = message.get("metadata") or {}
    return Answer(
        columns=list(message.get("names", message["columns"])),
        rows=rows,
        row_count=message.get("row_count", len(rows)),
        total_count=message.get("total_count", len(rows)),
        truncated=message.get("truncated", False),
        execution_time_ms=message.get("execution_time_ms", 0),
        version=message.get("version"),
        warnings=tuple(str(text) for text in metadata.get("warnings") or ()),
        provenance=list(message.get("row_provenance") or ()),
        switched_kg=message.get("switched_kg"),
        extra={key: value for key, value in message.items() if key not in _ANSWER_FIELDS},
    )


def json_value(value: Any) -> Any:
    """A parameter as JSON: null, booleans, numbers, strings, arrays of numbers."""
    try:
        found = timed(value)
        if isinstance(found, CutTime):
            warn(finer(found.text))
        if isinstance(found, Decimal):
            found, is_rounded = number_of(found, not has_scale(found))
            if is_rounded:
                warn(f"{value} is rounded to the nearest float")
        return plain(found)
    except (TypeError, ValueError) as problem:
        raise errors.InvalidParameter(str(problem)) from None
