import assert from "node:assert/strict";
import { test } from "node:test";
import { namesOf } from "../testing.ts";
import { Layout } from "./layout.ts";
import { networkOf } from "./network.ts";
import { beginOf } from "./start.ts";

const ends = { from: 0, to: 1, label: undefined };

/** A ring of so many nodes. */
function ring(count: number) {
  const names = Array.from({ length: count }, (_, number) => `n${number}`);
  return networkOf(namesOf({ a: names, b: [...names.slice(1), names[0] ?? ""] }), ends, count);
}

function settled(network: ReturnType<typeof ring>, known = new Map<string, { x: number; y: number }>()) {
  const { xs, ys, isKnown } = beginOf(network, known);
  const places = { xs, ys };
  const layout = new Layout(network, places, known.size > 0 ? isKnown : undefined);
  let steps = 0;
  for (; !layout.isDone; steps += 1) layout.step(places);
  return { ...places, steps };
}

test("the same graph finds the same places", () => {
  assert.deepEqual(settled(ring(30)), settled(ring(30)));
});

test("neighbours stand closer together than others, and no two nodes at one place", () => {
  const { xs, ys } = settled(ring(24));
  const distance = (a: number, b: number) =>
    Math.hypot((xs[a] ?? 0) - (xs[b] ?? 0), (ys[a] ?? 0) - (ys[b] ?? 0));
  const beside = distance(0, 1);
  const across = distance(0, 12);
  assert.ok(beside > 0.5 && across > beside * 2, `${beside} and ${across}`);
  assert.ok([...xs, ...ys].every(Number.isFinite));
});

test("it ends by itself", () => {
  assert.ok(settled(ring(10)).steps <= 600);
  assert.equal(settled(ring(1)).steps, 0);
  assert.equal(settled(networkOf(namesOf({ a: [], b: [] }), ends, 10)).steps, 0);
});

test("nodes that were there stay exactly where they are, and new ones come beside them", () => {
  const known = new Map([
    ['"a"', { x: 100, y: 50 }],
    ['"b"', { x: 140, y: 50 }],
  ]);
  const network = networkOf(namesOf({ a: ["a", "a", "a"], b: ["b", "c", "d"] }), ends, 10);
  const { xs, ys } = settled(network, known);
  assert.deepEqual([xs[0], ys[0], xs[1], ys[1]], [100, 50, 140, 50]);
  for (const node of [2, 3]) {
    const away = Math.hypot((xs[node] ?? 0) - 100, (ys[node] ?? 0) - 50);
    assert.ok(away > 1 && away < 200, `${away}`);
  }
  assert.notDeepEqual([xs[2], ys[2]], [xs[3], ys[3]]);
});

test("a node that somebody holds stays in their hand", () => {
  const network = ring(12);
  const { xs, ys } = beginOf(network, new Map());
  const layout = new Layout(network, { xs, ys });
  layout.step({ xs, ys });
  layout.hold(3, 500, 500);
  for (let step = 0; step < 20; step += 1) layout.step({ xs, ys });
  assert.deepEqual([xs[3], ys[3]], [500, 500]);
});
