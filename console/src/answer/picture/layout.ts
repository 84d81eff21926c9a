// Where the nodes stand: ForceAtlas2, step by step, so that whoever runs it can stop between two steps.
//
// How many steps there are depends on nothing but the graph, and not on how quick the machine is.

import iterate from "graphology-layout-forceatlas2/iterate.js";
import type { Network } from "./network.ts";

/** A place for each node. */
export interface Places {
  readonly xs: Float32Array;
  readonly ys: Float32Array;
}

/** The numbers that the package keeps of a node, and of an edge. */
const PER_NODE = 10;
const PER_EDGE = 3;
const X = 0;
const Y = 1;
const MASS = 6;
const CONVERGENCE = 7;
const SIZE = 8;
const FIXED = 9;

/** It stands still where a node moves by less than this part of the picture, on average. */
const STILL = 2e-4;
/** With more nodes forces are approximated. */
const MANY = 400;

export class Layout {
  readonly #nodes: Float32Array;
  readonly #edges: Float32Array;
  readonly #settings: Parameters<typeof iterate>[0];
  readonly #most: number;
  readonly #count: number;
  readonly #movable: number;
  #steps = 0;
  #isStill = false;

  /** Begins at places; nodes that are `fixed` keep theirs. */
  constructor(network: Network, places: Places, fixed?: Uint8Array) {
    const count = network.nodes.length;
    this.#count = count;
    this.#movable = fixed === undefined ? count : fixed.reduce((sum, each) => sum - each, count);
    this.#nodes = new Float32Array(count * PER_NODE);
    for (let node = 0; node < count; node += 1) {
      const at = node * PER_NODE;
      this.#nodes[at + X] = places.xs[node] ?? 0;
      this.#nodes[at + Y] = places.ys[node] ?? 0;
      this.#nodes[at + MASS] = 1 + (network.linesOf[node]?.length ?? 0);
      this.#nodes[at + CONVERGENCE] = 1;
      this.#nodes[at + SIZE] = 1;
      this.#nodes[at + FIXED] = fixed?.[node] === 1 ? 1 : 0;
    }
    const lines = network.lines.filter(({ from, to }) => from !== to);
    this.#edges = new Float32Array(lines.length * PER_EDGE);
    lines.forEach(({ from, to }, edge) => {
      this.#edges.set([from * PER_NODE, to * PER_NODE, 1], edge * PER_EDGE);
    });
    this.#settings = {
      linLogMode: false,
      outboundAttractionDistribution: false,
      adjustSizes: false,
      edgeWeightInfluence: 1,
      scalingRatio: 10,
      strongGravityMode: true,
      gravity: 0.05,
      slowDown: 1 + Math.log(Math.max(1, count)),
      barnesHutOptimize: count > MANY,
      barnesHutTheta: 1.2,
    };
    this.#most = fixed === undefined ? stepsFor(count) : Math.min(80, stepsFor(count));
    this.#isStill = count < 2 && fixed === undefined;
  }

  /** Whether there is nothing more to do. */
  get isDone(): boolean {
    return this.#isStill || this.#steps >= this.#most;
  }

  /** Does a step, and writes where the nodes stand then. */
  step(places: Places): void {
    iterate(this.#settings, this.#nodes, this.#edges);
    this.#steps += 1;
    let way = 0;
    let widest = 1;
    for (let node = 0; node < this.#count; node += 1) {
      const x = this.#nodes[node * PER_NODE + X] ?? 0;
      const y = this.#nodes[node * PER_NODE + Y] ?? 0;
      way += Math.abs(x - (places.xs[node] ?? 0)) + Math.abs(y - (places.ys[node] ?? 0));
      widest = Math.max(widest, Math.abs(x), Math.abs(y));
      places.xs[node] = x;
      places.ys[node] = y;
    }
    this.#isStill = this.#steps > 20 && way / Math.max(1, this.#movable) < widest * STILL;
  }

  /** Takes a node that somebody has moved, and leaves it where it is. */
  hold(node: number, x: number, y: number): void {
    this.#nodes.set([x, y], node * PER_NODE);
    this.#nodes[node * PER_NODE + FIXED] = 1;
  }
}

/** More nodes would take more steps, but each takes longer, and nobody sees them one by one. */
function stepsFor(count: number): number {
  if (count <= 500) return 500;
  if (count <= 2_000) return 250;
  return count <= 5_000 ? 150 : 90;
}
