// The picture of the rules: where relations, strata and the edges between them stand. Edges lead from what is
// read to what is derived, from left to right: first what no rule derives, then one stratum after the other, as
// they are evaluated. So a stratum is a band in which there is nothing else.
//
// Nodes have numbers in the layout and not their names: a relation may be called `constructor`.

import { type EdgeLabel, Graph, type GraphLabel, layout, type NodeLabel, type Point } from "@dagrejs/dagre";
import { type Dependencies, howText, type Reading } from "./dependencies.ts";
import { linesOf, loopAt } from "./lines.ts";

/** A relation that is to be drawn. */
export interface PictureRelation {
  readonly name: string;
  /** What stands below the name. */
  readonly about: string;
  /** Undefined of what no rule derives. */
  readonly stratum: number | undefined;
}

/** A place for something: its upper left corner, and how large it is. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PictureNode extends Place {
  readonly relation: PictureRelation;
  /** Its name, cut if it is too long. */
  readonly label: string;
}

export interface PictureEdge {
  readonly reading: Reading;
  /** The line, as an SVG path has it. */
  readonly path: string;
  /** What is said beside it, and where the middle of that is. */
  readonly label: string;
  readonly at: Point;
}

/** A stratum, or without one what no rule derives. */
export interface PictureBox extends Place {
  readonly stratum: number | undefined;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PictureNode[];
  readonly edges: readonly PictureEdge[];
  readonly boxes: readonly PictureBox[];
  /** Which way it is read: column by column, or row by row. */
  readonly reads: "columns" | "rows";
}

export const NODE_HEIGHT = 42;
const LEAST_WIDTH = 76;
/** Above the relations, the strata are named. */
export const TITLE_HEIGHT = 18;
/** Between the edge of a band and what is in it. */
export const BAND_ROOM = 14;
/** What the loop of a relation that reads itself takes above it. */
const LOOP_HEIGHT = 20;
/** Names of more signs are cut. */
const LONGEST_NAME = 30;
/** So wide is a sign of the name, and of what is below it. */
const NAME_SIGN = 7.8;
const ABOUT_SIGN = 6.1;
const LABEL_SIGN = 6.2;

type LayoutGraph = Graph<GraphLabel, NodeLabel, EdgeLabel>;

/** Lays relations out, with those readings that are between them. */
export function pictureOf(relations: readonly PictureRelation[], { readings }: Dependencies): Picture {
  const numbers = new Map(relations.map(({ name }, number) => [name, number]));
  const drawn = readings.filter(({ relation, reads }) => numbers.has(relation) && numbers.has(reads));
  const nodeOf = (name: string) => `n${numbers.get(name)}`;
  const loops = new Set(drawn.filter(isLoop).map(({ relation }) => relation));
  const graph: LayoutGraph = new Graph({});
  const strata = new Map<string, number | undefined>();
  graph.setGraph({
    rankdir: "LR",
    nodesep: 14,
    edgesep: 10,
    ranksep: 52,
    marginx: BAND_ROOM + 6,
    marginy: BAND_ROOM + 4,
    // Which the types do not know.
    ranker: columnsBy(strata) as unknown as "longest-path",
  });
  relations.forEach((relation, number) => {
    const height = NODE_HEIGHT + (loops.has(relation.name) ? 2 * LOOP_HEIGHT : 0);
    graph.setNode(`n${number}`, { width: widthOf(relation), height });
    strata.set(`n${number}`, relation.stratum);
  });
  for (const reading of drawn) {
    if (isLoop(reading)) continue;
    const label = howText(reading.hows);
    const size =
      label === "" ? { width: 0, height: 0 } : { width: textWidth(label, LABEL_SIGN) + 6, height: 16 };
    graph.setEdge(nodeOf(reading.reads), nodeOf(reading.relation), { ...size, labelpos: "c" });
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const nodes = relations.map((relation, number) => ({
    relation,
    label: shortened(relation.name),
    ...placeOf(graph.node(`n${number}`)),
  }));
  const size = { width: finite(width), height: nodes.length === 0 ? 0 : finite(height) + TITLE_HEIGHT };
  return { ...size, nodes, edges: edgesOf(), boxes: boxesOf(nodes, size.height), reads: "columns" };

  function edgesOf(): PictureEdge[] {
    const place = (name: string) => nodes[numbers.get(name) ?? 0] as PictureNode;
    const straight = drawn.filter((reading) => !isLoop(reading));
    const edges = straight.map(({ reads, relation }) => graph.edge(nodeOf(reads), nodeOf(relation)));
    const lines = linesOf(
      straight.map(({ reads, relation }, number) => ({
        from: place(reads),
        to: place(relation),
        between: (edges[number]?.points ?? []).slice(1, -1).map(lowered),
      })),
    );
    const others = straight.map((reading, number) => {
      const { path, middle } = lines[number] ?? { path: "", middle: { x: 0, y: 0 } };
      const { x, y } = edges[number] ?? {};
      const at = x === undefined || y === undefined ? middle : lowered({ x, y });
      return { reading, path, label: howText(reading.hows), at };
    });
    const round = drawn.filter(isLoop).map((reading) => {
      const { path, beside } = loopAt(place(reading.relation), LOOP_HEIGHT);
      return { reading, path, label: howText(reading.hows), at: beside };
    });
    return [...others, ...round];
  }
}

/** Whether a relation reads itself. */
export function isLoop({ relation, reads }: Reading): boolean {
  return relation === reads;
}

/**
 * In which column a node stands: no stratum begins before the one before it has ended. By then the edges that
 * close circles have been turned around, so all lead to the right.
 */
function columnsBy(strata: ReadonlyMap<string, number | undefined>): (graph: LayoutGraph) => void {
  return (graph) => {
    const placed = new Map<string, number>();
    let least = 0;
    const place = (name: string): number => {
      const known = placed.get(name);
      if (known !== undefined) return known;
      let column = least;
      for (const edge of graph.inEdges(name) ?? []) {
        // The layout has a root of its own, which is no relation.
        if (strata.has(edge.v)) column = Math.max(column, place(edge.v) + (graph.edge(edge).minlen ?? 1));
      }
      placed.set(name, column);
      return column;
    };
    // What no rule derives is before all strata.
    const order = [...new Set([...strata.values()].map((stratum) => stratum ?? -1))].sort((a, b) => a - b);
    for (const stratum of order) {
      for (const [name, its] of strata) if ((its ?? -1) === stratum) place(name);
      least = Math.max(-2, ...placed.values()) + 2;
    }
    for (const name of graph.nodes()) graph.node(name).rank = placed.get(name) ?? -2;
  };
}

/** The bands of the strata, from top to bottom. */
function boxesOf(nodes: readonly PictureNode[], height: number): PictureBox[] {
  const sides = new Map<number, [number, number]>();
  for (const { relation, x, width } of nodes) {
    if (relation.stratum === undefined) continue;
    const [left, right] = sides.get(relation.stratum) ?? [Number.POSITIVE_INFINITY, 0];
    sides.set(relation.stratum, [Math.min(left, x), Math.max(right, x + width)]);
  }
  return [...sides]
    .sort(([a], [b]) => a - b)
    .map(([stratum, [left, right]]) => ({
      stratum,
      x: left - BAND_ROOM,
      y: 4,
      width: right - left + 2 * BAND_ROOM,
      height: height - 8,
    }));
}

function placeOf({ x = 0, y = 0, width }: NodeLabel): Place {
  return { x: x - width / 2, y: y - NODE_HEIGHT / 2 + TITLE_HEIGHT, width, height: NODE_HEIGHT };
}

function lowered({ x, y }: Point): Point {
  return { x, y: y + TITLE_HEIGHT };
}

/** The layout of nothing has no size. */
function finite(size: number): number {
  return Number.isFinite(size) && size > 0 ? size : 0;
}

/** How wide a relation is drawn. */
export function widthOf({ name, about }: PictureRelation): number {
  const widest = Math.max(textWidth(shortened(name), NAME_SIGN), textWidth(about, ABOUT_SIGN));
  return Math.max(LEAST_WIDTH, Math.ceil(widest) + 22);
}

/** Signs of Chinese, Japanese and Korean are twice as wide as others. */
function textWidth(text: string, sign: number): number {
  let signs = 0;
  for (const each of text) signs += (each.codePointAt(0) ?? 0) >= 0x2e80 ? 2 : 1;
  return signs * sign;
}

/** A name that has room in the picture. */
export function shortened(name: string): string {
  const signs = [...name];
  return signs.length <= LONGEST_NAME ? name : `${signs.slice(0, LONGEST_NAME - 1).join("")}…`;
}
