"""The golden programs through Python and through the command line: the same answers.

`tests/agreement.rs` compares the Rust client with the command line.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

import stratalog
from conftest import PASSWORD
from local_server import LocalServer

REPOSITORY = Path(__file__).resolve().parents[2]
#: What depends on when, where or how often something runs.
_VARIES = (".profile", ".status", ".session", ".query", "time_now", ".kg")


def command_line() -> Path:
    return Path(os.environ.get("STRATALOG_CLI") or REPOSITORY / "target/release/stratalog").resolve()


def programs(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The programs of a golden file with their parameters.

    A block is remarks, `$name = JSON`, the program, `---` and the answer.
    """
    lines = text.splitlines()
    at = 0
    while True:
        while at < len(lines) and not lines[at].strip():
            at += 1
        if at == len(lines):
            return
        while lines[at].startswith("#"):
            at += 1
        parameters = {}
        while lines[at].startswith("$"):
            name, value = lines[at][1:].split("=", 1)
            parameters[name.strip()] = json.loads(value)
            at += 1
        end = lines.index("---", at)
        yield "\n".join(lines[at:end]), parameters
        at = end
        while at < len(lines) and lines[at]:
            at += 1


def needs_its_session(text: str) -> bool:
    """Whether facts or rules stay in a session: each call of the command line is a session of its own."""
    for program, _ in programs(text):
        of_session = re.search(r"^(?!type )\w", program, re.MULTILINE) and not re.search(
            r"^\?", program, re.MULTILINE
        )
        if of_session or ".session" in program.lower() or ".kg" in program.lower():
            return True
    return False


class _Time(int):
    """Milliseconds since 1970."""


def plain(value: Any) -> Any:
    """A value of either side in one form."""
    if isinstance(value, _Time):
        return ["time", int(value)]
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return ["time", round(aware.timestamp() * 1000)]
    if isinstance(value, list | tuple):
        return [float(element) for element in value]
    if isinstance(value, float):
        return ["float", repr(value)]
    return value


def rows(columns: list[str], found: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return ("rows", columns, sorted(json.dumps([plain(value) for value in row]) for row in found))


def in_python(db: stratalog.Client, program: str, parameters: dict[str, Any]) -> tuple[Any, ...]:
    try:
        result = db.execute(program, parameters)
    except stratalog.Error as error:
        return ("refused", error.code, error.message.splitlines()[0].rstrip())
    times = [kind == "timestamp" for kind in result.types]
    found = [
        tuple(_Time(v) if time and isinstance(v, int) else v for v, time in zip(row, times, strict=True))
        for row in result.rows()
    ]
    return rows(list(result.columns), found)


def by_command_line(
    server: LocalServer, key: str, kg: str, program: str, parameters: dict[str, Any]
) -> tuple[Any, ...]:
    command = [str(command_line()), "--url", server.url, "--kg", kg, "-q", "--format", "arrow", "-c", program]
    for name, value in parameters.items():
        command += ["--param", f"{name}={json.dumps(value)}"]
    environment = os.environ | {
        "SERVICE_API_KEY": key,
        "NO_COLOR": "1",
        "XDG_CONFIG_HOME": "/nonexistent",
    }
    done = subprocess.run(command, capture_output=True, check=False, env=environment, timeout=60)
    if done.returncode:
        found = re.search(rb"^error\[(\w+)\]: (.*)$", done.stderr, re.MULTILINE)
        assert found, done.stderr
        return ("refused", found[1].decode(), found[2].decode().rstrip())
    with pa.ipc.open_stream(done.stdout) as reader:
        table = reader.read_all()
    columns: list[list[Any]] = []
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_timestamp(field.type):
            # Some are beyond the calendar of Python.
            numbers = column.cast(pa.int64()).to_pylist()
            columns.append([None if number is None else _Time(number) for number in numbers])
            continue
        values = column.to_pylist()
        if (field.metadata or {}).get(b"stratalog.type") == b"any":
            values = [None if value is None else json.loads(value) for value in values]
        columns.append(values)
    found_rows = list(zip(*columns, strict=True)) if columns else [()] * table.num_rows
    return rows(table.schema.names, found_rows)


def test_the_golden_programs_say_the_same(server: LocalServer) -> None:
    compared = 0
    files = sorted((REPOSITORY / "tests/golden").glob("*/*.dl"))
    with stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=60) as db:
        key = db.keys.create("agreement")
        for number, path in enumerate(files):
            text = path.read_text()
            if needs_its_session(text):
                continue
            kg = f"agreement_{number}"
            db.graphs.create(kg)
            db.graphs.create(f"{kg}_python")
            for program, parameters in programs(text):
                expected = by_command_line(server, key, kg, program, parameters)
                found = in_python(db, program, parameters)
                if not any(word in program.lower() for word in _VARIES):
                    assert found == expected, f"{path}\n{program}"
                    compared += 1
            db.graphs.use("default")
            db.graphs.drop(kg)
            db.graphs.drop(f"{kg}_python")
    assert compared > 200
