"""What a notebook shows: the tutorial as it stands in docs/, the magic commands, plans and rule graphs."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import stratalog
from conftest import PASSWORD
from local_server import LocalServer
from stratalog.plan import Plan
from stratalog.rule_graph import Edge, rule_graph

TUTORIAL = Path(__file__).resolve().parents[2] / "docs/tutorial.ipynb"


@pytest.fixture
def environment(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SERVICE_API_KEY", raising=False)
    monkeypatch.setenv("STRATALOG_URL", server.url)
    monkeypatch.setenv("STRATALOG_PASSWORD", PASSWORD)
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")


@pytest.mark.usefixtures("environment")
@pytest.mark.filterwarnings("default")
def test_the_tutorial_shows_what_is_printed_in_it() -> None:
    """`UPDATE_GOLDEN=1` writes the outputs; the diff is the review."""
    before = nbformat.read(TUTORIAL, as_version=4)
    after = nbformat.read(TUTORIAL, as_version=4)
    nbclient.NotebookClient(
        after, timeout=60, coalesce_streams=True, resources={"metadata": {"path": str(TUTORIAL.parent)}}
    ).execute()
    for cell in after.cells:
        cell.metadata.clear()
    if os.environ.get("UPDATE_GOLDEN"):
        nbformat.write(after, TUTORIAL)
        return
    for old, new in zip(before.cells, after.cells, strict=True):
        assert shown(new) == shown(old), new.source


#: What the planner expects is estimated, and differs a little from one load of the same data to the next.
_ESTIMATE = re.compile(r"\d+ rows expected|expected \d+|\(\d+ rows\)")


def shown(cell: Any) -> list[Any]:
    """The outputs of a cell, without addresses of servers and estimates of plans."""
    outputs = []
    for output in cell.get("outputs", []):
        data = output.get("data", {"text": output.get("text")})
        kept = {kind: _ESTIMATE.sub("N rows", str(text)) for kind, text in data.items()}
        outputs.append({kind: text for kind, text in kept.items() if "<stratalog." not in text})
    return outputs


@pytest.fixture
def shell(db: stratalog.Client) -> Iterator[Any]:
    # Its methods have no types.
    shell: Any = InteractiveShell()
    shell.run_line_magic("load_ext", "stratalog")
    shell.user_ns["db"] = db
    shell.run_line_magic("stratalog", "--db db")
    yield shell
    shell.history_manager.end_session()


def test_a_cell_is_a_program(shell: Any) -> None:
    shell.run_cell_magic("stratalog", "", '+edge[(1, 2), (2, 3)]\n+name(1, "costs $low")')
    shell.user_ns["low"] = 1
    found = shell.run_cell_magic("stratalog", "", "% $high\n?edge(X:asc, Y), X >= $low // $high\n/* $high */")
    assert found.rows() == [(1, 2), (2, 3)]
    assert "<td>2</td>" in found._repr_html_()
    assert shell.run_cell_magic("stratalog", "--limit 1", "?edge(X, Y)").truncated
    assert shell.run_cell_magic("stratalog", "--out kept --as polars", "?edge(X:asc, Y)") is None
    assert shell.user_ns["kept"].rows() == [(1, 2), (2, 3)]
    assert shell.run_cell_magic("stratalog", "--as pandas", "?edge(X, Y)").shape == (2, 2)
    assert "edge" in str(shell.run_cell_magic("stratalog", "--explain", "?edge(X, Y)"))
    assert "ms" in str(shell.run_cell_magic("stratalog", "--profile", "?edge(X, Y)"))


def test_a_cell_that_is_changed_and_run_again_leaves_none_of_its_old_rules(shell: Any) -> None:
    shell.run_cell_magic("stratalog", "", "+n[1, 5, 9]\n+big(X) <- n(X), X > 1\n+big(X) <- n(X), X = 0")
    shell.run_cell_magic("stratalog", "", "+big(X) <- n(X), X > 5\n+big(X) <- n(X), X = 0")
    assert shell.run_cell_magic("stratalog", "", "?big(X)").rows() == [(9,)]
    shell.run_cell_magic("stratalog", "--keep-rules", "+big(X) <- n(X), X = 1")
    assert shell.run_cell_magic("stratalog", "", "?big(X:asc)").rows() == [(1,), (9,)]


@pytest.mark.usefixtures("environment")
def test_a_line_connects(shell: Any, server: LocalServer, db: stratalog.Client) -> None:
    found = shell.run_line_magic("stratalog", f"{server.url} --user admin --kg {db.kg}")
    assert (found.kg, found is db) == (db.kg, False)
    found.close()
    with pytest.raises(UsageError, match="no stratalog client"):
        shell.run_line_magic("stratalog", "--db nothing")
    with pytest.raises(UsageError, match="usage"):
        shell.run_line_magic("stratalog", "--what")


def test_an_error_is_its_excerpt(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell("%%stratalog\n?edgs(X, Y)")
    printed = capsys.readouterr().out
    assert "1 | ?edgs(X, Y)\n  |  ^^^^" in printed
    assert "client.py" not in printed
    shell.run_cell("%%stratalog\n?edge($nothing, Y)")
    assert "$nothing takes its value from the variable nothing" in capsys.readouterr().err


def test_plans_are_drawn(db: stratalog.Client) -> None:
    db.insert("edge", [(1, 2), (2, 3)])
    db.execute("+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)")
    plan = db.explain("?path($from, X)", {"from": 1})
    assert not plan.measured
    assert "probe edge(=Y, Z)" in str(plan)
    measured = db.explain("?path(1, X)", profile=True)
    assert measured.measured
    assert str(measured).splitlines()[-1].startswith("answer: 2 rows, ")
    with_rule = db.explain("near(X) <- path(1, X)\n?near(X)")
    assert "near" in str(with_rule)
    for each in (plan, measured, with_rule):
        drawn = ET.fromstring(each._repr_html_().replace("<details open>", "<details>"))
        assert len(drawn.findall("details")) == len(each.data["strata"])


def test_a_plan_says_where_it_is_evaluated() -> None:
    """What a server with a cluster says; tests have none."""
    strategy = {"name": "no_plan", "why": "few rows"}
    path = {"name": "path", "measured_rows": 3}
    stratum = {"relations": [path], "recursive": True, "strategy": strategy, "rules": [], "rounds": 2}
    plan = Plan({"place": "evaluated by the cluster", "kept": [], "strata": [stratum]})
    assert str(plan).splitlines() == [
        "evaluated by the cluster",
        "path (3 rows), no plan (few rows), 2 rounds",
    ]
    assert "<p>evaluated by the cluster</p>" in plan._repr_html_()


def test_rule_graphs_are_drawn(db: stratalog.Client) -> None:
    db.insert("edge", [(1, 2), (2, 3)])
    db.execute(
        "+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)\n"
        '+far(X, count<Y>) <- path(X, Y), abs(X) > 0, Z = "edge(X)", !near(X)\n+near(X) <- edge(X, _)\n'
        "+even(X) <- odd(Y), edge(Y, X)\n+odd(X) <- even(Y), edge(Y, X)"
    )
    graph = db.rules.graph()
    assert set(graph.nodes) == {"edge", "path", "far", "near", "even", "odd"}
    assert {edge for edge in graph.edges if edge.target == "far"} == {
        Edge("path", "far", aggregated=True),
        Edge("near", "far", negated=True, aggregated=True),
    }
    assert [graph.recursive(name) for name in ("path", "far", "even", "odd")] == [True, False, True, True]
    order = graph.groups()
    assert order.index(["edge"]) < order.index(["path"]) < order.index(["far"])
    assert ["even", "odd"] in order
    assert "path <- edge, path (recursive)" in str(graph)
    drawn = ET.fromstring(graph._repr_svg_())
    space = "{http://www.w3.org/2000/svg}"
    assert {text.text for text in drawn.iter(f"{space}text")} == set(graph.nodes)
    # A line for each edge but those to itself, and the head of the arrow.
    assert len(list(drawn.iter(f"{space}path"))) == 1 + sum(e.source != e.target for e in graph.edges)


def test_a_long_chain_of_rules_is_drawn() -> None:
    names = [f"r{n}" for n in range(3000)]
    graph = rule_graph({name: [f"{name}(X) <- {below}(X)"] for below, name in pairwise(names)}, [])
    assert len(graph.groups()) == 2999
    assert rule_graph({}, [])._repr_svg_().startswith("<svg")
