"""Events of both clients, against a real server that is stopped and started under them."""

from __future__ import annotations

import asyncio
import itertools
import threading
from pathlib import Path

import pytest

import stratalog
from conftest import PASSWORD, executable
from local_server import LocalServer
from stratalog import Event, Gap

_numbers = itertools.count()


def connect(server: LocalServer, kg: str = "default") -> stratalog.Client:
    return stratalog.connect(server.url, user="admin", password=PASSWORD, kg=kg, timeout=60)


def some(events: stratalog.Events, count: int) -> list[Event | Gap]:
    found = [events.next(timeout=120) for _ in range(count)]
    assert None not in found
    return [event for event in found if event is not None]


def test_events_tell_what_changed_and_who_did_it(db: stratalog.Client) -> None:
    with db.events() as events:
        db.insert("edge", [(1, 2), (2, 3)])
        db.execute("+path(X, Y) <- edge(X, Y)")
        db.execute("-edge(1, 2)")
        db.execute(".rel drop edge")
        inserted, registered, deleted, dropped = some(events, 4)
    assert isinstance(inserted, Event)
    assert (inserted.type, inserted.name, inserted.operation, inserted.count) == (
        "persistent_update",
        "edge",
        "insert",
        2,
    )
    assert inserted.kg == db.kg
    assert inserted.session_id == db.session.session_id
    assert inserted.time.tzinfo is not None
    shown = [(e.type, e.name, e.operation) for e in (registered, deleted, dropped) if isinstance(e, Event)]
    assert shown == [
        ("rule_change", "path", "registered"),
        ("persistent_update", "edge", "delete"),
        ("schema_change", "edge", "dropped"),
    ]
    assert isinstance(dropped, Event)
    assert events.last_seq == dropped.seq


def test_events_are_iterated_while_others_ask(db: stratalog.Client) -> None:
    seen: list[int] = []
    with db.events() as events:

        def listen() -> None:
            for event in events:
                assert isinstance(event, Event)
                seen.append(event.count)
                if len(seen) == 50:
                    return

        listener = threading.Thread(target=listen)
        listener.start()
        for n in range(50):
            db.insert("p", [(n, k) for k in range(n + 1)])
            assert db.query("?p($n, K)", {"n": n}).row_count == n + 1
        listener.join(30)
    assert seen == list(range(1, 51))


def test_nothing_comes_within_the_timeout_and_after_the_close(db: stratalog.Client) -> None:
    events = db.events()
    assert events.next(timeout=0.05) is None
    waiting = threading.Thread(target=lambda: list(events))
    waiting.start()
    events.close()
    waiting.join(10)
    assert not waiting.is_alive()


def test_events_go_on_from_a_number(db: stratalog.Client) -> None:
    with db.events() as events:
        db.execute("+p(1)")
        (first,) = some(events, 1)
    assert isinstance(first, Event)
    db.execute("+p(2)")
    with db.events(first.seq) as events:
        (second,) = some(events, 1)
    assert isinstance(second, Event)
    assert second.seq > first.seq
    with db.events(first.seq + 10**9) as events:
        (future,) = some(events, 1)
        assert future == Gap(second.seq + 1, first.seq + 10**9)
        assert events.last_seq == second.seq
        db.execute("+p(3)")
        (third,) = some(events, 1)
        assert isinstance(third, Event)


def restarted(server: LocalServer, folder: Path) -> LocalServer:
    """The same server again, after a stop, at the same address."""
    port = server.url.rsplit(":", 1)[1]
    server.stop()
    return LocalServer(executable(), folder, PASSWORD, port=int(port))


def test_events_survive_a_restart_of_the_server(tmp_path: Path) -> None:
    with LocalServer(executable(), tmp_path, PASSWORD) as server:
        with connect(server) as db:
            events = db.events()
            db.execute("+p(1)")
            (first,) = some(events, 1)
        with restarted(server, tmp_path) as again, connect(again) as db:
            db.execute("+p(2)")
            (second,) = some(events, 1)
            assert isinstance(first, Event)
            if isinstance(second, Gap):
                # The new server had written before the events were back.
                assert second.first == first.seq + 1
                (second,) = some(events, 1)
            assert isinstance(second, Event)
            assert second.name == "p"
            assert second.seq > first.seq
            events.close()


def test_a_revoked_user_gets_no_more(server: LocalServer) -> None:
    name = f"watcher_{next(_numbers)}"
    with connect(server) as admin:
        admin.execute(f".user create {name} {PASSWORD} viewer")
        with stratalog.connect(server.url, user=name, password=PASSWORD) as db:
            events = db.events()
        admin.execute("+seen(1)")
        assert isinstance(events.next(timeout=120), Event)
        admin.execute(f".user drop {name}")
        # Connecting again is refused; the iteration ends with that.
        with pytest.raises(stratalog.AuthError):
            list(events)
        events.close()


def test_async_events(server: LocalServer) -> None:
    async def main() -> None:
        async with await stratalog.connect_async(server.url, user="admin", password=PASSWORD) as db:
            await db.create_kg(f"events_{next(_numbers)}")
            async with db.events() as events:
                # More than the client reads ahead.
                program = "\n".join(f"+p({n})" for n in range(3000))
                await db.execute(program, atomic=True)
                seen: list[int] = []
                async for event in events:
                    assert isinstance(event, Event)
                    seen.append(event.seq)
                    if len(seen) == 3000:
                        break
                assert seen == list(range(seen[0], seen[0] + 3000))
                assert events.last_seq == seen[-1]

                async def rest() -> list[Event | Gap]:
                    return [event async for event in events]

                waiting = asyncio.create_task(rest())
                await db.execute("+p(-1)")
                await asyncio.sleep(0.2)
                await events.close()
                assert [event.name for event in await waiting if isinstance(event, Event)] == ["p"]

    asyncio.run(main())
