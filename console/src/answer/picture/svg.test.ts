import assert from "node:assert/strict";
import { test } from "node:test";
import { namesOf } from "../testing.ts";
import { networkOf } from "./network.ts";
import { escaped, svgOf } from "./svg.ts";

const colours = {
  panel: "#fff",
  line: "#ddd",
  text: "#111",
  quiet: "#555",
  accent: "#06c",
  bad: "#c00",
  good: "#080",
  warn: "#850",
  variable: "#639",
  font: "sans-serif",
};

test("texts of the answer are text, whatever they hold", () => {
  assert.equal(escaped(`<script>"&'`), "&lt;script&gt;&quot;&amp;&#39;");
  assert.equal(escaped("a\u0000b\ud800c\uffff"), "a\ufffdb\ufffdc\ufffd");
  const bad = '</text><script>alert("1")</script>';
  const network = networkOf(namesOf({ a: [bad], b: ["b"], c: [bad] }), { from: 0, to: 1, label: 2 }, 10);
  const svg = svgOf(network, { xs: Float32Array.of(0, 900), ys: Float32Array.of(0, 0) }, colours);
  assert.ok(!svg.includes("<script"));
  assert.ok(svg.includes("&lt;/text&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"));
});

test("there is a circle for each node and a path for each line", () => {
  const network = networkOf(
    namesOf({ a: ["x", "y", "z"], b: ["y", "z", "z"] }),
    { from: 0, to: 1, label: undefined },
    10,
  );
  const svg = svgOf(network, { xs: Float32Array.of(0, 50, 100), ys: Float32Array.of(0, 80, 0) }, colours);
  assert.equal(svg.match(/<circle /g)?.length, 3);
  assert.equal(svg.match(/<path d="[^"]+"\/>/g)?.length, 3);
  assert.ok(!/NaN|undefined|Infinity/.test(svg));
});

test("a graph of nothing is a picture of nothing", () => {
  const network = networkOf(namesOf({ a: [], b: [] }), { from: 0, to: 1, label: undefined }, 10);
  const svg = svgOf(network, { xs: new Float32Array(0), ys: new Float32Array(0) }, colours);
  assert.ok(svg.startsWith("<svg ") && svg.endsWith("</svg>\n") && !svg.includes("NaN"));
});
