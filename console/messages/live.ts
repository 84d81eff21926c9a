// Live queries: for each subscription the rows that its deltas keep current, and what of them came and went.

import { batch, signal } from "@preact/signals";
import type { StratalogError } from "@stratalog/client";
import { errorOfFailure } from "#client/failure.ts";
import type {
  DeltaMessage,
  ProgressMessage,
  Resume,
  SubscribedMessage,
  UnsubscribedMessage,
} from "#client/messages.ts";
import { count, counted } from "../src/parts/text.ts";
import { programOf } from "./answers.ts";
import type { Received, Sent } from "./connection.ts";
import { type Line, Picture } from "./picture.ts";
import { MOST_ROWS, type Row } from "./rows.ts";
import { lineOf, parseWritten } from "./written.ts";

/** Why nothing comes any more. */
export interface Ending {
  readonly looks: "good" | "warning" | "problem";
  readonly words: string;
  readonly problem?: StratalogError;
}

/** The subscriptions of a connection, and those that have ended. */
export class LiveQueries {
  readonly list = signal<readonly LiveQuery[]>([]);
  /** Those that the server tells of, by their numbers. */
  readonly #open = new Map<number, LiveQuery>();

  /** Takes a frame; one that is not about subscriptions changes nothing. */
  take(received: Received): void {
    if (!("message" in received)) {
      const { bytes, delta } = received;
      if (delta !== undefined) this.#open.get(delta.subscription)?.takeBytes(delta, bytes.byteLength);
      return;
    }
    const { text, message, request } = received;
    switch (message.type) {
      case "subscribed":
        this.#begin(message, request);
        return;
      case "delta":
        if (message.format !== "arrow") this.#open.get(message.subscription)?.take(message, text);
        return;
      case "progress":
        for (const query of this.#open.values()) query.progress(message);
        return;
      case "unsubscribed":
        this.#end(message);
        return;
      default:
        return;
    }
  }

  /** The connection is gone, and with it all subscriptions. */
  lost(): void {
    for (const query of this.#open.values())
      query.end({ looks: "warning", words: "The connection is closed." });
    this.#open.clear();
  }

  /** One that has ended is not shown any more. */
  remove(query: LiveQuery): void {
    this.list.value = this.list.peek().filter((each) => each !== query);
  }

  #begin(subscribed: SubscribedMessage, request: Sent | undefined): void {
    const query = new LiveQuery(subscribed, request);
    this.#open.set(subscribed.subscription, query);
    this.list.value = [...this.list.peek(), query];
  }

  #end({ subscription, version, error }: UnsubscribedMessage): void {
    const query = this.#open.get(subscription);
    this.#open.delete(subscription);
    if (error === undefined) {
      query?.end({ looks: "good", words: "Unsubscribed, as you have asked." });
      return;
    }
    const since = version === undefined ? "" : ` since version ${version}`;
    const words = `Unsubscribed: there is no answer any more${since}.`;
    query?.end({ looks: "problem", words, problem: errorOfFailure(error, query.query) });
  }
}

let numbers = 0;

export class LiveQuery {
  /** By which the page tells it from those of other connections. */
  readonly number = ++numbers;
  readonly subscription: number;
  readonly columns: readonly string[];
  readonly query: string;
  /** The parameters as JSON, if there are any. */
  readonly params: string | undefined;
  /** What is drawn; undefined before there is anything. */
  readonly lines = signal<readonly Line[] | undefined>(undefined);
  /** How it is. */
  readonly words = signal("");
  readonly ending = signal<Ending | undefined>(undefined);
  /** Why the rows are not the answer, until all of them are told anew. */
  readonly problem = signal<unknown>(undefined);
  readonly #graph: string;
  readonly #picture = new Picture();
  /** Whether all rows are known. */
  #isWhole: boolean;
  readonly #added: Row[] = [];
  readonly #removed: Row[] = [];
  #isAwaited = false;
  #what = "";

  constructor(subscribed: SubscribedMessage, request: Sent | undefined) {
    const { subscription, columns, knowledge_graph, version, resumed } = subscribed;
    this.subscription = subscription;
    this.columns = columns;
    this.query = programOf(request) ?? "";
    this.params = request?.["params"] ? lineOf(request["params"]) : undefined;
    this.#graph = knowledge_graph;
    this.#isWhole = !resumed;
    const resume = request?.["resume"] as Resume | undefined;
    this.#picture.begin(resumed ? (resume?.version ?? version) : version);
    this.#tell(
      resumed
        ? "goes on; rows of before are not known here, so only those that come and go are shown"
        : "waiting for the first rows",
    );
  }

  /** Takes a part of a change. */
  take(delta: DeltaMessage, text: string): void {
    const part = parseWritten(text) as { added?: Row[]; removed?: Row[] };
    for (const row of part.added ?? []) this.#added.push(row);
    for (const row of part.removed ?? []) this.#removed.push(row);
    if (!delta.last) return;
    try {
      this.#picture.take(delta, this.#added.splice(0), this.#removed.splice(0));
    } catch (problem) {
      this.problem.value = problem;
      return;
    }
    if (delta.reset) {
      this.#isWhole = true;
      this.problem.value = undefined;
    }
    this.#draw();
  }

  /** Takes a change in Arrow, of which only the size is shown. */
  takeBytes({ version }: DeltaMessage, bytes: number): void {
    this.#picture.begin(version);
    this.#tell(
      `${counted(bytes, "byte")} of Arrow say what came and went; rows are shown with the format json`,
    );
  }

  progress({ knowledge_graph, version }: ProgressMessage): void {
    if (knowledge_graph === this.#graph) this.#tell(this.#what, version);
  }

  /** Nothing comes any more: the rows stay, and above them is why. */
  end(ending: Ending): void {
    this.ending.value = ending;
  }

  /** Draws once, however many changes come before the browser shows anything. */
  #draw(): void {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    requestAnimationFrame(() => {
      this.#isAwaited = false;
      batch(() => {
        this.#tell(this.#counted());
        this.lines.value = this.#picture.lines();
      });
    });
  }

  #counted(): string {
    const { rows, came, went } = this.#picture;
    const parts = this.#isWhole ? [counted(rows, "row")] : [];
    if (rows > MOST_ROWS) parts.push(`the first ${MOST_ROWS} are shown`);
    if (came > 0) parts.push(`${count(came)} came`);
    if (went > 0) parts.push(`${count(went)} went`);
    return parts.join(", ");
  }

  /** Says it, and up to which version all is told, where that is later than what came last. */
  #tell(what: string, told = 0): void {
    const { version } = this.#picture;
    this.#what = what;
    const progress = told > version ? `; all is told up to version ${told}` : "";
    this.words.value = `Version ${version}: ${what}${progress}`;
  }
}
