import assert from "node:assert/strict";
import test from "node:test";
import type { Reply } from "#client/messages.ts";
import { Answers } from "./answers.ts";
import type { Received } from "./connection.ts";

function received(message: object, request?: Record<string, unknown>): Received {
  return { text: JSON.stringify(message), message: message as Reply, request };
}

const START = {
  type: "result_start",
  columns: ["X"],
  total_count: 3,
  truncated: false,
  execution_time_ms: 1,
};

test("a table in parts is one", () => {
  const answers = new Answers();
  answers.take(received(START));
  assert.deepEqual(answers.last.value, { kind: "said", looks: "quiet", text: "Receiving 3 rows …" });
  answers.take(received({ type: "result_chunk", rows: [[1], [2]], chunk_index: 0 }));
  // Of what is told between them, nothing is shown.
  answers.take(received({ type: "persistent_update", seq: 1 }));
  answers.take(received({ type: "result_chunk", rows: [[3]], chunk_index: 1 }));
  answers.take(received({ type: "result_end", row_count: 3, chunk_count: 2 }));
  const { last } = answers;
  assert.ok(last.value.kind === "table");
  assert.deepEqual([last.value.rows, last.value.about.row_count], [[[1], [2], [3]], 3]);
});

test("frames of a result are a file, and those of live queries are not in it", async () => {
  const answers = new Answers();
  const bytes = (text: string) => new TextEncoder().encode(text).buffer;
  const delta = { type: "delta" as const, subscription: 1, version: 2, last: true };
  answers.take(received({ ...START, format: "arrow" }));
  answers.take({ bytes: bytes("ab") });
  answers.take({ bytes: bytes("--"), delta });
  answers.take({ bytes: bytes("c") });
  answers.take(received({ type: "result_end", row_count: 3, chunk_count: 2 }));
  const { last } = answers;
  assert.ok(last.value.kind === "file");
  assert.equal(await last.value.file.text(), "abc");
});

test("an error is about the text that was sent", () => {
  const answers = new Answers();
  answers.take(received({ type: "error", code: "parse_error", message: "no" }, { program: "?" }));
  const { last } = answers;
  assert.ok(last.value.kind === "failed");
  assert.deepEqual([last.value.problem.code, last.value.problem.program], ["parse_error", "?"]);
});

test("what was found in a program is shown with it", () => {
  const answers = new Answers();
  const finding = { severity: "warning", code: "parse_error", message: "odd" };
  answers.take(received({ type: "checked", diagnostics: [finding] }, { type: "check", program: "?" }));
  assert.deepEqual(answers.last.value, { kind: "found", findings: [finding], program: "?" });
  answers.take(received({ type: "checked", diagnostics: [] }, { type: "check", program: "?" }));
  assert.deepEqual(answers.last.value, { kind: "said", looks: "good", text: "Nothing is wrong with it." });
});

test("an answer of another kind is shown as it is", () => {
  const answers = new Answers();
  answers.take(received({ type: "formatted", program: "?a(X)" }, { type: "format" }));
  assert.deepEqual(answers.last.value, { kind: "other", text: "?a(X)" });
  answers.take(received({ type: "completions", offers: [] }, { type: "complete" }));
  assert.deepEqual(answers.last.value, { kind: "other", text: '{"type": "completions", "offers": []}' });
});
