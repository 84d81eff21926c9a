"""The golden programs through Python and through the command line: the same answers.

`tests/clients/agreement.rs` compares the Rust client with the command line.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

import stratalog
from conftest import PASSWORD, cli, executable
from local_server import LocalServer

REPOSITORY = Path(__file__).resolve().parents[2]
#: What depends on when, where or how often something runs.
_VARIES = (".profile", ".status", ".query", ".index", "time_now")


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
        # A vector has floats, a list of bytes integers; other lists hold anything.
        if all(isinstance(element, int | float) for element in value):
            return [float(element) for element in value]
        return ["list", [plain(element) for element in value]]
    if isinstance(value, float):
        return ["float", repr(value)]
    return value


def rows(columns: list[str], found: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return ("rows", columns, sorted(json.dumps([plain(value) for value in row]) for row in found))


def in_python(db: stratalog.Client, program: str, parameters: dict[str, Any]) -> tuple[Any, ...]:
    try:
        result = db.execute(program, parameters)
    except stratalog.Error as error:
        found = [(f.code, f.message) for f in error.diagnostics if f.severity == "error"]
        found = found or [(error.code, error.message)]
        return ("refused", [(code, message.splitlines()[0].rstrip()) for code, message in found])
    times = [kind == "timestamp" for kind in result.types]
    found_rows = [
        tuple(_Time(v) if time and isinstance(v, int) else v for v, time in zip(row, times, strict=True))
        for row in result.rows()
    ]
    return rows(list(result.columns), found_rows)


def by_command_line(
    server: LocalServer,
    key: str,
    texts: list[str],
    parameters: dict[str, Any],
    expected: list[tuple[Any, ...]],
) -> Iterator[tuple[Any, ...]]:
    """What programs say, all in one call, which is one session.

    Answers are on standard output, errors on standard error, each in their order; `expected` tells how many
    of them each program has.
    """
    command = [str(cli()), "--url", server.url, "--kg", "golden", "-q", "-k", "--format", "arrow"]
    for text in texts:
        command += ["-c", text]
    for name, value in parameters.items():
        command += ["--param", f"{name}={json.dumps(value)}"]
    environment = os.environ | {
        "SERVICE_API_KEY": key,
        "NO_COLOR": "1",
        "XDG_CONFIG_HOME": "/nonexistent",
    }
    done = subprocess.run(command, capture_output=True, check=False, env=environment, timeout=60)
    errors = iter(re.findall(r"^error\[(\w+)\]: (.*)$", done.stderr.decode(), re.MULTILINE))
    streams = pa.BufferReader(done.stdout)
    for said in expected:
        if said[0] == "refused":
            yield ("refused", [(code, message.rstrip()) for code, message in islice(errors, len(said[1]))])
        else:
            with pa.ipc.open_stream(streams) as reader:
                yield rows_of(reader.read_all())
    assert not list(errors), done.stderr
    assert streams.tell() == streams.size(), done.stderr


def rows_of(table: pa.Table) -> tuple[Any, ...]:
    columns: list[list[Any]] = []
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_timestamp(field.type):
            # Some are beyond the calendar of Python.
            numbers = column.cast(pa.int64()).to_pylist()
            columns.append([None if number is None else _Time(number) for number in numbers])
            continue
        values = column.to_pylist()
        if (field.metadata or {}).get(b"stratalog.type") in (b"any", b"list"):
            values = [None if value is None else json.loads(value) for value in values]
        columns.append(values)
    found_rows = list(zip(*columns, strict=True)) if columns else [()] * table.num_rows
    return rows(table.schema.names, found_rows)


def begin(db: stratalog.Client) -> None:
    """An empty graph `golden`, and none but it and the default one: programs create and drop graphs."""
    db.graphs.use("default")
    for graph in db.graphs.all():
        if graph.name != "default":
            db.graphs.drop(graph.name)
    db.graphs.create("golden")


def test_the_golden_programs_say_the_same(own_server: LocalServer, tmp_path: Path) -> None:
    compared = 0
    with (
        LocalServer(executable(), tmp_path / "command_line", PASSWORD) as theirs,
        stratalog.connect(own_server.url, user="admin", password=PASSWORD, timeout=60) as db,
        stratalog.connect(theirs.url, user="admin", password=PASSWORD, timeout=60) as other,
    ):
        key = other.keys.create("agreement")
        for path in sorted((REPOSITORY / "tests/golden").glob("*/*.dl")):
            begin(db)
            begin(other)
            for parameters, some in groupby(programs(path.read_text()), itemgetter(1)):
                texts = [text for text, _ in some]
                said = [in_python(db, text, parameters) for text in texts]
                others = by_command_line(theirs, key, texts, parameters, said)
                for text, mine_said, theirs_said in zip(texts, said, others, strict=True):
                    if not any(word in text.lower() for word in _VARIES):
                        assert mine_said == theirs_said, f"{path}\n{text}"
                        compared += 1
    assert compared > 700
