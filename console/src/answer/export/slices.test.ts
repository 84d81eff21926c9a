import assert from "node:assert/strict";
import { test } from "node:test";
import { inSlices, Pieces } from "./slices.ts";

test("each place is done once, in order", async () => {
  const done: number[] = [];
  await inSlices(1_000, (place) => done.push(place));
  assert.deepEqual(done, [...done.keys()]);
  assert.equal(done.length, 1_000);
});

test("long work is cut, and says how far it is", async () => {
  const told: number[] = [];
  const wait = (milliseconds: number) => {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
  };
  await inSlices(400, () => wait(0.2), { onProgress: (done) => told.push(done) });
  assert.ok(told.length > 2, `${told.length} slices`);
  assert.equal(told.at(-1), 400);
});

// Without an end of its own: a fast machine does a million of these in the first slice.
test("work that is stopped does not go on", { timeout: 60_000 }, async () => {
  const stop = new AbortController();
  let done = 0;
  const work = inSlices(
    Number.POSITIVE_INFINITY,
    () => {
      done += 1;
      if (done === 64) stop.abort(new Error("enough"));
    },
    { signal: stop.signal },
  );
  await assert.rejects(work, /enough/);
});

test("text is kept in pieces, all of it", () => {
  const pieces = new Pieces();
  const line = "x".repeat(1000);
  for (let number = 0; number < 3_000; number += 1) pieces.add(line);
  const whole = pieces.end();
  assert.ok(whole.length > 1);
  assert.equal(whole.join("").length, 3_000_000);
});
