import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf } from "../testing.ts";
import { describe, MOST, MOST_SERIES, numberOf, pointsOf } from "./points.ts";

test("bars stand in the order of the answer, one for each row", () => {
  const rows = rowsOf({ name: ["string", ["c", "a", "c"]], n: ["int", [3n, 1n, 2n]] });
  const drawing = pointsOf(rows, { kind: "bars", x: 0, y: 1, series: undefined });
  assert.deepEqual(drawing.labels, ["c", "a", "c"]);
  assert.deepEqual(drawing.series, [
    {
      name: "n",
      points: [
        { x: 0, y: 3, row: 0 },
        { x: 1, y: 1, row: 1 },
        { x: 2, y: 2, row: 2 },
      ],
    },
  ]);
  assert.equal(drawing.drawn, 3);
});

test("series share the names of the axis", () => {
  const rows = rowsOf({
    name: ["string", ["a", "b", "a"]],
    group: ["string", ["x", "x", "y"]],
    n: ["int", [1n, 2n, 3n]],
  });
  const { labels, series } = pointsOf(rows, { kind: "bars", x: 0, y: 2, series: 1 });
  assert.deepEqual(labels, ["a", "b"]);
  assert.deepEqual(
    series.map(({ name, points }) => [name, points.map(({ x }) => x)]),
    [
      ["x", [0, 1]],
      ["y", [0]],
    ],
  );
});

test("values that are the same to read and not the same have places of their own", () => {
  const rows = rowsOf({ name: ["any", ["1", '"1"']], n: ["int", [1n, 2n]] });
  assert.deepEqual(pointsOf(rows, { kind: "bars", x: 0, y: 1, series: undefined }).labels, ["1", "1"]);
});

test("lines go from left to right", () => {
  const rows = rowsOf({ at: ["timestamp", [3000, 1000, 2000]], n: ["int", [3n, 1n, 2n]] });
  const { labels, series } = pointsOf(rows, { kind: "line", x: 0, y: 1, series: undefined });
  assert.equal(labels, undefined);
  assert.deepEqual(
    series[0]?.points.map(({ x }) => x),
    [1000, 2000, 3000],
  );
});

test("rows without a number are counted and not drawn", () => {
  const rows = rowsOf({ x: ["float", [1, null, 3]], y: ["int", [null, 2n, 2n ** 60n]] });
  const plan = { kind: "points", x: 0, y: 1, series: undefined } as const;
  const drawing = pointsOf(rows, plan);
  assert.deepEqual(drawing.series[0]?.points, [{ x: 3, y: 2 ** 60, row: 2 }]);
  assert.equal(drawing.without, 2);
  assert.equal(describe(rows, plan, drawing), "Points of y by x. 1 of 3 rows. 2 have no number there.");
});

test("of many bars the first are drawn, of many points some evenly chosen", () => {
  const count = 20_000;
  const numbers = Array.from({ length: count }, (_, number) => number);
  const rows = rowsOf({ x: ["float", numbers], y: ["float", numbers] });
  const bars = { kind: "bars", x: 0, y: 1, series: undefined } as const;
  assert.match(describe(rows, bars, pointsOf(rows, bars)), /400 of 20,000 rows, the first\./);
  const points = { kind: "points", x: 0, y: 1, series: undefined } as const;
  const drawing = pointsOf(rows, points);
  assert.equal(drawing.drawn, MOST.points);
  assert.equal(drawing.series[0]?.points.at(-1)?.x, count - count / MOST.points);
  assert.match(describe(rows, points, drawing, 1_000_000), /5,000 of 1,000,000 rows, evenly chosen\./);
});

test("series beyond those that can be told apart are counted", () => {
  const count = MOST_SERIES + 3;
  const groups = Array.from({ length: count }, (_, number) => `g${number}`);
  const rows = rowsOf({ g: ["string", groups], n: ["int", groups.map((_, number) => BigInt(number))] });
  const plan = { kind: "bars", x: 0, y: 1, series: 0 } as const;
  const drawing = pointsOf(rows, plan);
  assert.equal(drawing.series.length, MOST_SERIES);
  assert.match(describe(rows, plan, drawing), /12 of 15 rows\. 3 more values of g are not drawn\./);
});

test("numbers and times have places on an axis, other values have not", () => {
  assert.deepEqual([1.5, 2n ** 53n, new Date(5), "1", null, true].map(numberOf), [
    1.5,
    2 ** 53,
    5,
    undefined,
    undefined,
    undefined,
  ]);
});
