// Addresses of this view, for itself and for the others.

import type { ColumnType, Value } from "@stratalog/client";
import { to } from "../session/address.ts";
import { aboutFact, type How, queryOfRow } from "./question.ts";

/** A program that was asked, with the JSON of its parameters if it has any. */
export interface Asked {
  readonly program: string;
  readonly p?: string | undefined;
}

/** The row of an answer. */
interface RowOfAnswer {
  readonly types: readonly (ColumnType | string)[];
  readonly values: readonly Value[];
  /** Its place, from 0. */
  readonly place: number;
}

/**
 * The address of the proof of one row: of a question for it alone, or where that cannot be told of its
 * place in the answer.
 */
export function toRow({ program, p }: Asked, { types, values, place }: RowOfAnswer): string {
  const only = queryOfRow(program, types, values);
  const of = only === undefined ? { q: program, row: String(place) } : { q: only };
  return to("why", ["row"], { ...of, ...parameters(p) });
}

/** The address of the proof of a fact, beside what of the session stands by a program. */
export function toFact({ program, p }: Asked, fact: string, how: How = ""): string {
  return to("why", ["row"], {
    q: aboutFact(program, fact),
    ...parameters(p),
    ...(how === "" ? {} : { how }),
  });
}

/** The address of what somebody supposes for a query. */
export function toIf(changes: string, q: string): string {
  return to("why", ["if"], { changes, q });
}

function parameters(p: string | undefined): { p?: string } {
  return p === undefined || p === "" ? {} : { p };
}
