// The answer to a program.

import { type Table, tableFromIPC } from "apache-arrow";
import type { Answer } from "./call.js";
import { tableOf } from "./encode.js";
import type { ProofTree, Provenance } from "./messages.js";
import { withoutProvenance } from "./provenance.js";
import { Rows } from "./rows.js";
import type { Value } from "./values.js";

export class Result extends Rows {
  /** How many rows there were before a limit. */
  readonly totalCount: number;
  /** Whether a limit left rows out. */
  readonly truncated: boolean;
  /** What ran, but deserves a second look. */
  readonly warnings: readonly string[];
  /** Time on the server, in milliseconds. */
  readonly elapsedMs: number;
  /** The version of the graph that this is the answer at, or from which on what was written is there. */
  readonly version: number | undefined;
  /** Of `.why` and `.why_not`: a proof of each row, in their order. docs/why.md tells what it means. */
  readonly proofTrees: readonly ProofTree[];
  /** What the statements of a program without a query had to say. */
  readonly messages: readonly string[];

  /** Of each row whether it needs something of the session; empty where the session has nothing of its own. */
  readonly provenance: readonly Provenance[];

  constructor(answer: Answer) {
    const { head } = answer;
    const { table, provenance } = tableOfAnswer(answer);
    super(table);
    this.provenance = provenance;
    this.totalCount = head?.total_count ?? this.rowCount;
    this.truncated = head?.truncated ?? false;
    this.warnings = head?.metadata?.warnings ?? [];
    this.elapsedMs = head?.execution_time_ms ?? 0;
    this.version = head?.version;
    this.proofTrees = head?.proof_trees ?? [];
    const isMessages =
      answer.frames === undefined && head?.columns.length === 1 && head.columns[0] === "message";
    this.messages = isMessages ? answer.rows.map(([text]) => String(text)) : [];
  }

  /** The only value; an error on any other shape. */
  scalar(): Value {
    if (this.rowCount !== 1 || this.columns.length !== 1) {
      throw new RangeError(
        `expected one value, found ${this.rowCount} rows of ${this.columns.length} columns`,
      );
    }
    return this.cell(0, 0);
  }
}

function tableOfAnswer({ head, frames, rows }: Answer): { table: Table; provenance: readonly Provenance[] } {
  const names = head?.names ?? head?.columns ?? [];
  if (frames !== undefined) return withoutProvenance(tableOfFrames(frames), names.length);
  return { table: tableOf(names, rows), provenance: [] };
}

/** A table of one Arrow IPC stream. Its columns are views of the bytes that came. */
export function tableOfFrames(frames: readonly Uint8Array<ArrayBuffer>[]): Table {
  const bytes = new Uint8Array(frames.reduce((sum, frame) => sum + frame.length, 0));
  let place = 0;
  for (const frame of frames) {
    bytes.set(frame, place);
    place += frame.length;
  }
  return tableFromIPC(bytes);
}
