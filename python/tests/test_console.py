"""The console: who gets in, and what it is made of."""

from __future__ import annotations

import gzip
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, WebSocket, expect

import stratalog
from conftest import PASSWORD, executable
from console_page import CONSOLE, Console
from local_server import LocalServer

#: Kilobytes that everything may take on its way, compressed.
MOST = 700

#: The same of the page at `/api/ws-docs`.
MOST_OF_PAGE = 30


@pytest.fixture
def console(browser: Browser, server: LocalServer) -> Iterator[Console]:
    console = Console(browser, server)
    yield console
    console.close()


def test_a_wrong_password_is_refused_and_the_form_stays(console: Console) -> None:
    page = console.page
    page.goto(f"{console.address}/console#/default/relations")
    page.get_by_label("User", exact=True).fill("admin")
    page.get_by_label("Password", exact=True).fill("wröng")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("password")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    # Where the address says, not where one begins.
    views = page.get_by_role("navigation", name="Views")
    expect(views.get_by_role("link", name="Relations")).to_have_attribute("aria-current", "page")
    expect(page.locator(".who")).to_contain_text("admin")


def test_a_key_opens_it_and_is_kept_only_where_that_was_asked_for(
    console: Console, server: LocalServer
) -> None:
    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        key = str(db.query(".apikey create console-test").dicts()[0]["api_key"])
    try:
        page = console.page
        console.open_by_key(key)
        assert page.evaluate("[sessionStorage.length, document.cookie]") == [0, ""]
        page.reload()
        expect(page.get_by_role("button", name="Log in")).to_be_visible()
        console.open(keep=True)
        page.reload()
        expect(page.locator(".state")).to_have_text("connected")
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_role("button", name="Log in")).to_be_visible()
        assert page.evaluate("sessionStorage.length") == 0
        assert key not in page.evaluate("JSON.stringify({...localStorage})")
    finally:
        with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
            db.execute(".apikey revoke console-test")


def test_a_key_is_shown_no_more_than_it_opens(console: Console, server: LocalServer) -> None:
    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        key = str(db.query(".apikey create console-read read").dicts()[0]["api_key"])
        db.execute("+seen(1)")
    try:
        page = console.page
        console.open_by_key(key, "#/default/relations")
        expect(page.locator(".who")).to_contain_text("admin, read")
        expect(page.get_by_role("option", name="New graph…")).to_have_count(0)
        console.go("default", "relations/seen")
        expect(page.get_by_role("heading", name="Columns")).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("Drop"))).to_have_count(0)
        console.go("default", "admin")
        expect(page.get_by_role("link", name="Sessions", exact=True)).to_be_visible()
        expect(page.get_by_role("link", name="Users", exact=True)).to_have_count(0)
    finally:
        with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
            db.execute(".apikey revoke console-read\n.rel drop seen")


def test_whoever_comes_in_on_a_graph_has_its_lists_read_once(console: Console, server: LocalServer) -> None:
    sockets: list[str] = []
    sent: list[str] = []

    def opened(socket: WebSocket) -> None:
        sockets.append(socket.url)
        socket.on("framesent", lambda frame: sent.append(str(frame)))

    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        db.create_kg("console_once")
        try:
            db.execute("+edge(1, 2)")
            console.page.on("websocket", opened)
            console.open("#/console_once/ask")
            expect(console.page.get_by_text("What there is to ask about")).to_be_visible()
            console.page.wait_for_timeout(1000)
            # One asks, one looks, and one hears of changes.
            assert len(sockets) == 3, sockets
            for program in (".kg list", ".kg level", ".rel describe", ".rule list"):
                assert sum(f'"{program}"' in frame for frame in sent) == 1, sent
            console.go("default", "ask")
        finally:
            db.execute(".kg use default\n.kg drop console_once")


def test_it_can_be_turned_off(tmp_path: Path) -> None:
    import urllib.error
    import urllib.request

    with LocalServer(executable(), tmp_path, PASSWORD, {"SERVICE_HTTP__CONSOLE": "false"}) as server:
        address = server.url.replace("ws:", "http:")
        for path in ("/console", "/console/console.js", "/v1/console"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(address + path)
            with refused.value as answer:
                # As any other path that is none.
                assert answer.code == 401


@pytest.mark.parametrize(
    ("config", "folder"), [("vite.config.ts", "console"), ("vite.messages.config.ts", "page")]
)
def test_the_built_files_are_those_of_the_sources(tmp_path: Path, config: str, folder: str) -> None:
    """`make console` makes the same; else it is to be run, and what it writes to be committed."""
    build = ["npx", "vite", "build", "--config", config, "--logLevel", "error"]
    subprocess.run(
        [*build, "--outDir", str(tmp_path / "built")],
        cwd=CONSOLE,
        check=True,
        timeout=300,
    )
    committed = CONSOLE.parent / "server" / folder
    built = {file.name: file.read_bytes() for file in (tmp_path / "built").iterdir()}
    there = {file.name: file.read_bytes() for file in committed.iterdir()}
    assert sorted(built) == sorted(there)
    assert [name for name in built if built[name] != there[name]] == []


def test_the_page_of_single_messages_is_small() -> None:
    """It takes parts of the client, and neither all of it nor Apache Arrow."""
    files = [file for file in (CONSOLE.parent / "server/page").iterdir() if file.suffix in {".js", ".css"}]
    sizes = {file.name: len(gzip.compress(file.read_bytes())) for file in files}
    assert sum(sizes.values()) < MOST_OF_PAGE * 1000, sizes


def test_all_of_it_is_small_and_whoever_has_it_is_not_sent_it_again(console: Console) -> None:
    page = console.page
    sizes: dict[str, int] = {}
    for file in (CONSOLE.parent / "server/console").iterdir():
        if file.suffix in {".js", ".css"}:
            answer = page.request.get(
                f"{console.address}/console/{file.name}", headers={"Accept-Encoding": "gzip"}
            )
            assert answer.status == 200
            assert answer.headers["content-encoding"] == "gzip"
            assert answer.body() == file.read_bytes()
            sizes[file.name] = int(answer.headers["content-length"])
            again = page.request.get(
                f"{console.address}/console/{file.name}", headers={"If-None-Match": answer.headers["etag"]}
            )
            assert again.status == 304
    assert sum(sizes.values()) < MOST * 1000, sizes


def test_the_policy_lets_in_nothing_of_others(console: Console) -> None:
    answer = console.page.request.get(f"{console.address}/console")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.search(r"script-src 'self';", policy)
    assert answer.headers["x-content-type-options"] == "nosniff"
