// Streams, and requests that are cut short or come at once.

import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Cancelled,
  type Client,
  ClusterUnavailable,
  ConnectionLost,
  QueryTimeout,
  type Row,
  type Working,
} from "@stratalog/client";
import { Cable, ENDLESS, isRunning, serverForTests, withClient } from "./harness.js";
import { until } from "./local-server.js";

const server = await serverForTests();

/** A million rows of some megabytes. */
async function fill(db: Client): Promise<void> {
  await db.insert("d", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await db.execute(
    "+m(X) <- d(A), d(B), d(C), d(D), d(E), d(F), X = A + 10*B + 100*C + 1000*D + 10000*E + 100000*F",
  );
}

test("a stream gives rows while they come, all of them once", () =>
  withClient(server, async (db) => {
    await fill(db);
    const stream = await db.stream("?m(N)");
    assert.deepEqual([stream.names, stream.totalCount, stream.truncated], [["N"], 1_000_000, false]);
    let [rows, sum, batches] = [0, 0, 0];
    for await (const batch of stream) {
      rows += batch.rowCount;
      batches += 1;
      for (const value of batch.column("N")) sum += Number(value);
    }
    assert.deepEqual([rows, sum], [1_000_000, 499_999_500_000]);
    assert.ok(batches > 10);
    await assert.rejects(stream[Symbol.asyncIterator]().next(), /a stream can be read once/);
  }));

test("a stream that nobody reads holds the server back, and leaving it ends the query", async () => {
  const cable = new Cable();
  await withClient(
    server,
    async (db) => {
      await fill(db);
      const before = cable.bytesRead();
      // 160 MB, of which hardly anything is taken.
      for await (const batch of await db.stream("?m(A), d(B)")) {
        assert.ok(batch.rowCount > 0);
        await isStill(() => cable.bytesRead());
        break;
      }
      assert.equal((await db.query("?d(X)")).rowCount, 10);
      assert.ok(cable.bytesRead() - before < 60_000_000, String(cable.bytesRead() - before));
    },
    { WebSocket: cable.Socket },
  );
});

test("closing does not wait for a stream that nobody reads", async () => {
  const cable = new Cable();
  const db = await server.connect({ WebSocket: cable.Socket, kg: "default" });
  await fill(db);
  const stream = await db.stream("?m(A), d(B)");
  await isStill(() => cable.bytesRead());
  db.close();
  // The package `ws` gives up after 30 seconds.
  await until(() => cable.open() === 0, 20_000);
  await assert.rejects(async () => {
    for await (const _ of stream);
  }, ConnectionLost);
});

/** Waits until a number grows no more. */
async function isStill(number: () => number): Promise<void> {
  for (let before = -1; before !== number(); await sleep(200)) before = number();
}

test("who asks while a stream is read is answered, and the rest of the stream is kept", () =>
  withClient(server, async (db) => {
    await fill(db);
    let rows = 0;
    for await (const batch of await db.stream("?m(A), d(B), B < 3")) {
      if (rows === 0) assert.equal((await db.query("?d(X)")).rowCount, 10);
      rows += batch.rowCount;
    }
    assert.equal(rows, 3_000_000);
  }));

test("a million rows are looked at by index without being made", () =>
  withClient(server, async (db) => {
    await fill(db);
    const result = await db.query("?m(X:asc)");
    assert.equal(result.rowCount, 1_000_000);
    assert.equal(result.cell(999_999, 0), 999_999);
    assert.deepEqual(result.row(500_000), [500_000]);
  }));

test("a stream without rows, of messages, and of something wrong", () =>
  withClient(server, async (db) => {
    await db.insert("d", [1]);
    const found: Row[] = [];
    for await (const batch of await db.stream("?d(X), X > 5")) found.push(...batch.rows());
    assert.equal(found.length, 0);
    for await (const batch of await db.stream("+e(1)")) found.push(...batch.rows());
    assert.deepEqual(found, [["inserted 1 fact into e"]]);
    await assert.rejects(db.stream("?nothing(X)"), { code: "unknown_relation" });
  }));

test("a signal ends a request on the server", () =>
  withClient(server, async (db) => {
    const other = await server.connect();
    await db.insert("start", [1]);
    const stop = new AbortController();
    const asked = db.query(ENDLESS, { signal: stop.signal });
    await until(() => isRunning(other, "start(X)"));
    stop.abort("enough");
    await assert.rejects(asked, (problem) => {
      assert.ok(problem instanceof Cancelled);
      assert.deepEqual([problem.cause, problem.uncertain], ["enough", false]);
      return true;
    });
    assert.ok(!(await isRunning(other, "start(X)")));
    await assert.rejects(db.query("?start(X)", { signal: AbortSignal.abort() }), Cancelled);
    assert.deepEqual((await db.query("?start(X)")).rows(), [[1]]);
    other.close();
  }));

test("who waits is told how far a request is", () =>
  withClient(server, async (db) => {
    await db.insert("start", [1]);
    const told: Working[] = [];
    const onProgress = (working: Working) => void told.push(working);
    await assert.rejects(db.query(ENDLESS, { timeout: 2_000, onProgress }), QueryTimeout);
    const [first, second] = told;
    assert.ok(first !== undefined && second !== undefined);
    assert.equal(first.state, "running");
    assert.ok(first.rounds < second.rounds && first.rows < second.rows && second.memoryBytes > 0);
    const enough = () => {
      throw new RangeError("enough");
    };
    await assert.rejects(db.stream(ENDLESS, { onProgress: enough }), /enough/);
    assert.deepEqual((await db.query("?start(X)", { onProgress: enough })).rows(), [[1]]);
  }));

test("a signal ends a request that waits for its turn, and no other", () =>
  withClient(server, async (db) => {
    await db.insert("start", [1]);
    const [first, second] = [new AbortController(), new AbortController()];
    const slow = db.query(ENDLESS, { signal: first.signal });
    const write = db.execute("+done(1)", { signal: second.signal });
    second.abort();
    await assert.rejects(write, Cancelled);
    first.abort();
    await assert.rejects(slow, Cancelled);
    await assert.rejects(db.query("?done(X)"), { code: "unknown_relation" });
  }));

test("a request that is not wanted any more waits behind another one, and does not end it", () =>
  withClient(server, async (db) => {
    const other = await server.connect();
    await db.insert("start", [1]);
    const [first, second] = [new AbortController(), new AbortController()];
    let isOver = false;
    const slow = db.query(ENDLESS, { signal: first.signal }).finally(() => {
      isOver = true;
    });
    await until(() => isRunning(other, "start(X)"));
    const asked = db.query("?start(X)", { signal: second.signal });
    // It is sent.
    await sleep(100);
    second.abort();
    await sleep(11_000);
    assert.deepEqual([isOver, db.state], [false, "open"]);
    first.abort();
    await assert.rejects(slow, Cancelled);
    await assert.rejects(asked, Cancelled);
    assert.deepEqual((await db.query("?start(X)")).rows(), [[1]]);
    other.close();
  }));

test("a signal ends a stream, and an upload, of which nothing stays", () =>
  withClient(server, async (db) => {
    await fill(db);
    const stop = new AbortController();
    const stream = await db.stream("?m(A), d(B)", { signal: stop.signal });
    await assert.rejects(async () => {
      for await (const _ of stream) stop.abort();
    }, Cancelled);
    const cut = new AbortController();
    function* rows() {
      for (let n = 0; n < 300_000; n += 1) yield [n];
    }
    const insert = db.insert("p", rows(), { signal: cut.signal });
    setTimeout(() => cut.abort(), 0);
    await assert.rejects(insert, Cancelled);
    await assert.rejects(db.query("?p(X)"), { code: "unknown_relation" });
  }));

test("a request that takes too long is stopped", () =>
  withClient(server, async (db) => {
    await db.insert("start", [1]);
    await assert.rejects(db.query(ENDLESS, { timeout: 50 }), (problem) => {
      assert.ok(problem instanceof QueryTimeout);
      assert.deepEqual(problem.limit, { name: "query_timeout_ms", value: 50 });
      return true;
    });
  }));

test("limits and times that are none are refused, and a time without end is none", () =>
  withClient(server, async (db) => {
    await db.insert("p", [1, 2]);
    for (const limit of [Number.NaN, -1, 1.5]) await assert.rejects(db.query("?p(X)", { limit }), RangeError);
    for (const timeout of [Number.NaN, 0, -1])
      await assert.rejects(db.query("?p(X)", { timeout }), RangeError);
    for (const timeout of [Number.POSITIVE_INFINITY, 1e12]) {
      assert.equal((await db.query("?p(X)", { timeout, limit: 1 })).rowCount, 1);
    }
  }));

test("requests at once are run in order, also beside an upload", () =>
  withClient(server, async (db) => {
    const rows = Array.from({ length: 50_000 }, (_, n) => [n]);
    const count = () => db.query("?count<X> <- p(X)").then((answer) => answer.scalar());
    const [, before, messages, after] = await Promise.all([
      db.insert("p", rows),
      count(),
      db.execute("+p(-1)").then((answer) => answer.messages),
      count(),
      db.ping(),
    ]);
    assert.deepEqual([before, messages, after], [50_000, ["inserted 1 fact into p"], 50_001]);
  }));

test("writes of an atomic program happen together or not at all", () =>
  withClient(server, async (db) => {
    const program = "+a(1)\n+b(x)";
    await assert.rejects(db.execute("+a(1)\n.rel drop nothing", { atomic: true }), {
      code: "unknown_relation",
    });
    await assert.rejects(db.execute(program, { atomic: true }), { code: "parse_error" });
    await assert.rejects(db.query("?a(X)"), { code: "unknown_relation" });
    await db.execute("+big(X) <- a(X), X > 1");
    await db.execute("+big(X) <- a(X), X > 2", { replaceRules: true });
    await db.insert("a", [2, 3]);
    assert.deepEqual((await db.query("?big(X)")).rows(), [[3]]);
  }));

test("a place goes with a question", () =>
  withClient(server, async (db) => {
    await db.insert("a", [1]);
    assert.deepEqual((await db.query("?a(X)", { place: "here" })).rows(), [[1]]);
    await assert.rejects(db.query("?a(X)", { place: "cluster" }), ClusterUnavailable);
    await assert.rejects(db.execute(".cluster ?a(X)"), { code: "cluster_unavailable" });
  }));

test("proofs come with the answer", () =>
  withClient(server, async (db) => {
    await db.execute("+e[(1, 2), (2, 3)]\n+tc(X, Y) <- e(X, Y)\n+tc(X, Z) <- tc(X, Y), e(Y, Z)");
    const why = await db.query(".why ?tc(1, 3)");
    assert.deepEqual(why.rows(), [[1, 3]]);
    const [tree] = why.proofTrees;
    const root = tree?.nodes[tree.roots[0] ?? ""];
    assert.deepEqual(
      [root?.kind, root?.bindings, tree?.base_facts?.length],
      ["rule", { X: 1, Y: 2, Z: 3 }, 2],
    );
    const [not] = (await db.query(".why_not tc(3, 1)")).proofTrees;
    assert.equal(not?.nodes[not.roots[0] ?? ""]?.kind, "why_not");
    const change = await db.query(".what_if -e(1, 2) ?tc(X, Y)");
    assert.deepEqual(
      change.objects().map((row) => row["change"]),
      ["removed", "removed"],
    );
  }));
