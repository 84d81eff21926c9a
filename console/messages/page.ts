// What the page knows and does: it connects, logs in, sends what is written, and hands on what comes.

import { batch, computed, signal } from "@preact/signals";
import type { Reply } from "#client/messages.ts";
import { Answers } from "./answers.ts";
import type { Protocol } from "./asyncapi.ts";
import { Connection, type LinkState, type Received, type Sent } from "./connection.ts";
import { messageText } from "./fields.ts";
import { Form } from "./form.ts";
import { Frames } from "./frames.ts";
import { LiveQueries } from "./live.ts";
import { asPython } from "./python.ts";

/** What somebody logs in with: the name of the message that does it. */
export type Way = "login" | "authenticate";

/** What the page was opened with. */
export interface Credentials {
  key?: string;
  user?: string;
  password?: string;
}

/** How large the pieces of an upload are. */
const PIECE = 1 << 20;

export class Page {
  readonly protocol: Protocol;
  readonly form: Form;
  readonly frames = new Frames();
  readonly answers = new Answers();
  readonly live = new LiveQueries();
  /** How the connection is: as one who is logged in it is `ready`. */
  readonly state = signal<LinkState | "ready">("closed");
  readonly words = signal("not connected");
  /** Whether the form to connect with is unfolded. */
  readonly isConnecting = signal(true);
  readonly address = signal(
    new URL("../ws", location.href).href.replace(/^http/, "ws").replace(/[?#].*$/, ""),
  );
  /** Why the address is none. */
  readonly wrongAddress = signal("");
  readonly kg = signal("");
  readonly way = signal<Way>("login");
  readonly user = signal("");
  readonly password = signal("");
  readonly key = signal("");
  /** What there is to say of what somebody has just done. */
  readonly told = signal("");
  /** Another number whenever the answer is to be brought into view. */
  readonly looks = signal(0);
  /** The message as a Python program; nothing where it cannot be sent. */
  readonly python = computed(() => this.#python());
  readonly #connection: Connection;
  /** How the session was opened. */
  readonly #login = signal({ byKey: false, user: "admin" });
  #asked: Sent | undefined;

  constructor(protocol: Protocol, credentials: Credentials) {
    this.protocol = protocol;
    this.form = new Form(protocol);
    this.#connection = new Connection({
      state: (state, words) => this.#become(state, words),
      sent: (frame) => this.frames.add("out", frame),
      received: (frame) => batch(() => this.#take(frame)),
    });
    const { key, user, password } = credentials;
    this.way.value = key === undefined ? "login" : "authenticate";
    this.key.value = key ?? "";
    this.user.value = user ?? "";
    this.password.value = password ?? "";
    if (key !== undefined || user !== undefined) this.enter();
  }

  /** Connects and logs in. Why it cannot stands where the state does. */
  enter(): void {
    this.#open().then(
      () => this.#logIn(),
      () => {},
    );
  }

  /** Connects, and leaves it to messages to log in. */
  connect(): void {
    this.#open().catch(() => {});
  }

  disconnect(): void {
    this.#connection.close();
  }

  /** Sends what is written, and behind it a file of Arrow, if that is its format. Throws what is wrong with it. */
  async send(file: File | undefined): Promise<void> {
    this.told.value = "";
    if (!this.#connection.isOpen) throw new Error("connect first");
    const given = this.form.read();
    this.#asked = this.#connection.send(messageText(given));
    this.looks.value += 1;
    this.form.sent();
    if (given.get("format") === '"arrow"' && file !== undefined) await this.#upload(file);
  }

  unsubscribe(subscription: number): void {
    const id = `unsubscribe ${subscription}`;
    this.#connection.send(JSON.stringify({ type: "unsubscribe", id, subscription }));
  }

  async #open(): Promise<void> {
    this.wrongAddress.value = "";
    try {
      const address = new URL(this.address.value);
      const kg = this.kg.value.trim();
      if (kg !== "") address.searchParams.set("kg", kg);
      await this.#connection.open(address.href);
    } catch (problem) {
      // Why a connection ended is said as its state; what is no address never became one.
      if (problem instanceof TypeError || problem instanceof DOMException) {
        this.wrongAddress.value = problem.message;
      }
      throw problem;
    }
  }

  #logIn(): void {
    const byKey = this.way.value === "authenticate";
    this.#login.value = { byKey, user: this.user.value };
    const credentials = byKey
      ? { type: "authenticate", api_key: this.key.value.trim() }
      : { type: "login", username: this.user.value, password: this.password.value };
    this.#connection.send(JSON.stringify(credentials));
  }

  #become(state: LinkState | "ready", words: string): void {
    this.state.value = state;
    this.words.value = words;
    if (state === "closed" || state === "connecting") this.live.lost();
  }

  #take(frame: Received): void {
    this.frames.add("in", "text" in frame ? frame.text : frame.bytes);
    if ("message" in frame) this.#greet(frame.message);
    this.live.take(frame);
    this.answers.take(frame);
    if (frame.request !== undefined && frame.request === this.#asked) this.looks.value += 1;
  }

  #greet(message: Reply): void {
    if (message.type === "authenticated") {
      this.#become("ready", `${message.role} on ${message.knowledge_graph}`);
      this.isConnecting.value = false;
    }
    if (message.type === "auth_error") this.isConnecting.value = true;
    if ("switched_kg" in message && message.switched_kg !== undefined) {
      this.#become("ready", this.words.peek().replace(/on .*/, `on ${message.switched_kg}`));
    }
  }

  async #upload(file: File): Promise<void> {
    const { number } = this.#connection;
    for (let at = 0; at < file.size; at += PIECE) {
      const piece = await file.slice(at, at + PIECE).arrayBuffer();
      // The rest of it is none of another connection.
      if (!this.#connection.isOpen || this.#connection.number !== number) return;
      this.#connection.sendBytes(piece);
    }
  }

  #python(): string {
    const { given, problems } = this.form.reading.value;
    if (problems.size > 0 || !URL.canParse(this.address.value)) return "";
    const { protocol, host } = new URL(this.address.value);
    return asPython(given, { url: `${protocol}//${host}`, kg: this.kg.value.trim(), ...this.#login.value });
  }
}
