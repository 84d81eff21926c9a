// Which nodes a list has, and in which order.

import type { Network } from "./network.ts";
import { byImportance } from "./shapes.ts";

/** By a column of the list: names, lines that begin, lines that end. */
export interface Order {
  readonly column: number;
  readonly descends: boolean;
}

/** The nodes whose names have a text in them, whatever its case, those with the most lines first. */
export function found(network: Network, text: string): Uint32Array {
  const all = byImportance(network);
  const sought = folded(text);
  return sought === "" ? all : all.filter((node) => folded(network.nodes[node]?.name ?? "").includes(sought));
}

/** Nodes in another order, if one is said. */
export function sorted(network: Network, nodes: Uint32Array, order: Order | undefined): Uint32Array {
  if (order === undefined) return nodes;
  const sign = order.descends ? -1 : 1;
  const { compare } = new Intl.Collator("en", { numeric: true });
  return nodes.slice().sort((a, b) => {
    const [one, other] = [network.nodes[a], network.nodes[b]];
    if (one === undefined || other === undefined) return 0;
    if (order.column === 0) return sign * compare(one.name, other.name);
    return sign * (order.column === 1 ? one.outgoing - other.outgoing : one.incoming - other.incoming);
  });
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
