// The program that shows the plan of another one's last query, and does nothing of what that would write.

import { questionOf } from "../program/question.ts";
import { setIn } from "../program/scan.ts";

export interface Planned {
  /** What is sent; undefined where there is no query. */
  readonly program: string | undefined;
  /** How many statements are left out: those that write or show something. */
  readonly leftOut: number;
}

/**
 * Facts and rules of the session go along, as they serve this program only. What begins with `+`, `-` or a dot would take
 * effect, and is left out.
 */
export function planned(text: string, command: "explain" | "profile"): Planned {
  const question = questionOf(text);
  if (question === undefined) return { program: undefined, leftOut: 0 };
  const { own, query, left } = question;
  return { program: [...own, `.${command} json ${setIn(query)}`].join("\n"), leftOut: left };
}
