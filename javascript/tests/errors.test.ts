import assert from "node:assert/strict";
import { createServer } from "node:net";
import test from "node:test";
import {
  AlreadyExists,
  ArityMismatch,
  AuthError,
  ConnectionLost,
  connect,
  NotFound,
  ParseError,
  ProgramError,
  StratalogError,
  UnknownRelation,
} from "@stratalog/client";
import { serverForTests, withClient } from "./harness.js";
import { PASSWORD } from "./local-server.js";

const server = await serverForTests();

/** The error of a promise. */
async function errorOf(promise: Promise<unknown>): Promise<StratalogError> {
  try {
    await promise;
  } catch (problem) {
    assert.ok(problem instanceof StratalogError, String(problem));
    return problem;
  }
  return assert.fail("nothing was thrown");
}

test("an error has a class, a code, a help and its place", () =>
  withClient(server, async (db) => {
    await db.insert("owns", [["ada", "acme", 0.6]]);
    const error = await errorOf(db.query("+a(1)\n?owns(X, Y)"));
    assert.ok(error instanceof ArityMismatch && error instanceof ProgramError && error instanceof Error);
    assert.equal(error.name, "ArityMismatch");
    assert.equal(error.code, "arity_mismatch");
    assert.equal(error.help, "write `_` for columns that may hold anything");
    assert.deepEqual(error.span, { line: 2, column: 2, length: 10, offset: 7 });
    assert.equal(error.statementIndex, 1);
    assert.equal(error.uncertain, false);
    assert.equal(
      String(error),
      [
        "ArityMismatch: `owns` has 3 columns, found 2",
        " --> line 2, column 2",
        "  |",
        "2 | ?owns(X, Y)",
        "  |  ^^^^^^^^^^",
        "  = help: write `_` for columns that may hold anything",
      ].join("\n"),
    );
  }));

test("all that is wrong with a text is told at once", () =>
  withClient(server, async (db) => {
    const error = await errorOf(db.query("+edge(1, 2).\n?edge(X, Y), X == 1"));
    assert.ok(error instanceof ParseError);
    assert.equal(error.diagnostics.length, 2);
    assert.match(String(error), /1 \| \+edge\(1, 2\)\./);
    assert.match(String(error), /2 \| \?edge\(X, Y\), X == 1/);
  }));

test("places are in characters, and passwords are stars", () =>
  withClient(server, async (db) => {
    const error = await errorOf(db.query('?p("ä😀"), q(X)'));
    assert.ok(error instanceof UnknownRelation);
    assert.match(String(error), /1 \| \?p\("ä😀"\), q\(X\)\n {2}\| {2}\^/);
    const secret = await errorOf(db.execute(".user create bob s3cret nonsense"));
    assert.doesNotMatch(String(secret), /s3cret/);
  }));

test("the codes of the server have their classes", () =>
  withClient(server, async (db) => {
    assert.ok((await errorOf(db.use("atlantis"))) instanceof NotFound);
    assert.ok((await errorOf(db.execute(".kg create default"))) instanceof AlreadyExists);
    await assert.rejects(db.use("two words"), TypeError);
  }));

test("an error of an insert says what was wrong", () =>
  withClient(server, async (db) => {
    await db.execute("+person(name: string, age: int)");
    const error = await errorOf(db.insert("person", [{ name: "ann", age: "thirty" }]));
    assert.equal(error.code, "type_mismatch");
    await assert.rejects(db.insert("person", [{ name: "ann", size: 3 }]), StratalogError);
    // The client goes on.
    assert.equal((await db.insert("person", [["ann", 30]])).inserted, 1);
  }));

test("wrong credentials are told apart from a server that is not there", async () => {
  const wrong = await errorOf(connect(server.url, { user: "admin", password: "wrong" }));
  assert.ok(wrong instanceof AuthError);
  assert.doesNotMatch(String(wrong), /wrong/);
  assert.ok((await errorOf(connect(server.url, { apiKey: "0".repeat(64) }))) instanceof AuthError);
  assert.ok((await errorOf(connect(server.url))) instanceof AuthError);
  assert.ok((await errorOf(connect(server.url, { user: "ada" }))) instanceof AuthError);
  const states: string[] = [];
  const onState = (state: string) => states.push(state);
  const nobody = await errorOf(connect("127.0.0.1:1", { user: "admin", password: PASSWORD, onState }));
  assert.ok(nobody instanceof ConnectionLost);
  assert.equal(nobody.uncertain, false);
  assert.doesNotMatch(String(nobody), new RegExp(PASSWORD));
  assert.deepEqual(states, ["connecting", "closed"]);
  assert.ok((await errorOf(server.connect({ kg: "atlantis" }))) instanceof NotFound);
});

test("a server that says nothing is given up", async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  assert.ok(typeof address === "object" && address !== null);
  const options = { user: "admin", password: PASSWORD, timeout: 50 };
  const error = await errorOf(connect(`127.0.0.1:${address.port}`, options));
  assert.match(error.message, /no answer within 50 ms/);
  silent.close();
});

test("a time to connect that is none is refused, and one without end is none", async () => {
  await assert.rejects(server.connect({ timeout: Number.NaN }), RangeError);
  (await server.connect({ timeout: Number.POSITIVE_INFINITY })).close();
});

test("any form of an address is taken, but none with credentials", async () => {
  const options = { user: "admin", password: PASSWORD };
  const host = server.url.slice("ws://".length);
  for (const url of [
    host,
    `ws://${host}/`,
    `http://${host}`,
    `ws://${host}/ws`,
    `http://${host}/v1/ws?kg=default`,
  ]) {
    const db = await connect(url, options);
    assert.equal(db.kg, "default");
    db.close();
  }
  await assert.rejects(connect(`ws://admin:${PASSWORD}@${host}`, options), (problem) => {
    assert.ok(problem instanceof TypeError);
    assert.doesNotMatch(problem.message, new RegExp(PASSWORD));
    return true;
  });
  await assert.rejects(connect(`ftp://${host}`, options), TypeError);
  await assert.rejects(connect("http://", options), TypeError);
});

test("an API key logs in", async () => {
  const db = await server.connect();
  const key = (await db.execute(".apikey create tests")).cell(0, 0);
  assert.ok(typeof key === "string");
  const other = await connect(server.url, { apiKey: key });
  assert.equal(other.session.role, "admin");
  assert.ok((await other.ping()) >= 0);
  other.close();
  db.close();
  await assert.rejects(db.query("?p(X)"), /the client is closed/);
});

test("a program is checked without being run", () =>
  withClient(server, async (db) => {
    await db.insert("edge", [[1, 2]]);
    assert.deepEqual(await db.check("+edge(3, 4)\n?edge(X, $y)"), []);
    const [found, ...more] = await db.check("?edgee(X, Y)");
    assert.deepEqual(more, []);
    assert.deepEqual([found?.severity, found?.code], ["error", "unknown_relation"]);
    assert.deepEqual(found?.fixes, [{ span: found?.span, text: "edge" }]);
    const [odd] = await db.check("+p(X) <- edge(X, Y)");
    assert.deepEqual([odd?.severity, odd?.code], ["warning", "unused_variable"]);
    assert.deepEqual((await db.query("?edge(X, Y)")).rows(), [[1, 2]]);
  }));
