import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProofNode, ProofTree } from "@stratalog/client";
import {
  CHILDREN,
  hiddenOf,
  inSight,
  moreOf,
  moreShown,
  openAtFirst,
  outlineOf,
  pressed,
  revealed,
  rowsOf,
  shownOf,
  toggled,
} from "./tree.ts";

function proof(children: Record<string, readonly string[]>, roots = ["a"]): ProofTree {
  const nodes: Record<string, ProofNode> = {};
  for (const [id, needs] of Object.entries(children)) {
    nodes[id] = {
      kind: needs.length === 0 ? "fact" : "rule",
      conclusion: { pred: id, args: [] },
      height: 0,
      children: [...needs],
    };
  }
  return { version: 1, query: "", roots, nodes };
}

/** `a` needs `b` and `c`, both of which need `d`, which needs the fact `e`. */
const diamond = outlineOf(proof({ a: ["b", "c"], b: ["d"], c: ["d"], d: ["e"], e: [] }));

test("what stands in several places has its tree in the first", () => {
  assert.deepEqual(
    diamond.items.map(({ id, level, above }) => [id, level, above]),
    [
      ["a", 1, undefined],
      ["b", 2, undefined],
      ["d", 3, undefined],
      ["e", 4, undefined],
      ["c", 2, undefined],
      ["d", 3, 2],
    ],
  );
  assert.deepEqual(diamond.uses.get("d"), [2, 5]);
});

test("children that are not told are passed over", () => {
  assert.deepEqual(
    outlineOf(proof({ a: ["b", "gone"], b: [] })).items.map(({ id, siblings }) => [id, siblings]),
    [
      ["a", 1],
      ["b", 1],
    ],
  );
});

test("the first levels are open", () => {
  const open = openAtFirst(diamond);
  assert.deepEqual([...open.keys()], [0, 1, 4, 2]);
  assert.deepEqual(rowsOf(diamond, open), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(rowsOf(diamond, toggled(open, 0)), [0]);
});

test("of very many children some are shown at a time", () => {
  const ids = Array.from({ length: 10_000 }, (_, number) => `f${number}`);
  const wide = outlineOf(proof({ a: ids, ...Object.fromEntries(ids.map((id) => [id, []])) }));
  const open = openAtFirst(wide);
  assert.equal(shownOf(wide, open, 0).length, CHILDREN);
  assert.equal(hiddenOf(wide, open, 0), 10_000 - CHILDREN);
  assert.equal(rowsOf(wide, open).length, CHILDREN + 2);
  assert.equal(rowsOf(wide, open).at(-1), moreOf(0));
  const more = moreShown(wide, open, 0);
  assert.equal(more.row, CHILDREN + 1);
  assert.equal(rowsOf(wide, more.open).length, 2 * CHILDREN + 2);
  assert.equal(shownOf(wide, revealed(wide, open, 9_000), 0).length, 9_000);
});

test("a chain of ten thousand is placed, and no more than its first levels are open", () => {
  const chain: Record<string, string[]> = { n9999: [] };
  for (let number = 0; number < 9_999; number += 1) chain[`n${number}`] = [`n${number + 1}`];
  const deep = outlineOf(proof(chain, ["n0"]));
  assert.equal(deep.items.length, 10_000);
  assert.equal(rowsOf(deep, openAtFirst(deep)).length, 4);
  assert.equal(rowsOf(deep, revealed(deep, new Map(), 5_000)).length, 5_001);
});

test("arrows open, close and move", () => {
  const open = openAtFirst(diamond);
  const closed = toggled(open, 1);
  assert.deepEqual(pressed(diamond, open, 0, "ArrowDown"), { row: 1, open });
  assert.deepEqual(pressed(diamond, open, 0, "ArrowUp"), { row: 0, open });
  assert.deepEqual(pressed(diamond, open, 1, "End"), { row: 5, open });
  assert.deepEqual(pressed(diamond, open, 5, "Home"), { row: 0, open });
  assert.deepEqual(pressed(diamond, open, 1, "ArrowRight"), { row: 2, open });
  assert.deepEqual(pressed(diamond, open, 2, "ArrowLeft")?.open.has(2), false);
  assert.deepEqual(pressed(diamond, closed, 1, "ArrowLeft"), { row: 0, open: closed });
  assert.deepEqual(pressed(diamond, closed, 1, "ArrowRight")?.open.has(1), true);
  assert.deepEqual(pressed(diamond, closed, 1, "ArrowDown"), { row: 4, open: closed });
  assert.equal(pressed(diamond, open, 3, "ArrowRight"), undefined);
  assert.equal(pressed(diamond, open, 3, "Enter"), undefined);
  assert.equal(pressed(diamond, open, 0, "x"), undefined);
});

test("enter goes to the tree of what stands above", () => {
  const open = toggled(openAtFirst(diamond), 1);
  const step = pressed(diamond, open, 5, "Enter");
  assert.equal(step?.row, 2);
  assert.equal(step?.open.has(1), true);
});

test("an asterisk opens all beside it", () => {
  const open = new Map([[0, CHILDREN]]);
  assert.deepEqual([...(pressed(diamond, open, 1, "*")?.open.keys() ?? [])].sort(), [0, 1, 4]);
});

test("what is closed away is stood for by what it stands in", () => {
  const open = openAtFirst(diamond);
  assert.equal(inSight(diamond, open, 3), 3);
  assert.equal(inSight(diamond, toggled(open, 1), 3), 1);
  assert.equal(inSight(diamond, toggled(toggled(open, 1), 0), 3), 0);
  assert.equal(inSight(diamond, open, moreOf(0)), 0);
});
