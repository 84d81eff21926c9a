import assert from "node:assert/strict";
import test from "node:test";
import { howFar } from "./text.ts";

test("how far a query is", () => {
  const begun = { state: "waiting", elapsedMilliseconds: 600, rounds: 0, rows: 0, memoryBytes: 0 } as const;
  assert.equal(howFar(begun), "600 ms, waits for a place");
  const later = {
    ...begun,
    state: "running",
    elapsedMilliseconds: 4_500,
    rounds: 1,
    rows: 3_200_000,
  } as const;
  assert.equal(howFar({ ...later, memoryBytes: 212e6 }), "4.5 s, 1 round, 3,200,000 rows found, 212 MB");
});
