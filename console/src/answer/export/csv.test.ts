import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf } from "../testing.ts";
import { csvOf, csvValue } from "./csv.ts";

test("a line of names, then a line for each row", async () => {
  const rows = rowsOf({ name: ["string", ["ada", "bob"]], share: ["float", [0.5, 2]] });
  assert.equal((await csvOf(rows)).join(""), "name,share\nada,0.5\nbob,2.0\n");
});

test("quotes stand where they have to", () => {
  assert.equal(csvValue("a,b"), '"a,b"');
  assert.equal(csvValue('say "x"'), '"say ""x"""');
  assert.equal(csvValue("a\nb"), '"a\nb"');
  assert.equal(csvValue("a b"), "a b");
});

test("null and the empty text are told apart", () => {
  assert.equal(csvValue(null), "");
  assert.equal(csvValue(""), '""');
});

test("other values are text that can be read again", () => {
  assert.equal(csvValue(2n ** 60n), "1152921504606846976");
  assert.equal(csvValue(true), "true");
  assert.equal(csvValue(new Date(0)), "1970-01-01T00:00:00.000Z");
  assert.equal(csvValue(["a", 1]), '"[""a"",1]"');
});

test("rows come in the order that is asked for", async () => {
  const rows = rowsOf({ n: ["int", [1n, 2n, 3n]] });
  assert.equal((await csvOf(rows, Uint32Array.of(2, 1))).join(""), "n\n3\n2\n");
});
