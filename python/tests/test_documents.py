"""The documents that the server serves about itself: valid, complete, and true of a live server."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.ipc
import pytest
import yaml
from websockets.sync.client import ClientConnection, connect

import stratalog
from conftest import executable
from local_server import LocalServer

#: The password of the examples.
PASSWORD = "secret"
#: What differs from run to run.
VOLATILE = ("execution_time_ms", "timestamp_ms", "token")
#: What comes unasked comes in any order.
UNASKED = {
    "delta",
    "progress",
    "unsubscribed",
    "persistent_update",
    "rule_change",
    "schema_change",
    "kg_change",
}
_VALIDATORS = Path(__file__).resolve().parents[2] / "tests/validators"


class Documented(LocalServer):
    """A server of its own, and a key for it."""

    key = ""

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        request = urllib.request.Request(self.url.replace("ws:", "http:") + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, dict(refused.headers), refused.read()

    def document(self, name: str) -> str:
        status, headers, body = self.get(f"/api/{name}.yaml", Authorization=f"Bearer {self.key}")
        assert (status, headers["content-type"]) == (200, "text/yaml; charset=utf-8")
        return body.decode()


@pytest.fixture(scope="module")
def documented(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Documented]:
    with Documented(executable(), tmp_path_factory.mktemp("documented"), PASSWORD) as server:
        with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
            server.key = db.query(".apikey create documents").dicts()[0]["api_key"]
        yield server


def _load(text: str) -> Any:
    return yaml.load(text, Loader=yaml.CSafeLoader)


@pytest.mark.parametrize("name", ["openapi", "asyncapi"])
def test_the_official_validators_find_nothing(documented: Documented, name: str, tmp_path: Path) -> None:
    def validate(text: str) -> subprocess.CompletedProcess[str]:
        file = tmp_path / f"{name}.yaml"
        file.write_text(text)
        command = ["node", str(_VALIDATORS / "validate.mjs"), name, str(file)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    text = documented.document(name)
    found = validate(text)
    assert found.returncode == 0, found.stderr
    # The validator is awake.
    assert validate(text.replace("\ninfo:", "\ninfos:")).returncode == 1


def test_openapi_under_schemathesis(documented: Documented, tmp_path: Path) -> None:
    file = tmp_path / "openapi.yaml"
    file.write_text(documented.document("openapi"))
    command = [
        str(Path(sys.executable).parent / "schemathesis"),
        *("run", str(file), "--url", documented.url.replace("ws:", "http:")),
        *("--header", f"Authorization: Bearer {documented.key}"),
        # A socket asks for more than a document can say: without its headers every request is refused.
        *("--exclude-checks", "positive_data_acceptance"),
        *("--phases", "examples,coverage,fuzzing", "--max-examples", "15"),
        *("--rate-limit", "900/s", "--no-color", "--seed", "1"),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_endpoint_answers_as_documented(documented: Documented) -> None:
    document = _load(documented.document("openapi"))
    for path, operations in document["paths"].items():
        (operation,) = operations.values()
        names = next((p["schema"]["enum"] for p in operation["parameters"] if p["name"] == "file"), [""])
        for name in names:
            for prefix in ("", "/v1"):
                for key in ({}, {"Authorization": f"Bearer {documented.key}"}):
                    address = prefix + path.replace("{file}", name).replace("{id}", "none")
                    status, headers, body = documented.get(address, **key)
                    needs_key = operation.get("security") != []
                    assert (status == 401) == (needs_key and not key), address
                    _check(document, operation["responses"][str(status)], headers, body)


def _check(document: Any, response: Any, headers: dict[str, str], body: bytes) -> None:
    """The answer is what this response says."""
    assert headers["x-api-version"] == f"v{document['info']['version']}"
    if "content" not in response or not body:
        assert body == b""
        return
    media = response["content"][headers["content-type"]]
    if headers["content-type"] == "application/json":
        whole = {"components": document["components"], **media["schema"]}
        jsonschema.Draft202012Validator(whole).validate(json.loads(body))


def test_openapi_examples_fit_their_schemas(documented: Documented) -> None:
    document = _load(documented.document("openapi"))
    responses = [
        response
        for operations in document["paths"].values()
        for operation in operations.values()
        for response in operation["responses"].values()
    ]
    checked = 0
    for response in [*responses, *document["components"]["responses"].values()]:
        media = response.get("content", {}).get("application/json", {})
        examples = [each["value"] for each in media.get("examples", {}).values()]
        for example in examples + ([media["example"]] if "example" in media else []):
            whole = {"components": document["components"], **_closed(media["schema"])}
            jsonschema.Draft202012Validator(whole).validate(example)
            checked += 1
    assert checked > 50


def _closed(schema: Any) -> Any:
    """The schema, with no room for fields that it does not name."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(each) for name, each in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed


class Messages:
    """Checks messages against the AsyncAPI document, and that they have no field which that does not name."""

    def __init__(self, document: Any) -> None:
        self.document = document
        closed = _closed(document["components"])
        self._checks = {
            name: jsonschema.Draft7Validator({"components": closed, **message["payload"]})
            for name, message in closed["messages"].items()
        }

    def check(self, message: dict[str, Any]) -> None:
        self._checks[message["type"]].validate(message)


@pytest.fixture(scope="module")
def messages(documented: Documented) -> Messages:
    return Messages(_load(documented.document("asyncapi")))


def test_asyncapi_examples_fit_their_schemas(messages: Messages) -> None:
    checked = 0
    for name, message in messages.document["components"]["messages"].items():
        assert message["examples"], name
        for example in message["examples"]:
            if name != "arrow":
                messages.check(example["payload"])
                checked += 1
    assert checked > 50
    with pytest.raises(jsonschema.ValidationError):
        messages.check({"type": "ping", "surplus": 1})


def test_the_documented_messages_are_those_that_the_server_takes(
    documented: Documented, messages: Messages
) -> None:
    with connect(documented.url + "/ws", compression=None) as socket:
        socket.send(json.dumps({"type": "login", "username": "admin", "password": PASSWORD}))
        socket.recv()
        socket.send('{"type":"?"}')
        known = json.loads(socket.recv())["message"].partition("known types are ")[2].split(", ")
    operations = messages.document["operations"].values()
    taken = {
        reference["$ref"].rpartition("/")[2]
        for operation in operations
        if operation["action"] == "receive"
        for reference in operation["messages"]
    }
    assert taken == {*known, "arrow"}


def test_the_documented_codes_are_those_of_the_page_on_errors(messages: Messages) -> None:
    documented = {each["const"] for each in messages.document["components"]["schemas"]["Code"]["oneOf"]}
    page = (Path(__file__).resolve().parents[2] / "docs/errors.md").read_text()
    assert documented == set(re.findall(r"^## `([a-z_]+)`$", page, re.MULTILINE))


def test_every_conversation_goes_as_documented(tmp_path: Path, messages: Messages) -> None:
    # The numbers of notifications are part of the examples, so the server is a new one.
    with Documented(executable(), tmp_path, PASSWORD) as server:
        with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
            server.key = db.query(".apikey create documents").dicts()[0]["api_key"]
        replay = Replay(server, messages)
        try:
            for exchange in messages.document["x-exchanges"]:
                replay.run(exchange)
        finally:
            replay.close()
    assert replay.compared >= 50


class Replay:
    """Sends what clients send in the examples, and compares what comes back."""

    def __init__(self, server: Documented, messages: Messages) -> None:
        self._server, self._messages = server, messages
        self._sockets: list[ClientConnection] = []
        #: Sessions of the examples, and those that they are here.
        self._sessions: dict[str, str] = {}
        #: Frames that were read while looking for another.
        self._ahead: list[str | bytes] = []
        self.compared = 0

    def close(self) -> None:
        for socket in self._sockets:
            socket.close()

    def run(self, exchange: Any) -> None:
        if "address" in exchange:
            address = exchange["address"]
            for documented, here in self._sessions.items():
                address = address.replace(documented, here)
            # Earlier connections stay open: sessions are visited from others.
            options: dict[str, Any] = {"compression": None, "max_size": None, "ping_interval": None}
            socket = connect(self._server.url + address, legacy=True, **options)
            self._sockets.append(socket)
            self._ahead = []
        for frame in exchange["frames"]:
            if "client" in frame:
                self._send(frame["client"])
            else:
                self._receive(frame["server"])

    def _send(self, frame: dict[str, Any]) -> None:
        if "binary" in frame:
            self._sockets[-1].send(base64.b64decode(frame["binary"]))
            return
        self._messages.check(frame)
        if frame["type"] == "authenticate":
            frame = {**frame, "api_key": self._server.key}
        self._sockets[-1].send(json.dumps(frame, ensure_ascii=False))

    def _next(self) -> str | bytes:
        return self._ahead.pop(0) if self._ahead else self._sockets[-1].recv(timeout=120)

    def _message(self, documented: dict[str, Any]) -> dict[str, Any]:
        """The next message, but for those that come unasked and are of another kind, which come later."""
        passed: list[str | bytes] = []
        while True:
            frame = self._next()
            assert isinstance(frame, str), documented
            message: dict[str, Any] = json.loads(frame)
            kind = message["type"]
            if kind == "progress" and message["version"] < documented.get("version", 0):
                continue
            if kind == documented["type"] or kind not in UNASKED:
                self._ahead = passed + self._ahead
                return message
            passed.append(frame)

    def _receive(self, documented: dict[str, Any]) -> None:
        if "binary" in documented:
            frame = self._next()
            assert isinstance(frame, bytes)
            here, there = (
                pyarrow.ipc.open_stream(b) for b in (frame, base64.b64decode(documented["binary"]))
            )
            assert here.read_all().equals(there.read_all())
            return
        if documented.get("type") == "working":
            # What is asked here is answered before anything of that is told.
            self._messages.check(documented)
            return
        message = self._message(documented)
        self._messages.check(message)
        if message["type"] == "result_chunk":
            # One stands for all, and shows only some of its rows.
            assert documented["type"] == "result_chunk"
            while message["type"] == "result_chunk":
                frame = self._sockets[-1].recv(timeout=120)
                message = json.loads(frame)
                self._messages.check(message)
            self._ahead.append(frame)
            return
        if "session_id" in documented:
            self._sessions.setdefault(documented["session_id"], message["session_id"])
            documented = {**documented, "session_id": self._sessions[documented["session_id"]]}
        assert _steady(message) == _steady(documented)
        self.compared += 1


def _steady(message: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name not in VOLATILE}


def test_documents_and_page_ask_for_a_key(documented: Documented) -> None:
    for path in ("/api/openapi.yaml", "/api/asyncapi.yaml", "/api/ws-docs"):
        for address in (path, "/v1" + path):
            status, headers, body = documented.get(address)
            assert (status, json.loads(body)["error"]["code"]) == (401, "UNAUTHORIZED")
            assert headers["www-authenticate"] == "Bearer"
    status, headers, body = documented.get("/api/ws-docs", Accept="text/html")
    assert (status, headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert b"asyncapi" not in body
