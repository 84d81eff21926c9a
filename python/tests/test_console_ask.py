"""The console's editor, and answers as a table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, expect

import stratalog
from conftest import ENDLESS, PASSWORD
from console_page import Console
from local_server import LocalServer


@pytest.fixture
def db(server: LocalServer) -> Iterator[stratalog.Client]:
    """An empty graph."""
    with stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=60) as db:
        db.create_kg("console_ask")
        yield db
        db.execute(".kg use default\n.kg drop console_ask")


@pytest.fixture
def console(browser: Browser, server: LocalServer, db: stratalog.Client) -> Iterator[Console]:
    console = Console(browser, server)
    console.open("#/console_ask/ask")
    yield console
    console.close()


def test_an_empty_graph_says_how_to_begin_and_takes_a_fact(console: Console, db: stratalog.Client) -> None:
    page = console.page
    expect(page.get_by_text("There is nothing in this graph yet.")).to_be_visible()
    console.ask('+parent("ada", "bob")')
    expect(page.get_by_text("inserted 1 fact into parent")).to_be_visible()
    assert db.query("?parent(X, Y)").rows() == [("ada", "bob")]
    console.ask("?parent(X, Y)")
    expect(page.get_by_role("gridcell", name="bob")).to_be_visible()
    assert console.rows() == [["ada", "bob"]]


def test_rows_are_counted_and_a_limit_is_said(console: Console, db: stratalog.Client) -> None:
    db.insert("n", list(range(5000)))
    page = console.page
    page.get_by_label("at most").select_option("1000")
    console.ask("?n(X:asc)")
    expect(page.locator(".summary")).to_contain_text("1,000 of 5,000 rows")
    page.get_by_label("at most").select_option("100000")
    console.ask("?n(X:asc)")
    expect(page.locator(".summary")).to_contain_text("5,000 rows")


def test_a_mistake_is_shown_with_its_place_and_what_to_do(console: Console, db: stratalog.Client) -> None:
    db.execute("+edge(1, 2)")
    page = console.page
    console.ask("// first\n?edgee(X, Y)")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("there is no relation `edgee`")
    expect(alert).to_contain_text("did you mean `edge`?")
    assert alert.locator("mark").inner_text() == "edgee"
    alert.get_by_role("button", name="line 2, column 2").click()
    page.keyboard.insert_text("!")
    expect(page.get_by_role("textbox", name="Program")).to_contain_text("?!edgee(X, Y)")


def test_while_one_types_errors_are_marked_and_mended_and_names_offered(
    console: Console, db: stratalog.Client
) -> None:
    db.execute("+edge(from: int, to: int)")
    page = console.page
    console.write("?edgee(X, Y)")
    mark = page.locator(".cm-lintRange-error")
    expect(mark).to_have_text("edgee")
    mark.hover()
    page.get_by_role("button", name="Action: edge.").click()
    expect(page.get_by_role("textbox", name="Program")).to_contain_text("?edge(X, Y)")
    expect(mark).to_have_count(0)
    console.write("")
    page.keyboard.type("?ed")
    expect(page.get_by_role("option", name="edge")).to_be_visible()
    page.get_by_role("option", name="edge").click()
    expect(page.get_by_role("textbox", name="Program")).to_contain_text("?edge(")
    assert db.query("?edge(X, Y)").rows() == []


def test_a_program_is_laid_out(console: Console) -> None:
    page = console.page
    console.write("+p( X,Y )<-e(X,Y) // kept")
    page.get_by_role("button", name="Format").click()
    expect(page.get_by_role("textbox", name="Program")).to_contain_text("+p(X, Y) <- e(X, Y)  // kept")
    console.write("?p(")
    page.get_by_role("button", name="Format").click()
    expect(page.get_by_role("alert")).to_contain_text("is not closed")


def test_parameters_are_fields_whose_values_are_never_text_of_the_program(
    console: Console, db: stratalog.Client
) -> None:
    db.insert("owns", [["ada", 1], ['x"), owns(Y, _', 2]])
    page = console.page
    console.write("?owns($who, N)")
    page.get_by_label("$who").fill('x"), owns(Y, _')
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("gridcell", name="2")).to_be_visible()
    console.write("?owns(Who, $n)")
    page.get_by_label("$n").fill("1")
    expect(page.locator(".parameters")).to_contain_text("int")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("gridcell", name="ada")).to_be_visible()


def test_what_runs_can_be_cancelled_and_the_selection_be_run_alone(
    console: Console, db: stratalog.Client
) -> None:
    db.insert("n", [1])
    page = console.page
    console.ask("m(X) <- n(X)\nm(Y) <- m(X), Y = X + 1\n?m(X)")
    expect(page.locator(".waiting")).to_contain_text("rounds, ")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_contain_text("cancelled")
    console.write("?n(X)\n?nothing(X)")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+End")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("gridcell", name="1")).to_be_visible()


def test_history_and_saved_programs_come_back(console: Console, db: stratalog.Client) -> None:
    db.insert("n", [1, 2])
    page = console.page
    console.ask("?n(X:asc)")
    expect(page.get_by_role("grid", name="Answer")).to_be_visible()
    console.ask(".user password secret-words-here x")
    expect(page.get_by_role("alert")).to_be_visible()
    # What has a password in it is no part of an address.
    assert "secret" not in page.url
    console.write("?n(Y), Y > 1")
    page.get_by_role("button", name="Saved").click()
    page.get_by_label("Save what is in the editor as").fill("the large ones")
    page.get_by_role("button", name="Save", exact=True).click()
    page.keyboard.press("Escape")
    page.reload()
    console.open("#/console_ask/ask")
    page.get_by_role("button", name="History").click()
    history = page.get_by_role("dialog", name="History")
    expect(history).to_contain_text("2 rows")
    # What has a password in it is not kept.
    expect(history).not_to_contain_text("secret")
    history.get_by_role("button", name="?n(X:asc)").click()
    expect(page.get_by_role("textbox", name="Program")).to_have_text("?n(X:asc)")
    page.get_by_role("button", name="Saved").click()
    page.get_by_role("dialog").get_by_role("button", name="the large ones").first.click()
    expect(page.get_by_role("textbox", name="Program")).to_have_text("?n(Y), Y > 1")


def test_a_graph_brings_questions_along(console: Console, db: stratalog.Client) -> None:
    db.insert("n", [1, 2])
    page = console.page
    console.write("?n(X:desc)")
    page.get_by_role("button", name="Saved").click()
    page.get_by_label("Save what is in the editor as").fill("From the largest")
    page.get_by_label("in the graph").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Of this graph")).to_be_visible()
    page.reload()
    console.open("#/console_ask/ask")
    page.get_by_role("link", name="From the largest").click()
    expect(page.get_by_role("grid", name="Answer")).to_be_visible()
    assert console.rows() == [["2"], ["1"]]


def test_a_link_asks_what_only_reads_and_only_shows_what_writes(
    console: Console, db: stratalog.Client
) -> None:
    db.insert("n", [7])
    page = console.page
    console.go("console_ask", "ask/table", q="?n(X)")
    expect(page.get_by_role("gridcell", name="7")).to_be_visible()
    console.go("console_ask", "ask/table", q="-n(X) <- n(X)")
    expect(page.get_by_role("textbox", name="Program")).to_have_text("-n(X) <- n(X)")
    page.wait_for_timeout(500)
    assert db.query("?n(X)").rows() == [(7,)]
    # The program before is one step back.
    page.go_back()
    expect(page.get_by_role("textbox", name="Program")).to_have_text("?n(X)")


def test_what_an_address_asks_for_is_asked_on_the_graph_that_it_names(
    console: Console, db: stratalog.Client
) -> None:
    db.insert("here", ["the first"])
    db.create_kg("console_ask_2")
    try:
        db.insert("here", ["the second"])
        for graph, text in [("console_ask_2", "the second"), ("console_ask", "the first")] * 5:
            # Before it is the one in use, and from another view.
            console.go(graph, "ask/table", q="?here(X)")
            expect(console.page.get_by_role("gridcell", name=text)).to_be_visible()
            console.go(graph, "rules")
    finally:
        console.go("console_ask", "rules")
        db.execute(".kg use console_ask\n.kg drop console_ask_2")


@pytest.fixture
def another(db: stratalog.Client) -> Iterator[str]:
    """A second graph."""
    db.create_kg("console_ask_2")
    db.execute(".kg use console_ask")
    yield "console_ask_2"
    db.execute(".kg use console_ask\n.kg drop console_ask_2")


def test_whoever_goes_back_before_the_session_has_gone_over_is_where_the_address_says(
    console: Console, db: stratalog.Client, another: str
) -> None:
    page = console.page
    db.insert("start", [1])
    console.ask(ENDLESS)
    expect(page.get_by_text("Running…")).to_be_visible()
    page.evaluate("fragment => { location.hash = fragment }", f"#/{another}/ask")
    expect(page.get_by_text("A program still runs.")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("textbox", name="Program")).to_be_visible()
    expect(page.get_by_label("Knowledge graph")).to_have_value("console_ask")
    console.ask('+here("it is")')
    expect(page.get_by_text("inserted 1 fact into here")).to_be_visible()
    assert db.query("?here(X)").rows() == [("it is",)]


def test_the_page_follows_a_program_to_another_graph_also_if_it_fails_there(
    console: Console, db: stratalog.Client, another: str
) -> None:
    page = console.page
    db.insert("start", [7])
    console.ask(f".kg use {another}\n?nothing_of_the_kind(X)")
    expect(page.get_by_label("Knowledge graph")).to_have_value(another)
    expect(page.get_by_role("alert")).to_contain_text("nothing_of_the_kind")
    console.ask(".kg use console_ask\n?start(X)")
    expect(page.get_by_label("Knowledge graph")).to_have_value("console_ask")
    expect(page.get_by_role("gridcell", name="7")).to_be_visible()


def test_parameters_of_an_address_are_those_that_are_asked_with(
    console: Console, db: stratalog.Client
) -> None:
    page = console.page
    db.insert("owns", [["ada", "engine"], ["bob", "boat"]])
    for who, thing in [("ada", "engine"), ("bob", "boat")]:
        console.go("console_ask", "ask/table", q="?owns($who, X)", p=f'{{"who": "{who}"}}')
        expect(page.get_by_role("gridcell", name=thing)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("gridcell", name="engine")).to_be_visible()
    expect(page.get_by_label("$who")).to_have_value("ada")


def test_whoever_logs_in_after_another_finds_nothing_of_them(console: Console, db: stratalog.Client) -> None:
    page = console.page
    db.execute(".user create console_next viewer-words viewer\n.kg acl grant console_ask console_next viewer")
    try:
        console.ask('?X <- X = "only for admin"')
        expect(page.get_by_role("gridcell", name="only for admin")).to_be_visible()
        page.get_by_role("button", name="Log out").click()
        page.get_by_label("User", exact=True).fill("console_next")
        page.get_by_label("Password", exact=True).fill("viewer-words")
        page.evaluate("location.hash = '#/console_ask/ask'")
        page.get_by_role("button", name="Log in").click()
        expect(page.locator(".who")).to_contain_text("console_next")
        expect(page.get_by_role("textbox", name="Program")).to_be_visible()
        assert "only for admin" not in page.locator("main").inner_text()
    finally:
        db.execute(".user drop console_next")


def test_a_row_that_is_shown_stays_when_rows_are_sorted(console: Console, db: stratalog.Client) -> None:
    page = console.page
    db.insert("n", [10, 20, 30])
    console.ask("?n(X:asc)")
    page.get_by_role("gridcell", name="30").click()
    expect(page.get_by_role("complementary", name="Row 3")).to_contain_text("30")
    for _ in range(2):
        page.get_by_role("button", name="X int").click()
    expect(page.get_by_role("gridcell").first).to_have_text("30")
    expect(page.get_by_role("complementary", name="Row 3")).to_contain_text("30")


def test_a_hundred_thousand_rows_are_sorted_filtered_and_walked_through(
    console: Console, db: stratalog.Client
) -> None:
    db.insert("pair", [[n, f"name {n * 7919 % 100_003}"] for n in range(100_000)])
    page = console.page
    console.ask("?pair(N:asc, Name)")
    grid = page.get_by_role("grid", name="Answer")
    expect(grid).to_have_attribute("aria-rowcount", "100001")
    assert len(console.rows()) < 100
    grid.evaluate("element => { element.scrollTop = element.scrollHeight }")
    expect(page.get_by_role("gridcell", name="99999", exact=True)).to_be_visible()
    page.get_by_role("button", name="Name string").click()
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    grid.evaluate("element => { element.scrollTop = 0 }")
    expect(page.get_by_role("gridcell", name="name 0", exact=True)).to_be_visible()
    page.get_by_label("Filter rows").fill("name 9999")
    expect(page.locator(".answer-tools > [role=status]")).to_contain_text("11 of 100,000 rows")
    # From cell to cell by the keyboard, to the last and back.
    page.get_by_label("Filter rows").fill("")
    expect(grid).to_have_attribute("aria-rowcount", "100001")
    page.get_by_role("gridcell").first.focus()
    page.keyboard.press("Control+End")
    expect(page.locator('[data-place="99999 1"]')).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-place="99998 0"]')).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Row")).to_be_visible()


def test_another_answer_begins_in_an_order_of_its_own(console: Console, db: stratalog.Client) -> None:
    db.insert("n", list(range(500)))
    page = console.page
    console.ask("?n(X:asc)")
    expect(page.get_by_role("grid", name="Answer")).to_have_attribute("aria-rowcount", "501")
    page.get_by_role("button", name="X int").click()
    page.get_by_role("button", name="X int").click()
    expect(page.get_by_role("gridcell").first).to_have_text("499")
    console.ask("?n(X:asc), X < 3")
    expect(page.get_by_role("grid", name="Answer")).to_have_attribute("aria-rowcount", "4")
    expect(page.get_by_role("columnheader", name="X")).not_to_have_attribute("aria-sort", "descending")
    expect(page.get_by_role("gridcell").first).to_have_text("0")


def test_every_type_is_shown_and_a_row_whole(console: Console, db: stratalog.Client) -> None:
    db.execute(
        "+t(i: int, f: float, s: string, b: bool, t: timestamp, v: vector(2), l: list)\n"
        '+t(9007199254740993, 2.0, "x", true, t"2026-01-02T03:04:05Z", [1.5, 2.0], list(1, "a"))\n'
        "+t(null, null, null, null, null, null, null)"
    )
    console.ask("?t(I:desc, F, S, B, T, V, L)")
    expect(console.page.get_by_role("grid", name="Answer")).to_be_visible()
    rows = console.rows()
    assert rows[0][:5] == ["9007199254740993", "2", "x", "true", "2026-01-02T03:04:05Z"]
    assert rows[1] == ["null"] * 7


def test_hostile_content_is_text(console: Console, db: stratalog.Client) -> None:
    texts = [
        '<img src=x onerror="document.title=1">',
        "<script>alert(1)</script>",
        "a\u202egnp.exe",
        "zero\u200bwidth\u0000",
        "x" * 1_000_000,
        "javascript:alert(1)",
        "{{7*7}}${7*7}",
    ]
    db.insert("text", [[number, text] for number, text in enumerate(texts)])
    page = console.page
    console.ask("?text(N:asc, S)")
    expect(page.get_by_role("grid", name="Answer")).to_be_visible()
    rows = console.rows()
    assert rows[0][1] == texts[0]
    assert rows[1][1] == texts[1]
    assert rows[2][1] == "a\\u202egnp.exe"
    assert rows[3][1] == "zero\\u200bwidth\\u0000"
    assert len(rows[4][1]) < 1000
    page.get_by_role("gridcell", name="4", exact=True).click()
    detail = page.get_by_role("complementary", name="Row 5")
    expect(detail).to_contain_text("5,000 of 1,000,000 signs")
    assert page.locator("img, script:not([type=module])").count() == 0
    assert "Stratalog" in page.title()
    console.go("console_ask", "relations/<img src=x onerror=alert(1)>")
    page.wait_for_timeout(300)
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("kind", ["CSV", "JSON", "Parquet"])
def test_what_is_shown_can_be_saved(
    console: Console, db: stratalog.Client, kind: str, tmp_path: Path
) -> None:
    db.insert("pair", [[2**60 + n, f'name "{n}", {n}\nline'] for n in range(1000)])
    page = console.page
    console.ask("?pair(N:asc, Name)")
    expect(page.get_by_role("grid", name="Answer")).to_be_visible()
    page.get_by_label("Filter rows").fill('"99')
    expect(page.locator(".answer-tools > [role=status]")).to_contain_text("11 of 1,000 rows")
    page.get_by_role("button", name="Save…").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=kind, exact=True).click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    expected = [(2**60 + n, f'name "{n}", {n}\nline') for n in (99, *range(990, 1000))]
    if kind == "CSV":
        rows = list(csv.reader(io.StringIO(file.read_text(), newline="")))
        assert rows[0] == ["N", "Name"]
        assert [(int(n), name) for n, name in rows[1:]] == expected
    elif kind == "JSON":
        assert [(row["N"], row["Name"]) for row in json.loads(file.read_text())] == expected
    else:
        table = pq.read_table(file)
        assert [tuple(row.values()) for row in table.to_pylist()] == expected
        assert str(table.schema.field("N").type) == "int64"


def test_after_a_restart_of_the_server_the_page_goes_on(
    browser: Browser, own_server: LocalServer, tmp_path: Path
) -> None:
    from conftest import executable

    console = Console(browser, own_server)
    console.open("#/default/ask")
    page = console.page
    console.ask("+n(1)")
    expect(page.get_by_text("inserted 1 fact into n")).to_be_visible()
    port = int(own_server.url.rsplit(":", 1)[1])
    own_server.kill()
    expect(page.locator(".state")).to_contain_text("connection lost")
    with LocalServer(executable(), tmp_path, PASSWORD, port=port):
        expect(page.locator(".state")).to_have_text("connected")
        console.ask("?n(X)")
        expect(page.get_by_role("gridcell", name="1")).to_be_visible()
    console.close()


def test_what_one_may_not_do_is_not_offered(
    browser: Browser, server: LocalServer, db: stratalog.Client
) -> None:
    db.execute(
        "+edge(1, 2)\n+p(X) <- edge(X, _)\n.user create looker looking-glass viewer\n"
        ".kg acl grant console_ask looker viewer"
    )
    console = Console(browser, server)
    try:
        console.open("#/console_ask/relations/edge", "looker", "looking-glass")
        page = console.page
        expect(page.get_by_role("heading", name="edge")).to_be_visible()
        expect(page.get_by_role("button", name="Drop")).to_have_count(0)
        expect(page.get_by_role("option", name="New graph…")).to_have_count(0)
        console.go("console_ask", "ask")
        console.ask("+edge(2, 3)")
        expect(page.get_by_role("alert")).to_contain_text("access denied")
        # A right that is taken away while the page is open.
        db.execute(".kg acl revoke console_ask looker")
        console.ask("?edge(X, Y)")
        expect(page.get_by_role("alert")).to_be_visible()
        db.execute(".user drop looker")
        expect(page.get_by_role("button", name="Log in")).to_be_visible()
        console.close()
    finally:
        if any(user.username == "looker" for user in db.users.all()):
            db.execute(".user drop looker")
