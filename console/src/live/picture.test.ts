import assert from "node:assert/strict";
import test from "node:test";
import type { Row } from "@stratalog/client";
import { MARK_MILLISECONDS, MOST_GONE, Picture } from "./picture.ts";

function rows(...values: number[]): Row[] {
  return values.map((value) => [value]);
}

/** The values that are shown; those that went have a minus, those that are marked as new a plus. */
function shown(picture: Picture): string[] {
  return picture.entries.map(({ row, came, went }) => {
    const sign = went !== undefined ? "-" : came !== undefined ? "+" : "";
    return `${sign}${row[0]}`;
  });
}

test("all rows come as they were told, unmarked, and later ones above them", () => {
  const picture = new Picture();
  picture.take({ reset: true, added: rows(1, 2, 3), removed: [] });
  assert.deepEqual(shown(picture), []);
  assert.equal(picture.settle(0), true);
  assert.deepEqual(shown(picture), ["1", "2", "3"]);
  assert.equal(picture.isMarked, false);
  picture.take({ reset: false, added: rows(4, 5), removed: [] });
  picture.settle(10);
  assert.deepEqual(shown(picture), ["+4", "+5", "1", "2", "3"]);
  assert.equal(picture.isMarked, true);
});

test("a row that went stays for a moment where it was", () => {
  const picture = new Picture();
  const all = rows(1, 2, 3);
  picture.take({ reset: true, added: all, removed: [] });
  picture.settle(0);
  picture.take({ reset: false, added: [], removed: all.slice(1, 2) });
  picture.settle(100);
  assert.deepEqual(shown(picture), ["1", "-2", "3"]);
  assert.equal(picture.settle(100 + MARK_MILLISECONDS - 1), false);
  assert.equal(picture.settle(100 + MARK_MILLISECONDS), true);
  assert.deepEqual(shown(picture), ["1", "3"]);
  assert.equal(picture.isMarked, false);
});

test("what came and went while nobody looked is not drawn", () => {
  const picture = new Picture();
  const [one = [], two = []] = rows(1, 2);
  picture.take({ reset: true, added: [one], removed: [] });
  picture.settle(0);
  picture.take({ reset: false, added: [two], removed: [] });
  picture.take({ reset: false, added: [], removed: [two] });
  assert.equal(picture.settle(10), false);
  assert.deepEqual(shown(picture), ["1"]);
});

test("a row that went and came again is both", () => {
  const picture = new Picture();
  const [before = [], after = []] = rows(1, 1);
  picture.take({ reset: true, added: [before], removed: [] });
  picture.settle(0);
  picture.take({ reset: false, added: [], removed: [before] });
  picture.take({ reset: false, added: [after], removed: [] });
  picture.settle(10);
  assert.deepEqual(shown(picture), ["+1", "-1"]);
});

test("all rows anew take the place of everything, also of what waits", () => {
  const picture = new Picture();
  const all = rows(1, 2);
  picture.take({ reset: true, added: all, removed: [] });
  picture.settle(0);
  picture.take({ reset: false, added: rows(3), removed: all });
  picture.take({ reset: true, added: rows(7, 8), removed: [] });
  picture.take({ reset: false, added: rows(9), removed: [] });
  picture.settle(10);
  assert.deepEqual(shown(picture), ["7", "8", "9"]);
  assert.equal(picture.generation, 2);
  assert.equal(picture.isMarked, false);
});

test("rows that come take their place in the order of a column", () => {
  const picture = new Picture();
  picture.take({ reset: true, added: rows(5, 1, 3), removed: [] });
  picture.settle(0);
  picture.sort({ column: 0, descends: false });
  assert.deepEqual(shown(picture), ["1", "3", "5"]);
  picture.take({ reset: false, added: rows(6, 0, 4), removed: [] });
  picture.settle(10);
  assert.deepEqual(shown(picture), ["+0", "1", "3", "+4", "5", "+6"]);
  picture.sort({ column: 0, descends: true });
  assert.deepEqual(shown(picture), ["+6", "5", "+4", "3", "1", "+0"]);
  picture.sort(undefined);
  assert.deepEqual(shown(picture), ["+6", "+0", "+4", "5", "1", "3"]);
});

test("of very many rows that went, the last are shown", () => {
  const picture = new Picture();
  const all = rows(...Array.from({ length: MOST_GONE + 10 }, (_, number) => number));
  picture.take({ reset: true, added: all, removed: [] });
  picture.settle(0);
  picture.take({ reset: false, added: [], removed: all });
  picture.settle(10);
  assert.equal(picture.entries.length, MOST_GONE);
  assert.deepEqual(picture.entries[0]?.row, [10]);
});

test("a hundred thousand rows with a thousand changes are drawn without a long pause", () => {
  const picture = new Picture();
  const all = rows(...Array.from({ length: 100_000 }, (_, number) => number));
  picture.take({ reset: true, added: all, removed: [] });
  picture.settle(0);
  picture.sort({ column: 0, descends: false });
  const start = performance.now();
  for (let round = 0; round < 10; round += 1) {
    const added = rows(...Array.from({ length: 500 }, (_, number) => number * 200 + round / 100));
    picture.take({ reset: false, added, removed: all.slice(round * 500, round * 500 + 500) });
    picture.settle(round);
  }
  assert.ok((performance.now() - start) / 10 < 500);
  assert.equal(picture.entries.filter(({ went }) => went === undefined).length, 100_000);
});
