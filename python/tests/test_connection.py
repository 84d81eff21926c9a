"""Connecting, logging in, and losing the connection."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading

import pytest

import stratalog
from conftest import ENDLESS, PASSWORD, is_running, wait_until
from local_server import LocalServer
from stratalog import connection


def test_the_session_says_who_and_where(server: LocalServer) -> None:
    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        assert (db.session.role, db.kg) == ("admin", "default")
        assert db.session.session_id
        assert db.ping() > 0


@pytest.mark.parametrize("form", ["{}/ws", "{}/v1/ws"])
def test_forms_of_the_address(server: LocalServer, form: str) -> None:
    stratalog.connect(form.format(server.url), user="admin", password=PASSWORD).close()


def test_http_address(server: LocalServer) -> None:
    stratalog.connect(server.url.replace("ws://", "http://"), user="admin", password=PASSWORD).close()


def test_a_wrong_password_is_refused(server: LocalServer) -> None:
    with pytest.raises(stratalog.AuthError):
        stratalog.connect(server.url, user="admin", password="wrong")


def test_an_unknown_graph_is_refused(server: LocalServer) -> None:
    with pytest.raises(stratalog.NotFound):
        stratalog.connect(server.url, user="admin", password=PASSWORD, kg="no_such_graph")


def test_nobody_listens() -> None:
    with pytest.raises(stratalog.ConnectionLost, match="cannot connect"):
        stratalog.connect("ws://127.0.0.1:9", user="admin", password=PASSWORD, timeout=5)


def test_graphs_are_created_and_changed(db: stratalog.Client) -> None:
    first = db.kg
    db.insert("p", [1])
    db.create_kg(f"{first}_b")
    assert db.kg == f"{first}_b"
    with pytest.raises(stratalog.UnknownRelation):
        db.query("?p(X)")
    db.use(first)
    assert db.query("?p(X)").rows() == [(1,)]
    with pytest.raises(stratalog.NotFound):
        db.use("no_such_graph")
    with pytest.raises(stratalog.AlreadyExists):
        db.create_kg(first)
    assert db.kg == first


def test_a_killed_server_is_noticed(own_server: LocalServer) -> None:
    with stratalog.connect(own_server.url, user="admin", password=PASSWORD, reconnect=0) as db:
        db.insert("start", [1])
        threading.Timer(0.5, own_server.kill).start()
        with pytest.raises(stratalog.ConnectionLost):
            db.query(ENDLESS)
        with pytest.raises(stratalog.ConnectionLost):
            db.query("?start(X)")


def test_data_outlives_a_restart_of_the_client(own_server: LocalServer) -> None:
    with stratalog.connect(own_server.url, user="admin", password=PASSWORD) as db:
        db.insert("p", [(1, "a")])
        db.insert("s", [(1,)], scope="session")
    with stratalog.connect(own_server.url, user="admin", password=PASSWORD) as db:
        assert db.query("?p(X, Y)").rows() == [(1, "a")]
        with pytest.raises(stratalog.UnknownRelation):
            db.query("?s(X)")
    assert own_server.stop() == 0


def test_a_closed_client_says_so(server: LocalServer) -> None:
    db = stratalog.connect(server.url, user="admin", password=PASSWORD)
    db.close()
    with pytest.raises(stratalog.ConnectionLost):
        db.query("?p(X)")


def test_a_forgotten_client_warns(server: LocalServer) -> None:
    db = stratalog.connect(server.url, user="admin", password=PASSWORD)
    with pytest.warns(ResourceWarning, match="unclosed"):
        del db


def test_a_program_that_closes_nothing_ends(server: LocalServer) -> None:
    # As a global of the script, and in a cycle that the collector may find when everything is over.
    for keep in ("db.ping()", "x = [db]; x.append(x); del db, x"):
        connect = f"stratalog.connect({server.url!r}, user='admin', password={PASSWORD!r})"
        script = f"import stratalog\ndb = {connect}\n{keep}\n"
        ended = subprocess.run([sys.executable, "-c", script], timeout=60, capture_output=True, text=True)
        assert (ended.returncode, ended.stderr) == (0, ""), keep


def test_cancel_from_another_thread(db: stratalog.Client) -> None:
    db.insert("start", [1])
    assert db.cancel() is False
    thread = threading.Thread(target=wait_until, args=(db.cancel,))
    thread.start()
    with pytest.raises(stratalog.Cancelled):
        db.query(ENDLESS)
    thread.join()
    assert db.query("?start(X)").scalar() == 1


def test_an_interrupt_cancels_the_query(db: stratalog.Client) -> None:
    def interrupt() -> None:
        with db.kg("default") as other:
            wait_until(lambda: is_running(other, "start(X)"))
        os.kill(os.getpid(), signal.SIGINT)

    db.insert("start", [1])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            db.query(ENDLESS)
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert db.query("?start(X)").scalar() == 1


def test_a_timeout_ends_the_query(db: stratalog.Client) -> None:
    db.insert("start", [1])
    with pytest.raises(stratalog.QueryTimeout):
        db.query(ENDLESS, timeout=0.3)
    assert db.query("?start(X)").scalar() == 1


def test_who_waits_is_told_how_far_the_query_is(
    db: stratalog.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    db.insert("start", [1])
    told: list[stratalog.Working] = []
    with pytest.raises(stratalog.QueryTimeout):
        db.query(ENDLESS, timeout=2, progress=told.append)
    assert len(told) >= 2
    assert {each.state for each in told} == {"running"}
    assert told[0].elapsed_ms < told[1].elapsed_ms
    assert told[0].rounds < told[1].rounds
    assert told[0].rows < told[1].rows
    assert told[1].memory_bytes > 0
    # Of a stream, up to its first rows.
    told.clear()
    with pytest.raises(stratalog.QueryTimeout):
        db.stream(ENDLESS, timeout=1, progress=told.append)
    assert told
    # Whoever has seen enough ends it.
    with pytest.raises(ZeroDivisionError):
        db.query(ENDLESS, progress=lambda working: working.rounds // 0)
    # On a line, of what takes long alone.
    with pytest.raises(stratalog.QueryTimeout):
        db.query(ENDLESS, timeout=1, progress=True)
    assert re.search(r"rows found: .* rows .*running, [\d,]+ rounds, ", capsys.readouterr().err)
    assert db.query("?start(X)", progress=True).scalar() == 1
    assert capsys.readouterr().err == ""


def test_what_stands_behind_a_long_query_runs_out_of_time_alone(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "GRACE_SECONDS", 0.2)
    ended: list[stratalog.Error] = []

    def ask() -> None:
        try:
            db.query(ENDLESS)
        except stratalog.Error as problem:
            ended.append(problem)

    with stratalog.connect(server.url, user="admin", password=PASSWORD) as db:
        db.create_kg("stands_behind")
        db.insert("start", [1])
        thread = threading.Thread(target=ask)
        thread.start()
        with db.kg("default") as other:
            wait_until(lambda: is_running(other, "start(X)"))
        with pytest.raises(stratalog.QueryTimeout):
            db.query("?start(X)", timeout=0.2)
        assert ended == []
        assert db.cancel() is True
        thread.join()
        assert [type(problem) for problem in ended] == [stratalog.Cancelled]
        assert db.query("?start(X)").scalar() == 1
        db.execute(".kg use default\n.kg drop stands_behind")


def test_threads_share_a_client(db: stratalog.Client) -> None:
    db.insert("p", [(n, n * n) for n in range(100)])
    wrong: list[object] = []

    def work(first: int) -> None:
        for n in range(first, 100, 4):
            row = db.query("?p($n, Y)", {"n": n}).one()
            if row != (n, n * n):
                wrong.append(row)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
