// `npm run messages` writes src/messages.ts from the document of a server; with `-- --check` it fails where they differ.

import { readFileSync, writeFileSync } from "node:fs";
import { documentOf } from "./document.js";
import { generate } from "./generate.js";
import { LocalServer } from "./local-server.js";

const FILE = new URL("../src/messages.ts", import.meta.url);

const server = await LocalServer.start();
try {
  const made = await generate(await documentOf(server));
  if (!process.argv.includes("--check")) {
    writeFileSync(FILE, made);
  } else if (made !== readFileSync(FILE, "utf8")) {
    console.error("src/messages.ts is not what the server's document says: npm run messages");
    process.exitCode = 1;
  }
} finally {
  await server.stop();
}
