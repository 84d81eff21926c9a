import assert from "node:assert/strict";
import test from "node:test";
import { frameOf, pathOf, summaryOf } from "./scale.ts";

const points = (...values: (number | undefined)[]) => values.map((y, x) => ({ x, y }));

test("a frame holds all lines", () => {
  assert.deepEqual(frameOf([points(3, undefined, 5), points(4)], false), {
    left: 0,
    right: 2,
    bottom: 3,
    top: 5,
  });
  assert.deepEqual(frameOf([points(3, 5)], true), { left: 0, right: 1, bottom: 0, top: 5 });
  assert.equal(frameOf([points(undefined), []], false), undefined);
});

test("what never changes has a frame, too", () => {
  assert.deepEqual(frameOf([points(4, 4)], false), { left: 0, right: 1, bottom: 3, top: 5 });
  assert.deepEqual(frameOf([points(0, 0)], true), { left: 0, right: 1, bottom: 0, top: 1 });
});

test("a line goes from value to value, with the greatest on top", () => {
  const line = points(0, 10, 5);
  assert.equal(pathOf(line, { left: 0, right: 2, bottom: 0, top: 10 }), "M0 100L50 0L100 50");
});

test("in steps, a value holds until the next one", () => {
  const line = [
    { x: 1, y: 0 },
    { x: 3, y: 10 },
  ];
  assert.equal(pathOf(line, { left: 1, right: 5, bottom: 0, top: 10 }, true), "M0 100H50V0H100");
});

test("a gap ends the line, and a value alone is a dot", () => {
  const line = points(0, undefined, 10, 10);
  assert.equal(pathOf(line, { left: 0, right: 3, bottom: 0, top: 10 }), "M0 100h0M66.67 0L100 0");
});

test("one value alone is drawn", () => {
  const frame = { left: 7, right: 7, bottom: 0, top: 2 };
  assert.equal(pathOf([{ x: 7, y: 1 }], frame), "M0 50h0");
  assert.equal(pathOf([{ x: 7, y: 1 }], frame, true), "M0 50H100");
});

test("a line is told in words", () => {
  const text = (y: number) => `${y} rows`;
  assert.equal(
    summaryOf("Answer", points(3, undefined, 9, 1, 4), text),
    "Answer: first 3 rows, last 4 rows, least 1 rows, most 9 rows",
  );
  assert.equal(summaryOf("Answer", [], text), "Answer: no values");
});
