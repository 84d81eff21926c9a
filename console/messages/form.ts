// The message that is being written: its type, and what is typed into its fields.

import { computed, signal } from "@preact/signals";
import type { Protocol, RequestKind } from "./asyncapi.ts";
import { type Field, fieldsOf, type Given, reading, type Typed, typedOf } from "./fields.ts";

/** What one has before one has chosen. */
const FIRST = "execute";

/** A message that cannot be sent as it stands: which of its fields is the first that is wrong, and why. */
export class WrongField extends Error {
  readonly field: Field;

  constructor(field: Field, problem: string) {
    super(`${field.name}: ${problem}`);
    this.field = field;
  }
}

export class Form {
  /** The types of messages that can be written. */
  readonly kinds: readonly RequestKind[];
  readonly kind = signal("");
  /** The number of the example that is shown, or nothing. */
  readonly example = signal("");
  readonly typed = signal<Typed>({});
  readonly request = computed(() => this.kinds.find(({ kind }) => kind === this.kind.value) as RequestKind);
  readonly fields = computed(() => fieldsOf(this.request.value, this.#protocol));
  readonly reading = computed(() => reading(this.kind.value, this.fields.value, this.typed.value));
  readonly #protocol: Protocol;
  #number = 0;

  constructor(protocol: Protocol) {
    this.#protocol = protocol;
    // A frame of Arrow is not written by hand.
    this.kinds = protocol.requests.filter(({ kind }) => kind !== "arrow");
    this.choose(FIRST);
  }

  /** Begins a message of another type. */
  choose(kind: string): void {
    this.kind.value = kind;
    this.show("");
  }

  /** Shows an example by its number, or empty fields. */
  show(example: string): void {
    this.example.value = example;
    const payload = this.payload;
    const typed = this.fields
      .peek()
      .map((field) => [field.name, typedOf(field, payload[field.name])] as const);
    const { id, ...others } = Object.fromEntries(typed);
    this.typed.value = id === undefined ? others : { ...others, id: id === "" ? this.#next() : id };
  }

  /** What the example has that is shown. */
  get payload(): Readonly<Record<string, unknown>> {
    const example = this.example.peek();
    return example === "" ? {} : (this.request.peek().examples[Number(example)]?.payload ?? {});
  }

  type(name: string, text: string): void {
    this.typed.value = { ...this.typed.peek(), [name]: text };
  }

  /** The fields that are given. Throws when some are wrong. */
  read(): Given {
    const { given, problems } = this.reading.value;
    for (const field of this.fields.value) {
      const problem = problems.get(field.name);
      if (problem !== undefined) throw new WrongField(field, problem);
    }
    return given;
  }

  /** What was sent with a number is sent with the next one after that. */
  sent(): void {
    const { id } = this.typed.peek();
    if (id === undefined || !/^\d+$/.test(id)) return;
    this.#number = Number(id);
    this.type("id", this.#next());
  }

  #next(): string {
    this.#number += 1;
    return String(this.#number);
  }
}
