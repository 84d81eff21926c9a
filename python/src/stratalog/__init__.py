"""Client of Stratalog, a columnar Datalog knowledge-graph server.

import stratalog

with stratalog.connect("ws://127.0.0.1:8080", user="admin", password="...") as db:
    db.insert("edge", [(1, 2), (2, 3)])
    db.execute("+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)")
    print(db.query("?path($from, Y)", {"from": 1}))
"""

from .aio import AsyncClient, connect_async
from .client import Client, Inserted, connect
from .errors import (
    AccessDenied,
    AlreadyExists,
    ArityMismatch,
    AuthError,
    Cancelled,
    ConnectionLost,
    DerivedRelation,
    Diagnostic,
    Error,
    Internal,
    InvalidMessage,
    InvalidParameter,
    Label,
    LimitExceeded,
    NotFound,
    NotOneRow,
    OutcomeUnknown,
    Overloaded,
    ParseError,
    ProgramError,
    QueryTimeout,
    Span,
    StorageUnavailable,
    TypeMismatch,
    UnknownFunction,
    UnknownRelation,
    UnsafeRule,
    Unstratifiable,
)
from .events import AsyncEvents, Event, Events, Gap
from .protocol import Session
from .result import Result, Row

__all__ = [
    "AccessDenied",
    "AlreadyExists",
    "ArityMismatch",
    "AsyncClient",
    "AsyncEvents",
    "AuthError",
    "Cancelled",
    "Client",
    "ConnectionLost",
    "DerivedRelation",
    "Diagnostic",
    "Error",
    "Event",
    "Events",
    "Gap",
    "Inserted",
    "Internal",
    "InvalidMessage",
    "InvalidParameter",
    "Label",
    "LimitExceeded",
    "NotFound",
    "NotOneRow",
    "OutcomeUnknown",
    "Overloaded",
    "ParseError",
    "ProgramError",
    "QueryTimeout",
    "Result",
    "Row",
    "Session",
    "Span",
    "StorageUnavailable",
    "TypeMismatch",
    "UnknownFunction",
    "UnknownRelation",
    "UnsafeRule",
    "Unstratifiable",
    "connect",
    "connect_async",
]

__version__ = "0.1.0"
