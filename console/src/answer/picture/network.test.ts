import assert from "node:assert/strict";
import { test } from "node:test";
import { namesOf, rowsOf } from "../testing.ts";
import { endsOf, labelOf, neighboursOf, networkOf } from "./network.ts";

const plain = { from: 0, to: 1, label: undefined };

test("values are nodes and rows are lines", () => {
  const rows = namesOf({ a: ["ada", "bob", "ada"], b: ["bob", "cleo", "cleo"] });
  const network = networkOf(rows, plain, 100);
  assert.deepEqual(
    network.nodes.map(({ name, outgoing, incoming }) => [name, outgoing, incoming]),
    [
      ["ada", 2, 0],
      ["bob", 1, 1],
      ["cleo", 0, 2],
    ],
  );
  assert.deepEqual(
    network.lines.map(({ from, to }) => [from, to]),
    [
      [0, 1],
      [1, 2],
      [0, 2],
    ],
  );
  assert.deepEqual(neighboursOf(network, 1), [0, 2]);
});

test("rows between the same nodes are one line with their labels", () => {
  const rows = namesOf({
    a: ["x", "x", "x", "x", "x"],
    b: ["y", "y", "y", "y", "y"],
    how: ["1", "2", "2", "3", "4"],
  });
  const network = networkOf(rows, { ...plain, label: 2 }, 100);
  assert.equal(network.lines.length, 1);
  assert.equal(network.taken, 5);
  assert.deepEqual(network.lines.map(labelOf), ["1, 2, 3, …"]);
});

test("the limit counts rows, and nulls are passed over", () => {
  const rows = namesOf({ a: ["x", null, "y", "z"], b: ["y", "x", null, "x"] });
  const all = networkOf(rows, plain, 100);
  assert.deepEqual([all.taken, all.rows, all.without], [2, 4, 2]);
  assert.deepEqual(
    all.nodes.map(({ name }) => name),
    ["x", "y", "z"],
  );
  const some = networkOf(rows, plain, 1);
  assert.deepEqual([some.taken, some.rows], [1, 4]);
});

test("what is the same on the server is one node, in whatever column it stands", () => {
  const rows = rowsOf({ a: ["int", [1n, 2n]], b: ["any", ["2", "2.0"]] });
  const network = networkOf(rows, plain, 100);
  assert.deepEqual(
    network.nodes.map(({ key }) => key),
    ['{"int":"1"}', '{"int":"2"}', '{"float":"2"}'],
  );
});

test("names that mean something to objects are names", () => {
  const rows = namesOf({ a: ["__proto__", "constructor"], b: ["constructor", "toString"] });
  assert.deepEqual(
    networkOf(rows, plain, 100).nodes.map(({ name }) => name),
    ["__proto__", "constructor", "toString"],
  );
});

test("further rows come behind those of the answer, and what is there already is not there twice", () => {
  const rows = namesOf({ a: ["x"], b: ["y"] });
  const more = namesOf({ a: ["x", "y"], b: ["y", "z"] });
  const network = networkOf(rows, plain, 100, [more]);
  assert.deepEqual(
    network.nodes.map(({ name }) => name),
    ["x", "y", "z"],
  );
  assert.equal(network.lines.length, 2);
  assert.equal(network.taken, 1);
});

test("a line to itself is one line of its node", () => {
  const network = networkOf(namesOf({ a: ["x"], b: ["x"] }), plain, 100);
  assert.deepEqual(network.linesOf, [[0]]);
  assert.deepEqual(neighboursOf(network, 0), []);
});

test("ends are guessed from the types, and a third column is the label", () => {
  const rows = rowsOf({
    share: ["float", [0.5]],
    owner: ["string", ["ada"]],
    owned: ["string", ["acme"]],
  });
  assert.deepEqual(endsOf(rows, {}), { from: 1, to: 2, label: 0 });
  assert.deepEqual(endsOf(rows, { label: "" }), { from: 1, to: 2, label: undefined });
  assert.deepEqual(endsOf(rows, { from: "owned" }), { from: 2, to: 1, label: 0 });
  assert.deepEqual(endsOf(rows, { to: "owner" }), { from: 2, to: 1, label: 0 });
  assert.equal(endsOf(namesOf({ a: ["x"] }), {}), undefined);
});
