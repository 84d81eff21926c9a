// What came in answer to requests: a table, a file, an error, or a sentence.

import { signal } from "@preact/signals";
import type { Diagnostic, StratalogError } from "@stratalog/client";
import { errorOfFailure } from "#client/failure.ts";
import type {
  Provenance,
  ResultChunkMessage,
  ResultEndMessage,
  ResultStartMessage,
} from "#client/messages.ts";
import { count } from "../src/parts/text.ts";
import type { Received, Sent } from "./connection.ts";
import { MOST_ROWS, type Row } from "./rows.ts";
import { parseWritten, textOf } from "./written.ts";

/** What is known of a table beside its rows. */
type About = Pick<
  ResultStartMessage,
  "columns" | "metadata" | "switched_kg" | "truncated" | "total_count" | "execution_time_ms"
> & { row_count: number; row_provenance?: Provenance[] };

export type Answer =
  | { readonly kind: "said"; readonly looks: "good" | "quiet" | "problem"; readonly text: string }
  | { readonly kind: "table"; readonly about: About; readonly rows: readonly Row[] }
  | { readonly kind: "file"; readonly file: Blob; readonly rowCount: number }
  | { readonly kind: "failed"; readonly problem: StratalogError }
  | { readonly kind: "found"; readonly findings: readonly Diagnostic[]; readonly program: string | undefined }
  | { readonly kind: "other"; readonly text: string };

export class Answers {
  readonly last = signal<Answer>({ kind: "said", looks: "quiet", text: "Results and errors appear here." });
  /** What has come of an answer in parts. */
  #parts: Parts | undefined;

  take(received: Received): void {
    if (!("message" in received)) {
      if (received.delta === undefined) this.#parts?.pieces.push(received.bytes);
      return;
    }
    const answer = this.#answer(received);
    if (answer !== undefined) this.last.value = answer;
  }

  #answer({ text, message, request }: Extract<Received, { text: string }>): Answer | undefined {
    switch (message.type) {
      case "result":
        return { kind: "table", about: message, rows: rowsOf(text) };
      case "result_start":
        this.#parts = new Parts(message);
        return said(`Receiving ${count(message.total_count)} rows …`, "quiet");
      case "result_chunk":
        this.#parts?.add(message, text);
        return undefined;
      case "result_end":
        return this.#parts?.end(message);
      case "error":
        return { kind: "failed", problem: errorOfFailure(message, programOf(request)) };
      case "auth_error":
        return said(message.message, "problem");
      case "ack":
        return said(message.message);
      case "subscribed":
        return said(`Subscription ${message.subscription} has begun, and is shown among the live queries.`);
      case "unsubscribed":
        return request && said(`Subscription ${message.subscription} has ended.`);
      case "pong":
        return said("pong");
      case "authenticated":
        return said(`Logged in as ${message.role}; the session is ${message.session_id}.`);
      case "checked":
        return message.diagnostics.length === 0
          ? said("Nothing is wrong with it.")
          : { kind: "found", findings: message.diagnostics, program: programOf(request) };
      case "formatted":
        return { kind: "other", text: message.program };
      default:
        return request && { kind: "other", text: textOf(parseWritten(text)) };
    }
  }
}

class Parts {
  readonly pieces: ArrayBuffer[] = [];
  readonly #start: ResultStartMessage;
  readonly #rows: Row[] = [];
  readonly #provenance: Provenance[] = [];

  constructor(start: ResultStartMessage) {
    this.#start = start;
  }

  /** No more is kept than will be shown. */
  add(chunk: ResultChunkMessage, text: string): void {
    const room = MOST_ROWS - this.#rows.length;
    if (room <= 0) return;
    this.#rows.push(...rowsOf(text).slice(0, room));
    this.#provenance.push(...(chunk.row_provenance ?? []).slice(0, room));
  }

  end({ row_count }: ResultEndMessage): Answer {
    if (this.#start.format === "arrow") {
      const file = new Blob(this.pieces, { type: "application/vnd.apache.arrow.stream" });
      return { kind: "file", file, rowCount: row_count };
    }
    const about = { ...this.#start, row_count, row_provenance: this.#provenance };
    return { kind: "table", about, rows: this.#rows };
  }
}

/** The text that the places of an error are in. */
export function programOf(request: Sent | undefined): string | undefined {
  const program = request?.["program"] ?? request?.["query"] ?? request?.["rule"];
  return typeof program === "string" ? program : undefined;
}

function rowsOf(text: string): readonly Row[] {
  return (parseWritten(text) as { rows: Row[] }).rows;
}

function said(text: string, looks: "good" | "quiet" | "problem" = "good"): Answer {
  return { kind: "said", looks, text };
}
