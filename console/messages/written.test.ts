import assert from "node:assert/strict";
import test from "node:test";
import { isNumber, lineOf, parseWritten, textOf } from "./written.ts";

test("numbers stay as they were written", () => {
  for (const text of [
    '{"a":[2.0,2,9007199254740993,-0.0,1e3,0.1],"b":"2.0","c":null,"d":true}',
    "18446744073709551615",
    "[]",
    "{}",
  ]) {
    assert.equal(lineOf(parseWritten(text)), text);
  }
  assert.deepEqual((parseWritten("[1, 1.0, 1e9]") as unknown[]).map(isNumber), [true, true, true]);
});

test("what is short stands on one line, and what is long on several", () => {
  assert.equal(textOf(parseWritten('{"a":[1,2.0],"b":{}}')), '{"a": [1, 2.0], "b": {}}');
  const long = "x".repeat(50);
  assert.equal(
    textOf(parseWritten(`{"rows":[["${long}",1.0],[]],"n":1}`)),
    `{\n  "rows": [\n    [\n      "${long}",\n      1.0\n    ],\n    []\n  ],\n  "n": 1\n}`,
  );
});
