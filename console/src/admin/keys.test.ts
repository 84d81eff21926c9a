import assert from "node:assert/strict";
import test from "node:test";
import { keyCommand } from "./keys.ts";

const NOTHING = { label: "ci", owner: "", expiry: "", at: "", scope: "" };

test("what is not said is not sent", () => {
  assert.equal(keyCommand(NOTHING), ".apikey create ci");
});

test("owner, expiry and scope follow the label", () => {
  assert.equal(
    keyCommand({ ...NOTHING, owner: "ada", expiry: "30d", scope: "read" }),
    ".apikey create ci for ada expires 30d read",
  );
});

test("a moment is sent in UTC", () => {
  const text = keyCommand({ ...NOTHING, expiry: "at", at: "2027-01-31T12:00" });
  const sent = text.replace(".apikey create ci expires ", "");
  assert.match(sent, /^2027-0[12]-\d\dT\d\d:\d\d:00\.000Z$/);
  assert.equal(new Date(sent).getTime(), new Date("2027-01-31T12:00").getTime());
});

test("a moment that is none, and a label that is not one word, are refused", () => {
  assert.throws(() => keyCommand({ ...NOTHING, expiry: "at", at: "" }), RangeError);
  assert.throws(() => keyCommand({ ...NOTHING, label: "two words" }), RangeError);
});
