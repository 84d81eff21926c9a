import assert from "node:assert/strict";
import { test } from "node:test";
import { areMany, bandsOf } from "./bands.ts";
import type { Reading } from "./dependencies.ts";
import type { PictureRelation } from "./picture.ts";
import { isInside, overlap } from "./testing.ts";

/** Forty stored relations, and so many strata of so many others, each of which reads three of those before. */
function program(strata: number, each: number): { relations: PictureRelation[]; readings: Reading[] } {
  const relations = Array.from({ length: 40 + strata * each }, (_, number) => ({
    name: `relation_${number}`,
    about: "2 clauses",
    stratum: number < 40 ? undefined : Math.floor((number - 40) / each),
  }));
  const readings: Reading[] = [];
  for (const [number, { name, stratum }] of relations.entries()) {
    if (stratum === undefined) continue;
    for (const step of [7, 23, 39]) {
      const reads = `relation_${(number * step) % (40 + stratum * each)}`;
      if (!readings.some((known) => known.relation === name && known.reads === reads))
        readings.push({ relation: name, reads, hows: ["positive"], isRecursive: false });
    }
  }
  return { relations, readings };
}

for (const width of [350, 1100]) {
  test(`thirty strata have room in ${width} pixels, and no relation lies on another`, () => {
    const { relations, readings } = program(30, 5);
    const { nodes, boxes, ...size } = bandsOf(relations, { strata: new Map(), readings }, width);
    assert.equal(nodes.length, 190);
    for (const [place, node] of nodes.entries()) {
      assert.ok(isInside(node, { x: 0, y: 0, width, height: size.height }));
      for (const other of nodes.slice(place + 1)) assert.ok(!overlap(node, other));
    }
    assert.equal(size.width, width);
  });
}

test("strata follow each other downwards, with what no rule derives above them, and names in order", () => {
  const relations = [
    { name: "c", about: "", stratum: 1 },
    { name: "b", about: "", stratum: 0 },
    { name: "a", about: "", stratum: 0 },
    { name: "d", about: "", stratum: undefined },
  ];
  const { nodes, boxes } = bandsOf(relations, { strata: new Map(), readings: [] }, 800);
  assert.deepEqual(
    boxes.map(({ stratum }) => stratum),
    [undefined, 0, 1],
  );
  assert.deepEqual(
    nodes.map(({ relation }) => relation.name),
    ["d", "a", "b", "c"],
  );
  const [first, second, third] = boxes;
  assert.ok(first && second && third);
  assert.ok(first.y + first.height < second.y && second.y + second.height < third.y);
  const [stored, a, b] = nodes;
  assert.ok(stored && a && b && isInside(stored, first) && isInside(a, second) && isInside(b, second));
  assert.equal(a.y, b.y);
});

test("a line arrives from where the other relation is", () => {
  const relations = [
    { name: "base", about: "", stratum: undefined },
    { name: "path", about: "", stratum: 0 },
  ];
  const reading = (reads: string, relation: string): Reading => ({
    relation,
    reads,
    hows: ["negated"],
    isRecursive: false,
  });
  const readings = [reading("base", "path"), reading("path", "path"), reading("gone", "path")];
  const { nodes, edges } = bandsOf(relations, { strata: new Map(), readings }, 800);
  const [base, path] = nodes;
  assert.equal(edges.length, 2);
  assert.ok(base && path);
  const [x, below, above] = [base.x + base.width / 2, base.y + base.height, path.y];
  assert.equal(x, path.x + path.width / 2);
  const bend = (below + above) / 2;
  assert.equal(edges[0]?.path, `M${x},${below}C${x},${bend} ${x},${bend} ${x},${above}`);
  assert.equal(edges[0]?.label, "not");
});

test("very many relations, and very many strata, are drawn so", () => {
  assert.equal(areMany(program(3, 5).relations), false);
  assert.equal(areMany(program(3, 7).relations), true);
  assert.equal(areMany(program(12, 1).relations), true);
});

test("nothing has room", () => {
  const picture = bandsOf([], { strata: new Map(), readings: [] }, 0);
  assert.deepEqual([picture.nodes, picture.edges, picture.boxes], [[], [], []]);
});
