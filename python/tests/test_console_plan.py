"""The console's view of plans."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

import stratalog
from conftest import PASSWORD, is_running, wait_until
from console_page import Console
from local_server import LocalServer

GRAPH = "console_plan"
LABEL = "Query whose plan is shown"


@pytest.fixture
def db(server: LocalServer) -> Iterator[stratalog.Client]:
    """An empty graph."""
    with stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=60) as db:
        db.create_kg(GRAPH)
        yield db
        db.execute(f".kg use default\n.kg drop {GRAPH}")


@pytest.fixture
def console(browser: Browser, server: LocalServer, db: stratalog.Client) -> Iterator[Console]:
    console = Console(browser, server)
    db.execute("+start(1)")
    console.open(f"#/{GRAPH}/plan")
    yield console
    console.close()


def test_a_plan_is_explained_without_running_anything(console: Console, db: stratalog.Client) -> None:
    db.execute("+edge[(1, 2), (2, 3)]\n+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)")
    page = console.page
    console.write("?path(1, X)", LABEL)
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_text("This is what is expected; nothing has run.")).to_be_visible()
    expect(page.get_by_text("rewrite magic sets")).to_be_visible()
    expect(page.get_by_role("heading", name="3 strata")).to_be_visible()
    expect(page.locator(".plan-stratum").nth(1)).to_contain_text("recursive")
    steps = page.get_by_role("table", name="Steps of rule 1 of stratum 2")
    expect(steps.get_by_role("row", name="probe edge(=X, Y)")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Time")).to_have_count(0)
    # The same by keyboard, of another query; and back by the browser.
    console.write("?edge(X, Y)", LABEL)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="1 stratum")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("textbox", name=LABEL)).to_have_text("?path(1, X)")
    expect(page.get_by_role("heading", name="3 strata")).to_be_visible()


def test_a_profile_measures_and_marks_what_was_farthest_from_expected(
    console: Console, db: stratalog.Client
) -> None:
    # A thing with many parts, where others have one.
    db.insert("bought", [[n, 7] for n in range(100)])
    db.insert("part", [[7, n] for n in range(1000)] + [[n, 0] for n in range(1000, 21_000)])
    page = console.page
    console.write("?bought(B, I), part(I, P), limit(5)", LABEL)
    page.get_by_role("button", name="Profile").click()
    expect(page.locator(".plan-answer")).to_contain_text("5 of 100,000 rows in ")
    assert "measured=1" in page.url
    worst = page.locator(".plan-worst li")
    expect(worst).to_have_count(1)
    expect(worst).to_contain_text(
        re.compile(r"\d+ times more rows by probe part\(=I, P\).*: 100,000, expected \d+")
    )
    expect(page.locator("tr.misestimated")).to_contain_text("times more")
    worst.first.get_by_role("button").click()
    expect(page.locator("tr.misestimated:focus")).to_have_count(1)
    # A folded stratum is unfolded for it.
    page.locator(".plan-stratum > summary").last.click()
    expect(page.locator("tr.misestimated").first).to_be_hidden()
    worst.first.get_by_role("button").click()
    expect(page.locator("tr.misestimated:focus")).to_be_visible()
    # Once more is measured once more.
    page.get_by_role("button", name="Profile").click()
    expect(page.locator(".plan-answer")).to_contain_text("5 of 100,000 rows in ")


def test_a_slow_profile_is_stopped(console: Console, db: stratalog.Client) -> None:
    page = console.page
    console.write("n(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)", LABEL)
    page.get_by_role("button", name="Profile").click()
    expect(page.get_by_text("The query runs…")).to_be_visible()
    wait_until(lambda: is_running(db, ".profile"))
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    wait_until(lambda: not is_running(db, ".profile"))
    # Whoever goes elsewhere does not leave it running, either.
    page.get_by_role("button", name="Profile").click()
    wait_until(lambda: is_running(db, ".profile"))
    console.go(GRAPH, "relations")
    expect(page.get_by_role("link", name="start")).to_be_visible()
    wait_until(lambda: not is_running(db, ".profile"))


def test_a_plan_writes_nothing_and_sees_what_the_session_has(console: Console, db: stratalog.Client) -> None:
    db.execute("+edge(1, 2)")
    page = console.page
    console.go(GRAPH, "ask")
    console.ask("mine(7)\n?mine(X)")
    expect(page.get_by_role("gridcell", name="7")).to_be_visible()
    for button, answer in (("Explain", "This is what is expected"), ("Profile", "1 row in")):
        console.go(
            GRAPH, "plan", q="+edge(5, 6)\n-edge(1, 2)\n+far(X) <- edge(X, _)\n.kg drop default\n?edge(X, Y)"
        )
        page.get_by_role("button", name=button).click()
        expect(page.get_by_text(answer)).to_be_visible()
        expect(page.get_by_text("4 statements of this program are left out")).to_be_visible()
        assert db.query("?edge(X, Y)").rows() == [(1, 2)]
    assert [row["name"] for row in db.query(".rel").dicts()] == ["edge", "start"]
    assert "default" in [graph["name"] for graph in db.query(".kg list").dicts()]
    # Facts and rules of a program serve it here, too.
    console.write("near(X) <- edge(X, _)\n?near(X)", LABEL)
    page.get_by_role("button", name="Profile").click()
    expect(page.locator(".plan-answer")).to_contain_text("1 row in")
    expect(page.get_by_text("left out")).to_have_count(0)
    console.write("+edge(5, 6)", LABEL)
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_text("There is no query here")).to_be_visible()
    console.write("?edgee(X, Y)", LABEL)
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_role("alert")).to_contain_text("there is no relation `edgee`")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_everybody_can_use_it(
    browser: Browser, server: LocalServer, db: stratalog.Client, width: int, scheme: str
) -> None:
    """What axe-core finds; and nothing is wider than the window."""
    db.insert("sale", [[n, 7 if n % 10 else n] for n in range(2000)])
    db.insert("wanted", [7])
    db.insert("名字" + "n" * 60, [f'<img src=x onerror="document.title=1"> {"long" * 30}'])
    console = Console(browser, server, width, scheme)
    page = console.page
    console.open(f"#/{GRAPH}/plan")
    expect(page.get_by_role("button", name="Explain")).to_be_visible()
    found = {"empty": console.axe()}
    console.go(GRAPH, "plan", q="?sale(S, I), wanted(I)", measured="1")
    expect(page.locator(".plan-answer")).to_be_visible()
    found["measured"] = console.axe() + ([] if console.fits() else ["wider than the window"])
    console.go(GRAPH, "plan", q=f'?名字{"n" * 60}("<img src=x onerror=alert(1)>{"long" * 30}")')
    expect(page.get_by_text("This is what is expected")).to_be_visible()
    found["hostile"] = console.axe() + ([] if console.fits() else ["wider than the window"])
    assert page.locator("img").count() == 0
    console.close()
    assert {place: each for place, each in found.items() if each} == {}
