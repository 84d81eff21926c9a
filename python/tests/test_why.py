"""Why a row is an answer, why another is not, and what changes would change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

import stratalog
from conftest import PASSWORD
from local_server import LocalServer

PROGRAM = """
+depends[("shop", "web"), ("web", "db"), ("shop", "mail"), ("mail", "db"), ("db", "disk")]
+down("disk")
+needs(X, Y) <- depends(X, Y)
+needs(X, Z) <- needs(X, Y), depends(Y, Z)
+broken(X) <- needs(X, Y), down(Y)
+weight(X, count<Y>) <- needs(X, Y)
"""

TREE = """\
broken("shop")  by broken(X) <- needs(X, Y), down(Y)
├─ needs("shop", "disk")  by needs(X, Z) <- needs(X, Y), depends(Y, Z)
│  ├─ needs("shop", "db")  by needs(X, Z) <- needs(X, Y), depends(Y, Z) (and 1 other way)
│  │  ├─ needs("shop", "mail")  by needs(X, Y) <- depends(X, Y)
│  │  │  └─ depends("shop", "mail")
│  │  └─ depends("mail", "db")
│  └─ depends("db", "disk")
└─ down("disk")"""


@pytest.fixture
def graph(db: stratalog.Client) -> stratalog.Client:
    db.execute(PROGRAM)
    return db


def test_a_proof_is_a_tree_and_its_base_facts(graph: stratalog.Client) -> None:
    why = graph.why('?broken("shop")')
    assert str(why) == TREE
    assert why.result.row_count == len(why) == 1
    root = why[0].roots[0]
    assert (root.kind, root.relation, root.args, root.height) == ("rule", "broken", ("shop",), 4)
    assert root.bindings == {"X": "shop", "Y": "disk"}
    assert [child.fact for child in root.children] == ['needs("shop", "disk")', 'down("disk")']
    assert sorted(why[0].base_facts) == [
        ("depends", ("db", "disk")),
        ("depends", ("mail", "db")),
        ("depends", ("shop", "mail")),
        ("down", ("disk",)),
    ]


def test_the_command_line_draws_the_same_tree(
    graph: stratalog.Client, command_line: Callable[..., str]
) -> None:
    assert command_line("query", '.why ?broken("shop")').rstrip("\n") == TREE
    assert graph.why('?broken("disk")').proofs == []


def test_aggregates_tell_their_inputs(graph: stratalog.Client) -> None:
    root = graph.why('?weight("web", N)')[0].roots[0]
    assert root.kind == "aggregate"
    assert root.data["aggregate"]["sample_inputs"] == [["web", "db"], ["web", "disk"]]
    assert root.note.endswith('count<Y> = 2 of 2: "db", "disk"')


def test_facts_of_the_session_are_marked_and_others_have_no_part_in_them(graph: stratalog.Client) -> None:
    graph.insert("down", [("mail",)], scope="session")
    proof = graph.why('?broken("shop")')[0]
    assert [node.of_session for node in proof.nodes if node.relation == "down"] == [True]
    assert "of this session" in str(proof)


def test_several_proofs_are_told_where_they_are_asked_for(graph: stratalog.Client) -> None:
    proof = graph.why('?needs("shop", "db")', all_proofs=True)[0]
    assert len(proof.roots) == 2
    assert "\nor\n" in str(proof)
    with pytest.raises(ValueError, match="all inputs"):
        graph.why('?needs("shop", "db")', full=True, all_proofs=True)


def test_parameters_and_rules_of_the_program_take_part(graph: stratalog.Client) -> None:
    why = graph.why("near(X) <- depends(X, $to)\n?near(X)", {"to": "db"})
    assert {proof.roots[0].args for proof in why} == {("web",), ("mail",)}


def test_a_query_of_several_conditions_is_called_by_its_columns(graph: stratalog.Client) -> None:
    text = str(graph.why('?needs("web", Y), !down(Y)'))
    assert text.splitlines()[0].startswith('Y = "db"') or 'Y = "db"' in text
    assert "no down(" in text


def test_what_is_negated_is_shown_as_it_is_written(graph: stratalog.Client) -> None:
    graph.execute('+calm(X) <- depends(X, _), !(needs(X, Y), Y = "mail")')
    assert 'no (needs(X, Y), Y = "mail") with X = "web"' in str(graph.why('?calm("web")'))


def test_a_search_is_called_by_its_index(graph: stratalog.Client) -> None:
    graph.execute(
        "+doc(id: int, v: vector(2))\n+doc[(1, [1.0, 0.0]), (2, [0.0, 1.0])]\n.index create near on doc(v)"
    )
    root = graph.why('?hnsw_nearest("near", [1.0, 0.0], 1, Id, D)')[0].roots[0]
    assert (root.kind, root.relation, root.args[0]) == ("vector_search", "near", 1)


def test_a_notebook_shows_a_tree_that_folds(graph: stratalog.Client) -> None:
    class Depth(HTMLParser):
        depth = deepest = 0

        def handle_starttag(self, tag: str, _: object) -> None:
            if tag == "details":
                self.depth += 1
                self.deepest = max(self.deepest, self.depth)

        def handle_endtag(self, tag: str) -> None:
            self.depth -= tag == "details"

    parser = Depth()
    parser.feed(graph.why('?broken("shop")')._repr_html_())
    assert (parser.depth, parser.deepest) == (0, 4)


def test_a_proof_is_a_networkx_graph(graph: stratalog.Client) -> None:
    drawn = graph.why('?broken("shop")')[0].to_networkx()
    assert drawn.number_of_nodes() == 8
    assert drawn.nodes["n0"]["label"] == 'broken("shop")'
    assert sorted(drawn.successors("n0")) == ["n1", "n2"]


def test_why_not_tells_what_is_missing(graph: stratalog.Client) -> None:
    missing = graph.why_not('needs("web", "mail")')
    assert not missing.holds
    assert missing.would_hold_with == [("depends", ("web", "mail"))]
    assert 'depends("web", "mail")' in str(missing)
    holds = graph.why_not('needs("web", "db")')
    assert holds.holds
    assert holds.would_hold_with == []


def test_what_if_and_impact_change_nothing(graph: stratalog.Client) -> None:
    before = sorted(graph.query("?needs(X, Y)").rows())
    version = graph.query("?down(X)").version
    changed = graph.what_if('-depends("web", "db")\n+down("mail")', "?broken(X)")
    assert changed.columns[0] == "change"
    assert changed.rows() == [("removed", "web")]
    impact = {row[0]: row[1:3] for row in graph.impact('-depends("db", "disk")')}
    assert impact == {"broken": (4, 0), "needs": (4, 0), "weight": (4, 3)}
    assert sorted(graph.query("?needs(X, Y)").rows()) == before
    assert graph.query("?down(X)").version == version


def test_each_of_them_may_take_no_longer_than_it_is_told(
    server: LocalServer, graph: stratalog.Client
) -> None:
    graph.execute("+start(1)\n+endless(X) <- start(X)\n+endless(Y) <- endless(X), Y = X + 1")
    asks: list[Callable[[], object]] = [
        lambda: graph.explain("?endless(X)", profile=True, timeout=0.2),
        lambda: graph.why("?endless(X)", timeout=0.2),
        lambda: graph.why_not("endless(0)", timeout=0.2),
        lambda: graph.what_if("+start(2)", "?endless(X)", timeout=0.2),
        lambda: graph.impact("+start(2)", timeout=0.2),
    ]
    for ask in asks:
        with pytest.raises(stratalog.QueryTimeout):
            ask()
    name = next(each.name for each in graph.graphs.all() if each.current)

    async def ask_once() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD, kg=name) as db:
            await db.why("?endless(X)", timeout=0.2)

    with pytest.raises(stratalog.QueryTimeout):
        asyncio.run(ask_once())


def test_a_viewer_may_ask_and_nothing_of_others_appears(server: LocalServer, graph: stratalog.Client) -> None:
    graph.insert("down", [("web",)], scope="session")
    graph.users.create("why_viewer", "secret-enough-1", "viewer")
    name = next(each.name for each in graph.graphs.all() if each.current)
    graph.execute(f".kg acl grant {name} why_viewer viewer")
    with stratalog.connect(server.url, user="why_viewer", password="secret-enough-1", kg=name) as viewer:
        proof = viewer.why('?broken("shop")')[0]
        assert ("down", ("web",)) not in proof.base_facts
        assert viewer.what_if('+down("mail")', "?broken(X)").rows() == []
        with pytest.raises(stratalog.AccessDenied):
            viewer.execute('+down("mail")')
    graph.users.drop("why_viewer")


def test_the_asynchronous_client_asks_the_same(server: LocalServer, graph: stratalog.Client) -> None:
    name = next(each.name for each in graph.graphs.all() if each.current)

    async def ask() -> tuple[str, bool, int, int]:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD, kg=name) as db:
            why = await db.why('?broken("shop")')
            missing = await db.why_not('broken("disk")')
            changed = await db.what_if('-down("disk")', "?broken(X)")
            impact = await db.impact('-down("disk")')
            return str(why), missing.holds, changed.row_count, impact.row_count

    assert asyncio.run(ask()) == (TREE, False, 4, 1)
