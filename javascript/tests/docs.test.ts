// Every example of docs/javascript.md and of the README, run one after the other. Below an example stands what it prints.
// With UPDATE_GOLDEN=1 that is written; the diff is the review.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import test from "node:test";
import { promisify } from "node:util";
import { serverForTests } from "./harness.js";
import { PASSWORD } from "./local-server.js";

const BLOCK = /^```js\n(.*?)^```\n(?:```text\n(.*?)^```\n)?/gms;
const END = "--- end of example ---";

for (const name of ["docs/javascript.md", "javascript/README.md"]) {
  test(`${name} prints what it says`, async () => {
    const path = new URL(`../../${name}`, import.meta.url);
    const page = readFileSync(path, "utf8");
    const blocks = [...page.matchAll(BLOCK)].map(([, code = "", expected = ""]) => ({ code, expected }));
    assert.ok(blocks.length > 0);
    const server = await serverForTests();
    const printed = await run(
      server.url,
      blocks.map(({ code }) => code),
    );
    if (process.env["UPDATE_GOLDEN"]) {
      let number = 0;
      const shown = page.replace(BLOCK, (_, code: string) => {
        const text = printed[number++] ?? "";
        return `\`\`\`js\n${code}\`\`\`\n${text === "" ? "" : `\`\`\`text\n${text}\`\`\`\n`}`;
      });
      writeFileSync(path, shown);
      return;
    }
    blocks.forEach(({ code, expected }, number) => {
      assert.equal(printed[number], expected, code);
    });
  });
}

/** What each piece of code prints. They share their variables, as at a prompt, so a name may come again. */
async function run(url: string, pieces: string[]): Promise<string[]> {
  const text = pieces
    .map((code) => `${code}\nconsole.log(${JSON.stringify(END)});\n`)
    .join("")
    .replaceAll("ws://127.0.0.1:8080", url)
    .replace(/^(?:const|let) /gm, "var ");
  const file = new URL("example.mjs", import.meta.url);
  writeFileSync(file, text);
  try {
    const env = { ...process.env, STRATALOG_PASSWORD: PASSWORD, NO_COLOR: "1" };
    const { stdout } = await promisify(execFile)(process.execPath, [file.pathname], { env, timeout: 60_000 });
    return stdout.split(`${END}\n`).slice(0, -1);
  } finally {
    rmSync(file);
  }
}
