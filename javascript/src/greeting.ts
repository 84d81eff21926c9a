// How a connection begins: the socket opens, we say who we are, and the server lets us in or does not.

import type { Login } from "./address.js";
import { AuthError, ConnectionLost } from "./errors.js";
import { errorOfFailure } from "./failure.js";
import { parseMessage } from "./json.js";
import type { AuthenticatedMessage, Reply } from "./messages.js";
import type { Socket, SocketClass } from "./socket.js";

const HELP = "is the server there, and may pages of this site connect (http.cors_origins)?";

/** A connection that has begun. */
export interface Greeted {
  socket: Socket;
  session: AuthenticatedMessage;
  /** Frames that came at once with the greeting, before anybody else could listen. */
  more: unknown[];
  /** The end of the connection, if that came as soon. */
  end: { code?: number; reason?: string } | undefined;
}

/** Opens a socket and logs in. */
export async function greeted(
  url: string,
  login: Login,
  Socket: SocketClass,
  milliseconds: number,
): Promise<Greeted> {
  const socket = opened(url, Socket);
  try {
    return await answerTo(login, url, socket, milliseconds);
  } catch (problem) {
    socket.onclose = null;
    socket.onerror = () => {};
    socket.close();
    throw problem;
  }
}

function opened(url: string, Socket: SocketClass): Socket {
  try {
    const socket = new Socket(url);
    socket.binaryType = "arraybuffer";
    return socket;
  } catch (problem) {
    throw new ConnectionLost(`cannot connect to ${url}: ${problem}`, { cause: problem });
  }
}

function answerTo(login: Login, url: string, socket: Socket, milliseconds: number): Promise<Greeted> {
  return new Promise((resolve, reject) => {
    let why = "the connection could not be opened";
    const cannot = (reason: string) => {
      clearTimeout(timer);
      reject(new ConnectionLost(`cannot connect to ${url}: ${reason}`, { help: HELP }));
    };
    const timer = setTimeout(() => cannot(`no answer within ${milliseconds} ms`), milliseconds);
    socket.onopen = () => socket.send(JSON.stringify(login));
    socket.onerror = (event: { message?: string }) => {
      if (event.message !== undefined && event.message !== "") why = event.message;
    };
    socket.onclose = (event: { reason?: string }) => cannot(event.reason || why);
    socket.onmessage = (event: { data: unknown }) => {
      clearTimeout(timer);
      try {
        const session = sessionOf(parseMessage(String(event.data)) as Reply);
        const greeting: Greeted = { socket, session, more: [], end: undefined };
        socket.onmessage = (event: { data: unknown }) => greeting.more.push(event.data);
        socket.onclose = (event: object) => {
          greeting.end = event;
        };
        resolve(greeting);
      } catch (problem) {
        reject(
          problem instanceof SyntaxError ? new ConnectionLost(`${url} is no Stratalog server`) : problem,
        );
      }
    };
  });
}

function sessionOf(message: Reply): AuthenticatedMessage {
  switch (message.type) {
    case "authenticated":
      return message;
    case "auth_error":
      throw new AuthError(message.message);
    case "error":
      throw errorOfFailure(message);
    default:
      throw new ConnectionLost(`a message of the type ${message.type} in place of a greeting`);
  }
}
