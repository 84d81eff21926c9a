import assert from "node:assert/strict";
import test from "node:test";
import { tellsASecret } from "./secrets.ts";

test("a password is found behind comments, in any line and in any case, and in no text", () => {
  for (const program of [
    ".user create bob some-words viewer",
    "?n(X)\n  .USER password bob some-words",
    "/* new */ .user create bob some-words viewer",
    "// new\n% one\n.user\tpassword some-words",
  ]) {
    assert.ok(tellsASecret(program), program);
  }
  for (const program of [".user list", "?n(X)", "// .user create bob", '+n(".user create bob x viewer")']) {
    assert.ok(!tellsASecret(program), program);
  }
});
