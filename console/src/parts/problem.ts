// An error in a line.

/** The message, cut where it is long. */
export function textOfProblem(problem: unknown): string {
  const text = problem instanceof Error ? problem.message : String(problem);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
