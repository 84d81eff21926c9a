"""The conversation without a socket: ids, streams, errors, notifications."""

from __future__ import annotations

import json
from typing import Any

import pytest

import stratalog
from stratalog.address import server_url, session_address
from stratalog.protocol import Protocol, address, credentials, graph_name


def opened() -> Protocol:
    protocol = Protocol()
    protocol.authenticate({"type": "login"})
    protocol.receive(
        '{"type":"authenticated","session_id":"s","knowledge_graph":"default","version":"1","role":"admin"}'
    )
    return protocol


def send(protocol: Protocol, **message: Any) -> None:
    protocol.receive(json.dumps(message))


TABLE = {"columns": ["x"], "total_count": 2, "truncated": False, "execution_time_ms": 1}


def test_answers_find_their_request_in_any_order() -> None:
    protocol = opened()
    slow, text = protocol.execute("?p($a)", {"a": 1}, timeout=1.5, limit=3)
    assert json.loads(text) == {
        "type": "execute",
        "program": "?p($a)",
        "format": "arrow",
        "params": {"a": 1},
        "timeout_ms": 1500,
        "limit": 3,
        "id": 1,
    }
    ping, _ = protocol.ping()
    send(protocol, type="pong", id=ping.id)
    assert ping.done
    assert not slow.done
    send(protocol, type="persistent_update", relation="p", seq=1)
    send(protocol, type="something_new", surprise=True)
    send(protocol, type="result", rows=[[1], [2]], row_count=2, **TABLE, id=slow.id)
    assert slow.answer().rows == [[1], [2]]
    assert [note["type"] for note in protocol.notifications] == ["persistent_update", "something_new"]


def test_chunks_and_frames_are_put_together() -> None:
    protocol = opened()
    json_call, _ = protocol.execute("?p(X)")
    send(protocol, type="result_start", id=json_call.id, **TABLE)
    send(protocol, type="result_chunk", id=json_call.id, rows=[[1]], chunk_index=0)
    send(protocol, type="result_chunk", id=json_call.id, rows=[[2]], chunk_index=1)
    send(protocol, type="result_end", id=json_call.id, row_count=2, chunk_count=2)
    assert json_call.answer().rows == [[1], [2]]
    arrow_call, _ = protocol.execute("?p(X)")
    send(protocol, type="result_start", id=arrow_call.id, format="arrow", **TABLE)
    protocol.receive(b"ab")
    send(protocol, type="rule_change", seq=2)
    protocol.receive(b"c")
    send(protocol, type="result_end", id=arrow_call.id, row_count=2, chunk_count=2)
    assert arrow_call.answer().arrow == b"abc"


def test_a_stream_that_ends_in_an_error_is_an_error() -> None:
    protocol = opened()
    call, _ = protocol.execute("?p(X)")
    send(protocol, type="result_start", id=call.id, format="arrow", **TABLE)
    protocol.receive(b"ab")
    send(protocol, type="error", id=call.id, code="cancelled", message="stopped")
    protocol.receive(b"late")
    with pytest.raises(stratalog.Cancelled):
        call.answer()


def test_what_the_server_said_last_explains_the_loss() -> None:
    protocol = opened()
    call, _ = protocol.execute("?p(X)")
    send(protocol, type="error", code="limit_exceeded", message="idle for too long")
    protocol.lost("the connection is closed")
    with pytest.raises(stratalog.ConnectionLost, match="closed: idle for too long"):
        call.answer()


def test_nonsense_is_an_error_of_its_own() -> None:
    with pytest.raises(stratalog.InvalidMessage):
        opened().receive("{")


def test_every_code_has_its_class() -> None:
    codes = [
        "invalid_message",
        "parse_error",
        "unknown_relation",
        "arity_mismatch",
        "type_mismatch",
        "unknown_function",
        "unsafe_rule",
        "unstratifiable",
        "derived_relation",
        "invalid_parameter",
        "not_found",
        "already_exists",
        "access_denied",
        "limit_exceeded",
        "timeout",
        "cancelled",
        "overloaded",
        "storage_unavailable",
        "outcome_unknown",
        "internal",
    ]
    classes = {stratalog.errors.class_of(code) for code in codes}
    assert len(classes) == len(codes)
    assert stratalog.Error not in classes
    later = stratalog.errors.from_message({"code": "brand_new", "message": "m"})
    assert (type(later), later.code) == (stratalog.Error, "brand_new")


def test_an_error_shows_its_place() -> None:
    program = '// first\n?"é漢", edgs(X)'
    error = stratalog.errors.from_message(
        {
            "code": "unknown_relation",
            "message": "unknown relation `edgs`",
            "help": "did you mean `edge`?",
            "span": {"line": 2, "column": 8, "length": 4, "offset": 19},
            "limit": {"name": "n", "value": 3},
            "retry_after_ms": 1500,
        },
        program,
    )
    assert str(error).splitlines() == [
        "unknown relation `edgs`",
        " --> line 2, column 8",
        "  |",
        '2 | ?"é漢", edgs(X)',
        "  |         ^^^^",
        "  = help: did you mean `edge`?",
    ]
    assert error.span == stratalog.Span(2, 8, 4, 19)
    assert (error.limit, error.retry_after) == (("n", 3), 1.5)


@pytest.mark.parametrize(
    "url", ["ws://h:1", "ws://h:1/", "ws://h:1/ws", "http://h:1", "h:1", "ws://h:1/ws?kg=default"]
)
def test_every_form_of_an_address(url: str) -> None:
    assert address(url, "default") == "ws://h:1/ws?kg=default"


def test_addresses_keep_what_they_say() -> None:
    assert address("https://h/v1/ws?kg=own", "default") == "wss://h/v1/ws?kg=own"
    assert address("h:1", "a b") == "ws://h:1/ws?kg=a+b"
    with pytest.raises(ValueError, match="not an address"):
        address("ftp://h", "default")


def test_credentials_come_from_arguments_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STRATALOG_USER", "STRATALOG_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SERVICE_API_KEY", "env")
    assert credentials(None, None, None) == {"type": "authenticate", "api_key": "env"}
    assert credentials(None, None, "given")["api_key"] == "given"
    ada = {"type": "login", "username": "ada", "password": "pw"}
    assert credentials("ada", "pw", None) == ada
    monkeypatch.setenv("STRATALOG_USER", "bob")
    monkeypatch.setenv("STRATALOG_PASSWORD", "secret")
    assert credentials(None, None, None)["api_key"] == "env"
    assert credentials("ada", "pw", None) == ada
    assert credentials("ada", None, None) == ada | {"password": "secret"}
    monkeypatch.delenv("SERVICE_API_KEY")
    assert credentials(None, None, None) == {"type": "login", "username": "bob", "password": "secret"}
    monkeypatch.delenv("STRATALOG_USER")
    assert credentials(None, None, None) == {"type": "login", "username": "admin", "password": "secret"}
    assert credentials(None, "pw", None) == {"type": "login", "username": "admin", "password": "pw"}
    monkeypatch.delenv("STRATALOG_PASSWORD")
    for arguments in [(None, None, None), ("ada", None, None), ("ada", "pw", "key")]:
        with pytest.raises(stratalog.AuthError):
            credentials(*arguments)


def test_the_address_comes_from_arguments_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STRATALOG_URL", raising=False)
    assert server_url(None) == "ws://127.0.0.1:8080/ws"
    monkeypatch.setenv("STRATALOG_URL", "example.org:1")
    assert server_url(None) == "example.org:1"
    assert server_url("h:2") == "h:2"


def test_another_way_into_a_session() -> None:
    assert session_address("ws://h:1/ws?kg=a", "s", 7) == "ws://h:1/sessions/s/ws?last_seq=7"
    assert session_address("ws://h:1/v1/ws", "s", None) == "ws://h:1/v1/sessions/s/ws?last_seq="


@pytest.mark.parametrize("name", ["", "a b", "a\n.kg drop b", "a\tb"])
def test_a_graph_name_cannot_carry_a_command(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        graph_name(name)
