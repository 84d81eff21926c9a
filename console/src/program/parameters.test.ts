import assert from "node:assert/strict";
import { test } from "node:test";
import { meaningOf, typeOf } from "./parameters.ts";
import { parametersOf } from "./scan.ts";

test("parameters are found outside of texts and comments", () => {
  const program = '?p($who, "$not", X), X > $least // $neither\n/* $nor */ ?q($who)\n% $comment\n?r($größe)';
  assert.deepEqual(parametersOf(program), ["who", "least", "größe"]);
});

test("a field means what it looks like", () => {
  assert.equal(meaningOf(" 12 "), 12);
  assert.equal(meaningOf("12345678901234567890"), 12345678901234567890n);
  assert.equal(meaningOf('"12"'), "12");
  assert.equal(meaningOf('[{"a": 1}]'), '[{"a": 1}]');
  assert.equal(meaningOf(" ada "), " ada ");
  assert.equal(meaningOf("true"), true);
  assert.equal(meaningOf("null"), null);
  assert.deepEqual(meaningOf("[1, 2]"), [1, 2]);
  assert.equal(meaningOf("[1, 2"), "[1, 2");
  assert.deepEqual(["1", "1.0", "1e3", ".5", "x", "true", "[1]", "null"].map(typeOf), [
    "int",
    "float",
    "float",
    "float",
    "text",
    "bool",
    "list",
    "null",
  ]);
});
