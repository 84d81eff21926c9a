import assert from "node:assert/strict";
import test from "node:test";
import { filtered, type Happening, rowOf } from "./happening.ts";

function insert(seq: number, name: string): Happening {
  return {
    type: "persistent_update",
    seq,
    kg: "lab",
    name,
    operation: "insert",
    count: 2,
    time: new Date(0),
    sessionId: "0fa0846c",
  };
}

test("an event is a row", () => {
  assert.deepEqual(rowOf(insert(7, "edge")), [
    new Date(0),
    "persistent_update",
    "edge",
    "insert",
    2,
    "0fa0846c",
    7,
  ]);
});

test("a gap says which events are not known", () => {
  assert.deepEqual(rowOf({ type: "gap", first: 10, last: 19 }), [
    null,
    "gap",
    "not kept any more",
    "10 to 19",
    10,
    null,
    19,
  ]);
});

test("the latest come first, and each word of the filter has to be there", () => {
  const all = [insert(1, "edge"), insert(2, "node"), insert(3, "Edges")];
  const numbers = (filter: string) =>
    filtered(all, filter).map((each) => (each.type === "gap" ? 0 : each.seq));
  assert.deepEqual(numbers(""), [3, 2, 1]);
  assert.deepEqual(numbers("  EDGE insert "), [3, 1]);
  assert.deepEqual(numbers("edge delete"), []);
});

test("what is filtered stays as it was", () => {
  const all = [insert(1, "edge"), insert(2, "node")];
  filtered(all, "");
  assert.deepEqual(
    all.map(rowOf).map((row) => row[6]),
    [1, 2],
  );
});
