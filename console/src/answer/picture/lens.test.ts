import assert from "node:assert/strict";
import { test } from "node:test";
import { Lens } from "./lens.ts";

const places = { xs: Float32Array.of(0, 100, 0), ys: Float32Array.of(0, 0, 100) };
const radii = Float32Array.of(5, 5, 5);

function lens(): Lens {
  const made = new Lens();
  made.size = { width: 500, height: 500 };
  made.follow(places);
  return made;
}

test("all is seen until somebody looks at a part", () => {
  const made = lens();
  const whole = made.camera;
  made.zoom(2);
  made.follow(places);
  assert.notEqual(made.camera.scale, whole.scale);
  made.isMoved = false;
  made.follow(places);
  assert.deepEqual(made.camera, whole);
});

test("the nearest node within reach is found", () => {
  const made = lens();
  assert.equal(made.nodeAt(places, radii, { x: 48, y: 48 }, 5), 0);
  assert.equal(made.nodeAt(places, radii, { x: 56, y: 48 }, 5), 0);
  assert.equal(made.nodeAt(places, radii, { x: 452, y: 46 }, 5), 1);
  assert.equal(made.nodeAt(places, radii, { x: 250, y: 250 }, 5), undefined);
});

test("a node that can be seen does not move the plane, another does", () => {
  const made = lens();
  assert.equal(made.reveal({ x: 50, y: 50 }), false);
  assert.equal(made.reveal({ x: 5000, y: 0 }), true);
  assert.deepEqual(made.toPlane({ x: 250, y: 250 }), { x: 5000, y: 0 });
});

test("nodes grow slower than what is between them", () => {
  const made = lens();
  assert.equal(made.grow, 1);
  made.zoom(4);
  assert.equal(made.grow, 2);
});
