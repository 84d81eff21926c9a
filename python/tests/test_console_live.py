"""The console's live queries: rows that come and go while somebody looks."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

import stratalog
from conftest import PASSWORD, executable, wait_until
from console_page import Console
from local_server import LocalServer

GRAPH = "console_live"

#: Changes a second while very many rows are watched, and for how long.
COMMITS = 25
SECONDS = 5

#: Milliseconds from one frame to the next, at most. How long it was is printed; this is for slow machines.
LONGEST = 5000

ROWS = "Rows of the watched query"

# On a loaded machine it takes a while.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def admin(server: LocalServer) -> Iterator[stratalog.Client]:
    with stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=60) as admin:
        yield admin


@pytest.fixture
def db(admin: stratalog.Client) -> Iterator[stratalog.Client]:
    """A graph with a path of two edges."""
    admin.create_kg(GRAPH)
    admin.execute("+edge[(1, 2), (2, 3)]\n+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)")
    yield admin
    admin.execute(f".kg use default\n.kg drop {GRAPH}")


@pytest.fixture(scope="module")
def page_of_admin(browser: Browser, server: LocalServer) -> Iterator[Console]:
    console = Console(browser, server)
    console.open("#/default/live")
    yield console
    console.close()


@pytest.fixture
def console(page_of_admin: Console, db: stratalog.Client) -> Iterator[Console]:
    """Logged in, and nothing is watched."""
    page_of_admin.go(GRAPH, "live")
    expect(page_of_admin.page.get_by_label("Query to watch")).to_be_visible()
    yield page_of_admin
    # As if another tab had stopped it all.
    page_of_admin.page.evaluate(
        """() => {
            localStorage.removeItem("stratalog.watched");
            dispatchEvent(new StorageEvent("storage", { key: "stratalog.watched" }));
        }"""
    )
    page_of_admin.go("default", "live")


@pytest.fixture
def viewer(server: LocalServer, db: stratalog.Client) -> Iterator[str]:
    """Somebody who may look at the graph."""
    db.execute(f".user create onlooker looking-glass viewer\n.kg acl grant {GRAPH} onlooker viewer")
    yield "onlooker"
    db.execute(".user drop onlooker")


def watch(console: Console, query: str) -> None:
    """Watches a query from its address."""
    console.go(GRAPH, "live", q=query)
    expect(console.page.get_by_role("heading", name=query, exact=True)).to_be_visible()
    expect(status(console)).to_have_text("live")


def status(console: Console) -> Locator:
    """How the query is that one looks at."""
    return console.page.locator(".watch-bar .watch-status")


def told(console: Console) -> Locator:
    """What was told of it, in numbers."""
    return console.page.locator(".watch-counts")


def cells(console: Console, text: str) -> Locator:
    """Values of the rows that are shown."""
    return console.page.get_by_role("grid", name=ROWS).get_by_role("gridcell", name=text, exact=True)


def note_marks(console: Console) -> None:
    """Notes rows that are marked, which they are for a moment only."""
    console.page.evaluate(
        """() => {
            window.marked = [];
            new MutationObserver(() => {
                for (const { className, children } of document.querySelectorAll(".came, .went"))
                    marked.push([className, ...Array.from(children, (cell) => cell.textContent)].join(" "));
            }).observe(document, { subtree: true, childList: true, attributes: true });
        }"""
    )


def was_marked(console: Console, text: str) -> None:
    """Waits until a row was marked: its class and its cells, the number before them."""
    console.page.wait_for_function("text => marked.some((each) => new RegExp(text).test(each))", arg=text)


def subscribers(db: stratalog.Client) -> int:
    """How many watch a query on the graph."""
    rows = db.query(".live list").dicts()
    return sum(int(str(row["subscribers"])) for row in rows if row["knowledge_graph"] == GRAPH)


def test_a_query_is_watched_from_its_address_and_rows_come_and_leave(
    console: Console, db: stratalog.Client
) -> None:
    watch(console, "?edge(X, Y)")
    page = console.page
    expect(page.locator(".watch-rows .grid-row")).to_have_count(2)
    assert sorted(console.rows(ROWS)) == [["1", "2"], ["2", "3"]]
    # The address has become that of what is watched, so a reload does not begin another one.
    assert re.search(r"/live/[a-z0-9]+$", page.url)
    note_marks(console)
    came = db.query("+edge(3, 77)").version
    was_marked(console, r"came \d+ 3 77$")
    expect(page.locator(".watch-bar")).to_contain_text(f"version {came}")
    expect(told(console)).to_have_text(re.compile("3 rows.*1 change.*1 came.*0 went"))
    went = db.query("-edge(1, 2)").version
    # It stays for a moment, struck out, and is no row of the answer any more.
    was_marked(console, r"went \d+ 1 2$")
    expect(told(console)).to_have_text(re.compile("2 rows.*2 changes.*1 came.*1 went"))
    chart = page.get_by_role("img", name="Rows by version")
    expect(chart).to_have_attribute(
        "aria-label", re.compile(f"to version {went}.*first 2, last 2, least 2, most 3")
    )
    expect(page.locator(".watch-rows .grid-row")).to_have_count(2)
    assert sorted(console.rows(ROWS)) == [["2", "3"], ["3", "77"]]
    # A version that changes no row is none that is told.
    db.execute("+other(1)\n+edge(4, 5)")
    expect(told(console)).to_contain_text("3 changes")


def test_what_one_asks_one_can_watch_and_the_other_way_round(console: Console, db: stratalog.Client) -> None:
    console.go(GRAPH, "ask")
    console.ask("?path(1, X)")
    page = console.page
    page.get_by_role("link", name="Watch", exact=True).click()
    expect(page.get_by_role("heading", name="?path(1, X)")).to_be_visible()
    expect(told(console)).to_contain_text("2 rows")
    db.execute("+edge(3, 4)")
    expect(cells(console, "4")).to_be_visible()
    page.get_by_role("link", name="Ask", exact=True).last.click()
    expect(page.get_by_role("textbox", name="Program")).to_contain_text("?path(1, X)")
    # Back is what is watched, which has gone on.
    page.go_back()
    expect(told(console)).to_have_text(re.compile("3 rows.*1 change"))


def test_the_picture_stands_still_and_goes_on(console: Console, db: stratalog.Client) -> None:
    watch(console, "?edge(X, Y)")
    page = console.page
    expect(page.locator(".watch-rows .grid-row")).to_have_count(2)
    page.get_by_role("button", name="Pause").click()
    expect(status(console)).to_have_text("paused")
    db.execute("+edge(3, 77)\n-edge(1, 2)")
    expect(page.get_by_text("The picture stands still")).to_contain_text(re.compile("[12] changes? waits?"))
    assert sorted(console.rows(ROWS)) == [["1", "2"], ["2", "3"]]
    page.get_by_role("button", name="Go on").click()
    expect(status(console)).to_have_text("live")
    expect(cells(console, "77")).to_be_visible()
    expect(page.locator(".watch-rows .grid-row")).to_have_count(2)
    expect(told(console)).to_have_text(re.compile("2 rows.*1 came.*1 went"))


def test_rows_are_sorted_and_those_that_come_take_their_place(console: Console, db: stratalog.Client) -> None:
    db.execute("+edge[(10, 1), (9, 1)]")
    watch(console, "?edge(X, Y)")
    page = console.page
    title = page.get_by_role("button", name="X", exact=True)
    title.click()
    expect(page.get_by_role("columnheader", name="X")).to_have_attribute("aria-sort", "ascending")
    assert [row[0] for row in console.rows(ROWS)] == ["1", "2", "9", "10"]
    db.execute("+edge(5, 1)")
    expect(cells(console, "5")).to_be_visible()
    assert [row[0] for row in console.rows(ROWS)] == ["1", "2", "5", "9", "10"]
    title.click()
    expect(page.get_by_role("columnheader", name="X")).to_have_attribute("aria-sort", "descending")
    assert [row[0] for row in console.rows(ROWS)] == ["10", "9", "5", "2", "1"]
    page.get_by_role("button", name="Latest first").click()
    assert console.rows(ROWS)[0] == ["5", "1"]


def test_several_are_watched_and_go_on_in_other_views_and_after_a_reload(
    console: Console, db: stratalog.Client
) -> None:
    page = console.page
    page.get_by_role("button", name="Log out").click()
    console.open(f"#/{GRAPH}/live", keep=True)
    watch(console, "?edge(X, Y)")
    watch(console, "?path(X, Y)")
    console.go(GRAPH, "live")
    items = page.get_by_role("navigation", name="Watched queries").get_by_role("link")
    expect(items).to_have_count(2)
    assert subscribers(db) == 2
    page.get_by_role("link", name="Relations").click()
    expect(page.get_by_role("heading", name="Relations")).to_have_count(1)
    db.execute("+edge(3, 4)")
    page.get_by_role("link", name="Live", exact=True).click()
    expect(items.first).to_contain_text(re.compile("live.*3 rows.*1 change$"))
    expect(items.last).to_contain_text(re.compile("live.*6 rows.*1 change$"))
    # The same query is watched once.
    watch(console, "?edge(X, Y)")
    expect(items).to_have_count(2)
    page.reload()
    expect(status(console)).to_have_text("live")
    expect(page.locator(".watch-rows .grid-row")).to_have_count(3)
    expect(items).to_have_count(2)
    # The browser knows what was watched, and nothing of the answers.
    assert "?edge" in page.evaluate("localStorage['stratalog.watched']")
    page.get_by_role("button", name="Log out").click()
    wait_until(lambda: subscribers(db) == 0)
    console.open(f"#/{GRAPH}/live")
    expect(items).to_have_count(2)
    expect(items.last).to_contain_text(re.compile("live.*6 rows"))
    items.last.click()
    page.get_by_role("button", name="Stop").click()
    expect(items).to_have_count(1)
    wait_until(lambda: subscribers(db) == 1)


def test_two_tabs_have_the_same_list(console: Console, db: stratalog.Client) -> None:
    other = console.context.new_page()
    other.goto(f"{console.address}/console#/{GRAPH}/live")
    other.get_by_label("User", exact=True).fill("admin")
    other.get_by_label("Password", exact=True).fill(PASSWORD)
    other.get_by_role("button", name="Log in").click()
    watch(console, "?edge(X, Y)")
    other.get_by_role("link", name="?edge(X, Y)").click()
    expect(other.get_by_text("2 rows").first).to_be_visible()
    other.get_by_role("button", name="Stop").click()
    # It is watched no longer, nor in the tab in which it was begun.
    expect(console.page.get_by_text("Nothing is watched under this address any more.")).to_be_visible()
    wait_until(lambda: subscribers(db) == 0)
    other.close()


def test_on_another_graph_it_ends_and_back_here_it_begins_again(
    console: Console, db: stratalog.Client
) -> None:
    page = console.page
    watch(console, "?edge(X, Y)")
    page.get_by_label("Knowledge graph").select_option("default")
    expect(page.get_by_text(f"Kept for other graphs: {GRAPH} (1)")).to_be_visible()
    expect(page.get_by_role("navigation", name="Watched queries")).to_have_count(0)
    wait_until(lambda: subscribers(db) == 0)
    page.get_by_role("link", name=GRAPH, exact=True).click()
    expect(page.get_by_label("Knowledge graph")).to_have_value(GRAPH)
    page.get_by_role("link", name="?edge(X, Y)").click()
    expect(page.locator(".watch-rows .grid-row")).to_have_count(2)
    assert subscribers(db) == 1


def test_a_rule_that_is_dropped_ends_it_and_it_can_be_tried_again(
    console: Console, db: stratalog.Client
) -> None:
    page = console.page
    watch(console, "?path(X, Y)")
    expect(page.locator(".watch-rows .grid-row")).to_have_count(3)
    db.execute(".rule drop path")
    expect(status(console)).to_have_text("ended")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("path")
    # The rows from before are there still, and are said to be those.
    expect(page.get_by_text("Below are the rows of version")).to_be_visible()
    expect(page.locator(".watch-rows .grid-row")).to_have_count(3)
    page.get_by_role("button", name="Try again").click()
    expect(alert).to_contain_text("there is no relation `path`")
    db.execute("+path(X, Y) <- edge(X, Y)")
    page.get_by_role("button", name="Try again").click()
    expect(status(console)).to_have_text("live")
    expect(alert).to_have_count(0)
    expect(page.locator(".watch-rows .grid-row")).to_have_count(2)


def test_a_right_that_is_taken_away_ends_it(
    browser: Browser, server: LocalServer, db: stratalog.Client, viewer: str
) -> None:
    console = Console(browser, server)
    console.open(f"#/{GRAPH}/live", viewer, "looking-glass")
    page = console.page
    watch(console, "?edge(X, Y)")
    expect(page.locator(".watch-rows .grid-row")).to_have_count(2)
    db.execute(f".kg acl revoke {GRAPH} {viewer}\n+edge(3, 77)")
    expect(status(console)).to_have_text("ended")
    expect(page.get_by_role("alert")).to_contain_text(GRAPH)
    assert cells(console, "77").count() == 0
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_contain_text(GRAPH)
    db.execute(f".kg acl grant {GRAPH} {viewer} viewer")
    page.get_by_role("button", name="Try again").click()
    expect(cells(console, "77")).to_be_visible()
    console.close()


def test_what_cannot_be_watched_says_why(console: Console) -> None:
    page = console.page
    console.go(GRAPH, "live", q="?edgee(X, Y)")
    expect(page.get_by_role("alert")).to_contain_text("did you mean `edge`?")
    console.go(GRAPH, "live", q="+edge(5, 6)")
    expect(page.get_by_role("alert")).to_contain_text("not_live")
    console.go(GRAPH, "live", q="?edge(X,")
    expect(page.get_by_role("alert")).to_contain_text("is not closed")
    # A way to get rid of it is there.
    for _ in range(3):
        page.get_by_role("navigation", name="Watched queries").get_by_role("link").first.click()
        page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("navigation", name="Watched queries")).to_have_count(0)


def test_after_a_restart_of_the_server_it_goes_on(
    browser: Browser, own_server: LocalServer, tmp_path: Path
) -> None:
    with stratalog.connect(own_server.url, user="admin", password=PASSWORD) as db:
        db.execute(f".kg create {GRAPH}\n.kg use {GRAPH}\n+edge[(1, 2), (2, 3)]")
    console = Console(browser, own_server)
    console.open(f"#/{GRAPH}/live")
    page = console.page
    watch(console, "?edge(X, Y)")
    expect(page.locator(".watch-rows .grid-row")).to_have_count(2)
    port = int(own_server.url.rsplit(":", 1)[1])
    own_server.kill()
    expect(status(console)).to_have_text("lost, trying again")
    # What is asked for while nobody answers is asked for when somebody does.
    console.go(GRAPH, "live", q="?edge(1, Y)")
    expect(page.get_by_role("heading", name="?edge(1, Y)")).to_be_visible()
    with LocalServer(executable(), tmp_path, PASSWORD, port=port) as again:
        expect(page.locator(".state")).to_have_text("connected")
        expect(told(console)).to_contain_text("1 row")
        page.get_by_role("link", name="?edge(X, Y)").click()
        expect(status(console)).to_have_text("open again")
        with stratalog.connect(again.url, user="admin", password=PASSWORD, kg=GRAPH) as db:
            db.execute("+edge(1, 77)")
        expect(cells(console, "77")).to_be_visible()
        # Nothing was told twice, and nothing anew.
        expect(told(console)).to_have_text(re.compile("3 rows.*1 change.*1 came.*0 went$"))
        expect(status(console)).to_have_text("live")
        console.close()


def test_a_hundred_thousand_rows_with_many_commits_leave_the_page_responsive(
    console: Console, server: LocalServer, db: stratalog.Client
) -> None:
    db.insert("n", [[number, f"name {number}"] for number in range(100_000)])
    page = console.page
    watch(console, "?n(X, Name)")
    expect(told(console)).to_contain_text("100,000 rows")
    page.evaluate(
        """() => {
            const frames = window.frames_ = { longest: 0, count: 0 };
            let before = performance.now();
            const step = (now) => {
                frames.longest = Math.max(frames.longest, now - before);
                frames.count += 1;
                before = now;
                requestAnimationFrame(step);
            };
            requestAnimationFrame(step);
        }"""
    )
    ended = threading.Event()
    done = 0

    def commit() -> None:
        nonlocal done
        with stratalog.connect(server.url, user="admin", password=PASSWORD, kg=GRAPH) as other:
            while not ended.wait(1 / COMMITS):
                other.execute(f'+n({100_000 + done}, "new")\n-n({done}, "name {done}")')
                done += 1

    waits = []
    thread = threading.Thread(target=commit)
    thread.start()
    try:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for name in ("Pause", "Go on", "X", "X", "Latest first"):
                begin = time.monotonic()
                page.get_by_role("button", name=name, exact=True).click()
                waits.append(time.monotonic() - begin)
            page.wait_for_timeout(300)
    finally:
        ended.set()
        thread.join()
    frames = page.evaluate("window.frames_")
    print(
        f"{done} commits; {frames['count']} frames, the longest {frames['longest']:.0f} ms;"
        f" {len(waits)} clicks, the slowest {max(waits) * 1000:.0f} ms"
    )
    assert done > 0
    assert frames["longest"] < LONGEST
    # In the end it is what is there.
    expect(told(console)).to_have_text(re.compile(f"100,000 rows.*{done:,} came.*{done:,} went"))
    grid = page.get_by_role("grid", name=ROWS)
    expect(grid).to_have_attribute("aria-rowcount", "100001")
    assert len(console.rows(ROWS)) < 100


def test_hostile_values_and_queries_are_text(console: Console, db: stratalog.Client) -> None:
    tag = '<img src=x onerror="document.title=1">'
    db.insert("text", [[1, tag], [2, "a\u202eb"], [3, "x" * 100_000]])
    page = console.page
    query = '?text(N, S), S != "<script>alert(1)</script>\u202e"'
    console.go(GRAPH, "live", q=query)
    expect(page.locator(".watch h2")).to_contain_text("<script>alert(1)</script>\\u202e")
    expect(cells(console, tag)).to_be_visible()
    expect(cells(console, "a\\u202eb")).to_be_visible()
    assert page.locator("img, script:not([type=module])").count() == 0
    page.evaluate("location.hash = '#/console_live/live/' + encodeURIComponent('<img src=x>')")
    expect(page.get_by_text("Nothing is watched under this address any more.")).to_be_visible()
    # What others have put where the browser keeps things is left alone.
    for kept in (
        '{"a": 1}',
        '[1, null, {"id": 2}, {"id": "a", "graph": "console_live", "query": "?edge(X, Y)"}]',
        "[",
        '"x"',
    ):
        page.evaluate("kept => { localStorage['stratalog.watched'] = kept }", kept)
        page.reload()
        console.open(f"#/{GRAPH}/live")
        watch(console, "?path(X, Y)")
        expect(page.locator(".watch-rows .grid-row")).to_have_count(3)


def test_the_keyboard_alone_is_enough(console: Console, db: stratalog.Client) -> None:
    page = console.page
    page.get_by_label("Query to watch").focus()
    page.keyboard.type("?edge(X, Y)")
    page.keyboard.press("Control+Enter")
    expect(status(console)).to_have_text("live")
    expect(page.locator(".watch-rows .grid-row")).to_have_count(2)
    page.get_by_role("button", name="Pause").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Go on")).to_be_focused()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_focused()
    page.get_by_role("grid", name=ROWS).locator("[data-place][tabindex='0']").focus()
    page.keyboard.press("Control+End")
    expect(page.locator('[data-place="1 1"]')).to_be_focused()
    # A row that comes above leaves the keyboard where it is.
    db.execute("+edge(3, 77)")
    expect(cells(console, "77")).to_be_visible()
    assert page.evaluate("document.activeElement.hasAttribute('data-place')")


def test_everybody_can_use_it(console: Console, db: stratalog.Client) -> None:
    page = console.page
    found: dict[str, list[str]] = {}

    def look(what: str) -> None:
        for width, is_dark in ((390, True), (1280, False), (1280, True)):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme="dark" if is_dark else "light")
            found[f"{what} {width} {is_dark}"] = console.axe() + ([] if console.fits() else ["too wide"])
        page.set_viewport_size({"width": 1280, "height": 800})

    look("empty")
    db.insert("wide", [["x" * 300, *range(20)]])
    wide = "?wide(" + ", ".join(f"Column{number}" for number in range(21)) + ")"
    watch(console, wide)
    expect(told(console)).to_contain_text("1 row")
    look("wide")
    watch(console, "?edge(X, Y)")
    expect(told(console)).to_contain_text("2 rows")
    # With rows that are marked, where it stands still.
    page.evaluate(
        """() => {
            const look = () => {
                if (!document.querySelector(".came") || !document.querySelector(".went")) return;
                observer.disconnect();
                [...document.querySelectorAll("button")].find((each) => each.textContent === "Pause").click();
            };
            const observer = new MutationObserver(look);
            observer.observe(document, { subtree: true, childList: true, attributes: true });
        }"""
    )
    db.execute("+edge(3, 4)\n-edge(1, 2)")
    expect(status(console)).to_have_text("paused")
    look("paused")
    page.get_by_role("link", name="?wide").click()
    db.execute(".rel drop wide")
    expect(status(console)).to_have_text("ended")
    look("ended")
    page.emulate_media(color_scheme="light")
    assert {what: each for what, each in found.items() if each} == {}
