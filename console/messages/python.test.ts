import assert from "node:assert/strict";
import test from "node:test";
import { asPython, literal } from "./python.ts";

const opened = { url: "ws://host:1", kg: "", user: "zoë", byKey: false };

test("a literal of Python keeps numbers, and text of several lines readable", () => {
  assert.equal(literal('[2.0, true, null, "true", "a\\"b"]'), '[2.0, True, None, "true", "a\\"b"]');
  assert.equal(literal('"?a(X)\\n?b(X)"'), '"""\\\n?a(X)\n?b(X)"""');
  assert.equal(literal('"a\\\\\\nb"'), '"a\\\\\\nb"');
});

test("what the client has a call for is that call", () => {
  const given = new Map([
    ["type", '"execute"'],
    ["program", '"?a(X)"'],
    ["params", '{"a": 2.0}'],
    ["timeout_ms", "2000"],
  ]);
  assert.equal(
    asPython(given, { ...opened, kg: "mine" }),
    [
      "import os",
      "",
      "import stratalog",
      "",
      'with stratalog.connect("ws://host:1", user="zoë", password=os.environ["STRATALOG_PASSWORD"], kg="mine") as db:',
      '    print(db.query("?a(X)", {"a": 2.0}, timeout=2))',
      "",
    ].join("\n"),
  );
});

test("all else is its frames", () => {
  const given = new Map([
    ["type", '"cancel"'],
    ["target", "7"],
  ]);
  const text = asPython(given, { ...opened, byKey: true, kg: "a b" });
  assert.match(text, /connect\("ws:\/\/host:1\/ws\?kg=a%20b"/);
  assert.match(text, /json\.dumps\(\{"type": "cancel", "target": 7\}\)/);
  assert.match(text, /"api_key": os\.environ\["SERVICE_API_KEY"\]/);
});
