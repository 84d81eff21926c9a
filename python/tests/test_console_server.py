"""The console's view of the server: who may see and do what there, and that it is done."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

import stratalog
from conftest import ENDLESS, PASSWORD, executable, is_running, wait_until
from console_page import Console
from local_server import LocalServer

GRAPH = "console_server"

#: What everybody sees, and what administrators see.
EVERYBODY = ["Status", "Sessions", "Log"]
ALL = "Status Metrics Requests|Live queries|Sessions Log Access Users Keys Backups Password"

#: Their names in addresses.
PARTS = (
    *("status", "metrics", "requests", "live", "sessions", "log"),
    *("access", "users", "keys", "backups", "password"),
)

# On a loaded machine it takes a while.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def admin(server: LocalServer) -> Iterator[stratalog.Client]:
    with stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=60) as admin:
        yield admin


@pytest.fixture
def db(admin: stratalog.Client) -> Iterator[stratalog.Client]:
    """A graph with something in it; users and keys that a test has made are taken away."""
    admin.create_kg(GRAPH)
    admin.execute("+edge[(1, 2), (2, 3)]")
    yield admin
    admin.execute(f".kg use default\n.kg drop {GRAPH}")
    for key in admin.keys.all():
        admin.keys.revoke(key.label)
    for user in admin.users.all():
        if user.username != "admin":
            admin.users.drop(user.username)


@pytest.fixture(scope="module")
def page_of_admin(browser: Browser, server: LocalServer) -> Iterator[Console]:
    console = Console(browser, server)
    console.open("#/default/admin")
    yield console
    console.close()


@pytest.fixture
def console(page_of_admin: Console, db: stratalog.Client) -> Iterator[Console]:
    page_of_admin.go(GRAPH, "admin")
    yield page_of_admin
    page_of_admin.go("default", "admin")


def tabs(console: Console) -> list[str]:
    """The parts that are offered."""
    return console.page.get_by_role("navigation", name="Parts").get_by_role("link").all_inner_texts()


def line(console: Console, text: str) -> Locator:
    """The line of a list in which a text stands as one cell."""
    page = console.page
    return page.get_by_role("row").filter(has=page.get_by_role("cell", name=text, exact=True))


def sure(console: Console, button: Locator) -> None:
    """Does what is asked about first."""
    name = button.inner_text()
    button.click()
    dialog = console.page.get_by_role("dialog")
    dialog.get_by_role("button", name=name, exact=True).click()
    expect(dialog).to_have_count(0)


def kept(console: Console) -> str:
    """All that the browser keeps, and all that stands in the page and its fields."""
    return str(
        console.page.evaluate(
            """() => JSON.stringify([{ ...localStorage }, { ...sessionStorage },
                document.cookie, location.href, document.documentElement.outerHTML, history.state,
                [...document.querySelectorAll("input, textarea")].map((field) => field.value)])"""
        )
    )


def test_everybody_sees_what_they_may(browser: Browser, server: LocalServer, db: stratalog.Client) -> None:
    db.users.create("owner-of-it", "ownership", "viewer")
    db.users.create("looker-only", "looking-glass", "viewer")
    db.access.grant(GRAPH, "owner-of-it", "owner")
    db.access.grant(GRAPH, "looker-only", "viewer")
    key = db.keys.create("reader", user="looker-only", scope="read")
    seen: dict[str, list[str]] = {}
    for user, password in (("owner-of-it", "ownership"), ("looker-only", "looking-glass"), ("", key)):
        console = Console(browser, server)
        page = console.page
        if user:
            console.open(f"#/{GRAPH}/admin", user, password)
        else:
            page.goto(f"{console.address}/console#/{GRAPH}/admin")
            page.get_by_label("an API key").check()
            page.get_by_label("API key", exact=True).fill(password)
            page.get_by_role("button", name="Log in").click()
        expect(page.get_by_text("Your level here")).to_be_visible()
        expect(page.locator("dt", has_text="Your level here").locator("+ dd")).to_have_text(
            re.compile("owner|viewer")
        )
        seen[user] = tabs(console)
        # Whoever knows the address of another part does not get it either.
        console.go(GRAPH, "admin/users")
        expect(page.get_by_text("There is no such part, or it is not for you.")).to_be_visible()
        # Of the sessions of others nothing is told.
        console.go(GRAPH, "admin/sessions")
        expect(page.get_by_text("this page").first).to_be_visible()
        expect(page.locator("tbody tr").first).to_be_visible()
        owners = page.locator("tbody tr td:first-child").all_inner_texts()
        assert set(owners) == {user or "looker-only"}
        console.close()
    assert seen == {
        "owner-of-it": [*EVERYBODY, "Access", "Password"],
        "looker-only": [*EVERYBODY, "Password"],
        "": EVERYBODY,
    }


def test_an_administrator_sees_everything(console: Console) -> None:
    expect(console.page.get_by_role("link", name="Access")).to_be_visible()
    assert tabs(console) == [
        part for group in ALL.split("|") for part in ([group] if "Live" in group else group.split())
    ]
    expect(console.page.locator("dt", has_text="Graph in use").locator("+ dd")).to_have_text(GRAPH)
    expect(console.page.locator("dt", has_text="Stored facts").locator("+ dd")).to_have_text(
        re.compile(r"\d")
    )


@pytest.mark.parametrize("keep", [False, True])
def test_ones_own_password_is_changed_and_the_page_goes_on(
    browser: Browser, server: LocalServer, db: stratalog.Client, keep: bool
) -> None:
    db.users.create("changer", "first-of-all", "viewer")
    db.access.grant(GRAPH, "changer", "viewer")
    console = Console(browser, server)
    console.open(f"#/{GRAPH}/admin/password", "changer", "first-of-all", keep=keep)
    page = console.page
    sent: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    first, again = page.get_by_label("New password"), page.get_by_label("The same again")
    change = page.get_by_role("button", name="Change the password")
    # What cannot be a password is told where it is written.
    for one, other in (
        ("two words", "two words"),
        ("changer", "changer"),
        ("//x", "//x"),
        ("second", "secnod"),
    ):
        first.fill(one)
        again.fill(other)
        change.click()
        assert page.evaluate("[...document.querySelectorAll('input:invalid')].length") > 0
    assert db.query("?edge(X, Y)").rows()
    first.fill("second-of-all")
    again.fill("second-of-all")
    if keep:
        page.get_by_label("Stay logged in").check()
    change.click()
    expect(page.get_by_text("Your password is changed.")).to_be_visible()
    expect(first).to_have_value("")
    expect(page.locator(".state")).to_have_text("connected")
    console.go(GRAPH, "ask")
    console.ask("?edge(X, Y)")
    expect(page.get_by_role("grid", name="Answer")).to_be_visible()
    there = kept(console)
    assert "first-of-all" not in there
    # No more of it stays than what was asked for.
    assert there.count("second-of-all") == (1 if keep else 0)
    assert "second-of-all" not in page.evaluate("JSON.stringify({...localStorage})")
    # Nothing of what was wrong was sent.
    assert not any("secnod" in frame or "two words" in frame for frame in sent)
    with pytest.raises(stratalog.AuthError):
        stratalog.connect(server.url, user="changer", password="first-of-all")
    stratalog.connect(server.url, user="changer", password="second-of-all").close()
    console.close()


def test_users_are_created_changed_and_dropped(
    console: Console, server: LocalServer, db: stratalog.Client
) -> None:
    page = console.page
    console.go(GRAPH, "admin/users")
    page.get_by_label("Name", exact=True).fill("grace")
    page.get_by_label("New password").fill("hopper-1906")
    page.get_by_label("The same again").fill("hopper-1906")
    page.get_by_label("Role").select_option("editor")
    page.get_by_role("button", name="Create").click()
    expect(line(console, "grace")).to_contain_text("editor")
    assert "hopper-1906" not in kept(console)
    stratalog.connect(server.url, user="grace", password="hopper-1906").close()
    # Somebody of that name is there already.
    page.get_by_label("Name", exact=True).fill("grace")
    page.get_by_label("New password").fill("hopper-2000")
    page.get_by_label("The same again").fill("hopper-2000")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("grace")
    assert "hopper-2000" not in page.locator("main").inner_text()
    # What is no name is not sent.
    page.get_by_label("Name", exact=True).fill("<b>")
    page.get_by_role("button", name="Create").click()
    assert page.get_by_label("Name", exact=True).evaluate("field => !field.validity.valid")
    line(console, "grace").get_by_role("button", name="Role").click()
    page.get_by_role("dialog").get_by_label(re.compile("^viewer")).check()
    page.get_by_role("dialog").get_by_role("button", name="Change").click()
    expect(line(console, "grace")).to_contain_text("viewer")
    with stratalog.connect(server.url, user="grace", password="hopper-1906") as grace:
        line(console, "grace").get_by_role("button", name="Password").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("New password").fill("hopper-1944")
        dialog.get_by_label("The same again").fill("hopper-1944")
        page.keyboard.press("Enter")
        expect(dialog).to_have_count(0)
        # It ends what was open with the one before.
        with pytest.raises(stratalog.Error):
            grace.query(".status")
    stratalog.connect(server.url, user="grace", password="hopper-1944").close()
    assert "hopper-1944" not in kept(console)
    sure(console, line(console, "grace").get_by_role("button", name="Drop"))
    expect(line(console, "grace")).to_have_count(0)
    assert [user.username for user in db.users.all()] == ["admin"]
    # Nobody drops themselves, or the first administrator.
    expect(line(console, "admin").get_by_role("button")).to_have_count(0)


def test_keys_are_created_shown_once_and_revoked(
    console: Console, server: LocalServer, db: stratalog.Client
) -> None:
    page = console.page
    db.users.create("grace", "hopper-1906", "editor")
    console.go(GRAPH, "admin/keys")
    page.get_by_label("Label").fill("nightly")
    page.get_by_label("Owner").select_option("grace")
    page.get_by_label("Scope").select_option("read")
    page.get_by_label("Expires").select_option("30d")
    page.get_by_role("button", name="Create").click()
    dialog = page.get_by_role("dialog", name="New API key")
    key = dialog.get_by_label("API key").input_value()
    assert re.fullmatch("[0-9a-f]{64}", key)
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == key
    page.keyboard.press("Escape")
    expect(line(console, "nightly")).to_contain_text(re.compile(r"grace.*20\d\d-.*read"))
    assert key not in kept(console)
    with stratalog.connect(server.url, api_key=key) as grace:
        with pytest.raises(stratalog.AccessDenied):
            grace.execute("+edge(7, 8)")
        [there] = db.keys.all()
        assert (there.label, there.owner, there.scope) == ("nightly", "grace", "read")
        assert there.expires is not None
        sure(console, line(console, "nightly").get_by_role("button", name="Revoke"))
        expect(page.get_by_text("There are no keys.")).to_be_visible()
        with pytest.raises(stratalog.Error):
            grace.query(".status")
    # At a moment of one's own, by the clock here.
    page.get_by_label("Label").fill("until-then")
    page.get_by_label("Expires").select_option("at")
    page.get_by_label("On, by the clock of this browser").fill("2099-01-31T12:00")
    page.get_by_role("button", name="Create").click()
    dialog.get_by_role("button", name="Done").click()
    expect(line(console, "until-then")).to_contain_text(re.compile("2099-0[12]-.*all"))
    page.get_by_label("Label").fill("two words")
    page.get_by_role("button", name="Create").click()
    assert page.get_by_label("Label").evaluate("field => !field.validity.valid")
    assert [each.label for each in db.keys.all()] == ["until-then"]


def test_a_request_that_runs_is_seen_and_killed(
    console: Console, server: LocalServer, db: stratalog.Client
) -> None:
    page = console.page
    console.go(GRAPH, "admin/requests")
    expect(page.get_by_text("Nothing runs but what asks for this list.")).to_be_visible()
    outcome: list[Exception] = []

    def ask() -> None:
        with stratalog.connect(server.url, user="admin", password=PASSWORD, kg=GRAPH) as other:
            try:
                other.execute("start(1)\n" + ENDLESS)
            except stratalog.Error as error:
                outcome.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        wait_until(lambda: is_running(db, "start(1)"))
        row = page.get_by_role("row").filter(has_text="n(Y) <- n(X)")
        expect(row).to_contain_text("running")
        # A list that stands still does not go away below the hand.
        page.get_by_role("button", name="Hold still").click()
        sure(console, row.get_by_role("button", name="Kill"))
        thread.join(60)
        assert isinstance(outcome[0], stratalog.Cancelled)
        page.get_by_role("button", name="Go on").click()
        expect(row).to_have_count(0)
    finally:
        for request in db.requests.all():
            if "start(1)" in request.program:
                db.requests.kill(request.id)
        thread.join(60)


def test_sessions_and_live_queries_of_others_are_seen_and_ended(
    console: Console, server: LocalServer, db: stratalog.Client
) -> None:
    page = console.page
    db.users.create("grace", "hopper-1906", "viewer")
    db.access.grant(GRAPH, "grace", "viewer")
    with stratalog.connect(server.url, user="grace", password="hopper-1906", kg=GRAPH) as grace:
        live = grace.live("?edge(X, Y)")
        next(live)
        console.go(GRAPH, "admin/live")
        row = page.get_by_role("row").filter(has_text="?edge(X, Y)")
        expect(row).to_contain_text(GRAPH)
        sure(console, row.get_by_role("button", name="Kill"))
        with pytest.raises(stratalog.Error):
            next(live)
        expect(row).to_have_count(0)
        console.go(GRAPH, "admin/sessions")
        # One's own are not ended from here.
        expect(page.locator(".tag", has_text="this page")).to_have_count(2)
        mine = line(console, "grace")
        while mine.count() > 0:
            before = mine.count()
            sure(console, mine.first.get_by_role("button", name="End"))
            wait_until(lambda before=before: mine.count() < before)  # type: ignore[misc]
        with pytest.raises(stratalog.Error):
            grace.query("?edge(X, Y)")


def test_the_log_tells_what_happens(console: Console, db: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "admin/log")
    expect(page.get_by_role("gridcell", name="edge", exact=True)).to_be_visible()
    db.execute("+node(1)\n-edge(1, 2)\n+linked(X) <- edge(X, _)")
    expect(page.get_by_role("gridcell", name="linked", exact=True)).to_be_visible()
    # The latest first.
    assert [row[2:4] for row in console.rows("Events")][1:3] == [["edge", "delete"], ["node", "insert"]]
    page.get_by_label("Filter").fill("edge delete")
    expect(page.get_by_text(re.compile("1 of [0-9]+ events"))).to_be_visible()
    assert len(console.rows("Events")) == 1
    # The filter is part of the address, and what happens meanwhile is not lost.
    assert "filter=edge" in page.url
    console.go(GRAPH, "admin/status")
    db.execute("-edge(2, 3)")
    page.go_back()
    expect(page.get_by_text(re.compile("2 of [0-9]+ events"))).to_be_visible()


def test_levels_are_given_and_taken_away(browser: Browser, server: LocalServer, db: stratalog.Client) -> None:
    db.users.create("owner-of-it", "ownership", "viewer")
    db.users.create("other", "otherness", "viewer")
    db.access.grant(GRAPH, "owner-of-it", "owner")
    console = Console(browser, server)
    console.open(f"#/{GRAPH}/admin/access", "owner-of-it", "ownership")
    page = console.page
    page.get_by_label("User", exact=True).fill("other")
    page.get_by_label("Level", exact=True).select_option("editor")
    page.get_by_role("button", name="Give").click()
    expect(line(console, "other")).to_contain_text("editor")
    with stratalog.connect(server.url, user="other", password="otherness", kg=GRAPH) as other:
        other.execute("+edge(7, 8)")
        sure(console, line(console, "other").get_by_role("button", name="Revoke"))
        expect(line(console, "other")).to_have_count(0)
        with pytest.raises(stratalog.Error):
            other.execute("+edge(8, 9)")
    page.get_by_label("User", exact=True).fill("nobody-there")
    page.get_by_role("button", name="Give").click()
    expect(page.get_by_role("alert")).to_contain_text("nobody-there")
    # Whoever gives it away is asked, and then the part is gone.
    page.get_by_label("User", exact=True).fill("owner-of-it")
    page.get_by_label("Level", exact=True).select_option("viewer")
    page.get_by_role("button", name="Give").click()
    expect(page.get_by_role("dialog")).to_contain_text("That is you")
    page.get_by_role("dialog").get_by_role("button", name="Give").click()
    expect(page.get_by_text("There is no such part, or it is not for you.")).to_be_visible()
    assert "Access" not in tabs(console)
    console.close()


def test_metrics_move_with_what_others_ask(console: Console, server: LocalServer) -> None:
    page = console.page
    console.go(GRAPH, "admin/metrics")
    chart = page.get_by_role("img", name=re.compile("^Programs a second"))
    # What was before counts no more: the page itself asks for a few things only.
    expect(chart).to_have_attribute("aria-label", re.compile(r"last \d(\.\d)?,"), timeout=40_000)
    ended = threading.Event()

    def ask() -> None:
        with stratalog.connect(server.url, user="admin", password=PASSWORD, kg=GRAPH) as other:
            while not ended.wait(0.01):
                other.query("?edge(X, Y)")

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        expect(chart).to_have_attribute(
            "aria-label", re.compile(r"last (1[5-9]|[2-9]\d|\d{3}|\d,\d)"), timeout=40_000
        )
        expect(page.get_by_role("img", name=re.compile("^Memory"))).to_be_visible()
        expect(page.get_by_role("img", name=re.compile("^Time to the answer.*p50.*p95"))).to_be_visible()
    finally:
        ended.set()
        thread.join()
    page.get_by_label("Search metrics").fill("service_queries_total")
    expect(line(console, "service_queries_total")).to_be_visible()


def test_backups_are_made_with_and_without_a_folder(
    console: Console, browser: Browser, server: LocalServer, tmp_path: Path
) -> None:
    page = console.page
    console.go(GRAPH, "admin/backups")
    expect(page.get_by_text("no folder of backups is set")).to_be_visible()
    expect(page.get_by_role("button", name="Back up now")).to_have_count(0)
    for wrong in ("../up", "list", ".hidden"):
        page.get_by_label("Name").fill(wrong)
        page.get_by_role("button", name="Back up").click()
        assert page.get_by_label("Name").evaluate("field => !field.validity.valid")
    settings = {
        "SERVICE_BACKUP__FOLDER": str(tmp_path / "backups"),
        "SERVICE_STORAGE__BACKUP_DIR": str(tmp_path / "named"),
    }
    with LocalServer(executable(), tmp_path, PASSWORD, settings) as own:
        other = Console(browser, own)
        other.open("#/default/admin/backups")
        before = other.page.locator("tbody tr").count()
        other.page.get_by_role("button", name="Back up now").click()
        expect(other.page.locator("tbody tr").nth(before)).to_be_visible()
        other.page.get_by_label("Name").fill("monday")
        other.page.get_by_role("button", name="Back up", exact=True).click()
        expect(other.page.get_by_text(re.compile("monday"))).to_be_visible()
        assert (tmp_path / "named/monday").is_dir()
        # A second one of this name would take its place.
        other.page.get_by_label("Name").fill("monday")
        other.page.get_by_role("button", name="Back up", exact=True).click()
        expect(other.page.get_by_role("alert")).to_contain_text("monday")
        other.close()


def test_everybody_can_use_it(console: Console, db: stratalog.Client) -> None:
    page = console.page
    db.users.create("grace", "hopper-1906", "viewer")
    db.keys.create("nightly", user="grace")
    found: dict[str, list[str]] = {}
    for name in PARTS:
        page.set_viewport_size({"width": 390, "height": 800})
        console.go(GRAPH, f"admin/{name}")
        expect(page.get_by_role("heading", level=2).first).to_be_visible()
        expect(page.locator("main .waiting")).to_have_count(0)
        # Where not all parts have room, the one that one looks at is seen.
        expect(page.get_by_role("navigation", name="Parts").locator("[aria-current]")).to_be_in_viewport(
            ratio=0.95
        )
        for width, is_dark in ((390, False), (1280, True)):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme="dark" if is_dark else "light")
            # What has just come is marked for a moment.
            page.wait_for_timeout(500)
            found[f"{name} {width}"] = console.axe() + ([] if console.fits() else ["too wide"])
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(color_scheme="light")
    console.go(GRAPH, "admin/users")
    button = line(console, "grace").get_by_role("button", name="Role")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    found["role"] = console.axe()
    page.keyboard.press("Escape")
    # The keyboard is where it was.
    expect(button).to_be_focused()
    assert {what: each for what, each in found.items() if each} == {}
