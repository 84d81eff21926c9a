// The client of this repository, as it stands: what it offers, and what is within it.

import { fileURLToPath } from "node:url";

const client = (file: string) => fileURLToPath(new URL(`../javascript/src/${file}`, import.meta.url));

export const alias = [
  { find: "@stratalog/client", replacement: client("index.ts") },
  { find: "#socket", replacement: client("socket.web.ts") },
  { find: /^#client\//, replacement: client("") },
];
