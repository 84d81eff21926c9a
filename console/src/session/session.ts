// Who is logged in, and the connections that there are to the server.
//
// Programs run on one of them, whose session has facts and rules of its own. What the page wants to know beside that goes
// over another, so that it need not wait for a long query.

import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import {
  AccessDenied,
  AuthError,
  type Client,
  ConnectionLost,
  type ConnectOptions,
  connect,
  type Events,
  NotFound,
  type State,
} from "@stratalog/client";
import { address, rename, writeAddress } from "./address.ts";
import { type Catalog, emptyCatalog, readCatalog } from "./catalog.ts";

/** A user with a password, or an API key. */
export type Credentials = Pick<ConnectOptions, "user" | "password" | "apiKey">;

/** The session that the page has; none where nobody is logged in. */
export const session = signal<Session | undefined>(undefined);

/** Why nobody is logged in any more. */
export const goodbye = signal<string | undefined>(undefined);

/** For how long a lost connection is looked for: until the server is there again. */
const RECONNECT_MILLISECONDS = 24 * 3600 * 1000;

/** What somebody may do on a graph. */
export type Level = "viewer" | "editor" | "owner";

const LEVELS: readonly Level[] = ["viewer", "editor", "owner"];

/** How far API keys go that do not open all. */
const MOST: Readonly<Record<string, Level>> = { read: "viewer", write: "editor" };

/** What every view gets. */
export interface ViewProps {
  session: Session;
}

export class Session {
  /** Runs the programs of the editor. */
  readonly asking: Client;
  /** Asks everything else. */
  readonly looking: Client;
  /** Who is logged in; of a key, nobody says. */
  readonly user: string | undefined;
  /** The graph in use. */
  readonly graph: Signal<string>;
  /** The graph that it is on its way to; none where it stays. Until it is there, nothing is asked. */
  readonly goal = signal<string | undefined>(undefined);
  /** The graphs that there are for this user. */
  readonly graphs = signal<readonly string[]>([]);
  /** What the user may do on the graph in use; undefined until it is known. */
  readonly level = signal<Level | undefined>(undefined);
  /** How the connection is. */
  readonly state: ReadonlySignal<State>;
  /** What the graph in use has. */
  readonly catalog = signal<Catalog>(emptyCatalog);
  /** Whether the session that asks runs a program. */
  readonly isBusy = signal(false);
  #reading: Promise<void> | undefined;
  #again = false;
  #closed = false;
  /** It knows that its connections end, and another session takes its place. */
  isLeaving = false;
  /** Ends when no connection goes over to another graph. */
  #way: Promise<unknown> = Promise.resolve();
  #events: Events | undefined;
  #subscriptions = 0;
  /** Connections that are being asked why they are lost. */
  readonly #wondering = new Set<Client>();

  constructor(asking: Client, looking: Client, user: string | undefined) {
    this.asking = asking;
    this.looking = looking;
    this.user = user;
    this.graph = signal(asking.kg);
    const state = signal(asking.state);
    this.state = state;
    asking.onState((now) => {
      state.value = now;
    });
    for (const client of [asking, looking]) {
      client.onState((now) => {
        if (now === "lost") void this.#askWhy(client);
      });
    }
  }

  /** The role of the user: `admin`, `editor` or `viewer`. */
  get role(): string {
    return this.asking.session.role;
  }

  /** What the API key opens of what its user may do; undefined where that is all of it. */
  get scope(): string | undefined {
    return this.asking.session.scope;
  }

  /** Whether the user is an administrator here. */
  get isAdmin(): boolean {
    return this.role === "admin" && this.scope === undefined;
  }

  /** Whether the user may create graphs here. */
  get mayCreate(): boolean {
    return this.role !== "viewer" && this.scope === undefined;
  }

  /** Whoever may not be here any more does not come back: the client says so to whoever asks. */
  async #askWhy(client: Client): Promise<void> {
    if (this.#wondering.has(client)) return;
    this.#wondering.add(client);
    try {
      await client.ping({ timeout: RECONNECT_MILLISECONDS });
    } catch (problem) {
      if (this.#closed || this.isLeaving) return;
      const cause = problem instanceof ConnectionLost ? problem.cause : problem;
      if (cause instanceof AccessDenied || cause instanceof AuthError) {
        forget();
        this.close(`You are not logged in any more: ${cause.message}.`);
      } else if (cause instanceof NotFound) {
        // No session can be opened there any more; with what the tab keeps one comes back elsewhere.
        this.close(`${this.graph.peek()} is not there any more, or not for you: log in again.`);
      }
    } finally {
      this.#wondering.delete(client);
    }
  }

  /** Whether the user may do what takes this level on the graph in use. */
  may(least: Level): boolean {
    const level = this.level.value;
    const most = this.scope === undefined ? "owner" : MOST[this.scope];
    const reaches = (had: Level | undefined) =>
      had !== undefined && LEVELS.indexOf(had) >= LEVELS.indexOf(least);
    return reaches(level) && reaches(most);
  }

  /** Goes over to another graph, and follows what changes there. Facts and rules of the session are dropped. */
  async use(graph: string): Promise<void> {
    if (await this.goOver(graph)) await this.begin();
  }

  /** Goes over to another graph, or to where it is wanted meanwhile; whether it has. */
  async goOver(graph: string): Promise<boolean> {
    this.goal.value = graph;
    const way = this.#way.then(() => this.#go(graph));
    this.#way = way.catch(() => false);
    return way;
  }

  /** Both connections go, or none does; whether they have. */
  async #go(graph: string): Promise<boolean> {
    if (this.goal.peek() !== graph) return false;
    const before = this.graph.peek();
    const both = [this.looking, this.asking];
    const arrive = () => {
      if (this.goal.peek() === graph) this.goal.value = undefined;
    };
    try {
      // Whoever is there already, by a program, keeps facts and rules of the session.
      for (const client of both) if (client.kg !== graph) await client.use(graph);
    } catch (problem) {
      for (const client of both) if (client.kg !== before) await client.use(before).catch(() => undefined);
      arrive();
      throw problem;
    }
    batch(() => {
      if (graph !== before) {
        this.graph.value = graph;
        this.catalog.value = emptyCatalog;
        this.level.value = undefined;
      }
      arrive();
    });
    return graph !== before;
  }

  /** The session that asks has gone over to another graph by itself: the others follow. */
  moved(graph: string): void {
    rename(writeAddress({ ...address.peek(), graph }));
  }

  /** Follows what changes on the graph in use. */
  async begin(): Promise<void> {
    // First to hear of changes, then to read: none is missed between.
    await this.#subscribe();
    await this.refresh();
  }

  /** Reads again what the graph in use has. Whoever asks meanwhile gets what is read after that. */
  async refresh(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
      if (this.#again) {
        this.#again = false;
        void this.refresh();
      }
    });
    return this.#reading;
  }

  /** Ends the session. */
  close(why?: string): void {
    this.#closed = true;
    this.#events?.close();
    this.asking.close();
    this.looking.close();
    if (session.peek() === this) {
      batch(() => {
        session.value = undefined;
        goodbye.value = why;
      });
    }
  }

  async #read(): Promise<void> {
    const graph = this.graph.peek();
    const [graphs, level, catalog] = await Promise.allSettled([
      this.looking.execute(".kg list", { reads: true }),
      this.looking.execute(".kg level", { reads: true }),
      readCatalog(this.looking),
    ]);
    if (graph !== this.graph.peek()) return;
    // The connection says of itself how it is; a right that was taken away shows in what is asked for next.
    batch(() => {
      if (graphs.status === "fulfilled")
        this.graphs.value = graphs.value.column("name").toArray().map(String);
      if (level.status === "fulfilled")
        this.level.value = (level.value.cell(0, 0) as Level | null) ?? undefined;
      if (catalog.status === "fulfilled") this.catalog.value = catalog.value;
    });
  }

  /** From now on reads again whenever something has changed, but not more than once a second. */
  async #subscribe(): Promise<void> {
    this.#events?.close();
    this.#subscriptions += 1;
    const number = this.#subscriptions;
    try {
      const events = await this.looking.events();
      if (this.#closed || number !== this.#subscriptions) return events.close();
      this.#events = events;
      void this.#follow(events);
    } catch (problem) {
      console.debug("no events", problem);
    }
  }

  async #follow(events: Events): Promise<void> {
    let isNew = false;
    let isReading = false;
    const read = async () => {
      if (isReading) return;
      isReading = true;
      while (isNew && !events.closed) {
        isNew = false;
        await this.refresh();
        await new Promise((done) => setTimeout(done, 1000));
      }
      isReading = false;
    };
    try {
      for await (const _ of events) {
        isNew = true;
        void read();
      }
    } catch (problem) {
      console.debug("no more events", problem);
    }
  }
}

/** Logs in. */
export async function logIn(credentials: Credentials, graph: string | undefined): Promise<void> {
  const server = new URL("ws", location.href).href;
  const options = { ...credentials, reconnect: RECONNECT_MILLISECONDS };
  const asking = await connect(server, options);
  try {
    const looking = await connect(server, options);
    const opened = new Session(asking, looking, credentials.user);
    // A graph that is not there for this user is said where the user can choose another one.
    if (graph !== undefined) await opened.goOver(graph).catch(() => false);
    batch(() => {
      goodbye.value = undefined;
      session.value = opened;
    });
    await opened.begin();
  } catch (problem) {
    asking.close();
    throw problem;
  }
}

/** Under this name the tab keeps the credentials, if it was asked to. */
const KEPT = "stratalog.credentials";

/** Keeps credentials until the tab is closed. */
export function keep(credentials: Credentials): void {
  inTab((tab) => tab.setItem(KEPT, JSON.stringify(credentials)));
}

/** Forgets credentials, if there are any. */
export function forget(): void {
  inTab((tab) => tab.removeItem(KEPT));
}

/** A browser may keep nothing, or have no place left: then a session ends with the page. */
function inTab<T>(act: (tab: Storage) => T): T | undefined {
  try {
    return act(sessionStorage);
  } catch {
    return undefined;
  }
}

/** Logs in with what the tab has kept; whether it had anything. */
export async function logInAgain(graph: string | undefined): Promise<boolean> {
  const kept = inTab((tab) => tab.getItem(KEPT));
  if (kept === undefined || kept === null) return false;
  try {
    await logIn(JSON.parse(kept) as Credentials, graph);
  } catch (problem) {
    if (problem instanceof AuthError) forget();
    throw problem;
  }
  return true;
}
