import assert from "node:assert/strict";
import { test } from "node:test";
import { creation, indexTypesFor, isIndexName } from "./indexes.ts";

const names = (type: string) => indexTypesFor(type).map(({ name }) => name);

test("a column is offered the indexes that its type may have", () => {
  assert.deepEqual(names("vector[3]"), ["hnsw"]);
  assert.deepEqual(names("vector_int8"), ["hnsw"]);
  assert.deepEqual(names("string"), ["text", "sorted", "hash"]);
  assert.deepEqual(names("int"), ["sorted", "hash"]);
});

test("only options of the type are written", () => {
  const wanted = { name: "near-docs", relation: "doc", column: "v", metric: "l2", language: "english" };
  assert.equal(
    creation({ ...wanted, type: "hnsw" }),
    ".index create near-docs on doc(v) type hnsw metric l2",
  );
  assert.equal(
    creation({ ...wanted, type: "text" }),
    ".index create near-docs on doc(v) type text language english",
  );
  assert.equal(creation({ ...wanted, type: "hash" }), ".index create near-docs on doc(v) type hash");
});

test("what is no name makes no command", () => {
  assert.ok(!isIndexName("a b"));
  assert.ok(!isIndexName("a\n.rel drop doc"));
  assert.throws(() => creation({ name: "a b", relation: "doc", column: "v", type: "hash" }), TypeError);
  assert.throws(() => creation({ name: "a", relation: "doc", column: "v)\n+x(1", type: "hash" }), TypeError);
});
