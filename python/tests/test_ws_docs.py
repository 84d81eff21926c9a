"""The first page and that of the WebSocket in a real browser."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import stratalog
from conftest import PASSWORD
from local_server import LocalServer


@pytest.fixture(scope="module")
def key(server: LocalServer) -> str:
    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        return str(db.query(".apikey create page").dicts()[0]["api_key"])


@pytest.fixture
def page(browser: Browser, server: LocalServer) -> Iterator[Page]:
    """The page, opened with the password and logged in by that."""
    context = browser.new_context(
        permissions=["clipboard-read", "clipboard-write"], viewport={"width": 1280, "height": 800}
    )
    context.set_default_timeout(20_000)
    page = context.new_page()
    faults: list[str] = []
    asked: set[str] = set()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console", lambda message: faults.append(message.text) if "Content Security" in message.text else None
    )
    page.on("request", lambda request: asked.add(request.url))
    open_page(page, server)
    expect(page.locator("#state")).to_have_text("admin on default")
    yield page
    assert faults == []
    assert not any(PASSWORD in url for url in asked), asked
    here = address(server)
    assert all(url.startswith((here, "data:", "blob:")) for url in asked), asked
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    context.close()


def address(server: LocalServer) -> str:
    return server.url.replace("ws:", "http:")


def open_page(page: Page, server: LocalServer) -> None:
    page.goto(address(server) + "/api/ws-docs")
    page.get_by_label("User", exact=True).fill("admin")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    # The page is there before its script has brought it to life.
    expect(page.locator("#kind")).to_have_value("execute")


def send(page: Page, program: str) -> None:
    page.get_by_label("program").fill(program)
    page.get_by_label("program").press("Control+Enter")


def unfold(page: Page) -> None:
    page.get_by_text("More fields").click()


def in_view(page: Page, selector: str) -> bool:
    """Whether all of an element's beginning is within the window, and nothing is laid over it."""
    return bool(
        page.evaluate(
            """selector => {
                const place = document.querySelector(selector);
                const { left, right, top, height } = place.getBoundingClientRect();
                const found = document.elementFromPoint((left + right) / 2, top + Math.min(height, 20) / 2);
                return top >= 0 && top + Math.min(height, 60) <= innerHeight && place.contains(found);
            }""",
            selector,
        )
    )


@pytest.mark.parametrize("width", [1280, 1024, 256])
@pytest.mark.parametrize("path", ["/", "/v1"])
def test_the_first_page_leads_on(browser: Browser, server: LocalServer, path: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    answer = page.goto(address(server) + path)
    assert answer is not None
    assert answer.status == 200
    expect(page.get_by_role("status")).to_contain_text("It is healthy")
    body = page.locator("body")
    # By the address that the browser has, not by one from the manual.
    expect(body).to_contain_text(f"stratalog --url {server.url} --user admin")
    expect(body).to_contain_text(f'stratalog.connect("{server.url}"')
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for link in page.get_by_role("link").all():
        target = link.evaluate("link => link.href")
        status = page.request.get(target, headers={"Accept": "*/*"}).status
        assert status == (401 if target.endswith("ws-docs") else 200), target
    assert faults == []
    page.get_by_role("link", name="Send single messages").click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_what_is_shown_to_copy_from_the_first_page_runs(browser: Browser, server: LocalServer) -> None:
    page = browser.new_page()
    page.goto(address(server))
    expect(page.get_by_role("status")).to_contain_text("It is healthy")
    code = page.locator("pre").nth(1).inner_text()
    page.close()
    asked = f"import getpass\ngetpass.getpass = lambda: {PASSWORD!r}\n"
    run = subprocess.run(
        [sys.executable, "-c", asked + code], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "3" in run.stdout


def test_a_wrong_password_or_key_is_refused_and_the_form_stays(browser: Browser, server: LocalServer) -> None:
    page = browser.new_page()
    page.goto(address(server) + "/v1/api/ws-docs")
    page.get_by_label("User", exact=True).fill("nobody")
    page.get_by_label("Password", exact=True).fill("wröng")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_have_text("This user has another password, or does not exist.")
    page.get_by_role("radio", name="API key").check()
    page.locator("#api-key").fill("0" * 64)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_have_text("This key is not valid.")
    assert page.url == address(server) + "/v1/api/ws-docs"
    page.close()


def test_a_key_opens_the_page_and_a_session(browser: Browser, server: LocalServer, key: str) -> None:
    page = browser.new_page()
    page.goto(address(server) + "/api/ws-docs")
    page.get_by_role("radio", name="API key").check()
    page.locator("#api-key").fill(key)
    page.locator("#api-key").press("Enter")
    expect(page.locator("#state")).to_have_text("admin on default")
    assert page.evaluate("document.cookie") == ""
    page.close()


def test_a_user_without_rights_logs_in_and_sees_no_more_than_anywhere(
    browser: Browser, server: LocalServer
) -> None:
    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        db.users.create("zoë", "pass:wörd", "viewer")
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address(server) + "/api/ws-docs")
    page.get_by_label("User", exact=True).fill("zoë")
    page.get_by_label("Password", exact=True).fill("pass:wörd")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#state")).to_have_text("viewer on default")
    send(page, ".user list")
    expect(page.locator("#answer .error code")).to_have_text("access_denied")
    page.close()
    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        db.users.drop("zoë")


@pytest.mark.parametrize("width", [1280, 1024, 256])
def test_the_answer_is_in_view_after_sending(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    # What is seldom needed is folded away, also to log in once that is done.
    expect(page.get_by_label("timeout_ms")).to_be_hidden()
    expect(page.get_by_label("Address")).to_be_hidden()
    expect(page.get_by_label("program")).to_be_visible()
    if width == 1280:
        for shown in ("#field-program", "#field-params", "#message-form button.main"):
            assert in_view(page, shown), shown
    for opened in (False, True):
        if opened:
            unfold(page)
            for summary in ("What is sent", "Python", "Schema"):
                page.get_by_text(summary, exact=True).click()
        for rows in (1, 300):
            program = (
                f"+many_{rows}[" + ", ".join(f"({n}, {n})" for n in range(rows)) + f"]\n?many_{rows}(X, Y)"
            )
            page.get_by_label("program").fill(program)
            page.get_by_role("button", name="Send").click()
            expect(page.locator("#answer caption")).to_contain_text(f"{rows} row")
            assert in_view(page, "#answer")
            assert in_view(page, "#answer table")
        page.get_by_label("program").fill("?missing(X)")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#answer .error")).to_be_visible()
        assert in_view(page, "#answer .error")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_answer_is_whole_beside_many_frames(page: Page) -> None:
    """However many messages have come and gone: the list of them takes the room that is left."""
    whole = """() => {
        const panel = document.querySelector('#answer-panel');
        return panel.scrollHeight <= panel.clientHeight;
    }"""
    for number in range(12):
        send(page, f"?N <- N = {number}")
        expect(page.locator("#answer td")).to_have_text([str(number)])
    send(page, "?X, Y <- X in list(1, 2, 3, 4, 5, 6, 7, 8, 9), Y = X * 2")
    expect(page.locator("#answer caption")).to_contain_text("9 rows")
    assert page.evaluate(whole)
    send(page, "?missing(X)")
    expect(page.locator("#answer .error")).to_be_visible()
    assert page.evaluate(whole)
    # The frames are still there to be scrolled.
    expect(page.locator("#frames > li").first).to_be_visible()


def test_a_mistake_in_a_field_that_is_folded_away_shows_it(page: Page) -> None:
    page.get_by_label("program").fill("?A <- A = 1")
    unfold(page)
    page.get_by_label("limit").fill("many")
    page.get_by_text("More fields").click()
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_label("limit")).to_be_focused()


def test_a_page_that_came_with_a_key_in_its_header_works(
    browser: Browser, server: LocalServer, key: str
) -> None:
    context = browser.new_context(extra_http_headers={"Authorization": f"Bearer {key}"})
    page = context.new_page()
    page.goto(address(server) + "/v1/api/ws-docs")
    page.get_by_label("API key", exact=True).first.check()
    page.locator("#api-key").fill(key)
    page.get_by_role("button", name="Connect and log in").click()
    expect(page.locator("#state")).to_have_text("admin on default")
    context.close()


def test_a_query_shows_its_table_and_frames(page: Page) -> None:
    send(page, '+city[("Oslo", 9007199254740993, 2.0), ("Rome", 1, null)]\n?city(Name, N, X)')
    table = page.locator("#answer table")
    expect(table.locator("th")).to_have_text(["Name", "N", "X"])
    # Numbers are shown as they travel: neither rounded nor without their fraction.
    expect(table.get_by_role("row").filter(has_text="Oslo").locator("td")).to_have_text(
        ["Oslo", "9007199254740993", "2.0"]
    )
    expect(table.locator("caption")).to_contain_text("2 rows in")
    frames = page.locator("#frames > li")
    expect(frames.filter(has_text="persistent_update")).to_have_count(1)
    expect(page.locator("#frames > li.out[data-type=execute]")).to_have_count(1)
    expect(page.locator("#frames > li.in[data-type=result] time")).to_have_text(
        re.compile(r"^\d\d:\d\d:\d\d\.\d{3}$")
    )
    login = page.locator("#frames > li[data-type=login]")
    login.locator("summary").click()
    expect(login.locator("pre")).to_contain_text('"password": "•••"')
    assert PASSWORD not in page.locator("#frames").inner_text()
    send(page, "-city(X, Y, Z) <- city(X, Y, Z)")
    expect(page.locator("#answer")).to_contain_text("deleted 2 facts")


def test_an_error_is_shown_with_its_place(page: Page) -> None:
    send(page, 'w(X) <- X = "ö"\n?w(X), X = lenn("ö", X)')
    error = page.locator("#answer .error")
    expect(error.locator("code")).to_have_text("unknown_function")
    expect(error.locator("mark")).to_have_text(re.compile("^lenn"))
    expect(error).to_contain_text("line 2, column 12")


def test_a_form_refuses_what_is_no_value(page: Page) -> None:
    unfold(page)
    page.get_by_label("limit").fill("many")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#field-limit")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#field-limit")).to_be_focused()
    expect(page.locator("#told")).to_contain_text("a whole number")
    expect(page.locator("#frames > li.out[data-type=execute]")).to_have_count(0)


def test_every_message_has_a_form_whose_examples_are_sent(page: Page) -> None:
    kinds = page.locator("#kind option").all_inner_texts()
    assert {
        "login",
        "execute",
        "insert",
        "query",
        "insert_facts",
        "retract_facts",
        "add_rule",
        "cancel",
    } < set(kinds)
    for kind in kinds:
        page.get_by_label("Type").select_option(kind)
        page.get_by_label("Example").select_option(index=1)
        sent = page.locator(f"#frames > li.out[data-type={kind}]")
        before = sent.count()
        page.get_by_role("button", name="Send").click()
        expect(sent).to_have_count(before + 1)
        schema = json.loads(page.locator("#schema").text_content() or "")
        assert schema["properties"]["type"]["const"] == kind
    expect(page.locator("#frames > li.in[data-type=pong]")).to_have_count(1)


def test_an_arrow_stream_can_be_uploaded_and_saved(page: Page, tmp_path: Path) -> None:
    import pyarrow as pa

    table = pa.table({"name": ["x", "y"], "n": [1, 2]})
    file = tmp_path / "rows.arrows"
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    page.get_by_label("Type").select_option("insert")
    page.get_by_label("relation").fill("uploaded")
    unfold(page)
    page.locator("#field-format").select_option("arrow")
    page.get_by_label("Arrow stream").set_input_files(file)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#answer td")).to_have_text(["uploaded", "2", "0"])
    page.get_by_label("Type").select_option("execute")
    unfold(page)
    page.locator("#field-format").select_option("arrow")
    send(page, "?uploaded(A:asc, B)")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save it as a file").click()
    with pa.ipc.open_stream(download.value.path().read_bytes()) as stream:
        assert stream.read_all().to_pylist() == [{"name": "x", "n": 1}, {"name": "y", "n": 2}]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"program": '?A, B <- A = $a, B = "\\"ö"', "params": '{"a": 2.0}', "limit": "5"}, "2.0"),
        ({"program": "+copied(1)\n?copied(X)", "timeout_ms": "2000"}, "1"),
        ({"program": "+copied(2)", "atomic": ""}, "inserted 1 fact"),
        ({"program": "+copied(3)", "atomic": "", "limit": "1"}, '"type":"result"'),
    ],
)
def test_what_is_copied_as_python_runs(
    page: Page, server: LocalServer, fields: dict[str, str], shown: str, tmp_path: Path
) -> None:
    unfold(page)
    for name, value in fields.items():
        field = page.locator(f"#field-{name}")
        field.check() if name == "atomic" else field.fill(value)
    printed = run_copied(page, tmp_path)
    assert shown in printed


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("insert", {"relation": "copied_rows", "rows": '[["a", true, null, 2.0]]'}),
        ("insert_facts", {"relation": "copied_facts", "tuples": "[[1], [2]]"}),
        ("retract_facts", {"relation": "copied_facts", "tuples": "[[1]]"}),
        ("add_rule", {"rule": "big(X) <- small(X), X > 3"}),
        ("query", {"query": "?X <- X = 1"}),
        ("ping", {}),
        ("login", {"username": "admin", "password": "unused"}),
    ],
)
def test_every_kind_of_message_copied_as_python_runs(
    page: Page, kind: str, fields: dict[str, str], tmp_path: Path
) -> None:
    page.get_by_label("Type").select_option(kind)
    for name, value in fields.items():
        page.locator(f"#field-{name}").fill(value)
    assert run_copied(page, tmp_path) != ""


def run_copied(page: Page, folder: Path) -> str:
    page.get_by_role("button", name="Copy as Python").click()
    expect(page.locator("#told")).to_have_text("copied")
    text = page.evaluate("navigator.clipboard.readText()")
    assert PASSWORD not in text
    file = folder / "copied.py"
    file.write_text(text)
    environment = {**os.environ, "STRATALOG_PASSWORD": PASSWORD}
    run = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert run.returncode == 0, f"{text}\n{run.stderr}"
    return run.stdout


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_is_wider_than_the_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    send(page, "?A, B, C <- A = 9007199254740993, B = 9007199254740993, C = 9007199254740993")
    expect(page.locator("#answer table")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_everything_to_fill_in_has_a_label(page: Page) -> None:
    for kind in page.locator("#kind option").all_inner_texts():
        page.get_by_label("Type").select_option(kind)
        fields = "[...document.querySelectorAll('input, select, textarea')]"
        unnamed = f"{fields}.filter(each => each.labels.length === 0).map(each => each.id)"
        assert page.evaluate(unnamed) == []


def subscribe(page: Page, query: str, params: str = "", more: dict[str, str] | None = None) -> Locator:
    """Sends a `subscribe`; where its answer is kept current."""
    page.get_by_label("Type").select_option("subscribe")
    page.get_by_label("query").fill(query)
    page.get_by_label("params").fill(params)
    if more:
        unfold(page)
    for name, value in (more or {}).items():
        field = page.locator(f"#field-{name}")
        if name == "format":
            field.select_option(value)
        else:
            field.set_checked(value == "true")
    shown = page.locator("#live-panel article")
    before = shown.count()
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#answer")).to_contain_text("has begun")
    expect(shown).to_have_count(before + 1)
    return shown.last


@pytest.fixture
def beside(page: Page, server: LocalServer, db: stratalog.Client) -> stratalog.Client:
    """A client in a graph of its own, to which the page's session goes too."""
    db.execute("+edge[(1, 2), (2, 3)]\n+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)")
    send(page, f".kg use {db.kg}")
    expect(page.locator("#state")).to_have_text(f"admin on {db.kg}")
    return db


def test_a_live_query_is_kept_current(page: Page, beside: stratalog.Client) -> None:
    expect(page.locator("#live-panel")).to_be_hidden()
    live = subscribe(page, "?reach($from, Y)", '{"from": 1}', {"progress": "true"})
    expect(live.locator("h3")).to_have_text('1: ?reach($from, Y) with {"from":1}')
    expect(live.locator("th")).to_have_text(["1", "Y"])
    expect(live.locator("tbody tr")).to_have_text(["12", "13"])
    state = live.get_by_role("status")
    expect(state).to_contain_text("2 rows")
    expect(live.locator(".came, .went")).to_have_count(0)
    version = beside.insert("edge", [(3, 9007199254740993)]).version
    expect(live.locator("tr.came")).to_have_text("19007199254740993")
    expect(state).to_contain_text(f"Version {version}: 3 rows, 1 came")
    version = beside.execute("-edge(2, 3)\n+edge(1, 5)", atomic=True).version
    expect(live.locator("tr.went")).to_have_count(2)
    expect(live.locator("tr.came")).to_have_text("15")
    expect(live.locator("tbody tr:not(.went)")).to_have_text(["15", "12"])
    expect(state).to_contain_text(f"Version {version}: 2 rows, 1 came, 2 went")
    version = beside.insert("other", [1]).version
    expect(state).to_contain_text(f"all is told up to version {version}")
    live.get_by_role("button", name="Unsubscribe").click()
    expect(live).to_contain_text("Unsubscribed, as you have asked.")
    expect(page.locator("#frames > li.in[data-type=unsubscribed]")).to_have_count(1)
    beside.insert("edge", [(1, 6)])
    send_ping(page)
    expect(live.locator("tbody tr:not(.went)")).to_have_count(2)
    live.get_by_role("button", name="Remove").click()
    expect(page.locator("#live-panel")).to_be_hidden()


def send_ping(page: Page) -> None:
    page.get_by_label("Type").select_option("ping")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#answer")).to_have_text("pong")


def test_live_queries_end_with_the_reason(page: Page, server: LocalServer, beside: stratalog.Client) -> None:
    subscribe(page, "?reach(X, Y)")
    subscribe(page, "?edge(X, Y)")
    reach, edges = (page.locator(f"[data-subscription='{number}']") for number in (1, 2))
    expect(reach.locator("tbody tr")).to_have_count(3)
    beside.execute(".rule drop reach")
    expect(reach.locator(".error code").first).to_have_text("unknown_relation")
    expect(reach.locator(".error mark")).to_have_text("reach")
    expect(reach).to_contain_text("there is no answer any more since version")
    expect(reach.locator("tbody tr")).to_have_count(3)
    beside.insert("edge", [(8, 9)])
    expect(edges.locator("tr.came")).to_have_text("89")
    with stratalog.connect(server.url, user="admin", password=PASSWORD) as other:
        other.graphs.drop(str(beside.kg))
    expect(edges.locator(".error code").first).to_have_text("not_found")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_live_queries_end_with_the_connection(page: Page, beside: stratalog.Client) -> None:
    live = subscribe(page, "?edge(X, Y)")
    expect(live.locator("tbody tr")).to_have_count(2)
    page.locator("#connect > summary").click()
    page.get_by_role("button", name="Disconnect").click()
    expect(live).to_contain_text("The connection is closed.")
    expect(live.get_by_role("button", name="Remove")).to_be_visible()


def test_many_rows_of_a_live_query_are_shown_in_part(page: Page, beside: stratalog.Client) -> None:
    beside.insert("n", range(2000))
    live = subscribe(page, "?n(X)")
    state = live.get_by_role("status")
    expect(state).to_contain_text("2,000 rows, the first 500 are shown")
    beside.insert("n", [5000])
    expect(live.locator("tbody tr").first).to_have_text("5000")
    expect(live.locator("tbody tr")).to_have_count(500)
    # As fast as they come, and none is lost.
    for number in range(50):
        beside.execute(f"+n({6000 + number})\n-n({number})", atomic=True)
    expect(state).to_contain_text("2,001 rows")
    # Several versions may come as one change, whose rows stand in their own order.
    expect(live.locator("tbody tr:not(.went)", has_text="6049")).to_have_count(1)


def test_a_live_query_in_arrow_says_how_much_it_is(page: Page, beside: stratalog.Client) -> None:
    live = subscribe(page, "?edge(X, Y)", more={"format": "arrow"})
    expect(live.get_by_role("status")).to_have_text(
        re.compile(r"Version \d+: [\d,]+ bytes of Arrow say what came and went; rows are shown with .* json")
    )
    expect(live.locator("table")).to_have_count(0)
    before = live.get_by_role("status").inner_text()
    beside.insert("edge", [(8, 9)])
    expect(live.get_by_role("status")).not_to_have_text(before)
    # A result in Arrow beside it is still a file.
    page.get_by_label("Type").select_option("execute")
    unfold(page)
    page.locator("#field-format").select_option("arrow")
    send(page, "?edge(X, Y)")
    expect(page.get_by_role("link", name="Save it as a file")).to_be_visible()


@pytest.mark.parametrize("width", [256, 1024])
def test_a_live_query_and_the_answer_are_both_seen(page: Page, beside: stratalog.Client, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    beside.insert("n", range(300))
    live = subscribe(page, "?n(X)")
    expect(live.locator("tbody tr")).to_have_count(300)
    page.get_by_label("Type").select_option("execute")
    send(page, "?edge(X, Y)")
    expect(page.locator("#answer caption")).to_contain_text("2 rows")
    assert in_view(page, "#answer table")
    if width == 1024:
        assert in_view(page, "#live-panel article")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
