// The picture as SVG: all of it, with the names that have room. Texts of the answer stand in it as text, and as nothing else.

import type { Colours } from "../useColours.ts";
import { boundsOf, type Camera, fitted, type Size, toScreen } from "./camera.ts";
import { mostNames, Rooms } from "./labels.ts";
import type { Places } from "./layout.ts";
import { labelOf, type Network } from "./network.ts";
import { byImportance, radiusOf } from "./shapes.ts";

const WIDTH = 1600;
const MARGIN = 60;
const TYPE = 13;
/** About as wide as a sign of that type is. */
const SIGN = 7.2;

/** The text of an SVG file. */
export function svgOf(network: Network, places: Places, colours: Colours): string {
  const bounds = boundsOf(places.xs, places.ys);
  const shape = (bounds.bottom - bounds.top) / Math.max(1e-6, bounds.right - bounds.left);
  const size = { width: WIDTH, height: Math.round(WIDTH * Math.min(2, Math.max(0.4, shape))) };
  const camera = fitted(bounds, size, MARGIN, 8);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}"`,
    ` width="${size.width}" height="${size.height}" font-family="sans-serif" font-size="${TYPE}">`,
    `<rect width="100%" height="100%" fill="${escaped(colours.panel)}"/>`,
    `<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">`,
    `<path d="M0 1 8 4 0 7z" fill="${escaped(colours.quiet)}"/></marker></defs>`,
    ...linesOf(network, places, camera, size, colours),
    ...nodesOf(network, places, camera, size, colours),
    ...namesOf(network, places, camera, size, colours),
    "</svg>\n",
  ];
  return parts.join("");
}

function* linesOf(network: Network, places: Places, camera: Camera, size: Size, colours: Colours) {
  const colour = escaped(colours.quiet);
  yield `<g stroke="${colour}" stroke-opacity="0.6" fill="none" marker-end="url(#head)">`;
  const texts: string[] = [];
  for (const line of network.lines) {
    const from = at(line.from, places, camera, size);
    const to = at(line.to, places, camera, size);
    const radius = radiusOf(network, line.to) + 1;
    const [across, down] = [to.x - from.x, to.y - from.y];
    const length = Math.hypot(across, down);
    if (line.from === line.to) {
      const { x, y } = from;
      const [side, up] = [f(radius), f(radius * 3)];
      yield `<path d="M${f(x - radius)} ${f(y)}c-${side} -${up} ${f(radius * 3)} -${up} ${f(radius * 2)} 0"/>`;
    } else if (length > radius) {
      const part = (length - radius) / length;
      yield `<path d="M${f(from.x)} ${f(from.y)} ${f(from.x + across * part)} ${f(from.y + down * part)}"/>`;
    }
    const label = labelOf(line);
    if (label !== "" && length > label.length * SIGN + 30) {
      const [x, y] = [f(from.x + across * 0.45), f(from.y + down * 0.45)];
      texts.push(`<text x="${x}" y="${y}" text-anchor="middle">${escaped(label)}</text>`);
    }
  }
  yield "</g>";
  yield `<g fill="${colour}" font-size="11">${texts.join("")}</g>`;
}

function* nodesOf(network: Network, places: Places, camera: Camera, size: Size, colours: Colours) {
  yield `<g fill="${escaped(colours.accent)}" stroke="${escaped(colours.panel)}">`;
  for (let node = 0; node < network.nodes.length; node += 1) {
    const { x, y } = at(node, places, camera, size);
    const title = escaped(network.nodes[node]?.name ?? "");
    yield `<circle cx="${f(x)}" cy="${f(y)}" r="${f(radiusOf(network, node))}"><title>${title}</title></circle>`;
  }
  yield "</g>";
}

function* namesOf(network: Network, places: Places, camera: Camera, size: Size, colours: Colours) {
  const rooms = new Rooms(size);
  let left = mostNames(size, network.nodes.length) * 2;
  yield `<g fill="${escaped(colours.text)}" stroke="${escaped(colours.panel)}" stroke-width="3" paint-order="stroke">`;
  for (const node of byImportance(network)) {
    if (left === 0) break;
    const name = network.nodes[node]?.name ?? "";
    const { x, y } = at(node, places, camera, size);
    const begin = x + radiusOf(network, node) + 3;
    if (!rooms.take({ left: begin, top: y - TYPE / 2, width: name.length * SIGN, height: TYPE })) continue;
    yield `<text x="${f(begin)}" y="${f(y + TYPE * 0.35)}">${escaped(name)}</text>`;
    left -= 1;
  }
  yield "</g>";
}

function at(node: number, { xs, ys }: Places, camera: Camera, size: Size) {
  return toScreen(camera, size, { x: xs[node] ?? 0, y: ys[node] ?? 0 });
}

/** A number of an attribute. */
function f(value: number): string {
  return String(Math.round(value * 10) / 10);
}

const SIGNS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as XML has it; what XML cannot have at all is a mark that something is missing. */
export function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that XML has not
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd")
      .replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign)
  );
}
