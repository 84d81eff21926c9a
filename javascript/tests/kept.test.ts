import assert from "node:assert/strict";
import test from "node:test";
import { InvalidMessage } from "@stratalog/client";
import { KeptRows } from "../dist/kept.js";

const row = (text: string): [string, string] => [text, `row ${text}`];

test("rows come behind those that are there, go, and come again", () => {
  const kept = new KeptRows<string>();
  assert.deepEqual(kept.take({ version: 3, reset: true }, ["a", "b", "c"].map(row), []), []);
  assert.deepEqual(kept.take({ from: 3, version: 5 }, ["d"].map(row), ["a"].map(row)), ["row a"]);
  assert.deepEqual(kept.take({ from: 5, version: 6 }, ["a"].map(row), []), []);
  assert.deepEqual([...kept.rows.keys()], ["b", "c", "d", "a"]);
  assert.equal(kept.version, 6);
  // One that is told to come and go with one change is there.
  kept.take({ from: 6, version: 7 }, ["b"].map(row), ["b"].map(row));
  assert.deepEqual([...kept.rows.keys()], ["c", "d", "a", "b"]);
  kept.take({ version: 2, reset: true }, ["e"].map(row), []);
  assert.deepEqual([...kept.rows], [row("e")]);
});

test("a row that went is the one that was kept, and one of before is told as it came", () => {
  const kept = new KeptRows<object>();
  const [here, again] = [{}, {}];
  kept.begin(4);
  kept.take({ from: 4, version: 5 }, [["a", here]], []);
  assert.equal(kept.take({ from: 5, version: 6 }, [], [["a", again]])[0], here);
  assert.equal(kept.take({ from: 6, version: 7 }, [], [["b", again]])[0], again);
});

test("a change that others came before is refused", () => {
  const kept = new KeptRows<string>();
  kept.take({ version: 3, reset: true }, ["a"].map(row), []);
  assert.throws(
    () => kept.take({ from: 4, version: 5 }, ["b"].map(row), []),
    (problem) =>
      problem instanceof InvalidMessage && /after version 4; known is version 3/.test(problem.message),
  );
  assert.deepEqual([...kept.rows], [row("a")]);
});
