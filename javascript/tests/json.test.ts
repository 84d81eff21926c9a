import assert from "node:assert/strict";
import test from "node:test";
import { float } from "@stratalog/client";
import { keyOfCell, readCell } from "../dist/cells.js";
import { parseMessage, parseNumbers } from "../dist/json.js";
import { jsonOf, type Marks } from "../dist/values.js";

test("integers that a number cannot hold are bigints, and nothing else is", () => {
  assert.deepEqual(
    parseMessage(
      '{"a":9007199254740993,"b":[-9223372036854775808,0.30000000000000004],"c":"9007199254740993"}',
    ),
    { a: 9007199254740993n, b: [-9223372036854775808n, 0.30000000000000004], c: "9007199254740993" },
  );
  assert.deepEqual(parseMessage('{"a":9007199254740991,"b":"\\"9007199254740993\\\\"}'), {
    a: 9007199254740991,
    b: '"9007199254740993\\',
  });
});

test("numbers are what is made of their text, and digits in text are none", () => {
  const read = (text: string) => (text.includes(".") ? `float ${text}` : undefined);
  assert.deepEqual(parseNumbers('{"a 1.5":[1, 2.0, -0.5e3], "b":"3.5\\"4.5", "c":{"d":[[0.0]]}}', read), {
    "a 1.5": [1, "float 2.0", "float -0.5e3"],
    b: '3.5"4.5',
    c: { d: [["float 0.0"]] },
  });
  assert.equal(parseNumbers("1.0", read), "float 1.0");
  assert.throws(() => parseNumbers("[1.0", read), SyntaxError);
});

test("a cell tells vectors and lists of numbers apart by their marks", () => {
  assert.deepEqual(readCell("[1, 2.5]", "any"), Float32Array.of(1, 2.5));
  assert.deepEqual(readCell("[\t1, 2.5]", "any"), [1, 2.5]);
  assert.deepEqual(readCell("[\t]", "any"), []);
  assert.deepEqual(readCell("[]", "any"), new Float32Array());
  assert.deepEqual(readCell("[1, 2]", "list"), [1, 2]);
  assert.deepEqual(readCell('["a", [1.5, 2.0\t], [\n]]', "list"), ["a", Float32Array.of(1.5, 2), []]);
  assert.deepEqual(readCell('"a, b] \\" \\\\"', "any"), 'a, b] " \\');
  assert.deepEqual(readCell("9223372036854775807", "any"), 9223372036854775807n);
  assert.throws(() => readCell("[1", "any"), SyntaxError);
});

test("the key of a cell tells 1, 1.0, true, text and arrays apart", () => {
  const cells = ["1", "1.0", "true", '"1"', "[1]", "[\t1]", "[\t1.0]", "null"];
  assert.equal(new Set(cells.map((cell) => keyOfCell(cell, "any"))).size, cells.length);
  assert.equal(keyOfCell("1e0", "any"), keyOfCell("1.0", "any"));
  assert.equal(keyOfCell("[0.1]", "any"), keyOfCell("[0.10000000149011612]", "any"));
});

const WRITTEN: [unknown, string, Marks?][] = [
  [2, "2"],
  [2.5, "2.5"],
  [float(2), "2.0"],
  [1e21 + 0.5 - 0.5, "error"],
  [float(1e21), "1e+21"],
  [float(-0), "-0.0"],
  [2n ** 63n - 1n, "9223372036854775807"],
  [2n ** 63n, "error"],
  [2 ** 53, "error"],
  [Number.NaN, "null"],
  [Number.POSITIVE_INFINITY, "error"],
  [new Date(5), "5"],
  [new Date(Number.NaN), "error"],
  [Float32Array.of(1, 0.5), "[1.0, 0.5]"],
  [Float32Array.of(1), "[1.0\t]", "lists"],
  [["a", [1]], '["a", [1]]'],
  [["a", [1]], '["a", [\t1]]', "vectors"],
  [[1], "[1]", "vectors"],
  ["a\ud800", "error"],
  ["😀", '"😀"'],
  [{}, "error"],
  [() => 1, "error"],
];

test("values are written as the protocol has them, and what it has not is refused", () => {
  for (const [value, expected, marks] of WRITTEN) {
    if (expected === "error") assert.throws(() => jsonOf(value, marks), /stored|exact|64 bits|no text/);
    else assert.equal(jsonOf(value, marks), expected);
  }
});
