// The graph that an answer makes: a node for each value of two columns, an edge for each row.
//
// Rows between the same nodes are one line with several labels. Nodes are known by what makes values the same on the
// server, so that 1 and 1.0 are two.

import type { Column, ColumnType, Rows, Value } from "@stratalog/client";
import { textOf } from "../../parts/text.ts";

/** Which columns stand for what, by their places. */
export interface Ends {
  readonly from: number;
  readonly to: number;
  readonly label: number | undefined;
}

export interface Node {
  readonly key: string;
  readonly value: Value;
  readonly type: ColumnType | undefined;
  readonly name: string;
  /** Lines that begin here, and lines that end here. */
  outgoing: number;
  incoming: number;
}

export interface Line {
  readonly from: number;
  readonly to: number;
  /** The first different labels, and how many there are beyond. */
  readonly labels: string[];
  further: number;
}

export interface Network {
  readonly nodes: readonly Node[];
  readonly lines: readonly Line[];
  /** The place of a node, by its key. */
  readonly places: ReadonlyMap<string, number>;
  /** Of each node, the lines that it has. */
  readonly linesOf: readonly (readonly number[])[];
  /** Rows of the answer that are in the picture, and how many there were to be taken. */
  readonly taken: number;
  readonly rows: number;
  /** Rows that were passed over, as one of their ends is null. */
  readonly without: number;
}

/** Of the labels of a line so many are kept. */
const LABELS = 3;
const LABEL = 40;
const NAME = 60;
/** A pair of nodes is one number. */
const PAIR = 2 ** 26;

/** The graph of the first `most` rows of an answer, and of all rows of further ones of the same columns. */
export function networkOf(
  answer: Rows,
  ends: Ends,
  most: number,
  further: readonly Rows[] = [],
  write: (text: string) => string = (text) => text,
): Network {
  const build = new Build(ends, write);
  let taken = 0;
  let without = 0;
  for (let row = 0; row < answer.rowCount && taken < most; row += 1) {
    if (build.add(answer, row)) taken += 1;
    else without += 1;
  }
  for (const rows of further) for (let row = 0; row < rows.rowCount; row += 1) build.add(rows, row);
  return { ...build.whole(), taken, rows: answer.rowCount, without };
}

class Build {
  readonly #ends: Ends;
  readonly #write: (text: string) => string;
  readonly #nodes: Node[] = [];
  readonly #lines: Line[] = [];
  readonly #places = new Map<string, number>();
  readonly #pairs = new Map<number, Line>();

  constructor(ends: Ends, write: (text: string) => string) {
    this.#ends = ends;
    this.#write = write;
  }

  /** Takes a row; false if one of its ends is null. */
  add(rows: Rows, row: number): boolean {
    const begin = rows.columns[this.#ends.from];
    const end = rows.columns[this.#ends.to];
    const values = [begin?.get(row) ?? null, end?.get(row) ?? null] as const;
    if (begin === undefined || end === undefined || values[0] === null || values[1] === null) return false;
    const from = this.#node(begin, row, values[0]);
    const to = this.#node(end, row, values[1]);
    let line = this.#pairs.get(from * PAIR + to);
    if (line === undefined) {
      line = { from, to, labels: [], further: 0 };
      this.#pairs.set(from * PAIR + to, line);
      this.#lines.push(line);
    }
    const labels = this.#ends.label === undefined ? undefined : rows.columns[this.#ends.label];
    if (labels === undefined) return true;
    const label = this.#write(textOf(labels.get(row), LABEL));
    if (line.labels.includes(label)) return true;
    if (line.labels.length < LABELS) line.labels.push(label);
    else line.further += 1;
    return true;
  }

  #node(column: Column, row: number, value: Value): number {
    const key = column.key(row);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const name = this.#write(textOf(value, NAME));
    this.#places.set(key, this.#nodes.length);
    this.#nodes.push({ key, value, type: column.type, name, outgoing: 0, incoming: 0 });
    return this.#nodes.length - 1;
  }

  whole(): Pick<Network, "nodes" | "lines" | "places" | "linesOf"> {
    const nodes = this.#nodes;
    const linesOf: number[][] = nodes.map(() => []);
    this.#lines.forEach(({ from, to }, line) => {
      const [begin, end] = [nodes[from], nodes[to]];
      if (begin === undefined || end === undefined) return;
      begin.outgoing += 1;
      end.incoming += 1;
      linesOf[from]?.push(line);
      if (from !== to) linesOf[to]?.push(line);
    });
    return { nodes, lines: this.#lines, places: this.#places, linesOf };
  }
}

/** What a line says. */
export function labelOf({ labels, further }: Line): string {
  return `${labels.join(", ")}${further > 0 ? ", …" : ""}`;
}

/** The nodes beside a node, each once, in the order of its lines. */
export function neighboursOf({ lines, linesOf }: Network, node: number): number[] {
  const found = new Set<number>();
  for (const place of linesOf[node] ?? []) {
    const line = lines[place];
    if (line !== undefined) found.add(line.from === node ? line.to : line.from);
  }
  found.delete(node);
  return [...found];
}

/** Types of columns whose values are rarely things of their own. */
const MEASURES: readonly ColumnType[] = [
  "float",
  "bool",
  "timestamp",
  "vector",
  "vector_int8",
  "list",
  "null",
];

/** The columns that somebody has chosen, by their names, or else a guess; none where there are fewer than two. */
export function endsOf(answer: Rows, values: Readonly<Record<string, string>>): Ends | undefined {
  if (answer.columns.length < 2) return undefined;
  const chosen = (name: string) => {
    const place = answer.columns.findIndex((column) => column.name === values[name]);
    return place < 0 ? undefined : place;
  };
  const all = [...answer.columns.keys()];
  const things = all.filter((place) => !MEASURES.includes(answer.columns[place]?.type ?? "null"));
  const guesses = [...things, ...all.filter((place) => !things.includes(place))];
  const chosenTo = chosen("to");
  const from = chosen("from") ?? guesses.find((place) => place !== chosenTo) ?? 0;
  const to = chosenTo ?? guesses.find((place) => place !== from) ?? 1;
  // Of three columns, the one that is left says what an edge is.
  const left = answer.columns.length === 3 ? all.find((place) => place !== from && place !== to) : undefined;
  const label = values["label"] === "" ? undefined : (chosen("label") ?? left);
  return { from, to, label };
}
