"""What axe-core finds in every view of the console, wide and narrow, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, expect

import stratalog
from conftest import PASSWORD
from console_page import Console
from local_server import LocalServer

GRAPH = "console_axe"
USER = "axe_user"

#: Beside a few rules of every kind, so many that their picture is drawn in bands.
PROGRAM = "\n".join(
    (
        "+edge[(1, 2), (2, 3), (3, 4)]",
        '+doc("some words", 1)',
        "+path(X, Y) <- edge(X, Y)",
        "+path(X, Z) <- path(X, Y), edge(Y, Z)",
        "+lone(X) <- edge(X, _), !path(X, X)",
        "+reach(X, count<Y>) <- path(X, Y)",
        *(
            f"+many{number}(X) <- {'edge(X, _)' if number == 0 else f'many{number - 1}(X)'}"
            for number in range(70)
        ),
        '+console_question(1, "Where one comes to", "?path(1, X)", "table")',
    )
)

PATH = "?path(X, Y)"


@dataclass(frozen=True)
class Place:
    """Somewhere in the console."""

    address: str
    #: What is there once it is shown.
    shows: str
    values: dict[str, str] = field(default_factory=dict)
    #: Buttons, tabs and folded things that are opened first.
    opens: tuple[str, ...] = ()


PLACES = (
    Place("ask", ".questions"),
    Place("ask/table", "[role=gridcell]", {"q": PATH}),
    Place("ask/table", ".row-detail", {"q": PATH}, ("[role=gridcell]",)),
    Place("ask/table", ".export-menu", {"q": PATH}, ("text=Save…",)),
    Place("ask/chart", ".chart-says", {"q": "?reach(X, Y)"}),
    Place("ask/graph", ".graph-list [role=gridcell]", {"q": PATH}),
    Place("ask/graph", ".graph-detail", {"q": PATH}, (".graph-list [role=gridcell]",)),
    Place("ask/table", ".failure mark", {"q": "?pathh(X, Y)"}),
    Place("ask/table", ".parameters input", {"q": "?path($from, Y)"}),
    Place("ask/table", ".messages", {"q": ".kg"}, ("button:text-is('Run')",)),
    Place("ask", "dialog .shelf", {}, ("text=History",)),
    Place("ask", "dialog form", {}, ("text=Saved",)),
    Place("why", ".why-about"),
    Place("why/row", ".proof-details", {"q": "?path(1, 4)"}, (".proof-button",)),
    Place(
        "why/row", ".proof-inputs", {"q": "?reach(1, X)", "how": "full"}, (".proof-button:text-is('inputs')",)
    ),
    Place("why/row", "[role=treeitem]", {"q": "?path(1, X)", "how": "all", "row": "1"}),
    Place("why/not", ".missing", {"fact": "path(4, 1)"}),
    Place("why/if", ".would-go .grid-row", {"changes": "-edge(1, 2)", "q": PATH}),
    Place("why/impact", ".impact", {"changes": "-edge(1, 2)"}),
    Place("live", ".watch-form"),
    Place("live", ".watch-rows .grid-row", {"q": PATH}),
    Place("live", ".watch .notice", {"q": PATH}, ("button:text-is('Pause')",)),
    Place("live", ".watch .failure", {"q": "?pathh(X, Y)"}),
    Place("relations", ".relation-table"),
    Place("relations/*indexes", ".relation-table"),
    Place("relations/*indexes/words", ".index-stats dd"),
    Place("relations/path", ".relation-sample .grid-row"),
    Place(
        "relations/doc", ".impact-facts, .on-demand-body p", {}, ("text=New index…", "text=What would break")
    ),
    Place("relations/edge", "dialog", {}, ("text=What would break", "button:text-is('Drop edge')")),
    Place("relations/nothing", ".relation-page"),
    Place("rules", ".picture-rows a"),
    Place("rules", ".rules-list table", {"of": "path"}, ("text=The same as a list",)),
    Place("rules/path", ".clause"),
    Place(
        "rules/path",
        ".impact-facts",
        {},
        ("button:has-text('Edit')", "text=What would change?", "text=Remove…", "text=New clause…"),
    ),
    Place("plan", ".plan-buttons"),
    Place("plan", ".plan-stratum", {"q": PATH}),
    Place("plan", ".plan-answer", {"q": PATH, "measured": "1"}),
    *(
        Place(f"admin/{part}", ".part h2")
        for part in ("status", "requests", "live", "sessions", "log", "access", "keys", "backups", "password")
    ),
    Place("admin/metrics", ".charts svg"),
    Place("admin/users", "dialog", {}, ("button:text-is('Role')",)),
    Place("admin/users", "dialog", {}, ("main td button:text-is('Password')",)),
    Place("nowhere", "text=There is no view called"),
)


@pytest.fixture(scope="module")
def graph(server: LocalServer) -> Iterator[str]:
    with stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=60) as db:
        db.create_kg(GRAPH)
        db.execute("+doc(text: string, n: int)")
        db.execute(PROGRAM)
        db.execute(".index create words on doc(text) type text")
        db.users.create(USER, "hopper-1906", "viewer")
        db.keys.create("axe_key", user=USER)
        db.execute(f".kg acl grant {GRAPH} {USER} viewer")
        yield GRAPH
        db.users.drop(USER)
        db.execute(f".kg use default\n.kg drop {GRAPH}")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_everybody_can_use_every_view(
    browser: Browser, server: LocalServer, graph: str, width: int, scheme: str
) -> None:
    """And nothing is wider than the window. No colour depends on the width."""
    console = Console(browser, server, width, scheme)
    page = console.page
    found: dict[str, list[str]] = {}

    def look(place: str) -> None:
        if wrong := console.axe() + ([] if console.fits() else ["wider than the window"]):
            found[place] = wrong

    page.goto(f"{console.address}/console")
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    look("door")
    page.get_by_label("an API key").check()
    look("door for keys")
    page.get_by_label("a password").check()
    console.open(f"#/{graph}/ask")
    for place in PLACES:
        console.go(graph, place.address, **place.values)
        for opened in place.opens:
            # What comes late moves what is to be clicked.
            expect(page.locator("main .waiting")).to_have_count(0)
            page.locator(opened).first.click()
        expect(page.locator(place.shows).first).to_be_visible()
        expect(page.locator("main .waiting")).to_have_count(0)
        look(f"{place.address} {place.values} {place.opens}")
        page.keyboard.press("Escape")
    page.locator("select").first.select_option("")
    expect(page.get_by_role("dialog", name="New graph")).to_be_visible()
    look("new graph")
    page.keyboard.press("Escape")
    page.evaluate("location.hash = '#/no_such_graph/ask'")
    expect(page.locator("main .failure")).to_be_visible()
    look("no such graph")
    console.close()
    assert found == {}
