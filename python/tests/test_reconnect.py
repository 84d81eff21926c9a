"""What happens when the server goes away under a client: reads are repeated, writes never are."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import stratalog
from conftest import ENDLESS, PASSWORD, executable, is_running, wait_until
from local_server import LocalServer
from stratalog.retry import Retry, only_reads, touches_session


class Restarting:
    """A server that comes back at the same address, with the same data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.server = LocalServer(executable(), folder, PASSWORD)
        self.url = self.server.url

    def restart(self, pause: float = 0.0) -> None:
        """Kills it, and starts another one after so many seconds."""
        self.server.kill()
        threading.Event().wait(pause)
        self.server = LocalServer(executable(), self._folder, PASSWORD, port=int(self.url.rsplit(":", 1)[1]))

    def restart_when(self, holds: Callable[[stratalog.Client], bool]) -> None:
        """The same as soon as another client sees that this is so."""
        with connect(self.url, reconnect=0) as other:
            wait_until(lambda: holds(other))
        self.restart(0.5)

    @contextmanager
    def restarts_when(self, holds: Callable[[stratalog.Client], bool]) -> Iterator[None]:
        """The same beside what happens meanwhile."""
        thread = threading.Thread(target=self.restart_when, args=(holds,))
        thread.start()
        try:
            yield
        finally:
            thread.join()


def asks(db: stratalog.Client) -> bool:
    """Whether a program that never ends has begun."""
    return is_running(db, "start(X)")


def has_written(db: stratalog.Client) -> bool:
    """Whether one has written what it writes."""
    return "done" in {relation.name for relation in db.relations.all()}


@pytest.fixture
def restarting(tmp_path: Path) -> Iterator[Restarting]:
    found = Restarting(tmp_path)
    yield found
    found.server.stop()


def connect(url: str, reconnect: float = 120) -> stratalog.Client:
    return stratalog.connect(url, user="admin", password=PASSWORD, reconnect=reconnect, timeout=120)


def test_requests_after_a_restart_go_to_the_new_server(restarting: Restarting) -> None:
    with connect(restarting.url) as db:
        db.create_kg("lab")
        db.insert("p", [1])
        first = db.session.session_id
        restarting.restart()
        # Nothing was on its way, so a write may be sent as well as a query.
        assert db.insert("p", [2]) == (1, 0)
        assert sorted(db.query("?p(X)")) == [(1,), (2,)]
        assert db.kg == "lab"
        assert db.session.session_id != first


def test_a_query_is_repeated(restarting: Restarting) -> None:
    with connect(restarting.url) as db:
        db.insert("start", [1])
        with restarting.restarts_when(asks), pytest.raises(stratalog.QueryTimeout):
            # It is lost with the first server, and ends by the time limit of the second.
            db.query(ENDLESS, timeout=5)
        assert db.query("?start(X)").scalar() == 1


def test_threads_that_share_a_client_all_come_back(restarting: Restarting) -> None:
    faults: list[BaseException] = []
    answers: list[int] = []
    over = threading.Event()

    def ask(db: stratalog.Client) -> None:
        try:
            while not over.is_set():
                answers.append(len(db.query("?p(X)")))
        except BaseException as problem:
            faults.append(problem)

    def some_more() -> None:
        before = len(answers)
        wait_until(lambda: len(answers) > before + 20)

    with connect(restarting.url) as db:
        db.insert("p", range(1000))
        threads = [threading.Thread(target=ask, args=(db,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            some_more()
            restarting.restart()
        some_more()
        over.set()
        for thread in threads:
            thread.join(120)
    assert faults == []
    assert set(answers) == {1000}


def test_a_write_is_not_repeated_and_says_what_is_known(restarting: Restarting) -> None:
    program = "m(X) <- start(X)\nm(Y) <- m(X), Y = X + 1\n+done(1)\n?m(X)"
    with connect(restarting.url) as db:
        db.insert("start", [1])
        with restarting.restarts_when(has_written), pytest.raises(stratalog.ConnectionLost) as caught:
            db.execute(program)
        assert caught.value.uncertain
        assert "may have taken effect" in str(caught.value)
        # It did, in this case.
        assert db.query("?done(X)").scalar() == 1


def test_what_was_never_sent_is_certain(own_server: LocalServer) -> None:
    with connect(own_server.url, reconnect=0.3) as db:
        own_server.kill()
        assert db._link is not None
        link = db._link
        wait_until(lambda: not link.alive)
        with pytest.raises(stratalog.ConnectionLost) as caught:
            db.insert("p", [1])
        assert not caught.value.uncertain
        with pytest.raises(stratalog.ConnectionLost, match="cannot connect"):
            db.query("?p(X)")


def test_facts_of_the_session_survive_a_lost_connection(server: LocalServer) -> None:
    with connect(server.url) as db:
        db.execute("mine(1)")
        session = db.session.session_id
        assert db._link is not None
        db._link._socket.socket.close()
        assert db.query("?mine(X)").scalar() == 1
        assert db.session.session_id == session


def test_facts_of_the_session_are_not_lost_in_silence(restarting: Restarting) -> None:
    with connect(restarting.url) as db:
        db.execute("+p(1)")
        db.execute("p(2)")
        restarting.restart()
        with pytest.raises(stratalog.SessionLost) as caught:
            db.query("?p(X)")
        assert not caught.value.uncertain
        assert db.query("?p(X)").rows() == [(1,)]


def test_notifications_go_on_after_a_lost_connection(server: LocalServer) -> None:
    with connect(server.url) as db, connect(server.url) as other:
        db.create_kg("reconnect_notes")
        other.use("reconnect_notes")
        assert db._link is not None
        db.notifications.clear()
        db._link._socket.socket.close()
        other.execute("+seen_by_others(1)")
        db.ping()
        db.query("?seen_by_others(X)")
        assert "seen_by_others" in {note.get("relation") for note in db.notifications}


def test_a_lost_upload_inserts_nothing(restarting: Restarting) -> None:
    def rows() -> Iterator[int]:
        for number in range(1_000_000):
            if number == 500_000:
                restarting.restart()
            yield number

    with connect(restarting.url) as db:
        with pytest.raises(stratalog.ConnectionLost) as caught:
            db.insert("p", rows())
        # Its end was never sent.
        assert not caught.value.uncertain
        with pytest.raises(stratalog.UnknownRelation):
            db.query("?p(X)")


def test_a_lost_stream_is_an_error_and_not_a_short_answer(restarting: Restarting) -> None:
    with connect(restarting.url) as db:
        db.insert("p", range(3_000_000))
        with db.stream("?p(X)") as stream:
            batches = iter(stream)
            seen = len(next(batches))
            restarting.server.kill()
            with pytest.raises(stratalog.ConnectionLost):
                seen += sum(len(batch) for batch in batches)
        assert seen < 3_000_000


def test_a_query_waits_where_the_server_says_so_and_a_write_does_not(tmp_path: Path) -> None:
    settings = {"SERVICE_HTTP__RATE_LIMIT__WS_MAX_MESSAGES_PER_SEC": "5"}
    with LocalServer(executable(), tmp_path, PASSWORD, settings) as server, connect(server.url) as db:
        db.execute("+p(1)")
        for _ in range(20):
            assert db.query("?p(X)").scalar() == 1
        with pytest.raises(stratalog.LimitExceeded) as caught:  # noqa: PT012 - which one is refused is open
            for number in range(20):
                db.execute(f"+p({number})")
        assert caught.value.retry_after is not None
        assert not caught.value.uncertain


def test_asyncio_goes_on_too(restarting: Restarting) -> None:
    async def main() -> None:
        async with await stratalog.connect_async(
            restarting.url, user="admin", password=PASSWORD, reconnect=120
        ) as db:
            await db.insert("p", [1])
            await asyncio.to_thread(restarting.restart)
            assert (await db.query("?p(X)")).scalar() == 1
            await db.insert("mine", [1], scope="session")
            await asyncio.to_thread(restarting.restart)
            with pytest.raises(stratalog.SessionLost):
                await db.query("?mine(X)")
            await db.insert("start", [1])
            write = asyncio.create_task(db.execute(f"+done(1)\n{ENDLESS}"))
            await asyncio.to_thread(restarting.restart_when, has_written)
            with pytest.raises(stratalog.ConnectionLost) as caught:
                await write
            assert caught.value.uncertain

    asyncio.run(main())


def test_asyncio_tells_of_a_lost_stream_and_a_lost_upload(restarting: Restarting) -> None:
    def rows() -> Iterator[int]:
        for number in range(1_000_000):
            if number == 500_000:
                restarting.restart()
            yield number

    async def main() -> None:
        async with await stratalog.connect_async(
            restarting.url, user="admin", password=PASSWORD, reconnect=120
        ) as db:
            await db.insert("p", range(3_000_000))
            seen = 0
            async with await db.stream("?p(X)") as stream:
                with pytest.raises(stratalog.ConnectionLost):  # noqa: PT012 - the loop is what raises
                    async for batch in stream:
                        if not seen:
                            await asyncio.to_thread(restarting.restart)
                        seen += len(batch)
            assert 0 < seen < 3_000_000
            assert (await db.query("?count<X> <- p(X)")).scalar() == 3_000_000
            with pytest.raises(stratalog.ConnectionLost) as caught:
                await db.insert("q", rows())
            # Its end was never sent.
            assert not caught.value.uncertain
            with pytest.raises(stratalog.UnknownRelation):
                await db.query("?q(X)")

    asyncio.run(main())


def test_asyncio_events_go_on_after_a_kill(restarting: Restarting) -> None:
    async def main() -> None:
        async with (
            await stratalog.connect_async(
                restarting.url, user="admin", password=PASSWORD, reconnect=120
            ) as db,
            db.events() as events,
        ):
            await db.insert("p", [1])
            first = await anext(events)
            assert isinstance(first, stratalog.Event)
            assert first.name == "p"
            await asyncio.to_thread(restarting.restart)
            await db.insert("q", [1])
            found = await anext(events)
            if isinstance(found, stratalog.Gap):
                # The new server had written before the events were back.
                assert found.first == first.seq + 1
                found = await anext(events)
            assert isinstance(found, stratalog.Event)
            assert found.name == "q"
            assert found.seq > first.seq

    asyncio.run(main())


@pytest.mark.parametrize(
    "program",
    [
        "?p(X)",
        "  // first\n?p(X), X > 1",
        "% why\nq(X) <- p(X)\n?q(X)",
        "?p(X),\n    X > 1",
        '?p("\n?x")',
    ],
)
def test_these_only_read(program: str) -> None:
    assert only_reads(program)
    assert not touches_session(program)


@pytest.mark.parametrize(
    "program",
    [
        "+p(1)\n?p(X)",
        "?p(X)\n+p(1)",
        "-p(1)",
        ".rel drop p\n?p(X)",
        "/* x */ +p(1)\n?p(X)",
        "?p(X) /* x\n*/\n?p(X)",
        "type A: int\n?p(X)",
        "?p(X)\r+p(1)",
        "p(1)",
        "",
        '?p("\n+x")',
    ],
)
def test_these_may_write(program: str) -> None:
    assert not only_reads(program)


@pytest.mark.parametrize("program", ["p(1)", "p(X) <- q(X)", "p(x: int)", "+q(1)\np(1)"])
def test_these_may_touch_the_session(program: str) -> None:
    assert touches_session(program)


@pytest.mark.parametrize("program", ["+p(1)", "-p(1)", ".rel", "type A: int", "q(X) <- p(X)\n?q(X)"])
def test_these_do_not(program: str) -> None:
    assert not touches_session(program)


def test_pauses_grow_jitter_and_end() -> None:
    pauses = [pause for _ in range(20) if (pause := Retry(1000).pause(0.5)) is not None]
    assert len(set(pauses)) > 10
    assert all(0.5 <= pause <= 0.55 for pause in pauses)
    growing = Retry(1000)
    assert max(filter(None, [growing.pause() for _ in range(30)])) > 1
    assert Retry(0).pause() is None
    assert Retry(10).after(stratalog.UnknownRelation("no")) is None
    assert Retry(10).after(stratalog.Overloaded("later", retry_after=1.0)) is not None
    assert Retry(10).after(stratalog.Overloaded("too large")) is None
