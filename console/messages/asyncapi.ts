// What the AsyncAPI document says of the messages, as far as the page shows it.

/** The schema of a value. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly contentMediaType?: string;
  readonly const?: string;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export interface Message {
  readonly title: string;
  readonly summary: string;
  readonly payload: Schema;
  readonly examples: readonly {
    readonly summary: string;
    readonly payload: Readonly<Record<string, unknown>>;
  }[];
}

/** A message that a client may send, with those that may answer it. */
export interface RequestKind extends Message {
  readonly kind: string;
  readonly answers: readonly Message[];
}

interface Reference {
  readonly $ref: string;
}

interface Operation {
  readonly action: string;
  readonly channel: Reference;
  readonly messages: readonly Reference[];
  readonly reply?: { readonly messages?: readonly Reference[] };
}

interface Document {
  readonly info: { readonly version: string };
  readonly operations: Readonly<Record<string, Operation>>;
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

export class Protocol {
  readonly version: string;
  readonly requests: readonly RequestKind[];
  /** The names of fields that nobody but the server should see. */
  readonly secrets: ReadonlySet<string>;
  readonly #schemas: Readonly<Record<string, Schema>>;

  /** Takes the document as it was parsed. */
  constructor(document: unknown) {
    const { info, operations, components } = document as Document;
    this.version = info.version;
    this.#schemas = components.schemas;
    this.requests = Object.values(operations).flatMap(({ action, channel, messages, reply }) => {
      const kind = messages[0] === undefined ? "" : nameOf(messages[0].$ref);
      const message = components.messages[kind];
      if (action !== "receive" || nameOf(channel.$ref) !== "ws" || message === undefined) return [];
      const answers = (reply?.messages ?? []).flatMap(({ $ref }) => components.messages[nameOf($ref)] ?? []);
      return [{ ...message, kind, answers }];
    });
    this.secrets = new Set(
      this.requests.flatMap(({ payload }) =>
        Object.entries(payload.properties ?? {})
          .filter(([, schema]) => this.resolved(schema).format === "password")
          .map(([name]) => name),
      ),
    );
  }

  /** The schema itself, where this one only names it; words about a field win over words about its type. */
  resolved(schema: Schema): Schema {
    const only = schema.allOf?.length === 1 ? schema.allOf[0] : schema;
    const named = only?.$ref === undefined ? undefined : this.#schemas[nameOf(only.$ref)];
    if (named === undefined) return schema;
    return {
      ...this.resolved(named),
      ...(schema.description !== undefined && { description: schema.description }),
    };
  }

  /** The schema of a message, with that of everything that it names. */
  completed(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((each) => this.completed(each));
    if (schema === null || typeof schema !== "object" || Object.getPrototypeOf(schema) !== Object.prototype)
      return schema;
    const own = Object.entries(this.resolved(schema));
    return Object.fromEntries(own.map(([key, value]) => [key, this.completed(value)]));
  }
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}
