// One query that is watched. Its changes are taken as fast as they come, and shown some times a second.

import { batch, signal } from "@preact/signals";
import { type Client, ConnectionLost, type Live, type LiveChange } from "@stratalog/client";
import type { GridColumn } from "../parts/Grid.tsx";
import type { Session } from "../session/session.ts";
import { RowLine } from "./line.ts";
import { type Entry, type Order, Picture } from "./picture.ts";
import type { Point } from "./scale.ts";

/** Milliseconds from one picture to the next, at least. */
const PAINT_MILLISECONDS = 250;

/** How far it is. `ended` has a problem. */
export type WatchState = "opening" | "open" | "ended";

/** How the connection is; `again` says that it was lost meanwhile. */
export type WatchLink = "open" | "lost" | "again";

/** What has been told. */
export interface Counts {
  readonly version: number;
  /** Rows of the answer. */
  readonly rows: number;
  readonly changes: number;
  readonly came: number;
  readonly went: number;
  /** How often all rows were told anew, beside the first time. */
  readonly resets: number;
  readonly line: readonly Point[];
}

/** What is shown of the rows. */
export interface Shown {
  readonly entries: readonly Entry[];
  /** When it was drawn: what came long before is not marked any more. */
  readonly time: number;
  /** Another number where all rows are others. */
  readonly generation: number;
}

const NOTHING: Counts = { version: 0, rows: 0, changes: 0, came: 0, went: 0, resets: 0, line: [] };

export class Watch {
  readonly id: string;
  readonly query: string;
  readonly state = signal<WatchState>("opening");
  readonly link = signal<WatchLink>("open");
  /** Why it has ended. */
  readonly problem = signal<unknown>(undefined);
  readonly counts = signal<Counts>(NOTHING);
  readonly columns = signal<readonly GridColumn[]>([]);
  readonly shown = signal<Shown>({ entries: [], time: 0, generation: 0 });
  readonly order = signal<Order | undefined>(undefined);
  readonly isPaused = signal(false);
  /** Changes since the picture stands still. */
  readonly waiting = signal(0);
  readonly #session: Session;
  readonly #graph: string;
  readonly #picture = new Picture();
  readonly #line = new RowLine();
  #now = { ...NOTHING };
  #names: readonly string[] = [];
  #waiting = 0;
  #live: Live | undefined;
  /** Which attempt it is: what an earlier one finds is of no use. */
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #painted = 0;
  #lookers = 0;

  constructor(session: Session, graph: string, id: string, query: string) {
    this.#session = session;
    this.#graph = graph;
    this.id = id;
    this.query = query;
    void this.#follow();
  }

  /** Begins again. */
  again(): void {
    this.#live?.close();
    void this.#follow();
  }

  /** Ends it. */
  close(): void {
    this.#attempt += 1;
    this.#live?.close();
    clearTimeout(this.#timer);
  }

  /** The picture stands still, or goes on. */
  pause(isPaused: boolean): void {
    // It stands still as it is now, not as it was when it was drawn last.
    this.#paint();
    this.#waiting = 0;
    batch(() => {
      this.isPaused.value = isPaused;
      this.waiting.value = 0;
    });
    this.#paint();
  }

  /** Somebody looks at the rows, until the answer is called. */
  look(): () => void {
    this.#lookers += 1;
    this.#paint();
    return () => {
      this.#lookers -= 1;
    };
  }

  /** Orders the rows by a column; again, the other way round; again, with the latest first. */
  sortBy(column: number): void {
    const { value } = this.order;
    if (value?.column !== column) this.sort({ column, descends: false });
    else this.sort(value.descends ? undefined : { column, descends: true });
  }

  sort(order: Order | undefined): void {
    this.order.value = order;
    this.#picture.sort(order);
    this.#show(performance.now());
  }

  /** Draws as soon as that may be. */
  draw(): void {
    if (this.#timer !== undefined) return;
    const wait = Math.max(0, this.#painted + PAINT_MILLISECONDS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // Whoever comes back to the page makes it draw.
      if (!document.hidden) this.#paint();
    }, wait);
  }

  /** The page is connected again: what could not be asked meanwhile is asked now. */
  connected(): void {
    if (this.state.peek() === "ended" && this.problem.peek() instanceof ConnectionLost) this.again();
  }

  async #follow(): Promise<void> {
    this.#attempt += 1;
    const attempt = this.#attempt;
    batch(() => {
      this.state.value = "opening";
      this.link.value = "open";
      this.problem.value = undefined;
    });
    try {
      const live = await this.#client().live(this.query);
      if (attempt !== this.#attempt) return live.close();
      this.#live = live;
      live.onState((now) => {
        if (attempt !== this.#attempt || now === "closed") return;
        this.link.value = now === "open" ? "again" : "lost";
      });
      this.state.value = "open";
      for await (const change of live) {
        if (attempt !== this.#attempt) return live.close();
        this.#take(change, live.names);
      }
    } catch (problem) {
      if (attempt !== this.#attempt) return;
      batch(() => {
        this.state.value = "ended";
        this.link.value = "open";
        this.problem.value = problem;
      });
    }
  }

  /** A client that is on the graph: while the page goes over to another one, not both are. */
  #client(): Client {
    const { looking, asking } = this.#session;
    const client = [looking, asking].find(({ kg }) => kg === this.#graph);
    if (client === undefined) throw new Error(`this page is not on ${this.#graph} at the moment`);
    return client;
  }

  #take(change: LiveChange, names: readonly string[]): void {
    const { reset, version, added, removed } = change;
    const now = this.#now;
    const isFirst = now.changes === 0;
    // Versions of a server that was restored begin elsewhere.
    if (reset && version < now.version) this.#line.clear();
    const rows = (reset ? 0 : now.rows) + added.length - removed.length;
    this.#now = {
      version,
      rows,
      changes: now.changes + 1,
      came: now.came + (reset ? 0 : added.length),
      went: now.went + removed.length,
      resets: now.resets + (reset && !isFirst ? 1 : 0),
      line: now.line,
    };
    this.#line.add(version, rows);
    this.#picture.take(change);
    this.#waiting += 1;
    this.#names = names;
    if (this.link.peek() === "again") this.link.value = "open";
    this.draw();
  }

  #paint(): void {
    const start = performance.now();
    batch(() => {
      if (this.isPaused.peek()) {
        this.waiting.value = this.#waiting;
        return;
      }
      this.counts.value = { ...this.#now, line: this.#line.points };
      this.#title(this.#names);
      if (this.#lookers > 0 && this.#picture.settle(start)) this.#show(start);
    });
    // A picture that takes long is drawn less often.
    const end = performance.now();
    this.#painted = end + 10 * (end - start);
    if (this.#lookers > 0 && this.#picture.isMarked && !this.isPaused.peek()) this.draw();
  }

  /** The columns stay the same ones while their names do. */
  #title(names: readonly string[]): void {
    const columns = this.columns.peek();
    if (names.length === columns.length && names.every((name, place) => name === columns[place]?.name))
      return;
    this.columns.value = names.map((name) => ({ name, type: undefined }));
  }

  #show(time: number): void {
    const { entries, generation } = this.#picture;
    this.shown.value = { entries, time, generation };
  }
}
