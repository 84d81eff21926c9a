// `Client`: a session on the server. `connect` opens it.
//
// What travels is `connection.ts`; here is what can be asked, and what happens when the connection is lost: it is opened
// again, requests that only read are repeated, and all others never are.

import { NativeSocket } from "#socket";
import { type Credentials, loginOf, socketAddress } from "./address.js";
import type { Answer, Call, CallOptions, Reason, Watch, Working } from "./call.js";
import type { Connection } from "./connection.js";
import { type Diagnostic, QueryTimeout } from "./errors.js";
import { Events, type EventsOptions } from "./events.js";
import { LOOK_FIRST } from "./failure.js";
import { type Data, type Inserted, type Pieces, piecesOf } from "./insert.js";
import { Link, type State } from "./link.js";
import { Live, type LiveOptions } from "./live.js";
import type { CheckMessage, CompleteMessage, EvaluationPlace, FormatMessage, Offer } from "./messages.js";
import type { Params } from "./requests.js";
import { execution } from "./requests.js";
import { Result } from "./result.js";
import { onlyReads, Retry, touchesSession } from "./retry.js";
import type { SocketClass } from "./socket.js";
import { ResultStream } from "./stream.js";
import { cancelled, sleep, unlessAborted } from "./time.js";
import { whole } from "./values.js";

export interface ConnectOptions extends Credentials {
  /** The graph; `default` if none is given. */
  kg?: string | undefined;
  /** Milliseconds that opening a connection, and each request, may take. */
  timeout?: number | undefined;
  /** For how many milliseconds it is tried to open a lost connection again; 0 is not at all. */
  reconnect?: number | undefined;
  /** Another implementation of WebSockets than that of the browser, or of the package `ws`. */
  WebSocket?: SocketClass | undefined;
  /** Told each change of `client.state`. */
  onState?: ((state: State) => void) | undefined;
}

export interface RequestOptions {
  /** Milliseconds that it may take; Infinity is as long as the server lets it. */
  timeout?: number | undefined;
  /** Ends the request when it is aborted. */
  signal?: AbortSignal | undefined;
}

export interface QueryOptions extends RequestOptions {
  /** Values of the program's `$names`. */
  params?: Params | undefined;
  /** At most so many rows. */
  limit?: number | undefined;
  /** Where it is evaluated: in the server's memory (`here`), by its cluster, or where it fits (`auto`). */
  place?: EvaluationPlace | undefined;
  /** Told how far it is, twice a second. What it throws ends the request. */
  onProgress?: Watch | undefined;
}

export interface ExecuteOptions extends QueryOptions {
  /** All writes of the program happen, or none. */
  atomic?: boolean | undefined;
  /** The program's rules take the place of those of the same heads that there were before. */
  replaceRules?: boolean | undefined;
  /** It changes nothing, where its text does not show that, as of `.rel`: after a lost connection it is sent again. */
  reads?: boolean | undefined;
}

export interface InsertOptions extends RequestOptions {
  /** `persistent`, or `session` for facts that end with this session. */
  scope?: "persistent" | "session" | undefined;
  /** Names for the places of arrays, or a choice among those of objects. */
  columns?: readonly string[] | undefined;
}

/** Who is logged in, and where. */
export interface Session {
  readonly sessionId: string;
  /** The server's version. */
  readonly version: string;
  readonly role: string;
  /** What the API key opens of what its user may do; undefined where that is all of it. */
  readonly scope: string | undefined;
}

const RECONNECT_MILLISECONDS = 10_000;
const OPEN_MILLISECONDS = 10_000;
/** How much later than the server we notice that the time is over. */
const GRACE_MILLISECONDS = 5_000;
/** A timer takes no more. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Connects and logs in. `url` is `host:port`, `ws://host:port`, `https://host` or the like. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Client> {
  const Socket = options.WebSocket ?? NativeSocket;
  if (Socket === undefined) {
    throw new TypeError("there are no WebSockets here: give an implementation as WebSocket");
  }
  const server = socketAddress(url);
  const link = new Link({
    server,
    login: loginOf(options),
    Socket,
    openMilliseconds: Math.min(limitOf(options.timeout ?? OPEN_MILLISECONDS) ?? LONGEST_TIMER, LONGEST_TIMER),
    reconnectMilliseconds: options.reconnect ?? RECONNECT_MILLISECONDS,
  });
  if (options.onState !== undefined) {
    link.onState(options.onState);
    options.onState(link.state);
  }
  try {
    await link.open(options.kg ?? server.searchParams.get("kg") ?? "default");
  } catch (problem) {
    link.close();
    throw problem;
  }
  return new Client(link, options.timeout);
}

/** A session on the server. Requests run one after the other, in their order; close it when it is not needed any more. */
export class Client {
  readonly #link: Link;
  readonly #timeout: number | undefined;

  /** Clients come from `connect`. */
  constructor(link: Link, timeout: number | undefined) {
    this.#link = link;
    this.#timeout = timeout;
  }

  // State

  /** Where it is connected to. */
  get url(): string {
    return this.#link.place.server.href;
  }

  /** What the server said at login. */
  get session(): Session {
    const { session_id: sessionId, version, role, scope } = this.#link.last.session;
    return { sessionId, version, role, scope };
  }

  /** The name of the graph in use. */
  get kg(): string {
    return this.#link.last.knowledgeGraph;
  }

  /** Whether it is connected. A connection that is lost is opened again at once, and with each request. */
  get state(): State {
    return this.#link.state;
  }

  /** Tells each change of the state from now on; call the answer to hear no more. */
  onState(listener: (state: State) => void): () => void {
    return this.#link.onState(listener);
  }

  // Questions

  /** Runs a program with a query. */
  async query(program: string, options: QueryOptions = {}): Promise<Result> {
    return this.execute(program, options);
  }

  /** Runs any program. Its messages are in the result. */
  async execute(program: string, options: ExecuteOptions = {}): Promise<Result> {
    const message = execution(program, options, this.#milliseconds(options));
    this.#link.ownsFacts ||= touchesSession(program);
    const { call } = await this.#run(
      { program, reads: options.reads ?? onlyReads(program) },
      message,
      options,
    );
    const answer = call.outcome as Answer;
    // Facts and rules of the session do not go along to another graph.
    if (answer.head?.switched_kg !== undefined) this.#link.ownsFacts = false;
    return new Result(answer);
  }

  /**
   * What is wrong with a program on the graph in use, and what deserves a second look. Nothing of it runs, and its parameters may
   * have any value.
   */
  async check(program: string, options: RequestOptions = {}): Promise<readonly Diagnostic[]> {
    const message: CheckMessage = { type: "check", program: whole(program) };
    const text = (id: number) => JSON.stringify({ ...message, id });
    const { call } = await this.#run({ program, reads: true, isAside: true }, text, options);
    return (call.outcome as Answer).found ?? [];
  }

  /** A program in the layout that all programs have: the same statements and comments. Nothing of it runs. */
  async format(program: string, options: RequestOptions = {}): Promise<string> {
    const message: FormatMessage = { type: "format", program: whole(program) };
    const text = (id: number) => JSON.stringify({ ...message, id });
    const { call } = await this.#run({ program, reads: true, isAside: true }, text, options);
    return (call.outcome as Answer).formatted ?? program;
  }

  /**
   * What may be written at a place of a program, for editors; `place` counts as a text of JavaScript does, and is the end of the
   * program if it is not said.
   */
  async complete(
    program: string,
    place = program.length,
    options: RequestOptions = {},
  ): Promise<readonly Offer[]> {
    const offset = new TextEncoder().encode(program.slice(0, place)).length;
    const message: CompleteMessage = { type: "complete", program: whole(program), offset };
    const text = (id: number) => JSON.stringify({ ...message, id });
    const { call } = await this.#run({ program, reads: true, isAside: true }, text, options);
    return (call.outcome as Answer).offers ?? [];
  }

  /** Runs a query whose rows are read while they come, never held as a whole. */
  async stream(program: string, options: QueryOptions = {}): Promise<ResultStream> {
    const message = execution(program, options, this.#milliseconds(options));
    this.#link.ownsFacts ||= touchesSession(program);
    const about = { program, reads: onlyReads(program), streamed: true };
    const { connection, call } = await this.#run(about, message, options);
    return new ResultStream(connection, call, options.signal);
  }

  /** The answer to a query on the graph in use, and how it changes from now on. It has a connection of its own. */
  async live(query: string, options: LiveOptions = {}): Promise<Live> {
    return Live.open(this.#link.place, this.kg, query, options);
  }

  /** What changes on the graph in use, from now on, or from after a number. It has a connection of its own. */
  async events(options: EventsOptions = {}): Promise<Events> {
    return Events.open(this.#link.place, this.kg, options);
  }

  // Writes

  /** Inserts facts: all of them, or none. */
  async insert(relation: string, data: Data, options: InsertOptions = {}): Promise<Inserted> {
    const { scope = "persistent", columns } = options;
    const pieces = piecesOf(data, columns);
    this.#link.ownsFacts ||= scope === "session";
    const message = (id: number) => JSON.stringify({ type: "insert", relation, scope, format: "arrow", id });
    const { call } = await this.#run({ reads: false }, message, options, pieces);
    const result = new Result(call.outcome as Answer);
    const [inserted, duplicates] = [result.column("inserted").get(0), result.column("duplicates").get(0)];
    return {
      inserted: Number(inserted),
      duplicates: Number(duplicates),
      version: result.version,
      warnings: result.warnings,
    };
  }

  // The connection

  /** Switches to another graph; facts and rules of the session are dropped. */
  async use(kg: string): Promise<void> {
    if (!/^\S+$/.test(kg)) throw new TypeError(`${JSON.stringify(kg)} is no name of a graph`);
    await this.execute(`.kg use ${kg}`);
  }

  /** Asks for a sign of life; the milliseconds that it took. */
  async ping(options: RequestOptions = {}): Promise<number> {
    const start = performance.now();
    await this.#run({ reads: true, isAside: true }, (id) => JSON.stringify({ type: "ping", id }), options);
    return performance.now() - start;
  }

  /** Ends the session. What waits for an answer fails. */
  close(): void {
    this.#link.close();
  }

  #milliseconds({ timeout = this.#timeout }: RequestOptions): number | undefined {
    return limitOf(timeout);
  }

  /** Sends a request until it is answered, as often as that is allowed. Throws what the server refused it with. */
  async #run(
    about: CallOptions,
    message: (id: number) => string,
    options: Waiting,
    pieces?: Pieces,
  ): Promise<{ connection: Connection; call: Call }> {
    const { signal } = options;
    const retry = new Retry(this.#link.place.reconnectMilliseconds);
    for (;;) {
      const connection = await unlessAborted(this.#link.connected(about.isAside), signal);
      const call = await connection.send(about, message, { pieces: pieces?.(), signal });
      await finish(connection, call, this.#milliseconds(options), options);
      const { outcome } = call;
      if (!(outcome instanceof Error)) return { connection, call };
      const pause = call.reads || !call.sent ? retry.after(outcome) : undefined;
      if (pause === undefined) throw outcome;
      await unlessAborted(sleep(pause), signal);
    }
  }
}

/** What matters while an answer is waited for. */
type Waiting = Pick<QueryOptions, "timeout" | "signal" | "onProgress">;

/** Waits for the end of a call, or of a stream for its beginning; takes it back when the time is over, or nobody wants it. */
async function finish(
  connection: Connection,
  call: Call,
  milliseconds: number | undefined,
  { signal, onProgress }: Waiting,
): Promise<void> {
  const takeBack = (reason: Reason) => void connection.takeBack(call, reason);
  const { program } = call;
  const abort = () => takeBack((uncertain) => cancelled(signal?.reason, uncertain, program));
  const late = () =>
    takeBack(
      (uncertain) =>
        new QueryTimeout(`no answer within ${milliseconds} ms`, {
          help: uncertain ? LOOK_FIRST : undefined,
          program,
          uncertain,
        }),
    );
  const timer =
    milliseconds === undefined
      ? undefined
      : setTimeout(late, Math.min(milliseconds + GRACE_MILLISECONDS, LONGEST_TIMER));
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  const tell = (working: Working) => {
    if (call.abandoned !== undefined) return;
    try {
      onProgress?.(working);
    } catch (problem) {
      takeBack(() => (problem instanceof Error ? problem : new Error(String(problem))));
    }
  };
  try {
    while (!call.done && !(call.streamed && call.head !== undefined)) {
      await call.news();
      const { working } = call;
      call.working = undefined;
      if (working !== undefined && !call.done) tell(working);
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** A time limit; undefined where there is none. */
function limitOf(timeout: number | undefined): number | undefined {
  if (timeout !== undefined && !(timeout > 0)) {
    throw new RangeError(`timeout is a number of milliseconds, not ${timeout}`);
  }
  return timeout === Number.POSITIVE_INFINITY ? undefined : timeout;
}
