// What is in the editor, what was asked last, and what came of it. It outlives the view, so that one can look elsewhere meanwhile.

import { batch, effect, signal, untracked } from "@preact/signals";
import { ConnectionLost, type Params, QueryTimeout, type Result, type Working } from "@stratalog/client";
import { textOfProblem } from "../parts/problem.ts";
import { type Field, parameterValues } from "../program/parameters.ts";
import { textOfParams } from "../program/params.ts";
import { tellsASecret } from "../program/secrets.ts";
import { type Session, session } from "../session/session.ts";
import { kept } from "../session/store.ts";

/** A program that was asked. */
export interface Asked {
  readonly program: string;
  /** Its parameters, as they were typed. */
  readonly fields: readonly Field[];
  /** The same as JSON, if there are any. */
  readonly p: string | undefined;
  /** The graph. */
  readonly graph: string;
  readonly state: "running" | "done" | "failed";
  readonly result?: Result;
  readonly problem?: unknown;
  /** How far it is, while it runs and has run for a while. */
  readonly working?: Working;
  /** Where the program stands in the text of the editor. */
  readonly offset: number;
}

/** Something that was asked before. */
export interface Past {
  readonly graph: string;
  readonly program: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What came of it, in a few words. */
  readonly outcome: string;
}

/** The text of the editor. */
export const text = signal("");

/** What was typed for each parameter. */
export const typed = signal<Readonly<Record<string, string>>>({});

/** What was asked last. */
export const asked = signal<Asked | undefined>(undefined);

/** No more rows are asked for; 0 is all. */
export const limit = kept("limit", 100_000);

/** What was asked, the latest first. */
export const past = kept<readonly Past[]>("history", []);

/** So much of the history is kept. */
const PAST = 200;
/** Longer programs are not: they would crowd out the others. */
const LONGEST = 20_000;

let stop = new AbortController();

/** Whose all this is; of a key nobody knows. */
let owner: string | undefined;

// Whoever logs in after another finds nothing of them.
effect(() => {
  const open = session.value;
  if (open === undefined) return;
  if (open.user === undefined || open.user !== owner) untracked(clear);
  owner = open.user;
});

function clear(): void {
  stop.abort();
  batch(() => {
    text.value = "";
    typed.value = {};
    asked.value = undefined;
  });
}

/** Runs a program. One that still runs is stopped. */
export async function ask(
  session: Session,
  program: string,
  fields: readonly Field[],
  offset = 0,
): Promise<void> {
  stop.abort();
  const own = new AbortController();
  stop = own;
  const graph = session.graph.peek();
  const about = { program, fields, graph, offset, p: textOfParams(parameterValues(fields)) };
  batch(() => {
    asked.value = { ...about, state: "running" };
    session.isBusy.value = true;
  });
  let ended: Asked;
  try {
    const params: Params = parameterValues(fields);
    const most = limit.peek();
    const result = await session.asking.execute(program, {
      params,
      signal: own.signal,
      onProgress: (working) => {
        if (stop === own) asked.value = { ...about, state: "running", working };
      },
      ...(most > 0 ? { limit: most } : {}),
    });
    ended = { ...about, state: "done", result };
  } catch (problem) {
    ended = { ...about, state: "failed", problem };
  }
  // A program may go over to another graph, where those of the address have to follow.
  const here = await graphAfter(session, ended);
  if (here !== session.graph.peek()) session.moved(here);
  // What was asked since has the place of this.
  if (stop !== own) return;
  batch(() => {
    asked.value = { ...ended, graph: here };
    session.isBusy.value = false;
  });
  remember({ graph, program, at: Date.now(), outcome: outcomeOf(ended) });
}

/** The graph that a session is on after a program. An error does not tell whether it had gone over to another one before. */
async function graphAfter(session: Session, { program, problem }: Asked): Promise<string> {
  const isKnown = problem === undefined || problem instanceof ConnectionLost || !/\.kg\b/i.test(program);
  if (isKnown) return session.asking.kg;
  const told = await session.asking.execute(".kg", { reads: true }).catch(() => undefined);
  return told?.messages[0] ?? session.asking.kg;
}

/** Stops what runs. */
export function cancel(): void {
  stop.abort();
}

function remember(one: Past): void {
  if (one.program.length > LONGEST || tellsASecret(one.program)) return;
  const others = past.peek().filter(({ graph, program }) => graph !== one.graph || program !== one.program);
  past.value = [one, ...others].slice(0, PAST);
}

function outcomeOf({ result, problem }: Asked): string {
  if (result === undefined) return problem instanceof QueryTimeout ? "took too long" : textOfProblem(problem);
  if (result.messages.length > 0) return result.messages.join("; ").slice(0, 120);
  return `${result.totalCount} ${result.totalCount === 1 ? "row" : "rows"}`;
}
