// The text of requests. Values are written here and not by JSON.stringify, which knows neither floats nor large integers.

import type { Watch } from "./call.js";
import { InvalidParameter } from "./errors.js";
import type { EvaluationPlace, ExecuteMessage, SubscribeMessage } from "./messages.js";
import { type Input, jsonOf, whole } from "./values.js";

/** Values of the `$names` of a program. */
export type Params = { readonly [name: string]: Input };

interface Execution {
  params?: Params | undefined;
  limit?: number | undefined;
  atomic?: boolean | undefined;
  replaceRules?: boolean | undefined;
  place?: EvaluationPlace | undefined;
  onProgress?: Watch | undefined;
}

/** Runs a program, whose rows come as Arrow. */
export function execution(
  program: string,
  { params, limit, atomic, replaceRules, place, onProgress }: Execution,
  milliseconds: number | undefined,
): (id: number) => string {
  const message: ExecuteMessage = { type: "execute", program: whole(program), format: "arrow" };
  if (milliseconds !== undefined) message.timeout_ms = Math.max(1, Math.round(milliseconds));
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new RangeError(`limit is a number of rows, not ${limit}`);
  }
  if (limit !== undefined) message.limit = limit;
  if (atomic) message.atomic = true;
  if (replaceRules) message.replace_rules = true;
  if (place !== undefined && place !== "auto") message.place = place;
  if (onProgress !== undefined) message.progress = true;
  return withParams(message, params);
}

/** Asks for an answer and its changes. */
export function subscription(message: SubscribeMessage, params: Params | undefined): (id: number) => string {
  return withParams({ ...message, query: whole(message.query) }, params);
}

function withParams(message: ExecuteMessage | SubscribeMessage, params: Params = {}): (id: number) => string {
  const written = Object.entries(params).map(
    ([name, value]) => `${JSON.stringify(name)}:${parameter(name, value)}`,
  );
  return (id) => {
    const text = JSON.stringify({ ...message, id });
    return written.length === 0 ? text : `${text.slice(0, -1)},"params":{${written.join(",")}}}`;
  };
}

function parameter(name: string, value: Input): string {
  try {
    return jsonOf(value);
  } catch (problem) {
    if (!(problem instanceof TypeError || problem instanceof RangeError)) throw problem;
    throw new InvalidParameter(`the parameter $${name}: ${problem.message}`, {
      cause: problem,
    });
  }
}
