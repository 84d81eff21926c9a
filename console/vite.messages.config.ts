// Builds the pages at `/` and `/api/ws-docs`, which the server has in its binary: files with fixed names, so that a build can
// be compared with the last one. They are there without the console, and take nothing from below `/console`.

import { fileURLToPath } from "node:url";
import preact from "@preact/preset-vite";
import { defineConfig, type Plugin } from "vite";
import { alias } from "./vite.client.ts";

const script = (file: string) => fileURLToPath(new URL(`messages/${file}`, import.meta.url));

/** A script that is loaded later is loaded, and nothing else: it brings no style sheet of its own. */
const plainly: Plugin = {
  name: "plainly",
  enforce: "pre",
  load: (id) =>
    id.includes("vite/preload-helper") ? "export const __vitePreload = (load) => load();" : null,
};

export default defineConfig({
  base: "./",
  // The HTML is copied as it is: the server fills in the document.
  publicDir: "messages/public",
  plugins: [preact({ devToolsEnabled: false, prefreshEnabled: false }), plainly],
  resolve: { alias },
  build: {
    outDir: "../server/page",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    license: { fileName: "licenses.md" },
    rollupOptions: {
      input: {
        home: script("home.ts"),
        login: script("login.ts"),
        start: script("start.ts"),
      },
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name].js",
        assetFileNames: "[name][extname]",
      },
    },
  },
});
