import assert from "node:assert/strict";
import test from "node:test";
import { ConnectionLost, Overloaded, SessionLost, UnknownRelation } from "@stratalog/client";
import { onlyReads, Retry, touchesSession } from "../dist/retry.js";

const READ = [
  "?p(X)",
  "  // first\n?p(X), X > 1",
  "q(X) <- p(X)\n?q(X)",
  "?p(X),\n    X > 1",
  ".why ?p(1)",
  ".what_if\n  -p(1)\n  ?q(X)",
];
const WRITE = [
  "+p(1)\n?p(X)",
  "-p(1)",
  ".rel drop p\n?p(X)",
  "/* x */ +p(1)\n?p(X)",
  "type A: int\n?p(X)",
  "?p(X)\r+p(1)",
  "p(1)",
  "",
  '?p("\n+x")',
  ".why ?p(1)\n+p(2)",
];

test("what only reads is known, and in doubt it writes", () => {
  for (const program of READ) assert.ok(onlyReads(program), program);
  for (const program of WRITE) assert.ok(!onlyReads(program), program);
});

test("facts and rules of the session are seen", () => {
  for (const program of ["p(1)", "p(X) <- q(X)", "p(x: int)", "+q(1)\np(1)", "é(1)"]) {
    assert.ok(touchesSession(program), program);
  }
  for (const program of ["+p(1)", "-p(1)", ".rel", "type A: int", "q(X) <- p(X)\n?q(X)"]) {
    assert.ok(!touchesSession(program), program);
  }
});

test("pauses grow, jitter and end", () => {
  const pauses = Array.from({ length: 20 }, () => new Retry(1_000_000).pause(500) ?? 0);
  assert.ok(new Set(pauses).size > 10);
  assert.ok(pauses.every((pause) => pause >= 500 && pause <= 550));
  const growing = new Retry(1_000_000);
  assert.ok(Math.max(...Array.from({ length: 30 }, () => growing.pause() ?? 0)) > 1000);
  assert.equal(new Retry(0).pause(), undefined);
  assert.equal(new Retry(10_000).after(new UnknownRelation("no")), undefined);
  assert.equal(new Retry(10_000).after(new Overloaded("too large")), undefined);
  assert.equal(new Retry(10_000).after(new SessionLost("gone")), undefined);
  assert.notEqual(new Retry(10_000).after(new Overloaded("later", { retryAfter: 1000 })), undefined);
  assert.notEqual(new Retry(10_000).after(new ConnectionLost("gone")), undefined);
});
