import assert from "node:assert/strict";
import { test } from "node:test";
import { namesOf } from "../testing.ts";
import { found, sorted } from "./find.ts";
import { networkOf } from "./network.ts";

const network = networkOf(
  namesOf({ a: ["Ada", "item 10", "item 2"], b: ["item 2", "item 2", "bob"] }),
  { from: 0, to: 1, label: undefined },
  10,
);
const names = (nodes: Uint32Array) => [...nodes].map((node) => network.nodes[node]?.name);

test("nodes are found by a part of their names, those with the most lines first", () => {
  assert.deepEqual(names(found(network, "")), ["item 2", "Ada", "item 10", "bob"]);
  assert.deepEqual(names(found(network, "ITEM")), ["item 2", "item 10"]);
  assert.deepEqual(names(found(network, "zz")), []);
});

test("they can be in another order", () => {
  const all = found(network, "");
  assert.deepEqual(names(sorted(network, all, { column: 0, descends: false })), [
    "Ada",
    "bob",
    "item 2",
    "item 10",
  ]);
  assert.deepEqual(names(sorted(network, all, { column: 2, descends: true }))[0], "item 2");
  assert.deepEqual(names(sorted(network, all, undefined)), names(all));
});
