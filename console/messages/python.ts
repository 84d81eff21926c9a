// A message as a Python program that sends it, with our client where that has a call for it.

import type { Given } from "./fields.ts";

/** Where the session is, and how it was opened. */
export interface Opened {
  readonly url: string;
  readonly kg: string;
  readonly user: string;
  readonly byKey: boolean;
}

export function asPython(given: Given, opened: Opened): string {
  const kind = JSON.parse(given.get("type") ?? '""') as string;
  const call = CALLS[kind]?.(new Map([...given].map(([name, text]) => [name, literal(text)])));
  return call === undefined ? rawPython(given, opened) : clientPython(call, opened);
}

/** What our client calls each message; each value is the source of a Python literal. */
const CALLS: Readonly<Record<string, (given: Given) => string[] | undefined>> = {
  login: () => ["print(db.session)"],
  authenticate: () => ["print(db.session)"],
  ping: () => ["print(db.ping())"],
  execute: (given) => {
    const more = seconds(given);
    if (given.has("limit")) more.push(`limit=${given.get("limit")}`);
    const isAtomic = given.get("atomic") === "True";
    // `query` has a limit, `execute` may be atomic.
    if (isAtomic && given.has("limit")) return undefined;
    const name = isAtomic ? "execute" : "query";
    if (isAtomic) more.push("atomic=True");
    const params = given.get("params");
    return [`print(db.${name}(${[given.get("program"), ...(params ? [params] : []), ...more].join(", ")}))`];
  },
  query: (given) => [`print(db.query(${given.get("query")}))`],
  subscribe: (given) => {
    const params = given.has("params") ? `, ${given.get("params")}` : "";
    return [
      `with db.live(${given.get("query")}${params}) as live:`,
      "    for change in live:",
      "        print(change.version, change.added, change.removed)",
    ];
  },
  add_rule: (given) => [`print(db.execute(${given.get("rule")}))`],
  insert: (given) => {
    if (!given.has("rows")) return undefined;
    const scope = given.has("scope") ? `, scope=${given.get("scope")}` : "";
    return [`print(db.insert(${given.get("relation")}, ${given.get("rows")}${scope}))`];
  },
  insert_facts: (given) => [
    `print(db.insert(${given.get("relation")}, ${given.get("tuples")}, scope="session"))`,
  ],
};

function seconds(given: Given): string[] {
  const milliseconds = given.get("timeout_ms");
  return milliseconds === undefined ? [] : [`timeout=${Number(milliseconds) / 1000}`];
}

function clientPython(call: readonly string[], { url, kg, user, byKey }: Opened): string {
  const login = [JSON.stringify(url)];
  if (!byKey) login.push(`user=${JSON.stringify(user)}`, 'password=os.environ["STRATALOG_PASSWORD"]');
  if (kg) login.push(`kg=${JSON.stringify(kg)}`);
  return [
    ...(byKey ? [] : ["import os", ""]),
    "import stratalog",
    "",
    ...(byKey ? ["# The API key is in the environment variable SERVICE_API_KEY."] : []),
    `with stratalog.connect(${login.join(", ")}) as db:`,
    ...call.map((line) => `    ${line}`),
    "",
  ].join("\n");
}

/** The same frames without our client. */
function rawPython(given: Given, { url, kg, user, byKey }: Opened): string {
  const credentials = byKey
    ? '{"type": "authenticate", "api_key": os.environ["SERVICE_API_KEY"]}'
    : `{"type": "login", "username": ${JSON.stringify(user)}, "password": os.environ["STRATALOG_PASSWORD"]}`;
  const message = [...given].map(([name, text]) => `${JSON.stringify(name)}: ${literal(text)}`).join(", ");
  const address = `${url}/ws${kg ? `?kg=${encodeURIComponent(kg)}` : ""}`;
  const isUpload = given.get("type") === '"insert"';
  return [
    "import json",
    "import os",
    ...(isUpload ? ["import pathlib"] : []),
    "",
    "from websockets.sync.client import connect",
    "",
    `with connect(${JSON.stringify(address)}, max_size=None) as socket:`,
    `    socket.send(json.dumps(${credentials}))`,
    "    print(socket.recv())",
    `    socket.send(json.dumps({${message}}))`,
    ...(isUpload ? ['    socket.send(pathlib.Path("rows.arrows").read_bytes())  # an Arrow IPC stream'] : []),
    "    print(socket.recv())",
    "",
  ].join("\n");
}

const WORDS: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

/** The Python literal of a JSON text. Numbers stay as they were typed, and text of several lines stays readable. */
export function literal(json: string): string {
  return json.replace(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (token) => WORDS[token] ?? textLiteral(JSON.parse(token) as string),
  );
}

function textLiteral(text: string): string {
  const isPlain = !/[\\\p{Cc}]|"""|"$/u.test(text.replaceAll("\n", ""));
  return text.includes("\n") && isPlain ? `"""\\\n${text}"""` : JSON.stringify(text);
}
