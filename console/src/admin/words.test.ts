import assert from "node:assert/strict";
import test from "node:test";
import { command, problemOfBackup, problemOfName, problemOfPassword, problemOfWord } from "./words.ts";

test("a command is its words with a blank in between", () => {
  assert.equal(command("user", "role", "ada", "viewer"), ".user role ada viewer");
  assert.equal(command("user", "password", "p(\"';é$%"), ".user password p(\"';é$%");
});

test("what is not one word is refused, and not repeated", () => {
  for (const word of [
    "",
    "two words",
    "a\tb",
    "a\nb",
    "a\u00a0b",
    "//x",
    "/*x",
    "a\u0000",
    "a\u001b[2J",
    "\ud800",
  ]) {
    assert.notEqual(problemOfWord(word), undefined, JSON.stringify(word));
    assert.throws(() => command("user", "password", word), RangeError);
  }
  assert.throws(
    () => command("user", "password", "s3cret word"),
    ({ message }: Error) => !message.includes("s3cret"),
  );
});

test("what has a comment elsewhere is a word", () => {
  for (const word of ["a//b", "http://x", "a/*b", "/x", '"', "a\\", "%"])
    assert.equal(problemOfWord(word), undefined);
});

test("names are those that the server takes", () => {
  for (const name of ["ada", "Ada_1", "ada.l@example.org", "größe", "_", "7", "x".repeat(128)]) {
    assert.equal(problemOfName(name), undefined, name);
  }
  for (const name of ["", "-x", ".x", "a b", "a/b", "a\u0007", 'a"', "..", "a'--", "x".repeat(129)]) {
    assert.notEqual(problemOfName(name), undefined, name);
  }
});

test("passwords are one word of at most 1024 bytes that is not the user's name", () => {
  for (const password of ["analytical", 'a"b', "()[]{}", "größe-€", "x".repeat(1024)]) {
    assert.equal(problemOfPassword(password, "ada"), undefined, password);
  }
  for (const password of ["", "two words", "//slashes", "ada", "é".repeat(513)]) {
    assert.notEqual(problemOfPassword(password, "ada"), undefined, password);
  }
});

test("backups have plain names, and not that of the command that lists them", () => {
  for (const name of ["monday", "2026-11-29", "a.b_c"]) assert.equal(problemOfBackup(name), undefined, name);
  for (const name of ["", ".hidden", "a/b", "list", "LIST", "ö", "x".repeat(129)]) {
    assert.notEqual(problemOfBackup(name), undefined, name);
  }
});
