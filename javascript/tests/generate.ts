// TypeScript for the server's AsyncAPI document: an interface for each message and each schema.

import { compile, type JSONSchema } from "json-schema-to-typescript";
import { parse } from "yaml";

interface Document {
  operations: Record<string, { action: string; messages: { $ref: string }[] }>;
  components: { messages: Record<string, { summary: string; payload: JSONSchema }>; schemas: Schemas };
}
type Schemas = Record<string, JSONSchema>;

const HEADER = `// The messages of the protocol, made by \`npm run messages\` from the server's /api/asyncapi.yaml. Not to be edited.

import type { Cell } from "./json.js";
`;

/** The file `src/messages.ts` for a document. */
export async function generate(yaml: string): Promise<string> {
  const document = parse(yaml) as Document;
  const { messages, schemas } = document.components;
  const kinds = Object.keys(messages).filter((kind) => kind !== "arrow");
  const taken = new Set(
    Object.values(document.operations)
      .filter(({ action }) => action === "receive")
      .flatMap(({ messages }) => messages.map(({ $ref }) => $ref.split("/").at(-1) ?? "")),
  );
  const definitions: Schemas = { ...schemas, Value: { tsType: "Cell" } };
  for (const kind of kinds) {
    const message = messages[kind];
    definitions[nameOf(kind)] = { ...message?.payload, description: message?.summary ?? "" };
  }
  const either = (wanted: boolean) =>
    kinds.filter((kind) => taken.has(kind) === wanted).map((kind) => ({ $ref: reference(nameOf(kind)) }));
  definitions["Request"] = { description: "What a client sends.", oneOf: either(true) };
  definitions["Reply"] = { description: "What a server sends.", oneOf: either(false) };
  const root = { definitions, oneOf: [{ $ref: reference("Request") }, { $ref: reference("Reply") }] };
  const text = await compile(
    JSON.parse(JSON.stringify(root).replaceAll("#/components/schemas/", "#/definitions/")),
    "Message",
    {
      additionalProperties: false,
      bannerComment: HEADER,
      format: true,
      style: { printWidth: 110 },
    },
  );
  return text;
}

function reference(name: string): string {
  return `#/definitions/${name}`;
}

/** `ResultStartMessage` for `result_start`. */
function nameOf(kind: string): string {
  const words = kind.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join("")}Message`;
}
