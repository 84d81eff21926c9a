import assert from "node:assert/strict";
import { test } from "node:test";
import { Float } from "@stratalog/client";
import { paramsFor, textOfParams, typedOf } from "./params.ts";

test("only what the program has is sent", () => {
  assert.deepEqual(paramsFor("?p($a)", '{"a": "x", "b": 1}'), { a: "x" });
  assert.deepEqual(paramsFor("?p(X)", undefined), {});
});

test("numbers stay what they are", () => {
  const { a, b, c, d } = paramsFor(
    "?p($a, $b, $c, $d)",
    '{"a": 2, "b": 2.0, "c": 9007199254740993, "d": ["1", -1]}',
  );
  assert.equal(a, 2);
  assert.ok(b instanceof Float && b.value === 2);
  assert.equal(c, 9007199254740993n);
  assert.deepEqual(d, ["1", -1]);
});

test("what is no object of values is refused", () => {
  for (const text of ["[1]", "1", '"a"', "null"])
    assert.throws(() => paramsFor("?p($a)", text), TypeError, text);
  assert.throws(() => paramsFor("?p($a)", "{"), SyntaxError);
});

test("parameters are written as they are read", () => {
  const text = '{"a": 2, "b": 2.0, "c": 9007199254740993, "d": ["1", -1, 0.5], "e": null, "f": true}';
  assert.equal(textOfParams(paramsFor("?p($a, $b, $c, $d, $e, $f)", text)), text);
  assert.equal(textOfParams({}), undefined);
});

test("a field has what would be typed", () => {
  assert.equal(typedOf("ada"), "ada");
  assert.equal(typedOf("12"), '"12"');
  assert.equal(typedOf(12), "12");
  assert.equal(typedOf(undefined), "");
});
