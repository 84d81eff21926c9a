import assert from "node:assert/strict";
import test from "node:test";
import { type Client, type Live, type LiveChange, NotLive, UnknownRelation } from "@stratalog/client";
import { Cable, serverForTests, withClient } from "./harness.js";
import { LocalServer, until } from "./local-server.js";

const server = await serverForTests();
const REACH = "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)";

async function reach(db: Client): Promise<void> {
  await db.insert("edge", [
    [1, 2],
    [2, 3],
  ]);
  await db.execute(REACH);
}

async function changeOf(live: Live): Promise<LiveChange> {
  const { value } = await live.next();
  assert.ok(value !== undefined);
  return value;
}

test("rows come and go", () =>
  withClient(server, async (db) => {
    await reach(db);
    const live = await db.live("?reach($from, Y)", { params: { from: 1 } });
    const first = await changeOf(live);
    assert.deepEqual([first.reset, first.added.length, live.names], [true, 2, ["A", "Y"]]);
    const inserted = await db.insert("edge", [
      [3, 4],
      [7, 8],
    ]);
    const change = await changeOf(live);
    assert.deepEqual(change, { version: inserted.version, reset: false, added: [[1, 4]], removed: [] });
    assert.equal(live.version, inserted.version);
    await db.execute("-edge(2, 3)");
    const gone = await changeOf(live);
    assert.deepEqual(gone.removed.map(([, y]) => y).sort(), [3, 4]);
    assert.deepEqual([...live.rows.values()], [[1, 2]]);
    // What goes is the array that came.
    assert.ok(gone.removed.includes(change.added[0] ?? []));
    live.close();
    assert.deepEqual(await live.next(), { done: true, value: undefined });
  }));

test("leaving the loop closes it, and closing ends the loop", () =>
  withClient(server, async (db) => {
    await reach(db);
    const left = await db.live("?reach(X, Y)");
    for await (const change of left) {
      assert.equal(change.added.length, 3);
      break;
    }
    assert.ok(left.closed);
    const live = await db.live("?reach(X, Y)", { keep: false });
    let changes = 0;
    for await (const _ of live) {
      changes += 1;
      queueMicrotask(() => live.close());
    }
    assert.deepEqual([changes, live.rows.size], [1, 0]);
  }));

test("values of all kinds are kept apart, also when their column looks otherwise", () =>
  withClient(server, async (db) => {
    await db.execute('+v[(1), (1.0), (true), ("1"), ([1, 2]), (["a"]), (9223372036854775807)]');
    const live = await db.live("?v(X)");
    await live.next();
    assert.equal(live.rows.size, 7);
    for (const step of [
      "-v(1.0)",
      "-v(true)",
      '-v("1")',
      "-v([1, 2])",
      '-v(["a"])',
      "-v(9223372036854775807)",
    ]) {
      await db.execute(step);
      await live.next();
      assert.equal(live.rows.size, (await db.query("?v(X)")).rowCount, step);
    }
    assert.deepEqual([...live.rows.values()], [[1]]);
    live.close();
  }));

test("a row is found again when its column comes to hold one type", () =>
  withClient(server, async (db) => {
    await db.execute('+w[(1.0, 1), ("a", 2), (2.5, 3), (1, 4)]');
    const live = await db.live("?w(X, Y)");
    await live.next();
    for (const [step, size] of [
      ['-w("a", 2)', 3],
      ["-w(1, 4)", 2],
      ["-w(1.0, 1)", 1],
      ["-w(2.5, 3)", 0],
    ] as const) {
      await db.execute(step);
      await live.next();
      assert.equal(live.rows.size, size, step);
    }
    live.close();
  }));

test("many rows, and a large change", () =>
  withClient(server, async (db) => {
    await db.insert(
      "n",
      Array.from({ length: 100_000 }, (_, n) => [n]),
    );
    const live = await db.live("?n(X)");
    await live.next();
    assert.equal(live.rows.size, 100_000);
    await db.execute("-n(X) <- n(X), X >= 40000");
    assert.equal((await changeOf(live)).removed.length, 60_000);
    assert.equal(live.rows.size, 40_000);
    live.close();
  }));

test("what is wrong is told at once, and what ends it when it ends", () =>
  withClient(server, async (db) => {
    await reach(db);
    await assert.rejects(db.live("?raech(X, Y)"), UnknownRelation);
    await assert.rejects(db.live("+edge(1, 1)\n?edge(X, Y)"), NotLive);
    await assert.rejects(db.live("?edge(X, Y)", { resume: "nonsense" }), TypeError);
    const live = await db.live("?reach(X, Y)");
    await live.next();
    await db.execute(".rule drop reach");
    await assert.rejects(live.next(), UnknownRelation);
    assert.deepEqual(await live.next(), { done: true, value: undefined });
  }));

test("it goes on where it was, and so does who has its token", async () => {
  const cable = new Cable();
  await withClient(
    server,
    async (db) => {
      await reach(db);
      const live = await db.live("?reach(1, Y)");
      await live.next();
      const { token } = live;
      cable.cut();
      await db.insert("edge", [[3, 4]]);
      const change = await changeOf(live);
      assert.deepEqual([change.reset, change.added, live.rows.size], [false, [[1, 4]], 3]);
      live.close();
      const again = await db.live("?reach(1, Y)", { resume: token, keep: false });
      assert.deepEqual((await changeOf(again)).added, [[1, 4]]);
      again.close();
    },
    { WebSocket: cable.Socket },
  );
});

test("it outlives the server, and a restart that changes nothing is not told", async () => {
  const own = await LocalServer.start();
  const db = await own.connect({ reconnect: 60_000 });
  await db.insert("p", [1]);
  await db.insert("q", [1]);
  const live = await db.live("?p(X)");
  await live.next();
  const next = live.next();
  await own.restart();
  await db.insert("q", [2]);
  await until(async () => (await db.execute(".live list")).rowCount === 1);
  await db.insert("p", [2]);
  const { value } = await next;
  assert.deepEqual([value?.reset, value?.added], [false, [[2]]]);
  assert.deepEqual([...live.rows.values()].sort(), [[1], [2]]);
  live.close();
  db.close();
  await own.stop();
});

test("changes can be asked for version by version", () =>
  withClient(server, async (db) => {
    await db.insert("p", [0]);
    const live = await db.live("?p(X)", { everyVersion: true });
    await live.next();
    for (let n = 1; n <= 5; n += 1) {
      const { version } = await db.insert("p", [n]);
      assert.deepEqual(await changeOf(live), { version, reset: false, added: [[n]], removed: [] });
    }
    live.close();
  }));
