// Questions that a graph brings along: facts of the relation `console_question`, for whoever may read it.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Session } from "../session/session.ts";

/** Facts of this relation are questions. */
export const RELATION = "console_question";

/** How it is declared where nobody has done so yet. */
export const SCHEMA = `+${RELATION}(place: int, title: string, program: string, shown: string)`;

export interface Question {
  readonly title: string;
  readonly program: string;
  /** How its answer is shown: `table`, `chart` or `graph`. */
  readonly shown: string;
}

const questions = signal<readonly Question[]>([]);

/** The questions of the graph in use, in the order of their places. */
export function useQuestions(session: Session): readonly Question[] {
  const relation = session.catalog.value.relations.get(RELATION);
  const rows = relation?.columns.length === 4 ? (relation.rows ?? 0) : 0;
  useEffect(() => {
    questions.value = [];
    if (rows === 0) return;
    const gone = new AbortController();
    read(session, gone.signal).then(
      (found) => {
        questions.value = found;
      },
      () => undefined,
    );
    return () => gone.abort();
  }, [session, rows]);
  return questions.value;
}

async function read(session: Session, signal: AbortSignal): Promise<Question[]> {
  const found = await session.looking.query(
    `?${RELATION}(Place:asc, Title:asc, Program, Shown), limit(100)`,
    { signal },
  );
  return found.rows().map(([, title, program, shown]) => ({
    title: String(title),
    program: String(program),
    shown: ["table", "chart", "graph"].includes(String(shown)) ? String(shown) : "table",
  }));
}

/** Gives the graph one more question, at the end. */
export async function bring(session: Session, { title, program, shown }: Question): Promise<void> {
  const { looking } = session;
  if (!session.catalog.peek().relations.has(RELATION)) await looking.execute(SCHEMA);
  const last = await looking.query(`?max<P> <- ${RELATION}(P, _, _, _)`);
  const place = last.rowCount === 0 ? 1 : Number(last.cell(0, 0)) + 1;
  await looking.insert(RELATION, [[place, title, program, shown]]);
  await session.refresh();
}
