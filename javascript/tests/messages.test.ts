import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { documentOf } from "./document.js";
import { generate } from "./generate.js";
import { serverForTests } from "./harness.js";

const server = await serverForTests();

test("the types of the messages are those of the server's document", async () => {
  const made = await generate(await documentOf(server));
  // If they are not: npm run messages.
  assert.equal(readFileSync(new URL("../src/messages.ts", import.meta.url), "utf8"), made);
});
