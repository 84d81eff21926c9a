import assert from "node:assert/strict";
import { test } from "node:test";
import { fileName } from "./save.ts";

test("a file name is one on every system", () => {
  assert.equal(fileName("ancestor.csv"), "ancestor.csv");
  assert.equal(fileName("../../etc/passwd"), "etc-passwd");
  assert.equal(fileName("a:b*c?.json"), "a-b-c-.json");
  assert.equal(fileName("x\u202etxt.csv"), "x-txt.csv");
  assert.equal(fileName("Größe 日本.csv"), "Größe 日本.csv");
  assert.equal(fileName("..."), "answer");
});
