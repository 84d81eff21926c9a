import assert from "node:assert/strict";
import { test } from "node:test";
import type { Result } from "@stratalog/client";
import { changesOf, impactOf, withClauses, withoutRelation } from "./supposition.ts";

test("each change begins a line of the command", () => {
  const changes = withClauses("needs", ["needs(X, Y) <-\ndepends(X, Y)"]);
  assert.equal(impactOf(changes), ".impact\n  -needs\n  +needs(X, Y) <-\n  depends(X, Y)");
});

test("of a stored relation the facts go, of a derived one the rules", () => {
  assert.deepEqual(withoutRelation("edge", 2, true, false), ["-edge(V1, V2) <- edge(V1, V2)"]);
  assert.deepEqual(withoutRelation("path", 2, false, true), ["-path"]);
  assert.deepEqual(withoutRelation("flag", 0, true, true), ["-flag()", "-flag"]);
});

test("the relation with the most changes comes first", () => {
  const row = (relation: string, removed: number, added: number) => ({
    relation,
    removed,
    added,
    first_removed: removed > 0 ? [`${relation}(1)`] : [],
    first_added: new Float32Array(),
  });
  const result = { objects: () => [row("a", 1, 0), row("b", 2, 3)] } as unknown as Result;
  assert.deepEqual(changesOf(result), [
    { relation: "b", removed: 2, added: 3, firstRemoved: ["b(1)"], firstAdded: [] },
    { relation: "a", removed: 1, added: 0, firstRemoved: ["a(1)"], firstAdded: [] },
  ]);
});
