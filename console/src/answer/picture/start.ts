// Where the nodes stand before they look for their places.
//
// Each part of the graph begins as a tree around its node with the most lines: the forces then have little to untangle. The
// order of the rows does not matter, only the keys of the nodes do: the same answer makes the same picture.

import type { Places } from "./layout.ts";
import { type Network, neighboursOf } from "./network.ts";

/** What is known of the places of nodes, by their keys. */
export type Known = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

/** Nodes are about so far from each other. */
const APART = 12;
/** No two multiples of this angle have one direction. */
const GOLDEN = 2.399963;

/** Where nodes stand in the beginning, and which of those places were known. A node that is new stands beside one that is not. */
export function beginOf(network: Network, known: Known): Places & { readonly isKnown: Uint8Array } {
  const count = network.nodes.length;
  const places = { xs: new Float32Array(count), ys: new Float32Array(count), isKnown: new Uint8Array(count) };
  network.nodes.forEach(({ key }, node) => {
    const place = known.get(key);
    if (place === undefined) return;
    places.xs[node] = place.x;
    places.ys[node] = place.y;
    places.isKnown[node] = 1;
  });
  const isPlaced = places.isKnown.slice();
  besideKnown(network, places, isPlaced);
  asTrees(network, places, isPlaced);
  return places;
}

/** New neighbours of nodes that are known stand in a spiral around them. */
function besideKnown(
  network: Network,
  { xs, ys, isKnown }: ReturnType<typeof beginOf>,
  isPlaced: Uint8Array,
): void {
  for (let node = 0; node < isKnown.length; node += 1) {
    if (isKnown[node] !== 1) continue;
    let turn = 0;
    for (const near of neighboursOf(network, node)) {
      if (isPlaced[near] === 1) continue;
      const distance = APART * Math.sqrt(turn + 2);
      xs[near] = (xs[node] ?? 0) + Math.cos(turn * GOLDEN) * distance;
      ys[near] = (ys[node] ?? 0) + Math.sin(turn * GOLDEN) * distance;
      isPlaced[near] = 1;
      turn += 1;
    }
  }
}

/** A node of a tree, with its children and how many leaves it has. */
interface Branch {
  readonly node: number;
  readonly depth: number;
  readonly children: Branch[];
  leaves: number;
}

/** All others stand as trees, the largest in the middle. */
function asTrees(network: Network, { xs, ys }: Places, isPlaced: Uint8Array): void {
  const trees = treesOf(network, isPlaced);
  let room = 0;
  trees.forEach(({ all, root }, number) => {
    const size = APART * Math.sqrt(all.length);
    const distance = number === 0 ? 0 : room + size;
    const x = Math.cos(number * GOLDEN) * distance;
    const y = Math.sin(number * GOLDEN) * distance;
    room = number === 0 ? size * 2 : Math.hypot(room, size);
    const deepest = Math.max(1, all.at(-1)?.depth ?? 1);
    const spread = (branch: Branch, begin: number, end: number) => {
      const angle = (begin + end) / 2;
      const far = (branch.depth / deepest) * size;
      xs[branch.node] = x + Math.cos(angle) * far;
      ys[branch.node] = y + Math.sin(angle) * far;
      let from = begin;
      for (const child of branch.children) {
        const to = from + ((end - begin) * child.leaves) / branch.leaves;
        stack.push([child, from, to]);
        from = to;
      }
    };
    const stack: [Branch, number, number][] = [[root, 0, 2 * Math.PI]];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) spread(...next);
  });
}

/** For each part of the graph a tree, and its branches from the root outwards. The largest come first. */
function treesOf(network: Network, isPlaced: Uint8Array): { root: Branch; all: Branch[] }[] {
  const { nodes, linesOf } = network;
  const keyOf = (node: number) => nodes[node]?.key ?? "";
  const isBefore = (a: number, b: number) => (keyOf(a) < keyOf(b) ? -1 : 1);
  const lines = (node: number) => linesOf[node]?.length ?? 0;
  const roots = [...nodes.keys()]
    .filter((node) => isPlaced[node] !== 1)
    .sort((a, b) => lines(b) - lines(a) || isBefore(a, b));
  const trees = [];
  for (const node of roots) {
    if (isPlaced[node] === 1) continue;
    isPlaced[node] = 1;
    const root: Branch = { node, depth: 0, children: [], leaves: 1 };
    const all = [root];
    for (const branch of all) {
      for (const near of neighboursOf(network, branch.node).sort(isBefore)) {
        if (isPlaced[near] === 1) continue;
        isPlaced[near] = 1;
        const child = { node: near, depth: branch.depth + 1, children: [], leaves: 1 };
        branch.children.push(child);
        all.push(child);
      }
    }
    for (let place = all.length - 1; place >= 0; place -= 1) {
      const branch = all[place];
      if (branch === undefined || branch.children.length === 0) continue;
      branch.leaves = branch.children.reduce((sum, { leaves }) => sum + leaves, 0);
    }
    trees.push({ root, all });
  }
  return trees.sort((a, b) => b.all.length - a.all.length);
}
