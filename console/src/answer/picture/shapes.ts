// How large nodes are, and which of them matter most: those with many lines.

import type { Network } from "./network.ts";

/** More nodes than this are drawn smaller. */
const CROWD = 400;

/** The radius of a node in pixels, where the picture is seen as a whole. */
export function radiusOf({ nodes, linesOf }: Network, node: number): number {
  const room = Math.max(0.4, Math.min(1, Math.sqrt(CROWD / Math.max(1, nodes.length))));
  return (3 + Math.min(9, 1.3 * Math.log2(1 + (linesOf[node]?.length ?? 0)))) * room;
}

/** The nodes, those with the most lines first. */
export function byImportance(network: Network): Uint32Array {
  const order = Uint32Array.from(network.nodes.keys());
  const lines = Uint32Array.from(network.linesOf, (each) => each.length);
  return order.sort((a, b) => (lines[b] ?? 0) - (lines[a] ?? 0) || a - b);
}
