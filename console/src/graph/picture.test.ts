import assert from "node:assert/strict";
import { test } from "node:test";
import type { Dependencies, How, Reading } from "./dependencies.ts";
import { type PictureRelation, pictureOf } from "./picture.ts";
import { isInside, overlap } from "./testing.ts";

const relation = (name: string, stratum?: number): PictureRelation => ({ name, about: "", stratum });

function reading(reads: string, derived: string, hows: How[] = ["positive"], isRecursive = false): Reading {
  return { relation: derived, reads, hows, isRecursive };
}

function dependencies(...readings: Reading[]): Dependencies {
  return { strata: new Map(), readings };
}

test("what is derived stands to the right of what it is derived from", () => {
  const relations = [relation("edge"), relation("path", 0), relation("far", 1)];
  const picture = pictureOf(
    relations,
    dependencies(reading("edge", "path"), reading("path", "far", ["aggregated"])),
  );
  const [edge, path, far] = picture.nodes.map(({ x }) => x);
  assert.ok((edge ?? 0) < (path ?? 0) && (path ?? 0) < (far ?? 0));
});

test("a stratum is a box around its relations, and around no stored one", () => {
  const relations = [relation("edge"), relation("path", 0), relation("way", 0)];
  const picture = pictureOf(relations, dependencies(reading("edge", "path"), reading("edge", "way")));
  const [box] = picture.boxes;
  const [edge, path, way] = picture.nodes;
  assert.equal(picture.boxes.length, 1);
  assert.ok(box && edge && path && way);
  assert.ok(isInside(path, box) && isInside(way, box));
  assert.ok(!overlap(edge, box));
});

test("a relation that reads itself, and two that read each other, have their edges", () => {
  const relations = [relation("edge"), relation("path", 0), relation("odd", 0), relation("even", 0)];
  const picture = pictureOf(
    relations,
    dependencies(
      reading("edge", "path"),
      reading("path", "path", ["positive"], true),
      reading("odd", "even", ["positive"], true),
      reading("even", "odd", ["positive"], true),
    ),
  );
  assert.equal(picture.edges.length, 4);
  for (const { path } of picture.edges) assert.match(path, /^M[-\d.]+,[-\d.]+[CL]/);
});

test("what a loop needs is free, and so is the title of a stratum", () => {
  const relations = [relation("edge"), relation("path", 0), relation("way", 0), relation("far", 1)];
  const picture = pictureOf(
    relations,
    dependencies(
      reading("edge", "path"),
      reading("edge", "way"),
      reading("path", "path", ["positive"], true),
      reading("path", "far"),
    ),
  );
  const [edge, path, way] = picture.nodes;
  assert.ok(edge && path && way);
  const loop = { x: path.x, y: path.y - 20, width: path.width, height: 20 };
  assert.ok(!overlap(loop, way));
  for (const box of picture.boxes) {
    const title = { x: box.x, y: box.y, width: box.width, height: 18 };
    for (const node of picture.nodes) assert.ok(!overlap(title, node));
    assert.ok(!overlap(title, loop));
  }
});

test("what is stored stands at the left, also where the last stratum alone reads it", () => {
  const relations = [
    relation("late"),
    relation("edge"),
    relation("path", 0),
    relation("far", 1),
    relation("last", 1),
  ];
  const { nodes, boxes } = pictureOf(
    relations,
    dependencies(
      reading("edge", "path"),
      reading("path", "far", ["negated"]),
      reading("far", "last"),
      reading("late", "last"),
    ),
  );
  const [late, edge, path] = nodes;
  assert.ok(late && edge && path);
  assert.equal(late.x + late.width / 2, edge.x + edge.width / 2);
  assert.ok(late.x + late.width < path.x);
  for (const box of boxes) assert.ok(!overlap(late, box) && !overlap(edge, box));
});

test("strata stand one after the other, also where nothing of one is read by the next", () => {
  const relations = [relation("a", 0), relation("b", 2), relation("c", 1), relation("d")];
  const picture = pictureOf(relations, dependencies(reading("d", "b"), reading("d", "c"), reading("d", "a")));
  const [d, ...others] = ["d", "a", "c", "b"].map((name) =>
    picture.nodes.find((node) => node.relation.name === name),
  );
  let end = (d?.x ?? 0) + (d?.width ?? 0);
  for (const node of others) {
    assert.ok((node?.x ?? 0) > end);
    end = (node?.x ?? 0) + (node?.width ?? 0);
  }
  assert.deepEqual(
    picture.boxes.map(({ stratum }) => stratum),
    [0, 1, 2],
  );
  for (const [place, box] of picture.boxes.entries()) {
    for (const other of picture.boxes.slice(place + 1)) assert.ok(!overlap(box, other));
  }
});

test("edges are told apart by what stands beside them", () => {
  const relations = [relation("a"), relation("b"), relation("c", 0)];
  const picture = pictureOf(
    relations,
    dependencies(
      reading("a", "c", ["negated"]),
      reading("b", "c", ["positive", "aggregated"]),
      reading("c", "c", ["positive"], true),
    ),
  );
  assert.deepEqual(
    picture.edges.map(({ label }) => label),
    ["not", "also aggregate", ""],
  );
});

test("edges to what is not drawn are left out", () => {
  const picture = pictureOf([relation("path", 0)], dependencies(reading("edge", "path")));
  assert.equal(picture.edges.length, 0);
  assert.equal(picture.nodes.length, 1);
});

test("names that every object has are drawn like others", () => {
  const relations = [relation("constructor"), relation("__proto__", 0)];
  const picture = pictureOf(relations, dependencies(reading("constructor", "__proto__")));
  assert.equal(picture.edges.length, 1);
  assert.ok(picture.nodes.every(({ width }) => width > 0));
});

test("long names are cut", () => {
  const [node] = pictureOf([relation("n".repeat(100))], dependencies()).nodes;
  assert.equal(node?.label, `${"n".repeat(29)}…`);
});

test("nothing has no size", () => {
  const picture = pictureOf([], dependencies());
  assert.deepEqual([picture.width, picture.height, picture.nodes], [0, 0, []]);
});
