import assert from "node:assert/strict";
import { test } from "node:test";
import { mostNames, Rooms } from "./labels.ts";

const size = { width: 400, height: 200 };

test("no text lies over another", () => {
  const rooms = new Rooms(size);
  assert.equal(rooms.take({ left: 10, top: 10, width: 60, height: 12 }), true);
  assert.equal(rooms.take({ left: 60, top: 12, width: 60, height: 12 }), false);
  assert.equal(rooms.take({ left: 90, top: 10, width: 60, height: 12 }), true);
  assert.equal(rooms.take({ left: 10, top: 40, width: 60, height: 12 }), true);
});

test("a text that cannot be seen takes no place, one at the edge does", () => {
  const rooms = new Rooms(size);
  assert.equal(rooms.take({ left: -100, top: 10, width: 60, height: 12 }), false);
  assert.equal(rooms.take({ left: 500, top: 10, width: 60, height: 12 }), false);
  assert.equal(rooms.take({ left: 380, top: 190, width: 60, height: 12 }), true);
  assert.equal(rooms.take({ left: 390, top: 192, width: 60, height: 12 }), false);
});

test("larger screens have more names, crowds fewer", () => {
  const wide = { width: 1280, height: 700 };
  assert.ok(mostNames(wide, 50) > mostNames({ width: 390, height: 400 }, 50));
  assert.ok(mostNames(wide, 5_000) < mostNames(wide, 50));
});
