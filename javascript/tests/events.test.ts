import assert from "node:assert/strict";
import test from "node:test";
import type { Change, Events, Gap } from "@stratalog/client";
import { Cable, serverForTests, withClient } from "./harness.js";
import { LocalServer } from "./local-server.js";

const server = await serverForTests();

async function eventOf(events: Events): Promise<Change | Gap> {
  const { value } = await events.next();
  assert.ok(value !== undefined);
  return value;
}

/** What an event is about. */
function about(event: Change | Gap): unknown[] {
  return event.type === "gap" ? [event.type] : [event.type, event.name, event.operation, event.count];
}

test("changes are told in their order", () =>
  withClient(server, async (db) => {
    const events = await db.events();
    await db.insert("edge", [
      [1, 2],
      [2, 3],
    ]);
    await db.execute("-edge(2, 3)\n+path(X, Y) <- edge(X, Y)\n+person(name: string)");
    const found = [
      await eventOf(events),
      await eventOf(events),
      await eventOf(events),
      await eventOf(events),
    ];
    assert.deepEqual(found.map(about), [
      ["persistent_update", "edge", "insert", 2],
      ["persistent_update", "edge", "delete", 1],
      ["rule_change", "path", "registered", 0],
      ["schema_change", "person", "declared", 0],
    ]);
    const [first] = found;
    assert.ok(first?.type === "persistent_update");
    assert.deepEqual([first.kg, first.sessionId], [db.kg, db.session.sessionId]);
    assert.ok(first.time instanceof Date && Math.abs(first.time.getTime() - Date.now()) < 600_000);
    const name = `${db.kg}_other`;
    await db.execute(`.kg create ${name}`);
    assert.deepEqual(about(await eventOf(events)), ["kg_change", name, "created", 0]);
    events.close();
    assert.deepEqual(await events.next(), { done: true, value: undefined });
  }));

test("whoever comes back with a number is told what came after it", () =>
  withClient(server, async (db) => {
    const events = await db.events();
    const { lastSeq } = events;
    assert.ok(lastSeq !== undefined);
    await db.insert("p", [1]);
    await db.insert("q", [1]);
    await events.next();
    events.close();
    const later = await db.events({ lastSeq });
    assert.deepEqual(
      [about(await eventOf(later)), about(await eventOf(later))],
      [
        ["persistent_update", "p", "insert", 1],
        ["persistent_update", "q", "insert", 1],
      ],
    );
    later.close();
    const future = await db.events({ lastSeq: lastSeq + 1_000_000 });
    const gap = await eventOf(future);
    assert.ok(gap.type === "gap" && gap.last === lastSeq + 1_000_000);
    // From there, a lost connection would go on.
    assert.equal(future.lastSeq, gap.first - 1);
    await db.insert("r", [1]);
    assert.deepEqual(about(await eventOf(future)), ["persistent_update", "r", "insert", 1]);
    future.close();
  }));

test("nothing is missed while the connection is lost, also if there was no event yet", async () => {
  const cable = new Cable();
  await withClient(
    server,
    async (db) => {
      const events = await db.events();
      for (const name of ["a", "b"]) {
        const next = eventOf(events);
        cable.cut();
        await db.ping();
        await db.insert(name, [1]);
        assert.deepEqual(about(await next), ["persistent_update", name, "insert", 1]);
      }
      events.close();
    },
    { WebSocket: cable.Socket },
  );
});

test("over a crash, events go on, and what was perhaps missed is a gap", async () => {
  const own = await LocalServer.start();
  const db = await own.connect({ reconnect: 60_000 });
  const events = await db.events();
  await db.insert("p", [1]);
  const first = await eventOf(events);
  assert.ok(first.type === "persistent_update");
  await own.restart();
  await db.insert("q", [1]);
  let found = await eventOf(events);
  if (found.type === "gap") {
    // The new server had written before the events were back.
    assert.equal(found.first, first.seq + 1);
    found = await eventOf(events);
  }
  assert.ok(found.type === "persistent_update" && found.name === "q" && found.seq > first.seq);
  events.close();
  db.close();
  await own.stop();
});
