import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf } from "../testing.ts";
import { jsonOf, jsonValue } from "./json.ts";

test("a row is an object on a line of its own", async () => {
  const rows = rowsOf({ name: ["string", ["ada", null]], n: ["int", [2n, 3n]] });
  assert.equal((await jsonOf(rows)).join(""), '[\n{"name":"ada","n":2},\n{"name":null,"n":3}\n]\n');
});

test("integers have all their digits", async () => {
  const rows = rowsOf({ n: ["int", [9_223_372_036_854_775_807n, -9_223_372_036_854_775_808n]] });
  assert.equal(
    (await jsonOf(rows)).join(""),
    '[\n{"n":9223372036854775807},\n{"n":-9223372036854775808}\n]\n',
  );
});

test("floats have a point, times are ISO, lists and vectors arrays", () => {
  assert.equal(jsonValue(2, "float"), "2.0");
  assert.equal(jsonValue(-0, "float"), "-0.0");
  assert.equal(jsonValue(1e21, "float"), "1e+21");
  assert.equal(jsonValue(2, "int"), "2");
  assert.equal(jsonValue(new Date(0)), '"1970-01-01T00:00:00.000Z"');
  assert.equal(jsonValue([1, 2n ** 60n, "a", null, [true]]), '[1,1152921504606846976,"a",null,[true]]');
  assert.equal(jsonValue(Float32Array.of(0.5, 2)), "[0.5,2.0]");
  assert.equal(jsonValue(Int8Array.of(-1, 2)), "[-1,2]");
});

test("names and texts are quoted as JSON has it", async () => {
  const rows = rowsOf({ 'a"b': ["string", ['</script>\n"\u2028']] });
  const [row] = JSON.parse((await jsonOf(rows)).join("")) as Record<string, string>[];
  assert.deepEqual(row, { 'a"b': '</script>\n"\u2028' });
});

test("an order says which rows there are", async () => {
  const rows = rowsOf({ n: ["int", [1n, 2n, 3n]] });
  assert.equal((await jsonOf(rows, Uint32Array.of(2, 0))).join(""), '[\n{"n":3},\n{"n":1}\n]\n');
  assert.equal((await jsonOf(rows, new Uint32Array(0))).join(""), "[\n]\n");
});
