// Commands with a password in them, of which an error must not show the text.

import { type Client, type Result, StratalogError } from "@stratalog/client";

/** Runs a command. What is wrong with it is told without its text, and without the place in it. */
export async function secretly(client: Client, program: string): Promise<Result> {
  try {
    return await client.execute(program);
  } catch (problem) {
    throw withoutProgram(problem);
  }
}

function withoutProgram(problem: unknown): unknown {
  if (!(problem instanceof StratalogError)) return problem;
  const { message, code, help, limit, retryAfter, uncertain } = problem;
  return new StratalogError(message, { code, help, limit, retryAfter, uncertain });
}
