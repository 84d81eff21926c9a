// A server that a test started: on a free port of 127.0.0.1, with a data folder of its own. It is ended by its process id.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, type ConnectOptions, connect } from "@stratalog/client";

/** The administrator's password. */
export const PASSWORD = "correct-horse";

const EXECUTABLE = resolve(process.env["STRATALOG_SERVER"] ?? "../target/release/stratalog-server");
const START_MILLISECONDS = 60_000;

/** Those that run: they end with us, also when a test takes too long and is stopped. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const server of running) server.kill("SIGKILL");
});
process.once("SIGTERM", () => process.exit(1));

export class LocalServer {
  #process: ChildProcess | undefined;
  #port = "0";
  readonly #folder = mkdtempSync(join(tmpdir(), "stratalog-js-"));
  readonly #settings: Record<string, string>;

  private constructor(settings: Record<string, string>) {
    this.#settings = settings;
  }

  /** Starts one; `settings` are variables of its environment. */
  static async start(settings: Record<string, string> = {}): Promise<LocalServer> {
    const server = new LocalServer(settings);
    await server.again();
    return server;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.#port}`;
  }

  /** A client of the administrator. */
  async connect(options: ConnectOptions = {}): Promise<Client> {
    return connect(this.url, { user: "admin", password: PASSWORD, timeout: 60_000, ...options });
  }

  /** Starts it, at the port that it had before. */
  async again(): Promise<void> {
    const path = join(this.#folder, "log");
    const log = openSync(path, "w");
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("SERVICE_"));
    const server = spawn(
      EXECUTABLE,
      ["--host", "127.0.0.1", "--port", this.#port, "--data-dir", join(this.#folder, "data")],
      {
        env: { ...Object.fromEntries(inherited), SERVICE_ADMIN_PASSWORD: PASSWORD, ...this.#settings },
        stdio: ["ignore", "ignore", log],
      },
    );
    closeSync(log);
    this.#process = server;
    running.add(server);
    server.once("exit", () => running.delete(server));
    const failed = once(server, "error").then(([problem]) => {
      throw problem;
    });
    await Promise.race([failed, this.#announced(path, server)]);
  }

  async #announced(path: string, server: ChildProcess): Promise<void> {
    const until = Date.now() + START_MILLISECONDS;
    for (;;) {
      const log = readFileSync(path, "utf8");
      const port = /listening on http:\/\/127\.0\.0\.1:(\d+)\s/.exec(log)?.[1];
      if (port !== undefined) {
        this.#port = port;
        return;
      }
      if (server.exitCode !== null || Date.now() > until) throw new Error(`no server:\n${log}`);
      await sleep(10);
    }
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Kills it, and starts it again. */
  async restart(): Promise<void> {
    await this.kill();
    await this.again();
  }

  /** Stops it in order, and takes its data away. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#process;
    this.#process = undefined;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
  }
}

/** Waits for what something else is about to do. */
export async function until(holds: () => boolean | Promise<boolean>, milliseconds = 60_000): Promise<void> {
  const end = Date.now() + milliseconds;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`it did not become so: ${holds}`);
    await sleep(10);
  }
}
