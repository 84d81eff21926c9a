"""Stratalog, a columnar Datalog knowledge-graph database: in this process, or on a server.

import stratalog

# In memory, or in a folder; stratalog.connect("ws://127.0.0.1:8080", user=..., password=...) asks a server.
with stratalog.open() as db:
    db.insert("edge", [(1, 2), (2, 3)])
    db.execute("+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)")
    print(db.query("?path($from, Y)", {"from": 1}))

docs/python.md is the manual.
"""

from typing import TYPE_CHECKING, Any

from . import functions
from .client import Client, connect
from .embedded import open, open_async  # noqa: A004 - what users write is stratalog.open
from .errors import (
    AccessDenied,
    AlreadyExists,
    ArityMismatch,
    AttachedRelation,
    AuthError,
    Cancelled,
    ClusterUnavailable,
    ConnectionLost,
    DerivedRelation,
    Diagnostic,
    Error,
    FileError,
    FilesUnavailable,
    FileWarning,
    InsertWarning,
    Internal,
    InvalidMessage,
    InvalidParameter,
    Label,
    LimitExceeded,
    NotFound,
    NotLive,
    NotOneRow,
    OutcomeUnknown,
    Overloaded,
    ParseError,
    PartlyInserted,
    PrecisionWarning,
    ProgramError,
    QueryTimeout,
    Replacement,
    SessionLost,
    Span,
    StorageUnavailable,
    TypeMismatch,
    UnknownFunction,
    UnknownRelation,
    UnsafeRule,
    Unstratifiable,
)
from .events import AsyncEvents, Event, Events, Gap
from .expressions import (
    ANY,
    asc,
    avg,
    collect,
    count,
    count_distinct,
    desc,
    first,
    hnsw_nearest,
    is_in,
    is_null,
    known,
    last,
    max_,
    median,
    min_,
    not_,
    quantile,
    rrf,
    stddev,
    string_agg,
    sum_,
    text_search,
    variable,
    variables,
)
from .inserts import Inserted
from .live import AsyncLive, Change, Live
from .objects import Rows
from .plan import Plan
from .proof import Proof, ProofNode, Why, WhyNot
from .protocol import Session, Working
from .relation import Relation, Vector
from .result import Result, Row
from .rule_graph import RuleGraph
from .statements import Delete, Rule, Select, Update, delete, rule, select, update
from .stream import AsyncResultStream, ResultStream
from .transaction import AsyncTransaction, Transaction

__all__ = [
    "ANY",
    "AccessDenied",
    "AlreadyExists",
    "ArityMismatch",
    "AsyncClient",
    "AsyncEvents",
    "AsyncLive",
    "AsyncResultStream",
    "AsyncTransaction",
    "AttachedRelation",
    "AuthError",
    "Cancelled",
    "Change",
    "Client",
    "ClusterUnavailable",
    "ConnectionLost",
    "Delete",
    "DerivedRelation",
    "Diagnostic",
    "Error",
    "Event",
    "Events",
    "FileError",
    "FileWarning",
    "FilesUnavailable",
    "Gap",
    "InsertWarning",
    "Inserted",
    "Internal",
    "InvalidMessage",
    "InvalidParameter",
    "Label",
    "LimitExceeded",
    "Live",
    "NotFound",
    "NotLive",
    "NotOneRow",
    "OutcomeUnknown",
    "Overloaded",
    "ParseError",
    "PartlyInserted",
    "Plan",
    "PrecisionWarning",
    "ProgramError",
    "Proof",
    "ProofNode",
    "QueryTimeout",
    "Relation",
    "Replacement",
    "Result",
    "ResultStream",
    "Row",
    "Rows",
    "Rule",
    "RuleGraph",
    "Select",
    "Session",
    "SessionLost",
    "Span",
    "StorageUnavailable",
    "Transaction",
    "TypeMismatch",
    "UnknownFunction",
    "UnknownRelation",
    "UnsafeRule",
    "Unstratifiable",
    "Update",
    "Vector",
    "Why",
    "WhyNot",
    "Working",
    "asc",
    "avg",
    "collect",
    "connect",
    "connect_async",
    "count",
    "count_distinct",
    "delete",
    "desc",
    "first",
    "functions",
    "hnsw_nearest",
    "is_in",
    "is_null",
    "known",
    "last",
    "max_",
    "median",
    "min_",
    "not_",
    "open",
    "open_async",
    "quantile",
    "rrf",
    "rule",
    "select",
    "stddev",
    "string_agg",
    "sum_",
    "text_search",
    "update",
    "variable",
    "variables",
]

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .aio import AsyncClient, connect_async


def __getattr__(name: str) -> Any:
    """What needs asyncio is imported when it is asked for: that takes a third of the whole."""
    if name in ("AsyncClient", "connect_async"):
        from . import aio

        return getattr(aio, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext stratalog` does: the magic commands `%stratalog` and `%%stratalog`."""
    from .notebook import Magics

    shell.register_magics(Magics)
