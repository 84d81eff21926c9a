import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf } from "./places.ts";

test("bytes are counted as the server counts them", () => {
  const text = 'é("𝔘")a€';
  assert.equal(placeOf(text, 0), 0);
  assert.equal(placeOf(text, 2), 1);
  assert.equal(placeOf(text, 4), 3);
  assert.equal(placeOf(text, 8), 5);
  assert.equal(placeOf(text, 10), 7);
  assert.equal(placeOf(text, 99), text.length);
});
