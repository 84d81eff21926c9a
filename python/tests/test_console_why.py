"""The console's explanations: why, why not, what if."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote_plus

import pytest
from playwright.sync_api import Browser, Locator, expect

import stratalog
from conftest import PASSWORD, executable
from console_page import Console
from local_server import LocalServer

GRAPH = "console_why"

#: The sign of what would go.
MINUS = "\N{MINUS SIGN}"

SHOP = """
+depends[("shop", "web"), ("web", "db"), ("shop", "mail"), ("mail", "db"), ("db", "disk")]
+down("disk")
+needs(X, Y) <- depends(X, Y)
+needs(X, Z) <- needs(X, Y), depends(Y, Z)
+broken(X) <- needs(X, Y), down(Y)
+calm(X) <- depends(X, _), !down(X)
+weight(X, count<Y>) <- needs(X, Y)
"""


@pytest.fixture
def db(server: LocalServer) -> Iterator[stratalog.Client]:
    """An empty graph."""
    with stratalog.connect(server.url, user="admin", password=PASSWORD, timeout=60) as db:
        db.create_kg(GRAPH)
        yield db
        db.execute(f".kg use default\n.kg drop {GRAPH}")


@pytest.fixture
def shop(db: stratalog.Client) -> stratalog.Client:
    db.execute(SHOP)
    return db


@pytest.fixture(scope="module")
def opened(browser: Browser, server: LocalServer) -> Iterator[Console]:
    """A page that is logged in: that takes longer than most of what is tested here."""
    console = Console(browser, server)
    console.open("#/default/why")
    yield console
    console.close()


@pytest.fixture
def console(opened: Console, db: stratalog.Client) -> Iterator[Console]:
    yield opened
    # Not on a graph that goes.
    opened.go("default", "why")


def lines(console: Console) -> list[str]:
    """The lines of the proof that can be seen."""
    return [tidy(line) for line in console.page.locator(".proof-line").all_inner_texts()]


def tidy(line: str) -> str:
    """Without what stands before it, and what can be asked behind it."""
    return " ".join(line.split()).lstrip("▾▸ ").removesuffix("bindings").strip()


def item(console: Console, text: str) -> Locator:
    """The first place of the tree whose own line begins so."""
    line = console.page.locator(".proof-line").filter(has_text=re.compile(r"^\s*[▾▸]?\s*" + re.escape(text)))
    return console.page.get_by_role("treeitem").filter(has=line.first).last


def address(fragment: str) -> tuple[str, dict[str, str]]:
    """The place that an address names, and its values."""
    place, _, values = fragment.split("#", 1)[1].partition("?")
    return place, dict(parse_qsl(values, keep_blank_values=True))


def version(db: stratalog.Client) -> int | None:
    """The version of the graph."""
    return db.query(".rel").version


def test_a_row_of_an_answer_leads_to_its_proof(console: Console, shop: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "ask/table", q="?broken(X)")
    page.get_by_role("gridcell", name="shop").click()
    page.get_by_role("link", name="Why is this here?").click()
    expect(page.get_by_role("tree", name="Proof")).to_be_visible()
    assert address(page.url) == (f"/{GRAPH}/why/row", {"q": '?broken("shop")'})
    # Three levels are open at first.
    assert lines(console) == [
        'broken("shop") by broken(X) <- needs(X, Y), down(Y)',
        'needs("shop", "disk") by needs(X, Z) <- needs(X, Y), depends(Y, Z)',
        'needs("shop", "db") by needs(X, Z) <- needs(X, Y), depends(Y, Z) (and 1 other way)',
        'needs("shop", "mail") by needs(X, Y) <- depends(X, Y)',
        'depends("mail", "db") stored',
        'depends("db", "disk") stored',
        'down("disk") stored',
    ]
    expect(page.get_by_role("heading", name="What this rests on")).to_contain_text("4 stored facts")
    # It can be gone back to, and be shared.
    page.go_back()
    expect(page.get_by_role("grid", name="Answer")).to_be_visible()


def test_a_tree_is_walked_through_by_the_keyboard(console: Console, shop: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "why/row", q='?broken("shop")')
    root = item(console, "broken")
    root.focus()

    def at() -> str:
        return tidy(page.evaluate("document.activeElement.querySelector('.proof-line').innerText"))

    def press(*keys: str) -> str:
        for key in keys:
            page.keyboard.press(key)
        return at()

    assert press("ArrowDown").startswith('needs("shop", "disk")')
    assert press("End").startswith('down("disk")')
    assert press("ArrowUp", "ArrowUp", "ArrowUp").startswith('needs("shop", "mail")')
    mail = item(console, 'needs("shop", "mail")')
    expect(mail).to_have_attribute("aria-expanded", "false")
    press("ArrowRight")
    expect(mail).to_have_attribute("aria-expanded", "true")
    assert press("ArrowRight").startswith('depends("shop", "mail")')
    assert press("ArrowLeft").startswith('needs("shop", "mail")')
    press("ArrowLeft")
    expect(mail).to_have_attribute("aria-expanded", "false")
    assert press("ArrowLeft").startswith('needs("shop", "db")')
    # What one begins to write is looked for.
    assert press("d").startswith('depends("mail", "db")')
    assert press("Home").startswith("broken")
    press("Enter")
    expect(root).to_have_attribute("aria-expanded", "false")
    assert len(lines(console)) == 1
    press("Enter", "ArrowDown", "*")
    assert len(lines(console)) == 7
    # The tree is one stop of the keyboard; the links of the place where one is come after it.
    assert press("Home").startswith("broken")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="broken", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".proof-details")).to_contain_text('"disk"')
    assert page.locator("[role=tree] [tabindex='0']").count() == 4
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Rules", exact=True)).to_have_attribute("aria-current", "page")
    assert address(page.url)[0] == f"/{GRAPH}/rules/broken"


def test_a_line_says_aloud_what_it_shows(console: Console, shop: stratalog.Client) -> None:
    console.go(GRAPH, "why/row", q='?broken("shop")')
    item(console, "broken").get_by_role("button", name="bindings").first.click()
    session = console.context.new_cdp_session(console.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    names = [node["name"]["value"] for node in nodes if node.get("role", {}).get("value") == "treeitem"]
    assert names[0] == 'broken("shop") by broken(X) <- needs(X, Y), down(Y) bindings'
    assert 'down("disk") stored' in names


def test_other_ways_are_counted_and_shown(console: Console, shop: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "why/row", q='?needs("shop", "db")')
    page.get_by_role("link", name="(and 1 other way)").click()
    expect(page.get_by_role("link", name="up to five proofs")).to_have_attribute("aria-current", "true")
    roots = page.locator("[role=treeitem][aria-level='1']")
    expect(roots).to_have_count(2)
    expect(roots.nth(1)).to_contain_text('or needs("shop", "db")')
    expect(roots.nth(0)).to_contain_text('depends("mail", "db")')
    expect(roots.nth(1)).to_contain_text('depends("web", "db")')


def test_an_aggregate_shows_what_it_counts(console: Console, db: stratalog.Client) -> None:
    db.insert("sale", [["north", number, number * 0.5] for number in range(250)])
    db.execute("+total(R, sum<A>) <- sale(R, _, A)")
    page = console.page
    console.go(GRAPH, "why/row", q='?total("north", S)')
    expect(item(console, "total")).to_contain_text("sum<A> = 15562.5 of 250:")
    page.get_by_role("button", name="inputs").click()
    table = page.get_by_role("table")
    expect(table).to_contain_text("10 of 250")
    page.get_by_role("link", name="All inputs", exact=True).click()
    expect(page.get_by_role("link", name="with all inputs of aggregates")).to_have_attribute(
        "aria-current", "true"
    )
    page.get_by_role("button", name="inputs").click()
    expect(table).to_contain_text("100 of 250")
    page.get_by_role("button", name="Show more", exact=True).first.click()
    page.locator(".proof-inputs").get_by_role("button", name="Show more").click()
    expect(table).to_contain_text("250 of 250")
    expect(table.get_by_role("row")).to_have_count(251)


def test_what_is_negated_leads_to_why_it_does_not_hold(console: Console, shop: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "why/row", q='?calm("shop")')
    expect(item(console, 'no down("shop")')).to_be_visible()
    page.get_by_role("link", name="why not?").click()
    expect(page.get_by_role("region", name="Explanation")).to_contain_text('down("shop") does not hold')
    expect(page.get_by_role("region", name="Explanation")).to_contain_text("it is not stored")


def test_what_stands_in_two_places_is_told_once(console: Console, db: stratalog.Client) -> None:
    db.execute(
        "+e[(1, 2), (2, 3)]\n+p(X, Y) <- e(X, Y)\n+p(X, Z) <- p(X, Y), e(Y, Z)\n"
        "+twice(X) <- p(X, Y), p(X, Y), p(X, _)\n+both(X) <- twice(X), p(X, 3)"
    )
    page = console.page
    console.go(GRAPH, "why/row", q="?both(1)")
    above = page.get_by_role("button", name="above").first
    above.click()
    expect(page.locator("[role=treeitem]:focus")).to_have_attribute("aria-expanded", re.compile("true|false"))
    # A stored fact that is chosen is marked wherever it stands, also where that was closed.
    base = page.get_by_role("region", name="What this rests on")
    base.get_by_role("button", name="e(1, 2)").click()
    uses = int(re.sub(r"\D", "", base.get_by_role("status").inner_text()))
    expect(page.locator(".proof-line.marked")).to_have_count(uses)
    base.get_by_role("button", name="Go to the next one").click()
    expect(page.locator("[role=treeitem]:focus")).to_contain_text("e(1, 2)")
    expect(page.locator("[role=treeitem]:focus")).to_contain_text("marked")
    base.get_by_role("button", name="e(1, 2)").click()
    expect(page.locator(".proof-line.marked")).to_have_count(0)


def test_facts_and_rules_of_the_session_are_told_as_such(console: Console, shop: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "ask")
    console.ask('down("mail")')
    expect(page.locator(".messages")).to_be_visible()
    console.go(GRAPH, "ask/table", q="calls(X) <- depends(X, Y), down(Y)\n?calls(X)")
    page.get_by_role("gridcell", name="shop").click()
    page.get_by_role("link", name="Why is this here?").click()
    expect(item(console, "calls")).to_contain_text("by calls(X) <- depends(X, Y), down(Y)")
    expect(item(console, 'down("mail")')).to_contain_text("of this session")
    expect(page.get_by_role("region", name="What this rests on")).to_contain_text("of this session")
    assert shop.query('?down("mail")').rows() == []


def test_a_proof_that_is_cut_goes_on(console: Console, db: stratalog.Client) -> None:
    db.insert("e", [[number, number + 1] for number in range(300)])
    db.execute("+p(X, Y) <- e(X, Y)\n+p(X, Z) <- p(X, Y), e(Y, Z)")
    page = console.page
    console.go(GRAPH, "why/row", q="?p(0, 300)")
    # A fact that is chosen is in sight, however deep it stands; there a line can still be read.
    base = page.get_by_role("region", name="What this rests on")
    base.get_by_role("searchbox", name="Look for facts").fill("e(51, ")
    base.get_by_role("button", name="e(51, 52)").click()
    base.get_by_role("button", name="Go to the next one").click()
    deep = page.locator("[role=treeitem]:focus")
    expect(deep).to_have_attribute("aria-level", "250")
    assert (deep.locator(".proof-line").bounding_box() or {"width": 0})["width"] > 200
    assert console.fits()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    on = page.get_by_role("link", name="goes on: .why ?").first
    expect(on).to_be_visible()
    fact = on.inner_text().removeprefix("goes on: .why ?")
    on.click()
    expect(item(console, fact)).to_be_visible()
    expect(page.get_by_role("textbox", name="Query")).to_have_value(f"?{fact}")


def test_a_large_proof_stays_usable(console: Console, db: stratalog.Client) -> None:
    """A binary tree of 4,095 facts, and as many children of one."""
    db.insert("leaf", list(range(2048, 4096)))
    db.insert("fork", [[number, 2 * number, 2 * number + 1] for number in range(1, 2048)])
    db.execute(
        "+whole(N) <- leaf(N)\n+whole(N) <- fork(N, A, B), whole(A), whole(B)\n+all_of(count<N>) <- whole(N)"
    )
    page = console.page
    console.go(GRAPH, "why/row", q="?whole(1)")
    root = item(console, "whole(1)")
    expect(root).to_be_visible()
    expect(page.get_by_role("heading", name="What this rests on")).to_contain_text("4,095 stored facts")
    base = page.get_by_role("region", name="What this rests on")
    expect(base).to_contain_text("200 of 4,095")
    assert page.locator(".proof-line").count() < 300
    base.get_by_role("searchbox", name="Look for facts").fill("leaf(4095)")
    expect(base).to_contain_text("1 of 4,095")
    base.get_by_role("button", name="leaf(4095)").click()
    expect(page.locator(".proof-line.marked")).to_have_count(1)
    base.get_by_role("button", name="Go to the next one").click()
    expect(page.locator("[role=treeitem]:focus")).to_contain_text("leaf(4095)")
    # Half of a second for twenty keys would be felt; a slow machine has some seconds.
    start = page.evaluate("performance.now()")
    for _ in range(20):
        page.keyboard.press("ArrowUp")
    assert page.evaluate("performance.now()") - start < 4000
    console.go(GRAPH, "why/row", q="?all_of(N)", how="full")
    more = page.get_by_role("treeitem", name="Show more: ")
    expect(more).to_contain_text("are not shown")
    before = page.locator(".proof-line").count()
    item(console, "all_of").focus()
    page.keyboard.press("End")
    expect(more).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".proof-line")).to_have_count(before + 200)
    expect(page.locator("[role=treeitem]:focus .proof-line")).to_have_count(1)


def test_why_not_leads_to_what_if(console: Console, shop: stratalog.Client) -> None:
    before = version(shop)
    page = console.page
    console.go(GRAPH, "why")
    page.get_by_role("link", name="Why not").click()
    page.get_by_label("Relation", exact=True).select_option("broken")
    expect(page.get_by_label("Fact", exact=True)).to_have_value("broken(_)")
    page.get_by_label("X string").fill("mai")
    expect(page.get_by_label("Fact", exact=True)).to_have_value('broken("mai")')
    page.keyboard.press("Enter")
    told = page.get_by_role("region", name="Explanation")
    expect(told).to_contain_text('broken("mai") does not hold')
    # The condition of the rule that fails is marked, and with what it was tried is said.
    expect(told.locator("mark").first).to_have_text("needs(X, Y)")
    expect(told).to_contain_text('tried needs("mai", _)')
    expect(told.get_by_role("link", name='broken("mail")')).to_be_visible()
    missing = page.get_by_role("region", name="What is missing")
    expect(missing).to_contain_text('+depends("mai", "disk")')
    missing.get_by_role("link", name="Suppose this").click()
    come = page.get_by_role("region", name="1 row would come")
    expect(come).to_contain_text("mai")
    # What is near holds, and leads to its proof.
    page.go_back()
    told.get_by_role("link", name='broken("mail")').click()
    expect(item(console, 'broken("mail")')).to_be_visible()
    page.go_back()
    told.get_by_role("link", name="its rules").first.click()
    assert address(page.url)[0] == f"/{GRAPH}/rules/broken"
    assert shop.query('?depends("mai", X)').rows() == []
    assert version(shop) == before


def test_why_not_of_what_holds_is_its_proof(console: Console, shop: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "why/not", fact='broken("mail")')
    expect(item(console, 'broken("mail")')).to_be_visible()
    expect(page.get_by_text('broken("mail") holds:')).to_be_visible()
    console.go(GRAPH, "why/not", fact='calm("disk")')
    expect(page.get_by_role("region", name="Explanation")).to_contain_text("calm")
    console.go(GRAPH, "why/not", fact='weight("shop", 9)')
    told = page.get_by_role("region", name="Explanation")
    expect(told.get_by_role("link", name='weight("shop", 4)').first).to_be_visible()
    console.go(GRAPH, "why/not", fact="nothing_such(1)")
    expect(page.get_by_role("alert")).to_contain_text("nothing_such")


def test_what_if_tells_what_comes_and_goes_and_stores_nothing(
    console: Console, shop: stratalog.Client
) -> None:
    before = version(shop)
    page = console.page
    console.go(GRAPH, "why")
    page.get_by_role("link", name="What if").click()
    # The page before it has two of them.
    expect(page.get_by_label("Changes")).to_have_count(1)
    page.get_by_label("Changes").fill('-depends("web", "db")\n+down("mail")\n+depends("tv", "mail")')
    page.get_by_label("Query").fill("?broken(X)")
    page.keyboard.press("Control+Enter")
    went = page.get_by_role("region", name="1 row would go")
    expect(went).to_contain_text("web")
    expect(page.get_by_role("region", name="1 row would come")).to_contain_text("tv")
    # Seen by the sign, not by the colour alone.
    expect(went.get_by_role("gridcell").first).to_have_text(MINUS)
    page.get_by_label("Changes").fill('+down("disk")')
    page.get_by_role("button", name="Suppose").click()
    expect(page.get_by_text("No row would come or go.")).to_be_visible()
    page.get_by_role("link", name="Impact").click()
    expect(page.get_by_role("button", name="Show the impact")).to_be_visible()
    page.get_by_label("Changes").fill('-depends("db", "disk")')
    page.get_by_role("button", name="Show the impact").click()
    expect(page.get_by_role("heading", name=f"weight {MINUS}4 +3")).to_be_visible()
    expect(page.get_by_role("heading", name=f"broken {MINUS}4")).to_be_visible()
    weight = page.locator(".impact").filter(has_text="weight")
    expect(weight).to_contain_text('weight("shop", 3)')
    # All of them are a question of what if.
    page.locator(".impact").filter(has_text="needs").first.get_by_role(
        "link", name="all of these rows"
    ).click()
    expect(page.get_by_role("heading", name="rows would go")).to_be_visible()
    assert version(shop) == before
    assert len(shop.query("?depends(X, Y)").rows()) == 5


def test_no_link_writes(console: Console, db: stratalog.Client) -> None:
    db.execute("+p(1)\n+q(0)\n+r(X) <- p(X)")
    before = version(db)
    page = console.page
    writes = [
        "+q(1)",
        "-p(1)",
        "+q(X) <- p(X)",
        ".rel drop q",
        "  +q(1)",
        "\t+q(1)",
        "\u00a0+q(1)",
        "// +\r+q(1)",
        ".kg create evil",
        ".kg drop console_why",
    ]
    breaks = ["\n", "\r\n", '"\n', "/*\n*/", "\u2028", "\n\n", "\x0b", "\x85"]
    ends = [f"\n{write}" for write in writes] + [f"{each}+q(1)" for each in breaks]
    for end in ends:
        asked = f"?p(X){end}"
        console.go(GRAPH, "why/row", q=asked)
        console.go(GRAPH, "why/not", fact=f"p(2){end}")
        console.go(GRAPH, "why/if", changes=f"+p(2){end}", q=asked)
        console.go(GRAPH, "why/impact", changes=f"+p(2){end}")
    # The session answers one after the other: what is asked last is answered last.
    console.go(GRAPH, "why/row", q="?p(X)\n+q(1)")
    expect(page.get_by_text("1 statement of the program is left out here")).to_be_visible()
    expect(item(console, "p(1)")).to_be_visible()
    assert version(db) == before
    assert db.query("?q(X)").rows() == [(0,)]
    assert "evil" not in [each.name for each in db.graphs.all()]


TEXTS = [
    'a "quoted" one',
    "back\\slash\\",
    "two\nlines",
    "\n+down(1)",
    "a, b",
    "(x) [y] {z}",
    "x <- y // no /* comment",
    "",
    "$p",
    "null",
    "é 😀 \u202e",
]

#: Programs with their parameters; rows of them are clicked.
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("?text(K:asc, S)", {}),
    ('?said(S, _), S != ""', {}),
    ("?K:asc, S <- text(K, S), K > 2", {}),
    ("?text(_, S), limit(4)", {}),
    ("?S, count<K> <- text(K, S)", {}),
    ("?float(K, F)", {}),
    ("?F <- float(_, F)", {}),
    ("?floats(F)", {}),
    ("?mixed(K, V)", {}),
    ("?V <- mixed(_, V)", {}),
    ("?mixed(K, V), V != 2", {}),
    ("?time(K, T)", {}),
    ('?time(K, T), K < 5, !text(K, "a, b")', {}),
    ("?flag(K, B), text(K, S)", {}),
    ("?B, S <- flag(K, B), text(K, S)", {}),
    ("?path(X, Y), Y > $least", {"least": 2}),
    ("?path($from, Y)", {"from": 1}),
    ("near(X) <- edge(X, $to)\n?near(X)", {"to": 3}),
    ("?X, Y <- edge(X, Y) or edge(Y, X)", {}),
    ("?edge(X, Y), edge(Y, Z), S = X + Z", {}),
    ("?X, max<Y> <- path(X, Y)", {}),
    ("?X, top_k<2, Y:desc> <- path(X, Y)", {}),
    ("?reach(X, N), N > 1", {}),
]


def test_the_address_of_a_row_explains_exactly_that_row(console: Console, db: stratalog.Client) -> None:
    db.insert("text", [[number, text] for number, text in enumerate(TEXTS)])
    db.execute(
        "+said(S, K) <- text(K, S)\n"
        "+float(k: int, f: float)\n"
        "+float[(1, 2.0), (2, -2.5), (3, 1e300), (4, 0.1), (5, 0.0), (6, -0.0), (7, 123456789012345680.0)]\n"
        "+floats(F) <- float(_, F)\n"
        '+mixed[(1, 2), (2, 2.0), (3, "2"), (4, null), (5, true), (6, -3), (7, list("a", 1))]\n'
        "+mixed(8, list(1, 2.0))\n"
        '+time[(1, t"2026-01-02T03:04:05.678Z"), (2, t"1960-01-01T00:00:00Z"), (3, null)]\n'
        "+flag[(1, true), (2, false), (3, true)]\n"
        "+edge[(1, 2), (2, 3), (3, 4), (1, -7)]\n"
        "+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)\n"
        "+reach(X, count<Y>) <- path(X, Y)"
    )
    page = console.page
    for program, params in QUESTIONS:
        values = {"q": program} | ({"p": json.dumps(params)} if params else {})
        console.go(GRAPH, "ask/table", **values)
        # The answer that is shown is that of the program.
        chart = page.get_by_role("link", name="Chart", exact=True)
        expect(chart).to_have_attribute(
            "href", re.compile(re.escape("q=" + quote_plus(program, safe="*-._")) + "(&|$)")
        )
        whole = db.why(program, params)
        expect(page.get_by_role("grid", name="Answer")).to_have_attribute(
            "aria-rowcount", str(len(whole) + 1)
        )
        assert len(whole) > 0, program
        # Rows of a question that asks for no order may come in any.
        proofs = {
            same(row): told(proof) for row, proof in zip(whole.result.rows(), whole.proofs, strict=True)
        }
        seen: set[str] = set()
        for place in range(len(whole)):
            page.locator(f'[data-place="{place} 0"]').click()
            detail = page.get_by_role("complementary", name=f"Row {place + 1}", exact=True)
            link = detail.get_by_role("link", name="Why is this here?").get_attribute("href") or ""
            asked = address(link)[1]
            given = json.loads(asked.get("p", "{}"))
            used = {name: value for name, value in given.items() if f"${name}" in asked["q"]}
            only = db.why(asked["q"], used)
            if "row" not in asked:
                assert len(only) == 1, (program, asked)
            at = int(asked.get("row", 0))
            row = same(only.result.rows()[at])
            assert told(only.proofs[at]) == proofs[row], (program, asked)
            seen.add(row)
        assert seen == set(proofs), program


def same(row: Any) -> str:
    """A row as it is like no other: `2` is not `2.0`, and there are two zeros."""
    return repr(row)


def told(proof: Any) -> tuple[Any, ...]:
    """What a proof proves, and by what."""
    roots = [(root.relation, same(root.args), root.note) for root in proof.roots]
    facts: list[Any] = sorted(map(repr, proof.base_facts))
    return len(proof.nodes), sorted(facts), [args for _, args, _ in roots]


def test_parameters_are_asked_for_and_shared(console: Console, shop: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "why/row", q="?needs($from, X)")
    expect(page.get_by_text("Give $from a value.")).to_be_visible()
    page.get_by_label("$from").fill("web")
    page.keyboard.press("Enter")
    expect(page.get_by_role("grid", name="Rows that are explained")).to_be_visible()
    assert address(page.url)[1]["p"] == '{"from": "web"}'
    assert sorted(console.rows("Rows that are explained")) == [["web", "db"], ["web", "disk"]]
    page.get_by_role("gridcell", name="disk").click()
    expect(item(console, 'needs("web", "disk")')).to_be_visible()
    console.go(GRAPH, "why/row", q="?needs($from, X)", p="{broken")
    expect(page.get_by_role("alert")).to_be_visible()


def test_hostile_names_and_values_are_text(console: Console, db: stratalog.Client) -> None:
    texts = ['<img src=x onerror="document.title=1">', "a\u202egnp.exe", "x" * 100_000]
    db.insert("text", [[number, text] for number, text in enumerate(texts)])
    db.execute("+told(S) <- text(_, S)\n+größe(1)")
    page = console.page
    console.go(GRAPH, "why/row", q="?told(S)", row="0", how="all")
    tree = page.get_by_role("tree", name="Proof")
    for place in range(3):
        page.locator(f'[data-place="{place} 0"]').click()
        expect(page.locator(f'[aria-rowindex="{place + 2}"]')).to_have_attribute("aria-selected", "true")
        expect(tree).to_be_visible()
        assert "\u202e" not in page.locator("main").inner_text()
        assert len(page.locator("main").inner_text()) < 10_000
        assert console.fits()
    assert page.locator("img").count() == 0
    console.go(GRAPH, "why/row", q="?größe(X)")
    page.get_by_role("tree").get_by_role("link", name="größe").click()
    expect(page.get_by_role("heading", name="größe")).to_be_visible()
    # Addresses of nothing.
    for nowhere in ("why/<img src=x>", "why/row"):
        console.go(GRAPH, nowhere, q="?", row="-1", how="<b>")
    console.go(GRAPH, "why/row", q="?told(S)", row="99")
    expect(page.get_by_text("not among those that are explained")).to_be_visible()


def test_nothing_to_explain_leads_to_why_not(console: Console, shop: stratalog.Client) -> None:
    page = console.page
    console.go(GRAPH, "why/row", q='?broken("disk")')
    page.get_by_role("link", name="why broken").click()
    expect(page.get_by_role("region", name="Explanation")).to_contain_text('broken("disk") does not hold')


def test_two_people_see_each_their_own(
    browser: Browser, server: LocalServer, console: Console, shop: stratalog.Client
) -> None:
    """An editor asks all of it, with facts of the session, until the right is taken away."""
    shop.execute(f".user create why_looker looking-glass editor\n.kg acl grant {GRAPH} why_looker editor")
    try:
        other = Console(browser, server)
        other.open(f"#/{GRAPH}/ask", "why_looker", "looking-glass")
        other.ask('down("mail")')
        expect(other.page.locator(".messages")).to_be_visible()
        for each, note in ((other, "of this session"), (console, "stored")):
            each.go(GRAPH, "why/row", q='?broken("shop")')
            expect(item(each, "down")).to_contain_text(note)
        other.go(GRAPH, "why/if", changes='+down("web")', q="?down(X)")
        expect(other.page.get_by_role("region", name="1 row would come")).to_be_visible()
        shop.execute(f".kg acl revoke {GRAPH} why_looker")
        other.go(GRAPH, "why/impact", changes='+down("web")')
        expect(other.page.get_by_role("alert")).to_contain_text("not found")
        other.close()
    finally:
        shop.execute(".user drop why_looker")


def test_after_a_restart_it_explains_again(browser: Browser, own_server: LocalServer, tmp_path: Path) -> None:
    with stratalog.connect(own_server.url, user="admin", password=PASSWORD) as db:
        db.execute(SHOP)
    console = Console(browser, own_server)
    console.open("#/default/why/row?q=" + quote_plus('?broken("mail")'))
    expect(item(console, 'broken("mail")')).to_be_visible()
    port = int(own_server.url.rsplit(":", 1)[1])
    own_server.kill()
    expect(console.page.locator(".state")).to_contain_text("connection lost")
    # What has been told stays there.
    expect(item(console, 'broken("mail")')).to_be_visible()
    with LocalServer(executable(), tmp_path, PASSWORD, port=port):
        expect(console.page.locator(".state")).to_have_text("connected", timeout=30_000)
        console.go("default", "why/row", q='?broken("shop")')
        expect(item(console, 'broken("shop")')).to_be_visible()
        console.close()


LOOKS: list[tuple[int, Any]] = [(1280, "light"), (390, "dark")]

PLACES = [
    ("why", {}, "Why, why not, what if"),
    ("why/row", {"q": '?broken("shop")'}, "What this rests on"),
    ("why/row", {"q": "?needs(X, Y)", "row": "3", "how": "all"}, "What this rests on"),
    ("why/not", {"fact": 'broken("mai")'}, "It would hold with"),
    ("why/not", {"fact": 'weight("shop", 9)'}, "it derives"),
    (
        "why/if",
        {"changes": '-depends("web", "db")\n+depends("tv", "mail")', "q": "?broken(X)"},
        "1 row would come",
    ),
    ("why/impact", {"changes": '-depends("db", "disk")'}, "derived relations would change"),
]


def test_it_can_be_used_by_everybody(console: Console, shop: stratalog.Client) -> None:
    """What axe-core finds; and nothing is wider than the window."""
    page = console.page
    found = {}
    try:
        for width, scheme in LOOKS:
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            for place, values, text in PLACES:
                console.go(GRAPH, place, **values)
                expect(page.locator("main").get_by_text(text).first).to_be_visible()
                for button in page.get_by_role("button", name=re.compile("^(bindings|inputs)$")).all()[:2]:
                    button.click()
                wide = [] if console.fits() else ["wider than the window"]
                found[f"{width} {scheme} {place} {values}"] = console.axe() + wide
    finally:
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="light")
    assert {place: each for place, each in found.items() if each} == {}
