// The client as a page gets it: one file, made by esbuild.

import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** The bundle's text. */
export async function bundle(options: { minify?: boolean; external?: string[] } = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [new URL("../tests/page/page.js", import.meta.url).pathname],
    bundle: true,
    format: "esm",
    platform: "browser",
    write: false,
    ...options,
  });
  return outputFiles[0]?.text ?? "";
}

/** Its size when it is minified and compressed, in kB, without Apache Arrow and with it. */
export async function sizes(): Promise<{ alone: number; withArrow: number }> {
  const size = (text: string) => gzipSync(text).length / 1000;
  return {
    alone: size(await bundle({ minify: true, external: ["apache-arrow"] })),
    withArrow: size(await bundle({ minify: true })),
  };
}
