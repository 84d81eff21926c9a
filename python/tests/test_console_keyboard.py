"""The console by keyboard alone: one gets everywhere, sees where one is, and is never nowhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import stratalog
from conftest import PASSWORD
from console_page import Console
from local_server import LocalServer

GRAPH = "console_keys"

PROGRAM = """\
+edge[(1, 2), (2, 3), (3, 4), (1, 5)]
+path(X, Y) <- edge(X, Y)
+path(X, Z) <- path(X, Y), edge(Y, Z)
+lone(X) <- edge(X, _), !path(X, X)
+reach(X, count<Y>) <- path(X, Y)"""

#: What is wrong with where the keyboard is, in a word; and whether it is in the page at all.
WHERE = """() => {
    const at = document.activeElement;
    if (at === null || at === document.body) return "nowhere";
    const hasRing = (element) => {
        if (!element) return false;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
    };
    // A line of a proof has it instead of all that is below it, an editor around it, a relation as its edge.
    const line = at.matches("[role=treeitem]") ? at.querySelector(".proof-line") : null;
    const edge = at.querySelector(":scope > rect");
    const isThick = edge !== null && parseFloat(getComputedStyle(edge).strokeWidth) >= 2;
    const what = `${at.outerHTML.slice(0, 120)}`;
    if (![at, line, at.closest(".editor")].some(hasRing) && !isThick) return `not seen: ${what}`;
    const { left, right, top, bottom } = at.getBoundingClientRect();
    const isInView = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
    return isInView ? "" : `not in view: ${what}`;
}"""

#: What the keyboard has to come to. Of what has keys of its own, as a table has, one element is enough, and
#: one radio button of each group. Answers what has keys of its own and nothing that the keyboard comes to.
STOPS = """() => {
    const own = "[role=grid], [role=tree], svg";
    const all = [...document.querySelectorAll(
        "a[href], button, input, select, textarea, summary, [contenteditable=true], [tabindex]"
    )];
    const seen = all.filter((each) => each.checkVisibility() && !each.matches(":disabled"));
    // Browsers say -1 of what can be written in.
    const isStop = (each) => each.tabIndex >= 0 || each.matches("[contenteditable=true]");
    const groups = new Set();
    window.stops = seen.filter((each) => {
        if (each.matches("[type=radio]")) {
            if (groups.has(each.name)) return false;
            groups.add(each.name);
        }
        return isStop(each);
    });
    const within = new Set(seen.map((each) => each.closest(own)).filter((each) => each !== null));
    return [...within]
        .filter((each) => !window.stops.some((stop) => each.contains(stop)))
        .map((each) => `cannot be come to: ${each.outerHTML.slice(0, 120)}`);
}"""

#: The stops that the keyboard has not come to.
MISSED = """() => {
    const radios = [...window.visited].filter(({ type }) => type === "radio").map(({ name }) => name);
    return window.stops
        .filter((each) => !window.visited.has(each) && !(each.type === "radio" && radios.includes(each.name)))
        .map((each) => each.outerHTML.slice(0, 120));
}"""


@pytest.fixture(scope="module")
def admin(server: LocalServer) -> Iterator[stratalog.Client]:
    with stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=60) as admin:
        yield admin


@pytest.fixture
def db(admin: stratalog.Client) -> Iterator[stratalog.Client]:
    """A graph with rules."""
    admin.create_kg(GRAPH)
    admin.execute(PROGRAM)
    yield admin
    admin.execute(f".kg use default\n.kg drop {GRAPH}")


@pytest.fixture(scope="module")
def opened(browser: Browser, server: LocalServer) -> Iterator[Console]:
    """A page that is logged in."""
    console = Console(browser, server)
    console.open("#/default/ask")
    yield console
    console.close()


@pytest.fixture
def console(opened: Console, db: stratalog.Client) -> Iterator[Console]:
    opened.page.set_viewport_size({"width": 1280, "height": 800})
    yield opened
    # Not on a graph that goes.
    opened.page.keyboard.press("Escape")
    opened.go("default", "ask")


def where(page: Page) -> str:
    return str(page.evaluate(WHERE))


def to(page: Page, goal: Locator, key: str = "Tab", most: int = 60) -> None:
    """Goes on by a key until something has the keyboard; wherever that is on the way, it is seen."""
    goal.wait_for()
    for _ in range(most):
        if goal.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press(key)
        assert where(page) in ("", "nowhere")
    raise AssertionError(f"not reached: {goal}")


def press(page: Page, *keys: str) -> None:
    """Presses keys; after each, the keyboard is somewhere."""
    for key in keys:
        page.keyboard.press(key)
        expect(page.locator("body")).not_to_be_focused()


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def link(page: Page, name: str) -> Locator:
    return page.locator("main").get_by_role("link", name=name, exact=True)


def follow(page: Page, goal: Locator) -> None:
    """Goes to something and presses Enter there."""
    to(page, goal)
    page.keyboard.press("Enter")


def test_one_logs_in_chooses_a_graph_and_logs_out(
    browser: Browser, server: LocalServer, db: stratalog.Client
) -> None:
    console = Console(browser, server)
    page = console.page
    page.goto(f"{console.address}/console")
    expect(page.get_by_label("User", exact=True)).to_be_focused()
    page.keyboard.type("admin")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong")
    follow(page, button(page, "Log in"))
    expect(page.get_by_role("alert")).to_contain_text("password")
    expect(page.get_by_label("User", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator(".state")).to_have_text("connected")
    expect(page.locator("main")).to_be_focused()
    # Arrows look through the list; only Enter goes to another graph.
    graphs = page.get_by_label("Knowledge graph")
    to(page, graphs, "Shift+Tab")
    before = page.url
    page.keyboard.press("ArrowDown")
    page.keyboard.type(GRAPH)
    assert page.url == before
    page.keyboard.press("Enter")
    expect(graphs).to_have_value(GRAPH)
    expect(graphs).to_be_focused()
    # A window keeps the keyboard, and gives it back.
    page.keyboard.press("ArrowDown")
    page.keyboard.type("New graph")
    page.keyboard.press("Enter")
    window = page.get_by_role("dialog", name="New graph")
    expect(window).to_be_visible()
    for _ in range(5):
        page.keyboard.press("Tab")
        assert not page.evaluate("document.activeElement.matches('main *, header.top > *')")
    page.keyboard.press("Escape")
    expect(window).to_have_count(0)
    expect(graphs).to_be_focused()
    follow(page, button(page, "Log out"))
    expect(page.get_by_label("User", exact=True)).to_be_focused()
    console.close()


def test_one_asks_moves_in_the_answer_and_follows_its_proof(console: Console, db: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "ask")
    program = page.get_by_role("textbox", name="Program")
    to(page, program)
    page.keyboard.type("?path(1, X)")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    grid = page.get_by_role("grid", name="Answer")
    expect(grid).to_be_visible()
    expect(program).to_be_focused()
    # The editor is no trap: Tab leaves it, on and back.
    press(page, "Tab")
    expect(button(page, "Run")).to_be_focused()
    press(page, "Shift+Tab")
    expect(program).to_be_focused()
    to(page, grid.locator("[data-place='0 0']"))
    press(page, "ArrowDown", "End", "Enter")
    here = grid.locator("[data-place='1 1']")
    expect(here).to_be_focused()
    expect(page.get_by_role("heading", name="Row 2")).to_be_visible()
    follow(page, button(page, "Close"))
    expect(page.get_by_role("heading", name="Row 2")).to_have_count(0)
    expect(here).to_be_focused()
    press(page, "Enter")
    follow(page, link(page, "Why is this here?"))
    tree = page.get_by_role("tree", name="Proof")
    expect(tree).to_be_visible()
    expect(page.locator("main")).to_be_focused()
    to(page, tree.get_by_role("treeitem").first)
    press(page, "ArrowDown", "ArrowUp")
    to(page, tree.locator(".to-rule[tabindex='0']").first)
    press(page, "Enter")
    expect(page.get_by_role("heading", name="Rules of path")).to_be_visible()
    expect(page.locator("main")).to_be_focused()


def test_one_changes_the_way_to_see_an_answer_expands_a_node_and_saves(
    console: Console, db: stratalog.Client
) -> None:
    page = console.page
    console.go(GRAPH, "ask/table", q="?edge(1, X)")
    follow(page, link(page, "Chart"))
    expect(page.locator(".chart-frame canvas")).to_be_visible()
    expect(link(page, "Chart")).to_be_focused()
    console.go(GRAPH, "ask/table", q="?edge(X, Y), X < 2")
    console.go(GRAPH, "ask/table", q="?edge(X, Y)")
    follow(page, link(page, "Graph"))
    expect(link(page, "Graph")).to_be_focused()
    # The picture has keys of its own, and is left by Tab.
    to(page, page.get_by_role("application", name="Picture of the graph"))
    press(page, "ArrowLeft", "+", "0", "Tab")
    nodes = page.get_by_role("grid", name="Nodes")
    to(page, nodes.locator("[data-place='0 0']"))
    press(page, "Enter")
    expect(page.get_by_label("Chosen node")).to_be_visible()
    press(page, "Enter")
    expect(page.locator(".graph-says")).to_contain_text("With the neighbours of 1 node")
    follow(page, button(page, "Choose no node"))
    expect(nodes.locator("[data-place='0 0']")).to_be_focused()
    to(page, link(page, "Table"), "Shift+Tab")
    press(page, "Enter")
    save = button(page, "Save…")
    follow(page, save)
    expect(button(page, "CSV")).to_be_focused()
    press(page, "ArrowDown")
    expect(button(page, "JSON")).to_be_focused()
    press(page, "Escape")
    expect(save).to_be_focused()
    # The choices have the keyboard before the next key comes, however soon that is.
    at_once = "async each => { each.click(); await null; return document.activeElement.textContent; }"
    assert save.evaluate(at_once) == "CSV"
    with page.expect_download() as download:
        press(page, "Enter")
    assert download.value.suggested_filename == "answer.csv"
    expect(save).to_be_focused()


def test_windows_give_the_keyboard_back_or_to_what_was_taken(console: Console, db: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "ask/table", q="?edge(1, X)")
    program = page.get_by_role("textbox", name="Program")
    expect(page.get_by_role("gridcell").first).to_be_visible()
    follow(page, button(page, "Saved"))
    name = page.get_by_label("Save what is in the editor as")
    to(page, name)
    page.keyboard.type("of one")
    follow(page, button(page, "Save"))
    # Nothing can be saved without a name, so the button cannot have it any more.
    expect(name).to_be_focused()
    follow(page, page.get_by_role("button", name="Forget of one"))
    expect(page.get_by_text("Nothing is saved")).to_be_visible()
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    press(page, "Escape")
    expect(button(page, "Saved")).to_be_focused()
    follow(page, button(page, "History"))
    follow(page, page.locator(".shelf .take").first)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(program).to_be_focused()


def test_one_watches_a_query_and_lets_it_go(console: Console, db: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "ask/table", q="?path(X, Y)")
    follow(page, link(page, "Watch"))
    expect(page.locator(".watch-rows .grid-row").first).to_be_visible()
    expect(page.locator("main")).to_be_focused()
    follow(page, button(page, "Pause"))
    expect(button(page, "Go on")).to_be_focused()
    press(page, "Enter")
    expect(button(page, "Pause")).to_be_focused()
    to(page, page.locator(".watch-rows [data-place='0 0']"))
    press(page, "Control+End")
    # The row that one is at goes away, and one stays in the table.
    db.execute("-edge(1, 2)\n-edge(2, 3)")
    expect(page.locator(".watch-counts")).to_contain_text("2 rows")
    expect(page.locator(".watch-rows .grid-row")).to_have_count(2)
    assert page.evaluate("document.activeElement.closest('[role=grid]') !== null")
    press(page, "ArrowUp")
    expect(page.locator(".watch-rows [data-place='0 1']")).to_be_focused()
    to(page, button(page, "Stop"), "Shift+Tab")
    press(page, "Enter")
    expect(page.get_by_text("Rows come and go here")).to_be_visible()
    assert where(page) == ""


def test_a_cell_that_is_scrolled_away_leaves_the_keyboard_in_its_table(
    console: Console, db: stratalog.Client
) -> None:
    page = console.page
    db.insert("n", list(range(5000)))
    console.go(GRAPH, "ask/table", q="?n(X:asc)")
    grid = page.get_by_role("grid", name="Answer")
    to(page, grid.locator("[data-place='0 0']"))
    press(page, "ArrowDown")
    grid.evaluate("element => { element.scrollTop = 50000 }")
    expect(grid).to_be_focused()
    press(page, "Tab", "Shift+Tab")
    expect(grid).to_be_focused()
    press(page, "ArrowDown")
    expect(grid.locator("[data-place='2 0']")).to_be_focused()


def test_one_picks_a_relation_and_drops_it_after_being_asked(console: Console, db: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "relations")
    to(page, page.get_by_label("Filter"))
    page.keyboard.type("edge")
    follow(page, link(page, "edge"))
    expect(page.get_by_role("heading", name="edge", level=1)).to_be_visible()
    expect(page.locator("main")).to_be_focused()
    follow(page, button(page, "What would break without it?"))
    drop = page.locator("main section").get_by_role("button", name="Drop edge").first
    follow(page, drop)
    window = page.get_by_role("dialog", name="Drop edge")
    follow(page, window.get_by_role("button", name="Keep it"))
    expect(window).to_have_count(0)
    expect(drop).to_be_focused()
    press(page, "Enter")
    follow(page, window.get_by_role("button", name="Drop edge"))
    expect(page.get_by_label("Filter")).to_be_visible()
    expect(page.locator("main")).to_be_focused()
    assert "edge" not in [relation["name"] for relation in db.query(".rel").dicts()]


def test_one_follows_the_picture_to_a_rule_and_edits_it(console: Console, db: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "rules")
    picture = page.get_by_role("region", name="Picture of the rules")
    to(page, picture)
    press(page, "Tab")
    # One relation is a stop, and arrows lead to the others.
    expect(picture.get_by_role("link", name="edge 4 rows")).to_be_focused()
    press(page, "ArrowRight")
    expect(picture.get_by_role("link", name="path 2 clauses")).to_be_focused()
    expect(picture.locator(".picture-edge.lit")).to_have_count(4)
    press(page, "Tab")
    expect(button(page, "Smaller")).to_be_focused()
    press(page, "Shift+Tab")
    expect(picture.get_by_role("link", name="path 2 clauses")).to_be_focused()
    press(page, "Enter")
    expect(page.get_by_role("heading", name="Rules of path")).to_be_visible()
    expect(page.locator("main")).to_be_focused()
    edit = page.get_by_role("button", name="Edit clause 2")
    follow(page, edit)
    field = page.get_by_role("textbox", name="Clause 2 of path")
    expect(field).to_be_focused()
    # What takes the place of coloured text, Chrome would give its colours, which the page's policy refuses.
    press(page, "Control+a", "Delete")
    page.keyboard.insert_text("+path(X, Z) <- edge(X, Y), edge(Y, Z)")
    press(page, "Escape", "Tab")
    expect(button(page, "Save")).to_be_focused()
    press(page, "Enter")
    expect(page.locator(".clause").nth(1)).to_contain_text("edge(X, Y), edge(Y, Z)")
    expect(edit).to_be_focused()
    press(page, "Enter")
    follow(page, button(page, "Cancel"))
    expect(edit).to_be_focused()
    follow(page, page.get_by_role("button", name="Remove…").nth(1))
    follow(page, button(page, "Remove it"))
    follow(page, page.get_by_role("dialog").get_by_role("button", name="Remove it"))
    expect(page.locator(".clause")).to_have_count(1)
    assert where(page) == ""


def test_one_explains_and_measures_a_query(console: Console, db: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "plan")
    to(page, page.get_by_role("textbox", name="Query whose plan is shown"))
    page.keyboard.type("?path(1, X)")
    press(page, "Escape", "Tab")
    expect(button(page, "Explain")).to_be_focused()
    press(page, "Enter")
    expect(page.locator(".plan-stratum").first).to_be_visible()
    follow(page, button(page, "Profile"))
    expect(page.locator(".plan-answer")).to_be_visible()
    expect(button(page, "Profile")).to_be_focused()
    follow(page, page.locator(".plan-stratum > summary").first)
    expect(page.locator(".plan-stratum").first).not_to_have_attribute("open", "")


def test_an_administrator_creates_a_user_changes_the_role_and_drops_it(
    console: Console, db: stratalog.Client
) -> None:
    page = console.page
    console.go(GRAPH, "admin")
    follow(page, link(page, "Users"))
    to(page, page.get_by_label("Name", exact=True))
    for text in ("keys_user", "hopper-1906", "hopper-1906"):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    follow(page, button(page, "Create"))
    row = page.get_by_role("row", name="keys_user")
    try:
        expect(row).to_be_visible()
        expect(button(page, "Create")).to_be_focused()
        role = row.get_by_role("button", name="Role")
        to(page, role, "Shift+Tab")
        press(page, "Enter")
        window = page.get_by_role("dialog")
        to(page, window.get_by_role("radio", checked=True))
        press(page, "ArrowUp")
        press(page, "Enter")
        expect(window).to_have_count(0)
        expect(role).to_be_focused()
        follow(page, row.get_by_role("button", name="Drop"))
        follow(page, page.get_by_role("dialog").get_by_role("button", name="Drop"))
        expect(row).to_have_count(0)
        assert where(page) == ""
    finally:
        if "keys_user" in [user.username for user in db.users.all()]:
            db.users.drop("keys_user")


VIEWS: tuple[tuple[str, dict[str, str], str], ...] = (
    ("ask/table", {"q": "?path(X, Y)"}, ".grid-row"),
    ("ask/chart", {"q": "?reach(X, Y)"}, ".chart-says"),
    ("ask/graph", {"q": "?path(X, Y)"}, ".graph-list .grid-row"),
    ("why", {}, ".why-about"),
    ("why/row", {"q": "?path(1, 4)"}, "[role=treeitem]"),
    ("why/not", {"fact": "path(4, 1)"}, ".missing"),
    ("why/if", {"changes": "-edge(1, 2)", "q": "?path(X, Y)"}, ".would-go .grid-row"),
    ("live", {"q": "?path(X, Y)"}, ".watch-rows .grid-row"),
    ("relations", {}, ".relation-table"),
    ("relations/edge", {}, ".relation-sample .grid-row"),
    ("rules", {}, ".picture a"),
    ("rules/path", {}, ".clause"),
    ("plan", {"q": "?path(X, Y)", "measured": "1"}, ".plan-answer"),
    ("admin/users", {}, ".listing"),
    ("admin/keys", {}, ".narrow-form"),
)


@pytest.mark.parametrize("width", [1280, 390])
def test_tab_comes_to_everything_and_is_seen_everywhere(
    console: Console, db: stratalog.Client, width: int
) -> None:
    page = console.page
    page.set_viewport_size({"width": width, "height": 800})
    wrong: dict[str, list[str]] = {}
    for address, values, shows in VIEWS:
        console.go(GRAPH, address, **values)
        expect(page.locator(shows).first).to_be_visible()
        expect(page.locator("main .waiting")).to_have_count(0)
        page.evaluate("document.querySelector('.skip').focus(); window.visited = new Set()")
        press(page, "Tab", "Shift+Tab")
        found = page.evaluate(STOPS)
        for _ in range(120):
            at = where(page)
            if at == "nowhere":
                break
            if at != "":
                found.append(at)
            page.evaluate("window.visited.add(document.activeElement)")
            page.keyboard.press("Tab")
        # From the last one it leaves the page, and does not turn in circles.
        assert where(page) == "nowhere", address
        if found := found + page.evaluate(MISSED):
            wrong[address] = found
    assert wrong == {}
