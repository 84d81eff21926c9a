import assert from "node:assert/strict";
import { test } from "node:test";
import { boundsOf, fitted, moved, toPlane, toScreen, zoomed } from "./camera.ts";

const size = { width: 800, height: 600 };
const camera = { x: 10, y: 20, scale: 2 };

test("there and back is the same place", () => {
  assert.deepEqual(toScreen(camera, size, { x: 10, y: 20 }), { x: 400, y: 300 });
  const place = { x: -3.5, y: 7.25 };
  assert.deepEqual(toPlane(camera, size, toScreen(camera, size, place)), place);
});

test("what one zooms at stays where it is", () => {
  const at = { x: 123, y: 456 };
  const before = toPlane(camera, size, at);
  const after = toPlane(zoomed(camera, size, at, 3), size, at);
  assert.ok(Math.abs(before.x - after.x) < 1e-9 && Math.abs(before.y - after.y) < 1e-9);
});

test("zooming has its ends", () => {
  assert.equal(zoomed(camera, size, { x: 0, y: 0 }, 1e9).scale, 1000);
  assert.equal(zoomed(camera, size, { x: 0, y: 0 }, 1e-9).scale, 1e-4);
});

test("the plane goes along with the hand", () => {
  assert.deepEqual(toScreen(moved(camera, { x: 30, y: -10 }), size, { x: 10, y: 20 }), { x: 430, y: 290 });
});

test("all is seen, with room at the edges", () => {
  const bounds = { left: 0, top: 0, right: 100, bottom: 10 };
  const seen = fitted(bounds, size, 50, 100);
  assert.deepEqual(toScreen(seen, size, { x: 0, y: 5 }), { x: 50, y: 300 });
  assert.deepEqual(toScreen(seen, size, { x: 100, y: 5 }), { x: 750, y: 300 });
  assert.equal(fitted({ left: 1, top: 1, right: 1, bottom: 1 }, size, 50, 4).scale, 4);
});

test("bounds surround all places", () => {
  assert.deepEqual(boundsOf(Float32Array.of(1, -2, 0), Float32Array.of(5, 6, 4)), {
    left: -2,
    top: 4,
    right: 1,
    bottom: 6,
  });
  assert.deepEqual(boundsOf(new Float32Array(0), new Float32Array(0)), {
    left: -1,
    top: -1,
    right: 1,
    bottom: 1,
  });
});
