import assert from "node:assert/strict";
import { test } from "node:test";
import { namesOf } from "../testing.ts";
import { networkOf } from "./network.ts";
import { beginOf } from "./start.ts";

const ends = { from: 0, to: 1, label: undefined };

function graph(pairs: readonly (readonly [string, string])[]) {
  return networkOf(namesOf({ a: pairs.map(([a]) => a), b: pairs.map(([, b]) => b) }), ends, pairs.length);
}

/** The places by the names of the nodes. */
function placesOf(network: ReturnType<typeof graph>, known = new Map<string, { x: number; y: number }>()) {
  const { xs, ys } = beginOf(network, known);
  return new Map(network.nodes.map(({ name }, node) => [name, [xs[node] ?? 0, ys[node] ?? 0] as const]));
}

const pairs = [
  ["a", "b"],
  ["a", "c"],
  ["c", "d"],
  ["x", "y"],
] as const;

test("the order of the rows does not matter", () => {
  const forth = placesOf(graph(pairs));
  const back = placesOf(graph([...pairs].reverse()));
  assert.deepEqual([...forth].sort(), [...back].sort());
});

test("no two nodes stand at one place", () => {
  const star = Array.from({ length: 200 }, (_, number) => ["hub", `n${number}`] as const);
  const places = new Set([...placesOf(graph([...star, ...pairs])).values()].map(String));
  assert.equal(places.size, 207);
});

test("a ring is not twisted: its neighbours stand beside each other", () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const places = placesOf(graph(names.map((name, place) => [name, names[(place + 1) % 6] ?? ""] as const)));
  const [x = 0, y = 0] = [...places.values()].reduce(([x, y], [px, py]) => [x + px / 6, y + py / 6], [0, 0]);
  const angles = names.map((name) => {
    const [px = 0, py = 0] = places.get(name) ?? [];
    return Math.atan2(py - y, px - x);
  });
  const around = [...names.keys()].sort((a, b) => (angles[a] ?? 0) - (angles[b] ?? 0));
  const steps = around.map((node, place) => ((around[(place + 1) % 6] ?? 0) - node + 6) % 6);
  assert.ok(new Set(steps).size === 1 && [1, 5].includes(steps[0] ?? 0), steps.join(" "));
});

test("what is known stays, and what is new comes beside it", () => {
  const places = placesOf(graph(pairs), new Map([['"a"', { x: 100, y: 50 }]]));
  assert.deepEqual(places.get("a"), [100, 50]);
  for (const name of ["b", "c"]) {
    const [x = 0, y = 0] = places.get(name) ?? [];
    assert.ok(Math.hypot(x - 100, y - 50) < 40, `${name} at ${x}, ${y}`);
  }
});

test("nodes of long chains are no trouble", () => {
  const chain = Array.from({ length: 20_000 }, (_, number) => [`n${number}`, `n${number + 1}`] as const);
  assert.equal(placesOf(graph(chain)).size, 20_001);
});
