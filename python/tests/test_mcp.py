"""Agents: the tools of `stratalog mcp`, through the official client of the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, TextContent, TextResourceContents

import stratalog
from conftest import PASSWORD, cli
from local_server import LocalServer

PROGRAM = """\
+owns(owner: string, owned: string, share: float)
+owns[("ada", "lab", 0.6), ("lab", "shop", 0.9), ("bob", "lab", 0.4)]
+controls(X, Y) <- owns(X, Y, Share), Share > 0.5
+controls(X, Z) <- controls(X, Y), owns(Y, Z, Share), Share > 0.5
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A database with a few facts and rules."""
    place = tmp_path / "database"
    with stratalog.open(place) as db:
        db.execute(PROGRAM)
    return place


@asynccontextmanager
async def agent(*arguments: str, environment: dict[str, str] | None = None) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(command=str(cli()), args=["mcp", *arguments], env=environment)
    async with Client(parameters) as client:
        yield client


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(main(), 120)

    asyncio.run(bounded())


def text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    """What a tool tells, as JSON."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    # Both forms say the same.
    assert json.loads(text(result)) == result.structured_content
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text(result)
    return text(result)


def test_an_agent_finds_its_way(folder: Path) -> None:
    async def main() -> None:
        async with agent("--open", str(folder)) as client:
            assert client.server_info is not None
            assert client.server_info.name == "stratalog"
            assert "query" in (client.instructions or "")
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {
                "check",
                "describe_relation",
                "list_relations",
                "query",
                "what_if",
                "why",
                "why_not",
            }
            for tool in tools.values():
                assert tool.description
                assert tool.annotations is not None
                assert tool.annotations.read_only_hint
            listed = await told(client, "list_relations")
            assert listed["relations"] == [
                {"name": "controls", "columns": "A, B", "rows": None, "kind": "derived"},
                {
                    "name": "owns",
                    "columns": "owner: string, owned: string, share: float",
                    "rows": 3,
                    "kind": "base",
                },
            ]
            described = await told(client, "describe_relation", relation="controls")
            assert len(described["rules"]) == 2
            assert ["ada", "lab"] in described["sample"]
            answer = await told(client, "query", program="?controls($who, Whom:asc)", params={"who": "ada"})
            assert answer == {
                "columns": ["A", "Whom"],
                "rows": [["ada", "lab"], ["ada", "shop"]],
                "total": 2,
            }
            counted = await told(
                client, "query", program="big(X) <- owns(X, _, S), S > 0.5\n?count<X> <- big(X)"
            )
            assert counted["rows"] == [[2]]

    run(main)


def test_an_agent_sees_reasons(folder: Path) -> None:
    async def main() -> None:
        async with agent("--open", str(folder)) as client:
            proof = text(await client.call_tool("why", {"query": '?controls("ada", "shop")'}))
            assert 'owns("lab", "shop", 0.9)' in proof
            assert 'owns("ada", "lab", 0.6)' in proof
            missing = await client.call_tool("why_not", {"fact": 'controls("bob", "lab")'})
            assert not missing.is_error
            supposed = await told(
                client, "what_if", changes='-owns("lab", "shop", 0.9)', query='?controls("ada", X)'
            )
            assert supposed["rows"] == [["removed", "ada", "shop"]]
            assert (await told(client, "query", program='?controls("ada", X)'))["total"] == 2

    run(main)


def test_errors_say_where_and_what_to_do(folder: Path) -> None:
    async def main() -> None:
        async with agent("--open", str(folder)) as client:
            problem = await refused(client, "query", program="?contrls(X, Y)")
            assert "unknown_relation" in problem
            assert "did you mean `controls`" in problem
            assert "^" in problem
            assert "there are: controls, owns" in await refused(client, "describe_relation", relation="own")
            found = (await told(client, "check", program="?owns(X, Y)\n?controls(X, Y), Z > 1"))["findings"]
            assert [each["code"] for each in found] == ["arity_mismatch", "unsafe_rule"]
            with pytest.raises(MCPError):
                await client.call_tool("no_such_tool", {})

    run(main)


def test_who_may_not_write_does_not(folder: Path) -> None:
    async def main() -> None:
        async with agent("--open", str(folder)) as client:
            for program in (
                '+owns("eve", "lab", 0.1)',
                '-owns("ada", "lab", 0.6)\n?owns(X, Y, Z)',
                "+mine(X) <- owns(X, _, _)",
                ".rel drop owns",
            ):
                assert "changes something" in await refused(client, "query", program=program)
            for tool, arguments in (
                ("why", {"query": '?controls("ada", X)\n+owns("eve", "lab", 0.1)'}),
                ("why_not", {"fact": 'controls("bob", "x")\n.rel drop owns'}),
                (
                    "what_if",
                    {"changes": '+owns("eve", "lab", 0.9)', "query": "?owns(X, Y, Z)\n.rel drop owns"},
                ),
            ):
                await client.call_tool(tool, arguments)
            assert (await told(client, "query", program="?owns(X, Y, Z)"))["total"] == 3
            for tool in ("insert", "execute"):
                with pytest.raises(MCPError):
                    await client.call_tool(tool, {"relation": "p", "rows": [[1]], "program": "+p(1)"})

    run(main)


def test_who_may_write_does(folder: Path) -> None:
    async def main() -> None:
        async with agent("--open", str(folder), "--write") as client:
            rows = [["eve", "mill", 0.8], ["ada", "lab", 0.6]]
            assert await told(client, "insert", relation="owns", rows=rows) == {
                "inserted": 1,
                "duplicates": 1,
                "warnings": [],
            }
            await told(client, "execute", program="+rich(X) <- controls(X, _)\n+seen(1)\n+seen(2)")
            assert (await told(client, "query", program="?rich(X)"))["total"] == 3
            # All of it, or nothing.
            await refused(client, "execute", program='+seen(3)\n+owns("x", "y", "z")')
            assert (await told(client, "query", program="?seen(X)"))["total"] == 2
            assert "type" in await refused(client, "insert", relation="owns", rows=[["a", "b", "c"]])
            # What belongs to a session would be seen by whoever shares it.
            assert "without `+`" in await refused(client, "execute", program="mine(1)")
            # Nor do agents choose which files are read.
            attach = f'+seen(4)\n.Rel Attach other "{folder}/*.parquet"'
            assert "attach no files" in await refused(client, "execute", program=attach)
            assert (await told(client, "query", program="?seen(X)"))["total"] == 2

    run(main)
    with stratalog.open(folder) as db:
        assert db.query('?owns("eve", X, Y)').rows() == [("eve", "mill", 0.8)]


def test_answers_are_bounded_and_say_so(tmp_path: Path) -> None:
    with stratalog.open(tmp_path / "many") as db:
        db.insert("n", [(number,) for number in range(1000)])
        db.execute("+pair(X, Y) <- n(X), n(Y), X < Y")

    async def main() -> None:
        async with agent("--open", str(tmp_path / "many"), "--limit", "50", "--timeout", "1") as client:
            answer = await told(client, "query", program="?n(X)", limit=1000)
            assert len(answer["rows"]) == 50
            assert answer["truncated"].startswith("50 of 1000 rows")
            assert len((await told(client, "query", program="?n(X)", limit=3))["rows"]) == 3
            assert "timeout" in await refused(
                client, "query", program="?count<A> <- pair(A, B), pair(B, C), pair(C, D), pair(D, E), A != E"
            )

    run(main)


def test_what_can_be_read(folder: Path) -> None:
    async def main() -> None:
        async with agent("--open", str(folder)) as client:
            addresses = [str(resource.uri) for resource in (await client.list_resources()).resources]
            assert addresses == ["stratalog://schema", "stratalog://rules", "stratalog://language"]
            read = {}
            for address in addresses:
                (content,) = (await client.read_resource(address)).contents
                assert isinstance(content, TextResourceContents)
                read[address.rpartition("/")[2]] = content.text
            assert "+owns(owner: string, owned: string, share: float)" in read["schema"]
            assert read["rules"].count("+controls(") == 2
            assert "top_k" in read["language"]
            prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
            assert prompts == {"language", "answer"}
            prompt = await client.get_prompt("answer", {"question": "Who controls the shop?"})
            (message,) = prompt.messages
            assert isinstance(message.content, TextContent)
            assert "Who controls the shop?" in message.content.text
            assert "+owns(owner: string" in message.content.text

    run(main)


def test_rights_are_those_of_the_credentials(server: LocalServer, tmp_path: Path) -> None:
    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        db.create_kg("of_agents")
        db.use("of_agents")
        db.execute("+p(1)")
        db.users.create("agent_smith", "smith-smith", "viewer")
        db.access.grant("of_agents", "agent_smith", "viewer")
    given = ("--url", server.url, "--kg", "of_agents", "--user", "agent_smith", "--write")

    async def main() -> None:
        environment = {**os.environ, "STRATALOG_PASSWORD": "smith-smith"}
        async with agent(*given, environment=environment) as client:
            assert (await told(client, "query", program="?p(X)"))["rows"] == [[1]]
            assert "access_denied" in await refused(client, "insert", relation="p", rows=[[2]])

    try:
        run(main)
        # A wrong password is told at once.
        done = subprocess.run(
            [str(cli()), "mcp", *given],
            env={**os.environ, "STRATALOG_PASSWORD": "wrong"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (4, "")
    finally:
        with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
            db.users.drop("agent_smith")


def test_agents_over_http_are_many(folder: Path) -> None:
    command = [str(cli()), "mcp", "--open", str(folder), "--write", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"http://\S+/mcp", line)
            assert found, line
            url = found[0]

            async def one(number: int) -> None:
                async with Client(url) as client:
                    await told(client, "insert", relation="from_agents", rows=[[number]])
                    assert (await told(client, "query", program='?controls("ada", X)'))["total"] == 2

            async def main() -> None:
                await asyncio.gather(*(one(number) for number in range(8)))
                async with Client(url) as client:
                    assert (await told(client, "query", program="?from_agents(X)"))["total"] == 8

            run(main)
            # A page of another site is not an agent.
            request = urllib.request.Request(
                url,
                b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}',
                {
                    "Origin": "http://example.com",
                    "Content-Type": "application/json",
                    "Accept": "application/json, text/event-stream",
                },
            )
            with pytest.raises(urllib.error.HTTPError) as refusal:
                urllib.request.urlopen(request, timeout=10)
            with refusal.value as refused_page:
                assert refused_page.code == 403
        finally:
            process.terminate()
            process.wait(30)
