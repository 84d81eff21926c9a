import assert from "node:assert/strict";
import test from "node:test";
import type { Reply } from "../dist/messages.js";
import { Routing } from "../dist/routing.js";

const reply = (message: object) => message as Reply;

test("an answer goes to the request of its id, until it is complete", () => {
  const routing = new Routing<string>();
  routing.ask(1, "first");
  routing.ask("one", "second");
  assert.equal(routing.take(reply({ type: "pong", id: "one" })), "second");
  for (const type of ["result_start", "result_chunk", "result_end"]) {
    assert.equal(routing.take(reply({ type, id: 1 })), "first");
  }
  assert.equal(routing.take(reply({ type: "error", id: 1 })), undefined);
  assert.deepEqual(routing.waiting, []);
});

test("requests of the same id, or of none, are answered in their order", () => {
  const routing = new Routing<string>();
  for (const request of ["a", "b"]) routing.ask(undefined, request);
  for (const request of ["c", "d"]) routing.ask(7, request);
  const answered = [undefined, 7, 7, undefined].map((id) =>
    routing.take(reply(id === undefined ? { type: "pong" } : { type: "pong", id })),
  );
  assert.deepEqual(answered, ["a", "c", "d", "b"]);
});

test("what is told unasked answers nothing, also where a request without an id waits", () => {
  const routing = new Routing<string>();
  routing.ask(undefined, "waits");
  for (const message of [
    { type: "persistent_update", seq: 4 },
    { type: "delta", subscription: 1, version: 2, last: true },
    { type: "progress", knowledge_graph: "default", version: 2 },
    { type: "unsubscribed", subscription: 1, error: { code: "not_found", message: "" } },
    { type: "error", code: "overloaded", message: "", gap: { from: 1, to: 2 } },
  ]) {
    assert.equal(routing.take(reply(message)), undefined, message.type);
  }
  assert.deepEqual(routing.waiting, ["waits"]);
  assert.equal(routing.take(reply({ type: "unsubscribed", subscription: 1 })), "waits");
});

test("a binary frame is rows of what was announced last", () => {
  const routing = new Routing<string>();
  assert.deepEqual(routing.takeBytes(), { request: undefined });
  routing.ask(1, "stream");
  routing.ask(2, "ping");
  routing.take(reply({ type: "result_start", id: 1, format: "arrow" }));
  assert.deepEqual(routing.takeBytes(), { request: "stream" });
  const delta = { type: "delta", subscription: 3, version: 9, format: "arrow", last: true };
  routing.take(reply(delta));
  assert.deepEqual(routing.takeBytes(), { delta });
  // What is answered between its frames does not end it.
  routing.take(reply({ type: "pong", id: 2 }));
  assert.deepEqual(routing.takeBytes(), { request: "stream" });
  routing.take(reply({ type: "result_end", id: 1 }));
  assert.deepEqual(routing.takeBytes(), { request: undefined });
});
