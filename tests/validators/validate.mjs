// Validates a document: `node validate.mjs openapi|asyncapi FILE`. Prints what is wrong with it, and fails if anything is.

import { readFile } from 'node:fs/promises';
import { Parser } from '@asyncapi/parser';
import SwaggerParser from '@apidevtools/swagger-parser';

/** A newer AsyncAPI than the document's is no fault of it. */
const NOT_OURS = new Set(['asyncapi-latest-version']);

async function problemsOf(kind, file) {
  if (kind === 'openapi') {
    return SwaggerParser.validate(file).then(() => [], (problem) => [problem.message]);
  }
  const { document, diagnostics } = await new Parser().parse(await readFile(file, 'utf8'));
  const problems = diagnostics
    .filter(({ code }) => !NOT_OURS.has(code))
    .map(({ code, message, path }) => `${code}: ${message} (${path.join('/')})`);
  return document === undefined && problems.length === 0 ? ['it is no AsyncAPI document'] : problems;
}

const problems = await problemsOf(process.argv[2], process.argv[3]);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
