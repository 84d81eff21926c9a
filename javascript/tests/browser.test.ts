// The client as a bundle in a real browser, from a page of another site than the server.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type * as stratalog from "@stratalog/client";
import { type Browser, chromium, type Page } from "playwright-core";
import { bundle } from "./bundle.js";
import { LocalServer, PASSWORD } from "./local-server.js";

declare const client: typeof stratalog;

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const site = createServer();
let server: LocalServer;
let browser: Browser;
let page: Page;
let login: { url: string; user: string; password: string };

before(async () => {
  const script = await bundle();
  site.on("request", (request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
    // As strict as a page can be: nothing may be evaluated.
    response.setHeader("Content-Security-Policy", "default-src 'none'; script-src 'self'; connect-src ws:");
    response.end(isScript ? script : '<script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  server = await LocalServer.start({ SERVICE_HTTP__CORS_ORIGINS: origin });
  login = { url: server.url, user: "admin", password: PASSWORD };
  const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  page = await browser.newPage();
  await page.goto(origin);
  await page.waitForFunction(() => "client" in globalThis);
});

after(async () => {
  await browser?.close();
  await server?.stop();
  site.close();
});

test("a page inserts, asks, and reads values of all kinds", async () => {
  const found = await page.evaluate(async ({ url, ...options }) => {
    const db = await client.connect(url, options);
    const rows = [
      [1, 0.5, "ä😀", true, new Date(0), Float32Array.of(1, 2), ["a", 1]],
      [2n ** 63n - 1n, client.float(2), "", false, null, null, null],
    ];
    const { inserted } = await db.insert("kinds", rows);
    const result = await db.query("?kinds(A:asc, B, C, D, E, F, G)");
    const text = JSON.stringify(result.rows(), (_, value) =>
      typeof value === "bigint"
        ? `${value}n`
        : ArrayBuffer.isView(value)
          ? [...(value as Float32Array)]
          : value,
    );
    db.close();
    return { inserted, types: result.types, text };
  }, login);
  assert.equal(found.inserted, 2);
  assert.deepEqual(found.types, ["int", "float", "string", "bool", "timestamp", "vector", "list"]);
  assert.equal(
    found.text,
    '[[1,0.5,"ä😀",true,"1970-01-01T00:00:00.000Z",[1,2],["a",1]],["9223372036854775807n",2,"",false,null,null,null]]',
  );
});

test("many rows go in and come out, as a whole and as a stream", async () => {
  const found = await page.evaluate(async ({ url, ...options }) => {
    const db = await client.connect(url, options);
    await db.insert(
      "many",
      Array.from({ length: 200_000 }, (_, n) => ({ n, text: `name ${n}` })),
    );
    const result = await db.query("?many(N:asc, T)");
    let streamed = 0;
    for await (const rows of await db.stream("?many(N, T)")) streamed += rows.rowCount;
    for await (const _ of await db.stream("?many(N, T)")) break;
    db.close();
    return [result.rowCount, result.row(199_999), streamed];
  }, login);
  assert.deepEqual(found, [200_000, [199_999, "name 199999"], 200_000]);
});

test("a page is told what changes, and of errors", async () => {
  const found = await page.evaluate(async ({ url, ...options }) => {
    const db = await client.connect(url, options);
    await db.insert("edge", [[1, 2]]);
    const live = await db.live("?edge(X, Y)");
    const events = await db.events();
    await live.next();
    await db.insert("edge", [[2, 3]]);
    const change = (await live.next()).value;
    const event = (await events.next()).value;
    live.close();
    events.close();
    const error = await db.query("?egde(X, Y)").catch((problem) => problem);
    db.close();
    const isRight = error instanceof client.UnknownRelation;
    return [
      change?.added,
      live.rows.size,
      event?.type,
      isRight,
      error.name,
      String(error).split("\n").at(-1),
    ];
  }, login);
  assert.deepEqual(found, [
    [[2, 3]],
    2,
    "persistent_update",
    true,
    "UnknownRelation",
    "  = help: did you mean `edge`?",
  ]);
});

test("a page goes on after the server was away, and keeps its session through a lost connection", async () => {
  const live = await page.evaluateHandle(async ({ url, ...options }) => {
    const sockets: WebSocket[] = [];
    class Recorded extends WebSocket {
      constructor(address: string) {
        super(address);
        sockets.push(this);
      }
    }
    const states: string[] = [];
    const db = await client.connect(url, {
      ...options,
      reconnect: 60_000,
      WebSocket: Recorded,
      onState: (state) => states.push(state),
    });
    await db.execute("mine(1)");
    const { sessionId } = db.session;
    sockets[0]?.close();
    const mine = (await db.query("?mine(X)")).scalar();
    return {
      db,
      states,
      mine,
      isSame: sessionId === db.session.sessionId,
      live: await db.live("?edge(X, Y)"),
    };
  }, login);
  assert.deepEqual(await live.evaluate(({ mine, isSame }) => [mine, isSame]), [1, true]);
  await server.restart();
  const found = await live.evaluate(async ({ db, states, live }) => {
    const lost = await db.query("?edge(X, Y)").catch((problem) => problem.name);
    await db.insert("edge", [[7, 8]]);
    while (live.rows.size < 3) await live.next();
    live.close();
    db.close();
    return [lost, (states as string[]).includes("lost"), states.at(-1)];
  });
  assert.deepEqual(found, ["SessionLost", true, "closed"]);
});

test("wrong credentials, and a server that may not be reached, are told", async () => {
  const found = await page.evaluate(async ({ url, user }) => {
    const tell = (problem: { name: string; help: string | undefined }) => [problem.name, problem.help ?? ""];
    return [
      await client.connect(url, { user, password: "wrong" }).then(String, tell),
      await client.connect("ws://127.0.0.1:1", { user, password: "wrong" }).then(String, tell),
    ];
  }, login);
  assert.deepEqual(found[0], ["AuthError", ""]);
  assert.equal(found[1]?.[0], "ConnectionLost");
  assert.match(found[1]?.[1] ?? "", /http\.cors_origins/);
});
