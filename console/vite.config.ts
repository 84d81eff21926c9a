// Builds what the server has in its binary: files with fixed names, so that a build can be compared with the last one.

import preact from "@preact/preset-vite";
import { defineConfig, type Plugin } from "vite";
import { alias } from "./vite.client.ts";

/** The page is `/console`, behind whatever a proxy has before that, and its files are below. */
const below: Plugin = {
  name: "below",
  transformIndexHtml: { order: "post", handler: (html) => html.replaceAll('"./', '"console/') },
};

export default defineConfig({
  base: "./",
  plugins: [preact({ devToolsEnabled: false, prefreshEnabled: false }), below],
  // `npm run dev` beside a server.
  server: { proxy: { "/ws": { target: process.env["STRATALOG_URL"] ?? "ws://127.0.0.1:8080", ws: true } } },
  resolve: { alias, dedupe: ["apache-arrow"] },
  build: {
    outDir: "../server/console",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 800,
    license: { fileName: "licenses.md" },
    rollupOptions: {
      output: {
        entryFileNames: "console.js",
        chunkFileNames: "[name].js",
        assetFileNames: "[name][extname]",
      },
    },
  },
});
