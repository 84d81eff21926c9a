// Where the server is, and who we are. No credentials are ever part of an address.

import { AuthError } from "./errors.js";
import type { AuthenticateMessage, LoginMessage } from "./messages.js";

/** Who logs in: a user with a password, or an API key. */
export interface Credentials {
  user?: string | undefined;
  password?: string | undefined;
  apiKey?: string | undefined;
}

/** The first message of a connection. */
export type Login = LoginMessage | AuthenticateMessage;

const SCHEMES: Readonly<Record<string, string>> = {
  "ws:": "ws:",
  "http:": "ws:",
  "wss:": "wss:",
  "https:": "wss:",
};

/** The WebSocket address of whatever form of address a person may write. */
export function socketAddress(url: string): URL {
  const example = "an address is such as ws://127.0.0.1:8080 or https://graph.example";
  const text = url.includes("://") ? url : `ws://${url}`;
  const found = parsed(text);
  if (found === undefined) throw new TypeError(`${url} is no address: ${example}`);
  const scheme = SCHEMES[found.protocol];
  if (scheme === undefined) throw new TypeError(`${found.protocol}// is not spoken here: ${example}`);
  if (found.username !== "" || found.password !== "") {
    throw new TypeError("an address holds no credentials: give user and password as options");
  }
  found.protocol = scheme;
  found.hash = "";
  if (found.pathname === "/") found.pathname = "/ws";
  return found;
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** For a graph; with `lastSeq`, notifications after that number come first, and with "" the greeting tells the number. */
export function graphAddress(server: URL, kg: string, lastSeq?: number | ""): string {
  const found = new URL(server);
  found.searchParams.set("kg", kg);
  if (lastSeq !== undefined) found.searchParams.set("last_seq", String(lastSeq));
  return found.href;
}

/** Another way into a session that exists. */
export function sessionAddress(server: URL, sessionId: string): string {
  const found = new URL(server);
  found.pathname = `${found.pathname.replace(/\/+$/, "").replace(/\/ws$/, "")}/sessions/${sessionId}/ws`;
  found.search = "";
  return found.href;
}

/** The first message. */
export function loginOf({ user, password, apiKey }: Credentials): Login {
  if (apiKey !== undefined) {
    if (user !== undefined || password !== undefined) {
      throw new AuthError("give either user and password, or apiKey");
    }
    return { type: "authenticate", api_key: apiKey };
  }
  if (user === undefined || password === undefined) {
    throw new AuthError(user === undefined ? "no credentials" : `no password given for the user ${user}`, {
      help: "give user and password, or apiKey",
    });
  }
  return { type: "login", username: user, password };
}
