// The connection of a client, which is opened again when it is lost.
//
// That begins at once, so that the session with its facts and rules is found again within the minute that it is kept.

import { graphAddress, type Login, sessionAddress } from "./address.js";
import { Connection } from "./connection.js";
import { AccessDenied, ConnectionLost, NotFound, Overloaded, SessionLost } from "./errors.js";
import { Retry } from "./retry.js";
import type { SocketClass } from "./socket.js";
import { sleep } from "./time.js";

/** What a page may want to show. */
export type State = "connecting" | "open" | "lost" | "closed";

/** Where to connect, as whom, and how long to try. */
export interface Place {
  server: URL;
  login: Login;
  Socket: SocketClass;
  /** For how long a connection may take to open. */
  openMilliseconds: number;
  /** For how long it is tried to open a lost one again. */
  reconnectMilliseconds: number;
}

export class Link {
  readonly place: Place;
  #connection: Connection | undefined;
  #opening: Promise<Connection> | undefined;
  #retry = new Retry(0);
  #state: State = "connecting";
  readonly #listeners = new Set<(state: State) => void>();
  readonly #closed = new AbortController();
  /** Whether the session may hold facts or rules of its own. */
  ownsFacts = false;
  /** Whether it did, and nobody has been told yet that they are gone. */
  #sessionLost = false;

  constructor(place: Place) {
    this.place = place;
  }

  /** The first connection; it is tried once. */
  async open(kg: string): Promise<void> {
    const connection = await this.#connect(graphAddress(this.place.server, kg));
    this.#adopt(connection);
  }

  get state(): State {
    return this.#state;
  }

  /** Tells each change of the state from now on; the answer ends that. */
  onState(listener: (state: State) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The connection as it is, or was. */
  get last(): Connection {
    if (this.#connection === undefined) throw new ConnectionLost("not logged in");
    return this.#connection;
  }

  /**
   * A connection that is open; opened again if it was lost. That facts and rules of the session are gone is told to whoever asks
   * next, unless that `isAside`.
   */
  async connected(isAside = false): Promise<Connection> {
    let connection = this.last;
    if (!connection.alive) {
      if (this.#closed.signal.aborted) throw closed();
      if (this.place.reconnectMilliseconds <= 0 || connection.dismissal !== undefined) {
        throw new ConnectionLost(connection.ending, { cause: connection.dismissal });
      }
      connection = await this.#reopened();
    }
    if (this.#sessionLost && !isAside) {
      this.#sessionLost = false;
      throw new SessionLost("connected again, but facts and rules of the session are gone");
    }
    return connection;
  }

  close(): void {
    this.#closed.abort();
    this.#connection?.close();
    this.#become("closed");
  }

  #reopened(): Promise<Connection> {
    this.#retry.extend(this.place.reconnectMilliseconds);
    this.#opening ??= this.#reopen().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #reopen(): Promise<Connection> {
    this.#retry = new Retry(this.place.reconnectMilliseconds);
    for (;;) {
      if (this.#closed.signal.aborted) throw closed();
      this.#become("connecting");
      try {
        const { connection, isSame } = await this.#again(this.last);
        this.#adopt(connection);
        if (!isSame && this.ownsFacts) this.#sessionLost = true;
        if (!isSame) this.ownsFacts = false;
        return connection;
      } catch (problem) {
        this.#become("lost");
        if (!(problem instanceof ConnectionLost || problem instanceof Overloaded)) throw problem;
        const pause = this.#retry.pause(problem.retryAfter);
        if (pause === undefined) throw problem;
        await sleep(pause, this.#closed.signal);
      }
    }
  }

  /** Another connection, to the same session if it is still there; whether it is. */
  async #again(lost: Connection): Promise<{ connection: Connection; isSame: boolean }> {
    const { server } = this.place;
    const session = sessionAddress(server, lost.session.session_id);
    let isRefused = false;
    try {
      return { connection: await this.#connect(session), isSame: true };
    } catch (problem) {
      isRefused = problem instanceof NotFound || problem instanceof AccessDenied;
      if (!isRefused && !(problem instanceof ConnectionLost)) throw problem;
    }
    const connection = await this.#connect(graphAddress(server, lost.knowledgeGraph));
    if (isRefused) return { connection, isSame: false };
    // A browser does not tell a session that is gone from a server that could not be reached. Now it can be.
    try {
      const again = await this.#connect(session);
      connection.close();
      return { connection: again, isSame: true };
    } catch {
      return { connection, isSame: false };
    }
  }

  async #connect(url: string): Promise<Connection> {
    const { login, Socket, openMilliseconds } = this.place;
    let connection: Connection | undefined;
    const onEnd = () => {
      // One that ends before it is adopted is none of ours.
      if (connection !== undefined && connection === this.#connection) this.#ended(connection);
    };
    connection = await Connection.open(url, login, Socket, openMilliseconds, onEnd);
    return connection;
  }

  #adopt(connection: Connection): void {
    if (this.#closed.signal.aborted) {
      connection.close();
      throw closed();
    }
    this.#connection = connection;
    if (connection.alive) this.#become("open");
    else this.#ended(connection);
  }

  #ended(connection: Connection): void {
    if (this.#closed.signal.aborted) return;
    this.#become("lost");
    if (this.place.reconnectMilliseconds <= 0 || connection.dismissal !== undefined) return;
    // What comes of it is told to whoever asks next.
    this.#reopened().catch(() => {});
  }

  #become(state: State): void {
    if (state === this.#state || this.#state === "closed") return;
    this.#state = state;
    for (const listener of this.#listeners) {
      try {
        listener(state);
      } catch (problem) {
        // What is wrong with a listener must not end ours.
        queueMicrotask(() => {
          throw problem;
        });
      }
    }
  }
}

function closed(): ConnectionLost {
  return new ConnectionLost("the client is closed");
}
