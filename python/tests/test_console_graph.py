"""The console's views of relations, indexes and rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

import stratalog
from conftest import PASSWORD, executable, wait_until
from console_page import Console
from local_server import LocalServer

GRAPH = "console_graph"

RULES = """\
+edge[(1, 2), (2, 3), (3, 4), (4, 2)]
+path(X, Y) <- edge(X, Y)
+path(X, Z) <- path(X, Y), edge(Y, Z)
+lone(X) <- edge(X, _), !path(X, X)
+reach(X, count<Y>) <- path(X, Y)"""


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
    yield console
    console.close()


def section(console: Console, heading: str) -> Locator:
    return console.page.locator("section", has=console.page.get_by_role("heading", name=heading, exact=True))


def cells(table: Locator) -> list[list[str]]:
    """The rows below the head."""
    return [
        [cell.inner_text() for cell in row.locator("th, td").all()] for row in table.locator("tbody tr").all()
    ]


def test_an_empty_graph_says_how_to_begin(console: Console, db: stratalog.Client) -> None:
    page = console.page
    console.open(f"#/{GRAPH}/relations")
    expect(page.get_by_role("heading", name=f"Nothing is in {GRAPH} yet")).to_be_visible()
    console.go(GRAPH, "rules")
    expect(page.get_by_role("heading", name=f"No rules are in {GRAPH} yet")).to_be_visible()
    page.get_by_role("link", name="Open it in the editor").click()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("gridcell", name="cleo")).to_be_visible()
    console.go(GRAPH, "relations")
    expect(page.get_by_role("link", name="grandparent")).to_be_visible()


def test_relations_are_listed_with_counts_filtered_and_sorted(console: Console, db: stratalog.Client) -> None:
    db.execute("+edge(from: int, to: int)\n+person(name: string)\n+empty(what: float)")
    db.insert("edge", [[n, n + 1] for n in range(1234)])
    db.execute('+person("ada")\n+far(X) <- edge(X, _), X > 1000')
    page = console.page
    console.open(f"#/{GRAPH}/relations")
    table = page.get_by_role("table")
    expect(page.get_by_text("4 relations", exact=True)).to_be_visible()
    expect(table.get_by_role("row", name="far")).to_contain_text("X: int")
    assert cells(table) == [
        ["edge", "from: int, to: int", "1,234", "stored"],
        ["empty", "what: float", "", "declared"],
        ["far", "X: int", "", "derived by 1 clause"],
        ["person", "name: string", "1", "stored"],
    ]
    page.get_by_role("button", name="Rows").click()
    expect(page.get_by_role("columnheader", name="Rows")).to_have_attribute("aria-sort", "descending")
    assert [row[0] for row in cells(table)] == ["edge", "person", "empty", "far"]
    # By names and types of columns, too, and it stands in the address.
    page.get_by_label("Filter").fill("INT to")
    expect(page.get_by_text("1 of 4 relations")).to_be_visible()
    assert "filter=INT+to" in page.url
    page.get_by_label("Filter").fill("nothing like this")
    expect(page.get_by_text("No relation is called so")).to_be_visible()
    page.get_by_label("Filter").fill("")
    # What others do shows by itself.
    db.insert("person", ["bob", "cleo"])
    expect(table.get_by_role("row", name="person")).to_contain_text("3")


def test_a_relation_shows_columns_statistics_and_the_first_rows(
    console: Console, db: stratalog.Client
) -> None:
    db.execute("+m(n: int, f: float, s: string, b: bool, v: vector(2))")
    rows = [
        [
            n,
            None if n % 10 == 0 else (n % 7) / 2,
            None if n < 50 else f"s{n % 3}",
            n % 2 == 0,
            [float(n), 1.0],
        ]
        for n in range(250)
    ]
    db.insert("m", rows)
    page = console.page
    console.open(f"#/{GRAPH}/relations/m")
    table = section(console, "Columns").get_by_role("table")
    expect(section(console, "Columns").get_by_text("of 250 rows")).to_be_visible()
    assert cells(table) == [
        ["n", "int", "250 each once", "0", "0", "249"],
        ["f", "float", "7", "25", "0", "3"],
        ["s", "string", "3", "50", "s0", "s2"],
        ["b", "bool", "2", "0", "false", "true"],
        ["v", "vector(2)", "250 each once", "0", "", ""],
    ]
    sample = section(console, "Rows")
    expect(sample.get_by_text("100 of 250 rows, the smallest first")).to_be_visible()
    assert console.rows("Rows of m")[0][:4] == ["0", "null", "null", "true"]
    # Another row, counted again when somebody asks.
    db.insert("m", [[1000, None, "zz", None, [0.0, 0.0]]])
    expect(page.get_by_text("251 stored rows")).to_be_visible()
    page.get_by_role("button", name="Count again").click()
    expect(section(console, "Columns").get_by_text("of 251 rows")).to_be_visible()
    assert cells(table)[0][2:] == ["251 each once", "0", "0", "1000"]
    assert cells(table)[3][2:] == ["2", "1", "false", "true"]
    page.get_by_role("link", name="Ask for its rows").click()
    expect(page.get_by_role("grid", name="Answer")).to_be_visible()


def test_statistics_of_what_rules_derive_are_asked_for(console: Console, db: stratalog.Client) -> None:
    db.execute(RULES)
    page = console.page
    console.open(f"#/{GRAPH}/relations/path")
    expect(page.get_by_text("derived by 2 clauses")).to_be_visible()
    expect(section(console, "Rows").get_by_text("12 of 12 rows")).to_be_visible()
    if page.get_by_role("button", name="Count values").is_visible():
        page.get_by_role("button", name="Count values").click()
    expect(section(console, "Columns").get_by_text("of 12 rows")).to_be_visible()
    assert cells(section(console, "Columns").get_by_role("table")) == [
        ["X", "int", "4", "0", "1", "4"],
        ["Y", "int", "3", "0", "2", "4"],
    ]
    follows = section(console, "What follows from what")
    expect(follows).to_contain_text("Its rules read 2 relations")
    expect(follows).to_contain_text("Rules of 3 relations read it")
    expect(follows.get_by_role("listitem").filter(has_text="lone")).to_contain_text("not")
    expect(follows.get_by_role("listitem").filter(has_text="reach")).to_contain_text("aggregate")
    follows.get_by_role("link", name="edge").click()
    expect(page.get_by_role("heading", name="edge", level=1)).to_be_visible()
    expect(section(console, "What follows from what")).to_contain_text("Rules of 2 relations read it")


def test_an_index_is_created_rebuilt_and_dropped(console: Console, db: stratalog.Client) -> None:
    db.execute("+doc(id: int, text: string, v: vector(2))")
    db.insert("doc", [[n, f"word{n} and more", [float(n), 1.0]] for n in range(300)])
    page = console.page
    console.open(f"#/{GRAPH}/relations/doc")
    indexes = section(console, "Indexes")
    indexes.get_by_role("button", name="New index…").click()
    page.get_by_label("Column", exact=True).select_option("text: string")
    assert page.get_by_label("Type", exact=True).locator("option").all_inner_texts()[0].startswith("text")
    page.get_by_label("Language").select_option("english")
    expect(page.get_by_label("Name", exact=True)).to_have_value("doc_text_text")
    page.get_by_label("Name", exact=True).fill("words")
    page.get_by_role("button", name="Create").click()
    row = indexes.get_by_role("row", name="words")
    expect(row).to_contain_text("up to date")
    expect(row).to_contain_text("300")
    # A name that is taken is refused, and what was chosen stays.
    page.get_by_label("Name", exact=True).fill("words")
    page.get_by_role("button", name="Create").click()
    expect(indexes.get_by_role("alert")).to_contain_text("words")
    page.get_by_label("Column", exact=True).select_option("v: vector(2)")
    page.get_by_label("Metric").select_option("l2")
    page.get_by_role("button", name="Create").click()
    expect(indexes.get_by_role("row", name="doc_v_hnsw")).to_contain_text("up to date")
    row.get_by_role("button", name="Rebuild").click()
    expect(row).to_contain_text("up to date")
    row.get_by_role("link", name="words").click()
    expect(page.locator(".index-stats")).to_contain_text("english")
    page.get_by_role("row", name="words").get_by_role("button", name="Drop").click()
    window = page.get_by_role("dialog")
    expect(window).to_contain_text("No rows are")
    window.get_by_role("button", name="Keep it").click()
    expect(page.get_by_role("row", name="words")).to_be_visible()
    page.get_by_role("row", name="words").get_by_role("button", name="Drop").click()
    page.get_by_role("dialog").get_by_role("button", name="Drop").click()
    expect(page.get_by_text("There is no index words.")).to_be_visible()
    assert [index["name"] for index in db.query(".index list").dicts()] == ["doc_v_hnsw"]


def test_before_a_relation_is_dropped_its_impact_is_shown(console: Console, db: stratalog.Client) -> None:
    db.execute(RULES)
    page = console.page
    console.open(f"#/{GRAPH}/relations/edge")
    page.get_by_role("button", name="What would break without it?").click()
    impact = page.get_by_role("table").filter(has_text="Rows that go")
    expect(impact).to_be_visible()
    assert [row[:3] for row in cells(impact)] == [
        ["path", "12", "0"],
        ["reach", "4", "0"],
        ["lone", "1", "0"],
    ]
    expect(page.get_by_text("Rules of 2 other relations read it")).to_be_visible()
    page.get_by_role("button", name="Drop edge").click()
    window = page.get_by_role("dialog", name="Drop edge")
    expect(window).to_contain_text("with 4 stored rows")
    page.keyboard.press("Escape")
    expect(window).to_have_count(0)
    assert len(db.query("?edge(X, Y)").rows()) == 4
    page.get_by_role("button", name="Drop edge").click()
    window.get_by_role("button", name="Drop edge").click()
    expect(page.get_by_label("Filter")).to_be_visible()
    expect(page.get_by_role("link", name="edge", exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name="lone", exact=True)).to_be_visible()
    assert page.url.endswith(f"#/{GRAPH}/relations")
    assert "edge" not in [relation["name"] for relation in db.query(".rel").dicts()]


def test_viewers_are_offered_nothing_that_writes_and_lose_it_with_their_rights(
    browser: Browser, server: LocalServer, db: stratalog.Client
) -> None:
    db.execute(RULES + "\n+doc(s: string)\n.index create words on doc(s) type text")
    db.execute(f".user create graph_looker looking-glass viewer\n.kg acl grant {GRAPH} graph_looker viewer")
    console = Console(browser, server)
    page = console.page
    try:
        console.open(f"#/{GRAPH}/relations/doc", "graph_looker", "looking-glass")
        expect(page.get_by_role("row", name="words")).to_be_visible()
        writes = (
            page.get_by_role("button")
            .filter(has_text=("Drop"))
            .or_(page.get_by_role("button", name="New"))
            .or_(page.get_by_role("button", name="Rebuild"))
        )
        expect(writes).to_have_count(0)
        console.go(GRAPH, "relations/path")
        expect(page.get_by_role("heading", name="Kept rows")).to_be_visible()
        expect(page.get_by_role("button", name="Keep them at hand")).to_have_count(0)
        expect(writes).to_have_count(0)
        console.go(GRAPH, "rules/path")
        expect(page.locator(".clause")).to_have_count(2)
        expect(page.get_by_role("button", name="Edit")).to_have_count(0)
        expect(page.get_by_role("button", name="Remove")).to_have_count(0)
        expect(writes).to_have_count(0)
        console.go(GRAPH, "rules")
        expect(page.get_by_role("link", name="path 2 clauses")).to_be_visible()
        expect(writes).to_have_count(0)
        db.execute(f".kg acl grant {GRAPH} graph_looker editor")
        page.reload()
        console.open(f"#/{GRAPH}/rules/path", "graph_looker", "looking-glass")
        page.get_by_role("button", name="Edit clause 1").click()
        console.write("+path(X, Y) <- edge(Y, X)", "Clause 1 of path")
        db.execute(f".kg acl grant {GRAPH} graph_looker viewer")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert")).to_contain_text("access denied")
        expect(page.get_by_role("textbox", name="Clause 1 of path")).to_contain_text("edge(Y, X)")
        console.close()
    finally:
        db.execute(".user drop graph_looker")


def test_the_picture_leads_to_rules_and_says_the_same_as_the_list(
    console: Console, db: stratalog.Client
) -> None:
    db.execute(RULES)
    page = console.page
    console.open(f"#/{GRAPH}/rules")
    picture = page.get_by_role("region", name="Picture of the rules")
    expect(picture.get_by_role("link")).to_have_count(4)
    # A relation that reads itself has a loop above it, and nothing stands on the names of the strata.
    node = picture.get_by_role("link", name="path 2 clauses").bounding_box()
    loop = picture.locator(".picture-edge.recursive path").bounding_box()
    assert node is not None
    assert loop is not None
    assert loop["y"] < node["y"] - 10
    assert loop["height"] < 30
    assert node["x"] < loop["x"]
    assert loop["x"] + loop["width"] < node["x"] + node["width"]
    titles = [title.bounding_box() for title in picture.locator(".picture-stratum").all()]
    assert len(titles) == 2
    for link in picture.get_by_role("link").all():
        box = link.bounding_box()
        assert box is not None
        assert all(title is not None and title["y"] + title["height"] <= box["y"] for title in titles)
    # What has to do with one is brought out.
    picture.get_by_role("link", name="reach").hover()
    expect(picture.locator(".picture-edge.lit")).to_have_count(1)
    page.get_by_text("The same as a list").click()
    assert cells(page.get_by_role("table")) == [
        ["path", "0", "2 clauses", "edge\npathrecursive"],
        ["lone", "1", "1 clause", "edge\npathnot"],
        ["reach", "1", "1 clause", "pathaggregate"],
    ]
    picture.get_by_role("link", name="path 2 clauses").click()
    expect(page.get_by_role("heading", name="Rules of path")).to_be_visible()
    page.go_back()
    picture.get_by_role("link", name="edge 4 rows").click()
    expect(page.get_by_role("heading", name="edge", level=1)).to_be_visible()


def test_the_picture_can_be_used_with_the_keyboard_and_cut_to_one_relation(
    console: Console, db: stratalog.Client
) -> None:
    db.execute(RULES + "\n+other(1)\n+alone(X) <- other(X)")
    page = console.page
    console.open(f"#/{GRAPH}/rules")
    picture = page.get_by_role("region", name="Picture of the rules")
    expect(picture.get_by_role("link")).to_have_count(6)
    picture.focus()
    page.keyboard.press("+")
    expect(page.get_by_role("button", name="125 %, back to 100 %")).to_be_visible()
    page.keyboard.press("0")
    expect(page.get_by_role("button", name="100 %, back to 100 %")).to_be_visible()
    only = page.get_by_label("Only")
    only.fill("lone")
    # What others do meanwhile takes nothing away of what one types.
    db.insert("other", [2])
    expect(picture.get_by_role("link", name="other 2 rows")).to_be_visible()
    expect(only).to_have_value("lone")
    page.keyboard.press("Enter")
    expect(page.get_by_text("3 of 6 relations")).to_be_visible()
    expect(picture.get_by_role("link")).to_have_count(3)
    page.get_by_label("With what").select_option("and what depends on it")
    expect(page.get_by_text("1 of 6 relations")).to_be_visible()
    # The same by an address that somebody was sent.
    console.go(GRAPH, "rules", of="path", way="above")
    expect(page.get_by_text("3 of 6 relations")).to_be_visible()
    picture.focus()
    # One relation is a stop of the keyboard, and arrows lead to the others.
    for key in ("Tab", "ArrowRight", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
        if page.evaluate("document.activeElement.textContent").startswith("reach"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Rules of reach")).to_be_visible()
    console.go(GRAPH, "rules", of="nothing of it")
    expect(page.get_by_text("No rule derives or reads a relation nothing of it.")).to_be_visible()


def test_hundreds_of_relations_are_drawn_and_still_more_are_listed(
    console: Console, db: stratalog.Client
) -> None:
    def rules(start: int, end: int) -> str:
        return "\n".join(
            f"+r{n}(X) <- {'base' if n < 20 else f'r{n - 20}'}(X), {'!' if n % 50 == 49 else ''}r{n // 2}(X)"
            if n > 0
            else "+r0(X) <- base(X)"
            for n in range(start, end)
        )

    db.execute("+base(1)\n" + rules(0, 199), atomic=True)
    page = console.page
    console.open(f"#/{GRAPH}/rules")
    picture = page.get_by_role("region", name="Picture of the rules")
    expect(picture.get_by_role("link")).to_have_count(200)
    # One can read it, so not all of it is seen at once; but that can be asked for.
    assert picture.evaluate(
        "element => element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight"
    )
    page.get_by_role("button", name="All", exact=True).click()
    picture.focus()
    page.keyboard.press("-")
    assert console.fits()
    db.execute(rules(199, 310), atomic=True)
    expect(page.get_by_text("311 relations are too many for a picture")).to_be_visible()
    expect(page.get_by_role("table").locator("tbody tr")).to_have_count(310)
    page.get_by_label("Only").fill("r309")
    page.keyboard.press("Enter")
    expect(picture.get_by_role("link", name="r309")).to_be_visible()


def test_a_clause_is_edited_in_place_with_what_is_wrong_under_its_words(
    console: Console, db: stratalog.Client
) -> None:
    db.execute(RULES)
    page = console.page
    console.open(f"#/{GRAPH}/rules/path")
    expect(page.get_by_role("heading", name="2 clauses")).to_be_visible()
    page.get_by_role("button", name="Edit clause 2").click()
    field = page.get_by_role("textbox", name="Clause 2 of path")
    expect(field).to_contain_text("+path(X, Z) <- path(X, Y), edge(Y, Z)")
    console.write("+path(X, Z) <- path(X, Y), edgee(Y, Z)", "Clause 2 of path")
    expect(page.locator(".cm-lintRange").first).to_contain_text("edgee")
    # Not of another relation, nor what is no rule.
    console.write("+way(X, Z) <- edge(X, Z)", "Clause 2 of path")
    expect(page.get_by_text("this is a rule of way, and not of path")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    console.write("+path(X, Z) <- path(X, Y), edge(Y, W)", "Clause 2 of path")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Z")
    expect(field).to_contain_text("edge(Y, W)")
    console.write("+path(X, Z) <- edge(X, Y), edge(Y, Z)", "Clause 2 of path")
    page.get_by_role("button", name="What would change?").click()
    impact = page.get_by_role("table").filter(has_text="Rows that go")
    expect(impact).to_be_visible()
    assert [row[:3] for row in cells(impact)] == [["reach", "4", "4"], ["path", "4", "0"], ["lone", "0", "3"]]
    field.focus()
    page.keyboard.press("Control+Enter")
    expect(field).to_have_count(0)
    expect(page.locator(".clause").nth(1)).to_contain_text("path(X, Z) <- edge(X, Y), edge(Y, Z)")
    assert len(db.query("?path(X, Y)").rows()) == 8


def test_clauses_are_added_and_removed(console: Console, db: stratalog.Client) -> None:
    db.execute(RULES)
    page = console.page
    console.open(f"#/{GRAPH}/rules")
    page.get_by_role("button", name="New rule…").click()
    console.write("+twice(X) <- edge(X, Y), edge(Y, _)", "New rule")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="Rules of twice")).to_be_visible()
    expect(page.locator(".clause")).to_contain_text("twice(X) <- edge(X, Y), edge(Y, _)")
    page.get_by_role("button", name="New clause…").click()
    console.write("+twice(X) <- lone(X)", "New clause of twice")
    page.get_by_role("button", name="Add").click()
    expect(page.locator(".clause")).to_have_count(2)
    page.get_by_role("button", name="Remove…").first.click()
    expect(page.get_by_role("table").filter(has_text="Rows that go")).to_be_visible()
    page.get_by_role("button", name="Remove it").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove it").click()
    expect(page.locator(".clause")).to_have_count(1)
    assert [row["clause"] for row in db.query(".rule def twice").dicts()] == ["twice(X) <- lone(X)"]
    # Of the clause that stands there now, nothing was asked.
    expect(page.get_by_role("button", name="Remove it")).to_have_count(0)
    page.get_by_role("button", name="Remove…").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_role("dialog")).to_contain_text("which is the only one")
    page.get_by_role("dialog").get_by_role("button", name="Remove it").click()
    wait_until(lambda: "twice" not in [row["name"] for row in db.query(".rule list").dicts()])
    expect(page.get_by_text("No rules derive it")).to_be_visible()


def test_whoever_saves_a_clause_that_another_has_changed_keeps_the_draft(
    browser: Browser, server: LocalServer, console: Console, db: stratalog.Client
) -> None:
    db.execute(RULES)
    other = Console(browser, server)
    for each in (console, other):
        each.open(f"#/{GRAPH}/rules/path")
        each.page.get_by_role("button", name="Edit clause 1").click()
    console.write("+path(X, Y) <- edge(Y, X)", "Clause 1 of path")
    other.write("+path(X, Y) <- edge(X, Y), X != Y", "Clause 1 of path")
    console.page.get_by_role("button", name="Save").click()
    expect(console.page.get_by_role("textbox", name="Clause 1 of path")).to_have_count(0)
    other.page.get_by_role("button", name="Save").click()
    expect(other.page.get_by_role("alert")).to_contain_text("somebody has changed the rules of path")
    expect(other.page.get_by_role("textbox", name="Clause 1 of path")).to_contain_text("X != Y")
    assert db.query(".rule def path").dicts()[0]["clause"] == "path(X, Y) <- edge(Y, X)"
    # What it is now stands beside it, and whoever wants to goes on.
    expect(other.page.get_by_text("The rules of path have changed since you began.")).to_be_visible()
    expect(other.page.locator(".notice pre")).to_have_text("path(X, Y) <- edge(Y, X)")
    # Nor is a draft lost when its clause is.
    console.page.get_by_role("button", name="Edit clause 2").click()
    console.write("+path(X, Z) <- edge(X, Y), edge(Y, Z)", "Clause 2 of path")
    db.execute(".rule remove path 2")
    expect(console.page.get_by_text("This clause is gone.")).to_be_visible()
    expect(console.page.get_by_role("textbox", name="Clause 2 of path")).to_contain_text(
        "edge(X, Y), edge(Y, Z)"
    )
    other.page.get_by_role("button", name="Go on with mine").click()
    other.page.get_by_role("button", name="Save").click()
    expect(other.page.locator(".clause")).to_have_text(re.compile("X != Y"))
    expect(console.page.locator(".clause").first).to_contain_text("X != Y")
    console.page.get_by_role("button", name="Go on with mine").click()
    console.page.get_by_role("button", name="Save").click()
    expect(console.page.get_by_role("textbox")).to_have_count(0)
    wait_until(lambda: len(db.query(".rule def path").rows()) == 2)
    assert [row["clause"] for row in db.query(".rule def path").dicts()] == [
        "path(X, Y) <- edge(X, Y), X != Y",
        "path(X, Z) <- edge(X, Y), edge(Y, Z)",
    ]
    other.close()


def test_names_of_every_kind_are_names(console: Console, db: stratalog.Client) -> None:
    long = "n" * 100
    names = ["constructor", "__proto__", "toString", "知識圖", "علاقة", long]
    db.execute("\n".join(f"+{name}(1, 2)" for name in names))
    db.execute("\n".join(f"+hasOwnProperty(X) <- {name}(X, _)" for name in names))
    page = console.page
    console.open(f"#/{GRAPH}/relations")
    for name in [*names, "hasOwnProperty"]:
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    for name in names:
        console.go(GRAPH, f"relations/{name}")
        expect(page.get_by_role("heading", name=name, exact=True, level=1)).to_be_visible()
        expect(section(console, "Columns").get_by_text("of 1 row")).to_be_visible()
        expect(section(console, "What follows from what")).to_contain_text("hasOwnProperty")
    console.go(GRAPH, "rules")
    picture = page.get_by_role("region", name="Picture of the rules")
    expect(picture.get_by_role("link")).to_have_count(7)
    assert console.fits()
    picture.get_by_role("link", name="__proto__").click()
    expect(page.get_by_role("heading", name="__proto__", level=1)).to_be_visible()
    for name in ("valueOf", '<img src=x onerror="document.title=1">', "a\u202eb", "%"):
        console.go(GRAPH, f"relations/{name.replace('%', '%25')}")
        expect(page.get_by_text("There is no relation of this name in this graph.")).to_be_visible()
        console.go(GRAPH, f"rules/{name.replace('%', '%25')}")
        expect(page.get_by_text("No rules derive it, and it is not there.")).to_be_visible()
    assert page.locator("img").count() == 0


def test_a_view_is_kept_and_let_go(console: Console, db: stratalog.Client) -> None:
    db.execute(RULES)
    page = console.page
    console.open(f"#/{GRAPH}/relations/path")
    page.get_by_role("button", name="Keep them at hand").click()
    kept = section(console, "Kept rows")
    expect(kept).to_contain_text("Its rows are kept at hand")
    expect(kept.locator("div", has_text="Rows").locator("dd").first).to_have_text("12")
    console.go(GRAPH, "relations")
    expect(page.get_by_role("row", name="path")).to_contain_text("kept view")
    console.go(GRAPH, "rules")
    expect(page.get_by_role("link", name="path 2 clauses · 12 kept")).to_be_visible()
    console.go(GRAPH, "relations/path")
    page.get_by_role("button", name="Do not keep them").click()
    expect(page.get_by_role("button", name="Keep them at hand")).to_be_visible()
    assert not any(view["kept"] for view in db.query(".view list").dicts())


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_everybody_can_use_it(
    browser: Browser, server: LocalServer, db: stratalog.Client, width: int, scheme: str
) -> None:
    """What axe-core finds; and nothing is wider than the window."""
    db.execute(RULES + "\n+doc(s: string, n: int)\n.index create words on doc(s) type text")
    console = Console(browser, server, width, scheme)
    page = console.page
    found: dict[str, list[str]] = {}

    def look(place: str) -> None:
        found[place] = console.axe() + ([] if console.fits() else ["wider than the window"])

    console.open(f"#/{GRAPH}/relations")
    expect(page.get_by_role("link", name="reach")).to_be_visible()
    look("relations")
    console.go(GRAPH, "relations/doc")
    page.get_by_role("button", name="New index…").click()
    page.get_by_role("button", name="What would break without it?").click()
    page.get_by_role("button", name="Drop doc").click()
    look("window")
    page.keyboard.press("Escape")
    look("relations/doc")
    console.go(GRAPH, "relations/*indexes/words")
    expect(page.locator(".index-stats dd").first).to_be_visible()
    look("relations/*indexes")
    console.go(GRAPH, "rules", of="path")
    expect(page.get_by_role("link", name="reach 1 clause")).to_be_visible()
    page.get_by_text("The same as a list").click()
    look("rules")
    console.go(GRAPH, "rules/path")
    page.get_by_role("button", name="Edit clause 1").click()
    page.get_by_role("button", name="What would change?").click()
    page.get_by_role("button", name="Remove…").click()
    page.get_by_role("button", name="New clause…").click()
    expect(page.get_by_role("table").filter(has_text="Rows that go").first).to_be_visible()
    look("rules/path")
    console.close()
    assert {place: each for place, each in found.items() if each} == {}


def test_a_draft_outlives_the_server(browser: Browser, own_server: LocalServer, tmp_path: Path) -> None:
    with stratalog.connect(own_server.url, user="admin", password=PASSWORD) as db:
        db.execute(RULES)
    console = Console(browser, own_server)
    page = console.page
    console.open("#/default/rules/path")
    page.get_by_role("button", name="Edit clause 1").click()
    console.write("+path(X, Y) <- edge(Y, X)", "Clause 1 of path")
    port = int(own_server.url.rsplit(":", 1)[1])
    own_server.kill()
    expect(page.locator(".state")).to_contain_text("connection lost")
    with LocalServer(executable(), tmp_path, PASSWORD, port=port):
        expect(page.locator(".state")).to_have_text("connected")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("textbox", name="Clause 1 of path")).to_have_count(0)
        expect(page.locator(".clause").first).to_contain_text("edge(Y, X)")
    console.close()
