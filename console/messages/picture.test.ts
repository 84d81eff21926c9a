import assert from "node:assert/strict";
import test from "node:test";
import { Picture } from "./picture.ts";
import type { Row } from "./rows.ts";
import { parseWritten } from "./written.ts";

const rows = (text: string) => parseWritten(text) as Row[];
const drawn = (picture: Picture) =>
  picture.lines().map(({ row, looks }) => `${looks}${looks && " "}${row.map(String).join()}`);

test("what came last stands on top, and what went above all", () => {
  const picture = new Picture();
  picture.take({ version: 4, reset: true }, rows("[[1],[2],[3]]"), []);
  assert.deepEqual(drawn(picture), ["1", "2", "3"]);
  picture.take({ from: 4, version: 6 }, rows("[[5],[4]]"), rows("[[2]]"));
  assert.deepEqual([picture.rows, picture.came, picture.went], [4, 2, 1]);
  assert.deepEqual(drawn(picture), ["went 2", "came 5", "came 4", "1", "3"]);
  picture.take({ from: 6, version: 7 }, rows("[[2]]"), []);
  assert.deepEqual(drawn(picture), ["came 2", "5", "4", "1", "3"]);
});

test("what came and went before somebody looked is neither", () => {
  const picture = new Picture();
  picture.take({ version: 1, reset: true }, rows("[[1]]"), []);
  picture.lines();
  picture.take({ from: 1, version: 2 }, rows("[[2]]"), rows("[[1]]"));
  picture.take({ from: 2, version: 3 }, rows("[[1]]"), rows("[[2]]"));
  assert.deepEqual([picture.came, picture.went], [0, 0]);
  assert.deepEqual(drawn(picture), ["1"]);
});

test("rows are told apart by how they are written", () => {
  const picture = new Picture();
  picture.take(
    { version: 1, reset: true },
    rows('[[1],[1.0],["1"],[9007199254740993],[9007199254740992]]'),
    [],
  );
  assert.equal(picture.rows, 5);
  picture.take({ from: 1, version: 2 }, [], rows("[[1.0],[9007199254740993]]"));
  assert.equal(picture.rows, 3);
});

test("a change that others came before is refused", () => {
  const picture = new Picture();
  picture.take({ version: 1, reset: true }, rows("[[1]]"), []);
  assert.throws(() => picture.take({ from: 2, version: 3 }, rows("[[2]]"), []), /known is version 1/);
  assert.deepEqual(drawn(picture), ["1"]);
});
