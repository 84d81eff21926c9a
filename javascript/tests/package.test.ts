import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { bundle, sizes } from "./bundle.js";

test("the bundle is as large as docs/javascript.md says, and has nothing of Node", async () => {
  const page = readFileSync(new URL("../../docs/javascript.md", import.meta.url), "utf8");
  const said = /(\d+) kB compressed, and (\d+) kB with Apache Arrow/.exec(page);
  const { alone, withArrow } = await sizes();
  assert.ok(Math.abs(Number(said?.[1]) - alone) < 1, `${alone} kB`);
  assert.ok(Math.abs(Number(said?.[2]) - withArrow) < 1, `${withArrow} kB`);
  assert.doesNotMatch(await bundle(), /node:|require\("(?:net|tls|http)"\)/);
});

test("the package holds what is built, and nothing else", () => {
  const folder = new URL("..", import.meta.url).pathname;
  const told = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: folder,
    encoding: "utf8",
  });
  const [{ files }] = JSON.parse(told) as [{ files: { path: string }[] }];
  const others = files.map(({ path }) => path).filter((path) => !path.startsWith("dist/"));
  assert.deepEqual(others.sort(), ["LICENSE", "README.md", "package.json"]);
  const licence = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  assert.equal(licence("../LICENSE"), licence("../../LICENSE"));
  assert.ok(files.some(({ path }) => path === "dist/index.d.ts"));
});
