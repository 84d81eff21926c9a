// A document with one message, for tests.

import { Protocol } from "./asyncapi.ts";

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

export const protocol = new Protocol({
  info: { version: "1.2.3" },
  operations: {
    receiveExecute: {
      action: "receive",
      channel: { $ref: "#/channels/ws" },
      messages: [ref("messages", "execute")],
      reply: { messages: [ref("messages", "pong")] },
    },
    sendPong: { action: "send", channel: { $ref: "#/channels/ws" }, messages: [ref("messages", "pong")] },
    receiveOther: {
      action: "receive",
      channel: { $ref: "#/channels/session" },
      messages: [ref("messages", "pong")],
    },
  },
  components: {
    messages: {
      pong: { title: "pong", summary: "A sign of life.", payload: {}, examples: [] },
      execute: {
        title: "execute",
        summary: "Runs a program.",
        examples: [
          { summary: "A query", payload: { type: "execute", program: "?a(X)", limit: 5, rows: [[1]] } },
        ],
        payload: {
          required: ["type", "program", "scope"],
          properties: {
            type: { const: "execute" },
            program: { type: "string", contentMediaType: "text/x-stratalog", description: "The statements." },
            scope: { allOf: [ref("schemas", "Scope")], description: "Whose it is." },
            secret: ref("schemas", "Secret"),
            limit: { type: "integer" },
            atomic: { type: "boolean" },
            rows: { type: "array" },
            id: { anyOf: [{ type: "integer" }, { type: "string" }] },
          },
        },
      },
    },
    schemas: {
      Scope: { oneOf: [{ const: "persistent" }, { const: "session" }], description: "A scope." },
      Secret: { type: "string", format: "password" },
    },
  },
});

/** The request of the document. */
export const execute = (() => {
  const [request] = protocol.requests;
  if (request === undefined) throw new Error("the document has no request");
  return request;
})();
