// What happens when the connection is lost: reads are repeated, writes never are.

import assert from "node:assert/strict";
import test from "node:test";
import {
  AccessDenied,
  type Client,
  ConnectionLost,
  connect,
  SessionLost,
  type State,
} from "@stratalog/client";
import { Cable, ENDLESS, isRunning } from "./harness.js";
import { LocalServer, PASSWORD, until } from "./local-server.js";
import { Wire } from "./wire.js";

/** Runs a test with a server that it may end. */
async function withServer(body: (server: LocalServer) => Promise<void>): Promise<void> {
  const server = await LocalServer.start({ SERVICE_LIMITS__QUERY_TIMEOUT_MS: "600000" });
  try {
    await body(server);
  } finally {
    await server.stop();
  }
}

/** Restarts a server as soon as another client sees that this is so. */
async function restartWhen(server: LocalServer, holds: (other: Client) => Promise<boolean>): Promise<void> {
  const other = await server.connect({ reconnect: 0 });
  await until(() => holds(other));
  await server.restart();
  other.close();
}

async function exists(db: Client, relation: string): Promise<boolean> {
  return (await db.execute(".rel")).rows().some(([name]) => name === relation);
}

test("requests after a restart go to the new server, on the same graph", () =>
  withServer(async (server) => {
    const states: State[] = [];
    const db = await server.connect({ reconnect: 60_000, onState: (state) => states.push(state) });
    await db.execute(".kg create lab");
    await db.insert("p", [1]);
    const { sessionId } = db.session;
    await server.restart();
    // Nothing was on its way, so a write may be sent as well as a query.
    assert.equal((await db.insert("p", [2])).inserted, 1);
    assert.deepEqual((await db.query("?p(X:asc)")).rows(), [[1], [2]]);
    assert.equal(db.kg, "lab");
    assert.notEqual(db.session.sessionId, sessionId);
    db.close();
    assert.deepEqual(states.slice(0, 3), ["connecting", "open", "lost"]);
    assert.deepEqual(states.slice(-3), ["connecting", "open", "closed"]);
  }));

test("a query is repeated, a write is not and says that it is uncertain", () =>
  withServer(async (server) => {
    const db = await server.connect({ reconnect: 60_000 });
    await db.insert("start", [1]);
    const stop = new AbortController();
    const asked = db.query(ENDLESS, { signal: stop.signal });
    await restartWhen(server, (other) => isRunning(other, "start(X)"));
    const other = await server.connect();
    await until(() => isRunning(other, "start(X)"));
    stop.abort();
    await assert.rejects(asked, { code: "cancelled" });
    other.close();

    const written = db.execute("m(X) <- start(X)\nm(Y) <- m(X), Y = X + 1\n+done(1)\n?m(X)");
    const isUncertain = assert.rejects(written, (problem) => {
      assert.ok(problem instanceof ConnectionLost);
      assert.equal(problem.uncertain, true);
      assert.match(String(problem), /may have taken effect or not/);
      return true;
    });
    await Promise.all([isUncertain, restartWhen(server, (other) => exists(other, "done"))]);
    // It did, in this case.
    assert.equal((await db.query("?done(X)")).scalar(), 1);
    db.close();
  }));

test("what was never sent is certain, and a server that is gone is told", () =>
  withServer(async (server) => {
    const db = await server.connect({ reconnect: 300 });
    await server.kill();
    await until(() => db.state !== "open");
    await assert.rejects(db.insert("p", [1]), (problem) => {
      assert.ok(problem instanceof ConnectionLost);
      assert.match(problem.message, /cannot connect/);
      assert.equal(problem.uncertain, false);
      return true;
    });
    await assert.rejects(db.query("?p(X)", { signal: AbortSignal.timeout(1) }), { code: "cancelled" });
    await until(() => db.state === "lost");
    await server.again();
    assert.equal((await db.insert("p", [1])).inserted, 1);
    db.close();
  }));

test("without reconnecting, a lost connection stays lost", () =>
  withServer(async (server) => {
    const cable = new Cable();
    const db = await server.connect({ reconnect: 0, WebSocket: cable.Socket });
    cable.cut();
    await until(() => db.state === "lost");
    await assert.rejects(db.query("?p(X)"), ConnectionLost);
    db.close();
    assert.equal(db.state, "closed");
  }));

test("facts of the session survive a lost connection, and are not lost in silence", () =>
  withServer(async (server) => {
    const cable = new Cable();
    const db = await server.connect({ reconnect: 60_000, WebSocket: cable.Socket });
    await db.execute("mine(1)");
    const { sessionId } = db.session;
    cable.cut();
    assert.equal((await db.query("?mine(X)")).scalar(), 1);
    assert.equal(db.session.sessionId, sessionId);
    await db.execute("+p(1)");
    await db.insert("p", [2], { scope: "session" });
    await server.restart();
    await assert.rejects(db.insert("q", [1]), (problem) => {
      assert.ok(problem instanceof SessionLost);
      assert.equal(problem.uncertain, false);
      return true;
    });
    assert.deepEqual((await db.query("?p(X)")).rows(), [[1]]);
    await assert.rejects(db.query("?q(X)"), { code: "unknown_relation" });
    db.close();
  }));

test("a session without anything of its own is lost in silence", () =>
  withServer(async (server) => {
    const db = await server.connect({ reconnect: 60_000 });
    await db.execute("mine(1)");
    await db.execute(".kg create lab");
    await db.insert("p", [1]);
    await server.restart();
    assert.deepEqual((await db.query("?p(X)")).rows(), [[1]]);
    db.close();
  }));

test("a lost upload inserts nothing, and is certain", () =>
  withServer(async (server) => {
    const cable = new Cable();
    const db = await server.connect({ reconnect: 60_000, WebSocket: cable.Socket });
    const rows = Array.from({ length: 300_000 }, (_, n) => [n]);
    const inserted = db.insert("p", rows);
    setTimeout(() => cable.cut(), 0);
    await assert.rejects(inserted, (problem) => {
      assert.ok(problem instanceof ConnectionLost);
      assert.equal(problem.uncertain, false);
      return true;
    });
    await assert.rejects(db.query("?p(X)"), { code: "unknown_relation" });
    db.close();
  }));

test("a write that waited behind a lost upload was never sent, and is sent now", () =>
  withServer(async (server) => {
    const cable = new Cable();
    const db = await server.connect({ reconnect: 60_000, WebSocket: cable.Socket });
    const upload = db.insert(
      "p",
      Array.from({ length: 300_000 }, (_, n) => [n]),
    );
    const write = db.execute("+q(1)");
    setTimeout(() => cable.cut(), 0);
    await assert.rejects(upload, ConnectionLost);
    assert.deepEqual((await write).messages, ["inserted 1 fact into q"]);
    db.close();

    const once = await server.connect({ reconnect: 0, WebSocket: cable.Socket });
    const lost = once.insert(
      "p",
      Array.from({ length: 300_000 }, (_, n) => [n]),
    );
    const behind = once.execute("+r(1)");
    setTimeout(() => cable.cut(), 0);
    await Promise.all([
      assert.rejects(lost, ConnectionLost),
      assert.rejects(behind, { name: "ConnectionLost", uncertain: false }),
    ]);
    once.close();
  }));

test("a lost stream is an error and not a short answer", () =>
  withServer(async (server) => {
    const db = await server.connect({ reconnect: 60_000 });
    await db.insert("d", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await db.execute("+m(A, B, C, D, E, F, G) <- d(A), d(B), d(C), d(D), d(E), d(F), d(G)");
    let rows = 0;
    await assert.rejects(async () => {
      for await (const batch of await db.stream("?m(A, B, C, D, E, F, 1)")) {
        if (rows === 0) await server.kill();
        rows += batch.rowCount;
      }
    }, ConnectionLost);
    assert.ok(rows > 0 && rows < 1_000_000);
    db.close();
  }));

test("a server that is silent is given up, and one that answers is not", (context) =>
  withServer(async (server) => {
    context.mock.timers.enable({ apis: ["setInterval"] });
    const wire = new Wire(server);
    const db = await connect(await wire.url(), {
      user: "admin",
      password: PASSWORD,
      reconnect: 0,
      timeout: 5_000,
    });
    for (let round = 0; round < 5; round += 1) {
      context.mock.timers.tick(20_000);
      await db.ping();
    }
    assert.equal(db.state, "open");
    wire.hold();
    for (let round = 0; round < 3; round += 1) context.mock.timers.tick(20_000);
    assert.equal(db.state, "lost");
    await assert.rejects(db.query("?p(X)"), /the server does not answer/);
    db.close();
    wire.close();
  }));

test("many requests at once all come back", () =>
  withServer(async (server) => {
    const cable = new Cable();
    const db = await server.connect({ reconnect: 60_000, WebSocket: cable.Socket });
    await db.insert(
      "p",
      Array.from({ length: 1000 }, (_, n) => [n]),
    );
    for (let round = 0; round < 3; round += 1) {
      const asked = Array.from({ length: 50 }, () => db.query("?p(X)"));
      cable.cut();
      for (const { rowCount } of await Promise.all(asked)) assert.equal(rowCount, 1000);
    }
    db.close();
  }));

test("whoever may not be here any more is told, and does not come back", () =>
  withServer(async (server) => {
    const admin = await server.connect();
    await admin.execute(".user create eve listening viewer");
    await admin.execute(".kg create lab");
    await admin.insert("p", [1]);
    await admin.execute(".kg acl grant lab eve viewer");
    const eve = await connect(server.url, {
      user: "eve",
      password: "listening",
      kg: "lab",
      reconnect: 60_000,
    });
    assert.equal((await eve.query("?p(X)")).scalar(), 1);
    await assert.rejects(eve.insert("p", [2]), AccessDenied);
    const live = await eve.live("?p(X)");
    await live.next();
    await admin.execute(".kg acl revoke lab eve");
    await assert.rejects(eve.query("?p(X)"), { code: "not_found" });
    // Rights are looked up when something is about to be sent.
    await admin.insert("p", [3]);
    await assert.rejects(live.next(), { code: "not_found" });
    await admin.execute(".user drop eve");
    await until(() => eve.state === "lost");
    await assert.rejects(eve.query("?p(X)"), (problem) => {
      assert.ok(problem instanceof ConnectionLost && problem.cause instanceof AccessDenied);
      return true;
    });
    await assert.rejects(connect(server.url, { user: "eve", password: PASSWORD }), { code: "auth_error" });
    eve.close();
    admin.close();
  }));

test("a query waits where the server says so, and a write does not", async () => {
  const server = await LocalServer.start({ SERVICE_HTTP__RATE_LIMIT__WS_MAX_MESSAGES_PER_SEC: "20" });
  const db = await server.connect({ reconnect: 60_000 });
  await db.execute("+p(1)");
  const asked = await Promise.all(Array.from({ length: 45 }, () => db.query("?p(X)")));
  assert.ok(asked.every((result) => result.scalar() === 1));
  const written = await Promise.allSettled(Array.from({ length: 60 }, (_, n) => db.execute(`+p(${n})`)));
  const refused = written.find((outcome) => outcome.status === "rejected");
  assert.equal(refused?.reason.code, "limit_exceeded");
  assert.ok(refused?.reason.retryAfter > 0);
  db.close();
  await server.stop();
});
