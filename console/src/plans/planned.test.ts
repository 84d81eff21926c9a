import assert from "node:assert/strict";
import { test } from "node:test";
import { planned } from "./planned.ts";

test("a query is explained", () => {
  assert.deepEqual(planned("?path(1, X)\n", "explain"), { program: ".explain json ?path(1, X)", leftOut: 0 });
});

test("facts and rules of the session go along", () => {
  assert.deepEqual(planned("far(X) <- path(1, X)\n?far(X)", "profile"), {
    program: "far(X) <- path(1, X)\n.profile json ?far(X)",
    leftOut: 0,
  });
});

test("nothing is written, and nothing else is shown", () => {
  const text = "+edge(1, 2)\n-edge(3, 4)\n.kg drop lab\ntype Age: int\n?edge(9, X)\n?edge(1, X)";
  assert.deepEqual(planned(text, "profile"), { program: ".profile json ?edge(1, X)", leftOut: 4 });
});

test("lines of a query that begin statements elsewhere are set in", () => {
  assert.deepEqual(planned("?edge(X, Y),\nedge(Y, Z)", "explain"), {
    program: ".explain json ?edge(X, Y),\n  edge(Y, Z)",
    leftOut: 0,
  });
});

test("what stands behind the last query is left out", () => {
  assert.deepEqual(planned("?edge(1, X)\n+edge(5, 6)", "explain"), {
    program: ".explain json ?edge(1, X)",
    leftOut: 1,
  });
});

test("without a query there is nothing to explain", () => {
  assert.equal(planned("+edge(1, 2)", "explain").program, undefined);
  assert.equal(planned("", "explain").program, undefined);
});
