"""Live queries in a notebook: a real kernel, and the messages of which a front end makes what one sees."""

from __future__ import annotations

import queue
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

import stratalog
from conftest import PASSWORD
from local_server import LocalServer
from stratalog.live_display import _order, _sorted


class Notebook:
    """What is shown below cells, by the id of a display."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self._client = client
        self.shown: dict[str, dict[str, str]] = {}
        self.errors: list[str] = []
        self.printed = ""

    def run(self, code: str, cell: str | None = None) -> list[str]:
        """Runs a cell; the ids of what it shows."""
        before = set(self.shown)
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}}
        message = self._client.session.msg("execute_request", content | {"allow_stdin": False})
        message["metadata"] = {} if cell is None else {"cellId": cell}
        self._client.shell_channel.send(message)
        self.wait(lambda last: last["msg_type"] == "status" and _ends(last, message))
        return [key for key in self.shown if key not in before]

    def wait(self, holds: Callable[[dict[str, Any]], bool], seconds: float = 60) -> None:
        """Takes messages until one of them is awaited."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                message = self._client.get_iopub_msg(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"shown is {self.shown}, and {self.errors}")
            if message["msg_type"] in ("display_data", "update_display_data"):
                self.shown[message["content"]["transient"]["display_id"]] = message["content"]["data"]
            elif message["msg_type"] == "error":
                self.errors.append("\n".join(message["content"]["traceback"]))
            elif message["msg_type"] == "stream":
                self.printed += message["content"]["text"]
            if holds(message):
                return

    def wait_for(self, display: str, pattern: str) -> str:
        """The text of a display, once it holds the pattern."""
        if not re.search(pattern, self.shown[display]["text/plain"]):
            self.wait(lambda _: bool(re.search(pattern, self.shown[display]["text/plain"])))
        return self.shown[display]["text/plain"]


def _ends(status: dict[str, Any], request: dict[str, Any]) -> bool:
    ours: bool = status["parent_header"].get("msg_id") == request["header"]["msg_id"]
    return ours and bool(status["content"]["execution_state"] == "idle")


@pytest.fixture(scope="module")
def kernel() -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    manager, client = start_new_kernel(kernel_name="python3")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook(
    kernel: tuple[KernelManager, BlockingKernelClient], server: LocalServer, db: stratalog.Client
) -> Iterator[Notebook]:
    """A kernel with a client of its own, on the graph of `db`."""
    notebook = Notebook(*kernel)
    login = f"{server.url!r}, user='admin', password={PASSWORD!r}, kg={str(db.kg)!r}"
    notebook.run(f"import stratalog\n%load_ext stratalog\ndb = stratalog.connect({login})")
    notebook.run("%stratalog --db db")
    yield notebook
    notebook.run("db.close()")
    assert notebook.errors == []


def marked(notebook: Notebook, display: str) -> list[list[str]]:
    rows = re.findall(r"<tr style=[^>]*>(.*?)</tr>", notebook.shown[display]["text/html"])
    return [re.findall("<td>(.*?)</td>", row) for row in rows]


def test_a_table_is_kept_current(notebook: Notebook, db: stratalog.Client) -> None:
    db.insert("edge", [(2, "<b>"), (1, "one")])
    (display,) = notebook.run('live = db.live("?edge(X, T)")\nlive')
    # It is there when the cell has run, also for who runs all cells and saves.
    assert "2 rows, live" in notebook.shown[display]["text/plain"]
    assert "<td>&lt;b&gt;</td>" in notebook.shown[display]["text/html"]
    assert marked(notebook, display) == []
    version = db.insert("edge", [(1, "and more")]).version
    text = notebook.wait_for(display, f"version {version}: 3 rows \\(1 came\\), live")
    assert [line.split()[0] for line in text.splitlines()[2:5]] == ["1", "1", "2"]
    assert marked(notebook, display) == [["1", "and more"]]
    db.execute("-edge(1, T) <- edge(1, T)")
    notebook.wait_for(display, r": 1 row \(2 went\), live")
    assert marked(notebook, display) == []
    notebook.run("live.close()")
    notebook.wait_for(display, "1 row.*, closed")


def test_it_takes_no_change_from_who_iterates(notebook: Notebook, db: stratalog.Client) -> None:
    db.insert("n", [1])
    (display,) = notebook.run('live = db.live("?n(X)", keep=False)\nlive')
    db.insert("n", [2])
    notebook.wait_for(display, "2 rows")
    notebook.run(
        "taken = [live.next(60).added, live.next(60).added]\nassert taken == [[(1,)], [(2,)]], taken"
    )
    notebook.run("live.close()")


def test_a_table_ends_with_the_answer(notebook: Notebook, db: stratalog.Client) -> None:
    db.execute("+n[1, 2]\n+big(X) <- n(X), X > 1")
    (display,) = notebook.run('display(db.live("?big(X)"))')
    db.execute(".rule drop big")
    text = notebook.wait_for(display, "ended")
    assert "1 row, ended, UnknownRelation: " in text
    assert "big" in text


def test_many_rows_are_shown_in_part_with_those_that_came(notebook: Notebook, db: stratalog.Client) -> None:
    db.insert("n", range(1000))
    (display,) = notebook.run('live = db.live("?n(X)")\nlive')
    assert "50 of 1000 rows" in notebook.shown[display]["text/html"]
    db.insert("n", [5000, -1])
    notebook.wait_for(display, "2 came")
    assert marked(notebook, display) == [["-1"], ["5000"]]
    assert "50 of 1002 rows" in notebook.shown[display]["text/html"]
    assert "20 of 1002 rows" in notebook.shown[display]["text/plain"]
    notebook.run("live.close()")


def test_a_cell_of_a_query_is_live(notebook: Notebook, db: stratalog.Client) -> None:
    db.insert("score", [("ada", 3), ("bob", 5)])
    notebook.run("least = 2")
    cell = "%%stratalog --live --out top\n?score(Name, N:desc), N > $least, limit(2, 0)\n"
    (first,) = notebook.run(cell, "a cell")
    db.insert("score", [("eve", 4)])
    text = notebook.wait_for(first, r"1 came, 1 went")
    assert [line.split()[0] for line in text.splitlines()[2:4]] == ["bob", "eve"]
    # Run again, it ends what it has shown before, and its connection.
    notebook.run("before = top")
    (second,) = notebook.run(cell, "a cell")
    notebook.wait_for(first, "closed")
    notebook.run("assert before.closed and not top.closed")
    (other,) = notebook.run("top", "another cell")
    db.insert("score", [("zoe", 9)])
    for display in (second, other):
        notebook.wait_for(display, "1 came, 1 went")
    notebook.run("1", "another cell")
    notebook.wait_for(other, "closed")
    notebook.run("assert not top.closed\ntop.close()")


def test_it_is_told_when_the_server_is_away(notebook: Notebook, own_server: LocalServer) -> None:
    login = f"{own_server.url!r}, user='admin', password={PASSWORD!r}"
    (display,) = notebook.run(
        f"own = stratalog.connect({login})\nown.insert('n', [1])\nlive = own.live('?n(X)')\nlive"
    )
    own_server.kill()
    notebook.wait_for(display, "1 row, not connected, trying again")
    notebook.run("live.close()\nown.close()")
    notebook.wait_for(display, "closed")


def test_what_does_not_go_together_is_refused(notebook: Notebook) -> None:
    notebook.run("%%stratalog --live --limit 3 --keep-rules\n?n(X)")
    notebook.run("%%stratalog --live\n?missing(X)")
    notebook.run("%%stratalog --live\n+n(1)")
    assert [len(notebook.errors), "client.py" in "".join(notebook.errors)] == [2, False]
    assert "without --limit, --keep-rules" in notebook.printed
    notebook.errors.clear()


def test_a_terminal_shows_one_line(db: stratalog.Client, capsys: pytest.CaptureFixture[str]) -> None:
    db.insert("n", [1])
    shell: Any = InteractiveShell()
    with db.live("?n(X)") as live:
        assert live.next(60) is not None
        shell.user_ns["live"] = live
        shell.run_cell("live")
        assert "<Live '?n(X)': live, version " in capsys.readouterr().out
    assert repr(live).startswith("<Live '?n(X)': closed, version ")
    shell.history_manager.end_session()


def test_rows_are_in_the_order_of_the_query() -> None:
    assert _order("?edge(X, Y)") == []
    assert _order('?edge("a,:desc", Y:desc, f(1, 2), Z :asc), X > 1, r([1, 2]:asc)') == [
        (1, True),
        (3, False),
    ]
    assert _order("?X, f(Y, 2):desc, Z <- edge(X, Y:asc, Z)") == [(1, True)]
    rows: list[tuple[Any, ...]] = [(1, "b"), (None, "a"), (2.5, "a"), (True, "c"), ("x", "b"), ([1.0], "a")]
    kinds = [(None, "a"), (True, "c"), (1, "b"), (2.5, "a"), ("x", "b"), ([1.0], "a")]
    assert _sorted(list(rows), []) == kinds
    assert _sorted(list(rows), [(0, True)]) == kinds[::-1]
    assert _sorted(list(rows), [(1, True), (0, False)]) == [kinds[place] for place in (1, 2, 4, 0, 3, 5)]
    # A mark that stands somewhere else is no column.
    assert _sorted(list(rows), [(7, True)]) == kinds
