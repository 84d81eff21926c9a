import assert from "node:assert/strict";
import test from "node:test";
import { MOST_POINTS, RowLine } from "./line.ts";

test("a line has a point for each version", () => {
  const line = new RowLine();
  line.add(3, 10);
  line.add(7, 12);
  line.add(7, 11);
  assert.deepEqual(line.points, [
    { x: 3, y: 10 },
    { x: 7, y: 11 },
  ]);
  line.clear();
  assert.deepEqual(line.points, []);
});

test("of very many versions the last are drawn", () => {
  const line = new RowLine();
  for (let version = 1; version <= 5 * MOST_POINTS; version += 1) line.add(version, version);
  assert.equal(line.points.length, MOST_POINTS);
  assert.deepEqual(line.points.at(-1), { x: 5 * MOST_POINTS, y: 5 * MOST_POINTS });
});

test("what was drawn stays as it is", () => {
  const line = new RowLine();
  line.add(1, 1);
  const { points } = line;
  line.add(2, 2);
  assert.equal(points.length, 1);
});
