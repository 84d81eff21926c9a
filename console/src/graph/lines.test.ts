import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf, loopAt, pathOf } from "./lines.ts";

const place = (x: number, y: number) => ({ x, y, width: 80, height: 40 });

test("a line goes through its points, and is level at each", () => {
  assert.equal(pathOf([]), "");
  assert.equal(
    pathOf([
      { x: 0, y: 5 },
      { x: 10, y: 5 },
    ]),
    "M0,5L10,5",
  );
  assert.equal(
    pathOf([
      { x: 0, y: 0 },
      { x: 10, y: 20 },
      { x: 30, y: 10 },
    ]),
    "M0,0C5,0 5,20 10,20C20,20 20,10 30,10",
  );
});

test("a line leaves at the right and arrives at the left, and the other way around where it leads back", () => {
  const [left, right] = [place(0, 0), place(200, 0)];
  const [there, back] = linesOf([
    { from: left, to: right, between: [{ x: 140, y: 10 }] },
    { from: right, to: left, between: [{ x: 140, y: 30 }] },
  ]);
  assert.match(there?.path ?? "", /^M80,15\.5.* 200,15\.5$/);
  assert.match(back?.path ?? "", /^M200,24\.5.* 80,24\.5$/);
});

test("lines share a side in the order in which they come, and stay on it however many there are", () => {
  const target = place(200, 0);
  const lines = linesOf(
    Array.from({ length: 30 }, (_, n) => ({ from: place(0, 3000 - n * 100), to: target, between: [] })),
  );
  const ends = lines.map(({ path }) => Number(path.split(",").at(-1)));
  assert.deepEqual(
    ends,
    [...ends].sort((a, b) => b - a),
  );
  assert.ok(ends.every((y) => y >= 9 && y <= 31));
});

test("a loop begins and ends at the top, and takes no more room than it is given", () => {
  const { path, beside } = loopAt(place(0, 100), 20);
  assert.equal(path, "M56,100C64,76 16,76 24,100");
  assert.deepEqual(beside, { x: 88, y: 90 });
});
