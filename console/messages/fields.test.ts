import assert from "node:assert/strict";
import test from "node:test";
import { fieldsOf, jsonOf, messageText, reading } from "./fields.ts";
import { Form, WrongField } from "./form.ts";
import { execute, protocol } from "./testing.ts";

const fields = fieldsOf(execute, protocol);

test("the document tells the messages that can be sent, and what is secret", () => {
  assert.deepEqual(
    protocol.requests.map(({ kind, answers }) => [kind, answers.map(({ title }) => title)]),
    [["execute", ["pong"]]],
  );
  assert.deepEqual([...protocol.secrets], ["secret"]);
  assert.equal(protocol.version, "1.2.3");
});

test("a field is made from its schema, with what is named elsewhere", () => {
  assert.deepEqual(
    fields.map(({ name, kind, isRequired, isFolded }) => [name, kind, isRequired, isFolded]),
    [
      ["program", "program", true, false],
      ["scope", "choice", true, false],
      ["secret", "secret", false, true],
      ["limit", "integer", false, true],
      ["atomic", "flag", false, true],
      ["rows", "json", false, false],
      ["id", "text-or-number", false, true],
    ],
  );
  const scope = fields.find(({ name }) => name === "scope");
  assert.deepEqual([scope?.about, scope?.choices], ["Whose it is.", ["persistent", "session"]]);
});

test("what is typed is sent as it is typed", () => {
  assert.equal(
    jsonOf("json", ' [2.0,\n 9007199254740993, {"a":1,"a":2}] '),
    '[2.0, 9007199254740993, {"a":1,"a":2}]',
  );
  assert.equal(jsonOf("integer", " 007 "), "007");
  assert.equal(jsonOf("program", " ?a(X)\n"), '" ?a(X)\\n"');
  assert.equal(jsonOf("line", ""), '""');
  assert.deepEqual(
    ["12", "-3", "012", "a b", ""].map((text) => jsonOf("text-or-number", text)),
    ["12", "-3", '"012"', '"a b"', undefined],
  );
  assert.deepEqual(
    [jsonOf("flag", ""), jsonOf("choice", ""), jsonOf("json", " ")],
    [undefined, undefined, undefined],
  );
  assert.throws(() => jsonOf("integer", "1.5"), /a whole number is needed/);
  assert.throws(() => jsonOf("json", "[1"), /this is not JSON/);
});

test("a message has the fields that are given, in the order of the document", () => {
  const { given, problems } = reading("execute", fields, {
    id: "7",
    atomic: "true",
    program: "?a(X)",
    scope: "",
  });
  assert.equal(messageText(given), '{"type":"execute","program":"?a(X)","secret":"","atomic":true,"id":7}');
  assert.deepEqual([...problems], [["scope", "this is needed"]]);
});

test("a form shows an example, numbers what is sent, and says which field is wrong", () => {
  const form = new Form(protocol);
  assert.deepEqual([form.typed.value["scope"], form.typed.value["id"]], ["persistent", "1"]);
  form.show("0");
  assert.equal(
    messageText(form.read()),
    '{"type":"execute","program":"?a(X)","scope":"persistent","secret":"","limit":5,"rows":[[1]],"id":2}',
  );
  form.sent();
  assert.equal(form.typed.value["id"], "3");
  form.type("id", "mine");
  form.sent();
  assert.equal(form.typed.value["id"], "mine");
  form.type("limit", "many");
  assert.throws(
    () => form.read(),
    (problem) => problem instanceof WrongField && problem.field.name === "limit",
  );
});
